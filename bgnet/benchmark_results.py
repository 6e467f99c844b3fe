"""What benchmarks say: scores of bots and evaluators, alone and by class, as numbers and as JSON.

A score of judgement (DecisionScore, OutcomeScore) has `bot`, `measure` (what the numbers are, with their unit), `total`
and `by_class`: lower is better. Pictures of any of them need no more.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bgnet.classes import CLASSES
from bgnet.statistics import Estimate, estimate, finite_or_none, share
from engine.outcomes import NAMES

__all__ = [
    "Comparison", "DecisionScore", "OutcomeScore", "Score", "compared", "estimate_dict", "root_mean_square",
]  # fmt: skip

MEQ = 1000
"""Thousandths in a point."""


class Score(Protocol):
    """What all scores of judgement have in common."""

    @property
    def bot(self) -> str: ...

    @property
    def measure(self) -> str:
        """What the numbers are, with the unit, for the axis of a picture."""
        ...

    @property
    def total(self) -> Estimate: ...

    @property
    def by_class(self) -> dict[str, Estimate]:
        """By names of bgnet.classes.CLASSES, in that order; classes without positions are left out."""
        ...


@dataclass(frozen=True, kw_only=True)
class DecisionScore:
    """How much a bot's choices lose, by one judge."""

    bot: str
    judge: str
    losses: NDArray[np.float64] = field(repr=False)
    """float64[N]: of each decision, thousandths of a point, >= 0."""
    chosen: NDArray[np.int8] = field(repr=False)
    """int8[N, 26]: what was chosen, in the next player's view."""
    classes: NDArray[np.int8] = field(repr=False)
    """int8[N], numbers of CLASSES."""
    seconds: float
    """For choosing."""

    measure = "mean loss, thousandths of a point per decision"

    @functools.cached_property
    def total(self) -> Estimate:
        """The mean loss with Student's 95 % interval, the decisions taken as independent.

        Where the judge rolled out, the best of several noisy values is taken for the best play, so a bot that always
        played right would still be charged a little: the same for all bots, unless they share the judge's noise.
        """
        return estimate(self.losses, bounds=(0, math.inf))

    @functools.cached_property
    def by_class(self) -> dict[str, Estimate]:
        """The mean loss of each class that occurs; of few decisions the interval is too narrow (bgnet.statistics)."""
        return _by_class(self.classes, lambda rows: estimate(self.losses[rows], bounds=(0, math.inf)))

    @functools.cached_property
    def agreement(self) -> Estimate:
        """The share of decisions where the choice is the judge's best."""
        return share(self.losses == 0)

    @functools.cached_property
    def agreement_by_class(self) -> dict[str, Estimate]:
        """The same for each class that occurs."""
        return _by_class(self.classes, lambda rows: share(self.losses[rows] == 0))

    def as_dict(self) -> dict[str, Any]:
        """For JSON. loss: thousandths of a point per decision."""
        return {
            "bot": self.bot,
            "judge": self.judge,
            "loss": estimate_dict(self.total),
            "agreement": estimate_dict(self.agreement),
            "classes": {
                name: {"loss": estimate_dict(loss), "agreement": estimate_dict(self.agreement_by_class[name])}
                for name, loss in self.by_class.items()
            },
            "seconds": self.seconds,
        }


@dataclass(frozen=True, kw_only=True)
class OutcomeScore:
    """How far an evaluator's chances and equities are from those rolled out."""

    bot: str
    errors: NDArray[np.float64] = field(repr=False)
    """float64[N, 6]: its chances less the rolled-out ones, in the order of engine.outcomes."""
    equity_errors: NDArray[np.float64] = field(repr=False)
    """float64[N]: its equity less the rolled-out one, thousandths of a point."""
    classes: NDArray[np.int8] = field(repr=False)
    """int8[N], numbers of CLASSES."""
    seconds: float

    measure = "root mean square error of equity, thousandths of a point"

    @functools.cached_property
    def total(self) -> Estimate:
        """The root mean square error of equity with its 95 % interval, the positions taken as independent."""
        return root_mean_square(self.equity_errors)

    @functools.cached_property
    def by_class(self) -> dict[str, Estimate]:
        """The same for each class that occurs."""
        return _by_class(self.classes, lambda rows: root_mean_square(self.equity_errors[rows]))

    @functools.cached_property
    def bias(self) -> Estimate:
        """The mean error of equity, thousandths of a point."""
        return estimate(self.equity_errors)

    @functools.cached_property
    def chance_bias(self) -> dict[str, Estimate]:
        """The mean error of each of the six chances (names of engine.outcomes.NAMES), as a fraction of 1."""
        return {name: estimate(self.errors[:, i]) for i, name in enumerate(NAMES)}

    @functools.cached_property
    def chance_errors(self) -> dict[str, Estimate]:
        """The root mean square error of each of the six chances, as a fraction of 1."""
        return {name: root_mean_square(self.errors[:, i]) for i, name in enumerate(NAMES)}

    def of_class(self, name: str) -> OutcomeScore:
        """The score on the positions of one class alone."""
        rows = self.classes == CLASSES.index(name)
        return OutcomeScore(
            bot=self.bot,
            errors=self.errors[rows],
            equity_errors=self.equity_errors[rows],
            classes=self.classes[rows],
            seconds=self.seconds * float(rows.mean()),
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON. Equities in thousandths of a point, chances as fractions."""
        return {
            "bot": self.bot,
            **self._numbers(),
            "classes": {name: self.of_class(name)._numbers() for name in self.by_class},
            "seconds": self.seconds,
        }

    def _numbers(self) -> dict[str, Any]:
        return {
            "equity": {"bias": estimate_dict(self.bias), "rms": estimate_dict(self.total)},
            "chances": {
                name: {"bias": estimate_dict(self.chance_bias[name]), "rms": estimate_dict(self.chance_errors[name])}
                for name in NAMES
            },
        }


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The difference of two scores on the same positions: a's less b's, so below 0 a is better."""

    a: str
    b: str
    measure: str
    difference: Estimate
    """Paired, hence far narrower than what the two intervals alone would tell."""

    @property
    def told_apart(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return self.difference.low > 0 or self.difference.high < 0

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "a": self.a,
            "b": self.b,
            "measure": self.measure,
            "difference": estimate_dict(self.difference),
            "told_apart": self.told_apart,
        }


def compared(scores: list[tuple[str, NDArray[np.float64]]], measure: str) -> tuple[Comparison, ...]:
    """Every pair of (bot, float64[N] values of the same positions), in the order given."""
    return tuple(
        Comparison(a=a, b=b, measure=measure, difference=estimate(one - other))
        for i, (a, one) in enumerate(scores)
        for b, other in scores[i + 1 :]
    )


def root_mean_square(errors: NDArray[np.float64]) -> Estimate:
    """The root of the mean square of independent errors; its interval is that of the mean square, rooted."""
    square = estimate(errors**2, bounds=(0, math.inf))
    root = math.sqrt(square.mean)
    return Estimate(
        mean=root,
        low=math.sqrt(square.low),
        high=math.sqrt(square.high),
        std_error=square.std_error / (2 * root) if root > 0 else 0.0 * square.std_error,
        count=square.count,
        level=square.level,
    )


def estimate_dict(found: Estimate) -> dict[str, Any]:
    """For JSON, which has neither nan nor infinity: null stands for them."""
    numbers = {"mean": found.mean, "low": found.low, "high": found.high, "std_error": found.std_error}
    return {**{key: finite_or_none(value) for key, value in numbers.items()}, "count": found.count}


def _by_class(classes: NDArray[np.int8], of_rows: Callable[[NDArray[np.bool_]], Estimate]) -> dict[str, Estimate]:
    return {name: of_rows(classes == i) for i, name in enumerate(CLASSES) if (classes == i).any()}
