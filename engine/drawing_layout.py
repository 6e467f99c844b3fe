"""Where everything stands on a drawn board, in units of the drawing: 612 wide, a point 40, a checker 36."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BOARD_HEIGHT", "PITCH", "POINT_HEIGHT", "RADIUS", "STACK", "STRIP", "TRAY", "WIDTH", "Layout", "number"]

PITCH = 40
"""From point to point."""
RADIUS = 18
"""Of a checker."""
STACK = 5
"""Most checkers drawn on a point; a higher stack shows its count on the last one."""
TRAY = 44
"""Width of the bar, and of the trays for the cube and for borne-off checkers."""
STRIP = 18
"""Height of the strips with the point numbers."""
POINT_HEIGHT = 172
WIDTH = 12 * PITCH + 3 * TRAY
FIELD_HEIGHT = 424
BOARD_HEIGHT = FIELD_HEIGHT + 2 * STRIP

_BAR_STACK = 4
_BAR_GAP = 14  # between the middle and the first checker on the bar
_SLAB, _SLAB_PITCH = 9, 11  # borne-off checkers, seen from the side


@dataclass(frozen=True)
class Layout:
    """A board with its upper edge at y = top. Places are those of the player on roll, as in Position.board."""

    top: float
    flip: bool = False
    """Put the player on roll at the top; both home boards stay on the right."""

    @property
    def middle(self) -> float:
        """The y between the two halves."""
        return self.top + BOARD_HEIGHT / 2

    @property
    def bar(self) -> float:
        """The x of the bar's middle."""
        return WIDTH / 2

    def lower(self, place: int) -> bool:
        """Whether a place is in the lower half: the own side, unless the drawing is flipped."""
        return (1 <= place <= 12 or place == 25) != self.flip

    def column(self, point: int) -> float:
        """The x of the middle of a point, 1..24."""
        nth = point - 13 if point > 12 else 12 - point  # from the left
        return TRAY + PITCH * (nth + 0.5) + (TRAY if nth > 5 else 0)

    def most(self, place: int) -> int:
        """How many checkers of a place are drawn at most."""
        return _BAR_STACK if place in (0, 25) else STACK

    def checker(self, place: int, height: int) -> tuple[float, float]:
        """The centre of the checker at a height, 1 the lowest; the bar (25 own, 0 opponent's) fills from the middle."""
        height = min(height, self.most(place))
        down = 1 if self.lower(place) else -1
        if place in (0, 25):
            return self.bar, self.middle + down * (_BAR_GAP + RADIUS * (2 * height - 1))
        return self.column(place), self.middle + down * (FIELD_HEIGHT / 2 - RADIUS * (2 * height - 1))

    def slab(self, own: bool, nth: int) -> tuple[float, float, float, float]:
        """x, y, width and height of the nth (from 1) checker that a side has borne off."""
        down = 1 if own != self.flip else -1
        centre = self.middle + down * (FIELD_HEIGHT / 2 - 3 - _SLAB_PITCH * (nth - 0.5))
        return WIDTH - TRAY + 6, centre - _SLAB / 2, TRAY - 12, _SLAB

    def strip(self, lower: bool) -> float:
        """The y of the middle of a strip with point numbers."""
        return self.middle + (1 if lower else -1) * (FIELD_HEIGHT + STRIP) / 2


def number(value: float) -> str:
    """A coordinate as short as can be, with one decimal at most: the same text on every machine."""
    return f"{value + 0.0:.1f}".removesuffix(".0")
