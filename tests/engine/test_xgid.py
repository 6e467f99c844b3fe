"""XGIDs: vectors that GNU Backgammon reads alike, round trips, every text that must be refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import START, GameState, NotationError, Position, parse_play
from engine.errors import StateError
from engine.state import GameStatus
from tests.boards import board
from tests.engine.test_match_id import state_of_row
from tests.states import format_case, id_rows, mutations, states

VECTORS = {
    "X1": ("XGID=aBBBA-CAC------bbbcd--Aa--:0:0:1:00:0:0:1:0:10", "wrttAEDbch0ACA:cAkAAAAAAAAA"),
    "X2": ("XGID=-b-B--DAC---eC---b-d--b-B-:1:1:1:52:2:4:0:7:10", "jGfwATCM18EBMA:UYnqAEAAEAAE"),
    "X3": ("XGID=-bB---D-B---eE---b-d-b--B-:0:0:1:31:4:1:1:5:10", "mGfwATCGZ/ABMA:8ImlABAAIAAE"),
    "X4": ("XGID=-A--CBBD----a-Ac--bcBbc-a-:2:-1:1:00:0:0:2:0:10", "ublxBABx2wMCAw:QgkAAAAAAAAE"),
    "X5": ("XGID=cC-DBBBA----c--A---bb-c-b-:1:-1:1:66:3:3:0:9:10", "czbgAHDnbQsQAA:QQk7ATAAGAAE"),
    "X6": ("XGID=--BA-BCaA--a-C--bbbbcb-C--:0:0:-1:41:0:0:3:0:10", "lp3gABzYbRuEAA:MAEGAAAAAAAA"),
    "X7": ("XGID=a--A--E-B---eD---d-eA--AA-:1:1:-1:00:1:5:0:7:10", "xGfwgCjg8+ADQA:EQHgAFAACAAE"),
    "X8": ("XGID=-B--BBD-C-b-b---Bbcca-aa--:0:0:-1:21:7:2:0:11:10", "Y3sOMABKd4MZAA:MAFlASAAOAAE"),
}
START_XGID = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"


@pytest.mark.parametrize(("xgid", "gnubg_id"), VECTORS.values(), ids=VECTORS.keys())
def test_vectors(xgid, gnubg_id):
    state = GameState.from_xgid(xgid)
    assert state.xgid == xgid
    assert state.gnubg_id == gnubg_id
    from_gnubg = GameState.from_gnubg_id(gnubg_id)
    assert replace(from_gnubg, beavers=state.beavers) == state


def test_two_vectors_field_by_field():
    """X2 and X7 put together by hand: seats, scores and owners are X's and O's, the board is the roller's."""
    x_on_roll = GameState(
        Position(board({3: 2, 6: 4, 7: 1, 8: 3, 13: 3, 24: 2}, {1: 2, 12: 5, 17: 2, 19: 4, 22: 2})),
        on_roll=1, dice=(5, 2), cube=2, owner=1, match_length=7, score=(4, 2),
    )  # fmt: skip
    assert GameState.from_xgid(VECTORS["X2"][0]) == x_on_roll
    o_on_roll = GameState(
        Position(board({13: 5, 8: 4, 6: 5, 25: 1}, {22: 1, 19: 5, 17: 2, 12: 4, 5: 1, 2: 1, 1: 1})),
        on_roll=0, cube=2, owner=1, match_length=7, score=(5, 1),
    )  # fmt: skip
    assert GameState.from_xgid(VECTORS["X7"][0]) == o_on_roll
    assert (o_on_roll.cube_owner, o_on_roll.away) == (-1, (2, 6))


def test_xgids_beside_gnubg_ids():
    rows = id_rows()
    checked = 0
    for row in rows:
        state = state_of_row(row)
        if row["xgid"] is None:
            with pytest.raises(StateError, match="no room for a resignation"):
                _ = state.xgid
            continue
        assert state.xgid == row["xgid"]
        assert GameState.from_xgid(row["xgid"]) == state
        assert GameState.from_xgid(row["xgid"]).gnubg_id == row["gnubg_id"]
        checked += 1
    assert checked == 280


def test_report_fo_002():
    case = format_case("fo-002")
    state, expected = GameState.from_xgid(case["input"]["xgid"]), case["expect"]
    assert state.position.board.tolist() == expected["board"]
    assert list(state.dice) == expected["dice"]
    assert (state.cube, state.owner, state.match_length) == (1, None, 0)
    assert (state.jacoby, state.beavers) == (True, True)
    assert state.max_cube == 2**8
    assert state.xgid == case["input"]["xgid"]
    assert state.gnubg_id == "4HPkASjg2+ABMA:cAkHAAAAAAAA"


def test_report_fo_004():
    case = format_case("fo-004")
    state, expected = GameState.from_xgid(case["input"]["xgid"]), case["expect"]
    assert state.position.board.tolist() == expected["board"]
    assert list(state.dice) == expected["dice"]
    assert (state.score[1], state.score[0]) == tuple(expected["score_mover_opponent"])
    assert (state.match_length, state.crawford) == (expected["match"], expected["crawford"])
    assert state.away == (10, 11)
    assert list(state.pips) == expected["pips"]
    assert state.gnubg_id == f"{expected['position_id']}:{expected['match_id_gnubg']}"


def test_report_fo_006():
    case = format_case("fo-006")
    for number, text in enumerate(case["input"]["xgids"]):
        state = GameState.from_xgid(text)
        assert state.position.board.tolist() == case["expect"]["mover_board"][number]
        assert state.cube == case["expect"]["cube"][number]
        owner = {1: "player", -1: "opponent"}[state.cube_owner]
        assert owner == case["expect"]["owner_seen_by_mover"][number]
        assert state.xgid == text


def test_report_fo_011():
    case = format_case("fo-011")
    state = GameState(Position(case["input"]["board"]))
    assert state.xgid == case["expect"]["xgid"]
    assert state.gnubg_id.split(":")[0] == case["expect"]["position_id"]
    assert list(state.pips) == case["expect"]["pips"]
    assert GameState.from_xgid(case["expect"]["xgid"]) == state


def test_report_fo_012():
    case = format_case("fo-012")
    position = Position(case["input"]["board"])
    for text in case["input"]["strings"]:
        play = parse_play(position, case["input"]["dice"], text)
        assert play.position.flipped().board.tolist() == case["expect"]["result"]


@given(states(xgid=True))
def test_state_to_xgid_to_state(state):
    if state.position.ending() is not None:
        state = replace(state, game_state=GameStatus.OVER)
    assert GameState.from_xgid(state.xgid) == state
    assert GameState.from_xgid(f" {state.xgid.removeprefix('XGID=')}\n") == state


@given(states(xgid=True))
def test_the_board_is_always_that_of_x(state):
    """Whoever is on roll, the letters stay where they are; only the turn changes."""
    state = replace(state, doubled=False)
    turned = replace(state, position=state.position.flipped(), on_roll=1 - state.on_roll)
    fields, other = state.xgid.split(":"), turned.xgid.split(":")
    assert {fields.pop(3), other.pop(3)} == {"1", "-1"}
    assert fields == other


def test_limit_of_the_cube():
    assert GameState.from_xgid(START_XGID).max_cube is None
    assert GameState(START, max_cube=1024).xgid == GameState(START).xgid  # the one limit that is lost
    assert GameState.from_xgid(START_XGID[:-2] + "6").max_cube == 64
    assert GameState.from_xgid(START_XGID[:-2] + "0").max_cube == 1
    beyond = GameState(START, cube=4096, owner=0)
    assert GameState.from_xgid(beyond.xgid) == beyond


def test_what_an_xgid_cannot_hold():
    for state in (
        GameState(START, resigned=1),
        GameState(START, resigned=2, game_state=GameStatus.RESIGNED),
        GameState(START, game_state=GameStatus.DROPPED),
        GameState(START, match_length=5, score=(5, 2), game_state=GameStatus.OVER),
    ):
        with pytest.raises(StateError, match="no XGID for this state"):
            _ = state.xgid
    assert GameState(START, game_state=GameStatus.NONE).xgid == GameState(START).xgid


def test_message_of_the_screens():
    with pytest.raises(NotationError) as caught:
        GameState.from_xgid("XGID=-b----E-C---eE---c-f----B-:0:0:1:31:0:0:0:0:10")
    assert str(caught.value) == (
        "XGID: O has 16 checkers, at most 15 are allowed\n"
        "  XGID=-b----E-C---eE---c-f----B-:0:0:1:31:0:0:0:0:10\n"
        "                          ^ 6 on X's 19-point"
    )


FIELDS = START_XGID.removeprefix("XGID=").split(":")


def changed(**values: str) -> tuple[str, dict[str, int]]:
    """The start with some fields replaced, and where in the text each field begins."""
    names = ("board", "cube", "owner", "turn", "dice", "score_x", "score_o", "rule", "length", "limit")
    parts = [values.get(name, part) for name, part in zip(names, FIELDS, strict=True)]
    starts = [5 + sum(len(part) + 1 for part in parts[:i]) for i in range(len(parts))]
    return "XGID=" + ":".join(parts), dict(zip(names, starts, strict=True))


MATCH = {"length": "5", "score_x": "4", "score_o": "2"}


@pytest.mark.parametrize(
    ("values", "field", "place", "width", "reason"),
    [
        ({"board": "-b----E-C---eE---c-e----B"}, "board", 0, 25, "25 places instead of 26"),
        ({"board": "-b----E-C---eE---c-e----B--"}, "board", 0, 27, "27 places instead of 26"),
        ({"board": ""}, "board", 0, 1, "0 places instead of 26"),
        ({"board": "-b----E-C---eE---c-e---_B-"}, "board", 23, 1, "'_' cannot occur"),
        ({"board": "-b----E-C---eE---c-e---QB-"}, "board", 23, 1, "'Q' cannot occur"),
        ({"board": "-b----E-C---eE---c-e---qB-"}, "board", 23, 1, "'q' cannot occur"),
        ({"board": "-b----E-C---eE---c-e---1B-"}, "board", 23, 1, "'1' cannot occur"),
        ({"board": "Ab----E-C---eE---c-e----A-"}, "board", 0, 1, "the first place is O's bar"),
        ({"board": "-b----E-C---eE---c-d----Ba"}, "board", 25, 1, "the last place is X's bar"),
        ({"board": "-b----E-C---eE---c-e----BA"}, "board", 25, 1, "X has 16 checkers"),
        ({"board": "ab----E-C---eE---c-e----B-"}, "board", 19, 1, "O has 16 checkers"),
        ({"board": "------P-------------------"}, "board", 6, 1, "X has 16 checkers"),
        ({"board": "-" * 26}, "board", 0, 26, "no checker"),
        ({"cube": "16"}, "cube", 0, 2, "cube: a whole number from 0 to 15 is needed, not '16'"),
        ({"cube": "-1"}, "cube", 0, 2, "not '-1'"),
        ({"cube": "01"}, "cube", 0, 2, "not '01'"),
        ({"cube": ""}, "cube", 0, 1, "not ''"),
        ({"cube": "1.0"}, "cube", 0, 3, "not '1.0'"),
        ({"owner": "2"}, "owner", 0, 1, "owner: 1 for X, -1 for O, 0 for the middle, not '2'"),
        ({"owner": "1"}, "owner", 0, 1, "a cube at 1 has not been turned"),
        ({"turn": "0"}, "turn", 0, 1, "turn: 1 for X, -1 for O, not '0'"),
        ({"turn": "+1"}, "turn", 0, 2, "turn: 1 for X, -1 for O, not '+1'"),
        ({"dice": "0"}, "dice", 0, 1, "not '0'"),
        ({"dice": "07"}, "dice", 0, 2, "not '07'"),
        ({"dice": "30"}, "dice", 0, 2, "not '30'"),
        ({"dice": "311"}, "dice", 0, 3, "not '311'"),
        ({"dice": "d"}, "dice", 0, 1, "not 'd'"),
        ({"dice": "\u0663\u0661"}, "dice", 0, 12, "dice: two digits"),  # Arabic digits, shown escaped
        ({"dice": "B"}, "dice", 0, 1, "B, a pending beaver"),
        ({"dice": "R"}, "dice", 0, 1, "R, a pending raccoon"),
        ({"dice": "D", "cube": "1", "owner": "-1"}, "dice", 0, 1, "player 0 (O) owns the cube"),
        ({"dice": "D", "turn": "-1", "cube": "1", "owner": "1"}, "dice", 0, 1, "player 1 (X) owns the cube"),
        ({"dice": "D", "cube": "6", "owner": "1", "limit": "6"}, "dice", 0, 1, "highest face, 64"),
        ({"dice": "D", **MATCH, "rule": "1"}, "dice", 0, 1, "nobody doubles in the Crawford game"),
        ({"score_x": "-1"}, "score_x", 0, 2, "score of X: a whole number from 0 to 32767"),
        ({"score_o": "x"}, "score_o", 0, 1, "score of O: a whole number"),
        ({**MATCH, "score_x": "5"}, "score_x", 0, 1, "player 1 (X) has 5 points and has won the match to 5"),
        ({**MATCH, "score_o": "9"}, "score_o", 0, 1, "player 0 (O) has 9 points"),
        ({"rule": "4"}, "rule", 0, 1, "rule: a whole number from 0 to 3"),
        ({**MATCH, "rule": "2"}, "rule", 0, 1, "rule: in a match 0, or 1 in the Crawford game, not 2"),
        ({**MATCH, "score_x": "3", "rule": "1"}, "rule", 0, 1, "at 2-3 in a match to 5 nobody does"),
        ({**MATCH, "cube": "1"}, "cube", 0, 1, "in a match a cube in the middle is at 1, not at 2"),
        ({"length": "32768"}, "length", 0, 5, "match length: a whole number from 0 to 32767"),
        ({"length": "9" * 30}, "length", 0, 30, "match length: a whole number"),
        ({"limit": "16"}, "limit", 0, 2, "maximum cube: a whole number from 0 to 15"),
        ({"cube": "5", "limit": "4"}, "cube", 0, 1, "the cube is at 32, above its highest face, 16"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_refused_fields(values, field, place, width, reason):
    text, starts = changed(**values)
    with pytest.raises(NotationError) as caught:
        GameState.from_xgid(text)
    first, quoted, pointer = str(caught.value).splitlines()
    assert first.startswith("XGID: ") and reason in first
    assert quoted == "  " + text.encode("unicode_escape").decode()
    assert pointer.split(" ^")[0] == " " * (1 + starts[field] + place)
    assert pointer.count("^") == width


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("XGID=", "1 fields instead of 10"),
        (START_XGID[:-3], "9 fields instead of 10"),
        (START_XGID + ":0", "11 fields instead of 10"),
        (START_XGID.replace("XGID=", "xgid="), "the prefix is written XGID="),
        (START_XGID.replace("XGID=", "XGID: "), "the prefix is written XGID="),
        (START_XGID.replace("XGID=", "XGID= "), "27 places instead of 26"),
        ("", "not the empty text ''"),
        (" \n", "not the empty text"),
        (None, "is text, not NoneType"),
        (b"XGID=", "is text, not bytes"),
    ],
)
def test_refused_texts(text, reason):
    with pytest.raises(NotationError) as caught:
        GameState.from_xgid(text)
    assert reason in str(caught.value)
    assert str(text) in str(caught.value) or repr(text) in str(caught.value)


def test_long_texts_are_cut_around_the_place():
    text = START_XGID.replace(":31:", f":{'6' * 5000}:")
    with pytest.raises(NotationError) as caught:
        GameState.from_xgid(text)
    _, quoted, pointer = str(caught.value)[:-1].rsplit("\n", 2)
    assert max(len(quoted), len(pointer)) < 120
    assert quoted.endswith("...")
    assert quoted[len(pointer) - len(pointer.lstrip()) - 1] == ":"


XGIDS = [row["xgid"] for row in id_rows() if row["xgid"]]


@given(mutations(XGIDS, "ABOPQabopq-:0123456789DBR= \n\u00e9\u0661"))
def test_damaged_xgids_are_read_or_refused(text):
    check_any_text(text)


@given(st.text(max_size=60) | st.lists(st.text("Aap-0123456789D", max_size=26), min_size=10, max_size=10).map(":".join))
def test_any_text_is_read_or_refused(text):
    check_any_text(text)


def check_any_text(text: str) -> None:
    stripped = text.strip()
    try:
        state = GameState.from_xgid(text)
    except NotationError as error:
        if stripped.isascii() and stripped.isprintable() and 0 < len(stripped) <= 100:
            assert stripped in str(error)
        return
    assert state.xgid == "XGID=" + stripped.removeprefix("XGID=")
