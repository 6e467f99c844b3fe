"""Boards as int8[26] in the view of the player on roll, and the small kernels every room needs.

Index 1..24 are his own point numbers (he moves down), positive = his checkers, negative = the
opponent's; 25 = his bar (>= 0), 0 = the opponent's bar (<= 0). Borne-off checkers are implied.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.jit import kernel
from engine.outcomes import LOSE, WIN

__all__ = ["HYPERGAMMON_BOARD", "NACKGAMMON_BOARD", "START_BOARD", "count_checkers", "ending", "is_race", "turn"]

Board = NDArray[np.int8]


def _symmetric(points: dict[int, int]) -> Board:
    """A read-only start board from one side's checkers; the other side mirrors them."""
    board = np.zeros(26, dtype=np.int8)
    for point, count in points.items():
        board[point] += count
        board[25 - point] -= count
    return np.frombuffer(board.tobytes(), dtype=np.int8)  # over immutable bytes: read-only for good


START_BOARD = _symmetric({24: 2, 13: 5, 8: 3, 6: 5})
NACKGAMMON_BOARD = _symmetric({24: 2, 23: 2, 13: 4, 8: 3, 6: 4})
HYPERGAMMON_BOARD = _symmetric({24: 1, 23: 1, 22: 1})


@kernel
def turn(board, out):
    """board int8[26] -> out int8[26], the other player's view of the same position."""
    for p in range(26):
        out[25 - p] = -board[p]


@kernel
def count_checkers(board):
    """board int8[26] -> (own, opponent's) checkers still in play."""
    own = 0
    opponent = 0
    for p in range(26):
        n = int(board[p])  # widen first: int8 wraps when the JIT is off
        if n > 0:
            own += n
        else:
            opponent -= n
    return own, opponent


@kernel
def ending(board, checkers):
    """board int8[26], checkers a side -> index of the ending for the player on roll, -1 if play goes on.

    The winner has no checkers left. The loser's game is a gammon when he has borne off none, and a
    backgammon when besides one of his checkers is on the bar or in the winner's home board (rule 25).
    """
    own, opponent = count_checkers(board)
    if own == 0:
        level = 0
        if opponent >= checkers:
            level = 1
            for p in range(7):  # the winner's home board, and the loser's bar at 0
                if board[p] < 0:
                    level = 2
        return WIN + level
    if opponent == 0:
        level = 0
        if own >= checkers:
            level = 1
            for p in range(19, 26):
                if board[p] > 0:
                    level = 2
        return LOSE + level
    return -1


@kernel
def is_race(board):
    """board int8[26] -> whether contact is over: no checker of either side has one of the other's ahead."""
    rearmost = 25
    while rearmost >= 0 and board[rearmost] <= 0:
        rearmost -= 1
    return not (board[: max(rearmost, 0)] < 0).any()
