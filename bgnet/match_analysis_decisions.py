"""A decision of a recorded game, judged, and the marks that its loss gets."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from bgnet.analysis import xgid_or_none
from engine.state import GameState

__all__ = ["MARKS", "DecisionKind", "JudgedDecision", "mark_of"]

MARKS = ((0.080, "??"), (0.040, "?"), (0.020, "?!"))
"""From which loss on a decision gets which mark; ?? is a blunder."""


class DecisionKind(enum.StrEnum):
    """What a player decided."""

    PLAY = "play"
    NO_DOUBLE = "no_double"
    """He rolled where he might have doubled."""
    DOUBLE = "double"
    TAKE = "take"
    PASS = "pass"
    BEAVER = "beaver"
    RESIGN = "resign"
    ACCEPT = "accept"
    """He accepted a resignation."""


def mark_of(loss: float) -> str:
    """??, ?, ?! or nothing."""
    return next((mark for limit, mark in MARKS if loss >= limit), "")


@dataclass(frozen=True, eq=False)
class JudgedDecision:
    """A decision and what it loses. Equities are in the view of the player who decides."""

    kind: DecisionKind
    turn: int
    """Of the game, both players' turns counted from 1; an answer belongs to the turn of the double."""
    seat: int
    state: GameState
    """In which he decides: `state.on_roll` is the other player's seat for an answer."""
    chosen: str
    """A play as one writes it, or what he did in words."""
    best: str
    """A play, or the proper action in words."""
    equity: float
    best_equity: float
    loss: float
    """>= 0, in equity per unit of the cube before a double."""
    stake_loss: float
    """The same in points with the cube as it stands; in a match in chances to win it."""
    counts: bool
    """For the error rate: an unforced play, a close cube decision, or a cube that was turned or answered."""
    counts_for_pr: bool
    """For the performance rating: as `counts`, without plays that hardly differ."""
    choices: int
    """How many there were."""

    @property
    def mark(self) -> str:
        """??, ?, ?! or nothing."""
        return mark_of(self.loss)

    def as_dict(self, names: tuple[str, str]) -> dict[str, Any]:
        """For JSON."""
        unit = "mwc_loss" if self.state.match_length else "points_loss"
        return {
            "turn": self.turn,
            "player": names[self.seat],
            "seat": self.seat,
            "kind": self.kind.value,
            "xgid": xgid_or_none(self.state),
            "position_id": self.state.position.position_id,
            "dice": list(self.state.dice) if self.state.dice else None,
            "chosen": self.chosen,
            "best": self.best,
            "equity": self.equity,
            "best_equity": self.best_equity,
            "loss": self.loss,
            unit: self.stake_loss,
            "mark": self.mark,
            "choices": self.choices,
            "counts": self.counts,
            "counts_for_pr": self.counts_for_pr,
        }
