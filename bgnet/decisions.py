"""Checker decisions with judged candidates: how much does a bot lose on each, on average?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bgnet.players import Player
from bgnet.statistics import Estimate, estimate

__all__ = ["DecisionFileError", "JudgedDecision", "losses", "mean_losses", "read_decisions"]


class DecisionFileError(ValueError):
    """A file of decisions that cannot be read; the message names the line."""


@dataclass(frozen=True)
class JudgedDecision:
    """A position with dice, and what its candidates are worth by one or more judges."""

    board: NDArray[np.int8]
    """int8[26], the mover's view."""
    dice: NDArray[np.int8]
    """int8[2]."""
    kind: str
    """A class such as contact or race."""
    results: dict[bytes, NDArray[np.float64]]
    """Result (int8[26] in the next player's view, as bytes) -> float64[J], its equity for the mover by each judge."""


def read_decisions(path: str | Path) -> list[JudgedDecision]:
    """Read JSON lines: {"board", "dice", "kind", "candidates": [[result in the mover's view, equity, ...], ...]}.

    Raises DecisionFileError.
    """
    found = []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DecisionFileError(f"{path}: cannot be read ({error})") from error
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
            results = {
                (-np.array(result, dtype=np.int8)[::-1]).tobytes(): np.array(equities, dtype=np.float64)
                for result, *equities in row["candidates"]
            }
            board, dice = np.array(row["board"], dtype=np.int8), np.array(row["dice"], dtype=np.int8)
            if board.shape != (26,) or dice.shape != (2,) or not results:
                raise ValueError("a board has 26 numbers, dice are two, and candidates are needed")
            found.append(JudgedDecision(board, dice, str(row.get("kind", "")), results))
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise DecisionFileError(f"{path}, line {number}: not a judged decision ({error})") from error
    if not found:
        raise DecisionFileError(f"{path}: holds no decisions")
    return found


def losses(player: Player, decisions: list[JudgedDecision]) -> NDArray[np.float64]:
    """float64[N, J]: what the player's choice is worth less than the best candidate, in points, by each judge.

    A choice that is no candidate costs as much as the worst of them.
    """
    boards = np.array([d.board for d in decisions])
    chosen = player.choose(boards, np.array([d.dice for d in decisions]))
    rows = []
    for decision, result in zip(decisions, chosen, strict=True):
        equities = np.array(list(decision.results.values()))
        mine = decision.results.get(result.tobytes(), equities.min(axis=0))
        rows.append(equities.max(axis=0) - mine)
    return np.array(rows)


def mean_losses(player: Player, decisions: list[JudgedDecision]) -> list[Estimate]:
    """The mean loss by each judge, in thousandths of a point per decision, with its 95 % interval."""
    table = 1000 * losses(player, decisions)
    return [estimate(column) for column in table.T]
