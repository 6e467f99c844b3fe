"""What all commands share: options, the answer on stdout, errors with their exit codes.

stdout carries the answer, stderr everything else. Exit codes: 0 answered, 1 failed while running, 2 wrong
argument, 130 stopped by Ctrl-C. Under --json an error is one JSON object on stdout too.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pickle
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

__all__ = [
    "JsonOption",
    "MetOption",
    "ProgressOption",
    "QuietOption",
    "ThreadsOption",
    "VerboseOption",
    "can_draw",
    "exit_code",
    "note_compiling",
    "print_json",
    "print_text",
    "reporting",
    "run",
    "run_script",
    "signed",
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no notes.")]
VerboseOption = Annotated[bool, typer.Option("--verbose", help="With an error, show the traceback too.")]
ProgressOption = Annotated[
    str,
    typer.Option("--progress", metavar="MODE", help="auto, bar, lines (one every 30 s) or none; on stderr."),
]
ThreadsOption = Annotated[int, typer.Option("--threads", min=0, help="0 = all cores; the answer is the same.")]
MetOption = Annotated[
    Path | None, typer.Option("--met", help="A match equity table, JSON or XML (default: Kazaross-XG2).")
]


class OutputError(RuntimeError):
    """The answer cannot be written."""


def _print(text: str) -> None:
    if sys.stdout is None:  # closed by the caller
        return
    with _stdout_named():
        print(text, flush=True)


@contextlib.contextmanager
def _stdout_named() -> Iterator[None]:
    """An OSError while writing to stdout becomes an OutputError that says so."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python fails once more at the end
        raise OutputError(f"the answer cannot be written to stdout: {error.strerror}") from None


def print_text(text: str) -> None:
    """Print to stdout; what its encoding lacks becomes a question mark instead of an error."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    _print(text.encode(encoding, "replace").decode(encoding))


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object on one line of stdout, in plain ASCII. Raises ValueError for nan or infinity."""
    _print(json.dumps(value, allow_nan=False))


def note_compiling(*kernels: str, quiet: bool, tables: bool = False) -> None:
    """Say on stderr what the first seconds go into when kernels must be compiled or the endgame tables built.

    kernels: names of bgnet's kernels that the command needs. tables: whether it asks the endgame tables.
    """
    from engine.jit import kernels_are_cached

    if quiet or sys.stderr is None:
        return
    if not kernels_are_cached(Path(__file__).parent.parent, *kernels):
        print("compiling kernels, once per version, up to a minute", file=sys.stderr, flush=True)
    if tables:
        from engine.tablefile import table_path

        if not all(table_path(name).is_file() for name in ("one-sided", "two-sided")):
            print("building the exact endgame tables, once, some seconds", file=sys.stderr, flush=True)


def can_draw() -> bool:
    """Whether stdout is a terminal that can show lines and circles."""
    if sys.stdout is None or not sys.stdout.isatty():
        return False
    return "utf" in (sys.stdout.encoding or "").lower()


def signed(value: float, digits: int) -> str:
    """A number with its sign, and never a negative zero."""
    return f"{round(value, digits) + 0.0:+.{digits}f}"


def exit_code(error: BaseException) -> int:
    """1 for a failure while running, 2 for what the user can mend in the command line or its files."""
    if isinstance(error, KeyboardInterrupt):
        return 130
    from bgnet.peers import MissingEngineError  # here, so that --help need not load the engines' module

    return 2 if isinstance(error, ValueError) and not isinstance(error, MissingEngineError) else 1


@contextlib.contextmanager
def reporting(*, as_json: bool = False, verbose: bool = False, stopped: str = "nothing is kept") -> Iterator[None]:
    """Run a command's work inside: known errors become a message and an exit code (typer.Exit).

    stopped: what to say behind "stopped" after Ctrl-C. Unknown errors are programming errors: they keep
    their traceback, and under --json an object is printed besides.
    """
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except KeyboardInterrupt as error:
        _report("stopped", f"stopped: {stopped}", as_json)
        raise typer.Exit(exit_code(error)) from None
    except (EOFError, pickle.UnpicklingError) as error:  # numba read a cut file
        from engine.jit import cache_dir

        folder = cache_dir() / "kernels"
        _report("damaged_cache", f"the compiled kernels in {folder} are damaged ({error}); delete that folder", as_json)
        raise typer.Exit(1) from None
    except Exception as error:
        known = isinstance(error, (ValueError, OSError, RuntimeError, MemoryError))
        if (
            isinstance(error, OSError)
            and error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
            and "/" not in str(error)
        ):
            from engine.jit import cache_dir  # numba names no path when it cannot keep a kernel

            error = OSError(error.errno, f"{error.strerror}: is there room in {cache_dir()}? BGNET_CACHE_DIR moves it")
        if verbose or (as_json and not known):
            traceback.print_exc()
        if not known and not as_json:
            raise
        _report(_kind(error), str(error) or type(error).__name__, as_json and not isinstance(error, OutputError))
        raise typer.Exit(exit_code(error)) from None


def run_script(main: Callable[[], int], stopped: str = "nothing is kept") -> NoReturn:
    """Exit with main()'s code; what goes wrong is told as a command tells it. main prints to stdout."""
    code = 0
    try:
        with reporting(stopped=stopped):
            try:
                code = main()
            finally:  # what main printed may still be on its way
                with _stdout_named():
                    sys.stdout.flush()
    except typer.Exit as done:
        code = done.exit_code
    sys.exit(code)


def run(app: typer.Typer, args: Sequence[str] | None = None) -> NoReturn:
    """The console command: like app(), but wrong arguments under --json are reported as JSON as well."""
    given = list(sys.argv[1:] if args is None else args)
    if "--json" not in given:
        app(given)
    try:
        code = app(given, standalone_mode=False)
    except Exception as error:
        if not hasattr(error, "format_message"):  # typer's own errors have it
            raise
        _report("wrong_argument", error.format_message(), as_json=True)
        code = getattr(error, "exit_code", 2)
    sys.exit(code if isinstance(code, int) else 0)


def _kind(error: Exception) -> str:
    """MissingEngineError -> missing_engine."""
    name = type(error).__name__.removesuffix("Error") or "Error"
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _report(kind: str, message: str, as_json: bool) -> None:
    if as_json:
        print_json({"error": {"kind": kind, "message": message, "hint": _hint(message)}})
    else:
        print(message if kind == "stopped" else f"error: {message}", file=sys.stderr, flush=True)


def _hint(message: str) -> str | None:
    """The command to run, when the message offers one."""
    found = re.search(r"pip install \S+", message)
    return found.group(0).rstrip(";,.") if found else None
