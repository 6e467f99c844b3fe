"""Encodings: what an input says, and that networks over each of them learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bgnet.encoding import ENCODINGS, encode, encoding
from bgnet.evaluators import load
from bgnet.learner import Learner
from bgnet.netfile import load_net
from bgnet.network import Network
from bgnet.tactics import TACTICS, tactics
from engine.board import START_BOARD
from engine.errors import EngineError
from tests.bgnet.nets import some_positions
from tests.bgnet.test_training import start, tiny


def test_classic_inputs_of_the_start() -> None:
    """Tesauro's units: two checkers are 1 1 0 0, three 1 1 1 0, five 1 1 1 1, each side in its own four of a point."""
    found = encode(START_BOARD[None], encoding("classic"))[0]
    expected = np.zeros(196)
    for point, count in ((24, 2), (13, 5), (8, 3), (6, 5)):
        units = {2: [1, 1, 0, 0], 3: [1, 1, 1, 0], 5: [1, 1, 1, 1]}[count]
        expected[8 * (point - 1) : 8 * (point - 1) + 4] = units
        expected[8 * (24 - point) + 4 : 8 * (24 - point) + 8] = units
    assert found.tolist() == expected.tolist()


def test_tactical_inputs_are_the_classic_ones_and_the_tactics() -> None:
    boards = some_positions()[0]
    found = encode(boards, encoding("tactical"))
    assert (found == np.concatenate([encode(boards, encoding("classic")), tactics(boards)], axis=1)).all()
    assert encoding("tactical").size == 196 + TACTICS and encoding("tactical").folded_size == 196


def test_an_unknown_encoding_is_refused() -> None:
    with pytest.raises(EngineError, match="unknown encoding 'pips'; there are: classic, one-hot, tactical"):
        encoding("pips")


@pytest.mark.parametrize("name", sorted(ENCODINGS))
def test_networks_over_every_encoding_learn_from_what_comes_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The weights of an input change only if it was not 0 in every position learned from, and then nearly always: a
    position may activate no unit that hears it.
    """
    came_up = np.zeros(encoding(name).size, dtype=np.bool_)
    learn = Learner.learn

    def watched(self: Learner, boards: NDArray[np.int8], targets: Any, rate: float, order: Any, file: Path) -> float:
        nonlocal came_up
        came_up |= (encode(boards[order], self.encoding) != 0).any(axis=0)
        return learn(self, boards, targets, rate, order, file)

    monkeypatch.setattr(Learner, "learn", watched)
    config = tiny(tmp_path, games=60, **{"net.encoding": name})
    start(tmp_path / "run", config).go()
    net = load(tmp_path / "run/last.safetensors")
    assert net.info.encoding == name and net.info.sizes[0] == encoding(name).size
    assert np.isfinite(net.outcomes(some_positions()[0])).all()
    first = Network(net.info.sizes, config.seed).linears()[0].weight.detach().numpy()
    moved = (load_net(tmp_path / "run/last.safetensors")[0].matrices[0] != first).any(axis=0)
    assert not (moved & ~came_up).any()
    assert moved.sum() >= 0.98 * came_up.sum()
    assert came_up.any() and not came_up.all()
    assert came_up[encoding(name).folded_size :].sum() > 0.9 * encoding(name).tactics - 1
