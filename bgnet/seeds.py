"""Seeded starts: positions of hard kinds out of a run's own games, where some of its later games begin.

Such a game goes on as long as the position is of one of the kinds. What comes after is learned from whole games.

Good play avoids back games and gets into battles of primes and bear-ins against an anchor only now and then, but much
of what is lost is lost there. Three kinds, by rules of our own, looking at either side, so that a position is of the
same kind in the other player's view; a race is of none:

backgame: as in bgnet.classes.
primes: else, if each side has four points in a row (two checkers or more on each) with a checker of the other's
  behind them.
anchor: else, if a side has brought all its checkers within its 12 points nearest to home, and the other side holds
  a point of that home board.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bgnet.classes import BACKGAME, BEAROFF, RACE, class_kernel
from engine.jit import kernel

__all__ = ["KINDS", "NO_SEEDS", "kind_kernel", "kinds", "pick_seeds"]

KINDS = ("none", "backgame", "primes", "anchor")
"""Their names, by number."""
_PRIME = 4  # points in a row
_BEARING_IN = 12  # the farthest point of a side that is about to bear in
_LOOKED_AT = 20_000  # positions of the pool for one round's starts: ten milliseconds

NO_SEEDS = np.zeros((0, 26), dtype=np.int8)


@kernel
def kind_kernel(board):
    """board int8[26] -> its kind, 0 .. 3 (see the module)."""
    of_class = class_kernel(board)
    if of_class in (RACE, BEAROFF):
        return 0
    if of_class == BACKGAME:
        return 1
    own_first = 26  # the lowest prime's first point; the opponent's checkers below it are behind it
    opponent_last = -1
    own_run = 0
    opponent_run = 0
    own_held = 0
    opponent_held = 0
    for p in range(1, 25):
        n = board[p]
        own_run = own_run + 1 if n > 1 else 0
        opponent_run = opponent_run + 1 if n < -1 else 0
        # Of several primes the one with the most of the board behind it: the own highest, the opponent's lowest.
        if own_run >= _PRIME:
            own_first = p - _PRIME + 1
        if opponent_run >= _PRIME and opponent_last < 0:
            opponent_last = p
        if p >= 19 and n > 1:
            own_held += 1
        if p <= 6 and n < -1:
            opponent_held += 1
    own_rear = 25
    while own_rear >= 0 and board[own_rear] <= 0:
        own_rear -= 1
    opponent_rear = 0
    while opponent_rear <= 25 and board[opponent_rear] >= 0:
        opponent_rear += 1
    if own_first < 26 and opponent_rear < own_first and opponent_last > 0 and own_rear > opponent_last:
        return 2
    if opponent_held > 0 and own_rear <= _BEARING_IN or own_held > 0 and opponent_rear >= 25 - _BEARING_IN:
        return 3
    return 0


@kernel
def _kinds(boards, out):
    """boards int8[N, 26] -> out int8[N], their kinds."""
    for i in range(boards.shape[0]):
        out[i] = kind_kernel(boards[i])


def kinds(boards: NDArray[np.int8]) -> NDArray[np.int8]:
    """int8[N, 26], games that are not over -> int8[N], the kind of each, a number of KINDS."""
    out = np.empty(len(boards), dtype=np.int8)
    _kinds(boards, out)
    return out


def pick_seeds(boards: NDArray[np.int8], count: int, rng: np.random.Generator) -> NDArray[np.int8]:
    """boards int8[N, 26] -> int8[count, 26] of them, of each kind equally many on average among those that there are.

    int8[0, 26] if there is none of any.
    """
    if not len(boards):
        return NO_SEEDS
    sample = boards[rng.integers(0, len(boards), size=_LOOKED_AT)]
    found = kinds(sample)
    rows = [rows for kind in range(1, len(KINDS)) if len(rows := np.flatnonzero(found == kind))]
    if not rows:
        return NO_SEEDS
    of_kind = rng.integers(0, len(rows), size=count)
    return sample[[rows[k][int(rng.integers(0, len(rows[k])))] for k in of_kind]]
