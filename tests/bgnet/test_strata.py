"""Stratified dice and the errors that go with them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bgnet import strata
from engine import dice

ORDERED = {(one, two) for one in range(1, 7) for two in range(1, 7)}


def rolled(seed: int, trials: range, n: int) -> list[tuple[int, int]]:
    return [(one, two) for one, two in strata.rolls(seed, np.array(trials), n).tolist()]


@pytest.mark.parametrize("block", [0, 1, 7, 36, 100])
@pytest.mark.parametrize("n", [1, 2])
def test_every_block_has_every_first_and_every_second_roll_once(block: int, n: int) -> None:
    assert set(rolled(3, range(36 * block, 36 * (block + 1)), n)) == ORDERED


@pytest.mark.parametrize("first", [0, 1296])
def test_1296_trials_have_every_pair_of_rolls_once(first: int) -> None:
    trials = range(first, first + 1296)
    pairs = set(zip(rolled(5, trials, 1), rolled(5, trials, 2), strict=True))
    assert len(pairs) == 1296


def test_the_order_depends_on_the_seed_and_the_block() -> None:
    firsts = [rolled(seed, range(start, start + 36), 1) for seed in (1, 2) for start in (0, 36)]
    assert len({tuple(order) for order in firsts}) == 4
    pairings = []
    for start in (0, 36, 1296):
        trials = range(start, start + 36)
        pairings.append(dict(zip(rolled(1, trials, 1), rolled(1, trials, 2), strict=True)))
    assert all(pairings[i] != pairings[j] for i, j in ((0, 1), (0, 2), (1, 2)))


def test_each_single_trial_sees_fair_first_and_second_rolls() -> None:
    seeds = range(1, 2001)
    for trial in (0, 40):
        pairs = [
            (rolled(seed, range(trial, trial + 1), 1)[0], rolled(seed, range(trial, trial + 1), 2)[0]) for seed in seeds
        ]
        sums = np.array([[sum(first), sum(second)] for first, second in pairs], dtype=np.float64)
        assert np.abs(sums.mean(axis=0) - 7).max() < 4 * math.sqrt(35 / 6 / len(seeds))
        assert abs(np.corrcoef(sums.T)[0, 1]) < 4 / math.sqrt(len(seeds))


def test_later_rolls_are_those_of_the_plain_streams() -> None:
    assert rolled(9, range(5, 8), 3) == [dice.roll(9, trial, 3) for trial in range(5, 8)]
    assert strata.rolls(9, np.empty(0, np.int64), 4).shape == (0, 2)


def test_no_shuffle_shares_random_words_with_a_roll() -> None:
    counters = {strata._ORDERS + last for last in range(36)} | {strata._PAIRINGS + last for last in range(36)}
    assert len(counters) == 72
    assert min(counters) > 20_000, "the rolls of a game count from 1"
    assert max(counters) < 2**32


def test_strata_are_the_first_rolls() -> None:
    assert strata.strata(4, 50).tolist() == dice.roll_numbers(strata.rolls(4, np.arange(50), 1)).tolist()
    assert len(strata.strata(4, 0)) == 0


def naive_error(values: list[float], stratum: list[int]) -> float:
    """From the definition, for whole blocks: the spread within first rolls, each as frequent as it is."""
    weights, spread = 0.0, 0.0
    for number, chance in enumerate(dice.WEIGHTS):
        inside = [value for value, its in zip(values, stratum, strict=True) if its == number]
        if len(inside) > 1:
            weights += chance
            spread += chance * float(np.var(inside, ddof=1))
    return math.sqrt(spread / weights / len(values))


@pytest.mark.parametrize("count", [36, 72, 360])
def test_the_error_of_whole_blocks_is_that_within_first_rolls(count: int) -> None:
    stratum = strata.strata(1, count)
    values = np.random.default_rng(count).normal(size=count) + stratum
    expected = naive_error(values.tolist(), stratum.tolist())
    assert strata.std_error(values, stratum) == pytest.approx(expected, rel=1e-9)
    assert strata.std_error(values + 1000, stratum) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("count", [36, 72, 1296])
def test_what_the_first_roll_settles_has_no_error_at_all(count: int) -> None:
    stratum = strata.strata(1, count)
    assert strata.std_error(0.1 * np.sin(stratum), stratum) == 0.0


def test_few_trials_count_as_independent_and_a_single_one_says_nothing() -> None:
    values = np.array([1.0, 2.0, 4.0])
    expected = values.std(ddof=1) / math.sqrt(3)
    assert strata.std_error(values, strata.strata(1, 3)) == pytest.approx(expected)
    assert math.isnan(strata.std_error(values[:1], strata.strata(1, 1)))


@pytest.mark.parametrize("count", [36, 50, 72, 90])
def test_errors_are_as_large_as_they_say(count: int) -> None:
    """Over many seeds: the mean of (first roll + noise) strays as far from the truth as its standard error."""
    effect = np.linspace(-2, 2, 21)
    truth = float(dice.WEIGHTS @ effect)
    rng = np.random.default_rng(1)
    off, stated = [], []
    for seed in range(400):
        stratum = strata.strata(seed, count)
        values = effect[stratum] + rng.normal(scale=0.5, size=count)
        off.append(values.mean() - truth)
        stated.append(strata.std_error(values, stratum) ** 2)
    assert abs(np.mean(off)) < 4 * math.sqrt(np.mean(stated) / 400)
    assert np.mean(np.square(off)) / np.mean(stated) == pytest.approx(1, abs=4 * math.sqrt(2 / 400))
