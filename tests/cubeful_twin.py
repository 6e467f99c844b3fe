"""A slow, obvious twin of the cubeful search: plain recursion, one position, one roll and one cube at a time.

It stands on tests/cube_twin.py for the values of leaves; the plays are the engine's, the chances any Evaluator's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bgnet.evaluators import Evaluator
from engine import legal_afterstates
from engine.outcomes import to_cumulative
from tests.cube_twin import Match, money
from tests.oracle import ALL_ROLLS, ending

Cube = tuple[int, int]
"""Its value, and its owner as the player on roll sees it."""
Board = tuple[int, ...]


@dataclass
class Twin:
    """The value of positions with cubes. match: the score, seen by the player on roll at the root; None = money."""

    evaluator: Evaluator
    x: float
    jacoby: bool = False
    beavers: bool = False

    def no_double(self, board: Board, cubes: list[Cube], match: Match | None, ply: int) -> list[float]:
        """What each cube is worth to the player on roll, who does not double now: points, or match chances."""
        if ply == 0 or ending(board) is not None:
            p = tuple(float(c) for c in to_cumulative(self.evaluator.outcomes(np.array([board], np.int8)))[0])
            return [self.leaf(p, k, owner, match) for k, owner in cubes]
        theirs = [(k, -owner) for k, owner in cubes]
        opponent = match.other() if match else None
        totals = [0.0] * len(cubes)
        for roll in ALL_ROLLS:
            found = legal_afterstates(np.array([board], np.int8), np.array([roll], np.int8)).boards
            judged = {tuple(r): self.turn(tuple(r), theirs, opponent, 0) for r in found.tolist()}
            picked = {
                min(judged, key=lambda r, s=s: (round(judged[r][s][0], 9), judged[r][s][1])) for s in range(len(cubes))
            }
            if ply > 1:
                judged = {r: self.turn(r, theirs, opponent, ply - 1) for r in picked}
            weight = (1 if roll[0] == roll[1] else 2) / 36
            for s in range(len(cubes)):
                totals[s] += weight * min(judged[r][s][0] for r in picked)
        return [1 - total if match else -total for total in totals]

    def turn(self, board: Board, cubes: list[Cube], match: Match | None, ply: int) -> list[tuple[float, float]]:
        """(value, value without a double now) of a player on roll who may double."""
        wider = list(cubes)
        for k, owner in cubes:
            if self.may_double(k, owner, match):
                wider.append((2 * k, -1))
                if self.beavers:
                    wider.append((4 * k, -1))
        wider = list(dict.fromkeys(wider))
        values = dict(zip(wider, self.no_double(board, wider, match, ply), strict=True))
        out = []
        for k, owner in cubes:
            waits = best = values[k, owner]
            if self.may_double(k, owner, match):
                answers = [values[2 * k, -1], match.after(k, True) if match else float(k)]
                if self.beavers:
                    answers.append(values[4 * k, -1])
                best = max(waits, min(answers))
            out.append((best, waits))
        return out

    def leaf(self, p: tuple[float, ...], k: int, owner: int, match: Match | None) -> float:
        if match:
            return match.value(p, k, owner, self.x)
        return k * money(p, owner, self.x, self.jacoby)

    @staticmethod
    def may_double(k: int, owner: int, match: Match | None) -> bool:
        return owner >= 0 and (match is None or (match.a > k and not match.crawford))
