"""Tactical features: told again in plain Python, against the rules' own plays, and in boards that can be counted."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from bgnet.tactics import SIDE, TACTICS, tactics
from engine.moves import legal_afterstates
from tests.bgnet.nets import some_positions
from tests.boards import array, board

ROLLS36 = list(product(range(1, 7), repeat=2))
Side = dict[int, int]


def sides(points: list[int]) -> tuple[Side, Side]:
    """Own checkers and the opponent's, both by the player on roll's numbers of the places."""
    return {p: n for p, n in enumerate(points) if n > 0}, {p: -n for p, n in enumerate(points) if n < 0}


def open_for(place: int, other: Side) -> bool:
    return place < 25 and (place < 1 or other.get(place, 0) < 2)


def can_hit(own: Side, other: Side, blot: int, dice: tuple[int, int]) -> bool:
    """Whether one checker can come to the blot once those on the bar are in, counting single checkers' ways only."""
    bar = own.get(25, 0)
    steps = [dice[0]] * 4 if dice[0] == dice[1] else list(dice)
    if dice[0] == dice[1]:
        entered = bar if open_for(25 - dice[0], other) else 0
        if bar and not entered:
            return False
        for k in range(1, 5):
            start = blot + k * dice[0]
            path = [start - i * dice[0] for i in range(1, k)]
            if not all(open_for(place, other) for place in path):
                continue
            needed = k if start == 25 else bar + k
            if start == 25 and k > 1:
                needed = bar + k - 1
            if own.get(start, 0) and needed <= 4:
                return True
        return False
    for one, two in (steps, steps[::-1]):  # `one` is played first
        if bar:
            if blot + one == 25:
                return True
            if bar == 1 and open_for(25 - one, other):
                if own.get(blot + two, 0) and blot + two < 25:
                    return True
                if 25 - one - two == blot:
                    return True
        else:
            if own.get(blot + one, 0):
                return True
            if own.get(blot + one + two, 0) and open_for(blot + two, other):
                return True
    return False


def can_move_on(place: int, other: Side, dice: tuple[int, int]) -> bool:
    first = any(open_for(place - die, other) for die in dice)
    return first and open_for(place - sum(dice), other)


def slow_side(own: Side, other: Side) -> list[float]:
    """The text of `SIDE`, word by word."""
    rear, other_rear = max(own, default=0), min(other, default=25)
    prime = max(
        (n for first in range(other_rear + 1, 25) for n in range(1, 26 - first)
         if all(own.get(first + i, 0) > 1 for i in range(n))),
        default=0,
    )  # fmt: skip
    blots = [p for p, n in other.items() if n == 1 and 1 <= p <= 24]
    escapes = [
        sum(can_move_on(p, other, dice) for dice in ROLLS36) / 36 if own.get(p, 0) and p > other_rear else 0.0
        for p in range(1, 26)
    ]
    return [
        sum(p * n for p, n in own.items()) / 167,
        rear / 25,
        prime / 6,
        sum(n > 1 for p, n in own.items() if p <= 6) / 6,
        sum(n == 1 for p, n in own.items() if p < 25) / 4,
        sum(n for p, n in own.items() if p > 18) / 4,
        sum(n * (p - 6) for p, n in own.items() if 6 < p <= 18) / 60,
        max(0, rear - other_rear) / 24,
        escapes[rear - 1] if rear > other_rear else 1.0,
        sum(any(can_hit(own, other, blot, dice) for blot in blots) for dice in ROLLS36) / 36,
        *(sum(can_hit(own, other, p, dice) for dice in ROLLS36) / 36 if p in blots else 0.0 for p in range(1, 25)),
        *escapes,
    ]


def turned(boards: NDArray[np.int8]) -> NDArray[np.int8]:
    return np.ascontiguousarray(-boards[:, ::-1])


def test_it_agrees_with_the_text() -> None:
    boards = some_positions()[0][::3]
    for points, found in zip(boards.tolist(), tactics(boards), strict=True):
        expected = slow_side(*sides(points)) + slow_side(*sides([-n for n in points[::-1]]))
        assert np.abs(found - expected).max() < 1e-6, points
    assert found.shape == (TACTICS,) and found.dtype == np.float32
    used = (tactics(some_positions()[0]) != 0).mean(axis=0)
    assert (used > 0).all(), "every feature says something somewhere"


def test_the_other_players_view_has_the_halves_changed() -> None:
    boards = some_positions()[0]
    one, other = tactics(boards), tactics(turned(boards))
    assert (one[:, :SIDE] == other[:, SIDE:]).all() and (one[:, SIDE:] == other[:, :SIDE]).all()


def test_hits_are_nearly_those_of_the_rules() -> None:
    """Hits that the rules forbid, as another play of more dice is possible, are rare; there are no others but those
    by two checkers from the bar at once.
    """
    boards = some_positions()[0][::10]
    claimed = tactics(boards)[:, 9]
    possible = np.zeros(len(boards))
    for dice in ROLLS36:
        results = legal_afterstates(boards, np.repeat(np.array([dice], np.int8), len(boards), axis=0))
        on_bar = turned(results.boards)[:, 0]  # the opponent's checkers on the bar, negative
        for i, (first, last) in enumerate(zip(results.offsets, results.offsets[1:], strict=False)):
            possible[i] += (on_bar[first:last] < boards[i, 0]).any()
    more = claimed - possible / 36
    assert (claimed > 0).sum() > 100
    assert (np.abs(more) < 1e-6).mean() > 0.97 and more.max() < 0.2
    assert more[boards[:, 25] < 2].min() > -1e-6 and more.min() > -0.2


@pytest.mark.parametrize(
    ("own", "opponent", "place", "rolls"),
    [
        # counts that every textbook has: of direct shots at 1 .. 6 with the way open, and of long ones
        ({10: 1}, {9: 1}, 9, 11),
        ({10: 1}, {8: 1}, 8, 12),
        ({10: 1}, {7: 1}, 7, 14),
        ({10: 1}, {6: 1}, 6, 15),
        ({10: 1}, {5: 1}, 5, 15),
        ({10: 1}, {4: 1}, 4, 17),
        ({10: 1}, {3: 1}, 3, 6),
        ({10: 1}, {2: 1}, 2, 6),
        ({20: 1}, {8: 1}, 8, 3),
        ({24: 1}, {6: 1}, 6, 1),
        ({24: 1}, {1: 1}, 1, 0),
        ({10: 1}, {4: 1, 5: 2}, 4, 17),
        ({10: 1}, {4: 1, 5: 2, 9: 2}, 4, 15),
        ({25: 1}, {22: 1}, 22, 14),
        ({25: 2}, {22: 1}, 22, 12),
        ({25: 5}, {22: 1}, 22, 11),
    ],
)
def test_shots(own: Side, opponent: Side, place: int, rolls: int) -> None:
    assert tactics(array(board(own, opponent)))[0, 9 + place] * 36 == pytest.approx(rolls, abs=1e-4)


@pytest.mark.parametrize(
    ("opponent", "rolls"),
    [
        ({1: 1}, 36),
        ({17: 2}, 30),  # a point 6 away: no sum of 6, and no 6-6
        ({17: 2, 18: 2, 19: 2, 20: 2, 21: 2}, 2),  # at one pip from a prime of five points: 6-1
        ({17: 2, 18: 2, 19: 2, 20: 2, 21: 2, 22: 2}, 0),
    ],
)
def test_moving_on(opponent: Side, rolls: int) -> None:
    assert tactics(array(board({23: 1}, opponent)))[0, 33 + 23] * 36 == pytest.approx(rolls, abs=1e-4)
