"""Lookahead: against a plain recursion, and its independence of threads, cache and batch."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from bgnet.evaluators import NetEvaluator
from bgnet.search import NARROW, MoveFilter, Search, SearchStopped, best_of_all_rolls, mean_over_rolls
from bgnet.transpositions import Transpositions
from engine import BoardError, DiceError, EngineError
from engine.board import START_BOARD, ending
from engine.dice import ROLLS, WEIGHTS
from engine.moves import legal_afterstates
from engine.outcomes import swap
from engine.rules import MONEY
from tests.bgnet.nets import random_net, some_positions

PAYOFF = MONEY.payoff


@cache
def net() -> NetEvaluator:
    return random_net([64, 16], seed=2)


def positions(n: int) -> NDArray[np.int8]:
    boards, _ = some_positions()
    return np.concatenate([START_BOARD[None], boards[:: len(boards) // n]])[:n]


def plain_value(board: NDArray[np.int8], ply: int) -> NDArray[np.float64]:
    """The definition, in plain Python: float64[6] for the player on roll."""
    over = ending(board, 15)
    if ply == 0 or over >= 0:
        return net().outcomes(board).astype(np.float64)
    total = np.zeros(6)
    for roll, weight in zip(ROLLS, WEIGHTS, strict=True):
        results = legal_afterstates(board[None], roll[None]).boards
        equities = [-(net().outcomes(result) @ PAYOFF) for result in results]
        total += weight * swap(plain_value(results[int(np.argmax(equities))], ply - 1))
    return total


@pytest.mark.parametrize(("ply", "count"), [(0, 20), (1, 20), (2, 1)])
def test_values_equal_a_plain_recursion(ply: int, count: int) -> None:
    boards = positions(count)
    values = Search(net(), ply).outcomes(boards)
    for board, value in zip(boards, values, strict=True):
        assert np.abs(plain_value(board, ply) - value).max() < 1e-5


def test_finished_games_are_exact_at_any_depth() -> None:
    won = np.zeros(26, np.int8)
    won[7] = -15
    boards = np.concatenate([won[None], START_BOARD[None]])
    for ply in (0, 1, 2):
        assert Search(net(), ply).outcomes(boards)[0].tolist() == [0, 1, 0, 0, 0, 0]
        assert Search(net(), ply).outcomes(boards[:0]).shape == (0, 6)


@pytest.mark.parametrize(
    "settings", [{"threads": 3}, {"cache_mb": 0.0}, {"cache_mb": 0.01}, {"threads": 2, "cache_mb": 1}]
)
def test_answers_depend_on_the_position_alone(settings: dict[str, float]) -> None:
    boards = positions(150)
    plain = Search(net(), 2, cache_mb=64).outcomes(boards[:40])
    search = Search(net(), 2, **settings)  # type: ignore[arg-type]
    search.outcomes(boards[40:60])
    assert (search.outcomes(boards[:40][::-1])[::-1] == plain).all()
    assert (search.outcomes(np.repeat(boards[:3], 5, axis=0)) == np.repeat(plain[:3], 5, axis=0)).all()


def test_any_evaluator_can_sit_underneath() -> None:
    class Plain:
        def outcomes(self, boards: NDArray[np.int8]) -> NDArray[np.float32]:
            return net().outcomes(boards)

    boards = positions(10)
    assert np.abs(Search(Plain(), 1).outcomes(boards) - Search(net(), 1).outcomes(boards)).max() < 1e-5


def test_pruning_to_everything_changes_nothing() -> None:
    boards = positions(10)
    full = Search(net(), 1).outcomes(boards)
    assert (Search(net(), 1, pruner=random_net([8]), prune_to=5000).outcomes(boards) == full).all()
    assert (Search(net(), 1, pruner=net(), prune_to=1).outcomes(boards) == full).all()
    assert (Search(net(), 1, pruner=random_net([8]), prune_to=1).outcomes(boards) != full).any()


def test_ranking_states_depths_and_never_mixes_them() -> None:
    boards, dice = some_positions()
    for board, roll in zip(boards[::100], dice[::100], strict=True):
        ranked = Search(net(), 2).rank(board, roll)
        assert len(ranked) == len(legal_afterstates(board[None], roll[None]).boards)
        depths = [c.ply for c in ranked]
        assert depths == sorted(depths, reverse=True)
        assert depths[0] == 2
        for ply in set(depths):
            equities = [c.equity for c in ranked if c.ply == ply]
            assert equities == sorted(equities, reverse=True)
        best = ranked[0]
        assert best.equity == pytest.approx(float(-(Search(net(), 2).outcomes(best.board[None])[0] @ PAYOFF)), abs=1e-6)


def test_choice_equals_the_ranking_and_0_ply_the_bare_net() -> None:
    from bgnet.players import EvaluatorPlayer

    boards, dice = some_positions()
    boards, dice = boards[::60], dice[::60]
    assert (Search(net(), 0).choose(boards, dice) == EvaluatorPlayer(net()).choose(boards, dice)).all()
    search = Search(net(), 1)
    best = np.array([search.rank(board, roll)[0].board for board, roll in zip(boards, dice, strict=True)])
    assert (search.choose(boards, dice) == best).all()


def test_a_named_play_is_searched_as_deep_as_the_best() -> None:
    results = Search(net(), 1).rank(START_BOARD, ROLLS[5])
    worst = results[-1].board
    assert results[-1].ply == 0
    again = Search(net(), 1).rank(START_BOARD, ROLLS[5], always=[worst])
    assert next(c for c in again if (c.board == worst).all()).ply == 1


def test_filters() -> None:
    equities = np.array([0.5, 0.45, 0.44, 0.2, -1.0])
    assert MoveFilter(1, 7, 0.1).keep(equities) == 3
    assert MoveFilter(1, 1, 0.1).keep(equities) == 2
    assert MoveFilter(1, 7, 0.0).keep(equities) == 1
    assert MoveFilter(4, 0, 0.0).keep(equities) == 4
    assert MoveFilter(9, 9, 9.0).keep(equities) == 5
    everything = (MoveFilter(1000, 0, 0.0),)
    assert all(c.ply == 1 for c in Search(net(), 1, filters=everything).rank(START_BOARD, ROLLS[4]))
    assert sum(c.ply > 0 for c in Search(net(), 1, filters=NARROW).rank(START_BOARD, ROLLS[2])) <= 4


@pytest.mark.parametrize("ply", [0, 1])
def test_boards_that_the_network_cannot_judge_are_refused(ply: int) -> None:
    three = Search(random_net([16], checkers=3), ply)
    board = np.zeros((1, 26), np.int8)
    board[0, [6, 20]] = 3, -3
    assert three.outcomes(board).shape == (1, 6)
    board[0, 6] = 4
    with pytest.raises(BoardError, match="more than 3 checkers"):
        three.outcomes(board)


def test_it_can_be_stopped() -> None:
    calls = iter([False, True])
    with pytest.raises(SearchStopped):
        Search(net(), 2, stop=lambda: next(calls)).outcomes(positions(3))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Search(net(), -1), "ply"),
        (lambda: Search(net(), 9), "ply"),
        (lambda: Search(net(), True), "ply"),
        (lambda: Search(net(), 1.0), "ply"),  # type: ignore[arg-type]
        (lambda: Search(net(), 1, filters=()), "move filter"),
        (lambda: Search(net(), 1, prune_to=0), "prune_to"),
        (lambda: Search(net(), 1, prune_to=1.5), "prune_to"),  # type: ignore[arg-type]
        (lambda: Search(net(), 1, threads=-1), "threads"),
        (lambda: Search(net(), 1, payoff=[1, 2, 3]), "payoff"),  # type: ignore[arg-type]
        (lambda: MoveFilter(1.5, 0, 0.1), "always"),  # type: ignore[arg-type]
        (lambda: MoveFilter(0, 1, 0.1), "always"),
        (lambda: MoveFilter(1, 1, float("nan")), "within"),
    ],
)
def test_bad_settings(make, words: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(EngineError, match=words):
        make()


def test_bad_dice() -> None:
    for dice in ([0, 3], [259, 257]):
        with pytest.raises(DiceError):
            Search(net(), 1).rank(START_BOARD, np.array(dice))


def test_transpositions_are_bounded_and_never_wrong() -> None:
    boards = np.unique(some_positions()[0], axis=0)
    table = Transpositions(0.05)
    assert 51 * table.size <= 50_000 < 4 * 51 * table.size
    outcomes = net().outcomes(boards)
    table.store(boards, outcomes)
    found, missing = table.look_up(boards)
    known = np.setdiff1d(np.arange(len(boards)), missing)
    assert 100 < len(known) <= table.size
    assert (found[known] == outcomes[known]).all()
    assert len(Transpositions(0.0).look_up(boards[:5])[1]) == 5
    assert len(Transpositions(1.0).look_up(np.zeros((1, 26), np.int8))[1]) == 1, "an empty slot is no empty board"


class Unknown:
    """The same, but not known to be a network: judged piece by piece."""

    def __init__(self, inner: NetEvaluator) -> None:
        self.outcomes = inner.outcomes


def test_all_rolls() -> None:
    boards = positions(5)
    best, outcomes = best_of_all_rolls(net(), boards, PAYOFF)
    pruner = random_net([8], seed=3)
    quick = best_of_all_rolls(net(), boards, PAYOFF, pruner, 3)
    slow = best_of_all_rolls(Unknown(net()), boards, PAYOFF, pruner, 3)
    assert (quick[0] == slow[0]).all() and np.abs(quick[1] - slow[1]).max() < 1e-5, "one kernel, or piece by piece"
    assert best.shape == (5, 21, 26) and outcomes.shape == (5, 21, 6)
    assert np.abs(net().outcomes(best.reshape(-1, 26)).reshape(5, 21, 6) - outcomes).max() < 1e-5
    assert (mean_over_rolls(outcomes) == Search(net(), 1).outcomes(boards)).all()
