"""Boards as SVG: valid, whole, showing what is on the board, and the same text every time."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings

import engine
from engine import START, GameState, Position, read_position
from engine.drawing import Drawing, DrawingError, draw
from engine.errors import DiceError, EngineError, IllegalPlayError, NotationError
from tests.boards import board
from tests.states import positions, states

SVG = "{http://www.w3.org/2000/svg}"
STATE = read_position("XGID=aBBBA-CAC------bbbcd--Aa--:1:-1:1:00:0:0:1:0:10")
WIDTH = 612


def marked(svg: str, name: str) -> list[ET.Element]:
    """The elements that carry a data attribute."""
    return [element for element in ET.fromstring(svg).iter() if f"data-{name}" in element.attrib]


def said(svg: str) -> list[str]:
    """The words that are drawn."""
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def place_of(x: float, y: float, top: float) -> int | None:
    """The place where a checker is drawn, found from the drawing's own measures and not from its code.

    Points are 40 wide, in two fields of 240 between trays and a bar of 44; the board's middle is 230 below its top.
    """
    lower = y > top + 230
    if abs(x - WIDTH / 2) < 4:
        return 25 if lower else 0
    left = x - 44 if x < WIDTH / 2 else x - 88
    column = left / 40
    assert abs(column - math.floor(column) - 0.5) < 0.01, "in the middle of a point"
    return 12 - math.floor(column) if lower else 13 + math.floor(column)


def shown_board(svg: str, top: float = 26, own: str = "light") -> list[int]:
    """The board as it is drawn, from where the circles lie and, for high stacks, from the numbers on them."""
    counts = [0] * 26
    root = ET.fromstring(svg)
    children = list(root)
    for at, group in enumerate(children):
        if "data-place" not in group.attrib:
            continue
        circles = [(float(c.attrib["cx"]), float(c.attrib["cy"])) for c in group.findall(f"{SVG}circle")]
        (place,) = {place_of(x, y, top) for x, y in circles}
        assert place is not None and len(set(circles)) == len(circles)
        assert all(abs(a[1] - b[1]) == pytest.approx(36) for a, b in zip(circles, circles[1:], strict=False))
        count = len(circles)
        most = 4 if place in (0, 25) else 5
        number = next((after for after in children[at + 1 : at + 2] if after.attrib["class"].startswith("on-")), None)
        if count == most and number is not None:
            assert math.isclose(float(number.attrib["x"]), circles[-1][0])
            count = int(number.text or "")
            assert count > most
        counts[place] = count if group.attrib["class"] == own else -count
        assert int(group.attrib["data-place"]) == place and int(group.attrib["data-count"]) == counts[place]
    return counts


# ---- what stands on the board ---------------------------------------------------------------------------------------


@given(positions())
@settings(max_examples=60)
@example(START)
def test_what_stands_on_the_board_is_drawn(position: Position) -> None:
    svg = draw(position).svg
    counts = position.board.tolist()
    assert shown_board(svg) == counts
    assert shown_board(draw(position, caption=False, numbers=False).svg, top=0) == counts
    off = {own: 15 - sum(max(0, count if own else -count) for count in counts) for own in (True, False)}
    found = {group.attrib["class"] == "light": group for group in marked(svg, "off")}
    assert {own: int(group.attrib["data-off"]) for own, group in found.items()} == {k: v for k, v in off.items() if v}
    for own, group in found.items():
        slabs = group.findall(f"{SVG}rect")
        assert len(slabs) == off[own] and str(off[own]) in said(svg)
        assert all((float(s.attrib["y"]) > 256) == own and float(s.attrib["x"]) > WIDTH - 44 for s in slabs)
    own, opponent = position.pips
    text = " ".join(said(svg))
    assert f"pips {own}" in text and f"pips {opponent}" in text
    assert svg == draw(position).svg == draw(Position(counts)).svg, "the same board, the same text"


@given(states())
@settings(max_examples=60)
def test_states_are_drawn_with_cube_and_dice(state: GameState) -> None:
    svg = draw(state, light=None).svg
    assert shown_board(svg) == state.position.board.tolist()
    (cube,) = marked(svg, "cube")
    assert int(cube.attrib["data-cube"]) == state.cube * (2 if state.doubled else 1)
    assert cube.attrib["data-cube"] in said(svg)
    dice = [int(die.attrib["data-die"]) for die in marked(svg, "die")]
    assert dice == list(state.dice or ())
    assert draw(state)._repr_svg_() == state._repr_svg_()


def test_a_turned_picture() -> None:
    def turned(svg: str) -> list[tuple[str, float, float]]:
        return sorted(
            (g.attrib["data-place"], float(c.attrib["cx"]), round(512 - float(c.attrib["cy"]), 3))
            for g in marked(svg, "place") for c in g.findall(f"{SVG}circle")
        )  # fmt: skip

    position = Position(board({25: 2, 6: 3, 13: 2}, {0: 1, 1: 2, 20: 4}))
    upright = sorted((place, x, round(512 - y, 3)) for place, x, y in turned(draw(position).svg))
    assert turned(draw(position, flip=True).svg) == upright, "top and bottom change places, home stays on the right"


@pytest.mark.parametrize("theme", ["auto", "light", "dark", "print"])
def test_themes(theme: str) -> None:
    svg = draw(STATE, theme=theme).svg
    assert shown_board(svg) == STATE.position.board.tolist()
    assert ("prefers-color-scheme" in svg) == (theme == "auto")


def test_pictures_are_whole_documents() -> None:
    root = ET.fromstring(draw(START).svg)
    assert root.tag == f"{SVG}svg" and root.attrib["role"] == "img" and root.attrib["width"] == "480"
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None and title.text == START.position_id
    assert description is not None and "13-14-15" in (description.text or "")
    assert {str(point) for point in range(1, 25)} <= set(said(draw(START).svg))
    assert not {str(point) for point in range(1, 25)} & set(said(draw(START, numbers=False).svg))
    assert not any("pips" in text for text in said(draw(START, pips=False).svg))
    assert not any("on roll" in text for text in said(draw(START, caption=False).svg))
    assert "<marker" not in draw(START, "8/5 6/5", dice=(3, 1)).svg and " id=" not in draw(START).svg, "ids collide"
    height = float(root.attrib["viewBox"].split()[3])
    large = ET.fromstring(draw(START, size=1224).svg)
    assert large.attrib["width"] == "1224" and float(large.attrib["height"]) == pytest.approx(2 * height)
    state_title = ET.fromstring(draw(STATE).svg).find(f"{SVG}title")
    assert state_title is not None and state_title.text == STATE.xgid


def test_flawed_positions_are_drawn_too() -> None:
    flawed = Position(board({6: 20}, {1: 3}))
    assert flawed.flaws() and shown_board(flawed._repr_svg_()) == flawed.board.tolist()


def test_notebooks_show_positions_and_states() -> None:
    assert START._repr_svg_() == draw(START).svg == draw(START)._repr_svg_()
    assert STATE._repr_svg_() == draw(STATE).svg
    assert engine.draw is draw and engine.Drawing is Drawing and "SVG" in repr(draw(START))


# ---- the players ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("owner", "end"), [(1, "low"), (0, "high"), (None, "middle")])
@pytest.mark.parametrize("on_roll", [0, 1])
@pytest.mark.parametrize("flip", [False, True])
def test_the_cube_lies_with_its_owner(owner: int | None, end: str, on_roll: int, flip: bool) -> None:
    state = replace(STATE, owner=owner, cube=1 if owner is None else 2, on_roll=on_roll)
    (cube,) = marked(draw(state, flip=flip).svg, "cube")
    if owner is not None and (on_roll == 0) != flip:
        end = {"low": "high", "high": "low"}[end]  # the player on roll sits at the bottom
    y = float(cube.attrib["y"]) + 17 - 26
    assert {"low": y > 380, "high": y < 80, "middle": abs(y - 230) < 1}[end]
    assert float(cube.attrib["x"]) < 44


def test_a_game_without_a_cube_shows_none() -> None:
    assert marked(draw(STATE).svg, "cube") and not marked(draw(engine.new_game(max_cube=1)).svg, "cube")


def test_an_offered_cube_lies_between_the_halves() -> None:
    state = replace(STATE, owner=None, cube=1).double()
    (cube,) = marked(draw(state).svg, "cube")
    assert cube.attrib["data-cube"] == "2" and 44 < float(cube.attrib["x"]) < 284


def test_colours_stay_with_the_players() -> None:
    seen = {on_roll: draw(replace(STATE, owner=None, on_roll=on_roll, dice=(6, 1))).svg for on_roll in (0, 1)}
    for on_roll, svg in seen.items():
        assert shown_board(svg, own="light" if on_roll else "dark") == STATE.position.board.tolist()
        assert {die.attrib["class"] for die in marked(svg, "die")} == {"light" if on_roll else "dark"}
    assert any("player 0" in text for text in said(seen[0])) and not any("player" in text for text in said(seen[1]))
    for light, own in ((0, "light"), (None, "light"), (1, "dark")):
        svg = draw(replace(STATE, on_roll=0, owner=None), light=light).svg
        assert shown_board(svg, own=own) == STATE.position.board.tolist()


def test_variants_bear_off_fewer() -> None:
    state = engine.new_game(variant="hypergammon")
    assert not marked(draw(state).svg, "off"), "three a side, and none is borne off yet"
    assert {group.attrib["data-off"] for group in marked(draw(state.position).svg, "off")} == {"12"}
    assert not marked(draw(state.position, checkers=3).svg, "off")


# ---- dice and arrows ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dice", [(high, low) for high in range(1, 7) for low in range(1, high + 1)])
def test_dice(dice: tuple[int, int]) -> None:
    svg = draw(START, dice=dice).svg
    children = list(ET.fromstring(svg))
    found = [at for at, element in enumerate(children) if "data-die" in element.attrib]
    assert [len(children[at + 1].findall(f"{SVG}circle")) for at in found] == list(dice)
    assert all(328 <= float(children[at].attrib["x"]) <= 568 - 34 for at in found), "in the half of the one who rolls"
    assert f"X to play {dice[0]}-{dice[1]}" in said(svg)


def drawn_arrows(svg: str) -> list[tuple[tuple[int, ...], int]]:
    return [
        (tuple(map(int, a.attrib["data-places"].split())), int(a.attrib["data-count"])) for a in marked(svg, "places")
    ]


def check_arrows(position: Position, dice: tuple[int, int]) -> None:
    """Arrows begin and end where checkers are before and after; together they make the play."""
    for play in engine.legal_plays(position, dice):
        svg = draw(position, play, dice=dice).svg
        change = Counter[int]()
        for places, count in drawn_arrows(svg):
            change[places[0]] -= count
            change[places[-1]] += count
        before = np.maximum(position.board, 0)
        after = np.maximum(-play.position.board[::-1], 0)
        expected = {place: int(n) for place, n in enumerate(after - before) if n and place}
        assert {place: n for place, n in change.items() if n and place} == expected, play.notation
        assert play.notation in said(svg) or not play.moves
        assert sum(text == "*" for text in said(svg)) == play.notation.count("*")
        for group in marked(svg, "places"):
            line = group.findall(f"{SVG}path")[1].attrib["d"]
            x, y = map(float, line[1:].split("L")[0].split())
            tip = tuple(map(float, group.findall(f"{SVG}polygon")[1].attrib["points"].split()[0].split(",")))
            places = [int(place) for place in group.attrib["data-places"].split()]
            assert place_of(x, y, 26) == places[0]
            assert place_of(*tip, 26) == places[-1] if places[-1] else tip[0] == WIDTH - 22 and tip[1] > 256


@pytest.mark.parametrize(
    ("own", "opponent", "dice"),
    [
        ({24: 2, 13: 5, 8: 3, 6: 5}, {1: 2, 12: 5, 17: 3, 19: 5}, (3, 1)),
        ({24: 2, 13: 5, 8: 3, 6: 5}, {1: 2, 12: 5, 17: 3, 19: 5}, (2, 2)),
        ({25: 2, 13: 3, 6: 5}, {23: 1, 0: 1, 19: 2}, (2, 2)),
        ({25: 1, 8: 3, 6: 5}, {20: 1, 2: 1, 19: 2}, (5, 3)),
        ({3: 4, 2: 2, 1: 1}, {24: 6}, (3, 3)),
        ({6: 1, 2: 2}, {24: 6}, (6, 5)),
        ({25: 1}, {19: 2, 20: 2, 21: 2, 22: 2, 23: 2, 24: 2}, (6, 5)),
    ],
    ids=["start", "double", "bar, double, hit", "bar, hit", "bearing off", "last ones", "no play"],
)
def test_arrows_make_the_play(own: dict[int, int], opponent: dict[int, int], dice: tuple[int, int]) -> None:
    check_arrows(Position(board(own, opponent)), dice)


def test_checkers_on_one_way_share_an_arrow() -> None:
    svg = draw(Position(board({25: 2, 13: 2}, {23: 1})), "bar/23*(2) 13/11(2)", dice=(2, 2)).svg
    assert sorted(drawn_arrows(svg)) == [((13, 11), 2), ((25, 23), 2)]
    assert said(svg).count("×2") == 2 and said(svg).count("*") == 1


def test_two_plays_are_told_apart() -> None:
    svg = draw(START, "8/5 6/5", compare="24/20", dice=(3, 1)).svg
    assert {"8/5 6/5", "24/20"} <= set(said(svg))
    assert len(drawn_arrows(svg)) == 3
    kinds = [[p.attrib.get("stroke-dasharray") for p in g.findall(f"{SVG}path")] for g in marked(svg, "places")]
    assert [kind[1] for kind in kinds] == [None, None, "9 5"]
    blot = Position(board({24: 2, 13: 5, 8: 3, 6: 5}, {7: 1, 12: 4, 17: 3, 19: 5}))
    same = draw(blot, "8/7*(2) 6/5(2)", compare="24/22 6/5(2)", dice=(1, 1)).svg
    ways = [g.findall(f"{SVG}path")[1].attrib["d"] for g in marked(same, "places")]
    assert len(ways) == len(set(ways)) == 4, "the arrow that both have is drawn twice, side by side"


def test_arrows_from_one_place_start_at_different_checkers() -> None:
    svg = draw(START, "6/5 6/3", dice=(3, 1)).svg
    starts = [g.findall(f"{SVG}path")[1].attrib["d"].split("L")[0] for g in marked(svg, "places")]
    assert len(starts) == len(set(starts)) == 2


def test_a_state_brings_its_dice() -> None:
    state = GameState(START, dice=(3, 1), on_roll=0)
    assert drawn_arrows(draw(state, "8/5 6/5").svg) == drawn_arrows(draw(START, "8/5 6/5", dice=(3, 1)).svg)
    assert [die.attrib["data-die"] for die in marked(draw(state, dice="64").svg, "die")] == ["6", "4"]


# ---- files and refusals ---------------------------------------------------------------------------------------------


def test_files(tmp_path: Path) -> None:
    path = draw(STATE).save(tmp_path / "board.svg")
    assert path.read_text(encoding="utf-8") == draw(STATE).svg
    assert draw(STATE).save(str(tmp_path / "b.SVG")) == tmp_path / "b.SVG"
    with pytest.raises(DrawingError, match=r"ends in \.svg"):
        draw(STATE).save(tmp_path / "board.png")
    with pytest.raises(OSError, match="nowhere"):
        draw(STATE).save(tmp_path / "nowhere" / "board.svg")


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"theme": "pink"}, DrawingError, "no theme 'pink'"),
        ({"size": 10}, DrawingError, "50 to 10000"),
        ({"size": 4.5}, DrawingError, "50 to 10000"),
        ({"light": 2}, DrawingError, "a seat, 0 or 1"),
        ({"checkers": 16}, DrawingError, "1 to 15"),
        ({"checkers": "3"}, DrawingError, "1 to 15"),
        ({"dice": (7, 1)}, DiceError, "7"),
        ({"play": 5}, DrawingError, "a Play or text"),
        ({"play": "8/5 6/5"}, DiceError, "dice"),
        ({"play": "8/4 6/5", "dice": (3, 1)}, IllegalPlayError, "8/4"),
        ({"compare": "nonsense", "dice": (3, 1)}, NotationError, "nonsense"),
    ],
)
def test_bad_options(arguments: dict[str, Any], kind: type[EngineError], words: str) -> None:
    with pytest.raises(kind, match=words):
        draw(START, **arguments)


def test_only_boards_can_be_drawn() -> None:
    with pytest.raises(DrawingError, match="not str"):
        draw("4HPwATDgc/ABMA")  # type: ignore[arg-type]
    with pytest.raises(IllegalPlayError, match="cannot be played in this position"):
        draw(START, engine.parse_play(Position(board({3: 4}, {24: 6})), (3, 3), "3/off(4)"))
    assert issubclass(DrawingError, ValueError)
