"""A slow, obvious twin of the endgame tables: recursion in exact fractions, plays from the slow rules program.

A home is a tuple of six counts, the checkers on points 1..6. It judges the tables, so it must not import `engine`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product

from tests import oracle

Home = tuple[int, ...]
EMPTY: Home = (0,) * 6
ROLLS = [(a, b, Fraction(1 if a == b else 2, 36)) for a, b in oracle.ALL_ROLLS]


def homes(most: int) -> Iterator[Home]:
    """Every home of at most so many checkers, the empty one too."""
    return (home for home in product(range(most + 1), repeat=6) if sum(home) <= most)


@cache
def results(home: Home, first: int, second: int) -> frozenset[Home]:
    """What a roll can make of a home; the other side's last checker, on its own 1 point, is in nobody's way."""
    board = (0, *home, *(0,) * 17, -1, 0)
    return frozenset(after[1:7] for after in oracle.results(board, (first, second)))


@cache
def rolls(home: Home, first_only: bool = False) -> tuple[Fraction, tuple[Fraction, ...]]:
    """(mean, distribution) of the number of rolls to bear off all, or the first checker; lowest mean first."""
    if home == EMPTY:
        return Fraction(0), (Fraction(1),)
    mean, chances = Fraction(1), [Fraction(0)] * 60
    for first, second, weight in ROLLS:
        ends = []
        for after in results(home, first, second):
            done = first_only and sum(after) < sum(home)
            ends.append(rolls(EMPTY if done else after, first_only))
        lowest = min(end[0] for end in ends)
        distributions = {end[1] for end in ends if end[0] == lowest}
        assert len(distributions) == 1, f"{home}: equally good plays of {first}-{second} differ"
        mean += weight * lowest
        for k, chance in enumerate(distributions.pop()):
            chances[k + 1] += weight * chance
    while not chances[-1]:
        chances.pop()
    return mean, tuple(chances)


@cache
def no_double(own: Home, opponent: Home, owner: int | None) -> Fraction:
    """The equity of the player on roll, not doubling: owner 1 = his cube, 0 centred, -1 the other's, None = none."""
    equity = Fraction(0)
    for first, second, weight in ROLLS:
        values = []
        for after in results(own, first, second):
            other = None if owner is None else -owner
            values.append(Fraction(1) if after == EMPTY else -with_option(opponent, after, other))
        equity += weight * max(values)
    return equity


@cache
def with_option(own: Home, opponent: Home, owner: int | None) -> Fraction:
    """The same for a player who may double, if the cube is his or centred."""
    stay = no_double(own, opponent, owner)
    if owner is None or owner < 0:
        return stay
    doubled = 2 * no_double(own, opponent, -1)
    return min(doubled, Fraction(1)) if doubled >= stay and stay <= 1 else stay
