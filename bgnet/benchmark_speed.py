"""Benchmark of speed: decisions and evaluations per second of several bots, on the same positions in the same run.

Faster and different is not faster: every bot's answers leave a checksum of its choices and the mean of its equities.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.benchmark_bots import Bot, Bots, as_evaluator, chosen_by, judged_by, named_player, named_players
from bgnet.evaluators import NetEvaluator, load
from bgnet.legality import legal_choices
from bgnet.peers import BotSpecError, GnubgNN, available, side_rows
from bgnet.players import Player
from bgnet.progress import ProgressLike
from bgnet.selfplay import MONEY_GAME, play_games
from engine.dice import ROLLS, WEIGHTS
from engine.rules import MONEY

__all__ = ["PEER", "Decisions", "SpeedBenchmark", "SpeedResult", "measure_speed", "selfplay_decisions"]

PEER = "gnubg:0"
"""What others are compared with unless said otherwise, where it is installed."""
_WARM_UP_S = 0.5


class Decisions(NamedTuple):
    """Positions with dice."""

    boards: NDArray[np.int8]
    """int8[N, 26], all different."""
    dice: NDArray[np.int8]
    """int8[N, 2]."""


@dataclass(frozen=True, kw_only=True)
class SpeedResult:
    """One bot's speed on one thread."""

    bot: str
    decisions_per_s: float
    """Best plays found, move generation included: the median over the blocks."""
    evaluations_per_s: float | None
    """Positions judged in large batches, the median over the blocks; None for a bot without chances to give."""
    ratio: float
    """Its decisions per second over the peer's."""
    checksum: str
    """Of all boards chosen: the first 8 hexadecimal digits of their SHA-256."""
    mean_equity: float | None
    """Of the positions judged; a tenth of them for a bot that looks ahead. Processors may round differently, so it is
    equal to about 5 digits."""
    same_choice: float
    """The share of decisions where it chooses as the peer does."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "bot": self.bot,
            "decisions_per_s": self.decisions_per_s,
            "evaluations_per_s": self.evaluations_per_s,
            "ratio": self.ratio,
            "checksum": self.checksum,
            "mean_equity": self.mean_equity,
            "same_choice": self.same_choice,
        }


@dataclass(frozen=True, kw_only=True)
class SpeedBenchmark:
    """Several bots' speed, measured one after the other."""

    results: tuple[SpeedResult, ...]
    peer: str
    decisions: int
    blocks: int
    seed: int
    net: str
    """Whose games the positions are from."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "schema": "bgnet.bench.speed/1",
            "peer": self.peer,
            "decisions": self.decisions,
            "blocks": self.blocks,
            "seed": self.seed,
            "positions_from": self.net,
            "threads": 1,
            "results": [result.as_dict() for result in self.results],
        }


def selfplay_decisions(net: NetEvaluator, count: int, seed: int) -> Decisions:
    """`count` different positions from games of the network against itself, each with a random roll."""
    rng = np.random.default_rng(seed)
    games = play_games(net.folded, MONEY_GAME, seed, 0, max(10, count // 10))
    boards = np.unique(games.boards, axis=0)
    if len(boards) < count:
        raise ValueError(f"self-play gave {len(boards)} different positions, {count} are wanted; ask for fewer")
    boards = boards[rng.permutation(len(boards))[:count]]
    return Decisions(boards, ROLLS[rng.choice(len(ROLLS), size=count, p=WEIGHTS)])


def measure_speed(
    bots: Bots,
    count: int = 2000,
    *,
    peer: Bot | None = None,
    blocks: int = 5,
    seed: int = 1,
    net: str = "standard",
    progress: ProgressLike | None = None,
) -> SpeedBenchmark:
    """Time bots on the same `count` positions with dice, on one thread, one bot after the other.

    Positions come from self-play of `net` and are cut into `blocks`, none is asked twice: bots that remember what they
    have judged gain nothing. Bots are warmed up on other positions first, choices are checked to be legal. peer: whom
    to compare with, measured too; by default gnubg:0 where it is installed, else the first bot. gnubg-nn's decisions
    are asked directly (best_move), without our conversions. progress: anything with update(n, **fields), called with
    the decisions made. Raises ValueError for numbers that cannot be, BrokenBot, and what making bots raises.
    """
    for name, value, least in (("blocks", blocks, 1), ("count", count, max(1, blocks))):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name} must be a whole number, at least {least}, not {value!r}")
    players = named_players(bots)
    if peer is None:
        peer = PEER if PEER in available() else next(iter(players))
    if isinstance(peer, str) and peer in players:
        against = peer
    else:
        against, other = named_player(peer)
        if players.setdefault(against, other) is not other:
            raise BotSpecError(f"the peer and a bot are different players named {against!r}: give them different names")
    source = load(net)
    asked, warm = selfplay_decisions(source, count, seed), selfplay_decisions(source, max(2, count // 10), seed + 1)
    chosen, rates, judged = {}, {}, {}
    for name, bot in players.items():
        chosen[name], rates[name] = _time_choices(name, bot, asked, warm, blocks, progress)
        judged[name] = _time_outcomes(name, bot, asked.boards, warm.boards, blocks)
    results = [
        SpeedResult(
            bot=name,
            decisions_per_s=rates[name],
            evaluations_per_s=judged[name][0],
            ratio=rates[name] / rates[against],
            checksum=hashlib.sha256(chosen[name].tobytes()).hexdigest()[:8],
            mean_equity=judged[name][1],
            same_choice=float((chosen[name] == chosen[against]).all(axis=1).mean()),
        )
        for name in players
    ]
    return SpeedBenchmark(results=tuple(results), peer=against, decisions=count, blocks=blocks, seed=seed, net=net)


def _time_choices(
    name: str, bot: Player, asked: Decisions, warm: Decisions, blocks: int, progress: ProgressLike | None
) -> tuple[NDArray[np.int8], float]:
    """All choices, and how many were made a second."""
    begun = time.perf_counter()
    for i in range(len(warm.boards)):
        chosen_by(name, bot, warm.boards[i : i + 1], warm.dice[i : i + 1])
        if time.perf_counter() - begun > _WARM_UP_S and i > 0:
            break
    chosen, rates = [], []
    for rows in np.array_split(np.arange(len(asked.boards)), blocks):
        boards, dice = asked.boards[rows], asked.dice[rows]
        if isinstance(bot, GnubgNN):
            seconds, answer = _asked_directly(bot, boards, dice)
        else:
            seconds, answer = _timed(lambda boards=boards, dice=dice: bot.choose(boards, dice))  # type: ignore[misc]
        if not legal_choices(boards, dice, answer).all():
            chosen_by(name, bot, boards, dice)  # says which
            raise RuntimeError(f"bot {name} chose an illegal play; its speed means nothing")
        chosen.append(answer)
        rates.append(len(rows) / seconds)
        if progress is not None:
            progress.update(len(rows), bot=name)
    return np.concatenate(chosen), float(np.median(rates))


def _asked_directly(bot: GnubgNN, boards: NDArray[np.int8], dice: NDArray[np.int8]) -> tuple[float, NDArray[np.int8]]:
    """Seconds that gnubg-nn's own function needs, and (asked again, untimed) what it chooses."""
    rows, rolls, best_move, ply = side_rows(boards), dice.tolist(), bot.best_move, bot.ply

    def ask() -> None:
        for row, (one, two) in zip(rows, rolls, strict=True):
            best_move(row, one, two, ply)

    seconds, _ = _timed(ask)
    return seconds, bot.choose(boards, dice)


def _time_outcomes(
    name: str, bot: Player, boards: NDArray[np.int8], warm: NDArray[np.int8], blocks: int
) -> tuple[float | None, float | None]:
    """Positions judged a second, and their mean equity; None twice for a bot without chances to give."""
    try:
        judge = as_evaluator(bot)
    except BotSpecError:
        return None, None
    if getattr(judge, "ply", 0) > 0:  # slower than its choices, which only search the best few
        boards = boards[: max(blocks, len(boards) // 10)]
    judged_by(name, judge, warm[:2])
    rates, total = [], 0.0
    for rows in np.array_split(np.arange(len(boards)), blocks):
        some = boards[rows]
        seconds, found = _timed(lambda some=some: judged_by(name, judge, some))  # type: ignore[misc]
        rates.append(len(rows) / seconds)
        total += float((found @ MONEY.payoff.astype(np.float64)).sum())
    return float(np.median(rates)), total / len(boards)


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    answer = work()
    return time.perf_counter() - begun, answer
