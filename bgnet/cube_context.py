"""What a cube decision depends on besides the position: the rules of money play, or the score of a match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgnet.cube_levels import CubeLevels, levels_of
from bgnet.match_equity import MatchEquityTable, default_table
from engine.errors import EngineError
from engine.outcomes import LOSE, WIN
from engine.state import CUBE_TOP, GameState

__all__ = ["CubeContext", "CubeContexts", "CubeError"]

States = NDArray[np.int64]


class CubeError(EngineError):
    """A state or chances on which no cube decision can be taken."""


@dataclass(frozen=True)
class CubeContext:
    """The stakes as one player sees them, whoever holds the cube: `flipped` is what his opponent sees.

    Values "in context units" are points with the cube as it stands in money play (a win with the cube at 4 is worth 4)
    and the chance to win the match in a match; so values of different cubes can be compared. `to_equity` normalises.

    Immutable; raises CubeError for what cannot be. What is derived from it is computed once and kept.
    """

    away: tuple[int, int] | None = None
    """Points that (the player on roll, his opponent) need to win the match; None in money play."""
    crawford: bool = False
    """This is the Crawford game. Another game in which a player needs one point is a post-Crawford game."""
    jacoby: bool = False
    beavers: bool = False
    max_cube: int | None = None
    """The cube's highest face, None = no limit."""
    stakes: tuple[int, int, int] = (1, 2, 3)
    """Points for a single game, a gammon and a backgammon, with the cube at 1; a pass is a single game."""
    checkers: int = 15
    """A side, at the start of a game: with all of them on the board a gammon can be lost."""
    table: MatchEquityTable | None = None
    """Of a match; None there means the default table, in money play nothing."""

    def __post_init__(self) -> None:
        if self.max_cube is not None and (self.max_cube < 1 or self.max_cube & (self.max_cube - 1)):
            raise CubeError(f"max_cube must be a power of two, not {self.max_cube!r}")
        single, gammon, backgammon = self.stakes
        if not 0 < single <= gammon <= backgammon:
            raise CubeError(f"stakes must be positive and not fall, not {self.stakes!r}")
        if self.away is None:
            if self.crawford:
                raise CubeError("the Crawford game belongs to matches, and this is money play")
            object.__setattr__(self, "table", None)
            return
        if self.jacoby or self.beavers:
            raise CubeError("the Jacoby rule and beavers belong to money play, not to matches")
        if len(self.away) != 2 or not all(isinstance(n, (int, np.integer)) and n >= 1 for n in self.away):
            raise CubeError(f"away must be two whole numbers of at least 1, not {self.away!r}")
        if self.crawford and min(self.away) > 1:
            raise CubeError(f"in the Crawford game a player needs one point, not {self.away[0]} and {self.away[1]}")
        object.__setattr__(self, "away", (int(self.away[0]), int(self.away[1])))
        object.__setattr__(self, "table", (self.table or default_table()).reaching(max(self.away)))

    @classmethod
    def from_state(cls, state: GameState, table: MatchEquityTable | None = None) -> CubeContext:
        """The context of a game, seen by the player on roll. table: of a match, the default one if None.

        Raises CubeError for a match that is won, MatchEquityError for one that is too long for the table.
        """
        away = state.away
        if away is not None and min(away) < 1:
            raise CubeError(f"the match to {state.match_length} is over at {state.score[0]}-{state.score[1]}")
        return cls(
            away,
            crawford=state.crawford,
            jacoby=state.jacoby,
            beavers=state.beavers,
            max_cube=state.max_cube,
            stakes=state.stakes,
            checkers=state.checkers,
            table=table,
        )

    @cached_property
    def flipped(self) -> CubeContext:
        """The same stakes seen by the opponent."""
        if self.away is None:
            return self
        other = replace(self, away=self.away[::-1])
        other.__dict__["flipped"] = self
        return other

    @cached_property
    def levels(self) -> CubeLevels:
        """What the match kernel needs; of a match only."""
        if self.away is None or self.table is None:
            raise CubeError("money play has no score")
        pre, post = self.table.pre, self.table.post
        return levels_of(pre, post, self.away, crawford=self.crawford, max_cube=self.max_cube, stakes=self.stakes)

    @property
    def top_cube(self) -> int:
        """The highest cube there can be."""
        return min(self.max_cube or CUBE_TOP, CUBE_TOP)

    def may_double(self, cube: int, owner: int) -> bool:
        """Whether the player on roll may double a cube; as engine.actions has it, not where a win with the cube as it
        stands settles the match.
        """
        if owner < 0 or cube >= self.top_cube:
            return False
        if self.away is None:
            return True
        own, _ = self.away
        return not self.crawford and own > cube * self.stakes[0]

    def may_beaver(self, cube: int) -> bool:
        """Whether the receiver of a double from this cube may turn it once more at once and keep it."""
        return self.beavers and 4 * cube <= self.top_cube

    def won(self, cube: int) -> float:
        """What it is worth, in context units, that the opponent passes a double from this cube."""
        return self._settled(cube, WIN)

    def lost(self, cube: int) -> float:
        """What it is worth, in context units, to pass the opponent's double from this cube."""
        return self._settled(cube, LOSE)

    def _settled(self, cube: int, ending: int) -> float:
        if self.away is None:
            return float(cube * self.stakes[0] * (1 if ending == WIN else -1))
        level = min(cube.bit_length(), len(self.levels.after)) - 1
        return float(self.levels.after[level, ending])

    def to_equity(self, values: ArrayLike, cube: int) -> NDArray[np.float64]:
        """Context units -> equity per unit of the cube: losing a single game is -1, winning one +1."""
        won, lost = self.won(cube), self.lost(cube)
        return (2.0 * np.asarray(values, dtype=np.float64) - won - lost) / (won - lost)

    def from_equity(self, equities: ArrayLike, cube: int) -> NDArray[np.float64]:
        """The inverse of `to_equity`."""
        won, lost = self.won(cube), self.lost(cube)
        return 0.5 * (np.asarray(equities, dtype=np.float64) * (won - lost) + won + lost)

    def turned(self, values: ArrayLike) -> NDArray[np.float64]:
        """Values in the opponent's `flipped` context -> in this one."""
        array = np.asarray(values, dtype=np.float64)
        return -array if self.away is None else 1.0 - array

    def states(self, pairs: Sequence[tuple[int, int]]) -> States:
        """Cube states int64[S, 2] from (cube value, owner) pairs, the owner +1, 0 or -1 for the player on roll.

        Raises CubeError.
        """
        for cube, owner in pairs:
            if cube < 1 or cube & (cube - 1):
                raise CubeError(f"a cube shows a power of two, not {cube!r}")
            if owner not in (-1, 0, 1):
                raise CubeError(f"the owner of a cube is +1, 0 or -1, not {owner!r}")
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)


class CubeContexts:
    """The contexts of states, each made once, since they keep what they have computed. table: as of `from_state`."""

    def __init__(self, table: MatchEquityTable | None = None) -> None:
        self._table = table
        self._known: dict[tuple[object, ...], CubeContext] = {}

    def __call__(self, state: GameState) -> CubeContext:
        key = (state.away, state.crawford, state.jacoby, state.beavers, state.max_cube, state.stakes, state.checkers)
        if key not in self._known:
            self._known[key] = CubeContext.from_state(state, self._table)
        return self._known[key]
