"""The network as torch trains it: inputs -> ReLU layers -> logits of the six endings."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from bgnet.netfile import Weights

__all__ = ["Network", "from_weights", "to_weights"]

# Shares of the six endings in early self-play, so that the first games are not spent on learning them.
_BASE_RATES = (0.34, 0.14, 0.02, 0.34, 0.14, 0.02)


class Network(nn.Sequential):
    """Fully connected layers of the given sizes (inputs, hidden ..., 6); forward gives logits float32[N, 6]."""

    def __init__(self, sizes: list[int], seed: int = 0) -> None:
        layers: list[nn.Module] = []
        for n_in, n_out in zip(sizes, sizes[1:], strict=False):
            layers += [nn.Linear(n_in, n_out), nn.ReLU()]
        super().__init__(*layers[:-1])
        generator = torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for linear in self.linears():
                bound = linear.in_features**-0.5
                linear.weight.uniform_(-bound, bound, generator=generator)
                linear.bias.uniform_(-bound, bound, generator=generator)
            last = self.linears()[-1]
            last.bias.copy_(torch.log(torch.tensor(_BASE_RATES)))

    def linears(self) -> list[nn.Linear]:
        """The layers that hold weights, first to last."""
        return [module for module in self if isinstance(module, nn.Linear)]


def to_weights(parameters: list[torch.Tensor]) -> Weights:
    """Parameters in the order of Network.parameters() -> float32 arrays."""
    arrays = [p.detach().to("cpu", torch.float32).numpy().copy() for p in parameters]
    return Weights(arrays[0::2], arrays[1::2])


def from_weights(weights: Weights) -> list[torch.Tensor]:
    """The inverse of `to_weights`."""
    return [torch.from_numpy(np.array(array)) for array in weights.arrays()]
