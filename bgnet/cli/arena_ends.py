"""How `bgnet arena` ends early, or without its record: what is kept, and what is said of it."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import warnings
from collections.abc import Iterator

from bgnet.cli.common import reporting

__all__ = ["record_warnings", "stopping"]


@contextlib.contextmanager
def stopping(file: str | None, *, as_json: bool) -> Iterator[None]:
    """Ctrl-C inside, or SIGTERM, which is the same here, ends with a word on what the record holds (typer.Exit)."""
    try:
        with _sigterm_as_ctrl_c():
            yield
    except KeyboardInterrupt:
        with reporting(as_json=as_json, stopped=_kept(file)):
            raise


@contextlib.contextmanager
def record_warnings() -> Iterator[list[str]]:
    """A record that cannot be written is told on stderr, and in the list."""
    from bgnet.arena_record import RecordWarning

    found: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always", RecordWarning)
        show = warnings.showwarning

        def tell(message: Warning | str, category: type[Warning], filename: str, lineno: int, *more: object) -> None:
            if not issubclass(category, RecordWarning):
                show(message, category, filename, lineno)
                return
            found.append(str(message))
            if sys.stderr is not None:
                print(f"warning: {message}", file=sys.stderr, flush=True)

        warnings.showwarning = tell  # type: ignore[assignment]  # of what else comes nothing is needed
        yield found


def _kept(file: str | None) -> str:
    """What to say behind "stopped:"."""
    from bgnet.arena_record import RecordError, read_record

    if file is None:
        return "the games played so far are not kept"
    try:
        record = read_record(file)
    except (RecordError, OSError):  # stopped before there was one
        return "no games are kept"
    held = 2 * sum(contest["pairs"] for contest in record["contests"])
    unit = "matches" if record["asked"]["rules"].startswith("match") else "games"
    if not held:
        return f"{file} holds no {unit} yet"
    return f"{held:,} {unit} are kept, go on with: bgnet arena --resume {file}"


@contextlib.contextmanager
def _sigterm_as_ctrl_c() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # others cannot set handlers
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt
