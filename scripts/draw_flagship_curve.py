#!/usr/bin/env python3
"""The flagship's learning curve, stretch by stretch: what it scored after so many hours of training.

python scripts/draw_flagship_curve.py                                   # writes configs/flagship-curve.svg
python scripts/draw_flagship_curve.py --data my.csv --out my.png

A row of the data is a stretch: its run file, its minutes, the layers, points per game against gnubg:0 and sage:0 with
the ends of their 95 % intervals, and the mean loss per decision by each judge, in thousandths of a point. An empty
field was not measured. How each figure was measured stands in configs/README.md.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bgnet.cli.common import run_script
from bgnet.plots_style import GREY, Name, dressed, line_style, name_lines, new_figure, saved

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
_SCORES = {"gnubg": "against gnubg:0", "sage": "against sage:0"}
_LOSSES = {"loss_gnubg": "by GNU Backgammon 2-ply", "loss_sage": "by Open Sage 3-ply"}


def main() -> int:
    options = _parser().parse_args()
    print(f"saved  {draw(options.data, options.out)}")
    return 0


def draw(data: Path, out: Path) -> Path:
    """Raises OSError, PlotError for a picture that cannot be made, ValueError for data that are none."""
    with open(data, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise ValueError(f"{data} has no stretches: a row of names and a row for each are needed")
    hours = np.cumsum(_column(data, rows, "minutes")) / 60
    figure = new_figure(8, 6)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[1.6, 1])
    dressed(above, "", "points per game, cubeless", "The flagship, with 95 % intervals")
    above.axhline(0, color=GREY, lw=0.8, zorder=1)
    names = []
    for i, (key, name) in enumerate(_SCORES.items()):
        mean, low, high = (_column(data, rows, key + end) for end in ("", "_low", "_high"))
        above.errorbar(hours, mean, yerr=[mean - low, high - mean], marker=".", capsize=2, **line_style(i))
        names.append(Name(float(hours[-1]), float(mean[-1]), name, line_style(i)["color"]))
    lowest = np.fmin(_column(data, rows, "gnubg_low"), _column(data, rows, "sage_low"))
    before = None
    for x, y, row in zip(hours, lowest, rows, strict=True):
        if row["layers"] == before:
            continue
        before = row["layers"]
        text = row["layers"].replace(" ", "\n")
        place = {"xytext": (0, -3), "textcoords": "offset points", "ha": "center", "va": "top"}
        above.annotate(text, (x, y), fontsize=7.5, color=GREY, **place)
    above.margins(x=0.06, y=0.1)
    dressed(below, "hours of training, at most two cores", "loss per decision,\nthousandths of a point")
    for i, (key, name) in enumerate(_LOSSES.items()):
        below.plot(hours, _column(data, rows, key), marker=".", label=name, **line_style(i))
    below.set_ylim(bottom=0)
    below.legend(fontsize=9)
    name_lines(above, names)
    saved(figure, out)
    return out


def _column(data: Path, rows: list[dict[str, str]], key: str) -> NDArray[np.float64]:
    """float64[rows], nan where a field is empty."""
    try:
        return np.array([float(row[key] or "nan") for row in rows])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{data}: column {key} is missing or does not hold numbers") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=CONFIGS / "flagship-curve.csv", metavar="CSV")
    parser.add_argument(
        "--out", type=Path, default=CONFIGS / "flagship-curve.svg", metavar="FILE", help="svg, png, pdf"
    )
    return parser


if __name__ == "__main__":
    run_script(main)
