"""Cubeless games with duplicate dice: their settings, and a chunk of pairs played in lockstep.

Pair p of games uses the dice stream (seed, p) twice: A starts the first game, B the second, and the n-th roll of both
games is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.arena_errors import ArenaError, ArenaSettingsError
from bgnet.arena_record import Columns
from bgnet.arena_settings import Job, Settings, Task
from bgnet.entrants import Entrant, check_checkers, made
from bgnet.legality import checked_choices
from bgnet.luck import Luck
from bgnet.players import Bot, Player, evaluator, player
from engine import RuleSet, dice
from engine.board import ending
from engine.moves import check_boards
from engine.rules import DMP, MONEY, VARIANTS

__all__ = ["RULES", "SCHEMA", "Contest", "CubelessSettings", "play_pairs", "player_of"]

Boards = NDArray[np.int8]

RULES = {rules.name: rules for rules in (MONEY, DMP)}
"""What cubeless games can be played for, by name."""
SCHEMA = {"points": ("float64", ()), "luck": ("float64", ()), "endings": ("int8", (2,)), "plies": ("int64", ())}
"""What is kept of every pair, one row each: name -> (dtype, shape of a row), see play_pairs."""

_MOST_PLIES = 20_000  # far beyond any game between bots that try to win


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


@dataclass(frozen=True, kw_only=True)
class CubelessSettings(Settings):
    """The arguments of bgnet.arena.play, but for the bots. Raises BoardError too."""

    rules: str | RuleSet
    variant: str
    start: Boards | None
    check: bool

    kind = "cubeless games"
    schema = SCHEMA

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.rules, RuleSet) and self.rules not in RULES:
            raise ArenaSettingsError(f"rules must be one of {', '.join(RULES)}, not {self.rules!r}")
        if self.variant not in VARIANTS:
            raise ArenaSettingsError(f"variant must be one of {', '.join(VARIANTS)}, not {self.variant!r}")
        self.board  # noqa: B018 (raises for a start that is none)

    @property
    def rule_set(self) -> RuleSet:
        """With the variant's number of checkers; a RuleSet brings its own, in plain backgammon."""
        if isinstance(self.rules, RuleSet) and self.variant == "backgammon":
            return self.rules
        rules = self.rules if isinstance(self.rules, RuleSet) else RULES[self.rules]
        return replace(rules, checkers=VARIANTS[self.variant][1])

    @property
    def board(self) -> Boards:
        """int8[26]: where games start, in the view of whoever begins."""
        board = np.asarray(VARIANTS[self.variant][0] if self.start is None else self.start)
        start: Boards = check_boards(board[None], finished=False, checkers=self.rule_set.checkers)[0]
        return start

    @property
    def task(self) -> Task:
        return _play_job

    def contest(self, a: Entrant, b: Entrant, reference: Entrant | None) -> Contest:
        return Contest(a, b, self.rule_set, int(self.seed), self.board, self.check, reference)

    def check_bot(self, bot: Entrant) -> None:
        check_checkers(f"bot {bot.name}", player_of(bot, self.rule_set), self.rule_set.checkers)

    def check_reference(self, reference: Entrant) -> None:
        check_checkers(f"reference {reference.name}", made(reference, evaluator), self.rule_set.checkers)

    def rules_asked(self) -> dict[str, Any]:
        rules = self.rule_set
        return {
            "rules": rules.name,
            "payoff": rules.payoff.tolist(),
            "variant": self.variant,
            "checkers": rules.checkers,
            "start": self.board.tolist(),
        }

    def impossible(self, rows: Columns) -> NDArray[np.bool_]:
        payoff, endings = self.rule_set.payoff, rows["endings"]
        wrong = ((endings < 0) | (endings > 5)).any(axis=1) | (rows["plies"] < 2)
        wrong |= rows["points"] != _points(payoff, np.clip(endings, 0, 5))
        # a roll is worth no more than all there is to win, and to lose
        most = 0.0 if self.reference is None else 1.01 * float(np.abs(payoff).max())
        found: NDArray[np.bool_] = wrong | (np.abs(rows["luck"]) > most * rows["plies"])
        return found


def _play_job(job: Job, report: Callable[[int], None]) -> Columns:
    return play_pairs(job.what, job.first, job.pairs, report)


def play_pairs(contest: Contest, first: int, pairs: int, report: Callable[[int], None]) -> dict[str, NDArray[Any]]:
    """Play pairs first .. first + pairs - 1 in lockstep: at every turn each bot gets all boards where it is on roll.

    -> the columns of SCHEMA, one row for each pair: points and luck float64[N], A's per game; endings int8[N, 2]
    (engine.outcomes, A's; A starts game 0, B game 1); plies int64[N] of both games. Without a reference the luck is 0.
    report is told of ended games. Raises ArenaError.
    """
    payoff = contest.rules.payoff
    bots = [(entrant.name, player_of(entrant, contest.rules)) for entrant in (contest.a, contest.b)]
    judge = None if contest.reference is None else Luck(made(contest.reference, evaluator), payoff)
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
                "points": _points(payoff, endings.reshape(-1, 2)),
                "luck": luck.reshape(-1, 2).mean(axis=1),
                "endings": endings.reshape(-1, 2),
                "plies": plies.reshape(-1, 2).sum(axis=1),
            }
    names = " and ".join(name for name, _ in bots)
    raise ArenaError(f"a game between {names} (pair {pair[going[0]]}) has no end after {_MOST_PLIES:,} plies")


def _points(payoff: NDArray[np.float32], endings: NDArray[np.int8]) -> NDArray[np.float64]:
    """int8[N, 2] -> float64[N], A's points per game of each pair."""
    found: NDArray[np.float64] = payoff.astype(np.float64)[endings].mean(axis=1)
    return found


def player_of(bot: Entrant, rules: RuleSet) -> Player:
    """The bot itself. Raises what `made` raises."""
    return made(bot, _player, rules)


def _player(bot: Bot, rules: RuleSet) -> Player:
    return player(bot, rules.payoff)
