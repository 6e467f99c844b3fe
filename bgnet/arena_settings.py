"""What every run of dice pairs takes, and what the kinds of games must say of themselves."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.arena_errors import ArenaSettingsError
from bgnet.arena_record import Columns, Schema
from bgnet.checks import check_whole
from bgnet.entrants import Entrant
from bgnet.players import Bot
from bgnet.progress import ProgressLike
from bgnet.sequential import Rule, StopRuleError
from engine import dice

__all__ = ["Job", "Settings", "Task"]

_MOST = 100_000_000


class Job(NamedTuple):
    """A range of pairs to play; what travels to a worker."""

    what: Any
    """The contest, as the task knows it."""
    contest: int
    """Its number."""
    first: int
    pairs: int


Task = Callable[[Job, Callable[[int], None]], Columns]
"""Plays a job: the columns of the schema, a row for each pair; tells the second argument of ended games. At the top of
a module, since other processes call it."""


@dataclass(frozen=True, kw_only=True)
class Settings(ABC):
    """The arguments that all runs share; subclasses add those of a kind of games, and say how it is played.

    Raises ArenaSettingsError and DiceError for bad ones, StopRuleError for a rule that could never look.
    """

    count: int
    """Games, or matches, of each contest, at most: two for each dice pair."""
    seed: int
    workers: int
    pairs_per_chunk: int
    reference: Bot | None
    stop: Rule | None
    record: str | os.PathLike[str] | None
    resume: bool
    progress: ProgressLike | None

    kind: ClassVar[str]
    """What records say was played."""
    schema: ClassVar[Schema]
    """With at least "points", and "luck" to subtract from them (zeros when there is none to know)."""
    unit: ClassVar[str] = "games"
    """What is counted."""
    streams: ClassVar[int] = 1
    """Dice streams that a pair may use."""

    def __post_init__(self) -> None:
        check_whole(self.unit, self.count, 2, error=ArenaSettingsError)
        check_whole("workers", self.workers, 1, error=ArenaSettingsError)
        check_whole("pairs_per_chunk", self.pairs_per_chunk, 1, error=ArenaSettingsError)
        if self.count > _MOST:
            raise ArenaSettingsError(f"{self.unit} must be at most {_MOST:,}, not {self.count!r}")
        if self.count % 2:
            raise ArenaSettingsError(
                f"the number of {self.unit} must be even, every dice sequence is played twice; not {self.count}"
            )
        dice.check_stream(self.seed, self.pairs * self.streams)
        if self.resume and self.record is None:
            raise ArenaSettingsError("resume goes on with a record: name its file")
        if self.stop is not None and self.pairs < self.stop.least:
            raise StopRuleError(
                f"the first look of {self.stop.as_dict()['rule']} comes after {2 * self.stop.least:,} {self.unit}, "
                f"but {2 * self.pairs:,} are to be played at most: give more, or an earlier look"
            )

    @property
    def pairs(self) -> int:
        """Of each contest, at most."""
        return int(self.count) // 2

    @property
    def even(self) -> float:
        """What equal bots get; a rule that stops the run sees results less this."""
        return 0.0

    @property
    @abstractmethod
    def task(self) -> Task: ...

    @abstractmethod
    def contest(self, a: Entrant, b: Entrant, reference: Entrant | None) -> Any:
        """Who plays whom for what; what travels to a worker."""

    @abstractmethod
    def check_bot(self, bot: Entrant) -> None:
        """Make it. Raises what that raises, and ArenaSettingsError for one that cannot play this."""

    @abstractmethod
    def check_reference(self, reference: Entrant) -> None:
        """The same for the reference."""

    @abstractmethod
    def rules_asked(self) -> dict[str, Any]:
        """All of the rules that decides a run's results, for its record."""

    @abstractmethod
    def impossible(self, rows: Columns) -> NDArray[np.bool_]:
        """bool[N]: pairs, with the columns of the schema, that cannot have come out like that."""
