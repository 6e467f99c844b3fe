"""Looking at one position: what it is worth, and how the plays of a roll compare. Plain functions, typed results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.evaluators import Evaluator
from bgnet.match_equity import LONGEST
from bgnet.players import DEFAULT_BOT, evaluator, split_depth
from bgnet.search import Candidate, MoveFilter, Search
from engine.board import count_checkers
from engine.errors import BoardError, DiceError, StateError
from engine.outcomes import CUMULATIVE, to_cumulative
from engine.plays import Play, legal_plays, parse_play
from engine.position import Position
from engine.rules import MONEY
from engine.state import GameState, GameStatus, read_position

if TYPE_CHECKING:
    from bgnet.cube import CubeDecision
    from bgnet.cubeful import CubefulSearch

__all__ = ["FILTERS", "Analysis", "JudgedPlay", "analyze", "named_evaluator", "read_state", "xgid_or_none"]


FILTERS = (MoveFilter(5, 3, 0.16),)
"""Wider than play needs: at least five plays are searched to the end, so that their losses can be compared."""


@dataclass(frozen=True, eq=False)
class JudgedPlay:
    """A legal play and what it is worth to the one who makes it."""

    play: str
    """As one writes it, in the mover's numbers."""
    position: Position
    """The result, in the next player's view."""
    outcomes: NDArray[np.float32]
    """float32[6], in the mover's view."""
    equity: float
    """In points, as if there were no cube; or cubeful, per unit of the cube as it stands (see Analysis.cubeful)."""
    loss: float
    """How much less than the best play, >= 0; across depths it says little."""
    depth: str
    """How it was judged: "0-ply", "2-ply", ..., or "exact"."""
    ply: int | None
    """The depth as a number; None when exact."""
    rank: int
    """From 1, the deepest judged plays first."""
    played: bool = False
    """Whether it is the play that was asked about."""
    mwc: float | None = None
    """The chance to win the match, of a cubeful analysis of one."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "play": self.play,
            "equity": self.equity,
            "loss": self.loss,
            "mwc": self.mwc,
            "rank": self.rank,
            "depth": self.depth,
            "ply": self.ply,
            "outcomes": [float(x) for x in self.outcomes],
            "chances": _chances(self.outcomes),
            "position_id": self.position.position_id,
            "played": self.played,
        }


@dataclass(frozen=True, eq=False)
class Analysis:
    """What a bot thinks of a position: before the roll, or of the plays of a roll."""

    state: GameState
    bot: str
    ply: int
    """The depth asked for."""
    outcomes: NDArray[np.float32]
    """float32[6] for the player on roll: before the roll, or after the best play when there are dice."""
    equity: float
    depth: str
    plays: tuple[JudgedPlay, ...] = ()
    """Ranked; empty without dice."""
    cubeful: bool = False
    """Whether the plays were chosen and valued with the cube and at the score."""
    cube: CubeDecision | None = None
    """The cube decision before the roll, of a cubeful analysis without dice; `equity` stays cubeless there."""

    @property
    def best(self) -> JudgedPlay:
        """The best play; BoardError when the dice are not rolled."""
        if not self.plays:
            raise BoardError("the dice are not rolled: there are no plays to compare; analyze(..., dice=...)")
        return self.plays[0]

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with what was asked."""
        own, opponent = self.state.position.pips
        return {
            "schema": "bgnet.analyze/1",
            "position_id": self.state.position.position_id,
            "xgid": xgid_or_none(self.state),
            "dice": list(self.state.dice) if self.state.dice else None,
            "bot": self.bot,
            "ply": self.ply,
            "pips": [own, opponent],
            "outcomes": [float(x) for x in self.outcomes],
            "chances": _chances(self.outcomes),
            "equity": self.equity,
            "depth": self.depth,
            "cubeful": self.cubeful,
            "cube": self.cube.as_dict() if self.cube else None,
            "plays": [play.as_dict() for play in self.plays],
        }


def analyze(
    position: str | Position | GameState,
    *,
    dice: object = None,
    bot: str | Evaluator = DEFAULT_BOT,
    ply: int | None = None,
    played: str | None = None,
    payoff: NDArray[np.float32] = MONEY.payoff,
    filters: Sequence[MoveFilter] = FILTERS,
    tables: bool = True,
    cubeful: bool | None = None,
    threads: int = 0,
    stop: Callable[[], bool] = lambda: False,
) -> Analysis:
    """Judge a position, or when dice are given (or stand in it) all plays of the roll.

    position: an XGID, GNUBG ID or Position ID, a Position or a GameState. bot: a name (its depth may stand in it, as in
    net:standard@1ply) or an Evaluator. ply: the depth, 2 unless said. played: a play that is searched as deep as the
    best. tables: ask the exact endgame tables where they know. cubeful: judge with the cube and at the score, before
    the roll with the cube decision beside the chances; None = where the state is of a match, or its cube has been
    turned. Otherwise equities are cubeless, by `payoff`. threads: 0 = all cores.

    Raises NotationError, BoardError, DiceError, IllegalPlayError, and what making the bot raises.
    """
    state = read_state(position, dice)
    if state.position.ending() is not None:
        raise BoardError(f"the game is over: {state.position!r} has no checkers of one side left")
    leaves, name, ply = named_evaluator(bot, ply)

    if tables:
        from bgnet.composite import Composite

        leaves = Composite(leaves)
    if cubeful is None:
        cubeful = _cube_matters(state)
    settings = _Settings(leaves, name, ply, payoff, tuple(filters), threads, stop)
    if state.dice is None:
        if played is not None:
            raise DiceError("a play was given but no dice: which roll is it for?")
        return _judge_position(settings, state, cubeful)
    plays = _judge_plays(settings, state, played, cubeful)
    return Analysis(state, name, ply, plays[0].outcomes, plays[0].equity, plays[0].depth, tuple(plays), cubeful)


def named_evaluator(bot: str | Evaluator, ply: int | None) -> tuple[Evaluator, str, int]:
    """What judges, its name, and the depth: `ply`, else the one that stands in the bot's name, else 2.

    Raises what making the bot raises.
    """
    if not isinstance(bot, str):
        return bot, repr(bot), 2 if ply is None else ply
    spec, named_ply = split_depth(bot)
    if ply is None:
        ply = 2 if named_ply is None else named_ply
    return evaluator(spec), spec, ply


def read_state(position: str | Position | GameState, dice: object = None) -> GameState:
    """Any form of a position, and dice that replace those that stand in it -> GameState."""
    from engine.steps import read_dice

    if isinstance(position, str):
        state = read_position(position)
    else:
        state = position if isinstance(position, GameState) else GameState(position)
    return state if dice is None else replace(state, dice=read_dice(dice))


class _Settings(NamedTuple):
    """How to judge, whatever is judged."""

    leaves: Evaluator
    name: str
    ply: int
    payoff: NDArray[np.float32]
    filters: tuple[MoveFilter, ...]
    threads: int
    stop: Callable[[], bool]

    @property
    def search(self) -> Search:
        return Search(self.leaves, self.ply, self.payoff, self.filters, threads=self.threads, stop=self.stop)

    @property
    def cubeful_search(self) -> CubefulSearch:
        from bgnet.cubeful import CubefulSearch

        return CubefulSearch(self.leaves, self.ply, filters=self.filters, threads=self.threads, stop=self.stop)

    def knows(self, position: Position) -> bool:
        """Whether the chances of a position are exact without any search."""
        from bgnet.composite import Composite
        from engine.bearoff import two_sided

        if not isinstance(self.leaves, Composite):
            return False
        checkers = self.leaves.checkers
        own, opponent = count_checkers(position.board)
        few = max(own, opponent) < checkers  # a side that has borne off none can still lose a gammon
        return position.ending(checkers) is not None or (few and two_sided().knows(position.board))


def _judge_position(settings: _Settings, state: GameState, cubeful: bool) -> Analysis:
    """Before the roll."""
    outcome = settings.search.outcomes(state.position.board[None])[0]
    depth = "exact" if settings.knows(state.position) else f"{settings.ply}-ply"
    decision = settings.cubeful_search.decide(state) if cubeful else None
    return Analysis(
        state, settings.name, settings.ply, outcome, float(outcome @ settings.payoff), depth,
        cubeful=cubeful, cube=decision,
    )  # fmt: skip


def _judge_plays(settings: _Settings, state: GameState, played: str | None, cubeful: bool) -> list[JudgedPlay]:
    assert state.dice is not None
    asked = parse_play(state.position, state.dice, played) if played is not None else None
    plays: dict[bytes, Play] = {play.position.board.tobytes(): play for play in legal_plays(state.position, state.dice)}
    always = [asked.position.board] if asked is not None else []
    ranked: Sequence[Candidate]
    if cubeful:
        ranked = settings.cubeful_search.rank(state, always)
        exact = {c.board.tobytes() for c in ranked if _knows_with_cube(state, plays[c.board.tobytes()].position)}
    else:
        ranked = settings.search.rank(state.position.board, np.array(state.dice, dtype=np.int8), always)
        exact = {c.board.tobytes() for c in ranked if settings.knows(plays[c.board.tobytes()].position)}
    # What the tables know needs no search: such plays stand with those that were searched to the end. Equities are
    # rounded, so that those that the cube makes equal stay in the order that the search has given them.
    depths = {c.board.tobytes(): settings.ply if c.board.tobytes() in exact else c.ply for c in ranked}
    ranked = sorted(ranked, key=lambda c: (-depths[c.board.tobytes()], -round(c.equity, 9)))
    judged = []
    for rank, candidate in enumerate(ranked, start=1):
        play = plays[candidate.board.tobytes()]
        known = candidate.board.tobytes() in exact
        judged.append(
            JudgedPlay(
                play=play.notation,
                position=play.position,
                outcomes=candidate.outcome,
                equity=candidate.equity,
                loss=_loss(ranked[0], candidate),
                depth="exact" if known else f"{candidate.ply}-ply",
                ply=None if known else candidate.ply,
                rank=rank,
                played=asked is not None and play.notation == asked.notation,
                mwc=getattr(candidate, "mwc", None),
            )
        )
    return judged


def _cube_matters(state: GameState) -> bool:
    """Whether one expects the cube and the score to be taken into account, and they can be."""
    if state.resigned or state.game_state > GameStatus.PLAYING:
        return False
    return state.owner is not None if state.away is None else max(state.away) <= LONGEST


def _knows_with_cube(state: GameState, after: Position) -> bool:
    """Whether the equity after a play is exact without any search, with the cube."""
    from bgnet.cubeful import knows_exactly

    if after.ending(state.checkers) is not None:
        return True
    return knows_exactly(replace(state, position=after, on_roll=1 - state.on_roll, dice=None))


def _loss(best: Candidate, other: Candidate) -> float:
    return max(best.equity - other.equity, 0.0)


def xgid_or_none(state: GameState) -> str | None:
    """The XGID, None for a state that none can hold: a resignation, say."""
    with contextlib.suppress(StateError):
        return state.xgid
    return None


def _chances(outcomes: NDArray[np.float32]) -> dict[str, float]:
    """The cumulative five under the names that others use."""
    return dict(zip(CUMULATIVE, (float(x) for x in to_cumulative(outcomes)), strict=True))
