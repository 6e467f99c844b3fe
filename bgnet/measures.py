"""What a run reports about itself besides its results: how games go, and how consistent the network is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bgnet.evaluators import NetEvaluator
from bgnet.inference import backups_kernel, outcomes_kernel
from bgnet.selfplay import SelfPlay
from engine.board import is_race

__all__ = ["bellman_residuals", "game_statistics"]

_SAMPLE = 400


def game_statistics(games: SelfPlay) -> dict[str, float]:
    """Plies per game, shares of gammons and backgammons, share of positions that are races."""
    level = games.endings % 3
    sample = games.boards[:: max(1, len(games.boards) // _SAMPLE)]
    return {
        "selfplay/plies_per_game": len(games.boards) / len(games.endings),
        "selfplay/share_gammon": float(np.mean(level == 1)),
        "selfplay/share_bg": float(np.mean(level == 2)),
        "selfplay/share_race": float(np.mean([is_race(board) for board in sample])),
    }


def bellman_residuals(
    net: NetEvaluator, payoff: NDArray[np.float32], start: NDArray[np.int8], boards: NDArray[np.int8]
) -> dict[str, float]:
    """Root mean square of (exact one-roll backup - value), in points, over a sample of positions.

    All, contact and race apart; and the start position's exact backup over all 21 rolls.
    """
    sample = np.concatenate([start[None], boards[:: max(1, len(boards) // _SAMPLE)]])
    values = np.empty((len(sample), 6), dtype=np.float32)
    backups = np.empty_like(values)
    outcomes_kernel(net.folded, sample, values)
    backups_kernel(net.folded, payoff, sample, backups)
    residual = (backups - values)[1:] @ payoff
    race = np.array([is_race(board) for board in sample[1:]])

    def rms(part: NDArray[np.floating]) -> float:
        return float(np.sqrt(np.mean(part.astype(np.float64) ** 2))) if len(part) else 0.0

    return {
        "learn/bellman_rms": rms(residual),
        "learn/bellman_rms_contact": rms(residual[~race]),
        "learn/bellman_rms_race": rms(residual[race]),
        "learn/start_value_21_rolls": float(backups[0] @ payoff),
    }
