"""Who sits opposite in a game for stakes: plays, doubles, answers doubles and offers to resign.

A bot with chances plays for the score with the cube in mind (bgnet.cubeful); GNU Backgammon's program has a cube of its
own. Other bots play as if there were no cube: they never double, and they take as long as they are not more than 12 per
cent of the doubler's pips behind, which is a usual rule for races.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bgnet.composite import Composite
from bgnet.cube import should_beaver, should_take
from bgnet.cube_context import CubeContext
from bgnet.cubeful import CubefulSearch
from bgnet.gnubg_cli import GnubgCli
from bgnet.peers import BotSpecError
from bgnet.players import Player, evaluator, player, split_depth
from bgnet.resignation import equity_of_resigning, equity_of_turn
from engine.actions import Action
from engine.state import GameState

__all__ = ["CubePlayer", "Offer", "Opponent", "PlainOpponent", "SearchOpponent", "opponent"]

_BEHIND = 1.12
_DOUBT = 0.05  # a network is off by some hundredths about endings that are all but impossible


class Offer(NamedTuple):
    """What a bot makes of the other player's offer to resign; equities in the bot's view, per unit of the cube."""

    accepted: bool
    offered: float
    expected: float


@runtime_checkable
class CubePlayer(Protocol):
    """Plays and cube decisions of many states at once, as bgnet.cubeful.CubefulSearch and GnubgCli give them."""

    def plays(self, states: Sequence[GameState]) -> NDArray[np.int8]: ...

    def doubles(self, states: Sequence[GameState]) -> NDArray[np.bool_]: ...

    def takes(self, states: Sequence[GameState]) -> NDArray[np.bool_]: ...


class Opponent(Protocol):
    """A player of whole games. What he decides must be legal in the state."""

    def play(self, state: GameState) -> NDArray[np.int8]:
        """A state with dice -> int8[26], the chosen result in the next player's view."""
        ...

    def doubles(self, state: GameState) -> bool:
        """Whether he doubles before his roll."""
        ...

    def answer(self, state: GameState) -> Action:
        """TAKE, DROP or BEAVER to the double that is pending."""
        ...

    def judge(self, state: GameState) -> Offer:
        """The resignation that is pending."""
        ...


class _Judging:
    """Accepts a resignation that leaves at least what the judge expects, less some doubt."""

    def __init__(self, judge: CubefulSearch) -> None:
        self._judge = judge

    def judge(self, state: GameState) -> Offer:
        """See Opponent."""
        offered = -equity_of_resigning(state, state.resigned, CubeContext.from_state(state, self._judge.table))
        expected = -equity_of_turn(self._judge, state)
        return Offer(offered >= expected - _DOUBT, offered, expected)


class SearchOpponent(_Judging):
    """A player with a cube. judge: of resignations."""

    def __init__(self, cube_player: CubePlayer, judge: CubefulSearch) -> None:
        super().__init__(judge)
        self.cube_player = cube_player

    def play(self, state: GameState) -> NDArray[np.int8]:
        """See Opponent."""
        result: NDArray[np.int8] = self.cube_player.plays([state])[0]
        return result

    def doubles(self, state: GameState) -> bool:
        """See Opponent."""
        return bool(self.cube_player.doubles([state])[0])

    def answer(self, state: GameState) -> Action:
        """See Opponent."""
        if isinstance(self.cube_player, CubefulSearch):
            decision = self.cube_player.decide(state)
            takes, beavers = should_take(decision), should_beaver(decision)
        else:
            takes = bool(self.cube_player.takes([state])[0])
            beavers = isinstance(self.cube_player, GnubgCli) and self.cube_player.decide([_before(state)])[0].beavers
        if beavers and Action.BEAVER in state.legal_actions():
            return Action.BEAVER
        return Action.TAKE if takes else Action.DROP


class PlainOpponent(_Judging):
    """A Player without a cube: see above. judge: of resignations."""

    def __init__(self, plain: Player, judge: CubefulSearch) -> None:
        super().__init__(judge)
        self.player = plain

    def play(self, state: GameState) -> NDArray[np.int8]:
        """See Opponent."""
        chosen = np.asarray(
            self.player.choose(state.position.board[None].copy(), np.array([state.dice], dtype=np.int8))
        )
        return chosen[0] if len(chosen) == 1 else chosen

    def doubles(self, state: GameState) -> bool:
        """Never."""
        return False

    def answer(self, state: GameState) -> Action:
        """By the pip count."""
        doubler, own = state.pips
        return Action.TAKE if own <= _BEHIND * doubler else Action.DROP


def opponent(spec: str, state: GameState, judge: CubefulSearch, ply: int | None = None) -> Opponent:
    """The bot of that name for games under the rules of a state. ply: its depth, if not the one in its name.

    In money play without a cube bots play as everywhere else (bgnet.player). Raises what making the bot raises, and
    BotSpecError for a depth of a bot that has none.
    """
    bare, named = split_depth(spec)
    depth = named if ply is None else ply
    if state.match_length == 0 and state.max_cube == 1:
        return PlainOpponent(player(spec if ply is None else _with_depth(bare, ply)), judge)
    try:
        leaves = evaluator(bare)
    except BotSpecError:
        plain = player(spec)
        if ply is not None:
            raise BotSpecError(f"bot {spec!r} does not look ahead by plies: leave --ply out") from None
        return SearchOpponent(plain, judge) if isinstance(plain, CubePlayer) else PlainOpponent(plain, judge)
    return SearchOpponent(CubefulSearch(Composite(leaves), depth or 0, threads=0), judge)


def _with_depth(bare: str, ply: int) -> str:
    if bare.startswith("net:"):
        return f"{bare}@{ply}ply"
    if bare.startswith("gnubg:"):
        return f"gnubg:{ply}"
    if ply == 0 and bare.startswith("sage:"):
        return bare
    raise BotSpecError(f"bot {bare!r} does not look {ply} plies ahead: leave --ply out")


def _before(state: GameState) -> GameState:
    """Before the double that is pending."""
    return replace(state, doubled=False)
