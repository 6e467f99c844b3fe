#!/usr/bin/env python3
"""Compute a match equity table from how games go, compare it with Kazaross-XG2 and write it as JSON.

python scripts/build_match_equity.py --net standard --games 20000 --out own.json   # rates from self-play
python scripts/build_match_equity.py --gammons 0.27 --backgammons 0.01             # given rates

The shares of gammons and backgammons and the leader's free drops are measured in 0-ply self-play, see
bgnet.match_equity_rates; the table is computed by dynamic programming, see bgnet.match_equity_build.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from bgnet.cli.common import run_script
from bgnet.match_equity import LONGEST, GameRates, MatchEquityTable, default_table
from bgnet.match_equity_files import write_table
from bgnet.progress import MODES, Progress

_SHOWN = 9


def main() -> int:
    options = _parser().parse_args()
    answer = _build(options)
    if options.json:
        print(json.dumps(answer, allow_nan=False))
    return 0


def _build(options: argparse.Namespace) -> dict[str, Any]:
    if options.out is not None and not options.out.absolute().parent.is_dir():
        raise ValueError(f"cannot write {options.out}: there is no folder {options.out.parent}")
    if (options.net is None) == (options.gammons is None):
        raise ValueError("give either --net, whose self-play is measured, or --gammons")
    measured = None
    if options.net is None:
        rates = GameRates(options.gammons, options.backgammons, options.efficiency)
        source = f"dynamic programming from {rates}"
    else:
        from bgnet.evaluators import load
        from bgnet.match_equity_rates import measure_rates

        net = load(options.net)
        with Progress(options.games, "games", "none" if options.quiet else options.progress) as progress:
            measured = measure_rates(net, options.games, options.seed, progress)
        rates = measured.rates(options.efficiency, cubeful=options.cubeful)
        kind = "cubeful" if options.cubeful else "cubeless"
        source = f"dynamic programming from {rates}, {kind}, of {measured.games} games of {net.name} at 0-ply"
    table = MatchEquityTable.from_rates(options.length, rates, name=options.name, source=source)
    if options.out is not None:
        write_table(options.out, table)
    compared = _compared(table)
    if not options.json:
        _show(table, rates, measured, compared)
        if options.out is not None:
            print(f"written to {options.out}")
    return {
        "schema": "bgnet.match_equity_build/1",
        "name": table.name,
        "length": table.length,
        "rates": asdict(rates),
        "measured": None if measured is None else asdict(measured),
        "kazaross_xg2": compared,
        "out": None if options.out is None else str(options.out),
    }


def _compared(table: MatchEquityTable) -> dict[str, Any]:
    """Differences from Kazaross-XG2, over the scores that both have."""
    other = default_table()
    n = min(table.length, other.length)
    square = np.abs(table.pre[1 : n + 1, 1 : n + 1] - other.pre[1 : n + 1, 1 : n + 1])
    own, opponent = np.unravel_index(int(square.argmax()), square.shape)
    post = np.abs(table.post[1 : n + 1] - other.post[1 : n + 1])
    return {
        "points": n,
        "mean_difference": float(square.mean()),
        "max_difference": float(square.max()),
        "max_at_away": [int(own) + 1, int(opponent) + 1],
        "post_crawford_max_difference": float(post.max()),
    }


def _show(table: MatchEquityTable, rates: GameRates, measured: Any, compared: dict[str, Any]) -> None:
    if measured is not None:
        error = measured.std_error
        print(f"{measured.games} games, 0-ply self-play")
        for label, gammons, backgammons in (
            ("to the last checker", measured.gammons, measured.backgammons),
            ("with a cube", measured.cubeful_gammons, measured.cubeful_backgammons),
        ):
            print(
                f"  {label:<20} gammons {100 * gammons:5.2f} +-{196 * error(gammons):.2f} %   "
                f"backgammons {100 * backgammons:4.2f} +-{196 * error(backgammons):.2f} %"
            )
        print(f"  {'':<20} dropped {100 * measured.dropped:5.2f} +-{196 * error(measured.dropped):.2f} %")
    drops = ", ".join(f"{drop:.4f}" for drop in rates.free_drops)
    print(f"rates: gammons {rates.gammons:.4f}, backgammons {rates.backgammons:.4f}, x {rates.efficiency:.2f}")
    print(f"leader's free drops, 2, 4, ... away: {drops}\n")
    n = min(_SHOWN, table.length)
    print(
        "chance of the player who needs (row) points against (column), per cent; the first column before the Crawford"
    )
    print("game, the last one after it")
    print("away " + "".join(f"{j:>7}" for j in range(1, n + 1)) + "   1 post")
    for i in range(1, n + 1):
        print(f"{i:>4} " + "".join(f"{100 * v:7.2f}" for v in table.pre[i, 1 : n + 1]) + f"{100 * table.post[i]:9.2f}")
    own, opponent = compared["max_at_away"]
    print(
        f"\nagainst Kazaross-XG2 ({compared['points']} points): mean difference {compared['mean_difference']:.5f}, "
        f"at most {compared['max_difference']:.5f} ({own}-away {opponent}-away), "
        f"post-Crawford {compared['post_crawford_max_difference']:.5f}"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    default = GameRates()
    parser.add_argument("--net", help="a net's name, its file or a run's folder: its self-play gives the rates")
    parser.add_argument("--games", type=int, default=20000, help="games of self-play (default: 20000)")
    parser.add_argument("--seed", type=int, default=1, help="of their dice (default: 1)")
    parser.add_argument("--cubeful", action="store_true", help="take the shares of games with a cube (a worse fit)")
    parser.add_argument("--gammons", type=float, help="share of games that end in a gammon, instead of --net")
    parser.add_argument(
        "--backgammons",
        type=float,
        default=default.backgammons,
        help=f"with --gammons (default: {default.backgammons})",
    )
    parser.add_argument(
        "--efficiency",
        type=float,
        default=default.efficiency,
        help=f"cube efficiency x (default: {default.efficiency})",
    )
    parser.add_argument("--length", type=int, default=25, help=f"points, up to {LONGEST} (default: 25)")
    parser.add_argument("--name", default="bgnet", help="the table's name (default: bgnet)")
    parser.add_argument("--out", type=Path, help="file to write, JSON")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    parser.add_argument("--progress", choices=MODES, default="auto", help="on stderr (default: auto)")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    return parser


if __name__ == "__main__":
    run_script(main)
