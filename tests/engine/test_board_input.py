"""Bad boards and dice: the right error class, and a message that names the row and says what is wrong."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import engine
from engine import ArrayError, BoardError, DiceError, EngineError, Flaw, Position, legal_afterstates
from tests.boards import Board, array, board, roll

GOOD = np.stack([engine.START.board] * 3)
ROLLS = np.array([[3, 1], [6, 5], [2, 2]], dtype=np.int8)


def with_row(row: int, bad: Board) -> np.ndarray:
    boards = GOOD.copy()
    boards[row] = bad
    return boards


# Arrays of the wrong kind


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32, np.uint8, np.bool_, object])
def test_boards_of_another_dtype(dtype):
    with pytest.raises(ArrayError, match=rf"boards.*int8.*{np.dtype(dtype)}"):
        legal_afterstates(GOOD.astype(dtype), ROLLS)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, object])
def test_dice_of_another_dtype(dtype):
    with pytest.raises(ArrayError, match=rf"dice.*int8.*{np.dtype(dtype)}"):
        legal_afterstates(GOOD, ROLLS.astype(dtype))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_boards_with_numbers_that_are_none(value):
    boards: Any = GOOD.astype(np.float32)
    boards[1, 6] = value
    with pytest.raises(ArrayError, match="float32"):
        legal_afterstates(boards, ROLLS)
    with pytest.raises(BoardError, match="26 whole numbers"):
        Position([value, *[0] * 25])


@pytest.mark.parametrize(
    "boards",
    [GOOD.tolist(), tuple(GOOD), None, "4HPwATDgc/ABMA", 7, engine.START],
    ids=["list", "tuple", "None", "text", "number", "Position"],
)
def test_boards_that_are_no_array(boards):
    with pytest.raises(ArrayError, match=rf"boards.*int8.*{type(boards).__name__}"):
        legal_afterstates(boards, ROLLS)


@pytest.mark.parametrize("dice", [ROLLS.tolist(), (3, 1), 31, "31"], ids=["list", "tuple", "number", "text"])
def test_dice_that_are_no_array(dice):
    with pytest.raises(ArrayError, match=rf"dice.*int8.*{type(dice).__name__}"):
        legal_afterstates(GOOD, dice)


def test_missing_dice():
    missing: Any = None
    with pytest.raises(DiceError, match="missing"):
        legal_afterstates(GOOD, missing)


@pytest.mark.parametrize("shape", [(26,), (3, 25), (3, 27), (1, 3, 26), (26, 3), (0,), (), (0, 25)])
def test_boards_of_another_shape(shape):
    with pytest.raises(ArrayError, match=r"boards.*\(N, 26\).*" + re.escape(str(shape))):
        legal_afterstates(np.zeros(shape, dtype=np.int8), ROLLS)


def test_a_single_board_is_told_to_become_a_batch():
    with pytest.raises(ArrayError, match="batch of one"):
        legal_afterstates(engine.START.board, roll(3, 1))


@pytest.mark.parametrize("shape", [(2,), (3, 1), (3, 3), (2, 3), (3, 2, 1), (0,), ()])
def test_dice_of_another_shape(shape):
    with pytest.raises(ArrayError, match=r"dice.*\(N, 2\).*" + re.escape(str(shape))):
        legal_afterstates(GOOD, np.ones(shape, dtype=np.int8))


@pytest.mark.parametrize("rows", [0, 1, 2, 4])
def test_boards_and_dice_that_do_not_pair(rows):
    with pytest.raises(ArrayError, match=f"3 boards.*{rows}"):
        legal_afterstates(GOOD, np.ones((rows, 2), dtype=np.int8))


# Values


@pytest.mark.parametrize("bad", [(0, 1), (1, 0), (7, 1), (1, 7), (-1, 3), (3, -1), (0, 0), (127, -128)])
@pytest.mark.parametrize("row", [0, 2])
def test_dice_that_are_not_1_to_6(bad, row):
    dice = ROLLS.copy()
    dice[row] = bad
    with pytest.raises(DiceError, match=rf"dice\[{row}\].*1\.\.6.*" + re.escape(str(list(bad)))):
        legal_afterstates(GOOD, dice)


FLAWED = {
    "sixteen own": (board({6: 16}, {20: 2}), "15.*player on roll", Flaw.TOO_MANY_OWN),
    "sixteen own, one on the bar": (board({6: 15, 25: 1}, {20: 2}), "15.*player on roll", Flaw.TOO_MANY_OWN),
    "sixteen of the opponent": (board({6: 2}, {20: 14, 0: 2}), "15.*opponent", Flaw.TOO_MANY_OPPONENT),
    "a sum that wraps in int8": (board({6: 127, 5: 127, 4: 17}, {20: 2}), "15", Flaw.TOO_MANY_OWN),
    "own checkers on the opponent's bar": (board({0: 1, 6: 2}, {20: 2}), "index 0", Flaw.WRONG_OPPONENT_BAR),
    "opponent's checkers on the own bar": (board({6: 2}, {20: 2, 25: 1}), "index 25", Flaw.WRONG_OWN_BAR),
    "no checkers": (board({}, {}), "no checkers", Flaw.NO_CHECKERS),
}


@pytest.mark.parametrize(("bad", "message", "flaw"), list(FLAWED.values()), ids=list(FLAWED))
@pytest.mark.parametrize("row", [0, 2])
def test_flawed_board(bad, message, flaw, row):
    with pytest.raises(BoardError, match=rf"boards\[{row}\].*{message}") as error:
        legal_afterstates(with_row(row, bad), ROLLS)
    assert str(list(bad)) in str(error.value), "the message shows the board"
    assert Position(bad).flaws() == flaw


def test_flaws_lists_everything_at_once():
    bad = Position(board({0: 3, 6: 16}, {20: 14, 25: 2}))
    too_many = Flaw.TOO_MANY_OWN | Flaw.TOO_MANY_OPPONENT
    assert bad.flaws() == too_many | Flaw.WRONG_OWN_BAR | Flaw.WRONG_OPPONENT_BAR
    assert engine.START.flaws() == Flaw.NONE
    assert bad.flipped().flaws() == bad.flaws()


@pytest.mark.parametrize("finished", [board({}, {20: 15}), board({6: 3}, {}), board({}, {0: 1}), board({25: 1}, {})])
def test_finished_game(finished):
    with pytest.raises(BoardError, match=r"boards\[1\].*over") as error:
        legal_afterstates(with_row(1, finished), ROLLS)
    assert str(list(finished)) in str(error.value)
    assert Position(finished).flaws() == Flaw.NONE, "a good position, only not one to play on"


def test_first_bad_row_is_named():
    boards = with_row(1, board({6: 16}, {20: 2}))
    boards[2] = board({}, {})
    with pytest.raises(BoardError, match=r"boards\[1\]"):
        legal_afterstates(boards, ROLLS)


def test_fewer_checkers_than_fifteen_are_fine():
    assert len(legal_afterstates(array(board({1: 1}, {24: 1})), roll(2, 1)).boards) == 1


@pytest.mark.parametrize(
    "points",
    [
        [],
        [0] * 25,
        [0] * 27,
        [0.5] * 26,
        ["1"] * 26,
        [None] * 26,
        [True] * 26,
        [[0] * 26],
        [128, *[0] * 25],
        [10**30, *[0] * 25],
        5,
    ],
)
def test_position_from_anything_but_26_whole_numbers(points):
    with pytest.raises(BoardError):
        Position(points)


def test_position_is_a_read_only_copy():
    source = engine.START.board.copy()
    position = Position(source)
    source[:] = 0
    assert position == engine.START
    with pytest.raises(ValueError, match="read-only"):
        position.board[6] = 0


@pytest.mark.parametrize("error", [ArrayError, BoardError, DiceError, engine.NotationError, engine.IllegalPlayError])
def test_every_error_is_a_value_error(error):
    assert issubclass(error, EngineError) and issubclass(error, ValueError)
    assert issubclass(ArrayError, TypeError)
