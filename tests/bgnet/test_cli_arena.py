"""`bgnet arena` as a user meets it: answers on stdout, the rest on stderr, exit codes, JSON errors."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bgnet.arena import ArenaError, play
from bgnet.arena_record import read_record
from bgnet.cli import app, common
from bgnet.cli.arena import EPILOG
from bgnet.cli.arena_screens import table
from tests.marks import needs_peers, posix

ROOT = Path(__file__).parents[2]
BGNET = [sys.executable, "-c", "from bgnet.cli import main; main()"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records go to runs/arena/ of the working directory."""
    monkeypatch.chdir(tmp_path)


def invoke(*arguments: str) -> Any:
    """Without luck, which takes time, unless the arguments speak of it."""
    plain = [] if any("luck" in word or word in ("--reference", "--resume") for word in arguments) else ["--no-luck"]
    return CliRunner().invoke(app, ["arena", *arguments, *plain])


def shell(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A real process, where encodings, pipes and exit codes are what the system makes of them."""
    return subprocess.run(
        [*BGNET, "arena", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_the_table() -> None:
    result = invoke("random", "random", "--games", "40", "--seed", "7")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "random against random, cubeless money, 20 dice pairs, seed 7"
    assert lines[2].split() == ["plain", "+0.0000", "[+0.0000,", "+0.0000]"]
    assert lines[4].split()[:2] == ["games", "20"]
    assert lines[4].endswith("of 40")
    assert lines[5].split()[:3] == ["per", "cent", "50.00"]
    assert "games/s with 1 worker" in lines[6]
    assert lines[7] == "record  runs/arena/random-random-s7.json"
    assert "games=40 total=40" in result.stderr


def test_the_table_names_the_rules_and_the_workers() -> None:
    one = play("random", "random", 2, rules="dmp")
    assert "double match point (every win 1 point)" in table(one)
    assert table(one).isascii()


def test_columns_stand_below_their_heads() -> None:
    lines = table(play("random", "random", 40)).splitlines()
    heads = [match.end() for match in re.finditer(r"win|lose|[GB]\b", lines[3])]
    for line in lines[4:6]:
        cells = [match.end() for match in re.finditer(r"(?<![a-z])[\d.,]+", line)]
        assert cells[:6] == heads


def test_json_is_the_last_line_and_says_what_the_library_says() -> None:
    result = invoke("random", "random", "--games", "20", "--seed", "7", "--rules", "dmp", "--json")
    assert result.exit_code == 0
    fields = json.loads(result.stdout.splitlines()[-1])
    expected = play("random", "random", 20, 7, "dmp").as_dict()
    for name in ("seconds", "games_per_s"):
        assert fields.pop(name) > 0
        expected.pop(name)
    assert fields.pop("record") == "runs/arena/random-random-s7.json"
    assert expected.pop("record") is None
    assert fields == expected


def test_quiet_leaves_stderr_empty() -> None:
    result = invoke("random", "random", "--games", "4", "--quiet")
    assert result.stderr == ""
    assert "random against random" in result.stdout


@needs_peers
def test_the_examples_in_the_help_run() -> None:
    shown = " ".join(invoke("--help").stdout.split())
    examples = [line for line in EPILOG.splitlines() if line.startswith("bgnet ")]
    assert len(examples) == 4
    for example in examples:
        assert example in shown
        few = ["--games", "100", "--min-games", "100"] if "--sprt" in example else ["--games", "4"]
        assert invoke(*shlex.split(example)[2:], *few).exit_code == 0
    assert shown.endswith(examples[-1])


BAD = [
    (["random", "random", "--games", "7"], "arena_settings", "even"),
    (["random", "random", "--games", "0"], "arena_settings", "at least 2"),
    (["random", "random", "--seed", "-1"], "dice", "seed"),
    (["random", "random", "--workers", "0"], "arena_settings", "workers"),
    (["random", "random", "--rules", "chess"], "arena_settings", "money, dmp, not 'chess'"),
    (["random", "randam"], "bot_spec", "random"),
    (["gnubg:7", "random"], "bot_spec", "0, 1 or 2"),
    (["random", "net:no/such/net"], "net_file", "no/such/net"),
    (["random", "random", "--progress", "fancy"], "value", "fancy"),
    ([], "arena_settings", "at least two bots"),
    (["random"], "arena_settings", "at least two bots"),
    (["random", "random", "--anchor", "random"], "arena_settings", "more than two bots"),
    (["random", "net:standard", "pubeval", "--anchor", "sage:0"], "arena_settings", "anchor sage:0 does not play"),
    (["random", "random", "--reference", "random"], "bot_spec", "no chances to give"),
    (["random", "random", "--reference", "net:standard", "--no-luck"], "arena_settings", "drop one of them"),
    (["random", "random", "--luck", "--variant", "hypergammon"], "arena_settings", "knows hypergammon"),
    (["random", "random", "--record", "x", "--no-record"], "arena_settings", "drop one of them"),
    (["random", "random", "--until", "0"], "stop_rule", "above 0 points"),
    (["random", "random", "--until", "0.1", "--games", "400"], "stop_rule", "first look"),
    (["random", "random", "--until", "0.1", "--sprt", "0", "0.1"], "stop_rule", "choose one"),
    (["random", "random", "--sprt", "0.1", "0"], "stop_rule", "other way round"),
    (["random", "random", "--sprt", "0", "0.1", "--alpha", "0.7"], "stop_rule", "alpha and beta"),
    (["random", "random", "--alpha", "0.1"], "stop_rule", "error bounds of --sprt"),
    (["random", "random", "--min-games", "400"], "stop_rule", "--min-games belongs to"),
    (["random", "random", "--until", "0.1", "--min-games", "150"], "stop_rule", "multiple of 100"),
    (["random", "pubeval", "net:standard", "--sprt", "0", "0.1"], "arena_settings", "compares two bots"),
    (["--resume", "no/such.json"], "record", "no/such.json"),
]


@pytest.mark.parametrize(("arguments", "kind", "words"), BAD, ids=lambda value: str(value)[:40])
def test_what_is_wrong_is_said_and_gives_exit_code_2(arguments: list[str], kind: str, words: str) -> None:
    plain = invoke(*arguments)
    assert plain.exit_code == 2
    assert plain.stdout == ""
    assert any(line.startswith("error: ") for line in plain.stderr.splitlines())
    assert words in plain.stderr
    assert "Traceback" not in plain.stderr
    as_json = invoke(*arguments, "--json")
    assert as_json.exit_code == 2
    error = json.loads(as_json.stdout)["error"]
    assert error["kind"] == kind
    assert words in error["message"]
    assert set(error) == {"kind", "message", "hint"}


def test_a_missing_package_gives_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bgsage", None)
    result = invoke("sage:0", "random", "--json")
    assert result.exit_code == 1
    error = json.loads(result.stdout)["error"]
    assert error["kind"] == "missing_engine"
    assert error["hint"] == 'pip install "bgnet[peers]"'


def test_a_failure_while_running_gives_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ArenaError("bot x chose an illegal result")

    monkeypatch.setattr("bgnet.arena.play", fail)
    result = invoke("random", "random", "--verbose")
    assert result.exit_code == 1
    assert "error: bot x chose an illegal result" in result.stderr
    assert "Traceback" in result.stderr, "--verbose asked for it"


def test_a_programming_error_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("bgnet.arena.play", fail)
    assert isinstance(invoke("random", "random").exception, ZeroDivisionError)
    result = invoke("random", "random", "--json")
    assert json.loads(result.stdout)["error"]["kind"] == "zero_division"
    assert "Traceback" in result.stderr
    assert result.exit_code == 1


def test_wrong_arguments_under_json_are_an_object_too() -> None:
    result = shell("random", "random", "--sprt", "0", "x", "--json")
    assert result.returncode == 2
    error = json.loads(result.stdout)["error"]
    assert error["kind"] == "wrong_argument"
    assert "--sprt" in error["message"]
    plain = shell("random", "random", "--game", "x")
    assert plain.returncode == 2
    assert plain.stdout == ""
    assert "--game" in plain.stderr


def test_a_terminal_that_knows_only_ascii(tmp_path: Path) -> None:
    result = shell("random", "random", "--games", "4", "--progress", "bar", PYTHONIOENCODING="ascii")
    assert result.returncode == 0
    assert result.stdout.isascii()
    assert "dice pairs" in result.stdout


def test_text_that_the_terminal_cannot_show(capfd: pytest.CaptureFixture[str]) -> None:
    code = "from bgnet.cli.common import print_text; print_text('net:b\\u00e4r \\u25cf')"
    shown = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == "net:b?r ?\n"


@posix
def test_a_reader_that_has_seen_enough_ends_it_quietly() -> None:
    command = shlex.join([*BGNET, "arena", "random", "random", "--games", "4", "-q"]) + " | head -c 0"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert result.stderr == ""


@posix
@pytest.mark.parametrize(
    ("workers", "options", "word"),
    [
        ("1", ["--no-record"], "stopped: the games played so far are not kept"),
        ("2", ["--no-luck"], "games are kept, go on with: bgnet arena --resume runs/arena/random-random-s1.json"),
    ],
)
def test_ctrl_c_ends_with_130_and_a_word(workers: str, options: list[str], word: str) -> None:
    process = subprocess.Popen(
        [*BGNET, "arena", "random", "random", "--games", "200000", "--workers", workers, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(10)  # games must have been played
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert output == ""
    assert errors.rstrip().endswith(word)
    assert "Traceback" not in errors
    if "are kept" in word:
        done = read_record(word.split()[-1])["contests"][0]["pairs"]
        again = invoke("--resume", word.split()[-1], "--games", str(2 * done + 100), "--json")
        expected = play("random", "random", 2 * done + 100)
        assert json.loads(again.stdout)["plies_per_game"] == expected.plies / expected.games


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [(0.12345, 3, "+0.123"), (-0.0001, 3, "+0.000"), (-0.0, 3, "+0.000"), (-1.5, 1, "-1.5"), (2, 2, "+2.00")],
)
def test_numbers_carry_their_sign(value: float, digits: int, shown: str) -> None:
    assert common.signed(value, digits) == shown


def test_json_refuses_what_json_cannot_hold() -> None:
    with pytest.raises(ValueError, match="JSON"):
        common.print_json({"x": float("nan")})
