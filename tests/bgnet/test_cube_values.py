"""Cubeful values of many positions against a slow twin; invariants; settling doubles; efficiencies; contexts."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bgnet.cube import CubeClass, classes, efficiencies, exact_values, leaf_efficiencies, leaf_values
from bgnet.cube_context import CubeContext, CubeError
from bgnet.cube_efficiency import EFFICIENCIES, GNUBG_107
from bgnet.cube_levels import levels_of
from bgnet.cube_values import cubeful_values, expand, settle
from bgnet.match_equity import MatchEquityTable, default_table
from engine import BoardError, Position
from engine.bearoff import two_sided
from engine.outcomes import from_cumulative, swap, to_cumulative
from tests import cube_twin as twin
from tests.cube_states import OWNERS, VECTORS, money_state, oracle_rows

OWNER_NUMBERS = (-1, 0, 1)


@st.composite
def chances(draw: st.DrawFn) -> tuple[float, ...]:
    """Cumulative chances, some of them on the edge."""
    share = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-9, 1 - 1e-9]), st.floats(0, 1))
    w = draw(share)
    wg, lg = w * draw(share), (1 - w) * draw(share)
    return w, wg, wg * draw(share), lg, lg * draw(share)


aways = st.tuples(st.integers(1, 25), st.integers(1, 25))
efficiency = st.one_of(st.sampled_from([0.0, 1.0, 0.68]), st.floats(0, 1))


def values(p: tuple[float, ...], states: Any, context: CubeContext, x: float) -> list[float]:
    return cubeful_values(from_cumulative([p]), states, context, x)[0].tolist()  # type: ignore[no-any-return]


def twin_match(away: tuple[int, int], crawford: bool, table: MatchEquityTable | None = None) -> twin.Match:
    table = table or default_table()
    return twin.Match(*away, crawford, table.pre[1:, 1:].tolist(), table.post[1:].tolist())


# The twin


@given(p=chances(), x=efficiency, jacoby=st.booleans(), exponent=st.integers(0, 6))
def test_money_values_of_the_twin(p: tuple[float, ...], x: float, jacoby: bool, exponent: int) -> None:
    cube = 1 << exponent
    got = values(p, [(cube, owner) for owner in OWNER_NUMBERS], CubeContext(jacoby=jacoby), x)
    assert got == pytest.approx([cube * twin.money(p, owner, x, jacoby) for owner in OWNER_NUMBERS], abs=1e-9 * cube)


@given(p=chances(), x=efficiency, away=aways, exponent=st.integers(0, 6))
def test_match_values_of_the_twin(p: tuple[float, ...], x: float, away: tuple[int, int], exponent: int) -> None:
    cube = 1 << exponent
    crawford = min(away) == 1 and cube == 1 and away[0] % 2 == 0
    context = CubeContext(away, crawford=crawford)
    got = values(p, [(cube, owner) for owner in OWNER_NUMBERS], context, x)
    match = twin_match(away, crawford)
    assert got == pytest.approx([match.value(p, cube, owner, x) for owner in OWNER_NUMBERS], abs=1e-9)


def test_cash_points_without_gammons() -> None:
    """GNU Backgammon 1.07.001, Kazaross-XG2: (away, cube) -> of the player on roll, of his opponent."""
    from bgnet.cube_kernels import live_points_kernel

    wanted = {
        (4, 2, 1): (0.80106, 0.81436), (2, 4, 1): (0.81436, 0.80106), (2, 2, 1): (0.67736, 0.67736),
        (3, 5, 1): (0.80865, 0.82390), (5, 5, 1): (0.81828, 0.81828), (7, 7, 1): (0.79748, 0.79748),
        (7, 7, 2): (0.80270, 0.80270), (11, 11, 1): (0.79810, 0.79810), (25, 25, 1): (0.79906, 0.79906),
    }  # fmt: skip
    for (a, b, cube), want in wanted.items():
        levels = CubeContext((a, b)).levels
        points = np.ones((len(levels.after), 2))
        live_points_kernel(levels.after, levels.ends, np.array([1.0, 0, 0, 1, 0, 0]), points)
        assert points[cube.bit_length() - 1] == pytest.approx(want, abs=6e-6), (a, b, cube)
        match = twin_match((a, b), False)
        assert match.cash((0.5, 0, 0, 0, 0), cube) == pytest.approx(want[0], abs=6e-6)


def test_cash_points_with_gammons() -> None:
    """Of GNU Backgammon's chances of position B: (away, cube) -> of the player on roll, of his opponent."""
    p = VECTORS["B"].chances
    for (a, b, cube), want in {
        (4, 2, 1): (0.58749, 0.81436), (7, 7, 1): (0.70945, 0.78578), (5, 3, 2): (0.59427, 0.84179),
    }.items():  # fmt: skip
        match = twin_match((a, b), False)
        assert (match.cash(p, cube), match.other().cash(twin.flip(p), cube)) == pytest.approx(want, abs=6e-6)


def test_a_batch_is_its_rows() -> None:
    rows = oracle_rows()
    outcomes = from_cumulative([row["probs"] for row in rows]).astype(np.float32)
    states = [(1, 0), (2, 1), (2, -1), (8, -1)]
    x = np.linspace(0, 1, 4 * len(rows)).reshape(len(rows), 4)
    for context in (CubeContext(jacoby=True), CubeContext((5, 9))):
        whole = cubeful_values(outcomes, states, context, x)
        assert whole.shape == (300, 4) and whole.dtype == np.float64
        one = [cubeful_values(outcomes[i : i + 1], states, context, x[i : i + 1])[0] for i in range(0, 300, 7)]
        assert (whole[::7] == one).all()
        by_position = cubeful_values(outcomes, states, context, x[:, 1])
        assert (by_position[:, 1] == whole[:, 1]).all()
        assert (by_position == cubeful_values(outcomes, states, context, x[:, 1:2])).all()
    assert cubeful_values(np.empty((0, 6)), states, CubeContext(), 0.5).shape == (0, 4)
    assert cubeful_values(outcomes[:3], np.empty((0, 2), dtype=int), CubeContext(), 0.5).shape == (3, 0)


# Invariants


@given(p=chances(), x=efficiency)
def test_money_antisymmetry_and_order(p: tuple[float, ...], x: float) -> None:
    context = CubeContext()
    theirs, centred, mine = values(p, [(1, -1), (1, 0), (1, 1)], context, x)
    assert mine >= centred - 1e-9 and centred >= theirs - 1e-9
    turned = values(twin.flip(p), [(1, 1), (1, 0), (1, -1)], context, x)
    assert [theirs, centred, mine] == pytest.approx([-value for value in turned], abs=1e-9)


@given(p=chances(), x=efficiency, away=aways, exponent=st.integers(0, 4))
def test_match_antisymmetry(p: tuple[float, ...], x: float, away: tuple[int, int], exponent: int) -> None:
    cube = 1 << exponent
    context = CubeContext(away)
    got = cubeful_values(from_cumulative([p]), [(cube, -1), (cube, 0), (cube, 1)], context, x)[0]
    turned = cubeful_values(
        swap(from_cumulative([p])), [(cube, 1), (cube, 0), (cube, -1)], context.flipped, x
    )[0]  # fmt: skip
    assert got == pytest.approx(context.turned(turned), abs=1e-9)
    assert (got >= -1e-12).all() and (got <= 1 + 1e-12).all()


@given(w=st.floats(0, 1), x=efficiency, away=aways, exponent=st.integers(0, 4))
def test_in_a_match_a_cube_of_ones_own_is_better(w: float, x: float, away: tuple[int, int], exponent: int) -> None:
    """Without gammons. With them the opponent may want to double (a pass saves the gammon), which helps the other."""
    states = [(1 << exponent, owner) for owner in OWNER_NUMBERS]
    theirs, centred, mine = values((w, 0.0, 0.0, 0.0, 0.0), states, CubeContext(away), x)
    assert theirs <= centred + 1e-9 and centred <= mine + 1e-9


@given(p=chances(), x=efficiency, away=st.one_of(st.none(), aways), jacoby=st.booleans())
def test_increasing_and_continuous_in_the_chance_to_win(
    p: tuple[float, ...], x: float, away: tuple[int, int] | None, jacoby: bool
) -> None:
    """With the shares of gammons held fixed; no jump at the take and cash points."""
    context = CubeContext(away, jacoby=jacoby and away is None)
    six = np.maximum(from_cumulative(p), 0)
    won, lost = six[:3].sum(), six[3:].sum()
    if won < 1e-6 or lost < 1e-6:
        return
    w = np.linspace(1e-6, 1 - 1e-6, 2001)[:, None]
    along = np.concatenate([w * six[:3] / won, (1 - w) * six[3:] / lost], axis=1)
    curves = cubeful_values(along, [(1, -1), (1, 0), (1, 1)], context, x)
    steps = np.diff(curves, axis=0)
    assert (steps >= -1e-12).all()
    # No formula is steeper than 16 points (or four matches) from 0 to 1 ... except next to a corner at the very end.
    assert (steps[20:-20] < 0.03).all()


def test_finished_games_are_exact() -> None:
    table = default_table()
    endings = np.eye(6)
    states = [(2, -1), (2, 0), (2, 1)]
    money = cubeful_values(endings, states, CubeContext(), 0.7)
    assert (money == 2 * np.array([1, 2, 3, -1, -2, -3])[:, None]).all()
    jacoby = cubeful_values(endings, [(1, 0), (2, 1)], CubeContext(jacoby=True), 0.7)
    assert jacoby.T.tolist() == [[1, 1, 1, -1, -1, -1], [2, 4, 6, -2, -4, -6]]
    match = cubeful_values(endings, states, CubeContext((5, 7)), 0.7)
    want = [table.after((5, 7), 2 * points, won=won) for won in (True, False) for points in (1, 2, 3)]
    assert (match == np.array(want)[:, None]).all()


def test_closed_forms_of_the_middle() -> None:
    """Owned up to the cash point: w (W + L + x/2) - L; the opponent's from the take point on: the same less x/2."""
    x, w = 0.6, 0.6
    win, loss = 1.4, 1.2
    p = (w, w * 0.4, 0.0, 0.4 * 0.2, 0.0)
    slope = win + loss + x / 2
    assert values(p, [(1, 1), (1, -1)], CubeContext(), x) == pytest.approx([w * slope - loss, w * slope - loss - x / 2])


def test_gammon_prices() -> None:
    """GNU Backgammon 1.07.001 at 5-away 3-away, Kazaross-XG2, a dead cube at 1; in money play a gammon adds 1."""
    context = CubeContext((5, 3))
    plain, gammon, backgammon = context.to_equity(cubeful_values(np.eye(6)[:3], [(1, 0)], context, 0.0)[:, 0], 1)
    assert (gammon - plain, backgammon - gammon) == (pytest.approx(0.83096, abs=1e-5), pytest.approx(1.15602, abs=1e-5))
    other = context.flipped
    plain, gammon, backgammon = other.to_equity(cubeful_values(np.eye(6)[:3], [(1, 0)], other, 0.0)[:, 0], 1)
    assert (gammon - plain, backgammon - gammon) == (pytest.approx(1.14126, abs=1e-5), pytest.approx(1.83869, abs=1e-5))


@given(p=chances(), x=efficiency, away=st.tuples(st.integers(2, 25), st.integers(2, 25)))
def test_a_highest_cube_in_a_match(p: tuple[float, ...], x: float, away: tuple[int, int]) -> None:
    """At the top the cube is dead; a top that no game can reach changes nothing."""
    states = [(1, -1), (1, 0), (1, 1), (2, -1)]
    free = values(p, states, CubeContext(away), x)
    assert values(p, states, CubeContext(away, max_cube=128), x) == free
    top = values(p, states, CubeContext(away, max_cube=2), x)
    dead = values(p, states, CubeContext(away), 0.0)
    assert top[3] == pytest.approx(dead[3], abs=1e-12)
    assert values(p, states, CubeContext(away, max_cube=1), x) == pytest.approx(dead, abs=1e-12)
    for within in ((2, 4), (4, 2), (3, 4), (4, 4)):  # four points settle these matches, so who takes may still redouble
        assert values(p, states, CubeContext(within, max_cube=4), x) == values(p, states, CubeContext(within), x)
    # the last cube: who is doubled has a dead cube, so his borderline is where the doubled game is worth the pass
    match = twin_match(away, False)
    if away != (2, 2) and 0.01 < p[0] < 0.99:
        passed, best, worst = match.after(1, True), match.mean(p, 2, True), match.mean(p, 2, False)
        cash = (worst - passed) / (worst - best)
        at = (cash, *(share * cash / p[0] for share in p[1:3]), *(share * (1 - cash) / (1 - p[0]) for share in p[3:]))
        if 0.01 < cash < 0.99:
            assert values(at, [(1, 1)], CubeContext(away, max_cube=2), 1.0) == pytest.approx([passed], abs=1e-9)


# Settling


@given(st.floats(-3, 3), st.floats(-6, 6), st.floats(-2, 2))
def test_settle(no_double: float, taken: float, passed: float) -> None:
    want = min(taken, passed) if taken >= no_double and passed >= no_double else no_double
    assert settle(no_double, taken, passed) == want
    beaver = 2 * taken
    want = min(taken, passed, beaver) if min(taken, beaver) >= no_double and passed >= no_double else no_double
    assert settle(no_double, taken, passed, beaver) == want
    rows = settle(np.full(3, no_double), np.full(3, taken), passed)
    assert rows.shape == (3,) and (rows == settle(no_double, taken, passed)).all()


def test_expand_and_collapse_are_the_decision() -> None:
    """A position's value once the player on roll has decided, per state: what decide() says."""
    from bgnet.cube import decide

    for row in oracle_rows()[::3]:
        state = row["state"]
        context = CubeContext.from_state(state)
        got = decide(from_cumulative(row["probs"]), state)
        node = expand([(state.cube, OWNERS[row["cube_owner"]])], context)
        board = state.position.board[None]
        found = node.collapse(leaf_values(board, from_cumulative([row["probs"]]), node.states, context))
        assert found.shape == (1, 1)
        assert context.to_equity(found[0, 0], state.cube) == pytest.approx(got.best, abs=1e-9)


def test_expanded_states() -> None:
    node = expand([(1, 0), (2, -1), (2, 1), (1, 0)], CubeContext())
    assert node.states.tolist() == [[1, 0], [2, -1], [2, 1], [1, 0], [4, -1]]
    assert node.doubled.tolist() == [1, -1, 4, 1] and node.beavered.tolist() == [-1] * 4
    assert node.passed[[0, 2, 3]].tolist() == [1, 2, 1] and np.isnan(node.passed[1])
    assert node.collapse([0.5, 0.75, 1.9, 0.9, 2.5]).tolist() == [0.75, 0.75, 2.0, 0.9]
    beavers = expand([(1, 0)], CubeContext(beavers=True))
    assert beavers.states.tolist() == [[1, 0], [2, -1], [4, -1]] and beavers.beavered.tolist() == [2]
    assert beavers.collapse([[-0.3, -0.1, -0.2], [-0.1, -0.06, -0.12]]).tolist() == [[-0.2], [-0.1]]
    assert expand([(2, 1)], CubeContext((2, 4))).states.tolist() == [[2, 1]]  # the cube wins the match already
    assert expand([(1, 0)], CubeContext((2, 4))).passed.tolist() == [default_table().pre[1, 4]]
    assert expand([(1, 0)], CubeContext((1, 4))).doubled.tolist() == [-1]
    assert expand([(1, 0)], CubeContext((4, 1), crawford=True)).doubled.tolist() == [-1]
    assert expand([(1, 0)], CubeContext((4, 1))).doubled.tolist() == [1]
    assert expand([(4, 1), (2, 1)], CubeContext(max_cube=4)).doubled.tolist() == [-1, 2]
    assert expand(np.empty((0, 2), dtype=int), CubeContext()).states.shape == (0, 2)


# Efficiencies and exact values


def test_classes_and_efficiencies_of_gnubg() -> None:
    rows = oracle_rows()
    boards = np.array([row["state"].position.board for row in rows])
    names = {"contact": 0, "crashed": 0, "race": 1, "bearoff_one_sided": 2, "bearoff_two_sided": 3}
    assert classes(boards).tolist() == [names[row["class"]] for row in rows]
    x = efficiencies(boards)
    for got, row in zip(x, rows, strict=True):
        assert row["cube_x"] is None or got == pytest.approx(row["cube_x"], abs=1e-6)
    assert efficiencies(boards, EFFICIENCIES["gnubg-1.08"]).max() == 0.8
    assert EFFICIENCIES["gnubg-1.07"] is GNUBG_107


def test_leaf_values_are_exact_in_small_bearoffs() -> None:
    rows = [row for row in oracle_rows() if row["class"] == "bearoff_two_sided"]
    boards = np.array([row["state"].position.board for row in rows])
    outcomes = from_cumulative([row["probs"] for row in rows])
    states = [(1, 0), (2, 1), (4, -1)]
    exact = np.array([two_sided().equities(board) for board in boards])
    want = exact[:, [2, 1, 3]] * [1, 2, 4]
    for chances_given in (outcomes, np.full((len(rows), 6), 1 / 6)):  # whatever the chances say
        assert (leaf_values(boards, chances_given, states, CubeContext(jacoby=True)) == want).all()
    assert (leaf_values(boards, outcomes, states, CubeContext(stakes=(2, 4, 6))) == 2 * want).all()
    assert (exact_values(boards, states, CubeContext(max_cube=64), two_sided()) == want).all()
    capped = exact_values(boards, states, CubeContext(max_cube=32))
    assert np.isnan(capped[:, 2]).all() and (capped[:, :2] == want[:, :2]).all()
    assert np.isnan(exact_values(boards, states, CubeContext((5, 5)))).all()
    x = leaf_efficiencies(boards, outcomes, states, CubeContext((5, 5)))
    assert (x >= 0).all() and (x <= 0.6).all() and len(np.unique(x)) > 5
    assert (leaf_efficiencies(boards, outcomes, states, CubeContext()) == 0.6).all()


def test_mixed_batches() -> None:
    """Positions of all classes together have the values that they have alone."""
    rows = oracle_rows()
    boards = np.array([row["state"].position.board for row in rows])
    outcomes = from_cumulative([row["probs"] for row in rows])
    states = [(1, 0), (2, -1)]
    for context in (CubeContext(), CubeContext((4, 6))):
        whole = leaf_values(boards, outcomes, states, context)
        for i in range(0, 300, 11):
            assert (whole[i] == leaf_values(boards[i : i + 1], outcomes[i : i + 1], states, context)[0]).all()


def test_classes_of_few_checkers() -> None:
    board = np.zeros((1, 26), dtype=np.int8)
    board[0, [1, 24]] = 3, -3
    assert classes(board)[0] == CubeClass.TWO_SIDED and classes(board, 3)[0] == CubeClass.ONE_SIDED
    board[0, 24], board[0, 23] = 0, -4
    assert classes(board, 3 + 4)[0] == CubeClass.TWO_SIDED
    with pytest.raises(BoardError, match="boards"):
        classes(np.zeros((1, 26), dtype=np.int8))


# Contexts


def test_contexts_of_states() -> None:
    money = CubeContext.from_state(money_state(jacoby=True, beavers=True, max_cube=64))
    assert money == CubeContext(jacoby=True, beavers=True, max_cube=64)
    assert money.flipped is money and money.table is None
    context = CubeContext((3, 5))
    assert context.flipped.away == (5, 3) and context.flipped.flipped is context
    assert context.table is default_table() and context.levels is context.levels
    assert (context.won(1), context.lost(2)) == (default_table().pre[2, 5], default_table().pre[3, 3])
    assert (context.won(4), context.won(64), context.lost(64)) == (1.0, 1.0, 0.0)
    assert (money.won(4), money.lost(4)) == (4.0, -4.0)


@given(away=aways, exponent=st.integers(0, 4), value=st.floats(0, 1))
def test_equity_and_back(away: tuple[int, int], exponent: int, value: float) -> None:
    context = CubeContext(away)
    cube = 1 << exponent
    assert context.from_equity(context.to_equity(value, cube), cube) == pytest.approx(value, abs=1e-9)
    assert context.to_equity([context.won(cube), context.lost(cube)], cube) == pytest.approx([1, -1])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"away": (0, 3)}, "at least 1"),
        ({"away": (3,)}, "two whole numbers"),
        ({"away": (2.5, 3)}, "whole"),
        ({"crawford": True}, "matches"),
        ({"away": (3, 5), "crawford": True}, "one point"),
        ({"away": (3, 5), "jacoby": True}, "money play"),
        ({"away": (3, 5), "beavers": True}, "money play"),
        ({"max_cube": 3}, "power of two"),
        ({"max_cube": 0}, "power of two"),
        ({"stakes": (1, 3, 2)}, "not fall"),
        ({"stakes": (0, 1, 2)}, "positive"),
    ],
)
def test_wrong_contexts(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(CubeError, match=message):
        CubeContext(**fields)


def test_wrong_arrays() -> None:
    context, good = CubeContext(), np.full((2, 6), 1 / 6)
    for states in ([], [1, 0], [(1, 0, 0)]):
        with pytest.raises(CubeError, match="states"):
            cubeful_values(good, states, context, 0.5)
        with pytest.raises(CubeError, match="states"):
            expand(states, context)
    for outcomes in (good[0], good[:, :5]):
        with pytest.raises(CubeError, match="outcomes"):
            cubeful_values(outcomes, [(1, 0)], context, 0.5)
    with pytest.raises(CubeError, match="efficiencies of shape"):
        cubeful_values(good, [(1, 0)], context, np.zeros(3))
    for pair in ((3, 0), (0, 0), (2, 2)):
        with pytest.raises(CubeError):
            context.states([pair])
    assert context.states([]).shape == (0, 2)
    with pytest.raises(CubeError, match="no score"):
        _ = context.levels


def test_levels_of_every_score_end_in_a_dead_cube() -> None:
    table = default_table()
    for a, b in product(range(1, 26), repeat=2):
        levels = levels_of(table.pre, table.post, (a, b))
        assert levels.dead[-1] and (levels.after[-1] == [1, 1, 1, 0, 0, 0]).all()
        assert not levels.dead[:-1].any() or (a, b) == (2, 2)
        assert (levels.ends[-2:] >= 0).all()
        assert (np.diff(levels.after[:, :3], axis=1) >= 0).all() and (np.diff(levels.after[:, 3:], axis=1) <= 0).all()


def test_positions_and_outcomes_round_trip() -> None:
    """What the tests above lean on: the conversion of chances is the engine's."""
    p = oracle_rows()[0]["probs"]
    assert to_cumulative(from_cumulative(p)) == pytest.approx(p)
    assert Position.from_position_id(oracle_rows()[0]["position_id"]) == oracle_rows()[0]["state"].position
