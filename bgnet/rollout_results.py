"""What a rollout says: estimates with their errors, for one position or for the plays of a roll, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.analysis import xgid_or_none
from bgnet.lockstep import Trials, points_of
from bgnet.statistics import finite_or_none
from bgnet.strata import std_error, strata
from engine.outcomes import CUMULATIVE, swap, to_cumulative
from engine.plays import Play
from engine.position import Position
from engine.state import GameState

__all__ = [
    "PlaysRollout",
    "RolledPlay",
    "RolloutEstimate",
    "RolloutResult",
    "RolloutSettings",
    "Saved",
    "chances_of",
    "plays_result_of",
    "result_of",
    "variance_factor",
]

ROUNDING = 1e-7
"""Standard errors up to this are none: evaluators answer in single precision."""


def chances_of(outcomes: NDArray[np.float64]) -> dict[str, float]:
    """float64[6] -> the cumulative five (win contains the gammons, a gammon the backgammons), cut to 0 .. 1."""
    return dict(zip(CUMULATIVE, np.clip(to_cumulative(outcomes), 0.0, 1.0).tolist(), strict=True))


def variance_factor(std_error_plain: float, std_error: float) -> float:
    """How many times luck adjustment cut the variance; nan when no error is left but that of rounding."""
    return (std_error_plain / std_error) ** 2 if std_error > ROUNDING else math.nan


@dataclass(frozen=True, kw_only=True)
class RolloutSettings:
    """What was asked for, as far as it decides the numbers."""

    trials: int
    """For each position, at most."""
    seed: int
    ply: int
    """The depth of checker play inside."""
    truncate: int | None
    """After how many plies trials are judged; None: they are played to the end."""
    luck: bool
    """Whether luck is taken off."""
    tables: bool
    """Whether the exact endgame tables are asked where they know."""
    payoff: tuple[float, ...]
    """Points of the six endings."""
    bot: str
    """Who judges and, unless there is a player, plays."""
    player: str | None = None
    """Who chooses the plays instead."""
    luck_evaluator: str | None = None
    """Who judges the luck of rolls instead."""

    @property
    def play(self) -> str:
        """How checkers are played inside, in short: "0-ply", or the player's name."""
        return f"{self.ply}-ply" if self.player is None else self.player

    def depth(self, trials: int) -> str:
        """As behind every number: "rollout 1296x0-ply", "rollout 1296x0-ply, 8 plies"."""
        end = "" if self.truncate is None else f", {self.truncate} {'ply' if self.truncate == 1 else 'plies'}"
        return f"rollout {trials}x{self.play}{end}"

    def differences(self, other: RolloutSettings) -> list[str]:
        """What keeps trials under these settings from being continued under the others, as "seed is 1, not 2"."""
        names = [f.name for f in fields(self) if f.name not in ("trials", "bot", "player", "luck_evaluator")]
        pairs = [(name, getattr(self, name), getattr(other, name)) for name in names]
        return [f"{name} is {old}, not {new}" for name, old, new in pairs if old != new]


@dataclass(frozen=True)
class Saved:
    """All that a rollout is continued from; bgnet.rollout_file keeps it in files."""

    state: GameState
    """With dice when plays were rolled out."""
    plays: tuple[str, ...] | None
    """The plays in the order of the rows, None for a position before the roll."""
    settings: RolloutSettings
    rows: Trials = field(repr=False)
    """Of each play's result (the next player's view), or of the position."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything to a file, atomically; `resume=path` goes on from there."""
        from bgnet.rollout_file import write_rollout

        write_rollout(path, self)


@dataclass(frozen=True, kw_only=True)
class RolloutEstimate:
    """Estimates from trials. Standard errors are those of `bgnet.strata.std_error`."""

    outcomes: NDArray[np.float64]
    """float64[6], sums to 1. Luck-adjusted: unbiased, hence possibly a hair below 0 or above 1."""
    equity: float
    """Cubeless points."""
    std_error: float
    """Of the equity; nan for a single trial."""
    plain_outcomes: NDArray[np.float64]
    """float64[6], how the trials ended, luck included."""
    plain_equity: float
    std_error_plain: float
    """Of the equity with luck included."""
    chance_std_errors: NDArray[np.float64]
    """float64[5], of the cumulative chances (see `chances`)."""
    trials: int
    depth: str

    @property
    def chances(self) -> dict[str, float]:
        """The cumulative five (win contains the gammons, a gammon the backgammons), cut to 0 .. 1."""
        return chances_of(self.outcomes)

    @property
    def variance_factor(self) -> float:
        """How many times luck adjustment cut the variance; nan when no error is left but that of rounding."""
        return variance_factor(self.std_error_plain, self.std_error)

    def _numbers(self) -> dict[str, Any]:
        """The part of the JSON that all estimates share."""
        errors = dict(zip(CUMULATIVE, map(finite_or_none, self.chance_std_errors.tolist()), strict=True))
        return {
            "equity": self.equity,
            "std_error": finite_or_none(self.std_error),
            "std_error_plain": finite_or_none(self.std_error_plain),
            "equity_plain": self.plain_equity,
            "outcomes": self.outcomes.tolist(),
            "chances": self.chances,
            "chance_std_errors": errors,
            "variance_factor": finite_or_none(self.variance_factor),
            "trials": self.trials,
            "depth": self.depth,
            "ply": None,
        }


@dataclass(frozen=True, kw_only=True)
class RolloutResult(RolloutEstimate):
    """A position before the roll, rolled out; all numbers are those of the player on roll."""

    state: GameState
    settings: RolloutSettings
    stopped: str
    """Why it ended: "trials" (all done), "std_error" (small enough), "asked" (by `stop` or Ctrl-C)."""
    seconds: float
    """Of this call."""
    saved: Saved = field(repr=False, compare=False)
    """What `resume` goes on from."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trials to a file, atomically; `rollout(..., resume=path)` goes on from there."""
        self.saved.save(path)

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with what was asked."""
        return {**_asked(self.state, self.settings, self.stopped, self.seconds), **self._numbers()}


@dataclass(frozen=True, kw_only=True)
class RolledPlay(RolloutEstimate):
    """A play, rolled out; all numbers are those of the one who makes it."""

    play: str
    """As one writes it, in the mover's numbers."""
    position: Position
    """The result, in the next player's view."""
    rank: int
    """From 1."""
    loss: float
    """How much less equity than the best play, >= 0."""
    joint_std_error: float | None
    """Of the difference to the best play (for the best: to the second), trials paired by their dice; None if alone."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "play": self.play,
            "rank": self.rank,
            "loss": self.loss,
            "joint_std_error": finite_or_none(self.joint_std_error),
            "position_id": self.position.position_id,
            **self._numbers(),
        }


@dataclass(frozen=True, kw_only=True)
class PlaysRollout:
    """Plays of one roll, rolled out with the same dice."""

    state: GameState
    """With the dice."""
    plays: tuple[RolledPlay, ...]
    """The best first."""
    settings: RolloutSettings
    trials: int
    """Of each play."""
    stopped: str
    """Why it ended: as RolloutResult.stopped, or "clear" (the leader is)."""
    seconds: float
    """Of this call."""
    saved: Saved = field(repr=False, compare=False)
    """What `resume` goes on from."""

    @property
    def best(self) -> RolledPlay:
        """The play with the highest equity."""
        return self.plays[0]

    @property
    def lead(self) -> float | None:
        """Equity of the best over the second best; None when there is one play only."""
        return self.plays[1].loss if len(self.plays) > 1 else None

    def save(self, path: str | PathLike[str]) -> None:
        """Write the trials to a file, atomically; `rollout_plays(..., resume=path)` goes on from there."""
        self.saved.save(path)

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with what was asked."""
        asked = _asked(self.state, self.settings, self.stopped, self.seconds)
        joint = self.best.joint_std_error
        return {
            **asked,
            "trials": self.trials,
            "lead": self.lead,
            "joint_std_error": finite_or_none(joint),
            "plays": [play.as_dict() for play in self.plays],
        }


def _estimates(saved: Saved, *, turned: bool = False) -> list[dict[str, Any]]:
    """The fields of a RolloutEstimate for each position of the rows; turned: in the other player's view."""
    rows, settings = saved.rows, saved.settings
    count = rows.results.shape[1]
    stratum = strata(settings.seed, count)
    found = []
    for results, luck in zip(rows.results.astype(np.float64), rows.luck, strict=True):
        plain, adjusted = (np.asarray(swap(x) if turned else x, np.float64) for x in (results, results - luck))
        points, plain_points = (points_of(x, settings.payoff) for x in (adjusted, plain))
        chances = np.asarray(to_cumulative(adjusted), np.float64)
        found.append(
            {
                "outcomes": adjusted.mean(axis=0),
                "equity": float(points.mean()),
                "std_error": std_error(points, stratum),
                "plain_outcomes": plain.mean(axis=0),
                "plain_equity": float(plain_points.mean()),
                "std_error_plain": std_error(plain_points, stratum),
                "chance_std_errors": np.array([std_error(chances[:, i], stratum) for i in range(len(CUMULATIVE))]),
                "trials": count,
                "depth": settings.depth(count),
            }
        )
    return found


def result_of(saved: Saved, stopped: str, seconds: float) -> RolloutResult:
    """The result of rolling a position out."""
    numbers = _estimates(saved)[0]
    return RolloutResult(
        **numbers, state=saved.state, settings=saved.settings, stopped=stopped, seconds=seconds, saved=saved
    )


def plays_result_of(saved: Saved, plays: Sequence[Play], stopped: str, seconds: float) -> PlaysRollout:
    """The result of rolling plays out, given in the order of the rows."""
    numbers = _estimates(saved, turned=True)
    order = sorted(range(len(plays)), key=lambda i: -numbers[i]["equity"])
    points = saved.rows.points(saved.settings.payoff)
    stratum = strata(saved.settings.seed, points.shape[1])
    joint = [std_error(points[i] - points[order[0]], stratum) for i in range(len(plays))]
    rolled = [
        RolledPlay(
            **numbers[i],
            play=plays[i].notation,
            position=plays[i].position,
            rank=rank,
            loss=numbers[order[0]]["equity"] - numbers[i]["equity"],
            joint_std_error=None if len(plays) == 1 else joint[i if rank > 1 else order[1]],
        )
        for rank, i in enumerate(order, start=1)
    ]
    return PlaysRollout(
        state=saved.state,
        plays=tuple(rolled),
        settings=saved.settings,
        trials=saved.rows.results.shape[1],
        stopped=stopped,
        seconds=seconds,
        saved=saved,
    )


def _asked(state: GameState, settings: RolloutSettings, stopped: str, seconds: float) -> dict[str, Any]:
    asked = asdict(settings)
    return {
        "schema": "bgnet.rollout/1",
        "position_id": state.position.position_id,
        "xgid": xgid_or_none(state),
        "dice": list(state.dice) if state.dice else None,
        "bot": settings.bot,
        "play_ply": settings.ply,
        "trials_asked": settings.trials,
        **{key: value for key, value in asked.items() if key not in ("bot", "ply", "trials", "payoff")},
        "payoff": list(settings.payoff),
        "stopped": stopped,
        "seconds": seconds,
    }
