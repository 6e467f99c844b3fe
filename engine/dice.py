"""Dice: the 21 rolls with their weights, and reproducible streams that need no state.

The n-th roll of game g under a seed is a pure function of (seed, g, n): the counter-based generator
Philox-2x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) with the seed as
key. So games can be played in any order, on any number of threads, and always see the same dice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.errors import DiceError
from engine.jit import kernel

__all__ = [
    "ROLLS",
    "ROLL_NUMBERS",
    "WEIGHTS",
    "check_stream",
    "opening",
    "opening_kernel",
    "philox",
    "roll",
    "roll_kernel",
    "roll_numbers",
    "rolls_of_games",
]

ROLLS = np.array([(high, low) for high in range(1, 7) for low in range(1, high + 1)], dtype=np.int8)
"""int8[21, 2]: the distinct rolls, larger die first."""
WEIGHTS = np.where(ROLLS[:, 0] == ROLLS[:, 1], 1, 2) / 36.0
"""float64[21]: the chance of each roll of ROLLS."""
ROLL_NUMBERS = np.full((7, 7), -1, dtype=np.int64)
"""int64[7, 7]: where the roll of two dice, in either order, stands in ROLLS; -1 where a die is 0."""
for _number, (_high, _low) in enumerate(ROLLS.tolist()):
    ROLL_NUMBERS[_high, _low] = ROLL_NUMBERS[_low, _high] = _number
for _array in (ROLLS, WEIGHTS, ROLL_NUMBERS):
    _array.flags.writeable = False

_WORD = 0xFFFFFFFF


def roll_numbers(dice: NDArray[np.int8]) -> NDArray[np.int64]:
    """int8[N, 2] in either order -> int64[N], where each roll stands in ROLLS."""
    return ROLL_NUMBERS[dice[:, 0], dice[:, 1]]


@kernel
def philox(low, high, key):
    """Counter words low, high and key (integers below 2**32) -> two random words below 2**32.

    All arithmetic is masked to 32 bits inside 64-bit integers, so it is right compiled and interpreted.
    """
    for _ in range(10):
        product = low * 0xD256D193
        low = ((product >> 32) & _WORD) ^ key ^ high
        high = product & _WORD
        key = (key + 0x9E3779B9) & _WORD
    return low, high


@kernel
def roll_kernel(seed, game, n):
    """seed, game, n (integers below 2**32; n >= 1) -> the two dice of the n-th roll after the opening."""
    first, second = philox(n, game, seed)
    return 1 + ((first * 6) >> 32), 1 + ((second * 6) >> 32)


@kernel
def opening_kernel(seed, game):
    """seed, game (integers below 2**32) -> the opening's two different dice, each of the 30 equally likely.

    Throwing equal numbers again (rule 3) leaves just that distribution.
    """
    first, second = philox(0, game, seed)
    one = 1 + ((first * 6) >> 32)
    two = 1 + ((second * 5) >> 32)
    if two >= one:
        two += 1
    return one, two


@kernel
def _rolls_of_games(seed, games, n, out):
    """seed, games int64[N], n (0 = the opening) -> out int8[N, 2]."""
    for i in range(games.shape[0]):
        if n == 0:
            one, two = opening_kernel(seed, int(games[i]))
        else:
            one, two = roll_kernel(seed, int(games[i]), n)
        out[i, 0] = one
        out[i, 1] = two


def rolls_of_games(seed: int, games: NDArray[np.int64], n: int) -> NDArray[np.int8]:
    """Roll n of many games at once (0 = their openings): int64[N] -> int8[N, 2]; else as `roll` and `opening`."""
    check_stream(seed, games.max(initial=0), n)
    check_stream(seed, games.min(initial=0), n)
    out = np.empty((len(games), 2), dtype=np.int8)
    _rolls_of_games(int(seed), np.ascontiguousarray(games, dtype=np.int64), n, out)
    return out


def check_stream(seed: int, game: int = 0, n: int = 0) -> None:
    """Raise DiceError unless each number is an integer in 0 .. 2**32 - 1."""
    for name, value in (("seed", seed), ("game", game), ("n", n)):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or not 0 <= value <= _WORD:
            raise DiceError(f"{name} must be an integer from 0 to {_WORD}, not {value!r}")


def roll(seed: int, game: int, n: int) -> tuple[int, int]:
    """The n-th roll (n = 1, 2, ...) of a game after its opening roll, each die 1..6."""
    check_stream(seed, game, n)
    if n == 0:
        raise DiceError("n counts rolls from 1; roll 0 is the opening: use opening(seed, game)")
    one, two = roll_kernel(int(seed), int(game), int(n))
    return int(one), int(two)


def opening(seed: int, game: int) -> tuple[int, int]:
    """The opening roll of a game, never a double."""
    check_stream(seed, game)
    one, two = opening_kernel(int(seed), int(game))
    return int(one), int(two)
