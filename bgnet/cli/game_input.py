"""Lines typed at a game, from a terminal or through a pipe."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable

from bgnet.cli.common import print_text

__all__ = ["Left", "on_terminal", "reader"]


class Left(Exception):
    """The user has left; the reason as the JSON object has it."""


def reader() -> Callable[[str], str]:
    """What asks for a line: with editing on a terminal; else plain, and what comes from a pipe is echoed.

    The function returned raises Left at the end of the input.
    """
    if sys.stdin is None:  # closed by the caller

        def nothing(prompt: str) -> str:
            raise Left("end of input")

        return nothing
    with contextlib.suppress(AttributeError, ValueError, OSError):
        sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]  # bytes of another encoding: no play
    edited = on_terminal()
    if edited:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  # gives input() its editing

    def ask(prompt: str) -> str:
        try:
            if edited:
                return input(prompt)
            print(prompt, end="", flush=True)
            line = sys.stdin.readline()
        except EOFError:
            line = ""
        if not line:
            print(flush=True)
            raise Left("end of input")
        if not sys.stdin.isatty():
            print_text(line.rstrip("\r\n"))
        return line

    return ask


def on_terminal() -> bool:
    """Whether somebody sits there who reads and types."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty()
