"""Exact one-roll backups: what a position is worth by the best play of each of the 21 rolls.

A small network may pick the results of a roll that the big one judges: at almost no loss and a fraction of the cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.inference import children_outcomes, set_parent, workspace, write_ending
from engine.board import ending, turn
from engine.dice import ROLLS, WEIGHTS
from engine.generator import MAX_RESULTS, generate
from engine.jit import kernel

__all__ = ["Expansion", "backup_position", "backups_kernel", "best_of_rolls_kernel", "expansion"]

_WEIGHTS32 = WEIGHTS.astype(np.float32)


class Expansion(NamedTuple):
    """Scratch memory for the results of all rolls of a position, and what is found out about them."""

    turned: NDArray[np.int8]
    """int8[26], the position in the next player's view."""
    results: NDArray[np.int8]
    """int8[21 * MAX_RESULTS, 26], the results of the rolls, one roll after the other."""
    outcomes: NDArray[np.float32]
    """float32[21 * MAX_RESULTS, 6], their outcomes."""
    equities: NDArray[np.float32]
    """float32[MAX_RESULTS], of one roll's results."""
    starts: NDArray[np.int64]
    """int64[22], where each roll's results begin."""
    best: NDArray[np.int64]
    """int64[21], the row of each roll's best result."""


@kernel
def expansion():
    """-> Expansion for one thread. Memory that is never used is never taken."""
    return Expansion(
        np.empty(26, dtype=np.int8),
        np.empty((21 * MAX_RESULTS, 26), dtype=np.int8),
        np.empty((21 * MAX_RESULTS, 6), dtype=np.float32),
        np.empty(MAX_RESULTS, dtype=np.float32),
        np.zeros(22, dtype=np.int64),
        np.zeros(21, dtype=np.int64),
    )


@kernel
def _equity(payoff, outcome):
    """outcome float32[6] in the next player's view -> the equity for the player who moved."""
    equity = np.float32(0.0)
    for j in range(6):
        equity += payoff[(j + 3) % 6] * outcome[j]
    return equity


@kernel
def _prune(payoff, keep, x):
    """The expansion with outcomes by the pruner -> with each roll's best `keep` results only, in their old order."""
    results, equities, starts = x.results, x.equities, x.starts
    first = 0
    total = 0
    for k in range(21):
        n = starts[k + 1] - first
        for r in range(n):
            equities[r] = _equity(payoff, x.outcomes[first + r])
        for _ in range(min(keep, n)):
            top = 0
            for r in range(1, n):
                if equities[r] > equities[top]:
                    top = r
            equities[top] = -np.inf  # the mark of those that stay
        for r in range(n):
            if equities[r] == -np.inf:
                results[total] = results[first + r]
                total += 1
        first = starts[k + 1]
        starts[k + 1] = total


@kernel
def backup_position(net, pruner, keep, payoff, board, work, pruner_work, x, out):
    """board int8[26], not finished -> out float32[6], the mean over the rolls of the outcome after the best play.

    The expansion x then holds the results that were judged, their outcomes in the next player's view and the row of
    each roll's best (the first of equals). Of a roll's results the pruner's best `keep` are judged by net. All rolls
    are judged together, in full blocks of rows.
    """
    turn(board, x.turned)
    results, outcomes, starts = x.results, x.outcomes, x.starts
    total = 0
    many = False
    for k in range(21):
        n = generate(board, int(ROLLS[k, 0]), int(ROLLS[k, 1]), results[total:])
        many |= n > keep
        total += n
        starts[k + 1] = total
    if many:
        set_parent(pruner, x.turned, pruner_work)
        children_outcomes(pruner, results, 0, total, pruner_work, outcomes)
        _prune(payoff, keep, x)
        total = starts[21]
    set_parent(net, x.turned, work)
    children_outcomes(net, results, 0, total, work, outcomes)
    out[:] = 0.0
    for k in range(21):
        best = starts[k]
        most = np.float32(-np.inf)
        for r in range(starts[k], starts[k + 1]):
            equity = _equity(payoff, outcomes[r])
            if equity > most:
                most = equity
                best = r
        x.best[k] = best
        for j in range(6):
            out[j] += _WEIGHTS32[k] * outcomes[best, (j + 3) % 6]


@kernel
def best_of_rolls_kernel(net, pruner, keep, payoff, boards, best, outcomes):
    """boards int8[N, 26], none finished -> best int8[N, 21, 26], the best result of each roll, and their outcomes
    float32[N, 21, 6], both in the next player's view. Of a roll's results the pruner's best `keep` are judged by net.
    """
    work = workspace(net)
    pruner_work = workspace(pruner)
    x = expansion()
    board = np.empty(26, dtype=np.int8)
    backup = np.empty(6, dtype=np.float32)
    for i in range(boards.shape[0]):
        board[:] = boards[i]
        backup_position(net, pruner, keep, payoff, board, work, pruner_work, x, backup)
        for k in range(21):
            best[i, k] = x.results[x.best[k]]
            outcomes[i, k] = x.outcomes[x.best[k]]


@kernel
def backups_kernel(net, payoff, boards, out):
    """boards int8[N, 26] -> out float32[N, 6], exact one-roll backups in the same view; a finished game is exact."""
    work = workspace(net)
    x = expansion()
    board = np.empty(26, dtype=np.int8)
    for i in range(boards.shape[0]):
        over = ending(boards[i], net.checkers)
        if over >= 0:
            write_ending(over, out[i])
        else:
            board[:] = boards[i]
            backup_position(net, net, MAX_RESULTS, payoff, board, work, work, x, out[i])
