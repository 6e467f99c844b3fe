"""Cube decisions: GNU Backgammon's answers, worked vectors, exact bearoffs, reported cases."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bgnet.cube import (
    CubeAction,
    CubeDecision,
    Efficiencies,
    decide,
    should_beaver,
    should_double,
    should_take,
)
from engine import GameState, Position
from engine.outcomes import from_cumulative
from tests.boards import DATA
from tests.cube_states import EVEN, case, judged, match_state, money_state, near, oracle_rows

# GNU Backgammon's answers


def test_gnubg_on_300_positions() -> None:
    rows = oracle_rows()
    assert len(rows) == 300
    for row in rows:
        got = decide(from_cumulative(row["probs"]), row["state"])
        assert got.no_double == near(row["nd"], 1e-4), row
        assert got.double_take == near(row["dt"], 1e-4), row
        assert got.double_pass == near(row["dp"], 1e-5), row
        if not row["close"]:
            assert got.label == row["action"], row
        if row["away"]:
            assert got.mwc is not None
            assert got.mwc.no_double == near(row["mwc"]["nd"], 1e-5), row
            assert got.mwc.double_take == near(row["mwc"].get("dt"), 1e-5), row
        if row["cube_x"] is not None:
            assert got.efficiency == near(row["cube_x"], 1e-6) and got.double_efficiency == got.efficiency
        else:
            assert (got.efficiency is None) == (row["away"] is None)


MONEY = [  # chances, owner, rules, no double, double/take, label
    ("B", 0, {}, 0.3576, 0.2396, "No double, take"),
    ("B", 0, {"jacoby": True}, 0.3089, 0.2396, "No double, take"),
    ("B", 1, {}, 0.4598, 0.2396, "No redouble, take"),
    ("B", -1, {}, 0.1198, None, "cube not available"),
    ("E", 0, {"jacoby": True, "beavers": True}, -0.0675, -0.4553, "No double, beaver"),
    ("E", 1, {"beavers": True}, 0.1123, -0.4553, "No redouble, beaver"),
    ("C", 0, {}, 1.7385, 3.3503, "Too good to double, pass"),
    ("C", 0, {"jacoby": True}, 0.9507, 3.3503, "Double, pass"),
    ("F", 0, {"jacoby": True}, 0.6227, 0.6839, "Double, take"),
    ("F", 1, {}, 0.6819, 0.6839, "Redouble, take"),
    ("G", 1, {}, 0.9408, 1.5105, "Redouble, pass"),
]


@pytest.mark.parametrize(("name", "owner", "rules", "no_double", "taken", "label"), MONEY)
def test_money_vectors(
    name: str, owner: int, rules: dict[str, bool], no_double: float, taken: float | None, label: str
) -> None:
    got = judged(name, money_state(owner=owner, **rules))
    assert got.no_double == near(no_double, 5.1e-5)
    assert got.double_take == near(taken, 5.1e-5)
    assert got.double_pass == (None if taken is None else 1.0)
    assert got.label == label
    assert got.mwc is None


MATCH = [  # chances, away, cube, owner, equity and match chance of no double, of double/take, of a pass, label
    ("B", (2, 2), 1, 0, (0.3966, 0.57034), (0.3311, 0.55872), 0.67736, "No double, take"),
    ("B", (2, 4), 1, 0, (0.1636, 0.72450), (-0.7961, 0.62138), 0.81436, "No double, take"),
    ("B", (4, 2), 1, 0, (0.6533, 0.36328), (0.8174, 0.38091), 0.40053, "Double, take"),
    ("B", (4, 2), 2, 1, (0.9056, 0.47641), (1.2349, 0.55872), 0.50000, "Redouble, pass"),
    ("B", (3, 5), 1, 0, (0.2801, 0.68164), (-0.0626, 0.65216), 0.74359, "No double, take"),
    ("B", (5, 3), 2, 1, (0.7130, 0.45095), (0.8250, 0.47009), 0.50000, "Redouble, take"),
    ("B", (7, 7), 1, 0, (0.3533, 0.52212), (0.2232, 0.51397), 0.56261, "No double, take"),
    ("B", (5, 11), 1, 0, (0.1952, 0.81899), (-0.1830, 0.80256), 0.85396, "No double, take"),
    ("B", (3, 1), 1, 0, (0.4227, 0.34717), (0.5610, 0.38091), 0.48803, "Double, take"),
    ("B", (2, 1), 1, 0, (0.9056, 0.47641), (1.2349, 0.55872), 0.50000, "Double, pass"),
    ("B", (1, 2), 1, 0, (-0.5145, 0.62138), None, None, "Never double, take (dead cube)"),
    ("B", (2, 2), 2, 1, (0.1174, 0.55872), None, None, "Never redouble, take (dead cube)"),
    ("C", (4, 4), 1, 0, (2.0416, 0.64597), (5.5915, 0.89979), 0.57150, "Too good to double, pass"),
    ("F", (7, 7), 1, 0, (0.6407, 0.54012), (0.6960, 0.54357), 0.56261, "Double, take"),
    ("G", (9, 4), 1, 0, (0.9408, 0.25143), (1.5059, 0.27811), 0.25423, "Double, pass"),
    ("H", (3, 5), 2, 1, (1.0696, 0.85368), (0.9769, 0.83784), 0.84179, "Too good to redouble, take"),
    ("I", (2, 4), 1, 0, (1.0085, 0.81527), (0.8892, 0.80246), 0.81436, "Too good to double, take"),
    ("K", (3, 3), 1, 0, (0.5740, 0.55710), (0.5740, 0.55710), 0.59947, "Optional double, take"),
]


@pytest.mark.parametrize(("name", "away", "cube", "owner", "no_double", "taken", "passed", "label"), MATCH)
def test_match_vectors(
    name: str,
    away: tuple[int, int],
    cube: int,
    owner: int,
    no_double: tuple[float, float],
    taken: tuple[float, float] | None,
    passed: float | None,
    label: str,
) -> None:
    got = judged(name, match_state(away, owner=owner, cube=cube))
    assert got.mwc is not None
    assert (got.no_double, got.mwc.no_double) == (near(no_double[0], 6e-5), near(no_double[1], 6e-6))
    if taken is None:
        assert got.double_take is got.double_pass is got.mwc.double_take is got.mwc.double_pass is None
    else:
        assert (got.double_take, got.mwc.double_take) == (near(taken[0], 6e-5), near(taken[1], 6e-6))
        assert (got.double_pass, got.mwc.double_pass) == (1.0, near(passed, 6e-6))
    assert got.label == label


def test_crawford_vector() -> None:
    got = judged("B", match_state((3, 1), crawford=True))
    assert got.mwc is not None
    assert (got.no_double, got.mwc.no_double) == (near(0.1289, 6e-5), near(0.27546, 6e-6))
    assert (got.action, got.label) == (CubeAction.DEAD_CUBE, "Never double, take (dead cube)")
    assert got.double_take is None and got.best == got.no_double and not should_double(got)


def test_race_and_one_sided_vectors() -> None:
    def values(position: str, win: float) -> list[CubeDecision]:
        return [decide([win, 0, 0, 1 - win, 0, 0], money_state(position, owner)) for owner in (0, 1, -1)]

    centred, own, other = values("uHsOBgB4700AAA", 0.87872)
    assert centred.efficiency == near(0.65375, 1e-9)  # 83 pips
    assert (centred.no_double, own.no_double, other.no_double) == (
        near(0.91602, 2e-5), near(0.91603, 2e-5), near(0.71780, 2e-5),
    )  # fmt: skip
    assert centred.double_take == near(1.43561, 3e-5)
    centred, own, other = values("5t0BAIDdHQAAAA", 0.69601)
    assert centred.efficiency == 0.6
    assert (centred.no_double, own.no_double, other.no_double) == (
        near(0.54884, 2e-5), near(0.60083, 2e-5), near(0.30083, 2e-5),
    )  # fmt: skip
    assert centred.double_take == near(0.60167, 3e-5)
    assert (centred.label, own.label) == ("Double, take", "Redouble, take")


def test_the_other_preset() -> None:
    new = Efficiencies(contact=0.76)
    assert decide(EVEN, money_state(), efficiency="gnubg-1.08").efficiency == new.contact == 0.76
    assert decide(EVEN, money_state(), efficiency=new).efficiency == 0.76
    race = money_state("uHsOBgB4700AAA")  # 83 pips
    assert decide(EVEN, race, efficiency="gnubg-1.08").efficiency == 0.8  # .60 + .0025 * 83 is above the highest
    assert decide(EVEN, race, efficiency=0.1).efficiency == 0.1


# Exact bearoffs


def two_sided_rows() -> list[dict[str, Any]]:
    with gzip.open(DATA / "bearoff.jsonl.gz", "rt", encoding="utf-8") as file:
        return [row for row in map(json.loads, file) if row["type"] == "two_sided"]


def test_two_sided_bearoffs_are_exact() -> None:
    rows = two_sided_rows()
    assert len(rows) == 500
    for row in rows:
        position = Position(row["board"])
        wins = row["p_win"]
        for owner, column in ((0, "nd_centred"), (1, "nd_own_cube"), (-1, "nd_opponent_owns")):
            got = decide(EVEN if owner else None, money_state(position, owner, jacoby=owner == 0))
            assert got.no_double == near(row[column], 1e-8), row
            assert got.outcomes == near([wins, 0, 0, 1 - wins, 0, 0], 1e-8)  # the table's, whatever was given
            assert got.efficiency is None
            if owner >= 0:
                assert got.double_take == near(row["double_take"], 1e-8)
                if not row["close"]:
                    assert got.label.lower() == row["action_own_cube" if owner else "action_centred"], row
            else:
                assert got.action is CubeAction.NOT_AVAILABLE


@pytest.mark.parametrize(
    ("own", "other", "values"),
    [
        ((6, 5), (6, 1), (0.15959, 0.22295, 0.16821, 0.10700)),
        ((5, 5, 4), (6, 5, 4), (0.47638, 0.64365, 0.62044, 0.44434)),
        ((6, 6, 6, 6), (6, 6, 6, 6), (0.36993, 0.60694, 0.56598, 0.31228)),
        ((6, 4, 2), (5, 4, 3), (0.51821, 0.64471, 0.63065, 0.48833)),
    ],
)
def test_exact_bearoff_vectors(own: tuple[int, ...], other: tuple[int, ...], values: tuple[float, ...]) -> None:
    board = np.zeros(26, dtype=np.int8)
    np.add.at(board, list(own), 1)
    np.subtract.at(board, [25 - p for p in other], 1)
    cubeless, mine, centred, theirs = values
    for owner, want in ((1, mine), (0, centred), (-1, theirs)):
        got = decide(None, money_state(Position(board), owner))
        assert (got.no_double, got.cubeless) == (near(want, 6e-6), near(cubeless, 6e-6))


@pytest.mark.parametrize(
    ("own", "wins", "no_double", "taken", "label"),
    [
        ((5, 2), 19, 0.0556, 0.1111, "Double, take"),
        ((4, 2), 23, 0.2778, 0.5556, "Double, take"),
        ((4, 1), 29, 0.6111, 1.2222, "Double, pass"),
        ((6, 1), 15, -0.1667, -0.3333, "No double, take"),
        ((4, 3), 17, -0.0556, -0.1111, "No double, take"),
        ((3, 3), 17, -0.0556, -0.1111, "No double, take"),
    ],
)
@pytest.mark.parametrize("efficiency", [None, 0.0])
def test_last_roll(
    own: tuple[int, int], wins: int, no_double: float, taken: float, label: str, efficiency: float | None
) -> None:
    """The cube is dead: the formula with x = 0 gives the same from the chances."""
    board = np.zeros(26, dtype=np.int8)
    np.add.at(board, list(own), 1)
    board[24] = -1
    outcomes = [wins / 36, 0, 0, 1 - wins / 36, 0, 0]
    got = decide(outcomes, money_state(Position(board)), efficiency=efficiency)
    assert (got.no_double, got.double_take, got.label) == (near(no_double, 5.1e-5), near(taken, 5.1e-5), label)
    assert (got.efficiency is None) == (efficiency is None)


def test_no_equity_shows_as_a_negative_zero() -> None:
    found = decide([0.5, 0, 0, 0.5, 0, 0], money_state("4HPwATDgc/ABMA"), efficiency=0.5)
    assert repr(replace(found, no_double=-1e-9)).endswith(f", +0.0000, {found.double_take:+.4f}, +1.0000)")


def test_a_highest_cube_is_not_in_the_table() -> None:
    position = Position(case("cu-007")["input"]["board"])
    exact = decide(None, money_state(position))
    far = decide(None, money_state(position, max_cube=64))
    assert far.no_double == exact.no_double and far.efficiency is None
    near_top = decide(None, money_state(position, max_cube=4))
    assert near_top.efficiency == 0.6 and near_top.no_double != exact.no_double
    at_top = decide(None, money_state(position, 1, max_cube=2))
    assert at_top.no_double == near(at_top.cubeless, 1e-12)
    assert at_top.action is CubeAction.NOT_AVAILABLE and at_top.double_take is None


def test_hypergammon_is_not_in_the_table() -> None:
    """Three checkers a side, all still on the board: whoever loses now loses a gammon."""
    board = np.zeros(26, dtype=np.int8)
    board[[1, 2, 3]] = 1
    board[[24, 23, 22]] = -1
    state = GameState(Position(board), variant="hypergammon")
    outcomes = (0.5, 0.2, 0.0, 0.2, 0.1, 0.0)
    got = decide(outcomes, state)
    assert got.efficiency == 0.6 and got.outcomes.tolist() == pytest.approx(outcomes)
    assert decide(None, state).outcomes[1] > 0.1
    assert decide(outcomes, replace(state, variant="backgammon")).efficiency is None


# Reported cases


@pytest.mark.parametrize("name", ["cu-001", "cu-002", "cu-004", "cu-006", "cu-007", "cu-009"])
def test_reported_money_cases(name: str) -> None:
    found = case(name)
    want, within = found["expect"], found["expect"]["tolerance"]
    position = Position(found["input"]["board"])
    for owner, key in ((0, "centered"), (1, "player")):
        got = decide(None, money_state(position, owner))
        assert got.no_double == near(want[key]["no_double"], within)
        assert got.double_take == near(want[key]["double_take"], within)
        assert got.double_pass == want[key]["double_pass"]
        action = got.action.value.replace("redouble", "double").replace("_", "/")
        assert action == {"no double": "no/double/take"}.get(want[key]["action"], want[key]["action"])
        assert got.cubeless == near(want["cubeless"], within)
        assert got.outcomes[0] == near(want["win"], within)
    theirs = decide(None, money_state(position, -1))
    assert theirs.no_double == near(want["cube_on_opponent"], within)


def test_doubled_too_early_is_beavered() -> None:
    """Case cu-002: 15 of 36 rolls win."""
    got = decide(None, money_state(Position(case("cu-002")["input"]["board"]), beavers=True))
    assert got.action is CubeAction.NO_DOUBLE_BEAVER and should_beaver(got) and should_take(got)
    assert got.beaver == near(-2 / 3, 1e-9) and got.double_take == near(-1 / 3, 1e-9)
    assert got.costs.beaver == 0 and got.costs.take == near(1 / 3, 1e-9) and got.costs.pass_ == near(5 / 3, 1e-9)
    assert got.costs.double == near(-1 / 6 + 2 / 3, 1e-9)


def reported_bearoff(name: str) -> GameState:
    """The state of a case with a small bearoff in a match."""
    given = case(name)["input"]
    own, other = given["score_mover_opponent"]
    return match_state(
        (given["match"] - own, given["match"] - other), Position(given["board"]),
        owner=1 if given["owner"] == "player" else 0, cube=given["cube"], length=given["match"],
    )  # fmt: skip


def test_reported_last_roll_in_a_match() -> None:
    got, want = decide(None, reported_bearoff("ma-009")), case("ma-009")["expect"]
    assert got.label == "Double, take" and want["action"] == "double/take"
    assert got.mwc is not None and got.mwc.best == near(want["mwc_after_best"], want["tolerance"])


def test_reported_redouble_that_is_answered_by_another() -> None:
    """Case ma-001: who takes the cube at 4 turns it at once, for the match: the cube is fully live."""
    got, want = decide(None, reported_bearoff("ma-001"), efficiency=1.0), case("ma-001")["expect"]
    assert got.mwc is not None and got.mwc.double_take == near(want["mwc_after_best"], want["tolerance"])
    assert got.mwc.double_take == near(got.outcomes[0], 1e-12)
    assert should_take(got) and got.mwc.double_pass == near(0.88731, 1e-5)


def test_reported_post_crawford_double() -> None:
    """Case ma-002, about even chances: to wait costs much, take and pass are close."""
    found = case("ma-002")
    own, other = found["input"]["score_mover_opponent"]
    state = match_state((7 - own, 7 - other), Position(found["input"]["board"]))
    got = decide([0.36, 0.14, 0.01, 0.36, 0.12, 0.01], state)
    assert got.action.doubles and got.costs.no_double > found["expect"]["error_of_not_doubling_at_least"]
    assert got.double_take == near(1.0, 0.1)


@pytest.mark.parametrize("name", ["ma-004", "ma-006", "ma-007"])
@pytest.mark.parametrize("win", [0.05, 0.5, 0.8, 0.99])
def test_reported_cubes_that_are_dead(name: str, win: float) -> None:
    given = case(name)["input"]
    own, other = given["score_mover_opponent"]
    state = match_state((7 - own, 7 - other), Position(given["board"]), crawford=given["crawford"])
    got = decide([0.7 * win, 0.3 * win, 0, 0.7 * (1 - win), 0.3 * (1 - win), 0], state)
    assert got.action is CubeAction.DEAD_CUBE and not should_double(got)
    if name == "ma-006":
        assert got.no_double == near(2 * win - 1, 1e-12)
    if name == "ma-004":  # the leader too
        turned = decide([0.3, 0.2, 0, 0.4, 0.1, 0], replace(state, on_roll=0, position=state.position.flipped()))
        assert turned.context.away == (1, 4) and turned.action is CubeAction.DEAD_CUBE


def test_jacoby_makes_cashing_right() -> None:
    """Cases cu-011, cu-012: far ahead in gammons, too good without the rule, double, pass with it."""
    for name in ("cu-011", "cu-012"):
        state = money_state(Position(case(name)["input"]["board"]))
        outcomes = [0.2, 0.7, 0.05, 0.04, 0.01, 0.0]
        assert decide(outcomes, state).action is CubeAction.TOO_GOOD_PASS
        assert decide(outcomes, replace(state, jacoby=True)).action is CubeAction.DOUBLE_PASS
