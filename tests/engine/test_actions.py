"""What may be done in a game and what comes of it: hand-made states, then thousands of random actions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine import (
    START,
    Action,
    ActionError,
    BoardError,
    DiceError,
    GameResult,
    GameState,
    GameStatus,
    IllegalPlayError,
    NotationError,
    Position,
    RuleSet,
    StateError,
    WinKind,
    actions,
    legal_plays,
    new_game,
    rules,
)
from engine.state import CUBE_TOP
from tests.boards import DATA, board, cases

ROLL, DOUBLE, TAKE, DROP, BEAVER, PLAY, RESIGN, ACCEPT, REJECT = Action
LAST_TWO = Position(board({1: 2}, {24: 2, 13: 13}))
"""The player on roll wins a gammon with any roll."""


def test_action_values():
    assert [action.value for action in Action] == [
        "roll", "double", "take", "drop", "beaver", "play", "resign", "accept", "reject",
    ]  # fmt: skip


# ---- the actions of one game


def test_a_game_with_everything():
    state = new_game(7)
    assert state.legal_actions() == (ROLL,) and state.game_state is GameStatus.NONE
    state = state.open((3, 1))
    assert (state.on_roll, state.dice, state.decider) == (1, (3, 1), 1)
    assert state.legal_actions() == (PLAY, RESIGN)
    state = state.play("8/5 6/5")
    assert (state.on_roll, state.dice) == (0, None)
    assert state.legal_actions() == (ROLL, DOUBLE, RESIGN) and state.may_double
    state = state.double()
    assert (state.on_roll, state.decider, state.cube) == (0, 1, 1)
    assert state.legal_actions() == (TAKE, DROP) and not state.may_double
    state = state.take()
    assert (state.on_roll, state.decider, state.cube, state.owner) == (0, 0, 2, 1)
    assert state.legal_actions() == (ROLL, RESIGN) and not state.may_double
    state = state.roll("64").play("24/14")
    assert state.legal_actions() == (ROLL, DOUBLE, RESIGN)
    state = state.resign(2)
    assert (state.on_roll, state.decider, state.resigned) == (1, 0, 2)
    assert state.legal_actions() == (ACCEPT, REJECT)
    assert state.reject().legal_actions() == (ROLL, DOUBLE, RESIGN)
    over = state.accept()
    assert over.legal_actions() == () and over.score == (4, 0) and not over.match_over
    assert over.result == GameResult(0, 4, WinKind.GAMMON, resigned=True)
    assert over.game_state is GameStatus.RESIGNED


def test_opening_roll():
    """Rule 3: player 1's die comes first, the higher die starts and its owner plays both."""
    start = new_game()
    for of_1 in range(1, 7):
        for of_0 in range(1, 7):
            if of_1 == of_0:
                with pytest.raises(ActionError, match="thrown again"):
                    start.open((of_1, of_0))
                continue
            opened = start.open((of_1, of_0))
            assert opened == start.roll((of_1, of_0))
            assert opened.on_roll == (1 if of_1 > of_0 else 0)
            assert opened.dice == (max(of_1, of_0), min(of_1, of_0))
    with pytest.raises(ActionError, match="it has begun"):
        GameState(START).open((3, 1))
    with pytest.raises(ActionError, match="the same for both"):
        GameState(LAST_TWO, game_state=0).open((3, 1))
    with pytest.raises(ActionError, match="under way"):
        GameState(START, dice=(3, 1), game_state=0).roll((3, 1))
    with pytest.raises(ActionError, match="the opening roll comes first"):
        start.double()


@pytest.mark.parametrize(
    ("given", "action", "reason"),
    [
        ({"dice": (3, 1)}, "roll", "rolled already, they show 3-1"),
        ({"doubled": True}, "roll", r"player 1 \(X\) has doubled: player 0 \(O\) takes or drops first"),
        ({"resigned": 1}, "roll", r"player 1 \(X\) offers to resign: player 0 \(O\) accepts or rejects"),
        ({"dice": (3, 1)}, "double", "before the roll, but the dice show 3-1"),
        ({"doubled": True}, "double", "takes or drops first"),
        ({"resigned": 1, "dice": (3, 1)}, "double", "accepts or rejects first"),
        ({"max_cube": 1}, "double", "there is no cube"),
        ({"match_length": 5, "score": (4, 0), "crawford": True}, "double", "the Crawford game: nobody may double"),
        ({"match_length": 5, "score": (0, 4), "crawford": True}, "double", "the Crawford game: nobody may double"),
        ({"cube": 2, "owner": 0}, "double", r"player 0 \(O\) owns the cube"),
        ({"cube": 64, "owner": 1, "max_cube": 64}, "double", "highest face, 64"),
        ({"cube": CUBE_TOP, "owner": 1}, "double", "highest face, 32768"),
        ({"match_length": 5, "score": (0, 4)}, "double", r"dead: player 1 \(X\) needs 1 point, which a cube at 1 wins"),
        ({"match_length": 5, "score": (4, 4)}, "double", "the cube is dead"),
        ({"match_length": 5, "score": (0, 3), "stakes": (2, 4, 6)}, "double", "the cube is dead"),
        ({"match_length": 5, "score": (0, 1), "cube": 4, "owner": 1}, "double", "needs 4 points, which a cube at 4"),
        ({}, "take", "no double is pending"),
        ({}, "drop", "no double is pending"),
        ({}, "beaver", "no double is pending"),
        ({"doubled": True}, "beaver", "beavers are not played"),
        ({"doubled": True, "match_length": 5}, "beaver", "belong to money play"),
        ({"doubled": True, "beavers": True, "max_cube": 2}, "beaver", "the cube to 4, above its highest face, 2"),
        ({}, "accept", "no resignation is pending"),
        ({}, "reject", "no resignation is pending"),
        ({"resigned": 1}, "take", "no double is pending"),
        ({"doubled": True}, "accept", "no resignation is pending"),
        ({"game_state": 4}, "roll", "the game is over: a double was dropped"),
        ({"game_state": 3, "resigned": 1}, "accept", "the game is over: it was resigned"),
        ({"game_state": 2}, "roll", "the game is over"),
        ({"position": Position(board({}, {3: 2}))}, "roll", "the game is over"),
        ({"match_length": 5, "score": (5, 0), "game_state": 0}, "roll", "the match is over"),
    ],
)
def test_what_may_not_be_done(given, action, reason):
    state = GameState(**{"position": START, **given})
    with pytest.raises(ActionError, match=f"cannot {action}: .*{reason}"):
        getattr(state, action)(*[(3, 1)] * (action == "roll"))
    assert Action(action) not in state.legal_actions()
    if action == "double":
        assert not state.may_double


def test_playing_without_a_roll_and_bad_arguments():
    with pytest.raises(ActionError, match="cannot play: the dice have not been rolled"):
        GameState(START).play("8/5 6/5")
    for bad in ((0, 1), "7", None):
        with pytest.raises(DiceError):
            GameState(START).roll(bad)
    for bad in (0, 4, True, None, 1.5, "1"):
        with pytest.raises(ActionError, match="a single game .1., a gammon .2. or a backgammon .3., not"):
            GameState(START).resign(bad)


def test_a_play_in_every_form():
    state = GameState(START, dice=(3, 1))
    play = next(play for play in legal_plays(START, (3, 1)) if play.notation == "8/5 6/5")
    after = state.play(play)
    assert after == GameState(play.position, on_roll=0)
    for form in ("6/5 8/5", play.position, play.position.board, play.position.board.tolist()):
        assert state.play(form) == after


def test_plays_that_are_none():
    state = GameState(START, dice=(3, 1))
    other = legal_plays(START, (6, 4))[0]
    with pytest.raises(ActionError, match=f"'{other.notation}' is no play of 3-1 in 4HPwATDgc/ABMA"):
        state.play(other)
    with pytest.raises(ActionError, match="is no play of 3-1"):
        state.play(START.board)
    result = legal_plays(START, (3, 1))[0].position
    with pytest.raises(ActionError, match="in the mover's view; give it in the next player's view"):
        state.play(result.flipped())
    with pytest.raises(BoardError, match="26 whole numbers"):
        state.play(np.zeros(25, np.int8))
    with pytest.raises(BoardError, match="26 whole numbers"):
        state.play(None)
    with pytest.raises(IllegalPlayError, match="both dice"):
        state.play("8/5")
    with pytest.raises(NotationError):
        state.play("xyz")


def test_a_forced_pass_is_played():
    closed = Position(board({25: 1, 6: 2}, {19: 2, 20: 2, 21: 2, 22: 2, 23: 2, 24: 2}))
    state = GameState(closed, dice=(3, 1))
    assert state.legal_actions() == (PLAY, RESIGN)
    assert state.play("no play") == state.play(closed.flipped()) == GameState(closed.flipped(), on_roll=0)


def test_actions_change_nothing_in_the_state_they_are_taken_in():
    state = GameState(START, dice=(3, 1))
    copy = replace(state)
    state.play("8/5 6/5")
    assert state == copy


# ---- the numbered rules of the cube


def test_rule_26_cube_in_the_middle_either_may_double():
    for on_roll in (0, 1):
        state = GameState(START, on_roll=on_roll)
        assert (state.cube, state.owner) == (1, None) and state.may_double
        assert DOUBLE in state.legal_actions()


def test_rule_27_only_on_his_turn_and_before_he_rolls():
    state = GameState(START)
    assert DOUBLE not in state.roll((3, 1)).legal_actions()
    assert state.double().decider == 0 and DOUBLE not in state.double().legal_actions()


@pytest.mark.parametrize("on_roll", [0, 1])
@pytest.mark.parametrize("cube", [1, 2, 16])
def test_rule_28_take_doubles_the_stake_and_gives_the_cube_drop_loses_the_old_stake(on_roll, cube):
    owner = None if cube == 1 else on_roll
    doubled = GameState(START, on_roll=on_roll, cube=cube, owner=owner, score=(20, 30)).double()
    taken = doubled.take()
    assert (taken.cube, taken.owner, taken.on_roll) == (2 * cube, 1 - on_roll, on_roll)
    dropped = doubled.drop()
    assert dropped.game_state is GameStatus.DROPPED
    assert dropped.result == GameResult(on_roll, cube, WinKind.DROP)
    assert dropped.score == (20 + cube * (on_roll == 0), 30 + cube * (on_roll == 1))


def test_rule_29_only_the_owner_makes_the_next_double():
    taken = GameState(START).double().take()
    assert taken.owner == 0 and not taken.may_double
    his_turn = taken.roll((6, 5)).play("24/13")
    assert his_turn.on_roll == 0 and his_turn.may_double
    assert his_turn.double().take().owner == 1


@pytest.mark.parametrize(("level", "points"), [(1, 4), (2, 8), (3, 12)])
def test_rule_30_the_result_is_multiplied_by_the_cube(level, points):
    loser = [{24: 14}, {24: 2, 13: 13}, {24: 13, 3: 2}][level - 1]
    state = GameState(Position(board({1: 2}, loser)), cube=4, owner=0, dice=(3, 1))
    over = state.play("1/off(2)")
    assert over.result == GameResult(1, points, actions.LEVELS[level - 1]) and over.score == (0, points)
    assert (over.game_state, over.on_roll, over.dice) == (GameStatus.OVER, 0, None)


def test_rule_31_the_cube_stops_at_64_on_the_club_sheet():
    state = new_game(rules=rules.CLUB).open((3, 1)).play("8/5 6/5")
    for face in (2, 4, 8, 16, 32, 64):
        state = state.double().take()
        assert state.cube == face
        state = replace(state, on_roll=state.owner)
    assert state.cube_owner == 1 and not state.may_double
    assert replace(state, max_cube=None).may_double, "no limit in the other presets"
    for preset in (rules.JUNIOR, rules.FOLD_UP, rules.TOWEL, rules.DMP):
        assert not new_game(rules=preset).open((3, 1)).play("8/5 6/5").may_double


def test_rule_24_every_win_counts_the_same_without_the_cube():
    state = new_game(rules=rules.TOWEL)
    assert state.stakes == (1, 1, 1) and not state.rules.cube
    over = replace(state, position=LAST_TWO, dice=(3, 1), game_state=1).play("1/off(2)")
    assert over.result == GameResult(1, 1, WinKind.GAMMON)


# ---- beyond the sheets


def test_jacoby_gammons_count_only_with_a_turned_cube():
    state = GameState(LAST_TWO, dice=(3, 1), jacoby=True)
    assert state.play("1/off(2)").result == GameResult(1, 1, WinKind.GAMMON)
    assert replace(state, cube=2).play("1/off(2)").score == (0, 2), "an automatic double has turned nothing"
    assert replace(state, cube=2, owner=0).play("1/off(2)").score == (0, 4)
    assert GameState(START, jacoby=True).resign(3).accept().score == (1, 0)


def test_beaver():
    doubled = GameState(START, beavers=True, cube=2, owner=1).double()
    assert doubled.legal_actions() == (TAKE, DROP, BEAVER)
    beavered = doubled.beaver()
    assert (beavered.cube, beavered.owner, beavered.on_roll) == (8, 0, 1)
    assert beavered.legal_actions() == (ROLL, RESIGN)


def test_resigning():
    state = GameState(START, dice=(3, 1), cube=2, owner=0)
    offered = state.resign(1)
    assert offered.dice == (3, 1) and offered.reject() == state
    assert offered.accept().result == GameResult(0, 2, WinKind.SINGLE, resigned=True)
    one_off = GameState(Position(board({1: 14}, {24: 15})))
    assert one_off.can_lose == (1,) and GameState(START).can_lose == (1, 2, 3)
    with pytest.raises(ActionError, match="has borne off a checker, so he can lose a single game only"):
        one_off.resign(2)
    three = new_game(variant="hypergammon").open((2, 1))
    assert three.can_lose == (1, 2, 3)


def test_crawford_game_comes_once():
    state = new_game(3)
    seen = []
    for winner, level in [(1, 2), (0, 1), (0, 1), (0, 1)]:
        seen.append((state.score, state.crawford))
        opened = state.open((1, 2) if winner else (2, 1))  # the loser is on roll and resigns
        state = opened.resign(level).accept()
        if not state.match_over:
            state = state.next_game()
    assert seen == [((0, 0), False), ((0, 2), True), ((1, 2), False), ((2, 2), False)]
    assert state.match_over and state.score == (3, 2)
    with pytest.raises(ActionError, match=r"player 0 \(O\) has won the match"):
        state.next_game()
    assert new_game(1).crawford, "both need one point in the first game"
    assert not new_game(2).crawford


def test_the_trailer_doubles_after_the_crawford_game_and_the_leader_does_not():
    state = GameState(START, match_length=3, score=(2, 1))
    assert state.may_double and not replace(state, on_roll=0).may_double
    assert actions.double(replace(state, on_roll=0), dead=True).doubled, "as a record may have it"
    crawford = replace(state, crawford=True)
    assert not crawford.may_double
    with pytest.raises(ActionError, match="Crawford"):
        actions.double(replace(crawford, on_roll=0), dead=True)


def test_next_game():
    over = GameState(START, jacoby=True, beavers=True, max_cube=64, variant="nackgammon", stakes=(1, 1, 1)).double()
    next_one = over.drop().next_game()
    nackgammon = new_game(jacoby=True, beavers=True, max_cube=64, variant="nackgammon")
    assert next_one == replace(nackgammon, stakes=(1, 1, 1), score=(0, 1))
    for going_on in (GameState(START), over, new_game()):
        with pytest.raises(ActionError, match="not over yet"):
            going_on.next_game()
    with pytest.raises(ActionError, match="the game is over, but not how it ended: no next game"):
        GameState(START, game_state=GameStatus.OVER).next_game()


def test_new_game():
    assert new_game() == GameState(START, game_state=0)
    assert new_game(rules=rules.match(9)) == new_game(9) == GameState(START, match_length=9, game_state=0)
    assert new_game(rules=rules.MONEY).rules == rules.MONEY
    assert new_game(rules=RuleSet("hyper", checkers=3), variant="hypergammon").checkers == 3
    for wrong, reason in [
        ({"variant": "chess"}, "variant must be one of backgammon, nackgammon, hypergammon"),
        ({"match_length": 5, "jacoby": True}, "Jacoby rule belongs to money play"),
        ({"match_length": -1}, "match_length"),
        ({"max_cube": 3}, "power of two"),
    ]:
        with pytest.raises(StateError, match=reason):
            new_game(**wrong)
    for wrong, reason in [
        ({"match_length": 5, "rules": rules.MONEY}, "either rules or"),
        ({"rules": RuleSet("x", match_length=3, crawford=False)}, "with the Crawford rule"),
        ({"rules": RuleSet("x", checkers=3)}, "3 checkers a side do not fit backgammon"),
    ]:
        with pytest.raises(ActionError, match=reason):
            new_game(**wrong)
    with pytest.raises(StateError, match="stakes must be three whole numbers"):
        new_game(rules=RuleSet("x", stakes=(1, 1.5, 2)))


def test_texts_of_results():
    texts = [
        str(GameResult(1, 1, WinKind.SINGLE)),
        str(GameResult(0, 4, WinKind.GAMMON, resigned=True)),
        str(GameResult(1, 2, WinKind.DROP)),
    ]
    assert texts == [
        "X wins a single game: 1 point",
        "O wins a gammon, resigned: 4 points",
        "X wins by a drop: 2 points",
    ]


def test_scores_beyond_an_id():
    """A money session without a limit of the cube may go beyond the 15 bits of a Match ID."""
    state = GameState(START, cube=CUBE_TOP, owner=1, score=(40_000, 0)).resign(3).accept()
    assert state.score == (40_000 + 3 * CUBE_TOP, 0)
    for name in ("match_id", "gnubg_id"):
        with pytest.raises(StateError, match="holds scores up to 32767, not"):
            getattr(state, name)
    with pytest.raises(StateError, match="no XGID for this state: it holds scores up to 32767"):
        _ = state.next_game().xgid


# ---- the cases


def finished(case_board: list[int], **fields: object) -> GameState:
    """The game after its winner, player 1, has borne off his last checker, the loser as the case has it."""
    before = list(case_board)
    assert before[1] == 0 and max(before) == 0
    before[1] = 1
    return GameState(Position(before), dice=(6, 5), **fields).play("1/off")


@pytest.mark.parametrize(
    "case", [case for case in cases("scoring") if case["id"] not in ("sc-009", "sc-011")], ids=lambda case: case["id"]
)
def test_scoring_cases(case):
    result = finished(case["input"]["board"]).result
    assert (result.points, result.kind) == (case["expect"]["points"], case["expect"]["kind"])


def test_case_sc_009_cube_and_jacoby():
    case = next(case for case in cases("scoring") if case["id"] == "sc-009")
    owners = {"centered": None, "player": 1, "opponent": 0}
    points = []
    for situation in case["input"]["situations"]:
        length = situation.get("match", 0)
        over = finished(
            case["input"]["board"],
            cube=situation["cube"],
            owner=owners[situation["owner"]],
            jacoby=situation["jacoby"] and not length,
            match_length=length,
        )
        assert over.result.points == over.score[1]
        points.append(over.result.points)
    assert points == case["expect"]["points"]


def test_case_sc_011_hypergammon_ends():
    case = next(case for case in cases("scoring") if case["id"] == "sc-011")
    over = finished(case["input"]["board"], variant="hypergammon")
    assert (over.result.points, over.result.kind) == (case["expect"]["points"], case["expect"]["kind"])
    assert finished(case["input"]["board"]).result.kind == "single", "with fifteen checkers twelve of them are off"


def match_case(name: str) -> dict[str, Any]:
    lines = (DATA / "cases_cube.jsonl").read_text(encoding="utf-8").splitlines()
    return next(case for case in map(json.loads, lines) if case["id"] == name)


@pytest.mark.parametrize(
    ("name", "may"),
    [("ma-001", True), ("ma-002", True), ("ma-004", False), ("ma-006", False), ("ma-007", False), ("ma-009", True)],
)
def test_match_cases_who_may_double(name, may):
    """In ma-004 the Crawford game forbids it, in ma-006 and ma-007 the cube is dead."""
    given = match_case(name)["input"]
    own, theirs = given["score_mover_opponent"]
    state = GameState(
        Position(given["board"]),
        match_length=given["match"],
        score=(theirs, own),
        crawford=given["crawford"],
        cube=given["cube"],
        owner={"centered": None, "player": 1, "opponent": 0}[given["owner"]],
    )
    assert state.may_double is may


@pytest.mark.parametrize("number", range(4))
def test_case_ma_014_the_match_is_over_when_the_points_are_there(number):
    case = match_case("ma-014")
    text = case["input"]["results"][number]
    score = tuple(case["input"]["score"])
    state = GameState(START, on_roll=1, match_length=case["input"]["match"], score=score)  # the leader is player 0
    if "2-cube" in text:
        state = replace(state, cube=2, owner=0)
    level = actions.LEVELS.index(text.split(" ")[0]) + 1
    over = state.resign(level).accept()
    assert list(over.score) == case["expect"]["score_after"][number]
    assert over.match_over is case["expect"]["match_over"][number]
