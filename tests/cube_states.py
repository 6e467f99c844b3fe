"""Game states for tests of the cube, and right answers of GNU Backgammon 1.07.001 at 0-ply without pruning."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import pytest

from bgnet.cube import CubeDecision, decide
from engine import GameState, Position
from engine.outcomes import from_cumulative
from tests.boards import DATA

EVEN = (0.4, 0.1, 0.0, 0.4, 0.1, 0.0)
"""Some chances of an even game."""
OWNERS = {"centre": 0, "own": 1, "opponent": -1}


class Vector(NamedTuple):
    """A position with the cumulative chances that GNU Backgammon gives it; all are contact, x = 0.68."""

    position_id: str
    chances: tuple[float, float, float, float, float]


VECTORS = {
    "B": Vector("wrttAEDbch0ACA", (0.558721, 0.203107, 0.000709, 0.049662, 0.001750)),
    "C": Vector("czbgAHDnbQsQAA", (0.922905, 0.826331, 0.031032, 0.001791, 0.0)),
    "E": Vector("mGfwATCGZ/ABMA", (0.480615, 0.149747, 0.006437, 0.159216, 0.009270)),
    "F": Vector("SneDGQBjew4wAA", (0.701945, 0.052611, 0.0, 0.013237, 0.0)),
    "G": Vector("a3cLAEB9ewMAAA", (0.887073, 0.019113, 0.000388, 0.0, 0.0)),
    "H": Vector("bDsBgHHO7QbAAA", (0.824953, 0.731324, 0.085923, 0.013486, 0.0)),
    "I": Vector("sLcDAUY37hwCAA", (0.769071, 0.499099, 0.005108, 0.022247, 0.000106)),
    "K": Vector("1XYMgAOK520IAA", (0.679012, 0.023126, 0.000550, 0.018646, 0.000448)),
}


def money_state(position: str | Position = VECTORS["B"].position_id, owner: int = 0, **fields: Any) -> GameState:
    """Money play, player 1 on roll; owner: +1 his own cube (at 2 unless said), 0 centred, -1 the opponent's."""
    board = Position.from_position_id(position) if isinstance(position, str) else position
    cube = fields.pop("cube", 1 if owner == 0 else 2)
    return GameState(board, cube=cube, owner=seat(owner), **fields)


def match_state(
    away: tuple[int, int], position: str | Position = VECTORS["B"].position_id, owner: int = 0, **fields: Any
) -> GameState:
    """A game of a match in which player 1, on roll, needs away[0] points and his opponent away[1]."""
    board = Position.from_position_id(position) if isinstance(position, str) else position
    length = max(*away, fields.pop("length", 0))
    cube = fields.pop("cube", 1 if owner == 0 else 2)
    score = (length - away[1], length - away[0])
    return GameState(board, match_length=length, score=score, cube=cube, owner=seat(owner), **fields)


def seat(owner: int) -> int | None:
    """Of the cube's owner in the view of player 1."""
    return {0: None, 1: 1, -1: 0}[owner]


@cache
def oracle_rows() -> tuple[dict[str, Any], ...]:
    """The lines of tests/data/cube.jsonl.gz, each with its GameState as "state"."""
    with gzip.open(DATA / "cube.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    for row in rows:
        state = GameState.from_gnubg_id(f"{row['position_id']}:{row['match_id']}")
        row["state"] = replace(state, jacoby=row["jacoby"], dice=None)
    return tuple(rows)


@cache
def case(name: str) -> dict[str, Any]:
    """One case of tests/data/cases_cube.jsonl by its id."""
    lines = (DATA / "cases_cube.jsonl").read_text(encoding="utf-8").splitlines()
    found: dict[str, Any] = next(case for case in map(json.loads, lines) if case["id"] == name)
    return found


def near(want: Any, within: float) -> Any:
    """Equal up to an absolute difference; None is itself."""
    return None if want is None else pytest.approx(want, rel=0, abs=within)


def judged(name: str, state: GameState, **options: Any) -> CubeDecision:
    """The decision on one of VECTORS under the stakes of a state."""
    vector = VECTORS[name]
    state = replace(state, position=Position.from_position_id(vector.position_id))
    return decide(from_cumulative(vector.chances), state, **options)
