"""Who takes part in a run of dice pairs: bots and references, made once in each process, known by their files."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from bgnet.arena_errors import ArenaError, ArenaSettingsError
from bgnet.evaluators import find_net
from bgnet.players import bot_name, split_depth

__all__ = ["Entrant", "check_checkers", "forget_bots", "made"]

T = TypeVar("T")

_PACKAGES = {"pubeval": "gnubg-nn", "gnubg": "gnubg-nn", "sage": "bgsage"}


@dataclass(frozen=True)
class Entrant:
    """A bot that takes part, or a reference that judges."""

    bot: Any
    """A spec, or an object that plays or judges."""
    name: str
    digest: str | None = None
    """Of its network's file: sha256, in hex."""
    package: str | None = None
    """Name and version of the package that it comes from."""

    @classmethod
    def of(cls, bot: object) -> Entrant:
        """Raises what the name of a network without a file, or a wrong depth, raises."""
        if not isinstance(bot, str):
            return cls(bot, bot_name(bot))
        kind = bot.partition(":")[0]
        if kind == "net":
            return cls(bot, bot, digest=_file_digest(bot))
        version = _version(_PACKAGES[kind]) if kind in _PACKAGES else None
        return cls(bot, bot, package=version and f"{_PACKAGES[kind]} {version}")

    def as_dict(self) -> dict[str, Any]:
        """For JSON: what tells it from another one of the same name."""
        return {"sha256": self.digest, "package": self.package}


def made(entrant: Entrant, make: Callable[..., T], *more: object) -> T:
    """What make(bot, *more) gives; of a spec it is kept, one for each process.

    Raises what that raises, and ArenaError when a network's file is not the one it was.
    """
    if not isinstance(entrant.bot, str):
        return make(entrant.bot, *more)
    found: T = _made(make, entrant.bot, entrant.digest, *more)
    return found


def forget_bots() -> None:
    """Make bots anew from now on: a network's file may have changed."""
    _made.cache_clear()


@functools.lru_cache(maxsize=64)
def _made(make: Callable[..., Any], spec: str, digest: str | None, *more: object) -> Any:
    """Worker processes load files later than the run has looked at them, while training may write new ones."""
    found = make(spec, *more)
    if digest is not None and _file_digest(spec) != digest:
        raise ArenaError(f"the file of {spec} has changed while the games went on: copy it and name the copy")
    return found


def check_checkers(name: str, bot: object, checkers: int) -> None:
    """A network knows games with its own number of checkers only; other engines know 15. Raises ArenaSettingsError."""
    known = getattr(bot, "checkers", checkers)
    for judge in (bot, getattr(bot, "evaluator", None)):
        if (info := getattr(judge, "info", None)) is not None:
            known = info.checkers
    if known != checkers:
        raise ArenaSettingsError(f"{name} knows games with {known} checkers a side, this one has {checkers}")


def _file_digest(spec: str) -> str:
    return hashlib.sha256(find_net(split_depth(spec)[0]).read_bytes()).hexdigest()


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
