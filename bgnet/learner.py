"""The part of training that needs torch: the network, Adam, and the weight average that plays and is saved."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from bgnet.config import RunConfig
from bgnet.encoding import Encoding, encode
from bgnet.growth import idle_units, renewed
from bgnet.netfile import Weights, save_tensors
from bgnet.network import Network, from_weights, to_weights

__all__ = ["Learner", "NonFiniteLoss", "choose_device", "has_bfloat16"]


class NonFiniteLoss(RuntimeError):
    """Training went wrong; the message names the file with the batch that showed it."""


def choose_device(name: str) -> torch.device:
    """auto, cpu or cuda -> the device; ValueError for cuda where there is none."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError('device = "cuda", but torch sees no CUDA device; use "auto" or "cpu"')
    return torch.device(name)


def has_bfloat16(device: torch.device) -> bool:
    """Whether torch says that a GPU or an x86 processor multiplies matrices of bfloat16 itself.

    Emulated, a minibatch took 24 times as long as in single precision (2048-256-128, a processor with AVX2 alone).
    """
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # Older versions of torch do not tell: then it is not known.
    capabilities = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return any(bool(capabilities.get(name)) for name in ("avx512_bf16", "amx_bf16"))


class Learner:
    """Learns from batches of positions with target outcomes, by cross-entropy and, if wanted, squared equity errors."""

    def __init__(self, config: RunConfig, encoding: Encoding, start: Weights | None = None) -> None:
        self._threads = config.learning.threads
        self.device = choose_device(config.device)
        self.encoding = encoding
        self.batch_size = config.learning.batch_size
        self.average_decay = config.learning.average
        precision = config.learning.precision
        if precision == "auto":
            precision = "bfloat16" if has_bfloat16(self.device) else "single"
        self.precision = precision
        self._random_start = not config.parent
        self.steps = 0
        sizes = [encoding.size, *config.net.hidden, 6] if start is None else start.sizes
        self.network = Network(sizes, config.seed)
        if start is not None:
            self._copy(list(self.network.parameters()), from_weights(start))
        self.network.to(self.device)
        self.parameters = list(self.network.parameters())
        self.average = [p.detach().clone() for p in self.parameters]
        first, *others = self.network.linears()
        groups = [{"params": list(first.parameters()), "speed": 1.0}]
        # Adam moves every weight by about the learning rate, and the inputs of a later layer are all positive: the more
        # of them, the further a step pushes a unit's sum, and a sum pushed below zero for every position never comes
        # back. (At the full rate 25 of the 32 second-layer units of a 1024-32 network died.) Scaling by 1 / inputs is
        # what Yang and others derive for Adam (Tensor Programs V, 2022).
        plain = config.learning.plain_width
        for layer in others:
            groups.append({"params": list(layer.parameters()), "speed": min(1.0, plain / layer.in_features)})
        self.optimizer = torch.optim.Adam(groups, lr=config.learning.learning_rate, fused=True)
        self._entropy = nn.CrossEntropyLoss()
        self._equity_weight = config.learning.equity_weight
        self._payoff = torch.tensor(config.payoff).to(self.device)

    @staticmethod
    def _copy(into: list[torch.Tensor] | list[nn.Parameter], values: list[torch.Tensor]) -> None:
        with torch.no_grad():
            for p, value in zip(into, values, strict=True):
                p.copy_(value)

    def weights(self) -> Weights:
        """The averaged weights: what plays, and what is saved."""
        return to_weights(self.average)

    def learn(
        self,
        boards: NDArray[np.int8],
        targets: NDArray[np.float32],
        learning_rate: float,
        order: NDArray[np.int64],
        failure_file: Path,
    ) -> float:
        """One epoch over boards int8[N, 26] and targets float32[N, 6] in the given order, not empty -> the mean loss.

        Minibatches are of nearly equal size. Raises NonFiniteLoss after saving the batch to `failure_file`.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate * group["speed"]
        torch.set_num_threads(self._threads)  # of the process: another learner may have set its own since
        torch.set_flush_denormal(True)  # Adam's second moments of idle weights would crawl through denormals
        try:
            return self._epoch(boards, targets, order, failure_file)
        finally:
            torch.set_flush_denormal(False)

    def _epoch(
        self, boards: NDArray[np.int8], targets: NDArray[np.float32], order: NDArray[np.int64], failure_file: Path
    ) -> float:
        inputs = torch.from_numpy(encode(boards[order], self.encoding)).to(self.device)
        wanted = torch.from_numpy(targets[order]).to(self.device)
        batches = max(1, round(len(order) / self.batch_size))
        edges = np.linspace(0, len(order), batches + 1).astype(int).tolist()
        total = 0.0
        for first, last in pairwise(edges):
            self.optimizer.zero_grad(set_to_none=True)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bfloat16"):
                logits = self.network(inputs[first:last])
            loss = self._loss(logits.float(), wanted[first:last])
            value = loss.item()
            if not np.isfinite(value):
                self._fail(boards[order[first:last]], targets[order[first:last]], failure_file)
            loss.backward()
            self.optimizer.step()
            self.steps += 1
            self._update_average()
            total += value * (last - first)
        if not all(bool(torch.isfinite(p).all()) for p in (*self.parameters, *self.average)):
            self._fail(boards[order[first:last]], targets[order[first:last]], failure_file)
        return total / len(order)

    def _loss(self, logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """Logits and target outcomes, both float32[B, 6] -> the mean loss of the minibatch."""
        loss: torch.Tensor = self._entropy(logits, wanted)
        if self._equity_weight:
            errors = (torch.softmax(logits, dim=1) - wanted) @ self._payoff
            loss = loss + self._equity_weight * errors.square().mean()
        return loss

    def renew(self, boards: NDArray[np.int8], seed: int) -> int:
        """Start anew the units that are active in none of boards int8[N, 26] -> how many; see bgnet.growth.

        At a high learning rate units die over millions of draws (measured: 30 % of a first layer of 2048, two thirds of
        a third layer of 128). Dormant units of reinforcement learning and their recycling: Sokar and others 2023.
        """
        now, average = (to_weights(tensors) for tensors in ([p.detach() for p in self.parameters], self.average))
        idle = [
            np.intersect1d(a, b)
            for a, b in zip(*(idle_units(weights, boards, self.encoding) for weights in (now, average)), strict=True)
        ]
        self._copy(self.parameters, from_weights(renewed(now, idle, seed)))
        self._copy(self.average, from_weights(renewed(average, idle, seed)))
        for layer, units in enumerate(idle):
            into, bias, out = self.parameters[2 * layer : 2 * layer + 3]
            for p, axis in ((into, 0), (bias, 0), (out, 1)):
                self._forget(p, units, axis)
        return sum(map(len, idle))

    def _forget(self, p: nn.Parameter, units: NDArray[np.int64], axis: int) -> None:
        """Give the units' rows (axis 0) or columns (1) of a parameter the moments of a typical weight.

        From zero, Adam's first steps would be several times the learning rate, and the units dead again.
        """
        moments = self.optimizer.state.get(p, {})
        if moments and len(units):
            index = torch.from_numpy(units).to(p.device)
            moments["exp_avg"].index_fill_(axis, index, 0.0)
            typical = moments["exp_avg_sq"].mean(axis, keepdim=True)
            shape = [len(units) if i == axis else n for i, n in enumerate(p.shape)]
            moments["exp_avg_sq"].index_copy_(axis, index, typical.expand(shape).contiguous())

    def gradient_norm(self) -> float:
        """Euclidean norm of the last minibatch's gradient."""
        gradients = [p.grad for p in self.parameters if p.grad is not None]
        return float(torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in gradients])))

    def _update_average(self) -> None:
        decay = self.average_decay
        if self._random_start:  # a shorter memory at first leaves it behind quickly
            decay = min(decay, self.steps / (self.steps + 9))
        torch._foreach_lerp_(self.average, [p.detach() for p in self.parameters], 1 - decay)

    def _fail(self, boards: NDArray[np.int8], targets: NDArray[np.float32], path: Path) -> None:
        tensors: dict[str, NDArray[np.generic]] = {"boards": boards, "targets": targets}
        tensors |= self.state()
        save_tensors(path, tensors, {"format": "bgnet-failed-batch/1"})
        raise NonFiniteLoss(
            f"after minibatch {self.steps} the loss or the weights are not finite; batch and state are in {path}. "
            "Checkpoints hold only finite weights; a lower rate usually helps: --resume --set learning.learning_rate=X"
        )

    def state(self) -> dict[str, NDArray[np.generic]]:
        """Everything that learning has changed, as arrays."""
        arrays: dict[str, torch.Tensor] = {}
        for i, (p, mean) in enumerate(zip(self.parameters, self.average, strict=True)):
            arrays[f"net.{i}"], arrays[f"average.{i}"] = p, mean
            moments = self.optimizer.state.get(p, {})
            for key in ("exp_avg", "exp_avg_sq"):
                arrays[f"{key}.{i}"] = moments.get(key, torch.zeros_like(p))
        return {name: tensor.detach().cpu().numpy().copy() for name, tensor in arrays.items()}

    def restore(self, state: dict[str, NDArray[np.generic]], steps: int) -> None:
        """Go on from `state()` after `steps` minibatches."""
        self.steps = steps

        def tensors(key: str) -> list[torch.Tensor]:
            return [torch.from_numpy(np.array(state[f"{key}.{i}"])) for i in range(len(self.parameters))]

        self._copy(self.parameters, tensors("net"))
        self._copy(self.average, tensors("average"))
        moments = zip(self.parameters, tensors("exp_avg"), tensors("exp_avg_sq"), strict=True)
        for p, first, second in moments:
            self.optimizer.state[p] = {
                "step": torch.tensor(float(steps), device=self.device),
                "exp_avg": first.to(self.device),
                "exp_avg_sq": second.to(self.device),
            }
