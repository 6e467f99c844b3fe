"""Positions with a roll: turns of random games, and made-up boards with crowded bars and primes."""

from __future__ import annotations

import random
from itertools import islice

from tests import oracle
from tests.boards import Board


def turns() -> list[tuple[Board, tuple[int, int]]]:
    """Some 700 boards in the view of the player on roll, with his dice; the same ones on every call."""
    found = [turn for seed in range(12) for turn in islice(oracle.random_game(seed), seed % 3, None, 3)]
    rng = random.Random(31)
    return found + [(oracle.scattered_board(rng), rng.choice(oracle.ALL_ROLLS)) for _ in range(300)]
