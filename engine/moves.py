"""The checked door to the generator: batches of positions and rolls in, all distinct results out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.board import count_checkers
from engine.errors import ArrayError, BoardError, DiceError
from engine.generator import MAX_RESULTS, generate
from engine.jit import kernel

__all__ = ["Afterstates", "check_boards", "check_dice", "legal_afterstates"]


class Afterstates(NamedTuple):
    """Ragged results of a batch: those of row i are boards[offsets[i]:offsets[i + 1]]."""

    boards: NDArray[np.int8]
    """int8[M, 26], in the next player's view."""
    offsets: NDArray[np.int64]
    """int64[N + 1], from 0 to M."""


def check_boards(boards: NDArray[np.int8], *, finished: bool = True, checkers: int = 15) -> NDArray[np.int8]:
    """int8[N, 26] -> the same, C-contiguous, once every row can be a position of a game.

    Raises ArrayError for another type, dtype or shape; BoardError (naming the first bad row) for more than
    `checkers` a side, a bar of the wrong sign, an empty board or, with finished=False, a game that is over.
    """
    if not isinstance(boards, np.ndarray) or boards.dtype != np.int8:
        raise ArrayError(f"boards must be a numpy array of int8, not {_describe(boards)}")
    if boards.ndim != 2 or boards.shape[1] != 26:
        hint = "; one board is a batch of one: board[None]" if boards.shape == (26,) else ""
        raise ArrayError(f"boards must have shape (N, 26), not {boards.shape}{hint}")
    boards = _plain(boards)
    row, code = _first_flaw(boards, finished, checkers)
    if row >= 0:
        raise BoardError(f"boards[{row}]: {_FLAWS[code].format(checkers)}: {boards[row].tolist()}")
    return boards


def check_dice(dice: NDArray[np.int8], rows: int) -> NDArray[np.int8]:
    """int8[N, 2] with N = rows -> the same, C-contiguous, once every die is 1..6; else ArrayError, DiceError."""
    if dice is None:
        raise DiceError("the dice are missing: give int8[N, 2]")
    if not isinstance(dice, np.ndarray) or dice.dtype != np.int8:
        raise ArrayError(f"dice must be a numpy array of int8, not {_describe(dice)}")
    if dice.ndim != 2 or dice.shape[1] != 2:
        raise ArrayError(f"dice must have shape (N, 2), not {dice.shape}")
    if len(dice) != rows:
        raise ArrayError(f"{rows} boards need {rows} rolls, not {len(dice)}")
    bad = np.flatnonzero(((dice < 1) | (dice > 6)).any(axis=1))
    if len(bad):
        raise DiceError(f"dice[{bad[0]}]: each die must be 1..6, not {dice[bad[0]].tolist()}")
    return _plain(dice)


def legal_afterstates(boards: NDArray[np.int8], dice: NDArray[np.int8]) -> Afterstates:
    """All distinct results of each position and roll, turned to the next player's view.

    boards int8[N, 26] in the view of the player on roll, dice int8[N, 2] in either order, any N including 0
    -> Afterstates. A roll that cannot be played gives one result, the turned board; a finished game is a
    result like any other. Raises ArrayError, BoardError or DiceError, naming the first bad row.
    """
    boards = check_boards(boards, finished=False)
    dice = check_dice(dice, len(boards))
    offsets = np.zeros(len(boards) + 1, dtype=np.int64)
    return Afterstates(_generate_batch(boards, dice, offsets), offsets)


_FLAWS = {
    1: "more than {} checkers of the player on roll",
    2: "more than {} checkers of the opponent",
    3: "index 25 is the own bar and cannot be negative",
    4: "index 0 is the opponent's bar and cannot be positive",
    5: "there are no checkers at all",
    6: "the game is over, there is nothing to play",
}


def _plain(array: NDArray[np.int8]) -> NDArray[np.int8]:
    """C-contiguous and writable, copied if need be: for other kinds of arrays numba would compile everything anew."""
    return np.require(array, requirements=["C", "W"])


def _describe(value: object) -> str:
    return f"{value.dtype}" if isinstance(value, np.ndarray) else f"{type(value).__name__}"


@kernel
def _first_flaw(boards, finished, checkers):
    """boards int8[N, 26], whether finished games are welcome, checkers a side -> (row, key of _FLAWS), or (-1, 0)."""
    for i in range(boards.shape[0]):
        own, opponent = count_checkers(boards[i])
        if own > checkers:
            return i, 1
        if opponent > checkers:
            return i, 2
        if boards[i, 25] < 0:
            return i, 3
        if boards[i, 0] > 0:
            return i, 4
        if own == 0 and opponent == 0:
            return i, 5
        if not finished and (own == 0 or opponent == 0):
            return i, 6
    return -1, 0


@kernel
def _generate_batch(boards, dice, offsets):
    """boards int8[N, 26], dice int8[N, 2] -> int8[M, 26], all results; fills offsets int64[N + 1]."""
    results = np.empty((MAX_RESULTS, 26), dtype=np.int8)
    work = np.empty(26, dtype=np.int8)
    out = np.empty((20 * boards.shape[0] + 64, 26), dtype=np.int8)
    total = 0
    for i in range(boards.shape[0]):
        work[:] = boards[i]
        n = generate(work, int(dice[i, 0]), int(dice[i, 1]), results)
        if total + n > out.shape[0]:
            bigger = np.empty((2 * out.shape[0] + n, 26), dtype=np.int8)
            bigger[:total] = out[:total]
            out = bigger
        out[total : total + n] = results[:n]
        total += n
        offsets[i + 1] = total
    return out[:total].copy()
