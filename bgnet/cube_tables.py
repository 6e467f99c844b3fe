"""Take points and gammon prices at match scores: what players learn by heart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.cube_context import CubeContext, CubeError
from bgnet.cube_kernels import live_points_kernel
from bgnet.match_equity import MatchEquityTable
from engine.outcomes import LOSE, WIN
from engine.state import CUBE_TOP

__all__ = ["TakePoints", "money_take_points", "take_points"]

_SINGLE = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0], dtype=np.float64)  # without gammons


class TakePoints(NamedTuple):
    """Of the player who is doubled, by the points that (he, the doubler) need; nan where nobody should double.

    Arrays are float64[n + 1, n + 1], indexed by these points; row and column 0 are nan. At 1-away the Crawford game has
    been played.
    """

    dead: NDArray[np.float64]
    """The chance to win from which on he takes, without gammons, if the cube is never turned again."""
    live: NDArray[np.float64]
    """The same if it is turned at exactly the right moments: he may redouble, at scores where he needs that."""
    taker_gammon: NDArray[np.float64]
    """Price of his gammons with the doubled cube: what winning a gammon instead of a single game adds, in units of the
    cube (half the difference between winning and losing a single game). In money play it is 1."""
    doubler_gammon: NDArray[np.float64]
    """The same for the doubler's gammons."""


def take_points(length: int, to: int = 2, table: MatchEquityTable | None = None) -> TakePoints:
    """For all scores of a match to `length` points, of a cube that is doubled to `to`.

    Raises CubeError for a cube that is no double, MatchEquityError for a match that is too long for the table.
    """
    if not isinstance(to, (int, np.integer)) or not 2 <= to <= CUBE_TOP or to & (to - 1):
        raise CubeError(f"a double is to 2, 4, 8, ..., not to {to!r}")
    if not isinstance(length, (int, np.integer)) or length < 1:
        raise CubeError(f"a match needs at least 1 point, not {length!r}")
    found = TakePoints(*(np.full((length + 1, length + 1), np.nan, dtype=np.float64) for _ in TakePoints._fields))
    for own in range(1, length + 1):
        for other in range(1, length + 1):
            _fill_in(found, CubeContext((own, other), table=table), to)
    return found


def money_take_points() -> tuple[float, float, float, float]:
    """The same four of money play without gammons and without a highest cube."""
    return 0.25, 0.2, 1.0, 1.0


def _fill_in(found: TakePoints, context: CubeContext, to: int) -> None:
    """The entries of one score, seen by the player who is doubled."""
    if context.away is None or not context.flipped.may_double(to // 2, 0):
        return
    levels = context.levels
    doubled = to.bit_length() - 1
    before = doubled - 1
    after = levels.after[doubled]
    won, lost, passed = after[WIN], after[LOSE], levels.after[before, LOSE]
    points = np.ones((len(levels.after), 2), dtype=np.float64)
    live_points_kernel(levels.after, levels.ends, _SINGLE, points)
    found.dead[context.away] = (passed - lost) / (won - lost)
    found.live[context.away] = 1.0 - points[before, 1]
    unit = (won - lost) / 2.0
    found.taker_gammon[context.away] = (after[WIN + 1] - won) / unit
    found.doubler_gammon[context.away] = (lost - after[LOSE + 1]) / unit
