"""Network files: safetensors with metadata that says what the network is. No pickle is ever read."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bgnet.encoding import ENCODINGS, encoding
from engine.outcomes import NAMES

__all__ = ["FORMAT_VERSION", "NetFileError", "NetInfo", "Weights", "atomic_write", "load_net", "save_net"]

FORMAT_VERSION = 1
_GREATEST = 1e6  # no trained weight comes near; sums of such ones stay finite
_KINDS: dict[str, type | tuple[type, ...]] = {
    "list[int]": list,
    "list[str]": list,
    "str": str,
    "int": int,
    "float": (int, float),
}


class NetFileError(ValueError):
    """A network file that is missing, damaged, foreign, or made for another version."""


@dataclass(frozen=True)
class Weights:
    """The layers of a network, first to last: inputs -> ReLU layers -> six logits."""

    matrices: list[NDArray[np.float32]]
    """float32[out, in] each."""
    biases: list[NDArray[np.float32]]
    """float32[out] each."""

    @property
    def sizes(self) -> list[int]:
        """Inputs, hidden layers, outputs."""
        return [self.matrices[0].shape[1], *(m.shape[0] for m in self.matrices)]

    @property
    def count(self) -> int:
        """How many numbers the network holds."""
        return sum(array.size for array in self.arrays())

    def arrays(self) -> list[NDArray[np.float32]]:
        """Matrix, bias, matrix, bias, ... in the order of torch's parameters."""
        return [array for layer in zip(self.matrices, self.biases, strict=True) for array in layer]


@dataclass(frozen=True)
class NetInfo:
    """What a network is and where it comes from; stored as the file's metadata."""

    sizes: list[int]
    encoding: str = "classic"
    encoding_version: int = 1
    outcomes: list[str] = field(default_factory=lambda: list(NAMES))
    rules: str = "money"
    checkers: int = 15
    games: int = 0
    seconds: float = 0.0
    """Time spent training, baseline games included."""
    seed: int = 0
    commit: str = ""
    parent: str = ""
    """The network that training started from; empty = from zero."""
    config: str = ""
    """The run file, as TOML text."""
    note: str = ""

    @property
    def label(self) -> str:
        """Hidden layers in short, as in 512-32."""
        return "-".join(str(size) for size in self.sizes[1:-1])


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; on success flush it to disk and rename it, else remove it.

    So `path` holds either its old or its whole new content, whatever happens.
    Raises OSError naming `path` when the disk is full or the folder cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
        with contextlib.suppress(OSError):  # some systems cannot open a folder
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise OSError(error.errno, f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def save_net(path: str | os.PathLike[str], weights: Weights, info: NetInfo, dtype: str = "float32") -> None:
    """Write a network atomically, as float32 or (half the size) float16."""
    if info.sizes != weights.sizes:
        raise NetFileError(f"{path}: the metadata says layers {info.sizes}, the weights are {weights.sizes}")
    tensors: dict[str, NDArray[np.floating]] = {}
    for i, (matrix, bias) in enumerate(zip(weights.matrices, weights.biases, strict=True)):
        tensors[f"layer{i}.weight"] = np.ascontiguousarray(matrix.astype(dtype))
        tensors[f"layer{i}.bias"] = np.ascontiguousarray(bias.astype(dtype))
    metadata = {"format": "bgnet-net", "format_version": str(FORMAT_VERSION)}
    metadata |= {key: json.dumps(value) for key, value in asdict(info).items()}
    save_tensors(Path(path), tensors, metadata)


def save_tensors(path: Path, tensors: Mapping[str, NDArray[np.generic]], metadata: dict[str, str]) -> None:
    """Write a safetensors file atomically."""
    from safetensors.numpy import save

    with atomic_write(path) as temporary:
        temporary.write_bytes(save(dict(tensors), metadata=metadata))


def load_tensors(path: Path, expected_format: str) -> tuple[dict[str, NDArray[np.generic]], dict[str, str]]:
    """All arrays and the metadata of one of our safetensors files; NetFileError says what is wrong with it."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise NetFileError(f"{path}: there is no such file")
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        raise NetFileError(f"{path}: not a whole safetensors file ({error}); is it cut or of another kind?") from error
    if metadata.get("format") != expected_format:
        raise NetFileError(
            f"{path}: a safetensors file, but not {expected_format} (metadata 'format' is missing or another)"
        )
    return tensors, metadata


def load_net(path: str | os.PathLike[str]) -> tuple[Weights, NetInfo]:
    """Read a network. Raises NetFileError naming the file and the mismatch."""
    path = Path(path)
    tensors, metadata = load_tensors(path, "bgnet-net")
    version = metadata.get("format_version")
    if version != str(FORMAT_VERSION):
        raise NetFileError(f"{path}: format version {version}, this program reads {FORMAT_VERSION}")
    try:
        info = NetInfo(**{f.name: json.loads(metadata[f.name]) for f in fields(NetInfo)})
    except KeyError as error:
        raise NetFileError(f"{path}: the metadata lacks {error}") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise NetFileError(f"{path}: the metadata cannot be read ({error})") from error
    for f in fields(NetInfo):
        kind = _KINDS[str(f.type)]
        value = getattr(info, f.name)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise NetFileError(f"{path}: the metadata's {f.name} cannot be {value!r}")
    _check_info(path, info)
    return _weights(path, tensors, info), info


def _check_info(path: Path, info: NetInfo) -> None:
    if info.encoding not in ENCODINGS:
        raise NetFileError(f"{path}: made for the unknown encoding {info.encoding!r}; known: {', '.join(ENCODINGS)}")
    current = ENCODINGS[info.encoding][0]
    if info.encoding_version != current:
        raise NetFileError(
            f"{path}: made for version {info.encoding_version} of the encoding {info.encoding!r}, "
            f"this program has {current}"
        )
    if list(info.outcomes) != list(NAMES):
        raise NetFileError(f"{path}: outcomes in the order {info.outcomes}, expected {list(NAMES)}")
    if not isinstance(info.checkers, int) or not 1 <= info.checkers <= 15:
        raise NetFileError(f"{path}: made for {info.checkers!r} checkers a side, possible are 1..15")
    inputs = encoding(info.encoding, info.checkers).size
    if (
        not all(type(size) is int and size > 0 for size in info.sizes)
        or len(info.sizes) < 3
        or info.sizes[0] != inputs
        or info.sizes[-1] != len(NAMES)
    ):
        raise NetFileError(f"{path}: layers {info.sizes}, expected [{inputs}, hidden ..., {len(NAMES)}]")


def _weights(path: Path, tensors: Mapping[str, NDArray[np.generic]], info: NetInfo) -> Weights:
    matrices: list[NDArray[np.float32]] = []
    biases: list[NDArray[np.float32]] = []
    for i, (n_in, n_out) in enumerate(zip(info.sizes, info.sizes[1:], strict=False)):
        for kind, shape, into in (("weight", (n_out, n_in), matrices), ("bias", (n_out,), biases)):
            name = f"layer{i}.{kind}"
            if name not in tensors:
                raise NetFileError(f"{path}: the tensor {name} is missing")
            array = tensors[name]
            if array.shape != shape or array.dtype not in (np.float32, np.float16):
                raise NetFileError(
                    f"{path}: {name} is {array.dtype}{list(array.shape)}, expected float32 or float16 {list(shape)}"
                )
            if not (np.abs(array.astype(np.float32)) < _GREATEST).all():
                raise NetFileError(f"{path}: {name} holds numbers that are not finite, or absurdly great")
            into.append(array.astype(np.float32))
    return Weights(matrices, biases)
