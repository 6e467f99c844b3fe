"""Rollouts in files: what is written comes back, anything else is refused by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bgnet.lockstep import RolloutError, Trials
from bgnet.rollout_file import read_rollout, write_rollout
from bgnet.rollout_results import RolloutSettings, Saved
from engine import START, GameState

SETTINGS = RolloutSettings(
    trials=100, seed=3, ply=1, truncate=7, luck=True, tables=False, payoff=(1, 2, 3, -1, -2, -3), bot="net:x"
)
STATE = GameState(
    START, on_roll=0, dice=(1, 3), cube=4, owner=0, match_length=7, score=(2, 5), game_state=1
)  # what no kind of ID keeps: the order of the dice


def saved(plays: tuple[str, ...] | None = ("8/5 6/5", "24/20"), trials: int = 3) -> Saved:
    rng = np.random.default_rng(1)
    shape = (1 if plays is None else len(plays), trials, 6)
    return Saved(STATE, plays, SETTINGS, Trials(rng.random(shape, np.float32), rng.random(shape)))


@pytest.mark.parametrize("plays", [None, ("8/5 6/5", "24/20")])
def test_what_was_written_is_read(tmp_path: Path, plays: tuple[str, ...] | None) -> None:
    file, before = tmp_path / "r.rollout", saved(plays)
    write_rollout(file, before)
    after = read_rollout(file)
    assert (after.state, after.plays, after.settings) == (before.state, before.plays, before.settings)
    for one, other in zip(after.rows, before.rows, strict=True):
        assert np.array_equal(one, other) and one.dtype == other.dtype
    assert [path.name for path in tmp_path.iterdir()] == ["r.rollout"], "nothing is left beside it"


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "r"
    write_rollout(file, saved())
    old = file.read_bytes()

    def full(stream: object, **_: object) -> None:
        stream.write(b"half")  # type: ignore[attr-defined]
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bgnet.rollout_file.np.savez", full)
    with pytest.raises(OSError, match="cannot write .*No space"):
        write_rollout(file, saved(trials=5))
    assert file.read_bytes() == old
    assert len(list(tmp_path.iterdir())) == 1


def rewrite(file: Path, **arrays: np.ndarray) -> None:
    with np.load(file) as archive:
        found = dict(archive)
    with open(file, "wb") as stream:
        np.savez(stream, **{**found, **arrays})


def test_what_is_no_rollout_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "r"
    for content in (b"", b"hello", b"PK\x03\x04 broken"):
        file.write_bytes(content)
        with pytest.raises(RolloutError, match="no file of a rollout, or it is damaged"):
            read_rollout(file)
    write_rollout(file, saved())
    file.write_bytes(file.read_bytes()[:-300])
    with pytest.raises(RolloutError, match="damaged"):
        read_rollout(file)
    with pytest.raises(FileNotFoundError):
        read_rollout(tmp_path / "none")


@pytest.mark.parametrize(
    "arrays",
    [
        {"luck": np.zeros((2, 3, 6), np.float32)},
        {"luck": np.zeros((2, 4, 6))},
        {"results": np.zeros((1, 3, 6), np.float32), "luck": np.zeros((1, 3, 6))},
        {"results": np.zeros((2, 0, 6), np.float32), "luck": np.zeros((2, 0, 6))},
        {"header": np.frombuffer(b"{}", np.uint8)},
        {"header": np.frombuffer(b"[1]", np.uint8)},
        {"results": np.array([{}], dtype=object)},
    ],
    ids=["dtype", "shapes", "plays", "no trials", "empty header", "header of another kind", "pickle"],
)
def test_contents_that_cannot_be_are_refused(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    file = tmp_path / "r"
    write_rollout(file, saved())
    rewrite(file, **arrays)
    with pytest.raises(RolloutError, match=str(file)):
        read_rollout(file)


def test_another_version_is_named(tmp_path: Path) -> None:
    file = tmp_path / "r"
    write_rollout(file, saved())
    with np.load(file) as archive:
        header = archive["header"].tobytes().replace(b"rollout-file/1", b"rollout-file/9")
    rewrite(file, header=np.frombuffer(header, np.uint8))
    with pytest.raises(RolloutError, match=r"format 'bgnet.rollout-file/9', this version reads"):
        read_rollout(file)
