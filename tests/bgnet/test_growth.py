"""Growing networks: the judgement stays, and what is new can learn."""

from __future__ import annotations

import numpy as np
import pytest

from bgnet.encoding import Encoding, encoding
from bgnet.growth import GrowthError, deepened, extended, grow, idle_units, renewed, widened
from bgnet.inference import fold, outcomes_kernel
from bgnet.netfile import Weights
from bgnet.selfplay import MONEY_GAME, play_games
from tests.bgnet.nets import random_weights

ENCODING = encoding("classic", 15)


def judged(weights: Weights, boards: np.ndarray, inputs: Encoding = ENCODING) -> np.ndarray:
    out = np.empty((len(boards), 6), np.float32)
    outcomes_kernel(fold(weights, inputs), boards, out)
    return out


@pytest.fixture(scope="module")
def boards() -> np.ndarray:
    return play_games(fold(random_weights([196, 24, 8, 6]), ENCODING), MONEY_GAME, 5, 0, 3).boards


@pytest.mark.parametrize("hidden", [[24, 8], [40, 8], [24, 20], [64, 24], [24, 8, 8], [32, 16, 24], [24, 8, 8, 8]])
def test_grown_networks_judge_the_same(boards: np.ndarray, hidden: list[int]) -> None:
    weights = random_weights([196, 24, 8, 6])
    grown, _ = grow(weights, hidden, boards, ENCODING, seed=3)
    assert grown.sizes == [196, *hidden, 6]
    assert np.abs(judged(grown, boards) - judged(weights, boards)).max() < 2e-6
    again, _ = grow(weights, hidden, boards, ENCODING, seed=3)
    assert all(np.array_equal(a, b) for a, b in zip(grown.arrays(), again.arrays(), strict=True))


def test_new_units_listen_but_do_not_speak() -> None:
    weights = random_weights([196, 24, 8, 6])
    wide = widened(weights, [30, 12], seed=1)
    assert (wide.matrices[1][:8, 24:] == 0).all() and (wide.matrices[2][:, 8:] == 0).all()
    assert (wide.matrices[0][24:] != 0).all() and (wide.matrices[1][8:] != 0).all(), "else no gradient reaches them"
    assert np.array_equal(wide.matrices[0][:24], weights.matrices[0])


def test_dead_units_start_anew(boards: np.ndarray) -> None:
    weights = random_weights([196, 24, 8, 6])
    weights.biases[0][[3, 5]] = -1e3
    weights.biases[1][[0, 7]] = -1e3
    idle = idle_units(weights, boards, ENCODING)
    assert {3, 5} <= set(idle[0]) and {0, 7} <= set(idle[1])
    assert grow(weights, [24, 8], boards, ENCODING, seed=2)[1] == sum(map(len, idle))
    fresh = renewed(weights, idle, seed=2)
    assert np.abs(judged(fresh, boards) - judged(weights, boards)).max() < 2e-6
    assert len(idle_units(fresh, boards, ENCODING)[0]) == 0
    assert (fresh.matrices[1][0, 3] != 0) and (fresh.matrices[1][1, 3] == 0)
    assert weights.biases[0][3] == -1e3, "the original is left alone"


@pytest.mark.parametrize("hidden", [[24], [20, 8], [24, 7], [8, 24], [24, 8, 7]])
def test_shrinking_is_refused(boards: np.ndarray, hidden: list[int]) -> None:
    with pytest.raises(GrowthError, match=r"\[24, 8\] cannot grow into \[.*needs \[24, 8"):
        grow(random_weights([196, 24, 8, 6]), hidden, boards, ENCODING, seed=1)


def test_a_deeper_one_of_one_layer(boards: np.ndarray) -> None:
    weights = random_weights([196, 16, 6])
    assert np.abs(judged(deepened(weights), boards) - judged(weights, boards)).max() < 2e-6


def test_further_inputs_are_not_heard_yet(boards: np.ndarray) -> None:
    weights = random_weights([196, 24, 8, 6])
    tactical = encoding("tactical")
    more = extended(weights, tactical)
    assert more.sizes == [tactical.size, 24, 8, 6] and weights.sizes[0] == 196
    assert np.abs(judged(more, boards, tactical) - judged(weights, boards)).max() < 2e-6
    more.matrices[0][:, 196:] = 0.1
    assert np.abs(judged(more, boards, tactical) - judged(weights, boards)).max() > 1e-3, "they are there to be heard"
    assert extended(weights, ENCODING).sizes == weights.sizes


@pytest.mark.parametrize("new", ["classic", "one-hot", "tactical"])
@pytest.mark.parametrize("old", ["classic", "one-hot", "tactical"])
def test_only_inputs_that_stay_where_they_are_are_extended(new: str, old: str) -> None:
    assert encoding(new).extends(encoding(old)) == (new == old or (new, old) == ("tactical", "classic"))
    assert not encoding(new, 15).extends(encoding(old, 3))
