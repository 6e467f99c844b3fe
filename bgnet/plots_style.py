"""What all pictures share: colours and line styles, frames, names beside lines, files.

Colours are those of Okabe and Ito, which colour-blind people tell apart; lines differ in style and bars in hatching as
well. matplotlib is imported only when a figure is made, and without its window systems.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BLUE", "GREY", "SUFFIXES", "VERMILION", "Name", "PathLike", "PlotError", "bar_style", "beside_bars", "check_path",
    "dressed", "error_bars", "line_style", "name_lines", "new_figure", "saved", "thousands",
]  # fmt: skip

BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#5F6B76"
COLOURS = (BLUE, "#E69F00", "#009E73", VERMILION, "#56B4E9", "#CC79A7")
STYLES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (8, 3)))
HATCHES = ("", "//", "..", "xx", "\\\\", "++")
SUFFIXES = (".png", ".svg", ".pdf")
"""How a picture's name may end."""

_LINE = 11  # points from one name to the next below it

PathLike = str | os.PathLike[str]


class PlotError(ValueError):
    """A picture that cannot be made: matplotlib is missing, the file is of another kind, there is nothing to show."""


class Name(NamedTuple):
    """What to write at the end of a line, in data coordinates."""

    x: float
    y: float
    text: str
    colour: str


def check_path(path: PathLike | None) -> None:
    """Raise PlotError for a name that does not say PNG, SVG or PDF; to be asked before the work is done."""
    if path is not None and Path(path).suffix.lower() not in SUFFIXES:
        raise PlotError(f"{path}: a picture's name ends in {', '.join(SUFFIXES)}")


def new_figure(width: float, height: float) -> Figure:
    """A figure of so many inches that needs no display. Raises PlotError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise PlotError('pictures need matplotlib, which is not installed: pip install "bgnet[plot]"') from error
    return Figure(figsize=(width, height), layout="constrained")


def saved(figure: Figure, path: PathLike | None) -> Figure:
    """The figure, written too if there is a path. Raises PlotError for its ending, OSError as usual.

    An SVG file keeps words as words, and is the same every time.
    """
    check_path(path)
    if path is not None:
        from matplotlib import rc_context

        with rc_context({"svg.fonttype": "none", "svg.hashsalt": "bgnet"}):
            metadata = {"Date": None} if Path(path).suffix.lower() == ".svg" else None
            figure.savefig(path, dpi=150, metadata=metadata)
    return figure


def dressed(axes: Axes, x: str, y: str, title: str = "", *, grid: str = "both") -> Axes:
    """Labels (with their units), an open frame, a faint grid behind everything."""
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.set_title(title, fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=grid, alpha=0.25)  # type: ignore[arg-type]
    axes.set_axisbelow(True)
    return axes


def line_style(i: int) -> dict[str, Any]:
    """Colour and line style of the i-th line: no two of the first thirty are alike."""
    return {"color": COLOURS[i % 6], "linestyle": STYLES[(i + i // 6) % 6]}


def bar_style(i: int) -> dict[str, Any]:
    """Colour and hatching of the i-th kind of bar."""
    return {"color": COLOURS[i % 6], "hatch": HATCHES[(i + i // 6) % 6], "edgecolor": "white"}


def name_lines(axes: Axes, names: Sequence[Name]) -> None:
    """Write names behind the ends of lines, apart where they would overlap. The figure is laid out for it."""
    from matplotlib.patheffects import withStroke

    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    ends = axes.transData.transform([(name.x, name.y) for name in names]) * 72 / figure.dpi
    for i, place in zip(*_apart(ends), strict=True):
        name = names[i]
        axes.annotate(
            name.text, (name.x, name.y), xytext=(6, place - ends[i][1]), textcoords="offset points", va="center",
            color=name.colour, fontsize=9, path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )  # fmt: skip


def _apart(ends: NDArray[np.float64]) -> tuple[list[int], list[float]]:
    """float64[N, 2], points on paper -> the order from below, and the y of each: a line apart where they end alike."""
    order = np.argsort(ends[:, 1], kind="stable").tolist()
    places: list[float] = []
    for n, i in enumerate(order):
        near = [places[k] for k in range(n) if abs(ends[order[k], 0] - ends[i, 0]) < 100]
        places.append(max([ends[i, 1], *(place + _LINE for place in near)]))
    return order, places


def beside_bars(axes: Axes, ends: Sequence[float], texts: Sequence[str]) -> None:
    """Write texts behind the ends of horizontal bars in rows 0, 1, ..., and make room for them."""
    figure, place = axes.get_figure(root=True), axes.get_subplotspec()
    assert figure is not None and place is not None
    inches = 0.8 * figure.get_figwidth() / place.get_gridspec().ncols
    room = min(0.15 + 0.08 * max(map(len, texts)), 0.7 * inches)
    low, high = min(*ends, 0.0), max(*ends, 0.0)
    span = max(high - low, 1e-3)
    axes.set_xlim(low - 0.05 * span * (low < 0), high + span * room / (inches - room))
    for row, (end, text) in enumerate(zip(ends, texts, strict=True)):
        axes.annotate(text, (max(end, 0.0), row), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9)


def error_bars(estimates: Sequence[Estimate]) -> NDArray[np.float64]:
    """float64[2, N]: how far the intervals reach below and above the means; 0 where an interval has no end."""
    ends = np.array([[e.mean - e.low for e in estimates], [e.high - e.mean for e in estimates]])
    return np.where(np.isfinite(ends), ends, 0.0)


def thousands(axes: Axes) -> None:
    """Few numbers along x, as 200k or 1.5M."""
    from matplotlib.ticker import EngFormatter, MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
