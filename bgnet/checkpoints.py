"""Checkpoints: everything a run needs to go on as if nothing had happened, in one safetensors file.

There is no random state to keep: dice and shuffles are functions of (seed, game) and (seed, round).
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bgnet.netfile import NetFileError, load_tensors, save_tensors

__all__ = ["Counters", "load_checkpoint", "newest_checkpoint", "prune_checkpoints", "save_checkpoint"]

_FORMAT = "bgnet-checkpoint/1"
_NEW = ("best_against",)  # counters that older checkpoints lack

Tensors = dict[str, NDArray[np.generic]]


@dataclass
class Counters:
    """How far a run is."""

    rounds: int = 0
    games: int = 0
    """Games learned from."""
    positions: int = 0
    """Positions of these games that were learned from, each counted once."""
    steps: int = 0
    """Minibatches, which is also Adam's step count."""
    total_games: int = 0
    """Where the run ends; 0 = not fixed yet."""
    minutes: float = 0.0
    """What `--minutes` asked for, until the number of games is fixed; 0 = the configuration's games."""
    evaluations: int = 0
    """Evaluations made during the run."""
    seconds: float = 0.0
    """Time spent so far, over all stretches of the run."""
    best_score: float | None = None
    """Points per game, against the last of the opponents that can play here, of the best network so far."""
    best_against: str | None = None
    """Who that opponent was; None in checkpoints that do not say it."""

    def evaluations_due(self, times: int) -> int:
        """How many of a run's `times` evaluations belong to the games so far: by the share of the run, so that a
        resumed run agrees. Its total must be fixed.
        """
        return self.games * (times + 1) // self.total_games


def save_checkpoint(folder: Path, counters: Counters, tensors: Tensors) -> Path:
    """Write a checkpoint atomically and return its path; OSError names the path when that fails."""
    path = folder / f"round-{counters.rounds:08d}.safetensors"
    metadata = {"format": _FORMAT, "counters": json.dumps(asdict(counters))}
    save_tensors(path, tensors, metadata)
    return path


def load_checkpoint(path: Path) -> tuple[Counters, Tensors]:
    """Read a checkpoint; NetFileError says what is wrong with it."""
    tensors, metadata = load_tensors(path, _FORMAT)
    try:
        raw = json.loads(metadata["counters"])
        counters = Counters(**{f.name: raw[f.name] for f in fields(Counters) if f.name in raw or f.name not in _NEW})
    except (KeyError, TypeError, ValueError) as error:
        raise NetFileError(f"{path}: the counters cannot be read ({error})") from error
    return counters, tensors


def _checkpoints(folder: Path) -> list[Path]:
    return sorted(folder.glob("round-*.safetensors"))


def latest_checkpoint(folder: Path) -> Path | None:
    """The file of the newest checkpoint, readable or not."""
    return next(reversed(_checkpoints(folder)), None)


def newest_checkpoint(folder: Path) -> tuple[Path, Counters, Tensors]:
    """The newest checkpoint that can be read; damaged ones are renamed. NetFileError when there is none."""
    complaints = []
    for path in reversed(_checkpoints(folder)):
        try:
            return path, *load_checkpoint(path)
        except NetFileError as error:
            if isinstance(error.__cause__, OSError):
                raise  # it may be whole: what cannot be read today can be tomorrow
            complaints.append(str(error))
            # Out of the way, or it would count as the newest when old ones are pruned.
            with contextlib.suppress(FileNotFoundError):  # pruned meanwhile
                path.rename(path.with_suffix(".damaged"))
    reason = "; ".join(complaints) or "the folder holds none"
    raise NetFileError(f"{folder}: no checkpoint to go on from ({reason})")


def prune_checkpoints(folder: Path, keep: int) -> None:
    """Remove all but the newest `keep` checkpoints, and what an interrupted write left behind."""
    for path in _checkpoints(folder)[:-keep]:
        path.unlink(missing_ok=True)
    for path in folder.glob(".round-*.tmp"):
        path.unlink(missing_ok=True)
