"""Are chosen results legal? Cheap enough to ask after every decision (a few microseconds each)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine import Afterstates, Position, legal_afterstates

if TYPE_CHECKING:
    from bgnet.players import Player  # which imports this module

__all__ = ["checked_choices", "legal_choices", "matches"]

Boards = NDArray[np.int8]


def checked_choices(
    name: str, bot: Player, boards: Boards, dice: Boards, error: type[Exception], *, legality: bool = True
) -> Boards:
    """What a bot chooses, int8[N, 26] in the next player's view, held against the rules (or its shape and dtype alone).

    Raises `error`, naming the bot and what is wrong.
    """
    chosen = bot.choose(boards, dice)
    if not isinstance(chosen, np.ndarray) or chosen.shape != boards.shape or chosen.dtype != np.int8:
        got = f"{chosen.dtype}{list(chosen.shape)}" if isinstance(chosen, np.ndarray) else repr(chosen)
        raise error(f"{name} must return int8{list(boards.shape)} from choose(), not {got}")
    legal = legal_choices(boards, dice, chosen) if legality else np.ones(len(boards), dtype=np.bool_)
    if not legal.all():
        row = int(legal.argmin())
        raise error(
            f"{name} chose an illegal result for {Position(boards[row].tolist()).position_id} and the roll "
            f"{dice[row, 0]}-{dice[row, 1]}: {chosen[row].tolist()} (the next player's view)"
        )
    return chosen


def legal_choices(boards: Boards, dice: Boards, chosen: Boards) -> NDArray[np.bool_]:
    """bool[N]: whether each chosen board (the next player's view) is a legal result of its position and roll.

    boards int8[N, 26] (the mover's view), dice int8[N, 2], chosen int8[N, 26]. Raises what
    `engine.legal_afterstates` raises.
    """
    return matches(chosen, legal_afterstates(boards, dice))


def matches(chosen: Boards, legal: Afterstates) -> NDArray[np.bool_]:
    """bool[N]: whether chosen[i] is among row i's results, which are never none."""
    if len(chosen) == 0:
        return np.zeros(0, dtype=np.bool_)
    same = (legal.boards == np.repeat(chosen, np.diff(legal.offsets), axis=0)).all(axis=1)
    return np.logical_or.reduceat(same, legal.offsets[:-1])
