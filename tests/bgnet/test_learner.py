"""The learner by itself: its loss, its rates, its threads, and units that start anew."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from bgnet.config import RunConfig
from bgnet.encoding import encoding
from bgnet.evaluators import NetEvaluator
from bgnet.growth import idle_units
from bgnet.learner import Learner, choose_device, has_bfloat16
from bgnet.netfile import NetInfo, Weights
from tests.bgnet.nets import random_weights, some_positions

CLASSIC = encoding("classic")


def learner(hidden: list[int] | None = None, start: Weights | None = None, **learning: object) -> Learner:
    config = {"seed": 3, "device": "cpu", "net": {"hidden": hidden or [16, 8]}, "learning": learning}
    return Learner(RunConfig.model_validate(config), CLASSIC, start)


def judged(weights: Weights, boards: NDArray[np.int8]) -> NDArray[np.float32]:
    return NetEvaluator(weights, NetInfo(sizes=weights.sizes)).outcomes(boards)


def lesson(count: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    boards = some_positions()[0][:count]
    return boards, np.random.default_rng(3).dirichlet(np.ones(6), size=count).astype(np.float32)


def test_devices() -> None:
    assert choose_device("cpu").type == "cpu"
    if not torch.cuda.is_available():
        assert choose_device("auto").type == "cpu"
        with pytest.raises(ValueError, match="no CUDA device"):
            choose_device("cuda")


@pytest.mark.parametrize("rules", ["money", "dmp"])
def test_the_loss_is_the_cross_entropy_and_as_much_of_the_squared_equity_error_as_wanted(
    tmp_path: Path, rules: str
) -> None:
    config = RunConfig.model_validate({"game": {"rules": rules}, "learning": {"equity_weight": 1.5}})
    one = Learner(config, CLASSIC)
    boards, wanted = lesson(64)
    values = judged(one.weights(), boards)
    entropy = -(wanted * np.log(values)).sum(axis=1).mean()
    squared = (((values - wanted) @ config.payoff) ** 2).mean()
    loss = one.learn(boards, wanted, 1e-3, np.arange(64), tmp_path / "failed")
    assert loss == pytest.approx(entropy + 1.5 * squared, rel=1e-5)
    better = judged(one.weights(), boards)
    assert (((better - wanted) @ config.payoff) ** 2).mean() < squared


def test_layers_with_many_inputs_learn_more_slowly_unless_told_otherwise() -> None:
    for plain_width, speeds in ((4, [1.0, 4 / 16, 4 / 8]), (16384, [1.0, 1.0, 1.0])):
        groups = learner(plain_width=plain_width).optimizer.param_groups
        assert [group["speed"] for group in groups] == speeds


def test_everything_but_the_products_stays_single(tmp_path: Path) -> None:
    one = learner(precision="bfloat16")
    one.learn(*lesson(64), 1e-3, np.arange(64), tmp_path / "failed")
    assert all(array.dtype == np.float32 for array in one.state().values())


@pytest.mark.parametrize("has", [False, True])
def test_auto_is_what_the_processor_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has: bool) -> None:
    monkeypatch.setattr("bgnet.learner.has_bfloat16", lambda device: has)
    learned = {}
    for precision in ("single", "bfloat16", "auto"):
        one = learner(precision=precision)
        one.learn(*lesson(64), 1e-3, np.arange(64), tmp_path / "failed")
        learned[precision] = np.concatenate([array.ravel() for array in one.weights().arrays()])
    assert (learned["single"] != learned["bfloat16"]).any()
    assert one.precision == ("bfloat16" if has else "single")
    assert (learned["auto"] == learned["bfloat16" if has else "single"]).all()


def test_what_the_processor_has_is_asked() -> None:
    """Where the kernel lists the processor's flags, they say the same."""
    info = Path("/proc/cpuinfo")
    if not info.is_file() or "flags" not in (text := info.read_text(encoding="utf-8")):
        pytest.skip("this system does not list them")
    if not hasattr(torch.cpu, "get_capabilities"):
        pytest.skip("this version of torch cannot tell")
    flags = set(text.split())
    assert has_bfloat16(torch.device("cpu")) == bool(flags & {"avx512_bf16", "amx_bf16"})


def test_another_learner_does_not_change_the_threads(tmp_path: Path) -> None:
    before = torch.get_num_threads()
    try:
        one = learner(threads=2)
        other = learner(threads=1)
        for each, threads in ((one, 2), (other, 1), (one, 2)):
            each.learn(*lesson(8), 1e-3, np.arange(8), tmp_path / "failed")
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def with_dead_units() -> Weights:
    weights = random_weights([196, 24, 12, 6])
    weights.biases[0][[3, 5]] = -1e3
    weights.biases[1][[0, 7, 9]] = -1e3
    return weights


def test_units_start_anew_on_any_device() -> None:
    """As on a GPU: an index that stayed behind on the processor would be refused. (Tensors of "meta" are shapes.)"""
    one = learner()
    p = torch.nn.Parameter(torch.empty(4, 3, device="meta"))
    one.optimizer.state[p] = {name: torch.empty(4, 3, device="meta") for name in ("exp_avg", "exp_avg_sq")}
    for axis in (0, 1):
        one._forget(p, np.array([0, 2]), axis)


@pytest.mark.parametrize("warm", [False, True], ids=["before the first step", "after some"])
def test_idle_units_start_anew_and_stay_alive(tmp_path: Path, warm: bool) -> None:
    """The network judges as before, in the average and in what learns; then the new units take part."""
    boards, wanted = lesson(2000)
    one = learner(start=with_dead_units(), average=0.9)
    if warm:
        one.learn(boards, wanted, 1e-3, np.arange(2000), tmp_path / "failed")
    dead = idle_units(one.weights(), boards, CLASSIC)
    assert {3, 5} <= set(dead[0]) and {0, 7, 9} <= set(dead[1])
    before, parameters = judged(one.weights(), boards), [p.detach().clone() for p in one.parameters]
    assert one.renew(boards, seed=1) == len(dead[0]) + len(dead[1])
    np.testing.assert_allclose(judged(one.weights(), boards), before, atol=2e-6)
    alive = np.setdiff1d(np.arange(24), dead[0])
    assert torch.equal(one.parameters[0][alive], parameters[0][alive]), "the others are left alone"
    assert not torch.equal(one.parameters[0][3], parameters[0][3])
    one.learn(boards, wanted, 1e-3, np.arange(2000), tmp_path / "failed")
    after = one.weights()
    assert all(not np.intersect1d(a, b).size for a, b in zip(idle_units(after, boards, CLASSIC), dead, strict=True))
    assert (after.matrices[1][alive[0] % 12, 3] != 0) and (after.matrices[2][:, 7] != 0).all()


def test_new_units_begin_at_the_learning_rate(tmp_path: Path) -> None:
    """Adam divides by the root of the second moment: from zero its first steps would be two or three times too long.

    A new unit's outgoing weights move first: as long as they are 0 no gradient reaches what comes in.
    """
    boards, wanted = lesson(2048)
    one = learner(start=with_dead_units(), batch_size=64)
    for _ in range(20):
        one.learn(boards, wanted, 1e-4, np.arange(2048), tmp_path / "failed")
    assert one.renew(boards, seed=1) >= 5
    before = [p.detach().clone() for p in one.parameters]
    one.learn(boards, wanted, 1e-4, np.arange(64), tmp_path / "failed")
    for i, units in ((2, [3, 5]), (4, [0, 7, 9])):
        steps = (one.parameters[i].detach() - before[i])[:, units].abs()
        assert 0 < float(steps.max()) <= 1e-4


def test_nothing_to_renew() -> None:
    one = learner(start=random_weights([196, 16, 6]))
    boards = some_positions()[0]
    assert [len(units) for units in idle_units(one.weights(), boards, CLASSIC)] == [0]
    before = [array.copy() for array in one.weights().arrays()]
    assert one.renew(boards, seed=1) == 0
    assert all(np.array_equal(a, b) for a, b in zip(before, one.weights().arrays(), strict=True))
