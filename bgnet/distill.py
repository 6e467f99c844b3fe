"""A small network that imitates a big one, quick enough to pick the results that the big one should judge."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bgnet.config import LearningConfig, NetConfig, RunConfig
from bgnet.encoding import Encoding
from bgnet.evaluators import NetEvaluator
from bgnet.learner import Learner
from bgnet.netfile import Weights
from bgnet.selfplay import Game, play_games
from engine.dice import ROLLS, WEIGHTS
from engine.moves import legal_afterstates

__all__ = ["distill", "ranking_positions"]

_FIRST_GAME = 3 * 2**30  # a stretch of the dice stream that no run reaches
_ROUNDS = 40


def ranking_positions(teacher: NetEvaluator, game: Game, games: int, seed: int) -> NDArray[np.int8]:
    """int8[N, 26]: positions of the teacher's own games, and as many random results of random rolls in them.

    The small network must rank siblings, good and bad, so it sees both.
    """
    played = play_games(teacher.folded, game, seed, _FIRST_GAME, games).boards
    rng = np.random.Generator(np.random.Philox(key=[seed, _FIRST_GAME]))
    results = legal_afterstates(played, ROLLS[rng.choice(len(ROLLS), size=len(played), p=WEIGHTS)])
    counts = np.diff(results.offsets)
    picks = results.offsets[:-1] + (rng.random(len(played)) * counts).astype(np.int64)
    return np.concatenate([played, results.boards[picks]])


def distill(
    teacher: NetEvaluator,
    encoding: Encoding,
    game: Game,
    hidden: list[int],
    failure_file: Path,
    *,
    games: int,
    seed: int,
) -> Weights:
    """Train a network with the given hidden layers on what the teacher thinks of positions from `games` games.

    Two epochs with a falling learning rate. The same arguments give the same weights.
    """
    boards = ranking_positions(teacher, game, games, seed)
    targets = teacher.outcomes(boards)
    config = RunConfig(
        seed=seed, device="cpu", net=NetConfig(encoding=encoding.name, hidden=hidden), learning=LearningConfig()
    )
    student = Learner(config, encoding)
    rng = np.random.Generator(np.random.Philox(key=[seed, _FIRST_GAME + 1]))
    order = np.concatenate([rng.permutation(len(boards)) for _ in range(2)])
    for i, part in enumerate(np.array_split(order, _ROUNDS)):
        student.learn(boards, targets, 1e-3 * (1 - i / _ROUNDS) + 1e-5, part, failure_file)
    return student.weights()
