"""GameState: a plain value with absolute seats, its views, what it refuses, and how it is shown."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given

from engine import START, DiceError, GameState, NotationError, Position, RuleSet, new_game, rules
from engine.errors import StateError
from engine.rules import MONEY, match
from engine.state import GameStatus, read_position
from engine.summary import drawing
from tests.boards import board
from tests.states import format_case, states

ASYMMETRIC = Position(board({6: 5, 8: 3, 13: 4, 11: 1, 24: 2}, {1: 2, 12: 5, 17: 3, 19: 4, 0: 1}))


@given(states())
def test_value(state):
    again = eval(repr(state), {"GameState": GameState, "Position": Position})
    assert again == state == pickle.loads(pickle.dumps(state)) == replace(state)
    assert hash(again) == hash(state)
    assert again.game_state is state.game_state
    assert state != replace(state, on_roll=1 - state.on_roll, doubled=False)
    assert state.rules.match_length == state.match_length and state.rules.jacoby == state.jacoby


def test_immutable():
    with pytest.raises(FrozenInstanceError):
        GameState(START).cube = 2  # type: ignore[misc]
    with pytest.raises(TypeError):
        GameState(START, 1)  # type: ignore[misc]


def test_defaults_are_a_money_game_before_the_first_roll_of_x():
    state = GameState(START)
    assert (state.on_roll, state.decider, state.dice, state.cube, state.owner) == (1, 1, None, 1, None)
    assert state.away is None
    assert state.rules == MONEY
    assert repr(state) == f"GameState({START!r})"


def test_given_values_are_put_into_one_form():
    given = GameState(
        START, on_roll=np.int64(0), dice=np.array([1, 3], np.int8), cube=np.int8(4), owner=np.int8(1),
        match_length=np.int64(7), score=[np.int8(2), 4], crawford=0, doubled=np.bool_(False), game_state=1,
    )  # fmt: skip
    plain = GameState(START, on_roll=0, dice=(1, 3), cube=4, owner=1, match_length=7, score=(2, 4))
    assert given == plain and repr(given) == repr(plain)
    assert GameState(START, dice="13").dice == (1, 3)
    assert GameState(START, dice=(1, 3)) != GameState(START, dice=(3, 1))


@pytest.mark.parametrize("on_roll", [0, 1])
def test_views_of_the_player_on_roll(on_roll):
    state = GameState(ASYMMETRIC, on_roll=on_roll, match_length=9, score=(2, 5), cube=2, owner=1)
    assert state.away == ((7, 4) if on_roll == 0 else (4, 7))
    assert state.cube_owner == (-1 if on_roll == 0 else 1)
    assert state.pips == ASYMMETRIC.pips == (165, 186)
    assert replace(state, cube=1, owner=None).cube_owner == 0


@pytest.mark.parametrize("on_roll", [0, 1])
def test_who_decides(on_roll):
    state = GameState(ASYMMETRIC, on_roll=on_roll)
    assert state.decider == on_roll
    for pending in (replace(state, doubled=True), replace(state, resigned=2), replace(state, resigned=1, dice=(3, 1))):
        assert (pending.on_roll, pending.decider, pending.position) == (on_roll, 1 - on_roll, ASYMMETRIC)


def test_rules_follow_from_the_fields():
    assert GameState(START, match_length=5).rules == match(5)
    money = GameState(START, jacoby=True, beavers=True, max_cube=64).rules
    assert money == RuleSet("money", jacoby=True, beavers=True, max_cube=64)
    assert money.payoff.tolist() == [1, 2, 3, -1, -2, -3]


@pytest.mark.parametrize(
    ("fields", "part", "reason"),
    [
        ({"position": START.board}, "position", "must be a Position"),
        ({"position": Position([0] * 26)}, "position", "no checkers"),
        ({"position": Position(board({6: 16}, {0: 1, 25: 16}))}, "position",
         "too many own, too many opponent, wrong own bar"),
        ({"on_roll": 2}, "on_roll", "on_roll must be a whole number from 0 to 1, not 2"),
        ({"on_roll": -1}, "on_roll", "not -1"),
        ({"on_roll": None}, "on_roll", "not None"),
        ({"cube": 0}, "cube", "from 1 to 32768, not 0"),
        ({"cube": 3}, "cube", "power of two, not 3"),
        ({"cube": 65536}, "cube", "not 65536"),
        ({"cube": 2.0}, "cube", "not 2.0"),
        ({"max_cube": 48}, "max_cube", "power of two, not 48"),
        ({"owner": 2, "cube": 2}, "owner", "from 0 to 1, not 2"),
        ({"owner": -1, "cube": 2}, "owner", "not -1"),
        ({"owner": 1}, "owner", "a cube at 1 has not been turned, so nobody owns it, not player 1 (X)"),
        ({"cube": 4, "match_length": 7}, "cube", "in a match a cube in the middle is at 1, not at 4"),
        ({"cube": 16, "owner": 0, "max_cube": 8}, "cube", "the cube is at 16, above its highest face, 8"),
        ({"match_length": -1}, "match_length", "not -1"),
        ({"match_length": 32768}, "match_length", "from 0 to 32767, not 32768"),
        ({"score": (1,)}, "score", "two numbers"),
        ({"score": 3}, "score", "two numbers"),
        ({"score": (0, -1)}, "score", "not -1"),
        ({"score": ("1", 0)}, "score", "not '1'"),
        ({"score": (3, 5), "match_length": 5}, "score", "player 1 (X) has 5 points and has won the match to 5"),
        ({"score": (7, 5), "match_length": 5, "game_state": 2}, "score", "both players have the 5 points"),
        ({"crawford": True}, "crawford", "this is money play"),
        ({"crawford": True, "match_length": 5, "score": (3, 2)}, "crawford", "at 3-2 in a match to 5 nobody does"),
        ({"crawford": True, "match_length": 5, "score": (4, 2), "cube": 2, "owner": 1}, "cube",
         "nobody doubles in the Crawford game, but the cube is at 2"),
        ({"crawford": True, "match_length": 5, "score": (4, 2), "doubled": True}, "doubled",
         "nobody doubles in the Crawford game"),
        ({"crawford": 2}, "crawford", "not 2"),
        ({"variant": []}, "variant", "must be one of"),
        *(({"stakes": (1, 2, odd)}, "stakes", "three whole numbers") for odd in (float("inf"), float("nan"), 2.5, 101)),
        ({"jacoby": True, "match_length": 5}, "jacoby", "Jacoby rule belongs to money play"),
        ({"beavers": True, "match_length": 5}, "beavers", "beavers belong to money play"),
        ({"doubled": True, "dice": (3, 1)}, "doubled", "one doubles before the roll, but the dice show 3-1"),
        ({"doubled": True, "cube": 2, "owner": 0}, "doubled",
         "player 1 (X) cannot have doubled: player 0 (O) owns the cube"),
        ({"doubled": True, "cube": 2, "owner": 1, "on_roll": 0}, "doubled", "player 0 (O) cannot have doubled"),
        ({"doubled": True, "cube": 64, "owner": 1, "max_cube": 64}, "doubled", "highest face, 64, and cannot be"),
        ({"doubled": True, "cube": 32768, "owner": 1}, "doubled", "highest face, 32768"),
        ({"doubled": True, "resigned": 1}, "resigned", "cannot be pending together"),
        ({"resigned": 4}, "resigned", "from 0 to 3, not 4"),
        ({"game_state": 5}, "game_state", "from 0 to 4, not 5"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else None,
)  # fmt: skip
def test_what_cannot_be(fields, part, reason):
    with pytest.raises(StateError) as caught:
        GameState(**{"position": START, **fields})
    assert reason in str(caught.value)
    assert caught.value.part == part
    copied = pickle.loads(pickle.dumps(caught.value))
    assert (str(copied), copied.part) == (str(caught.value), part)


def test_all_contradictions_are_named_at_once():
    with pytest.raises(StateError) as caught:
        GameState(START, match_length=5, score=(5, 0), jacoby=True, beavers=True, cube=2)
    assert str(caught.value).count(";") == 3


@pytest.mark.parametrize("dice", [(0, 0), (7, 1), (1,), "D", 31])
def test_dice_that_cannot_be(dice):
    with pytest.raises(DiceError, match="two numbers from 1 to 6"):
        GameState(START, dice=dice)


def test_what_can_be():
    """Close neighbours of what is refused."""
    GameState(START, cube=4)  # money: automatic doubles leave the cube in the middle
    GameState(START, match_length=1, crawford=True)  # gnubg counts a 1-point match as the Crawford game
    GameState(START, match_length=5, score=(4, 4))
    GameState(START, score=(7, 20))  # a money session
    GameState(START, match_length=5, score=(7, 4), game_state=GameStatus.OVER)
    GameState(START, doubled=True, cube=2, owner=0, on_roll=0)
    GameState(START, doubled=True, cube=32, owner=1, max_cube=64)
    GameState(Position(board({}, {24: 3})))  # finished, the player on roll has won
    GameState(START, match_length=32767, score=(32766, 0))


STATE_DRAWING = """
 +13-14-15-16-17-18------19-20-21-22-23-24-+  O  pips 186
 | X           O    |   | O              X |
 | X           O    |   | O              X |
 | X           O    |   | O                |
 | X                |   | O                |
 |                  | O |                  |
 |                  |BAR|                  |  cube 2 owned by O
 | O                |   | X                |
 | O                |   | X                |
 | O           X    |   | X                |
 | O           X    |   | X              O |
 | O  X        X    |   | X              O |  X to play 1-3
 +12-11-10--9--8--7-------6--5--4--3--2--1-+  X  pips 165
 9-point match, X 5, O 2, cube 2 owned by O, X to play 1-3
"""


def test_drawing():
    state = GameState(ASYMMETRIC, dice=(1, 3), match_length=9, score=(2, 5), cube=2, owner=0)
    assert "\n" + str(state) + "\n" == STATE_DRAWING
    assert str(state).isascii()
    assert "●" in drawing(state, unicode=True)
    other_seat = str(replace(state, on_roll=0))
    assert other_seat.splitlines()[:6] == str(state).splitlines()[:6], "the player on roll is at the bottom"
    assert "9-point match, X 2, O 5, cube 2 owned by X" in other_seat
    assert "(X here is player 0, O in an XGID)" in other_seat
    assert " off " not in str(new_game(variant="hypergammon")), "three a side, and none is borne off yet"


@pytest.mark.parametrize(
    ("state", "line"),
    [
        (GameState(START), "money, cube 1 centred, X on roll"),
        (GameState(START, jacoby=True, beavers=True, max_cube=64, score=(0, 4)),
         "money, Jacoby, beavers, session score X 4, O 0, cube 1 centred (at most 64), X on roll"),
        (GameState(START, cube=4, owner=1, doubled=True), "money, cube 4 owned by X, X doubles to 8, O to answer"),
        (GameState(START, match_length=7, score=(6, 2), crawford=True, resigned=2),
         "7-point match, X 2, O 6, Crawford game, cube 1 centred, X offers to resign a gammon, O to answer"),
        (GameState(START, match_length=7, score=(6, 2), on_roll=0),
         "7-point match, X 6, O 2, post-Crawford, cube 1 centred, X on roll (X here is player 0, O in an XGID)"),
        (GameState(START, match_length=1), "1-point match, X 0, O 0, cube 1 centred, X on roll"),
        (GameState(START, game_state=GameStatus.DROPPED), "money, cube 1 centred, double dropped"),
        (GameState(Position(board({6: 1}, {}))), "money, cube 1 centred, game over"),
        (new_game(rules=rules.TOWEL), "wins count 1, 1, 1, money, no cube, no game going on"),
        (replace(new_game(5, variant="nackgammon"), stakes=(1, 2, 2), game_state=GameStatus.PLAYING),
         "nackgammon, wins count 1, 2, 2, 5-point match, X 0, O 0, cube 1 centred, X on roll"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_summary(state, line):
    assert state.summary == line


def test_read_position_takes_every_kind():
    text = ASYMMETRIC.position_id
    assert read_position(f" {text}\n") == GameState(ASYMMETRIC)
    state = GameState(ASYMMETRIC, on_roll=0, dice=(5, 2), match_length=9, score=(2, 4), cube=2, owner=0)
    assert read_position(state.gnubg_id) == read_position(state.xgid) == state
    assert read_position(state.xgid.removeprefix("XGID=")) == state


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not the empty text"),
        ("zzz", "neither an XGID nor a GNUBG ID: Position ID: 3 characters instead of 14"),
        ("cAkAAAAAAAAA", "Match ID, which holds no board"),
        ("AAAAAAAAAAAAAA", "no checkers"),
        ("4HPwATDgc/ABMA:", "Match ID: 0 characters"),
        ("XGID=", "1 fields instead of 10"),
        ("XGID:4HPwATDgc/ABMA", "the prefix is written XGID="),
        ("-b----E-C---eE---c-e----B-", "26 characters instead of 14"),
        (None, "is text, not NoneType"),
    ],
)
def test_read_position_refuses(text, reason):
    with pytest.raises(NotationError) as caught:
        read_position(text)
    assert reason in str(caught.value)


def test_broken_ids_of_a_report():
    """fo-009: lengths, alphabet, more than fifteen checkers; an ID must be decoded, not measured."""
    case = format_case("fo-009")
    reasons = ["13 characters", "'!' cannot occur", "checkers, at most 15", "13 characters"]
    for text, reason in zip(case["input"]["broken"], reasons, strict=True):
        with pytest.raises(NotationError, match=reason):
            read_position(text)
