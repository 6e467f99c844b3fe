"""The bots that a benchmark is asked about: made once, each with a name of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bgnet.evaluators import Evaluator
from bgnet.legality import checked_choices
from bgnet.peers import BotSpecError
from bgnet.players import Bot, Player, bot_name, evaluator, player

__all__ = [
    "Bot", "Bots", "BrokenBot", "as_evaluator", "chosen_by", "judged_by", "named_evaluators", "named_player",
    "named_players",
]  # fmt: skip

Bots = Bot | Sequence[Bot] | Mapping[str, Bot]
"""One bot, some bots, or bots under names of one's own."""

T = TypeVar("T")

_SLACK = 0.01  # engines round, and search adds up what they have rounded


class BrokenBot(ValueError):
    """A bot whose answer is none: an illegal choice, or chances that are no numbers."""


def named_players(bots: Bots) -> dict[str, Player]:
    """Name -> Player, in the order given. Raises BotSpecError and what making bots raises."""
    return _named(bots, player)


def named_player(bot: Bot) -> tuple[str, Player]:
    """A bot's name and the Player. Raises what making bots raises."""
    return next(iter(named_players([bot]).items()))


def named_evaluators(bots: Bots) -> dict[str, Evaluator]:
    """Name -> Evaluator, in the order given; BotSpecError for a bot that has no chances to give."""
    return _named(bots, as_evaluator)


def as_evaluator(bot: Bot) -> Evaluator:
    """What judges for a bot; also one that looks ahead (net:x@1ply, gnubg:1), whose outcomes are those of its depth."""
    return evaluator(player(bot) if isinstance(bot, str) else bot)


def chosen_by(name: str, bot: Player, boards: NDArray[np.int8], dice: NDArray[np.int8]) -> NDArray[np.int8]:
    """What a bot chooses, int8[N, 26] in the next player's view; BrokenBot for an illegal choice."""
    return checked_choices(f"bot {name}", bot, boards, dice, BrokenBot)


def judged_by(name: str, bot: Evaluator, boards: NDArray[np.int8]) -> NDArray[np.float64]:
    """What a bot thinks of int8[N, 26] -> float64[N, 6].

    BrokenBot for anything but numbers of that shape that are chances, between 0 and 1 and with a sum of 1 in each row.
    """
    found = np.asarray(bot.outcomes(boards))
    if found.shape != (len(boards), 6) or not np.isfinite(found).all():
        got = "some that are not finite" if found.shape == (len(boards), 6) else f"{found.dtype}{list(found.shape)}"
        raise BrokenBot(f"bot {name} must return finite chances float32[{len(boards)}, 6] from outcomes(), not {got}")
    wrong = (found < -_SLACK).any(axis=1) | (found > 1 + _SLACK).any(axis=1) | (abs(found.sum(axis=1) - 1) > _SLACK)
    if wrong.any():
        row = found[int(wrong.argmax())].round(4).tolist()
        raise BrokenBot(
            f"bot {name} must return chances that exclude each other and sum to 1 from outcomes(), not {row}"
        )
    return found.astype(np.float64)


def _named(bots: Bots, make: Callable[[Bot], T]) -> dict[str, T]:
    if isinstance(bots, Mapping):
        pairs = list(bots.items())
    else:
        several: Sequence[Bot] = bots if isinstance(bots, (list, tuple)) else [bots]  # type: ignore[list-item]
        pairs = [(bot_name(bot), bot) for bot in several]
    if not pairs:
        raise BotSpecError("name at least one bot")
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise BotSpecError(f"bot {name!r} is named twice; a mapping {{name: bot}} gives bots names of your own")
    return {name: make(bot) for name, bot in pairs}
