"""Cube efficiency: how much of a live cube's worth is in a position, by its class; and exact values where tables know.

Classes: two-sided bearoff (all checkers home, at most six a side, no gammon possible: the exact table knows), one-sided
bearoff (all checkers home), race (no contact left), contact.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgnet.cube_context import CubeContext, CubeError
from bgnet.cube_values import cubeful_values
from engine.bearoff import TWO_SIDED_MOST, TwoSided, two_sided
from engine.bearoff_build import CENTRED, OPPONENTS_CUBE, OWN_CUBE
from engine.homeboard import POINTS, extent
from engine.jit import kernel
from engine.moves import check_boards

__all__ = [
    "EFFICIENCIES", "GNUBG_107", "GNUBG_108", "CubeClass", "Efficiencies", "classes", "efficiencies", "exact_values",
    "leaf_efficiencies", "leaf_values",
]  # fmt: skip

Array = NDArray[np.float64]
Boards = NDArray[np.int8]


class CubeClass(enum.IntEnum):
    """What kind of position it is, for the cube."""

    CONTACT = 0
    RACE = 1
    ONE_SIDED = 2
    TWO_SIDED = 3


@dataclass(frozen=True)
class Efficiencies:
    """Cube efficiency x by class, from 0 (the cube is never turned again) to 1 (turned at exactly the right moment).

    Raises CubeError for values out of range.
    """

    contact: float = 0.68
    race_base: float = 0.55
    """In a race x = race_base + race_per_pip * (pips of the player on roll), kept within race_low..race_high."""
    race_per_pip: float = 0.00125
    race_low: float = 0.60
    race_high: float = 0.70
    one_sided: float = 0.60
    two_sided: float = 0.60
    """At most, where the exact money value says what x was; and where that does not say (money values by formula)."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not 0.0 <= value <= 1.0:
                raise CubeError(f"cube efficiency {field.name} must be from 0 to 1, not {value!r}")
        if self.race_low > self.race_high:
            raise CubeError(f"race_low {self.race_low} is above race_high {self.race_high}")


GNUBG_107 = Efficiencies()
"""GNU Backgammon 1.07 (`show cubeefficiency`), and 1.08 at 2-ply and deeper."""
GNUBG_108 = Efficiencies(contact=0.76, race_base=0.60, race_per_pip=0.0025, race_high=0.80)
"""GNU Backgammon 1.08 at 0- and 1-ply."""
EFFICIENCIES = {"gnubg-1.07": GNUBG_107, "gnubg-1.08": GNUBG_108}
"""The presets by name."""


def classes(boards: Boards, checkers: int = 15) -> NDArray[np.int8]:
    """int8[N, 26] -> int8[N], the CubeClass of each; checkers: a side, at the start of a game.

    Raises ArrayError or BoardError naming the first bad row.
    """
    return _classified(check_boards(boards), checkers)[0]


def efficiencies(boards: Boards, table: Efficiencies = GNUBG_107, checkers: int = 15) -> Array:
    """int8[N, 26] -> float64[N], the efficiency of each by class and pip count; two-sided bearoffs get the most.

    Raises ArrayError or BoardError naming the first bad row.
    """
    return _by_class(*_classified(check_boards(boards), checkers), table)


def exact_values(boards: Boards, states: ArrayLike, context: CubeContext, known: TwoSided | None = None) -> Array:
    """float64[N, S], in points: money values that the exact two-sided table knows, nan elsewhere and in a match.

    The table knows no highest cube: it is asked for cubes that can be turned four times more. It knows no beavers
    either: what later ones would change is left out. known: the table, by default the one in the cache folder.
    """
    boards = check_boards(boards)
    cubes = np.asarray(states, dtype=np.int64)
    out = np.full((len(boards), len(cubes)), np.nan, dtype=np.float64)
    rows = np.flatnonzero(_classified(boards, context.checkers)[0] == CubeClass.TWO_SIDED)
    if context.away is None and len(rows):
        out[rows] = _looked_up(boards[rows], cubes, context, known)
    return out


def leaf_efficiencies(
    boards: Boards,
    outcomes: ArrayLike,
    states: ArrayLike,
    context: CubeContext,
    table: Efficiencies = GNUBG_107,
    known: TwoSided | None = None,
) -> Array:
    """float64[N, S]: `efficiencies`; in a match, where the two-sided table knows, what its money values show.

    That is (exact - dead) / (live - dead) of a money cube with the same owner, kept within 0..table.two_sided.
    """
    kinds, pips = _classified(check_boards(boards), context.checkers)
    return _leaf_efficiencies(boards, kinds, pips, outcomes, states, context, table, known)


def leaf_values(
    boards: Boards,
    outcomes: ArrayLike,
    states: ArrayLike,
    context: CubeContext,
    table: Efficiencies = GNUBG_107,
    known: TwoSided | None = None,
) -> Array:
    """`cubeful_values` with the efficiency of each board's class, exact where the two-sided table knows (money).

    boards: int8[N, 26], the positions of outcomes float[N, 6]. known: the two-sided table, by default the one in the
    cache folder, which is loaded (and if need be built) when a position first needs it.
    """
    boards = check_boards(boards)
    kinds, pips = _classified(boards, context.checkers)
    x = _leaf_efficiencies(boards, kinds, pips, outcomes, states, context, table, known)
    values = cubeful_values(outcomes, states, context, x)
    rows = np.flatnonzero(kinds == CubeClass.TWO_SIDED)
    if context.away is None and len(rows):
        exact = _looked_up(boards[rows], np.asarray(states, dtype=np.int64), context, known)
        values[rows] = np.where(np.isnan(exact), values[rows], exact)
    return values


def _leaf_efficiencies(
    boards: Boards,
    kinds: NDArray[np.int8],
    pips: NDArray[np.int64],
    outcomes: ArrayLike,
    states: ArrayLike,
    context: CubeContext,
    table: Efficiencies,
    known: TwoSided | None,
) -> Array:
    cubes = np.asarray(states, dtype=np.int64)
    x = np.repeat(_by_class(kinds, pips, table)[:, None], len(cubes), axis=1)
    rows = np.flatnonzero(kinds == CubeClass.TWO_SIDED)
    if context.away is None or not len(rows):
        return x
    chances = np.asarray(outcomes, dtype=np.float64)[rows]
    money = CubeContext()  # no gammons here, so other stakes would change nothing
    unit = np.stack([np.ones(len(cubes), dtype=np.int64), cubes[:, 1]], axis=1)
    dead = cubeful_values(chances, unit, money, 0.0)
    span = cubeful_values(chances, unit, money, 1.0) - dead
    exact = _looked_up(boards[rows], unit, money, known)
    shown = np.divide(exact - dead, span, out=np.full_like(span, table.two_sided), where=np.abs(span) >= 1e-4)
    x[rows] = np.clip(shown, 0.0, table.two_sided)
    return x


def _by_class(kinds: NDArray[np.int8], pips: NDArray[np.int64], table: Efficiencies) -> Array:
    by_class = np.array([table.contact, 0.0, table.one_sided, table.two_sided], dtype=np.float64)
    x: Array = by_class[kinds]
    race = kinds == CubeClass.RACE
    x[race] = np.clip(table.race_base + table.race_per_pip * pips[race], table.race_low, table.race_high)
    return x


def _looked_up(boards: Boards, cubes: NDArray[np.int64], context: CubeContext, known: TwoSided | None) -> Array:
    """`exact_values` of money positions that the two-sided table has; nan for a cube too near the highest."""
    equities, _ = (known or two_sided()).lookup(boards)
    values: Array = context.stakes[0] * cubes[:, 0] * equities[:, [_column(int(owner)) for owner in cubes[:, 1]]]
    if context.max_cube is not None:
        values[:, 16 * cubes[:, 0] > context.max_cube] = np.nan
    return values


def _classified(boards: Boards, checkers: int) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Checked boards int8[N, 26] -> CubeClass int8[N], pips of the player on roll int64[N]."""
    kinds = np.empty(len(boards), dtype=np.int8)
    pips = np.empty(len(boards), dtype=np.int64)
    _classify(boards, min(TWO_SIDED_MOST, checkers - 1), kinds, pips)
    return kinds, pips


def _column(owner: int) -> int:
    """Of the two-sided table's equities."""
    return (CENTRED, OWN_CUBE, OPPONENTS_CUBE)[owner]


@kernel
def _classify(boards, most, kinds, pips):
    """boards int8[N, 26], the checkers a side of two-sided bearoffs -> kinds int8[N], CubeClass; pips int64[N] of the
    player on roll.
    """
    for i in range(boards.shape[0]):
        own, opponent, rear, other_rear = extent(boards[i])
        if max(rear, other_rear) <= POINTS:
            kinds[i] = 3 if max(own, opponent) <= most else 2
        else:
            kinds[i] = 1 if rear + other_rear < 25 else 0
        total = 0
        for p in range(1, 26):
            n = int(boards[i, p])
            total += p * max(n, 0)
        pips[i] = total
