"""The board as plain text: the player on roll is X, at the bottom, home on the right; the numbers are his."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from engine.position import Position

__all__ = ["text"]

_ROWS = 5  # rows of checkers in each half; the last one, at the tip, holds the count of a higher stack


class _Style(NamedTuple):
    """Characters of a drawing; those of the frame from left to right."""

    own: str
    opponent: str
    line: str
    side: str
    top: tuple[str, str, str, str]  # left corner, left and right end of the bar, right corner
    bottom: tuple[str, str, str, str]


_ASCII = _Style("X", "O", "-", "|", ("+", "-", "-", "+"), ("+", "-", "-", "+"))
_UNICODE = _Style("●", "○", "─", "│", ("┌", "┬", "┬", "┐"), ("└", "┴", "┴", "┘"))

# Point numbers of each half from left to right, outer board and home board.
_TOP = (range(13, 19), range(19, 25))
_BOTTOM = (range(12, 6, -1), range(6, 0, -1))


def text(position: Position, unicode: bool = False, *, middle: str = "", last: str = "", checkers: int = 15) -> str:
    """The board as 13 lines of text, without a line break at the end.

    A stack over five shows its count at the tip. Checkers on the bar stand in the BAR column, each side's in
    its own half, from the middle outwards. Beside the frame: pips and borne-off checkers of both sides.

    position: any counts, also flawed ones.
    unicode: draw with lines and circles, filled for the player on roll; else with ASCII characters only.
    middle, last: text to put beside the middle row (the cube, say) and the lowest row of checkers (the roll).
    checkers: how many each side started with, for the number of those borne off.
    """
    style = _UNICODE if unicode else _ASCII
    board = position.board.tolist()
    own_label, opponent_label = ("● X", "○ O") if unicode else ("X", "O")
    own_pips, opponent_pips = position.pips
    own_off = checkers - sum(count for count in board if count > 0)
    opponent_off = checkers + sum(count for count in board if count < 0)

    lines = [_border(style, style.top, _TOP) + _tally(opponent_label, opponent_pips, opponent_off)]
    for height in range(1, _ROWS + 1):
        # The bar's stack grows from the middle row, so its height counts the other way round.
        bar = _cell(board[0], _ROWS + 1 - height, style)
        lines.append(_row(board, _TOP, height, bar, style))
    lines.append(_row(board, _TOP, 0, "BAR", style) + _beside(middle))
    for height in range(_ROWS, 0, -1):
        bar = _cell(board[25], _ROWS + 1 - height, style)
        lines.append(_row(board, _BOTTOM, height, bar, style))
    lines[-1] += _beside(last)
    lines.append(_border(style, style.bottom, _BOTTOM) + _tally(own_label, own_pips, own_off))
    return "\n".join(lines)


def _border(style: _Style, corners: tuple[str, str, str, str], half: tuple[range, range]) -> str:
    left, bar_left, bar_right, right = corners
    outer, home = ("".join(f"{point:{style.line}>2}{style.line}" for point in points) for points in half)
    return f" {left}{outer}{bar_left}{3 * style.line}{bar_right}{home}{right}"


def _row(board: list[int], half: tuple[range, range], height: int, bar: str, style: _Style) -> str:
    outer, home = ("".join(_cell(board[point], height, style) for point in points) for points in half)
    return f" {style.side}{outer}{style.side}{bar}{style.side}{home}{style.side}"


def _cell(count: int, height: int, style: _Style) -> str:
    """Three characters: what stands at this height (1 lowest, 0 nowhere) in a stack of so many checkers."""
    stack = abs(count)
    if height == 0 or height > stack:
        return "   "
    if height == _ROWS and stack > _ROWS:
        return f"{stack:>2} " if stack < 100 else str(stack)
    return f" {style.own if count > 0 else style.opponent} "


def _tally(label: str, pips: int, off: int) -> str:
    return _beside(f"{label}  pips {pips}" + (f"  off {off}" if off > 0 else ""))


def _beside(note: str) -> str:
    return f"  {note}" if note else ""
