"""Jobs shared among processes: results in job order, an error instead of a hang when a process dies."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

__all__ = ["WorkerError", "run_jobs"]

Job = TypeVar("Job")
Result = TypeVar("Result")
Report = Callable[[int], None]

_THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class WorkerError(RuntimeError):
    """A worker process ended before its work was done."""


def run_jobs(
    task: Callable[[Job, Report], Result],
    jobs: Sequence[Job],
    workers: int,
    *,
    on_report: Report = lambda n: None,
    on_result: Callable[[int, Result], None] = lambda index, result: None,
) -> list[Result]:
    """task(job, report) for every job, in this process or in `workers` others; results in the jobs' order.

    task must be a function at the top of a module and jobs and results picklable when workers > 1. What it
    passes to report arrives at on_report; on_result gets each finished job's index and result, in the order
    of finishing. An exception in a task is raised here, and ends the others. WorkerError: a process died.
    """
    if workers == 1 or len(jobs) < 2:
        results = []
        for index, job in enumerate(jobs):
            results.append(task(job, on_report))
            on_result(index, results[-1])
        return results
    return _run_in_processes(task, jobs, min(workers, len(jobs)), on_report, on_result)


def _run_in_processes(
    task: Callable[[Job, Report], Result],
    jobs: Sequence[Job],
    workers: int,
    on_report: Report,
    on_result: Callable[[int, Result], None],
) -> list[Result]:
    processes: list[Any] = []
    try:
        busy: dict[Any, Any] = {}
        with _one_thread_each(), _ctrl_c_held_back():
            for _ in range(workers):
                process, connection = _start(task)
                processes.append(process)
                busy[connection] = process
        results: dict[int, Result] = {}
        waiting: Iterator[tuple[int, Job]] = iter(enumerate(jobs))
        for connection in busy:
            _send(connection, busy[connection], next(waiting))
        while busy:
            for connection in wait(list(busy)):
                kind, payload = _receive(connection, busy[connection])
                if kind == "report":
                    on_report(payload)
                elif kind == "failed":
                    raise payload
                else:
                    index, result = payload
                    results[index] = result
                    on_result(index, result)
                    job = next(waiting, None)
                    _send(connection, busy[connection], job)
                    if job is None:
                        busy.pop(connection).join()
        return [results[index] for index in range(len(jobs))]
    finally:  # also on Ctrl-C, which the workers ignore: nothing stays behind
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _start(task: Callable[..., Any]) -> tuple[Any, Any]:
    # spawn, not fork: forking a process that has threads (BLAS, numba, torch) can lock up
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, task), daemon=True)
    process.start()
    theirs.close()  # so that its death ends the pipe
    return process, ours


def _send(connection: Any, process: Any, message: Any) -> None:
    try:
        connection.send(message)
    except OSError as error:
        raise _death(process) from error


def _receive(connection: Any, process: Any) -> tuple[str, Any]:
    try:
        kind, payload = connection.recv()
    except (EOFError, OSError) as error:
        raise _death(process) from error
    return kind, payload


def _death(process: Any) -> WorkerError:
    process.join(timeout=5)
    code = process.exitcode
    if code is not None and code < 0:
        how = f"was killed by signal {-code}" + (" (out of memory?)" if code == -9 else "")
    else:
        how = f"ended with exit code {code}"
    return WorkerError(
        f"a worker process {how} before its work was done. Try workers=1 to see its error. "
        'A script that uses workers must start its work under `if __name__ == "__main__":`'
    )


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes started inside compute with one thread each: they already fill the cores."""
    before = {name: os.environ.get(name) for name in _THREAD_SETTINGS}
    os.environ.update(dict.fromkeys(_THREAD_SETTINGS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Processes started inside never see Ctrl-C, not even while they load; the parent sees it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # starting it later would let signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(connection: Connection, task: Callable[..., Any]) -> None:
    """A worker process: jobs in, ("report", "done" or "failed", payload) out, until None or the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the parent decides
    with contextlib.suppress(BrokenPipeError, EOFError):
        while (message := connection.recv()) is not None:
            index, job = message
            try:
                result = task(job, lambda n: connection.send(("report", n)))
            except Exception as error:
                connection.send(("failed", _portable(error)))
                return
            connection.send(("done", (index, result)))


def _portable(error: Exception) -> Exception:
    """The error itself when it survives pickling, else its text; with the worker's traceback as a note."""
    note = "in the worker process:\n" + traceback.format_exc()
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # an exception class may do anything here
        error = WorkerError(f"{type(error).__name__}: {error}")
    error.add_note(note)
    return error
