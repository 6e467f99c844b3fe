"""Looking at one position: what it is worth, and how the plays of a roll compare. Plain functions, typed results."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.evaluators import Evaluator
from bgnet.players import DEFAULT_BOT, evaluator, split_depth
from bgnet.search import Candidate, MoveFilter, Search
from engine.errors import BoardError, DiceError, StateError
from engine.outcomes import to_cumulative
from engine.plays import Play, legal_plays, parse_play
from engine.position import Position
from engine.rules import MONEY
from engine.state import GameState, read_position

__all__ = ["FILTERS", "Analysis", "JudgedPlay", "analyze", "read_state", "xgid_or_none"]


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
    """Cubeless, in points."""
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

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "play": self.play,
            "equity": self.equity,
            "loss": self.loss,
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
    threads: int = 0,
    stop: Callable[[], bool] = lambda: False,
) -> Analysis:
    """Judge a position, or when dice are given (or stand in it) all plays of the roll.

    position: an XGID, GNUBG ID or Position ID, a Position or a GameState. bot: a name (its depth may stand in it, as in
    net:standard@1ply) or an Evaluator. ply: the depth, 2 unless said. played: a play that is searched as deep as the
    best. tables: ask the exact endgame tables where they know. threads: 0 = all cores. Equities are
    cubeless; the score of a match is not taken into account.

    Raises NotationError, BoardError, DiceError, IllegalPlayError, and what making the bot raises.
    """
    state = read_state(position, dice)
    if state.position.ending() is not None:
        raise BoardError(f"the game is over: {state.position!r} has no checkers of one side left")
    if isinstance(bot, str):
        spec, named_ply = split_depth(bot)
        ply = named_ply if ply is None else ply
        leaves, name = evaluator(spec), spec
    else:
        leaves, name = bot, repr(bot)
    ply = 2 if ply is None else ply

    def knows(position: Position) -> bool:
        return False

    if tables:
        from bgnet.composite import Composite
        from engine.bearoff import two_sided

        composite, table = Composite(leaves), two_sided()
        most = composite.checkers - 1  # a side that has borne off none can still lose a gammon
        leaves = composite

        def knows(position: Position) -> bool:
            few = (
                max((position.board > 0) @ np.abs(position.board), (position.board < 0) @ np.abs(position.board))
                <= most
            )
            return position.ending(composite.checkers) is not None or bool(few and table.knows(position.board))

    search = Search(leaves, ply, payoff, filters, threads=threads, stop=stop)
    if state.dice is None:
        if played is not None:
            raise DiceError("a play was given but no dice: which roll is it for?")
        outcome = search.outcomes(state.position.board[None])[0]
        depth = "exact" if knows(state.position) else f"{ply}-ply"
        return Analysis(state, name, ply, outcome, float(outcome @ payoff), depth)
    plays = _judge_plays(search, state, played, knows)
    return Analysis(state, name, ply, plays[0].outcomes, plays[0].equity, plays[0].depth, tuple(plays))


def read_state(position: str | Position | GameState, dice: object = None) -> GameState:
    """Any form of a position, and dice that replace those that stand in it -> GameState."""
    from dataclasses import replace

    from engine.steps import read_dice

    if isinstance(position, str):
        state = read_position(position)
    else:
        state = position if isinstance(position, GameState) else GameState(position)
    return state if dice is None else replace(state, dice=read_dice(dice))


def _judge_plays(
    search: Search, state: GameState, played: str | None, knows: Callable[[Position], bool]
) -> list[JudgedPlay]:
    assert state.dice is not None
    asked = parse_play(state.position, state.dice, played) if played is not None else None
    plays: dict[bytes, Play] = {play.position.board.tobytes(): play for play in legal_plays(state.position, state.dice)}
    always = [asked.position.board] if asked is not None else []
    ranked = search.rank(state.position.board, np.array(state.dice, dtype=np.int8), always)
    # What the tables know needs no search: such plays stand with those that were searched to the end.
    exact = {c.board.tobytes() for c in ranked if knows(plays[c.board.tobytes()].position)}
    ranked.sort(key=lambda c: (-(search.ply if c.board.tobytes() in exact else c.ply), -c.equity))
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
            )
        )
    return judged


def _loss(best: Candidate, other: Candidate) -> float:
    return max(best.equity - other.equity, 0.0)


def xgid_or_none(state: GameState) -> str | None:
    """The XGID, None for a state that none can hold: a resignation, say."""
    with contextlib.suppress(StateError):
        return state.xgid
    return None


def _chances(outcomes: NDArray[np.float32]) -> dict[str, float]:
    """The cumulative five under the names that others use."""
    names = ("win", "gammon_win", "backgammon_win", "gammon_loss", "backgammon_loss")
    return dict(zip(names, (float(x) for x in to_cumulative(outcomes)), strict=True))
