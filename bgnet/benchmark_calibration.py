"""Calibration: do things that an evaluator gives a chance of 30 % happen in 30 % of the games?

Games are played out, and what evaluators say at every position on the way is held against how the game ended. The
positions of one game are anything but independent: all intervals take a game's positions together.
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.benchmark_bots import Bot, Bots, chosen_by, judged_by, named_evaluators, named_player
from bgnet.benchmark_results import Comparison, estimate_dict
from bgnet.peers import BotSpecError
from bgnet.progress import ProgressLike
from bgnet.statistics import Estimate, clustered, clustered_share
from engine.board import START_BOARD, ending
from engine.dice import check_stream, rolls_of_games
from engine.outcomes import to_cumulative

__all__ = [
    "CHANCES", "CalibrationBenchmark", "CalibrationScore", "ChanceScore", "PlayedGames", "ReliabilityCurve",
    "calibrate", "play_out", "reliability_curve",
]  # fmt: skip

CHANCES = ("win", "gammon_win", "gammon_loss")
"""What is judged, of the player on roll; cumulative: a win contains the gammons, a gammon the backgammons."""
_COLUMNS = (0, 1, 3)  # of the cumulative five
_LEAST = 1e-6  # what a chance of 0 counts as in a log score
_MOST_PLIES = 20_000
_LOCKSTEP = 200  # games that advance together
_TOGETHER = 2000  # positions that an evaluator gets at once, so that progress moves
_LOG_SCORE = "log score of the six endings"


class PlayedGames(NamedTuple):
    """Every position before a roll, of games played to the end."""

    boards: NDArray[np.int8]
    """int8[M, 26], the view of the player on roll."""
    games: NDArray[np.int64]
    """int64[M], the game that each is of; rising."""
    endings: NDArray[np.int64]
    """int64[M], how the game ended for the player on roll there: an index of engine.outcomes."""


@dataclass(frozen=True, kw_only=True)
class ReliabilityCurve:
    """How often what was predicted came true: positions in bins of the predicted chance."""

    bot: str
    chance: str
    """Of what, for the player on roll: a name of CHANCES."""
    predicted: NDArray[np.float64]
    """float64[B]: the mean prediction in each bin that has positions, rising."""
    observed: NDArray[np.float64]
    """float64[B]: the share where it came true."""
    low: NDArray[np.float64]
    """float64[B]: the lower end of that share's 95 % interval."""
    high: NDArray[np.float64]
    """float64[B]: the upper end."""
    positions: NDArray[np.int64]
    """int64[B]: positions in each bin."""
    games: NDArray[np.int64]
    """int64[B]: the games that they are of."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON: one object a bin."""
        names = ("predicted", "observed", "low", "high", "positions", "games")
        columns = [getattr(self, name).tolist() for name in names]
        bins = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
        return {"bot": self.bot, "chance": self.chance, "bins": bins}


@dataclass(frozen=True, kw_only=True)
class ChanceScore:
    """How good the predictions of one chance are. A Brier or log score is lower for the better, and never 0."""

    bias: Estimate
    """Mean prediction less what happened, as a fraction of 1."""
    brier: Estimate
    """Mean square of prediction less what happened (0 or 1)."""
    log_score: Estimate
    """Mean of -ln of the chance given to what happened; a chance below 1e-6 counts as 1e-6."""
    curve: ReliabilityCurve = field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "bias": estimate_dict(self.bias),
            "brier": estimate_dict(self.brier),
            "log_score": estimate_dict(self.log_score),
            "curve": self.curve.as_dict()["bins"],
        }


@dataclass(frozen=True, kw_only=True)
class CalibrationScore:
    """An evaluator's predictions on all positions of the games."""

    bot: str
    chances: dict[str, ChanceScore]
    """By names of CHANCES."""
    log_scores: NDArray[np.float64] = field(repr=False)
    """float64[M]: of each position, -ln of the chance given to the ending that came, of all six."""
    log_score: Estimate
    """The mean of that."""
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "bot": self.bot,
            "log_score": estimate_dict(self.log_score),
            "chances": {name: score.as_dict() for name, score in self.chances.items()},
            "seconds": self.seconds,
        }


@dataclass(frozen=True, kw_only=True)
class CalibrationBenchmark:
    """Several evaluators on the positions of the same games."""

    a: str
    b: str
    """Who played: A began every second game."""
    games: int
    seed: int
    played: PlayedGames = field(repr=False)
    scores: tuple[CalibrationScore, ...]

    @property
    def curves(self) -> list[ReliabilityCurve]:
        """All reliability curves, those of one evaluator together."""
        return [chance.curve for score in self.scores for chance in score.chances.values()]

    @functools.cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Paired differences of the log score of the six endings of every two evaluators, games taken together."""
        return tuple(
            Comparison(
                a=one.bot,
                b=other.bot,
                measure=_LOG_SCORE,
                difference=clustered(one.log_scores - other.log_scores, self.played.games),
            )
            for i, one in enumerate(self.scores)
            for other in self.scores[i + 1 :]
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "schema": "bgnet.bench.calibration/1",
            "a": self.a,
            "b": self.b,
            "games": self.games,
            "seed": self.seed,
            "positions": len(self.played.boards),
            "scores": [score.as_dict() for score in self.scores],
            "comparisons": [pair.as_dict() for pair in self.comparisons],
        }


def calibrate(
    bots: Bots,
    games: int = 1000,
    *,
    a: Bot = "net:standard",
    b: Bot | None = None,
    seed: int = 1,
    bins: int = 10,
    progress: ProgressLike | None = None,
) -> CalibrationBenchmark:
    """Let A play B (or itself), and hold evaluators' chances at every position against how the games ended.

    Note what is measured: the chances of a position when A and B play it on. bots: evaluators, one or several, by spec,
    as objects, or as a mapping of names to either. seed: of the dice. bins: of the reliability curves, of equal width.
    progress: anything with update(n, **fields), called with the games played, then with 0 and the evaluator at work.
    Raises ValueError for numbers that cannot be, BrokenBot, and what making bots raises.
    """
    evaluators = named_evaluators(bots)
    for name, value, least in (("games", games, 2), ("bins", bins, 1)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} must be a whole number, at least {least}, not {value!r}")
    check_stream(seed, games)
    sides = [named_player(a), named_player(a if b is None else b)]
    if sides[0][0] == sides[1][0] and b is not None and a is not b and not isinstance(b, str):
        raise BotSpecError(f"A and B are different players named {sides[0][0]!r}: give them different names")
    played = play_out(sides[0], sides[-1], games, seed, progress)
    scores = []
    for name, bot in evaluators.items():
        begun = time.perf_counter()
        parts = []
        for start in range(0, len(played.boards), _TOGETHER):
            if progress is not None:
                progress.update(0, judging=name)
            parts.append(judged_by(name, bot, played.boards[start : start + _TOGETHER]))
        scores.append(_score(name, np.concatenate(parts), played, bins, begun))
    return CalibrationBenchmark(
        a=sides[0][0], b=sides[-1][0], games=games, seed=seed, played=played, scores=tuple(scores)
    )


def play_out(
    a: tuple[str, Any], b: tuple[str, Any], games: int, seed: int, progress: ProgressLike | None = None
) -> PlayedGames:
    """Games between two players (name, Player), A beginning those of even number, with the dice of (seed, game)."""
    parts = []
    for first in range(0, games, _LOCKSTEP):
        some = np.arange(first, min(first + _LOCKSTEP, games))
        parts.append(_play_some((a, b), some, seed))
        if progress is not None:
            progress.update(len(some))
    return PlayedGames(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _play_some(sides: tuple[tuple[str, Any], tuple[str, Any]], games: NDArray[np.int64], seed: int) -> PlayedGames:
    boards = np.repeat(START_BOARD[None], len(games), axis=0)
    going = np.arange(len(games))
    visited, of_game, plies = [], [], []
    ended = np.full(len(games), -1, dtype=np.int64)  # for A
    for ply in range(_MOST_PLIES):
        visited.append(boards[going])
        of_game.append(going)
        plies.append(np.full(len(going), ply))
        dice = rolls_of_games(seed, games[going], ply)
        on_roll = (games[going] + ply) % 2
        following = np.empty((len(going), 26), dtype=np.int8)
        for side, (name, bot) in enumerate(sides):
            rows = np.flatnonzero(on_roll == side)
            if len(rows):
                following[rows] = chosen_by(name, bot, boards[going[rows]], dice[rows])
        boards[going] = following
        over = ~(following < 0).any(axis=1)  # the one who has just moved has borne off his last checker
        for row in np.flatnonzero(over):
            for_next = int(ending(following[row], 15))
            ended[going[row]] = for_next if on_roll[row] == 1 else (for_next + 3) % 6
        going = going[~over]
        if not len(going):
            break
    else:
        raise ValueError(f"a game between {sides[0][0]} and {sides[1][0]} has no end after {_MOST_PLIES:,} plies")
    rows, ply_of_row = np.concatenate(of_game), np.concatenate(plies)
    order = np.lexsort((ply_of_row, rows))
    a_on_roll = (games[rows] + ply_of_row) % 2 == 0
    endings = np.where(a_on_roll, ended[rows], (ended[rows] + 3) % 6)
    return PlayedGames(np.concatenate(visited)[order], games[rows][order], endings[order])


def _score(name: str, judged: NDArray[np.float64], played: PlayedGames, bins: int, begun: float) -> CalibrationScore:
    happened = to_cumulative(np.eye(6)[played.endings])
    predicted = to_cumulative(judged)
    chances = {}
    for chance, column in zip(CHANCES, _COLUMNS, strict=True):
        came, said = happened[:, column].astype(np.float64), predicted[:, column].astype(np.float64)
        given = np.where(came > 0.5, said, 1 - said)
        chances[chance] = ChanceScore(
            bias=clustered(said - came, played.games),
            brier=clustered((said - came) ** 2, played.games),
            log_score=clustered(-np.log(np.clip(given, _LEAST, 1)), played.games),
            curve=reliability_curve(name, chance, said, came, played.games, bins),
        )
    of_ending = judged[np.arange(len(judged)), played.endings]
    log_scores = -np.log(np.clip(of_ending, _LEAST, 1))
    return CalibrationScore(
        bot=name,
        chances=chances,
        log_scores=log_scores,
        log_score=clustered(log_scores, played.games),
        seconds=time.perf_counter() - begun,
    )


def reliability_curve(
    bot: str,
    chance: str,
    predicted: NDArray[np.float64],
    happened: NDArray[np.float64],
    games: NDArray[np.int64],
    bins: int = 10,
) -> ReliabilityCurve:
    """predicted float64[M] in 0 .. 1, happened float64[M] (0, 1), games int64[M] -> the curve, bins of equal width."""
    number = np.clip((predicted * bins).astype(np.int64), 0, bins - 1)
    rows = [np.flatnonzero(number == i) for i in range(bins)]
    rows = [some for some in rows if len(some)]
    shares = [clustered_share(happened[some], games[some]) for some in rows]
    return ReliabilityCurve(
        bot=bot,
        chance=chance,
        predicted=np.array([predicted[some].mean() for some in rows]),
        observed=np.array([share.mean for share in shares]),
        low=np.array([share.low for share in shares]),
        high=np.array([share.high for share in shares]),
        positions=np.array([len(some) for some in rows]),
        games=np.array([share.count for share in shares]),
    )
