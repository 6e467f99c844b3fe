"""A match score as the kernels want it: for each face of the cube what the endings are worth, and who can use it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.match_equity_lookup import after_games

__all__ = ["CubeLevels", "levels_of"]


class CubeLevels(NamedTuple):
    """Of a score seen by the player on roll, for each cube 2**level; see bgnet.cube_kernels.match_kernel."""

    after: NDArray[np.float64]
    """float64[L, 6]: his chance to win the match after each of the six endings."""
    ends: NDArray[np.int64]
    """int64[L, 2]: the level where the cube stays for good once he, [:, 0], or his opponent, [:, 1], has doubled it;
    -1 where the taker can still use it."""
    dead: NDArray[np.bool_]
    """bool[L]: nobody gains by turning it."""


def levels_of(
    pre: NDArray[np.float64],
    post: NDArray[np.float64],
    away: tuple[int, int],
    *,
    crawford: bool = False,
    max_cube: int | None = None,
    stakes: tuple[int, int, int] = (1, 2, 3),
) -> CubeLevels:
    """The levels of an away score (the player on roll, his opponent), both at least 1.

    At 2-away 2-away the cube counts as dead at 1 already, as GNU Backgammon has it: either player may double at any
    time for the match, so that not doubling is judged as if nobody ever did.
    """
    after = after_games(pre, post, away, crawford, stakes)
    levels = len(after)
    ends = np.full((levels, 2), -1, dtype=np.int64)
    dead = np.zeros(levels, dtype=np.bool_)
    for level in range(levels):
        cube = 1 << level
        capped = max_cube is not None and cube >= max_cube
        worth = stakes[0] * cube
        dead[level] = crawford or capped or max(away) <= worth or away == (2, 2)
        for side in range(2):
            doubler, taker = away[side], away[1 - side]
            if min(away) > 2 * worth and (max_cube is None or 2 * cube < max_cube):
                continue
            # Once the doubled cube wins the match for the doubler, the taker has nothing to lose: he redoubles at once.
            free = doubler <= 2 * worth < taker and (max_cube is None or 4 * cube <= max_cube)
            ends[level, side] = level + 2 if free else level + 1
    return CubeLevels(after, ends, dead)
