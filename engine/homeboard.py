"""One side's checkers in its home board, numbered, and where one die takes them.

Positions of at most `most` checkers on points 1..6 are numbered in the order of their counts, the 6 point first; the
empty board is 0. A move lowers the count of the point it leaves and raises only a lower one, so it always leads
to a smaller number: tables over these numbers can be filled from 0 up.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

from engine.jit import kernel

__all__ = ["POINTS", "extent", "home_index", "home_indices", "home_positions", "home_steps", "how_many"]

POINTS = 6

# _WAYS[n, k]: in how many ways at most k checkers stand on n points.
_WAYS = np.array([[comb(n + k, n) for k in range(16)] for n in range(POINTS + 1)], dtype=np.int64)


def how_many(most: int) -> int:
    """How many positions there are with at most `most` checkers (0..15): 54,264 for 15, 924 for 6."""
    return int(_WAYS[POINTS, most])


@kernel
def extent(board):
    """board int8[26] -> (own checkers, opponent's checkers, own rearmost place, opponent's rearmost on his own count).

    Rearmost is 0 for a side without checkers and 25 for the bar. Both are at most 6 when all checkers are home,
    and sum to less than 25 in a race. (One pass over the board: evaluators ask this of every position.)
    """
    own = 0
    both = 0
    for p in range(26):
        n = int(board[p])
        both += n
        own += max(n, 0)
    rear = 25
    while rear > 0 and board[rear] <= 0:
        rear -= 1
    other = 25
    while other > 0 and board[25 - other] >= 0:
        other -= 1
    return own, own - both, rear, other


@kernel
def home_index(points, most):
    """points int[6], the counts on points 1..6, at most `most` in all -> the position's number."""
    index = 0
    left = most
    for p in range(POINTS, 0, -1):
        after = left - int(points[p - 1])
        index += _WAYS[p, left] - _WAYS[p, after]
        left = after
    return index


@kernel
def home_indices(board, most):
    """board int8[26] -> (own number, opponent's number), each -1 if a checker is not home or there are over `most`."""
    own = 0
    opponent = 0
    own_left = most
    opponent_left = most
    for p in range(25, -1, -1):
        n = int(board[p])  # the own 6 point comes first here, as the numbering wants it
        if n > 0 and own_left >= 0:
            after = own_left - n
            if p > POINTS or after < 0:
                own_left = -1
            else:
                own += _WAYS[p, own_left] - _WAYS[p, after]
                own_left = after
        m = -int(board[25 - p])  # the opponent's count on what is his own point p
        if m > 0 and opponent_left >= 0:
            after = opponent_left - m
            if p > POINTS or after < 0:
                opponent_left = -1
            else:
                opponent += _WAYS[p, opponent_left] - _WAYS[p, after]
                opponent_left = after
    return (own if own_left >= 0 else -1), (opponent if opponent_left >= 0 else -1)


def home_positions(most: int) -> NDArray[np.int8]:
    """int8[N, 6]: the counts on points 1..6 of every position, in the order of their numbers."""
    points = np.empty((how_many(most), POINTS), dtype=np.int8)
    _list_positions(most, points)
    return points


@kernel
def _list_positions(most, out):
    """most -> out int8[N, 6], all positions in order."""
    counts = np.zeros(POINTS, dtype=np.int64)
    total = 0
    for i in range(out.shape[0]):
        for p in range(POINTS):
            out[i, p] = counts[p]
        if total < most:
            counts[0] += 1
            total += 1
        elif i < out.shape[0] - 1:  # full: empty the lowest point that holds checkers, one more on the next
            p = 0
            while counts[p] == 0:
                p += 1
            total += 1 - counts[p]
            counts[p] = 0
            counts[p + 1] += 1


@kernel
def home_steps(positions, most):
    """positions int8[N, 6] -> int32[N, 6, 6]: [i, die - 1, source - 1] is the position after one move, -1 if illegal.

    The empty board stays itself. While there are checkers every die has a move, so the rules on
    the use of the whole roll never bite.
    """
    steps = np.full((positions.shape[0], 6, POINTS), -1, dtype=np.int32)
    steps[0, :, 0] = 0
    counts = np.empty(POINTS, dtype=np.int64)
    for i in range(1, positions.shape[0]):
        highest = 0
        for p in range(POINTS):
            counts[p] = positions[i, p]
            if counts[p] > 0:
                highest = p + 1
        for die in range(1, 7):
            for source in range(1, highest + 1):
                if counts[source - 1] == 0 or (source < die and source < highest):
                    continue
                counts[source - 1] -= 1
                if source > die:
                    counts[source - die - 1] += 1
                steps[i, die - 1, source - 1] = home_index(counts, most)
                if source > die:
                    counts[source - die - 1] -= 1
                counts[source - 1] += 1
    return steps
