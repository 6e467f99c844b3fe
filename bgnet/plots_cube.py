"""Pictures of the cube: the doubling window, and the proper action at every score of a match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgnet.cube_actions import CubeAction
from bgnet.plots_style import GREY, VERMILION, PathLike, check_path, new_figure, saved

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bgnet.cube import CubeDecision
    from bgnet.cubeful_analysis import CubeMatrix, MatrixCell

__all__ = ["cube_matrix", "cube_window"]

_NO_DOUBLE, _TAKE, _PASS, _TOO_GOOD, _NOTHING = "#F4EFE6", "#B9D3E6", "#F3C7A5", "#E7CBDD", "#E6E6E6"
_WIDE = 9  # points: longer matches have short words in their cells


def cube_window(decision: CubeDecision, path: PathLike | None = None) -> Figure:
    """The doubling window on the axis of the chance to win of the player on roll (X), and where the position stands.

    Marked are the points from which on something becomes right: X's own take, his double, O's pass, playing on for the
    gammon. As everywhere, the shares of gammons are held fixed.
    """
    check_path(path)
    figure = new_figure(9, 2.9)
    axes = figure.subplots()
    for low, high, words, colour in _zones(decision):
        axes.axvspan(100 * low, 100 * high, ymin=0.38, ymax=0.6, color=colour, lw=0)
        if high - low > 0.075:
            axes.text(50 * (low + high), 0.49, words, ha="center", va="center", fontsize=8)
    re = "re" if decision.cube_owner > 0 else ""
    win = 100 * float(decision.outcomes[:3].sum())
    axes.plot([win, win], [0.62, 0.9], color=VERMILION, lw=1.5, linestyle="--")
    axes.plot([win], [0.6], marker="D", color=VERMILION, mec="white", ms=8, zorder=5, clip_on=False)
    side = "left" if win < 12 else "right" if win > 88 else "center"
    axes.text(win, 0.92, f"now {win:.1f}", ha=side, va="bottom", fontsize=10, color=VERMILION, weight="bold")
    _marks(axes, [(f"X {re}doubles", decision.double_point), ("X too good", decision.too_good_point)], up=True)
    answers = [("X takes O's double", decision.take_point), ("O passes", decision.cash_point)]
    _marks(axes, [*answers, ("O beavers below", decision.beaver_point)], up=False)
    axes.set(xlim=(0, 100), ylim=(0, 1), yticks=[], xlabel="chance to win of the player on roll (X), per cent")
    axes.set_title(f"{decision.label}\n{_values(decision, re)}", fontsize=11)
    axes.spines[["top", "right", "left"]].set_visible(False)
    return saved(figure, path)


def _values(decision: CubeDecision, re: str) -> str:
    """The three equities in their fixed order; re: "re" of a redouble."""
    values = [(f"no {re}double", decision.no_double), (f"{re}double/take", decision.double_take)]
    values.append((f"{re}double/pass", decision.double_pass))
    shown = ",  ".join(f"{name} {value:+.3f}" for name, value in values if value is not None)
    return f"equity: {shown}"


def _zones(decision: CubeDecision) -> list[tuple[float, float, str, str]]:
    """(from, to, what is right there, colour) from 0 to 1; a single one where there is nothing to double."""
    double, cash, too_good = decision.double_point, decision.cash_point, decision.too_good_point
    if not decision.available or (double is None and cash is None):
        return [(0.0, 1.0, "no double", _NOTHING)]
    passes = 1.0 if cash is None else cash
    doubles = passes if double is None else min(double, passes)
    plays_on = 1.0 if too_good is None else max(too_good, passes)
    zones = [
        (0.0, doubles, "no double,\ntake", _NO_DOUBLE),
        (doubles, passes, "double,\ntake", _TAKE),
        (passes, plays_on, "double,\npass", _PASS),
        (plays_on, 1.0, "too\ngood", _TOO_GOOD),
    ]
    return [zone for zone in zones if zone[1] > zone[0]]


def _marks(axes: Axes, points: list[tuple[str, float | None]], *, up: bool) -> None:
    """Lines across the band with names above or below it, a step further out where two would overlap."""
    last, level = -100.0, 0
    for name, at in sorted(((name, 100 * at) for name, at in points if at is not None), key=lambda mark: mark[1]):
        level = (level + 1) % 2 if at - last < 16 else 0
        last = at
        end = 0.62 + 0.15 * level if up else 0.33 - 0.15 * level
        axes.plot([at, at], [0.38, end] if up else [end, 0.6], color="black", lw=1)
        side = "left" if at < 6 else "right" if at > 94 else "center"
        axes.text(
            at, end, f"{name}\n{at:.1f}", ha=side, va="bottom" if up else "top", fontsize=9, linespacing=1.1,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )  # fmt: skip


def cube_matrix(matrix: CubeMatrix, path: PathLike | None = None) -> Figure:
    """The proper action at every score of a match: rows for what the player on roll (X) needs, columns for O."""
    check_path(path)
    places = {(_place(cell.away, cell), _place(cell.opponent_away, cell)): cell for cell in matrix.cells}
    rows, columns = (
        sorted({pair[side] for pair in places}, key=lambda place: (place[0], not place[1])) for side in (0, 1)
    )
    short = matrix.length > _WIDE
    wide, high = (0.5, 0.36) if short else (0.85, 0.5)
    figure = new_figure(max(1.6 + wide * len(columns), 6), 2.1 + high * len(rows))
    from matplotlib.patches import Rectangle  # after new_figure has looked for matplotlib

    axes = figure.subplots()
    for (row, column), cell in places.items():
        text, colour = _cell(cell.decision.action, short)
        x, y = columns.index(column), rows.index(row)
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white"))
        axes.text(x, y, text, ha="center", va="center", fontsize=8)
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5), ylabel="points X needs (X is on roll)")
    words = "- no cube in play or nothing to gain by it;  1C: needs 1, Crawford game;  1: after it"
    if short:
        words = f"D double, no: do not, tg: too good, o: optional;  t take, p pass;\n{words}"
    axes.set_xlabel(f"points O needs\n{words}", fontsize=9)
    own, opponent = matrix.state.pips
    cube = {0: "centred", 1: "owned by X", -1: "owned by O"}[matrix.state.cube_owner]
    axes.set_title(
        f"{matrix.length}-point match, cube {matrix.state.cube} {cube}, pips X {own}, O {opponent}\n{matrix.bot}, "
        f"{matrix.ply}-ply, {matrix.table}",
        fontsize=10,
    )
    axes.set_xticks(range(len(columns)), [_header(place) for place in columns])
    axes.set_yticks(range(len(rows)), [_header(place) for place in rows])
    axes.tick_params(length=0, colors=GREY)
    axes.spines[:].set_visible(False)
    return saved(figure, path)


def _place(away: int, cell: MatrixCell) -> tuple[int, bool]:
    """A row or column: points needed, and whether it is the one of the Crawford game."""
    return away, cell.crawford and away == 1


def _header(place: tuple[int, bool]) -> str:
    return f"{place[0]}{'C' * place[1]}"


def _cell(action: CubeAction, short: bool) -> tuple[str, str]:
    """What a cell says, and its colour."""
    if action in (CubeAction.DEAD_CUBE, CubeAction.NOT_AVAILABLE):
        return "-", _NOTHING
    verb, _, answer = action.value.rpartition("_")
    if verb.startswith("too_good"):
        return (f"tg/{answer[0]}" if short else f"too good\n{answer}"), _TOO_GOOD
    if verb.startswith("no_"):
        return ("no" if short else f"{verb.replace('_', ' ')}\n{answer}"), _NO_DOUBLE
    colour = _PASS if answer == "pass" else _TAKE
    if verb.startswith("optional"):
        return (f"o/{answer[0]}" if short else f"optional\n{answer}"), colour
    return (f"D/{answer[0]}" if short else f"{verb}\n{answer}"), colour
