"""The one way a kernel is compiled: numba, without the GIL, kept on disk between runs.

Numba refreshes a cached kernel when its own file changes, but not when a kernel or a constant that it uses from
another file does. The cache folder is therefore named after the contents of the files that can matter: all of engine,
and of the kernel's own package those with kernels.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

import numba
from numba import njit
from platformdirs import user_cache_dir

__all__ = ["cache_dir", "kernel", "kernels_are_cached", "sources_digest"]

F = TypeVar("F", bound=Callable[..., object])

_ENGINE = Path(__file__).parent
_VERSIONS_KEPT = 6


def cache_dir() -> Path:
    """The folder for kernels and tables: BGNET_CACHE_DIR, else the user's cache folder."""
    return Path(os.environ.get("BGNET_CACHE_DIR") or user_cache_dir("bgnet", appauthor=False))


def sources_digest(*paths: Path) -> str:
    """16 hex digits that change whenever the name or the text of one of these files does."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _kernel_dir(package: Path) -> Path | None:
    """Where the kernels of a package are kept; None, with a warning, when that cannot be written."""
    sources = [
        path
        for folder in sorted({_ENGINE, package})
        for path in sorted(folder.glob("*.py"))
        if folder == _ENGINE or b"@kernel" in path.read_bytes()
    ]
    folder = cache_dir() / "kernels" / f"{package.name}-{sources_digest(*sources)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".{os.getpid()}"
        probe.write_bytes(bytes(100_000))  # a full disk takes an empty file
        probe.unlink()
    except OSError as error:
        warnings.warn(
            f"compiled kernels are not kept, every run compiles anew: cannot write {folder} ({error.strerror}); "
            "BGNET_CACHE_DIR names another folder",
            stacklevel=2,
        )
        return None
    _forget_old_versions(folder, package.name)
    return folder


def _forget_old_versions(current: Path, package: str) -> None:
    """Remove the kernels of long-gone versions of the sources."""
    with contextlib.suppress(OSError):
        others = [path for path in current.parent.glob(f"{package}-*") if path != current]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in others[_VERSIONS_KEPT:]:
            shutil.rmtree(path, ignore_errors=True)


def kernels_are_cached(package: str | Path, *names: str) -> bool:
    """Whether earlier runs left the named kernels of a package's folder behind, so that nothing needs compiling."""
    folder = _kernel_dir(Path(package))
    return folder is not None and all(any(folder.rglob(f"*.{name}-*.nbc")) for name in names)


def kernel(function: F) -> F:
    """Compile `function` with numba on its first call; it trusts its arguments and releases the GIL.

    Floating point: additions keep their order (so that results do not depend on the batch), products
    and sums may fuse. Numba reads its cache folder when it decorates, so it is set just for that moment.
    """
    before = numba.config.CACHE_DIR
    keep = True
    if not os.environ.get("NUMBA_CACHE_DIR"):
        folder = _kernel_dir(Path(function.__code__.co_filename).parent)
        keep = folder is not None
        numba.config.CACHE_DIR = str(folder or "")
    try:
        compiled: F = njit(cache=keep, nogil=True, fastmath={"contract"}, error_model="numpy")(function)
        return compiled
    finally:
        numba.config.CACHE_DIR = before
