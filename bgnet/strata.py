"""Stratified dice for rollouts, and the standard errors that go with them.

Trials come in blocks of 36. In every block each of the 36 ordered first rolls happens once and each second roll once,
and in every 36 blocks (1,296 trials) each pair of them once. Later rolls are independent. In which order the first
rolls of a block come, and which second roll goes with which, is shuffled by the seed, so every single trial sees fair
dice. The n-th roll of a trial is a pure function of (seed, trial, n).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.dice import ROLLS, WEIGHTS, philox, roll_kernel, roll_numbers

__all__ = ["BLOCK", "rolls", "std_error", "strata"]

BLOCK = 36
"""How many trials cover all first rolls once."""

_ORDERED = np.array([(one, two) for one in range(1, 7) for two in range(1, 7)], dtype=np.int8)
# Counters for the shuffles, above all numbers of rolls: no roll and no shuffle share random words.
_ORDERS = 0x80000000
_PAIRINGS = 0xC0000000


def rolls(seed: int, trials: NDArray[np.int64], n: int) -> NDArray[np.int8]:
    """int64[N] trial numbers (from 0), n = 1, 2, ... -> int8[N, 2], the n-th roll of each."""
    if n > 2:
        return np.array([roll_kernel(seed, trial, n) for trial in trials.tolist()], dtype=np.int8).reshape(-1, 2)
    return _ORDERED[[_first(seed, trial) if n == 1 else _second(seed, trial) for trial in trials.tolist()]]


def strata(seed: int, count: int) -> NDArray[np.int64]:
    """int64[count]: the number (of 21) of the first roll of trials 0 .. count - 1."""
    blocks = [_shuffled(seed, _ORDERS, block) for block in range(-(-count // BLOCK))]
    return roll_numbers(_ORDERED)[np.array(blocks, dtype=np.int64).reshape(-1)[:count]]


def std_error(values: NDArray[np.float64], stratum: NDArray[np.int64]) -> float:
    """The standard error of the mean of one value per trial; stratum int64[N] is `strata(seed, N)`.

    Whole blocks hold every first roll in its right proportion, so only the spread within the same first roll counts:
    a value that the first roll settles has no error. Strata with a single trial (the doubles of the first block) are
    taken to spread like the rest. Of an incomplete block the spread between first rolls counts too, as of a draw
    without replacement. That second rolls are spread evenly as well makes the true error smaller than this one.
    Below one whole block the trials count as independent; nan for a single one.
    """
    count = len(values)
    if count < 2:
        return math.nan
    total = float(np.var(values - values[0], ddof=1))
    if count < BLOCK:
        return math.sqrt(total / count)
    origin = np.empty(len(ROLLS), dtype=np.float64)
    origin[stratum[::-1]] = values[::-1]  # the first value of each: equal values then spread by exactly 0
    deviations = values - origin[stratum]
    counts = np.bincount(stratum, minlength=len(ROLLS))
    sums = np.bincount(stratum, deviations, len(ROLLS))
    squares = np.bincount(stratum, deviations**2, len(ROLLS))
    several = counts > 1
    variances = np.maximum(squares - sums**2 / counts, 0.0)[several] / (counts[several] - 1)
    within = float(WEIGHTS[several] @ variances / WEIGHTS[several].sum())
    rest = count % BLOCK
    share = rest / count * (1 - rest / BLOCK) * BLOCK / (BLOCK - 1)
    return math.sqrt((within + share * max(total - within, 0.0)) / count)


def _first(seed: int, trial: int) -> int:
    block, place = divmod(trial, BLOCK)
    return _shuffled(seed, _ORDERS, block)[place]


def _second(seed: int, trial: int) -> int:
    # A Latin square: within a block different first rolls meet different second ones, and each pair meets in one block.
    block = trial // BLOCK
    return _shuffled(seed, _PAIRINGS, block // BLOCK)[(_first(seed, trial) + block) % BLOCK]


@lru_cache(maxsize=4096)
def _shuffled(seed: int, stream: int, number: int) -> tuple[int, ...]:
    """The numbers 0 .. 35 in an order drawn by the counter-based generator (Fisher and Yates)."""
    order = list(range(BLOCK))
    for last in range(BLOCK - 1, 0, -1):
        word, _ = philox(stream + last, number, seed)
        other = (int(word) * (last + 1)) >> 32
        order[last], order[other] = order[other], order[last]
    return tuple(order)
