"""Trials of a rollout played in lockstep: all games of a chunk advance together, so that evaluators see large batches.

Luck is taken ply by ply. What a roll is worth is the value after the best play by the luck evaluator; its luck is that
minus the mean over all 21 rolls. It is a function of the board and the roll alone, never of the play that is made, so
its expectation is zero and a result without it means the same as a result, whoever judges the luck.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.evaluators import Evaluator
from bgnet.legality import checked_choices
from bgnet.players import EvaluatorPlayer, Player
from bgnet.search import SearchStopped, best_of_all_rolls, unique_boards
from bgnet.strata import rolls
from engine.dice import WEIGHTS, roll_numbers
from engine.outcomes import LOSE, WIN, swap

__all__ = ["Plan", "RolloutError", "Trials", "play_trials", "points_of"]

Boards = NDArray[np.int8]

_MOST_PLIES = 20_000  # far beyond any game between players that try to win
_TOGETHER = 64  # boards whose 21 rolls are expanded in one go: what they need stays in the cache


class RolloutError(ValueError):
    """A rollout that cannot be done: wrong settings, a player that breaks the rules, a file of another rollout."""


class Trials(NamedTuple):
    """Rows of C positions times T trials, in the view of the player on roll at the start."""

    results: NDArray[np.float32]
    """float32[C, T, 6]: how each game ended, or what its last position was judged at."""
    luck: NDArray[np.float64]
    """float64[C, T, 6]: the luck of all its rolls; zeros without luck adjustment."""

    def points(self, payoff: Sequence[float]) -> NDArray[np.float64]:
        """float64[C, T]: the luck-adjusted points of every trial."""
        return points_of(self.results - self.luck, payoff)


def points_of(outcomes: NDArray[np.float64], payoff: Sequence[float]) -> NDArray[np.float64]:
    """float64[..., 6] -> float64[...]; summed in one fixed order, so that no number depends on its batch."""
    total = np.zeros(outcomes.shape[:-1], dtype=np.float64)
    for j, points in enumerate(payoff):
        total += points * outcomes[..., j]
    return total


@dataclass(frozen=True)
class Plan:
    """How trials are played and judged."""

    player: Player
    """Chooses for both sides, by the board and the dice alone."""
    evaluator: Evaluator
    """Judges where a trial ends."""
    luck: Evaluator | None
    """Judges the luck of rolls; None: none is taken off."""
    payoff: NDArray[np.float32]
    truncate: int | None
    """After how many plies trials are judged; None: they are played to the end."""
    seed: int
    checkers: int = 15

    @property
    def plays_by_luck(self) -> bool:
        """Whether the best plays of the luck evaluator are the player's own: they need not be found twice."""
        player = self.player
        return (
            isinstance(player, EvaluatorPlayer)
            and player.evaluator is self.luck
            and np.array_equal(player.payoff, self.payoff)
        )


def play_trials(plan: Plan, roots: Boards, first: int, count: int, stop: Callable[[], bool] = lambda: False) -> Trials:
    """Trials first .. first + count - 1 of every root int8[C, 26]: the same dice for all of them.

    Raises SearchStopped once stop() is true (asked at least once a ply), RolloutError for an illegal choice.
    """
    boards = np.repeat(roots, count, axis=0)
    trials = np.tile(np.arange(first, first + count, dtype=np.int64), len(roots))
    results = np.zeros((len(boards), 6), dtype=np.float32)
    luck = np.zeros((len(boards), 6), dtype=np.float64)
    going = np.arange(len(boards))
    for ply in range(_MOST_PLIES):
        ended = ~((boards[going] > 0).any(axis=1) & (boards[going] < 0).any(axis=1)) | (ply == plan.truncate)
        if ended.any():
            rows = going[ended]
            results[rows] = _seen_first(_judge(plan, boards[rows]), ply)
            going = going[~ended]
        if not len(going):
            shape = (len(roots), count, 6)
            return Trials(results.reshape(shape), luck.reshape(shape))
        boards[going], gained = _turn(plan, boards[going], rolls(plan.seed, trials[going], ply + 1), stop)
        luck[going] += _seen_first(gained, ply)
    raise RolloutError(f"trial {trials[going[0]]} with {plan.player!r} has no end after {_MOST_PLIES:,} plies")


def _turn(plan: Plan, boards: Boards, dice: Boards, stop: Callable[[], bool]) -> tuple[Boards, NDArray[np.float64]]:
    """Boards and their rolls -> the boards after the plays, in the next player's view; the luck float64[N, 6] of the
    rolls, in the mover's.
    """
    if plan.luck is None:
        return _chosen(plan.player, boards, dice, stop), np.zeros((len(boards), 6), dtype=np.float64)
    different, back = unique_boards(boards)
    number = roll_numbers(dice)
    best = np.empty((len(different), 21, 26), dtype=np.int8)
    values = np.empty((len(different), 21, 6), dtype=np.float64)
    for start in range(0, len(different), _TOGETHER):
        _check(stop)
        some = slice(start, start + _TOGETHER)
        best[some], outcomes = best_of_all_rolls(plan.luck, different[some], plan.payoff)
        _move_off_impossible(best[some], outcomes, plan.checkers)
        values[some] = swap(outcomes)
    means = np.zeros((len(different), 6), dtype=np.float64)
    for r, weight in enumerate(WEIGHTS):  # in one fixed order: the numbers must not depend on the batch
        means += weight * values[:, r]
    gained = values[back, number] - means[back]
    if plan.plays_by_luck:
        return best[back, number], gained
    return _chosen(plan.player, boards, dice, stop), gained


def _chosen(player: Player, boards: Boards, dice: Boards, stop: Callable[[], bool]) -> Boards:
    """What the player chooses, asked once for equal boards and rolls, and held against the rules."""
    _check(stop)
    different, back = unique_boards(np.concatenate([boards, dice], axis=1))
    asked, rolled = np.ascontiguousarray(different[:, :26]), np.ascontiguousarray(different[:, 26:])
    return checked_choices(f"player {player!r}", player, asked, rolled, RolloutError)[back]


def _judge(plan: Plan, boards: Boards) -> NDArray[np.float32]:
    outcomes = np.array(plan.evaluator.outcomes(boards), dtype=np.float32)
    _move_off_impossible(boards, outcomes, plan.checkers)
    return outcomes


def _move_off_impossible(boards: Boards, outcomes: NDArray[np.float32], checkers: int) -> None:
    """Whoever has borne off a checker loses no gammon: its chance goes to the plain loss, in place.

    boards int8[..., 26], outcomes float32[..., 6] in the same view. So a rollout never reports such a gammon, however
    freely its luck evaluator hands out chances.
    """
    for sign, loss in ((1, LOSE), (-1, WIN)):  # the opponent's losses are the player's wins
        off = (np.maximum(sign * boards.astype(np.int64), 0)).sum(axis=-1) < checkers
        outcomes[off, loss] += outcomes[off, loss + 1] + outcomes[off, loss + 2]
        outcomes[off, loss + 1] = outcomes[off, loss + 2] = 0


def _seen_first(values: NDArray[np.floating], ply: int) -> NDArray[np.floating]:
    """Outcomes (or differences of such) of the player on roll at that ply -> of the one on roll at the start."""
    return swap(values) if ply % 2 else values


def _check(stop: Callable[[], bool]) -> None:
    if stop():
        raise SearchStopped("the rollout was stopped")
