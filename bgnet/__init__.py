"""Train, measure and question backgammon networks. What only training needs (torch) is imported there."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["Evaluator", "Player", "__version__", "analyze", "load", "player", "rollout"]

if TYPE_CHECKING:
    from bgnet.analysis import analyze
    from bgnet.evaluators import Evaluator, load
    from bgnet.players import Player, player
    from bgnet.rollouts import rollout

_HOMES = {
    "Evaluator": "bgnet.evaluators",
    "load": "bgnet.evaluators",
    "Player": "bgnet.players",
    "analyze": "bgnet.analysis",
    "player": "bgnet.players",
    "rollout": "bgnet.rollouts",
}


_MODULES = {"analysis", "arena", "benchmark", "cube", "evaluators", "players", "rollouts", "search"}


def __getattr__(name: str) -> object:
    """Public names and modules are imported when first used, so that `import bgnet` is instant."""
    import importlib

    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module(f"bgnet.{name}")
    raise AttributeError(f"module 'bgnet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES})
