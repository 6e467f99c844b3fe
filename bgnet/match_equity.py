"""Match equity tables: the chance to win the match from every score.

    table = default_table()              # Kazaross-XG2, to 25 points
    table.pre[2, 4]                      # who needs 2 points against 4, before the next game
    table.post[3]                        # who needs 3 against 1, the Crawford game played
    table.after((5, 3), 2, won=False)    # once he has lost two points

Files are read and written by bgnet.match_equity_files, tables computed by `MatchEquityTable.from_rates`.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgnet.match_equity_build import GameRates, MatchEquityError, build_arrays, extend_arrays
from bgnet.match_equity_lookup import chance_after

__all__ = ["LONGEST", "GameRates", "MatchEquityError", "MatchEquityTable", "default_table"]

LONGEST = 64
"""Points up to which a shorter table is continued."""

_TABLES = Path(__file__).parent / "tables"
_ROUNDING = 0.011  # printed tables go down to whole per cents


class MatchEquityTable:
    """Chances to win the match by what both players still need.

    pre_crawford[n, n]: [i][j] of a player who needs i + 1 points against j + 1, before the next game; row and column
    0 are the Crawford game. post_crawford[n]: [i] of one who needs i + 1 against 1 after the Crawford game; a shorter
    one is continued. Raises MatchEquityError for what is no such table (shape, range, not monotone, two chances that
    do not sum to 1 within rounding).
    """

    pre: NDArray[np.float64]
    """float64[n + 1, n + 1], indexed by the points needed, read-only; pre[0] is 1 and pre[:, 0] is 0: the match is won
    or lost."""
    post: NDArray[np.float64]
    """float64[n + 1], indexed by the points that the trailer needs, read-only; post[0] is 1."""

    def __init__(self, name: str, pre_crawford: ArrayLike, post_crawford: ArrayLike, *, source: str = "") -> None:
        self.name = name
        self.source = source
        """Where the numbers come from."""
        pre, post = _checked(name, pre_crawford, post_crawford)
        self._set(pre, post)

    @classmethod
    def from_rates(
        cls, length: int = 25, rates: GameRates | None = None, *, name: str = "computed", source: str = ""
    ) -> MatchEquityTable:
        """A table computed by dynamic programming from how games end; see bgnet.match_equity_build."""
        rates = rates or GameRates()
        if type(length) is not int or not 1 <= length <= LONGEST:
            raise MatchEquityError(f"a table goes to 1..{LONGEST} points, not {length!r}")
        pre, post = build_arrays(length, rates)
        return cls(name, pre[1:, 1:], post[1:], source=source or f"dynamic programming from {rates}")

    def _set(self, pre: NDArray[np.float64], post: NDArray[np.float64]) -> None:
        pre.flags.writeable = post.flags.writeable = False
        self.pre, self.post = pre, post

    @property
    def length(self) -> int:
        """The most points a player may need."""
        return len(self.post) - 1

    def chance(self, away: tuple[int, int], *, crawford_over: bool = False) -> float:
        """The chance of a player who needs away[0] points against away[1], before the next game; 1 or 0 once it is won.

        crawford_over: the Crawford game has been played, one of them needs a single point. Raises MatchEquityError.
        """
        own, other = _needs(away, low=-10_000)
        if own <= 0 and other <= 0:
            raise MatchEquityError(f"{own} and {other} points away: only one player can have won")
        if own <= 0 or other <= 0:
            return 1.0 if own <= 0 else 0.0
        table = self.reaching(max(own, other))
        if not crawford_over:
            return float(table.pre[own, other])
        if min(own, other) > 1:
            raise MatchEquityError(f"{own}-away {other}-away: after the Crawford game somebody needs a single point")
        return float(table.post[own]) if other == 1 else 1.0 - float(table.post[other])

    def after(self, away: tuple[int, int], points: int, *, won: bool, crawford: bool = False) -> float:
        """The chance of a player once he has won (or lost) a game for so many points; what is over is worth nothing.

        away: what he and his opponent needed before. crawford: it was the Crawford game. Raises MatchEquityError.
        """
        own, other = _needs(away, low=1)
        if not isinstance(points, (int, np.integer)) or points < 0:
            raise MatchEquityError(f"points must be a whole number of at least 0, not {points!r}")
        if crawford and min(own, other) > 1:
            raise MatchEquityError(f"{own}-away {other}-away: in the Crawford game somebody needs a single point")
        table = self.reaching(max(own, other))
        return chance_after(table.pre, table.post, (own, other), int(points), won, crawford)

    def reaching(self, points: int) -> MatchEquityTable:
        """This table, or if it is too short the one that continues it up to LONGEST points.

        The scores beyond the table are computed from those in it by dynamic programming with the default GameRates.
        Raises MatchEquityError for more points.
        """
        if points <= self.length:
            return self
        if points > LONGEST:
            raise MatchEquityError(
                f"{self.name}: {points} points away; the table has {self.length} points and is continued to {LONGEST}"
            )
        return self._longest

    @cached_property
    def _longest(self) -> MatchEquityTable:
        longer = object.__new__(type(self))
        longer.name = self.name
        longer.source = f"{self.source}; beyond {self.length} points: dynamic programming from {GameRates()}"
        longer._set(*extend_arrays(self.pre, self.post, LONGEST, GameRates()))
        return longer

    def __repr__(self) -> str:
        return f"MatchEquityTable({self.name!r}, {self.length} points)"


@lru_cache(maxsize=1)
def default_table() -> MatchEquityTable:
    """Kazaross-XG2: 25 points, from N. Kazaross' rollouts; the table that GNU Backgammon starts with."""
    from bgnet.match_equity_files import read_table

    return read_table(_TABLES / "kazaross_xg2.json")


def _needs(away: tuple[int, int], low: int) -> tuple[int, int]:
    try:
        own, other = away
    except (TypeError, ValueError) as error:
        raise MatchEquityError(f"away must be two numbers, own and opponent's, not {away!r}") from error
    for points in (own, other):
        if not isinstance(points, (int, np.integer)) or points < low:
            raise MatchEquityError(f"away must be whole numbers{f' of at least {low}' * (low > 0)}, not {away!r}")
    return int(own), int(other)


def _checked(
    name: str, pre_crawford: ArrayLike, post_crawford: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The arrays of MatchEquityTable, indexed by points needed."""
    try:
        given = np.asarray(pre_crawford, dtype=np.float64)
        given_post = np.asarray(post_crawford, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MatchEquityError(f"{name}: the rows must hold numbers and be equally long ({error})") from error
    n = len(given) if given.ndim else 0
    if given.shape != (n, n) or n < 1:
        raise MatchEquityError(f"{name}: pre_crawford must be a square of numbers, not of shape {given.shape}")
    if given_post.ndim != 1 or not 1 <= len(given_post) <= n:
        raise MatchEquityError(
            f"{name}: post_crawford must be a row of 1 to {n} numbers, not of shape {given_post.shape}"
        )
    for label, array in (("pre_crawford", given), ("post_crawford", given_post)):
        wrong = np.argwhere(~((array >= 0) & (array <= 1)))
        if len(wrong):
            place = "".join(f"[{i}]" for i in wrong[0])
            raise MatchEquityError(f"{name}: {label}{place} is {array[tuple(wrong[0])]}, not a chance from 0 to 1")
    uneven = np.abs(given + given.T - 1.0)
    if uneven.max() > _ROUNDING:
        i, j = np.unravel_index(int(uneven.argmax()), uneven.shape)
        raise MatchEquityError(
            f"{name}: {i + 1}-away {j + 1}-away, the two players have {given[i, j]} and {given[j, i]}, not 1 together"
        )
    if (np.diff(given, axis=0) > 0).any() or (np.diff(given, axis=1) < 0).any() or (np.diff(given_post) > 0).any():
        raise MatchEquityError(
            f"{name}: who needs more points must not have the better chance (rows and columns mixed?)"
        )
    pre = np.full((n + 1, n + 1), 0.5, dtype=np.float64)
    pre[1:, 1:] = given
    pre[0], pre[:, 0] = 1.0, 0.0
    post = np.concatenate([[1.0], given_post])
    return extend_arrays(pre, post, n, GameRates())
