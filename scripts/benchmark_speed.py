#!/usr/bin/env python3
"""Decisions per second, ours against gnubg-nn's at the same depth, on the same self-play positions. Last line: JSON.

python scripts/benchmark_speed.py
python scripts/benchmark_speed.py --net runs/x --count 2000
python scripts/benchmark_speed.py --ply 1 --count 300

`bgnet bench speed` compares any bots.
"""

from __future__ import annotations

import argparse
import json
import sys

from bgnet.benchmark import measure_speed
from bgnet.runlog import machine


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--net", default="standard", help="a shipped name, a file or a run's folder (default: standard)"
    )
    parser.add_argument("--count", type=int, default=10_000, help="positions (default: 10000)")
    parser.add_argument("--ply", type=int, default=0, choices=(0, 1, 2), help="depth (default: 0)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.count < 1:
        parser.error(f"--count must be at least 1, not {args.count}")
    bot = f"net:{args.net.removeprefix('net:')}" + (f"@{args.ply}ply" if args.ply else "")
    try:
        result = measure_speed(bot, args.count, peer=f"gnubg:{args.ply}", blocks=min(5, args.count), seed=args.seed)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    ours, theirs = result.results
    print(f"{args.count:,} decisions at {args.ply}-ply, one thread, {machine()}")
    print(f"{ours.bot:<24} {ours.decisions_per_s:12,.0f} per second")
    print(f"{'gnubg-nn':<24} {theirs.decisions_per_s:12,.0f} per second")
    print(f"ratio                    {ours.ratio:12.2f}       same choice {ours.same_choice:.1%}")
    print(json.dumps({**result.as_dict(), "machine": machine()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
