"""A table of positions that were judged before, in bounded memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.jit import kernel

__all__ = ["Transpositions"]

_BYTES_PER_ENTRY = 26 + 24 + 1


class Transpositions:
    """Outcomes by board; a new entry takes the place of the one it meets. Not thread-safe: callers take turns."""

    def __init__(self, megabytes: float) -> None:
        size = 1
        while 2 * size * _BYTES_PER_ENTRY <= megabytes * 1e6:
            size *= 2
        self._boards = np.zeros((size, 26), dtype=np.int8)
        self._outcomes = np.zeros((size, 6), dtype=np.float32)
        self._used = np.zeros(size, dtype=np.bool_)

    def look_up(self, boards: NDArray[np.int8]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """boards int8[N, 26] -> outcomes float32[N, 6], and the indices of those that are not known."""
        outcomes = np.empty((len(boards), 6), dtype=np.float32)
        known = np.empty(len(boards), dtype=np.bool_)
        _look_up(self._boards, self._outcomes, self._used, boards, outcomes, known)
        return outcomes, np.flatnonzero(~known)

    def store(self, boards: NDArray[np.int8], outcomes: NDArray[np.float32]) -> None:
        """Remember outcomes float32[N, 6] of boards int8[N, 26]."""
        _store(self._boards, self._outcomes, self._used, boards, outcomes)

    @property
    def size(self) -> int:
        """How many positions there is room for."""
        return len(self._used)


@kernel
def _slot(board, size):
    """board int8[26], size a power of two -> where in the table it belongs (FNV-1a over the points, 32 bits)."""
    mixed = 0x811C9DC5
    for p in range(26):
        mixed = ((mixed ^ (int(board[p]) & 0xFF)) * 0x01000193) & 0xFFFFFFFF
    mixed ^= mixed >> 15
    return mixed & (size - 1)


@kernel
def _look_up(table, table_outcomes, used, boards, outcomes, known):
    """boards int8[N, 26] -> outcomes float32[N, 6] of those that are in the table, and known bool[N]."""
    for i in range(boards.shape[0]):
        slot = _slot(boards[i], used.shape[0])
        known[i] = used[slot]
        for p in range(26):
            if table[slot, p] != boards[i, p]:
                known[i] = False
        outcomes[i] = table_outcomes[slot]


@kernel
def _store(table, table_outcomes, used, boards, outcomes):
    """boards int8[N, 26], outcomes float32[N, 6] -> the table, changed in place."""
    for i in range(boards.shape[0]):
        slot = _slot(boards[i], used.shape[0])
        table[slot] = boards[i]
        table_outcomes[slot] = outcomes[i]
        used[slot] = True
