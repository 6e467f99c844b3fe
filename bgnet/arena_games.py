"""Cubeless games with duplicate dice: the bots of the arena, and a chunk of pairs played in lockstep.

Pair p of games uses the dice stream (seed, p) twice: A starts the first game, B the second, and the n-th roll of both
games is the same.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.evaluators import Evaluator, find_net
from bgnet.legality import checked_choices
from bgnet.luck import Luck
from bgnet.players import EvaluatorPlayer, Player, evaluator, player, split_depth
from engine import RuleSet, dice
from engine.board import ending

__all__ = [
    "SCHEMA", "ArenaError", "ArenaSettingsError", "Bot", "Contest", "Entrant", "bot_name", "check_checkers",
    "check_unchanged", "forget_bots", "play_pairs", "player_of", "reference_of",
]  # fmt: skip

Boards = NDArray[np.int8]
Bot = str | Evaluator | Player

SCHEMA = {"points": ("float64", ()), "luck": ("float64", ()), "endings": ("int8", (2,)), "plies": ("int64", ())}
"""What is kept of every pair, one row each: name -> (dtype, shape of a row), see play_pairs."""

_MOST_PLIES = 20_000  # far beyond any game between bots that try to win
_PACKAGES = {"pubeval": "gnubg-nn", "gnubg": "gnubg-nn", "sage": "bgsage"}


class ArenaSettingsError(ValueError):
    """A number of games, a seed, rules or a bot that the arena cannot use."""


class ArenaError(RuntimeError):
    """A bot broke the rules of the game, or a game had no end."""


@dataclass(frozen=True)
class Entrant:
    """A bot that takes part, or a reference that judges."""

    bot: Bot
    name: str
    digest: str | None = None
    """Of its network's file: sha256, in hex."""
    package: str | None = None
    """Name and version of the package that it comes from."""

    @classmethod
    def of(cls, bot: Bot) -> Entrant:
        """Raises what the name of a network without a file, or a wrong depth, raises."""
        if not isinstance(bot, str):
            return cls(bot, bot_name(bot))
        kind = bot.partition(":")[0]
        if kind == "net":
            return cls(bot, bot, digest=_file_digest(bot))
        version = _version(_PACKAGES[kind]) if kind in _PACKAGES else None
        return cls(bot, bot, package=version and f"{_PACKAGES[kind]} {version}")

    def as_dict(self) -> dict[str, Any]:
        """For JSON: what tells it from another one of the same name."""
        return {"sha256": self.digest, "package": self.package}


class Contest(NamedTuple):
    """Who plays whom for what; what travels to a worker."""

    a: Entrant
    b: Entrant
    rules: RuleSet
    seed: int
    start: Boards
    check: bool
    reference: Entrant | None
    """Judges the luck of rolls; None: it is not looked at."""


def play_pairs(contest: Contest, first: int, pairs: int, report: Callable[[int], None]) -> dict[str, NDArray[Any]]:
    """Play pairs first .. first + pairs - 1 in lockstep: at every turn each bot gets all boards where it is on roll.

    -> the columns of SCHEMA, one row for each pair: points and luck float64[N], A's per game; endings int8[N, 2]
    (engine.outcomes, A's; A starts game 0, B game 1); plies int64[N] of both games. Without a reference the luck is 0.
    report is told of ended games. Raises ArenaError.
    """
    payoff = contest.rules.payoff
    bots = [(entrant.name, player_of(entrant, contest.rules)) for entrant in (contest.a, contest.b)]
    judge = None if contest.reference is None else Luck(reference_of(contest.reference), payoff)
    pair = np.repeat(np.arange(first, first + pairs), 2)
    game = np.tile([0, 1], pairs)
    boards = np.repeat(contest.start[None], len(pair), axis=0)
    endings = np.full(len(pair), -1, dtype=np.int8)
    luck = np.zeros(len(pair), dtype=np.float64)
    plies = np.zeros(len(pair), dtype=np.int64)
    going = np.arange(len(pair))
    for turn in range(_MOST_PLIES):
        rolls = dice.rolls_of_games(contest.seed, pair[going], turn)
        on_roll = (game[going] + turn) % 2  # A starts game 0
        before = boards[going]
        if judge is not None:
            gained = judge(before, rolls, opening=turn == 0)
            luck[going] += np.where(on_roll == 0, gained, -gained)
        following = np.empty((len(going), 26), dtype=np.int8)
        for side, (name, bot) in enumerate(bots):
            rows = np.flatnonzero(on_roll == side)
            if len(rows):
                following[rows] = checked_choices(
                    f"bot {name}", bot, before[rows], rolls[rows], ArenaError, legality=contest.check
                )
        plies[going] += 1
        boards[going] = following
        over = ~(following < 0).any(axis=1)  # the one who has just moved has borne off his last checker
        for row in np.flatnonzero(over):
            for_next = ending(following[row], contest.rules.checkers)
            endings[going[row]] = for_next if on_roll[row] == 1 else (for_next + 3) % 6
        going = going[~over]
        if over.any():
            report(int(over.sum()))
        if len(going) == 0:
            return {
                "points": payoff.astype(np.float64)[endings].reshape(-1, 2).mean(axis=1),
                "luck": luck.reshape(-1, 2).mean(axis=1),
                "endings": endings.reshape(-1, 2),
                "plies": plies.reshape(-1, 2).sum(axis=1),
            }
    names = " and ".join(name for name, _ in bots)
    raise ArenaError(f"a game between {names} (pair {pair[going[0]]}) has no end after {_MOST_PLIES:,} plies")


def player_of(entrant: Entrant, rules: RuleSet) -> Player:
    """The bot itself; one for each spec and process. ArenaError: its network's file is not the one it was."""
    if isinstance(entrant.bot, str):
        return _player_of_spec(entrant.bot, entrant.digest, rules)
    return player(entrant.bot, rules.payoff)


def reference_of(entrant: Entrant) -> Evaluator:
    """The Evaluator that judges luck; otherwise as player_of. Raises BotSpecError for a bot without chances to give."""
    if isinstance(entrant.bot, str):
        return _reference_of_spec(entrant.bot, entrant.digest)
    if isinstance(entrant.bot, EvaluatorPlayer):
        return entrant.bot.evaluator
    if isinstance(entrant.bot, Evaluator):
        return entrant.bot
    raise ArenaSettingsError(f"the reference {entrant.name} chooses plays but has no chances to give")


def bot_name(bot: Bot) -> str:
    """What it is called in results: its spec, the name it gives itself, or its repr."""
    return bot if isinstance(bot, str) else str(getattr(bot, "name", None) or repr(bot))


def forget_bots() -> None:
    """Make bots anew from now on: a network's file may have changed."""
    _player_of_spec.cache_clear()
    _reference_of_spec.cache_clear()


@functools.lru_cache(maxsize=64)
def _player_of_spec(spec: str, digest: str | None, rules: RuleSet) -> Player:
    found = player(spec, rules.payoff)
    check_unchanged(spec, digest)
    return found


@functools.lru_cache(maxsize=8)
def _reference_of_spec(spec: str, digest: str | None) -> Evaluator:
    found = evaluator(spec)
    check_unchanged(spec, digest)
    return found


def check_unchanged(spec: str, digest: str | None) -> None:
    """Worker processes load files later than the arena has looked at them, while training may write new ones."""
    if digest is not None and _file_digest(spec) != digest:
        raise ArenaError(f"the file of {spec} has changed while the games went on: copy it and name the copy")


def _file_digest(spec: str) -> str:
    return hashlib.sha256(find_net(split_depth(spec)[0]).read_bytes()).hexdigest()


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def check_checkers(name: str, bot: object, checkers: int) -> None:
    """A network knows games with its own number of checkers only; other engines know 15. Raises ArenaSettingsError."""
    known = getattr(bot, "checkers", checkers)
    for judge in (bot, getattr(bot, "evaluator", None)):
        if (info := getattr(judge, "info", None)) is not None:
            known = info.checkers
    if known != checkers:
        raise ArenaSettingsError(f"{name} knows games with {known} checkers a side, this one has {checkers}")
