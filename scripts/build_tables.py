#!/usr/bin/env python3
"""Build the exact endgame tables, unless there are good ones already. They are also built when first needed.

python scripts/build_tables.py
python scripts/build_tables.py --folder /srv/tables --force
"""

from __future__ import annotations

import argparse
import time
import warnings

from bgnet.cli.common import run_script
from bgnet.progress import MODES, Progress
from engine.bearoff import one_sided, two_sided
from engine.tablefile import TableWarning, table_path


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", help="where to keep them (default: tables/ in the cache folder)")
    parser.add_argument("--force", action="store_true", help="build them even if they are there")
    parser.add_argument("--progress", choices=MODES, default="auto")
    args = parser.parse_args()
    warnings.simplefilter("error", TableWarning)  # a table that is not kept is of no use here
    for name, load in (("one-sided", one_sided), ("two-sided", two_sided)):
        path = table_path(name, args.folder)
        if args.force:
            path.unlink(missing_ok=True)
        started = time.perf_counter()
        with Progress(0, "positions", args.progress, label=name) as shown:

            def report(done: int, total: int, shown: Progress = shown) -> None:
                shown.set_total(total)
                shown.update(done - shown.count)

            try:
                load(args.folder, report)
            except TableWarning as error:
                raise OSError(str(error)) from error
            built = shown.count > 0
        seconds = time.perf_counter() - started
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, {'built' if built else 'checked'} in {seconds:.1f} s")
    return 0


if __name__ == "__main__":
    run_script(main)
