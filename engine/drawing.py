"""The board as a picture (SVG): the player on roll is X, at the bottom, home on the right; the numbers are his.

Only text is made, and nothing is imported for it. A drawing paints its own background and trusts nothing of the page
that it lands on; every colour stands in attributes too, for viewers without style sheets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from xml.sax.saxutils import escape

from engine.diagram import text as text_board
from engine.drawing_arrows import Arrow, arrows
from engine.drawing_layout import (
    BOARD_HEIGHT,
    PITCH,
    POINT_HEIGHT,
    RADIUS,
    STRIP,
    TRAY,
    WIDTH,
    Layout,
    number,
)
from engine.drawing_palettes import PRINT, THEMES, dark_rules, paint
from engine.errors import EngineError, IllegalPlayError, StateError
from engine.plays import Play, parse_play
from engine.position import Position
from engine.state import GameState
from engine.steps import legal_move, moved, read_dice
from engine.summary import action, drawing, stakes

__all__ = ["Drawing", "DrawingError", "draw"]

_ROW = 26  # height of the lines of words above and below the board
_FONT = "system-ui,-apple-system,'Segoe UI','DejaVu Sans',Arial,sans-serif"
_DIE = 34
_CUBE = 34
_HATCHES = range(8, POINT_HEIGHT, 7)  # heights of the lines on a hatched point
_PIPS = {  # of a die: columns and rows, counted from its centre
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (0, 0), (1, -1), (1, 1)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}


class DrawingError(EngineError):
    """An option of a drawing that makes no sense, or a file that a drawing cannot be."""


@dataclass(frozen=True)
class Drawing:
    """A finished picture; notebooks show it by themselves."""

    svg: str
    """A whole SVG document."""

    def save(self, path: str | Path) -> Path:
        """Write it to a file whose name ends in .svg; DrawingError for another ending, OSError as usual."""
        path = Path(path)
        if path.suffix.lower() != ".svg":
            raise DrawingError(f"{path}: boards are drawn as SVG; give a name that ends in .svg")
        path.write_text(self.svg, encoding="utf-8")
        return path

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing, {len(self.svg):,} characters of SVG>"


def draw(
    position: Position | GameState,
    play: Play | str | None = None,
    *,
    compare: Play | str | None = None,
    dice: object = None,
    size: int = 480,
    theme: str = "auto",
    numbers: bool = True,
    pips: bool = True,
    caption: bool = True,
    flip: bool = False,
    light: int | None = 1,
    checkers: int | None = None,
) -> Drawing:
    """Draw a position, or a state with its cube, dice and score.

    play, compare: plays to show as arrows, solid and dashed; from `legal_plays`, or as text where dice are known.
    dice: the roll, instead of the state's. size: the width in pixels. theme: auto, light, dark, print.
    numbers: of the points. pips: both counts. caption: the lines above and below the board. flip: the player on roll
    at the top. light: the seat whose checkers are light, so that a player keeps his colour through a game; None = the
    player on roll; a bare Position is taken to be player 1's. checkers: how many each side started with; None = as many
    as the state's variant has, else 15.

    Raises DrawingError, DiceError, and what `parse_play` raises for a play that is not legal here.
    """
    if not isinstance(position, (Position, GameState)):
        raise DrawingError(f"a Position or a GameState can be drawn, not {type(position).__name__}")
    if theme not in THEMES:
        raise DrawingError(f"there is no theme {theme!r}; there are {', '.join(THEMES)}")
    if not isinstance(size, int) or not 50 <= size <= 10_000:
        raise DrawingError(f"size is a width of 50 to 10000 pixels, not {size!r}")
    if light not in (0, 1, None):
        raise DrawingError(f"light is a seat, 0 or 1, or None, not {light!r}")
    state = position if isinstance(position, GameState) else None
    if state is not None and dice is not None:
        state = replace(state, dice=read_dice(dice))
    board = position.position if isinstance(position, GameState) else position
    roll = read_dice(dice) if dice is not None else state.dice if state is not None else None
    plays = [_checked(board, roll, asked) if asked is not None else None for asked in (play, compare)]
    own_light = light is None or light == (1 if state is None else state.on_roll)
    if checkers is None:
        checkers = 15 if state is None else state.checkers
    elif isinstance(checkers, bool) or not isinstance(checkers, int) or not 1 <= checkers <= 15:
        raise DrawingError(f"checkers is how many each side started with, 1 to 15, not {checkers!r}")
    picture = _Picture(board, state, roll, theme, own_light, flip, caption, checkers)
    return Drawing(picture.document(size, numbers, pips, plays))


def _checked(position: Position, roll: tuple[int, int] | None, play: Play | str) -> Play:
    """The play, once it is sure that it can be played here."""
    if isinstance(play, str):
        return parse_play(position, roll, play)
    if not isinstance(play, Play):
        raise DrawingError(f"a play is a Play or text as '8/5 6/5', not {type(play).__name__}")
    board = position.board.copy()
    for move in play.moves:
        steps = range(1, 7) if move.end == 0 else (move.start - move.end,)
        if not any(legal_move(board, move.start, step) == move for step in steps if 1 <= step <= 6):
            raise IllegalPlayError(f"{play.notation} cannot be played in this position: is it one of another board?")
        board = moved(board, move)
    return play


@dataclass(frozen=True)
class _Picture:
    """What is drawn, and the parts of the document."""

    position: Position
    state: GameState | None
    roll: tuple[int, int] | None
    theme: str
    own_light: bool
    flip: bool
    caption: bool
    checkers: int

    @property
    def layout(self) -> Layout:
        return Layout(_ROW if self.caption else 0, self.flip)

    @property
    def board(self) -> list[int]:
        counts: list[int] = self.position.board.tolist()
        return counts

    def document(self, size: int, numbers: bool, pips: bool, plays: list[Play | None]) -> str:
        board_end = self.layout.top + BOARD_HEIGHT
        rows = 1 + any(play is not None for play in plays) if self.caption else 0
        height = board_end + _ROW * rows
        scope = f"bgnet-{self.theme}"
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="{scope}" role="img" viewBox="0 0 {WIDTH} '
            f'{number(height)}" width="{size}" height="{number(size * height / WIDTH)}" font-family="{_FONT}">'
        )
        style = f"<style>{dark_rules(scope)}</style>" if self.theme == "auto" else ""
        texts = f"<title>{escape(self._name())}</title><desc>{escape(self._text())}</desc>"
        lines = [
            head + texts + style,
            *self._field(height),
            *(self._numbers() if numbers else ()),
            *self._points(),
            *self._checkers(),
            *self._borne_off(),
            *self._cube(),
        ]
        lines += self._arrows(plays)
        lines += self._dice()
        if self.caption:
            lines += self._captions(pips)
            lines += self._legend(plays, board_end + 1.5 * _ROW)
        return "\n".join([*lines, "</svg>"]) + "\n"

    def _name(self) -> str:
        """An ID that brings the position back, when there is one."""
        try:
            return self.position.position_id if self.state is None else self.state.xgid
        except StateError:
            assert self.state is not None
            return self.state.gnubg_id
        except EngineError:  # a flawed position
            return repr(self.position)

    def _text(self) -> str:
        return text_board(self.position, checkers=self.checkers) if self.state is None else drawing(self.state)

    def _paint(self, name: str) -> str:
        return paint(name, THEMES[self.theme])

    def _side(self, own: bool) -> str:
        """The class of a side's checkers."""
        return "light" if own == self.own_light else "dark"

    def _words(self, x: float, y: float, text: str, size: float, name: str = "words", anchor: str = "middle") -> str:
        """A line of text with the middle of its capitals at y."""
        return (
            f'<text {self._paint(name)} x="{number(x)}" y="{number(y + 0.36 * size)}" font-size="{number(size)}" '
            f'text-anchor="{anchor}">{escape(text)}</text>'
        )

    def _field(self, height: float) -> Iterator[str]:
        yield f'<rect {self._paint("frame")} width="{WIDTH}" height="{number(height)}"/>'
        top, size = self.layout.top + STRIP, BOARD_HEIGHT - 2 * STRIP
        for x in (TRAY, 2 * TRAY + 6 * PITCH):
            yield f'<rect {self._paint("field")} x="{x}" y="{number(top)}" width="{6 * PITCH}" height="{size}"/>'

    def _numbers(self) -> Iterator[str]:
        for point in range(1, 25):
            y = self.layout.strip(self.layout.lower(point))
            yield self._words(self.layout.column(point), y, str(point), 12)

    def _points(self) -> Iterator[str]:
        for point in range(1, 25):
            name = "pale" if point % 2 else "deep"
            x = self.layout.column(point)
            base = self.layout.top + (BOARD_HEIGHT - STRIP if self.layout.lower(point) else STRIP)
            up = -1 if self.layout.lower(point) else 1
            corners = _corners([(x - PITCH / 2, base), (x, base + up * POINT_HEIGHT), (x + PITCH / 2, base)])
            yield f'<polygon {self._paint(name)} stroke-width="0.7" data-point="{point}" points="{corners}"/>'
            if THEMES[self.theme] is PRINT and name == "deep":
                way = "".join(self._hatch(x, base + up * height, height) for height in _HATCHES)
                yield f'<path {self._paint("hatch")} stroke-width="0.7" d="{way}"/>'

    @staticmethod
    def _hatch(x: float, y: float, height: float) -> str:
        half = PITCH / 2 * (1 - height / POINT_HEIGHT)
        return f"M{number(x - half)} {number(y)}H{number(x + half)}"

    def _checkers(self) -> Iterator[str]:
        for place, count in enumerate(self.board):
            if not count:
                continue
            side = self._side(count > 0)
            yield f'<g {self._paint(side)} stroke-width="1.5" data-place="{place}" data-count="{count}">'
            stack, most = abs(count), self.layout.most(place)
            for height in range(1, min(stack, most) + 1):
                x, y = self.layout.checker(place, height)
                yield f'<circle cx="{number(x)}" cy="{number(y)}" r="{RADIUS - 0.75}"/>'
            yield "</g>"
            if stack > most:
                x, y = self.layout.checker(place, most)
                yield self._words(x, y, str(stack), 16, f"on-{side}")

    def _borne_off(self) -> Iterator[str]:
        for own in (True, False):
            off = self.checkers - sum(abs(count) for count in self.board if (count > 0) == own)
            if off <= 0:
                continue
            yield f'<g {self._paint(self._side(own))} data-off="{off}">'
            for nth in range(1, min(off, 15) + 1):
                x, y, width, height = self.layout.slab(own, nth)
                box = f'x="{number(x)}" y="{number(y)}" width="{width}" height="{height}"'
                yield f'<rect {box} rx="2"/>'
            yield "</g>"
            x, y = WIDTH - TRAY / 2, self.layout.strip(own != self.flip)  # where no arrow comes
            yield self._words(x, y, str(off), 13)

    def _cube(self) -> Iterator[str]:
        """In the middle of the left tray, at its owner's end, or between the halves while it is offered."""
        if self.state is None or self.state.max_cube == 1:
            return
        x, y = TRAY / 2, self.layout.middle
        value = self.state.cube
        if self.state.doubled:
            x, value = TRAY + 3 * PITCH, 2 * value
        elif self.state.cube_owner:
            lower = (self.state.cube_owner > 0) != self.flip
            y += (1 if lower else -1) * (BOARD_HEIGHT / 2 - STRIP - _CUBE / 2 - 4)
        yield self._square(x, y, _CUBE, "light", f' data-cube="{value}"')
        yield self._words(x, y, str(value), {1: 20, 2: 18, 3: 14, 4: 12}.get(len(str(value)), 10), "on-light")

    def _dice(self) -> Iterator[str]:
        if self.roll is None:
            return
        side, centre = self._side(True), 2 * TRAY + 9 * PITCH
        for die, x in zip(self.roll, (centre - _DIE * 0.65, centre + _DIE * 0.65), strict=True):
            yield self._square(x, self.layout.middle, _DIE, side, f' data-die="{die}"')
            yield f"<g {self._paint(f'on-{side}')}>"
            for right, down in _PIPS[die]:
                at = f'cx="{number(x + right * _DIE * 0.27)}" cy="{number(self.layout.middle + down * _DIE * 0.27)}"'
                yield f'<circle {at} r="3.2"/>'
            yield "</g>"

    def _square(self, x: float, y: float, size: float, name: str, mark: str) -> str:
        corner = f'x="{number(x - size / 2)}" y="{number(y - size / 2)}"'
        return (
            f'<rect {self._paint(name)}{mark} stroke-width="1.5" {corner} width="{size}" height="{size}" '
            f'rx="{number(size / 6)}"/>'
        )

    def _arrows(self, plays: list[Play | None]) -> Iterator[str]:
        taken: set[tuple[tuple[float, float], ...]] = set()
        for play, kind in zip(plays, ("best", "compared"), strict=True):
            if play is None:
                continue
            for arrow in arrows(self.board, play, self.layout, self.checkers):
                yield from self._arrow(arrow.beside(11) if arrow.line in taken else arrow, kind)
                taken.add(arrow.line)

    def _arrow(self, arrow: Arrow, kind: str) -> Iterator[str]:
        head = arrow.head(16, 18)
        neck = ((head[1][0] + head[2][0]) / 2, (head[1][1] + head[2][1]) / 2)
        way = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in (*arrow.line[:-1], neck))
        tip = _corners(head)
        dash = ' stroke-dasharray="9 5"' if kind == "compared" else ""
        places = " ".join(str(place) for place in arrow.places)
        yield f'<g class="arrow" data-places="{places}" data-count="{arrow.count}" stroke-linejoin="round">'
        for x, y in arrow.hits:
            ring = f'cx="{number(x)}" cy="{number(y)}" r="{RADIUS - 2}"'
            yield f'<circle {self._paint("casing")} stroke-width="6.5" {ring}/>'
            yield f'<circle {self._paint(kind)} stroke-width="3.5" {ring}/>'
        yield f'<path {self._paint("casing")} stroke-width="9" d="{way}"/>'
        yield f'<polygon {self._paint("casing")} stroke-width="4" points="{tip}"/>'
        yield f'<path {self._paint(kind)} stroke-width="5.5"{dash} d="{way}"/>'
        yield f'<polygon {self._paint(f"{kind}-head")} stroke-width="1" points="{tip}"/>'
        for x, y in arrow.hits:
            yield from self._badge(x + 14, y - 14, "*")
        if arrow.count > 1:
            share = 0.45 if kind == "best" else 0.6  # apart where two plays share a way
            yield from self._badge(*arrow.label(share), f"×{arrow.count}")
        yield "</g>"

    def _badge(self, x: float, y: float, text: str) -> Iterator[str]:
        yield f'<circle {self._paint("badge")} cx="{number(x)}" cy="{number(y)}" r="9"/>'
        low = 2.5 if text == "*" else 0  # the star stands high in its line
        yield self._words(x, y + low, text, 15 if text == "*" else 11)

    def _captions(self, pips: bool) -> Iterator[str]:
        """Who is who, on his own side of the board: what X has to do on his, what is played for on O's."""
        lower, upper = self.layout.top + BOARD_HEIGHT + _ROW / 2 - 2, _ROW / 2 + 2
        own_y, opponent_y = (upper, lower) if self.flip else (lower, upper)
        for own, y, count in zip((True, False), (own_y, opponent_y), self.position.pips, strict=True):
            name = "X" if own else "O"
            if self.state is not None and self.state.on_roll == 0:
                name += f" (player {0 if own else 1})"
            words = name + (f"\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}pips {count}" if pips else "")
            yield f'<circle {self._paint(self._side(own))} cx="{number(TRAY / 2)}" cy="{number(y)}" r="7"/>'
            yield self._words(TRAY, y, words, 14, anchor="start")
        right = WIDTH - TRAY / 2
        if self.state is not None:
            yield self._words(right, opponent_y, ", ".join(stakes(self.state)), 14, anchor="end")
            yield self._words(right, own_y, action(self.state), 14, anchor="end")
        else:
            to_do = "X on roll" if self.roll is None else f"X to play {self.roll[0]}-{self.roll[1]}"
            yield self._words(right, own_y, to_do, 14, anchor="end")

    def _legend(self, plays: list[Play | None], y: float) -> Iterator[str]:
        """Which play has which arrows."""
        for play, kind, x in zip(plays, ("best", "compared"), (TRAY / 2, WIDTH / 2), strict=True):
            if play is None:
                continue
            dash = ' stroke-dasharray="9 5"' if kind == "compared" else ""
            yield f'<path {self._paint(kind)} stroke-width="5.5"{dash} d="M{number(x)} {number(y - 4)}h37"/>'
            yield self._words(x + 46, y - 4, play.notation, 14, anchor="start")


def _corners(points: list[tuple[float, float]] | tuple[tuple[float, float], ...]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)
