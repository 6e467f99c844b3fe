"""Games of a cubeful rollout played in lockstep: all games of all branches of a cube decision advance together.

Both players play with the cube, and take every cube decision of their turns. Luck is taken ply by ply on the scale of
the cube that the game has then: what a roll is worth is the value after the best play of it, its luck that minus the
mean over all 21 rolls. It is a function of the board, the cube and the roll alone, so its expectation is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.cube_context import CubeContext
from bgnet.cube_values import Expansion, expand, settle
from bgnet.cubeful import CubefulSearch
from bgnet.cubeful_tree import CubefulTree, lowest_rows
from bgnet.evaluators import afterstate_outcomes
from bgnet.lockstep import RolloutError
from bgnet.search import SearchStopped, unique_boards
from bgnet.strata import rolls
from engine.dice import ROLLS, WEIGHTS, roll_numbers
from engine.moves import legal_afterstates
from engine.outcomes import swap
from engine.position import Position
from engine.state import GameState

__all__ = ["BORNE_OFF", "CASHED", "PASSED", "TRUNCATED", "CubeGames", "CubePlan", "joined", "play_games"]

BORNE_OFF, CASHED, PASSED, TRUNCATED = range(4)
"""How a game ended: a last checker was borne off, the opponent or the player on roll at the start passed a double, or
it was judged before its end."""

_MOST_PLIES = 20_000  # far beyond any game between players that try to win
_TOGETHER = 64  # boards whose 21 rolls are expanded in one go: what they need stays in the cache

Array = NDArray[np.float64]
Boards = NDArray[np.int8]
States = NDArray[np.int64]


class CubeGames(NamedTuple):
    """Rows of B branches times T trials, in the view of the player on roll at the start."""

    values: Array
    """float64[B, T], in context units (bgnet.cube_context): what each game came to."""
    luck: Array
    """float64[B, T]: the luck of all its rolls; zeros without luck adjustment."""
    outcomes: NDArray[np.float32]
    """float32[B, T, 6]: how it ended; where it was judged or a double was passed, the chances of the position."""
    endings: NDArray[np.int8]
    """int8[B, T]: BORNE_OFF, CASHED, PASSED or TRUNCATED."""
    cubes: NDArray[np.int64]
    """int64[B, T]: what the cube showed at the end."""

    def first(self, count: int) -> CubeGames:
        """The first `count` trials."""
        values, luck, outcomes, endings, cubes = self
        return CubeGames(values[:, :count], luck[:, :count], outcomes[:, :count], endings[:, :count], cubes[:, :count])


@dataclass(frozen=True)
class CubePlan:
    """How games are played and judged."""

    state: GameState
    """The position, before the roll."""
    context: CubeContext
    """In the view of its player on roll."""
    branches: States
    """int64[B, 2], (cube value, owner) in his view: with what cube the games of each branch begin."""
    tree: CubefulTree
    """Judges positions, at 0-ply where games are cut off and for luck."""
    search: CubefulSearch | None
    """Chooses the plays; None: they are the best ones at 0-ply."""
    ply: int
    """The depth of the cube decisions."""
    truncate: int | None
    """After how many plies games are judged; None: they are played to the end."""
    luck: bool
    seed: int


def play_games(plan: CubePlan, first: int, count: int, stop: Callable[[], bool] = lambda: False) -> CubeGames:
    """Games first .. first + count - 1 of every branch: the same dice for all of them.

    Raises SearchStopped once stop() is true, asked at least once a ply.
    """
    table = _Table(plan, first, count)
    for ply in range(_MOST_PLIES):
        if stop():
            raise SearchStopped("the rollout was stopped")
        table.end_finished(ply)
        if ply == plan.truncate:
            table.end_truncated(ply)
        if ply > 0:  # the branches are what the decision of the first turn leads to
            table.settle_doubles(ply)
        if not len(table.going):
            return table.games(count)
        table.turn(ply, stop)
    raise RolloutError(f"trial {table.trials[table.going[0]]} has no end after {_MOST_PLIES:,} plies")


class _Table:
    """The games of one call of `play_games`; a row for each. Boards and cubes are in the view of the player on roll,
    who is the same one in all games: they are always at the same ply.
    """

    def __init__(self, plan: CubePlan, first: int, count: int) -> None:
        size = len(plan.branches) * count
        self.plan = plan
        self.boards: Boards = np.repeat(plan.state.position.board[None], size, axis=0)
        self.cubes: States = np.repeat(plan.branches, count, axis=0)
        self.trials = np.tile(np.arange(first, first + count, dtype=np.int64), len(plan.branches))
        self.going = np.arange(size)
        self.values = np.zeros(size, dtype=np.float64)
        self.luck = np.zeros(size, dtype=np.float64)
        self.outcomes = np.zeros((size, 6), dtype=np.float32)
        self.endings = np.zeros(size, dtype=np.int8)

    def games(self, count: int) -> CubeGames:
        """The results, all games having ended."""
        shape = (len(self.plan.branches), count)
        return CubeGames(
            self.values.reshape(shape),
            self.luck.reshape(shape),
            self.outcomes.reshape(*shape, 6),
            self.endings.reshape(shape),
            self.cubes[:, 0].reshape(shape),
        )

    def _context(self, ply: int) -> CubeContext:
        return self.plan.context.flipped if ply % 2 else self.plan.context

    def _end(self, rows: States, ending: int, values: Array, outcomes: NDArray[np.floating], ply: int) -> None:
        """These games are over: values float64[N] and outcomes float[N, 6] of the player on roll."""
        self.values[rows] = self.plan.context.turned(values) if ply % 2 else values
        self.outcomes[rows] = swap(outcomes) if ply % 2 else outcomes
        self.endings[rows] = ending
        self.going = np.setdiff1d(self.going, rows, assume_unique=True)

    def end_finished(self, ply: int) -> None:
        """Take out the games in which the last checker of a side is off."""
        boards = self.boards[self.going]
        rows = self.going[~((boards > 0).any(axis=1) & (boards < 0).any(axis=1))]
        if len(rows):
            states, columns = _different(self.cubes[rows])
            values, outcomes = self.plan.tree.values(self.boards[rows], states, self._context(ply), 0)
            self._end(rows, BORNE_OFF, values[np.arange(len(rows)), columns], outcomes, ply)

    def end_truncated(self, ply: int) -> None:
        """Judge the games that are left. On his first turn the player on roll does not double any more."""
        rows = self.going
        if not len(rows):
            return
        different, back = unique_boards(self.boards[rows])
        states, columns = _different(self.cubes[rows])
        if ply == 0:
            values, outcomes = self.plan.tree.values(different, states, self._context(ply), 0)
        else:
            found = self.plan.tree.turns(different, states, self._context(ply), 0)
            values, outcomes = found.values, found.outcomes.astype(np.float64)
        self._end(rows, TRUNCATED, values[back, columns], outcomes[back], ply)

    def settle_doubles(self, ply: int) -> None:
        """The player on roll doubles where that is right, and the other one answers."""
        states, columns = _different(self.cubes[self.going])
        context, going = self._context(ply), self.going
        for s, state in enumerate(states):
            wider = expand(state[None], context)
            rows = going[columns == s]
            if wider.doubled[0] < 0 or not len(rows):
                continue
            different, back = unique_boards(self.boards[rows])
            values, outcomes = self.plan.tree.values(different, wider.states, context, self.plan.ply, parallel=False)
            become = _answers(wider, values)[back]
            self.cubes[rows] = wider.states[np.maximum(become, 0)]
            passed = np.flatnonzero(become < 0)
            if len(passed):
                won = np.full(len(passed), wider.passed[0])
                self._end(rows[passed], PASSED if ply % 2 else CASHED, won, outcomes[back[passed]], ply)

    def turn(self, ply: int, stop: Callable[[], bool]) -> None:
        """Roll the dice, note their luck, play them, and turn the table."""
        plan, rows = self.plan, self.going
        dice = rolls(plan.seed, self.trials[rows], ply + 1)
        states, columns = _different(self.cubes[rows])
        chosen: Boards | None = None
        if plan.luck:
            different, back = unique_boards(self.boards[rows])
            found, number = self._all_rolls(different, states, ply, stop), roll_numbers(dice)
            values = found.values.reshape(len(different), len(ROLLS), -1)
            gained = values[back, number, columns] - _mean_of_rolls(values)[back, columns]
            self.luck[rows] += -gained if ply % 2 else gained
            chosen = found.boards.reshape(len(different), len(ROLLS), -1, 26)[back, number, columns]
        elif plan.search is None:
            keys = np.concatenate([self.boards[rows], dice], axis=1)
            pairs, back = np.unique(keys, axis=0, return_inverse=True)
            chosen = self._best(pairs[:, :26], pairs[:, 26:], states, ply).boards[back.reshape(-1), columns]
        if plan.search is not None:
            chosen = self._searched(plan.search, rows, dice, ply)
        assert chosen is not None
        self.boards[rows] = chosen
        self.cubes[rows, 1] *= -1

    def _all_rolls(self, boards: Boards, states: States, ply: int, stop: Callable[[], bool]) -> _Best:
        """`_best` of every roll of ROLLS on every board int8[N, 26]: rows [N * 21]."""
        parts = []
        for start in range(0, len(boards), _TOGETHER):
            if stop():
                raise SearchStopped("the rollout was stopped")
            some = boards[start : start + _TOGETHER]
            parents, dice = np.repeat(some, len(ROLLS), axis=0), np.tile(ROLLS, (len(some), 1))
            parts.append(self._best(parents, dice, states, ply))
        return _Best(np.concatenate([part.values for part in parts]), np.concatenate([part.boards for part in parts]))

    def _best(self, boards: Boards, dice: Boards, states: States, ply: int) -> _Best:
        """The best plays of rolls at 0-ply with each of the cubes."""
        context, tree = self._context(ply), self.plan.tree
        boards = np.ascontiguousarray(boards)
        results = legal_afterstates(boards, np.ascontiguousarray(dice))
        outcomes = afterstate_outcomes(tree.evaluator, boards, results)
        theirs = states * np.array([1, -1], dtype=np.int64)
        found = tree.leaf_turns(results.boards, outcomes, theirs, context.flipped)
        picks = lowest_rows(found, results.offsets)
        return _Best(context.turned(found.values[picks, np.arange(len(states))]), results.boards[picks])

    def _searched(self, search: CubefulSearch, rows: States, dice: Boards, ply: int) -> Boards:
        """What a deeper search chooses, asked once for equal boards, cubes and rolls."""
        keys = np.concatenate([self.boards[rows], dice, self.cubes[rows]], axis=1)
        _, first, back = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        start = self.plan.state
        on_roll = 1 - start.on_roll if ply % 2 else start.on_roll
        seats = {1: on_roll, 0: None, -1: 1 - on_roll}
        states = [
            replace(
                start,
                position=Position(self.boards[row].tolist()),
                on_roll=on_roll,
                cube=int(self.cubes[row, 0]),
                owner=seats[int(self.cubes[row, 1])],
                doubled=False,
                dice=(int(one), int(two)),
            )
            for row, (one, two) in zip(rows[first], dice[first], strict=True)
        ]
        return search.plays(states)[back.reshape(-1)]


class _Best(NamedTuple):
    """The best plays of N rolls with S cubes."""

    values: Array
    """float64[N, S], of the mover, in context units."""
    boards: Boards
    """int8[N, S, 26], the results in the next player's view."""


def _answers(wider: Expansion, values: Array) -> NDArray[np.int64]:
    """Values float64[N, T] of the one state of an Expansion that may be doubled, and of what a double makes of it ->
    int64[N], where in its states the game goes on; -1 after a pass.

    A double must gain: who loses nothing by waiting waits. Between equals the receiver passes, and does not beaver.
    """
    waits, taken = values[:, 0], values[:, wider.doubled[0]]
    passed = np.full(len(values), wider.passed[0])
    beaver = values[:, wider.beavered[0]] if wider.beavered[0] >= 0 else None
    doubles = settle(-np.inf, taken, passed, beaver) > waits
    answer = np.full(len(values), wider.doubled[0])
    if beaver is not None:
        answer[beaver < taken] = wider.beavered[0]
        taken = np.minimum(taken, beaver)
    answer[taken >= passed] = -1
    return np.where(doubles, answer, 0)


def _different(cubes: States) -> tuple[States, NDArray[np.int64]]:
    """int64[N, 2] -> the different cube states int64[S, 2], and for each row which one it has."""
    states, columns = np.unique(cubes, axis=0, return_inverse=True)
    return states, columns.reshape(-1)


def _mean_of_rolls(values: Array) -> Array:
    """float64[N, 21, S] -> float64[N, S], added up in one fixed order: no number depends on its batch."""
    total = np.zeros((len(values), values.shape[2]), dtype=np.float64)
    for r, weight in enumerate(WEIGHTS):
        total += weight * values[:, r]
    return total


def joined(parts: Sequence[CubeGames]) -> CubeGames:
    """Games of successive trials as one."""
    return CubeGames(*(np.concatenate(columns, axis=1) for columns in zip(*parts, strict=True)))
