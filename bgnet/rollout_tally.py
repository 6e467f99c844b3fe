"""The trials of a rollout done so far, and whether they are enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bgnet.lockstep import RolloutError, Trials
from bgnet.strata import BLOCK, rolls, std_error
from engine.dice import roll_numbers

__all__ = ["Enough", "Tally"]


class Tally:
    """The trials done so far: a growing prefix of all trials.

    positions: how many there are. most: trials of each at most. sign: -1 when the rows are in the view of the opponent
    of the one whose points count.
    """

    def __init__(self, positions: int, most: int, payoff: Sequence[float], seed: int, sign: int) -> None:
        self.done = 0
        self._results = np.empty((positions, most, 6), dtype=np.float32)
        self._luck = np.empty((positions, most, 6), dtype=np.float64)
        self._points = np.empty((positions, most), dtype=np.float64)
        self._stratum = np.empty(most, dtype=np.int64)
        self._payoff, self._seed, self._sign = payoff, seed, sign

    def append(self, rows: Trials) -> None:
        """The next trials."""
        new = slice(self.done, self.done + rows.results.shape[1])
        self._results[:, new], self._luck[:, new] = rows
        self._points[:, new] = self._sign * rows.points(self._payoff)
        first_rolls = rolls(self._seed, np.arange(new.start, new.stop, dtype=np.int64), 1)
        self._stratum[new] = roll_numbers(first_rolls)
        self.done = new.stop

    def cut(self, count: int) -> None:
        """Forget all but the first `count` trials."""
        self.done = count

    def rows(self) -> Trials:
        """All trials done."""
        return Trials(self._results[:, : self.done].copy(), self._luck[:, : self.done].copy())

    def means(self, count: int) -> NDArray[np.float64]:
        """float64[C]: points of each position after so many trials."""
        means: NDArray[np.float64] = self._points[:, :count].mean(axis=1)
        return means

    def error(self, count: int, position: int, other: int | None = None) -> float:
        """Standard error of a position's points after so many trials, or of its difference to another's."""
        points = self._points[position, :count]
        if other is not None:
            points = points - self._points[other, :count]
        return std_error(points, self._stratum[:count])


@dataclass(frozen=True)
class Enough:
    """When to stop early. It is asked after every block of 36 trials, whatever the chunks are."""

    std_error: float | None
    """Once no position's standard error is above this."""
    clear: float | None
    """Once the best position leads every other one by so many joint standard errors."""
    least: int
    """Never before so many trials."""

    def __post_init__(self) -> None:
        for name, value in (("stop_se", self.std_error), ("stop_clear", self.clear)):
            if value is not None and not value > 0:
                raise RolloutError(f"{name} must be above 0, not {value!r}")

    def first(self, tally: Tally, after: int) -> tuple[int, str] | None:
        """The first number of trials above `after` and up to those done that is enough, and why."""
        if self.std_error is None and self.clear is None:
            return None
        for count in range((after // BLOCK + 1) * BLOCK, tally.done + 1, BLOCK):
            reason = self._reason(tally, count) if count >= self.least else None
            if reason is not None:
                return count, reason
        return None

    def _reason(self, tally: Tally, count: int) -> str | None:
        means = tally.means(count)
        positions = range(len(means))
        if self.std_error is not None and all(tally.error(count, i) <= self.std_error for i in positions):
            return "std_error"
        if self.clear is None or len(means) < 2:
            return None
        best = int(np.argmax(means))
        others = [i for i in positions if i != best]
        if all(means[best] - means[i] >= self.clear * tally.error(count, best, i) for i in others):
            return "clear"
        return None
