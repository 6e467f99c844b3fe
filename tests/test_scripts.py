"""Scripts: they end as commands do, whatever is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.marks import needs_full_device

ROOT = Path(__file__).resolve().parents[1]


def run(*words: str, head: bool = False) -> subprocess.CompletedProcess[str]:
    """A script's end; with head its reader goes away before it has written anything."""
    command = [sys.executable, *words]
    if not head:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    return subprocess.CompletedProcess(command, process.wait(300), "", said)


@pytest.mark.parametrize("script", sorted(path.name for path in (ROOT / "scripts").glob("*.py")))
def test_help_begins_with_what_it_is_for(script: str) -> None:
    done = run(f"scripts/{script}", "--help")
    assert done.returncode == 0 and "usage:" in done.stdout and len(done.stdout) > 200


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cube_agreement.py", "nothing.jsonl", "net:small"], "nothing.jsonl"),
        (["take_points.py", "--length", "0"], "--length must be from 1"),
        (["take_points.py", "--cube", "x"], "--cube must be faces"),
        (["draw_flagship_curve.py", "--data", "nothing.csv"], "nothing.csv"),
        (["draw_flagship_curve.py", "--out", "curve.gif"], "ends in .png"),
        (["ship_net.py", "no-run", "x", "--note", "y"], "no-run"),
        (["evaluate_baselines.py", "nobody"], "nobody"),
        (["benchmark_selfplay.py", "--net", "nobody"], "nobody"),
        (["build_decisions.py", "decisions", "x.jsonl", "--net", "nobody"], "nobody"),
        (["check_measuring.py", "--pairings", "net:small"], "a pairing is two bots"),
        (["check_measuring.py", "--games", "3"], "games must be even"),
        (["bake_off.py", "wide"], "a shape is widths"),
        (["bake_off.py", "0-3"], "hidden"),
        (["bake_off.py", "16", "--draws", "0"], "--draws"),
        (["bake_off.py", "16", "--learning-rate", "2"], "learning_rate"),
        (["bake_off.py", "16", "--precision", "half"], "precision"),
        (["bake_off.py", "16", "--encoding", "pips"], "unknown encoding"),
        (["bake_off.py", "16", "--seed", "-1"], "seed"),
        (["bake_off.py", "16", "--teacher", "nobody"], "nobody"),
    ],
)
def test_wrong_arguments_are_told_without_a_traceback(words: list[str], message: str) -> None:
    done = run(f"scripts/{words[0]}", *words[1:])
    assert done.returncode in (1, 2) and message in done.stderr and "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_error() -> None:
    done = run("scripts/take_points.py", "--json", head=True)
    assert done.returncode == 0 and done.stderr == ""


def test_cube_agreement_without_a_clear_decision_is_still_json(tmp_path: Path) -> None:
    row = {
        "position_id": "4HPwATDgc/ABMA",
        "match_id": "cAkAAAAAAAAA",
        "jacoby": False,
        "nd": 0.1,
        "dt": 0.1,
        "dp": 1.0,
    }
    file = tmp_path / "cube.jsonl"
    file.write_text(json.dumps({**row, "close": True}) + "\n")
    done = run("scripts/cube_agreement.py", str(file), "net:small")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1], parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert answer["bots"][0]["agreement_not_close"] is None


def test_the_instruments_are_checked() -> None:
    """At a toy size: both tables, and a verdict in the exit code."""
    words = ["--nets", "net:beginner", "net:small", "--games", "200", "--pairings", "net:small,net:beginner"]
    done = run("scripts/check_measuring.py", *words, "--luck-games", "40", "--workers", "1", "--progress", "none")
    assert done.returncode in (0, 1), done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["ranking"]["alike"] and [row["net"] for row in answer["ranking"]["nets"]] == [
        "net:small",
        "net:beginner",
    ]
    assert len(answer["luck"]["runs"]) == 3 and (done.returncode == 0) == (
        answer["luck"]["agree"] and answer["ranking"]["told_apart"]
    )


def test_shapes_are_compared_on_the_same_lesson() -> None:
    """At a toy size; the same seed gives the same numbers, and more lessons a smaller residual."""
    words = ["--teacher", "small", "--games", "40", "--test-games", "10", "--progress", "none", "--batch-size", "64"]
    answers = []
    for draws in ("2000", "2000", "40000"):
        done = run("scripts/bake_off.py", "8", "16-8", *words, "--draws", draws)
        assert done.returncode == 0, done.stderr
        answers.append(json.loads(done.stdout.splitlines()[-1])["shapes"])
    few, again, many = ([(row["contact"], row["race"]) for row in rows] for rows in answers)
    assert few == again and [row["weights"] for row in answers[0]] == [1630, 3342]
    assert all(more[0] < 0.7 * less[0] for more, less in zip(many, few, strict=True))
    done = run("scripts/bake_off.py", "8", *words, "--draws", "2000", "--encoding", "tactical")
    assert json.loads(done.stdout.splitlines()[-1])["shapes"][0]["weights"] == 1630 + 8 * 118


@needs_full_device
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("options", [[], ["--json"]], ids=["text", "json"])
def test_a_full_stdout_is_said_once(options: list[str], unbuffered: str) -> None:
    """Commands and scripts share it; under --json there is nowhere to print an error object to."""
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    for words in (["-m", "bgnet", "nets", *options], ["scripts/take_points.py", *options]):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [sys.executable, *words],
                cwd=ROOT,
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=300,
                env=environment,
            )
        assert done.returncode == 1
        assert "No space left" in done.stderr and "Traceback" not in done.stderr


def test_the_flagships_curve_has_every_stretch(tmp_path: Path) -> None:
    rows = (ROOT / "configs/flagship-curve.csv").read_text().splitlines()
    stretches = [row.partition(",")[0] for row in rows[1:]]
    reproduced = re.findall(r"^stretch (\S+)", (ROOT / "scripts/reproduce_flagship").read_text(), re.MULTILINE)
    assert stretches == reproduced
    picture = tmp_path / "curve.svg"
    done = run("scripts/draw_flagship_curve.py", "--out", str(picture))
    assert done.returncode == 0, done.stderr
    assert all(layers in picture.read_text() for layers in ("1024-32", "2048-256-128", "points per game"))


@pytest.mark.parametrize("row", ["config,minutes\na,many", "config\na", "config,minutes,layers", ""])
def test_a_curve_without_its_numbers_is_refused(tmp_path: Path, row: str) -> None:
    data, picture = tmp_path / "curve.csv", tmp_path / "curve.svg"
    data.write_text(row)
    done = run("scripts/draw_flagship_curve.py", "--data", str(data), "--out", str(picture))
    assert done.returncode == 2 and "curve.csv" in done.stderr and "Traceback" not in done.stderr
    assert not picture.exists()
