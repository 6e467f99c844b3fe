"""GNU Backgammon as a child process: found, started, mended when it fails, ended. Shown with a stand-in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bgnet import gnubg_cli_process, peers
from bgnet.gnubg_cli import GnubgCli, GnubgError
from bgnet.gnubg_cli_process import find_gnubg, is_installed
from bgnet.peers import MissingEngineError
from bgnet.players import player
from engine import START, GameState, Position
from engine.board import START_BOARD
from tests.bgnet.fake_gnubg import CUBE_ANSWER, RAMP, asked, make, stand_ins
from tests.boards import roll
from tests.marks import needs_scripts

STARTS = np.repeat(START_BOARD[None], 10, axis=0)


@pytest.fixture(autouse=True)
def _no_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BGNET_GNUBG", raising=False)


@pytest.fixture
def fake(tmp_path: Path) -> Any:
    """Makes bots that drive a stand-in."""
    with stand_ins(tmp_path) as made:
        yield made


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")  # one that has ended may wait for its parent
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"


def ends_soon(pid: int) -> bool:
    return any(not is_running(pid) or time.sleep(0.05) for _ in range(100))


# ---- a program that fails --------------------------------------------------------------------------------------------

DIES = "\n".join(
    [
        "whole = gnubg.evaluate",
        "def dying(board, info, context):",
        "    if board[1][23] == 4 and count('deaths') <= {times}:",
        "        sys.stderr.write('Segmentation fault, says the stand-in')",
        "        sys.stderr.flush()",
        "        os.kill(os.getpid(), signal.SIGKILL)",
        "    return whole(board, info, context)",
        "gnubg.evaluate = dying",
    ]
)
STUCK = "gnubg.evaluate = lambda *_: time.sleep(100)"


@needs_scripts
class TestFailing:
    def test_a_death_is_mended_once(self, fake: Any, tmp_path: Path) -> None:
        outcomes = fake(DIES.format(times=1)).outcomes(RAMP)
        assert outcomes[:, :3].sum(axis=1) == pytest.approx(0.5 + np.arange(10) / 100)
        assert len(asked(tmp_path, "start")) == 2
        assert len(asked(tmp_path, "evaluate")) == 10, "what was answered is not asked again"

    def test_a_second_death_is_an_error_with_its_last_words(self, fake: Any) -> None:
        bot = fake(DIES.format(times=2))
        with pytest.raises(GnubgError, match=r"ended \(signal 9\) when asked about .*Segmentation fault") as caught:
            bot.outcomes(RAMP)
        assert Position(RAMP[4].tolist()).position_id in str(caught.value)
        assert bot.outcomes(RAMP).shape == (10, 6), "the next call starts afresh"

    def test_an_idle_process_may_die(self, fake: Any, tmp_path: Path) -> None:
        bot = fake()
        os.kill(asked(tmp_path, "start")[0][3], signal.SIGKILL)
        time.sleep(0.1)
        assert bot.outcomes(STARTS).shape == (10, 6)

    @pytest.mark.parametrize("processes", [1, 2])
    def test_a_stuck_program_is_given_up(self, processes: int, fake: Any, tmp_path: Path) -> None:
        bot = fake(STUCK, timeout=0.5, processes=processes)
        with pytest.raises(GnubgError, match=r"no answer within 0.5 s when asked about 4HPwATDgc/ABMA.*timeout="):
            bot.outcomes(STARTS)
        assert all(ends_soon(call[3]) for call in asked(tmp_path, "start"))

    def test_closing_ends_a_call_of_another_thread(self, fake: Any) -> None:
        bot = fake(STUCK, processes=2)
        errors = []

        def ask() -> None:
            with pytest.raises(GnubgError) as caught:
                bot.outcomes(STARTS)
            errors.append(caught)

        thread = threading.Thread(target=ask)
        thread.start()
        time.sleep(0.3)
        bot.close()
        thread.join(timeout=10)
        assert len(errors) == 1

    def test_ctrl_c_leaves_no_answers_for_the_next_call(self, fake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        bot = fake()
        read, lines = gnubg_cli_process.GnubgProcess._line, []

        def interrupted(self: Any, timeout: float) -> str | None:
            lines.append(read(self, timeout))
            if len(lines) == 3:
                raise KeyboardInterrupt
            return lines[-1]

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(gnubg_cli_process.GnubgProcess, "_line", interrupted)
            bot.outcomes(STARTS)
        assert bot.decide([GameState(START)])[0].action == "No double, take"

    @pytest.mark.parametrize(
        "answer", ["(0.5, 0.25)", "('much',) * 5", "(7.0, 0.1, 0.0, 0.1, 0.0)", "(float('nan'),) * 5", "(None,) * 5"]
    )
    def test_chances_that_are_none(self, answer: str, fake: Any) -> None:
        with pytest.raises(GnubgError, match="cannot be used"):
            fake(f"gnubg.evaluate = lambda *_: {answer}").outcomes(STARTS)

    def test_a_cube_action_that_is_none(self, fake: Any) -> None:
        with pytest.raises(GnubgError, match="cannot be used.*Doppel"):
            fake(cube=[*CUBE_ANSWER[:5], "Kein Doppel"]).decide([GameState(START)])

    def test_a_refusal_is_passed_on(self, fake: Any) -> None:
        with pytest.raises(GnubgError, match="refused to judge 4HPwATDgc/ABMA: ValueError: no idea"):
            fake("def evaluate(*_): raise ValueError('no idea')\ngnubg.evaluate = evaluate").outcomes(STARTS)

    @pytest.mark.parametrize("steps", [(8, 4, 6, 5), (8, 5), (), (24, 21, 6, 5, 13, 12)])
    def test_an_illegal_play_is_found_out(self, steps: tuple[int, ...], fake: Any) -> None:
        with pytest.raises(GnubgError, match="illegal play for 4HPwATDgc/ABMA and .3, 1."):
            fake(f"gnubg.findbestmove = lambda *_: {steps}").choose(STARTS[:1], roll(3, 1))

    @pytest.mark.parametrize("steps", ["(8,)", "(8, 26, 6, 5)", "(8, -1)"])
    def test_steps_that_are_none(self, steps: str, fake: Any) -> None:
        with pytest.raises(GnubgError, match="cannot be used"):
            fake(f"gnubg.findbestmove = lambda *_: {steps}").choose(STARTS[:1], roll(3, 1))

    def test_garbage_instead_of_answers(self, fake: Any) -> None:
        garbage = (
            """sys.stdin.readline(); print('{"ready": 1}'); print('Segfault'); sys.stdout.flush(); time.sleep(9)"""
        )
        with pytest.raises(GnubgError, match="answered 'Segfault' when asked about 4HPwATDgc/ABMA"):
            fake(garbage).outcomes(STARTS)

    @pytest.mark.parametrize(
        ("extra", "message"),
        [
            ("sys.exit('gnubg was built without Python')", "no GNU Backgammon with Python.*built without Python"),
            ("while True: print('Where is the board?')", "no GNU Backgammon with Python.*apt install gnubg"),
            ("del sys.modules['gnubg']", "no GNU Backgammon with Python.*No module named 'gnubg'"),
        ],
    )
    def test_a_program_that_is_not_it(self, extra: str, message: str, fake: Any) -> None:
        with pytest.raises(MissingEngineError, match=f"(?s){message}"):
            fake(extra)

    def test_a_program_that_never_gets_ready(self, fake: Any, tmp_path: Path) -> None:
        with pytest.raises(GnubgError, match="not get ready within 0.3 s"):
            fake("time.sleep(100)", timeout=0.3)
        assert ends_soon(asked(tmp_path, "start")[0][3])

    def test_a_file_that_is_no_program(self, tmp_path: Path) -> None:
        broken = tmp_path / "gnubg"
        broken.write_bytes(b"\x7fELF and nothing more")
        broken.chmod(0o755)
        with pytest.raises(MissingEngineError, match="cannot be run.*apt install gnubg"):
            GnubgCli(executable=broken)


# ---- nothing stays behind --------------------------------------------------------------------------------------------


@needs_scripts
class TestEnding:
    def test_close_ends_it_and_removes_its_folder(self, fake: Any, tmp_path: Path) -> None:
        bot = fake()
        _, home, _, pid, _ = asked(tmp_path, "start")[0]
        assert is_running(pid) and Path(home).is_dir()
        bot.close()
        bot.close()
        assert not is_running(pid)
        assert not Path(home).exists()
        assert bot.outcomes(STARTS).shape == (10, 6), "a later call starts it again"

    def test_a_forgotten_bot_ends_too(self, tmp_path: Path) -> None:
        bot = GnubgCli(executable=make(tmp_path))
        _, home, _, pid, _ = asked(tmp_path, "start")[0]
        del bot
        assert ends_soon(pid)
        assert not Path(home).exists()

    @pytest.mark.parametrize(
        ("how", "thinking"),
        [
            ("sys.exit()", False),
            ("os.kill(os.getpid(), 9)", False),
            ("os.kill(os.getpid(), 9)", True),
            ("os.kill(os.getpid(), 15)", True),
        ],
    )
    def test_no_orphan_when_its_parent_ends(self, how: str, thinking: bool, tmp_path: Path) -> None:
        """kill -9 included: the process sees its stdin end, or its answer refused, and removes its folder itself."""
        slow = "gnubg.evaluate = lambda *_: time.sleep(0.4) or (0.5, 0.0, 0.0, 0.0, 0.0)" if thinking else ""
        code = "\n".join(
            [
                "import os, sys",
                "from bgnet.gnubg_cli_process import GnubgProcess",
                f"process = GnubgProcess({str(make(tmp_path, slow))!r}, 0, None, 10)",
                "request = {'do': 'chances', 'board': [[1] * 15 + [0] * 10] * 2,",
                "           'cube': [1, -1, 1, 0, [0, 0], 0, 0, 0]}",
                "next(process.ask([request] * 20))",
                how,
            ]
        )
        subprocess.run([sys.executable, "-c", code], timeout=60, check=False)
        _, home, _, pid, _ = asked(tmp_path, "start")[0]
        assert ends_soon(pid)
        assert any(not Path(home).exists() or time.sleep(0.05) for _ in range(40))

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_a_fork_has_processes_of_its_own(self, fake: Any, tmp_path: Path) -> None:
        bot = fake()
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # a failure, not a hang
            good = bot.outcomes(STARTS).shape == (10, 6)
            bot.close()
            os._exit(0 if good else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert len(asked(tmp_path, "start")) == 2
        _, home, _, pid, _ = asked(tmp_path, "start")[0]
        assert is_running(pid) and Path(home).is_dir()
        assert bot.outcomes(STARTS).shape == (10, 6)


# ---- where it is looked for ----


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(gnubg_cli_process, "_PLACES", ())
    assert not set(peers.available()) & {"gnubg-cli:0", "gnubg-cli:2"}
    with pytest.raises(MissingEngineError) as caught:
        player("gnubg-cli:2")
    message = str(caught.value)
    for part in ("GNU Backgammon", "not found", "apt install gnubg", "gnu.org/software/gnubg", "BGNET_GNUBG"):
        assert part in message
    assert "usable now: random, net:NAME" in message
    monkeypatch.setenv("BGNET_GNUBG", "/nowhere/gnubg")
    with pytest.raises(MissingEngineError, match="'/nowhere/gnubg'.*BGNET_GNUBG says.*apt install gnubg"):
        player("gnubg-cli:2")


@needs_scripts
def test_where_the_program_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("named", "path", "usual"):
        (tmp_path / name).mkdir()
        make(tmp_path / name)
    monkeypatch.setattr(gnubg_cli_process, "_PLACES", (str(tmp_path / "usual"),))
    monkeypatch.setenv("PATH", "")
    assert find_gnubg() == tmp_path / "usual/gnubg"
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert find_gnubg() == tmp_path / "path/gnubg"
    monkeypatch.setenv("BGNET_GNUBG", str(tmp_path / "named/gnubg"))
    assert find_gnubg() == tmp_path / "named/gnubg"
    assert is_installed()
    assert find_gnubg("gnubg") == tmp_path / "path/gnubg"
    assert "gnubg-cli:3" in peers.available()
