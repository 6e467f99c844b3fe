"""Table files: a few arrays in one file with name, version and checksum; memory-mapped, built again when unusable.

Layout: 16 bytes magic, 32 bytes SHA-256 of all that follows, 8 bytes length of the header (little endian), the header
as JSON (table, version, and of each array its dtype, shape and place), then the arrays, each at a multiple of 64.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import mmap
import os
import secrets
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.errors import EngineError
from engine.jit import cache_dir

__all__ = [
    "Arrays", "Report", "TableFileError", "TableWarning", "load_or_build", "read_table", "table_path", "write_table",
]  # fmt: skip

Arrays = dict[str, NDArray[np.generic]]
Report = Callable[[int, int], None]
"""progress(done, total), called now and then in the thread that asked for the table."""

_MAGIC = b"bgnet table v01\n"
_DIGEST = slice(16, 48)
_LENGTH = slice(48, 56)
_ALIGN = 64
_STALE_AFTER_S = 3600.0


class TableFileError(EngineError):
    """A table file that is cut, damaged, of another kind or of another version."""


class TableWarning(UserWarning):
    """A table could not be kept on disk and is used from memory."""


def table_path(name: str, folder: str | os.PathLike[str] | None = None) -> Path:
    """Where a table is kept: NAME.table in `folder`, by default the folder tables/ of the cache folder."""
    return (cache_dir() / "tables" if folder is None else Path(folder)) / f"{name}.table"


def load_or_build(
    path: Path, version: str, build: Callable[[Report], Arrays], progress: Report | None = None
) -> Arrays:
    """The arrays of the table at `path`, read-only; built and written first when the file is missing or unusable.

    When the file cannot be written (no permission, disk full) the table just built is returned from memory with a
    TableWarning that names the path: what was asked for still works, only the next process has to build again.
    An error or Ctrl-C while building leaves the file as it was.
    """
    with contextlib.suppress(OSError, TableFileError):
        return read_table(path, version)
    arrays = build(progress or (lambda done, total: None))
    try:
        write_table(path, version, arrays)
        return read_table(path, version)  # mapped: processes share the memory
    except (OSError, TableFileError) as error:
        warnings.warn(
            f"cannot keep the table {path} ({error}): it is used from memory and will be built again next time; "
            "make room, or choose another folder (folder=, or the environment variable BGNET_CACHE_DIR)",
            TableWarning,
            stacklevel=4,
        )
        for array in arrays.values():
            array.flags.writeable = False  # as when mapped, so that kernels see the same types
        return arrays


def read_table(path: Path, version: str) -> Arrays:
    """The arrays of a table file, memory-mapped and read-only.

    Raises FileNotFoundError (or another OSError), or TableFileError saying what is wrong with the file.
    """
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size <= _LENGTH.stop:
            raise TableFileError(f"{path}: the file is cut")
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    if data[: _DIGEST.start] != _MAGIC:
        raise TableFileError(f"{path}: not a table file")
    if hashlib.sha256(memoryview(data)[_DIGEST.stop :]).digest() != data[_DIGEST]:
        raise TableFileError(f"{path}: the file is damaged (wrong checksum)")
    header = json.loads(data[_LENGTH.stop : _LENGTH.stop + int.from_bytes(data[_LENGTH], "little")])
    if (header["table"], header["version"]) != (path.stem, version):
        raise TableFileError(
            f"{path}: holds the table {header['table']!r} version {header['version']}, not {path.stem!r} {version}"
        )
    return {
        name: np.frombuffer(data, dtype, math.prod(shape), place).reshape(shape)
        for name, (dtype, shape, place) in header["arrays"].items()
    }


def write_table(path: Path, version: str, arrays: Mapping[str, NDArray[np.generic]]) -> None:
    """Write a table atomically, making its folder if need be: `path` holds the old file or the whole new one.

    Any number of processes may write at once: each has its own temporary file, and the last rename wins.
    Raises OSError when that is not possible.
    """
    places = {}
    end = 0
    for name, array in arrays.items():  # places counted from the first array, until the header's length is known
        places[name] = end
        end += -(-array.nbytes // _ALIGN) * _ALIGN
    header = b""
    start = 0
    while start < _LENGTH.stop + len(header):  # the header names places that depend on its own length
        start += _ALIGN
        entries = {name: (array.dtype.str, array.shape, start + places[name]) for name, array in arrays.items()}
        header = json.dumps({"table": path.stem, "version": version, "arrays": entries}).encode()
    body = len(header).to_bytes(8, "little") + header
    chunks = [body.ljust(start - _LENGTH.start, b"\0")]
    for array in arrays.values():
        chunks += [np.ascontiguousarray(array).tobytes(), bytes(-array.nbytes % _ALIGN)]
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)

    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_stale(path)
    with replacing(path) as temporary, open(temporary, "xb") as file:
        file.writelines([_MAGIC, digest.digest(), *chunks])
        file.flush()
        os.fsync(file.fileno())


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that takes its place on success and is removed otherwise."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
        with contextlib.suppress(OSError):  # some systems cannot open a folder
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _remove_stale(path: Path) -> None:
    """Remove what killed processes left behind."""
    for temporary in path.parent.glob(f".{path.name}.*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - temporary.stat().st_mtime > _STALE_AFTER_S:
                temporary.unlink()
