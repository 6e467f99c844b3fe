"""What a cubeful rollout says: the branches of a cube decision with their errors, and as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.analysis import xgid_or_none
from bgnet.cube import CubeAction, CubeDecision, decision_from_values
from bgnet.cube_context import CubeContext
from bgnet.cubeful_rollouts_games import CASHED, PASSED, TRUNCATED, CubeGames
from bgnet.rollout_results import chances_of, variance_factor
from bgnet.statistics import finite_or_none
from bgnet.strata import std_error, strata
from engine.state import GameState

__all__ = ["CubeBranch", "CubeRolloutSettings", "CubefulRollout", "cube_result_of", "equities_of"]


@dataclass(frozen=True, kw_only=True)
class CubeRolloutSettings:
    """What was asked for, as far as it decides the numbers."""

    trials: int
    """For each branch, at most."""
    seed: int
    ply: int
    """The depth of checker play and cube decisions inside."""
    truncate: int | None
    """After how many plies games are judged; None: they are played to the end."""
    luck: bool
    """Whether luck is taken off."""
    tables: bool
    """Whether the exact endgame tables are asked where they know."""
    bot: str
    """Who plays and judges."""
    efficiency: str
    """The cube efficiency."""
    table: str | None
    """The name of the match equity table; None in money play."""

    def depth(self, trials: int) -> str:
        """As behind every number: "cubeful rollout 1296x0-ply", "cubeful rollout 1296x0-ply, 8 plies"."""
        end = "" if self.truncate is None else f", {self.truncate} {'ply' if self.truncate == 1 else 'plies'}"
        return f"cubeful rollout {trials}x{self.ply}-ply{end}"


@dataclass(frozen=True, kw_only=True)
class CubeBranch:
    """One branch of the decision: the games begun without a double, or after a double and a take.

    In the view of the player on roll. Equities are per unit of the cube before any double, in a match too (losing a
    single game is -1, winning one +1). Standard errors are those of `bgnet.strata.std_error`.
    """

    equity: float
    """Luck-adjusted, where that was asked for."""
    std_error: float
    """nan for a single trial."""
    plain_equity: float
    """Luck included."""
    std_error_plain: float
    mwc: float | None
    """The equity as a chance to win the match; None in money play."""
    mwc_std_error: float | None
    outcomes: NDArray[np.float64]
    """float64[6], how the games ended, luck included; of those cut off, also by a pass, the chances they had then."""
    cashed: float
    """The share of the games in which the opponent passed a double."""
    passed: float
    """The share in which the player on roll passed one."""
    truncated: float
    """The share that was judged before its end."""
    mean_cube: float
    """What the cube showed at the end."""
    trials: int

    @property
    def chances(self) -> dict[str, float]:
        """The cumulative five (win contains the gammons, a gammon the backgammons)."""
        return chances_of(self.outcomes)

    @property
    def variance_factor(self) -> float:
        """How many times luck adjustment cut the variance; nan when no error is left but that of rounding."""
        return variance_factor(self.std_error_plain, self.std_error)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        numbers = {name: value for name, value in vars(self).items() if name != "outcomes"}
        return {
            **{name: finite_or_none(value) for name, value in numbers.items()},
            "outcomes": self.outcomes.tolist(),
            "chances": self.chances,
            "variance_factor": finite_or_none(self.variance_factor),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class CubefulRollout:
    """A cube decision, rolled out: both branches with the same dice."""

    state: GameState
    decision: CubeDecision
    """The decision that the equities call for; its chances are those of the branch without a double."""
    no_double: CubeBranch
    double_take: CubeBranch | None
    """After a double that is taken and not beavered; None where there is no double to judge."""
    difference: float | None
    """The equity of double_take less that of no_double."""
    joint_std_error: float | None
    """Of the difference, the games paired by their dice."""
    settings: CubeRolloutSettings
    trials: int
    """Of each branch."""
    stopped: str
    """Why it ended: "trials" (all done), "std_error" (small enough), "asked" (by `stop` or Ctrl-C)."""
    seconds: float

    @property
    def double_pass(self) -> float | None:
        """The equity of a double that is passed: 1, without error; None where there is no double to judge."""
        return self.decision.double_pass

    @property
    def action(self) -> CubeAction:
        """The proper action, by the equities as they are."""
        return self.decision.action

    @property
    def label(self) -> str:
        """The action in words."""
        return self.decision.label

    @property
    def depth(self) -> str:
        """How it was judged."""
        return self.settings.depth(self.trials)

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with what was asked."""
        state, decision = self.state, self.decision
        return {
            "schema": "bgnet.cube_rollout/1",
            "position_id": state.position.position_id,
            "xgid": xgid_or_none(state),
            "cube": state.cube,
            "cube_owner": {1: "own", 0: "centre", -1: "opponent"}[state.cube_owner],
            "away": list(state.away) if state.away else None,
            "crawford": state.crawford,
            "jacoby": state.jacoby,
            "beavers": state.beavers,
            "double_pending": state.doubled,
            "no_double": self.no_double.as_dict(),
            "double_take": None if self.double_take is None else self.double_take.as_dict(),
            "double_pass": self.double_pass,
            "difference": self.difference,
            "joint_std_error": finite_or_none(self.joint_std_error),
            "best": decision.best,
            "action": self.action.value,
            "label": self.label,
            "costs": decision.costs.as_dict(),
            "mwc": decision.mwc._asdict() if decision.mwc else None,
            "depth": self.depth,
            "trials": self.trials,
            "trials_asked": self.settings.trials,
            **{name: value for name, value in asdict(self.settings).items() if name != "trials"},
            "stopped": self.stopped,
            "seconds": self.seconds,
        }


def cube_result_of(
    state: GameState,
    context: CubeContext,
    games: CubeGames,
    settings: CubeRolloutSettings,
    stopped: str,
    seconds: float,
) -> CubefulRollout:
    """The result that the games of one branch or two call for."""
    points = equities_of(games, context, state.cube)
    count = points.shape[1]
    stratum = strata(settings.seed, count)
    branches = [_branch(state, context, games, row, stratum) for row in range(len(points))]
    double_take = branches[1] if len(branches) > 1 else None
    difference = joint = None
    if double_take is not None:
        difference, joint = double_take.equity - branches[0].equity, std_error(points[1] - points[0], stratum)
    values = context.from_equity([branch.equity for branch in branches], state.cube)
    return CubefulRollout(
        state=state,
        decision=decision_from_values(state, context, branches[0].outcomes, values),
        no_double=branches[0],
        double_take=double_take,
        difference=difference,
        joint_std_error=joint,
        settings=settings,
        trials=count,
        stopped=stopped,
        seconds=seconds,
    )


def equities_of(games: CubeGames, context: CubeContext, cube: int) -> NDArray[np.float64]:
    """float64[B, T]: the luck-adjusted equity of every game, per unit of the cube."""
    return context.to_equity(games.values - games.luck, cube)


def _branch(
    state: GameState, context: CubeContext, games: CubeGames, row: int, stratum: NDArray[np.int64]
) -> CubeBranch:
    values, endings = games.values[row], games.endings[row]
    adjusted = values - games.luck[row]
    plain, points = (context.to_equity(x, state.cube) for x in (values, adjusted))
    match = context.away is not None
    return CubeBranch(
        equity=float(points.mean()),
        std_error=std_error(points, stratum),
        plain_equity=float(plain.mean()),
        std_error_plain=std_error(plain, stratum),
        mwc=float(adjusted.mean()) if match else None,
        mwc_std_error=std_error(adjusted, stratum) if match else None,
        outcomes=games.outcomes[row].astype(np.float64).mean(axis=0),
        cashed=float((endings == CASHED).mean()),
        passed=float((endings == PASSED).mean()),
        truncated=float((endings == TRUNCATED).mean()),
        mean_cube=float(games.cubes[row].mean()),
        trials=len(values),
    )
