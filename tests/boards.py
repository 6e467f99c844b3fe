"""Short ways to write boards in tests, and to ask the engine one position at a time."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import engine

Board = tuple[int, ...]
DATA = Path(__file__).parent / "data"


def board(own: Mapping[int, int], opponent: Mapping[int, int]) -> Board:
    """Checkers by place, all places as the player on roll numbers them: own bar 25, opponent's bar 0."""
    points = [0] * 26
    for place, count in own.items():
        points[place] += count
    for place, count in opponent.items():
        assert not (count and points[place]), f"both sides on {place}"
        points[place] -= count
    return tuple(points)


def array(boards: Board | list[Board]) -> NDArray[np.int8]:
    """One board or a list of them -> int8[N, 26]."""
    return np.array(boards, dtype=np.int8).reshape(-1, 26)


def roll(first: int, second: int) -> NDArray[np.int8]:
    """One roll -> int8[1, 2]."""
    return np.array([[first, second]], dtype=np.int8)


def engine_results(position: Board, first: int, second: int) -> list[Board]:
    """The engine's results of one position and roll, in the mover's view and the engine's order."""
    afterstates = engine.legal_afterstates(array(position), roll(first, second))
    assert afterstates.offsets.tolist() == [0, len(afterstates.boards)]
    return [tuple(row) for row in (-afterstates.boards[:, ::-1]).tolist()]


def cases(category: str) -> list[dict[str, Any]]:
    """The cases of tests/data/cases.jsonl of one category."""
    lines = (DATA / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["category"] == category]


def movegen_lines() -> list[dict[str, Any]]:
    """The 3,000 positions of tests/data/movegen.jsonl.gz with the answers of three other engines."""
    with gzip.open(DATA / "movegen.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def expected_results(position: Board, results: list[list[int]]) -> set[Board]:
    """The data files list no result for a forced pass; here that is the board as it was."""
    return {tuple(result) for result in results} or {position}
