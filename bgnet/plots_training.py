"""The picture of training runs, from their logs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bgnet.curves import bot_of_curve
from bgnet.plots_style import (
    GREY,
    Name,
    PathLike,
    PlotError,
    check_path,
    dressed,
    line_style,
    name_lines,
    new_figure,
    saved,
    thousands,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["learning_curves"]

_GAMES = "games played"
_LOG = "log.jsonl"  # as RunFolder.log, which would pull in pydantic
_BELOW = (
    ("train/loss", "training loss\n(cross-entropy), nats"),
    ("learn/bellman_rms", "Bellman residual\n(root mean square), points"),
)

Log = list[dict[str, float]]


def learning_curves(runs: PathLike | Sequence[PathLike], path: PathLike | None = None) -> Figure:
    """Points per game against each opponent over the games played, and the loss and Bellman residual below.

    runs: folders of `bgnet train` (bgnet.runlog.RunFolder.path), one or several; several get a panel for each opponent.
    Bands are 95 % intervals. Raises PlotError for a folder without a log, or when there is no evaluation in any.
    """
    check_path(path)
    folders = [Path(runs)] if isinstance(runs, (str, os.PathLike)) else [Path(run) for run in runs]
    if not folders:
        raise PlotError("nothing to draw: no run was given")
    logs = dict(zip(_names(folders), map(_read, folders), strict=True))
    opponents = list(
        dict.fromkeys(
            key
            for rows in logs.values()
            for row in rows
            for key in row
            if bot_of_curve(key) and not (key.endswith(("_low", "_high")) and key.rsplit("_", 1)[0] in row)
        )
    )
    if not opponents:
        raise PlotError(f"nothing to draw: no evaluations in the logs of {', '.join(map(str, folders))}")
    alone = len(logs) == 1
    figure = new_figure(8 if alone else max(3.6 * len(opponents), 8), 7)
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=[1.8 if alone else 1.3, 1])[:, 0]
    if alone:
        _opponents_together(above.subplots(), next(iter(logs.values())), opponents)
    else:
        for axes, opponent in zip(above.subplots(1, len(opponents), squeeze=False)[0], opponents, strict=True):
            _runs_together(axes, logs, opponent)
    for axes, (key, label) in zip(below.subplots(1, len(_BELOW)), _BELOW, strict=True):
        dressed(axes, _GAMES, label)
        thousands(axes)
        for i, rows in enumerate(logs.values()):
            axes.plot(*_columns(rows, key), **line_style(i))
    if alone:
        above.suptitle(f"{next(iter(logs))}: points per game against other bots, with 95 % bands", fontsize=11)
    else:
        above.suptitle("Points per game, with 95 % bands", fontsize=11)
        handles = [above.axes[0].get_lines()[i] for i in range(len(logs))]
        figure.legend(
            handles, list(logs), loc="outside lower center", ncols=min(len(logs), 4), fontsize=9, handlelength=4
        )
    return saved(figure, path)


def _opponents_together(axes: Axes, rows: Log, opponents: Sequence[str]) -> None:
    dressed(axes, _GAMES, "points per game")
    thousands(axes)
    axes.axhline(0, color=GREY, lw=0.8, zorder=1)
    names = []
    for i, opponent in enumerate(opponents):
        style = line_style(i)
        if (end := _curve(axes, rows, opponent, style)) is not None:
            names.append(Name(*end, str(bot_of_curve(opponent)), style["color"]))
    axes.margins(x=0.02)
    name_lines(axes, names)


def _runs_together(axes: Axes, logs: Mapping[str, Log], opponent: str) -> None:
    dressed(axes, _GAMES, f"points per game\nagainst {bot_of_curve(opponent)}")
    thousands(axes)
    for i, rows in enumerate(logs.values()):
        if _curve(axes, rows, opponent, line_style(i)) is None:
            axes.plot([], [], **line_style(i))  # for the legend
    low, high = axes.get_ylim()
    axes.axhline(0, color=GREY, lw=0.8, zorder=1)
    axes.set_ylim(low, high)


def _curve(axes: Axes, rows: Log, opponent: str, style: Mapping[str, Any]) -> tuple[float, float] | None:
    """Draw a line with its band; where it ends, None if there is none."""
    games, mean, low, high = _columns(rows, opponent, "_low", "_high")
    if not len(games):
        return None
    axes.plot(games, mean, marker=".", **style)
    axes.fill_between(games, low, high, color=style["color"], alpha=0.15, lw=0)
    return float(games[-1]), float(mean[-1])


def _names(folders: Sequence[Path]) -> list[str]:
    """The folders' names, with as much of what is above them as tells them apart."""
    parts = [folder.absolute().parts for folder in folders]
    if len(set(parts)) < len(parts):
        raise PlotError(f"the same run twice: {', '.join(map(str, folders))}")
    length = next(n for n in range(1, 1 + max(map(len, parts))) if len({p[-n:] for p in parts}) == len(parts))
    return ["/".join(part[-length:]) for part in parts]


def _read(folder: Path) -> Log:
    file = folder / _LOG
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlotError(f"{folder}: no run of bgnet train, its {_LOG} cannot be read ({error})") from error
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            row = json.loads(line)
        except ValueError:
            if number == text.count("\n") + 1:  # a run that is going on is writing it
                continue
            raise PlotError(f"{file}: line {number} is not JSON") from None
        if not isinstance(row, dict) or not isinstance(row.get("games"), (int, float)):
            raise PlotError(f'{file}: line {number} has no number of "games"')
        rows.append(row)
    return rows


def _columns(rows: Iterable[Mapping[str, float]], key: str, *endings: str) -> list[NDArray[np.float64]]:
    """Games, and the values of a key and of its companions (nan where there is none), where a row has it."""
    found = [
        (row["games"], row[key], *(row.get(key + ending, np.nan) for ending in endings)) for row in rows if key in row
    ]
    return list(np.array(found, dtype=np.float64).reshape(len(found), 2 + len(endings)).T)
