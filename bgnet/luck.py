"""The luck of rolls: what a roll is worth, less what rolls are worth on average there, by one fixed reference.

A roll is worth what the reference, an Evaluator, gives for the best play of it, at its own depth (0-ply: the bare
network). Luck is a function of the board and the roll alone, never of the play that is made, and its mean over the
rolls is subtracted. So its expectation is exactly zero, and results without it mean the same as results, whoever the
reference is; a good one only makes them spread less. The opening roll is never a double: there the mean is that of the
15 others.

Of a wide network's results the shipped network `small` picks a few of each roll that it then judges: what a roll is
worth stays a function of board and roll alone, so nothing is biased, and it takes less than half the time.

bgnet.lockstep takes the luck off rollouts by the same idea, for each of the six endings; here it is points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bgnet.evaluators import Evaluator
from bgnet.search import PRUNE_TO, best_of_all_rolls, unique_boards, usual_pruner
from engine.dice import ROLLS, WEIGHTS, roll_numbers

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
        self._pruner = usual_pruner(reference)

    def __call__(
        self, boards: NDArray[np.int8], dice: NDArray[np.int8], *, opening: bool = False
    ) -> NDArray[np.float64]:
        """Boards int8[N, 26] before the roll, none finished, and rolls int8[N, 2] -> float64[N], points for the mover.

        opening: these are the games' opening rolls. Raises LuckError when the reference gives no finite chances.
        """
        different, back = unique_boards(boards)
        values = values_of_rolls(self.reference, different, self.payoff, self._pruner)
        means = np.zeros(len(different), dtype=np.float64)
        for r, weight in enumerate(
            OPENING_WEIGHTS if opening else WEIGHTS
        ):  # in one fixed order: the numbers must not depend on the batch
            means += weight * values[:, r]
        luck: NDArray[np.float64] = values[back, roll_numbers(dice)] - means[back]
        return luck


def values_of_rolls(
    evaluator: Evaluator,
    boards: NDArray[np.int8],
    payoff: NDArray[np.float32],
    pruner: Evaluator | None = None,
) -> NDArray[np.float64]:
    """Boards int8[N, 26], none finished -> float64[N, 21]: the mover's points after the best play of each of ROLLS.

    Best and points are the evaluator's word, of the results that the pruner picks if there is one. Raises LuckError
    when it gives no finite chances.
    """
    values = np.empty((len(boards), len(ROLLS)), dtype=np.float64)
    for start in range(0, len(boards), _TOGETHER):
        some = slice(start, start + _TOGETHER)
        _, outcomes = best_of_all_rolls(evaluator, boards[some], payoff, pruner, PRUNE_TO)
        values[some] = 0.0
        for j in range(6):  # the results are in the next player's view: his losses are the mover's wins
            values[some] += float(payoff[(j + 3) % 6]) * outcomes[:, :, j]
    if not np.isfinite(values).all():
        raise LuckError(f"the reference {evaluator!r} gives chances that are not finite numbers")
    return values
