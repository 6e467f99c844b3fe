"""Position IDs: GNU Backgammon's own texts, round trips, and every text that must be refused."""

from __future__ import annotations

import base64
import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import BoardError, NotationError, Position
from engine.ids import decode_position, encode_position
from tests.boards import DATA, Board, board

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def seen(own: dict[int, int], opponent: dict[int, int]) -> Board:
    """Checkers of both sides, each by its own numbers (25 = bar), as a board in the first side's view."""
    return board(own, {25 - place: count for place, count in opponent.items()})


def text_of(opponent: list[int], own: list[int], tail: str = "") -> str:
    """An independent writer that checks nothing: 25 counts a side, then any further bits."""
    bits = "".join("1" * count + "0" for count in opponent + own) + tail
    octets = [int(bits.ljust(80, "0")[i : i + 8][::-1], 2) for i in range(0, 80, 8)]
    return base64.b64encode(bytes(octets)).decode()[:14]


def side(counts: dict[int, int]) -> list[int]:
    return [counts.get(place, 0) for place in range(1, 26)]


START = {24: 2, 13: 5, 8: 3, 6: 5}
P2_X = {1: 1, 2: 2, 3: 3}
P2_O = {3: 2, 4: 1}
VECTORS = {
    "P1 start": (seen(START, START), "4HPwATDgc/ABMA"),
    "P2 X on roll": (seen(P2_X, P2_O), "LAAA0A4AAAAAAA"),
    "P3 O on roll": (seen(P2_O, P2_X), "7QAAABYAAAAAAA"),
    "P4 one on the bar": (
        seen({1: 2, 6: 5, 8: 3, 13: 5}, {1: 2, 6: 5, 8: 3, 13: 4, 25: 1}),
        "g8/BA0CDz8EHAA",
    ),
    "P5 bearoff": (seen({5: 1, 2: 1}, {1: 1}), "AQAAiAAAAAAAAA"),
    "P6 bearoff": (seen({6: 1, 5: 1, 4: 1, 3: 1}, {6: 1, 5: 1, 4: 1, 2: 1}), "UgEAgCoAAAAAAA"),
    "P7 contact": (
        seen({1: 2, 2: 2, 3: 2, 4: 1, 6: 3, 7: 1, 8: 3, 22: 1}, {2: 1, 6: 4, 7: 3, 8: 2, 9: 2, 10: 2, 25: 1}),
        "wrttAEDbch0ACA",
    ),
}


@pytest.mark.parametrize(("counts", "text"), VECTORS.values(), ids=VECTORS.keys())
def test_vectors(counts, text):
    assert encode_position(counts) == text
    assert decode_position(text) == counts
    position = Position.from_position_id(text)
    assert position == Position(counts)
    assert position.position_id == text


def test_gnubg_ids():
    with gzip.open(DATA / "position_ids.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    assert len(rows) == 300
    wrong = [
        row
        for row in rows
        if encode_position(row["board"]) != row["position_id"]
        or decode_position(row["position_id"]) != tuple(row["board"])
    ]
    assert not wrong


def test_the_side_not_on_roll_comes_first():
    """One checker on the opponent's own 1-point is the very first bit; the symmetric start hides a swap."""
    assert base64.b64decode(encode_position(seen({3: 1}, {1: 1})) + "==")[0] == 1


def test_reported_ids():
    """IDs out of public bug reports, checked with GNU Backgammon: sides swapped, bar checkers lost."""
    moved_13_11 = seen({24: 2, 13: 4, 11: 1, 8: 3, 6: 5}, START)  # gtzampanakis/bgtrain#3
    assert decode_position("4HPwATDgc+QBMA") == moved_13_11
    no_bar = (
        0,
        3,
        2,
        3,
        -2,
        -1,
        0,
        0,
        0,
        -3,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        -2,
        0,
        -2,
        0,
        -2,
        -2,
        0,
    )  # wildbg#27
    assert decode_position("mxmAQ4PbAQAAAA") == no_bar
    assert decode_position("mxmAQ0O3AwAAAA") == (-1, *no_bar[1:])
    both_bars = (-1, 4, 0, 1, -1, -2, 2, 2, 0, 0, 0, -1, 0, -2, 0, 0, 2, -2, 0, -3, -2, 3, 0, -1, 0, 1)
    assert encode_position(both_bars) == "YmeYwEJPbACDQw"


@st.composite
def boards(draw: st.DrawFn) -> Board:
    counts = [0] * 26
    for sign, bar in ((1, 25), (-1, 0)):
        for place in draw(st.lists(st.integers(1, 25), max_size=15)):
            place = bar if place == 25 else place
            if counts[place] * sign >= 0:
                counts[place] += sign
    return tuple(counts)


@given(boards())
def test_board_to_id_to_board(counts):
    text = encode_position(counts)
    assert len(text) == 14
    assert decode_position(text) == counts
    assert encode_position(np.array(counts, dtype=np.int8)) == text


@given(st.text(ALPHABET, min_size=14, max_size=14) | st.text(max_size=20))
def test_any_text_parses_back_to_itself_or_is_refused(text):
    try:
        counts = decode_position(text)
    except NotationError as error:
        assert repr(text) in str(error)
    else:
        assert encode_position(counts) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "0 characters instead of 14"),
        ("4HPwATDgc/ABM", "13 characters instead of 14"),
        ("4HPwATDgc/ABMAA", "15 characters instead of 14"),
        ("4HPwATDgc/ABMA==", "padding"),
        (" 4HPwATDgc/ABMA\n", "white space"),
        ("4HPwATDgc/ABMA:cAkAAAAAAAAA", "before the colon"),
        ("4HPwATDgc_ABMA", "'_' cannot occur"),
        ("4HPwATDgc-AB A", "' ', '-' cannot occur"),
        ("4HPwATDgcéABMA", "'é' cannot occur"),
        (text_of(side({6: 16}), side({1: 1})), "the opponent has 16 checkers"),
        (text_of(side({6: 1}), side({1: 10, 25: 6})), "the player on roll has 16 checkers"),
        ("/" * 14, "80 checkers"),
        (text_of(side({1: 2}), side({24: 3})), "both sides stand on the 24-point"),
        (text_of(side({24: 1}), side({1: 2})), "both sides stand on the 1-point"),
        (text_of(side({1: 1}), side({1: 1}), tail="0001"), "bits are set after the last checker"),
        (
            "4HPwATDgc/ABMB",
            "bits are set after the last checker",
        ),  # the four spare bits of the last character
        (None, "text, not NoneType"),
        (b"4HPwATDgc/ABMA", "text, not bytes"),
    ],
)
def test_refused(text, reason):
    with pytest.raises(NotationError) as caught:
        Position.from_position_id(text)
    assert reason in str(caught.value)
    assert repr(text) in str(caught.value)


def test_full_format_is_reached():
    """15 checkers a side use all 80 bits; on both bars the last bit is the last terminator."""
    counts = board({25: 15}, {0: 15})
    assert decode_position(encode_position(counts)) == counts


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ([0] * 25, "26 places, not 25"),
        (board({6: 16}, {24: 2}), "the player on roll has 16 checkers"),
        (board({6: 1}, {24: 10, 0: 6}), "the opponent has 16 checkers"),
        (board({0: 1, 6: 1}, {24: 1}), "other side's bar"),
        (board({6: 1}, {24: 1, 25: 1}), "other side's bar"),
    ],
)
def test_boards_without_an_id(counts, reason):
    with pytest.raises(BoardError, match=reason):
        encode_position(counts)
