"""Cubeful search: against a naive recursion, the exact bearoff table and GNU Backgammon; invariants; reported cases."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import engine
from bgnet.composite import Composite
from bgnet.cube import CubeContext, CubeError, decide, should_double, should_take
from bgnet.cubeful import CubefulSearch, knows_exactly
from bgnet.cubeful_tree import Turns, lowest_rows
from bgnet.evaluators import load
from bgnet.match_equity import default_table
from bgnet.search import NARROW, MoveFilter, Search, SearchStopped
from engine import GameState, Position, legal_afterstates
from engine.bearoff import two_sided
from engine.outcomes import from_cumulative, swap
from engine.state import GameStatus
from tests.bgnet.nets import random_net, some_positions
from tests.boards import DATA, board
from tests.cube_states import VECTORS, case, match_state, money_state
from tests.cube_twin import Match
from tests.cubeful_twin import Cube, Twin

near = pytest.approx
NET = random_net([16], seed=4)
STANDARD = load("standard")
CONTACT = VECTORS["B"].position_id
ENDING = Position(board({5: 2, 2: 1, 23: 1}, {1: 1, 4: 2, 20: 1}))
BEAROFF = Position(board({6: 1, 4: 1, 1: 1}, {20: 1, 21: 1, 23: 1}))


def match_of(away: tuple[int, int], crawford: bool = False) -> Match:
    table = default_table()
    return Match(*away, crawford, table.pre[1:, 1:].tolist(), table.post[1:].tolist())


def values(search: CubefulSearch, position: Position, cubes: list[Cube], context: CubeContext, ply: int) -> list[float]:
    found, _ = search._tree.values(position.board[None], context.states(cubes), context, ply)
    return [float(value) for value in found[0]]


# ---- against right answers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("position", "ply", "cubes", "rules"),
    [
        (CONTACT, 1, [(1, 0), (2, -1)], {}),
        (CONTACT, 1, [(1, 0), (2, -1)], {"jacoby": True}),
        (CONTACT, 1, [(2, 1), (4, -1), (2, 0)], {}),
        (CONTACT, 1, [(1, 0), (2, -1), (4, -1)], {"beavers": True}),
        (CONTACT, 1, [(1, 0), (2, -1)], {"away": (5, 3)}),
        (CONTACT, 1, [(2, 1), (4, -1)], {"away": (3, 7)}),
        (CONTACT, 1, [(1, 0), (2, -1)], {"away": (2, 1)}),
        (CONTACT, 1, [(1, 0)], {"away": (3, 1), "crawford": True}),
        (ENDING, 2, [(1, 0), (2, -1)], {}),
        (ENDING, 2, [(1, 0), (2, -1), (4, -1)], {"jacoby": True, "beavers": True}),
        (ENDING, 2, [(1, 0), (2, -1)], {"away": (4, 3)}),
        (BEAROFF, 3, [(1, 0), (2, -1), (1, 1)], {}),
    ],
)
def test_equals_the_naive_recursion(
    position: str | Position, ply: int, cubes: list[Cube], rules: dict[str, Any]
) -> None:
    where = Position.from_position_id(position) if isinstance(position, str) else position
    away = rules.get("away")
    match = match_of(away, rules.get("crawford", False)) if away else None
    twin = Twin(NET, 0.68, rules.get("jacoby", False), rules.get("beavers", False))
    want = twin.no_double(tuple(where.board.tolist()), cubes, match, ply)
    got = values(CubefulSearch(NET, ply, efficiency=0.68), where, cubes, CubeContext(**rules), ply)
    assert got == near(want, abs=1e-6)


@pytest.mark.parametrize("points", [({6: 1, 5: 1}, {19: 1, 24: 1}), ({5: 2, 4: 1}, {20: 1, 21: 1, 19: 1})])
@pytest.mark.parametrize("ply", [1, 2, 3])
def test_deep_search_of_a_bearoff_is_exact(points: tuple[dict[int, int], dict[int, int]], ply: int) -> None:
    """The table fulfils the recursion, so that looking ahead from it must find it again; the net knows nothing."""
    position = Position(board(*points))
    _, own, centred, theirs = two_sided().equities(position.board)
    found = CubefulSearch(NET, ply).decide(GameState(position, jacoby=True))
    assert found.no_double == near(centred, abs=1e-9) and found.double_take == near(2 * theirs, abs=1e-9)
    cubes: list[Cube] = [(2, 1), (2, 0), (2, -1)]
    got = values(CubefulSearch(NET, ply), position, cubes, CubeContext(), ply)
    assert got == near([2 * own, 2 * centred, 2 * theirs], abs=1e-9)


class Leaves:
    """An Evaluator that knows the positions of a file."""

    def __init__(self, leaves: dict[str, list[float]]) -> None:
        self.leaves = leaves

    def outcomes(self, boards: NDArray[np.int8]) -> NDArray[np.float32]:
        five = [self.leaves[Position(row).position_id] for row in boards.tolist()]
        return from_cumulative(np.array(five).reshape(-1, 5)).astype(np.float32)


def test_gnubg_1_ply() -> None:
    """With GNU Backgammon's own leaves, and its way to choose plays inside, its 1-ply values come out."""
    with gzip.open(DATA / "cubeful_gnubg.json.gz", "rt") as file:
        told = json.load(file)
    search = CubefulSearch(Leaves(told["leaves"]), 1, shared_plays=True)
    assert len(told["decisions"]) == 22
    for row in told["decisions"]:
        state = GameState.from_gnubg_id(f"{row['position_id']}:{row['match_id']}")
        got = search.decide(replace(state, jacoby=row["jacoby"]))
        assert got.no_double == near(row["no_double"], abs=1e-5)
        assert got.double_take == near(row["double_take"], abs=1e-5)
        assert got.label == row["action"]
        if row["mwc"]:
            assert got.mwc is not None and got.mwc[:2] == near(row["mwc"], abs=2e-6)


# ---- what must hold -------------------------------------------------------------------------------------------------


def some_states() -> list[GameState]:
    """Before the roll, of all kinds."""
    boards, _ = some_positions()
    makers: list[Callable[[Position], GameState]] = [
        money_state,
        lambda p: money_state(p, jacoby=True, beavers=True),
        lambda p: money_state(p, 1),
        lambda p: money_state(p, -1, cube=4),
        lambda p: match_state((5, 3), p),
        lambda p: match_state((3, 5), p, 1),
        lambda p: match_state((4, 1), p),
        lambda p: match_state((1, 4), p, crawford=True),
    ]
    return [makers[i % len(makers)](Position(row)) for i, row in enumerate(boards[::60].tolist())]


def test_0_ply_is_the_formula_on_the_evaluators_chances() -> None:
    states = some_states()
    for efficiency in (None, 0.5, "gnubg-1.08"):
        found = CubefulSearch(STANDARD, efficiency=efficiency).decide_many(states)
        for state, got in zip(states, found, strict=True):
            want = decide(STANDARD.outcomes(state.position.board), state, efficiency=efficiency)
            assert got.as_dict() == want.as_dict()


@pytest.mark.parametrize("ply", [0, 1])
def test_many_are_judged_like_one(ply: int) -> None:
    states = some_states()[:: 1 + ply]
    search = CubefulSearch(STANDARD, ply)
    together = search.decide_many(states)
    assert [one.as_dict() for one in together] == [search.decide(state).as_dict() for state in states]
    assert [one.as_dict() for one in CubefulSearch(STANDARD, ply, threads=3).decide_many(states)] == [
        one.as_dict() for one in together
    ]
    assert (search.doubles(states) == [should_double(one) for one in together]).all()
    assert search.doubles(states).any()
    doubled = [replace(state, doubled=True) for state in states if state.may_double]
    takes = search.takes(doubled)
    assert takes.tolist() == [should_take(search.decide(state)) for state in doubled]
    assert takes.any() and not takes.all()


@pytest.mark.parametrize("ply", [0, 1, 2])
@pytest.mark.parametrize("rules", [{}, {"beavers": True}, {"away": (5, 3)}, {"away": (3, 7)}, {"away": (9, 9)}])
def test_the_better_the_cube_the_better(ply: int, rules: dict[str, Any]) -> None:
    """mine >= centred >= theirs. (Not at 2-away 4-away and the like, where the formula lets the leader cash wins that
    he had better play on for.)"""
    context = CubeContext(**rules)
    for vector in list(VECTORS.values())[: 8 >> ply]:
        position = Position.from_position_id(vector.position_id)
        mine, centred, theirs = values(CubefulSearch(STANDARD, ply), position, [(1, 1), (1, 0), (1, -1)], context, ply)
        assert mine >= centred - 1e-12 and centred >= theirs - 1e-12


@pytest.mark.parametrize("ply", [0, 1])
def test_the_seat_does_not_matter(ply: int) -> None:
    search = CubefulSearch(STANDARD, ply)
    for state in some_states()[:24]:
        owner = None if state.owner is None else 1 - state.owner
        other = replace(state, on_roll=0, owner=owner, score=state.score[::-1])
        assert search.decide(other).as_dict() == search.decide(state).as_dict()
        here, there = search.rank(state.roll("31"))[0], search.rank(other.roll("31"))[0]
        assert (here.board == there.board).all() and here.equity == there.equity and here.mwc == there.mwc


def test_chances_are_those_of_the_cubeless_search_where_the_cube_does_not_matter() -> None:
    """In the last game of a match, when wins alone count."""
    dmp = np.array([1, 1, 1, -1, -1, -1], dtype=np.float32)
    state = match_state((1, 1), CONTACT)
    for ply in (1, 2):
        got = CubefulSearch(STANDARD, ply).decide(state)
        want = Search(STANDARD, ply, dmp).outcomes(state.position.board[None])[0]
        assert got.outcomes == near(want, abs=1e-6)
        assert got.mwc is not None and got.mwc.no_double == near(want[:3].sum(), abs=1e-6)


def test_one_ply_deeper_is_the_mean_of_the_plays() -> None:
    """Rolls are averaged with their weights: the plays that `rank` finds at 0-ply make the 1-ply value."""
    for state in (money_state(CONTACT), match_state((5, 3), CONTACT), money_state(CONTACT, 1)):
        search = CubefulSearch(STANDARD)
        total = sum(search.rank(state.roll((a, b)))[0].equity for a in range(1, 7) for b in range(1, 7)) / 36
        assert CubefulSearch(STANDARD, 1).decide(state).no_double == near(total, abs=1e-9)


# ---- checker play ---------------------------------------------------------------------------------------------------


def test_plays_of_many_states_are_the_first_ranked() -> None:
    boards, dice = some_positions()
    states = [replace(s, dice=tuple(d)) for s, d in zip(some_states(), dice[::60].tolist(), strict=True)]
    search = CubefulSearch(STANDARD)
    chosen = search.plays(states)
    assert chosen.dtype == np.int8 and chosen.shape == (len(states), 26)
    for state, result in zip(states, chosen, strict=True):
        assert state.dice is not None
        legal = legal_afterstates(state.position.board[None], np.array([state.dice], np.int8)).boards
        assert (legal == result).all(axis=1).any()
        assert (search.rank(state)[0].board == result).all()
    assert (search.plays(states[7:9]) == chosen[7:9]).all()
    assert (
        CubefulSearch(STANDARD, 1).plays(states[:3])[1] == CubefulSearch(STANDARD, 1).rank(states[1])[0].board
    ).all()
    assert search.plays([]).shape == (0, 26) and search.doubles([]).shape == (0,) and search.takes([]).shape == (0,)


def test_equal_values_are_told_apart_by_what_waiting_is_worth() -> None:
    values, waits = (
        np.array([[1.0, 2], [1, 2], [1, 1], [0, 5], [0, 5]]),
        np.array([[3.0, 1], [2, 1], [9, 9], [7, 4], [7, 4]]),
    )
    found = Turns(values + 1e-13 * waits[::-1], waits, np.zeros((5, 6)))  # rounding must not decide
    assert lowest_rows(found, np.array([0, 3, 5])).tolist() == [[1, 2], [3, 3]]


def test_ranking_is_complete_and_deepest_first() -> None:
    state = match_state((5, 3), engine.START).roll("31")
    ranked = CubefulSearch(STANDARD, 2, filters=NARROW).rank(state)
    assert len(ranked) == 16 == len({c.board.tobytes() for c in ranked})
    assert [c.ply for c in ranked] == sorted((c.ply for c in ranked), reverse=True)
    assert ranked[0].ply == 2 and ranked[0].loss == 0 and all(c.loss >= 0 for c in ranked)
    for depth in (0, 1, 2):
        equities = [c.equity for c in ranked if c.ply == depth]
        assert equities == sorted(equities, reverse=True)
    for c in ranked:
        assert c.mwc == near(float(CubeContext.from_state(state).from_equity(c.equity, 1)), abs=1e-12)
        assert c.outcome.sum() == near(1, abs=1e-5)
    worst = CubefulSearch(STANDARD).rank(state)[-1].board
    asked = CubefulSearch(STANDARD, 2, filters=NARROW).rank(state, [worst])
    assert next(c for c in asked if (c.board == worst).all()).ply == 2


def test_a_ranked_play_is_worth_what_the_opponent_leaves() -> None:
    state = money_state(CONTACT, 1).roll("62")
    for ply in (0, 1):
        best = CubefulSearch(STANDARD, ply, filters=[MoveFilter(50, 0, 9)]).rank(state)[0]
        after = GameState(Position(best.board), on_roll=0, cube=2, owner=1)
        theirs = CubefulSearch(STANDARD, ply).decide(after)
        assert best.equity == near(-theirs.best, abs=1e-9) and best.ply == ply
        assert swap(best.outcome) == near(theirs.outcomes, abs=1e-6)


def test_gammons_that_do_not_count_are_not_played_for() -> None:
    """The score decides what is best: for one who needs a single point only wins count."""
    boards, dice = some_positions()
    search, others = CubefulSearch(STANDARD), 0
    wins = np.array([1, 1, 1, -1, -1, -1], dtype=np.float32)
    for row, roll in zip(boards[:900:10].tolist(), dice[:900:10].tolist(), strict=True):
        state = match_state((1, 1), Position(row), dice=tuple(roll))
        best = search.rank(state)[0]
        outcomes = swap(
            STANDARD.outcomes(legal_afterstates(state.position.board[None], np.array([roll], np.int8)).boards)
        )
        assert best.equity == near(float((outcomes @ wins).max()), abs=1e-5)
        money = search.rank(money_state(Position(row), dice=tuple(roll)))[0]
        others += (best.board != money.board).any()
    assert others >= 2


def test_the_pruner_only_narrows() -> None:
    state = match_state((5, 3), CONTACT)
    plain = CubefulSearch(STANDARD, 2).decide(state)
    wide = CubefulSearch(STANDARD, 2, pruner=NET, prune_to=10_000 // 4).decide(state)
    assert wide.as_dict() == plain.as_dict()
    same = CubefulSearch(STANDARD, 2, pruner=STANDARD, prune_to=3).decide(state)
    assert same.no_double == near(plain.no_double, abs=0.02)
    poor = CubefulSearch(STANDARD, 2, pruner=NET, prune_to=1).decide(state)
    assert abs(poor.no_double - plain.no_double) > 1e-3


# ---- reported cases -------------------------------------------------------------------------------------------------

BEST = CubefulSearch(Composite(STANDARD), 2)


@pytest.mark.parametrize("name", ["cu-011", "cu-012"])
def test_jacoby_makes_cashing_right(name: str) -> None:
    found = case(name)
    state = money_state(Position(found["input"]["board"]))
    plain, jacoby = BEST.decide(state), BEST.decide(replace(state, jacoby=True))
    assert plain.label == "Too good to double, pass" and jacoby.label == "Double, pass"
    for got, key in ((plain, "no_jacoby"), (jacoby, "jacoby")):
        assert got.no_double == near(found["expect"][key]["gnubg"][0], abs=0.1)
        assert got.double_take == near(found["expect"][key]["gnubg"][1], abs=0.2)


def test_a_cashed_cube_does_not_make_plays_equal() -> None:
    """Case cu-014: with the cube in the middle all plays are worth -1; the best one is still named."""
    found = case("cu-014")
    state = GameState.from_xgid(found["input"]["xgid"])
    expect = found["expect"]
    wanted = Position(expect["best_board"]).flipped().board
    owned = BEST.rank(state)
    assert owned[0].equity == near(expect["equity_owned"], abs=expect["tolerance"])
    assert (owned[0].board == wanted).all() and owned[1].loss > 0.001
    cashed = replace(state, owner=None, cube=1)
    quick = CubefulSearch(Composite(STANDARD))
    assert {round(c.equity, 6) for c in quick.rank(cashed)} == {-1.0}
    assert (quick.plays([cashed])[0] == quick.rank(cashed)[0].board).all()
    centred = BEST.rank(cashed)
    assert {round(c.equity, 6) for c in centred if c.ply == 2} == {-1.0}
    assert (centred[0].board == wanted).all()


@pytest.mark.parametrize("name", ["ma-001", "ma-002", "ma-009"])
def test_reported_matches(name: str) -> None:
    found = case(name)
    given, expect = found["input"], found["expect"]
    own, other = given["score_mover_opponent"]
    state = match_state(
        (given["match"] - own, given["match"] - other), Position(given["board"]),
        owner=1 if given["owner"] == "player" else 0, cube=given["cube"], length=given["match"],
    )  # fmt: skip
    got = BEST.decide(state)
    if name == "ma-002":
        assert got.action.doubles and got.costs.no_double >= expect["error_of_not_doubling_at_least"]
    else:
        assert got.action.value.removeprefix("re") == expect["action"].replace("/", "_")
        assert got.mwc is not None and got.mwc.best == near(expect["mwc_after_best"], abs=expect["tolerance"])


# ---- refusals -------------------------------------------------------------------------------------------------------


def test_bad_settings() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"ply": -1}, "ply must be"),
        ({"ply": 1.5}, "ply must be"),
        ({"ply": True}, "ply must be"),
        ({"threads": -1}, "threads must be"),
        ({"prune_to": 0}, "prune_to must be"),
        ({"filters": ()}, "at least one move filter"),
        ({"filters": [1, 2]}, "at least one move filter"),
        ({"filters": None}, "at least one move filter"),
        ({"pruner": "x"}, "pruner must be an Evaluator"),
        ({"efficiency": 1.5}, "efficiency"),
        ({"efficiency": "live"}, "presets are"),
        ({"table": 7}, "MatchEquityTable"),
    ]
    for settings, words in wrong:
        with pytest.raises(CubeError, match=words):
            CubefulSearch(NET, **settings)
    for nobody in ("small", None, 7):
        with pytest.raises(CubeError, match="evaluator must be an Evaluator"):
            CubefulSearch(nobody)  # type: ignore[arg-type]


class Mad:
    """Gives what no chances are."""

    def __init__(self, value: float) -> None:
        self.value = value

    def outcomes(self, boards: NDArray[np.int8]) -> NDArray[np.float32]:
        return np.full((len(boards), 6), self.value, dtype=np.float32)

    def __repr__(self) -> str:
        return "Mad()"


@pytest.mark.parametrize("ply", [0, 1])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_chances_that_are_none_are_refused_by_the_name_of_who_gave_them(value: float, ply: int) -> None:
    search, rolled = CubefulSearch(Mad(value), ply), money_state(CONTACT, dice=(3, 1))
    asked: list[tuple[Callable[[GameState], object], GameState]] = [
        (search.rank, rolled), (lambda s: search.plays([s]), rolled), (search.decide, money_state(CONTACT)),
        (lambda s: search.doubles([s]), money_state(CONTACT)),
    ]  # fmt: skip
    for ask, state in asked:
        with pytest.raises(CubeError, match=r"Mad\(\) must give finite chances"):
            ask(state)


def test_a_state_is_no_list_of_states() -> None:
    search, state = CubefulSearch(NET), money_state(CONTACT, doubled=True)
    for ask in (search.takes, search.beavers, search.doubles, search.decide_many, search.plays):
        with pytest.raises(CubeError, match="a sequence of GameStates, not GameState"):
            ask(state)  # type: ignore[operator]


def test_states_with_nothing_to_decide() -> None:
    search = CubefulSearch(NET, 1)
    rolled = money_state(CONTACT, dice=(3, 1))
    over = GameState(Position(board({1: 1}, {24: 1}))).roll("11").play("1/off")
    for ask in (search.decide, lambda s: search.doubles([s]), lambda s: search.takes([s])):
        for state, words in ((rolled, "before the roll"), (over, "over"), ("x", "must be a GameState")):
            with pytest.raises(CubeError, match=words):
                ask(state)  # type: ignore[arg-type]
    with pytest.raises(CubeError, match=r"states\[1\]: no double is pending"):
        search.takes([money_state(CONTACT, doubled=True), money_state(CONTACT)])
    for play in (search.rank, lambda s: CubefulSearch(NET).plays([s])):
        for state, words in (
            (money_state(CONTACT), "no dice"),
            (replace(rolled, resigned=1), "nothing to play"),
            (replace(rolled, game_state=GameStatus.DROPPED), "nothing to play"),
            (None, "must be a GameState"),
        ):
            with pytest.raises(CubeError, match=words):
                play(state)  # type: ignore[arg-type]


def test_it_can_be_stopped() -> None:
    with pytest.raises(SearchStopped):
        CubefulSearch(NET, 2, stop=lambda: True).decide(money_state(CONTACT))


def test_what_is_known_exactly() -> None:
    assert knows_exactly(money_state(BEAROFF)) and knows_exactly(money_state(BEAROFF, 1, jacoby=True))
    assert not knows_exactly(money_state(BEAROFF, beavers=True)) and not knows_exactly(money_state(CONTACT))
    assert not knows_exactly(match_state((5, 3), BEAROFF)) and not knows_exactly(money_state(BEAROFF, max_cube=2))
