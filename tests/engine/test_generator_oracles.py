"""The generator against the committed answers of other engines in tests/data."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

import engine
from engine import Position, dice, outcomes, rules
from tests.boards import DATA, array, cases, engine_results, expected_results, movegen_lines

PERFT = json.loads((DATA / "perft.json").read_text(encoding="utf-8"))
MOVEGEN_CASES = cases("movegen")
WITH_DICE = [case for case in MOVEGEN_CASES if "dice" in case["input"]]
CUBE_CASES = ("sc-009", "sc-010")
SCORING_CASES = [case for case in cases("scoring") if case["id"] not in CUBE_CASES]


@pytest.mark.parametrize("swapped", [False, True], ids=["as rolled", "dice swapped"])
def test_movegen_lines(swapped):
    lines = movegen_lines()
    assert len(lines) == 3000
    boards = array([tuple(line["board"]) for line in lines])
    rolls = np.array([line["dice"][::-1] if swapped else line["dice"] for line in lines], dtype=np.int8)
    found, offsets = engine.legal_afterstates(boards, rolls)
    mover_view = -found[:, ::-1]
    for i, line in enumerate(lines):
        got = [tuple(row) for row in mover_view[offsets[i] : offsets[i + 1]].tolist()]
        want = expected_results(tuple(line["board"]), line["results"])
        where = f"line {i + 1} ({line['kind']}), {line['board']} {line['dice']}"
        assert set(got) == want, f"{where}: extra {set(got) - want}, missing {want - set(got)}"
        assert len(got) == len(want), f"{where}: results repeat"


@pytest.mark.parametrize("case", WITH_DICE, ids=lambda case: case["id"])
def test_movegen_case(case):
    position, expect = tuple(case["input"]["board"]), case["expect"]
    first, second = case["input"]["dice"]
    got = engine_results(position, first, second)
    assert len(got) == len(set(got)) == max(1, expect["n"])
    assert set(engine_results(position, second, first)) == set(got)
    if "results" in expect:
        assert set(got) == expected_results(position, expect["results"])
    assert (got == [position]) == expect["forced_pass"]
    if "must_not_contain" in expect:
        assert tuple(expect["must_not_contain"]) not in got


def test_movegen_case_counts_from_the_start():
    (case,) = (case for case in MOVEGEN_CASES if case["id"] == "mg-046")
    counts, _ = perft_step(array(tuple(case["input"]["board"])))
    expect = case["expect"]
    assert dict(zip(PERFT["rolls"], counts[0].tolist(), strict=True)) == expect["per_roll"]
    assert counts.sum() == expect["sum21"]
    assert counts[0, dice.ROLLS[:, 0] != dice.ROLLS[:, 1]].sum() == expect["sum15_nondouble"]


@pytest.mark.parametrize("case", SCORING_CASES, ids=lambda case: case["id"])
def test_scoring_case(case):
    checkers = case["input"].get("checkers_per_side", 15)
    won = Position(case["input"]["board"])
    kinds = {outcomes.WIN: "single", outcomes.WIN_GAMMON: "gammon", outcomes.WIN_BACKGAMMON: "backgammon"}
    index = won.ending(checkers)
    assert index is not None and kinds[index] == case["expect"]["kind"]
    assert rules.CLUB.payoff[index] == case["expect"]["points"]
    lost = won.flipped().ending(checkers)
    assert lost is not None and rules.CLUB.payoff[lost] == -case["expect"]["points"]


def perft_step(boards: NDArray[np.int8]) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """int8[N, 26] -> the number of results of each of the 21 rolls, and all results in that order."""
    rolls = np.tile(dice.ROLLS, (len(boards), 1))
    found, offsets = engine.legal_afterstates(np.repeat(boards, 21, axis=0), rolls)
    return np.diff(offsets).reshape(-1, 21), found


def in_chunks(boards: NDArray[np.int8], rows: int) -> Iterator[NDArray[np.int8]]:
    for start in range(0, len(boards), rows):
        yield boards[start : start + rows]


def test_perft_depth_1():
    counts, results = perft_step(array(tuple(PERFT["position"])))
    assert dict(zip(PERFT["rolls"], counts[0].tolist(), strict=True)) == PERFT["depth1"]
    assert len(results) == PERFT["depth1_total"] == 447
    assert len(np.unique(results, axis=0)) == PERFT["depth1_distinct"]


def test_perft_depth_2():
    first_counts, first = perft_step(array(tuple(PERFT["position"])))
    counts, results = perft_step(first)
    first_roll = np.repeat(np.arange(21), first_counts[0])
    for i, name in enumerate(PERFT["rolls"]):
        row = counts[first_roll == i].sum(axis=0)
        assert dict(zip(PERFT["rolls"], row.tolist(), strict=True)) == PERFT["depth2_table"][name], name
    assert len(results) == PERFT["depth2_total"] == 202_782
    assert len(np.unique(results, axis=0)) == PERFT["depth2_distinct"]


def test_perft_depth_3():
    _, first = perft_step(array(tuple(PERFT["position"])))
    _, second = perft_step(first)
    total = 0
    for chunk in in_chunks(second, 2_000):
        counts, _ = perft_step(chunk)
        total += counts.sum()
    assert total == PERFT["depth3_total"] == 116_154_993


def test_random_play_has_the_known_statistics():
    """Case tr-004: thousands of games between random players, all in lockstep."""
    (case,) = (case for case in cases("training") if case["id"] == "tr-004")
    expect, games = case["expect"], 3000
    rng = np.random.default_rng(4)
    boards = np.tile(array(tuple(case["input"]["start"])), (games, 1))
    rolls = np.array([dice.opening(4, game) for game in range(games)], dtype=np.int8)
    starter_wins, levels, turns, positions, results = 0, np.zeros(3, dtype=np.int64), 0, 0, 0
    while len(boards):
        found, offsets = engine.legal_afterstates(boards, rolls)
        boards = found[offsets[:-1] + rng.integers(0, np.diff(offsets))]
        turns += 1
        positions += len(rolls)
        results += len(found)
        over = ~(boards > 0).any(axis=1) | ~(boards < 0).any(axis=1)
        for lost in boards[over]:
            ending = Position(lost).ending()
            assert ending is not None and ending >= outcomes.LOSE, "who has just moved has won"
            levels[ending - outcomes.LOSE] += 1
        starter_wins += over.sum() if turns % 2 else 0
        boards = boards[~over]
        rolls = rng.integers(1, 7, size=(len(boards), 2)).astype(np.int8)
    rates = np.array([starter_wins, *levels]) / games
    known = [expect[name] for name in ("starter_wins", "single", "gammon", "backgammon")]
    np.testing.assert_allclose(rates, known, atol=expect["tolerance_rates"])
    assert positions / games == pytest.approx(expect["turns_per_game"], abs=expect["tolerance_turns"])
    assert results / positions == pytest.approx(expect["mean_distinct_results_per_turn"], abs=0.5)
