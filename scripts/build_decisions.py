#!/usr/bin/env python3
"""Build a benchmark set: decisions with rolled-out candidates, or positions with rolled-out outcomes.

python scripts/build_decisions.py decisions my-decisions.jsonl --per-class 100 --include gnubg:0 pubeval
python scripts/build_decisions.py outcomes my-outcomes.jsonl --net runs/x --trials 1296 --whole-games

Positions come from self-play of the network, as many of each class as asked. Stop it when you like (Ctrl-C, or a kill):
the same command goes on where it stopped. Then: bgnet bench decisions BOT... --set my-decisions.jsonl
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from bgnet.benchmark import DecisionSettings, OutcomeSettings, build_decisions, build_outcomes, done_so_far
from bgnet.classes import CLASSES
from bgnet.cli.common import run_script
from bgnet.progress import Progress


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=("decisions", "outcomes"))
    parser.add_argument(
        "file", help="written every few seconds; an unfinished one of the same settings is gone on with"
    )
    parser.add_argument("--net", default="standard", help="plays and judges: a name, file or run folder (standard)")
    parser.add_argument("--per-class", type=int, default=50, help="entries of each class (50)")
    for kind in CLASSES:
        parser.add_argument(f"--{kind}", type=int, help=f"entries of class {kind}, if other than --per-class")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=432, help="of each rollout (432)")
    parser.add_argument("--truncate", type=int, default=10, help="plies after which a trial is judged (10)")
    parser.add_argument("--whole-games", action="store_true", help="play trials to the end instead")
    parser.add_argument("--ply", type=int, default=0, help="depth of the play inside rollouts (0)")
    parser.add_argument("--search", type=int, default=1, help="decisions: depth that picks candidates (1)")
    parser.add_argument("--most", type=int, default=5, help="decisions: candidates at most (5)")
    parser.add_argument("--include", nargs="*", default=[], metavar="BOT", help="decisions: whose choices to add")
    parser.add_argument("--threads", type=int, default=0, help="0 = all cores; the set is the same")
    parser.add_argument("--progress", default="auto", help="auto, bar, lines or none")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    asked = {kind: getattr(args, kind) for kind in CLASSES}
    shared: dict[str, Any] = {
        "net": args.net,
        "quotas": {kind: args.per_class if count is None else count for kind, count in asked.items()},
        "seed": args.seed,
        "trials": args.trials,
        "truncate": None if args.whole_games else args.truncate,
        "ply": args.ply,
    }
    try:
        before = done_so_far(args.file)
        with Progress(sum(shared["quotas"].values()), args.kind, args.progress, initial=before) as shown:
            how = {"threads": args.threads, "progress": shown}
            if args.kind == "decisions":
                extra = {"search": args.search, "most": args.most, "include": tuple(args.include)}
                done = build_decisions(args.file, DecisionSettings(**shared, **extra), **how)
            else:
                done = build_outcomes(args.file, OutcomeSettings(**shared), **how)
    except KeyboardInterrupt:
        print(f"stopped: {done_so_far(args.file)} done in {args.file}; the same command goes on", file=sys.stderr)
        return 130
    print(json.dumps({"schema": "bgnet.build/1", "kind": args.kind, "file": args.file, "entries": done}))
    return 0


if __name__ == "__main__":
    run_script(main)
