"""The endgame tables against exact answers, a slow twin and properties; races made from them; wrong input."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

from engine import ArrayError, BoardError, Position
from engine.bearoff import endgames, known_outcomes, one_sided, race_outcome, race_win, two_sided
from engine.bearoff_build import build_one_sided, build_two_sided
from engine.board import is_race
from engine.homeboard import extent, home_index, home_indices, home_positions, home_steps, how_many
from tests import bearoff_twin as twin
from tests import oracle
from tests.boards import DATA, array
from tests.oracle import scattered_board


@cache
def oracle_rows(kind: str) -> list[dict[str, Any]]:
    with gzip.open(DATA / "bearoff.jsonl.gz", "rt", encoding="utf-8") as file:
        return [row for row in map(json.loads, file) if row["type"] == kind]


def case(name: str) -> dict[str, Any]:
    lines = (DATA / "cases_endings.jsonl").read_text(encoding="utf-8").splitlines()
    return next(found for found in map(json.loads, lines) if found["id"] == name)


def facing(own: twin.Home, opponent: twin.Home) -> np.ndarray:
    """Two homes as a board int8[26]."""
    board = np.zeros(26, dtype=np.int8)
    board[1:7] = own
    board[24:18:-1] = np.negative(opponent)
    return board


def near(want: Any, within: float = 1e-9) -> Any:
    """Equal up to an absolute difference."""
    return pytest.approx(want, rel=0, abs=within)


# Against exact answers


def test_one_sided_against_the_oracle() -> None:
    table = one_sided()
    rows = oracle_rows("one_sided")
    assert len(rows) == 500
    for row in rows:
        got = table.distribution(row["points"])
        want = np.zeros(len(got))
        want[: len(row["dist"])] = row["dist"]  # the oracle's end where they round to 0
        assert got == near(want, within=1e-8)
        assert table.mean_rolls(row["points"]) == near(row["mean_rolls"], within=1e-8)
        assert table.epc(row["points"]) == near(row["epc"], within=1e-6)
        rolls = np.arange(len(got))
        assert np.sqrt(got @ (rolls - got @ rolls) ** 2) == near(row["std_rolls"], within=1e-7)
        gnubg = np.array(row["gnubg_dist"])
        assert got[: len(gnubg)] == near(gnubg[: len(got)], within=3.2e-4)


def test_two_sided_against_the_oracle() -> None:
    rows = oracle_rows("two_sided")
    assert len(rows) == 500
    equities, known = two_sided().lookup(array([row["board"] for row in rows]))
    assert known.all()
    columns = ("equity_cubeless", "nd_own_cube", "nd_centred", "nd_opponent_owns")
    assert equities == near(np.array([[row[c] for c in columns] for row in rows]), within=1e-8)
    assert equities == near(np.array([row["gnubg_db"] for row in rows]), within=1.3e-4)


@pytest.mark.parametrize("name", ["bo-001", "bo-002", "bo-004"])
def test_rolls_cases(name: str) -> None:
    given = case(name)
    points, want = given["input"]["points1to6"], given["expect"]
    got = one_sided().distribution(points)
    rolls = np.zeros(len(got))
    rolls[: len(want["rolls"])] = want["rolls"]  # from 0 rolls on, whatever the case's words say
    assert got == near(rolls, within=1e-6)
    numerator, denominator = map(int, want["mean_fraction"].split("/"))
    assert one_sided().mean_rolls(points) == near(numerator / denominator, within=1e-12)


@pytest.mark.parametrize("name", ["bo-006", "bo-007"])
def test_win_cases(name: str) -> None:
    given = case(name)
    board = np.array(given["input"]["board"], dtype=np.int8)
    assert (two_sided().equities(board)[0] + 1) / 2 == near(given["expect"]["win"], within=1e-6)


def test_gammon_in_a_race_case() -> None:
    outcome = race_outcome([4, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 15])
    assert outcome[1] == near(131 / 216, within=1e-12)
    assert outcome[:3].sum() == near(1, within=1e-9)
    assert not outcome[[2, 5]].any()


def test_vectors_of_the_cube_specification() -> None:
    """Lines 34 to 37 of the specification's exact vectors."""
    lines = [
        ((0, 0, 0, 0, 1, 1), (1, 0, 0, 0, 0, 1), (0.15959, 0.22295, 0.16821, 0.10700)),
        ((0, 0, 0, 1, 2, 0), (0, 0, 0, 1, 1, 1), (0.47638, 0.64365, 0.62044, 0.44434)),
        ((0, 0, 0, 0, 0, 4), (0, 0, 0, 0, 0, 4), (0.36993, 0.60694, 0.56598, 0.31228)),
        ((0, 1, 0, 1, 0, 1), (0, 0, 1, 1, 1, 0), (0.51821, 0.64471, 0.63065, 0.48833)),
    ]
    for own, opponent, want in lines:
        assert two_sided().equities(facing(own, opponent)) == near(np.array(want), within=5e-6)


# Against the slow twin


def test_one_sided_against_the_twin() -> None:
    table = one_sided()
    for home in twin.homes(3):
        mean, chances = twin.rolls(home)
        assert table.mean_rolls(home) == near(float(mean), within=1e-13)
        assert table.distribution(home) == near(np.array(chances, dtype=float), within=1e-15)


def test_first_off_against_the_twin() -> None:
    table = one_sided()
    for home in [*twin.homes(3), (0, 0, 0, 0, 0, 5), (0, 0, 1, 0, 0, 4)]:
        _, chances = twin.rolls(home, first_only=True)
        assert table.first_off(home) == near(np.array(chances, dtype=float), within=1e-15)


def test_two_sided_against_the_twin() -> None:
    homes = [home for home in twin.homes(2) if sum(home)]
    for own in homes:
        for opponent in homes:
            want = [twin.no_double(own, opponent, owner) for owner in (None, 1, 0, -1)]
            got = two_sided().equities(facing(own, opponent))
            assert got == near(np.array(want, dtype=float), within=1e-13)


def test_smaller_builds_are_parts_of_the_larger() -> None:
    small = build_two_sided(most=3)["equities"]
    positions = home_positions(3)
    rows = [int(home_index(p, 6)) for p in positions]
    assert np.array_equal(small[1:], two_sided().table[np.ix_(rows, rows)][1:])
    assert np.array_equal(small, build_two_sided(most=3, threads=1)["equities"])
    assert np.array_equal(small, build_two_sided(most=3, threads=5)["equities"])
    means = build_one_sided(most=3)["means"]
    assert np.array_equal(means, one_sided().means[[int(home_index(p, 15)) for p in positions]])


# Properties of the whole tables


def test_positions_are_numbered_in_order() -> None:
    for most, count in ((0, 1), (1, 7), (6, 924), (15, 54_264)):
        assert how_many(most) == count
    positions = home_positions(15)
    assert [int(home_index(p, 15)) for p in positions[::97]] == list(range(0, 54_264, 97))
    as_numbers = positions[:, ::-1] @ 16 ** np.arange(5, -1, -1)
    assert (np.diff(as_numbers) > 0).all() and positions.sum(axis=1).max() == 15
    steps = home_steps(positions, 15)
    assert (steps[1:] < np.arange(1, 54_264)[:, None, None]).all()
    assert ((steps >= 0).any(axis=2)).all(), "every die can be played"


@pytest.mark.parametrize("kind", ["", "first_"])
def test_distributions_are_whole(kind: str) -> None:
    table = one_sided()
    chances, starts = getattr(table, kind + "chances"), getattr(table, kind + "starts")
    assert (chances >= 0).all()
    assert np.add.reduceat(chances, starts[:-1]) == near(np.ones(54_264), within=1e-12)
    assert (chances[starts[1:] - 1] > 0).all(), "each ends with a chance above 0"
    assert (chances[starts[1:-1]] == 0).all(), "0 rolls are enough for the empty board alone"
    rolls = np.arange(len(chances)) - np.repeat(starts[:-1], np.diff(starts))
    means = np.add.reduceat(chances * rolls, starts[:-1])
    if kind:
        assert (means <= table.means + 1e-12).all(), "the first is off no later than all"
    else:
        assert means == near(table.means, within=1e-11)


def test_a_checker_less_never_hurts() -> None:
    positions, means = home_positions(15), one_sided().means
    small, cubeless = home_positions(6), two_sided().table[:, :, 0]
    for point in range(6):
        one_less = np.eye(6, dtype=np.int8)[point]
        rows = np.flatnonzero(positions[:, point])
        gain = means[rows] - means[[int(home_index(p, 15)) for p in positions[rows] - one_less]]
        assert gain.min() >= -1e-12 and gain.max() >= 1
        rows = np.flatnonzero(small[:, point])
        lighter = [int(home_index(p, 6)) for p in small[rows] - one_less]
        assert (cubeless[lighter, 1:] >= cubeless[rows, 1:] - 1e-12).all()
        assert (cubeless[1:, lighter] <= cubeless[1:, rows] + 1e-12).all()


def test_a_pip_less_can_hurt() -> None:
    """A gap costs more than a pip, since a 2 then bears nothing off; a single checker is better the closer it is."""
    mean = one_sided().mean_rolls
    assert mean([8, 0, 6, 0, 0, 0]) > mean([7, 1, 6, 0, 0, 0]) + 0.3
    single = [mean(points) for points in np.eye(6, dtype=np.int64)]
    assert single == near([1, 1, 1, 38 / 36, 41 / 36, 45 / 36], within=1e-15)


def test_owning_the_cube_is_best() -> None:
    cubeless, own, centred, other = np.moveaxis(two_sided().table, 2, 0)
    assert (own >= centred).all() and (centred >= other).all()
    assert (own > other).any() and (centred > cubeless).any() and (centred < cubeless).any()
    assert (abs(two_sided().table) <= 1).all()


def test_races_by_distributions_come_close_to_best_play() -> None:
    """All pairs of every eleventh position of at most six checkers, both ways of judging them."""
    positions = home_positions(6)[1::11]
    errors = []
    for own in positions:
        for opponent in positions:
            exact = (two_sided().equities(facing(own, opponent))[0] + 1) / 2
            errors.append(race_win(own, opponent) - exact)
    assert len(errors) == 84**2
    assert 0.002 < np.abs(errors).max() < 0.015 and np.abs(errors).mean() < 0.001  # worst of all pairs: 0.0139


def test_races_against_a_plain_sum() -> None:
    rng = np.random.default_rng(3)
    positions = home_positions(15)
    table = one_sided()
    for own, opponent in positions[rng.integers(1, len(positions), size=(60, 2))]:
        outcome = race_outcome(own, opponent)
        mine, theirs = table.distribution(own), table.distribution(opponent)
        assert race_win(own, opponent) == near(sum(p * theirs[k:].sum() for k, p in enumerate(mine)), within=1e-12)
        gammon, lost = np.zeros(2)
        if opponent.sum() == 15:
            gammon = sum(p * table.first_off(opponent)[k:].sum() for k, p in enumerate(mine))
        if own.sum() == 15:
            lost = sum(p * table.first_off(own)[k + 1 :].sum() for k, p in enumerate(theirs))
        assert outcome[[1, 4]] == near([gammon, lost], within=1e-12)
        assert outcome.sum() == near(1, within=1e-12)


def test_gammons_of_full_homes() -> None:
    """A gammon can be won against all checkers of the game only, whatever their number."""
    assert race_outcome([1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 3], checkers=3).tolist() == [0, 1, 0, 0, 0, 0]
    assert race_outcome([1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 2], checkers=3).tolist() == [1, 0, 0, 0, 0, 0]
    lost = race_outcome([0, 0, 0, 0, 0, 15], [1, 0, 0, 0, 0, 0])
    assert lost[4] == near(19 / 36, within=1e-12) and lost[3] == near(17 / 36, within=1e-12)


# What the kernels take for home


def test_home_indices() -> None:
    rng = random.Random(5)
    boards = [scattered_board(rng) for _ in range(3000)]
    homes = 0
    for board, row in zip(boards, array(boards), strict=True):
        for most in (6, 15):
            want = []
            for side in (row, -row[::-1]):
                mine = np.maximum(side, 0)
                fits = not mine[7:].any() and mine.sum() <= most
                want.append(int(home_index(mine[1:7], most)) if fits else -1)
            assert list(home_indices(row, most)) == want, board
            homes += want[0] >= 0 and want[1] >= 0
    assert homes > 20


def test_known_outcomes_of_boards() -> None:
    full, small = facing((0, 0, 0, 0, 0, 15), (6, 0, 0, 0, 0, 0)), facing((2, 2, 2, 0, 0, 0), (0, 3, 0, 0, 0, 3))
    outside, mixed = small.copy(), small.copy()
    outside[7], mixed[6] = 1, -1
    over = facing((0,) * 6, (0, 0, 0, 0, 0, 15))
    boards = np.stack([full, outside, small, mixed, over])
    out, rows = np.full((5, 6), np.nan), np.empty(5, dtype=np.int64)
    assert known_outcomes(endgames(), boards, 15, out, rows) == 2 and rows[:2].tolist() == [1, 3]
    assert np.isnan(out[[1, 3]]).all()
    assert out[0] == near(race_outcome((0, 0, 0, 0, 0, 15), (6, 0, 0, 0, 0, 0)))
    assert out[2, 0] - out[2, 3] == near(two_sided().equities(small)[0]) and out[2, [0, 3]].sum() == 1
    assert out[4].tolist() == [0, 1, 0, 0, 0, 0]


def test_extent() -> None:
    rng = random.Random(7)
    for board in (oracle.START, *(scattered_board(rng) for _ in range(300))):
        row = array(board)[0]
        own, opponent = np.maximum(row, 0), np.maximum(-row[::-1], 0)
        places = np.arange(26)
        want = own.sum(), opponent.sum(), (places * (own > 0)).max(), (places * (opponent > 0)).max()
        assert extent(row) == want
        assert is_race(row) == (want[2] + want[3] < 25)


# Wrong input


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([1, 2, 3], "6 whole numbers"),
        ([0] * 7, "6 whole numbers"),
        ([[0] * 6], "6 whole numbers"),
        ([1.0, 0, 0, 0, 0, 0], "6 whole numbers"),
        ("100000", "6 whole numbers"),
        (None, "None: .*6 whole numbers"),
        ([True] * 6, "6 whole numbers"),
        ([-1, 1, 0, 0, 0, 0], r"\[-1, 1, 0, 0, 0, 0\]: .*0 checkers or more"),
        ([3, 3, 3, 3, 3, 1], "at most 15"),
        (np.full(6, 100, dtype=np.int8), "at most 15"),
        ([2**70, 0, 0, 0, 0, 0], "6 whole numbers"),
    ],
)
def test_wrong_points(points: Any, words: str) -> None:
    table = one_sided()
    for ask in (table.distribution, table.mean_rolls, table.epc, table.first_off, lambda p: race_win(p, [1] * 6)):
        with pytest.raises(BoardError, match=words):
            ask(points)


def test_empty_homes() -> None:
    assert one_sided().distribution([0] * 6).tolist() == one_sided().first_off([0] * 6).tolist() == [1.0]
    assert one_sided().mean_rolls([0] * 6) == 0
    assert race_win([0] * 6, [1] * 6) == 1 and race_win([1] * 6, [0] * 6) == 0
    with pytest.raises(BoardError, match="both sides"):
        race_win([0] * 6, [0] * 6)


def test_points_of_any_integer_kind() -> None:
    want = one_sided().mean_rolls([1, 2, 0, 0, 1, 0])
    for points in ((1, 2, 0, 0, 1, 0), np.array([1, 2, 0, 0, 1, 0], dtype=np.uint8), iter([1, 2, 0, 0, 1, 0])):
        assert one_sided().mean_rolls(points) == want


def test_boards_the_table_does_not_have() -> None:
    table = two_sided()
    known = facing((1, 1, 1, 1, 1, 1), (6, 0, 0, 0, 0, 0))
    assert table.knows(known) and table.knows(Position(known)) and table.knows(known.tolist())
    assert np.array_equal(table.equities(Position(known)), table.equities(known))
    seven, outside, contact = known.copy(), known.copy(), known.copy()
    seven[6] += 1
    outside[6:8] = 0, 1
    contact[24], contact[3] = -5, -1
    for board in (seven, outside, contact, Position.from_position_id("4HPwATDgc/ABMA").board):
        assert not table.knows(board)
        with pytest.raises(BoardError, match="at most 6 a side, not \\["):
            table.equities(board)
    equities, rows = table.lookup(np.stack([seven, known]))
    assert rows.tolist() == [False, True] and np.isnan(equities[0]).all() and not np.isnan(equities[1]).any()


def test_no_boards_at_all() -> None:
    for wrong in ([0] * 26, [0] * 25, [16, *[0] * 25], "board"):
        with pytest.raises(BoardError):
            two_sided().equities(wrong)  # type: ignore[arg-type]
    with pytest.raises(ArrayError):
        two_sided().lookup(np.zeros((2, 26)))  # type: ignore[arg-type]
    assert two_sided().lookup(np.zeros((0, 26), dtype=np.int8))[0].shape == (0, 4)


def test_finished_games() -> None:
    assert two_sided().equities(facing((0,) * 6, (1, 0, 0, 0, 0, 0))).tolist() == [1, 1, 1, 1]
    assert two_sided().equities(facing((1, 0, 0, 0, 0, 0), (0,) * 6)).tolist() == [-1, -1, -1, -1]


# Loading


def test_tables_are_mapped_read_only_and_loaded_once() -> None:
    assert one_sided() is one_sided() and two_sided() is two_sided()
    for array_ in (one_sided().chances, one_sided().distribution([1] * 6), two_sided().table):
        assert not array_.flags.writeable and array_.dtype == np.float64


def test_the_build_with_the_jit_off() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-m", "tests.bearoff_jit_off"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        cwd=DATA.parent.parent,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "tables agree with the JIT off" in run.stdout
