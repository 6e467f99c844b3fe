"""Calibration: games against a slow twin, intervals by game against simulation, curves of evaluators that are right."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import bgnet
from bgnet.benchmark import BrokenBot, calibrate
from bgnet.benchmark_calibration import CHANCES, play_out, reliability_curve
from bgnet.peers import BotSpecError
from bgnet.players import RandomPlayer
from bgnet.statistics import clustered, clustered_share, estimate
from engine import START, dice
from tests.bgnet.nets import random_net


def slow_game(a: object, b: object, seed: int, game: int) -> tuple[list[list[int]], list[int]]:
    """One game on its own: boards before each roll, and how it ended for the one on roll there."""
    from engine import Position

    board, boards, on_roll = START.board.copy(), [], []
    mover = game % 2  # 0 = A
    ply = 0
    while Position(board).ending() is None:
        boards.append(board.tolist())
        on_roll.append(mover)
        rolled = dice.opening(seed, game) if ply == 0 else dice.roll(seed, game, ply)
        bot = (a, b)[mover]
        board = bot.choose(board[None].copy(), np.array([rolled], dtype=np.int8))[0]  # type: ignore[attr-defined]
        mover, ply = 1 - mover, ply + 1
    ending = Position(board).ending()
    assert ending is not None
    return boards, [ending if who == mover else (ending + 3) % 6 for who in on_roll]


def test_games_are_those_of_the_slow_twin() -> None:
    net, random = bgnet.player("net:standard"), RandomPlayer(2)
    played = play_out(("net", net), ("random", random), 7, seed=5)
    for game in range(7):
        boards, endings = slow_game(net, random, 5, game)
        rows = played.games == game
        assert played.boards[rows].tolist() == boards
        assert played.endings[rows].tolist() == endings
    assert (np.diff(played.games) >= 0).all() and set(played.games.tolist()) == set(range(7))
    assert len({tuple(played.endings[played.games == g]) for g in range(7)}) > 1


def test_games_do_not_depend_on_how_many_are_played_together(monkeypatch: pytest.MonkeyPatch) -> None:
    bot = ("net", bgnet.player("net:standard"))
    once = play_out(bot, bot, 12, seed=1)
    monkeypatch.setattr("bgnet.benchmark_calibration._LOCKSTEP", 5)
    parts = play_out(bot, bot, 12, seed=1)
    assert all((one == other).all() for one, other in zip(once, parts, strict=True))


def test_clusters_of_one_are_plain_means() -> None:
    values = np.random.default_rng(1).normal(size=50)
    found, plain = clustered(values, np.arange(50)), estimate(values)
    assert (found.mean, found.std_error) == pytest.approx((plain.mean, plain.std_error))
    assert (found.low, found.high, found.count) == pytest.approx((plain.low, plain.high, 50))


def test_a_value_repeated_within_its_game_adds_nothing() -> None:
    values = np.random.default_rng(1).normal(size=40)
    once, many = clustered(values, np.arange(40)), clustered(np.repeat(values, 9), np.repeat(np.arange(40), 9))
    assert (once.mean, once.std_error, once.count) == pytest.approx((many.mean, many.std_error, many.count))
    assert clustered(np.ones(5), np.zeros(5, dtype=np.int64)).high == math.inf


def simulated(rng: np.random.Generator, games: int, chance: float) -> tuple[np.ndarray, np.ndarray]:
    """Games of 1 to 12 positions that all end alike: as correlated as can be."""
    sizes = rng.integers(1, 13, size=games)
    return np.repeat(rng.random(games) < chance, sizes).astype(np.float64), np.repeat(np.arange(games), sizes)


@pytest.mark.parametrize("chance", [0.5, 0.1])
def test_intervals_by_game_cover_as_often_as_they_say(chance: float) -> None:
    rng = np.random.default_rng(4)
    inside, inside_plain, share_inside = [], [], []
    for _ in range(600):
        values, games = simulated(rng, 80, chance)
        by_game, share, plain = clustered(values, games), clustered_share(values, games), estimate(values)
        inside.append(by_game.low <= chance <= by_game.high)
        share_inside.append(share.low <= chance <= share.high)
        inside_plain.append(plain.low <= chance <= plain.high)
        assert 0 <= share.low <= share.mean <= share.high <= 1
    assert 0.90 < np.mean(inside) < 0.98 and 0.92 < np.mean(share_inside) < 0.98
    assert np.mean(inside_plain) < 0.75  # what taking positions as independent would give


def test_a_share_of_none_or_all_keeps_an_interval() -> None:
    none = clustered_share(np.zeros(300), np.repeat(np.arange(30), 10))
    assert (none.mean, none.low) == (0, 0) and 0.05 < none.high < 0.15  # three in thirty, about
    every = clustered_share(np.ones(300), np.repeat(np.arange(30), 10))
    assert every.high == 1 and every.low == pytest.approx(1 - none.high)
    alone = clustered_share(np.ones(4), np.zeros(4, dtype=np.int64))
    assert (alone.low, alone.high, alone.count) == (0, 1, 1)


def test_curves_of_a_right_and_an_overconfident_evaluator() -> None:
    rng = np.random.default_rng(5)
    truth = rng.random(20_000)
    came = (rng.random(20_000) < truth).astype(np.float64)
    games = np.arange(20_000)
    right = reliability_curve("right", "win", truth, came, games)
    assert len(right.predicted) == 10 and right.positions.sum() == 20_000
    assert right.predicted == pytest.approx(np.arange(0.05, 1, 0.1), abs=0.01)
    assert ((right.low <= right.predicted) & (right.predicted <= right.high)).mean() >= 0.8
    bold = reliability_curve("bold", "win", np.clip(1.6 * (truth - 0.5) + 0.5, 0, 1), came, games)
    assert bold.observed[0] > bold.predicted[0] and bold.observed[-1] < bold.predicted[-1]
    assert ((bold.low <= bold.predicted) & (bold.predicted <= bold.high)).mean() < 0.5
    few = reliability_curve("few", "win", np.array([0.1, 0.95, 1.0]), np.array([0, 1, 1]), np.array([0, 0, 1]), bins=5)
    assert few.positions.tolist() == [1, 2] and few.games.tolist() == [1, 2]
    assert few.as_dict()["bins"][1]["observed"] == 1


class Sure:
    """Says that the player on roll wins a gammon."""

    def outcomes(self, boards: np.ndarray) -> np.ndarray:
        return np.tile(np.eye(6)[1], (len(boards), 1))


class Even:
    def outcomes(self, boards: np.ndarray) -> np.ndarray:
        return np.tile([0.36, 0.13, 0.01, 0.36, 0.13, 0.01], (len(boards), 1))


def test_scores_in_plain_sums() -> None:
    result = calibrate({"sure": Sure(), "even": Even(), "net": "net:standard"}, 30, seed=2)
    endings = result.played.endings
    won, gammon_won, gammon_lost = endings < 3, np.isin(endings, (1, 2)), np.isin(endings, (4, 5))
    sure, even, net = result.scores
    assert sure.chances["win"].bias.mean == pytest.approx(1 - won.mean())
    assert sure.chances["win"].brier.mean == pytest.approx((~won).mean())
    assert sure.chances["win"].log_score.mean == pytest.approx((~won).mean() * math.log(1e6))
    assert sure.chances["gammon_loss"].bias.mean == pytest.approx(-gammon_lost.mean())
    assert even.chances["gammon_win"].brier.mean == pytest.approx(np.mean((0.14 - gammon_won) ** 2))
    assert even.log_score.mean == pytest.approx(-np.mean(np.log(np.array([0.36, 0.13, 0.01] * 2)[endings])))
    assert net.log_score.mean < even.log_score.mean < sure.log_score.mean
    assert net.chances["win"].brier.mean < even.chances["win"].brier.mean == pytest.approx(0.25)
    pairs = {(pair.a, pair.b): pair.difference.mean for pair in result.comparisons}
    assert pairs["even", "net"] == pytest.approx(even.log_score.mean - net.log_score.mean) and len(pairs) == 3
    assert len(result.curves) == 9 and {curve.chance for curve in result.curves} == set(CHANCES)


def test_json_and_players() -> None:
    result = calibrate("net:standard", 6, a="random", b="net:standard", seed=3)
    said = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert said["schema"] == "bgnet.bench.calibration/1"
    assert (said["a"], said["b"], said["games"], said["seed"]) == ("random", "net:standard", 6, 3)
    assert said["positions"] == len(result.played.boards)
    assert set(said["scores"][0]["chances"]) == set(CHANCES)
    bins = said["scores"][0]["chances"]["win"]["curve"]
    assert sum(b["positions"] for b in bins) == said["positions"]
    final = [result.played.endings[result.played.games == game][0] for game in range(6)]
    a_won = [(ending < 3) == (game % 2 == 0) for game, ending in enumerate(final)]
    assert sum(a_won) <= 1  # random loses


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="games must be a whole number, at least 2"):
        calibrate("net:standard", 1)
    with pytest.raises(ValueError, match="bins"):
        calibrate("net:standard", 4, bins=0)
    with pytest.raises(ValueError, match="seed"):
        calibrate("net:standard", 4, seed=-1)
    with pytest.raises(BotSpecError, match="no chances"):
        calibrate("random", 4)
    with pytest.raises(BrokenBot, match="finite"):
        calibrate({"x": type("Nan", (), {"outcomes": lambda self, b: np.full((len(b), 6), np.nan)})()}, 4)
    with pytest.raises(BotSpecError, match="unknown bot"):
        calibrate("net:standard", 4, a="nobody")
    assert calibrate(random_net([8]), 2, a="random").games == 2


@pytest.mark.parametrize(
    "row", [[1.0] * 6, [0.9, 0, 0, 0, 0, 0], [1.2, -0.2, 0, 0, 0, 0]], ids=["ones", "0.9", "below 0"]
)
def test_what_are_no_chances_is_refused(row: list[float]) -> None:
    """Else six ones would have the best log score there is."""
    bot = type("Fixed", (), {"outcomes": lambda self, boards: np.tile(np.array(row), (len(boards), 1))})()
    with pytest.raises(BrokenBot, match="x must return chances that exclude each other and sum to 1"):
        calibrate({"x": bot}, 4)


def test_different_players_of_one_name() -> None:
    """They would be taken for one that plays itself."""
    one, other = RandomPlayer(seed=1), RandomPlayer(seed=2)
    one.name = other.name = "mine"
    assert calibrate(random_net([8]), 2, a=one, b=one).games == 2
    with pytest.raises(BotSpecError, match="different players named"):
        calibrate(random_net([8]), 2, a=one, b=other)
