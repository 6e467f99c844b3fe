"""The move generator: all distinct results of one position and roll, turned to the next player's view.

Non-doubles: both orders of the dice are tried, equal results are dropped, plays that use fewer dice than
possible are dropped, and of single dice the larger wins (rules 10, 11). Doubles: sources are moved in
non-increasing order. Each result then comes up exactly once, since the moves s -> s-d of one die size form
a forest (every point leads to one lower point or off), so different sets of moves have different net effects.
"""

from __future__ import annotations

import numpy as np

from engine.jit import kernel

__all__ = ["MAX_RESULTS", "generate", "is_legal_step"]

MAX_RESULTS = 20_475
"""No roll has more results: four equal moves are at most a choice of 4 out of 25 sources with repetition,
C(28, 4); a non-double tries at most 2 * 25 * 25. Found in play: over 2,000 with 1-1."""

_MAX_TWO_DICE = 1_250
# Sums of up to six of these tell two results of a non-double apart at a glance; a full comparison decides.
_KEYS = np.random.default_rng(26).integers(1, 2**52, size=26).astype(np.int64)


@kernel
def is_legal_step(board, source, die):
    """board int8[26] (mover's view), source 1..25, die 1..6 -> whether one checker may move so.

    Trusts that there is a checker on the source, and that it is the bar (25) if any is on the bar.
    """
    target = source - die
    if target > 0:
        return board[target] >= -1
    rearmost = 25
    while board[rearmost] <= 0:
        rearmost -= 1
    if rearmost > 6:
        return False
    return target == 0 or source == rearmost


@kernel
def _step(board, source, die):
    """board int8[26], changed in place, source, die -> whether a blot was hit."""
    target = source - die
    board[source] -= 1
    if target <= 0:
        return False
    if board[target] == -1:
        board[target] = 1
        board[0] -= 1
        return True
    board[target] += 1
    return False


@kernel
def _undo(board, source, die, hit):
    """board int8[26], changed back in place; source, die, hit as for the step -> nothing."""
    target = source - die
    board[source] += 1
    if target <= 0:
        return
    if hit:
        board[target] = -1
        board[0] += 1
    else:
        board[target] -= 1


@kernel
def _key_of_step(source, die, hit):
    """source, die, hit -> int64, the step's share in a result's key."""
    target = source - die
    key = -_KEYS[source]
    if target > 0:
        key += _KEYS[target]
        if hit:
            key += _KEYS[target] - _KEYS[0]
    return key


@kernel
def _record(board, out, count):
    """board int8[26] -> out[count] int8[26], the board turned to the next player's view."""
    row = out[count]
    for p in range(26):
        row[25 - p] = -board[p]


@kernel
def _is_known(board, key, keys, out, count):
    """board int8[26], its key, the keys and turned boards found so far -> whether it is among them."""
    for i in range(count):
        if keys[i] == key:
            same = True
            for p in range(26):
                if out[i, 25 - p] != -board[p]:
                    same = False
                    break
            if same:
                return True
    return False


@kernel
def _generate_double(board, die, out):
    """board int8[26] (changed and restored), die -> out int8[:, 26]; the number of results."""
    source = np.zeros(5, dtype=np.int64)
    hit = np.zeros(5, dtype=np.bool_)
    moved = np.zeros(5, dtype=np.bool_)
    count = 0
    longest = 0
    level = 0  # dice played so far on the current path
    source[0] = 25
    while level >= 0:
        s = source[level]
        if board[25] > 0 and s < 25:
            s = 0  # a checker on the bar that could not enter blocks everything else
        while s > 0 and not (board[s] > 0 and is_legal_step(board, s, die)):
            s = 0 if s == 25 and board[25] > 0 else s - 1
        if s > 0:
            hit[level] = _step(board, s, die)
            source[level] = s
            moved[level] = True
            level += 1
            source[level] = s
            moved[level] = False
            if level < 4:
                continue
        if not moved[level] and level >= longest:  # a leaf: nothing (more) could be played from here
            if level > longest:
                longest = level
                count = 0
            _record(board, out, count)
            count += 1
        level -= 1
        if level >= 0:
            _undo(board, source[level], die, hit[level])
            source[level] -= 1
    return count


@kernel
def generate(board, die1, die2, out):
    """board int8[26] in the mover's view, dice -> out int8[>= MAX_RESULTS, 26]; the number of results (>= 1).

    Results are distinct and in the next player's view; a roll that cannot be played gives the turned board.
    The board is changed while working and restored. Trusts that the game is not over.
    """
    if die1 == die2:
        return _generate_double(board, die1, out)
    keys = np.empty(_MAX_TWO_DICE, dtype=np.int64)
    high = max(die1, die2)
    low = min(die1, die2)
    count = 0
    longest = 0
    for order in range(2):
        first = high if order == 0 else low
        second = low if order == 0 else high
        singles_count = longest == 0 or (longest == 1 and order == 0)
        for s1 in range(25, 0, -1):
            if s1 < 25 and board[25] > 0:
                break
            if board[s1] <= 0 or not is_legal_step(board, s1, first):
                continue
            hit1 = _step(board, s1, first)
            key1 = _key_of_step(s1, first, hit1)
            both = False
            for s2 in range(25, 0, -1):
                if s2 < 25 and board[25] > 0:
                    break
                if board[s2] <= 0 or not is_legal_step(board, s2, second):
                    continue
                both = True
                hit2 = _step(board, s2, second)
                if longest < 2:
                    longest = 2
                    count = 0
                key = key1 + _key_of_step(s2, second, hit2)
                if not _is_known(board, key, keys, out, count):
                    keys[count] = key
                    _record(board, out, count)
                    count += 1
                _undo(board, s2, second, hit2)
            if not both and longest < 2 and singles_count:
                longest = 1
                if not _is_known(board, key1, keys, out, count):
                    keys[count] = key1
                    _record(board, out, count)
                    count += 1
            _undo(board, s1, first, hit1)
    if count == 0:
        _record(board, out, 0)
        count = 1
    return count
