"""How games between equal players go, measured in self-play: what a match equity table is computed from.

The shares of gammons and backgammons are those of games played to the last checker, since the cubeful value of the
first roll starts from cubeless chances. Of the same games it is also found how they would have ended with a cube that
both players turn and answer by their own judgement; then many end with a drop, and fewer with a gammon.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bgnet.cube_context import CubeContext
from bgnet.cube_efficiency import GNUBG_107, leaf_values
from bgnet.evaluators import NetEvaluator
from bgnet.match_equity_build import GameRates, MatchEquityError, build_arrays
from bgnet.progress import Progress
from bgnet.selfplay import MONEY_GAME, SelfPlay, play_games
from engine.outcomes import LOSE, LOSE_BACKGAMMON, LOSE_GAMMON, WIN_BACKGAMMON, WIN_GAMMON

__all__ = ["FREE_DROPS", "MeasuredRates", "cubeful_ending", "free_drops", "measure_rates"]

FREE_DROPS = 4
"""For how many even scores after the Crawford game the free drop is measured: 2, 4, 6 and 8 points away."""

_CHUNK = 500  # games in one go
_DROPPED = 6


@dataclass(frozen=True)
class MeasuredRates:
    """Shares of all games, and what the leader gains by free drops."""

    games: int
    gammons: float
    backgammons: float
    cubeful_gammons: float
    """With a cube: games that end in a gammon on the board."""
    cubeful_backgammons: float
    dropped: float
    """With a cube: games that end with a drop."""
    free_drops: tuple[float, ...]
    """Chance to win the match that the leader gains after the Crawford game, by the trailer's points: 2, 4, 6, 8."""

    def std_error(self, share: float) -> float:
        """Of one of the shares."""
        return float(np.sqrt(share * (1.0 - share) / self.games))

    def rates(self, efficiency: float = GameRates().efficiency, *, cubeful: bool = False) -> GameRates:
        """What a table is computed from; cubeful: with the lower shares of games with a cube."""
        gammons, backgammons = self.gammons, self.backgammons
        if cubeful:
            gammons, backgammons = self.cubeful_gammons, self.cubeful_backgammons
        return GameRates(gammons, backgammons, efficiency, self.free_drops)


def measure_rates(net: NetEvaluator, games: int, seed: int = 1, progress: Progress | None = None) -> MeasuredRates:
    """Play games of the network against itself, at 0-ply, for money without a cube; the same for the same seed.

    Raises MatchEquityError for no games.
    """
    if games < 1:
        raise MatchEquityError(f"at least 1 game must be played, not {games!r}")
    endings = np.zeros(6, dtype=np.float64)
    cubeful = np.zeros(7, dtype=np.int64)
    firsts = []
    for first in range(0, games, _CHUNK):
        count = min(_CHUNK, games - first)
        played = play_games(net.folded, MONEY_GAME, seed, first, count)
        endings += played.finals.sum(axis=0)
        values = _values_with_a_cube(played)
        for g in range(count):
            cubeful[cubeful_ending(values[played.offsets[g] : played.offsets[g + 1]], played.finals[g])] += 1
        firsts.append(_first_doubles(played))
        if progress is not None:
            progress.update(count)
    shares, turned = endings / games, cubeful / games
    gammons, backgammons = _both_sides(shares)
    cubeful_gammons, cubeful_backgammons = _both_sides(turned)
    return MeasuredRates(
        games,
        gammons,
        backgammons,
        cubeful_gammons,
        cubeful_backgammons,
        float(turned[_DROPPED]),
        free_drops(np.concatenate(firsts), gammons, backgammons),
    )


def _both_sides(shares: NDArray[np.float64]) -> tuple[float, float]:
    """Shares of the six endings -> of gammons, of backgammons."""
    return float(shares[WIN_GAMMON] + shares[LOSE_GAMMON]), float(shares[WIN_BACKGAMMON] + shares[LOSE_BACKGAMMON])


def _values_with_a_cube(played: SelfPlay) -> NDArray[np.float64]:
    """float64[M, 3]: of each position, for a cube at 1: centred, own cube, and once it has been doubled to 2."""
    states = [(1, 0), (1, 1), (2, -1)]
    return leaf_values(played.boards, played.values, states, CubeContext(), GNUBG_107)


def cubeful_ending(values: NDArray[np.float64], final: NDArray[np.float32]) -> int:
    """How a game ends with a cube: the ending that is 1 in final, float[6], or 6 for a drop.

    values: float[P, 3], see `_values_with_a_cube`, of its positions; the players take turns. A cube of any value is
    judged alike, as in money play without a limit.
    """
    owner = 0  # of the cube for the player on roll: +1 his, -1 the opponent's
    for ply in range(len(values)):
        centred, own, doubled = values[ply]
        stays = own if owner > 0 else centred
        if ply > 0 and owner >= 0 and doubled >= stays and stays <= 1.0:  # nobody doubles before the opening roll
            if doubled >= 1.0:
                return _DROPPED
            owner = -1
        owner = -owner
    return int(np.argmax(final))


def _first_doubles(played: SelfPlay) -> NDArray[np.float64]:
    """float64[K, 6]: what the players think of the positions in which either of them could double first.

    In view of the one who doubles: the opening roll's loser before his first roll, and its winner before his second.
    """
    starts, ends = played.offsets[:-1], played.offsets[1:]
    rows = np.concatenate([(starts + ply)[starts + ply < ends] for ply in (1, 2)])
    firsts: NDArray[np.float64] = played.values[rows].astype(np.float64)
    return firsts


def free_drops(firsts: NDArray[np.float64], gammons: float, backgammons: float) -> tuple[float, ...]:
    """What the leader gains on average, in match winning chance, when he may drop the trailer's first double.

    firsts: float64[K, 6], chances of the trailer when he can first double. At an even score a drop costs the leader
    nothing: the trailer still needs as many games. So he drops whenever a take would leave the trailer more.
    """
    drops: list[float] = []
    for trailer in range(2, 2 * FREE_DROPS + 1, 2):
        _, post = build_arrays(trailer, GameRates(gammons, backgammons, free_drops=tuple(drops)))
        after = np.array([post[max(trailer - 2 * (1 + j), 0)] for j in range(3)])
        taken = firsts[:, :LOSE] @ after
        drops.append(float(np.maximum(taken - post[trailer - 1], 0.0).mean()))
    return tuple(drops)
