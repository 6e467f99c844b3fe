"""Positions for benchmark sets: from games of a network against itself, so many of each class, no two of a class from
one game.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.classes import CLASSES, classify
from bgnet.evaluators import NetEvaluator
from bgnet.selfplay import MONEY_GAME, play_games
from engine.dice import ROLLS, WEIGHTS

__all__ = ["NotEnough", "Sample", "sample"]

_BATCH = 250
_MOST_GAMES = 200_000


class NotEnough(ValueError):
    """Self-play that does not give the positions wanted."""


class Sample(NamedTuple):
    """A position with a random roll."""

    kind: str
    """Its class."""
    board: NDArray[np.int8]
    """int8[26], before the roll."""
    dice: NDArray[np.int8]
    """int8[2], drawn anew: not the roll that came in the game."""


def sample(
    net: NetEvaluator,
    quotas: Mapping[str, int],
    seed: int,
    wanted: Callable[[Sample], bool] = lambda _: True,
    most_games: int = _MOST_GAMES,
) -> Iterator[Sample]:
    """Different positions until every class has its quota, in an order that depends on the arguments alone.

    quotas: how many of each class (names of CLASSES). seed: of the games' dice and of all drawing. wanted: refuses what
    is of no interest. Each game of self-play offers one random position of each class, none its first. Raises NotEnough
    when `most_games` games do not suffice.
    """
    missing = {kind: count for kind, count in quotas.items() if count > 0}
    if unknown := set(missing) - set(CLASSES):
        raise NotEnough(f"there is no class {sorted(unknown)[0]!r}, only {', '.join(CLASSES)}")
    seen: set[bytes] = set()
    for first in range(0, most_games, _BATCH):
        if not missing:
            return
        games = play_games(net.folded, MONEY_GAME, seed, first, min(_BATCH, most_games - first))
        classes = classify(games.boards)
        for game, (start, end) in enumerate(zip(games.offsets[:-1], games.offsets[1:], strict=True)):
            rng = np.random.default_rng([seed, first + game])
            order = start + 1 + rng.permutation(int(end - start) - 1)
            dice = ROLLS[rng.choice(len(ROLLS), size=len(CLASSES), p=WEIGHTS)]
            for number, kind in enumerate(CLASSES):
                rows = order[classes[order] == number]
                if kind not in missing or not len(rows):
                    continue
                found = Sample(kind, games.boards[rows[0]], dice[number])
                key = found.board.tobytes()
                if key in seen or not wanted(found):
                    continue
                seen.add(key)
                missing[kind] -= 1
                if not missing[kind]:
                    del missing[kind]
                yield found
    if missing:
        lack = ", ".join(f"{count} of class {kind}" for kind, count in missing.items())
        raise NotEnough(f"{most_games:,} games of self-play gave too few positions: still missing are {lack}")
