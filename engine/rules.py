"""What a win is worth, and which of the optional rules are in force. How checkers move never changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.board import HYPERGAMMON_BOARD, NACKGAMMON_BOARD, START_BOARD
from engine.errors import EngineError

__all__ = ["CLUB", "DMP", "FOLD_UP", "JUNIOR", "MONEY", "PRESETS", "TOWEL", "VARIANTS", "RuleSet", "match"]


@dataclass(frozen=True)
class RuleSet:
    """A way to play for stakes."""

    name: str
    stakes: tuple[float, float, float] = (1.0, 2.0, 3.0)
    """Points for a single game, a gammon and a backgammon, with the cube at 1."""
    checkers: int = 15
    """Checkers a side: 15, or 3 for Hypergammon."""
    cube: bool = True
    """Whether there is a doubling cube."""
    max_cube: int | None = None
    """The cube's highest face; None = no limit."""
    jacoby: bool = False
    """Gammons and backgammons count only once the cube has been turned (money play only)."""
    beavers: bool = False
    """A player who takes may redouble at once and keep the cube (money play only)."""
    match_length: int = 0
    """Points that win the match; 0 = money play."""
    crawford: bool = True
    """In a match: no doubling in the first game in which a player needs one point."""

    def __post_init__(self) -> None:
        for name in ("checkers", "match_length"):
            if type(getattr(self, name)) is not int:
                raise EngineError(f"rules {self.name!r}: {name} must be a whole number, not {getattr(self, name)!r}")
        if not 1 <= self.checkers <= 15:
            raise EngineError(f"rules {self.name!r}: checkers must be 1..15, not {self.checkers!r}")
        single, gammon, backgammon = self.stakes
        if not 0 < single <= gammon <= backgammon:
            raise EngineError(f"rules {self.name!r}: stakes must be positive and not fall, not {self.stakes!r}")
        if self.max_cube is not None and (
            type(self.max_cube) is not int or self.max_cube < 1 or self.max_cube & (self.max_cube - 1)
        ):
            raise EngineError(f"rules {self.name!r}: max_cube must be a power of two, not {self.max_cube!r}")
        if self.match_length < 0:
            raise EngineError(f"rules {self.name!r}: match_length must be >= 0, not {self.match_length!r}")
        if self.match_length and (self.jacoby or self.beavers):
            raise EngineError(f"rules {self.name!r}: Jacoby and beavers belong to money play, not to matches")

    @cached_property
    def payoff(self) -> NDArray[np.float32]:
        """float32[6], read-only: points of the six endings; `outcomes @ rules.payoff` is the equity."""
        payoff = np.array([*self.stakes, *(-s for s in self.stakes)], dtype=np.float32)
        payoff.flags.writeable = False
        return payoff


JUNIOR = RuleSet("junior", stakes=(1.0, 1.0, 1.0), cube=False)
"""Sheet A: a junior race game; every win counts the same."""
CLUB = RuleSet("club", max_cube=64)
"""Sheet B: single, gammon, backgammon and a cube that stops at 64."""
FOLD_UP = RuleSet("fold-up", stakes=(1.0, 1.0, 1.0), cube=False)
"""Sheet C: a fold-up leather set; every win counts the same."""
TOWEL = RuleSet("towel", stakes=(1.0, 1.0, 1.0), cube=False)
"""Sheet D: a towel set; every win counts the same."""
MONEY = RuleSet("money")
"""Money play as engines assume it: 1, 2, 3 points, no Jacoby, no beavers, no cube limit."""
DMP = RuleSet("dmp", stakes=(1.0, 1.0, 1.0), cube=False, match_length=1)
"""Double match point: the winner of this game wins the match."""

PRESETS = {rules.name: rules for rules in (JUNIOR, CLUB, FOLD_UP, TOWEL, MONEY, DMP)}

VARIANTS = {
    "backgammon": (START_BOARD, 15),
    "nackgammon": (NACKGAMMON_BOARD, 15),
    "hypergammon": (HYPERGAMMON_BOARD, 3),
}
"""Name -> (start board, checkers a side). How checkers move is the same in all of them."""


def match(length: int) -> RuleSet:
    """Match play to `length` points with the Crawford rule."""
    if type(length) is not int or length < 1:
        raise EngineError(f"a match needs at least 1 point, not {length!r}")
    return RuleSet(f"match:{length}", match_length=length)
