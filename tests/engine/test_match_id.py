"""Match IDs and GNUBG IDs: GNU Backgammon's own texts, round trips, every text that must be refused."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import START, GameState, NotationError, Position
from engine.state import GameStatus
from tests.boards import board
from tests.states import format_case, id_rows, mutations, states

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
START_ID = "4HPwATDgc/ABMA"
OFFSETS = {
    "cube": 0, "owner": 4, "on_roll": 6, "crawford": 7, "game_state": 8, "decision": 11, "doubled": 12, "resigned": 13,
    "die1": 15, "die2": 18, "length": 21, "score0": 36, "score1": 51, "no_jacoby": 66, "rest": 67,
}  # fmt: skip


def match_id(**fields: int) -> str:
    """An independent writer that checks nothing, from a money game of player 1: values of the raw fields."""
    raw = {"owner": 3, "on_roll": 1, "game_state": 1, "decision": 1} | fields
    bits = sum(value << OFFSETS[name] for name, value in raw.items())
    return base64.b64encode(bits.to_bytes(9, "little")).decode()


def read(text: str) -> GameState:
    return GameState.from_gnubg_id(f"{START_ID}:{text}")


VECTORS = {
    "M1 money, Jacoby": (GameState(START, jacoby=True), "cAkAAAAAAAAA"),
    "M2 with 3-1": (GameState(START, jacoby=True, dice=(3, 1)), "cIkFAAAAAAAA"),
    "M3 match": (GameState(START, match_length=9, score=(2, 4), cube=2, owner=0, dice=(5, 2)), "QYkqASAAIAAE"),
    "M4 Crawford": (
        GameState(START, match_length=7, score=(6, 3), crawford=True, on_roll=0, dice=(6, 4)), "sAHzAGAAGAAE"
    ),
    "M5 no Jacoby": (GameState(START, cube=4, owner=1, on_roll=0), "EgEAAAAAAAAE"),
    "M6 doubled": (GameState(START, match_length=5, doubled=True), "cBGgAAAAAAAE"),
}  # fmt: skip


@pytest.mark.parametrize(("state", "text"), VECTORS.values(), ids=VECTORS.keys())
def test_vectors(state, text):
    assert state.match_id == text
    assert state.gnubg_id == f"{START_ID}:{text}"
    assert read(text) == state


def state_of_row(row: dict) -> GameState:
    """What a row of ids.jsonl.gz says, put together without reading an ID."""
    said = row["state"]
    state = GameState(
        Position(row["board"]),
        on_roll=said["on_roll"],
        dice=None if said["dice"] == [0, 0] else said["dice"],
        cube=said["cube"],
        owner=None if said["cube_owner"] == -1 else said["cube_owner"],
        match_length=said["match_length"],
        score=said["score"],
        crawford=said["crawford"],
        jacoby=said["jacoby"],
        doubled=said["doubled"],
        resigned=said["resigned"],
        game_state=said["game_state"],
    )
    assert state.decider == said["turn"]
    return state


def test_gnubg_ids():
    rows = id_rows()
    assert len(rows) == 300
    wrong = []
    for row in rows:
        state = state_of_row(row)
        larger_first = replace(state, dice=state.dice and tuple(sorted(state.dice, reverse=True)))
        if state.match_id != row["match_id"] or state.gnubg_id != row["gnubg_id"]:
            wrong.append((row, state))
        elif GameState.from_gnubg_id(row["gnubg_id"]) != larger_first:
            wrong.append((row, GameState.from_gnubg_id(row["gnubg_id"])))
    assert not wrong


def test_report_fo_009():
    case = format_case("fo-009")
    text, expected = case["input"]["gnubg_id"], case["expect"]
    state = GameState.from_gnubg_id(text)
    assert state.position.board.tolist() == expected["board"]
    assert list(state.dice) == expected["dice"]
    assert state.match_length == expected["match"]
    # An old ID: the bit for Jacoby is 0 in a match, where it says nothing; today's programs write 1.
    assert not state.jacoby
    assert state.gnubg_id == text[:-1] + "E"


@pytest.mark.parametrize("name", ["fo-001", "fo-007"])
def test_reported_positions(name):
    case = format_case(name)
    state = GameState.from_gnubg_id(f"{case['input']['position_id']}:cAkAAAAAAAAA")
    assert state.position.board.tolist() == case["expect"]["board"]
    assert state.gnubg_id.split(":")[0] == case["input"]["position_id"]
    if name == "fo-007":
        with_bar = replace(state, position=Position(case["expect"]["board_with_bar"]))
        assert with_bar.gnubg_id.split(":")[0] == case["expect"]["position_id_with_bar"]


@given(states())
def test_state_to_id_to_state(state):
    dice = state.dice and tuple(sorted(state.dice, reverse=True))
    assert GameState.from_gnubg_id(state.gnubg_id) == replace(state, dice=dice, beavers=False, max_cube=None)
    assert len(state.match_id) == 12


def test_white_space_around_is_no_matter():
    assert GameState.from_gnubg_id(f"  {START_ID}:cAkAAAAAAAAA\r\n") == GameState(START, jacoby=True)


def test_dice_in_any_order_are_kept():
    assert read(match_id(die1=1, die2=3)).dice == (1, 3)
    assert read(match_id(die1=1, die2=3)).match_id == read(match_id(die1=3, die2=1)).match_id


def test_the_decision_says_nothing_when_no_game_goes_on():
    state = read(match_id(game_state=GameStatus.DROPPED, decision=0))
    assert state == GameState(START, jacoby=True, game_state=GameStatus.DROPPED)
    assert read("cAgAAAAAAAAA").game_state is GameStatus.NONE  # what gnubg shows before the first game


def test_largest_values():
    top = 2**15 - 1
    state = GameState(START, match_length=top, score=(top - 1, top - 1), cube=2**15, owner=0)
    assert read(state.match_id) == state
    assert state.match_id == match_id(cube=15, owner=0, length=top, score0=top - 1, score1=top - 1, no_jacoby=1)


@pytest.mark.parametrize(
    ("fields", "reason", "carets"),
    [
        ({"owner": 2}, "owner must be 0, 1 or 3 for none, not 2", (0, 1)),
        ({"cube": 2, "length": 5}, "in a match a cube in the middle is at 1, not at 4", (0, 1)),
        ({"owner": 0}, "a cube at 1 has not been turned", (0, 1)),
        ({"crawford": 1}, "the Crawford game belongs to matches, and this is money play", (1, 2)),
        ({"crawford": 1, "length": 5, "score0": 3}, "at 3-0 in a match to 5 nobody does", (1, 2)),
        ({"crawford": 1, "length": 5, "score0": 4, "cube": 1, "owner": 0}, "the cube is at 2", (0, 1)),
        ({"game_state": 5}, "must be 0 to 4, not 5", (1, 2)),
        ({"game_state": 7}, "must be 0 to 4, not 7", (1, 2)),
        ({"decision": 0}, "player 1 is on roll and nothing is pending, but the other is to decide", (1, 2)),
        ({"doubled": 1}, "a double of player 1 is pending, but the same player is to decide", (1, 2)),
        ({"resigned": 1}, "a resignation of player 1 is pending, but the same player is to decide", (1, 2)),
        ({"doubled": 1, "decision": 0, "die1": 3, "die2": 1}, "before the roll, but the dice show 3-1", (2, 3)),
        ({"doubled": 1, "decision": 0, "cube": 1, "owner": 0}, "player 0 (O) owns the cube", (2, 3)),
        ({"doubled": 1, "decision": 0, "resigned": 1}, "cannot be pending together", (2, 3)),
        ({"die1": 7, "die2": 1}, "not (7, 1)", (2, 3)),
        ({"die1": 3}, "not (3, 0)", (3, 4)),
        ({"die2": 3}, "not (0, 3)", (2, 3)),
        ({"die1": 6, "die2": 7}, "not (6, 7)", (3, 4)),
        ({"length": 5, "score0": 5}, "player 0 (O) has 5 points and has won the match to 5", (6, 9)),
        ({"length": 5, "score1": 5}, "player 1 (X) has 5 points and has won the match to 5", (8, 11)),
        ({"length": 5, "score0": 6, "score1": 5, "game_state": 2}, "both players have the 5 points", (6, 9)),
        ({"rest": 1}, "bits are set after the last field", (11, 12)),
        ({"rest": 16}, "bits are set after the last field", (11, 12)),
    ],
    ids=str,
)
def test_refused_fields(fields, reason, carets):
    text = match_id(**fields)
    with pytest.raises(NotationError) as caught:
        read(text)
    first, quoted, pointer = str(caught.value).splitlines()
    assert first.startswith("GNUBG ID: Match ID: ") and reason in first
    assert quoted == f"  {START_ID}:{text}"
    start, stop = carets
    assert pointer == " " * (2 + 15 + start) + "^" * (stop - start)


@pytest.mark.parametrize(
    ("text", "reason", "pointer"),
    [
        ("", "not the empty text", None),
        (START_ID, "one colon is needed, as in PositionID:MatchID, not 0", "^" * 14),
        (f"{START_ID}:cAkAAAAAAAAA:", "not 2", "^" * 28),
        (f"cAkAAAAAAAAA:{START_ID}", "the Position ID comes first", "^" * 27),
        (f"{START_ID}:", "0 characters instead of 12", " " * 15 + "^"),
        (f"{START_ID}:cAkAAAAAAAA", "11 characters instead of 12", " " * 15 + "^" * 11),
        (f"{START_ID}: cAkAAAAAAAAA", "13 characters", " " * 15 + "^" * 13),
        (f"{START_ID}:cAkAAAAAAAAA==", "leave out the padding", " " * 15 + "^" * 14),
        (f"{START_ID}:cAkAAAA-AAAA", "'-' cannot occur", " " * 22 + "^"),
        (f"{START_ID}:cAkAAAA\u00e9AAAA", "cannot occur", " " * 22 + "^^^^"),  # shown as \xe9
        ("4HPwATDgc/ABM:cAkAAAAAAAAA", "13 characters instead of 14", "^" * 13),
        ("AAAAAAAAAAAAAA:cAkAAAAAAAAA", "no checkers", "^" * 14),
        (None, "is text, not NoneType", None),
        (b"4HPwATDgc/ABMA:cAkAAAAAAAAA", "is text, not bytes", None),
    ],
)
def test_refused_texts(text, reason, pointer):
    with pytest.raises(NotationError) as caught:
        GameState.from_gnubg_id(text)
    message = str(caught.value)
    assert reason in message
    if pointer is None:
        assert repr(text) in message
    else:
        assert message.splitlines()[-1] == "  " + pointer


IDS = [row["gnubg_id"] for row in id_rows()]


@given(mutations(IDS, ALPHABET + ":= \n"))
def test_damaged_ids_are_read_or_refused(text):
    check_any_text(text)


@given(st.text(max_size=30) | st.text(ALPHABET, min_size=12, max_size=12).map(f"{START_ID}:{{}}".format))
def test_any_text_is_read_or_refused(text):
    check_any_text(text)


def check_any_text(text: str) -> None:
    try:
        state = GameState.from_gnubg_id(text)
    except NotationError as error:
        stripped = text.strip()
        if stripped.isascii() and stripped.isprintable() and stripped:
            assert stripped in str(error)
        return
    again = GameState.from_gnubg_id(state.gnubg_id)
    assert again == replace(state, dice=again.dice)
    assert sorted(again.dice or ()) == sorted(state.dice or ())
    # What a Match ID says without meaning is lost, all else is written back bit for bit.
    if state.game_state == GameStatus.PLAYING and state.dice == again.dice:
        position_text, match_text = text.strip().split(":")
        assert state.gnubg_id.startswith(f"{position_text}:{match_text[:-1]}")


def test_position_follows_the_player_on_roll():
    """The same checkers: in the view of whoever is on roll."""
    position = Position(board({6: 5, 25: 1}, {24: 2, 0: 3}))
    seen_by_1 = GameState(position, on_roll=1)
    seen_by_0 = GameState(position.flipped(), on_roll=0)
    assert seen_by_1.gnubg_id != seen_by_0.gnubg_id
    assert GameState.from_gnubg_id(seen_by_0.gnubg_id).position == position.flipped()
