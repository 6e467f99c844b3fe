"""The running estimates that a progress display of a run of dice pairs shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bgnet.arena_runs import Sheet
from bgnet.arena_settings import Settings
from bgnet.sequential import Moments, Sprt

__all__ = ["Running", "ladder", "two_bots"]


class Running:
    """Called with the sheets: the display's fields. Every pair is taken in once, when all contests have played it.

    values: (the sheets, first pair, stop) -> float64[K, N], the quantities of these pairs. fields: what their moments
    look like. Whole chunks count, else short games would come first.
    """

    def __init__(
        self,
        values: Callable[[Sequence[Sheet], int, int], NDArray[np.float64]],
        fields: Callable[[Moments], dict[str, object]],
    ) -> None:
        self._values, self._fields = values, fields
        self._seen: Moments | None = None

    def __call__(self, sheets: Sequence[Sheet]) -> dict[str, object]:
        done = 0 if self._seen is None else self._seen.count
        complete = min(sheet.done for sheet in sheets)
        if complete > done:  # a rule may have cut the sheets
            fresh = Moments.of(self._values(sheets, done, complete))
            self._seen = fresh if self._seen is None else self._seen + fresh
        return {} if self._seen is None else self._fields(self._seen)


def two_bots(settings: Settings, *, matches: bool = False) -> Running:
    """The first bot's mean result, its luck-adjusted one with its 95 % interval, and how far an SPRT is.

    matches: results are shares of matches won, else points per game.
    """
    rule = settings.stop

    def values(sheets: Sequence[Sheet], first: int, stop: int) -> NDArray[np.float64]:
        adjusted = sheets[0].adjusted(first, stop)
        return np.array([sheets[0].points[first:stop], adjusted, adjusted - settings.even])

    def fields(seen: Moments) -> dict[str, object]:
        plain, adjusted, _ = seen.means
        half = seen.half_widths()[1]
        shown: dict[str, object] = {"won": f"{plain:.1%}"} if matches else {"points_per_game": f"{plain:+.3f}"}
        if settings.reference is not None:
            shown["luck_adjusted"] = f"{adjusted:.2%} +-{half:.2%}" if matches else f"{adjusted:+.4f} +-{half:.4f}"
        if isinstance(rule, Sprt):
            llr = rule.llr(Moments(seen.count, seen.sums[2:], seen.squares[2:]))
            shown["LLR"] = f"{llr:+.2f} ({rule.lower:+.2f}, {rule.upper:+.2f})"
        return shown

    return Running(values, fields)


def ladder(weights: NDArray[np.float64]) -> Running:
    """How wide the widest interval of the ladder is; weights: see bgnet.round_robin.ladder_weights."""

    def values(sheets: Sequence[Sheet], first: int, stop: int) -> NDArray[np.float64]:
        ratings: NDArray[np.float64] = weights @ np.array([sheet.adjusted(first, stop) for sheet in sheets])
        return ratings

    def fields(seen: Moments) -> dict[str, object]:
        return {"ladder": f"+-{seen.half_widths().max():.4f}"} if seen.count > 1 else {}

    return Running(values, fields)
