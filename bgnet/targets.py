"""Training targets from games played: TD(lambda) over the six endings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bgnet.selfplay import SelfPlay
from engine.jit import kernel

__all__ = ["td_lambda", "training_positions"]


@kernel
def _td_lambda(values, offsets, endings, decay, out):
    """values float32[M, 6], offsets int64[G + 1], endings int64[G], decay = lambda -> out float32[M, 6]."""
    carry = np.empty(6, dtype=np.float32)
    for g in range(offsets.shape[0] - 1):
        # What the player who is next gets, seen by him: at the end of the game that is certain.
        carry[:] = 0.0
        carry[endings[g]] = 1.0
        for t in range(offsets[g + 1] - 1, offsets[g] - 1, -1):
            for j in range(6):
                out[t, j] = carry[(j + 3) % 6]
            for j in range(6):
                carry[j] = (1 - decay) * values[t, j] + decay * out[t, j]


def td_lambda(games: SelfPlay, decay: float) -> NDArray[np.float32]:
    """TD(lambda) targets of every position played: float32[M, 6], each in its own view.

    G_t = swap((1 - lambda) v_{t+1} + lambda G_{t+1}), where `swap` turns the view and the end of the game is exact:
    lambda = 1 learns from results, lambda = 0 from the next position's value (Sutton 1988, forward view).
    """
    out = np.empty_like(games.values)
    _td_lambda(games.values, games.offsets, games.endings, np.float32(decay), out)
    return out


def training_positions(games: SelfPlay) -> NDArray[np.int64]:
    """Indices of the positions to learn from: all but each game's first.

    The opening roll is never a double, so its targets say what a position without doubles is worth.
    """
    keep = np.ones(len(games.boards), dtype=np.bool_)
    keep[games.offsets[:-1]] = False
    return np.flatnonzero(keep)
