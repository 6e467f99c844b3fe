#!/usr/bin/env python3
"""Decisions per second, ours against gnubg-nn's at the same depth, on the same self-play positions. Last line: JSON.

python scripts/benchmark_speed.py
python scripts/benchmark_speed.py --net runs/x --count 2000
python scripts/benchmark_speed.py --ply 1 --count 300
"""

from __future__ import annotations

import argparse
import json
import sys

from bgnet.benchmark import decision_speed
from bgnet.evaluators import load
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
    try:
        result = decision_speed(load(args.net), args.count, args.seed, repeats=5 if args.ply == 0 else 1, ply=args.ply)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    result["machine"] = machine()
    print(f"{result['decisions']:,} decisions at {args.ply}-ply, one thread, {result['machine']}")
    print(f"bgnet {result['net']} ({result['layers']})  {result['decisions_per_s']:12,.0f} per second")
    print(f"gnubg-nn                 {result['gnubg_nn_decisions_per_s']:12,.0f} per second")
    print(f"ratio                    {result['ratio']:12.2f}       same choice {result['same_choice']:.1%}")
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
