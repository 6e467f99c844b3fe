"""Checkpoints: the newest that can be read, and no good one lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bgnet.checkpoints import Counters, newest_checkpoint, prune_checkpoints, save_checkpoint
from bgnet.netfile import NetFileError


def test_damaged_checkpoints_fall_back_to_older_ones(tmp_path: Path) -> None:
    tensors = {"a": np.arange(3)}
    for rounds in (1, 2):
        save_checkpoint(tmp_path, Counters(rounds=rounds, games=rounds), tensors)
    newest = tmp_path / "round-00000002.safetensors"
    newest.write_bytes(newest.read_bytes()[:-5])
    assert newest_checkpoint(tmp_path)[1].rounds == 1
    (tmp_path / "round-00000001.safetensors").write_bytes(b"")
    with pytest.raises(NetFileError, match="no checkpoint to go on from"):
        newest_checkpoint(tmp_path)


def test_a_damaged_checkpoint_does_not_cost_the_good_one(tmp_path: Path) -> None:
    """Going on from an older one and keeping a single checkpoint must not leave just the damaged one."""
    for rounds in (1, 2):
        save_checkpoint(tmp_path, Counters(rounds=rounds), {"a": np.arange(3)})
    (tmp_path / "round-00000002.safetensors").write_bytes(b"cut")
    assert newest_checkpoint(tmp_path)[1].rounds == 1
    prune_checkpoints(tmp_path, 1)
    assert newest_checkpoint(tmp_path)[1].rounds == 1
    assert (tmp_path / "round-00000002.damaged").exists()


def test_a_checkpoint_that_cannot_be_read_today_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(24, "Too many open files")

    save_checkpoint(tmp_path, Counters(rounds=1), {"a": np.arange(3)})
    with monkeypatch.context() as patch, pytest.raises(NetFileError, match="Too many open files"):
        patch.setattr("safetensors.safe_open", refused)
        newest_checkpoint(tmp_path)
    assert newest_checkpoint(tmp_path)[1].rounds == 1


def test_prune_keeps_the_newest(tmp_path: Path) -> None:
    for rounds in (1, 2, 10, 3):
        save_checkpoint(tmp_path, Counters(rounds=rounds), {"a": np.arange(3)})
    (tmp_path / ".round-00000011.safetensors.1.tmp").write_bytes(b"half")
    prune_checkpoints(tmp_path, 2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["round-00000003.safetensors", "round-00000010.safetensors"]
