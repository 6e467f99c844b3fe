"""The tree of a cubeful search: positions valued some plies deep, each with several cubes at once.

Nobody's doubles are predicted. The cube states of the root are carried through the tree; on the way down each node
adds the states that a double there would lead to (`bgnet.cube_values.expand`), and on the way up both players choose.
The formula for live cubes is applied at the leaves only. As in bgnet.search, the plays inside the tree are the ones
that are best at 0-ply, here by their cubeful values: with each cube its own.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.cube_context import CubeContext, CubeError
from bgnet.cube_efficiency import Efficiencies, leaf_values
from bgnet.cube_values import cubeful_values, expand
from bgnet.cubeful_kernels import lowest_kernel
from bgnet.evaluators import Evaluator, afterstate_outcomes
from bgnet.search import SearchStopped, prune, unique_boards
from engine.dice import ROLLS, WEIGHTS
from engine.moves import legal_afterstates
from engine.outcomes import swap

__all__ = ["CubefulTree", "Turns", "lowest_rows"]

_CHUNK = 64  # positions expanded together, as in bgnet.search

Array = NDArray[np.float64]
Boards = NDArray[np.int8]
States = NDArray[np.int64]
Floats = NDArray[np.floating]


class Turns(NamedTuple):
    """N positions whose player on roll may double, in his view."""

    values: Array
    """float64[N, S], with each cube, in context units (bgnet.cube_context)."""
    waits: Array
    """float64[N, S], if he does not double now: tells apart what a pass makes equal."""
    outcomes: Floats
    """float[N, 6], the chances that go with them, when the plays are those that suit the first cube."""


class CubefulTree:
    """Values of positions with cubes. The arguments are those of bgnet.cubeful.CubefulSearch, checked."""

    def __init__(
        self,
        evaluator: Evaluator,
        efficiency: float | Efficiencies,
        *,
        shared_plays: bool,
        pruner: Evaluator | None,
        prune_to: int,
        threads: int,
        stop: Callable[[], bool],
    ) -> None:
        self.evaluator = evaluator
        self.efficiency = efficiency
        self.shared_plays = shared_plays
        self.pruner = pruner
        self.prune_to = prune_to
        self.threads = threads
        self.stop = stop

    def values(
        self, boards: Boards, states: States, context: CubeContext, ply: int, *, parallel: bool = True
    ) -> tuple[Array, Array]:
        """int8[N, 26] and cubes int64[S, 2], the player on roll not doubling now -> float64[N, S], float64[N, 6].

        The values are in context units, the chances those of the first cube. Rows of finished games are exact.
        """
        if ply == 0 or not len(boards):
            outcomes = self.evaluator.outcomes(boards).astype(np.float64)
            return self._leaves(boards, outcomes, states, context), outcomes
        different, back = unique_boards(boards)
        share, threads = _CHUNK, 1
        if parallel and self.threads > 1 and len(different) > 1:
            threads = self.threads
            share = max(1, min(_CHUNK, -(-len(different) // (4 * threads))))
        chunks = [different[i : i + share] for i in range(0, len(different), share)]

        def expanded(chunk: Boards) -> tuple[Array, Array]:
            return self._expand(chunk, states, context, ply, parallel and threads == 1)

        if threads == 1:
            found = [expanded(chunk) for chunk in chunks]
        else:
            with ThreadPoolExecutor(threads, thread_name_prefix="cubeful") as pool:
                found = list(pool.map(expanded, chunks))
        values = np.concatenate([part for part, _ in found])
        outcomes = np.concatenate([part for _, part in found])
        return values[back], outcomes[back]

    def turns(self, boards: Boards, states: States, context: CubeContext, ply: int, *, parallel: bool = True) -> Turns:
        """The same for a player on roll who may double."""
        wider = expand(states, context)
        values, outcomes = self.values(boards, wider.states, context, ply, parallel=parallel)
        return Turns(wider.collapse(values), values[:, : len(states)], outcomes)

    def leaf_turns(self, boards: Boards, outcomes: Floats, states: States, context: CubeContext) -> Turns:
        """`turns` at 0-ply of boards that have been judged."""
        wider = expand(states, context)
        values = self._leaves(boards, outcomes, wider.states, context)
        return Turns(wider.collapse(values), values[:, : len(states)], outcomes)

    def checked(self, outcomes: Floats) -> Floats:
        """What the evaluator gave; CubeError if that is not a row of six finite chances each."""
        if outcomes.shape[1:] != (6,) or not np.isfinite(outcomes).all():
            raise CubeError(
                f"{self.evaluator!r} must give finite chances float32[N, 6], not {outcomes.shape} or numbers that are "
                "not finite"
            )
        return outcomes

    def _leaves(self, boards: Boards, outcomes: Floats, states: States, context: CubeContext) -> Array:
        self.checked(outcomes)  # everything that it says passes here
        if isinstance(self.efficiency, Efficiencies):
            return leaf_values(boards, outcomes, states, context, self.efficiency)
        return cubeful_values(outcomes, states, context, self.efficiency)

    def _expand(
        self, boards: Boards, states: States, context: CubeContext, ply: int, parallel: bool
    ) -> tuple[Array, Array]:
        """`values` of different boards, from those one ply below."""
        if self.stop():
            raise SearchStopped("the search was stopped")
        going = (boards > 0).any(axis=1) & (boards < 0).any(axis=1)
        if going.all():
            return self._mean_of_rolls(boards, states, context, ply, parallel)
        values, outcomes = self.values(boards, states, context, 0)
        if going.any():
            values[going], outcomes[going] = self._mean_of_rolls(boards[going], states, context, ply, parallel)
        return values, outcomes

    def _mean_of_rolls(
        self, boards: Boards, states: States, context: CubeContext, ply: int, parallel: bool
    ) -> tuple[Array, Array]:
        """Boards that are not finished: every roll played with every cube, the opponent on roll next."""
        theirs, opponent = states * np.array([1, -1], dtype=np.int64), context.flipped
        parents = np.repeat(boards, len(ROLLS), axis=0)
        results = legal_afterstates(parents, np.tile(ROLLS, (len(boards), 1)))
        if self.pruner is not None:
            results = prune(self.pruner, self.prune_to, _payoff(states, context), parents, results)
        outcomes = afterstate_outcomes(self.evaluator, parents, results)
        found = self.leaf_turns(results.boards, outcomes, theirs, opponent)
        picks = lowest_rows(found, results.offsets)
        if self.shared_plays:
            picks[:] = picks[:, :1]
        if ply > 1:
            rows = np.unique(picks)  # for each roll one result, or a few where the cube matters to the play
            found = self.turns(results.boards[rows], theirs, opponent, ply - 1, parallel=parallel)
            picks = lowest_rows(found, np.searchsorted(rows, results.offsets))
        shape = (len(boards), len(ROLLS), -1)
        values = found.values[picks, np.arange(len(states))].reshape(shape)
        chances = found.outcomes[picks[:, 0]].reshape(shape)
        return context.turned(_mean(values)), swap(_mean(chances)).astype(np.float64)


def lowest_rows(found: Turns, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Ragged results of rolls, judged for the next player, offsets int64[N + 1] -> int64[N, S]: with each cube the row
    that leaves him least.
    """
    picks = np.empty((len(offsets) - 1, found.values.shape[1]), dtype=np.int64)
    lowest_kernel(np.ascontiguousarray(found.values), np.ascontiguousarray(found.waits), offsets, picks)
    return picks


def _mean(values: Floats) -> Array:
    """float[N, 21, K] -> float64[N, K], added up in one fixed order, so that no row depends on its batch."""
    total = np.zeros((len(values), values.shape[2]), dtype=np.float64)
    for r, weight in enumerate(WEIGHTS):
        total += weight * values[:, r].astype(np.float64)
    return total


def _payoff(states: States, context: CubeContext) -> NDArray[np.float32]:
    """float32[6], what the endings are worth with the first cube if it is never turned."""
    endings = np.eye(6, dtype=np.float64)
    return cubeful_values(endings, states[:1], context, 0.0)[:, 0].astype(np.float32)
