"""The luck of rolls in games for stakes, with the cube and at the score, by one fixed reference.

A roll is worth what the best play of it leaves, the opponent's next double included, in points or in chances to win the
match (bgnet.match_analysis_luck). Its luck is that less the mean over the rolls, so its expectation is exactly zero
whoever the reference is, and results without it mean the same as results. It is a function of the state and the roll;
what is lost or won by decisions, the cube's too, stays in the result.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bgnet.cube import checked_efficiency
from bgnet.cube_context import CubeContexts, CubeError
from bgnet.evaluators import Evaluator
from bgnet.luck import LuckError
from bgnet.match_analysis_luck import LuckJudge
from engine.state import GameState

__all__ = ["StakesLuck"]


class StakesLuck:
    """The luck of rolls by a reference at 0-ply. The answers do not depend on the batch, if the reference's rows do
    not."""

    def __init__(self, reference: Evaluator) -> None:
        self.reference = reference
        self._judge = LuckJudge(reference, checked_efficiency(None), CubeContexts(), lambda: False)

    def __call__(self, states: Sequence[GameState], openings: Sequence[bool]) -> NDArray[np.float64]:
        """States with dice, and whether these are their games' opening rolls -> float64[N], for the player on roll.

        In points with the cube as it stands; in a match in chances to win it. Raises LuckError when the reference gives
        no finite chances.
        """
        rolls = [(0, state, opening) for state, opening in zip(states, openings, strict=True)]
        try:
            return np.array([judged.stake_luck for judged in self._judge.judge(rolls)], dtype=np.float64)
        except CubeError as error:
            raise LuckError(f"luck cannot be judged: {error}") from error
