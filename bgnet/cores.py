"""The cores that there are for this process, and who goes first on them."""

from __future__ import annotations

import os
import sys
import threading

__all__ = ["cores", "stand_back"]


def cores() -> int:
    """The cores that this process may use: a container or taskset may leave it fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def stand_back() -> None:
    """Let the process's other threads go before the calling one where there are more threads than cores.

    Only Linux can do this for a single thread; elsewhere nothing happens.
    """
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
