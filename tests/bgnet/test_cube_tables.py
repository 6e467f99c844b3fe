"""Take points and gammon prices at match scores, and the script that prints them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bgnet.cube import CubeError, decide
from bgnet.cube_tables import money_take_points, take_points
from bgnet.match_equity import MatchEquityError, MatchEquityTable, default_table
from bgnet.match_equity_files import write_table
from tests.cube_states import case, match_state
from tests.cube_twin import Match

SCRIPT = Path(__file__).parents[2] / "scripts" / "take_points.py"


def test_reported_dead_cube_take_points() -> None:
    found = case("ma-012")
    points = take_points(7)
    got = [points.dead[taker, doubler] for taker, doubler in found["input"]["taker_doubler"]]
    assert got == pytest.approx(found["expect"]["take_point"], abs=1e-5)


def test_live_take_points_of_gnubg() -> None:
    """1 less the doubler's cash points, GNU Backgammon 1.07.001, Kazaross-XG2, without gammons."""
    wanted = {
        (2, 2): 0.67736, (2, 4): 0.80106, (4, 2): 0.81436, (5, 3): 0.80865, (3, 5): 0.82390, (5, 5): 0.81828,
        (7, 7): 0.79748, (11, 11): 0.79810,
    }  # fmt: skip
    points = take_points(11)
    for away, cash in wanted.items():
        assert points.live[away] == pytest.approx(1 - cash, abs=6e-6), away
    assert take_points(7, 4).live[7, 7] == pytest.approx(1 - 0.80270, abs=6e-6)


def test_gammon_prices_by_hand() -> None:
    post, pre = default_table().post, default_table().pre
    points = take_points(7)
    unit = (pre[3, 3] - pre[5, 1]) / 2
    assert points.taker_gammon[5, 3] == pytest.approx((pre[1, 3] - pre[3, 3]) / unit)
    assert points.doubler_gammon[5, 3] == pytest.approx((pre[5, 1] - 0.0) / unit)
    assert points.doubler_gammon[1, 4] == pytest.approx((1 - post[2]) / (post[2] / 2))


def test_every_score_against_the_twin() -> None:
    table = default_table()
    pre, post = table.pre[1:, 1:].tolist(), table.post[1:].tolist()
    for to in (2, 4, 8):
        points = take_points(9, to, table)
        for own in range(1, 10):
            for other in range(1, 10):
                if other <= to // 2:
                    assert np.isnan(points.dead[own, other]) and np.isnan(points.live[own, other])
                    continue
                doubler = Match(other, own, False, pre, post)
                cash = doubler.cash((0.5, 0, 0, 0, 0), to // 2)
                assert points.live[own, other] == pytest.approx(1 - cash, abs=1e-12)
                assert 0 <= points.live[own, other] <= points.dead[own, other] + 1e-12
        assert np.isnan(points.dead[0]).all() and np.isnan(points.dead[:, 0]).all()


def test_take_points_are_those_of_decisions() -> None:
    points = take_points(9)
    for own, other in ((5, 7), (7, 4), (3, 9)):
        for x, table in ((0.0, points.dead), (1.0, points.live)):
            got = decide([0.5, 0, 0, 0.5, 0, 0], match_state((other, own)), efficiency=x)
            assert got.cash_point == pytest.approx(1 - table[own, other], abs=1e-8)


def test_far_from_the_end_it_is_money() -> None:
    points = take_points(60)
    for got, money in zip(points, money_take_points(), strict=True):
        assert got[60, 60] == pytest.approx(money, abs=0.02)


@pytest.mark.parametrize("to", [1, 3, 0, -2, 2.0, "2", 2**16])
def test_wrong_cubes(to: Any) -> None:
    with pytest.raises(CubeError, match="2, 4, 8"):
        take_points(7, to)


def test_wrong_lengths() -> None:
    with pytest.raises(CubeError, match="at least 1"):
        take_points(0)
    with pytest.raises(MatchEquityError, match="65 points"):
        take_points(65)
    assert np.isnan(take_points(1).dead).all()  # the last game of a match has no cube


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)


def test_script_prints_tables() -> None:
    done = run("--cube", "2,4", "--length", "5")
    assert done.returncode == 0 and not done.stderr
    tables = done.stdout.split("\n\n")
    assert len(tables) == 1 + 2 * 4 and tables[0].startswith("Kazaross-XG2")
    title, heads, *rows = tables[1].splitlines()
    assert title == "doubling to 2: take point, dead cube, per cent (money 25.0)"
    assert heads.split() == list("12345")
    assert rows[3].split() == ["4", "-", "37.1", "35.2", "28.8", "22.7"]  # 4-away, doubled by 2..5-away


def test_script_json_with_another_table(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    table = MatchEquityTable.from_rates(9, name="own")
    write_table(path, table)
    done = run("--json", "--met", str(path), "--length", "9")
    value = json.loads(done.stdout)
    assert (value["schema"], value["table"], value["length"]) == ("bgnet.take_points/1", "own", 9)
    assert value["money"] == {"dead": 0.25, "live": 0.2, "taker_gammon": 1.0, "doubler_gammon": 1.0}
    (cube,) = value["cubes"]
    want = take_points(9, 2, table)
    assert cube["to"] == 2 and cube["dead"][4][2] == want.dead[5, 3] and cube["live"][8][8] == want.live[9, 9]
    assert cube["dead"][3][0] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cube", "3"), "2, 4, 8"),
        (("--cube", "two"), "faces separated by commas"),
        (("--length", "0"), "1 to 64"),
        (("--length", "65"), "1 to 64"),
        (("--met", "none.json"), "none.json"),
    ],
)
def test_script_errors(arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments)
    assert done.returncode in (1, 2) and not done.stdout
    assert done.stderr.startswith("error: ") and message in done.stderr and "Traceback" not in done.stderr
