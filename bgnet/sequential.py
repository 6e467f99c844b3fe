"""Rules that stop a run of dice pairs early: a narrow enough interval, or a sequential test of two hypotheses.

Values are independent results of pairs, luck-adjusted where they can be. A rule looks at fixed numbers of pairs (every
`EVERY`, from `least` on, and at the very end), so when a run stops does not depend on how its work was shared out.

`Sprt` is the generalized sequential probability ratio test (Li, Liu and Ying, "Generalized sequential probability
ratio test for separate families of hypotheses", Sequential Analysis 33, 2014) for the mean of a normal distribution of
unknown variance: both hypotheses get the variance that suits them best, so the log likelihood ratio of n values is

    LLR = n / 2 * log((v + (m - H0)^2) / (v + (m - H1)^2)),    m their mean, v = mean of squares - m^2,

and bounds are Wald's: log(beta / (1 - alpha)) and log((1 - beta) / alpha) ("Sequential Tests of Statistical
Hypotheses", 1945). Chess engines are tested so (fishtest). Results of pairs are not normal; over hundreds of them means
are, nearly: hence `least`. tests/bgnet/test_sequential.py measures the error rates, up to a skewness of 1.5. (Of values
with a skewness of 4.5 up to 10 % of the decisions for the tail's side were wrong instead of 5 %; luck-adjusted pairs of
a good and a bad bot have 0.9.)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bgnet.statistics import t_quantile

__all__ = ["EVERY", "LEAST", "Moments", "Rule", "Sprt", "StopRuleError", "Stopped", "Until", "Watch", "read_rule"]

EVERY = 50
"""A rule looks after every so many pairs."""
LEAST = 250
"""Pairs before the first look, unless said."""
_MOST_LLR = 1e6  # where the values do not spread at all the ratio has no bound, and JSON knows no infinity


class StopRuleError(ValueError):
    """A rule that cannot be followed."""


@dataclass(frozen=True)
class Moments:
    """What rules need of the values so far: K quantities, each with `count` independent values."""

    count: int
    sums: NDArray[np.float64]
    squares: NDArray[np.float64]
    """float64[K] each, the sums of the values and of their squares."""

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Moments:
        """float64[K, N] -> theirs."""
        return cls(values.shape[1], values.sum(axis=1), (values**2).sum(axis=1))

    def __add__(self, other: Moments) -> Moments:
        return Moments(self.count + other.count, self.sums + other.sums, self.squares + other.squares)

    @property
    def means(self) -> NDArray[np.float64]:
        return self.sums / self.count

    @property
    def variances(self) -> NDArray[np.float64]:
        """float64[K], mean squared deviations (divided by N, not N - 1)."""
        return np.maximum(self.squares / self.count - self.means**2, 0.0)

    def half_widths(self, level: float = 0.95) -> NDArray[np.float64]:
        """float64[K], half of Student's t interval for each mean; infinite for a single value."""
        if self.count < 2:
            return np.full(len(self.sums), math.inf)
        return t_quantile(0.5 + level / 2, self.count - 1) * np.sqrt(self.variances / (self.count - 1))


class Rule(Protocol):
    """When to stop."""

    @property
    def least(self) -> int:
        """Pairs before the first look."""
        ...

    def decide(self, moments: Moments) -> str | None:
        """What the values say, None if they must go on."""
        ...

    def as_dict(self) -> dict[str, Any]:
        """For JSON: all that decides when it stops. Numbers of games, two for each pair."""
        ...


@dataclass(frozen=True)
class Until:
    """Stop once the 95 % intervals of all means are at most `half_width` points to either side.

    This looks at the spread alone, not at the means. So means of symmetric values do not lean to either side; where a
    rare large value on one side decides (cubes without a limit), a run may stop before it came, and the mean then leans
    to the other side by up to about a fifth of the half-width.
    """

    half_width: float
    least: int = LEAST

    def __post_init__(self) -> None:
        if not 0 < self.half_width < math.inf:
            raise StopRuleError(f"until: half the interval's width must be above 0 points, not {self.half_width!r}")
        _check_least(self.least)

    def decide(self, moments: Moments) -> str | None:
        """ "narrow" or None."""
        return "narrow" if bool((moments.half_widths() <= self.half_width).all()) else None

    def as_dict(self) -> dict[str, Any]:
        return {"rule": "until", "half_width": self.half_width, "first_look": 2 * self.least, "look_every": 2 * EVERY}


@dataclass(frozen=True)
class Sprt:
    """The sequential test of H0: the mean is h0, against H1: it is h1 (points per game; of matches the share won above
    one half).

    alpha: about the chance to accept H1 where H0 is true; beta: to accept H0 where H1 is true (Wald's bounds promise
    a sum of at most alpha + beta). A true mean on the far sides fares no worse; in between either may be accepted.
    """

    h0: float
    h1: float
    alpha: float = 0.05
    beta: float = 0.05
    least: int = LEAST

    def __post_init__(self) -> None:
        if not (math.isfinite(self.h0) and math.isfinite(self.h1) and self.h0 < self.h1):
            raise StopRuleError(
                "sprt: H0 and H1 are points per game (of matches the share won above 0.5), H0 the lower one, not "
                f"{self.h0!r} and {self.h1!r}; "
                "to test for a loss name the bots the other way round"
            )
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise StopRuleError(f"sprt: alpha and beta lie between 0 and 0.5, not {self.alpha!r} and {self.beta!r}")
        _check_least(self.least)

    @property
    def lower(self) -> float:
        """Log likelihood ratio at which H0 is accepted."""
        return math.log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """Log likelihood ratio at which H1 is accepted."""
        return math.log((1 - self.beta) / self.alpha)

    def llr(self, moments: Moments) -> float:
        """The log likelihood ratio of H1 to H0, of one quantity; cut at a million to either side."""
        mean, variance = float(moments.means[0]), float(moments.variances[0])
        under_h0, under_h1 = variance + (mean - self.h0) ** 2, variance + (mean - self.h1) ** 2
        if under_h0 == 0 or under_h1 == 0:  # no spread at all, and right on a hypothesis
            return -_MOST_LLR if under_h0 == 0 else _MOST_LLR
        llr = moments.count / 2 * math.log(under_h0 / under_h1)
        return min(max(llr, -_MOST_LLR), _MOST_LLR)

    def decide(self, moments: Moments) -> str | None:
        """ "H0", "H1" or None."""
        llr = self.llr(moments)
        return "H1" if llr >= self.upper else "H0" if llr <= self.lower else None

    def as_dict(self) -> dict[str, Any]:
        return {
            "rule": "sprt",
            "h0": self.h0,
            "h1": self.h1,
            "alpha": self.alpha,
            "beta": self.beta,
            "lower": self.lower,
            "upper": self.upper,
            "first_look": 2 * self.least,
            "look_every": 2 * EVERY,
        }


@dataclass(frozen=True)
class Stopped:
    """Where a run with a rule has ended."""

    rule: Rule
    decision: str | None
    """The rule's word; None: the games ran out before."""
    moments: Moments
    """At the last look."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON: the rule, and what came of it."""
        found = self.rule.as_dict()
        if isinstance(self.rule, Sprt):
            found["llr"] = self.rule.llr(self.moments)
        return {**found, "decision": self.decision or "undecided"}


def read_rule(fields: Mapping[str, Any]) -> Until | Sprt:
    """The rule whose as_dict this is. Raises KeyError, TypeError or ValueError for anything else."""
    least = fields["first_look"] // 2
    if fields["rule"] == "until":
        return Until(fields["half_width"], least)
    if fields["rule"] == "sprt":
        return Sprt(fields["h0"], fields["h1"], fields["alpha"], fields["beta"], least)
    raise ValueError(f"no rule is called {fields['rule']!r}")


class Watch:
    """Looks at growing values at the fixed places."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._seen: Moments | None = None

    @property
    def count(self) -> int:
        """How many values have been taken in, a multiple of EVERY."""
        return 0 if self._seen is None else self._seen.count

    def look(self, fresh: NDArray[np.float64], *, final: bool) -> tuple[int, Stopped] | None:
        """The values float64[K, N] behind those taken in -> the number of pairs at which to stop, and what was decided.

        None: go on. final: no more will come; then there is an answer always, its `decision` being None when the rule
        would have gone on.
        """
        start, most = self.count, self.count + fresh.shape[1]
        for stop in range(start + EVERY, most + 1, EVERY):
            # block by block, so that the last digit does not depend on how the values came
            self._seen = _joined(self._seen, fresh[:, stop - EVERY - start : stop - start])
            decision = self._decide(self._seen)
            if decision is not None:
                return stop, Stopped(self.rule, decision, self._seen)
        if not final:
            return None
        every = _joined(self._seen, fresh[:, self.count - start :])
        return most, Stopped(self.rule, self._decide(every), every)

    def _decide(self, moments: Moments) -> str | None:
        return self.rule.decide(moments) if moments.count >= self.rule.least else None


def _joined(seen: Moments | None, values: NDArray[np.float64]) -> Moments:
    return Moments.of(values) if seen is None else seen + Moments.of(values)


def _check_least(least: int) -> None:
    if not isinstance(least, int) or isinstance(least, bool) or least < EVERY or least % EVERY:
        raise StopRuleError(
            f"looks come after every {EVERY} dice pairs ({2 * EVERY} games), the first one after a multiple of that: "
            f"not after {least!r} pairs"
        )
