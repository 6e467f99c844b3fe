"""The luck of rolls: what a roll is worth, less what rolls are worth on average there, by one fixed reference.

A roll is worth what the reference, an Evaluator, gives for the best play of it, at its own depth (0-ply: the bare
network). Luck is a function of the board and the roll alone, never of the play that is made, and its mean over the
rolls is subtracted. So its expectation is exactly zero, and results without it mean the same as results, whoever the
reference is; a good one only makes them spread less. The opening roll is never a double: there the mean is that of the
15 others.

bgnet.lockstep takes the luck off rollouts by the same idea, for each of the six endings; here it is points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bgnet.evaluators import Evaluator, NetEvaluator
from bgnet.inference import best_child, set_parent, workspace
from bgnet.search import best_of_all_rolls, unique_boards
from bgnet.strata import roll_numbers
from engine.board import turn
from engine.dice import ROLLS, WEIGHTS
from engine.generator import MAX_RESULTS, generate
from engine.jit import kernel

__all__ = ["DEFAULT_REFERENCE", "OPENING_WEIGHTS", "Luck", "LuckError", "values_of_rolls"]

DEFAULT_REFERENCE = "net:flagship"
"""Who judges luck when nobody is named: the best network there is leaves the least luck in the results. A smaller one
takes less time for each game."""
OPENING_WEIGHTS = np.where(ROLLS[:, 0] == ROLLS[:, 1], 0.0, 1 / 15)
"""float64[21]: the chance of each roll of ROLLS to be a game's opening roll."""
OPENING_WEIGHTS.flags.writeable = False

_TOGETHER = 64  # boards whose 21 rolls are expanded in one go: what they need stays in the cache


class LuckError(ValueError):
    """A reference that does not give what it must."""


class Luck:
    """The luck of rolls in points, by one reference.

    payoff: float32[6], the points of the six endings. The answers do not depend on the batch, if the reference's rows
    do not.
    """

    def __init__(self, reference: Evaluator, payoff: NDArray[np.float32]) -> None:
        self.reference = reference
        self.payoff = payoff

    def __call__(
        self, boards: NDArray[np.int8], dice: NDArray[np.int8], *, opening: bool = False
    ) -> NDArray[np.float64]:
        """Boards int8[N, 26] before the roll, none finished, and rolls int8[N, 2] -> float64[N], points for the mover.

        opening: these are the games' opening rolls. Raises LuckError when the reference gives no finite chances.
        """
        different, back = unique_boards(boards)
        values = values_of_rolls(self.reference, different, self.payoff)
        means = np.zeros(len(different), dtype=np.float64)
        for r, weight in enumerate(
            OPENING_WEIGHTS if opening else WEIGHTS
        ):  # in one fixed order: the numbers must not depend on the batch
            means += weight * values[:, r]
        luck: NDArray[np.float64] = values[back, roll_numbers(dice)] - means[back]
        return luck


def values_of_rolls(evaluator: Evaluator, boards: NDArray[np.int8], payoff: NDArray[np.float32]) -> NDArray[np.float64]:
    """Boards int8[N, 26], none finished -> float64[N, 21]: the mover's points after the best play of each of ROLLS.

    Best and points are the evaluator's word. Raises LuckError when it gives no finite chances.
    """
    values = np.empty((len(boards), len(ROLLS)), dtype=np.float64)
    if type(evaluator) is NetEvaluator:  # a subclass may judge otherwise
        _values_kernel(evaluator.folded, payoff, np.ascontiguousarray(boards), values)
        return values
    for start in range(0, len(boards), _TOGETHER):
        some = slice(start, start + _TOGETHER)
        _, outcomes = best_of_all_rolls(evaluator, boards[some], payoff)
        values[some] = 0.0
        for j in range(6):  # the results are in the next player's view: his losses are the mover's wins
            values[some] += float(payoff[(j + 3) % 6]) * outcomes[:, :, j]
    if not np.isfinite(values).all():
        raise LuckError(f"the reference {evaluator!r} gives chances that are not finite numbers")
    return values


@kernel
def _values_kernel(net, payoff, boards, out):
    """net, payoff float32[6], boards int8[N, 26], none finished -> out float64[N, 21], as values_of_rolls."""
    work = workspace(net)
    results = np.empty((MAX_RESULTS, 26), dtype=np.int8)
    equities = np.empty(MAX_RESULTS, dtype=np.float32)
    board = np.empty(26, dtype=np.int8)
    turned = np.empty(26, dtype=np.int8)
    outcome = np.empty(6, dtype=np.float32)
    for i in range(boards.shape[0]):
        board[:] = boards[i]
        turn(board, turned)
        set_parent(net, turned, work)
        for k in range(21):
            n = generate(board, int(ROLLS[k, 0]), int(ROLLS[k, 1]), results)
            best = best_child(net, payoff, results, n, work, equities, outcome)
            out[i, k] = equities[best]
