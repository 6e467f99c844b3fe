"""One place for progress: a bar on a terminal, a line now and then in a log file, or nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TextIO

if TYPE_CHECKING:
    from tqdm import tqdm

__all__ = ["MODES", "Progress", "ProgressLike", "check_mode"]

MODES = ("auto", "bar", "lines", "none")
_LINE_EVERY_S = 30.0


class ProgressLike(Protocol):
    """Where progress goes, such as Progress."""

    def update(self, n: int, **fields: object) -> None: ...


def check_mode(mode: str) -> None:
    """ValueError unless it is one of MODES."""
    if mode not in MODES:
        raise ValueError(f"progress mode {mode!r}: choose one of {', '.join(MODES)}")


class Progress:
    """Counts work done and shows it on stderr; a context manager.

    mode: "bar" (tqdm, rewritten in place), "lines" (one key=value line every 30 s and at the end), "none",
    or "auto": a bar when the stream is a terminal, else lines. initial: what an earlier run has done already. Fields
    given to `update` are shown behind the count; the latest value of each stays. Raises ValueError for another mode.
    """

    def __init__(
        self,
        total: int,
        unit: str,
        mode: str = "auto",
        stream: TextIO | None = None,
        *,
        label: str = "",
        initial: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        check_mode(mode)
        self.total, self.unit, self.count = total, unit, initial
        self._initial = initial
        self._stream = sys.stderr if stream is None else stream
        if self._stream is None:  # closed by the caller
            mode = "none"
        if mode == "auto":
            mode = "bar" if self._stream.isatty() else "lines"
        self.mode, self._label, self._clock = mode, label, clock
        self._fields: dict[str, object] = {}
        self._started = self._printed_at = clock()
        self._printed_count = 0
        self._bar: tqdm[None] | None = self._make_bar() if mode == "bar" else None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def update(self, n: int, **fields: object) -> None:
        """Note that n more units are done (0 is fine: then only the fields change)."""
        self.count += n
        self._fields.update(fields)
        if self._bar is not None:
            if fields:
                self._bar.set_postfix_str("  ".join(_text(k, v, " ") for k, v in self._fields.items()), False)
            self._bar.update(n)
        elif self.mode == "lines" and self._clock() - self._printed_at >= _LINE_EVERY_S:
            self._print_line()

    def set_total(self, total: int) -> None:
        """Change how much there is to do, when that is known only later; 0 = not known."""
        if total != self.total:
            self.total = total
            if self._bar is not None:
                self._bar.total = total or None
                self._bar.refresh()

    def write(self, text: str) -> None:
        """Print a line of text without tearing the bar; nothing in mode none."""
        if self._bar is not None:
            self._bar.write(text, file=self._stream)
        elif self.mode == "lines":
            print(text, file=self._stream, flush=True)

    def close(self) -> None:
        """Print what is left to print and free the terminal line; harmless when called again."""
        if self._bar is not None:
            self._bar.close()
        elif self.mode == "lines" and self.count != self._printed_count:
            self._print_line()

    def _make_bar(self) -> tqdm[None]:
        from tqdm import tqdm  # here: those who only report progress need none of it

        encoding = getattr(self._stream, "encoding", None) or "ascii"
        return tqdm(
            total=self.total or None,
            initial=self.count,
            unit=" " + self.unit,
            desc=self._label or self.unit,
            file=self._stream,
            ascii="utf" not in encoding.lower(),
            dynamic_ncols=True,
            smoothing=0.1,
        )

    def _print_line(self) -> None:
        elapsed = self._clock() - self._started
        speed = (self.count - self._initial) / elapsed if elapsed > 0 else 0.0
        shown: dict[str, object] = {self.unit: self.count, "total": self.total or "?", "seconds": round(elapsed, 1)}
        if speed > 0:
            shown[f"{self.unit}_per_s"] = round(speed, 1)
        if speed > 0 and self.total:
            shown["eta_s"] = round((self.total - self.count) / speed)
        if self._label:
            shown = {"phase": self._label, **shown}
        line = " ".join(_text(key, value, "=") for key, value in {**shown, **self._fields}.items())
        print(line, file=self._stream, flush=True)
        self._printed_at, self._printed_count = self._clock(), self.count


def _text(key: str, value: object, between: str) -> str:
    shown = f"{value:.4g}" if isinstance(value, float) and abs(value) < 1e4 else str(value)
    return f"{key}{between}{shown.replace(' ', '_') if between == '=' else shown}"
