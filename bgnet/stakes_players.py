"""Who plays for stakes: plays, doubles and answers to doubles, many games at once.

A network, Open Sage or any Evaluator plays for the score with the cube in mind (bgnet.cubeful). GNU Backgammon's
program has a cube of its own. gnubg-nn gives the plays of the depth asked, those for cubeless points whatever the
score, and our cube decides by its 0-ply chances; as an Evaluator, `evaluator("gnubg:0")`, it plays for the score too.
Bots that give no chances never double, and take while they are not more than 12 per cent of the doubler's pips behind,
a usual rule for races.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bgnet.composite import Composite
from bgnet.cubeful import CubefulSearch
from bgnet.evaluators import Evaluator
from bgnet.gnubg_cli import GnubgCli
from bgnet.match_equity import MatchEquityTable
from bgnet.peers import BotSpecError
from bgnet.players import Bot, Player, evaluator, player, split_depth
from engine.state import GameState

__all__ = ["OurCube", "PlainPlayer", "StakesPlayer", "stakes_evaluator", "stakes_player"]

_MOST_BEHIND = 1.12  # own pips / the doubler's up to which a bot without chances takes

Boards = NDArray[np.int8]
Flags = NDArray[np.bool_]


@runtime_checkable
class StakesPlayer(Protocol):
    """Anything that plays with a cube. Each answer must depend on its state alone.

    One that knows beavers also has `beavers(states) -> bool[N]`, asked instead of `takes` first where they are allowed.
    """

    def plays(self, states: Sequence[GameState]) -> Boards:
        """States with dice -> int8[N, 26], the chosen results in the next player's view."""
        ...

    def doubles(self, states: Sequence[GameState]) -> Flags:
        """States before the roll -> bool[N], whether the player on roll doubles; False where he may not."""
        ...

    def takes(self, states: Sequence[GameState]) -> Flags:
        """States with a pending double -> bool[N], whether the receiver takes."""
        ...


class PlainPlayer:
    """A Player that knows nothing of cubes: see above."""

    def __init__(self, plain: Player) -> None:
        self.player = plain
        self.name: str | None = getattr(plain, "name", None)

    def plays(self, states: Sequence[GameState]) -> Boards:
        """See StakesPlayer."""
        boards = np.array([state.position.board for state in states])
        return self.player.choose(boards, np.array([state.dice for state in states], dtype=np.int8))

    def doubles(self, states: Sequence[GameState]) -> Flags:
        """Never."""
        return np.zeros(len(states), dtype=np.bool_)

    def takes(self, states: Sequence[GameState]) -> Flags:
        """By the pip count."""
        pips = np.array([state.pips for state in states], dtype=np.float64).reshape(-1, 2)
        taken: Flags = pips[:, 1] <= _MOST_BEHIND * pips[:, 0]
        return taken


class OurCube(PlainPlayer):
    """Plays of a Player, our cube over an Evaluator."""

    def __init__(self, plain: Player, cube: CubefulSearch) -> None:
        super().__init__(plain)
        self.cube = cube

    def doubles(self, states: Sequence[GameState]) -> Flags:
        """See StakesPlayer."""
        return self.cube.doubles(states)

    def takes(self, states: Sequence[GameState]) -> Flags:
        """See StakesPlayer."""
        return self.cube.takes(states)

    def beavers(self, states: Sequence[GameState]) -> Flags:
        """States with a pending double -> bool[N], whether the receiver beavers."""
        return self.cube.beavers(states)


def stakes_player(
    bot: str | Evaluator | Player | StakesPlayer, *, table: MatchEquityTable | None = None, threads: int = 1
) -> StakesPlayer:
    """A StakesPlayer from a bot's short name, an Evaluator, a Player, or a StakesPlayer (returned as it is).

    Names as in bgnet.player: net:NAME@2ply has cube and plays at 2-ply. table: the match equity table of our own cube.
    threads: of our own search, 0 = all cores. Raises what making the bot raises.
    """
    if isinstance(bot, StakesPlayer):
        return bot
    if not isinstance(bot, str):
        if isinstance(bot, Evaluator):
            return CubefulSearch(bot, table=table, threads=threads)
        return PlainPlayer(player(bot))
    bare, ply = split_depth(bot)
    if bare.startswith("gnubg-cli:"):
        found = player(bot)
        assert isinstance(found, GnubgCli)
        return found
    try:
        leaves = stakes_evaluator(bare)
    except BotSpecError:
        return PlainPlayer(player(bot))
    if bare.startswith("gnubg:"):
        return OurCube(player(bot), CubefulSearch(leaves, table=table, threads=threads))
    return CubefulSearch(leaves, ply or 0, table=table, threads=threads)


def stakes_evaluator(bot: Bot) -> Evaluator:
    """What a bot judges positions by: a network by its name with the exact endgame tables, others as they are.

    Raises BotSpecError for a bot that has no chances to give or, by its name, looks ahead itself, else as
    bgnet.players.evaluator.
    """
    found = evaluator(bot)
    return Composite(found) if isinstance(bot, str) and bot.startswith("net:") else found
