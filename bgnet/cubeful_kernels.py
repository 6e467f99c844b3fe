"""Which result of a roll is best with each of several cubes."""

from __future__ import annotations

import numpy as np

from engine.jit import kernel

__all__ = ["lowest_kernel"]

_STEPS = 1e9  # values nearer than this count as equal


@kernel
def lowest_kernel(values, ties, offsets, picks):
    """values and ties float64[M, S] of ragged results, offsets int64[N + 1] -> picks int64[N, S]: in each segment the
    row of the lowest value, among equals of the lowest tie, among those again the first.
    """
    for i in range(offsets.shape[0] - 1):
        for s in range(values.shape[1]):
            best = offsets[i]
            best_value = np.inf
            best_tie = np.inf
            for k in range(offsets[i], offsets[i + 1]):
                value = np.rint(values[k, s] * _STEPS)
                tie = ties[k, s]
                if value < best_value or (value == best_value and tie < best_tie):
                    best = k
                    best_value = value
                    best_tie = tie
            picks[i, s] = best
