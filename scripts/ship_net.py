#!/usr/bin/env python3
"""Make the network of a finished run one that comes with the package (bgnet/nets/NAME.safetensors and its card).

python scripts/ship_net.py runs/standard-10min standard --note "Ten minutes of training on two cores"
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bgnet.cli.common import run_script
from bgnet.runlog import RunFolder
from bgnet.shipping import ship


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="the run's folder")
    parser.add_argument("name", help="the network's name")
    parser.add_argument("--note", required=True, help="what it is, in a sentence without the full stop")
    parser.add_argument("--parent", help="what the network it started from is called for others")
    parser.add_argument("--teacher", help="what the network that it learned from at first is called for others")
    parser.add_argument("--pruner", help="what the network that picked results for it is called for others")
    args = parser.parse_args()
    names = {"parent": args.parent, "teacher": args.teacher, "pruner": args.pruner}
    for path in ship(RunFolder(args.run), args.name, args.note, **names):
        print(path)
    return 0


if __name__ == "__main__":
    run_script(main)
