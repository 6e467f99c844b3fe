"""The board as text: whole drawings, and positions that no game can reach."""

from __future__ import annotations

import random

import pytest

from engine import START, Position
from engine.diagram import text
from tests.boards import board
from tests.oracle import scattered_board

MOCK = Position(board({24: 2, 13: 5, 8: 3, 6: 5}, {1: 1, 7: 1, 12: 4, 14: 1, 17: 3, 19: 5}))
BOTH_BARS = Position(board({25: 2, 6: 4, 5: 2, 13: 3, 20: 4}, {0: 7, 1: 2, 24: 6}))
BEAROFF = Position(board({1: 2, 2: 1, 6: 1}, {24: 3, 19: 8}))
TALL = Position(board({1: 15}, {0: 6, 13: 9}))

START_DRAWING = """
 +13-14-15-16-17-18------19-20-21-22-23-24-+  O  pips 167
 | X           O    |   | O              X |
 | X           O    |   | O              X |
 | X           O    |   | O                |
 | X                |   | O                |
 | X                |   | O                |
 |                  |BAR|                  |
 | O                |   | X                |
 | O                |   | X                |
 | O           X    |   | X                |
 | O           X    |   | X              O |
 | O           X    |   | X              O |
 +12-11-10--9--8--7-------6--5--4--3--2--1-+  X  pips 167
"""
MOCK_DRAWING = """
 +13-14-15-16-17-18------19-20-21-22-23-24-+  O  pips 159
 | X  O        O    |   | O              X |
 | X           O    |   | O              X |
 | X           O    |   | O                |
 | X                |   | O                |
 | X                |   | O                |
 |                  |BAR|                  |  cube 1
 |                  |   | X                |
 | O                |   | X                |
 | O           X    |   | X                |
 | O           X    |   | X                |
 | O           X  O |   | X              O |  X to play 1-1
 +12-11-10--9--8--7-------6--5--4--3--2--1-+  X  pips 167
"""
MOCK_UNICODE = """
 ┌13─14─15─16─17─18─┬───┬19─20─21─22─23─24─┐  ○ O  pips 159
 │ ●  ○        ○    │   │ ○              ● │
 │ ●           ○    │   │ ○              ● │
 │ ●           ○    │   │ ○                │
 │ ●                │   │ ○                │
 │ ●                │   │ ○                │
 │                  │BAR│                  │
 │                  │   │ ●                │
 │ ○                │   │ ●                │
 │ ○           ●    │   │ ●                │
 │ ○           ●    │   │ ●                │
 │ ○           ●  ○ │   │ ●              ○ │
 └12─11─10──9──8──7─┴───┴─6──5──4──3──2──1─┘  ● X  pips 167
"""
BOTH_BARS_DRAWING = """
 +13-14-15-16-17-18------19-20-21-22-23-24-+  O  pips 229
 | X                | 7 |    X           O |
 | X                | O |    X           O |
 | X                | O |    X           O |
 |                  | O |    X           O |
 |                  | O |                6 |
 |                  |BAR|                  |
 |                  | X |                  |
 |                  | X | X                |
 |                  |   | X                |
 |                  |   | X  X           O |
 |                  |   | X  X           O |
 +12-11-10--9--8--7-------6--5--4--3--2--1-+  X  pips 203
"""
BEAROFF_DRAWING = """
 +13-14-15-16-17-18------19-20-21-22-23-24-+  O  pips 51  off 4
 |                  |   | O              O |
 |                  |   | O              O |
 |                  |   | O              O |
 |                  |   | O                |
 |                  |   | 8                |
 |                  |BAR|                  |
 |                  |   |                  |
 |                  |   |                  |
 |                  |   |                  |
 |                  |   |                X |
 |                  |   | X           X  X |
 +12-11-10--9--8--7-------6--5--4--3--2--1-+  X  pips 10  off 11
"""
TALL_UNICODE = """
 ┌13─14─15─16─17─18─┬───┬19─20─21─22─23─24─┐  ○ O  pips 258
 │ ○                │ 6 │                  │
 │ ○                │ ○ │                  │
 │ ○                │ ○ │                  │
 │ ○                │ ○ │                  │
 │ 9                │ ○ │                  │
 │                  │BAR│                  │
 │                  │   │               15 │
 │                  │   │                ● │
 │                  │   │                ● │
 │                  │   │                ● │
 │                  │   │                ● │
 └12─11─10──9──8──7─┴───┴─6──5──4──3──2──1─┘  ● X  pips 15
"""


@pytest.mark.parametrize(
    ("drawing", "expected"),
    [
        (text(START), START_DRAWING),
        (text(MOCK, middle="cube 1", last="X to play 1-1"), MOCK_DRAWING),
        (text(MOCK, unicode=True), MOCK_UNICODE),
        (text(BOTH_BARS), BOTH_BARS_DRAWING),
        (text(BEAROFF), BEAROFF_DRAWING),
        (text(TALL, unicode=True), TALL_UNICODE),
    ],
    ids=["start", "mock", "mock unicode", "both bars", "bearoff", "tall unicode"],
)
def test_drawings(drawing, expected):
    assert drawing == expected.strip("\n")


def test_str_draws_in_ascii():
    assert str(START) == START_DRAWING.strip("\n")


def test_a_start_with_other_checkers_has_none_off():
    hypergammon = Position(board({24: 1, 23: 1, 22: 1}, {1: 1, 2: 1, 3: 1}))
    assert "off" not in text(hypergammon, checkers=3)
    assert text(hypergammon).count("off 12") == 2


def test_flawed_positions_are_drawn():
    assert "\n |                  |   | O             16 |\n" in text(Position(board({24: 16}, {19: 5})))
    assert "|127|" in text(Position(board({25: 127, 6: 1}, {})))
    wrong_bars = text(Position(board({0: 1}, {25: 1}))).splitlines()
    assert wrong_bars[5] == " |                  | X |                  |"
    assert wrong_bars[7] == " |                  | O |                  |"
    empty = text(Position([0] * 26))
    assert "pips 0  off 15" in empty
    assert empty.count("X") == empty.count("O") == 1


def test_twins_show_the_same_frame():
    """Every drawing has 13 lines, a frame 43 wide, and its twin differs only in the characters."""
    to_ascii = str.maketrans("●○│─┌┐└┘┬┴", "XO|-++++--")
    for seed in range(200):
        position = Position(scattered_board(random.Random(seed)))
        plain, fancy = text(position).splitlines(), text(position, unicode=True).splitlines()
        assert len(plain) == len(fancy) == 13
        assert all(line.isascii() for line in plain)
        assert [line[:43] for line in plain] == [line[:43].translate(to_ascii) for line in fancy]
        assert all(line == line.rstrip() for line in plain + fancy)
        counts = "".join(line[:43] for line in plain[1:12]).replace("BAR", "")
        shown = counts.count("X") + counts.count("O")
        assert shown == sum(min(abs(count), 4 if abs(count) > 5 else 5) for count in position.board.tolist())
