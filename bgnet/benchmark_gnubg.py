"""GNU Backgammon's benchmark files (.bm): text, one record a line, positions as keys of 20 letters.

m key die die best second loss2 third loss3 ...   a decision: positions after the plays, with the opponent on roll, and
                                                  what each loses against the best; others lose what the last one does
o key win gammon backgammon lost-gammon lost-backgammon    a position before the roll, rolled out (cumulative chances)
#R key and five numbers                           the same, noted for a decision's position
s ..., r ... and other comments                   how the file was made

A key is the Position ID's ten bytes, each as two letters: "A" plus its high and "A" plus its low half.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import NotationError
from engine.ids import decode_position

__all__ = ["BmDecision", "BmFile", "BmLineError", "BmOutcome", "board_of_key", "parse_bm"]

_KEY_LETTERS = 20


class BmLineError(ValueError):
    """A line that cannot be read; the message begins with its number."""


class BmDecision(NamedTuple):
    """An m line."""

    line: int
    """Its number, from 1."""
    board: NDArray[np.int8]
    """int8[26], the mover's view."""
    dice: NDArray[np.int8]
    """int8[2]."""
    results: NDArray[np.int8]
    """int8[K, 26], the opponent's view; the best first."""
    losses: NDArray[np.float64]
    """float64[K], points, >= 0."""


class BmOutcome(NamedTuple):
    """An o or #R line."""

    line: int
    board: NDArray[np.int8]
    """int8[26], the view of the player on roll."""
    chances: NDArray[np.float64]
    """float64[5], cumulative."""


class BmFile(NamedTuple):
    """What a .bm file holds."""

    decisions: list[BmDecision]
    outcomes: list[BmOutcome]
    """Of o lines and of #R lines."""
    comments: list[str]
    """Comments, s and r lines: how it was made."""


def parse_bm(lines: Iterable[str]) -> BmFile:
    """Read the lines of a .bm file. Raises BmLineError for the first bad one."""
    decisions: list[BmDecision] = []
    outcomes: list[BmOutcome] = []
    comments: list[str] = []
    for number, line in enumerate(lines, start=1):
        words = line.split()
        try:
            if not words:
                continue
            if words[0] == "m":
                decisions.append(_decision(number, words[1:]))
            elif words[0] in ("o", "#R"):
                outcomes.append(_outcome(number, words[1:]))
            elif words[0].startswith("#") or words[0] in ("s", "r"):
                comments.append(line.strip())
            else:
                raise BmLineError(f"a line begins with m, o, s, r or #, not {words[0]!r}")
        except ValueError as error:
            raise BmLineError(f"line {number}: {error}") from error
    return BmFile(decisions, outcomes, comments)


def board_of_key(key: str) -> NDArray[np.int8]:
    """20 letters A to P -> int8[26], the view of the player on roll. Raises NotationError."""
    if len(key) != _KEY_LETTERS or not all("A" <= letter <= "P" for letter in key):
        raise NotationError(f"a key is {_KEY_LETTERS} letters from A to P, not {key!r}")
    halves = [ord(letter) - ord("A") for letter in key]
    octets = bytes(16 * high + low for high, low in zip(halves[::2], halves[1::2], strict=True))
    return np.array(decode_position(base64.b64encode(octets).decode().rstrip("=")), dtype=np.int8)


def _decision(number: int, words: list[str]) -> BmDecision:
    if len(words) < 4 or len(words) % 2:
        raise BmLineError("a decision is m, a key, two dice, the best result's key, and pairs of a key and a loss")
    dice = np.array([_die(word) for word in words[1:3]], dtype=np.int8)
    keys, losses = [words[3], *words[4::2]], [0.0, *(_number(word) for word in words[5::2])]
    if min(losses) < 0:
        raise BmLineError(f"a loss cannot be below 0: {min(losses)}")
    boards = [board_of_key(key) for key in keys]
    return BmDecision(number, _going_on(words[0]), dice, np.array(boards), np.array(losses, dtype=np.float64))


def _outcome(number: int, words: list[str]) -> BmOutcome:
    if len(words) != 6:
        raise BmLineError(f"a rolled-out position is a key and five chances, not {len(words)} words")
    chances = np.array([_number(word) for word in words[1:]], dtype=np.float64)
    if (chances < -0.001).any() or (chances > 1.001).any():
        raise BmLineError(f"chances lie between 0 and 1: {chances.tolist()}")
    return BmOutcome(number, _going_on(words[0]), chances)


def _going_on(key: str) -> NDArray[np.int8]:
    """The board of a key whose game is not over."""
    board = board_of_key(key)
    if not (board > 0).any() or not (board < 0).any():
        raise BmLineError(f"the game is over at {key}")
    return board


def _die(word: str) -> int:
    if word not in ("1", "2", "3", "4", "5", "6"):
        raise BmLineError(f"a die is a number from 1 to 6, not {word!r}")
    return int(word)


def _number(word: str) -> float:
    value = float(word)
    if not math.isfinite(value):
        raise BmLineError(f"a finite number is needed, not {word!r}")
    return value
