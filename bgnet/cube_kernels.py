"""Cubeful values of leaf positions: Janowski's formulas for money, the recursion over match scores for matches.

A leaf has six chances (engine.outcomes) and a cube efficiency x. The value with a cube is (1 - x) dead + x live: dead,
as if the cube were never turned again; live, as if it could be turned at exactly the right moment. The live value is
linear in the chance to win between the points at which somebody has a borderline take, with the shares of gammons and
backgammons among the wins and among the losses held fixed (R. Janowski, "Take-Points in Money Games", 1993).

Cube states are int64[S, 2], each (cube value, owner), the owner seen from the player on roll: +1 his, 0 in the middle,
-1 the opponent's. Values are those of the player on roll, who does not double now: money, in points with the cube as it
stands; match, the chance to win the match.
"""

from __future__ import annotations

import numpy as np

from engine.jit import kernel
from engine.outcomes import LOSE, WIN

__all__ = ["live_points_kernel", "match_kernel", "money_kernel"]

_SURE = 1e-7  # of a side that wins less often than this, the shares of gammons mean nothing


@kernel
def _shares(chances, shares):
    """chances float64[6] -> the chance to win; shares float64[6]: of the wins, and of the losses, those that are
    single, gammons and backgammons. Chances below 0 count as 0, and the sum is made 1.
    """
    win = 0.0
    lose = 0.0
    for j in range(3):
        win += max(chances[WIN + j], 0.0)
        lose += max(chances[LOSE + j], 0.0)
    for j in range(3):
        single = 1.0 if j == 0 else 0.0
        shares[WIN + j] = max(chances[WIN + j], 0.0) / win if win > 0.0 else single
        shares[LOSE + j] = max(chances[LOSE + j], 0.0) / lose if lose > 0.0 else single
    return win / (win + lose)


@kernel
def _segments(w, take, cash, owner, lowest, lost, cashed, highest):
    """The live value at w, linear between: `lowest` at w = 0, `lost` at the own take point `take` (where the opponent's
    double ends the game), `cashed` at the cash point `cash`, `highest` at w = 1; an owner removes the other's corner ->
    the value.
    """
    if owner <= 0 and w < take:
        return lowest + (lost - lowest) * w / take
    if owner >= 0 and w >= cash:
        return cashed + (highest - cashed) * (w - cash) / (1.0 - cash) if cash < 1.0 else highest
    if owner == 0:
        return lost + (cashed - lost) * (w - take) / (cash - take)
    if owner > 0:
        return lowest + (cashed - lowest) * w / cash
    return lost + (highest - lost) * (w - take) / (1.0 - take) if take < 1.0 else highest


@kernel
def money_kernel(chances, states, x, stakes, jacoby, max_cube, out):
    """chances float64[N, 6], states int64[S, 2], x float64[N, S], stakes float64[3] of the three kinds of win, the
    Jacoby rule, the highest cube -> out float64[N, S], points.
    """
    shares = np.empty(6, dtype=np.float64)
    single = stakes[0]
    for i in range(chances.shape[0]):
        w = _shares(chances[i], shares)
        won = (stakes[0] * shares[0] + stakes[1] * shares[1] + stakes[2] * shares[2]) / single  # a pass is 1
        lost = (stakes[0] * shares[3] + stakes[1] * shares[4] + stakes[2] * shares[5]) / single
        take = (lost - 0.5) / (won + lost + 0.5)
        cash = (lost + 1.0) / (won + lost + 0.5)
        for s in range(states.shape[0]):
            cube, owner = states[s, 0], states[s, 1]
            singles = jacoby and owner == 0  # gammons do not count yet
            value = 2.0 * w - 1.0 if singles else w * won - (1.0 - w) * lost
            if cube < max_cube and _SURE <= w <= 1.0 - _SURE:
                live = _segments(
                    w, take, cash, owner, -1.0 if singles else -lost, -1.0, 1.0, 1.0 if singles else won
                )  # fmt: skip
                value += x[i, s] * (live - value)
            out[i, s] = cube * single * value


@kernel
def _mean_after(after, level, shares, first):
    """after float64[L, 6], a cube 2**level, shares float64[6], WIN or LOSE -> the mean chance to win the match when
    that side wins the game with the cube as it stands.
    """
    level = min(level, after.shape[0] - 1)
    total = 0.0
    for j in range(3):
        total += shares[first + j] * after[level, first + j]
    return total


@kernel
def live_points_kernel(after, ends, shares, points):
    """after float64[L, 6], ends int64[L, 2], shares float64[6] (see match_kernel) -> points float64[L, 2]: the chance
    to win at which the other side can just take the double of the player on roll, [:, 0], and of his opponent, [:, 1],
    each counted for the one who doubles, from the cube 2**level.

    Where the doubled cube is dead for somebody (ends >= 0) the game is played out with the cube 2**ends. Elsewhere
    the taker may redouble, so his borderline lies where he gains as much from his own cash point as he loses at worst.
    """
    for level in range(after.shape[0] - 2, -1, -1):
        for side in range(2):
            first = WIN if side == 0 else LOSE  # this side wins the game
            other = LOSE if side == 0 else WIN
            passed = after[level, first]
            end = ends[level, side]
            if end >= 0:
                best = _mean_after(after, end, shares, first)
                worst = _mean_after(after, end, shares, other)
                points[level, side] = (worst - passed) / (worst - best) if worst != best else 1.0
            else:
                best = _mean_after(after, level + 1, shares, first)
                redoubled = after[level + 1, other]
                points[level, side] = (
                    1.0 - points[level + 1, 1 - side] * (passed - best) / (redoubled - best)
                    if redoubled != best
                    else 1.0
                )


@kernel
def match_kernel(chances, states, x, after, ends, dead, out):
    """chances float64[N, 6], states int64[S, 2], x float64[N, S], and of the score, for each cube 2**level: after
    float64[L, 6], the chance to win the match after each ending; ends int64[L, 2], the level at which a doubled cube
    stays for good, or -1 (the player on roll doubles, his opponent does); dead bool[L], whether the cube is worth
    nothing any more. Higher cubes are as the last level -> out float64[N, S], chances to win the match.
    """
    levels = after.shape[0]
    shares = np.empty(6, dtype=np.float64)
    points = np.ones((levels, 2), dtype=np.float64)
    for i in range(chances.shape[0]):
        w = _shares(chances[i], shares)
        live_points_kernel(after, ends, shares, points)
        for s in range(states.shape[0]):
            level = 0
            while 1 << level < states[s, 0] and level < levels - 1:
                level += 1
            won = _mean_after(after, level, shares, WIN)
            lost = _mean_after(after, level, shares, LOSE)
            value = w * won + (1.0 - w) * lost
            if not dead[level] and _SURE <= w <= 1.0 - _SURE:
                take, cash = 1.0 - points[level, 1], points[level, 0]
                live = _segments(w, take, cash, states[s, 1], lost, after[level, LOSE], after[level, WIN], won)
                value += x[i, s] * (live - value)
            out[i, s] = value
