"""Threads that let others go first."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from bgnet.cores import cores, stand_back

linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no single thread can stand back")


def priority() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@linux
def test_only_the_thread_that_stands_back_does() -> None:
    before = priority()
    with ThreadPoolExecutor(1, initializer=stand_back) as executor:
        assert executor.submit(priority).result() == min(before + 3, 19)
    assert priority() == before


@linux
def test_where_it_is_forbidden_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> None:
        raise PermissionError("not here")

    monkeypatch.setattr(os, "setpriority", forbidden)
    before = priority()
    with ThreadPoolExecutor(1, initializer=stand_back) as executor:
        assert executor.submit(priority).result() == before


def test_there_is_a_core() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)
