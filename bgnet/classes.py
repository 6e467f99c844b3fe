"""Kinds of positions, so that scores can be told apart by them.

race: contact is over, no checker has one of the other side's ahead. bearoff: a race with all checkers of both sides in
their home boards. contact: everything else, of which two kinds are singled out by rules of our own:

backgame: a side holds two or more points (two checkers or more on each) of the other's home board, and trails in the
  race, by pips.
crashed: else, if a side has at most six checkers above its own 2-point. Those borne off and those on its two lowest
  points can do nothing more for the game: such a side has no time left, or is bearing off against contact.

Both rules look at either side, so a position is of the same class in the other player's view. Of the contact
positions of a good net's self-play about one in forty is a backgame and one in nine crashed. GNU Backgammon draws the
lines of its classes elsewhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.board import is_race
from engine.jit import kernel
from engine.moves import check_boards

__all__ = ["BACKGAME", "BEAROFF", "CLASSES", "CONTACT", "CRASHED", "RACE", "class_kernel", "classify"]

CLASSES = ("contact", "race", "crashed", "backgame", "bearoff")
"""Their names, by number."""
CONTACT, RACE, CRASHED, BACKGAME, BEAROFF = range(5)

_FEW = 6  # checkers above the 2-point


def classify(boards: NDArray[np.int8], *, checkers: int = 15) -> NDArray[np.int8]:
    """int8[N, 26] -> int8[N]: the class of each, a number of CLASSES; a finished game counts by what is left on it.

    checkers: the most a side may have. Raises ArrayError or BoardError naming the first bad row.
    """
    boards = check_boards(boards, checkers=checkers)
    out = np.empty(len(boards), dtype=np.int8)
    _classify(boards, out)
    return out


@kernel
def _classify(boards, out):
    """boards int8[N, 26] -> out int8[N], their classes."""
    for i in range(boards.shape[0]):
        out[i] = class_kernel(boards[i])


@kernel
def class_kernel(board):
    """board int8[26] -> its class, 0 .. 4 (see the module)."""
    if is_race(board):
        for p in range(26):
            if (p > 6 and board[p] > 0) or (p < 19 and board[p] < 0):
                return RACE
        return BEAROFF
    behind = 0  # pips of the player on roll less the opponent's
    own_held = 0
    opponent_held = 0
    own_useful = 0
    opponent_useful = 0
    for p in range(26):
        n = int(board[p])  # widen first: int8 wraps when the JIT is off
        if n > 0:
            behind += n * p
            if p > 2:
                own_useful += n
            if n > 1 and 19 <= p <= 24:
                own_held += 1
        elif n < 0:
            behind += n * (25 - p)
            if p < 23:
                opponent_useful -= n
            if n < -1 and 1 <= p <= 6:
                opponent_held += 1
    if (own_held > 1 and behind > 0) or (opponent_held > 1 and behind < 0):
        return BACKGAME
    if own_useful <= _FEW or opponent_useful <= _FEW:
        return CRASHED
    return CONTACT
