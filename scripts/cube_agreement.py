#!/usr/bin/env python3
"""How often some bots take the same cube decisions as a file, and what theirs cost by the file's equities.

python scripts/cube_agreement.py cube.jsonl net:standard net:standard@1ply gnubg:0

The file holds JSON lines with position_id and match_id (the player on roll before his roll), jacoby, nd, dt and dp (no
double, double/take, double/pass in equity per unit of the cube) and close (whether two of these are nearly equal);
lines where nothing can be doubled, with dt null, are left out. Each line asks two questions, whether to double and
whether to take a double; a bot agrees if it answers both as the file does. Errors are in thousandths of a point.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bgnet.cli.common import run_script
from bgnet.composite import Composite
from bgnet.cube import should_double, should_take
from bgnet.cubeful import CubefulSearch
from bgnet.players import evaluator, split_depth
from bgnet.statistics import estimate
from engine.state import GameState


class Line(NamedTuple):
    """A cube decision with the values that somebody else gave it."""

    state: GameState
    no_double: float
    double_take: float
    double_pass: float
    close: bool

    @property
    def doubles(self) -> bool:
        """What is right for the player on roll."""
        return min(self.double_take, self.double_pass) > self.no_double

    @property
    def takes(self) -> bool:
        """What is right for the other."""
        return self.double_take < self.double_pass


class Answers(NamedTuple):
    """What a bot says to all lines, compared with the file."""

    agrees: np.ndarray
    double_errors: np.ndarray
    take_errors: np.ndarray


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="JSON lines, see above")
    parser.add_argument("bots", nargs="+", help="bots by name, with their depth: net:standard@1ply (0-ply unless said)")
    parser.add_argument("--first", type=int, default=0, help="only the first so many lines (default: all)")
    args = parser.parse_args()
    lines = read_lines(args.file)[: args.first or None]
    close = np.array([line.close for line in lines])
    print(f"{len(lines)} decisions, {int(close.sum())} of them close")
    print(f"{'':<28} agrees  (not close)   double error    take error   mean of both")
    table = [report(bot, lines, close) for bot in args.bots]
    print(json.dumps({"schema": "bgnet.cube_agreement/1", "decisions": len(lines), "bots": table}))
    return 0


def read_lines(path: str) -> list[Line]:
    """The lines with something to decide. Raises OSError, ValueError naming a bad line."""
    lines = []
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, start=1):
            try:
                row = json.loads(text)
                if row["dt"] is None:
                    continue
                state = GameState.from_gnubg_id(f"{row['position_id']}:{row['match_id']}")
                state = replace(state, jacoby=bool(row["jacoby"]), dice=None)
                lines.append(Line(state, float(row["nd"]), float(row["dt"]), float(row["dp"]), bool(row["close"])))
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{path}: line {number}: {type(error).__name__}: {error}") from error
    if not lines:
        raise ValueError(f"{path}: there is no line with a double to judge")
    return lines


def answers(search: CubefulSearch, lines: list[Line]) -> Answers:
    """A bot's decisions, and what they lose by the file's values."""
    agrees, double_errors, take_errors = [], [], []
    for line, decision in zip(lines, search.decide_many([line.state for line in lines]), strict=True):
        doubles, takes = should_double(decision), should_take(decision)
        answer = min(line.double_take, line.double_pass)
        agrees.append(doubles == line.doubles and takes == line.takes)
        double_errors.append(max(line.no_double, answer) - (answer if doubles else line.no_double))
        take_errors.append((line.double_take if takes else line.double_pass) - answer)
    return Answers(np.array(agrees), np.array(double_errors), np.array(take_errors))


def report(bot: str, lines: list[Line], close: np.ndarray) -> dict[str, Any]:
    """Print a bot's row, and return it."""
    name, ply = split_depth(bot)
    begun = time.perf_counter()
    found = answers(CubefulSearch(Composite(evaluator(name)), ply or 0), lines)
    seconds = time.perf_counter() - begun
    both = estimate(1000 * (found.double_errors + found.take_errors) / 2)
    row = {
        "bot": bot,
        "agreement": float(found.agrees.mean()),
        "agreement_not_close": float(found.agrees[~close].mean()) if not close.all() else None,
        "double_error": float(1000 * found.double_errors.mean()),
        "take_error": float(1000 * found.take_errors.mean()),
        "mean_error": both.mean,
        "half_width": both.half_width if len(lines) > 1 else None,
    }
    clear = "    -" if row["agreement_not_close"] is None else f"{100 * row['agreement_not_close']:5.1f}"
    print(
        f"{bot:<28} {100 * row['agreement']:5.1f} %   {clear} %     "
        f"{row['double_error']:9.2f}     {row['take_error']:9.2f}     {both.mean:6.2f} +-{both.half_width:.2f}"
        f"   {1000 * seconds / len(lines):.1f} ms each"
    )
    return row


if __name__ == "__main__":
    run_script(main)
