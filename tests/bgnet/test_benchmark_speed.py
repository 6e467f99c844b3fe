"""Benchmark of speed: what it says about answers; times themselves are not tested."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest

import bgnet
from bgnet.benchmark import BrokenBot, measure_speed, selfplay_decisions
from bgnet.peers import BotSpecError
from bgnet.players import RandomPlayer
from engine import legal_afterstates
from engine.rules import MONEY
from tests.bgnet.nets import random_net


def test_answers_leave_checksums() -> None:
    result = measure_speed(["net:standard", "random"], 60, peer="random", blocks=4)
    net, random = result.results
    asked = selfplay_decisions(bgnet.load("standard"), 60, 1)
    chosen = bgnet.player("net:standard").choose(asked.boards, asked.dice)
    assert net.checksum == hashlib.sha256(chosen.tobytes()).hexdigest()[:8] != random.checksum
    judged = bgnet.load("standard").outcomes(asked.boards).astype(np.float64)
    assert net.mean_equity == pytest.approx((judged @ MONEY.payoff).mean(), abs=1e-6)
    others = bgnet.player("random").choose(asked.boards, asked.dice)
    assert net.same_choice == pytest.approx((chosen == others).all(axis=1).mean()) and random.same_choice == 1
    assert random.evaluations_per_s is None and random.mean_equity is None
    assert net.evaluations_per_s is not None and net.evaluations_per_s > 0 and net.decisions_per_s > 0
    assert net.ratio == pytest.approx(net.decisions_per_s / random.decisions_per_s) and random.ratio == 1
    assert (result.peer, result.decisions, result.blocks) == ("random", 60, 4)
    said = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert said["schema"] == "bgnet.bench.speed/1" and [r["bot"] for r in said["results"]] == ["net:standard", "random"]


def test_the_peer_is_measured_too() -> None:
    pytest.importorskip("gnubg_nn", reason='needs the optional package gnubg-nn: pip install "bgnet[peers]"')
    result = measure_speed({"mine": random_net([16])}, 20, blocks=2)
    assert [r.bot for r in result.results] == ["mine", "gnubg:0"] and result.peer == "gnubg:0"
    theirs = result.results[1]
    asked = selfplay_decisions(bgnet.load("standard"), 20, 1)
    chosen = bgnet.player("gnubg:0").choose(asked.boards, asked.dice)
    assert theirs.checksum == hashlib.sha256(chosen.tobytes()).hexdigest()[:8] and theirs.mean_equity is not None


def test_without_a_peer_installed_the_first_bot_is_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bgnet.benchmark_speed.available", lambda: [])
    result = measure_speed(["net:standard", "random"], 10)
    assert result.peer == "net:standard" and result.results[0].ratio == 1


def test_no_position_is_asked_twice() -> None:
    asked: list[bytes] = []

    class Listens:
        def choose(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
            asked.extend(board.tobytes() for board in boards)
            results = legal_afterstates(boards, dice)
            return results.boards[results.offsets[:-1]]

    measure_speed({"listens": Listens()}, 50, peer="random", blocks=5)
    wanted = {board.tobytes() for board in selfplay_decisions(bgnet.load("standard"), 50, 1).boards}
    assert sum(board in wanted for board in asked) <= 50 + 2  # the warm-up may meet an opening position
    assert wanted <= set(asked)


def test_selfplay_decisions_are_distinct_and_repeatable() -> None:
    net = random_net([16])
    one, other = selfplay_decisions(net, 300, 1), selfplay_decisions(net, 300, 1)
    assert (one.boards == other.boards).all() and (one.dice == other.dice).all()
    assert len(np.unique(one.boards, axis=0)) == 300
    assert not (one.boards == selfplay_decisions(net, 300, 2).boards).all()


def test_a_peer_of_the_same_name() -> None:
    one, other = RandomPlayer(seed=1), RandomPlayer(seed=2)
    one.name = other.name = "mine"
    with pytest.raises(BotSpecError, match="different players named"):
        measure_speed(one, 10, peer=other)
    assert len(measure_speed(one, 10, peer=one).results) == 1


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="count must be a whole number, at least 5"):
        measure_speed("random", 4, peer="random")
    with pytest.raises(ValueError, match="blocks"):
        measure_speed("random", 4, peer="random", blocks=0)
    with pytest.raises(BotSpecError, match="unknown bot"):
        measure_speed("random", 10, peer="nobody")
    with pytest.raises(BrokenBot, match="illegal"):

        class Passes:
            def choose(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
                return np.ascontiguousarray(-boards[:, ::-1])

        measure_speed({"cheat": Passes()}, 10, peer="random")
