"""`bgnet rollout` as a user meets it: the screen, JSON, files to go on from, Ctrl-C, errors."""

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

from bgnet.cli import app
from bgnet.cli.rollout import EPILOG, screen
from bgnet.rollouts import read_rollout, rollout, rollout_plays
from engine import GameState, Position
from tests.bgnet.nets import random_net
from tests.boards import board
from tests.marks import posix

ROOT = Path(__file__).parents[2]
BGNET = [sys.executable, "-c", "from bgnet.cli import main; main()"]
ENDING = Position(board({6: 2, 5: 1, 20: 1}, {1: 1, 9: 2, 22: 1}))
ID = ENDING.position_id
QUICK = ["--no-tables", "-n", "36", "--threads", "1"]


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["rollout", *arguments])


def test_the_screen_of_a_position() -> None:
    result = invoke(ID, *QUICK)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].endswith("off 11") and "X on roll" in result.stdout
    head = next(i for i, line in enumerate(lines) if line.startswith("rollout"))
    assert lines[head] == "rollout, cubeless money, 0-ply play to the end, luck-adjusted, seed 1     net:standard"
    expected = rollout(ID, trials=36, tables=False)
    row = lines[head + 2].split()
    assert row[:4] == ["X", "before", "the", "roll"]
    assert row[4] == f"{expected.equity:+.4f}"
    assert [float(cell.strip("()")) for cell in row[5:7]] == [
        round(expected.std_error, 4),
        round(expected.std_error_plain, 4),
    ]
    assert row[7] == f"{100 * expected.chances['win']:.2f}"
    assert lines[head + 2].endswith("rollout 36x0-ply")
    assert re.search(rf"cut the variance {expected.variance_factor:.0f}x   [\d.]+ s$", lines[-1])
    assert "trials=36 total=36" in result.stderr and "equity=" in result.stderr


def test_the_screen_of_plays() -> None:
    result = invoke(ID, "--dice", "21", "--plays", "6/5 6/4; 20/17;", "--truncate", "6", "--ply", "0", *QUICK)
    assert result.exit_code == 0
    assert "X to play 2-1" in result.stdout
    lines = result.stdout.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("rollout"))
    assert "0-ply play for 6 plies, then judged at 0-ply, luck-adjusted, same dice, seed 1" in lines[head]
    rows = [line for line in lines if line.endswith("rollout 36x0-ply, 6 plies")]
    expected = rollout_plays(ID, "21", ["6/5 6/4", "20/17"], trials=36, tables=False, truncate=6)
    assert [line[:2].strip() for line in rows] == ["1", "2"]
    assert [line[4:].split("  ")[0] for line in rows] == [play.play for play in expected.plays]
    lead, joint = expected.lead, expected.best.joint_std_error
    assert lead is not None and joint is not None
    assert f"lead {lead:+.4f} = {lead / joint:.1f} joint SE ({joint:.4f}".replace("(0", "(") in result.stdout


def test_columns_stand_below_their_heads() -> None:
    for result in (
        rollout(ENDING, random_net([16]), trials=36, tables=False),
        rollout_plays(ENDING, "21", None, random_net([16]), trials=36, tables=False),
    ):
        lines = screen(result).splitlines()
        head = next(i for i, line in enumerate(lines) if line.startswith("rollout")) + 1
        heads = [match.end() for match in re.finditer(r"equity|SE|win|lose|[GB]\b", lines[head])]
        for line in lines[head + 1 : head + 2]:
            cells = [match.end() for match in re.finditer(r"[+-]?\d*\.\d+(?!\))", line)]
            assert [cell for cell in cells if cell in heads] == heads
        assert "\n".join(lines).isascii()


@pytest.mark.parametrize(("ratio", "words"), [(3.2, "1 is best"), (2.5, "1 is likely best"), (1.0, "not told apart")])
def test_how_sure_the_lead_is(ratio: float, words: str) -> None:
    from dataclasses import replace

    result = rollout_plays(ENDING, "21", None, random_net([16]), trials=36, tables=False, truncate=3)
    best, second = replace(result.plays[0], joint_std_error=0.01), replace(result.plays[1], loss=ratio / 100)
    shown = screen(replace(result, plays=(best, second)))
    assert f"= {ratio:.1f} joint SE (.0100): " in shown and words in shown


def test_json_is_what_the_library_says() -> None:
    result = invoke(ID, "--dice", "21", "--most", "2", "--no-luck", "--seed", "5", "--json", *QUICK)
    assert result.exit_code == 0
    found = json.loads(result.stdout.splitlines()[-1])
    expected = rollout_plays(ID, "21", most=2, luck=False, seed=5, trials=36, tables=False).as_dict()
    assert found.pop("seconds") > 0 and expected.pop("seconds") > 0
    assert found == json.loads(json.dumps(expected))
    alone = json.loads(invoke(ID, "--json", *QUICK).stdout)
    assert alone["schema"] == "bgnet.rollout/1" and alone["equity"] == rollout(ID, trials=36, tables=False).equity


def test_dice_may_stand_in_the_position() -> None:
    xgid = GameState(ENDING, dice=(2, 1), match_length=5, score=(1, 2)).xgid
    shown = invoke(xgid, "--truncate", "2", *QUICK).stdout
    assert "lead " in shown
    assert shown.splitlines()[-1] == "The score of the match is not taken into account."


def test_going_on_from_a_file(tmp_path: Path) -> None:
    file = str(tmp_path / "r.rollout")
    first = invoke(ID, "--seed", "4", "--save", file, "--truncate", "9", *QUICK)
    assert first.stdout.rstrip().endswith(f"to go on: --resume {file}")
    longer = json.loads(invoke("--resume", file, "-n", "50", "--json", "-q").stdout)
    expected = rollout(ID, seed=4, trials=50, truncate=9, tables=False)
    assert (longer["trials"], longer["equity"], longer["seed"]) == (50, expected.equity, 4)
    assert read_rollout(file).rows.results.shape == (1, 50, 6), "the file grows"
    again = json.loads(invoke("--resume", file, "--json").stdout)
    assert (again["trials"], again["equity"]) == (50, expected.equity)
    other = invoke("--resume", file, "--seed", "5", "-n", "60")
    assert other.exit_code == 2 and "seed is 4, not 5" in other.stderr
    refused = invoke(ID, "--save", file, "--truncate", "3", *QUICK)
    assert refused.exit_code == 2 and "exists already" in refused.stderr
    file = str(tmp_path / "plays.rollout")
    plays = invoke(ID, "--dice", "21", "--plays", "20/17; 6/5 6/4", "--save", file, "--truncate", "3", *QUICK)
    assert plays.exit_code == 0
    shown = json.loads(invoke("--resume", file, "-n", "72", "--json").stdout)
    assert (shown["trials"], shown["dice"], len(shown["plays"])) == (72, [2, 1], 2)


def test_what_was_rolled_out_by_a_player_from_python_goes_on_there(tmp_path: Path) -> None:
    file = tmp_path / "r"
    rollout(ENDING, "net:standard", player="random", trials=3, truncate=2, tables=False, save=file)
    result = invoke("--resume", str(file))
    assert result.exit_code == 2 and "go on there" in result.stderr


def test_stopping_early_is_said() -> None:
    shown = invoke(ID, "--stop-se", "9", "--min-trials", "1", "-n", "720", "--no-tables", "--threads", "1").stdout
    assert "stopped at 36 of 720 trials, errors small enough" in shown
    xgid = GameState(ENDING, dice=(2, 1)).xgid
    shown = invoke(xgid, "--stop-clear", "0.0001", "--min-trials", "1", "-n", "720", "--truncate", "4").stdout
    assert "stopped at 36 of 720 trials, the lead is clear" in shown


def test_quiet_leaves_stderr_empty() -> None:
    result = invoke(ID, "--quiet", *QUICK)
    assert result.stderr == "" and "rollout" in result.stdout


def test_the_examples_in_the_help_run() -> None:
    shown = " ".join(invoke("--help").stdout.split())
    examples = [line for line in EPILOG.splitlines() if line.startswith("bgnet ")]
    assert len(examples) == 3
    for example in examples:
        assert example in shown
        assert invoke(*shlex.split(example)[2:], "--truncate", "2").exit_code == 0
    assert shown.endswith(examples[-1])


BAD = [
    (["hello"], "notation", "hello"),
    ([], "rollout", "which position?"),
    ([ID, "-n", "0"], "rollout", "trials must be a whole number"),
    ([ID, "--truncate", "0"], "rollout", "truncate"),
    ([ID, "--seed", "-1"], "dice", "seed"),
    ([ID, "--dice", "71"], "dice", "71"),
    ([ID, "--plays", "6/5"], "dice", "not rolled"),
    ([ID, "--dice", "21", "--plays", "6/1"], "illegal_play", "6/1"),
    ([ID, "--dice", "21", "--plays", " ; "], "rollout", "plays is empty"),
    ([ID, "--bot", "random"], "bot_spec", "random"),
    ([ID, "--stop-se", "0"], "rollout", "stop_se"),
    ([ID, "--progress", "fancy"], "value", "fancy"),
]


@pytest.mark.parametrize(("arguments", "kind", "words"), BAD, ids=lambda value: str(value)[:40])
def test_what_is_wrong_is_said_and_gives_exit_code_2(arguments: list[str], kind: str, words: str) -> None:
    plain = invoke(*arguments)
    assert plain.exit_code == 2
    assert plain.stdout == ""
    assert plain.stderr.startswith("error: ") and words in plain.stderr
    error = json.loads(invoke(*arguments, "--json").stdout)["error"]
    assert error["kind"] == kind and words in error["message"]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    missing = str(tmp_path / "none")
    result = invoke("--resume", missing)
    assert result.exit_code == 1 and missing in result.stderr
    nowhere = invoke(ID, "--save", str(tmp_path / "no" / "r"), "--truncate", "1", *QUICK)
    assert nowhere.exit_code == 1 and "cannot write" in nowhere.stderr


@posix
def test_ctrl_c_shows_and_keeps_what_is_done(tmp_path: Path) -> None:
    file = tmp_path / "r"
    command = [*BGNET, "rollout", ID, "--no-tables", "-n", "1000000", "--save", str(file), "--progress", "bar"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    seen, deadline = "", time.monotonic() + 60
    while "equity" not in seen and time.monotonic() < deadline:  # the first trials are done
        seen += process.stderr.read(1)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in errors
    trials = read_rollout(file).rows.results.shape[1]
    assert trials > 0 and f"stopped at {trials} of 1000000 trials, as asked" in output
    assert output.rstrip().endswith(f"to go on: --resume {file}")


def test_a_terminal_that_knows_only_ascii() -> None:
    shown = subprocess.run(
        [*BGNET, "rollout", ID, *QUICK, "-q"],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert shown.returncode == 0 and shown.stdout.isascii() and shown.stderr == ""
