#!/usr/bin/env python3
"""Mean loss per decision of some bots on a set of judged decisions, in thousandths of a point, by each judge.

python scripts/decision_loss.py decisions.jsonl net:standard net:standard@1ply gnubg:0

A plain list for logs; `bgnet bench decisions` says more.
"""

from __future__ import annotations

import argparse
import json
import sys

from bgnet.benchmark import read_decisions, score_decisions


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", help="a shipped set's name, or a file (see bgnet.decisions)")
    parser.add_argument("bots", nargs="+", help="bots by name")
    parser.add_argument("--first", type=int, default=0, help="only the first so many decisions (default: all)")
    args = parser.parse_args()
    try:
        decisions = read_decisions(args.set)[: args.first or None]
        table = []
        for bot in args.bots:
            scores = score_decisions(bot, decisions).scores
            found = [score.total for score in scores]
            table.append({"bot": bot, "losses": [e.mean for e in found], "half_widths": [e.half_width for e in found]})
            columns = "   ".join(f"{e.mean:6.2f} +-{e.half_width:.2f}" for e in found)
            each = 1000 * scores[0].seconds / len(decisions)
            print(f"{bot:<28} {columns}   {len(decisions)} decisions, {each:.2f} ms each", flush=True)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps({"schema": "bgnet.decision_loss/1", "decisions": len(decisions), "bots": table}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
