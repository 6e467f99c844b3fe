"""Cubeful values of many positions at once, and how a double is settled: the bricks of search and rollouts.

A search carries a list of cube states through its tree (the kernels' (cube value, owner) pairs) instead of predicting
who doubles where. At each node the states are widened by what a double there would make of them (`expand`), valued
(`cubeful_values` at leaves, else from below), and folded again (`collapse`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgnet.cube_context import CubeContext, CubeError
from bgnet.cube_kernels import match_kernel, money_kernel
from engine.state import CUBE_TOP

__all__ = ["Expansion", "cubeful_values", "expand", "settle"]

Array = NDArray[np.float64]


def cubeful_values(outcomes: ArrayLike, states: ArrayLike, context: CubeContext, x: ArrayLike) -> Array:
    """The value of N positions with each of S cubes, the player on roll not doubling now.

    outcomes: float[N, 6], chances of the player on roll before he rolls. states: int[S, 2], (cube value, owner), the
    owner +1, 0 or -1 in his view. context: in his view. x: the cube efficiency: float[N, S], float[N], or
    one number for all.

    Returns float64[N, S] in context units (money: points with the cube as it stands, so divide by the cube for an
    equity; match: chance to win the match). A finished game (a single certain outcome) is exact. Raises CubeError for
    wrong shapes only: the numbers are trusted.
    """
    chances = np.ascontiguousarray(outcomes, dtype=np.float64)
    cubes = np.ascontiguousarray(states, dtype=np.int64)
    if chances.ndim != 2 or chances.shape[1] != 6:
        raise CubeError(f"outcomes must be of shape (N, 6), not {chances.shape}")
    if cubes.ndim != 2 or cubes.shape[1] != 2:
        raise CubeError(f"cube states must be of shape (S, 2), not {cubes.shape}")
    out = np.empty((len(chances), len(cubes)), dtype=np.float64)
    efficiency = np.asarray(x, dtype=np.float64)
    if efficiency.shape == (len(chances),):
        efficiency = efficiency[:, None]
    try:
        efficiency = np.ascontiguousarray(np.broadcast_to(efficiency, out.shape))
    except ValueError as error:
        raise CubeError(f"efficiencies of shape {efficiency.shape} for values of shape {out.shape}") from error
    if context.away is None:
        stakes = np.array(context.stakes, dtype=np.float64)
        money_kernel(chances, cubes, efficiency, stakes, context.jacoby, context.max_cube or 2 * CUBE_TOP, out)
    else:
        levels = context.levels
        match_kernel(chances, cubes, efficiency, levels.after, levels.ends, levels.dead, out)
    return out


def settle(
    no_double: ArrayLike, double_take: ArrayLike, double_pass: ArrayLike, beaver: ArrayLike | None = None
) -> Array:
    """The value of a position for a player who may double, both playing best; arrays of any one shape, of one scale.

    He doubles where neither answer leaves him worse off, and then gets the lower one. (Where ND > DP he plays on for
    the gammon; where ND > DT a double is too early.) beaver: the value once the receiver has beavered, where he may.
    """
    stays = np.asarray(no_double, dtype=np.float64)
    taken = np.asarray(double_take, dtype=np.float64)
    passed = np.asarray(double_pass, dtype=np.float64)
    if beaver is not None:
        taken = np.minimum(taken, beaver)
    return np.maximum(stays, np.minimum(taken, passed))


@dataclass(frozen=True)
class Expansion:
    """Cube states of a node, with those that a double there would lead to."""

    states: NDArray[np.int64]
    """int64[T, 2]: the S states given, then the doubled ones (each once), in the view of the player on roll."""
    doubled: NDArray[np.int64]
    """int64[S]: where in `states` the state stands after a double and a take, -1 where he may not double."""
    beavered: NDArray[np.int64]
    """int64[S]: where it stands after a double and a beaver, -1 where there is none."""
    passed: Array
    """float64[S]: the value of a pass, nan where he may not double."""

    def collapse(self, values: ArrayLike) -> Array:
        """float64[..., T], values of `states` -> float64[..., S], those of the given states when he may double."""
        array = np.asarray(values, dtype=np.float64)
        out: Array = array[..., : len(self.doubled)].copy()
        for s, (doubled, beavered) in enumerate(zip(self.doubled, self.beavered, strict=True)):
            if doubled >= 0:
                beaver = array[..., beavered] if beavered >= 0 else None
                out[..., s] = settle(out[..., s], array[..., doubled], self.passed[s], beaver)
        return out


def expand(states: ArrayLike, context: CubeContext) -> Expansion:
    """The states int[S, 2] of a node in whose turn the player on roll may double, see Expansion.

    context in his view. Raises CubeError for a wrong shape.
    """
    given = np.asarray(states, dtype=np.int64)
    if given.ndim != 2 or given.shape[1] != 2:
        raise CubeError(f"cube states must be of shape (S, 2), not {given.shape}")
    rows = [(int(cube), int(owner)) for cube, owner in given]
    doubled, beavered, passed = [], [], []
    for cube, owner in rows[: len(given)]:
        may = context.may_double(cube, owner)
        doubled.append(_place(rows, (2 * cube, -1)) if may else -1)
        beavered.append(_place(rows, (4 * cube, -1)) if may and context.may_beaver(cube) else -1)
        passed.append(context.won(cube) if may else np.nan)
    return Expansion(
        np.array(rows, dtype=np.int64).reshape(-1, 2),
        np.array(doubled, dtype=np.int64),
        np.array(beavered, dtype=np.int64),
        np.array(passed, dtype=np.float64),
    )


def _place(rows: list[tuple[int, int]], row: tuple[int, int]) -> int:
    """Where a row stands in `rows`, added to it if need be."""
    if row not in rows:
        rows.append(row)
    return rows.index(row)
