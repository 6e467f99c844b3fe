"""Match equity tables: published values, properties, look-ups, longer matches, files, tables of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bgnet.match_equity import LONGEST, GameRates, MatchEquityError, MatchEquityTable, default_table
from bgnet.match_equity_files import SCHEMA, read_table, write_table
from tests.cube_states import case

# Kazaross-XG2 as GNU Backgammon 1.07.001 prints it (met).
SPOTS = {
    (1, 2): 0.67736, (1, 3): 0.75076, (1, 4): 0.81436, (1, 5): 0.84179, (2, 3): 0.59947, (2, 4): 0.66870,
    (2, 5): 0.74359, (3, 4): 0.57150, (3, 5): 0.64795, (4, 5): 0.57732, (5, 7): 0.62638,
}  # fmt: skip
POST = [0.5, 0.48803, 0.32264, 0.31002, 0.19012, 0.18072, 0.11559, 0.10906]


def tables() -> list[MatchEquityTable]:
    return [default_table(), default_table().reaching(LONGEST), MatchEquityTable.from_rates(25)]


def test_kazaross_has_the_published_values() -> None:
    table = default_table()
    assert table.length == 25
    assert "Kazaross" in table.source
    for away, chance in SPOTS.items():
        assert table.pre[away] == pytest.approx(chance, abs=1e-7)
        assert table.chance(away) == table.pre[away]
    assert table.post[1:9] == pytest.approx(POST, abs=1e-7)


def test_reported_case_post_crawford() -> None:
    found = case("ma-011")
    table = default_table()
    got = [table.chance((n, 1), crawford_over=True) for n in found["input"]["trailer_needs"]]
    assert got == pytest.approx(found["expect"]["mwc"], abs=1e-5)


@pytest.mark.parametrize("table", tables(), ids=["kazaross", "kazaross continued", "computed"])
def test_properties(table: MatchEquityTable) -> None:
    pre, post = table.pre[1:, 1:], table.post[1:]
    assert np.allclose(pre + pre.T, 1.0, atol=1e-12)
    assert np.allclose(np.diag(pre), 0.5, atol=1e-12)
    assert (np.diff(pre, axis=0) < 0).all() and (np.diff(pre, axis=1) > 0).all()
    assert (np.diff(post) < 0).all()
    assert (post[1:] > pre[1:, 0]).all()  # after the Crawford game the trailer gets the cube back
    steps = -np.diff(post)  # from an even to an odd score the trailer needs one more (doubled) game
    assert (steps[1:-1:2] > steps[2::2]).all() and (steps[1:-1:2] > 2.5 * steps[:-2:2]).all()
    assert not table.pre.flags.writeable and not table.post.flags.writeable


def test_computed_table_is_near_kazaross() -> None:
    want, got = default_table(), MatchEquityTable.from_rates(25)
    difference = np.abs(want.pre - got.pre)[1:, 1:]
    assert difference.mean() < 0.0008
    assert difference.max() < 0.0115
    assert difference[2:, 2:].max() < 0.0065  # the largest are in the 2-away rows
    assert np.abs(want.post - got.post).max() < 0.0027


def test_post_crawford_row_with_zadehs_rates() -> None:
    """GNU Backgammon 1.07.001, its Zadeh table: a quarter of gammons, free drops .015 and .004."""
    want = [0.5, 0.485, 0.3125, 0.302875, 0.1796875, 0.1742031, 0.1064453, 0.1031855, 0.0623779, 0.06047, 0.0366974]
    rates = GameRates(gammons=0.25, backgammons=0.0, free_drops=(0.015, 0.004))
    assert MatchEquityTable.from_rates(11, rates).post[1:] == pytest.approx(want, abs=6e-8)


def test_more_gammons_help_the_trailer() -> None:
    few, many = (MatchEquityTable.from_rates(15, GameRates(gammons=g)) for g in (0.2, 0.3))
    assert (many.post[3:] > few.post[3:]).all()
    assert (many.pre[3:, 1] > few.pre[3:, 1]).all()


@pytest.mark.parametrize(
    "wrong",
    [{"gammons": -0.1}, {"gammons": 1.5}, {"gammons": 0.7, "backgammons": 0.4}, {"efficiency": float("nan")},
     {"free_drops": (0.01, 2.0)}],
)  # fmt: skip
def test_rates_out_of_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(MatchEquityError):
        GameRates(**wrong)


@pytest.mark.parametrize("length", [0, -1, LONGEST + 1, 7.0, "7"])
def test_computed_length(length: Any) -> None:
    with pytest.raises(MatchEquityError, match="1..64"):
        MatchEquityTable.from_rates(length)


# Look-ups


def test_after_a_game() -> None:
    table = default_table()
    assert table.after((5, 3), 2, won=True) == table.pre[3, 3]
    assert table.after((5, 3), 2, won=False) == table.pre[5, 1]  # the Crawford game is next
    assert table.after((5, 3), 0, won=False) == table.pre[5, 3]
    assert table.after((5, 3), 5, won=True) == table.after((5, 3), 12, won=True) == 1.0  # what is over is worth nothing
    assert table.after((5, 3), 3, won=False) == table.after((5, 3), 24, won=False) == 0.0
    assert table.after((3, 1), 1, won=True, crawford=True) == table.post[2]
    assert table.after((1, 3), 1, won=False, crawford=True) == 1 - table.post[2]
    assert table.after((3, 1), 2, won=True) == table.post[1] == 0.5  # post-Crawford
    assert table.after((1, 1), 1, won=True) == 1.0


def test_reported_case_match_score() -> None:
    """The leader of a match to 5 needs 2 points at 3-1."""
    found = case("ma-014")
    length, (own, other) = found["input"]["match"], found["input"]["score"]
    away = length - own, length - other
    for (score, _), over in zip(found["expect"]["score_after"], found["expect"]["match_over"], strict=True):
        chance = default_table().after(away, score - own, won=True)
        assert (chance == 1.0) == over
        assert over or chance == default_table().pre[length - score, away[1]]


def test_finished_matches() -> None:
    table = default_table()
    assert table.chance((0, 4)) == table.chance((-3, 4)) == 1.0
    assert table.chance((4, 0)) == 0.0
    for away in [(0, 0), (0, -2)]:
        with pytest.raises(MatchEquityError, match="only one"):
            table.chance(away)


@pytest.mark.parametrize("away", [(0, 3), (3, -1), (3,), 3, (2.5, 1), ("3", 1), None])
def test_wrong_scores(away: Any) -> None:
    with pytest.raises(MatchEquityError):
        default_table().after(away, 1, won=True)


def test_wrong_questions() -> None:
    table = default_table()
    with pytest.raises(MatchEquityError, match="single point"):
        table.chance((3, 4), crawford_over=True)
    with pytest.raises(MatchEquityError, match="single point"):
        table.after((3, 4), 1, won=True, crawford=True)
    for points in (-1, 1.5):
        with pytest.raises(MatchEquityError, match="points"):
            table.after((3, 4), points, won=True)  # type: ignore[arg-type]


def test_longer_matches_continue_the_table() -> None:
    table = default_table()
    longer = table.reaching(26)
    assert longer.length == LONGEST and longer is table.reaching(60) and table.reaching(25) is table
    assert (longer.pre[:26, :26] == table.pre).all() and (longer.post[:26] == table.post).all()
    assert "dynamic programming" in longer.source
    assert table.chance((26, 25)) == longer.pre[26, 25] == pytest.approx(0.47, abs=0.002)
    assert table.chance((64, 64)) == 0.5
    # it goes on smoothly: the steps beyond the last row are like those before it
    steps = -np.diff(longer.pre[:, 20])
    assert np.abs(np.diff(steps[22:30])).max() < 0.002
    with pytest.raises(MatchEquityError, match="65 points away; the table has 25 points and is continued to 64"):
        table.chance((65, 3))


# Wrong tables


def small(**changes: Any) -> dict[str, Any]:
    value = {
        "schema": SCHEMA,
        "name": "small",
        "pre_crawford": [[0.5, 0.7, 0.75], [0.3, 0.5, 0.6], [0.25, 0.4, 0.5]],
        "post_crawford": [0.5, 0.48, 0.32],
    }
    return value | changes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pre_crawford": [[0.5, 0.7], [0.3, 0.5], [0.25, 0.4]]}, "square"),
        ({"pre_crawford": [[0.5, 0.7], [0.3]]}, "equally long"),
        ({"pre_crawford": []}, "square"),
        ({"pre_crawford": [[0.5, "x"], [0.3, 0.5]]}, "numbers"),
        ({"pre_crawford": [[0.5, 1.7, 0.75], [0.3, 0.5, 0.6], [0.25, 0.4, 0.5]]}, r"pre_crawford\[0\]\[1\] is 1.7"),
        ({"pre_crawford": [[0.5, 0.7, 0.75], [0.3, 0.5, 0.6], [0.25, 0.43, 0.5]]}, "not 1 together"),
        ({"pre_crawford": [[0.5, 0.3, 0.25], [0.7, 0.5, 0.4], [0.75, 0.6, 0.5]]}, "mixed"),
        ({"post_crawford": [0.5, 0.48, float("nan")]}, r"post_crawford\[2\] is nan"),
        ({"post_crawford": [0.5, 0.32, 0.48]}, "better chance"),
        ({"post_crawford": [0.5, 0.48, 0.32, 0.31]}, "1 to 3 numbers"),
        ({"post_crawford": []}, "1 to 3 numbers"),
        ({"post_crawford": None}, "1 to 3 numbers"),
        ({"schema": "bgnet.other/1"}, "schema"),
        ({"length": 4}, "says 4 points and holds 3"),
    ],
)
def test_wrong_json_tables(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(small(**changes)))
    with pytest.raises(MatchEquityError, match=message) as found:
        read_table(path)
    assert str(found.value).startswith(str(path))


@pytest.mark.parametrize("text", ["", "[1, 2]", '{"schema": ', "no table", "\0\1"])
def test_other_files(text: str, tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text(text)
    with pytest.raises(MatchEquityError, match=str(path)):
        read_table(path)


def test_missing_parts_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    value = small()
    del value["name"], value["post_crawford"]
    path.write_text(json.dumps(value))
    with pytest.raises(MatchEquityError, match="lacks name, post_crawford"):
        read_table(path)
    path.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(MatchEquityError, match="neither a JSON nor an XML"):
        read_table(path)
    with pytest.raises(MatchEquityError, match="none.json': No such file"):
        read_table(tmp_path / "none.json")


# Files


def test_json_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    table = MatchEquityTable.from_rates(9, name='null "quoted"', source="a test")
    write_table(path, table)
    again = read_table(path)
    assert (again.pre == table.pre).all() and (again.post == table.post).all()
    assert (again.name, again.source, again.length) == ('null "quoted"', "a test", 9)
    value = json.loads(path.read_text())
    assert value["schema"] == SCHEMA and value["length"] == 9
    assert value["pre_crawford"][1][3] == table.pre[2, 4] and value["post_crawford"][2] == table.post[3]
    assert [p.name for p in tmp_path.iterdir()] == ["table.json"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "table.json"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("bgnet.match_equity_files.os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_table(path, default_table())
    assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("table.json", "old")]


HEAD = """<?xml version = "1.0"?>
<!DOCTYPE met PUBLIC "-//GNU Backgammon//DTD Match Equity Tables//EN" "met.dtd">
"""
ROWS = """<row><me>0.5</me><me> 0.70 </me><me>0.75</me></row><row><me>0.30</me><me>0.5</me><me>0.60</me></row>
<row><me>0.25</me><me>0.40</me><me>0.5</me></row>"""
POST_ROW = "<row><me>0.5</me><me>0.48</me></row>"


def xml(pre: str = ROWS, post: str = POST_ROW, pre_type: str = "explicit", more: str = "") -> str:
    return (
        f"{HEAD}<met><info><name>Small</name><description>made up</description><length>3</length></info>"
        f'<pre-crawford-table type="{pre_type}">{pre}</pre-crawford-table>'
        f'<post-crawford-table type="explicit" player="both">{post}</post-crawford-table>{more}</met>'
    )


def test_xml_table(tmp_path: Path) -> None:
    path = tmp_path / "small.xml"
    path.write_text(xml())
    table = read_table(path)
    assert (table.name, table.source, table.length) == ("Small", "made up", 3)
    assert table.pre[1:, 1:].tolist() == [[0.5, 0.7, 0.75], [0.3, 0.5, 0.6], [0.25, 0.4, 0.5]]
    assert table.post[1:3].tolist() == [0.5, 0.48]
    assert table.post[3] == pytest.approx(0.5 * (0.72 * 0.5 + 0.28))  # the file's row is short by one: continued


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (xml(pre_type="zadeh"), "of type 'zadeh', a formula"),
        (xml(pre="<row><me>half</me></row>"), "something else than numbers"),
        (xml(post=POST_ROW * 2), "needs one <row>"),
        (xml(more=f"<post-crawford-table>{POST_ROW.replace('48', '47')}</post-crawford-table>"), "for each player"),
        (xml()[:-6], "cannot be read"),
        ("<table></table>", "not a match equity table"),
        ("<met></met>", "one <pre-crawford-table>"),
    ],
)
def test_wrong_xml_tables(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "small.xml"
    path.write_text(text)
    with pytest.raises(MatchEquityError, match=message):
        read_table(path)


def test_an_equal_table_for_each_player_is_one_table(tmp_path: Path) -> None:
    path = tmp_path / "small.xml"
    path.write_text(xml(more=f'<post-crawford-table type="explicit" player="1">{POST_ROW}</post-crawford-table>'))
    assert read_table(path).post[2] == 0.48
