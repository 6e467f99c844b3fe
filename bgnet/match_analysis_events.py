"""What there is to judge in a recorded game: its actions, each in the state in which it was decided."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from engine import actions
from engine.actions import Action
from engine.plays import Play
from engine.records import GameRecord
from engine.state import GameState

__all__ = ["Event", "Script"]


class Event(NamedTuple):
    """Something that was done, in its turn."""

    turn: int
    state: GameState
    action: Action
    play: Play | None = None
    level: int = 0
    opening: bool = False
    before_roll: GameState | None = None
    """Of PLAY and ROLL: where the player might have doubled instead."""
    doubled: GameState | None = None
    """Of DOUBLE: with the double to answer."""
    turn_state: GameState | None = None
    """Of RESIGN: as it was, when it was the other player's turn."""


class Script:
    """A game's events under the rules that hold."""

    def __init__(self, record: GameRecord, *, jacoby: bool, beavers: bool) -> None:
        self.record = record
        self.events = list(self._events(jacoby, beavers))

    def _events(self, jacoby: bool, beavers: bool) -> Iterator[Event]:
        start = self.record.start
        turn, rolling = 0, False  # rolling: he has begun his turn with a double
        after: GameState | None = None
        for given, action, argument in self.record.states():
            state = replace(given, jacoby=jacoby, beavers=beavers)
            match action:
                case Action.PLAY | Action.ROLL:
                    opening = turn == 0 and start.position == start.position.flipped()
                    turn += not rolling
                    rolling = False
                    before = replace(state, dice=None)
                    if action is Action.ROLL:
                        state = replace(state, dice=argument)  # type: ignore[arg-type]  # the dice
                    play = argument if isinstance(argument, Play) else None
                    may_double = before.may_double and not opening
                    yield Event(turn, state, action, play, opening=opening, before_roll=before if may_double else None)
                    after = state
                    if play is not None:
                        after = replace(state, position=play.position, on_roll=1 - state.on_roll, dice=None)
                case Action.DOUBLE:
                    turn += 1
                    rolling = True
                    after = actions.double(state, dead=True)
                    yield Event(turn, state, action, doubled=after)
                case Action.RESIGN:
                    others = after is not None and after.on_roll != state.on_roll
                    fits = after is not None and after.position.flipped() == state.position
                    assert isinstance(argument, int)
                    yield Event(
                        max(turn, 1), state, action, level=argument, turn_state=after if others and fits else None
                    )
                case _:
                    yield Event(turn, state, action)
                    after = getattr(state, action.value)() if action is not Action.DROP else None
