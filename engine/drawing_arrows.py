"""The arrows of a play: one for each way a checker goes, with a corner where it hits on its way."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.drawing_layout import Layout
from engine.plays import Play
from engine.reading import read_parts
from engine.steps import OFF

__all__ = ["Arrow", "arrows"]


@dataclass(frozen=True)
class Arrow:
    """The way of one checker, or of several that go the same way."""

    places: tuple[int, ...]
    """The mover's own numbers; 25 = bar, 0 = borne off."""
    count: int
    line: tuple[tuple[float, float], ...]
    """Two or more corners; the last one is the tip."""
    hits: tuple[tuple[float, float], ...]
    """The centres of the blots that are hit."""

    def label(self, share: float) -> tuple[float, float]:
        """Where to write the count: on the last stretch, when so much of it is gone."""
        (x0, y0), (x1, y1) = self.line[-2:]
        return x0 + share * (x1 - x0), y0 + share * (y1 - y0)

    def beside(self, distance: float) -> Arrow:
        """The same arrow moved sideways, so that another one on its way is not hidden."""
        (x0, y0), (x1, y1) = self.line[-2:]
        run = math.hypot(x1 - x0, y1 - y0)
        right, down = distance * (y1 - y0) / run, distance * (x0 - x1) / run
        return replace(self, line=tuple((x + right, y + down) for x, y in self.line))

    def head(self, length: float, width: float) -> tuple[tuple[float, float], ...]:
        """The three corners of the arrow's head, the tip first."""
        (x0, y0), (x1, y1) = self.line[-2:]
        run = math.hypot(x1 - x0, y1 - y0)
        ux, uy = (x1 - x0) / run, (y1 - y0) / run
        base_x, base_y = x1 - length * ux, y1 - length * uy
        return (
            (x1, y1),
            (base_x - width / 2 * uy, base_y + width / 2 * ux),
            (base_x + width / 2 * uy, base_y - width / 2 * ux),
        )


def arrows(board: list[int], play: Play, layout: Layout, checkers: int) -> Iterator[Arrow]:
    """The arrows of a play on a board (26 counts, the mover's view) for a game with so many checkers a side."""
    ways = Counter((part.path, part.hits) for part in read_parts(play.notation))
    left = Counter[int]()  # how many checkers have gone from a place
    come = Counter[int]()
    off = checkers - sum(count for count in board if count > 0)
    for (path, hit), count in ways.items():
        start, end = path[0], path[-1]
        drawn = min(max(board[start], 1), layout.most(start))
        first = layout.checker(start, max(drawn - left[start], 1))
        if end == OFF:
            x, y, width, height = layout.slab(True, off + come[end] + 1)
            last = (x + width / 2, y + height / 2)
        else:
            last = layout.checker(end, max(board[end], 0) + come[end] + 1)
        left[start] += count
        come[end] += count
        corners = [layout.checker(place, 1) for place in path[1:-1]]
        hits = tuple(layout.checker(place, 1) for place in path if place in hit)
        yield Arrow(path, count, (first, *corners, last), hits)
