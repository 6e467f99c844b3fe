"""What a run reports about itself besides its results: how games go, and how consistent the network is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bgnet.backups import backups_kernel
from bgnet.evaluators import NetEvaluator
from bgnet.inference import outcomes_kernel
from bgnet.selfplay import Game, SelfPlay
from engine.board import is_race
from engine.outcomes import LOSE_BACKGAMMON, LOSE_GAMMON, WIN_BACKGAMMON, WIN_GAMMON

__all__ = ["bellman_residuals", "game_statistics", "rms_by_class"]

_SAMPLE = 400


def game_statistics(games: SelfPlay) -> dict[str, float]:
    """Plies per game, shares of gammons and backgammons, share of positions that are races.

    A seeded game counts as one with the plies that it had, and with the endings that the acting network expects.
    """
    finals = games.finals.mean(axis=0)
    sample = games.boards[:: max(1, len(games.boards) // _SAMPLE)]
    return {
        "selfplay/plies_per_game": len(games.boards) / len(games.finals),
        "selfplay/share_gammon": float(finals[WIN_GAMMON] + finals[LOSE_GAMMON]),
        "selfplay/share_bg": float(finals[WIN_BACKGAMMON] + finals[LOSE_BACKGAMMON]),
        "selfplay/share_race": float(np.mean([is_race(board) for board in sample])),
    }


def bellman_residuals(net: NetEvaluator, game: Game, boards: NDArray[np.int8]) -> dict[str, float]:
    """Root mean square of (exact one-roll backup - value), in points, over a sample of positions.

    All, contact and race apart; and the start position's exact backup over all 21 rolls.
    """
    sample = np.concatenate([game.start[None], boards[:: max(1, len(boards) // _SAMPLE)]])
    values = np.empty((len(sample), 6), dtype=np.float32)
    backups = np.empty_like(values)
    outcomes_kernel(net.folded, sample, values)
    backups_kernel(net.folded, game.payoff, sample, backups)
    residual = (backups - values)[1:] @ game.payoff
    everywhere, contact, race = rms_by_class(residual, sample[1:])
    return {
        "learn/bellman_rms": everywhere,
        "learn/bellman_rms_contact": contact,
        "learn/bellman_rms_race": race,
        "learn/start_value_21_rolls": float(backups[0] @ game.payoff),
    }


def rms_by_class(residuals: NDArray[np.floating], boards: NDArray[np.int8]) -> tuple[float, float, float]:
    """Root mean squares of residuals [N] of boards int8[N, 26]: of all, in contact, in races; 0 for none."""
    race = np.array([is_race(board) for board in boards], dtype=np.bool_)

    def rms(part: NDArray[np.floating]) -> float:
        return float(np.sqrt(np.mean(part.astype(np.float64) ** 2))) if len(part) else 0.0

    return rms(residuals), rms(residuals[~race]), rms(residuals[race])
