"""Benchmarks of speed: decisions per second of our 0-ply against a peer's, on the same positions in the same run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.evaluators import NetEvaluator
from bgnet.legality import legal_choices
from bgnet.peers import GnubgNN, side_rows
from bgnet.players import EvaluatorPlayer, Player
from bgnet.search import Search
from bgnet.selfplay import MONEY_GAME, play_games
from engine.dice import ROLLS, WEIGHTS

__all__ = ["Decisions", "decision_speed", "selfplay_decisions"]


@dataclass(frozen=True)
class Decisions:
    """Positions with dice."""

    boards: NDArray[np.int8]
    """int8[N, 26], all different."""
    dice: NDArray[np.int8]
    """int8[N, 2]."""


def selfplay_decisions(net: NetEvaluator, count: int, seed: int) -> Decisions:
    """`count` different positions from games of the network against itself, each with a random roll."""
    rng = np.random.default_rng(seed)
    games = play_games(net.folded, MONEY_GAME, seed, 0, max(10, count // 10))
    boards = np.unique(games.boards, axis=0)
    if len(boards) < count:
        raise ValueError(f"self-play gave {len(boards)} different positions, {count} are wanted; ask for fewer")
    boards = boards[rng.permutation(len(boards))[:count]]
    return Decisions(boards, ROLLS[rng.choice(len(ROLLS), size=count, p=WEIGHTS)])


def decision_speed(
    net: NetEvaluator, count: int = 10_000, seed: int = 1, repeats: int = 5, ply: int = 0
) -> dict[str, Any]:
    """Decisions per second on one thread at a depth, ours and gnubg-nn's `best_move` at the same one.

    Both get the same positions with dice and find the best play, move generation included. Ours is warmed up on other
    positions and its answers are checked to be legal; the median of `repeats` passes counts (each starts without
    remembered values). gnubg-nn remembers what it has judged, so its one timed pass is its first visit.
    MissingEngineError without gnubg-nn.
    """
    engine = GnubgNN(ply)
    warm = selfplay_decisions(net, min(count, 2000 if ply == 0 else 3), seed + 1)
    _player(net, ply).choose(warm.boards, warm.dice)
    decisions = selfplay_decisions(net, count, seed)

    times = []
    for _ in range(repeats):
        player = _player(net, ply)
        begun = time.perf_counter()
        chosen = player.choose(decisions.boards, decisions.dice)
        times.append(time.perf_counter() - begun)
    if not legal_choices(decisions.boards, decisions.dice, chosen).all():
        raise RuntimeError("the network chose an illegal play; its speed means nothing")

    rows = side_rows(decisions.boards)
    rolls = decisions.dice.tolist()
    best_move = engine.best_move
    best_move(side_rows(warm.boards[:1])[0], *warm.dice[0].tolist(), ply)
    begun = time.perf_counter()
    for row, (one, two) in zip(rows, rolls, strict=True):
        best_move(row, one, two, ply)
    theirs = count / (time.perf_counter() - begun)

    theirs_chosen = engine.choose(decisions.boards, decisions.dice)
    ours = count / float(np.median(times))
    return {
        "schema": "bgnet.speed/1",
        "net": net.name,
        "layers": net.info.label,
        "ply": ply,
        "decisions": count,
        "seed": seed,
        "decisions_per_s": ours,
        "gnubg_nn_decisions_per_s": theirs,
        "ratio": ours / theirs,
        "same_choice": float((chosen == theirs_chosen).all(axis=1).mean()),
    }


def _player(net: NetEvaluator, ply: int) -> Player:
    return EvaluatorPlayer(net) if ply == 0 else Search(net, ply)
