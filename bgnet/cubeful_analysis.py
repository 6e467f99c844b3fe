"""Looking at the cube: one decision explained, and the proper action at every score of a match. Typed results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from bgnet.analysis import named_evaluator, read_state, xgid_or_none
from bgnet.composite import Composite
from bgnet.cube import CubeDecision, Efficiencies, check_state, checked_efficiency
from bgnet.cube_context import CubeError
from bgnet.cubeful import CubefulSearch, knows_exactly
from bgnet.evaluators import Evaluator
from bgnet.match_equity import LONGEST, MatchEquityTable
from bgnet.players import DEFAULT_BOT
from engine.position import Position
from engine.state import GameState

__all__ = ["CubeAnalysis", "CubeMatrix", "MatrixCell", "analyze_cube", "analyze_scores"]

_OWNERS = {1: "own", 0: "centre", -1: "opponent"}


@dataclass(frozen=True, eq=False)
class CubeAnalysis:
    """What a bot thinks of the cube."""

    state: GameState
    bot: str
    ply: int
    """The depth asked for."""
    depth: str
    """How it was judged: "0-ply", "2-ply", ..., or "exact"."""
    decision: CubeDecision
    table: str | None
    """The name of the match equity table; None in money play."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with what was asked."""
        state = self.state
        return {
            "schema": "bgnet.cube/1",
            **_asked(state, self.bot, self.ply),
            "depth": self.depth,
            "match_length": state.match_length,
            "score": [state.score[state.on_roll], state.score[1 - state.on_roll]],
            "away": list(state.away) if state.away else None,
            "crawford": state.crawford,
            "jacoby": state.jacoby,
            "beavers": state.beavers,
            "match_equity_table": self.table,
            "double_pending": state.doubled,
            **self.decision.as_dict(),
        }


class MatrixCell(NamedTuple):
    """One score of a match, and what to do there."""

    away: int
    """Points that the player on roll needs."""
    opponent_away: int
    crawford: bool
    """It is the Crawford game; else, where somebody needs one point, that has been played."""
    decision: CubeDecision


@dataclass(frozen=True, eq=False)
class CubeMatrix:
    """The proper action at every score of a match, with one place of the cube."""

    state: GameState
    """The position, with its own score."""
    bot: str
    ply: int
    length: int
    cells: tuple[MatrixCell, ...]
    """By what the player on roll needs, then by what his opponent needs, from 1; at 1 the Crawford game first."""
    table: str

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with what was asked."""
        return {
            "schema": "bgnet.cube_matrix/1",
            **_asked(self.state, self.bot, self.ply),
            "match_length": self.length,
            "match_equity_table": self.table,
            "cells": [
                {
                    "away": [cell.away, cell.opponent_away],
                    "crawford": cell.crawford,
                    "no_double": cell.decision.no_double,
                    "double_take": cell.decision.double_take,
                    "double_pass": cell.decision.double_pass,
                    "best": cell.decision.best,
                    "action": cell.decision.action.value,
                    "label": cell.decision.label,
                    "mwc": cell.decision.mwc._asdict() if cell.decision.mwc else None,
                }
                for cell in self.cells
            ],
        }


def analyze_cube(
    position: str | Position | GameState,
    *,
    bot: str | Evaluator = DEFAULT_BOT,
    ply: int | None = None,
    efficiency: float | str | Efficiencies | None = None,
    table: MatchEquityTable | None = None,
    threads: int = 0,
    stop: Callable[[], bool] = lambda: False,
) -> CubeAnalysis:
    """Judge the cube before the roll, or a double that is pending.

    position: an XGID, GNUBG ID or Position ID, a Position or a GameState. bot: a name (its depth may stand in it) or an
    Evaluator; the exact endgame tables are asked where they know. ply: the depth, 2 unless said. efficiency, table: as
    of bgnet.cube.decide. threads: 0 = all cores.

    Raises NotationError, CubeError, MatchEquityError, and what making the bot raises.
    """
    state = read_state(position)
    check_state(state)
    leaves, name, ply = named_evaluator(bot, ply)
    exact = isinstance(checked_efficiency(efficiency), Efficiencies) and knows_exactly(state)
    search = CubefulSearch(
        Composite(leaves), 0 if exact else ply, efficiency=efficiency, table=table, threads=threads, stop=stop
    )
    decision = search.decide(state)
    met = decision.context.table
    return CubeAnalysis(state, name, ply, "exact" if exact else f"{ply}-ply", decision, met.name if met else None)


def analyze_scores(
    position: str | Position | GameState,
    length: int,
    *,
    bot: str | Evaluator = DEFAULT_BOT,
    ply: int | None = None,
    efficiency: float | str | Efficiencies | None = None,
    table: MatchEquityTable | None = None,
    threads: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
    stop: Callable[[], bool] = lambda: False,
) -> CubeMatrix:
    """The proper action in a position at every score of a match to `length` points, with the cube where it is.

    The score and the rules of money play that the position comes with do not matter; the rest is as for `analyze_cube`.
    progress: called with the scores judged so far, and all. Raises the same, and CubeError for a length below 2, or for
    a cube that such a match cannot have.
    """
    if not isinstance(length, int) or isinstance(length, bool) or not 2 <= length <= LONGEST:
        raise CubeError(f"a table of scores is for a match to 2..{LONGEST} points, not {length!r}")
    state = read_state(position)
    check_state(state)
    scores = [score for score in _scores(length) if state.cube == 1 or not score[2]]
    leaves, name, ply = named_evaluator(bot, ply)
    search = CubefulSearch(Composite(leaves), ply, efficiency=efficiency, table=table, threads=threads, stop=stop)
    cells = []
    for own, opponent, crawford in scores:
        seats = (length - opponent, length - own) if state.on_roll else (length - own, length - opponent)
        placed = replace(
            state, match_length=length, score=seats, crawford=crawford, jacoby=False, beavers=False, doubled=False
        )
        cells.append(MatrixCell(own, opponent, crawford, search.decide(placed)))
        progress(len(cells), len(scores))
    met = cells[0].decision.context.table
    assert met is not None
    return CubeMatrix(state, name, ply, length, tuple(cells), met.name)


def _scores(length: int) -> Iterator[tuple[int, int, bool]]:
    """(points needed, by the opponent, whether it is the Crawford game) of all scores with a game to play."""
    for own in range(1, length + 1):
        for opponent in range(1, length + 1):
            one_needs_one = min(own, opponent) == 1 < max(own, opponent)
            if one_needs_one:
                yield own, opponent, True
            if not (one_needs_one and max(own, opponent) == length):  # the one behind has won the Crawford game
                yield own, opponent, False


def _asked(state: GameState, bot: str, ply: int) -> dict[str, Any]:
    own, opponent = state.pips
    return {
        "position_id": state.position.position_id,
        "xgid": xgid_or_none(state),
        "bot": bot,
        "ply": ply,
        "pips": [own, opponent],
        "cube": state.cube,
        "cube_owner": _OWNERS[state.cube_owner],
    }
