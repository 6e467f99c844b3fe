"""What games between two bots have shown, and as JSON."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.arena_games import bot_name
from bgnet.arena_runs import Sheet
from bgnet.arena_settings import Settings
from bgnet.sequential import Stopped
from bgnet.statistics import Estimate, estimate, variance_ratio

__all__ = ["ArenaResult", "stop_fields"]


@dataclass(frozen=True)
class ArenaResult:
    """What came out, all from A's view."""

    a: str
    b: str
    games: int
    seed: int
    rules: str
    variant: str
    workers: int
    seconds: float
    """From the call to the result, loading of bots in worker processes included; with a record, of all its sessions."""
    plies: int
    """Rolls of all games together, those that could not be played included."""
    endings: tuple[int, int, int, int, int, int]
    """How many games ended each way, in the order of engine.outcomes."""
    pair_points: NDArray[np.float64] = field(repr=False, compare=False)
    """float64[games / 2]: points per game in each dice pair, in order."""
    most_points: float = field(repr=False, default=3.0)
    """The most that a single game can win."""
    reference: str | None = None
    """Who judged the luck of the rolls; None: luck was not looked at."""
    pair_luck: NDArray[np.float64] | None = field(repr=False, compare=False, default=None)
    """float64[games / 2]: A's luck, less B's, per game in each dice pair, in points; None without a reference."""
    stop: Stopped | None = field(repr=False, compare=False, default=None)
    """With a rule that may stop early: what it decided; None: there was none."""
    record: str | None = None
    """The file that holds every pair's result."""

    @classmethod
    def of(
        cls, a: str, b: str, sheet: Sheet, settings: Settings, stopped: Stopped | None, seconds: float
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

    @functools.cached_property
    def points(self) -> Estimate:
        """Points per game with its 95 % interval over the pairs (Student's t)."""
        return estimate(self.pair_points, bounds=(-self.most_points, self.most_points))

    @functools.cached_property
    def luck_adjusted(self) -> Estimate | None:
        """Points per game less the luck of all rolls, with its 95 % interval over the pairs; None without a reference.

        Unbiased, whoever the reference is: every roll's luck is 0 on average. The mean of a few games may lie outside
        of what can be won.
        """
        if self.pair_luck is None:
            return None
        values = self.pair_points - self.pair_luck
        if len(values) == 1:  # it says nothing of the spread
            return estimate(values, bounds=(-self.most_points, self.most_points))
        return estimate(values)

    @property
    def best(self) -> Estimate:
        """The luck-adjusted estimate where there is one, else the plain one."""
        return self.luck_adjusted or self.points

    @property
    def variance_ratio(self) -> float | None:
        """How many times more pairs the plain result would need for the luck-adjusted interval; None if not known."""
        adjusted = self.luck_adjusted
        return None if adjusted is None else variance_ratio(self.points, adjusted)

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
            "points_per_game": self.points_per_game,
            "interval": list(self.interval),
            "luck_adjusted": self._luck_adjusted_dict(),
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

    def _luck_adjusted_dict(self) -> dict[str, Any] | None:
        adjusted = self.luck_adjusted
        if adjusted is None:
            return None
        return {
            "points_per_game": adjusted.mean,
            "interval": [adjusted.low, adjusted.high],
            "reference": self.reference,
            "variance_ratio": self.variance_ratio,
        }


def stop_fields(stop: Stopped | None) -> dict[str, Any]:
    """For JSON: `stopped` (why it ended: "games", "until" or "sprt") and the rule's own object."""
    if stop is None:
        return {"stopped": "games", "sprt": None, "until": None}
    found = stop.as_dict()
    rule = found.pop("rule")
    return {"stopped": "games" if stop.decision is None else rule, "sprt": None, "until": None, rule: found}
