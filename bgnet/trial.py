"""The games that a run plays against other bots to see how strong its network is."""

from __future__ import annotations

from typing import Protocol

from bgnet import arena
from bgnet.arena import ArenaResult
from bgnet.arena_errors import ArenaSettingsError
from bgnet.config import RunConfig
from bgnet.curves import curve_of_bot
from bgnet.entrants import check_checkers
from bgnet.evaluators import NetEvaluator
from bgnet.peers import MissingEngineError
from bgnet.players import player
from engine.rules import PRESETS, VARIANTS

__all__ = ["Trial", "Watch"]

_SEED = 20_000  # away from the seeds that people use, and the same all along a run: fewer random differences


class Watch(Protocol):
    """Told of games as they end; may raise to stop them."""

    def update(self, n: int, **fields: object) -> None: ...


class Trial:
    """A run's opponents. Those that cannot play here are left out; `missing` says why."""

    def __init__(self, config: RunConfig) -> None:
        _, checkers = VARIANTS[config.game.variant]
        self.variant = config.game.variant
        self.rules = PRESETS[config.game.rules]
        self.missing: list[str] = []
        self._opponents: list[str] = []
        for spec in config.evaluation.opponents:
            try:
                check_checkers(f"bot {spec}", player(spec, self.rules.payoff), checkers)
            except (MissingEngineError, ArenaSettingsError) as error:
                self.missing.append(str(error))
                continue
            # The arena makes the bot itself from its name; the one made here showed early that it can.
            self._opponents.append(spec)

    def play(self, net: NetEvaluator, games: int, progress: Watch | None = None) -> list[ArenaResult]:
        """Duplicate games of the network against every opponent, in the order of the configuration."""
        return [
            arena.play(net, bot, games, _SEED, self.rules, progress=progress, variant=self.variant)
            for bot in self._opponents
        ]

    @staticmethod
    def curves(results: list[ArenaResult]) -> dict[str, float]:
        """Points per game with their bounds, named for TensorBoard."""
        values = {}
        for result in results:
            name = curve_of_bot(result.b)
            values[name] = result.points_per_game
            values[name + "_low"], values[name + "_high"] = result.interval
        return values

    @staticmethod
    def short(result: ArenaResult) -> str:
        """One result in a few words."""
        low, high = result.interval
        return f"{result.b} {result.points_per_game:+.3f} +-{(high - low) / 2:.3f}"
