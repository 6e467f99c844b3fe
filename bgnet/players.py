"""What chooses plays: the Player protocol, players over any Evaluator, and bots by their short names."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bgnet import peers
from bgnet.evaluators import Evaluator, NetEvaluator, afterstate_outcomes, load, shipped_nets
from bgnet.inference import choose_kernel
from bgnet.search import PRUNE_TO, Search, best_rows, usual_pruner
from engine.dice import philox
from engine.jit import kernel
from engine.moves import check_boards, check_dice, legal_afterstates
from engine.rules import MONEY

__all__ = [
    "DEFAULT_BOT", "Bot", "EvaluatorPlayer", "Player", "RandomPlayer", "bot_name", "evaluator", "player", "split_depth",
]  # fmt: skip

DEFAULT_BOT = "net:standard"
"""The bot that commands use when none is named."""
_BOTS = ["random", "pubeval", "gnubg:0", "gnubg:1", "gnubg:2", "sage:0"]
_BOTS += ["gnubg-cli:0", "gnubg-cli:1", "gnubg-cli:2", "gnubg-cli:3"]


@runtime_checkable
class Player(Protocol):
    """Anything that chooses plays."""

    def choose(self, boards: NDArray[np.int8], dice: NDArray[np.int8]) -> NDArray[np.int8]:
        """int8[N, 26], int8[N, 2] -> int8[N, 26]: the chosen results, in the next player's view."""
        ...


Bot = str | Evaluator | Player
"""A short name, or an object that judges or plays."""


class EvaluatorError(ValueError):
    """An Evaluator that does not give what it must."""


class EvaluatorPlayer:
    """Plays the result that its Evaluator likes best for the mover (0-ply); the first of equals.

    payoff: float32[6], the points of the six endings (RuleSet.payoff); money play by default.
    """

    def __init__(self, evaluator: Evaluator, payoff: NDArray[np.float32] = MONEY.payoff) -> None:
        self.evaluator = evaluator
        self.payoff = payoff
        self.name: str | None = getattr(evaluator, "name", None)

    def choose(self, boards: NDArray[np.int8], dice: NDArray[np.int8]) -> NDArray[np.int8]:
        """See Player. Raises ArrayError, BoardError or DiceError naming the first bad row."""
        if type(self.evaluator) is NetEvaluator:  # a subclass may judge otherwise
            boards = check_boards(boards, finished=False, checkers=self.evaluator.info.checkers)
            out = np.empty_like(boards)
            choose_kernel(self.evaluator.folded, self.payoff, boards, check_dice(dice, len(boards)), out)
            return out
        afterstates = legal_afterstates(boards, dice)
        if not len(boards):
            return afterstates.boards
        outcomes = afterstate_outcomes(self.evaluator, boards, afterstates)
        if np.shape(outcomes) != (len(afterstates.boards), 6) or not np.isfinite(outcomes).all():
            raise EvaluatorError(
                f"{self.evaluator!r} must give finite chances float32[{len(afterstates.boards)}, 6], "
                f"not {np.shape(outcomes)} or numbers that are not finite"
            )
        return afterstates.boards[best_rows(outcomes, self.payoff, afterstates.offsets)]

    def __repr__(self) -> str:
        return f"EvaluatorPlayer({self.evaluator!r})"


@kernel
def _pick(boards, dice, offsets, seed, out):
    """boards int8[N, 26], dice int8[N, 2], offsets int64[N + 1] -> out int64[N], one index of each row's."""
    for i in range(boards.shape[0]):
        state = (int(dice[i, 0]) * 7 + int(dice[i, 1])) * 5
        mixed = seed
        for p in range(26):
            state, mixed = philox(state, (int(boards[i, p]) + 16) ^ mixed, seed)
        out[i] = offsets[i] + ((state * (offsets[i + 1] - offsets[i])) >> 32)


class RandomPlayer:
    """Plays each distinct result equally likely.

    The choice is a hash of seed, board and dice, so it does not depend on the batch or on earlier calls.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.name = "random" if seed == 0 else None

    def choose(self, boards: NDArray[np.int8], dice: NDArray[np.int8]) -> NDArray[np.int8]:
        """See Player."""
        afterstates = legal_afterstates(boards, dice)
        picks = np.empty(len(boards), dtype=np.int64)
        _pick(check_boards(boards), check_dice(dice, len(boards)), afterstates.offsets, self.seed, picks)
        return afterstates.boards[picks]

    def __repr__(self) -> str:
        return f"RandomPlayer(seed={self.seed})"


def player(spec: Bot, payoff: NDArray[np.float32] = MONEY.payoff) -> Player:
    """A Player from a bot's short name, an Evaluator, or a Player (returned as it is).

    Names: random, pubeval, gnubg:0|1|2, sage:0, gnubg-cli:0|1|2|3, net:NAME_OR_PATH, net:NAME_OR_PATH@2ply. payoff:
    what the bot plays for (other engines: wins alone when all wins count the same, else money). Raises BotSpecError
    for an unknown name, NetFileError for a network that cannot be read, MissingEngineError when a package or program
    is not installed.
    """
    if not isinstance(spec, str):
        if isinstance(spec, Player):
            return spec
        if isinstance(spec, Evaluator):
            return EvaluatorPlayer(spec, payoff)
        raise peers.BotSpecError(f"a bot is a name, an Evaluator or a Player, not {spec!r}")
    if spec == "random":
        return RandomPlayer()
    if spec.startswith("net:"):
        name, ply = split_depth(spec)
        net = load(name)
        if ply is None:
            return EvaluatorPlayer(net, payoff)
        return Search(net, ply, payoff, pruner=usual_pruner(net), prune_to=PRUNE_TO)
    every_win_alike = payoff[0] == payoff[2]
    found = peers.player(spec, "dmp" if every_win_alike else "money")
    if found is None:
        raise _unknown(spec)
    return found


def evaluator(bot: Bot) -> Evaluator:
    """The Evaluator of a bot that judges positions at 0-ply, by its name, or the one inside of an object.

    Names: net:NAME_OR_PATH, gnubg:0, sage:0; an object may also look ahead. Raises BotSpecError for a bot without
    chances to give (random, pubeval), for the name of one that looks ahead itself, whose depth would be hidden in what
    is made of it, and for the program GNU Backgammon, which answers a hundredth as fast as its networks do inside this
    process; else as `player`.
    """
    if isinstance(bot, str) and bot in ("gnubg:1", "gnubg:2"):
        raise peers.BotSpecError(f"bot {bot!r} looks ahead itself: take gnubg:0 and ask for the depth (ply={bot[-1]})")
    if isinstance(bot, str) and bot.startswith("gnubg-cli:"):
        ply = bot.rpartition(":")[2]
        raise peers.BotSpecError(
            f"bot {bot!r} is a player, too slow to judge for others: take gnubg:0, the same networks, and ask for the "
            f"depth (ply={ply if ply.isdigit() else 0})"
        )
    found = player(bot) if isinstance(bot, str) else bot
    if isinstance(found, EvaluatorPlayer):
        return found.evaluator
    if isinstance(found, Evaluator):
        return found
    raise peers.BotSpecError(
        f"bot {bot_name(bot)!r} chooses plays but has no chances to give; take a net, gnubg:0 or sage:0"
    )


def bot_name(bot: object) -> str:
    """What a bot is called in results: its spec, the name it gives itself, or its repr."""
    return bot if isinstance(bot, str) else str(getattr(bot, "name", None) or repr(bot))


def split_depth(spec: str) -> tuple[str, int | None]:
    """net:standard@2ply -> (net:standard, 2), gnubg:1 -> (gnubg:0, 1); without a depth (..., None).

    BotSpecError for a depth that is none.
    """
    if spec in ("gnubg:1", "gnubg:2"):
        return "gnubg:0", int(spec[-1])
    name, at, depth = spec.rpartition("@")
    if not at or Path(spec.removeprefix("net:")).exists():
        return spec, None
    found = re.fullmatch(r"(\d)-?ply", depth)
    if found is None:
        raise peers.BotSpecError(f"bot {spec!r}: the depth {depth!r} is not understood, write for example {name}@2ply")
    return name, int(found.group(1))


def _unknown(spec: str) -> peers.BotSpecError:
    names = [*_BOTS, *(f"net:{name}" for name in shipped_nets())]
    close = difflib.get_close_matches(spec, names, n=1) or difflib.get_close_matches(f"net:{spec}", names, n=1)
    hint = f"; did you mean {close[0]}?" if close else "."
    return peers.BotSpecError(f"unknown bot {spec!r}{hint} There are: {', '.join(_BOTS)}, net:NAME_OR_PATH")
