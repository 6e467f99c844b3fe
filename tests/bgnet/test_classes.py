"""Classes of positions: the rules in words, told again in plain Python, and boards that everyone would class alike."""

from __future__ import annotations

import numpy as np
import pytest

from bgnet.classes import BACKGAME, BEAROFF, CLASSES, CONTACT, CRASHED, RACE, classify
from engine import START, ArrayError, BoardError
from engine.board import is_race
from tests.bgnet.nets import some_positions
from tests.boards import array, board


def slow_class(points: list[int]) -> str:
    """The module's text, word by word, for one board in the view of the player on roll."""
    own = {place: n for place, n in enumerate(points) if n > 0}
    other = {25 - place: -n for place, n in enumerate(points) if n < 0}  # in the opponent's own numbers
    touching = any(mine > 25 - theirs for mine in own for theirs in other)
    if not touching:
        home = all(place <= 6 for side in (own, other) for place in side)
        return "bearoff" if home else "race"
    pips = [sum(place * n for place, n in side.items()) for side in (own, other)]
    for side, mine, theirs in ((own, *pips), (other, *pips[::-1])):
        held = [place for place, n in side.items() if n >= 2 and 19 <= place <= 24]
        if len(held) >= 2 and mine > theirs:
            return "backgame"
    for side in (own, other):
        if sum(n for place, n in side.items() if place >= 3) <= 6:
            return "crashed"
    return "contact"


def test_it_agrees_with_the_rules_in_words() -> None:
    boards, _ = some_positions()
    found = [CLASSES[i] for i in classify(boards)]
    expected = [slow_class(row) for row in boards.tolist()]
    assert found == expected
    counts = {name: found.count(name) for name in CLASSES}
    assert min(counts.values()) > 20, counts  # each of them was really tried


def test_the_other_players_view_is_of_the_same_class() -> None:
    boards, _ = some_positions()
    assert (classify(boards) == classify(np.ascontiguousarray(-boards[:, ::-1]))).all()


def test_races_are_the_engines() -> None:
    boards, _ = some_positions()
    found = classify(boards)
    assert [bool(is_race(row)) for row in boards] == [c in (RACE, BEAROFF) for c in found]


HOME = {6: 3, 5: 3, 4: 3, 3: 2, 2: 2, 1: 2}


@pytest.mark.parametrize(
    ("kind", "own", "opponent"),
    [
        (CONTACT, {24: 2, 13: 5, 8: 3, 6: 5}, {1: 2, 12: 5, 17: 3, 19: 5}),
        (RACE, {10: 2, 6: 5, 5: 4, 4: 4}, {15: 2, 19: 5, 20: 4, 21: 4}),
        (BEAROFF, {6: 1}, {19: 1}),
        (BEAROFF, {6: 15}, {19: 15}),
        (RACE, {7: 1}, {19: 1}),
        (RACE, {6: 1}, {18: 1}),
        # an ace-point game: 2 checkers back, and the rest on the two lowest points
        (CRASHED, {24: 2, 6: 2, 5: 2, 2: 5, 1: 4}, {0: 0, 19: 5, 20: 5, 18: 5}),
        (CONTACT, {24: 2, 6: 3, 5: 2, 2: 5, 1: 3}, {19: 5, 20: 5, 18: 5}),
        # bearing off against a checker on the bar
        (CRASHED, {6: 3, 5: 3}, {0: 1, 19: 14}),
        (CONTACT, {6: 4, 5: 3}, {0: 1, 19: 14}),
        # two points held, behind in the race: a back game; ahead in the race: none
        (BACKGAME, {24: 2, 22: 2, 8: 3, 6: 4, 5: 2, 4: 2}, {19: 3, 20: 3, 21: 3, 17: 3, 18: 3}),
        (CONTACT, {24: 2, 22: 2, 4: 4, 3: 7}, {2: 5, 12: 5, 10: 5}),
        (BACKGAME, {19: 3, 20: 4, 21: 3, 17: 3, 18: 2}, {24: 1, 1: 2, 2: 2, 9: 5, 12: 5}),
        # one point and a blot are no back game
        (CONTACT, {24: 2, 22: 1, 8: 4, 6: 4, 5: 2, 4: 2}, {19: 3, 20: 3, 21: 3, 17: 3, 18: 3}),
        (BEAROFF, HOME, {}),
    ],
)
def test_boards(kind: int, own: dict[int, int], opponent: dict[int, int]) -> None:
    assert CLASSES[classify(array(board(own, opponent)))[0]] == CLASSES[kind]


def test_bad_input() -> None:
    with pytest.raises(ArrayError):
        classify(START.board)
    with pytest.raises(BoardError):
        classify(np.full((1, 26), 1, dtype=np.int8))
    assert classify(np.zeros((0, 26), dtype=np.int8)).shape == (0,)
