"""What can be wrong with input. Every class is a ValueError, so one `except` catches them all."""

from __future__ import annotations

__all__ = [
    "ActionError",
    "ArrayError",
    "BoardError",
    "DiceError",
    "EngineError",
    "IllegalPlayError",
    "NotationError",
    "RecordError",
    "StateError",
]


class EngineError(ValueError):
    """Base of everything the engine refuses."""


class ActionError(EngineError):
    """What the rules do not allow at this moment of a game; the message says why."""


class ArrayError(EngineError, TypeError):
    """An array of the wrong type, dtype or shape."""


class BoardError(EngineError):
    """A board that no game can reach, or that is finished where a game must go on."""


class DiceError(EngineError):
    """Dice that are missing or not two numbers from 1 to 6."""


class NotationError(EngineError):
    """Text that cannot be read: a position ID, a play, ..."""


class IllegalPlayError(EngineError):
    """A play that reads well but that the rules forbid; the message says which rule."""


class RecordError(EngineError):
    """A record of games that cannot be read or written; line: the number of the line in the file, None = no one."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message if line is None else f"line {line}: {message}")
        self.reason = message
        self.line = line

    def __reduce__(self) -> tuple[type[RecordError], tuple[str, int | None]]:
        return type(self), (self.reason, self.line)


class StateError(EngineError):
    """Parts of a game state that cannot go together, each reason named.

    part: the GameState field that the first reason is about, so that a reader of text can point at its place.
    """

    def __init__(self, message: str, part: str = "") -> None:
        super().__init__(message)
        self.part = part
