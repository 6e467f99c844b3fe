"""Rules that stop runs early: the formula against a slow twin, error rates by simulation, the same looks always."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from bgnet.sequential import EVERY, Moments, Rule, Sprt, Stopped, StopRuleError, Until, Watch, read_rule
from bgnet.statistics import estimate

Values = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Values]


def played_out(rule: Rule, values: Values) -> tuple[int, Stopped]:
    """Where a run with these values float64[N] (or [K, N]) ends."""
    found = Watch(rule).look(np.atleast_2d(values), final=True)
    assert found is not None
    return found


def normal_log_likelihood(values: Values, mean: float) -> float:
    """Under the variance that suits best."""
    variance = np.mean((values - mean) ** 2)
    return float(np.sum(-0.5 * np.log(2 * np.pi * variance) - (values - mean) ** 2 / (2 * variance)))


@pytest.mark.parametrize("seed", range(5))
def test_llr_is_a_log_likelihood_ratio(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(0.02, 0.3, size=200) + rng.choice([0, 0.5], size=200)
    rule = Sprt(0, 0.1)
    expected = normal_log_likelihood(values, 0.1) - normal_log_likelihood(values, 0)
    assert rule.llr(Moments.of(values[None])) == pytest.approx(expected, rel=1e-9)


def test_llr_of_close_hypotheses_is_the_usual_approximation() -> None:
    """n (H1 - H0) (2 m - H0 - H1) / (2 v), as fishtest has it."""
    values = np.random.default_rng(1).normal(0.004, 0.25, size=5000)
    rule, m, v = Sprt(0, 0.01), values.mean(), values.var()
    assert rule.llr(Moments.of(values[None])) == pytest.approx(5000 * 0.01 * (2 * m - 0.01) / (2 * v), rel=0.01)


def test_walds_bounds() -> None:
    assert (Sprt(0, 1).lower, Sprt(0, 1).upper) == (pytest.approx(-2.9444, abs=1e-4), pytest.approx(2.9444, abs=1e-4))
    rule = Sprt(0, 1, alpha=0.01, beta=0.2)
    assert (rule.lower, rule.upper) == (pytest.approx(math.log(0.2 / 0.99)), pytest.approx(math.log(80)))


def normal(rng: np.random.Generator, n: int) -> Values:
    """Like luck-adjusted pairs of two good bots."""
    return rng.normal(0, 0.2, size=n)


def often_equal(rng: np.random.Generator, n: int) -> Values:
    """Like pairs of bots that seldom differ: mostly exactly nothing, then far out."""
    return np.where(rng.random(n) < 0.2, rng.laplace(0, 0.3, size=n), 0)


def skewed(rng: np.random.Generator, n: int) -> Values:
    """More skewed (1.5) than luck-adjusted pairs of a good and a bad bot (0.9: our nets against PubEval)."""
    return rng.gamma(1.8, 0.2, size=n) - 1.8 * 0.2


def plain(rng: np.random.Generator, n: int) -> Values:
    """Like plain pairs: a few half points."""
    return rng.choice([-2, -1, -0.5, 0, 0.5, 1, 2], size=n, p=[0.05, 0.15, 0.1, 0.4, 0.1, 0.15, 0.05])


@pytest.mark.parametrize("draw", [normal, often_equal, skewed, plain], ids=lambda draw: draw.__name__)
@pytest.mark.parametrize(("truth", "wrong"), [("h0", "H1"), ("h1", "H0")])
def test_error_rates_are_what_was_asked(draw: Draw, truth: str, wrong: str) -> None:
    """Of 1,500 tests at 5 %, no more are wrong than chance allows; and not next to none, they would last too long."""
    rng, tests = np.random.default_rng(11), 1500
    spread = draw(rng, 100_000).std()
    rule = Sprt(-0.05 * spread, 0.05 * spread)
    decisions = [
        played_out(rule, draw(rng, 12_000) + getattr(rule, truth))[1].decision for _ in range(tests)
    ]  # the mean length is some 1,000
    assert decisions.count(None) <= 2
    share = decisions.count(wrong) / tests
    assert 0.01 < share < 0.05 + 2.5 * math.sqrt(0.05 * 0.95 / tests)


def test_a_test_is_shorter_than_one_of_fixed_length() -> None:
    """At 5 % / 5 % a fixed length takes (2 * 1.645 * spread / gap)^2 pairs; sequentially about half on average."""
    rng, rule = np.random.default_rng(3), Sprt(0, 0.02)
    fixed = (2 * 1.645 * 0.2 / 0.02) ** 2
    lengths = [played_out(rule, normal(rng, 10_000) + 0.02)[0] for _ in range(300)]
    assert 0.4 < np.mean(lengths) / fixed < 0.65


def test_intervals_at_their_stop_cover_the_truth() -> None:
    """`until` looks at the spread alone; that hardly touches the interval's promise."""
    rng, runs = np.random.default_rng(5), 1500
    covered, means = 0, []
    for _ in range(runs):
        values = skewed(rng, 6000) + 0.03
        count, stopped = played_out(Until(0.02), values)
        assert stopped.decision == "narrow"
        found = estimate(values[:count])
        assert found.half_width <= 0.02 < estimate(values[: count - EVERY]).half_width
        covered += found.low <= 0.03 <= found.high
        means.append(found.mean)
    assert 0.93 < covered / runs < 0.97
    assert abs(np.mean(means) - 0.03) < 0.002, "at most a tenth of the interval"


def test_until_waits_for_the_widest_of_several() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(0, [[0.1], [0.3], [0]], size=(3, 8000))
    count, stopped = played_out(Until(0.01), values)
    assert count == played_out(Until(0.01), values[1])[0]
    assert stopped.moments.half_widths().argmax() == 1


def test_half_widths_are_those_of_estimates() -> None:
    values = np.random.default_rng(8).normal(1, 2, size=(3, 40))
    moments = Moments.of(values[:, :15]) + Moments.of(values[:, 15:])
    assert moments.half_widths() == pytest.approx([estimate(row).half_width for row in values])
    assert moments.means == pytest.approx(values.mean(axis=1))
    assert np.isinf(Moments.of(values[:, :1]).half_widths()).all()


@pytest.mark.parametrize("rule", [Sprt(0, 0.02), Until(0.012)], ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("chunk", [1, 37, 50, 333])
def test_where_it_stops_does_not_depend_on_how_values_come(rule: Rule, chunk: int) -> None:
    values = np.random.default_rng(4).normal(0.013, 0.2, size=(1, 4000))
    whole = played_out(rule, values)
    assert whole[0] % EVERY == 0
    assert rule.least < whole[0] < 4000
    watch = Watch(rule)
    for stop in range(chunk, 4000 + chunk, chunk):
        found = watch.look(values[:, watch.count : stop], final=stop >= 4000)
        if found is not None:
            break
    assert found is not None
    assert found[0] == whole[0]
    assert found[1].decision == whole[1].decision
    assert np.array_equal(found[1].moments.sums, whole[1].moments.sums)


def test_no_look_before_the_first() -> None:
    clear = np.full((1, 1000), 0.5)
    for least in (EVERY, 400):
        assert played_out(Sprt(0, 0.4, least=least), clear)[0] == least
        assert played_out(Until(0.1, least), clear)[0] == least


def test_when_the_values_run_out() -> None:
    values = np.random.default_rng(6).normal(0.01, 0.2, size=(1, 330))
    count, stopped = played_out(Sprt(0, 0.02), values)
    assert (count, stopped.decision, stopped.moments.count) == (330, None, 330)
    fields = stopped.as_dict()
    assert fields["decision"] == "undecided"
    assert fields["llr"] == pytest.approx(Sprt(0, 0.02).llr(Moments.of(values)))
    # the very end is looked at too: all 330 are narrow enough, the first 300 are not
    width = estimate(values[0]).half_width
    assert estimate(values[0, :300]).half_width > width
    assert played_out(Until(width * 1.0001), values)[1].decision == "narrow"


def test_values_without_spread() -> None:
    """A bot against itself: every pair is exactly 0."""
    nothing = np.zeros((1, 400))
    assert played_out(Sprt(0, 0.01), nothing)[1].decision == "H0"
    assert played_out(Sprt(-0.01, 0), nothing)[1].decision == "H1"
    assert played_out(Sprt(-0.01, 0.01), nothing)[1].decision is None
    assert all(math.isfinite(Sprt(h0, h0 + 0.01).llr(Moments.of(nothing))) for h0 in (0, -0.01, 0.5))
    assert played_out(Until(0.001), nothing)[1].decision == "narrow"


@pytest.mark.parametrize("rule", [Sprt(-0.01, 0.02, 0.1, 0.01, 300), Until(0.25, 100)])
def test_rules_survive_json(rule: Rule) -> None:
    assert read_rule(rule.as_dict()) == rule
    with pytest.raises(ValueError, match="no rule is called"):
        read_rule({**rule.as_dict(), "rule": "elo"})


BAD: list[tuple[Callable[[], object], str]] = [
    (lambda: Sprt(0.01, 0.01), "H0 the lower one"),
    (lambda: Sprt(0.01, 0), "other way round"),
    (lambda: Sprt(0, math.nan), "H0 the lower one"),
    (lambda: Sprt(0, 0.01, alpha=0), "alpha and beta"),
    (lambda: Sprt(0, 0.01, beta=0.5), "alpha and beta"),
    (lambda: Sprt(0, 0.01, least=75), "after a multiple"),
    (lambda: Until(0), "above 0"),
    (lambda: Until(math.inf), "above 0"),
    (lambda: Until(0.1, least=0), "after a multiple"),
    (lambda: Until(0.1, least=True), "after a multiple"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_rules_that_cannot_be_followed_are_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(StopRuleError, match=message):
        make()
