"""Every refusal of a play has its reason."""

from __future__ import annotations

import re

import pytest

from engine import START, IllegalPlayError, Position, parse_play
from tests.boards import board

DANCE = Position(board({25: 1, 13: 1}, {19: 2, 24: 2, 7: 2}))
BAR = Position(board({25: 1, 13: 2, 6: 3}, {20: 2, 19: 2, 24: 2, 22: 1}))
TWO_ON_BAR = Position(board({25: 2, 13: 2, 6: 3}, {20: 2, 24: 2}))
BLOCKED = Position(board({13: 2, 6: 3}, {10: 2, 11: 3, 5: 2, 24: 2}))
HOME = Position(board({6: 1, 5: 1, 3: 2}, {24: 2, 1: 1}))
LATE = Position(board({13: 1, 6: 2, 5: 2}, {24: 2}))
# 13/7 and 13/12 can be played, but nothing after either.
ONE_DIE = Position(board({13: 1}, {6: 2, 24: 2}))
# 8/6 can be played, but no 6 after it.
DEAD_END = Position(board({24: 1, 8: 1, 6: 13}, {4: 2, 18: 2, 16: 2, 19: 3, 20: 4, 21: 2}))


@pytest.mark.parametrize(
    ("position", "dice", "text", "reason"),
    [
        # the bar
        (BAR, "31", "13/10 6/5", "your checker on the bar must enter before 13/10"),
        (BAR, "61", "13/7", "nothing can be played with 6-1; write 'no play' or 'pass'"),
        (BAR, "53", "13/8 bar/20", "bar/20: point 20 is held by 2 opposing checkers"),
        (BAR, "43", "bar/23 13/9", "bar/23 is 2 pips, the roll is 4-3. From bar: bar/21, bar/22*"),
        (TWO_ON_BAR, "43", "bar/21 13/10", "your checker on the bar must enter before 13/10"),
        (TWO_ON_BAR, "43", "13/9 13/10", "your 2 checkers on the bar must enter before 13/9"),
        (TWO_ON_BAR, "43", "bar/18", "bar/18: your checker on the bar must enter first"),
        (START, "31", "bar/22 6/5", "bar/22: you have no checker on the bar"),
        (BAR, "44", "bar/21(2)", "bar/21: you have no checker on the bar any more"),
        # no checker to move
        (START, "31", "10/7 6/5", "10/7: there is no checker of yours on point 10"),
        (
            START,
            "31",
            "12/9",
            "there is no checker of yours on point 12, only 5 of the opponent",
        ),
        (START, "11", "8/7(4)", "8/7: there is no more checker of yours on point 8"),
        # the wrong number of pips
        (START, "61", "13/7 8/6", "8/6 is 2 pips, you have a 1 left. From 8: 8/7"),
        (START, "61", "8/6 13/7", "8/6 is 2 pips, you have a 1 left. From 8: 8/7"),
        (START, "61", "13/7 8/2", "8/2 is 6 pips, you have a 1 left. From 8: 8/7"),
        (START, "61", "13/8", "13/8 is 5 pips, the roll is 6-1. From 13: 13/7"),
        (START, "65", "24/20", "24/20 is 4 pips, the roll is 6-5. From 24: 24/18"),
        (START, "33", "8/5(2) 6/4", "6/4 is 2 pips, you have two 3s left. From 6: 6/3"),
        (START, "31", "6/5(2)", "6/5 is 1 pip, you have a 3 left. From 6: 6/3"),
        (HOME, "32", "6/off", "6/off needs 6 pips or more, the roll is 3-2. From 6: 6/3, 6/4"),
        # held points
        (START, "51", "24/19 6/5", "24/19: point 19 is held by 5 opposing checkers"),
        (
            BLOCKED,
            "32",
            "13/8",
            "13/8: point 10 is held by 2 opposing checkers; point 11 is held by 3 opposing checkers",
        ),
        (BLOCKED, "53", "13/5", "13/5: point 5 is held by 2 opposing checkers"),
        (START, "55", "24/14", "24/14: point 19 is held by 5 opposing checkers"),
        # the whole roll
        (START, "31", "8/5", "both dice can and must be played, this plays one; e.g. 24/23 8/5 is legal"),
        (START, "55", "13/8(2)", "all four 5s can and must be played, this plays two; e.g. 13/8(4) is legal"),
        (
            Position(board({24: 2}, {12: 2})),
            "66",
            "24/18",
            "two 6s can and must be played, this plays one; e.g. 24/18(2) is legal",
        ),
        (
            ONE_DIE,
            "61",
            "13/12",
            "only one die can be played, so it must be the larger, the 6; e.g. 13/7 is legal",
        ),
        (DEAD_END, "62", "8/6", "both dice can and must be played, this plays one; e.g. 24/22 8/2 is legal"),
        # bearing off
        (LATE, "65", "6/off 5/off", "6/off: no checker can be borne off while one is on 13, outside home"),
        (LATE, "31", "6/off", "6/off: no checker can be borne off while one is on 13, outside home"),
        (LATE, "64", "13/7 5/off", "5/off: no checker can be borne off while one is on 7, outside home"),
        (HOME, "54", "6/1* 3/off", "3/off: with the 4 the checker on 5 must move first, it is higher than 3"),
        (HOME, "62", "3/off 5/3", "3/off: with the 6 the checker on 6 must move first, it is higher than 3"),
        (HOME, "63", "6/off 5/off", "5/off needs 5 pips or more, you have a 3 left. From 5: 5/2"),
        # direction and number of moves
        (START, "31", "5/8 6/5", "5/8 runs the wrong way: checkers move from higher to lower points"),
        (START, "31", "8/8", "8/8 runs the wrong way"),
        (START, "31", "off/6", "off/6 runs the wrong way"),
        (START, "31", "8/bar", "8/bar runs the wrong way"),
        (START, "31", "8/5(2) 6/5", "too many moves: 3 are written, 3-1 gives two"),
        (START, "55", "13/8(4) 6/1", "too many moves: 5 are written, 5-5 gives four"),
        (START, "31", "8/4 6/5", "6/5 is too much: 3-1 is used up by the other moves"),
        # passing
        (START, "31", "pass", "3-1 can be played, so it must be, e.g. 24/23 24/21"),
        (START, "31", "", "3-1 can be played, so it must be, e.g. 24/23 24/21"),
        (DANCE, "61", "bar/24", "nothing can be played with 6-1; write 'no play' or 'pass'"),
        # hits that are none
        (START, "61", "13/7*/6", "nothing is hit on 7; without the * there it is 13/6"),
        (START, "61", "13/7* 8/7*", "nothing is hit on 7; without the * there it is 13/7 8/7"),
        (HOME, "61", "6/off* 5/4", "nothing is hit on off; without the * there it is 6/off 5/4"),
    ],
)
def test_refusals(position, dice, text, reason):
    with pytest.raises(IllegalPlayError) as caught:
        parse_play(position, dice, text)
    assert reason in str(caught.value)
    assert repr(text) in str(caught.value)


def test_an_example_contains_what_was_played():
    with pytest.raises(IllegalPlayError, match=re.escape("e.g. 13/11 13/9 is legal")):
        parse_play(Position(board({13: 2, 1: 1}, {24: 2})), "42", "13/9")
