"""Small networks and positions that several tests use."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bgnet.encoding import encoding
from bgnet.evaluators import NetEvaluator
from bgnet.netfile import NetInfo, Weights

DATA = Path(__file__).parent.parent / "data"


def random_weights(sizes: list[int], seed: int = 0) -> Weights:
    """Weights whose activations neither vanish nor explode."""
    rng = np.random.default_rng(seed)
    pairs = list(zip(sizes, sizes[1:], strict=False))
    matrices = [(rng.normal(size=(o, i)) * np.sqrt(2 / i)).astype(np.float32) for i, o in pairs]
    biases = [rng.normal(scale=0.1, size=o).astype(np.float32) for _, o in pairs]
    return Weights(matrices, biases)


def random_net(hidden: list[int], seed: int = 0, checkers: int = 15, inputs: str = "classic") -> NetEvaluator:
    """A NetEvaluator over the inputs of that encoding."""
    sizes = [encoding(inputs, checkers).size, *hidden, 6]
    info = NetInfo(sizes=sizes, checkers=checkers, encoding=inputs)
    return NetEvaluator(random_weights(sizes, seed), info, name="random weights")


@cache
def some_positions() -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """Boards int8[3000, 26] and dice int8[3000, 2] of every kind (tests/data/movegen.jsonl.gz)."""
    with gzip.open(DATA / "movegen.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    return np.array([r["board"] for r in rows], np.int8), np.array([r["dice"] for r in rows], np.int8)
