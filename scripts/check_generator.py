"""Compare the move generator with the slow oracle and gnubg_nn on many positions from random and bot games.

    python scripts/check_generator.py                       # 20,000 positions, some ten seconds
    python scripts/check_generator.py --bot net:flagship    # with games of another bot

A third of the positions comes from random games, a third from the bot's games against itself, a third is
made up (crowded bars, primes, bear-offs with contact). Prints counts and every difference; exit status 1 if
there is any.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # tests/ is not installed

import bgnet
import engine
from bgnet.cli.common import run_script
from bgnet.players import Player
from tests import gnubg_moves, oracle
from tests.oracle import Board, Dice

CHUNK = 1_000


def random_turns(seed: int) -> Iterator[tuple[Board, Dice]]:
    """Turns of random games without end."""
    rng = random.Random(seed)
    while True:
        yield from oracle.random_game(rng.getrandbits(64))


def bot_turns(player: Player, seed: int, games: int = 50) -> Iterator[tuple[Board, Dice]]:
    """Turns of the bot's games against itself without end, `games` of them in lockstep.

    One choice in ten is random, so that the games do not all look alike.
    """
    rng = np.random.default_rng(seed)
    boards = np.tile(engine.START.board, (games, 1))
    while True:
        dice = rng.integers(1, 7, size=(games, 2)).astype(np.int8)
        for board, (first, second) in zip(boards.tolist(), dice.tolist(), strict=True):
            yield tuple(board), (first, second)
        results, offsets = engine.legal_afterstates(boards, dice)
        anyhow = results[offsets[:-1] + rng.integers(0, np.diff(offsets))]
        boards = np.where(rng.random((games, 1)) < 0.1, anyhow, player.choose(boards, dice))
        over = ~((boards > 0).any(axis=1) & (boards < 0).any(axis=1))
        boards[over] = engine.START.board


def made_up_turns(seed: int) -> Iterator[tuple[Board, Dice]]:
    """Scattered boards with random dice without end."""
    rng = random.Random(seed)
    while True:
        yield oracle.scattered_board(rng), (rng.randint(1, 6), rng.randint(1, 6))


def differences(turns: list[tuple[Board, Dice]]) -> Iterator[str]:
    """One line for every turn on which the engine and one of the other generators disagree."""
    boards = np.array([board for board, _ in turns], dtype=np.int8)
    found, offsets = engine.legal_afterstates(boards, np.array([dice for _, dice in turns], dtype=np.int8))
    mover_view = -found[:, ::-1]
    for i, (board, dice) in enumerate(turns):
        rows = [tuple(row) for row in mover_view[offsets[i] : offsets[i + 1]].tolist()]
        got = set(rows)
        if len(got) < len(rows):
            yield f"{list(board)} {dice}: {len(rows) - len(got)} results repeat"
        for name, judge in (("oracle", oracle), ("gnubg_nn", gnubg_moves)):
            want = judge.results(board, dice)
            if got != want:
                yield f"{list(board)} {dice} {name}: extra {sorted(got - want)}, missing {sorted(want - got)}"


def main() -> int:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("--positions", type=int, default=20_000, help="in all (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of games, boards and dice (default %(default)s)")
    parser.add_argument("--bot", default="pubeval", help="a player's spec (default %(default)s)")
    arguments = parser.parse_args()
    if arguments.positions < 3:
        parser.error("--positions must be at least 3")

    sources = {
        "random games": random_turns(arguments.seed),
        f"{arguments.bot} games": bot_turns(bgnet.player(arguments.bot), arguments.seed),
        "made-up boards": made_up_turns(arguments.seed),
    }
    wrong = 0
    for number, (name, source) in enumerate(sources.items()):
        share = arguments.positions // 3 + (number < arguments.positions % 3)
        turns = list(islice(source, share))
        started = time.perf_counter()
        for start in range(0, share, CHUNK):
            for line in differences(turns[start : start + CHUNK]):
                print(line)
                wrong += 1
        seconds = time.perf_counter() - started
        print(f"{name:16} {share:7,} positions, {len(set(turns)):7,} different, checked in {seconds:.1f} s")
    print(f"{arguments.positions:,} positions, seed {arguments.seed}: {wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    run_script(main)
