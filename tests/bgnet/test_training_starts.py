"""What a training run can start from: parents that fit or grow, other variants, machines without some engines."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from bgnet.evaluators import load
from bgnet.runlog import RunError, RunFolder
from bgnet.selfplay import MONEY_GAME, play_games
from bgnet.training import Stopped, Training
from tests.bgnet.test_training import Quiet, start, tiny
from tests.marks import needs_peers


def test_starting_from_a_network(tmp_path: Path) -> None:
    start(tmp_path / "first", tiny(tmp_path, games=20)).go()
    config = tiny(tmp_path, games=20, parent=str(tmp_path / "first"), **{"learning.warmup_games": 40})
    training = start(tmp_path / "second", config)
    assert training._rates().learning_rate < config.learning.learning_rate / 2
    first = load(tmp_path / "first")
    boards = play_games(first.folded, MONEY_GAME, 1, 0, 20).boards
    assert np.abs(training._evaluator().outcomes(boards) - first.outcomes(boards)).max() < 1e-6
    training.go()
    assert load(tmp_path / "second").info.parent == str(tmp_path / "first")
    other = tiny(tmp_path, parent=str(tmp_path / "first"), **{"game.variant": "hypergammon"})
    with pytest.raises(RunError, match="does not fit"):
        start(tmp_path / "third", other)


def test_starting_from_a_network_of_fewer_inputs(tmp_path: Path) -> None:
    start(tmp_path / "first", tiny(tmp_path, games=20)).go()
    first = load(tmp_path / "first")
    tactical = {"parent": str(tmp_path / "first"), "net.encoding": "tactical"}
    training = start(tmp_path / "second", tiny(tmp_path, games=20, **tactical))
    boards = play_games(first.folded, MONEY_GAME, 1, 0, 20).boards
    assert np.abs(training._evaluator().outcomes(boards) - first.outcomes(boards)).max() < 1e-5
    before = training.learner.weights().matrices[0][:, 196:].copy()
    training.go()
    heard = training.learner.weights().matrices[0][:, 196:]
    assert ((heard != 0) & (before == 0)).any(), "the run learns from the new inputs"
    assert load(tmp_path / "second").info.encoding == "tactical"
    for name in ("classic", "one-hot"):
        with pytest.raises(RunError, match=f"tactical inputs with 15 checkers, which does not fit .* {name} with 15"):
            start(tmp_path / name, tiny(tmp_path, parent=str(tmp_path / "second"), **{"net.encoding": name}))


def test_starting_from_a_smaller_network(tmp_path: Path) -> None:
    start(tmp_path / "first", tiny(tmp_path, games=20)).go()
    first = load(tmp_path / "first")
    config = tiny(tmp_path, games=20, parent=str(tmp_path / "first"), **{"net.hidden": [32, 24]})
    training = start(tmp_path / "second", config)
    boards = play_games(first.folded, MONEY_GAME, 1, 0, 20).boards
    assert np.abs(training._evaluator().outcomes(boards) - first.outcomes(boards)).max() < 1e-5
    training.go()
    assert load(tmp_path / "second").info.sizes == [196, 32, 24, 6]
    narrow = tiny(tmp_path, parent=str(tmp_path / "first"), **{"net.hidden": [4]})
    with pytest.raises(RunError, match="cannot grow"):
        start(tmp_path / "third", narrow)


def test_missing_engines_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gnubg_nn", None)
    config = tiny(tmp_path, games=20, **{"evaluation.opponents": ["gnubg:0", "random"]})
    training = start(tmp_path / "run", config)
    assert any('pip install "bgnet[peers]"' in text for text in training.trial.missing)
    assert [result["b"] for result in training.go()["results"]] == ["random"]


@pytest.mark.parametrize("encoding", ["classic", "tactical"])
def test_three_checkers_from_exact_backups_and_seeds(tmp_path: Path, encoding: str) -> None:
    start(tmp_path / "parent", tiny(tmp_path, games=40, **{"game.variant": "hypergammon"})).go()
    changes = {
        "parent": str(tmp_path / "parent"), "game.variant": "hypergammon", "net.encoding": encoding,
        "learning.targets": "exact", "learning.lambda_end": 0.7, "exact.seeded": 0.5, "exact.pruner_games": 10,
    }  # fmt: skip
    start(tmp_path / "run", tiny(tmp_path, games=40, **changes)).go()
    assert (load(tmp_path / "run").info.checkers, load(tmp_path / "run").info.encoding) == (3, encoding)


@needs_peers
def test_a_bot_of_another_game_is_no_opponent(tmp_path: Path) -> None:
    others = ["net:small", "net:small@1ply", "pubeval", "gnubg:0", "sage:0"]
    changes = {"game.variant": "hypergammon", "evaluation.opponents": [*others, "random"]}
    training = start(tmp_path / "run", tiny(tmp_path, games=20, **changes))
    expected = [f"bot {bot} knows games with 15 checkers a side, this one has 3" for bot in others]
    assert training.trial.missing == expected
    assert [result["b"] for result in training.go()["results"]] == ["random"]


def test_hypergammon_and_nackgammon_train(tmp_path: Path) -> None:
    for variant, checkers in (("hypergammon", 3), ("nackgammon", 15)):
        config = tiny(tmp_path, games=40, **{"game.variant": variant})
        start(tmp_path / variant, config).go()
        assert load(tmp_path / variant).info.checkers == checkers


def test_a_resumed_run_does_not_need_its_parent(tmp_path: Path) -> None:
    start(tmp_path / "first", tiny(tmp_path, games=20)).go()
    config = tiny(tmp_path, games=60, parent=str(tmp_path / "first"))
    with pytest.raises(Stopped):
        start(tmp_path / "second", config, Quiet(1)).go()
    (tmp_path / "first").rename(tmp_path / "elsewhere")
    Training.resume(RunFolder(tmp_path / "second"), config, Quiet()).go()
