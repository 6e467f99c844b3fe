"""Scores of decisions: against plain sums over the file, by class, paired; the worst of them; bots that misbehave."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import bgnet
from bgnet.benchmark import BrokenBot, SetFileError, read_decisions, score_decisions
from bgnet.classes import CLASSES
from bgnet.peers import BotSpecError
from bgnet.players import EvaluatorPlayer, RandomPlayer
from bgnet.statistics import t_quantile
from engine import legal_afterstates
from tests.bgnet.nets import random_net

FILE = Path(__file__).parent.parent / "data" / "decisions.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text().splitlines()]


class Pick:
    """Chooses by a rule of the test."""

    def __init__(self, best: bool) -> None:
        self.best = best

    def choose(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        chosen = []
        for board in boards.tolist():
            row = next(row for row in ROWS if row["board"] == board)
            ranked = sorted(row["candidates"], key=lambda c: c[1])
            chosen.append([-n for n in ranked[-1 if self.best else 0][0][::-1]])
        return np.array(chosen, dtype=np.int8)


def plain_losses(bot: object, judge: int) -> list[float]:
    """The same sums from the file itself, in plain Python: thousandths of a point."""
    found = []
    for row in ROWS:
        board, dice = np.array([row["board"]], dtype=np.int8), np.array([row["dice"]], dtype=np.int8)
        chosen = [-n for n in bot.choose(board, dice)[0].tolist()[::-1]]  # type: ignore[attr-defined]
        values = [candidate[1 + judge] for candidate in row["candidates"]]
        mine = [candidate[1 + judge] for candidate in row["candidates"] if candidate[0] == chosen]
        found.append(1000 * (max(values) - (mine[0] if mine else min(values))))
    return found


@pytest.mark.parametrize("bot", ["net:standard", "random", "gnubg:0", "pubeval"])
def test_scores_are_plain_sums(bot: str) -> None:
    if not bot.startswith(("net:", "random")):
        pytest.importorskip("gnubg_nn", reason='needs the optional package gnubg-nn: pip install "bgnet[peers]"')
    result = score_decisions(bot, FILE)
    assert [(s.bot, s.judge) for s in result.scores] == [(bot, "judge 1"), (bot, "judge 2")]
    for judge, score in enumerate(result.scores):
        expected = plain_losses(bgnet.player(bot), judge)
        assert score.losses == pytest.approx(expected, abs=1e-6)
        assert score.total.mean == pytest.approx(sum(expected) / len(expected))
        half = t_quantile(0.975, len(expected) - 1) * np.std(expected, ddof=1) / math.sqrt(len(expected))
        assert score.total.high == pytest.approx(score.total.mean + half)
        assert score.agreement.mean == pytest.approx(sum(x == 0 for x in score.losses) / len(expected))
        for name, estimate in score.by_class.items():
            rows = score.losses[score.classes == CLASSES.index(name)]
            assert (estimate.mean, estimate.count) == (pytest.approx(rows.mean()), len(rows))
        assert sum(e.count for e in score.by_class.values()) == len(ROWS)
        assert list(score.by_class) == [name for name in CLASSES if name in score.by_class]


def test_the_best_lose_nothing_and_the_worst_most() -> None:
    result = score_decisions({"best": Pick(True), "worst": Pick(False), "random": "random"}, FILE)
    best, worst, random = result.by_judge("judge 1")
    assert best.total.mean == 0 and best.agreement.mean == 1 and best.measure == worst.measure
    assert (worst.losses >= random.losses - 1e-9).all() and worst.agreement.mean < 0.1
    assert result.worst("best") == []
    pairs = {(pair.a, pair.b): pair for pair in result.comparisons["judge 1"]}
    assert set(pairs) == {("best", "worst"), ("best", "random"), ("worst", "random")}
    pair = pairs["best", "worst"]
    assert pair.told_apart and pair.difference.mean == pytest.approx(-worst.total.mean)
    assert pairs["worst", "random"].difference.mean == pytest.approx((worst.losses - random.losses).mean())


def test_a_bot_against_itself_is_not_told_apart() -> None:
    net = random_net([8])
    result = score_decisions({"one": net, "other": EvaluatorPlayer(net)}, FILE)
    (pair,) = result.comparisons["judge 2"]
    assert not pair.told_apart and pair.difference.mean == pair.difference.high == 0


def test_the_worst_decisions() -> None:
    result = score_decisions(RandomPlayer(3), FILE)
    name = result.scores[0].bot
    worst = result.worst(name, 4)
    losses = [wrong.loss for wrong in worst]
    assert losses == sorted(losses, reverse=True) and losses[0] == result.scores[0].losses.max()
    first = worst[0]
    row = ROWS[first.number - 1]
    assert first.position.board.tolist() == row["board"] and list(first.dice) == row["dice"]
    best = max(row["candidates"], key=lambda c: c[1])[0]
    plays = {play.notation: play for play in __import__("engine").legal_plays(first.position, first.dice)}
    assert (-plays[first.best].position.board[::-1]).tolist() == best
    listed = [c[0] for c in row["candidates"]]
    assert first.listed == ((-plays[first.played].position.board[::-1]).tolist() in listed)
    assert first.kind in CLASSES
    by_other = result.worst(name, 1, "judge 2")[0]
    assert by_other.loss == result.scores[1].losses.max()


def test_json() -> None:
    result = score_decisions(["net:standard", "random"], read_decisions(FILE)[:9])
    said = json.loads(json.dumps(result.as_dict(worst=2), allow_nan=False))
    assert said["schema"] == "bgnet.bench.decisions/1" and said["decisions"] == 9 and said["judges"][1] == "judge 2"
    assert [s["bot"] for s in said["scores"]] == ["net:standard", "net:standard", "random", "random"]
    assert said["scores"][2]["loss"]["mean"] == pytest.approx(result.scores[2].total.mean)
    assert {c["judge"] for c in said["comparisons"]} == {"judge 1", "judge 2"}
    assert {w["bot"] for w in said["worst"]} <= {"net:standard", "random"} and len(said["worst"]) <= 4


def test_one_decision_has_no_interval() -> None:
    result = score_decisions("random", read_decisions(FILE)[:1])
    said = result.as_dict()["scores"][0]["loss"]
    assert said["std_error"] is None and said["high"] is None and said["low"] == 0


def test_worst_by_another_judge() -> None:
    """The list of worst decisions follows the judge that is asked for."""
    result = score_decisions("random", FILE)
    first, *others = result.decisions.judges
    assert others, "the set has several judges"
    assert result.as_dict(worst=3)["worst"] == [wrong.as_dict() for wrong in result.worst("random", 3, first)]
    by_other = result.as_dict(worst=3, judge=others[0])["worst"]
    assert by_other == [wrong.as_dict() for wrong in result.worst("random", 3, others[0])]
    assert by_other != result.as_dict(worst=3)["worst"]


def test_full_agreement_is_no_certainty() -> None:
    result = score_decisions("net:standard", read_decisions(FILE)[:1])
    found = result.scores[0].agreement
    assert found.low < found.mean or found.high > found.mean


def test_progress_counts_every_choice() -> None:
    class Count:
        total = 0

        def update(self, n: int, **fields: object) -> None:
            self.total += n

    count = Count()
    score_decisions(["random", "net:standard"], FILE, progress=count)
    assert count.total == 2 * len(ROWS)


class Passes:
    def choose(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(-boards[:, ::-1])


class Floats:
    def choose(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        first = legal_afterstates(boards, dice)
        return first.boards[first.offsets[:-1]].astype(np.float64)


def test_bots_that_misbehave() -> None:
    with pytest.raises(BrokenBot, match="cheat chose an illegal result"):
        score_decisions({"cheat": Passes()}, FILE)
    with pytest.raises(BrokenBot, match="must return int8"):
        score_decisions(Floats(), FILE)


def test_bad_arguments() -> None:
    with pytest.raises(BotSpecError, match="named twice"):
        score_decisions(["random", "random"], FILE)
    with pytest.raises(BotSpecError, match="at least one"):
        score_decisions([], FILE)
    with pytest.raises(BotSpecError, match="unknown bot"):
        score_decisions("nobody", FILE)
    with pytest.raises(BotSpecError, match="a bot is a name"):
        score_decisions([3], FILE)  # type: ignore[list-item]
    with pytest.raises(SetFileError):
        score_decisions("random", "nowhere")
