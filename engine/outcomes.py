"""The six endings of a game, and the one conversion to the cumulative five that others print.

An outcome is float[..., 6]: chances of the six endings for the player on roll before he rolls.
They exclude each other and sum to 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import ArrayError

__all__ = [
    "CUMULATIVE", "LOSE", "LOSE_BACKGAMMON", "LOSE_GAMMON", "NAMES", "WIN", "WIN_BACKGAMMON", "WIN_GAMMON",
    "from_cumulative", "swap", "to_cumulative",
]  # fmt: skip

WIN, WIN_GAMMON, WIN_BACKGAMMON, LOSE, LOSE_GAMMON, LOSE_BACKGAMMON = range(6)
NAMES = ("win", "win_gammon", "win_backgammon", "lose", "lose_gammon", "lose_backgammon")
CUMULATIVE = ("win", "gammon_win", "backgammon_win", "gammon_loss", "backgammon_loss")
"""The cumulative five: a win contains the gammons, a gammon the backgammons."""


def _last_axis(values: ArrayLike, size: int, what: str) -> NDArray[np.floating]:
    array = np.asarray(values)
    if not np.issubdtype(array.dtype, np.floating):
        array = array.astype(np.float64)
    if array.ndim == 0 or array.shape[-1] != size:
        raise ArrayError(f"{what} need {size} numbers on the last axis, not an array of shape {array.shape}")
    return array


def swap(outcomes: ArrayLike) -> NDArray[np.floating]:
    """The same chances seen by the other player: float[..., 6] -> float[..., 6]."""
    return np.roll(_last_axis(outcomes, 6, "outcomes"), 3, axis=-1)


def to_cumulative(outcomes: ArrayLike) -> NDArray[np.floating]:
    """float[..., 6] -> float[..., 5]: win, win gammon, win backgammon, lose gammon, lose backgammon.

    Cumulative: a win contains the gammons, a gammon the backgammons.
    """
    o = _last_axis(outcomes, 6, "outcomes")
    win_gammon = o[..., WIN_GAMMON] + o[..., WIN_BACKGAMMON]
    lose_gammon = o[..., LOSE_GAMMON] + o[..., LOSE_BACKGAMMON]
    win = o[..., WIN] + win_gammon
    return np.stack([win, win_gammon, o[..., WIN_BACKGAMMON], lose_gammon, o[..., LOSE_BACKGAMMON]], axis=-1)


def from_cumulative(chances: ArrayLike) -> NDArray[np.floating]:
    """float[..., 5] (see `to_cumulative`) -> float[..., 6]; the inverse.

    Other engines round, so a difference may come out a hair below 0; it is returned as it is.
    """
    c = _last_axis(chances, 5, "cumulative chances")
    win, win_gammon, win_backgammon, lose_gammon, lose_backgammon = (c[..., i] for i in range(5))
    return np.stack(
        [
            win - win_gammon,
            win_gammon - win_backgammon,
            win_backgammon,
            1 - win - lose_gammon,
            lose_gammon - lose_backgammon,
            lose_backgammon,
        ],
        axis=-1,
    )
