"""Seeded starts: the kinds told again in plain Python, boards that everyone would class alike, what is picked."""

from __future__ import annotations

import numpy as np
import pytest

from bgnet.seeds import KINDS, kinds, pick_seeds
from engine import START
from tests.bgnet.nets import some_positions
from tests.bgnet.test_classes import slow_class
from tests.boards import array, board


def slow_kind(points: list[int]) -> str:
    """The module's text, word by word, for one board in the view of the player on roll."""
    if slow_class(points) == "backgame":
        return "backgame"
    if slow_class(points) in ("race", "bearoff"):
        return "none"
    own = {place: n for place, n in enumerate(points) if n > 0}
    other = {25 - place: -n for place, n in enumerate(points) if n < 0}  # in the opponent's own numbers

    def holds_back(side: dict[int, int], against: dict[int, int]) -> bool:
        return any(
            all(side.get(first + i, 0) >= 2 for i in range(4)) and any(25 - place < first for place in against)
            for first in range(1, 22)
        )

    if holds_back(own, other) and holds_back(other, own):
        return "primes"
    for side, against in ((own, other), (other, own)):
        held = any(n >= 2 and 19 <= place <= 24 for place, n in against.items())
        if held and all(place <= 12 for place in side):
            return "anchor"
    return "none"


def test_it_agrees_with_the_rules_in_words() -> None:
    boards, _ = some_positions()
    found = [KINDS[i] for i in kinds(boards)]
    assert found == [slow_kind(row) for row in boards.tolist()]
    counts = {name: found.count(name) for name in KINDS}
    assert min(counts.values()) > 5, counts  # each of them was really tried


def test_the_other_players_view_is_of_the_same_kind() -> None:
    boards, _ = some_positions()
    assert (kinds(boards) == kinds(np.ascontiguousarray(-boards[:, ::-1]))).all()


@pytest.mark.parametrize(
    ("kind", "own", "opponent"),
    [
        ("none", {24: 2, 13: 5, 8: 3, 6: 5}, {1: 2, 12: 5, 17: 3, 19: 5}),
        ("backgame", {24: 2, 22: 2, 8: 3, 6: 4, 5: 2, 4: 2}, {19: 3, 20: 3, 21: 3, 17: 3, 18: 3}),
        # four points each, one checker of each side at the edge
        ("primes", {24: 1, 7: 3, 6: 4, 5: 4, 4: 3}, {1: 1, 18: 3, 19: 4, 20: 4, 21: 3}),
        ("none", {24: 1, 7: 3, 6: 4, 5: 4, 3: 3}, {1: 1, 18: 3, 19: 4, 20: 4, 21: 3}),
        ("none", {7: 4, 6: 4, 5: 4, 4: 3}, {1: 1, 18: 3, 19: 4, 20: 4, 21: 3}),
        # a checker on the bar is behind every prime
        ("primes", {25: 1, 7: 3, 6: 4, 5: 4, 4: 3}, {0: 1, 18: 3, 19: 4, 20: 4, 21: 3}),
        # of two primes the farther one holds the checker at 9
        ("primes", {24: 1, 15: 2, 14: 2, 13: 2, 12: 2, 4: 2, 3: 2, 2: 2}, {9: 1, 18: 3, 19: 4, 20: 4, 21: 3}),
        ("anchor", {8: 2, 6: 5, 5: 4, 4: 4}, {1: 2, 17: 3, 18: 5, 19: 5}),
        ("anchor", {24: 2, 7: 3, 6: 5, 8: 5}, {13: 1, 19: 5, 20: 5, 21: 4}),
        ("none", {13: 1, 8: 1, 6: 5, 5: 4, 4: 4}, {1: 2, 12: 3, 18: 5, 19: 5}),
        ("none", {8: 2, 6: 5, 5: 4, 4: 4}, {1: 1, 17: 4, 18: 5, 19: 5}),
        ("none", {6: 3, 5: 3}, {19: 4, 20: 4}),
        # a point of the home board held, but by checkers that have passed all
        ("none", {4: 5, 3: 5, 2: 5}, {5: 2, 19: 5, 20: 4, 21: 4}),
        ("none", {20: 3, 6: 6, 5: 6}, {21: 5, 22: 5, 23: 5}),
    ],
)
def test_boards(kind: str, own: dict[int, int], opponent: dict[int, int]) -> None:
    assert KINDS[kinds(array(board(own, opponent)))[0]] == kind


def test_each_kind_is_picked_as_often_as_the_others() -> None:
    boards, _ = some_positions()
    picked = pick_seeds(boards, 3000, np.random.default_rng(1))
    assert picked.shape == (3000, 26) and picked.flags.c_contiguous
    counts = np.bincount(kinds(picked), minlength=len(KINDS))
    assert counts[0] == 0 and (np.abs(counts[1:] - 1000) < 120).all()
    assert {row.tobytes() for row in picked} <= {row.tobytes() for row in boards}
    assert len({row.tobytes() for row in picked}) > 30
    assert (pick_seeds(boards, 3000, np.random.default_rng(1)) == picked).all()
    one_kind = boards[kinds(boards) == KINDS.index("anchor")]
    assert (kinds(pick_seeds(one_kind, 5, np.random.default_rng(1))) == KINDS.index("anchor")).all()


@pytest.mark.parametrize("boards", [START.board[None], np.zeros((0, 26), np.int8)], ids=["easy", "empty"])
def test_where_there_is_none_none_is_picked(boards: np.ndarray) -> None:
    assert pick_seeds(boards, 5, np.random.default_rng(1)).shape == (0, 26)
