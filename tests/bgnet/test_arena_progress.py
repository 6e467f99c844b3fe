"""What progress displays take in: every pair once, as soon as all contests have played it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from bgnet.arena_games import SCHEMA
from bgnet.arena_progress import Running, ladder
from bgnet.arena_runs import Sheet
from bgnet.round_robin import ladder_weights
from bgnet.sequential import Moments
from bgnet.statistics import estimate

RNG = np.random.default_rng(2)


def append(sheet: Sheet, count: int) -> None:
    draws = {"points": RNG.normal(size=count), "luck": RNG.normal(size=count)}
    sheet.append({**draws, "endings": np.zeros((count, 2), np.int8), "plies": np.full(count, 99)})


def test_every_pair_is_taken_in_once() -> None:
    asked: list[tuple[int, int]] = []

    def values(sheets: Sequence[Sheet], first: int, stop: int) -> NDArray[np.float64]:
        asked.append((first, stop))
        return np.array([sheet.points[first:stop] for sheet in sheets])

    def fields(seen: Moments) -> dict[str, object]:
        return {"means": seen.means.tolist(), "count": seen.count}

    running, sheets = Running(values, fields), [Sheet(SCHEMA, 100), Sheet(SCHEMA, 100)]
    assert running(sheets) == {}, "nothing is played yet"
    append(sheets[0], 30)
    assert running(sheets) == {}, "the other contest's games are not there"
    append(sheets[1], 30)
    running(sheets)
    append(sheets[0], 20), append(sheets[1], 20)
    shown = running(sheets)
    assert asked == [(0, 30), (30, 50)]
    assert shown == {"means": pytest.approx([sheet.points.mean() for sheet in sheets]), "count": 50}
    for sheet in sheets:  # by a rule
        sheet.cut(40)
    assert running(sheets) == shown and len(asked) == 2


def test_the_ladders_widest_interval() -> None:
    sheets, weights = [Sheet(SCHEMA, 40) for _ in range(3)], ladder_weights(3, 0)
    running = ladder(weights)
    for count in (1, 15, 24):
        for sheet in sheets:
            append(sheet, count)
        shown = running(sheets)
        assert (shown == {}) == (count == 1), "one pair has no spread"
    ratings = weights @ np.array([sheet.adjusted() for sheet in sheets])
    assert shown == {"ladder": f"+-{max(estimate(row).half_width for row in ratings):.4f}"}
