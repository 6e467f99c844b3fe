"""Boards as SVG: valid, whole, and showing what is on the board."""

from __future__ import annotations

import gzip
import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import engine
from engine import GameState, Position
from engine.drawing import DrawingError, draw
from engine.errors import EngineError

DATA = Path(__file__).parent.parent / "data"
STATE = GameState.from_xgid("XGID=aBBBA-CAC------bbbcd--Aa--:1:-1:1:00:0:0:1:0:10")
SVG = "{http://www.w3.org/2000/svg}"


def marked(svg: str, name: str) -> list[ET.Element]:
    """The elements that carry a data attribute."""
    return [element for element in ET.fromstring(svg).iter() if f"data-{name}" in element.attrib]


def shown_board(svg: str) -> list[int]:
    """The counts as drawn; the number of circles of a place, or the number written on a high stack, must agree."""
    board = [0] * 26
    for group in marked(svg, "place"):
        place, count = int(group.attrib["data-place"]), int(group.attrib["data-count"])
        circles = len(group.findall(f"{SVG}circle"))
        assert circles == min(abs(count), circles) and (circles == abs(count) or f">{abs(count)}</text>" in svg)
        board[place] = count
    return board


def test_what_stands_on_the_board_is_drawn() -> None:
    with gzip.open(DATA / "movegen.jsonl.gz", "rt") as file:
        boards = [json.loads(line)["board"] for line in file][::60]
    for board in boards:
        position = Position(np.array(board, np.int8))
        svg = draw(position).svg
        assert shown_board(svg) == board
        off = {15 - sum(max(0, sign * count) for count in board) for sign in (1, -1)} - {0}
        assert {int(element.attrib["data-off"]) for element in marked(svg, "off")} == off
        assert svg == draw(position).svg, "the same board, the same text"


def test_pictures_are_whole_documents() -> None:
    root = ET.fromstring(draw(engine.START).svg)
    assert root.tag == f"{SVG}svg" and root.attrib["role"] == "img" and root.attrib["width"] == "480"
    title, description = root.findall(f"{SVG}title") + root.findall(f"{SVG}desc")
    assert title.text == engine.START.position_id and "13-14-15" in (description.text or "")
    words = "".join(root.itertext())
    assert all(str(point) in words for point in range(1, 25)) and "167" in words
    assert "167" not in "".join(
        e.text or "" for e in ET.fromstring(draw(engine.START, pips=False).svg).iter(f"{SVG}text")
    )


def test_notebooks_show_positions_and_states() -> None:
    assert engine.START._repr_svg_() == draw(engine.START).svg == draw(engine.START)._repr_svg_()
    assert STATE._repr_svg_() == draw(STATE).svg


@pytest.mark.parametrize(("owner", "end"), [(1, "low"), (0, "high"), (None, "middle")])
def test_the_cube_lies_with_its_owner(owner: int | None, end: str) -> None:
    state = replace(STATE, owner=owner, cube=1 if owner is None else 2)
    (cube,) = marked(draw(state).svg, "cube")
    assert cube.attrib["data-cube"] == str(state.cube)
    y, height = float(cube.attrib["y"]), float(ET.fromstring(draw(state).svg).attrib["viewBox"].split()[3])
    assert {"low": y > 0.6 * height, "high": y < 0.3 * height, "middle": 0.3 * height < y < 0.6 * height}[end]
    seen_by_0 = replace(state, on_roll=0)
    if owner is not None:
        (other,) = marked(draw(seen_by_0).svg, "cube")
        assert other.attrib["y"] != cube.attrib["y"], "the player on roll sits at the bottom"


def test_an_offered_cube_shows_what_it_would_be() -> None:
    state = replace(STATE, owner=None, cube=1).double()
    assert [cube.attrib["data-cube"] for cube in marked(draw(state).svg, "cube")] == ["2"]


def test_dice_and_arrows() -> None:
    svg = draw(engine.START, "8/5 6/5", compare="24/20", dice=(3, 1)).svg
    assert [die.attrib["data-die"] for die in marked(svg, "die")] == ["3", "1"]
    arrows = [(a.attrib["data-places"], a.attrib["data-count"]) for a in marked(svg, "places")]
    assert len(arrows) == 3 and all(count == "1" for _, count in arrows)
    words = "".join(ET.fromstring(svg).itertext())
    assert "8/5 6/5" in words and "24/20" in words
    for play in engine.legal_plays(engine.START, (6, 6)):
        svg = draw(engine.START, play, dice=(6, 6)).svg
        moved = sum(
            int(a.attrib["data-count"]) * (a.attrib["data-places"].count(" ") or 1) for a in marked(svg, "places")
        )
        assert 1 <= moved <= 4
    entering = STATE.position.flipped()
    play = engine.legal_plays(entering, (6, 5))[0]
    assert play.notation.startswith("bar") or "bar" in play.notation
    assert marked(draw(entering, play, dice=(6, 5)).svg, "places")


def test_files(tmp_path: Path) -> None:
    path = draw(STATE).save(tmp_path / "board.svg")
    assert path.read_text(encoding="utf-8") == draw(STATE).svg
    with pytest.raises(DrawingError, match="ends in .svg"):
        draw(STATE).save(tmp_path / "board.png")


@pytest.mark.parametrize("theme", ["auto", "light", "dark", "print"])
def test_themes(theme: str) -> None:
    assert shown_board(draw(STATE, theme=theme).svg) == STATE.position.board.tolist()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"theme": "pink"}, "no theme 'pink'"),
        ({"size": 10}, "50 to 10000"),
        ({"size": 4.5}, "50 to 10000"),
        ({"light": 2}, "a seat, 0 or 1"),
        ({"dice": (7, 1)}, "7"),
        ({"play": 5}, "a Play or text"),
        ({"play": "8/4 6/5", "dice": (3, 1)}, "8/4"),
    ],
)
def test_bad_options(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(EngineError, match=words):
        draw(engine.START, **arguments)  # type: ignore[arg-type]


def test_only_boards_can_be_drawn() -> None:
    with pytest.raises(DrawingError, match="not str"):
        draw("4HPwATDgc/ABMA")  # type: ignore[arg-type]
    with pytest.raises(EngineError, match="cannot be played in this position"):
        draw(engine.START, engine.legal_plays(STATE.position.flipped(), (6, 5))[0])
