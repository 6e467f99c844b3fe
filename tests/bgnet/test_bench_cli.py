"""`bgnet bench` as a user meets it: screens, JSON, pictures, errors."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from bgnet.benchmark import read_decisions, score_decisions, score_outcomes
from bgnet.cli import app, bench
from engine import Position

FILE = str(Path(__file__).parent.parent / "data" / "decisions.jsonl")


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["bench", *arguments])


def lines_of(result: Any) -> list[str]:
    assert result.exit_code == 0, result.output
    return [line for line in result.stdout.splitlines() if line]


def test_decisions() -> None:
    lines = lines_of(invoke("decisions", "net:standard", "random"))
    result = score_decisions(["net:standard", "random"])
    assert "250 decisions of small, judged by rollout 216x0-ply" in lines[0]
    assert lines[1].split() == ["contact", "race", "crashed", "backgame", "bearoff", "|", "all", "95", "%", "agrees"]
    assert lines[2].split() == ["n", *["50"] * 5, "|", "250"]
    for score in result.scores:
        cells = next(line for line in lines if line.startswith(f"{score.bot}  ")).split()
        assert cells[1:6] == [f"{e.mean:.2f}" for e in score.by_class.values()]
        assert cells[7:] == [f"{score.total.mean:.2f}", f"+-{score.total.half_width:.2f}",
                             f"{100 * score.agreement.mean:.1f}", "%"]  # fmt: skip
    pair = result.comparisons[result.decisions.judges[0]][0]
    difference = next(line for line in lines if line.startswith("net:standard - random"))
    assert difference.split()[3] == f"{pair.difference.mean:+.2f}" and difference.endswith("paired")
    assert any(line.startswith("worst of net:standard: #") for line in lines)
    assert any(line.startswith("the judge's own standard error of a loss") for line in lines)


def test_worst_are_drawn() -> None:
    result = invoke("decisions", "random", "--set", FILE, "--worst", "2", "--judge", "2")
    lines = lines_of(result)
    assert "judged by judge 2" in lines[0] and any(line.startswith("by judge 1: random ") for line in lines)
    worst = score_decisions("random", FILE).worst("random", 2, "judge 2")
    assert result.stdout.count("X to play") == 4  # beside the board and below it
    for wrong in worst:
        assert f"#{wrong.number} {wrong.kind} {wrong.dice[0]}-{wrong.dice[1]}, {wrong.played} loses" in result.stdout
        assert wrong.position.position_id in result.stdout


def test_outcomes() -> None:
    lines = lines_of(invoke("outcomes", "net:standard", "net:flagship"))
    result = score_outcomes(["net:standard", "net:flagship"])
    assert "150 positions of small" in lines[0]
    assert lines[3].split()[1:6] == [f"{e.mean:.2f}" for e in result.scores[0].by_class.values()]
    assert sum(line.split()[:2] == ["win", "win"] for line in lines) == 2  # a table of bias, a table of error
    start = next(i for i, line in enumerate(lines) if line.startswith("mean error (bias)"))
    bias = result.scores[0].chance_bias["win"]
    assert lines[start + 2].split()[1:3] == [f"{100 * bias.mean + 0.0:+.2f}", f"+-{100 * bias.half_width:.2f}"]
    assert lines[-1].startswith("net:standard - net:flagship")


def test_calibration() -> None:
    lines = lines_of(invoke("calibration", "net:standard", "--games", "20", "--bins", "4", "--seed", "3"))
    assert "20 games, net:standard against itself, seed 3" in lines[0]
    assert [line for line in lines if line in ("win", "gammon win", "gammon loss")] == [
        "win",
        "gammon win",
        "gammon loss",
    ]
    start = next(i for i, line in enumerate(lines) if "chance to win, said and come true" in line)
    assert len(lines) - start == 2 + 4 + 1
    against = lines_of(invoke("calibration", "net:standard", "--games", "4", "--against", "random"))
    assert "net:standard against random" in against[0]


def test_speed() -> None:
    lines = lines_of(invoke("speed", "net:standard", "--peer", "random", "--count", "20"))
    assert lines[0] == "20 positions in 5 blocks, one thread; ratio to random"
    assert [line.split()[0] for line in lines[2:4]] == ["net:standard", "random"]
    assert lines[3].split()[2:4] == ["1.00", "-"] and lines[3].endswith("100.0 %")


@pytest.mark.parametrize(
    ("words", "schema"),
    [
        (["decisions", "random", "--worst", "1"], "bgnet.bench.decisions/1"),
        (["outcomes", "net:standard"], "bgnet.bench.outcomes/1"),
        (["calibration", "net:standard", "--games", "4"], "bgnet.bench.calibration/1"),
        (["speed", "random", "--peer", "random", "--count", "10"], "bgnet.bench.speed/1"),
    ],
)
def test_json(words: list[str], schema: str) -> None:
    result = invoke(*words, "--json", "--quiet")
    said = json.loads(result.stdout.splitlines()[-1])
    assert said["schema"] == schema and result.stderr == ""
    if schema == "bgnet.bench.decisions/1":
        (wrong,) = said["worst"]
        position = read_decisions("small").boards[wrong["number"] - 1]
        assert Position(position.tolist()).position_id == wrong["position_id"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["decisions", "nobody"], "unknown bot"),
        (["decisions", "random", "random"], "named twice"),
        (["decisions", "random", "--set", "large"], r"shipped ones \(small\)"),
        (["decisions", "random", "--judge", "2"], "--judge 2: small has 1"),
        (["decisions", "random", "--plot", "/nowhere/x.svg"], "cannot write"),
        (["decisions", "random", "--plot-classes", "x.jpeg"], "ends in .png"),
        (["outcomes", "random"], "no chances to give"),
        (["outcomes", "net:standard", "--set", FILE], "line 1.*format is None"),
        (["calibration", "net:standard", "--games", "1"], "at least 2"),
        (["calibration", "net:standard", "--player", "nobody"], "unknown bot"),
        (["speed", "random", "--count", "2"], "at least 5"),
    ],
)
def test_errors(words: list[str], message: str) -> None:
    import re

    result = invoke(*words)
    assert result.exit_code == 2 and re.search(message, result.stderr) and "Traceback" not in result.output
    as_json = json.loads(invoke(*words, "--json").stdout.splitlines()[-1])
    assert re.search(message, as_json["error"]["message"])


def test_pictures_need_matplotlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "matplotlib" else found(name))
    result = invoke("decisions", "random", "--plot", str(tmp_path / "x.svg"))
    assert result.exit_code == 2 and 'pip install "bgnet[plot]"' in result.stderr


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["decisions", "net:standard", "random"], "--plot"),
        (["decisions", "net:standard", "random"], "--plot-classes"),
        (["outcomes", "net:standard", "net:flagship"], "--plot"),
        (["outcomes", "net:standard", "net:flagship"], "--plot-classes"),
        (["calibration", "net:standard", "net:flagship", "--games", "10"], "--plot"),
    ],
)
def test_pictures(words: list[str], option: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason='needs the optional package matplotlib: pip install "bgnet[plot]"')
    path = tmp_path / "x.svg"
    assert invoke(*words, option, str(path)).exit_code == 0
    assert "<svg" in path.read_text() and "net:standard" in path.read_text()


def test_the_examples_in_the_help_are_commands() -> None:
    command = typer.main.get_command(bench.app)
    for name, sub in command.commands.items():  # type: ignore[attr-defined]
        examples = [line for line in (sub.epilog or "").splitlines() if line.startswith("bgnet ")]
        assert len(examples) == 2
        for example in examples:
            words = shlex.split(example)
            assert words[:3] == ["bgnet", "bench", name]
            sub.make_context(name, words[3:])  # options and arguments are understood
