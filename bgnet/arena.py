"""Cubeless games between two bots with duplicate dice: who is stronger, and how sure is that?

Pair p of games uses the dice stream (seed, p) twice: A starts the first game, B the second, and the n-th
roll of both games is the same. So luck cancels in part, a bot against itself scores exactly 0, and the
result depends on nothing but the bots and the seed: not on the number of workers or the order of play.
For that a player must choose by the board and the dice alone.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bgnet import peers
from bgnet.evaluators import Evaluator
from bgnet.legality import legal_choices
from bgnet.players import Player, player
from bgnet.statistics import Estimate, estimate
from bgnet.workers import run_jobs
from engine import Position, RuleSet, dice
from engine.board import ending
from engine.moves import check_boards
from engine.rules import DMP, MONEY, VARIANTS

__all__ = ["RULES", "ArenaError", "ArenaResult", "ArenaSettingsError", "play"]

Boards = NDArray[np.int8]
Bot = str | Evaluator | Player

RULES = {rules.name: rules for rules in (MONEY, DMP)}
"""What arena games can be played for, by name."""
_PAIRS_PER_CHUNK = 50
_MOST_GAMES = 100_000_000
_MOST_PLIES = 20_000  # far beyond any game between bots that try to win


class ArenaSettingsError(ValueError):
    """A number of games, a seed, rules or a bot that the arena cannot use."""


class ArenaError(RuntimeError):
    """A bot broke the rules of the game, or a game had no end."""


class _Progress(Protocol):
    def update(self, n: int, **fields: object) -> None: ...


@dataclass(frozen=True)
class ArenaResult:
    """What came out, all from A's view."""

    a: str
    b: str
    games: int
    seed: int
    rules: str
    variant: str
    workers: int
    seconds: float
    """From the call to the result, loading of bots in worker processes included."""
    plies: int
    """Rolls of all games together, those that could not be played included."""
    endings: tuple[int, int, int, int, int, int]
    """How many games ended each way, in the order of engine.outcomes."""
    pair_points: NDArray[np.float64] = field(repr=False, compare=False)
    """float64[games / 2]: points per game in each dice pair, in order."""
    most_points: float = field(repr=False, default=3.0)
    """The most that a single game can win."""

    @functools.cached_property
    def points(self) -> Estimate:
        """Points per game with its 95 % interval over the pairs (Student's t)."""
        return estimate(self.pair_points, bounds=(-self.most_points, self.most_points))

    @property
    def points_per_game(self) -> float:
        return self.points.mean

    @property
    def interval(self) -> tuple[float, float]:
        return self.points.low, self.points.high

    @property
    def won(self) -> tuple[int, int, int]:
        """Games, gammons and backgammons won. Cumulative: games contain gammons, gammons backgammons."""
        return sum(self.endings[:3]), sum(self.endings[1:3]), self.endings[2]

    @property
    def lost(self) -> tuple[int, int, int]:
        """Games, gammons and backgammons lost, cumulative like `won`."""
        return sum(self.endings[3:]), sum(self.endings[4:]), self.endings[5]

    def as_dict(self) -> dict[str, Any]:
        """For JSON. Cumulative counts: wins contain the gammons, gammons the backgammons."""
        wins, gammons, backgammons = self.won
        losses, gammons_lost, backgammons_lost = self.lost
        return {
            "schema": "bgnet.arena/1",
            "a": self.a,
            "b": self.b,
            "rules": self.rules,
            "variant": self.variant,
            "games": self.games,
            "seed": self.seed,
            "points_per_game": self.points_per_game,
            "interval": list(self.interval),
            "wins": wins,
            "gammons": gammons,
            "backgammons": backgammons,
            "losses": losses,
            "gammons_lost": gammons_lost,
            "backgammons_lost": backgammons_lost,
            "plies_per_game": self.plies / self.games,
            "seconds": self.seconds,
            "games_per_s": self.games / self.seconds,
            "workers": self.workers,
        }


def play(
    a: Bot,
    b: Bot,
    games: int,
    seed: int = 1,
    rules: str | RuleSet = "money",
    workers: int = 1,
    progress: _Progress | None = None,
    *,
    variant: str = "backgammon",
    start: Boards | None = None,
    check: bool = True,
    pairs_per_chunk: int = _PAIRS_PER_CHUNK,
) -> ArenaResult:
    """Let bots A and B play `games` cubeless games: half as many dice pairs, each played from both sides.

    a, b: bot specs, Evaluators or Players; with workers > 1 specs, since every process makes its own bots.
    rules: "money", "dmp" (every win 1 point, and bots made from specs or Evaluators play for wins) or a
    RuleSet. progress: anything with update(n, **fields), called with the games done. variant: backgammon, nackgammon
    or hypergammon. start: int8[26], another board to start from, the view of whoever begins. check: hold every choice
    against the legal results (a few microseconds each).
    pairs_per_chunk: pairs played in lockstep, so that players see large batches.

    Raises ArenaSettingsError for bad arguments, what making the bots raises, ArenaError when a bot chooses an
    illegal result, bgnet.workers.WorkerError when a worker process dies.
    """
    begun = time.perf_counter()
    rule_set = _checked_settings(games, seed, rules, workers, pairs_per_chunk)
    if variant not in VARIANTS:
        raise ArenaSettingsError(f"variant must be one of {', '.join(VARIANTS)}, not {variant!r}")
    board, checkers = VARIANTS[variant]
    if variant != "backgammon" or not isinstance(rules, RuleSet):  # a RuleSet brings its own number
        rule_set = replace(rule_set, checkers=checkers)
    checkers = rule_set.checkers
    start = check_boards(np.asarray(board if start is None else start)[None], finished=False, checkers=checkers)[0]
    if workers > 1 and not (isinstance(a, str) and isinstance(b, str)):
        raise ArenaSettingsError("with more than one worker name both bots by specs such as net:standard")
    _player_of_spec.cache_clear()  # a network file may have changed since the last call
    for bot in (a, b):  # a bot that cannot be made or cannot play this fails here, before anything is started
        _check_checkers(_name(bot), _player(bot, rule_set), rule_set.checkers)
    games = int(games)
    pairs = games // 2
    chunks = [
        _Chunk(a, b, rule_set, seed, first, min(pairs_per_chunk, pairs - first), start, check)
        for first in range(0, pairs, pairs_per_chunk)
    ]
    tally = _Tally(rule_set, progress)
    played = run_jobs(_play_chunk, chunks, workers, on_report=tally.games_done, on_result=tally.chunk_done)
    ended = np.concatenate([chunk.endings for chunk in played])
    counts = np.bincount(ended.ravel(), minlength=6)
    return ArenaResult(
        a=_name(a),
        b=_name(b),
        games=games,
        seed=int(seed),
        rules=rule_set.name,
        variant=variant,
        workers=workers,
        seconds=time.perf_counter() - begun,
        plies=sum(chunk.plies for chunk in played),
        endings=(*(int(n) for n in counts),),  # type: ignore[arg-type]  # bincount gives six
        pair_points=rule_set.payoff.astype(np.float64)[ended].mean(axis=1),
        most_points=float(rule_set.payoff.max()),
    )


class _Chunk(NamedTuple):
    """A range of pairs to play; what travels to a worker."""

    a: Bot
    b: Bot
    rules: RuleSet
    seed: int
    first_pair: int
    pairs: int
    start: Boards
    check: bool


class _Played(NamedTuple):
    endings: NDArray[np.int64]
    """int64[pairs, 2]: how each game ended for A (engine.outcomes); A starts game 0, B game 1."""
    plies: int


class _Tally:
    """Feeds the progress display. The running mean counts whole chunks, else short games would come first."""

    def __init__(self, rules: RuleSet, progress: _Progress | None) -> None:
        self._payoff, self._progress = rules.payoff, progress
        self._points, self._games = 0.0, 0

    def games_done(self, n: int) -> None:
        if self._progress is not None:
            self._progress.update(n)

    def chunk_done(self, index: int, played: _Played) -> None:
        self._points += float(self._payoff[played.endings].sum())
        self._games += played.endings.size
        if self._progress is not None:
            self._progress.update(0, points_per_game=f"{self._points / self._games:+.3f}")


def _checked_settings(games: int, seed: int, rules: str | RuleSet, workers: int, chunk: int) -> RuleSet:
    for name, value, least in (("games", games, 2), ("workers", workers, 1), ("pairs_per_chunk", chunk, 1)):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
            raise ArenaSettingsError(f"{name} must be a whole number, at least {least}, not {value!r}")
    if games > _MOST_GAMES:
        raise ArenaSettingsError(f"games must be at most {_MOST_GAMES:,}, not {games!r}")
    if games % 2:
        raise ArenaSettingsError(f"games must be even, every dice sequence is played twice; not {games}")
    dice.check_stream(seed, games // 2)
    if isinstance(rules, RuleSet):
        return rules
    if rules not in RULES:
        raise ArenaSettingsError(f"rules must be one of {', '.join(RULES)}, not {rules!r}")
    return RULES[rules]


def _name(bot: Bot) -> str:
    if isinstance(bot, str):
        return bot
    return str(getattr(bot, "name", None) or repr(bot))


def _player(bot: Bot, rules: RuleSet) -> Player:
    return _player_of_spec(bot, rules) if isinstance(bot, str) else player(bot, rules.payoff)


@functools.lru_cache(maxsize=8)
def _player_of_spec(spec: str, rules: RuleSet) -> Player:
    """One bot per spec and process: the chunks of a `play` share it."""
    return player(spec, rules.payoff)


def _check_checkers(name: str, bot: Player, checkers: int) -> None:
    """A network knows games with its own number of checkers only; other engines know 15. Raises ArenaSettingsError."""
    known = checkers
    if isinstance(bot, peers.GnubgNN | peers.PubEval | peers.OpenSage):
        known = 15
    elif (info := getattr(getattr(bot, "evaluator", None), "info", None)) is not None:
        known = info.checkers
    if known != checkers:
        raise ArenaSettingsError(f"bot {name} knows games with {known} checkers a side, this one has {checkers}")


def _play_chunk(chunk: _Chunk, report: Callable[[int], None]) -> _Played:
    """Play all games of a chunk in lockstep: at every turn each bot gets all boards where it is on roll."""
    bots = [(_name(bot), _player(bot, chunk.rules)) for bot in (chunk.a, chunk.b)]
    pair = np.repeat(np.arange(chunk.first_pair, chunk.first_pair + chunk.pairs), 2)
    game = np.tile([0, 1], chunk.pairs)
    boards = np.repeat(chunk.start[None], len(pair), axis=0)
    endings = np.full(len(pair), -1, dtype=np.int64)
    going = np.arange(len(pair))
    plies = 0
    for turn in range(_MOST_PLIES):
        rolls = dice.rolls_of_games(chunk.seed, pair[going], turn)
        bot_on_roll = (game[going] + turn) % 2  # A starts game 0
        following = np.empty((len(going), 26), dtype=np.int8)
        for side, (name, bot) in enumerate(bots):
            rows = np.flatnonzero(bot_on_roll == side)
            if len(rows):
                following[rows] = _choice(name, bot, boards[going[rows]], rolls[rows], chunk.check)
        plies += len(going)
        boards[going] = following
        over = ~(following < 0).any(axis=1)  # the one who has just moved has borne off his last checker
        for row in np.flatnonzero(over):
            for_next = ending(following[row], chunk.rules.checkers)
            endings[going[row]] = for_next if bot_on_roll[row] == 1 else (for_next + 3) % 6
        going = going[~over]
        if over.any():
            report(int(over.sum()))
        if len(going) == 0:
            return _Played(endings.reshape(-1, 2), plies)
    names = " and ".join(name for name, _ in bots)
    raise ArenaError(f"a game between {names} (pair {pair[going[0]]}) has no end after {_MOST_PLIES:,} plies")


def _choice(name: str, bot: Player, boards: Boards, rolls: Boards, check: bool) -> Boards:
    chosen = bot.choose(boards, rolls)
    if not isinstance(chosen, np.ndarray) or chosen.shape != boards.shape or chosen.dtype != np.int8:
        got = f"{chosen.dtype}{list(chosen.shape)}" if isinstance(chosen, np.ndarray) else repr(chosen)
        raise ArenaError(f"bot {name} must return int8{list(boards.shape)} from choose(), not {got}")
    if check:
        legal = legal_choices(boards, rolls, chosen)
        if not legal.all():
            row = int(legal.argmin())
            position = Position(boards[row].tolist())
            raise ArenaError(
                f"bot {name} chose an illegal result for {position.position_id} and the roll "
                f"{rolls[row, 0]}-{rolls[row, 1]}: {chosen[row].tolist()} (the next player's view)"
            )
    return chosen
