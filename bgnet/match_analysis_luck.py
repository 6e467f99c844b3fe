"""The luck of rolls with the cube and at the score: what the best play of a roll is worth, less the mean over rolls.

Judged at 0-ply, as GNU Backgammon judges luck: it is a difference of many like values, and its mean is zero whoever
judges. The opening roll also decides who starts, so there the mean goes over the 30 throws of two different dice, half
of which give the first play to the other player.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bgnet.cube_context import CubeContext
from bgnet.cube_efficiency import Efficiencies
from bgnet.cubeful_tree import CubefulTree, lowest_rows
from bgnet.evaluators import Evaluator, afterstate_outcomes
from engine.dice import ROLLS, WEIGHTS, roll_numbers
from engine.moves import legal_afterstates
from engine.state import GameState

__all__ = ["JudgedRoll", "LuckJudge", "luck_mark"]

_TOGETHER = 64  # states whose 21 rolls are expanded in one go
_OPENING = np.where(ROLLS[:, 0] == ROLLS[:, 1], 0.0, 1 / 30)
_MARKS = ((0.600, "very lucky", "very unlucky"), (0.300, "lucky", "unlucky"))  # as GNU Backgammon's

Context = Callable[[GameState], CubeContext]
Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JudgedRoll:
    """A roll and its luck."""

    turn: int
    """Of the game, both players' turns counted from 1."""
    seat: int
    state: GameState
    """With the dice, before they are played."""
    luck: float
    """In equity, per unit of the cube as it stands."""
    stake_luck: float
    """In points with the cube as it stands; in a match the chance to win it."""
    opening: bool = False

    @property
    def mark(self) -> str:
        """ "lucky", "very unlucky" ..., or nothing."""
        return luck_mark(self.luck)


def luck_mark(luck: float) -> str:
    """The word for a roll's luck in equity; empty below 0.300 either way."""
    for limit, good, bad in _MARKS:
        if abs(luck) >= limit:
            return good if luck > 0 else bad
    return ""


class LuckJudge:
    """Judges rolls. context: of a state; the rest as of bgnet.cubeful.CubefulSearch."""

    def __init__(
        self, evaluator: Evaluator, efficiency: float | Efficiencies, context: Context, stop: Callable[[], bool]
    ) -> None:
        self.evaluator = evaluator
        self.context = context
        self.stop = stop
        self._tree = CubefulTree(
            evaluator, efficiency, shared_plays=False, pruner=None, prune_to=6, threads=1, stop=stop
        )

    def judge(self, rolls: Sequence[tuple[int, GameState, bool]]) -> list[JudgedRoll]:
        """(turn, state with dice, whether it is an opening roll) of each roll -> its luck, in the same order."""
        states = [state for _, state, _ in rolls]
        others = [_started_by_the_other(state) for _, state, opening in rolls if opening]
        values = self.values_of_rolls([*states, *others])
        other = iter(values[len(states) :])
        judged = []
        for (turn, state, opening), row in zip(rolls, values, strict=False):
            context = self.context(state)
            mean = float((row * WEIGHTS).sum())
            if opening:
                mean = float((row * _OPENING).sum() + (context.turned(next(other)) * _OPENING).sum())
            assert state.dice is not None
            rolled = row[roll_numbers(np.array([state.dice], dtype=np.int8))[0]]
            equities = context.to_equity([rolled, mean], state.cube)
            judged.append(
                JudgedRoll(turn, state.on_roll, state, float(equities[0] - equities[1]), float(rolled - mean), opening)
            )
        return judged

    def values_of_rolls(self, states: Sequence[GameState]) -> Array:
        """States, none of a finished game -> float64[N, 21]: what the best play of each roll of ROLLS is worth to the
        player on roll, in context units, his opponent on roll next with the cube as it stands.
        """
        out = np.empty((len(states), len(ROLLS)), dtype=np.float64)
        groups: dict[tuple[int, int, int], list[int]] = {}
        for row, state in enumerate(states):
            groups.setdefault((id(self.context(state)), state.cube, state.cube_owner), []).append(row)
        for (_, cube, owner), rows in groups.items():
            context = self.context(states[rows[0]])
            for start in range(0, len(rows), _TOGETHER):
                some = rows[start : start + _TOGETHER]
                boards = np.array([states[row].position.board for row in some], dtype=np.int8)
                out[some] = self._values(boards, cube, owner, context)
        return out

    def _values(self, boards: NDArray[np.int8], cube: int, owner: int, context: CubeContext) -> Array:
        parents = np.repeat(boards, len(ROLLS), axis=0)
        results = legal_afterstates(parents, np.tile(ROLLS, (len(boards), 1)))
        outcomes = afterstate_outcomes(self.evaluator, parents, results)
        theirs = context.states([(cube, -owner)])
        found = self._tree.leaf_turns(results.boards, outcomes, theirs, context.flipped)
        picks = lowest_rows(found, results.offsets)[:, 0]
        values: Array = context.turned(found.values[picks, 0]).reshape(len(boards), len(ROLLS))
        return values


def _started_by_the_other(state: GameState) -> GameState:
    """The same start of a game with the other player on roll."""
    return replace(state, position=state.position.flipped(), on_roll=1 - state.on_roll)
