"""Names of curves: there and back for every kind of bot."""

from __future__ import annotations

import pytest

from bgnet.curves import bot_of_curve, curve_of_bot


@pytest.mark.parametrize(
    "bot",
    ["random", "pubeval", "gnubg:0", "gnubg:2", "gnubg-cli:1", "sage:0", "net:standard", "net:a_low", "sagebrush"],
)
def test_there_and_back(bot: str) -> None:
    assert ":" not in curve_of_bot(bot)
    assert bot_of_curve(curve_of_bot(bot)) == bot


def test_other_keys_are_no_curves() -> None:
    assert bot_of_curve("train/loss") is None
