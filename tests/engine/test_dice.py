"""The rolls, their weights and the counter-based dice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from engine import DiceError, dice

BIG = 2**32 - 1
ORDERED_ROLLS = dict.fromkeys(product(range(1, 7), repeat=2), 1 / 36)


def test_21_rolls_and_their_weights():
    expected = [(a, b) for a in range(1, 7) for b in range(1, a + 1)]
    assert [tuple(roll) for roll in dice.ROLLS.tolist()] == expected
    assert dice.ROLLS.dtype == np.int8 and dice.ROLLS.shape == (21, 2)
    assert dice.WEIGHTS.dtype == np.float64 and dice.WEIGHTS.shape == (21,)
    for (a, b), weight in zip(expected, dice.WEIGHTS, strict=True):
        assert weight == (1 / 36 if a == b else 2 / 36)
    assert dice.WEIGHTS.sum() == pytest.approx(1, abs=1e-15)


def test_roll_numbers_are_places_in_the_table_of_rolls():
    assert dice.roll_numbers(dice.ROLLS).tolist() == list(range(21))
    assert dice.roll_numbers(dice.ROLLS[:, ::-1]).tolist() == list(range(21))
    assert (dice.ROLL_NUMBERS[0] == -1).all() and (dice.ROLL_NUMBERS[:, 0] == -1).all()
    assert dice.roll_numbers(np.zeros((0, 2), np.int8)).shape == (0,)


def test_rolls_and_weights_are_read_only():
    for constant in (dice.ROLLS, dice.WEIGHTS, dice.ROLL_NUMBERS):
        with pytest.raises(ValueError, match="read-only"):
            constant[0] = 1


@pytest.mark.parametrize(
    ("low", "high", "key", "words"),
    [
        (0x00000000, 0x00000000, 0x00000000, (0xFF1DAE59, 0x6CD10DF2)),
        (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, (0x2C3F628B, 0xAB4FD7AD)),
        (0x243F6A88, 0x85A308D3, 0x13198A2E, (0xDD7CE038, 0xF62A4C12)),
    ],
)
def test_philox_known_answers(low, high, key, words):
    """Philox-2x32-10 as in the known-answer vectors of the Random123 library."""
    assert dice.philox(low, high, key) == words
    interpreted = getattr(dice.philox, "py_func", dice.philox)
    assert interpreted(low, high, key) == words


def test_dice_come_from_philox_words():
    """The stream is part of the interface: a change would break every recorded seed."""
    for seed, game, n in product((0, 7, BIG), (0, 1, BIG), (1, 2, BIG)):
        first, second = dice.philox(n, game, seed)
        assert dice.roll(seed, game, n) == (1 + first * 6 // 2**32, 1 + second * 6 // 2**32)
        first, second = dice.philox(0, game, seed)
        one, other = first * 6 // 2**32, second * 5 // 2**32  # `other` counts the five numbers that are left
        assert dice.opening(seed, game) == (1 + one, 1 + other + (other >= one))


def test_same_seed_game_and_number_give_the_same_roll_in_any_order():
    wanted = [(game, n) for game in range(20) for n in range(1, 50)]
    forwards = {at: dice.roll(9, *at) for at in wanted}
    openings = [dice.opening(9, game) for game in range(20)]
    backwards = {at: dice.roll(9, *at) for at in reversed(wanted)}
    assert forwards == backwards
    assert openings == [dice.opening(9, game) for game in range(20)]


def test_streams_differ_by_seed_and_by_game():
    def stream(seed: int, game: int) -> list[tuple[int, int]]:
        return [dice.roll(seed, game, n) for n in range(1, 41)]

    streams = [stream(seed, game) for seed in (0, 1, 2, BIG) for game in (0, 1, 2, BIG)]
    assert len({tuple(one) for one in streams}) == len(streams)


def chi_square(counts: Mapping[Any, int], weights: Mapping[Any, float]) -> float:
    total = sum(counts.values())
    assert set(counts) == set(weights), "no roll is missing and no other turns up"
    return sum((counts[roll] - total * w) ** 2 / (total * w) for roll, w in weights.items())


def test_opening_is_never_a_double_and_the_30_are_about_equal():
    counts = Counter(dice.opening(1, game) for game in range(30_000))
    weights = dict.fromkeys(permutations(range(1, 7), 2), 1 / 30)
    assert chi_square(counts, weights) < 58.3  # 99.9 %, 29 degrees


def test_the_36_ordered_rolls_are_about_equal():
    by_number = Counter(dice.roll(1, 5, n) for n in range(1, 36_001))
    by_game = Counter(dice.roll(1, game, 5) for game in range(36_000))
    by_seed = Counter(dice.roll(seed, 1, 5) for seed in range(36_000))
    for counts in (by_number, by_game, by_seed):
        assert chi_square(counts, ORDERED_ROLLS) < 66.6  # 99.9 %, 35 degrees


def test_roll_frequencies_match_the_weights():
    counts = Counter(tuple(sorted(dice.roll(2, game, 1), reverse=True)) for game in range(36_000))
    weights = dict(zip(map(tuple, dice.ROLLS.tolist()), dice.WEIGHTS.tolist(), strict=True))
    assert chi_square(counts, weights) < 45.3  # 99.9 %, 20 degrees


def test_consecutive_rolls_are_independent():
    pairs = Counter((dice.roll(3, 0, n)[0], dice.roll(3, 0, n + 1)[1]) for n in range(1, 36_001))
    assert chi_square(pairs, ORDERED_ROLLS) < 66.6


def test_kernels_equal_the_checked_functions():
    for seed, game in product((0, 12345, BIG), repeat=2):
        assert dice.opening_kernel(seed, game) == dice.opening(seed, game)
        assert dice.roll_kernel(seed, game, 3) == dice.roll(seed, game, 3)


@pytest.mark.parametrize("bad", [-1, 2**32, 1.0, "1", None, True, float("nan")])
def test_numbers_out_of_range(bad):
    for call in (
        lambda: dice.roll(bad, 0, 1),
        lambda: dice.roll(0, bad, 1),
        lambda: dice.roll(0, 0, bad),
        lambda: dice.opening(bad, 0),
        lambda: dice.opening(0, bad),
    ):
        with pytest.raises(DiceError, match=str(bad)):
            call()


def test_roll_0_is_the_opening():
    with pytest.raises(DiceError, match="opening"):
        dice.roll(0, 0, 0)


def test_numpy_integers_are_welcome():
    numbers: list[Any] = [np.uint32(7), np.int64(3), np.int8(1)]
    assert dice.roll(*numbers) == dice.roll(7, 3, 1)
    assert all(type(die) is int for die in dice.roll(*numbers))


def test_many_games_at_once():
    games = np.array([5, 0, 2**32 - 1, 7, 5])
    for n in (0, 1, 9):
        single = [dice.roll(3, g, n) if n else dice.opening(3, g) for g in games.tolist()]
        assert dice.rolls_of_games(3, games, n).tolist() == [list(pair) for pair in single]
    assert dice.rolls_of_games(3, games[:0], 1).shape == (0, 2)
    for bad in ([-1], [2**32], [5.0]):
        with pytest.raises(DiceError, match="game must be an integer"):
            dice.rolls_of_games(3, np.array(bad), 1)
