#!/usr/bin/env python3
"""Take points and gammon prices at every score of a match, from a match equity table.

python scripts/take_points.py                          # doubling to 2, a match to 7 points, Kazaross-XG2
python scripts/take_points.py --length 15 --cube 2,4
python scripts/take_points.py --met own.json --json    # a table of ours, or GNU Backgammon's XML

Rows: points that the player who is doubled needs; columns: the doubler. At 1-away the Crawford game has been played.
A take point is the lowest chance to win with a take, without gammons: dead, if the cube is never turned again; live,
if it is turned at exactly the right moments. A gammon price is what a gammon adds to a single game, in units of the
doubled cube: 1 in money play.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.cli.common import run_script
from bgnet.cube_tables import TakePoints, money_take_points, take_points
from bgnet.match_equity import LONGEST, MatchEquityTable, default_table
from bgnet.match_equity_files import read_table

_TITLES = {
    "dead": "take point, dead cube, per cent",
    "live": "take point, live cube, per cent",
    "taker_gammon": "price of the taker's gammons",
    "doubler_gammon": "price of the doubler's gammons",
}


def main() -> int:
    options = _parser().parse_args()
    if not 1 <= options.length <= LONGEST:
        raise ValueError(f"--length must be from 1 to {LONGEST}, not {options.length}")
    table = read_table(options.met) if options.met else default_table()
    tables = {to: take_points(options.length, to, table) for to in _cubes(options.cube)}
    if options.json:
        print(json.dumps(_answer(table, options.length, tables), allow_nan=False))
    else:
        print(f"{table.name}; rows: the player who is doubled needs, columns: the doubler needs")
        for to, found in tables.items():
            _show(to, found)
    return 0


def _cubes(text: str) -> list[int]:
    try:
        return sorted({int(part) for part in text.split(",")})
    except ValueError as error:
        raise ValueError(f"--cube must be faces separated by commas, as 2,4, not {text!r}") from error


def _show(to: int, found: TakePoints) -> None:
    for (name, title), money in zip(_TITLES.items(), money_take_points(), strict=True):
        scale, digits = (100.0, 1) if name in ("dead", "live") else (1.0, 2)
        values = getattr(found, name)
        length = len(values) - 1
        print(f"\ndoubling to {to}: {title} (money {scale * money:.{digits}f})")
        print("     " + "".join(f"{other:>6}" for other in range(1, length + 1)))
        for own in range(1, length + 1):
            row = (f"{scale * v + 0.0:6.{digits}f}" if np.isfinite(v) else f"{'-':>6}" for v in values[own, 1:])
            print(f"{own:>4} " + "".join(row))


def _answer(table: MatchEquityTable, length: int, tables: dict[int, TakePoints]) -> dict[str, Any]:
    """Rows and columns begin at 1-away; null where nobody should double."""
    money = dict(zip(_TITLES, money_take_points(), strict=True))
    cubes = [{"to": to, **{name: _rows(getattr(found, name)) for name in _TITLES}} for to, found in tables.items()]
    return {"schema": "bgnet.take_points/1", "table": table.name, "length": length, "money": money, "cubes": cubes}


def _rows(values: NDArray[np.float64]) -> list[list[float | None]]:
    return [[float(v) if np.isfinite(v) else None for v in row[1:]] for row in values[1:]]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--length", type=int, default=7, help=f"points of the match, up to {LONGEST} (default: 7)")
    parser.add_argument("--cube", default="2", help="what the cube is doubled to, as 2,4 (default: 2)")
    parser.add_argument("--met", type=Path, help="match equity table, JSON or XML (default: Kazaross-XG2)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    return parser


if __name__ == "__main__":
    run_script(main)
