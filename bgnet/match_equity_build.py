"""Match equity tables by dynamic programming, from how often games end in gammons and backgammons.

Every score needs only scores nearer to the end. Both players are taken to be equal, so a game starts with the chances
(1/2, half the gammons, ...) for both. post[n] is the mean over the endings of a game played with the cube at 2, which
the trailer turns at once, less what the leader gains by dropping for nothing at even scores; pre[n, 1] is a game
without a cube; pre[i, j] is the cubeful value of the first roll with a centred cube (bgnet.cube_kernels).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from bgnet.cube_kernels import match_kernel
from bgnet.cube_levels import levels_of
from engine.errors import EngineError

__all__ = ["GameRates", "MatchEquityError", "build_arrays", "extend_arrays"]

Array = NDArray[np.float64]


class MatchEquityError(EngineError):
    """A match equity table, a score or a file of one that cannot be right."""


@dataclass(frozen=True)
class GameRates:
    """What a table is made from. Raises MatchEquityError for values out of range."""

    gammons: float = 0.27
    """Of all games, the share that ends in a gammon."""
    backgammons: float = 0.01
    """The share that ends in a backgammon."""
    efficiency: float = 0.70
    """Cube efficiency x of the first roll, from 0 (dead) to 1 (fully live)."""
    free_drops: tuple[float, ...] = (0.012, 0.0075)
    """What the leader gains by his free drop after the Crawford game when the trailer needs 2, 4, 6, ... points."""

    def __post_init__(self) -> None:
        numbers = asdict(self)
        drops = numbers.pop("free_drops")
        for name, value in [*numbers.items(), *(("free_drops", drop) for drop in drops)]:
            if not (math.isfinite(value) and 0.0 <= value <= 1.0):
                raise MatchEquityError(f"{name} must be from 0 to 1, not {value!r}")
        if self.gammons + self.backgammons > 1.0:
            raise MatchEquityError(f"{self.gammons} gammons and {self.backgammons} backgammons are more than all games")


def build_arrays(length: int, rates: GameRates) -> tuple[Array, Array]:
    """(pre float64[length + 1, length + 1], post float64[length + 1]), see bgnet.match_equity_lookup."""
    pre = np.full((2, 2), 0.5, dtype=np.float64)
    post = np.full(2, 0.5, dtype=np.float64)
    return extend_arrays(pre, post, length, rates)


def extend_arrays(pre: Array, post: Array, length: int, rates: GameRates) -> tuple[Array, Array]:
    """Arrays of a longer match; what the given ones hold stays."""
    known, known_post = len(pre) - 1, len(post) - 1
    longer = np.full((length + 1, length + 1), 0.5, dtype=np.float64)
    longer[: known + 1, : known + 1] = pre
    longer[0], longer[:, 0] = 1.0, 0.0
    longer_post = np.ones(length + 1, dtype=np.float64)
    longer_post[1 : known_post + 1] = post[1:]
    drops = {2 * i: drop for i, drop in enumerate(rates.free_drops, 1)}
    for n in range(known_post + 1, length + 1):
        after = [longer_post[max(n - points, 0)] for points in (2, 4, 6)]
        mean = float(np.dot(_shares(rates), after))
        longer_post[n] = 0.5 * mean - drops.get(n, 0.0)
    for i in range(known + 1, length + 1):
        for j in range(1, i):
            longer[i, j] = _first_roll(longer, longer_post, (i, j), rates)
            longer[j, i] = 1.0 - longer[i, j]
    return longer, longer_post


def _shares(rates: GameRates) -> tuple[float, float, float]:
    return 1.0 - rates.gammons - rates.backgammons, rates.gammons, rates.backgammons


def _first_roll(pre: Array, post: Array, away: tuple[int, int], rates: GameRates) -> float:
    """The chance to win the match before the first roll of a game, the cube in the middle."""
    levels = levels_of(pre, post, away, crawford=away[1] == 1)
    chances = np.array([[0.5 * share for share in _shares(rates)] * 2], dtype=np.float64)
    out = np.empty((1, 1), dtype=np.float64)
    x = np.full((1, 1), rates.efficiency, dtype=np.float64)
    match_kernel(chances, np.array([[1, 0]], dtype=np.int64), x, levels.after, levels.ends, levels.dead, out)
    return float(out[0, 0])
