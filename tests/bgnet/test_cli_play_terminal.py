"""`bgnet play` in real processes: pipes, encodings, a terminal, Ctrl-C and Ctrl-D."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from engine.records import read_mat
from tests.marks import posix

ROOT = Path(__file__).parents[2]
BGNET = [sys.executable, "-c", "from bgnet.cli import main; main()"]

ON_ROLL_31 = "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10"


def shell(*arguments: str, typed: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A real process, where encodings, pipes and exit codes are what the system makes of them."""
    command, env = [*BGNET, "play", *arguments], {**os.environ, **environment}
    return subprocess.run(command, cwd=ROOT, env=env, input=typed, capture_output=True, timeout=120)


def test_a_pipe_with_an_ascii_terminal_and_strange_bytes() -> None:
    arguments = ["--position", ON_ROLL_31, "--against", "random", "--unicode", "--quiet"]
    result = shell(*arguments, typed=b"\xff\xe4\n8/5 6/5\nquit\n", PYTHONIOENCODING="ascii", NO_COLOR="1")
    assert result.returncode == 0
    assert result.stderr == b""
    assert result.stdout.isascii()
    assert b"\x1b" not in result.stdout
    assert b" +13-14-15" in result.stdout, "what cannot be encoded is not drawn"
    assert b"cannot read" in result.stdout
    assert b"O rolled" in result.stdout
    assert b"left: game 1 is not finished" in result.stdout


def test_unicode_boards_when_asked_for() -> None:
    screen = shell("--position", ON_ROLL_31, "--unicode", PYTHONIOENCODING="utf-8").stdout.decode()
    assert "┌13─14─15─16─17─18─┬───┬19─20─21─22─23─24─┐" in screen
    assert "●" in screen


@posix
def test_a_terminal_ctrl_c_and_ctrl_d() -> None:
    import pty

    for key, code, words in ((b"\x03", 130, "stopped: game 1 is not finished"), (b"\x04", 0, "end of input: game 1")):
        outer, inner = pty.openpty()
        command = [*BGNET, "play", "--position", ON_ROLL_31, "--against", "random"]
        env = {**os.environ, "PYTHONIOENCODING": "utf-8", "TERM": "xterm", "NO_COLOR": "1"}
        process = subprocess.Popen(
            command, cwd=ROOT, env=env, stdin=inner, stdout=inner, stderr=inner, preexec_fn=own_terminal(inner)
        )
        os.close(inner)
        shown = read_until(outer, b"you rolled 3-1 > ")
        assert "┌13─14" in shown.decode(), "a terminal that can gets the drawing in lines"
        os.write(outer, b"pips\n")
        read_until(outer, b"(level)\r\nyou rolled 3-1 > ")
        for _ in range(20):  # a key that comes between the prompt and the editor's taking over is lost
            os.write(outer, key)
            if select.select([outer], [], [], 3)[0]:
                break
        rest = read_until(outer, None)
        assert process.wait(timeout=20) == code
        assert words in rest.decode()
        assert "Traceback" not in rest.decode()
        assert "score: you (X) 0, random (O) 0" in rest.decode()
        os.close(outer)


@posix
def test_a_match_at_a_terminal_ends_with_an_offer_to_save_it(tmp_path: Path) -> None:
    import pty

    outer, inner = pty.openpty()
    command = [*BGNET, "play", "--match", "1", "--against", "random", "--seed", "1", "--hints", "net:standard@0ply"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "dumb", "NO_COLOR": "1"}
    process = subprocess.Popen(
        command, cwd=tmp_path, env=env, stdin=inner, stdout=inner, stderr=inner, preexec_fn=own_terminal(inner)
    )
    os.close(inner)
    read_until(outer, b" > ")
    for answer, prompt in ((b"resign single", b" > "), (b"no/where.mat", b" > "), (b"match.mat", None)):
        os.write(outer, answer + b"\n")
        shown = read_until(outer, prompt).decode()
        if answer.startswith(b"resign"):
            if "does not accept" in shown:
                os.write(outer, b"resign backgammon\n")
                shown += read_until(outer, prompt).decode()
            assert "O wins the match, " in shown
            assert "save these games? a file name such as game.mat, or Enter for no > " in shown
        elif prompt:
            while "cannot write 'no/where.mat'" not in shown:  # the line editor may first draw the prompt again
                shown += read_until(outer, prompt).decode()
    assert process.wait(timeout=20) == 0
    os.close(outer)
    record = read_mat(tmp_path / "match.mat")
    assert (record.length, record.winner, record.players) == (1, 0, ("random", "you"))


def own_terminal(inner: int) -> Callable[[], None]:
    """What makes the pseudo-terminal the child's own, so that Ctrl-C typed there reaches it."""

    def prepare() -> None:
        import fcntl
        import termios

        os.setsid()
        fcntl.ioctl(inner, termios.TIOCSCTTY, 0)

    return prepare


def read_until(terminal: int, words: bytes | None) -> bytes:
    """What comes from a pseudo-terminal or pipe until it ends with some words, or to its end."""
    shown = b""
    while words is None or not shown.endswith(words):
        assert select.select([terminal], [], [], 60)[0], f"nothing comes after {shown!r}"
        try:
            read = os.read(terminal, 4096)
        except OSError:  # Linux says so when the other end is closed
            break
        if not read:
            break
        shown += read
    return shown


@posix
def test_ctrl_c_in_a_pipe_still_gives_the_summary() -> None:
    command = [*BGNET, "play", "--position", ON_ROLL_31, "--against", "random", "--json"]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    read_until(process.stdout.fileno(), b"you rolled 3-1 > ")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert json.loads(output.decode().splitlines()[-1])["left"] == "interrupted"
    assert b"stopped: game 1 is not finished" in errors
