#!/usr/bin/env python3
"""How a net fares against random play, PubEval and GNU Backgammon: cubeless money games, duplicate dice.

python scripts/evaluate_baselines.py standard
python scripts/evaluate_baselines.py runs/quick-20261129-214114-s1 --games 1000 --markdown table.md
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from bgnet.baselines import as_dict, baselines, markdown, net_spec, opponents, table
from bgnet.cli.common import run_script
from bgnet.netfile import atomic_write
from bgnet.progress import MODES, Progress


def main() -> int:
    options = _parser().parse_args()
    for path in (options.markdown, options.json):
        if path is not None and not path.parent.is_dir():
            raise ValueError(f"cannot write {path}: there is no folder {path.parent}")
    against = opponents(stronger=options.all)
    with Progress(options.games * len(against), "games", options.progress) as progress:
        results = baselines(net_spec(options.net), options.games, options.seed, options.workers, against, progress)
    print(table(results), flush=True)
    if options.markdown is not None:
        command = f"scripts/evaluate_baselines.py {options.net} --games {options.games} --seed {options.seed}"
        command += " --all" if options.all else ""
        _write(options.markdown, markdown(results, command))
    if options.json is not None:
        _write(options.json, json.dumps(as_dict(results), indent=2) + "\n")
    return 0


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("net", help="a net's name, its file, a run's folder, or any bot such as pubeval")
    parser.add_argument("--games", type=int, default=4000, help="games against each opponent (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="names the dice (%(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="processes, same result (%(default)s)")
    parser.add_argument("--all", action="store_true", help="also gnubg:1 (slow: minutes) and sage:0")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table as Markdown too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results as JSON too")
    parser.add_argument("--progress", choices=MODES, default="auto", help="shown on stderr (%(default)s)")
    return parser


if __name__ == "__main__":
    run_script(main)
