"""An Evaluator that asks the exact endgame tables where they know and another Evaluator elsewhere."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.evaluators import Evaluator, afterstate_outcomes
from bgnet.possible import make_possible
from engine.bearoff import Endgames, endgames, known_outcomes
from engine.moves import Afterstates, check_boards
from engine.tablefile import Report

__all__ = ["Composite"]


class Composite:
    """Exact where it can be, possible everywhere.

    Finished games: their ending. At most six checkers a side, all home: the two-sided table, exact. Other positions
    with all checkers home: the one-sided distributions (engine.bearoff says how exact). Elsewhere: the Evaluator given,
    its chances moved off endings that cannot happen any more (bgnet.possible). Thread-safe if that one is.

    checkers: a side, by default those of the Evaluator's network, else 15. folder, progress: of the tables, see
    engine.bearoff; the first Composite on a machine builds them, in a few seconds.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        checkers: int | None = None,
        folder: str | os.PathLike[str] | None = None,
        progress: Report | None = None,
    ) -> None:
        self.evaluator = evaluator
        self.checkers = int(getattr(getattr(evaluator, "info", None), "checkers", 15)) if checkers is None else checkers
        self._folder = folder
        self.tables: Endgames = endgames(folder, progress)

    def outcomes(self, boards: NDArray[np.int8]) -> NDArray[np.float32]:
        """int8[N, 26] or a single int8[26] -> float32[N, 6] or float32[6]; see Evaluator.

        Raises ArrayError or BoardError naming the first bad row.
        """
        if isinstance(boards, np.ndarray) and boards.shape == (26,):
            one: NDArray[np.float32] = self.outcomes(boards[None])[0]
            return one
        boards = check_boards(boards)
        out, open_rows = self._look_up(boards)
        if len(open_rows):
            judged = self.evaluator.outcomes(boards if len(open_rows) == len(boards) else boards[open_rows])
            self._fill_in(boards, open_rows, judged, out)
        return out

    def afterstate_outcomes(self, parents: NDArray[np.int8], afterstates: Afterstates) -> NDArray[np.float32]:
        """Parents int8[N, 26] in the mover's view and their Afterstates -> float32[M, 6] in the next player's view.

        The results that the tables do not know go to the Evaluator's own quick way, if it has one.
        """
        boards = check_boards(afterstates.boards)
        out, open_rows = self._look_up(boards)
        if len(open_rows) == len(boards):
            judged = afterstate_outcomes(self.evaluator, parents, afterstates)
        elif len(open_rows):
            before = np.zeros(len(boards) + 1, dtype=np.int64)  # how many open rows there are before each row
            before[open_rows + 1] = 1
            offsets = np.cumsum(before, dtype=np.int64)[afterstates.offsets]
            asked = offsets[1:] > offsets[:-1]
            some = Afterstates(boards[open_rows], np.append(offsets[:-1][asked], offsets[-1]))
            judged = afterstate_outcomes(self.evaluator, np.ascontiguousarray(parents[asked]), some)
        else:
            return out
        self._fill_in(boards, open_rows, judged, out)
        return out

    def _look_up(self, boards: NDArray[np.int8]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """int8[N, 26] -> float32[N, 6], filled where the tables know; the other rows' numbers."""
        out = np.empty((len(boards), 6), dtype=np.float32)
        open_rows = np.empty(len(boards), dtype=np.int64)
        count = known_outcomes(self.tables, boards, self.checkers, out, open_rows)
        np.maximum(out, 0, out=out)  # differences of chances may fall a hair below
        return out, open_rows[:count]

    def _fill_in(
        self,
        boards: NDArray[np.int8],
        rows: NDArray[np.int64],
        judged: NDArray[np.float32],
        out: NDArray[np.float32],
    ) -> None:
        """Put what the Evaluator says of boards[rows] into out[rows], mended."""
        out[rows] = judged
        make_possible(self.tables, boards, rows, self.checkers, out)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.evaluator, self.checkers, self._folder)  # the tables stay in their files

    def __repr__(self) -> str:
        return f"Composite({self.evaluator!r})"


def _restore(evaluator: Evaluator, checkers: int, folder: str | os.PathLike[str] | None) -> Composite:
    return Composite(evaluator, checkers=checkers, folder=folder)
