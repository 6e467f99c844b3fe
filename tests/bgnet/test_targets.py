"""TD(lambda) targets: against the definition, and against worked cases from reports (tests/data/cases.jsonl)."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.typing import NDArray

from bgnet.selfplay import SelfPlay
from bgnet.targets import residual_lambda, td_lambda, training_positions
from engine.outcomes import from_cumulative, swap, to_cumulative
from tests.bgnet.nets import DATA


def case(name: str) -> dict[str, object]:
    lines = (DATA / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return next(c for c in map(json.loads, lines) if c["id"] == name)


def games_of(values: list[NDArray[np.float64]], endings: list[int]) -> SelfPlay:
    offsets = np.cumsum([0, *(len(v) for v in values)])
    return SelfPlay(
        np.zeros((offsets[-1], 26), np.int8),
        np.concatenate(values).astype(np.float32),
        np.zeros((0, 6), np.float32),
        offsets,
        np.eye(6, dtype=np.float32)[endings],
        np.eye(6, dtype=np.float32)[endings],
        np.zeros(offsets[-1], np.bool_),
    )


@pytest.mark.parametrize("decay", [0.0, 0.3, 0.7, 1.0])
def test_targets_are_the_lambda_return(decay: float) -> None:
    """G_t = (1 - lambda) sum_n lambda^(n-1) (n-step return), summed out from the definition (Sutton 1988)."""
    rng = np.random.default_rng(5)
    values = [rng.dirichlet(np.ones(6), size=n) for n in (1, 2, 7)]
    endings = [3, 5, 4]
    got = td_lambda(games_of(values, endings), decay)
    row = 0
    for v, end in zip(values, endings, strict=True):
        final = np.eye(6)[end]
        for t in range(len(v)):
            steps = [*v[t + 1 :], final]  # each in its own view; step n is n turns away
            seen = [swap(x) if n % 2 == 0 else x for n, x in enumerate(steps)]
            weights = [(1 - decay) * decay**n for n in range(len(seen) - 1)] + [decay ** (len(seen) - 1)]
            expected = sum(w * x for w, x in zip(weights, seen, strict=True))
            assert np.abs(got[row] - expected).max() < 1e-6
            row += 1


def test_case_tr_001_cumulative_term() -> None:
    """A sigmoid unit taught by our targets makes the same step as TD(lambda) with traces over one game."""
    data = case("tr-001")
    for game, weights in zip(data["input"]["games"], data["expect"]["weights"], strict=True):  # type: ignore[index]
        x = np.array(game["features"])
        value = np.full(len(x), 0.5)  # sigmoid(0)
        as_outcomes = np.zeros((len(x), 6))
        as_outcomes[:, 0], as_outcomes[:, 3] = value, 1 - value
        last = len(x) - 1
        ends_well_for_first = game["outcome"] == 1.0
        # The ending is seen by who would be next, that is the first player when the number of positions is even.
        next_is_first = (last + 1) % 2 == 0
        ending = 0 if ends_well_for_first == next_is_first else 3
        targets = td_lambda(games_of([as_outcomes], [ending]), game["lam"])
        first_view = np.array([(g if t % 2 == 0 else swap(g))[0] for t, g in enumerate(targets)])
        step = game["alpha"] * ((first_view - value) * value * (1 - value)) @ x
        assert np.abs(step - np.array(weights)).max() < 1e-8


def test_case_tr_002_target_is_the_opponents_value_turned() -> None:
    data = case("tr-002")
    opponent = from_cumulative(np.array(data["input"]["opponent_on_roll"]))  # type: ignore[index]
    mover = np.full(6, 1 / 6)
    target = td_lambda(games_of([np.array([mover, opponent])], [0]), 0.0)[0]
    assert np.abs(to_cumulative(target) - np.array(data["expect"]["target"])).max() < 1e-6  # type: ignore[index]


def test_the_opening_position_is_left_out() -> None:
    games = games_of([np.full((3, 6), 1 / 6), np.full((2, 6), 1 / 6)], [3, 3])
    assert training_positions(games).tolist() == [1, 2, 4]
    assert training_positions(games, exact=True).tolist() == [0, 1, 2, 3, 4]


def test_a_random_play_ends_what_is_carried_back() -> None:
    """Earlier targets are those of a game cut at it; sampled targets leave its position out, exact ones need not."""
    rng = np.random.default_rng(7)
    values = rng.dirichlet(np.ones(6), size=6)
    whole = games_of([values], [3])
    wandered = np.array([False, False, True, False, False, False])
    games = whole._replace(wandered=wandered, backups=rng.dirichlet(np.ones(6), size=6).astype(np.float32))
    assert training_positions(games).tolist() == [1, 3, 4, 5]
    assert training_positions(games, exact=True).tolist() == [0, 1, 2, 3, 4, 5]
    sampled, exact = td_lambda(games, 0.7), residual_lambda(games, 0.7)
    assert np.abs(sampled[3:] - td_lambda(whole, 0.7)[3:]).max() < 1e-6
    assert np.abs(sampled[1] - swap(values[2])).max() < 1e-6, "what position 2 led to says nothing"
    assert np.abs(sampled[0] - swap(0.3 * values[1] + 0.7 * sampled[1])).max() < 1e-6
    residuals = games.backups - games.values
    assert np.abs(exact[2] - games.backups[2]).max() < 1e-6
    assert np.abs(exact[1] - games.backups[1] - 0.7 * swap(residuals[2])).max() < 1e-6
    assert np.abs(exact[3:] - residual_lambda(games._replace(wandered=wandered & False), 0.7)[3:]).max() < 1e-6


@pytest.mark.parametrize("decay", [0.0, 0.7, 1.0])
def test_residual_targets_are_the_definition(decay: float) -> None:
    """y_t = u_t + sum over k of lambda^k swap^k(u_{t+k} - v_{t+k}), below 0 too: clipped, rare endings would rise."""
    rng = np.random.default_rng(6)
    values = [rng.dirichlet(np.full(6, 0.3), size=n) for n in (1, 2, 7)]
    games = games_of(values, [3, 5, 4])
    backups = (games.values + rng.normal(scale=0.05, size=games.values.shape)).astype(np.float32)
    # The second game ended at the tables, which think otherwise of its last position than the network does.
    finals = games.finals.copy()
    finals[1] = rng.dirichlet(np.ones(6))
    games = games._replace(backups=backups, finals=finals)
    got = residual_lambda(games, decay)
    for g, (start, end) in enumerate(zip(games.offsets, games.offsets[1:], strict=False)):
        residuals = [*(backups[start:end] - games.values[start:end]), finals[g] - games.last_values[g]]
        for t in range(start, end):
            total = backups[t].astype(float)
            for k in range(1, end - t + 1):
                residual = residuals[t - start + k].astype(float)
                total += decay**k * (residual if k % 2 == 0 else swap(residual))
            assert np.abs(got[t] - total).max() < 1e-5
    assert (got < 0).any()
    with pytest.raises(ValueError, match="without exact backups"):
        residual_lambda(games._replace(backups=backups[:0]), decay)
