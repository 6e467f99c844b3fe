"""How games go, measured in self-play, and the script that builds a table from it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bgnet.evaluators import load
from bgnet.match_equity import GameRates, MatchEquityError, MatchEquityTable
from bgnet.match_equity_build import build_arrays
from bgnet.match_equity_files import read_table
from bgnet.match_equity_rates import cubeful_ending, free_drops, measure_rates
from bgnet.selfplay import MONEY_GAME, play_games

SCRIPT = Path(__file__).parents[2] / "scripts" / "build_match_equity.py"
WON_GAMMON = np.eye(6, dtype=np.float32)[1]
LOST = np.eye(6, dtype=np.float32)[3]


def path(*rows: tuple[float, float, float]) -> np.ndarray:
    """Values of the positions of a game: centred, own cube, doubled; each for the player on roll."""
    return np.array(rows, dtype=np.float64)


QUIET = (0.1, 0.2, -0.1)  # nobody doubles
TAKE = (0.5, 0.6, 0.7)  # double, take
REDOUBLE = (0.5, 0.8, 0.7)  # the same with a centred cube, but no redouble
PASS = (0.8, 0.9, 1.1)
TOO_GOOD = (1.2, 1.3, 1.5)


def test_games_with_a_cube() -> None:
    assert cubeful_ending(path(QUIET, QUIET), LOST) == 3
    assert cubeful_ending(path(QUIET, PASS, QUIET), WON_GAMMON) == 6  # dropped
    assert cubeful_ending(path(PASS, QUIET), WON_GAMMON) == 1  # nobody doubles before the opening roll
    assert cubeful_ending(path(QUIET, TOO_GOOD, QUIET), LOST) == 3  # played on
    assert cubeful_ending(path(QUIET, TAKE, QUIET, PASS), LOST) == 3  # the taker owns the cube, the doubler cannot
    assert cubeful_ending(path(QUIET, TAKE, PASS), LOST) == 6  # the taker redoubles
    assert cubeful_ending(path(QUIET, TAKE, TOO_GOOD, QUIET), LOST) == 3
    assert cubeful_ending(path(QUIET, TAKE, REDOUBLE, PASS), LOST) == 3  # no redouble, so the cube stays with the taker
    assert cubeful_ending(path(QUIET, TAKE, TAKE, PASS), LOST) == 6  # redoubled, so now the first doubler may


def test_free_drops_by_hand() -> None:
    """The trailer is a favourite in one of two games: at 2-away a leader who drops has an even chance, at 4-away he
    leaves the trailer at 3-away."""
    firsts = np.array([[0.55, 0.0, 0.0, 0.45, 0.0, 0.0], [0.4, 0.0, 0.0, 0.6, 0.0, 0.0]])
    got = free_drops(firsts, 0.25, 0.0)
    assert got[0] == pytest.approx((0.55 - 0.5) / 2)
    _, post = build_arrays(4, GameRates(0.25, 0.0, free_drops=got[:1]))
    assert got[1] == pytest.approx(max(0.55 * post[2] - post[3], 0) / 2)
    gammonish = np.array([[0.2, 0.3, 0.0, 0.5, 0.0, 0.0]])
    got = free_drops(gammonish, 0.25, 0.0)
    assert got[0] == 0.0 and got[1] == pytest.approx(0.2 * (0.5 - got[0]) + 0.3 - post3(got), abs=0.01)


def post3(drops: tuple[float, ...]) -> float:
    return float(build_arrays(3, GameRates(0.25, 0.0, free_drops=drops[:1]))[1][3])


def test_measured_rates() -> None:
    net = load("standard")
    got = measure_rates(net, 600, seed=3)
    again = measure_rates(net, 600, seed=3)
    assert got == again != measure_rates(net, 600, seed=4)
    finals = play_games(net.folded, MONEY_GAME, 3, 0, 600).finals.sum(axis=0)
    assert got.gammons == pytest.approx((finals[1] + finals[4]) / 600)
    assert got.backgammons == pytest.approx((finals[2] + finals[5]) / 600)
    assert 0.18 < got.gammons < 0.32 and 0 < got.backgammons < 0.04
    assert got.cubeful_gammons < got.gammons and 0.3 < got.dropped < 0.6
    assert 0.008 < got.free_drops[0] < 0.02 and list(got.free_drops) == sorted(got.free_drops, reverse=True)
    assert got.std_error(0.5) == pytest.approx(0.5 / np.sqrt(600))
    assert got.rates(0.6) == GameRates(got.gammons, got.backgammons, 0.6, got.free_drops)
    assert got.rates(cubeful=True).gammons == got.cubeful_gammons
    with pytest.raises(MatchEquityError, match="at least 1 game"):
        measure_rates(net, 0)
    assert MatchEquityTable.from_rates(9, replace(got, gammons=0.27).rates()).length == 9


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True, check=False)


def test_script_measures_builds_and_compares(tmp_path: Path) -> None:
    out = tmp_path / "own.json"
    done = run("--net", "standard", "--games", "100", "--length", "11", "--out", str(out), "--json", "--quiet")
    assert done.returncode == 0 and not done.stderr, done.stderr
    value = json.loads(done.stdout)
    assert value["schema"] == "bgnet.match_equity_build/1" and value["measured"]["games"] == 100
    assert value["rates"]["gammons"] == value["measured"]["gammons"]
    table = read_table(out)
    assert table.length == value["length"] == 11 and "100 games of standard" in table.source
    assert value["kazaross_xg2"]["points"] == 11
    assert value["kazaross_xg2"]["mean_difference"] < 0.02 < 10 * value["kazaross_xg2"]["max_difference"]


def test_script_with_given_rates() -> None:
    done = run("--gammons", "0.27", "--length", "30")
    assert done.returncode == 0 and not done.stderr
    assert "against Kazaross-XG2 (25 points): mean difference 0.00073, at most 0.01124 (2-away 4-away)" in done.stdout
    assert "post-Crawford 0.00264" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "either --net"),
        (("--net", "standard", "--gammons", "0.2"), "either --net"),
        (("--net", "no-such-net"), "no network"),
        (("--gammons", "1.2"), "gammons must be from 0 to 1"),
        (("--gammons", "0.2", "--length", "65"), "1..64"),
        (("--gammons", "0.2", "--out", "no/such/folder.json"), "no folder"),
        (("--net", "standard", "--games", "0"), "at least 1 game"),
    ],
)
def test_script_errors(arguments: tuple[str, ...], message: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.startswith("error: ") and message in done.stderr
