"""Means and intervals against the printed tables of Student's t and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bgnet.statistics import estimate, share, t_quantile


@pytest.mark.parametrize(
    ("degrees", "printed"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (29, 2.045), (120, 1.98), (10**5, 1.96)],
)
def test_t_quantile_agrees_with_the_tables(degrees: int, printed: float) -> None:
    assert t_quantile(0.975, degrees) == pytest.approx(printed, rel=2e-3)
    assert t_quantile(0.025, degrees) == pytest.approx(-printed, rel=2e-3)


def test_estimate_of_known_numbers() -> None:
    found = estimate([1, 2, 3, 4])
    assert found.mean == 2.5
    assert found.std_error == pytest.approx(math.sqrt(5 / 3) / 2)
    assert found.half_width == pytest.approx(3.182 * found.std_error, rel=2e-3)
    assert (found.low + found.high) / 2 == pytest.approx(2.5)
    assert found.count == 4


def test_interval_covers_the_truth_as_often_as_it_says() -> None:
    draws = np.random.default_rng(7).normal(0.3, 2.0, size=(2000, 12))
    covered = sum(found.low <= 0.3 <= found.high for found in map(estimate, draws))
    assert 0.935 < covered / 2000 < 0.965


def test_one_value_has_no_spread_so_its_interval_is_all_that_is_possible() -> None:
    found = estimate([1.5], bounds=(-3, 3))
    assert (found.mean, found.low, found.high) == (1.5, -3, 3)
    assert math.isnan(found.std_error)


def test_interval_stays_within_what_is_possible() -> None:
    found = estimate([3, 3, 1], bounds=(-3, 3))
    assert found.high == 3
    assert found.low > -3


def test_equal_values_have_an_interval_of_no_width() -> None:
    assert estimate([0.0] * 50).half_width == 0


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        estimate([])
    with pytest.raises(ValueError, match="level"):
        estimate([1, 2], level=95)
    with pytest.raises(ValueError, match="degree of freedom"):
        t_quantile(0.975, 0)


def test_shares_know_that_ten_of_ten_is_not_always() -> None:
    """Wilson's interval, by hand: z^2 = 5.12 (Student, 9 degrees), 10 / (10 + 5.12) = 0.66."""
    every = share([1] * 10)
    assert every.mean == every.high == 1 and abs(every.low - 0.661) < 0.002
    half = share([0, 1] * 50)
    assert abs(half.low - 0.402) < 0.003 and abs(half.high - 0.598) < 0.003
    with pytest.raises(ValueError, match="at least one value"):
        share([])
