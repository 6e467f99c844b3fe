"""Scores of probabilities: bias and error of each chance and of equity, and what can be wrong with their files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bgnet.benchmark import BrokenBot, OutcomeSet, SetFileError, read_outcomes, score_outcomes
from bgnet.classes import CLASSES
from bgnet.peers import BotSpecError
from engine import START, Position
from engine.outcomes import NAMES
from tests.bgnet.nets import some_positions
from tests.bgnet.test_decisions import key_of

HEADER = {"format": "bgnet.outcomes/1", "judge": "somebody", "settings": {}}
EVEN = [0.36, 0.13, 0.01, 0.36, 0.13, 0.01]
POINTS = np.array([1, 2, 3, -1, -2, -3])


def some_set(count: int = 200) -> OutcomeSet:
    boards = some_positions()[0][:count]
    outcomes = np.random.default_rng(1).dirichlet(np.full(6, 0.7), len(boards))
    return OutcomeSet("made up", boards, outcomes, np.full(len(boards), 0.01), "nobody")


class Told:
    """Says what it was told, by board."""

    def __init__(self, boards: np.ndarray, outcomes: np.ndarray) -> None:
        self.answers = {board.tobytes(): row for board, row in zip(boards, outcomes, strict=True)}

    def outcomes(self, boards: np.ndarray) -> np.ndarray:
        return np.array([self.answers[board.tobytes()] for board in boards])


def test_the_truth_scores_nothing() -> None:
    truth = some_set()
    score = score_outcomes({"truth": Told(truth.boards, truth.outcomes)}, truth).scores[0]
    assert score.total.mean == score.bias.mean == 0 and score.total.high == 0
    assert all(e.mean == 0 for e in (*score.chance_bias.values(), *score.chance_errors.values()))


def test_a_known_error() -> None:
    """0.5 % of every win made a gammon: biased in two chances, and by 5 thousandths of a point in equity."""
    truth = some_set()
    moved = truth.outcomes + np.array([-0.005, 0.005, 0, 0, 0, 0])
    score = score_outcomes({"greedy": Told(truth.boards, moved)}, truth).scores[0]
    assert score.bias.mean == pytest.approx(5) and score.total.mean == pytest.approx(5)
    assert [score.chance_bias[name].mean for name in NAMES] == pytest.approx([-0.005, 0.005, 0, 0, 0, 0])
    assert [score.chance_errors[name].mean for name in NAMES] == pytest.approx([0.005, 0.005, 0, 0, 0, 0])


def test_random_errors_in_plain_sums() -> None:
    truth = some_set()
    wrong = np.random.default_rng(2).dirichlet(np.full(6, 0.7), len(truth))
    result = score_outcomes({"wrong": Told(truth.boards, wrong), "truth": Told(truth.boards, truth.outcomes)}, truth)
    score = result.scores[0]
    errors = 1000 * (wrong - truth.outcomes) @ POINTS
    assert score.total.mean == pytest.approx(np.sqrt(np.mean(errors**2)))
    assert score.bias.mean == pytest.approx(errors.mean())
    for i, name in enumerate(NAMES):
        column = wrong[:, i] - truth.outcomes[:, i]
        assert score.chance_bias[name].mean == pytest.approx(column.mean())
        assert score.chance_errors[name].mean == pytest.approx(np.sqrt(np.mean(column**2)))
    for name, estimate in score.by_class.items():
        rows = score.classes == CLASSES.index(name)
        assert estimate.mean == pytest.approx(np.sqrt(np.mean(errors[rows] ** 2)))
        part = score.of_class(name)
        assert part.total.mean == estimate.mean and part.bias.mean == pytest.approx(errors[rows].mean())
    (pair,) = result.comparisons
    assert (pair.a, pair.b) == ("wrong", "truth") and pair.difference.mean == pytest.approx(np.mean(errors**2))
    assert pair.told_apart


def test_the_interval_of_a_root_mean_square_covers() -> None:
    from bgnet.benchmark_results import root_mean_square

    rng = np.random.default_rng(3)
    found = [root_mean_square(rng.normal(scale=2, size=100)) for _ in range(1000)]
    assert 0.92 < np.mean([e.low < 2 < e.high for e in found]) < 0.97
    assert np.mean([e.std_error for e in found]) == pytest.approx(np.std([e.mean for e in found]), rel=0.1)
    assert root_mean_square(np.zeros(3)).std_error == 0


def line(**changes: Any) -> str:
    row = {"position": START.position_id, "outcomes": EVEN, "std_error": 0.01}
    return json.dumps({key: value for key, value in {**row, **changes}.items() if value != "none"})


def test_our_own_format(tmp_path: Path) -> None:
    path = tmp_path / "o.jsonl"
    path.write_text(
        "\n".join([json.dumps(HEADER), line(), "", line(std_error="none"), line(outcomes=[1, 0, 0, 0, 0, 0])])
    )
    found = read_outcomes(path)
    assert len(found) == 3 and found.judge == "somebody" and found.name == "o.jsonl"
    assert found.equities == pytest.approx([0, 0, 1]) and found.equity_error == pytest.approx(0.01)
    assert np.isnan(found.std_errors).tolist() == [False, True, False]
    said = json.loads(json.dumps(score_outcomes("net:standard", found).as_dict(), allow_nan=False))
    assert said["schema"] == "bgnet.bench.outcomes/1" and said["equity_std_error"] == pytest.approx(10)
    assert list(said["scores"][0]["chances"]) == list(NAMES) and list(said["scores"][0]["classes"]) == ["contact"]


def test_gnubg_files(tmp_path: Path) -> None:
    path = tmp_path / "o.bm"
    other = Position.from_position_id("g8/BA0CDz8EHAA")
    path.write_text(f"#R {key_of(START)} 0.5 0.14 0.01 0.14 0.01\ns x\no {key_of(other)} 0.6 0.2 0.05 0.1 0.02\n")
    found = read_outcomes(path)
    assert found.outcomes == pytest.approx(np.array([EVEN, [0.4, 0.15, 0.05, 0.3, 0.08, 0.02]]))
    assert (found.boards[1] == other.board).all() and found.equity_error is None and found.judge == "rollout"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "holds no positions"),
        ([json.dumps(HEADER)], "holds no positions"),
        ([line()], "line 1.*format is None"),
        (["{}"], "line 1.*format is None"),
        ([json.dumps(HEADER | {"format": "bgnet.decisions/1"})], "this version reads 'bgnet.outcomes/1'"),
        ([json.dumps(HEADER | {"judge": 3})], "name the judge"),
        ([json.dumps(HEADER), line(), json.dumps(HEADER)], "line 3.*header after"),
        ([json.dumps(HEADER), "[]"], "line 2"),
        ([json.dumps(HEADER), line(position="none")], "'position' is missing"),
        ([json.dumps(HEADER), line(position="AAAAAAAAAAAAAA")], "line 2"),
        ([json.dumps(HEADER), line(position=3)], "line 2"),
        ([json.dumps(HEADER), line(outcomes=[1, 0, 0])], "six finite numbers"),
        ([json.dumps(HEADER), line(outcomes=[1, 0, 0, 0, 0, "x"])], "line 2"),
        ([json.dumps(HEADER), line(outcomes=[1, 0, 0, 0, 0, 1])], "sum to 1"),
        ([json.dumps(HEADER), line(outcomes=[2, -1, 0, 0, 0, 0])], "sum to 1"),
        ([json.dumps(HEADER), line(std_error="much")], "line 2"),
        (["o x"], "line 1: .*five chances"),
    ],
)
def test_bad_files(tmp_path: Path, lines: list[str], message: str) -> None:
    path = tmp_path / "o.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(SetFileError, match=message) as caught:
        read_outcomes(path)
    assert str(path) in str(caught.value)


def test_bots_that_cannot_judge() -> None:
    with pytest.raises(BotSpecError, match="no chances to give"):
        score_outcomes("random", some_set(3))

    class Short:
        def outcomes(self, boards: np.ndarray) -> np.ndarray:
            return np.zeros((len(boards), 5))

    class Nan:
        def outcomes(self, boards: np.ndarray) -> np.ndarray:
            return np.full((len(boards), 6), np.nan)

    with pytest.raises(BrokenBot, match=r"float64\[3, 5\]"):
        score_outcomes(Short(), some_set(3))
    with pytest.raises(BrokenBot, match="not finite"):
        score_outcomes(Nan(), some_set(3))


def test_bots_that_look_ahead_judge_at_their_depth() -> None:
    import bgnet
    from bgnet.search import Search

    some = some_set(3)
    result = score_outcomes(["net:standard@1ply", "net:standard"], some)
    expected = Search(bgnet.load("standard"), 1).outcomes(some.boards) - some.outcomes
    assert result.scores[0].errors == pytest.approx(expected, abs=1e-6)
    assert np.abs(result.scores[0].errors - result.scores[1].errors).max() > 1e-4


def test_the_shipped_set() -> None:
    found = read_outcomes("small")
    assert len(found) == 150 and np.bincount(found.classes).tolist() == [30] * 5
    assert found.header["settings"]["trials"] == 648 and "net:standard" in found.judge
    assert found.equity_error is not None and found.equity_error < 0.04
    score = score_outcomes("net:standard", found).scores[0]
    assert score.total.mean < 120  # thousandths of a point: the same positions, seen from the same side
    turned = OutcomeSet("turned", np.ascontiguousarray(-found.boards[:, ::-1]), found.outcomes, found.std_errors, "x")
    assert score_outcomes("net:standard", turned).scores[0].total.mean > 500
