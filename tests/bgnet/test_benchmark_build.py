"""Builders of benchmark sets: settled by their settings, however often they are stopped; their rollouts are right."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgnet
from bgnet.benchmark import (
    DecisionSettings,
    OutcomeSettings,
    SetFileError,
    build_decisions,
    build_outcomes,
    done_so_far,
    read_decisions,
    read_outcomes,
)
from bgnet.benchmark_sampling import NotEnough, Sample, sample
from bgnet.classes import CLASSES, classify
from bgnet.composite import Composite
from bgnet.netfile import NetFileError
from bgnet.peers import BotSpecError
from bgnet.rollouts import rollout, rollout_plays
from bgnet.search import Search
from engine import START, Position, legal_plays

ROOT = Path(__file__).parents[2]
FEW = dict.fromkeys(CLASSES, 1)
QUICK: dict[str, Any] = {"quotas": FEW, "trials": 36, "truncate": 4, "seed": 4}
DECISIONS = DecisionSettings(**QUICK, include=("random",))
OUTCOMES = OutcomeSettings(**QUICK)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("built") / "d.jsonl"
    assert build_decisions(path, DECISIONS, threads=1) == 5
    return path


def test_a_set_of_decisions(built: Path) -> None:
    found = read_decisions(built)
    assert sorted(found.classes.tolist()) == [0, 1, 2, 3, 4]
    assert found.judges == ("rollout 36x0-ply, 4 plies, net:standard",)
    assert found.header["settings"]["include"] == ["random"] and len(found.header["net_sha256"]) == 16
    search = Search(Composite(bgnet.load("standard")), 1)
    for line, decision in zip(built.read_text().splitlines()[1:], found, strict=True):
        assert json.loads(line)["class"] == CLASSES[classify(decision.board[None])[0]]
        ranked = [c for c in search.rank(decision.board, decision.dice) if c.ply == 1]
        near = [c for c in ranked if c.equity >= ranked[0].equity - 0.16][:5]
        assert len(near) > 1 and near[0].equity - near[-1].equity >= 0.002  # neither too easy nor idle
        assert all(decision.row(c.board) is not None for c in near)
        for bot in ("random", "net:standard"):  # and what these choose is listed
            assert decision.row(bgnet.player(bot).choose(decision.board[None], decision.dice[None])[0]) is not None
        assert len(decision.results) <= 5 + 2


def test_its_numbers_are_those_of_rollouts(built: Path) -> None:
    found = read_decisions(built)
    judge = Composite(bgnet.load("standard"))
    for number in range(5):
        decision = found[number]
        position, roll = Position(decision.board.tolist()), decision.dice.tolist()
        plays = {play.position.board.tobytes(): play for play in legal_plays(position, roll)}
        candidates = [plays[result.tobytes()] for result in decision.results]
        again = rollout_plays(position, roll, candidates, judge, trials=36, truncate=4, seed=4 + 1 + number)
        by_play = {play.play: play for play in again.plays}
        for candidate, loss in zip(candidates, decision.losses[:, 0], strict=True):
            assert loss == pytest.approx(by_play[candidate.notation].loss, abs=2e-6)
        assert decision.errors is not None and decision.errors[0] == 0
        errors = [by_play[candidate.notation].joint_std_error for candidate in candidates[1:]]
        assert decision.errors[1:] == pytest.approx(errors, abs=2e-6)


def test_a_set_of_outcomes(tmp_path: Path) -> None:
    path = tmp_path / "o.jsonl"
    assert build_outcomes(path, OUTCOMES, threads=1) == 5
    found = read_outcomes(path)
    assert sorted(found.classes.tolist()) == [0, 1, 2, 3, 4] and found.header["settings"]["truncate"] == 4
    judge = Composite(bgnet.load("standard"))
    row = int(np.flatnonzero(found.classes == 0)[0])
    again = rollout(Position(found.boards[row].tolist()), judge, trials=36, truncate=4, seed=4 + 1 + row)
    assert found.outcomes[row] == pytest.approx(again.outcomes, abs=2e-6)
    assert found.std_errors[row] == pytest.approx(again.std_error, abs=2e-6)
    assert json.loads(path.read_text().splitlines()[1 + row])["equity"] == pytest.approx(again.equity, abs=2e-6)


def test_stopped_and_gone_on_with_it_is_the_same(built: Path, tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    answers = iter([False, False, True])
    assert build_decisions(path, DECISIONS, threads=2, stop=lambda: next(answers)) == 2
    assert done_so_far(path) == 2 and len(read_decisions(path)) == 2

    class Interrupts:
        count = 0

        def update(self, n: int, **fields: object) -> None:
            self.count += n
            if self.count == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_decisions(path, DECISIONS, progress=Interrupts())
    assert done_so_far(path) == 4
    assert build_decisions(path, DECISIONS) == 5
    assert path.read_bytes() == built.read_bytes()
    assert build_decisions(path, DECISIONS, progress=Interrupts()) == 5  # nothing is left to do
    assert path.read_bytes() == built.read_bytes()


KILLED = """
import os, sys
import bgnet.benchmark_build as build
from tests.bgnet.test_benchmark_build import DECISIONS
build._SAVE_EVERY_S = 0.0
class Dies:
    count = 0
    def update(self, n, **fields):
        self.count += n
        if self.count == 3:
            os._exit(9)
build.build_decisions(sys.argv[1], DECISIONS, threads=1, progress=Dies())
"""


def test_a_kill_loses_little_and_changes_nothing(built: Path, tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    assert subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=ROOT).returncode == 9
    assert done_so_far(path) == 2  # the third was not written yet
    assert build_decisions(path, DECISIONS) == 5
    assert path.read_bytes() == built.read_bytes()
    assert [file.name for file in tmp_path.iterdir()] == ["d.jsonl"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 5}, "seed is 4, not 5"),
        ({"trials": 72}, "trials is 36, not 72"),
        ({"include": ()}, r"include is \['random'\], not \[\]"),
        ({"quotas": {"contact": 1}}, "quotas is"),
    ],
)
def test_another_set_in_the_file_is_refused(built: Path, changes: dict[str, Any], message: str) -> None:
    before = built.read_bytes()
    with pytest.raises(SetFileError, match=message):
        build_decisions(built, DecisionSettings(**{**QUICK, "include": ("random",), **changes}))
    assert built.read_bytes() == before


@pytest.mark.parametrize("text", ["", "not json\n", "[]\n", "{}\n3\n", '{"format": "bgnet.outcomes/1"}\n'])
def test_foreign_files_are_refused_and_left_alone(tmp_path: Path, text: str) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(text)
    with pytest.raises(SetFileError, match="name a new file"):
        build_decisions(path, DECISIONS)
    assert path.read_text() == text


def test_lines_that_are_not_the_settings_ones_are_refused(built: Path, tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    header, first, second, *_ = built.read_text().splitlines()
    path.write_text("\n".join([header, second, first]) + "\n")
    with pytest.raises(SetFileError, match="entry 1 is"):
        build_decisions(path, DECISIONS)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"trials": 1}, ValueError),
        ({"truncate": 0}, ValueError),
        ({"seed": -1}, ValueError),
        ({"quotas": {"middle": 1}}, NotEnough),
        ({"quotas": {"contact": 0}}, NotEnough),
        ({"quotas": {"contact": -1, "race": 2}}, NotEnough),
        ({"most": 1}, ValueError),
        ({"net": "nowhere"}, NetFileError),
        ({"include": ("nobody",)}, BotSpecError),
    ],
)
def test_bad_settings(tmp_path: Path, changes: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        build_decisions(tmp_path / "d.jsonl", DecisionSettings(**{**QUICK, **changes}))
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot write"):
        build_outcomes(tmp_path / "missing" / "o.jsonl", OUTCOMES)


def test_samples() -> None:
    net = bgnet.load("standard")
    found = list(sample(net, {"contact": 20, "bearoff": 10}, seed=2))
    assert [f.kind for f in found].count("contact") == 20 and len(found) == 30
    assert [CLASSES[c] for c in classify(np.array([f.board for f in found]))] == [f.kind for f in found]
    assert len({f.board.tobytes() for f in found}) == 30
    again = list(sample(net, {"contact": 20, "bearoff": 10}, seed=2))
    assert all((a.board == b.board).all() and (a.dice == b.dice).all() for a, b in zip(found, again, strict=True))
    assert len({tuple(f.dice.tolist()) for f in found}) > 8
    openings = sample(net, {"contact": 150}, seed=2)
    assert not any((f.board == START.board).all() for f in openings)  # everyone knows these
    refused: list[Sample] = []

    def seldom(candidate: Sample) -> bool:
        refused.append(candidate)
        return len(refused) % 3 == 0

    assert len(list(sample(net, {"race": 4}, 2, seldom))) == 4 and len(refused) == 12
    with pytest.raises(NotEnough, match="5 games of self-play.*of class backgame"):
        list(sample(net, {"backgame": 50}, 1, most_games=5))


def test_the_script(tmp_path: Path) -> None:
    path = tmp_path / "o.jsonl"
    words = ["scripts/build_decisions.py", "outcomes", path, "--per-class", "0", "--bearoff", "2", "--trials", "36"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *map(str, words)], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["entries"] == 2 and len(read_outcomes(path)) == 2
    other = subprocess.run([sys.executable, *map(str, words), "--seed", "2"], cwd=ROOT, capture_output=True, text=True)
    assert other.returncode == 2 and "holds another set" in other.stderr and "Traceback" not in other.stderr
