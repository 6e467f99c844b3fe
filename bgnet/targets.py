"""Training targets from games played: TD(lambda), or exact backups with the residuals of what followed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bgnet.selfplay import SelfPlay
from engine.jit import kernel

__all__ = ["residual_lambda", "td_lambda", "training_positions"]


@kernel
def _td_lambda(values, offsets, finals, wandered, lam, out):
    """values float32[M, 6], offsets int64[G + 1], finals float32[G, 6], wandered bool[M], lam -> out float32[M, 6]."""
    carry = np.empty(6, dtype=np.float32)
    for g in range(offsets.shape[0] - 1):
        carry[:] = finals[g]  # what the player who is next gets, seen by him
        for t in range(offsets[g + 1] - 1, offsets[g] - 1, -1):
            for j in range(6):
                out[t, j] = carry[(j + 3) % 6]
            kept = 0.0 if wandered[t] else lam
            for j in range(6):
                carry[j] = (1 - kept) * values[t, j] + kept * out[t, j]


def td_lambda(games: SelfPlay, lam: float) -> NDArray[np.float32]:
    """TD(lambda) targets of every position played: float32[M, 6], each in its own view.

    G_t = swap((1 - lambda) v_{t+1} + lambda G_{t+1}), where `swap` turns the view and the end of the game is exact:
    lambda = 1 learns from results, lambda = 0 from the next position's value (Sutton 1988, forward view).

    Where a play was random, what followed is not carried back to earlier positions; the target of that position itself
    means nothing (`training_positions` leaves it out).
    """
    out = np.empty_like(games.values)
    _td_lambda(games.values, games.offsets, games.finals, games.wandered, np.float32(lam), out)
    return out


@kernel
def _residual_lambda(values, backups, offsets, finals, last_values, wandered, lam, out):
    """values and backups float32[M, 6], offsets int64[G + 1], finals and last_values float32[G, 6], wandered bool[M],
    lam -> out float32[M, 6].
    """
    carry = np.empty(6, dtype=np.float32)
    for g in range(offsets.shape[0] - 1):
        carry[:] = finals[g] - last_values[g]  # zero unless the endgame tables knew better
        for t in range(offsets[g + 1] - 1, offsets[g] - 1, -1):
            if wandered[t]:
                carry[:] = 0.0
            for j in range(6):
                out[t, j] = backups[t, j] + lam * carry[(j + 3) % 6]
            later = carry.copy()
            for j in range(6):
                carry[j] = backups[t, j] - values[t, j] + lam * later[(j + 3) % 6]


def residual_lambda(games: SelfPlay, lam: float) -> NDArray[np.float32]:
    """Exact backups corrected by the residuals of the positions that followed: float32[M, 6], each in its own view.

    y_t = u_t + sum_{k >= 1} lambda^k swap^k(u_{t+k} - v_{t+k}) with values v and exact one-roll backups u: the
    lambda-return of exact residuals. Where a game ended at the endgame tables their outcome is the last u. The dice
    enter a target only through which positions followed, so its noise is small. The sum ends at a random play, which
    the backups know nothing of.

    The six sum to 1. One near 0 can be a little negative and stays so: clipping would raise rare endings, and the
    bootstrap would add up what it raised. Cross-entropy takes it, since its gradient is linear in the target.
    ValueError when the games were played without backups.
    """
    if len(games.backups) != len(games.values):
        raise ValueError("these games were played without exact backups")
    out = np.empty_like(games.values)
    played = (games.values, games.backups, games.offsets, games.finals, games.last_values, games.wandered)
    _residual_lambda(*played, np.float32(lam), out)
    return out


def training_positions(games: SelfPlay, *, exact: bool = False) -> NDArray[np.int64]:
    """Indices of the positions to learn from: all with exact backups; with sampled targets all but those of a random
    play and each game's first.

    The opening roll is never a double, so sampled targets would say what a position without doubles is worth.
    """
    keep = np.ones(len(games.boards), dtype=np.bool_)
    if not exact:
        keep[games.offsets[:-1]] = False
        keep[games.wandered] = False
    return np.flatnonzero(keep)
