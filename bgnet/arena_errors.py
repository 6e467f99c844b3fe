"""What runs of dice pairs raise, whatever is played."""

from __future__ import annotations

__all__ = ["ArenaError", "ArenaSettingsError"]


class ArenaSettingsError(ValueError):
    """A number of games, a seed, rules or a bot that the arena cannot use."""


class ArenaError(RuntimeError):
    """A bot broke the rules of the game, or a game had no end."""
