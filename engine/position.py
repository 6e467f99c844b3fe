"""One position as a value: small, immutable, hashable, always in the view of the player on roll."""

from __future__ import annotations

import enum
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from engine.board import START_BOARD, ending
from engine.errors import BoardError

__all__ = ["START", "Flaw", "Position"]


class Flaw(enum.IntFlag):
    """What keeps a board from being a position of a game; NONE when nothing does."""

    NONE = 0
    TOO_MANY_OWN = enum.auto()
    TOO_MANY_OPPONENT = enum.auto()
    WRONG_OWN_BAR = enum.auto()
    WRONG_OPPONENT_BAR = enum.auto()
    NO_CHECKERS = enum.auto()


class Position:
    """Checkers as the player on roll sees them; no dice, cube or score.

    points: 26 whole numbers, -127..127. 1..24 are the own point numbers (he bears off below 1), 25 his bar, 0 the
    opponent's. Positive = own checkers, negative = the opponent's. Any counts are taken, `flaws()` judges them.
    Raises BoardError for anything else than 26 whole numbers.
    """

    __slots__ = ("_board",)

    def __init__(self, points: Iterable[int]) -> None:
        try:
            board = np.array(list(points))
        except (TypeError, ValueError) as error:
            raise BoardError(f"a position needs 26 whole numbers, not {points!r}") from error
        if board.shape != (26,) or not np.issubdtype(board.dtype, np.integer):
            raise BoardError(f"a position needs 26 whole numbers, not {board.tolist()!r}")
        most = max(abs(int(n)) for n in board)
        if most > 127:
            raise BoardError(f"a point holds at most 127 checkers here, not {most}")
        # Over immutable bytes, so that nobody can make it writable again.
        self._board: NDArray[np.int8] = np.frombuffer(board.astype(np.int8).tobytes(), dtype=np.int8)

    @classmethod
    def from_position_id(cls, text: str) -> Position:
        """The position of a 14-character GNUBG Position ID; NotationError says what is wrong with the text."""
        from engine.ids import decode_position

        return cls(decode_position(text))

    @property
    def board(self) -> NDArray[np.int8]:
        """int8[26], read-only."""
        return self._board

    @property
    def position_id(self) -> str:
        """The 14-character GNUBG Position ID; BoardError for too many checkers, or some on the other's bar."""
        from engine.ids import encode_position

        return encode_position(self._board)

    @property
    def pips(self) -> tuple[int, int]:
        """Pip counts (own, opponent's); a checker on the bar counts 25."""
        own, opponent = np.maximum(self._board, 0), np.maximum(-self._board[::-1], 0)
        places = np.arange(26)
        return int(own @ places), int(opponent @ places)

    def flipped(self) -> Position:
        """The same position seen by the other player; flipping twice changes nothing."""
        return Position(-self._board[::-1].astype(np.int64))

    def flaws(self, checkers: int = 15) -> Flaw:
        """Everything that is wrong with the position, for a game with so many checkers a side."""
        board = self._board.astype(np.int64)
        own, opponent = board[board > 0].sum(), -board[board < 0].sum()
        found = Flaw.NONE
        if own > checkers:
            found |= Flaw.TOO_MANY_OWN
        if opponent > checkers:
            found |= Flaw.TOO_MANY_OPPONENT
        if board[25] < 0:
            found |= Flaw.WRONG_OWN_BAR
        if board[0] > 0:
            found |= Flaw.WRONG_OPPONENT_BAR
        if own == opponent == 0:
            found |= Flaw.NO_CHECKERS
        return found

    def ending(self, checkers: int = 15) -> int | None:
        """Index of the ending (engine.outcomes) for the player on roll, or None while the game goes on."""
        index = int(ending(self._board, checkers))
        return None if index < 0 else index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return self._board.tobytes() == other._board.tobytes()

    def __hash__(self) -> int:
        return hash(self._board.tobytes())

    def __reduce__(self) -> tuple[type[Position], tuple[list[int]]]:
        return Position, (self._board.tolist(),)

    def __repr__(self) -> str:
        return f"Position({self._board.tolist()})"

    def _repr_svg_(self) -> str:
        """The picture that notebooks show; `engine.drawing.draw` has options."""
        from engine.drawing import draw

        return draw(self).svg

    def __str__(self) -> str:
        from engine.diagram import text

        return text(self)


START = Position(START_BOARD)
