"""One checker, one die: what plays are made of and read from. Plain Python around the generator's rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import DiceError
from engine.generator import is_legal_step

__all__ = ["BAR", "OFF", "Move", "legal_move", "legal_moves", "moved", "place_name", "read_dice"]

BAR, OFF = 25, 0


class Move(NamedTuple):
    """One checker moved with one die; places are the mover's own numbers."""

    start: int
    """1..24, or 25 from the bar."""
    end: int
    """1..24, or 0 when borne off."""
    hit: bool
    """Whether an opposing blot on `end` was hit."""


def read_dice(dice: object) -> tuple[int, int]:
    """A roll given as two whole numbers (tuple, list, int8 row) or text ("31", "3-1", "3 1") -> (die, die).

    The order is kept. Raises DiceError when the dice are missing or not two numbers from 1 to 6.
    """
    if dice is None:
        raise DiceError("the dice are missing: give two numbers from 1 to 6, as (3, 1) or '31'")
    numbers: list[object] = []
    if isinstance(dice, str):
        match = re.fullmatch(r"\s*([1-6])\s*[-, ]?\s*([1-6])\s*", dice)
        numbers = [int(digit) for digit in match.groups()] if match else []
    elif isinstance(dice, (tuple, list, np.ndarray)):
        numbers = list(dice)
    values = [int(n) for n in numbers if isinstance(n, (int, np.integer)) and 1 <= int(n) <= 6]
    if len(numbers) != 2 or len(values) != 2:
        raise DiceError(f"dice {dice!r}: two numbers from 1 to 6 are needed, as (3, 1) or '31'")
    return values[0], values[1]


def place_name(place: int) -> str:
    """25 -> "bar", 0 -> "off", points as numbers."""
    return {BAR: "bar", OFF: "off"}.get(place, str(place))


def legal_move(board: NDArray[np.int8], start: int, die: int) -> Move | None:
    """The move of one checker from `start` (1..25) with one die, None if the rules forbid it.

    board int8[26] in the mover's view. The rules on the use of the whole roll (10 to 12) are not looked at.
    """
    if board[start] <= 0 or (board[BAR] > 0 and start != BAR) or not is_legal_step(board, start, die):
        return None
    end = max(start - die, OFF)
    return Move(start, end, end != OFF and int(board[end]) == -1)


def legal_moves(board: NDArray[np.int8], die: int) -> Iterator[Move]:
    """Every `legal_move` with one die, the highest start first."""
    for start in range(BAR, OFF, -1):
        move = legal_move(board, start, die)
        if move is not None:
            yield move


def moved(board: NDArray[np.int8], move: Move) -> NDArray[np.int8]:
    """A copy of the board (int8[26], mover's view) after a legal move."""
    after = board.copy()
    after[move.start] -= 1
    if move.hit:
        after[move.end] = 0
        after[0] -= 1  # index 0 holds the opponent's bar; own borne-off checkers are written nowhere
    if move.end != OFF:
        after[move.end] += 1
    return after
