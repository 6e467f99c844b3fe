"""Building the exact endgame tables by dynamic programming from the empty board up."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from engine.dice import ROLLS
from engine.homeboard import POINTS, home_positions, home_steps
from engine.jit import kernel
from engine.tablefile import Arrays, Report

__all__ = ["CENTRED", "CUBELESS", "OPPONENTS_CUBE", "OWN_CUBE", "build_one_sided", "build_two_sided"]

CUBELESS, OWN_CUBE, CENTRED, OPPONENTS_CUBE = range(4)
"""The columns of a two-sided table."""

# In how many of the 36 ways each roll comes up. Sums of whole multiples, divided at the end, make certainties exact.
_WAYS = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1.0, 2.0)
_PARTS = 24  # how often the one-sided build reports
_MOST_RESULTS = 126  # of one roll: four equal moves are a choice of 4 out of 6 sources with repetition


def _silent(done: int, total: int) -> None:
    """No progress."""


# One-sided


def build_one_sided(progress: Report = _silent, most: int = 15) -> Arrays:
    """Distributions of the number of rolls, for every home position of at most `most` checkers.

    -> means float64[N]; starts int64[N + 1] and chances float64[...]: the chance that position i needs exactly k
    rolls is chances[starts[i] + k], each distribution ends with its last chance above 0; first_starts and
    first_chances: the same for the number of rolls until the first of its checkers is off.
    """
    positions = home_positions(most)
    steps = home_steps(positions, most)
    counts = positions.sum(axis=1, dtype=np.int64)
    # Until the first checker is off, bearing one off is the end, which is position 0.
    first_steps = np.where(counts[steps] < counts[:, None, None], np.minimum(steps, 0), steps)
    total = 2 * len(positions)
    means, starts, chances = _distributions(steps, progress, 0, total)
    _, first_starts, first_chances = _distributions(first_steps, progress, len(positions), total)
    return {
        "means": means,
        "starts": starts,
        "chances": chances,
        "first_starts": first_starts,
        "first_chances": first_chances,
    }


def _distributions(
    steps: NDArray[np.int32], progress: Report, done: int, total: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """steps int32[N, 6, 6] -> means float64[N], starts int64[N + 1], chances: rolls until position 0."""
    n = len(steps)
    means = np.zeros(n, dtype=np.float64)
    after = np.zeros((n, 6, 4), dtype=np.int32)
    choices = np.zeros((n, len(ROLLS)), dtype=np.int32)
    bounds = np.linspace(1, n, _PARTS + 1).astype(np.int64)
    for first, last in zip(bounds[:-1], bounds[1:], strict=True):
        _choose_plays(steps, first, last, means, after, choices)
        progress(done + int(last), total)
    starts = np.zeros(n + 1, dtype=np.int64)
    _measure(choices, starts)
    chances = np.zeros(starts[-1], dtype=np.float64)
    _fill(choices, starts, chances)
    return means, starts, chances


@kernel
def _choose_plays(steps, first, last, means, after, choices):
    """steps int32[N, 6, 6], positions first..last-1 (those before are done) -> means float64[N], choices int32[N, 21].

    choices[i, r]: the result of roll r with the lowest mean; after[i, d, k], int32[N, 6, 4]: the same for k + 1 moves
    with die d + 1, from which the rest is put together. Of equals the first in order of dice and sources is taken.
    """
    for i in range(first, last):
        for d in range(6):
            for k in range(4):
                best = -1
                for s in range(POINTS):
                    t = steps[i, d, s]
                    if t >= 0:
                        result = t if k == 0 else after[t, d, k - 1]
                        if best < 0 or means[result] < means[best]:
                            best = result
                after[i, d, k] = best
        total = 0.0
        for r in range(21):
            high = int(ROLLS[r, 0]) - 1
            low = int(ROLLS[r, 1]) - 1
            best = after[i, high, 3]
            if high != low:
                best = -1
                for order in range(2):
                    d1 = high if order == 0 else low
                    d2 = low if order == 0 else high
                    for s in range(POINTS):
                        t = steps[i, d1, s]
                        if t >= 0:
                            result = after[t, d2, 0]
                            if best < 0 or means[result] < means[best]:
                                best = result
            choices[i, r] = best
            total += _WAYS[r] * means[best]
        means[i] = 1.0 + total / 36.0


@kernel
def _measure(choices, starts):
    """choices int32[N, 21] -> starts int64[N + 1] of the distributions, each one longer than its longest choice's."""
    starts[1] = 1
    for i in range(1, choices.shape[0]):
        longest = 0
        for r in range(21):
            c = choices[i, r]
            longest = max(longest, starts[c + 1] - starts[c])
        starts[i + 1] = starts[i] + longest + 1


@kernel
def _fill(choices, starts, chances):
    """choices int32[N, 21], starts int64[N + 1], chances float64[...] of zeros -> chances."""
    chances[0] = 1.0
    for i in range(1, choices.shape[0]):
        own = starts[i] + 1
        for r in range(21):
            c = choices[i, r]
            for k in range(starts[c + 1] - starts[c]):
                chances[own + k] += _WAYS[r] * chances[starts[c] + k]
        for k in range(own, starts[i + 1]):
            chances[k] /= 36.0


# Two-sided


def build_two_sided(progress: Report = _silent, most: int = 6, threads: int | None = None) -> Arrays:
    """Equities of the player on roll for every pair of home positions of at most `most` checkers a side.

    -> equities float64[N, N, 4]: [own position, opponent's, column], columns cubeless, own cube, centred,
    opponent's cube; before the roll, without doubling now, per unit of the cube. Money play without gammons,
    beavers or a cube limit. The answer does not depend on the number of threads.
    """
    positions = home_positions(most)
    n = len(positions)
    offsets, targets = _list_results(home_steps(positions, most))
    pips = positions @ np.arange(1, POINTS + 1)
    order = np.argsort(pips, kind="stable")
    starts = np.searchsorted(pips[order], np.arange(pips.max() + 2))
    equities = np.zeros((n, n, 4), dtype=np.float64)
    equities[0, 1:] = 1.0  # the player on roll is off already
    equities[1:, 0] = -1.0
    best = equities.copy()
    threads = threads or min(8, os.cpu_count() or 1)
    done = 0
    with ThreadPoolExecutor(threads) as pool:
        # A play lowers the sum of both pip counts, so all pairs of one sum can be solved at the same time.
        for total in range(2, 2 * int(pips.max()) + 1):
            jobs = [
                pool.submit(_solve, total, part, threads, order, starts, offsets, targets, equities, best)
                for part in range(threads)
            ]
            done += sum(job.result() for job in jobs)
            progress(done, (n - 1) ** 2)
    return {"equities": equities}


@kernel
def _list_results(steps):
    """steps int32[N, 6, 6] -> offsets int64[N * 21 + 1], targets int32[...]: the distinct results of position i and
    roll r are targets[offsets[21 * i + r] : offsets[21 * i + r + 1]].
    """
    n = steps.shape[0]
    offsets = np.zeros(21 * n + 1, dtype=np.int64)
    targets = np.empty(21 * n * _MOST_RESULTS, dtype=np.int32)
    here = np.empty(n, dtype=np.int32)
    there = np.empty(n, dtype=np.int32)
    reached = np.full(n, -1, dtype=np.int64)  # in which search each position was reached last
    listed = np.full(n, -1, dtype=np.int64)  # for which roll each position was listed last
    search = 0
    total = 0
    for row in range(21 * n):
        high = int(ROLLS[row % 21, 0]) - 1
        low = int(ROLLS[row % 21, 1]) - 1
        for order in range(1 if high == low else 2):
            here[0] = row // 21
            count = 1
            for level in range(4 if high == low else 2):
                die = high if level == order else low
                found = 0
                for j in range(count):
                    for s in range(POINTS):
                        t = steps[here[j], die, s]
                        if t >= 0 and reached[t] != search:
                            reached[t] = search
                            there[found] = t
                            found += 1
                search += 1
                count = found
                here[:count] = there[:count]
            for j in range(count):
                if listed[here[j]] != row:
                    listed[here[j]] = row
                    targets[total] = here[j]
                    total += 1
        offsets[row + 1] = total
    return offsets, targets[:total].copy()


@kernel
def _solve(total, part, parts, order, starts, offsets, targets, equities, best):
    """All pairs whose pip counts sum to `total`, this part's share -> how many; equities, best float64[N, N, 4] filled.

    order int64[N]: positions by pip count; starts int64: where each pip count begins in it; offsets, targets: results
    of each roll. best: like equities, but with the option of doubling, which the player on roll has in the
    columns of his own and the centred cube.
    """
    solved = 0
    highest = starts.shape[0] - 2
    for pips in range(max(1, total - highest), min(highest, total - 1) + 1):
        for i in range(starts[pips], starts[pips + 1]):
            if i % parts != part:
                continue
            opponent = order[i]
            reply = best[opponent]
            for j in range(starts[total - pips], starts[total - pips + 1]):
                own = order[j]
                cubeless = 0.0
                mine = 0.0
                centred = 0.0
                theirs = 0.0
                for r in range(21):
                    low0 = np.inf  # the lowest that the opponent can be left with
                    low1 = np.inf
                    low2 = np.inf
                    low3 = np.inf
                    for t in range(offsets[21 * own + r], offsets[21 * own + r + 1]):
                        after = targets[t]
                        low0 = min(low0, reply[after, CUBELESS])
                        low1 = min(low1, reply[after, OWN_CUBE])
                        low2 = min(low2, reply[after, CENTRED])
                        low3 = min(low3, reply[after, OPPONENTS_CUBE])
                    cubeless -= _WAYS[r] * low0
                    mine -= _WAYS[r] * low3  # my cube is the opponent's opponent's
                    centred -= _WAYS[r] * low2
                    theirs -= _WAYS[r] * low1
                cubeless /= 36.0
                mine /= 36.0
                centred /= 36.0
                theirs /= 36.0
                equities[own, opponent, CUBELESS] = cubeless
                equities[own, opponent, OWN_CUBE] = mine
                equities[own, opponent, CENTRED] = centred
                equities[own, opponent, OPPONENTS_CUBE] = theirs
                best[own, opponent, CUBELESS] = cubeless
                best[own, opponent, OWN_CUBE] = _with_double(mine, 2.0 * theirs)
                best[own, opponent, CENTRED] = _with_double(centred, 2.0 * theirs)
                best[own, opponent, OPPONENTS_CUBE] = theirs
                solved += 1
    return solved


@kernel
def _with_double(no_double, double_take):
    """The equities without a double and after double and take -> the value with the option; a pass costs 1."""
    if double_take >= no_double and no_double <= 1.0:
        return min(double_take, 1.0)
    return no_double
