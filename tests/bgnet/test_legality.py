"""The check behind the arena: every legal result passes, everything else is caught."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from bgnet.legality import legal_choices
from engine.board import START_BOARD
from engine.dice import ROLLS
from tests.boards import array, board, roll


def test_every_legal_result_passes() -> None:
    boards = np.repeat(START_BOARD[None], 21, axis=0)
    legal = engine.legal_afterstates(boards, ROLLS)
    row = np.repeat(np.arange(21), np.diff(legal.offsets))
    assert len(row) == 447
    assert legal_choices(boards[row], ROLLS[row], legal.boards).all()


def test_results_of_another_roll_or_view_do_not_pass() -> None:
    result = engine.legal_afterstates(START_BOARD[None], roll(3, 1)).boards[:1]
    assert legal_choices(START_BOARD[None], roll(3, 1), result).tolist() == [True]
    assert legal_choices(START_BOARD[None], roll(6, 5), result).tolist() == [False]
    mover_view = np.ascontiguousarray(-result[:, ::-1])
    assert legal_choices(START_BOARD[None], roll(3, 1), mover_view).tolist() == [False]
    passed = np.ascontiguousarray(-START_BOARD[None, ::-1])
    assert legal_choices(START_BOARD[None], roll(3, 1), passed).tolist() == [False]


def test_only_a_pass_passes_where_nothing_can_be_played() -> None:
    closed_out = array(board({25: 1}, {19: 2, 20: 2, 21: 2, 22: 2, 23: 2, 24: 2}))
    assert legal_choices(closed_out, roll(6, 5), np.ascontiguousarray(-closed_out[:, ::-1])).all()


def test_each_row_is_held_against_its_own_results() -> None:
    boards = np.repeat(START_BOARD[None], 2, axis=0)
    dice = np.array([[3, 1], [6, 5]], dtype=np.int8)
    legal = engine.legal_afterstates(boards, dice)
    first, second = legal.boards[0], legal.boards[legal.offsets[1]]
    assert legal_choices(boards, dice, np.stack([first, second])).tolist() == [True, True]
    assert legal_choices(boards, dice, np.stack([second, first])).tolist() == [False, False]


def test_no_rows() -> None:
    nothing = np.zeros((0, 26), dtype=np.int8)
    assert legal_choices(nothing, np.zeros((0, 2), dtype=np.int8), nothing).tolist() == []


def test_bad_dice_are_refused() -> None:
    with pytest.raises(engine.DiceError):
        legal_choices(START_BOARD[None], roll(7, 1), START_BOARD[None])
