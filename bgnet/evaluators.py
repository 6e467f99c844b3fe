"""What judges positions: the Evaluator protocol, and the network behind it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bgnet.encoding import encoding
from bgnet.inference import FoldedNet, afterstates_kernel, fold, outcomes_kernel
from bgnet.netfile import NetFileError, NetInfo, Weights, load_net
from engine.board import ending
from engine.errors import ArrayError
from engine.moves import Afterstates, check_boards

__all__ = ["SHIPPED", "Evaluator", "NetEvaluator", "afterstate_outcomes", "find_net", "load", "settle", "shipped_nets"]

SHIPPED = Path(__file__).parent / "nets"
"""The folder of the networks that come with the package."""


@runtime_checkable
class Evaluator(Protocol):
    """Anything that knows the chances of the six endings."""

    def outcomes(self, boards: NDArray[np.int8]) -> NDArray[np.float32]:
        """int8[N, 26] -> float32[N, 6] for the player on roll before he rolls; a finished board is exact."""
        ...


class NetEvaluator:
    """A network at 0-ply. Thread-safe: nothing in it changes after construction."""

    def __init__(self, weights: Weights, info: NetInfo | None = None, name: str = "net") -> None:
        self.info = info or NetInfo(sizes=weights.sizes)
        self.name = name
        self.folded: FoldedNet = fold(weights, encoding(self.info.encoding, self.info.checkers))

    def outcomes(self, boards: NDArray[np.int8]) -> NDArray[np.float32]:
        """int8[N, 26] or a single int8[26] -> float32[N, 6] or float32[6]; see Evaluator.

        Raises ArrayError or BoardError naming the first bad row.
        """
        if isinstance(boards, np.ndarray) and boards.shape == (26,):
            one: NDArray[np.float32] = self.outcomes(boards[None])[0]
            return one
        boards = check_boards(boards, checkers=self.info.checkers)
        out = np.empty((len(boards), 6), dtype=np.float32)
        outcomes_kernel(self.folded, boards, out)
        return out

    def afterstate_outcomes(self, parents: NDArray[np.int8], afterstates: Afterstates) -> NDArray[np.float32]:
        """Parents int8[N, 26] in the mover's view and their Afterstates -> float32[M, 6] in the next player's view."""
        parents = check_boards(parents, checkers=self.info.checkers)
        boards, offsets = check_boards(afterstates.boards, checkers=self.info.checkers), afterstates.offsets
        if (
            offsets.shape != (len(parents) + 1,)
            or offsets[0] != 0
            or offsets[-1] != len(boards)
            or (np.diff(offsets) < 0).any()
        ):
            raise ArrayError(f"the offsets do not divide {len(boards)} results among {len(parents)} parents")
        out = np.empty((len(boards), 6), dtype=np.float32)
        afterstates_kernel(self.folded, parents, boards, offsets, out)
        return out

    def __repr__(self) -> str:
        return f"NetEvaluator({self.name!r}, {self.info.label})"


def afterstate_outcomes(
    evaluator: Evaluator, parents: NDArray[np.int8], afterstates: Afterstates
) -> NDArray[np.float32]:
    """Any Evaluator's view of the results of some rolls: its own quick way if it has one, else `outcomes`."""
    quick: Callable[..., NDArray[np.float32]] | None = getattr(evaluator, "afterstate_outcomes", None)
    return evaluator.outcomes(afterstates.boards) if quick is None else quick(parents, afterstates)


def settle(boards: NDArray[np.int8], outcomes: NDArray[np.float32], checkers: int = 15) -> NDArray[np.float32]:
    """Make the rows of finished games exact, in place, and return `outcomes`: for writers of Evaluators.

    boards int8[N, 26], outcomes float32[N, 6], checkers a side.
    """
    for row in np.flatnonzero(~((boards > 0).any(axis=1) & (boards < 0).any(axis=1))):
        outcomes[row] = 0
        outcomes[row, ending(boards[row], checkers)] = 1
    return outcomes


def shipped_nets() -> list[str]:
    """Names of the networks that come with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.safetensors"))


def find_net(name_or_path: str | os.PathLike[str]) -> Path:
    """The file of a network: a shipped name, a file (its suffix may be left out), or a run's folder (its last net).

    Raises NetFileError listing what there is.
    """
    text = os.fspath(name_or_path).removeprefix("net:")
    path = Path(text)
    candidates = [path, Path(text + ".safetensors"), path / "last.safetensors"]
    if text in shipped_nets():  # first: a folder of that name in the working directory is no reason to fail
        candidates.insert(0, SHIPPED / f"{text}.safetensors")
    for candidate in candidates if text else []:
        with contextlib.suppress(OSError):  # a name too long for a file
            if candidate.is_file():
                return candidate
    raise NetFileError(
        f"no network {text!r}: neither a file, nor a run's folder with last.safetensors, "
        f"nor one of the shipped ones ({', '.join(shipped_nets()) or 'none'})"
    )


def load(name_or_path: str | os.PathLike[str]) -> NetEvaluator:
    """The Evaluator of a network by shipped name, file or run folder; NetFileError says what is wrong with it."""
    path = find_net(name_or_path)
    weights, info = load_net(path)
    return NetEvaluator(weights, info, name=os.fspath(name_or_path).removeprefix("net:"))


def __getattr__(name: str) -> object:
    """Composite belongs to the evaluators, but its module stands on this one: it is imported when first asked for."""
    if name == "Composite":
        from bgnet.composite import Composite

        return Composite
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
