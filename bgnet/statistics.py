"""Means with honest intervals. The arena counts dice pairs: the two games of a pair are not independent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Estimate", "estimate", "finite_or_none", "t_quantile", "variance_ratio"]


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval at the stated confidence level."""

    mean: float
    low: float
    high: float
    std_error: float
    """Standard error of the mean; nan for a single value."""
    count: int
    """How many independent values it rests on."""
    level: float = 0.95

    @property
    def half_width(self) -> float:
        """Half the interval: what stands behind the plus-minus sign."""
        return (self.high - self.low) / 2


def estimate(
    values: ArrayLike, *, level: float = 0.95, bounds: tuple[float, float] = (-math.inf, math.inf)
) -> Estimate:
    """The mean of independent values with Student's t interval (n - 1 degrees of freedom).

    bounds: what the mean can be at all; the interval is cut there. A single value has no spread, so its
    interval is the bounds themselves. Raises ValueError without values or for a level outside (0, 1).
    """
    array = np.asarray(values, dtype=np.float64).ravel()
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level!r}")
    if len(array) == 0:
        raise ValueError("a mean needs at least one value")
    mean = float(array.mean())
    if len(array) == 1:
        return Estimate(mean, *bounds, std_error=math.nan, count=1, level=level)
    std_error = float(array.std(ddof=1)) / math.sqrt(len(array))
    half = t_quantile(0.5 + level / 2, len(array) - 1) * std_error
    low, high = max(mean - half, bounds[0]), min(mean + half, bounds[1])
    return Estimate(mean, low, high, std_error, len(array), level)


def variance_ratio(plain: Estimate, adjusted: Estimate) -> float | None:
    """How many times more values the plain mean would need to be as narrow; None when that is not known."""
    return (plain.std_error / adjusted.std_error) ** 2 if adjusted.std_error > 0 else None


def finite_or_none(value: float | None) -> float | None:
    """For JSON, which has neither nan nor infinity: null stands for them."""
    return value if value is not None and math.isfinite(value) else None


def t_quantile(p: float, degrees: int) -> float:
    """The p-quantile of Student's t: exact for 1 and 2 degrees of freedom, else within 0.2 % at 97.5 %.

    From 3 on by the expansion in powers of 1/degrees, Abramowitz and Stegun 26.7.5.
    """
    if degrees < 1:
        raise ValueError(f"Student's t needs at least 1 degree of freedom, not {degrees!r}")
    if degrees == 1:
        return math.tan(math.pi * (p - 0.5))
    if degrees == 2:
        return (2 * p - 1) / math.sqrt(2 * p * (1 - p))
    z = NormalDist().inv_cdf(p)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / float(degrees) ** power for power, term in enumerate(terms))
