"""Self-play: kernels that play whole games with one network and keep what training needs."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.inference import FoldedNet, best_result, position_outcome, workspace
from engine.board import ending, turn
from engine.dice import opening_kernel, roll_kernel
from engine.generator import MAX_RESULTS, generate
from engine.jit import kernel

__all__ = ["GAMES_PER_TASK", "SelfPlay", "play_games", "start_games"]

GAMES_PER_TASK = 25
"""A task of a worker thread. The result does not depend on it, only how evenly the threads are busy."""


class SelfPlay(NamedTuple):
    """Games one after the other. Positions are before the roll, in the view of the player on roll."""

    boards: NDArray[np.int8]
    """int8[M, 26]."""
    values: NDArray[np.float32]
    """float32[M, 6], what the acting network thought of each."""
    offsets: NDArray[np.int64]
    """int64[G + 1], where each game begins."""
    endings: NDArray[np.int64]
    """int64[G], the index of the ending for the player who would be on roll after the last position."""


@kernel
def _play(net, payoff, start, seed, first_game, games):
    """net plays `games` games from the board start int8[26] greedily on both sides, with the dice of
    (seed, first_game ...) -> boards int8[M, 26], values float32[M, 6], offsets int64[G + 1], endings int64[G].
    """
    work = workspace(net)
    results = np.empty((MAX_RESULTS, 26), dtype=np.int8)
    turned = np.empty(26, dtype=np.int8)
    board = np.empty(26, dtype=np.int8)
    outcome = np.empty(6, dtype=np.float32)
    boards = np.empty((80 * games + 16, 26), dtype=np.int8)
    values = np.empty((80 * games + 16, 6), dtype=np.float32)
    offsets = np.zeros(games + 1, dtype=np.int64)
    endings = np.zeros(games, dtype=np.int64)
    total = 0
    for g in range(games):
        board[:] = start
        position_outcome(net, board, work, outcome)
        die1, die2 = opening_kernel(seed, first_game + g)
        ply = 0
        while True:
            if total == boards.shape[0]:
                more_boards = np.empty((2 * total, 26), dtype=np.int8)
                more_values = np.empty((2 * total, 6), dtype=np.float32)
                more_boards[:total] = boards
                more_values[:total] = values
                boards = more_boards
                values = more_values
            boards[total] = board
            values[total] = outcome
            total += 1
            n = generate(board, die1, die2, results)
            turn(board, turned)
            board[:] = results[best_result(net, payoff, turned, results, n, work, outcome)]
            over = ending(board, net.checkers)
            if over >= 0:
                endings[g] = over
                offsets[g + 1] = total
                break
            ply += 1
            die1, die2 = roll_kernel(seed, first_game + g, ply)
    return boards[:total].copy(), values[:total].copy(), offsets, endings


def play_games(
    net: FoldedNet, payoff: NDArray[np.float32], start: NDArray[np.int8], seed: int, first_game: int, games: int
) -> SelfPlay:
    """Play games `first_game` .. `first_game + games - 1` of the dice stream `seed`, greedily at 0-ply."""
    return SelfPlay(*_play(net, payoff, np.ascontiguousarray(start), seed, first_game, games))


class PendingGames:
    """Games being played on worker threads; `result()` waits for them and joins them in order."""

    def __init__(self, tasks: list[Future[SelfPlay]]) -> None:
        self._tasks = tasks

    def result(self) -> SelfPlay:
        parts = [task.result() for task in self._tasks]
        starts = np.cumsum([0, *(len(part.boards) for part in parts)])
        offsets = [part.offsets[:-1] + start for part, start in zip(parts, starts, strict=False)]
        return SelfPlay(
            np.concatenate([part.boards for part in parts]),
            np.concatenate([part.values for part in parts]),
            np.concatenate([*offsets, starts[-1:]]),
            np.concatenate([part.endings for part in parts]),
        )


def start_games(
    executor: Executor,
    net: FoldedNet,
    payoff: NDArray[np.float32],
    start: NDArray[np.int8],
    seed: int,
    first_game: int,
    games: int,
) -> PendingGames:
    """The same as `play_games`, spread over the threads of an executor and without waiting."""
    tasks = []
    for done in range(0, max(games, 1), GAMES_PER_TASK):  # one task even for no games
        count = min(GAMES_PER_TASK, games - done)
        tasks.append(executor.submit(play_games, net, payoff, start, seed, first_game + done, count))
    return PendingGames(tasks)
