"""The cores that there are for this process, and who goes first on them."""

from __future__ import annotations

import contextlib
import os
import sys
import threading

__all__ = ["cores", "stand_back"]


_NICER = 3  # Linux gives 1.25 times less per step


def cores() -> int:
    """The cores that this process may use: taskset or a container may leave it fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def stand_back() -> None:
    """Let the process's other threads go before the calling one where there are more threads than cores.

    It becomes a little nicer, to other processes as well: half as much of a core is its share. Only Linux can do this
    for a single thread; elsewhere, and where it is forbidden, nothing happens.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + _NICER)
