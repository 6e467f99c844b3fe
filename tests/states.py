"""Random game states for property tests, and texts that are almost IDs."""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import Any

from hypothesis import strategies as st

from engine import GameState, Position
from engine.state import POINTS_TOP, GameStatus
from tests.boards import DATA


@cache
def id_rows() -> list[dict[str, Any]]:
    """The 300 rows of tests/data/ids.jsonl.gz."""
    with gzip.open(DATA / "ids.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def format_case(name: str) -> dict[str, Any]:
    """One case of tests/data/cases_formats.jsonl by its id."""
    lines = (DATA / "cases_formats.jsonl").read_text(encoding="utf-8").splitlines()
    return next(case for case in map(json.loads, lines) if case["id"] == name)


@st.composite
def positions(draw: st.DrawFn) -> Position:
    """One to fifteen checkers a side (none for at most one side), anywhere, also on both bars."""
    counts = [0] * 26
    for sign, bar in ((1, 25), (-1, 0)):
        for place in draw(st.lists(st.integers(1, 25), max_size=15)):
            place = bar if place == 25 else place
            if counts[place] * sign >= 0:
                counts[place] += sign
    if not any(counts):
        counts[draw(st.integers(1, 24))] = draw(st.sampled_from((-15, -1, 1, 15)))
    return Position(counts)


@st.composite
def states(draw: st.DrawFn, xgid: bool = False) -> GameState:
    """Any state, or any state that has an XGID and is read from it as it was."""
    length = draw(st.just(0) | st.integers(1, 25) | st.integers(1, POINTS_TOP))
    status = GameStatus.PLAYING if xgid else draw(st.sampled_from(GameStatus))
    score = draw(st.tuples(*[st.integers(0, length - 1 if length else POINTS_TOP)] * 2))
    crawford = length > 0 and draw(st.booleans())
    if crawford:
        score = draw(st.sampled_from([(length - 1, score[1]), (score[0], length - 1)]))
    elif length and status != GameStatus.PLAYING and draw(st.booleans()):
        score = (POINTS_TOP, score[1])
    limit = draw(st.none() | st.integers(0, 15).filter(lambda power: not (xgid and power == 10)))
    power = 0 if crawford else draw(st.integers(0, 15 if limit is None else limit))
    owners = [0, 1] if power and length else [None, 0, 1] if power else [None]
    on_roll, owner = draw(st.integers(0, 1)), draw(st.sampled_from(owners))
    dice = draw(st.none() | st.tuples(*[st.integers(1, 6)] * 2))
    resigned = 0 if xgid else draw(st.integers(0, 3))
    highest = power == (15 if limit is None else limit)
    can_double = not (dice or crawford or resigned or highest) and owner in (None, on_roll)
    return GameState(
        draw(positions()),
        on_roll=on_roll,
        dice=dice,
        cube=2**power,
        owner=owner,
        match_length=length,
        score=score,
        crawford=crawford,
        jacoby=length == 0 and draw(st.booleans()),
        beavers=length == 0 and draw(st.booleans()),
        max_cube=None if limit is None else 2**limit,
        doubled=can_double and draw(st.booleans()),
        resigned=resigned,
        game_state=status,
    )


@st.composite
def mutations(draw: st.DrawFn, originals: list[str], letters: str) -> str:
    """One of the texts after up to three changes: a character replaced, left out, put in, or two exchanged."""
    text = list(draw(st.sampled_from(originals)))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text) - 1))
        match draw(st.integers(0, 3)):
            case 0:
                text[place] = draw(st.sampled_from(letters))
            case 1:
                del text[place]
            case 2:
                text.insert(place, draw(st.sampled_from(letters)))
            case 3:
                text[place], text[-place] = text[-place], text[place]
    return "".join(text)
