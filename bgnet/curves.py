"""What the curves of a run are called in its logs."""

from __future__ import annotations

import re

__all__ = ["bot_of_curve", "curve_of_bot"]

_AGAINST = "eval/ppg_"


def curve_of_bot(bot: str) -> str:
    """gnubg:0 -> eval/ppg_gnubg0, points per game against it. TensorBoard's names have no colons.

    With _low and _high behind it stand the ends of the 95 % interval.
    """
    return _AGAINST + bot.replace(":", "")


def bot_of_curve(curve: str) -> str | None:
    """The inverse, for the kinds of bots there are; None for what is no such curve."""
    if not curve.startswith(_AGAINST):
        return None
    return re.sub(r"^(gnubg(?:-cli)?(?=\d)|sage(?=\d)|net(?=.))", r"\1:", curve.removeprefix(_AGAINST))
