"""Exact one-roll backups: what a position is worth by the best play of each of the 21 rolls.

A small network may pick the results of a roll that the big one judges: at almost no loss and a fraction of the cost.
"""

from __future__ import annotations

import numpy as np

from bgnet.inference import best_child, set_parent, workspace, write_ending
from engine.board import ending, turn
from engine.dice import ROLLS, WEIGHTS
from engine.generator import MAX_RESULTS, generate
from engine.jit import kernel

__all__ = ["backup_position", "backups_kernel", "roll_index"]

_WEIGHTS32 = WEIGHTS.astype(np.float32)


@kernel
def roll_index(die1, die2):
    """Two dice -> the index of their roll in engine.dice.ROLLS."""
    high = max(die1, die2)
    return high * (high - 1) // 2 + min(die1, die2) - 1


@kernel
def _keep_best(results, equities, n, keep):
    """results int8[n, 26], equities float32[n] -> the `keep` best results moved to the front, in their old order."""
    for _ in range(n - keep):
        worst = 0
        for r in range(1, n):
            if equities[r] <= equities[worst]:
                worst = r
        for r in range(worst, n - 1):
            results[r] = results[r + 1]
            equities[r] = equities[r + 1]
        n -= 1


@kernel
def backup_position(
    net, pruner, keep, payoff, board, turned, work, pruner_work, results, equities, best_boards, best_outcomes, out
):
    """board int8[26], not finished -> out float32[6], the mean over the rolls of the outcome after the best play.

    best_boards int8[21, 26] and best_outcomes float32[21, 6] are those plays, in the next player's view. Of a roll's
    results the pruner's best `keep` are judged by net. turned, the workspaces, results and equities are scratch.
    """
    turn(board, turned)
    set_parent(net, turned, work)
    pruned = False
    out[:] = 0.0
    for k in range(21):
        n = generate(board, int(ROLLS[k, 0]), int(ROLLS[k, 1]), results)
        if n > keep:
            if not pruned:
                set_parent(pruner, turned, pruner_work)
                pruned = True
            best_child(pruner, payoff, results, n, pruner_work, equities, best_outcomes[k])
            _keep_best(results, equities, n, keep)
            n = keep
        best = best_child(net, payoff, results, n, work, equities, best_outcomes[k])
        best_boards[k] = results[best]
        for j in range(6):
            out[j] += _WEIGHTS32[k] * best_outcomes[k, (j + 3) % 6]


@kernel
def backups_kernel(net, payoff, boards, out):
    """boards int8[N, 26] -> out float32[N, 6], exact one-roll backups in the same view; a finished game is exact."""
    work = workspace(net)
    results = np.empty((MAX_RESULTS, 26), dtype=np.int8)
    equities = np.empty(MAX_RESULTS, dtype=np.float32)
    board = np.empty(26, dtype=np.int8)
    turned = np.empty(26, dtype=np.int8)
    best_boards = np.empty((21, 26), dtype=np.int8)
    best_outcomes = np.empty((21, 6), dtype=np.float32)
    for i in range(boards.shape[0]):
        over = ending(boards[i], net.checkers)
        if over >= 0:
            write_ending(over, out[i])
        else:
            board[:] = boards[i]
            backup_position(
                net, net, MAX_RESULTS, payoff, board, turned, work, work, results, equities,
                best_boards, best_outcomes, out[i],
            )  # fmt: skip
