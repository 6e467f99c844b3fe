"""What a score is worth: look-ups in the arrays of a match equity table.

Scores are "away" scores, the points each player still needs. `pre` float64[n + 1, n + 1] and `post` float64[n + 1] are
indexed by them: pre[a, b] is the chance of a player who needs a points against b, before the Crawford game is over (so
pre[a, 1] is the chance before the Crawford game); post[a] the chance of the one who needs a points against 1 after it.
Row 0 of pre is 1, column 0 is 0, post[0] is 1: a match that is over.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.outcomes import LOSE

__all__ = ["after_games", "chance_after"]

Array = NDArray[np.float64]


def chance_after(pre: Array, post: Array, away: tuple[int, int], points: int, won: bool, crawford: bool) -> float:
    """The chance to win the match once this game has been won (or lost) by so many points; any excess is worth nothing.

    away: what (the player, his opponent) need now. crawford: this is the Crawford game. A player who needs one point
    in another game makes it a post-Crawford game.
    """
    own, other = away
    over = crawford or min(own, other) == 1
    if won:
        own = max(own - points, 0)
    else:
        other = max(other - points, 0)
    if own == 0 or other == 0:
        return 1.0 if own == 0 else 0.0
    if not over:
        return float(pre[own, other])
    return float(post[own]) if other == 1 else 1.0 - float(post[other])


def after_games(
    pre: Array, post: Array, away: tuple[int, int], crawford: bool, stakes: tuple[int, int, int] = (1, 2, 3)
) -> Array:
    """float64[L, 6]: the chance to win the match after each of the six endings, with the cube at 2**level.

    The last level is the lowest cube whose plain win settles the match for either player; higher ones are like it.
    stakes: points of the three kinds of win with the cube at 1.
    """
    levels = (-(-max(away) // stakes[0]) - 1).bit_length() + 1
    out = np.empty((levels, 6), dtype=np.float64)
    for level in range(levels):
        for j in range(6):
            points = stakes[j % 3] << level
            out[level, j] = chance_after(pre, post, away, points, j < LOSE, crawford)
    return out
