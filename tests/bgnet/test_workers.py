"""Jobs in processes: order, progress, errors, sudden deaths, and nobody left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bgnet.workers import WorkerError, run_jobs
from tests.marks import posix

Report = Callable[[int], None]
ROOT = Path(__file__).parents[2]


def square(job: int, report: Report) -> int:
    if job == 0:
        time.sleep(0.2)  # so that the first job ends last
    report(1)
    return job * job


def complain(job: int, report: Report) -> int:
    raise ValueError(f"job {job} is no good")


class Odd(RuntimeError):
    def __init__(self, first: str, second: str) -> None:  # does not survive pickling
        super().__init__(f"{first} {second}")


def complain_oddly(job: int, report: Report) -> int:
    raise Odd("strange", "error")


def die(job: int, report: Report) -> int:
    if job == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(30)
    return job


def leave(job: int, report: Report) -> int:
    os._exit(7)


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_jobs(workers: int) -> None:
    reports: list[int] = []
    done: dict[int, int] = {}
    found = run_jobs(square, range(5), workers, on_report=reports.append, on_result=done.__setitem__)
    assert found == [0, 1, 4, 9, 16]
    assert reports == [1] * 5
    assert done == dict(enumerate(found))
    assert multiprocessing.active_children() == []


def test_more_workers_than_jobs() -> None:
    assert run_jobs(square, [3], 8) == [9]
    assert run_jobs(square, [], 8) == []


def test_an_error_in_a_worker_arrives_with_its_traceback() -> None:
    with pytest.raises(ValueError, match="job [01] is no good") as caught:
        run_jobs(complain, [0, 1], 2)
    assert "in complain" in "".join(caught.value.__notes__)
    assert multiprocessing.active_children() == []


def test_an_error_that_cannot_travel_arrives_as_text() -> None:
    with pytest.raises(WorkerError, match="Odd: strange error"):
        run_jobs(complain_oddly, [0, 1], 2)


def test_a_killed_worker_is_an_error_not_a_hang() -> None:
    begun = time.monotonic()
    with pytest.raises(WorkerError, match="killed by signal 9"):
        run_jobs(die, [0, 1], 2)
    assert time.monotonic() - begun < 20
    assert multiprocessing.active_children() == []


def test_a_worker_that_leaves_is_an_error() -> None:
    with pytest.raises(WorkerError, match="exit code 7"):
        run_jobs(leave, [0, 1], 2)


def test_settings_of_the_caller_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    run_jobs(square, [1, 2], 2)
    assert os.environ["OMP_NUM_THREADS"] == "3"
    assert "MKL_NUM_THREADS" not in os.environ


@posix
@pytest.mark.parametrize("pause", [0.1, 0.3, 2.0])
def test_ctrl_c_ends_all_at_once(pause: float) -> None:
    """Whether the workers are still loading or already busy; they print nothing."""
    code = (
        "from tests.bgnet.test_workers import die\n"
        "from bgnet.workers import run_jobs\n"
        "print('begun', flush=True)\n"
        "run_jobs(die, [0, 2], 2, on_report=print)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(pause)
    begun = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=20)  # returns once nobody holds the pipes any more
    assert time.monotonic() - begun < 10
    assert errors.count("Traceback") == 1
    assert errors.rstrip().endswith("KeyboardInterrupt")
