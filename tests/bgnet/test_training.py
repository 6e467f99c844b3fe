"""Training runs: the same result after any interruption, and clear errors that lose nothing."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bgnet.checkpoints import Counters, newest_checkpoint
from bgnet.config import RunConfig
from bgnet.evaluators import load
from bgnet.learner import NonFiniteLoss
from bgnet.netfile import load_net
from bgnet.runlog import RunError, RunFolder, RunLog
from bgnet.selfplay import GAMES_PER_TASK
from bgnet.training import Stopped, Training
from tests.bgnet.nets import some_positions

TINY = """
games = {games}
seed = 3
[net]
hidden = [16, 8]
[selfplay]
games_per_round = 20
[evaluation]
opponents = ["random"]
times = 2
games = 20
final_games = 20
[checkpoints]
every_seconds = 0.001
"""


def tiny_file(tmp_path: Path, games: int = 200) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY.format(games=games))
    return path


class Quiet:
    """An observer that asks for a stop after some rounds."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.stop_after = stop_after
        self.rounds = 0
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def progress(self, counters: Counters, values: dict[str, float]) -> None:
        self.rounds += 1

    def stop_requested(self) -> bool:
        return self.stop_after is not None and self.rounds >= self.stop_after


def tiny(tmp_path: Path, **changes: object) -> RunConfig:
    from bgnet.config import load_config

    return load_config(tiny_file(tmp_path), [f"{key}={json.dumps(value)}" for key, value in changes.items()])


def start(path: Path, config: RunConfig, observer: Quiet | None = None, minutes: float | None = None) -> Training:
    training = Training(RunFolder.planned(path, "tiny", config), config, observer or Quiet(), minutes)
    training.run.create(config)
    return training


def weights_of(path: Path) -> bytes:
    return b"".join(array.tobytes() for array in load_net(path / "last.safetensors")[0].arrays())


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "bgnet", "train", *map(str, words)]


def test_a_run_leaves_what_it_promises(tmp_path: Path) -> None:
    config = tiny(tmp_path)
    summary = start(tmp_path / "run", config).go()
    run = RunFolder(tmp_path / "run")
    assert json.loads(run.summary.read_text()) == json.loads(json.dumps(summary))
    assert summary["games"] == 200
    assert Path(summary["net"]).is_absolute() and Path(summary["net"]) == run.last.resolve()
    assert summary["games_per_s"] == pytest.approx(summary["games"] / summary["seconds"])
    assert summary["results"][0]["games"] == 20
    assert run.stored_config() == config
    assert len(list(run.checkpoints.glob("*.safetensors"))) == 3, "the last K"
    info = load(tmp_path / "run").info
    assert (info.games, info.seed, info.sizes) == (200, 3, [196, 16, 8, 6])
    lines = [json.loads(line) for line in run.log.read_text().splitlines()]
    assert {"train/loss", "selfplay/plies_per_game", "selfplay/share_gammon"} <= set().union(*lines)
    assert {"eval/ppg_random", "eval/ppg_random_low", "learn/bellman_rms"} <= set(lines[-1])
    assert [line["games"] for line in lines if "eval/ppg_random" in line] == [80, 140, 200]
    assert list(run.path.glob("events.out.tfevents.*"))


def test_threads_do_not_change_the_result(tmp_path: Path) -> None:
    for threads in (1, 3):  # three tasks a round
        changes = {"selfplay.threads": threads, "selfplay.games_per_round": 2 * GAMES_PER_TASK + 5}
        start(tmp_path / str(threads), tiny(tmp_path, **changes)).go()
    assert weights_of(tmp_path / "1") == weights_of(tmp_path / "3")


def test_other_seeds_change_the_result(tmp_path: Path) -> None:
    for seed in (1, 2):
        start(tmp_path / str(seed), tiny(tmp_path, seed=seed, games=40)).go()
    assert weights_of(tmp_path / "1") != weights_of(tmp_path / "2")


def test_rounds_without_anything_to_learn_pass(tmp_path: Path) -> None:
    """Sampled targets of random plays mean nothing, and a round may hold no others."""
    wild = {"selfplay.wandering": 1.0, "selfplay.random_plays": 1.0, "games": 240}
    start(tmp_path / "run", tiny(tmp_path, **wild)).go()
    lines = [json.loads(line) for line in (tmp_path / "run/log.jsonl").read_text().splitlines()]
    assert lines and not any("train/loss" in line for line in lines)


@pytest.mark.parametrize("stop_after", [1, 4, 9])
def test_stop_and_resume_is_bit_identical(tmp_path: Path, stop_after: int) -> None:
    config = tiny(tmp_path)
    start(tmp_path / "whole", config).go()
    with pytest.raises(Stopped, match=f"stopped at {20 * stop_after} games; saved .*round-{stop_after:08d}"):
        start(tmp_path / "parts", config, Quiet(stop_after)).go()
    Training.resume(RunFolder(tmp_path / "parts"), config, Quiet()).go()
    assert weights_of(tmp_path / "parts") == weights_of(tmp_path / "whole")
    logs = [(tmp_path / name / "log.jsonl").read_text().splitlines() for name in ("whole", "parts")]
    assert [json.loads(line)["games"] for line in logs[0]] == [json.loads(line)["games"] for line in logs[1]]


def test_sigkill_at_any_moment(tmp_path: Path) -> None:
    """Kill the command again and again, each time some rounds further; it ends as if nothing had happened."""
    config = tiny_file(tmp_path, games=1200)
    subprocess.run(command(config, "--out", tmp_path / "whole", "--quiet"), check=True, capture_output=True)
    rng = random.Random(5)
    parts = tmp_path / "parts"
    reached = 0
    for _ in range(3):
        process = subprocess.Popen(command(config, *(["--resume"] if reached else []), "--out", parts, "--quiet"))
        goal = reached + rng.randint(5, 15)
        while newest_round(parts) < goal:
            assert process.poll() is None, "it must not end before it is killed"
            time.sleep(0.001)
        time.sleep(rng.uniform(0, 0.03))  # anywhere in a round, or in the middle of a write
        process.send_signal(signal.SIGKILL)
        process.wait()
        reached = newest_round(parts)
    subprocess.run(command(config, "--resume", "--out", parts, "--quiet"), check=True, capture_output=True)
    assert 15 <= reached < 60
    assert weights_of(parts) == weights_of(tmp_path / "whole")


def newest_round(run: Path) -> int:
    return max((int(path.stem[6:]) for path in run.glob("checkpoints/round-*.safetensors")), default=0)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stop_signals_save_and_say_so(tmp_path: Path, number: signal.Signals, code: int) -> None:
    config = tiny_file(tmp_path, games=1_000_000)
    out = tmp_path / "run"
    process = subprocess.Popen(command(config, "--out", out), stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 90
    while not list(out.glob("checkpoints/round-0000000[1-9]*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code, errors
    assert "saved" in errors and f"to go on: bgnet train {out} --resume" in errors, errors
    assert newest_checkpoint(out / "checkpoints")[1].games > 0


def test_minutes_fix_the_games_and_store_them(tmp_path: Path) -> None:
    """Interrupted after that, a run ends with the games that were fixed, and as an uninterrupted one would."""

    class StopWhenFixed(Quiet):
        def stop_requested(self) -> bool:
            return any("games fit 0.05 minutes" in note for note in self.notes)

    config = tiny(tmp_path)
    with pytest.raises(Stopped):
        start(tmp_path / "run", config, StopWhenFixed(), minutes=0.05).go()
    shutil.copytree(tmp_path / "run", tmp_path / "copy")
    _, counters, _ = newest_checkpoint(tmp_path / "run/checkpoints")
    whole = Training.resume(RunFolder(tmp_path / "run"), config, observer := Quiet(), minutes=5.0).go()
    assert any("--minutes changes nothing" in note for note in observer.notes)
    assert whole["games"] == counters.total_games > counters.games > 0
    with pytest.raises(Stopped):
        Training.resume(RunFolder(tmp_path / "copy"), config, Quiet(1)).go()
    Training.resume(RunFolder(tmp_path / "copy"), config, Quiet()).go()
    assert weights_of(tmp_path / "copy") == weights_of(tmp_path / "run")


def test_a_run_is_not_overwritten(tmp_path: Path) -> None:
    config = tiny(tmp_path, games=20)
    start(tmp_path / "run", config).go()
    with pytest.raises(RunError, match="already holds a run"):
        start(tmp_path / "run", config)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/notes.txt").write_text("mine")
    start(tmp_path / "other", config)  # a folder with other things is fine


def test_resume_refuses_another_configuration(tmp_path: Path) -> None:
    start(tmp_path / "run", tiny(tmp_path, games=20)).go()
    other = tiny(tmp_path, games=20, seed=9)
    with pytest.raises(RunError, match=r"another configuration: seed \(3 / 9\)"):
        Training.resume(RunFolder(tmp_path / "run"), other, Quiet())
    with pytest.raises(RunError, match="holds no run"):
        Training.resume(RunFolder(tmp_path / "none"), None, Quiet())


def test_resuming_a_finished_run_changes_nothing(tmp_path: Path) -> None:
    config = tiny(tmp_path, games=20)
    summary = start(tmp_path / "run", config).go()
    before = weights_of(tmp_path / "run")
    again = Training.resume(RunFolder(tmp_path / "run"), config, observer := Quiet()).go()
    assert again == json.loads(json.dumps(summary))
    assert "the run is finished already" in observer.notes
    assert weights_of(tmp_path / "run") == before


def test_non_finite_loss_stops_with_the_batch_saved(tmp_path: Path) -> None:
    training = start(tmp_path / "run", tiny(tmp_path))
    training.learner.parameters[0].data[:] = np.inf
    with pytest.raises(NonFiniteLoss, match="failed-batch.safetensors"):
        training.go()
    assert (tmp_path / "run/failed-batch.safetensors").stat().st_size > 1000
    assert newest_checkpoint(tmp_path / "run/checkpoints")[1].rounds == 0
    assert not (tmp_path / "run/last.safetensors").exists()


def test_a_lengthened_run_knows_its_best(tmp_path: Path) -> None:
    """The games at its end count: a network that does worse later does not take the place of the best."""
    training = start(tmp_path / "run", tiny(tmp_path, games=40))
    summary = training.go()
    score = training.counters.best_score
    assert score is not None and score >= summary["results"][-1]["points_per_game"]
    assert newest_checkpoint(tmp_path / "run/checkpoints")[1].best_score == score


def test_the_log_drops_what_a_resumed_run_writes_again(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.log.write_text('{"games": 10, "a": 1}\n{"games": 30, "a": 1}\nnot json\n{"games": 20')
    RunLog(run, 20).close()
    assert run.log.read_text() == '{"games": 10, "a": 1}\n'


def test_it_learns_to_beat_random_play(tmp_path: Path) -> None:
    """Case tr-006: after a short run the network wins clearly more than half of 400 games."""
    changes: dict[str, object] = {"games": 3000, "evaluation.final_games": 400, "evaluation.times": 0}
    changes |= {"net.hidden": [64, 16], "selfplay.games_per_round": 50}
    changes |= {"learning.batch_size": 128, "learning.average": 0.99, "checkpoints.every_seconds": 10.0}
    config = tiny(tmp_path, **changes)
    result = start(tmp_path / "run", config).go()["results"][0]
    assert result["wins"] / result["games"] > 0.6


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["none.toml"], 2, "there is no such run file"),
        (["{config}", "--set", "games=0"], 2, "games"),
        (["{config}", "--minutes", "0"], 2, "minutes"),
        (["{config}", "--minutes", "inf"], 2, "minutes"),
        (["{config}", "--set", "checkpoints.every_seconds=inf"], 2, "finite"),
        (["{config}", "--progress", "loud", "--out", "{out}"], 2, "loud"),
        (["{config}", "--resume", "--out", "{out}"], 2, "holds no run"),
        (["{config}", "--out", "{file}/run"], 1, "cannot make the folder"),
        (["{config}", "--out", "{readme}"], 1, "a file of that name exists"),
        (["{config}", "--from", "nosuch", "--out", "{out}"], 2, "no network 'nosuch'"),
        (["{config}", "--from", "", "--out", "{out}"], 2, "--from needs the name"),
        (["{config}", "--from", "\U0001f600", "--out", "{out}"], 2, "no network '\U0001f600'"),
        (["{config}", "--from", "standard", "--out", "{out}"], 2, "[512, 32] cannot grow into [16, 8]"),
        (["{here}", "--resume", "--out", "{out}"], 2, "--out belongs to a run file"),
        (["{config}", "--set", "evaluation.opponents=['gnubg:9']", "--out", "{out}"], 2, "gnubg:9"),
    ],
)
def test_mistakes_on_the_command_line(tmp_path: Path, words: list[str], code: int, message: str) -> None:
    (tmp_path / "readme").write_text("")
    places = {
        "readme": tmp_path / "readme",
        "config": tiny_file(tmp_path),
        "out": tmp_path / "out",
        "here": tmp_path,
        "file": tmp_path / "tiny.toml",
    }
    done = subprocess.run(
        command(*(word.format(**places) for word in words)),
        capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").rglob("*.safetensors"))


def test_two_processes_cannot_train_in_one_folder(tmp_path: Path) -> None:
    training = start(tmp_path / "run", tiny(tmp_path, games=20))
    with training.run.locked(), pytest.raises(RunError, match="another process is training"):
        training.go()
    training.go()


def test_stopping_during_the_last_games(tmp_path: Path) -> None:
    """The network is saved, the games against the baselines are not waited for, and a resume plays them."""

    class Impatient(Quiet):
        def stop_requested(self) -> bool:
            return any("against each baseline" in note for note in self.notes)

    config = tiny(tmp_path, games=40)
    with pytest.raises(Stopped, match="playing the baselines"):
        start(tmp_path / "run", config, Impatient()).go()
    assert not (tmp_path / "run/summary.json").exists()
    assert Training.resume(RunFolder(tmp_path / "run"), config, Quiet()).go()["results"][0]["games"] == 20


def test_minutes_that_the_baselines_use_up_are_remarked(tmp_path: Path) -> None:
    config = tiny(tmp_path, **{"evaluation.final_games": 20000})
    training = start(tmp_path / "run", config, observer := Quiet(), minutes=0.05)

    training._finish = lambda log: {}  # type: ignore[assignment,method-assign,return-value]
    training.go()
    assert any("leaves more for learning" in note for note in observer.notes)


def test_weights_that_are_not_finite_never_reach_a_file(tmp_path: Path) -> None:
    """The loss of the last minibatch is still finite, its step is not: no checkpoint and no network is written."""
    training = start(tmp_path / "run", tiny(tmp_path, games=20, **{"evaluation.opponents": []}))
    step = training.learner.optimizer.step

    def bad_step() -> None:
        step()
        training.learner.parameters[0].data[0, 0] = np.nan

    training.learner.optimizer.step = bad_step  # type: ignore[method-assign,assignment]
    with pytest.raises(NonFiniteLoss, match="weights are not finite"):
        training.go()
    assert not (tmp_path / "run/last.safetensors").exists()
    _, counters, tensors = newest_checkpoint(tmp_path / "run/checkpoints")
    assert counters.rounds == 0 and all(np.isfinite(t).all() for t in tensors.values())


def test_a_run_killed_before_its_first_checkpoint_starts_from_the_beginning(tmp_path: Path) -> None:
    config = tiny(tmp_path, games=40)
    start(tmp_path / "whole", config).go()
    start(tmp_path / "killed", config)  # the folder and its config.toml are there, nothing else
    Training.resume(RunFolder(tmp_path / "killed"), config, observer := Quiet()).go()
    assert any("no checkpoint yet" in note for note in observer.notes)
    assert weights_of(tmp_path / "killed") == weights_of(tmp_path / "whole")


@pytest.mark.parametrize(
    "name",
    [
        "config.toml",
        "log.jsonl",
        "summary.json",
        "last.safetensors",
        "best.safetensors",
        "pruner.safetensors",
        "teacher.safetensors",
        "changes.jsonl",
        "failed-batch.safetensors",
    ],
)
def test_files_that_a_run_would_overwrite_are_safe(tmp_path: Path, name: str) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / name).write_text("mine")
    with pytest.raises(RunError, match="already holds a run"):
        start(tmp_path / "own", tiny(tmp_path))
    assert (tmp_path / "own" / name).read_text() == "mine"


def test_the_newest_run_is_one_of_the_same_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["flagship-20261201-000000-s1", "flagship-20261201-000001-s1-2", "flagship-exact-20261201-000002-s2"]
    for when, name in enumerate(names):
        folder = tmp_path / "runs" / name
        (folder / "checkpoints").mkdir(parents=True)
        for file in (folder / "config.toml", folder / "checkpoints" / "round-00000001.safetensors"):
            file.touch()
        os.utime(folder / "config.toml", (when, when))
    assert RunFolder.newest("flagship").path.name == names[1]
    assert RunFolder.newest("flagship-exact").path.name == names[2]
    with pytest.raises(RunError, match="holds no run of exact"):
        RunFolder.newest("exact")


def test_runs_of_the_same_second_get_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("time.strftime", lambda _: "20260101-000000")
    config = RunConfig()
    names = []
    for _ in range(3):
        run = RunFolder.planned(None, "x", config)
        run.create(config)
        names.append(run.path.name)
    assert names == ["x-20260101-000000-s1", "x-20260101-000000-s1-2", "x-20260101-000000-s1-3"]
    first = RunFolder.planned(tmp_path / "same", "x", config)
    first.create(config)
    with pytest.raises(
        RunError, match="has just started .*, or one was cut short as it began: then remove checkpoints"
    ):
        RunFolder(tmp_path / "same").create(config)


def test_a_run_that_could_not_be_begun_does_not_take_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr("bgnet.runlog.to_toml", full)
        RunFolder(tmp_path / "run").create(RunConfig())
    RunFolder(tmp_path / "run").create(RunConfig())


def test_training_survives_a_reader_that_leaves(tmp_path: Path) -> None:
    """`bgnet train ... 2>&1 | head -1` goes on to its end."""
    words = command(tiny_file(tmp_path, games=400), "--out", tmp_path / "run")
    shell = " ".join(f"'{word}'" for word in words) + " 2>&1 | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {shell}"], capture_output=True, text=True)
    assert done.stdout.startswith("run ")
    assert (tmp_path / "run/summary.json").exists()


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    training = start(tmp_path / "run", tiny(tmp_path, games=20))
    (tmp_path / "run/log.jsonl").mkdir()
    with pytest.raises(OSError, match=r"log\.jsonl"):
        training.go()


def test_products_in_bfloat16_learn_nearly_the_same(tmp_path: Path) -> None:
    """And can be interrupted."""
    nets = {}
    for precision in ("single", "bfloat16"):
        config = tiny(tmp_path, games=60, **{"learning.precision": precision})
        start(tmp_path / precision, config).go()
        nets[precision] = load(tmp_path / precision / "last.safetensors")
    boards = some_positions()[0]
    single, short = (nets[precision].outcomes(boards) for precision in ("single", "bfloat16"))
    difference = np.abs(single - short).max()
    assert 0 < difference < 0.1
    with pytest.raises(Stopped):
        start(tmp_path / "parts", config, Quiet(2)).go()
    Training.resume(RunFolder(tmp_path / "parts"), config, Quiet()).go()
    assert weights_of(tmp_path / "parts") == weights_of(tmp_path / "bfloat16")
