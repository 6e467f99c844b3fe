"""Changing a run's configuration on the way: what is asked for happens, is written down, and nothing else does."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bgnet.checkpoints import newest_checkpoint, save_checkpoint
from bgnet.config import ConfigError
from bgnet.netfile import NetFileError
from bgnet.run_changes import Change, changes_of
from bgnet.runlog import RunError, RunFolder
from bgnet.shipping import ship
from bgnet.training import Stopped, Training
from tests.bgnet.test_training import Quiet, command, start, tiny, weights_of


def stopped(tmp_path: Path, name: str = "run", **changes: object) -> RunFolder:
    """A run of 200 games, 20 a round, stopped after 60."""
    with pytest.raises(Stopped):
        start(tmp_path / name, tiny(tmp_path, **changes), Quiet(3)).go()
    return RunFolder(tmp_path / name)


def test_a_change_holds_from_there_on_and_is_written_down(tmp_path: Path) -> None:
    run, plain = stopped(tmp_path), stopped(tmp_path, "plain")
    with pytest.raises(Stopped):
        Training.resume(run, None, Quiet(2), settings=["learning.learning_rate=2e-3", "games=160"]).go()
    assert run.stored_config().learning.learning_rate == 2e-3 and run.stored_config().games == 160
    summary = Training.resume(run, None, Quiet(), settings=["learning.average=0.9"]).go()
    assert summary["games"] == 160
    first, second = changes_of(run)
    assert first == Change(60, ["games (200 / 160)", "learning.learning_rate (0.001 / 0.002)"])
    assert second == Change(100, ["learning.average (0.999 / 0.9)"])
    _, card = ship(run, "changed", "A test", tmp_path)
    assert (
        "- at 60 games: games (200 / 160), learning.learning_rate (0.001 / 0.002)\n- at 100 games" in card.read_text()
    )
    Training.resume(plain, None, Quiet()).go()
    assert changes_of(plain) == [] and weights_of(plain.path) != weights_of(run.path)


def test_what_was_changed_can_be_interrupted(tmp_path: Path) -> None:
    for name, rounds in (("one", 2), ("other", 5)):
        run = stopped(tmp_path, name)
        with pytest.raises(Stopped):
            Training.resume(run, None, Quiet(rounds), settings=["learning.batch_size=100"]).go()
        Training.resume(run, None, Quiet()).go()
    assert weights_of(tmp_path / "one") == weights_of(tmp_path / "other")


def test_a_finished_run_can_be_made_longer(tmp_path: Path) -> None:
    start(tmp_path / "run", tiny(tmp_path, games=40)).go()
    assert Training.resume(RunFolder(tmp_path / "run"), None, Quiet(), settings=["games=80"]).go()["games"] == 80


@pytest.mark.parametrize(
    ("setting", "error", "message"),
    [
        ("net.hidden=[8, 8]", RunError, r"net\.hidden"),
        ("seed=9", RunError, "seed"),
        ("parent=standard", RunError, "new run, which --from can base on this one"),
        ("game.rules=dmp", RunError, r"game\.rules"),
        ("exact.pool=5", RunError, r"exact\.pool"),
        ("exact.pruner=small", RunError, r"exact\.pruner"),
        ("games=60", RunError, "the run has played 60 already"),
        ("games=0", ConfigError, "games"),
        ("learning.plain_width=1" + 400 * "0", ConfigError, "plain_width"),
        ("learning.rate=1", ConfigError, r"unknown key learning\.rate"),
    ],
)
def test_what_cannot_change_is_refused_and_nothing_is_written(
    tmp_path: Path, setting: str, error: type[Exception], message: str
) -> None:
    run = stopped(tmp_path)
    before = run.config.read_bytes()
    with pytest.raises(error, match=message):
        Training.resume(run, None, Quiet(), settings=["learning.average=0.9", setting])
    assert run.config.read_bytes() == before and not run.changes.exists()


def test_the_kind_of_targets_is_built_in(tmp_path: Path) -> None:
    """A pool of exact backups cannot appear from nowhere."""
    run = stopped(tmp_path, **{"parent": "beginner", "net.hidden": [128, 16]})
    with pytest.raises(RunError, match=r"learning\.targets"):
        Training.resume(run, None, Quiet(), settings=["learning.targets=exact"])


def test_no_change_is_no_entry(tmp_path: Path) -> None:
    run = stopped(tmp_path)
    Training.resume(run, None, Quiet(), settings=["games=200"]).go()
    assert not run.changes.exists()


def test_a_run_without_a_checkpoint_begins_with_the_change(tmp_path: Path) -> None:
    start(tmp_path / "run", tiny(tmp_path))
    run = RunFolder(tmp_path / "run")
    Training.resume(run, None, Quiet(), settings=["games=40"]).go()
    assert changes_of(run) == [Change(0, ["games (200 / 40)"])]


@pytest.mark.parametrize(
    "line", ['{"games": 3}', "[]", "nonsense", '{"games": Infinity, "changed": []}', '{"games": 5, "changed": "abc"}']
)
def test_a_damaged_list_is_named(tmp_path: Path, line: str) -> None:
    run = stopped(tmp_path)
    before = run.config.read_bytes()
    run.changes.write_text(line + "\n")
    with pytest.raises(RunError, match=r"changes\.jsonl is damaged"):
        Training.resume(run, None, Quiet(), settings=["games=400"]).go()
    assert run.config.read_bytes() == before


def test_a_run_that_another_process_holds_is_not_changed(tmp_path: Path) -> None:
    run = stopped(tmp_path)
    before = run.config.read_bytes()
    with run.locked(), pytest.raises(RunError, match="another process is training"):
        Training.resume(run, None, Quiet(), settings=["games=400"]).go()
    assert run.config.read_bytes() == before and not run.changes.exists()


def test_a_run_that_went_on_meanwhile_is_not_overtaken(tmp_path: Path) -> None:
    run = stopped(tmp_path)
    late = Training.resume(run, None, Quiet(), settings=["games=400"])
    Training.resume(run, None, Quiet()).go()
    with pytest.raises(RunError, match="another process has gone on with this run meanwhile"):
        late.go()
    assert run.stored_config().games == 200


def test_a_change_that_was_half_written_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list comes first: what happened and is not noted would be worse."""
    run = stopped(tmp_path)

    def full(_: object) -> str:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("bgnet.run_changes.to_toml", full)
        with pytest.raises(OSError, match="No space"):
            Training.resume(run, None, Quiet(), settings=["games=100"]).go()
    assert Training.resume(run, None, Quiet(), settings=["games=100"]).go()["games"] == 100
    assert changes_of(run) == [Change(60, ["games (200 / 100)"])]


def test_a_change_without_its_checkpoint_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk, or a kill: the run's configuration has the change, the counters of its checkpoint have not."""
    run = stopped(tmp_path)

    def full(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    settings = ["games=100", 'evaluation.opponents=["pubeval"]']
    path, counters, tensors = newest_checkpoint(run.checkpoints)
    save_checkpoint(path.parent, replace(counters, best_score=9.0), tensors)
    with monkeypatch.context() as patch:
        patch.setattr("bgnet.training.save_checkpoint", full)
        with pytest.raises(OSError, match="No space"):
            Training.resume(run, None, Quiet(), settings=settings).go()
    again = Training.resume(run, None, Quiet())
    assert (again.counters.total_games, again.counters.best_score) == (100, None)
    assert again.go()["games"] == 100


def test_a_longer_run_is_not_finished_before_its_new_end(tmp_path: Path) -> None:
    start(tmp_path / "run", tiny(tmp_path, games=40)).go()
    run = RunFolder(tmp_path / "run")
    with pytest.raises(Stopped):
        Training.resume(run, None, Quiet(1), settings=["games=400"]).go()
    with pytest.raises(NetFileError, match="only finished runs are shipped"):
        ship(run, "x", "A test", tmp_path)


def test_a_score_against_another_opponent_is_no_best(tmp_path: Path) -> None:
    """The last opponent of the list may have been missing before."""
    run = stopped(tmp_path)
    path, counters, tensors = newest_checkpoint(run.checkpoints)
    for against, kept in (("random", True), (None, True), ("pubeval", False)):
        save_checkpoint(path.parent, replace(counters, best_score=9.0, best_against=against), tensors)
        training = Training.resume(run, None, Quiet())
        training._keep_best(training.trial.play(training._evaluator(), 2))
        assert (training.counters.best_score == 9.0) == kept
        assert training.counters.best_against == (against if kept else "random")


def test_the_end_is_the_checkpoints(tmp_path: Path) -> None:
    """--minutes fixes another number of games than the configuration has, which then can be asked for."""
    run = stopped(tmp_path)
    path, counters, tensors = newest_checkpoint(run.checkpoints)
    save_checkpoint(path.parent, replace(counters, total_games=100), tensors)
    assert Training.resume(run, None, Quiet(), settings=["games = 200"]).go()["games"] == 200
    assert changes_of(run) == [Change(60, ["games (100 / 200)"])]


def test_a_finished_run_changes_only_with_more_games(tmp_path: Path) -> None:
    start(tmp_path / "run", tiny(tmp_path, games=40)).go()
    run = RunFolder(tmp_path / "run")
    for setting in ("learning.average=0.9", "evaluation.final_games=40"):
        with pytest.raises(RunError, match="finished at 40 games: it goes on only with more `games`"):
            Training.resume(run, None, Quiet(), settings=[setting])
    assert not run.changes.exists()


def test_a_longer_run_that_stops_in_its_last_games_is_not_the_old_one(tmp_path: Path) -> None:
    start(tmp_path / "run", tiny(tmp_path, games=40)).go()
    run = RunFolder(tmp_path / "run")

    class AtTheEnd(Quiet):
        """Stops after the last round, so in the games against the baselines."""

        def stop_requested(self) -> bool:
            return run.last.stat().st_mtime_ns != before

    before = run.last.stat().st_mtime_ns
    with pytest.raises(Stopped, match="while playing the baselines"):
        Training.resume(run, None, AtTheEnd(), settings=["games=80"]).go()
    with pytest.raises(NetFileError, match="no summary.json: only finished runs are shipped"):
        ship(run, "x", "A test", tmp_path)
    summary = Training.resume(run, None, Quiet()).go()
    assert summary["games"] == 80 and summary["results"]


def test_a_longer_run_is_evaluated_on_the_way(tmp_path: Path) -> None:
    start(tmp_path / "run", tiny(tmp_path, games=100)).go()
    run = RunFolder(tmp_path / "run")
    Training.resume(run, None, Quiet(), settings=["games=400"]).go()
    lines = [json.loads(line) for line in run.log.read_text().splitlines()]
    assert [line["games"] for line in lines if "eval/ppg_random" in line] == [40, 80, 100, 140, 280, 400]


def test_other_opponents_begin_a_new_best(tmp_path: Path) -> None:
    run = stopped(tmp_path)
    path, counters, tensors = newest_checkpoint(run.checkpoints)
    save_checkpoint(path.parent, replace(counters, best_score=9.0), tensors)
    assert Training.resume(run, None, Quiet()).counters.best_score == 9.0
    settings = ['evaluation.opponents=["pubeval"]']
    assert Training.resume(run, None, Quiet(), settings=settings).counters.best_score is None


def test_on_the_command_line(tmp_path: Path) -> None:
    run = stopped(tmp_path)
    done = subprocess.run(command(run.path, "--resume", "--set", "games=100"), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "change games (200 / 100) from 60 games on" in done.stderr
    done = subprocess.run(command(run.path, "--resume", "--from", "standard"), capture_output=True, text=True)
    assert done.returncode == 2 and "--from belongs to new ones" in done.stderr
