"""Who sits opposite in a session: a bot for stakes (bgnet.stakes_players) that also judges offers to resign."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.cube_context import CubeContext
from bgnet.cubeful import CubefulSearch
from bgnet.peers import BotSpecError
from bgnet.players import player, split_depth
from bgnet.resignation import equity_of_resigning, equity_of_turn
from bgnet.stakes_players import PlainPlayer, StakesPlayer, stakes_player
from engine.actions import Action
from engine.state import GameState

__all__ = ["Offer", "Opponent", "opponent"]

_DOUBT = 0.05  # a network is off by some hundredths about endings that are all but impossible


class Offer(NamedTuple):
    """What a bot makes of the other player's offer to resign; equities in the bot's view, per unit of the cube."""

    accepted: bool
    offered: float
    expected: float


class Opponent:
    """A player of whole games, one state at a time. bot: plays and handles the cube. judge: of resignations."""

    def __init__(self, bot: StakesPlayer, judge: CubefulSearch) -> None:
        self.bot = bot
        self._judge = judge

    def play(self, state: GameState) -> NDArray[np.int8]:
        """A state with dice -> int8[26], the chosen result in the next player's view; what is none is passed on."""
        chosen = np.asarray(self.bot.plays([state]))
        return chosen[0] if len(chosen) == 1 else chosen

    def doubles(self, state: GameState) -> bool:
        """Whether he doubles before his roll."""
        return bool(self.bot.doubles([state])[0])

    def answer(self, state: GameState) -> Action:
        """TAKE, DROP or BEAVER to the double that is pending."""
        ask = getattr(self.bot, "beavers", None)  # see StakesPlayer
        if Action.BEAVER in state.legal_actions() and ask is not None and ask([state])[0]:
            return Action.BEAVER
        return Action.TAKE if self.bot.takes([state])[0] else Action.DROP

    def judge(self, state: GameState) -> Offer:
        """The resignation that is pending: accepted when it leaves at least what is expected, less some doubt."""
        offered = -equity_of_resigning(state, state.resigned, CubeContext.from_state(state, self._judge.table))
        expected = -equity_of_turn(self._judge, state)
        return Offer(offered >= expected - _DOUBT, offered, expected)


def opponent(spec: str, state: GameState, judge: CubefulSearch, ply: int | None = None) -> Opponent:
    """The bot of that name for games under the rules of a state. ply: its depth, if not the one in its name.

    In money play without a cube bots play as everywhere else (bgnet.player). Raises what making the bot raises, and
    BotSpecError for a depth of a bot that has none.
    """
    asked = spec if ply is None else _with_depth(spec, ply)
    if state.match_length == 0 and state.max_cube == 1:
        return Opponent(PlainPlayer(player(asked)), judge)
    return Opponent(stakes_player(asked, threads=0), judge)


def _with_depth(spec: str, ply: int) -> str:
    bare, _ = split_depth(spec)
    if bare.startswith("gnubg:"):
        return f"gnubg:{ply}"
    if bare.startswith("net:"):
        return f"{bare}@{ply}ply"
    if bare.startswith("sage:") and ply == 0:
        return bare
    raise BotSpecError(f"bot {bare!r} does not look {ply} plies ahead: leave --ply out")
