"""The one way a kernel is compiled: numba, without the GIL, kept on disk between runs.

Numba refreshes a cached kernel when its own file changes, but not when a kernel that it calls from
another file does. The cache folder is therefore named after the contents of all files that hold kernels.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

import numba
from numba import njit
from platformdirs import user_cache_dir

__all__ = ["cache_dir", "kernel", "kernels_are_cached"]

F = TypeVar("F", bound=Callable[..., object])

_PACKAGES = [Path(__file__).parent, Path(__file__).parent.parent / "bgnet"]


def cache_dir() -> Path:
    """The folder for kernels and tables: BGNET_CACHE_DIR, else the user's cache folder."""
    return Path(os.environ.get("BGNET_CACHE_DIR") or user_cache_dir("bgnet", appauthor=False))


@cache
def _kernel_dir() -> Path:
    digest = hashlib.sha256()
    for package in _PACKAGES:
        for path in sorted(package.glob("*.py")):
            source = path.read_bytes()
            if b"@kernel" in source:
                digest.update(path.name.encode() + source)
    return cache_dir() / "kernels" / digest.hexdigest()[:16]


def kernels_are_cached() -> bool:
    """Whether an earlier run left compiled kernels of this version behind."""
    return any(_kernel_dir().rglob("*.nbc"))


def kernel(function: F) -> F:
    """Compile `function` with numba on its first call; it trusts its arguments and releases the GIL.

    Floating point: additions keep their order (so that results do not depend on the batch), products
    and sums may fuse. Numba reads its cache folder when it decorates, so it is set just for that moment.
    """
    before = numba.config.CACHE_DIR
    if not os.environ.get("NUMBA_CACHE_DIR"):
        numba.config.CACHE_DIR = str(_kernel_dir())
    try:
        compiled: F = njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")(function)
        return compiled
    finally:
        numba.config.CACHE_DIR = before
