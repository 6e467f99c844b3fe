"""Rollouts in files: the rows of all trials and what they were asked under, so that more can be added later.

A numpy archive without pickle: `header` (JSON as bytes), `results` float32[C, T, 6], `luck` float64[C, T, 6].
"""

from __future__ import annotations

import json
import lzma
import os
import zipfile
import zlib
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from bgnet.lockstep import RolloutError, Trials
from bgnet.netfile import atomic_write
from bgnet.rollout_results import RolloutSettings, Saved
from engine.position import Position
from engine.state import GameState

__all__ = ["read_rollout", "write_rollout"]

_FORMAT = "bgnet.rollout-file/1"


def write_rollout(path: str | os.PathLike[str], saved: Saved) -> None:
    """Write atomically: the file is the old one or the whole new one. Raises OSError when it cannot be written."""
    header = {
        "format": _FORMAT,
        "state": _state_fields(saved.state),
        "plays": saved.plays,
        "settings": asdict(saved.settings),
    }
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with atomic_write(Path(path)) as temporary, open(temporary, "wb") as file:
        np.savez(file, header=text, results=saved.rows.results, luck=saved.rows.luck)


def read_rollout(path: str | os.PathLike[str]) -> Saved:
    """What `write_rollout` wrote. Raises OSError, and RolloutError naming the file when it holds something else."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            header = json.loads(archive["header"].tobytes())
            rows = Trials(archive["results"], archive["luck"])
        if header["format"] != _FORMAT:
            raise RolloutError(f"{path}: format {header['format']!r}, this version reads {_FORMAT!r}")
        settings = RolloutSettings(**{**header["settings"], "payoff": tuple(header["settings"]["payoff"])})
        plays = None if header["plays"] is None else tuple(header["plays"])
        saved = Saved(_state(header["state"]), plays, settings, rows)
        _check_shapes(saved)
    except RolloutError:
        raise
    except (  # NotImplementedError is what zipfile raises for a damaged compression method
        KeyError, TypeError, ValueError, AttributeError, EOFError, OverflowError, RecursionError, NotImplementedError,
        zipfile.BadZipFile, zlib.error, lzma.LZMAError,
    ) as error:  # fmt: skip
        raise RolloutError(f"{path} is no file of a rollout, or it is damaged: {error}") from error
    return saved


def _check_shapes(saved: Saved) -> None:
    results, luck = saved.rows
    count = 1 if saved.plays is None else len(saved.plays)
    if results.dtype != np.float32 or luck.dtype != np.float64 or results.shape != luck.shape:
        raise ValueError(f"results {results.dtype}{list(results.shape)} and luck {luck.dtype}{list(luck.shape)}")
    if results.ndim != 3 or results.shape[0] != count or results.shape[2] != 6 or results.shape[1] == 0:
        raise ValueError(f"{list(results.shape)} rows for {count} positions")
    if not np.isfinite(luck).all() or not ((results > -0.001) & (results < 1.001)).all():
        raise ValueError("numbers that are no chances")


def _state_fields(state: GameState) -> dict[str, Any]:
    """A state as JSON; not as an ID, since every kind of ID loses something."""
    values = {f.name: getattr(state, f.name) for f in fields(state)}
    values["game_state"] = int(state.game_state)
    values["position"] = state.position.board.tolist()
    return values


def _state(values: dict[str, Any]) -> GameState:
    others = {key: value for key, value in values.items() if key != "position"}
    for name in ("dice", "score"):
        others[name] = None if others[name] is None else tuple(others[name])
    return GameState(Position(values["position"]), **others)
