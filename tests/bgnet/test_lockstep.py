"""Trials in lockstep against a slow twin that plays them one by one."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from bgnet.lockstep import Plan, RolloutError, play_trials, points_of
from bgnet.players import EvaluatorPlayer, RandomPlayer
from bgnet.search import Search, SearchStopped
from bgnet.strata import rolls
from engine.dice import ROLLS, WEIGHTS
from engine.rules import MONEY
from tests.bgnet.nets import random_net
from tests.boards import array, board

NET, OTHER = random_net([32], seed=1), random_net([16], seed=2)
CONTACT = board({6: 2, 5: 1, 20: 1}, {1: 1, 9: 2, 22: 1})
RACE = board({3: 1, 5: 2, 2: 1}, {19: 2, 24: 1})
ROOTS = array([CONTACT, RACE])


def plan(**changes: object) -> Plan:
    fields: dict[str, object] = {
        "player": EvaluatorPlayer(NET), "evaluator": NET, "luck": NET, "payoff": MONEY.payoff, "truncate": None,
        "seed": 7,
    }  # fmt: skip
    return Plan(**{**fields, **changes})  # type: ignore[arg-type]


def possible(position: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    """All positions here have borne-off checkers on both sides: no gammons."""
    assert position[position > 0].sum() < 15 and -position[position < 0].sum() < 15
    return np.array([outcome[:3].sum(), 0, 0, outcome[3:].sum(), 0, 0])


def best_value(judge: object, position: np.ndarray, roll: tuple[int, int]) -> np.ndarray:
    """The outcome, for the mover, after the best play by the judge."""
    results = engine.legal_afterstates(position[None], np.array([roll], np.int8)).boards
    outcomes = judge.outcomes(results).astype(np.float64)  # type: ignore[attr-defined]
    best = int(np.argmax(np.roll(outcomes, 3, axis=1) @ MONEY.payoff))
    return np.roll(possible(results[best], outcomes[best]), 3)


def one_trial(how: Plan, root: np.ndarray, trial: int) -> tuple[np.ndarray, np.ndarray]:
    """What the trial's row must be, from the definitions."""
    position, luck, sign = root, np.zeros(6), 0
    for ply in range(1000):
        if ply == how.truncate or not (position > 0).any() or not (position < 0).any():
            result = possible(position, how.evaluator.outcomes(position[None])[0])
            return np.roll(result, 3 * (ply % 2)), luck
        roll = tuple(rolls(how.seed, np.array([trial]), ply + 1)[0].tolist())
        if how.luck is not None:
            values = [best_value(how.luck, position, (int(a), int(b))) for a, b in ROLLS]
            mean = sum(w * v for w, v in zip(WEIGHTS, values, strict=True))
            luck += np.roll(best_value(how.luck, position, roll) - mean, 3 * (ply % 2))
        position = how.player.choose(position[None], np.array([roll], np.int8))[0]
    raise AssertionError(f"no end {sign}")


PLANS = {
    "greedy": plan(),
    "another judges the luck": plan(luck=OTHER),
    "another plays": plan(player=RandomPlayer(3)),
    "without luck": plan(luck=None),
    "truncated": plan(truncate=3, evaluator=OTHER),
    "lookahead": plan(player=Search(NET, 1), truncate=2),
}


@pytest.mark.parametrize("how", PLANS.values(), ids=PLANS)
def test_rows_are_those_of_the_twin(how: Plan) -> None:
    rows = play_trials(how, ROOTS, 34, 4)
    assert rows.results.shape == rows.luck.shape == (2, 4, 6)
    assert rows.results.dtype == np.float32 and rows.luck.dtype == np.float64
    for i, root in enumerate(ROOTS):
        for k in range(4):
            result, luck = one_trial(how, root, 34 + k)
            assert rows.results[i, k] == pytest.approx(result, abs=1e-6)
            assert rows.luck[i, k] == pytest.approx(luck, abs=1e-5)


def test_rows_do_not_depend_on_chunks_or_company() -> None:
    whole = play_trials(plan(), ROOTS, 0, 40)
    parts = [play_trials(plan(), ROOTS, first, count) for first, count in ((0, 1), (1, 20), (21, 19))]
    alone = [play_trials(plan(), ROOTS[i : i + 1], 0, 40) for i in range(2)]
    for k in range(2):
        assert np.array_equal(whole[k], np.concatenate([part[k] for part in parts], axis=1))
        assert np.array_equal(whole[k], np.concatenate([one[k] for one in alone], axis=0))


def test_the_luck_of_all_first_rolls_together_is_zero() -> None:
    rows = play_trials(plan(truncate=1, luck=OTHER), ROOTS, 0, 36)
    assert np.abs(rows.luck).max() > 0.01
    assert rows.luck.sum(axis=1) == pytest.approx(0, abs=1e-12)


def test_whoever_has_borne_off_a_checker_loses_no_gammon() -> None:
    start = engine.START.board.copy()
    own_off, opponent_off = start.copy(), start.copy()
    own_off[6] -= 1
    opponent_off[19] += 1
    roots = np.array([start, own_off, opponent_off])
    for rows in (play_trials(plan(truncate=plies, luck=OTHER), roots, 0, 36) for plies in (1, 2)):
        can_lose, can_win = (rows.results[..., 4:] > 0).all(axis=(1, 2)), (rows.results[..., 1:3] > 0).all(axis=(1, 2))
        assert can_lose.tolist() == [True, False, True]
        assert can_win.tolist() == [True, True, False]
        assert rows.luck[..., 4:].any(axis=(1, 2)).tolist() == [True, False, True]
        assert rows.luck[..., 1:3].any(axis=(1, 2)).tolist() == [True, True, False]
        assert rows.results.sum(axis=-1) == pytest.approx(1, abs=1e-6)
    three = play_trials(plan(truncate=1, checkers=3), array(board({12: 3}, {13: 3})), 0, 36)
    assert (three.results[..., 1:3] > 0).all(), "Hypergammon: all checkers are on the board"


def test_a_finished_position_is_its_ending() -> None:
    won = array(board({}, {19: 3}))
    rows = play_trials(plan(), won, 0, 5)
    assert rows.results.tolist() == [[[1, 0, 0, 0, 0, 0]] * 5]
    assert not rows.luck.any()


def test_stop_is_asked_every_ply() -> None:
    answers = iter([False, False, False, True])
    with pytest.raises(SearchStopped):
        play_trials(plan(), ROOTS, 0, 2, lambda: next(answers))


class Cheat:
    """Moves a checker more than the dice say, or returns what is no board."""

    def __init__(self, answer: object = None) -> None:
        self.answer = answer

    def choose(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        if self.answer is not None:
            return self.answer  # type: ignore[return-value]
        return np.ascontiguousarray(-boards[:, ::-1])


def test_players_are_held_to_the_rules() -> None:
    with pytest.raises(RolloutError, match="illegal result for .* and the roll"):
        play_trials(plan(player=Cheat()), ROOTS, 0, 2)
    with pytest.raises(RolloutError, match="must return int8"):
        play_trials(plan(player=Cheat(np.zeros(3))), ROOTS, 0, 2)


def test_points() -> None:
    outcomes = np.array([[[0.5, 0.25, 0, 0.125, 0, 0.125]]])
    assert points_of(outcomes, (1, 2, 3, -1, -2, -3)).tolist() == [[0.5]]
