"""Whole games with the cube between two bots, many in lockstep: money games and matches with duplicate dice.

Pair p of games or matches uses the dice twice: in the first A has seat 1 (X), in the second seat 0 (O), and the n-th
roll of the k-th game is the same in both. So a bot against itself scores exactly 0 (half of the matches).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.arena_errors import ArenaError
from bgnet.entrants import Entrant, made
from bgnet.players import Bot
from bgnet.stakes_luck import StakesLuck
from bgnet.stakes_players import StakesPlayer, stakes_evaluator, stakes_player
from engine import dice
from engine.actions import Action, WinKind
from engine.errors import EngineError
from engine.records import RecordBuilder, write_mat
from engine.state import GameState, GameStatus

__all__ = ["MOST_GAMES", "SCHEMA", "StakesContest", "luck_of", "play_stakes_pairs", "stakes_player_of"]

MOST_GAMES = 128
"""Dice streams set aside for the games of a match; one to 64 points has at most 127."""

SCHEMA = {
    "points": ("float64", ()), "luck": ("float64", ()), "games": ("int64", ()), "plies": ("int64", ()),
    "won": ("int64", (4,)), "lost": ("int64", (4,)), "cubes": ("int64", ()), "turned": ("int64", ()),
    "largest": ("int64", ()),
}  # fmt: skip
"""What is kept of every pair, one row each: A's mean result of the two (points of a money game, 1 or 0 for a match) and
the mean of A's luck in them, less B's, in the same unit; games and plies of both; games won and lost by A as single
games, gammons, backgammons and drops; the sum of the cubes at the end of the games; games in which the cube was turned;
the largest result of a game, in points."""

_KINDS = (WinKind.SINGLE, WinKind.GAMMON, WinKind.BACKGAMMON, WinKind.DROP)
_MOST_PLIES = 20_000


class StakesContest(NamedTuple):
    """Who plays whom for what; what travels to a worker."""

    a: Entrant
    b: Entrant
    start: GameState
    """engine.new_game(...): a match, or the rules of money games, each of which is played alone."""
    seed: int
    mat: Path | None
    """Folder for a .mat file of every match or money game."""
    reference: Entrant | None = None
    """Judges the luck of rolls; None: it is not looked at."""


class _Table:
    """One of the two games or matches of a pair, while it goes on."""

    def __init__(self, contest: StakesContest, pair: int, mirrored: bool) -> None:
        self.pair, self.seat_of_a = pair, 0 if mirrored else 1
        self.contest = contest
        self.state = contest.start
        self.game = 0
        self.roll = 0
        self.counts: dict[str, Any] = {name: np.zeros(shape, np.int64) for name, (_, shape) in SCHEMA.items()}
        self.points = 0.0
        self.luck = 0.0
        """A's, less B's, in points or chances to win the match."""
        self.over = False
        a, b = (bot.name.replace(":", " ") for bot in (contest.a, contest.b))  # readers cut a name at a colon
        names = (a, b) if mirrored else (b, a)
        self._builder = None if contest.mat is None else RecordBuilder(names, contest.start)

    @property
    def bot(self) -> int:
        """Who decides: 0 = A, 1 = B."""
        return int(self.state.decider != self.seat_of_a)

    def do(self, action: Action, argument: object = None) -> None:
        """Raises an EngineError for what is illegal."""
        if self._builder is not None:
            self.state = self._builder.apply(action, argument)
        elif argument is None:
            self.state = getattr(self.state, action.value)()
        else:
            self.state = getattr(self.state, action.value)(argument)
        if self.state.result is not None:
            self._count()

    def throw(self) -> None:
        """The next roll; the first of a game decides who starts."""
        stream = self.pair * MOST_GAMES + self.game
        seed = self.contest.seed
        rolled = dice.opening(seed, stream) if self.roll == 0 else dice.roll(seed, stream, self.roll)
        self.roll += 1
        if self.roll > _MOST_PLIES:
            names = f"{self.contest.a.name} and {self.contest.b.name}"
            raise ArenaError(f"a game between {names} (pair {self.pair}) has no end after {_MOST_PLIES:,} plies")
        self.do(Action.ROLL, rolled)

    def _count(self) -> None:
        result = self.state.result
        assert result is not None
        won = result.winner == self.seat_of_a
        self.counts["won" if won else "lost"][_KINDS.index(result.kind)] += 1
        self.counts["games"] += 1
        self.counts["plies"] += self.roll
        self.counts["cubes"] += self.state.cube
        self.counts["turned"] += self.state.cube > 1 or result.kind is WinKind.DROP
        self.counts["largest"] = np.maximum(self.counts["largest"], result.points)
        if self.state.match_length and not self.state.match_over:
            self.state = self.state.next_game() if self._builder is None else self._builder.next_game()
            self.game, self.roll = self.game + 1, 0
            return
        self.over = True
        self.points = float(won) if self.state.match_length else float(result.points if won else -result.points)
        if self._builder is not None:
            folder = self.contest.mat
            assert folder is not None
            write_mat(self._builder.record(), folder / f"pair{self.pair + 1:05d}{'ab'[1 - self.seat_of_a]}.mat")


def play_stakes_pairs(
    contest: StakesContest, first: int, pairs: int, report: Callable[[int], None]
) -> dict[str, NDArray[Any]]:
    """Play pairs first .. first + pairs - 1 in lockstep -> the columns of SCHEMA, a row for each pair.

    report is told of games or matches that end. Raises ArenaError when a bot does what it may not.
    """
    bots = [stakes_player_of(contest.a), stakes_player_of(contest.b)]
    luck = None if contest.reference is None else luck_of(contest.reference)
    tables = [_Table(contest, pair, mirrored) for pair in range(first, first + pairs) for mirrored in (False, True)]
    going = tables
    while going:
        _cubes(contest, bots, [table for table in going if table.state.game_state == GameStatus.PLAYING])
        rolling = [table for table in going if not table.over]  # a drop may have begun another game
        for table in rolling:
            table.throw()
        if luck is not None:
            states = [table.state for table in rolling]
            for table, gained in zip(rolling, luck(states, [table.roll == 1 for table in rolling]), strict=True):
                table.luck += float(gained) if table.bot == 0 else -float(gained)
        _plays(contest, bots, [table for table in going if not table.over])
        left = [table for table in going if not table.over]
        if len(left) < len(going):
            report(len(going) - len(left))
        going = left
    rows = {
        name: np.array(
            [one.counts[name] + two.counts[name] for one, two in zip(tables[::2], tables[1::2], strict=True)]
        )
        for name in SCHEMA
    }
    points = np.array([table.points for table in tables]).reshape(-1, 2)
    lucks = np.array([table.luck for table in tables]).reshape(-1, 2)
    largest = np.array([table.counts["largest"] for table in tables]).reshape(-1, 2).max(axis=1)
    return rows | {"points": points.mean(axis=1), "luck": lucks.mean(axis=1), "largest": largest}


def _asked(tables: Sequence[_Table]) -> list[tuple[int, list[_Table]]]:
    """The tables by the bot that decides at each."""
    return [(bot, found) for bot in (0, 1) if (found := [table for table in tables if table.bot == bot])]


def _cubes(contest: StakesContest, bots: list[StakesPlayer], tables: list[_Table]) -> None:
    """Doubles and the answers to them, before the roll."""
    for bot, some in _asked([table for table in tables if table.state.may_double]):
        states = [table.state for table in some]
        wanted = _flags(contest, bot, "doubles", bots[bot].doubles(states), len(some))
        for table in (table for table, yes in zip(some, wanted, strict=True) if yes):
            table.do(Action.DOUBLE)
    for bot, some in _asked([table for table in tables if table.state.doubled]):
        states = [table.state for table in some]
        beavers = _beavers(contest, bot, bots[bot], states)
        taken = _flags(contest, bot, "takes", bots[bot].takes(states), len(some))
        for table, yes, beaver in zip(some, taken, beavers, strict=True):
            table.do(Action.BEAVER if beaver else Action.TAKE if yes else Action.DROP)


def _beavers(contest: StakesContest, bot: int, player: StakesPlayer, states: list[GameState]) -> NDArray[np.bool_]:
    """Where the bot beavers; bots that do not know how never do."""
    out = np.zeros(len(states), dtype=np.bool_)
    may = [row for row, state in enumerate(states) if state.beavers and Action.BEAVER in state.legal_actions()]
    ask = getattr(player, "beavers", None)
    if may and ask is not None:
        out[may] = _flags(contest, bot, "beavers", ask([states[row] for row in may]), len(may))
    return out


def _flags(contest: StakesContest, bot: int, method: str, given: object, count: int) -> NDArray[np.bool_]:
    """What a bot answers, if it is bool[count]."""
    flags = np.asarray(given)
    if flags.shape != (count,) or flags.dtype != np.bool_:
        name = (contest.a, contest.b)[bot].name
        raise ArenaError(f"bot {name} must return bool[{count}] from {method}(), not {flags.dtype}{list(flags.shape)}")
    return flags


def _plays(contest: StakesContest, bots: list[StakesPlayer], tables: list[_Table]) -> None:
    for bot, some in _asked(tables):
        states = [table.state for table in some]
        name = (contest.a, contest.b)[bot].name
        chosen = np.asarray(bots[bot].plays(states))
        if chosen.shape != (len(some), 26):
            raise ArenaError(f"bot {name} must return int8[{len(some)}, 26] from plays(), not {list(chosen.shape)}")
        for table, result in zip(some, chosen, strict=True):
            before = table.state
            try:
                table.do(Action.PLAY, result)
            except EngineError as error:
                raise ArenaError(
                    f"bot {name} chose an illegal result for {before.xgid}: {result.tolist()} (the next player's "
                    f"view); {error}"
                ) from error


def stakes_player_of(bot: Entrant) -> StakesPlayer:
    """The bot itself. Raises what bgnet.entrants.made raises."""
    return made(bot, stakes_player)


def luck_of(reference: Entrant) -> StakesLuck:
    """What judges the luck of rolls. Raises what `made` raises, BotSpecError for a bot that has no chances to give."""
    return made(reference, _luck)


def _luck(bot: Bot) -> StakesLuck:
    return StakesLuck(stakes_evaluator(bot))
