"""Training on exact backups: the pool, the pruning network, and runs that can be interrupted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bgnet.config import ConfigError, load_config
from bgnet.distill import distill, ranking_positions
from bgnet.encoding import Encoding, encoding
from bgnet.evaluators import NetEvaluator, load
from bgnet.netfile import NetFileError, NetInfo, Weights
from bgnet.replay import Pool
from bgnet.runlog import RunError, RunFolder, RunLog
from bgnet.seeds import kinds
from bgnet.selfplay import MONEY_GAME, play_games
from bgnet.shipping import ship
from bgnet.training import Stopped, Training
from engine.dice import ROLLS
from engine.moves import legal_afterstates
from engine.outcomes import swap
from engine.rules import MONEY
from tests.bgnet.nets import some_positions
from tests.bgnet.test_training import Quiet, start, tiny, weights_of


def test_pool_keeps_the_last() -> None:
    pool = Pool(10)
    reference: list[int] = []
    for start_at, count in ((0, 4), (4, 5), (9, 3), (12, 25), (37, 0), (37, 1)):
        numbers = np.arange(start_at, start_at + count)
        boards = np.repeat(numbers[:, None], 26, axis=1).astype(np.int8)
        pool.add(boards, np.repeat(numbers[:, None], 6, axis=1).astype(np.float32))
        reference = (reference + numbers.tolist())[-10:]
        assert sorted(pool.boards[: pool.size, 3].tolist()) == sorted(reference)
        assert (pool.boards[: pool.size, 0] == pool.targets[: pool.size, 0]).all()
    other = Pool(10)
    other.restore(pool.state())
    for one in (pool, other):
        one.add(np.full((3, 26), 99, np.int8), np.full((3, 6), 99, np.float32))
    assert (pool.boards == other.boards).all() and (pool.targets == other.targets).all()


def test_a_distilled_network_picks_what_the_big_one_likes() -> None:
    """The big network's best result is among the small one's best five far more often than by chance."""
    teacher = load("standard")
    classic = encoding("classic")
    few = [distill(teacher, classic, MONEY_GAME, [8], Path("unused"), games=30, seed=1).arrays() for _ in range(2)]
    assert all((a == b).all() for a, b in zip(*few, strict=True)), "the same arguments, the same weights"
    weights = distill(teacher, classic, MONEY_GAME, [32, 16], Path("unused"), games=1500, seed=1)
    student = NetEvaluator(weights, NetInfo(sizes=weights.sizes))
    boards, dice = some_positions()
    boards, dice = boards[::3], dice[::3]
    results = legal_afterstates(boards, dice)
    big = swap(teacher.outcomes(results.boards)) @ MONEY.payoff
    small = swap(student.outcomes(results.boards)) @ MONEY.payoff
    hits, chance, count = 0, 0.0, 0
    for first, last in zip(results.offsets, results.offsets[1:], strict=False):
        if last - first > 12:
            best = int(np.argmax(big[first:last]))
            hits += best in np.argsort(-small[first:last])[:5]
            chance += 5 / (last - first)
            count += 1
    assert count > 100
    assert hits / count > 0.6 > 1.5 * chance / count, f"{hits} of {count}"


def test_ranking_positions_hold_games_and_siblings() -> None:
    boards = ranking_positions(load("standard"), MONEY_GAME, 20, 1)
    assert len(np.unique(boards, axis=0)) > 0.9 * len(boards)
    games, siblings = np.split(boards, 2)
    shares = []  # of the way through the results of the roll that led there
    for board, sibling in zip(games[::20], siblings[::20], strict=True):
        results = legal_afterstates(np.repeat(board[None], 21, axis=0), ROLLS)
        found = np.flatnonzero((results.boards == sibling).all(axis=1))
        assert len(found), "a result of some roll"
        roll = int(np.searchsorted(results.offsets, found[0], side="right")) - 1
        first, last = results.offsets[roll : roll + 2]
        if last - first > 5:
            shares.append((found[0] - first) / (last - first - 1))
    assert len(shares) > 20 and 0.3 < np.mean(shares) < 0.7 and np.std(shares) > 0.2


def exact(tmp_path: Path, **changes: object):  # type: ignore[no-untyped-def]
    if not (tmp_path / "parent").exists():
        start(tmp_path / "parent", tiny(tmp_path, games=60)).go()
    settings: dict[str, object] = {
        "parent": str(tmp_path / "parent"),
        "learning.targets": "exact",
        "learning.lambda_end": 0.7,
        "exact.prune_to": 3,
        "exact.pruner_hidden": [8],
        "exact.pruner_games": 10,
        "exact.pool": 3000,
        "selfplay.games_per_round": 10,
        "selfplay.end_at_tables": True,
        "games": 80,
    }
    return tiny(tmp_path, **(settings | changes))


def prepared(training: Training) -> Training:
    """With the networks that a run puts into its folder first."""
    training.nets.prepare(training._evaluator(), training.game, training.observer.note, begun=False)
    return training


def test_exact_runs_can_be_interrupted(tmp_path: Path) -> None:
    config = exact(tmp_path)
    start(tmp_path / "whole", config).go()
    with pytest.raises(Stopped):
        start(tmp_path / "parts", config, Quiet(3)).go()
    Training.resume(RunFolder(tmp_path / "parts"), config, Quiet()).go()
    assert weights_of(tmp_path / "parts") == weights_of(tmp_path / "whole")
    assert weights_of(tmp_path / "whole") != weights_of(tmp_path / "parent")
    pruner = load(tmp_path / "whole/pruner.safetensors")
    assert pruner.info.sizes == [196, 8, 6]


def test_idle_units_are_renewed_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Evenly over the first four fifths, wherever the run is interrupted; without renewals never."""

    def one_seems_idle(weights: Weights, boards: np.ndarray, encoding: Encoding) -> list[np.ndarray]:
        return [np.array([1]), np.array([], np.int64)]

    start(tmp_path / "never", exact(tmp_path), never := Quiet()).go()
    monkeypatch.setattr("bgnet.learner.idle_units", one_seems_idle)
    config = exact(tmp_path, **{"exact.renewals": 2})
    start(tmp_path / "whole", config, whole := Quiet()).go()
    notes = [[note for note in observer.notes if "1 units that were active" in note] for observer in (never, whole)]
    assert list(map(len, notes)) == [1, 3], "one more at the start, of the parent"
    assert weights_of(tmp_path / "never") != weights_of(tmp_path / "whole")
    for rounds in (3, 4):  # just before the first one, and after it
        with pytest.raises(Stopped):
            start(tmp_path / f"parts{rounds}", config, parts := Quiet(rounds)).go()
        assert sum("1 units that were active" in note for note in parts.notes) == rounds - 2
        Training.resume(RunFolder(tmp_path / f"parts{rounds}"), config, Quiet()).go()
        assert weights_of(tmp_path / f"parts{rounds}") == weights_of(tmp_path / "whole")


def test_seeded_starts_come_from_the_pool(tmp_path: Path) -> None:
    """Games of a later round begin in its hard positions, the same wherever the run was interrupted."""
    config = exact(tmp_path, **{"exact.seeded": 0.5, "games": 60, "exact.pool": 20_000})  # holds all of the run
    training = prepared(start(tmp_path / "whole", config))
    assert not len(training.seeds), "the pool is empty"
    training.go()
    assert len(training.seeds) == 10 and (kinds(training.seeds) > 0).all()
    pool = training.pool
    assert pool is not None
    assert {row.tobytes() for row in training.seeds} <= {row.tobytes() for row in pool.boards[: pool.size]}
    with pytest.raises(Stopped):
        start(tmp_path / "parts", config, Quiet(3)).go()
    again = Training.resume(RunFolder(tmp_path / "parts"), config, Quiet())
    assert len(again.seeds) == 10
    again.go()
    assert weights_of(tmp_path / "parts") == weights_of(tmp_path / "whole")
    start(tmp_path / "plain", exact(tmp_path, **{"games": 60, "exact.pool": 20_000})).go()
    assert weights_of(tmp_path / "plain") != weights_of(tmp_path / "whole")


def test_positions_are_counted_once_however_often_they_are_drawn(tmp_path: Path) -> None:
    """--minutes fits the number of games by the speed of play, in positions."""
    for reuse in (1.0, 50.0):
        training = prepared(start(tmp_path / f"run-{reuse}", exact(tmp_path, **{"exact.reuse": reuse})))
        games = play_games(training._actor(0), training.game, 1, 0, 10)
        training._learn(games, RunLog(training.run, 0))
        assert training.counters.positions == len(games.boards)


def test_a_pruner_can_be_named(tmp_path: Path) -> None:
    config = exact(tmp_path, **{"exact.pruner": "standard", "games": 20})
    start(tmp_path / "run", config).go()
    assert load(tmp_path / "run/pruner.safetensors").info.sizes == [196, 512, 32, 6], "a copy of its own"
    with pytest.raises(NetFileError, match="no network 'nowhere'"):
        start(tmp_path / "other", exact(tmp_path, **{"exact.pruner": "nowhere"}))
    assert not (tmp_path / "other").exists()


def test_a_pruner_that_nobody_asks_is_not_looked_for(tmp_path: Path) -> None:
    training = start(tmp_path / "run", tiny(tmp_path, **{"games": 20, "exact.pruner": "nowhere"}))
    assert training.go()["games"] == 20


@pytest.mark.parametrize("file", ["pruner.safetensors", "teacher.safetensors"])
def test_a_run_that_lost_a_network_does_not_go_on_with_another(tmp_path: Path, file: str) -> None:
    config = exact(tmp_path, **{"exact.teacher": str(tmp_path / "parent"), "exact.teacher_games": 80})
    with pytest.raises(Stopped):
        start(tmp_path / "run", config, Quiet(2)).go()
    (tmp_path / "run" / file).unlink()
    with pytest.raises(RunError, match=f"{file} is gone"):
        Training.resume(RunFolder(tmp_path / "run"), config, Quiet()).go()


def taught(tmp_path: Path, **changes: object):  # type: ignore[no-untyped-def]
    """A network of another shape from zero, with the other tests' parent as its teacher for a while."""
    if not (tmp_path / "parent").exists():
        start(tmp_path / "parent", tiny(tmp_path, games=60)).go()
    settings = {
        "parent": "",
        "exact.teacher": str(tmp_path / "parent"),
        "exact.teacher_games": 40,
        "net.hidden": [24, 8],
    }
    return exact(tmp_path, **(settings | changes))


def test_the_teacher_plays_and_judges_at_first(tmp_path: Path) -> None:
    training = prepared(start(tmp_path / "run", taught(tmp_path)))
    teacher = load(str(tmp_path / "parent"))
    for first_game, by_teacher in ((0, True), (39, True), (40, False)):
        games = play_games(training._actor(first_game), training.game, 1, first_game, 3)
        own = NetEvaluator(training.acting, training._info())
        judge, other = (teacher, own) if by_teacher else (own, teacher)
        np.testing.assert_allclose(games.values, judge.outcomes(games.boards), atol=1e-6)
        assert np.abs(games.values - other.outcomes(games.boards)).max() > 0.01


def test_the_teacher_and_the_pruner_may_have_other_inputs(tmp_path: Path) -> None:
    start(tmp_path / "run", taught(tmp_path, **{"net.encoding": "tactical"})).go()
    assert load(tmp_path / "run/teacher.safetensors").info.encoding == "classic"
    assert load(tmp_path / "run/pruner.safetensors").info.encoding == "classic", "distilled, and quick"
    assert load(tmp_path / "run/last.safetensors").info.encoding == "tactical"


def test_a_taught_run_can_be_interrupted_before_and_after_the_teacher_leaves(tmp_path: Path) -> None:
    config = taught(tmp_path)
    start(tmp_path / "whole", config).go()
    last = load(tmp_path / "whole/last.safetensors")
    assert last.info.sizes == [196, 24, 8, 6] and last.info.parent == ""
    _, card = ship(RunFolder(tmp_path / "whole"), "taught", "A test", tmp_path, teacher="some net")
    assert "from zero, the first 40 games were those of some net, then its own" in card.read_text()
    assert 'teacher = "some net"' in card.read_text() and str(tmp_path) not in card.read_text()
    for rounds in (2, 6):
        with pytest.raises(Stopped):
            start(tmp_path / f"parts{rounds}", config, Quiet(rounds)).go()
        Training.resume(RunFolder(tmp_path / f"parts{rounds}"), config, Quiet()).go()
        assert weights_of(tmp_path / f"parts{rounds}") == weights_of(tmp_path / "whole")


def test_the_teacher_is_a_copy_that_cannot_change_under_the_run(tmp_path: Path) -> None:
    config = taught(tmp_path)
    start(tmp_path / "whole", config).go()
    with pytest.raises(Stopped):
        start(tmp_path / "parts", config, Quiet(2)).go()
    start(tmp_path / "another", tiny(tmp_path, games=20)).go()
    (tmp_path / "another/last.safetensors").replace(tmp_path / "parent/last.safetensors")
    (tmp_path / "parent/best.safetensors").unlink(missing_ok=True)
    Training.resume(RunFolder(tmp_path / "parts"), config, Quiet()).go()
    assert weights_of(tmp_path / "parts") == weights_of(tmp_path / "whole")


def test_a_teacher_that_cannot_teach_is_refused_before_there_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(NetFileError, match="no network 'nowhere'"):
        start(tmp_path / "run", taught(tmp_path, **{"exact.teacher": "nowhere"}))
    start(tmp_path / "hyper", tiny(tmp_path, games=4, **{"game.variant": "hypergammon"})).go()
    with pytest.raises(RunError, match="made for 3 checkers a side, the run has 15"):
        start(tmp_path / "run", taught(tmp_path, **{"exact.teacher": str(tmp_path / "hyper")}))
    with pytest.raises(RunError, match="--minutes .* where a teacher plays: give `games`"):
        start(tmp_path / "run", taught(tmp_path), minutes=1)
    assert not (tmp_path / "run").exists()


def test_a_teacher_of_the_whole_run_is_remarked(tmp_path: Path) -> None:
    config = taught(tmp_path, **{"exact.teacher_games": 20, "games": 20})
    start(tmp_path / "run", config, observer := Quiet()).go()
    assert any("the teacher plays the whole run" in note for note in observer.notes)
    _, card = ship(RunFolder(tmp_path / "run"), "taught", "A test", tmp_path, teacher="some net")
    assert "all games were those of some net" in card.read_text()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('[learning]\ntargets = "exact"\n[exact]\nteacher = "standard"', "go together"),
        ('[learning]\ntargets = "exact"\n[exact]\nteacher_games = 5', "go together"),
        ('[exact]\nteacher = "standard"\nteacher_games = 5', 'needs learning.targets = "exact"'),
    ],
)
def test_a_teacher_in_part_is_refused(tmp_path: Path, lines: str, message: str) -> None:
    (tmp_path / "run.toml").write_text(lines)
    with pytest.raises(ConfigError, match=message):
        load_config(tmp_path / "run.toml")


def test_exact_training_needs_a_parent(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text('[learning]\ntargets = "exact"\n')
    with pytest.raises(ConfigError, match="name one with parent"):
        load_config(tmp_path / "run.toml")
