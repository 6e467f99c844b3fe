#!/usr/bin/env python3
"""Check that the instruments agree with long, plain matches: the decision benchmark, and luck-adjusted results.

python scripts/check_measuring.py
python scripts/check_measuring.py --games 2000 --luck-games 500

First table: nets of clearly different strength by their mean loss on a decision set, and by a round robin without luck
adjustment; both must rank them alike, and each must beat the next one in their own games. Second table: pairings over
three seeds, plain and luck-adjusted results of the same games; their intervals must overlap, and the difference, which
is the mean luck, must be less than 3 standard errors. Exit status 1 when a bar fails.
"""

from __future__ import annotations

import argparse
import itertools
import json
from typing import Any

from bgnet.arena import DEFAULT_REFERENCE, play
from bgnet.benchmark import read_decisions, score_decisions
from bgnet.cli.common import run_script
from bgnet.progress import MODES, Progress
from bgnet.round_robin import round_robin
from bgnet.statistics import Estimate, estimate

MOST_AWAY = 3.0  # standard errors
SEEDS = (1, 2, 3)


def check_ranking(nets: list[str], name: str, games: int, workers: int, progress: str) -> dict[str, Any]:
    """Rank nets by mean loss and by points per game, and print both."""
    decisions = read_decisions(name)
    losses = [score.total for score in score_decisions(nets, decisions).by_judge(decisions.judges[0])]
    pairings = len(nets) * (len(nets) - 1) // 2
    with Progress(games * pairings, "games", progress) as shown:
        ladder = round_robin(nets, games, workers=workers, progress=shown)
    by_loss = sorted(range(len(nets)), key=lambda i: losses[i].mean)
    by_games = ladder.ranking
    told_apart = all(ladder.against(a, b).low > 0 for a, b in itertools.pairwise(by_games))
    print(f"{'net':<20} loss on {name:<12} points per game against {nets[-1]}, {games:,} plain games a pairing")
    rows = []
    for i in by_games:
        rating = ladder.ratings[i]
        loss = f"{losses[i].mean:.2f} +-{losses[i].half_width:.2f}"
        print(f"{nets[i]:<20} {loss:<20} {rating.mean:+.3f} +-{rating.half_width:.3f}", flush=True)
        rows.append({"net": nets[i], "loss": losses[i].mean, "rating": rating.mean, "half_width": rating.half_width})
    alike = by_loss == by_games
    print(f"ranked {'alike' if alike else 'DIFFERENTLY'}; neighbours {'' if told_apart else 'NOT '}told apart\n")
    return {"nets": rows, "games_per_pairing": games, "alike": alike, "told_apart": told_apart}


def _interval(value: Estimate) -> str:
    return f"{value.mean:+.4f} [{value.low:+.4f}, {value.high:+.4f}]"


def check_luck(pairings: list[tuple[str, str]], games: int, workers: int, progress: str) -> dict[str, Any]:
    """Plain and luck-adjusted results of the same games, and print them."""
    print(f"{'pairing':<34} seed  plain                       luck-adjusted               difference, std errors")
    rows = []
    for (a, b), seed in itertools.product(pairings, SEEDS):
        with Progress(games, "games", progress) as shown:
            result = play(a, b, games, seed, workers=workers, progress=shown, reference=DEFAULT_REFERENCE)
        plain, adjusted = result.points, result.best
        assert result.pair_luck is not None
        luck = estimate(result.pair_luck)
        away = luck.mean / luck.std_error if luck.std_error else 0.0
        overlap = plain.low <= adjusted.high and adjusted.low <= plain.high
        print(f"{a + ' ' + b:<34} {seed:<4}  {_interval(plain)}  {_interval(adjusted)}  {away:+.2f}", flush=True)
        rows.append({
            "bots": [a, b], "seed": seed, "plain": [plain.low, plain.high], "adjusted": [adjusted.low, adjusted.high],
            "std_errors": away, "agree": bool(overlap and abs(away) < MOST_AWAY),
        })  # fmt: skip
    agree = sum(row["agree"] for row in rows)
    print(f"{agree} of {len(rows)} agree")
    return {"games": games, "reference": DEFAULT_REFERENCE, "runs": rows, "agree": agree == len(rows)}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument(
        "--nets", nargs="+", metavar="BOT", help="to rank",
        default=[f"net:{name}" for name in ("beginner", "club", "small", "standard", "flagship")],
    )  # fmt: skip
    parser.add_argument("--set", default="small", help="decision set: a shipped one's name, or a file")
    parser.add_argument("--games", type=int, default=20_000, help="plain games of each two nets (20000)")
    parser.add_argument(
        "--pairings", nargs="+", metavar="A,B", help="for luck",
        default=["net:flagship,net:standard", "net:standard,net:club", "net:standard,pubeval"],
    )  # fmt: skip
    parser.add_argument("--luck-games", type=int, default=4000, help="games of each pairing and seed (4000)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--progress", default="auto", choices=MODES)
    return parser.parse_args()


def main() -> int:
    args = arguments()
    pairings = [tuple(pairing.split(",")) for pairing in args.pairings]
    if any(len(pairing) != 2 for pairing in pairings):
        raise ValueError("a pairing is two bots with a comma between them, such as net:flagship,gnubg:0")
    ranking = check_ranking(args.nets, args.set, args.games, args.workers, args.progress)
    luck = check_luck(pairings, args.luck_games, args.workers, args.progress)
    print(json.dumps({"schema": "bgnet.check_measuring/1", "ranking": ranking, "luck": luck}))
    return 0 if ranking["alike"] and ranking["told_apart"] and luck["agree"] else 1


if __name__ == "__main__":
    run_script(main)
