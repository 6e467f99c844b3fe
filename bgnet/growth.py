"""Larger networks that judge as the ones they grow from: further inputs, wider layers, a layer more, units replaced.

After Net2Net (Chen, Goodfellow, Shlens 2016), in its plainest form: what is new sends nothing on at first, so the
outcomes stay what they were, and learning begins to use it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bgnet.encoding import Encoding, encode
from bgnet.netfile import Weights

__all__ = ["GrowthError", "check_growth", "deepened", "extended", "grow", "idle_units", "renewed", "widened"]


_PART = 4096  # positions looked at together


class GrowthError(ValueError):
    """Layers that a network cannot grow into."""


def grow(
    weights: Weights, hidden: list[int], boards: NDArray[np.int8], encoding: Encoding, seed: int
) -> tuple[Weights, int]:
    """The same function with the given hidden layers, each at least as wide as before; missing ones come last. And how
    many units started anew.

    boards int8[N, 26]: units that are active in none of them start anew, and there the function may change; so take
    many, rare ones among them.
    Raises GrowthError when a layer would have to shrink.
    """
    check_growth(weights, hidden)
    while len(weights.sizes) - 2 < len(hidden):
        weights = deepened(weights)
    weights = widened(weights, hidden, seed)
    idle = idle_units(weights, boards, encoding)
    return renewed(weights, idle, seed + 1), sum(map(len, idle))


def check_growth(weights: Weights, hidden: list[int]) -> None:
    """GrowthError when the network cannot grow into the given hidden layers."""
    old = weights.sizes[1:-1]
    least = old + old[-1:] * (len(hidden) - len(old))  # a layer added is at least as wide as the one before it was
    if len(hidden) < len(old) or any(new < width for new, width in zip(hidden, least, strict=True)):
        raise GrowthError(f"hidden layers {old} cannot grow into {hidden}: that needs {least} or more")


def extended(weights: Weights, encoding: Encoding) -> Weights:
    """The same function of the encoding's inputs, which begin with the network's own; the further ones go unheard yet.

    `Encoding.extends` says of which networks this is true.
    """
    first, *others = weights.matrices
    new = np.zeros((len(first), encoding.size), dtype=np.float32)
    new[:, : first.shape[1]] = first
    return Weights([new, *others], weights.biases)


def deepened(weights: Weights) -> Weights:
    """One more layer behind the last hidden one, as wide, that passes everything on: ReLU(x) = x where x >= 0."""
    width = weights.sizes[-2]
    matrices = [*weights.matrices[:-1], np.eye(width, dtype=np.float32), weights.matrices[-1]]
    biases = [*weights.biases[:-1], np.zeros(width, dtype=np.float32), weights.biases[-1]]
    return Weights(matrices, biases)


def widened(weights: Weights, hidden: list[int], seed: int) -> Weights:
    """Hidden layers of these widths. New units listen to all of the layer before and send nothing on yet."""
    sizes = [weights.sizes[0], *hidden, weights.sizes[-1]]
    new = _random(sizes, seed)
    for layer, (matrix, bias) in enumerate(zip(weights.matrices, weights.biases, strict=True)):
        rows, columns = matrix.shape
        new.matrices[layer][:rows, :columns] = matrix
        new.matrices[layer][:rows, columns:] = 0  # the old units do not hear the new ones of the layer before
        new.biases[layer][:rows] = bias
    return new


def idle_units(weights: Weights, boards: NDArray[np.int8], encoding: Encoding) -> list[NDArray[np.int64]]:
    """For each hidden layer the units that are active in none of the boards int8[N, 26].

    Some units are for rare positions: with too few boards they look idle.
    """
    active = [np.zeros(size, dtype=np.bool_) for size in weights.sizes[1:-1]]
    for first in range(0, len(boards), _PART):
        values = encode(boards[first : first + _PART], encoding)
        for layer, seen in enumerate(active):
            values = np.maximum(values @ weights.matrices[layer].T + weights.biases[layer], 0)
            seen |= values.any(axis=0)
    return [np.flatnonzero(~seen) for seen in active]


def renewed(weights: Weights, units: list[NDArray[np.int64]], seed: int) -> Weights:
    """The given units of each hidden layer with fresh random inputs, sending nothing on yet.

    A ReLU unit that is active nowhere gets no gradient and never comes back by itself.
    """
    fresh = _random(weights.sizes, seed)
    new = Weights([m.copy() for m in weights.matrices], [b.copy() for b in weights.biases])
    for layer, idle in enumerate(units):
        new.matrices[layer][idle] = fresh.matrices[layer][idle]
        new.biases[layer][idle] = fresh.biases[layer][idle]
    for layer, idle in enumerate(units):  # last: fresh units of the next layer listen to fresh ones too
        heard = new.matrices[layer + 1][:, idle]
        deaf = np.ones(len(heard), dtype=np.bool_)
        if layer + 1 < len(units):
            deaf[units[layer + 1]] = False
        heard[deaf] = 0
        new.matrices[layer + 1][:, idle] = heard
    return new


def _random(sizes: list[int], seed: int) -> Weights:
    """Uniform within +-1 / sqrt(inputs), as bgnet.network starts its layers."""
    rng = np.random.Generator(np.random.Philox(key=[seed, len(sizes)]))
    bounds = [n**-0.5 for n in sizes[:-1]]
    shapes = list(zip(sizes[1:], sizes[:-1], strict=True))
    matrices = [rng.uniform(-b, b, s).astype(np.float32) for b, s in zip(bounds, shapes, strict=True)]
    biases = [rng.uniform(-b, b, s[0]).astype(np.float32) for b, s in zip(bounds, shapes, strict=True)]
    return Weights(matrices, biases)
