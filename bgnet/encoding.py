"""Encodings: how a board becomes the input of a network.

An encoding is a sum over 28 places of a row that depends only on the place and its count:
`features(board) = sum_p table[p, 15 + count_p]`. Places 0..25 are the board's own indices, 26 and 27 the
borne-off checkers of the player on roll and of the opponent. So the first layer of any network folds,
after training, into a table of hidden sums (see bgnet.inference), whatever the encoding. Tactical features
(bgnet.tactics), which depend on several places together, may follow as further inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bgnet.tactics import TACTICS, tactics_kernel
from engine.board import count_checkers
from engine.errors import EngineError
from engine.jit import kernel

__all__ = ["COUNTS", "ENCODINGS", "OWN_OFF", "OPPONENT_OFF", "PLACES", "Encoding", "encode", "encoding", "place_counts"]

PLACES = 28
COUNTS = 31
OWN_OFF = 26
OPPONENT_OFF = 27


@dataclass(frozen=True)
class Encoding:
    """A named, versioned encoding for games with `checkers` a side."""

    name: str
    version: int
    checkers: int
    table: NDArray[np.float32] = field(repr=False)
    """float32[28, 31, F], read-only: the features of each place and count (index 15 + count)."""
    tactics: int = 0
    """T, the number of tactical features: all or none."""

    @property
    def folded_size(self) -> int:
        """F, the number of inputs that fold."""
        return int(self.table.shape[2])

    @property
    def size(self) -> int:
        """F + T, the number of inputs."""
        return self.folded_size + self.tactics

    def extends(self, other: Encoding) -> bool:
        """Whether the inputs begin with all of the other encoding's, so that its networks can grow into this one."""
        return (
            self.checkers == other.checkers
            and np.array_equal(self.table, other.table)
            and self.tactics in (other.tactics, TACTICS)
        )


def _classic(checkers: int) -> NDArray[np.float32]:
    """Tesauro's 196 inputs without the turn: per point and side four units, then bar / 2 and off / checkers.

    The units of n checkers are n >= 1, n >= 2, n >= 3 and (n - 3) / 2 beyond (Tesauro 1992, TD-Gammon).
    """
    table = np.zeros((PLACES, COUNTS, 196), dtype=np.float32)
    for count in range(1, 16):
        units = [1.0, float(count >= 2), float(count >= 3), max(count - 3, 0) / 2]
        for point in range(1, 25):
            own = 8 * (point - 1)
            table[point, 15 + count, own : own + 4] = units
            table[point, 15 - count, own + 4 : own + 8] = units
        table[25, 15 + count, 192] = count / 2
        table[0, 15 - count, 193] = count / 2
        table[OWN_OFF, 15 + count, 194] = count / checkers
        table[OPPONENT_OFF, 15 + count, 195] = count / checkers
    return table


def _one_hot(checkers: int) -> NDArray[np.float32]:
    """One input for every place and count that can occur (an empty place is all zeros)."""
    pairs = [(p, c) for p in range(1, 25) for c in range(-checkers, checkers + 1) if c]
    pairs += [(p, c) for p in (25, OWN_OFF, OPPONENT_OFF) for c in range(1, checkers + 1)]
    pairs += [(0, -c) for c in range(1, checkers + 1)]
    table = np.zeros((PLACES, COUNTS, len(pairs)), dtype=np.float32)
    for unit, (place, count) in enumerate(pairs):
        table[place, 15 + count, unit] = 1.0
    return table


ENCODINGS: dict[str, tuple[int, Callable[[int], NDArray[np.float32]], int]] = {
    "classic": (1, _classic, 0),
    "one-hot": (1, _one_hot, 0),
    "tactical": (1, _classic, TACTICS),
}
"""Name -> (version, maker of the table, tactical features). A change that old networks cannot live with raises the
version."""


def encoding(name: str, checkers: int = 15) -> Encoding:
    """The current version of an encoding by name; EngineError for an unknown one."""
    if name not in ENCODINGS:
        raise EngineError(f"unknown encoding {name!r}; there are: {', '.join(ENCODINGS)}")
    version, make, tactical = ENCODINGS[name]
    table = make(checkers)
    table.flags.writeable = False
    return Encoding(name, version, checkers, table, tactical)


@kernel
def place_counts(board, checkers, counts):
    """board int8[26], checkers a side -> counts int64[28], each place's count (borne-off ones at 26, 27)."""
    for p in range(26):
        counts[p] = board[p]
    own, opponent = count_checkers(board)
    # A board with more checkers than the game has none off; the tables end there.
    counts[OWN_OFF] = max(checkers - own, 0)
    counts[OPPONENT_OFF] = max(checkers - opponent, 0)


@kernel
def _encode(boards, table, checkers, out):
    """boards int8[N, 26], table float32[28, 31, F], checkers -> out float32[N, F or F + T]."""
    counts = np.empty(28, dtype=np.int64)
    for i in range(boards.shape[0]):
        place_counts(boards[i], checkers, counts)
        row = out[i]
        row[:] = 0
        for p in range(28):
            features = table[p, 15 + counts[p]]
            for f in range(features.shape[0]):
                row[f] += features[f]
        if row.shape[0] > table.shape[2]:
            tactics_kernel(boards[i], row[table.shape[2] :])


def encode(boards: NDArray[np.int8], encoding: Encoding) -> NDArray[np.float32]:
    """Dense inputs of trusted boards: int8[N, 26] -> float32[N, F + T]."""
    out = np.empty((len(boards), encoding.size), dtype=np.float32)
    _encode(np.ascontiguousarray(boards), encoding.table, encoding.checkers, out)
    return out
