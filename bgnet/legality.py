"""Are chosen results legal? Cheap enough to ask after every decision (a few microseconds each)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine import Afterstates, legal_afterstates

__all__ = ["legal_choices", "matches"]

Boards = NDArray[np.int8]


def legal_choices(boards: Boards, dice: Boards, chosen: Boards) -> NDArray[np.bool_]:
    """bool[N]: whether each chosen board (the next player's view) is a legal result of its position and roll.

    boards int8[N, 26] (the mover's view), dice int8[N, 2], chosen int8[N, 26]. Raises what
    `engine.legal_afterstates` raises.
    """
    return matches(chosen, legal_afterstates(boards, dice))


def matches(chosen: Boards, legal: Afterstates) -> NDArray[np.bool_]:
    """bool[N]: whether chosen[i] is among row i's results, which are never none."""
    if len(chosen) == 0:
        return np.zeros(0, dtype=np.bool_)
    same = (legal.boards == np.repeat(chosen, np.diff(legal.offsets), axis=0)).all(axis=1)
    return np.logical_or.reduceat(same, legal.offsets[:-1])
