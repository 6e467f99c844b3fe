"""Plays: one for each result, how they are written, and the moves they consist of."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice, permutations

import numpy as np
import pytest

import engine
from engine import START, BoardError, DiceError, Play, Position, legal_plays, parse_play
from tests import oracle
from tests.boards import Board, array, board, roll
from tests.turns import turns

TURNS = turns()
SPARE = {24: 2}  # an opponent who is nowhere in the way


def notations(position: Position, dice: object) -> list[str]:
    return [play.notation for play in legal_plays(position, dice)]


def written_result(start: Board, notation: str) -> Board:
    """Mover's view of what the notation says, read without any rule: take from, put to, hit where marked."""
    after = list(start)
    words = notation.replace("bar", "25").replace("off", "0").replace("no play", "").split()
    for word in words:
        count = int(word[-2]) if word.endswith(")") else 1
        first, *_, last = re.findall(r"\d+", word.partition("(")[0])
        after[int(first)] -= count
        if last != "0":
            after[int(last)] += count
    for point in map(int, re.findall(r"(\d+)\*", " ".join(words))):
        assert start[point] == -1
        after[point] += 1
        after[0] -= 1
    return tuple(after)


def test_opening_31():
    plays = legal_plays(START, (3, 1))
    assert len(plays) == 16
    play = next(play for play in plays if play.notation == "8/5 6/5")
    made = (0, -2, 0, 0, 0, 2, 4, 0, 2, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0)
    assert play.position == Position(made).flipped()
    assert sorted(play.moves) == [(6, 5, False), (8, 5, False)]
    assert str(play) == "8/5 6/5"
    assert play == Play(play.notation, play.position, play.moves)


@pytest.mark.parametrize(
    ("own", "opponent", "dice", "expected"),
    [
        # Entering, with and without a hit, and going on.
        ({25: 1, 6: 2}, {20: 1, 22: 2, 1: 2}, "53", {"bar/20*/17", "bar/20* 6/3"}),
        ({25: 2, 6: 2}, {20: 1, 24: 2}, "54", {"bar/21 bar/20*"}),
        ({25: 1, 13: 1}, {19: 2, 24: 2, 7: 2}, "61", {"no play"}),
        ({25: 3, 6: 1}, {19: 2, 20: 1}, "65", {"bar/20*"}),
        ({25: 2}, {16: 2}, "33", {"bar/19(2)"}),
        # One checker with both dice: joined, a hit on the way is named, two ways are one when nothing is hit.
        ({24: 1}, {1: 2}, "21", {"24/21"}),
        ({24: 1}, {20: 1, 1: 2}, "42", {"24/20*/18", "24/18"}),
        ({24: 1}, {20: 1, 22: 1, 1: 2}, "42", {"24/20*/18", "24/22*/18"}),
        ({24: 1}, {20: 1, 18: 1, 22: 2}, "42", {"24/20*/18*"}),
        ({24: 1}, {18: 1, 20: 2, 1: 2}, "42", {"24/18*"}),
        # Two checkers on one blot: the first that is written hits.
        ({13: 1, 8: 1}, {7: 1, 12: 2, 2: 2}, "61", {"13/7* 8/7", "13/7*/6", "8/7*/1"}),
        # Doubles: counts, joined ways, hits.
        ({24: 2}, {1: 2, 12: 2, 6: 1}, "66", {"24/18(2)"}),
        ({24: 2}, {18: 1, 6: 2}, "66", {"24/18*/12(2)"}),
        ({13: 2, 8: 2}, {7: 1, 2: 2, 3: 2}, "55", {"13/8(2)"}),
        ({8: 3}, {7: 1, 6: 1, 4: 2}, "11", {"8/7*(2) 8/6*", "8/7*/6*(2)", "8/7* 8/6*/5"}),
        # Bearing off: exact, from the highest, with a move before it, the last checkers.
        ({6: 1, 4: 1}, SPARE, "64", {"6/off 4/off", "6/2 4/off"}),
        ({5: 1, 2: 1}, SPARE, "42", {"5/1 2/off", "5/off"}),
        ({2: 3}, SPARE, "66", {"2/off(3)"}),
        ({4: 1, 2: 5}, SPARE, "22", {"4/off 2/off(2)", "2/off(4)"}),
        ({3: 1}, {1: 1}, "42", {"3/1*/off"}),
        ({7: 1, 1: 2}, SPARE, "61", {"7/off"}),
    ],
)
def test_notation(own, opponent, dice, expected):
    start = board(own, opponent)
    found = notations(Position(start), dice)
    results = [tuple(play.position.flipped().board.tolist()) for play in legal_plays(Position(start), dice)]
    assert [written_result(start, note) for note in found] == results
    assert set(found) == expected


def test_order_is_that_of_the_afterstates():
    afterstates = engine.legal_afterstates(array(oracle.START), roll(6, 4)).boards
    assert [play.position for play in legal_plays(START, "46")] == [Position(result) for result in afterstates]


@pytest.mark.parametrize(
    "dice", [(3, 1), [1, 3], np.array([3, 1], dtype=np.int8), "31", "13", "3-1", " 3, 1 ", "1 3"], ids=repr
)
def test_dice_in_any_dress(dice):
    assert set(notations(START, dice)) == set(notations(START, (3, 1)))
    assert parse_play(START, dice, "8/5 6/5").notation == "8/5 6/5"


@pytest.mark.parametrize(
    "dice",
    ["", "3", "311", "70", "a1", (3,), (0, 1), (7, 1), (3.0, 1), (1, 2, 3), 31, ("3", "1"), [[3, 1]]],
    ids=repr,
)
def test_bad_dice(dice):
    with pytest.raises(DiceError, match=re.escape(repr(dice))):
        legal_plays(START, dice)


def test_missing_dice():
    with pytest.raises(DiceError, match="dice are missing"):
        legal_plays(START, None)
    with pytest.raises(DiceError, match="dice are missing"):
        parse_play(START, None, "8/5 6/5")


@pytest.mark.parametrize("counts", [board({}, SPARE), board({6: 2}, {}), board({6: 16}, SPARE)], ids=repr)
def test_finished_and_flawed_positions(counts):
    with pytest.raises(BoardError):
        legal_plays(Position(counts), "31")
    with pytest.raises(BoardError):
        parse_play(Position(counts), "31", "6/5")


def can_be_played(start: Board, dice: tuple[int, int], play: Play) -> bool:
    """Whether the moves, in their order and by the oracle's rules, lead to the play's result."""
    numbers = dice * 2 if dice[0] == dice[1] else dice
    return any(is_reached(start, order, play) for order in set(permutations(numbers, len(play.moves))))


def is_reached(after: Board, numbers: tuple[int, ...], play: Play) -> bool:
    for number, (place, target, hit) in zip(numbers, play.moves, strict=True):
        step = oracle.moved(after, place, target) if target else oracle.taken_off(after, place)
        if step not in oracle.steps(after, number) or hit != (target > 0 and after[target] == -1):
            return False
        after = step
    return after == oracle.turned(tuple(play.position.board.tolist()))


def test_every_play_is_written_right():
    """Results in the generator's order, moves that lead there die by die, notation that says the same."""
    for start, dice in TURNS:
        plays = legal_plays(Position(start), dice)
        results = engine.legal_afterstates(array(start), roll(*dice)).boards
        assert [play.position for play in plays] == [Position(result) for result in results]
        assert len({play.notation for play in plays}) == len(plays), (start, dice)
        for play in plays:
            result = oracle.turned(tuple(play.position.board.tolist()))
            assert written_result(start, play.notation) == result, (start, dice, play)
            assert can_be_played(start, dice, play), (start, dice, play)
            assert play.hits == {move.end for move in play.moves if move.hit}


def test_no_play_has_a_shorter_spelling():
    """However the moves of a play are joined, none has fewer parts than what is written."""

    def fewest(moves: tuple[tuple[int, ...], ...]) -> int:
        best = len(Counter(moves))
        for i, first in enumerate(moves):
            for j, second in enumerate(moves):
                if i != j and first[-1] == second[0]:
                    rest = tuple(move for k, move in enumerate(moves) if k not in (i, j))
                    best = min(best, fewest((*rest, first + second[1:])))
        return best

    for start, dice in TURNS[::3]:
        for play in islice(legal_plays(Position(start), dice), 0, None, 5):
            if play.moves:
                parts = play.notation.split(" ")
                assert len(parts) == fewest(tuple(move[:2] for move in play.moves)), (start, dice, play)
