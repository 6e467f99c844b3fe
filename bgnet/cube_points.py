"""The points of the doubling window, on the axis of the doubler's chance to win."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgnet.cube_context import CubeContext
from bgnet.cube_values import cubeful_values
from engine.outcomes import LOSE, WIN

__all__ = ["CubePoints", "cube_points"]

_CELLS = 512
_ZOOMS = 3
_NOISE = 1e-12

Array = NDArray[np.float64]


class CubePoints(NamedTuple):
    """Chances to win of the player on roll, each the lowest at which something becomes right; None where it never does.

    The shares of gammons among wins, and among losses, and the cube efficiencies are held fixed.
    """

    take: float | None
    """He takes the opponent's double of this cube; None where the opponent could not double."""
    double: float | None
    """He doubles this cube if it stands in the middle; a match has no such cube above 1."""
    redouble: float | None
    """He redoubles this cube if he owns it; a cube at 1 is taken as owned for comparison."""
    cash: float | None
    """The opponent passes."""
    beaver: float | None
    """Above it the opponent no longer beavers; None where beavers are not allowed."""
    too_good: float | None
    """To play on for the gammon is worth more than the opponent's pass, with the cube where it is now."""


def cube_points(
    outcomes: ArrayLike, context: CubeContext, cube: int, owner: int, x: float, x_double: float | None = None
) -> CubePoints:
    """The points for float[6] chances of the player on roll; x, x_double: efficiencies before and after his double.

    All are found on the piecewise linear values by search; in money play without a highest cube they are Janowski's
    closed forms, to about 1e-9.
    """
    chances = np.maximum(np.asarray(outcomes, dtype=np.float64), 0.0)
    taken = x if x_double is None else x_double
    shares = _shares(chances)

    def value(w: Array, cube: int, owner: int, x: float) -> Array:
        rows = np.concatenate([w[:, None] * shares[WIN:LOSE], (1.0 - w)[:, None] * shares[LOSE:]], axis=1)
        values: Array = cubeful_values(rows, [[cube, owner]], context, x)[:, 0]
        return values

    def after_double(w: Array) -> Array:
        return value(w, 2 * cube, -1, taken)

    take = double = redouble = cash = beaver = too_good = None
    if context.flipped.may_double(cube, 0):
        take = _lowest(lambda w: value(w, 2 * cube, 1, taken) - context.lost(cube))
    if context.may_double(cube, 0):
        if context.away is None or cube == 1:
            double = _lowest(lambda w: after_double(w) - value(w, cube, 0, x))
        redouble = _lowest(lambda w: after_double(w) - value(w, cube, 1, x))
    if context.may_double(cube, owner):
        cash = _lowest(lambda w: after_double(w) - context.won(cube))
        if context.may_beaver(cube):
            beaver = _lowest(after_double)
        too_good = _lowest(lambda w: value(w, cube, owner, x) - context.won(cube) - 1e3 * _NOISE)
    return CubePoints(take, double, redouble, cash, beaver, too_good)


def _shares(chances: Array) -> Array:
    """float64[6] -> the shares of the kinds of win and of loss; single games for a side that never wins."""
    shares = chances.copy()
    for first in (WIN, LOSE):
        side = shares[first : first + 3]
        total = side.sum()
        side[:] = side / total if total > 0.0 else (1.0, 0.0, 0.0)
    return shares


def _lowest(gain: Callable[[Array], Array]) -> float | None:
    """The lowest w in 0..1 from which on gain(w) >= 0, None if there is none; gain is piecewise linear."""
    low, high = 0.0, 1.0
    for _ in range(_ZOOMS):
        w = np.linspace(low, high, _CELLS + 1)
        gains = gain(w) + _NOISE
        reached = np.flatnonzero(gains >= 0.0)
        if not len(reached):
            return None
        first = int(reached[0])
        if first == 0:
            return float(w[0])
        low, high = float(w[first - 1]), float(w[first])
        below, above = float(gains[first - 1]), float(gains[first])
    return low + (high - low) * below / (below - above)
