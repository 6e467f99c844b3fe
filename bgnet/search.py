"""Lookahead: n-ply values and choices over any Evaluator, exact averages over all 21 rolls.

The 0-ply value of a position is its Evaluator's. Its n-ply value (n >= 1) is the mean over all rolls of the (n-1)-ply
value after the play that is best at 0-ply: as GNU Backgammon counts and prunes. A choice at n ply ranks all
results at 0-ply, keeps the most promising by the move filters, judges these one ply deeper, and so on.

Everything is judged in batches: the positions of a level are expanded together, equal ones only once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bgnet.backups import best_of_rolls_kernel
from bgnet.cores import cores
from bgnet.evaluators import Evaluator, NetEvaluator, afterstate_outcomes, load
from bgnet.transpositions import Transpositions
from engine.dice import ROLLS, WEIGHTS
from engine.errors import EngineError
from engine.generator import MAX_RESULTS
from engine.jit import kernel
from engine.moves import Afterstates, check_boards, check_dice, legal_afterstates
from engine.outcomes import swap
from engine.rules import MONEY
from engine.steps import read_dice

__all__ = [
    "NARROW", "NORMAL", "PRUNE_TO", "Candidate", "MoveFilter", "Search", "SearchStopped",
    "best_of_all_rolls", "best_rows", "mean_over_rolls", "prune", "unique_boards", "usual_pruner",
]  # fmt: skip

PRUNE_TO = 8
"""Results of a roll that a pruner leaves, unless said: the best is nearly always among them."""
_WIDE = 1024  # first-layer units from which a pruner pays (2-ply with 512 was slower by a third)
_CHUNK = 64  # positions expanded together: 64 * 21 rolls * about 16 results are 20,000 boards


class SearchStopped(Exception):
    """The search was asked to stop before it had an answer."""


@dataclass(frozen=True)
class MoveFilter:
    """Which candidates are judged one ply deeper: the best `always`, and up to `extra` more within `within` points."""

    always: int
    extra: int
    within: float

    def __post_init__(self) -> None:
        whole = all(isinstance(n, int) and not isinstance(n, bool) for n in (self.always, self.extra))
        if not whole or self.always < 1 or self.extra < 0 or not self.within >= 0:
            raise EngineError(f"a move filter needs always >= 1, extra >= 0 and within >= 0, not {self}")

    def keep(self, equities: NDArray[np.floating]) -> int:
        """How many of the falling equities survive."""
        close = int(np.count_nonzero(equities >= equities[0] - self.within))
        return min(len(equities), max(self.always, min(close, self.always + self.extra)))


NARROW = (MoveFilter(1, 3, 0.08), MoveFilter(1, 1, 0.04), MoveFilter(1, 1, 0.02))
NORMAL = (MoveFilter(1, 7, 0.16), MoveFilter(1, 3, 0.08), MoveFilter(1, 1, 0.04))
"""Filters after 0-, 1- and 2-ply."""


@dataclass(frozen=True)
class Candidate:
    """A result of a roll and what it is worth."""

    board: NDArray[np.int8]
    """int8[26], in the next player's view."""
    outcome: NDArray[np.float32]
    """float32[6], in the mover's view."""
    equity: float
    """Points, for the mover."""
    ply: int
    """The depth at which it was judged."""


class Search:
    """n-ply lookahead: an Evaluator and a Player.

    evaluator: judges the leaves. ply: 0, 1, 2, ... payoff: float32[6]. filters: one MoveFilter for each depth
    that is left behind (fewer: the last one counts on). pruner, prune_to: a cheaper Evaluator that picks the
    results of a roll that `evaluator` judges inside the tree. threads: 0 = all cores. cache_mb: bound of the memory of
    values that were searched before. stop: called now and then; True raises SearchStopped.
    The answers do not depend on threads, cache or batch, if the Evaluator's rows do not. Thread-safe.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        ply: int,
        payoff: NDArray[np.float32] = MONEY.payoff,
        filters: Sequence[MoveFilter] = NORMAL,
        *,
        pruner: Evaluator | None = None,
        prune_to: int = PRUNE_TO,
        threads: int = 1,
        cache_mb: float = 64.0,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        if not isinstance(ply, int) or isinstance(ply, bool) or not 0 <= ply <= 8:
            raise EngineError(f"ply must be a whole number from 0 to 8, not {ply!r}")
        if not filters:
            raise EngineError("a search needs at least one move filter")
        for name, value, least in (("prune_to", prune_to, 1), ("threads", threads, 0)):
            if not isinstance(value, int) or value < least:
                raise EngineError(f"{name} must be a whole number of at least {least}, not {value!r}")
        payoff = np.require(payoff, np.float32, ["C"])
        if payoff.shape != (6,):
            raise EngineError(f"a payoff is six numbers, not {payoff.shape}")
        self.evaluator = evaluator
        self.ply = ply
        self.payoff = payoff
        self.filters = tuple(filters)
        self.pruner = pruner
        self.prune_to = prune_to
        self.stop = stop
        self.threads = threads or cores()
        self._memory = [Transpositions(cache_mb / max(ply, 1)) for _ in range(ply)]
        self._lock = threading.Lock()

    # ---- values -----------------------------------------------------------------------------------------------

    def outcomes(self, boards: NDArray[np.int8]) -> NDArray[np.float32]:
        """int8[N, 26] -> float32[N, 6], the n-ply outcomes for the player on roll; a finished game is exact."""
        info = getattr(self.evaluator, "info", None)
        return self._values(check_boards(boards, checkers=info.checkers if info else 15), self.ply)

    def _values(self, boards: NDArray[np.int8], ply: int) -> NDArray[np.float32]:
        if ply == 0 or not len(boards):
            return self.evaluator.outcomes(boards)
        different, back = unique_boards(boards)
        memory = self._memory[ply - 1]
        with self._lock:
            values, missing = memory.look_up(different)
        if len(missing):
            found = self._expand_all(different[missing], ply)
            values[missing] = found
            with self._lock:
                memory.store(different[missing], found)
        return values[back]

    def _expand_all(self, boards: NDArray[np.int8], ply: int) -> NDArray[np.float32]:
        chunks = [boards[i : i + _CHUNK] for i in range(0, len(boards), _CHUNK)]
        if self.threads == 1 or ply != self.ply or len(boards) < 2:
            return np.concatenate([self._expand(chunk, ply) for chunk in chunks])
        share = max(1, min(_CHUNK, -(-len(boards) // (4 * self.threads))))
        chunks = [boards[i : i + share] for i in range(0, len(boards), share)]
        with ThreadPoolExecutor(self.threads, thread_name_prefix="search") as pool:
            return np.concatenate(list(pool.map(lambda chunk: self._expand(chunk, ply), chunks)))

    def _expand(self, boards: NDArray[np.int8], ply: int) -> NDArray[np.float32]:
        """boards int8[N, 26] -> float32[N, 6], their ply-values from those one ply below."""
        if self.stop():
            raise SearchStopped("the search was stopped")
        going = (boards > 0).any(axis=1) & (boards < 0).any(axis=1)
        out = np.empty((len(boards), 6), dtype=np.float32)
        if not going.all():
            out[~going] = self.evaluator.outcomes(boards[~going])  # exact, by the Evaluator's contract
        if going.any():
            best, outcomes = best_of_all_rolls(self.evaluator, boards[going], self.payoff, self.pruner, self.prune_to)
            if ply > 1:
                outcomes = self._values(best.reshape(-1, 26), ply - 1).reshape(outcomes.shape)
            out[going] = mean_over_rolls(outcomes)
        return out

    # ---- choices ----------------------------------------------------------------------------------------------

    def choose(self, boards: NDArray[np.int8], dice: NDArray[np.int8]) -> NDArray[np.int8]:
        """int8[N, 26], int8[N, 2] -> int8[N, 26], the chosen results in the next player's view."""
        boards = check_boards(boards, finished=False)
        dice = check_dice(dice, len(boards))
        out = np.empty_like(boards)
        for i in range(len(boards)):
            out[i] = self.rank(boards[i], dice[i])[0].board
        return out

    def rank(
        self, board: NDArray[np.int8], dice: NDArray[np.int8], always: Sequence[NDArray[np.int8]] = ()
    ) -> list[Candidate]:
        """All results of one roll, deepest judged first, and among those of a depth the best first.

        board int8[26], dice int8[2]. always: results int8[26] (next player's view) that the filters must not drop.
        """
        roll = np.array(read_dice(np.asarray(dice).tolist()), dtype=np.int8)
        results = legal_afterstates(board[None], roll[None])
        outcomes = swap(afterstate_outcomes(self.evaluator, board[None], results)).astype(np.float32)
        ranked = _ranked(results.boards, outcomes, self.payoff, 0)
        if len(ranked) == 1:
            return ranked if self.ply == 0 else self._deeper(ranked, self.ply)
        wanted = {np.asarray(result, dtype=np.int8).tobytes() for result in always}
        left: list[Candidate] = []
        for ply in range(1, self.ply + 1):
            move_filter = self.filters[min(ply, len(self.filters)) - 1]
            kept = move_filter.keep(np.array([c.equity for c in ranked]))
            rest = ranked[kept:]
            left = [c for c in rest if c.board.tobytes() not in wanted] + left
            ranked = self._deeper(ranked[:kept] + [c for c in rest if c.board.tobytes() in wanted], ply)
        return ranked + left

    def _deeper(self, candidates: list[Candidate], ply: int) -> list[Candidate]:
        boards = np.array([c.board for c in candidates])
        values = self._values(boards, ply)
        return _ranked(boards, swap(values).astype(np.float32), self.payoff, ply)

    def __repr__(self) -> str:
        return f"Search({self.evaluator!r}, {self.ply})"


def best_of_all_rolls(
    evaluator: Evaluator,
    boards: NDArray[np.int8],
    payoff: NDArray[np.float32],
    pruner: Evaluator | None = None,
    prune_to: int = PRUNE_TO,
) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """The best 0-ply result of each of the 21 rolls (in the order of engine.dice.ROLLS), and its outcome.

    boards int8[N, 26], none finished, payoff float32[6] -> int8[N, 21, 26] and float32[N, 21, 6], both in the next
    player's view. pruner: a cheaper Evaluator that picks the `prune_to` results of a roll that `evaluator` judges.
    """
    if type(evaluator) is NetEvaluator and (pruner is None or type(pruner) is NetEvaluator):  # a subclass may differ
        best = np.empty((len(boards), len(ROLLS), 26), dtype=np.int8)
        judged = np.empty((len(boards), len(ROLLS), 6), dtype=np.float32)
        picker, keep = (evaluator, MAX_RESULTS) if pruner is None else (pruner, prune_to)
        best_of_rolls_kernel(evaluator.folded, picker.folded, keep, payoff, np.ascontiguousarray(boards), best, judged)
        return best, judged
    parents = np.repeat(boards, len(ROLLS), axis=0)
    results = legal_afterstates(parents, np.tile(ROLLS, (len(boards), 1)))
    if pruner is not None:
        results = prune(pruner, prune_to, payoff, parents, results)
    outcomes = afterstate_outcomes(evaluator, parents, results)
    picks = best_rows(outcomes, payoff, results.offsets)
    shape = (len(boards), len(ROLLS))
    return results.boards[picks].reshape(*shape, 26), outcomes[picks].reshape(*shape, 6)


def usual_pruner(evaluator: Evaluator) -> Evaluator | None:
    """Who picks the results that a wide network judges: the shipped network `small`; None where that would not pay.

    On 800 judged decisions a 1-ply search loses as much with it as without (paired difference 0.08 +-0.10 thousandths
    of a point in its favour), in half the time.
    """
    if type(evaluator) is NetEvaluator and evaluator.info.sizes[1] >= _WIDE and evaluator.info.checkers == 15:
        return load("small")
    return None


def mean_over_rolls(outcomes: NDArray[np.float32]) -> NDArray[np.float32]:
    """float32[N, 21, 6] in the next player's view -> their mean over the rolls, float32[N, 6], in the mover's.

    In double precision and one fixed order, so that a position's value does not depend on its batch.
    """
    total = np.zeros((len(outcomes), 6))
    for r, weight in enumerate(WEIGHTS):
        total += weight * swap(outcomes[:, r]).astype(np.float64)
    return total.astype(np.float32)


def best_rows(
    outcomes: NDArray[np.float32], payoff: NDArray[np.float32], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Ragged outcomes float32[M, 6] (next player's view), offsets int64[N + 1] -> int64[N], each segment's best row.

    Best for the one who has moved; the first of equals.
    """
    picks = np.empty(len(offsets) - 1, dtype=np.int64)
    _best_rows(np.require(outcomes, np.float32, ["C", "W"]), payoff, offsets, picks)
    return picks


def prune(
    pruner: Evaluator, keep: int, payoff: NDArray[np.float32], parents: NDArray[np.int8], results: Afterstates
) -> Afterstates:
    """The `keep` results of each roll that the pruner likes best, in their old order."""
    equities = swap(afterstate_outcomes(pruner, parents, results)).astype(np.float64) @ payoff.astype(np.float64)
    kept = []
    offsets = np.zeros_like(results.offsets)
    for i, (start, end) in enumerate(pairwise(results.offsets.tolist())):
        rows = start + np.sort(np.argsort(-equities[start:end], kind="stable")[:keep])
        kept.append(rows)
        offsets[i + 1] = offsets[i] + len(rows)
    return Afterstates(results.boards[np.concatenate(kept)], offsets)


def _ranked(
    boards: NDArray[np.int8], outcomes: NDArray[np.float32], payoff: NDArray[np.float32], ply: int
) -> list[Candidate]:
    """Candidates, the best first. outcomes float32[N, 6] in the mover's view."""
    equities = outcomes.astype(np.float64) @ payoff.astype(np.float64)
    order = np.argsort(-equities, kind="stable")
    return [Candidate(boards[i], outcomes[i], float(equities[i]), ply) for i in order]


def unique_boards(boards: NDArray[np.int8]) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """int8[N, K], boards and what else may stand behind them in a row -> the different rows, and for every row the
    index of its like.
    """
    keys = np.ascontiguousarray(boards).view(np.dtype((np.void, boards.shape[1]))).ravel()
    _, first, back = np.unique(keys, return_index=True, return_inverse=True)
    return boards[first], back.reshape(-1)


@kernel
def _best_rows(outcomes, payoff, offsets, out):
    """outcomes float32[M, 6], payoff float32[6], offsets int64[N + 1] -> out int64[N], see best_rows."""
    for i in range(offsets.shape[0] - 1):
        best = offsets[i]
        best_equity = -np.inf
        for k in range(offsets[i], offsets[i + 1]):
            equity = 0.0
            for j in range(6):
                equity += payoff[(j + 3) % 6] * outcomes[k, j]
            if equity > best_equity:
                best_equity = equity
                best = k
        out[i] = best
