"""Cube decisions of money and match play from the chances of a game.

    decision = decide(evaluator.outcomes(state.position.board), state)
    decision.action, decision.label      # CubeAction.DOUBLE_TAKE, "Double, take"
    decision.no_double, decision.double_take, decision.double_pass, decision.costs

Money: Janowski's formulas, exact in small bearoffs. Match: the live-cube recursion over a match equity table. What
search and rollouts need of many positions at once is in bgnet.cube_context, cube_values and cube_efficiency.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bgnet.cube_actions import CubeAction, CubeCosts, action_label, costs_of, proper_action
from bgnet.cube_context import CubeContext, CubeError
from bgnet.cube_efficiency import (
    EFFICIENCIES,
    GNUBG_107,
    CubeClass,
    Efficiencies,
    classes,
    efficiencies,
    exact_values,
    leaf_efficiencies,
    leaf_values,
)
from bgnet.cube_points import CubePoints, cube_points
from bgnet.cube_values import Expansion, cubeful_values, expand, settle
from bgnet.match_equity import MatchEquityTable
from engine.bearoff import endgames, known_outcomes, two_sided
from engine.board import count_checkers
from engine.outcomes import CUMULATIVE, to_cumulative
from engine.state import GameState, GameStatus

__all__ = [
    "EFFICIENCIES", "CubeAction", "CubeChances", "CubeClass", "CubeContext", "CubeCosts", "CubeDecision", "CubeError",
    "CubePoints", "Efficiencies", "Expansion", "check_state", "checked_efficiency", "classes", "cubeful_values",
    "decide", "decision_from_values", "efficiencies", "exact_values", "expand", "leaf_efficiencies", "leaf_values",
    "settle", "should_beaver", "should_double", "should_take",
]  # fmt: skip

_SUM_TOLERANCE = 1e-4  # float32 chances, and those that others print, sum to 1 only roughly
_BELOW_TOLERANCE = 1e-5


class CubeChances(NamedTuple):
    """Chances of the player on roll to win the match."""

    no_double: float
    double_take: float | None
    double_pass: float | None
    best: float


@dataclass(frozen=True, eq=False)
class CubeDecision:
    """A cube decision, judged. Everything is in the view of the player on roll, also while his double is pending.

    Equities are per unit of the cube as it stands before a double, also in a match: losing a single game is -1,
    winning one +1. What may not happen is None.
    """

    state: GameState
    context: CubeContext
    outcomes: NDArray[np.float64]
    """float64[6], read-only: the chances that it rests on (engine.outcomes); the exact table's where that knows."""
    efficiency: float | None
    """The cube efficiency behind no_double; None where the values are not from the formula."""
    double_efficiency: float | None
    """The one behind double_take; another one only in small bearoffs of a match."""
    no_double: float
    """Without a double now."""
    double_take: float | None
    """After a double that is taken and not beavered."""
    double_pass: float | None
    """After a double that is passed: 1."""
    beaver: float | None
    """After a double that is beavered."""
    cubeless: float
    """As if there were no cube, gammons counted: also in a match normalised at the cube as it stands."""
    best: float
    """When both play best; if a double is pending, what the best answer leaves."""
    action: CubeAction
    """What would be right before a double; a pending one does not change it."""

    @property
    def label(self) -> str:
        """The action in words."""
        return action_label(self.action, self.cube_owner > 0)

    @property
    def cube_owner(self) -> int:
        """The cube's owner: +1 the player on roll, 0 nobody, -1 his opponent."""
        return self.state.cube_owner

    @property
    def available(self) -> bool:
        """Whether there is a double to judge."""
        return self.double_take is not None

    @cached_property
    def costs(self) -> CubeCosts:
        """What each alternative of either player loses against his best one."""
        best = float(settle(self.no_double, *self._double)) if self._double else self.no_double
        return costs_of(self.no_double, self.double_take, self.double_pass, self.beaver, best)

    @property
    def _double(self) -> tuple[float, float, float | None] | None:
        if self.double_take is None or self.double_pass is None:
            return None
        return self.double_take, self.double_pass, self.beaver

    @cached_property
    def mwc(self) -> CubeChances | None:
        """The same values as chances to win the match; None in money play."""
        if self.context.away is None:
            return None

        def chance(equity: float) -> float:
            return float(self.context.from_equity(equity, self.state.cube))

        taken, passed = self.double_take, self.double_pass
        return CubeChances(
            chance(self.no_double),
            None if taken is None else chance(taken),
            None if passed is None else chance(passed),
            chance(self.best),
        )

    @cached_property
    def points(self) -> CubePoints:
        """The doubling window. Where the values are not from the formula, it is the formula's with the class's
        efficiency."""
        x, x_double = self.efficiency, self.double_efficiency
        if x is None:
            x = float(efficiencies(self.state.position.board[None], checkers=self.context.checkers)[0])
        return cube_points(self.outcomes, self.context, self.state.cube, self.cube_owner, x, x_double)

    @property
    def take_point(self) -> float | None:
        """The chance to win from which on the player on roll takes the opponent's double of this cube."""
        return self.points.take

    @property
    def double_point(self) -> float | None:
        """From which on he doubles, or redoubles if he owns the cube; None if the opponent owns it."""
        return (self.points.double, self.points.redouble, None)[self.cube_owner]

    @property
    def redouble_point(self) -> float | None:
        """From which on he would redouble if he owned this cube."""
        return self.points.redouble

    @property
    def cash_point(self) -> float | None:
        """From which on the opponent passes: his own take point is 1 less this."""
        return self.points.cash

    @property
    def beaver_point(self) -> float | None:
        """Up to which the opponent beavers."""
        return self.points.beaver

    @property
    def too_good_point(self) -> float | None:
        """From which on playing for the gammon is worth more than a pass."""
        return self.points.too_good

    @property
    def wrong_answers_needed(self) -> float | None:
        """Where doubling is wrong: the share of games in which the opponent must answer wrongly to make it even.

        None where doubling is no mistake, or none that he could make good.
        """
        if self._double is None:
            return None
        taken, passed, beaver = self._double
        answers = sorted((taken if beaver is None else min(taken, beaver), passed))
        right, wrong = answers
        if not right < self.no_double <= wrong:
            return None
        return (self.no_double - right) / (wrong - right)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers and names for JSON."""
        return {
            "no_double": self.no_double,
            "double_take": self.double_take,
            "double_pass": self.double_pass,
            "beaver": self.beaver,
            "best": self.best,
            "cubeless": self.cubeless,
            "action": self.action.value,
            "label": self.label,
            "costs": self.costs.as_dict(),
            "wrong_answers_needed": self.wrong_answers_needed,
            "mwc": self.mwc._asdict() if self.mwc else None,
            "take_point": self.take_point,
            "double_point": self.double_point,
            "redouble_point": self.redouble_point,
            "cash_point": self.cash_point,
            "beaver_point": self.beaver_point,
            "too_good_point": self.too_good_point,
            "outcomes": self.outcomes.tolist(),
            "chances": dict(zip(CUMULATIVE, to_cumulative(self.outcomes).tolist(), strict=True)),
            "efficiency": self.efficiency,
        }

    def __repr__(self) -> str:
        values = ", ".join(
            "-" if value is None else f"{round(value, 4) + 0.0:+.4f}"
            for value in (self.no_double, self.double_take, self.double_pass)
        )
        return f"CubeDecision({self.label!r}, {values})"


def decide(
    outcomes: ArrayLike | None,
    state: GameState,
    *,
    efficiency: float | str | Efficiencies | None = None,
    table: MatchEquityTable | None = None,
) -> CubeDecision:
    """Judge the cube before a roll, or a double that is pending.

    outcomes: float[6], the exclusive chances of the player on roll before he rolls (engine.outcomes;
    `from_cumulative` makes them of the usual five). None where the exact endgame tables know them.
    state: without dice. While a double is pending the decision is the receiver's (`costs.take`, `costs.pass_`), and all
    numbers stay in the view of the player on roll, who doubled.
    efficiency: a number from 0 to 1 uses the formula alone, with that cube efficiency. Otherwise it is chosen by the
    position's class, from an `Efficiencies` or a preset's name, GNU Backgammon 1.07's by default; and money values that
    the two-sided table knows are taken from it, whatever the outcomes say.
    table: the match equity table, by default Kazaross-XG2. Ignored in money play.

    Raises CubeError for chances or a state on which there is nothing to decide, MatchEquityError for a match that is
    too long for the table.
    """
    check_state(state)
    chances = _known_chances(state) if outcomes is None else _checked_chances(outcomes)
    chosen = checked_efficiency(efficiency)
    if table is not None and not isinstance(table, MatchEquityTable):
        raise CubeError(
            f"table must be a MatchEquityTable, not {type(table).__name__} (bgnet.match_equity_files reads one)"
        )
    context = CubeContext.from_state(state, table)
    cubes = context.states([(state.cube, state.cube_owner), (2 * state.cube, -1)])
    board = state.position.board[None]
    x: tuple[float, float] | None = None
    if isinstance(chosen, Efficiencies):
        exact = exact_values(board, cubes, context)
        if not np.isnan(exact).any():
            chances = _known_chances(state)
            values = exact[0]
        else:
            x_row = leaf_efficiencies(board, chances[None], cubes, context, chosen)[0]
            x = float(x_row[0]), float(x_row[1])
    else:
        x = chosen, chosen
    if x is not None:
        values = cubeful_values(chances[None], cubes, context, np.array([x]))[0]
    return decision_from_values(state, context, chances, values, x)


def decision_from_values(
    state: GameState,
    context: CubeContext,
    outcomes: NDArray[np.float64],
    values: ArrayLike,
    efficiencies: tuple[float, float] | None = None,
) -> CubeDecision:
    """The decision that values from elsewhere (a search, a rollout) call for.

    values: float[2], in context units, of the state's cube without a double and of the doubled one that the opponent
    owns; float[3] with the cube after a beaver too. outcomes: float64[6], the chances that go with them. efficiencies:
    behind the two values, if they are from the formula. Trusts its arguments.
    """
    cube, owner = state.cube, state.cube_owner
    equities = context.to_equity(values, cube)
    no_double = float(equities[0])
    may_double = context.may_double(cube, owner)
    taken = passed = beaver = None
    best = no_double
    action = CubeAction.NOT_AVAILABLE if context.away is None or owner < 0 else CubeAction.DEAD_CUBE
    chances = to_cumulative(outcomes)
    if may_double or state.doubled:
        taken, passed = float(equities[1]), 1.0
        if context.may_beaver(cube):
            beaver = float(equities[2]) if len(equities) > 2 else _beavered(taken, context, cube, outcomes)
        best = min(taken, passed, taken if beaver is None else beaver)
        if not state.doubled:
            best = float(settle(no_double, taken, passed, beaver))
    if may_double and taken is not None and passed is not None:
        action = proper_action(
            no_double, taken, passed, beaver,
            owned=owner > 0, win=float(chances[0]), win_gammon=float(chances[1]),
            gammons_count=not (context.jacoby and owner == 0),
        )  # fmt: skip
    dead = cubeful_values(outcomes[None], [[cube, 1]], context, 0.0)[0, 0]  # an owned cube: gammons count
    outcomes.flags.writeable = False
    return CubeDecision(
        state=state,
        context=context,
        outcomes=outcomes,
        efficiency=None if efficiencies is None else efficiencies[0],
        double_efficiency=None if efficiencies is None else efficiencies[1],
        no_double=no_double,
        double_take=taken,
        double_pass=passed,
        beaver=beaver,
        cubeless=float(context.to_equity(dead, cube)),
        best=best,
        action=action,
    )


def should_double(decision: CubeDecision) -> bool:
    """Whether the player on roll should double now; where that is optional he keeps the cube."""
    return decision.action.doubles and not decision.state.doubled


def should_take(decision: CubeDecision) -> bool:
    """Whether the other player should take a double (or beaver); equal values are a pass. Raises CubeError."""
    taken, passed = _doubled_values(decision)
    return taken < passed


def should_beaver(decision: CubeDecision) -> bool:
    """Whether the other player should beaver a double. Raises CubeError where there cannot be one."""
    taken, _ = _doubled_values(decision)
    return decision.beaver is not None and decision.beaver < taken


def _doubled_values(decision: CubeDecision) -> tuple[float, float]:
    if decision.double_take is None or decision.double_pass is None:
        raise CubeError(f"there is no double to answer: {decision.label}")
    return decision.double_take, decision.double_pass


def _beavered(taken: float, context: CubeContext, cube: int, outcomes: NDArray[np.float64]) -> float:
    """The equity after a beaver: twice that of the take, unless the cube has then reached its highest face."""
    if 4 * cube < context.top_cube:
        return 2.0 * taken
    dead = cubeful_values(outcomes[None], [[4 * cube, -1]], context, 0.0)[0, 0]
    return float(context.to_equity(dead, cube))


def check_state(state: GameState) -> None:
    if not isinstance(state, GameState):
        raise CubeError(f"state must be a GameState, not {type(state).__name__}")
    if state.dice is not None:
        raise CubeError(
            f"one doubles before the roll, and the dice show {state.dice[0]}-{state.dice[1]}: "
            "dataclasses.replace(state, dice=None) takes them back"
        )
    if state.resigned:
        raise CubeError("a resignation is pending, which is answered before anybody doubles")
    if state.game_state > GameStatus.PLAYING or not all(count_checkers(state.position.board)):
        raise CubeError("the game is over, there is nothing to double")


def _checked_chances(outcomes: ArrayLike) -> NDArray[np.float64]:
    """float[6] -> float64[6] from 0 to 1 that sum to 1, in memory of its own."""
    try:
        chances = np.array(outcomes, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CubeError(f"outcomes must be six numbers, not {outcomes!r}") from error
    if chances.shape != (6,):
        hint = "; five are cumulative: engine.outcomes.from_cumulative converts them" if chances.shape == (5,) else ""
        raise CubeError(f"outcomes must be six chances, of shape (6,), not {chances.shape}{hint}")
    if not np.isfinite(chances).all():
        raise CubeError(f"outcomes must be finite, not {chances.tolist()}")
    if chances.min() < -_BELOW_TOLERANCE:
        raise CubeError(f"outcomes must not be negative: {chances.tolist()}")
    if abs(chances.sum() - 1.0) > _SUM_TOLERANCE:
        raise CubeError(f"outcomes must sum to 1, not to {chances.sum():.6g} (win, gammon, backgammon each exclusive)")
    return _normalised(chances)


def _normalised(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    positive = np.maximum(chances, 0.0)
    out: NDArray[np.float64] = positive / positive.sum()
    return out


def _known_chances(state: GameState) -> NDArray[np.float64]:
    """float64[6] of the exact endgame tables. Raises CubeError where they do not know the position."""
    board = state.position.board[None]
    kind = classes(board, state.checkers)[0]
    if kind == CubeClass.TWO_SIDED:  # in double precision
        win = 0.5 + 0.5 * float(two_sided().equities(state.position.board)[0])
        return np.array([win, 0.0, 0.0, 1.0 - win, 0.0, 0.0], dtype=np.float64)
    chances = np.zeros((1, 6), dtype=np.float64)
    rows = np.empty(1, dtype=np.int64)
    if kind != CubeClass.ONE_SIDED or known_outcomes(endgames(), board, state.checkers, chances, rows):
        raise CubeError("the exact endgame tables do not know this position: give its outcomes, from an Evaluator, say")
    return _normalised(chances[0])


def checked_efficiency(efficiency: float | str | Efficiencies | None) -> float | Efficiencies:
    if efficiency is None:
        return GNUBG_107
    if isinstance(efficiency, Efficiencies):
        return efficiency
    if isinstance(efficiency, str):
        if efficiency not in EFFICIENCIES:
            raise CubeError(f"efficiency {efficiency!r}: the presets are {', '.join(EFFICIENCIES)}")
        return EFFICIENCIES[efficiency]
    if isinstance(efficiency, (int, float, np.integer, np.floating)) and not isinstance(efficiency, bool):
        x = float(efficiency)
        if 0.0 <= x <= 1.0:
            return x
    raise CubeError(f"efficiency must be a number from 0 to 1, a preset's name or Efficiencies, not {efficiency!r}")
