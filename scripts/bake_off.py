#!/usr/bin/env python3
"""Network shapes on the same lesson: each learns, from zero, a teacher's exact one-roll backups.

python scripts/bake_off.py 1024-32 1024-256-128
python scripts/bake_off.py 512-32 --plain-width 128 --learning-rate 1e-3 --draws 1_000_000

The teacher plays itself and judges every position by all 21 rolls. Each shape draws the same positions in the same
order, at a learning rate that falls linearly to nothing, and is then asked about positions from other games: the root
mean square of (backup - value) in points. What a shape reaches in an hour of self-play goes by this much sooner.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.cli.common import run_script
from bgnet.config import RunConfig, make_config
from bgnet.cores import cores
from bgnet.encoding import encoding
from bgnet.evaluators import NetEvaluator, load
from bgnet.learner import Learner
from bgnet.measures import rms_by_class
from bgnet.netfile import NetInfo
from bgnet.progress import MODES, Progress
from bgnet.runlog import machine
from bgnet.selfplay import MONEY_GAME, Actor, make_game, start_games
from engine.rules import MONEY

_PART = 50  # minibatches between two looks at the learning rate
_WARM_UP = 200  # minibatches over which it rises
_PIECE = 500  # games between two looks at the progress
_CHECKERS = 15  # a side, of the game that is played
_OTHER_GAME = 2**30  # a stretch of the dice stream away from the lesson's


class Lesson(NamedTuple):
    """Positions int8[N, 26] and their exact backups float32[N, 6]."""

    boards: NDArray[np.int8]
    backups: NDArray[np.float32]


def _net(name: str) -> NetEvaluator:
    net = load(name)
    if net.info.checkers != _CHECKERS:
        raise ValueError(f"{name}: made for {net.info.checkers} checkers a side, the lesson has {_CHECKERS}")
    return net


def play(teacher: str, pruner: str, first_game: int, games: int, progress: Progress) -> Lesson:
    """The teacher's games with exact backups, random plays in two of five as in configs/flagship-deep.toml."""
    game = make_game(MONEY_GAME.payoff, MONEY_GAME.start, wandering=0.4, random_plays=0.1)
    actor = Actor(_net(teacher).folded, _net(pruner).folded, 5)
    parts = []
    with ThreadPoolExecutor(cores()) as executor:
        for done in range(0, games, _PIECE):
            count = min(_PIECE, games - done)
            played = start_games(executor, actor, game, 1, first_game + done, count).result()
            parts.append(Lesson(played.boards, played.backups))
            progress.update(count)
    return Lesson(*map(np.concatenate, zip(*parts, strict=True)))


def run_config(hidden: list[int], args: argparse.Namespace) -> RunConfig:
    """What the learner needs to know; ConfigError for what it cannot do."""
    learning = {
        "batch_size": args.batch_size, "plain_width": args.plain_width, "precision": args.precision,
        "equity_weight": args.equity_weight, "average": 0.998,
        "learning_rate": args.learning_rate, "final_learning_rate": args.learning_rate,
    }  # fmt: skip
    net = {"hidden": hidden, "encoding": args.encoding}
    keys = {"seed": args.seed, "device": "cpu", "net": net, "learning": learning}
    return make_config(keys, "-".join(map(str, hidden)))


def learn(hidden: list[int], lesson: Lesson, test: Lesson, args: argparse.Namespace) -> dict[str, Any]:
    """Train one shape and ask it about the test's positions."""
    learner = Learner(run_config(hidden, args), encoding(args.encoding))
    rng = np.random.Generator(np.random.Philox(key=[args.seed, 0]))
    steps = max(1, args.draws // args.batch_size)
    begun = time.process_time()
    with Progress(steps, "minibatches", args.progress) as shown:
        for first in range(0, steps, _PART):
            count = min(_PART, steps - first)
            rate = args.learning_rate * (1 - first / steps) * min(1, (first + _PART) / _WARM_UP)
            order = rng.integers(0, len(lesson.boards), size=count * args.batch_size)
            learner.learn(lesson.boards, lesson.backups, rate, order, Path("failed_batch.safetensors"))
            shown.update(count)
    seconds = time.process_time() - begun
    weights = learner.weights()
    values = NetEvaluator(weights, NetInfo(sizes=weights.sizes, encoding=args.encoding)).outcomes(test.boards)
    residuals = (test.backups - values) @ MONEY.payoff
    _, contact, race = rms_by_class(residuals, test.boards)
    return {
        "hidden": hidden, "weights": weights.count, "cpu_seconds": seconds, "contact": contact, "race": race
    }  # fmt: skip


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("shapes", nargs="+", help="hidden layers, such as 1024-256-128")
    parser.add_argument("--teacher", default="flagship", help="network that plays and judges (flagship)")
    parser.add_argument("--pruner", default="small", help="network that picks five results of each roll (small)")
    parser.add_argument("--games", type=int, default=60_000, help="games of the lesson, 57 positions each (60000)")
    parser.add_argument("--test-games", type=int, default=1000, help="games of the test (1000)")
    parser.add_argument("--draws", type=int, default=4_000_000, help="positions that each shape draws (4000000)")
    parser.add_argument("--learning-rate", type=float, default=4e-3)
    parser.add_argument("--plain-width", type=int, default=16384, help="learning.plain_width (16384)")
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--encoding", default="classic", help="net.encoding: classic, one-hot or tactical (classic)")
    parser.add_argument("--precision", default="single", help="learning.precision: single, bfloat16 or auto (single)")
    parser.add_argument("--equity-weight", type=float, default=0.0, help="learning.equity_weight (0)")
    parser.add_argument("--seed", type=int, default=1, help="of the networks' first weights and the draws (1)")
    parser.add_argument("--progress", default="auto", choices=MODES)
    return parser.parse_args()


def main() -> int:
    args = arguments()
    try:
        shapes = [[int(width) for width in shape.split("-")] for shape in args.shapes]
    except ValueError as error:
        raise ValueError(f"a shape is widths with dashes between them, such as 1024-256-128 ({error})") from error
    if min(args.games, args.test_games, args.draws, args.batch_size) < 1:
        raise ValueError("--games, --test-games, --draws and --batch-size must be at least 1")
    for shape in shapes:
        run_config(shape, args)  # refuses what cannot be trained before an hour of games
    with Progress(args.games + args.test_games, "games", args.progress) as shown:
        lesson = play(args.teacher, args.pruner, 0, args.games, shown)
        test = play(args.teacher, args.pruner, _OTHER_GAME, args.test_games, shown)
    print(f"{len(lesson.boards):,} positions, {args.draws:,} draws, learning rate {args.learning_rate:g}")
    print(f"{'shape':<20} {'weights':>9}  CPU seconds  residual in contact, in races")
    rows = []
    for shape in shapes:
        row = learn(shape, lesson, test, args)
        name = "-".join(map(str, shape))
        print(f"{name:<20} {row['weights']:>9,}  {row['cpu_seconds']:>11.0f}  {row['contact']:.4f}  {row['race']:.4f}",
              flush=True)  # fmt: skip
        rows.append(row)
    print(json.dumps({"schema": "bgnet.bake_off/1", "shapes": rows, "machine": machine()}))
    return 0


if __name__ == "__main__":
    run_script(main)
