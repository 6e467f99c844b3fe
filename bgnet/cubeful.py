"""Cubeful lookahead over any Evaluator: cube decisions and checker play, in money and match play, n plies deep.

    search = CubefulSearch(bgnet.load("standard"), ply=2)
    search.decide(state).label           # a bgnet.cube.CubeDecision: "Double, take"
    search.rank(state.roll("31"))[0]     # the best play at this score with this cube

Depth is counted as everywhere here: 0-ply is the Evaluator and the cube formulas alone. `plays`, `doubles` and `takes`
make it a player with a cube.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.cores import cores
from bgnet.cube import (
    CubeDecision,
    Efficiencies,
    check_state,
    checked_efficiency,
    decide,
    decision_from_values,
    exact_values,
    settle,
    should_beaver,
    should_double,
    should_take,
)
from bgnet.cube_context import CubeContext, CubeError
from bgnet.cubeful_tree import CubefulTree, Turns, lowest_rows
from bgnet.evaluators import Evaluator, afterstate_outcomes
from bgnet.match_equity import MatchEquityTable
from bgnet.search import NORMAL, Candidate, MoveFilter
from engine.moves import legal_afterstates
from engine.outcomes import swap
from engine.state import GameState, GameStatus

__all__ = ["CubefulCandidate", "CubefulSearch", "knows_exactly"]

_CLEARLY = 1e-4  # in equity: a double that loses more than this needs no second look

Array = NDArray[np.float64]
Boards = NDArray[np.int8]


@dataclass(frozen=True)
class CubefulCandidate(Candidate):
    """A result of a roll and what it is worth with the cube.

    `equity` is cubeful and per unit of the cube as it stands: in a match, too, losing a single game is -1 and winning
    one +1. `outcome` is cubeless.
    """

    loss: float = 0.0
    """How much less than the best play, >= 0; across depths it says little."""
    mwc: float | None = None
    """The chance to win the match; None in money play."""


class _Group(NamedTuple):
    """States that differ in nothing but the board (and the dice)."""

    rows: list[int]
    context: CubeContext
    cube: int
    owner: int


class CubefulSearch:
    """n-ply lookahead with the cube.

    evaluator: judges the leaves. ply: 0, 1, 2, ... filters: of the plays of a roll, as in bgnet.search, in equity.
    efficiency: as of bgnet.cube.decide: None, a preset or Efficiencies by class with exact bearoffs, a number for the
    formula alone. table: the match equity table, Kazaross-XG2 by default. threads: 0 = all cores. pruner, prune_to: a
    cheaper Evaluator that picks the results of a roll that are judged inside the tree. shared_plays: inside the tree
    the play that suits the cube as it stands is made whatever became of the cube, as GNU Backgammon does it; otherwise
    each cube has its own. stop: called now and then; True raises SearchStopped.

    The answers do not depend on threads or batch, if the Evaluator's rows do not. Thread-safe if the Evaluator is.
    Raises CubeError for wrong settings.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        ply: int = 0,
        *,
        filters: Sequence[MoveFilter] = NORMAL,
        efficiency: float | str | Efficiencies | None = None,
        table: MatchEquityTable | None = None,
        threads: int = 1,
        pruner: Evaluator | None = None,
        prune_to: int = 6,
        shared_plays: bool = False,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        for name, value, low, high in (
            ("ply", ply, 0, 8),
            ("threads", threads, 0, 4096),
            ("prune_to", prune_to, 1, 4096),
        ):
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise CubeError(f"{name} must be a whole number from {low} to {high}, not {value!r}")
        for name, judge in (("evaluator", evaluator), *([] if pruner is None else [("pruner", pruner)])):
            if not isinstance(judge, Evaluator):
                raise CubeError(f"{name} must be an Evaluator, with outcomes(boards), not {judge!r}")
        if not isinstance(filters, Sequence) or not filters or not all(isinstance(f, MoveFilter) for f in filters):
            raise CubeError(f"filters must be at least one move filter (MoveFilter) in a sequence, not {filters!r}")
        if table is not None and not isinstance(table, MatchEquityTable):
            raise CubeError(f"table must be a MatchEquityTable, not {type(table).__name__}")
        self.evaluator = evaluator
        self.ply = ply
        self.filters = tuple(filters)
        self.efficiency = checked_efficiency(efficiency)
        self.table = table
        self._tree = CubefulTree(
            evaluator, self.efficiency, shared_plays=shared_plays, pruner=pruner, prune_to=prune_to,
            threads=threads or cores(), stop=stop,
        )  # fmt: skip
        self._contexts: dict[tuple[Any, ...], CubeContext] = {}

    # ---- cube decisions -----------------------------------------------------------------------------------------

    def decide(self, state: GameState) -> CubeDecision:
        """The cube before a roll, or a double that is pending; see bgnet.cube.decide. Raises CubeError."""
        return self.decide_many([state])[0]

    def decide_many(self, states: Sequence[GameState]) -> list[CubeDecision]:
        """The same for many states, judged together. Raises CubeError."""
        found: dict[int, CubeDecision] = {}
        _check_many(states)
        if self.ply == 0:
            judged = self._outcomes(states)
            return [self._decide_leaf(state, chances) for state, chances in zip(states, judged, strict=True)]
        x = None if isinstance(self.efficiency, Efficiencies) else (self.efficiency, self.efficiency)
        for group in self._groups(states):
            values, outcomes = self._values(states, group, self.ply)
            for i, row in enumerate(group.rows):
                found[row] = decision_from_values(states[row], group.context, _normalised(outcomes[i]), values[i], x)
        return [found[row] for row in range(len(states))]

    def doubles(self, states: Sequence[GameState]) -> NDArray[np.bool_]:
        """bool[N]: whether he doubles in states before the roll; False where the player on roll may not.

        Where a double is optional he keeps the cube. Raises CubeError.
        """
        _check_many(states)
        found = np.zeros(len(states), dtype=np.bool_)
        asked = [row for row, state in enumerate(states) if _checked(state).may_double]
        left = asked
        if self.ply == 0:  # most doubles are clearly wrong, and a decision costs more than that takes to see
            some = [states[row] for row in asked]
            left = [asked[row] for group in self._groups(some) for row in self._near_doubles(some, group)]
        decisions = self.decide_many([states[row] for row in left])
        found[left] = [should_double(decision) for decision in decisions]
        return found

    def takes(self, states: Sequence[GameState]) -> NDArray[np.bool_]:
        """bool[N]: whether he takes as the receiver of a pending double. CubeError where none is pending."""
        decisions = self._of_doubles(states)
        return np.array([should_take(decision) for decision in decisions], dtype=np.bool_)

    def beavers(self, states: Sequence[GameState]) -> NDArray[np.bool_]:
        """bool[N]: whether the receiver of a pending double beavers; False where he may not. CubeError as `takes`."""
        decisions = self._of_doubles(states)
        return np.array([should_beaver(decision) for decision in decisions], dtype=np.bool_)

    def _of_doubles(self, states: Sequence[GameState]) -> list[CubeDecision]:
        _check_many(states)
        for row, state in enumerate(states):
            if not _checked(state).doubled:
                raise CubeError(f"states[{row}]: no double is pending")
        return self.decide_many(states)

    def _decide_leaf(self, state: GameState, outcomes: NDArray[np.floating]) -> CubeDecision:
        return decide(outcomes, state, efficiency=self.efficiency, table=self.table)

    def _near_doubles(self, states: Sequence[GameState], group: _Group) -> list[int]:
        """The rows of a group at 0-ply where a double is right, optional, or nearly so."""
        values, _ = self._values(states, group, 0)
        context, cube = group.context, group.cube
        waits, taken = values[:, 0], values[:, 1]
        doubled = settle(-np.inf, taken, context.won(cube), values[:, 2] if values.shape[1] > 2 else None)
        gains = context.to_equity(doubled, cube) - context.to_equity(waits, cube)
        return [group.rows[i] for i in np.flatnonzero(gains >= -_CLEARLY)]

    def _values(self, states: Sequence[GameState], group: _Group, ply: int) -> tuple[Array, Array]:
        """What `decision_from_values` wants of a group: float64[N, 1, 2 or 3] in context units, and float64[N, 6]."""
        cube, owner, context = group.cube, group.owner, group.context
        cubes = [(cube, owner)]
        if context.may_double(cube, owner) or any(states[row].doubled for row in group.rows):
            cubes.append((2 * cube, -1))
            if context.may_beaver(cube):
                cubes.append((4 * cube, -1))
        boards = np.array([states[row].position.board for row in group.rows])
        return self._tree.values(boards, context.states(cubes), context, ply)

    def _outcomes(self, states: Sequence[GameState]) -> NDArray[np.float32]:
        boards = np.array([_checked(state).position.board for state in states], dtype=np.int8).reshape(-1, 26)
        return self._tree.checked(self.evaluator.outcomes(boards))

    # ---- checker play -------------------------------------------------------------------------------------------

    def rank(self, state: GameState, always: Sequence[Boards] = ()) -> list[CubefulCandidate]:
        """All results of the roll of a state, deepest judged first, and among those of a depth the best first.

        always: results int8[26] (next player's view) that the filters must not drop. What the cube makes equal (the
        opponent cashes after every play, say) is told apart by what it would be worth if he did not double.
        Raises CubeError for a state in which there is nothing to play.
        """
        _check_playable(state)
        group = next(self._groups([state], check=False))
        results = legal_afterstates(state.position.board[None], np.array([state.dice], dtype=np.int8))
        outcomes = afterstate_outcomes(self.evaluator, state.position.board[None], results)
        theirs, opponent = _passed_on(group)
        ranked = _ranked(group, results.boards, self._tree.leaf_turns(results.boards, outcomes, theirs, opponent), 0)
        wanted = {np.asarray(result, dtype=np.int8).tobytes() for result in always}
        left: list[CubefulCandidate] = []
        depths = range(1, self.ply + 1) if len(ranked) > 1 else [self.ply] * (self.ply > 0)
        for ply in depths:
            move_filter = self.filters[min(ply, len(self.filters)) - 1]
            kept = move_filter.keep(np.array([c.equity for c in ranked]))
            rest = ranked[kept:]
            left = [c for c in rest if c.board.tobytes() not in wanted] + left
            boards = np.array([c.board for c in ranked[:kept] + [c for c in rest if c.board.tobytes() in wanted]])
            ranked = _ranked(group, boards, self._tree.turns(boards, theirs, opponent, ply), ply)
        best = ranked[0].equity
        return [replace(c, loss=max(best - c.equity, 0.0)) for c in ranked + left]

    def plays(self, states: Sequence[GameState]) -> Boards:
        """States with dice -> int8[N, 26]: the results he chooses at their score and cube, in the next player's view.

        Raises CubeError for a state in which there is nothing to play.
        """
        _check_many(states)
        out = np.empty((len(states), 26), dtype=np.int8)
        if self.ply > 0:
            for row, state in enumerate(states):
                out[row] = self.rank(state)[0].board
            return out
        for state in states:
            _check_playable(state)
        groups = list(self._groups(states, check=False))
        order = [row for group in groups for row in group.rows]
        if not order:
            return out
        boards = np.array([states[row].position.board for row in order])
        results = legal_afterstates(boards, np.array([states[row].dice for row in order], dtype=np.int8))
        outcomes = afterstate_outcomes(self.evaluator, boards, results)
        first = 0
        for group in groups:
            offsets = results.offsets[first : first + len(group.rows) + 1]
            some = slice(offsets[0], offsets[-1])
            found = self._tree.leaf_turns(results.boards[some], outcomes[some], *_passed_on(group))
            picks = offsets[0] + lowest_rows(found, offsets - offsets[0])[:, 0]
            out[group.rows] = results.boards[picks]
            first += len(group.rows)
        return out

    # ---- states -------------------------------------------------------------------------------------------------

    def _groups(self, states: Sequence[GameState], check: bool = True) -> Iterator[_Group]:
        """States with the same stakes and cube, in the order of their first ones. check: they are before the roll."""
        rows: dict[tuple[Any, ...], list[int]] = {}
        for row, state in enumerate(states):
            if check:
                check_state(state)
            key = (
                state.away, state.crawford, state.jacoby, state.beavers, state.max_cube, state.stakes, state.checkers,
                state.cube, state.cube_owner,
            )  # fmt: skip
            rows.setdefault(key, []).append(row)
        for key, found in rows.items():
            context = self._contexts.get(key[:-2])
            if context is None:
                context = CubeContext.from_state(states[found[0]], self.table)
                self._contexts[key[:-2]] = context
            yield _Group(found, context, *key[-2:])

    def __repr__(self) -> str:
        return f"CubefulSearch({self.evaluator!r}, {self.ply})"


def knows_exactly(state: GameState) -> bool:
    """Whether the two-sided table has the money values of a state without beavers, with each place of its cube."""
    if state.match_length or state.beavers:
        return False
    context = CubeContext.from_state(state)
    cubes = [(state.cube, state.cube_owner), (2 * state.cube, -1)]
    return not np.isnan(exact_values(state.position.board[None], context.states(cubes), context)).any()


def _check_many(states: object) -> None:
    if not isinstance(states, Sequence):
        raise CubeError(f"states must be a sequence of GameStates, not {type(states).__name__}: [state] for one")


def _checked(state: GameState) -> GameState:
    check_state(state)
    return state


def _check_playable(state: GameState) -> None:
    if not isinstance(state, GameState):
        raise CubeError(f"state must be a GameState, not {type(state).__name__}")
    if state.dice is None:
        raise CubeError("there are no dice to play: state.roll(dice) gives some")
    if state.resigned or state.game_state > GameStatus.PLAYING or state.position.ending(state.checkers) is not None:
        raise CubeError("the game is over or offered for resignation: there is nothing to play")


def _passed_on(group: _Group) -> tuple[NDArray[np.int64], CubeContext]:
    """The cube and the stakes as the opponent sees them when it is his turn."""
    return group.context.states([(group.cube, -group.owner)]), group.context.flipped


def _ranked(group: _Group, boards: Boards, found: Turns, ply: int) -> list[CubefulCandidate]:
    """Candidates, the best first, of results judged for the next player."""
    values = group.context.turned(found.values[:, 0])
    equities = group.context.to_equity(values, group.cube)
    outcomes = swap(found.outcomes).astype(np.float32)
    # as lowest_rows orders them
    order = np.lexsort((found.waits[:, 0], np.rint(found.values[:, 0] * 1e9)))
    match = group.context.away is not None
    return [
        CubefulCandidate(boards[i], outcomes[i], float(equities[i]), ply, mwc=float(values[i]) if match else None)
        for i in order
    ]


def _normalised(outcomes: Array) -> Array:
    positive = np.maximum(outcomes, 0.0)
    chances: Array = positive / positive.sum()
    return chances
