"""The table of a bot against the yardsticks, and the script that writes it."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bgnet import baselines as module
from bgnet import peers
from bgnet.arena import ArenaResult
from bgnet.baselines import as_dict, baselines, markdown, net_spec, opponents, table
from bgnet.cli.common import run_script

SCRIPT = Path(__file__).parents[2] / "scripts" / "evaluate_baselines.py"
Endings = tuple[int, int, int, int, int, int]


def result(opponent: str, endings: Endings, pair_points: list[float]) -> ArenaResult:
    return ArenaResult(
        a="net:some",
        b=opponent,
        games=sum(endings),
        seed=1,
        rules="money",
        variant="backgammon",
        workers=2,
        seconds=2.0,
        plies=5500,
        endings=endings,
        pair_points=np.array(pair_points),
    )


RESULTS = [
    result("random", (350, 540, 80, 28, 2, 0), [1.5, 2.0] * 250),
    result("gnubg:0", (330, 110, 5, 370, 170, 15), [-1.0, 0.6] * 250),
]


def test_the_table() -> None:
    assert table(RESULTS).splitlines() == [
        "1,000 games each  points/game            win     G     B   lose     G     B   %",
        "random            +1.750 +-0.022        97.0  62.0   8.0    3.0   0.2   0.0",
        "gnubg:0           -0.200 +-0.070        44.5  11.5   0.5   55.5  18.5   1.5",
    ]
    assert table([]) == ""


def test_the_markdown() -> None:
    text = markdown(RESULTS, "scripts/evaluate_baselines.py some")
    assert "| random | +1.750 [+1.728, +1.772] | 97.0 | 62.0 | 8.0 | 3.0 | 0.2 | 0.0 |" in text
    assert "1,000 games each with duplicate dice, seed 1" in text
    assert text.endswith("Made by `scripts/evaluate_baselines.py some`.\n")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({row.count("|") for row in rows}) == 1


def test_the_json() -> None:
    fields = json.loads(json.dumps(as_dict(RESULTS), allow_nan=False))
    assert fields["bot"] == "net:some"
    assert [row["b"] for row in fields["results"]] == ["random", "gnubg:0"]
    assert fields["results"][0]["points_per_game"] == 1.75


@pytest.mark.parametrize(
    ("typed", "spec"),
    [
        ("standard", "net:standard"),
        ("runs/quick-1", "net:runs/quick-1"),
        ("net:standard", "net:standard"),
        ("pubeval", "pubeval"),
        ("gnubg:0", "gnubg:0"),
        ("C:/nets/x.safetensors", "net:C:/nets/x.safetensors"),
    ],
)
def test_what_is_typed_becomes_a_spec(typed: str, spec: str) -> None:
    assert net_spec(typed) == spec


def test_only_installed_engines_are_opponents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "available", lambda: ["pubeval", "gnubg:0", "gnubg:1", "gnubg:2"])
    assert opponents() == ["random", "pubeval", "gnubg:0"]
    assert opponents(stronger=True) == ["random", "pubeval", "gnubg:0", "gnubg:1"]
    monkeypatch.setattr(peers, "available", lambda: [])
    assert opponents(stronger=True) == ["random"]


def test_all_opponents_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counter:
        count = 0
        against: list[object] = []

        def update(self, n: int, **fields: object) -> None:
            self.count += n
            if "against" in fields:
                self.against.append(fields["against"])

    progress = Counter()
    monkeypatch.setattr(module, "opponents", lambda: ["random"])
    assert [r.b for r in baselines("random", 4)] == ["random"]
    found = baselines("random", 4, seed=3, against=["random", "random"], progress=progress)
    assert [r.points_per_game for r in found] == [0, 0]
    assert [r.seed for r in found] == [3, 3]
    assert progress.count == 8
    assert progress.against == ["random", "random"]


Script = Callable[[list[str]], int]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    """Runs it with these arguments, where random is the only opponent -> its exit code."""
    spec = importlib.util.spec_from_file_location("evaluate_baselines", SCRIPT)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    monkeypatch.setattr(loaded, "opponents", lambda stronger: ["random"])

    def run(arguments: list[str]) -> int:
        monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
        with pytest.raises(SystemExit) as ended:
            run_script(loaded.main)
        return int(ended.value.code or 0)

    return run


def test_the_script_prints_and_writes(script: Script, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / "table.md", tmp_path / "table.json"]
    arguments = ["random", "--games", "4", "--markdown", str(files[0]), "--json", str(files[1])]
    assert script(arguments) == 0
    output = capsys.readouterr()
    assert output.out.startswith("4 games each")
    assert "games=4 total=4" in output.err
    assert "| random | +0.000" in files[0].read_text(encoding="utf-8")
    assert json.loads(files[1].read_text(encoding="utf-8"))["results"][0]["games"] == 4
    assert sorted(tmp_path.iterdir()) == sorted(files), "nothing temporary is left"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["random", "--games", "3"], "even"),
        (["no/such/net", "--games", "2"], "no/such/net"),
        (["random", "--games", "2", "--json", "no/such/folder/x.json"], "no folder"),
    ],
)
def test_the_script_says_what_is_wrong(
    script: Script, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert words in output.err
