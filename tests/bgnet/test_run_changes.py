"""Changing a run's configuration on the way: what is asked for happens, is written down, and nothing else does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bgnet.config import ConfigError
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


def test_no_change_is_no_entry(tmp_path: Path) -> None:
    run = stopped(tmp_path)
    Training.resume(run, None, Quiet(), settings=["games=200"])
    assert not run.changes.exists()


def test_a_run_without_a_checkpoint_begins_with_the_change(tmp_path: Path) -> None:
    start(tmp_path / "run", tiny(tmp_path))
    run = RunFolder(tmp_path / "run")
    Training.resume(run, None, Quiet(), settings=["games=40"]).go()
    assert changes_of(run) == [Change(0, ["games (200 / 40)"])]


def test_a_damaged_list_is_named(tmp_path: Path) -> None:
    run = stopped(tmp_path)
    run.changes.write_text('{"games": 3}\n')
    with pytest.raises(RunError, match=r"changes\.jsonl is damaged"):
        Training.resume(run, None, Quiet(), settings=["games=400"])


def test_on_the_command_line(tmp_path: Path) -> None:
    run = stopped(tmp_path)
    done = subprocess.run(command(run.path, "--resume", "--set", "games=100"), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "change games (200 / 100) from 60 games on" in done.stderr
    done = subprocess.run(command(run.path, "--resume", "--from", "standard"), capture_output=True, text=True)
    assert done.returncode == 2 and "--from belongs to new ones" in done.stderr
