"""The pool of positions with targets that exact training draws from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pool"]


class Pool:
    """The last `capacity` positions with their targets; the oldest make room."""

    def __init__(self, capacity: int) -> None:
        self.boards = np.zeros((capacity, 26), dtype=np.int8)
        self.targets = np.zeros((capacity, 6), dtype=np.float32)
        self.size = 0
        self._next = 0

    def add(self, boards: NDArray[np.int8], targets: NDArray[np.float32]) -> None:
        """Take in boards int8[N, 26] and targets float32[N, 6]; of more than the capacity only the last."""
        capacity = len(self.boards)
        boards, targets = boards[-capacity:], targets[-capacity:]
        rows = (self._next + np.arange(len(boards))) % capacity
        self.boards[rows], self.targets[rows] = boards, targets
        self._next = int((self._next + len(boards)) % capacity)
        self.size = min(self.size + len(boards), capacity)

    def state(self) -> dict[str, NDArray[np.generic]]:
        """What a checkpoint needs, as arrays."""
        place = np.array([self.size, self._next], dtype=np.int64)
        return {
            "pool.boards": self.boards[: self.size].copy(),
            "pool.targets": self.targets[: self.size].copy(),
            "pool.place": place,
        }

    def restore(self, state: dict[str, NDArray[np.generic]]) -> None:
        """Go on from `state()`."""
        self.size, self._next = (int(n) for n in state["pool.place"])
        self.boards[: self.size] = state["pool.boards"]
        self.targets[: self.size] = state["pool.targets"]
