"""What runs of dice pairs have shown: the results of two bots, and as JSON."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.arena_games import CubelessSettings
from bgnet.arena_runs import Sheet
from bgnet.players import bot_name
from bgnet.sequential import Sprt, Stopped
from bgnet.statistics import Estimate, estimate, variance_ratio

__all__ = ["ArenaResult", "PairsResult", "interval_fields", "stop_fields"]


@dataclass(frozen=True, kw_only=True)
class PairsResult(ABC):
    """What came out between two bots, all from A's view, whatever was played."""

    a: str
    b: str
    rules: str
    seed: int
    workers: int
    seconds: float
    """From the call to the result, loading of bots in worker processes included; with a record, of all its sessions."""
    reference: str | None = None
    """Who judged the luck of the rolls; None: luck was not looked at."""
    pair_luck: NDArray[np.float64] | None = field(repr=False, compare=False, default=None)
    """float64[N]: A's luck, less B's, in each dice pair, in the unit of its result; None without a reference."""
    stop: Stopped | None = field(repr=False, compare=False, default=None)
    """With a rule that may stop early: what it decided; None: there was none."""
    record: str | None = None
    """The file that holds every pair's result."""

    @property
    @abstractmethod
    def pair_results(self) -> NDArray[np.float64]:
        """float64[N]: A's mean result in each dice pair, in order."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """What the mean result can be at all."""

    @functools.cached_property
    def plain(self) -> Estimate:
        """A's mean result with its 95 % interval over the pairs (Student's t); a single pair's is infinite."""
        values = self.pair_results
        return estimate(values, bounds=self.bounds) if len(values) > 1 else estimate(values)

    @functools.cached_property
    def luck_adjusted(self) -> Estimate | None:
        """The same less the luck of all rolls; None without a reference.

        In a run of a fixed length it is unbiased, whoever the reference is: every roll's luck is 0 on average. One that
        Sprt may stop leans to the side that was accepted, and its interval is none of 95 %; Until looks at the spread
        alone (bgnet.sequential says what that does). The mean of a few games may lie outside of what can be won.
        """
        return None if self.pair_luck is None else estimate(self.pair_results - self.pair_luck)

    @property
    def best(self) -> Estimate:
        """The luck-adjusted estimate where there is one, else the plain one."""
        return self.luck_adjusted or self.plain

    @property
    def variance_ratio(self) -> float | None:
        """How many times more pairs the plain result would need for the luck-adjusted interval; None if not known."""
        adjusted = self.luck_adjusted
        return None if adjusted is None else variance_ratio(self.plain, adjusted)

    def estimate_fields(self, key: str) -> dict[str, Any]:
        """For JSON: the plain mean under that key, its interval, and the luck-adjusted ones."""
        adjusted = self.luck_adjusted
        return {
            key: self.plain.mean,
            "interval": interval_fields(self.plain),
            "luck_adjusted": None
            if adjusted is None
            else {
                key: adjusted.mean,
                "interval": interval_fields(adjusted),
                "reference": self.reference,
                "variance_ratio": self.variance_ratio,
            },
        }


@dataclass(frozen=True, kw_only=True)
class ArenaResult(PairsResult):
    """What came out of cubeless games."""

    games: int
    variant: str
    plies: int
    """Rolls of all games together, those that could not be played included."""
    endings: tuple[int, int, int, int, int, int]
    """How many games ended each way, in the order of engine.outcomes."""
    pair_points: NDArray[np.float64] = field(repr=False, compare=False)
    """float64[games / 2]: points per game in each dice pair, in order."""
    most_points: float = field(repr=False, default=3.0)
    """The most that a single game can win."""

    @classmethod
    def of(
        cls, a: str, b: str, sheet: Sheet, settings: CubelessSettings, stopped: Stopped | None, seconds: float
    ) -> ArenaResult:
        """The result of a contest's pairs."""
        rules, rows = settings.rule_set, sheet.rows()
        counts = np.bincount(rows["endings"].ravel(), minlength=6).tolist()
        return cls(
            a=a,
            b=b,
            games=2 * sheet.done,
            seed=int(settings.seed),
            rules=rules.name,
            variant=settings.variant,
            workers=int(settings.workers),
            seconds=seconds,
            plies=int(rows["plies"].sum()),
            endings=(*counts,),
            pair_points=rows["points"].copy(),
            most_points=float(rules.payoff.max()),
            reference=None if settings.reference is None else bot_name(settings.reference),
            pair_luck=None if settings.reference is None else rows["luck"].copy(),
            stop=stopped,
            record=None if settings.record is None else str(settings.record),
        )

    @property
    def pair_results(self) -> NDArray[np.float64]:
        return self.pair_points

    @property
    def bounds(self) -> tuple[float, float]:
        return -self.most_points, self.most_points

    @property
    def points(self) -> Estimate:
        """Points per game, plain."""
        return self.plain

    @property
    def points_per_game(self) -> float:
        return self.points.mean

    @property
    def interval(self) -> tuple[float, float]:
        return self.points.low, self.points.high

    @property
    def won(self) -> tuple[int, int, int]:
        """Games, gammons and backgammons won. Cumulative: games contain gammons, gammons backgammons."""
        return sum(self.endings[:3]), sum(self.endings[1:3]), self.endings[2]

    @property
    def lost(self) -> tuple[int, int, int]:
        """Games, gammons and backgammons lost, cumulative like `won`."""
        return sum(self.endings[3:]), sum(self.endings[4:]), self.endings[5]

    def as_dict(self) -> dict[str, Any]:
        """For JSON. Cumulative counts: wins contain the gammons, gammons the backgammons."""
        wins, gammons, backgammons = self.won
        losses, gammons_lost, backgammons_lost = self.lost
        return {
            "schema": "bgnet.arena/1",
            "a": self.a,
            "b": self.b,
            "rules": self.rules,
            "variant": self.variant,
            "games": self.games,
            "seed": self.seed,
            **self.estimate_fields("points_per_game"),
            "wins": wins,
            "gammons": gammons,
            "backgammons": backgammons,
            "losses": losses,
            "gammons_lost": gammons_lost,
            "backgammons_lost": backgammons_lost,
            **stop_fields(self.stop),
            "plies_per_game": self.plies / self.games,
            "seconds": self.seconds,
            "games_per_s": self.games / self.seconds,
            "workers": self.workers,
            "record": self.record,
        }


def interval_fields(found: Estimate) -> list[float] | None:
    """For JSON, which knows no infinity: an interval, None where a single pair tells nothing of the spread."""
    return [found.low, found.high] if math.isfinite(found.half_width) else None


def stop_fields(stop: Stopped | None) -> dict[str, Any]:
    """For JSON: `stopped` (why it ended: "games", "until" or "sprt"), the rule's own object, and whether the estimates'
    intervals are 95 % ones: not where an SPRT decided how long to go on.
    """
    if stop is None:
        return {"stopped": "games", "sprt": None, "until": None, "interval_valid": True}
    found = stop.as_dict()
    rule = found.pop("rule")
    return {
        "stopped": "games" if stop.decision is None else rule,
        "sprt": None,
        "until": None,
        rule: found,
        "interval_valid": not isinstance(stop.rule, Sprt),
    }
