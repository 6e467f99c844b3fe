"""What it is worth to resign, and what to make of such an offer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bgnet.cube_context import CubeContext
from bgnet.cube_values import cubeful_values
from bgnet.cubeful import CubefulSearch
from engine.outcomes import LOSE
from engine.state import GameState

__all__ = ["equity_of_resigning", "equity_of_turn"]


def equity_of_resigning(state: GameState, level: int, context: CubeContext) -> float:
    """What the player on roll has once he has lost by a level (1 single game, 2 gammon, 3 backgammon) -> equity.

    Per unit of the cube as it stands, in a match too; the Jacoby rule counts. context: of the state.
    """
    ending = np.eye(6, dtype=np.float64)[LOSE + level - 1]
    value = cubeful_values(ending[None], [[state.cube, state.cube_owner]], context, 0.0)[0, 0]
    return float(context.to_equity(value, state.cube))


def equity_of_turn(search: CubefulSearch, state: GameState) -> float:
    """What the player on roll can expect, after the best play of his roll or with the best use of the cube before it.

    Per unit of the cube as it stands. An offer to resign that is pending is left out of account.
    """
    state = replace(state, resigned=0)
    return search.decide(state).best if state.dice is None else search.rank(state)[0].equity
