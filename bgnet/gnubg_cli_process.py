"""GNU Backgammon as a child process that answers requests: finding the program, starting it, talking, ending it.

The child runs `gnubg_cli_script.py` in the program's own Python. It reads none of the user's settings and writes
nothing outside a private temporary folder. It ends when its stdin does, so it does not outlive a killed parent.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from bgnet.peers import MissingEngineError, usable_bots
from engine.position import Position

__all__ = ["GnubgDied", "GnubgError", "GnubgProcess", "Request", "find_gnubg", "is_installed"]

Request = dict[str, Any]
"""What `gnubg_cli_script.py` takes."""

_SCRIPT = Path(__file__).with_name("gnubg_cli_script.py")
_NAMES = ("gnubg", "gnubg-cli")  # the latter on Windows
_PLACES = ("/usr/games", "/usr/local/bin", "/usr/local/games", "/opt/homebrew/bin")  # not on everyone's PATH
_VARIABLE = "BGNET_GNUBG"
_HOW_TO_GET = (
    "install it (Debian, Ubuntu: sudo apt install gnubg; other systems: https://www.gnu.org/software/gnubg/) "
    f"or set {_VARIABLE} to its path"
)
_PREFIX = "bgnet-gnubg-"  # the script removes no other folder
_LINES_BEFORE_READY = 1000  # greetings, licence


class GnubgError(RuntimeError):
    """GNU Backgammon gave no answer, or one that cannot be used."""


class GnubgDied(GnubgError):
    """The process ended before it had answered."""


def find_gnubg(executable: str | os.PathLike[str] | None = None) -> Path:
    """The program: the one named, else the one that BGNET_GNUBG names, else on PATH, in /usr/games and the like.

    A name without a folder is looked up on PATH. Raises MissingEngineError, which says how to get the program.
    """
    found = _look_for(executable)
    if found is not None:
        return found
    named = executable or os.environ.get(_VARIABLE)
    if named:
        source = "" if executable else f" (as {_VARIABLE} says)"
        reason = f"{os.fspath(named)!r}{source} is no program that can be run"
    else:
        reason = "it was not found"
    raise MissingEngineError(
        f"the bots gnubg-cli:PLY need the program GNU Backgammon, and {reason}: {_HOW_TO_GET}; "
        f"usable now: {usable_bots()}"
    )


def is_installed() -> bool:
    """Whether `find_gnubg` finds it."""
    return _look_for(None) is not None


def _look_for(executable: str | os.PathLike[str] | None) -> Path | None:
    named = executable or os.environ.get(_VARIABLE)
    tries = [(named, None)] if named else [(name, path) for path in (None, os.pathsep.join(_PLACES)) for name in _NAMES]
    for name, path in tries:
        if found := shutil.which(name, path=path):
            return Path(found).absolute()
    return None


class GnubgProcess:
    """One running gnubg at one depth.

    ply: its depth. cache: how many positions it may remember, None = its own choice. timeout: seconds without an
    answer after which it counts as stuck. Raises MissingEngineError when the program cannot run the script (a gnubg
    that was built without Python), GnubgError when it does not get ready in time.
    """

    def __init__(self, executable: Path, ply: int, cache: int | None, timeout: float) -> None:
        self.timeout = timeout
        folder = tempfile.mkdtemp(prefix=_PREFIX)
        self._log = Path(folder, "log")
        try:
            self._process = _start(executable, folder, self._log)
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise MissingEngineError(f"{executable} cannot be run ({error}): {_HOW_TO_GET}") from error
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=_read, args=(self._process.stdout, self._answers), daemon=True).start()
        self._end = weakref.finalize(self, _end, os.getpid(), self._process, folder)
        try:
            self._get_ready(executable, {"ply": ply, "cache": cache, "folder": folder})
        except BaseException:
            self.close()
            raise

    def ask(self, requests: Sequence[Request]) -> Iterator[Any]:
        """The answers one by one, in order. After any error the process is of no use any more: close it.

        Keep `requests` short: who stops reading answers has to close the process too.
        """
        self._send(list(requests))
        for request in requests:
            line = self._line(self.timeout)
            where = Position(_board(request)).position_id
            if line is None:
                raise GnubgDied(
                    f"GNU Backgammon ended{self._how_it_ended()} when asked about {where}{self._last_words()}"
                )
            if not line:
                raise GnubgError(
                    f"GNU Backgammon gave no answer within {self.timeout:g} s when asked about {where}; "
                    "GnubgCli(..., timeout=SECONDS) waits longer"
                )
            yield self._answer(line, where)

    def close(self) -> None:
        """End the process and remove its folder; more than once does no harm."""
        self._end()

    def _answer(self, line: str, where: str) -> Any:
        try:
            answer = json.loads(line)
        except ValueError:
            raise GnubgError(f"GNU Backgammon answered {line.strip()[:200]!r} when asked about {where}") from None
        if isinstance(answer, dict) and "error" in answer:
            raise GnubgError(f"GNU Backgammon refused to judge {where}: {answer['error']}")
        return answer

    def _get_ready(self, executable: Path, settings: dict[str, Any]) -> None:
        with contextlib.suppress(GnubgDied):
            self._send(settings)
        deadline = time.monotonic() + self.timeout
        for _ in range(_LINES_BEFORE_READY):
            line = self._line(max(deadline - time.monotonic(), 0))
            if line is None:
                break
            if not line:
                raise GnubgError(f"{executable} did not get ready within {self.timeout:g} s{self._last_words()}")
            if line.strip() == '{"ready": 1}':
                return
        raise MissingEngineError(
            f"{executable} is no GNU Backgammon with Python inside, it cannot run bgnet's script{self._last_words()}; "
            f"{_HOW_TO_GET}"
        )

    def _send(self, value: Any) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps(value) + "\n")
            stdin.flush()
        except (OSError, ValueError) as error:  # ValueError: closed here
            raise GnubgDied(f"GNU Backgammon ended{self._how_it_ended()}{self._last_words()}") from error

    def _line(self, timeout: float) -> str | None:
        """The next line it wrote; "" = none in time, None = there will be no more."""
        try:
            return self._answers.get(timeout=timeout)
        except queue.Empty:
            return ""

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            return ""
        return f" (signal {-code})" if code < 0 else f" (exit code {code})"

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            text = self._log.read_text(encoding="utf-8", errors="replace").strip()
            if text:
                return f"; it said: {text[-500:]}"
        return ""


def _start(executable: Path, folder: str, log: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "HOME": folder, "LC_ALL": "C", "PYTHONIOENCODING": "utf-8"}
    for name in ("LANGUAGE", "DISPLAY", "WAYLAND_DISPLAY", "PYTHONPATH", "PYTHONHOME"):  # ours would mislead it
        environment.pop(name, None)
    command = [os.fspath(executable), "-t", "-q", "-r", "-s", folder, "-p", os.fspath(_SCRIPT)]
    with log.open("w") as stderr:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            encoding="utf-8",
            errors="replace",
            cwd=folder,
            env=environment,
            start_new_session=True,  # Ctrl-C is for us, and ends it through the pipe
        )


def _read(stream: IO[str], lines: queue.SimpleQueue[str | None]) -> None:
    """Into the queue what the process writes, and None at its end."""
    with contextlib.suppress(OSError, ValueError):
        while line := stream.readline(1 << 16):
            lines.put(line)
    lines.put(None)


def _end(owner: int, process: subprocess.Popen[str], folder: str) -> None:
    if os.getpid() != owner:  # a forked copy of this program must not end what the other one uses
        return
    with contextlib.suppress(OSError, ValueError):
        assert process.stdin is not None
        process.stdin.close()
    try:
        process.wait(timeout=0.2)  # idle it ends at once; else it is thinking, and there is nothing to save
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(folder, ignore_errors=True)


def _board(request: Request) -> list[int]:
    """The 26 counts, for messages."""
    opponent, own = request["board"]
    board = [0, *own]
    for point, count in enumerate(opponent):
        board[24 - point] -= count
    return board
