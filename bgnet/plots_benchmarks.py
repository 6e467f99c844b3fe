"""Pictures of benchmarks: scores of judgement, alone and by class, and calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bgnet.classes import CLASSES
from bgnet.plots_style import (
    BLUE,
    GREY,
    PathLike,
    PlotError,
    bar_style,
    beside_bars,
    check_path,
    dressed,
    error_bars,
    line_style,
    new_figure,
    saved,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bgnet.benchmark_calibration import ReliabilityCurve
    from bgnet.benchmark_results import Score

__all__ = ["benchmark_comparison", "error_by_class", "reliability"]

_CHANCES = {"win": "a win", "gammon_win": "winning a gammon", "gammon_loss": "losing a gammon"}


def benchmark_comparison(scores: Sequence[Score], path: PathLike | None = None) -> Figure:
    """A bar with its 95 % interval for each bot, the best on top.

    scores: DecisionScores or OutcomeScores of one benchmark (bgnet.benchmark_results). Raises PlotError without any, or
    for scores that measure different things.
    """
    check_path(path)
    measure = _measure(scores)
    order = sorted(scores, key=lambda score: score.total.mean)
    figure = new_figure(7.5, 1.1 + 0.45 * max(len(order), 2))
    axes = dressed(figure.subplots(), f"{measure}\n(lower is better; bars: 95 % intervals)", "", grid="x")
    errors = error_bars([score.total for score in order])
    means = [score.total.mean for score in order]
    axes.barh(
        range(len(order)), means, 0.7, color=BLUE, alpha=0.8, xerr=errors, ecolor="black", capsize=3
    )  # fmt: skip
    beside_bars(axes, (np.array(means) + errors[1]).tolist(), [f"{mean:.2f}" for mean in means])
    axes.set_yticks(range(len(order)), [score.bot for score in order])
    axes.set_ylim(max(len(order), 2) - 0.5, -0.5)
    return saved(figure, path)


def error_by_class(scores: Sequence[Score], path: PathLike | None = None) -> Figure:
    """Bars with 95 % intervals for every class of positions (bgnet.classes), the bots side by side; as above."""
    check_path(path)
    measure = _measure(scores)
    classes = [name for name in CLASSES if any(name in score.by_class for score in scores)]
    figure = new_figure(max(1.5 * len(classes), 5.5), 4.4)
    axes = dressed(figure.subplots(), "class of position", measure.replace(", ", ",\n"), grid="y")
    width = 0.84 / len(scores)
    for i, score in enumerate(scores):
        places = [classes.index(name) + (i - (len(scores) - 1) / 2) * width for name in score.by_class]
        found = list(score.by_class.values())
        axes.bar(
            places, [estimate.mean for estimate in found], 0.92 * width, yerr=error_bars(found), label=score.bot,
            capsize=2, ecolor="black", error_kw={"lw": 1}, **bar_style(i),
        )  # fmt: skip
    counts = [next(score.by_class[name].count for score in scores if name in score.by_class) for name in classes]
    axes.set_xticks(range(len(classes)), [f"{name}\nn = {n:,}" for name, n in zip(classes, counts, strict=True)])
    axes.set_ylim(bottom=0)
    figure.legend(loc="outside upper center", ncols=min(len(scores), 4), fontsize=9, handleheight=1.2)
    return saved(figure, path)


def reliability(curves: Sequence[ReliabilityCurve], path: PathLike | None = None) -> Figure:
    """How often what was predicted came true: a panel for each chance, a line for each bot, 95 % bands.

    curves: as CalibrationBenchmark.curves. Raises PlotError without any.
    """
    check_path(path)
    if not curves:
        raise PlotError("nothing to draw: no curves were given")
    chances = list(dict.fromkeys(curve.chance for curve in curves))
    bots = list(dict.fromkeys(curve.bot for curve in curves))
    figure = new_figure(max(3.9 * len(chances), 5), 4.3)
    panels = figure.subplots(1, len(chances), squeeze=False)[0]
    for axes, chance in zip(panels, chances, strict=True):
        what = _CHANCES.get(chance, chance.replace("_", " "))
        dressed(axes, f"predicted chance of {what}, per cent", "how often it came true, per cent")
        axes.axline((0, 0), slope=1, color=GREY, lw=0.8, label="as predicted")
        for curve in (curve for curve in curves if curve.chance == chance):
            style = line_style(bots.index(curve.bot))
            x = 100 * curve.predicted
            axes.plot(x, 100 * curve.observed, marker=".", label=curve.bot, **style)
            axes.fill_between(x, 100 * curve.low, 100 * curve.high, color=style["color"], alpha=0.15, lw=0)
        axes.set(xlim=(0, 100), ylim=(0, 100), aspect="equal")
    handles = {line.get_label(): line for axes in panels for line in axes.get_lines()}
    names = [*bots, "as predicted"]
    figure.legend(
        [handles[name] for name in names], names, loc="outside upper center", ncols=4, fontsize=9, handlelength=4
    )  # fmt: skip
    return saved(figure, path)


def _measure(scores: Sequence[Score]) -> str:
    """What all scores measure, with the unit."""
    measures = {score.measure for score in scores}
    if not measures:
        raise PlotError("nothing to draw: no scores were given")
    if len(measures) > 1:
        raise PlotError(f"scores of one kind belong in a picture, not {' and '.join(sorted(measures))}")
    return measures.pop()
