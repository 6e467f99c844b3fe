#!/usr/bin/env python3
"""Check rollouts: unbiased against the exact endgame table, and the variance that luck adjustment leaves.

python scripts/check_rollouts.py                  # some minutes
python scripts/check_rollouts.py --trials 144 --contact-trials 72

First table: positions with at most six checkers a side, plays chosen by the exact table, luck judged by the bare
network; the equity must lie within 3 reduced standard errors and 1e-6 of the exact one in 99 of 100 positions.
Second table: contact positions from the network's own games (one choice in ten at random); luck adjustment must cut
the variance of all of them together, and of the median one, at least tenfold. Exit status 1 when a bar fails.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import engine
from bgnet.cli.common import run_script
from bgnet.composite import Composite
from bgnet.evaluators import NetEvaluator, load
from bgnet.players import EvaluatorPlayer
from bgnet.rollouts import rollout
from engine.board import is_race

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
MOST_AWAY = 3.0  # standard errors
NEEDED_INSIDE = 0.99
NEEDED_FACTOR = 10.0


def exact_positions(count: int) -> list[tuple[engine.Position, float]]:
    """Positions with their exact cubeless equities, spread over those of the test data."""
    with gzip.open(DATA / "bearoff.jsonl.gz", "rt") as file:
        rows = [row for row in map(json.loads, file) if row["type"] == "two_sided"]
    return [
        (engine.Position(row["board"]), row["equity_cubeless"]) for row in rows[:: max(1, len(rows) // count)][:count]
    ]


def contact_positions(net: NetEvaluator, count: int, seed: int) -> NDArray[np.int8]:
    """int8[count, 26]: positions with contact, each from another game and another moment of it."""
    rng = np.random.default_rng(seed)
    player = EvaluatorPlayer(net)
    boards = np.tile(engine.START.board, (count, 1))
    wanted = rng.integers(3, 50, size=count)
    found = boards.copy()
    for ply in range(50):
        dice = rng.integers(1, 7, size=(count, 2)).astype(np.int8)
        results, offsets = engine.legal_afterstates(boards, dice)
        anyhow = results[offsets[:-1] + rng.integers(0, np.diff(offsets))]
        boards = np.where(rng.random((count, 1)) < 0.1, anyhow, player.choose(boards, dice))
        over = ~((boards > 0).any(axis=1) & (boards < 0).any(axis=1))
        boards[over] = engine.START.board
        for row in np.flatnonzero(ply <= wanted):
            if not is_race(boards[row]):  # games that are races by then keep their last contact position
                found[row] = boards[row]
    return found


def check_bias(net: NetEvaluator, arguments: argparse.Namespace) -> bool:
    player = EvaluatorPlayer(Composite(net))
    positions = exact_positions(arguments.positions)
    begun, away, factors, outside = time.perf_counter(), [], [], []
    for position, exact in positions:
        result = rollout(
            position, net, player=player, luck_evaluator=net, trials=arguments.trials, seed=arguments.seed,
            threads=arguments.threads,
        )  # fmt: skip
        error = result.equity - exact
        away.append(error / result.std_error if result.std_error > 1e-6 else 0.0)
        factors.append(result.variance_factor)
        if abs(error) > MOST_AWAY * result.std_error + 1e-6:
            outside.append(
                f"  {position.position_id}  exact {exact:+.6f}  rollout {result.equity:+.6f} +- {result.std_error:.6f}"
            )
    inside = 1 - len(outside) / len(positions)
    print(f"unbiased: {len(positions)} positions of the exact table, {arguments.trials} trials each")
    passed = show(f"within {MOST_AWAY:g} SE + 1e-6", 100 * inside, "%", 100 * NEEDED_INSIDE)
    show("errors in SE, mean", float(np.mean(away)))
    show("errors in SE, rms", math.sqrt(np.mean(np.square(away))))
    show("errors in SE, largest", float(np.max(np.abs(away))))
    show("variance cut by, median", float(np.nanmedian(factors)), "x")
    show("seconds", time.perf_counter() - begun)
    print("\n".join(outside), end="\n" if outside else "")
    return passed


def check_variance(net: NetEvaluator, arguments: argparse.Namespace) -> bool:
    begun = time.perf_counter()
    results = [
        rollout(
            engine.Position(board),
            net,
            trials=arguments.contact_trials,
            seed=arguments.seed,
            tables=arguments.tables,
            threads=arguments.threads,
        )  # fmt: skip
        for board in contact_positions(net, arguments.contact, arguments.seed)
    ]
    factors = np.array([result.variance_factor for result in results])
    plain, reduced = (sum(getattr(r, name) ** 2 for r in results) for name in ("std_error_plain", "std_error"))
    print(f"variance: {len(results)} contact positions, {arguments.contact_trials} trials each")
    together = show("cut by, all together", plain / reduced, "x", NEEDED_FACTOR)
    median = show("cut by, median", float(np.median(factors)), "x", NEEDED_FACTOR)
    show("cut by, least", factors.min(), "x")
    show(f"positions below {NEEDED_FACTOR:g}x", int((factors < NEEDED_FACTOR).sum()))
    show("seconds", time.perf_counter() - begun)
    for row in np.argsort(factors)[:3]:
        result = results[row]
        print(f"  {result.state.position.position_id}  {factors[row]:5.1f}x  equity {result.equity:+.3f}"
              f"  SE {result.std_error:.4f}  plain {result.std_error_plain:.4f}")  # fmt: skip
    return together and median


def show(name: str, value: float, unit: str = "", needed: float | None = None) -> bool:
    """Print a row of a table; whether the value is what is needed."""
    passed = needed is None or value >= needed
    bar = "" if needed is None else f"   at least {needed:g}{unit}: {'ok' if passed else 'FAILS'}"
    print(f"  {name:24} {value:9.2f}{unit}{bar}")
    return passed


def main() -> int:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument(
        "--net", default="standard", help="a shipped name, a file or a run's folder (default %(default)s)"
    )
    parser.add_argument("--positions", type=int, default=100, help="of the exact table (default %(default)s)")
    parser.add_argument("--trials", type=int, default=1296, help="for each of them (default %(default)s)")
    parser.add_argument("--contact", type=int, default=50, help="contact positions (default %(default)s)")
    parser.add_argument("--contact-trials", type=int, default=432, help="for each of them (default %(default)s)")
    parser.add_argument("--no-tables", dest="tables", action="store_false", help="contact: the bare network to the end")
    parser.add_argument("--seed", type=int, default=1, help="of dice and games (default %(default)s)")
    parser.add_argument("--threads", type=int, default=0, help="0 = all cores (default)")
    arguments = parser.parse_args()
    if min(arguments.positions, arguments.contact) < 1:
        parser.error("--positions and --contact must be at least 1")
    net = load(arguments.net)
    passed = [check_bias(net, arguments), check_variance(net, arguments)]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    run_script(main)
