"""Which endings a position can still have, and outcomes that keep to them.

Borne off: a side that has borne off a checker cannot lose a gammon or a backgammon, whatever the contact.

Arithmetic in a race (no contact: nobody can be blocked or hit). No roll moves more than 24 pips or four checkers.
And every roll can lower "pips + checkers", counted over the checkers that still have to get somewhere, by three or
more: the die 1 lowers it by at least 1 and any other by at least 2, since a checker either moves the whole number or
arrives, which takes off what it had left and 1. A double has four dice. So every task (bear off all, leave the winner's
home board) has a least and a greatest number of rolls; for positions at home the greatest comes from
the one-sided distributions. What these numbers rule out cannot happen as long as each side plays for what is at stake.
"""

from __future__ import annotations

from typing import NamedTuple

from engine.bearoff import ONE_SIDED_MOST
from engine.homeboard import POINTS, extent, home_indices
from engine.jit import kernel
from engine.outcomes import LOSE, WIN

__all__ = ["NEVER", "Needs", "make_possible", "needs"]

NEVER = 1_000  # more rolls than any task takes


class Needs(NamedTuple):
    """Between how many rolls and how many one side of a race needs for each of its tasks."""

    least: int
    most: int
    """To bear off all checkers."""
    least_save: int
    most_save: int
    """To bear off the first checker, which saves the gammon; most_save is NEVER while not all are home."""
    least_leave: int
    most_leave: int
    """To get all checkers out of the other side's home board, which saves the backgammon; 0 when none is there."""


@kernel
def _up(n, d):
    """n >= 0, d > 0 -> n / d rounded up."""
    return (n + d - 1) // d


@kernel
def needs(board, side, home_most, home_save):
    """board int8[26] of a race, side 1 (own) or -1, and if its checkers are all home the most rolls that the one-sided
    distributions have for bearing off all and the first, else -1 and -1 -> Needs.
    """
    checkers = 0
    pips = 0
    outside = 0  # checkers not home yet, and their way home
    way = 0
    back = 0  # checkers in the other side's home board, and their way out
    way_out = 0
    for p in range(1, 25):
        n = int(board[p]) if side > 0 else -int(board[25 - p])
        if n > 0:
            checkers += n
            pips += n * p
            if p > POINTS:
                outside += n
                way += n * (p - POINTS)
            if p > 18:
                back += n
                way_out += n * (p - 18)
    return Needs(
        max(_up(pips, 24), _up(checkers, 4)),
        home_most if home_most >= 0 else _up(pips + checkers, 3),
        max(_up(way + 1, 24), _up(outside + 1, 4)),
        home_save if home_save >= 0 else NEVER,
        max(_up(way_out, 24), _up(back, 4)),
        _up(way_out + back, 3),
    )


@kernel
def _no_gammon(out, first):
    """out float[6], WIN or LOSE -> out with all of that side's three endings single."""
    out[first] += out[first + 1] + out[first + 2]
    out[first + 1] = 0.0
    out[first + 2] = 0.0


@kernel
def _limit_levels(winner, loser, ahead, out, first):
    """Needs of both, whether the winner rolls first (1 or 0) -> out float[6]: the chances of the three kinds of
    this win, out[first : first + 3], moved off those that cannot happen.
    """
    soonest = winner.least - ahead  # rolls that the loser gets before the winner is off
    latest = winner.most - ahead
    if loser.most_save <= soonest:
        _no_gammon(out, first)
        return
    if loser.most_leave <= soonest:
        out[first + 1] += out[first + 2]
        out[first + 2] = 0.0
    if loser.least_save > latest:
        out[first + 1] += out[first]
        out[first] = 0.0
        if loser.least_leave > latest:
            out[first + 2] += out[first + 1]
            out[first + 1] = 0.0


@kernel
def _settle_winner(out, first):
    """out float[6], WIN or LOSE -> out with all chances on that side's three endings, in their proportions."""
    total = out[first] + out[first + 1] + out[first + 2]
    other = WIN if first == LOSE else LOSE
    for j in range(3):
        out[other + j] = 0.0
        if total > 0.0:
            out[first + j] /= total
    if not total > 0.0:
        out[first] = 1.0


@kernel
def make_possible(tables, boards, rows, checkers, out):
    """Endgames, boards int8[N, 26], rows int64[R] of games that go on, checkers a side -> out float[N, 6], the outcomes
    of these rows mended in place.

    What an ending that cannot happen was given goes to the nearest one of the same side that can, so the chance to win
    stays, unless the race is decided: then that is exact.
    """
    starts, first_starts = tables.starts, tables.first_starts  # each use of a tuple of arrays costs, so once
    for r in range(rows.shape[0]):
        board = boards[rows[r]]
        chances = out[rows[r]]
        own, opponent, rear, other_rear = extent(board)
        if own < checkers:
            _no_gammon(chances, LOSE)
        if opponent < checkers:
            _no_gammon(chances, WIN)
        if rear + other_rear > 24:
            continue  # contact
        own_most, own_save, opponent_most, opponent_save = -1, -1, -1, -1
        if min(rear, other_rear) <= POINTS:
            i, j = home_indices(board, ONE_SIDED_MOST)
            if i >= 0:
                own_most = starts[i + 1] - starts[i] - 1
                own_save = first_starts[i + 1] - first_starts[i] - 1
            if j >= 0:
                opponent_most = starts[j + 1] - starts[j] - 1
                opponent_save = first_starts[j + 1] - first_starts[j] - 1
        mine = needs(board, 1, own_most, own_save)
        theirs = needs(board, -1, opponent_most, opponent_save)
        if mine.most <= theirs.least:
            _settle_winner(chances, WIN)
        elif theirs.most < mine.least:
            _settle_winner(chances, LOSE)
        if opponent >= checkers:
            _limit_levels(mine, theirs, 1, chances, WIN)
        if own >= checkers:
            _limit_levels(theirs, mine, 0, chances, LOSE)
