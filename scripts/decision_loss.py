#!/usr/bin/env python3
"""Mean loss per decision of some bots on a file of judged decisions, in thousandths of a point, by each judge.

python scripts/decision_loss.py decisions.jsonl net:standard net:standard@1ply gnubg:0
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from bgnet.decisions import mean_losses, read_decisions
from bgnet.players import player


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="JSON lines with board, dice and judged candidates (see bgnet.decisions)")
    parser.add_argument("bots", nargs="+", help="bots by name")
    parser.add_argument("--first", type=int, default=0, help="only the first so many decisions (default: all)")
    args = parser.parse_args()
    try:
        decisions = read_decisions(args.file)[: args.first or None]
        table = []
        for bot in args.bots:
            begun = time.perf_counter()
            found = mean_losses(player(bot), decisions)
            seconds = time.perf_counter() - begun
            table.append({"bot": bot, "losses": [e.mean for e in found], "half_widths": [e.half_width for e in found]})
            columns = "   ".join(f"{e.mean:6.2f} +-{e.half_width:.2f}" for e in found)
            print(f"{bot:<28} {columns}   {len(decisions)} decisions, {1000 * seconds / len(decisions):.2f} ms each")
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps({"schema": "bgnet.decision_loss/1", "decisions": len(decisions), "bots": table}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
