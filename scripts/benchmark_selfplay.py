#!/usr/bin/env python3
"""Games per second of self-play on one thread: to the last checker, and ended at the exact endgame tables.

python scripts/benchmark_selfplay.py --net standard --games 1000
"""

from __future__ import annotations

import argparse
import json
import statistics
import time

from bgnet.cli.common import run_script
from bgnet.evaluators import load
from bgnet.runlog import machine
from bgnet.selfplay import MONEY_GAME, make_game, play_games


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--net", default="standard", help="a shipped name, a file or a run's folder (default: standard)"
    )
    parser.add_argument("--games", type=int, default=1000, help="games in each of five turns (default: 1000)")
    args = parser.parse_args()
    net = load(args.net).folded
    kinds = {"to the end": MONEY_GAME, "ended at the tables": make_game(MONEY_GAME.payoff, MONEY_GAME.start, True)}
    speeds: dict[str, list[float]] = {kind: [] for kind in kinds}
    plies = {}
    for turn in range(6):
        for kind, game in kinds.items():  # in turns, so that other work on the machine hits both alike
            begun = time.perf_counter()
            played = play_games(net, game, 1, 0, args.games if turn else 2)
            if turn:  # the first compiles
                speeds[kind].append(args.games / (time.perf_counter() - begun))
                plies[kind] = len(played.boards) / args.games
    found = {kind: statistics.median(values) for kind, values in speeds.items()}
    for kind, speed in found.items():
        print(f"{kind:<20} {speed:8,.0f} games/s   {plies[kind]:.1f} plies a game")
    ratio = found["ended at the tables"] / found["to the end"]
    print(json.dumps({"schema": "bgnet.selfplay_speed/1", "games_per_s": found, "ratio": ratio, "machine": machine()}))
    return 0


if __name__ == "__main__":
    run_script(main)
