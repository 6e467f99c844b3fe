"""The doubling window: closed forms, the values at its points, where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bgnet.cube import decide
from bgnet.cube_context import CubeContext
from bgnet.cube_points import CubePoints, cube_points
from bgnet.cube_values import cubeful_values
from tests.cube_states import VECTORS, match_state, money_state

PLAIN = [0.5, 0, 0, 0.5, 0, 0]


@pytest.mark.parametrize(
    ("x", "take", "beaver", "double", "redouble", "cash"),
    [
        (0.0, 0.25, 0.5, 0.5, 0.5, 0.75),
        (0.6, 0.21739, 0.56522, 0.66667, 0.69565, 0.78261),
        (0.68, 0.21368, 0.57265, 0.69173, 0.71795, 0.78632),
        (1.0, 0.20, 0.60, 0.80, 0.80, 0.80),
    ],
)
def test_janowski_without_gammons(
    x: float, take: float, beaver: float, double: float, redouble: float, cash: float
) -> None:
    got = cube_points(PLAIN, CubeContext(beavers=True), 1, 0, x)
    assert got == CubePoints(*(pytest.approx(v, abs=6e-6) for v in (take, double, redouble, cash, beaver)), None)


@given(
    win=st.floats(1, 2),
    loss=st.floats(1, 2),
    w=st.floats(0.05, 0.95),
    x=st.floats(0, 0.95),
    cube=st.sampled_from([1, 4]),
)
def test_janowski_with_gammons(win: float, loss: float, w: float, x: float, cube: int) -> None:
    """W and L points a win and a loss; initial double: linear, without the Jacoby rule."""
    outcomes = [w * (2 - win), w * (win - 1), 0, (1 - w) * (2 - loss), (1 - w) * (loss - 1), 0]
    got = cube_points(outcomes, CubeContext(beavers=True), cube, 0, x)
    span = win + loss + x / 2
    double = ((1 - x) * loss + 4 * x / 3 * (loss + 0.25) - 2 * loss - x) / (
        (1 - x) * (win + loss) + 4 * x / 3 * (win + loss + 0.5) - 2 * span
    )
    want = {
        "take": (loss - 0.5) / span,
        "double": double,
        "redouble": (loss + x) / span,
        "cash": (loss + 0.5 + x / 2) / span,
        "beaver": (loss + x / 2) / span,
    }
    for name, point in want.items():
        assert getattr(got, name) == pytest.approx(point, abs=1e-6), name


def test_market_window_of_gnubg() -> None:
    """`show marketwindow` of 1.07.001 for W = 1.3648, L = 1.1165, dead and fully live."""
    w = 0.6
    outcomes = [w * 0.6352, w * 0.3648, 0, 0.4 * 0.8835, 0.4 * 0.1165, 0]
    dead = cube_points(outcomes, CubeContext(), 2, 1, 0.0)
    live = cube_points(outcomes, CubeContext(), 2, 1, 1.0)
    assert (dead.take, dead.cash) == (pytest.approx(0.24846, abs=2e-5), pytest.approx(0.65148, abs=2e-5))
    assert (live.take, live.cash) == (pytest.approx(0.20679, abs=2e-5), pytest.approx(0.70993, abs=2e-5))
    assert dead.too_good == pytest.approx((1.1165 + 1) / (1.3648 + 1.1165), abs=1e-6)
    assert dead.too_good == pytest.approx(0.85298, abs=2e-5)


contexts = st.one_of(
    st.builds(lambda jacoby: CubeContext(jacoby=jacoby, beavers=True), st.booleans()),
    st.builds(lambda a, b: CubeContext((a, b)), st.integers(1, 12), st.integers(1, 12)),
)


@given(
    context=contexts,
    owner=st.sampled_from([0, 1, -1]),
    win=st.floats(0, 0.6),
    loss=st.floats(0, 0.6),
    x=st.floats(0, 1),
)
def test_values_at_the_points(context: CubeContext, owner: int, win: float, loss: float, x: float) -> None:
    """At each point the two branches that it lies between are worth the same, and before it the gain is negative."""
    cube = 1 if owner == 0 else 2
    got = cube_points([0.5 - win / 2, win / 2, 0, 0.5 - loss / 2, loss / 2, 0], context, cube, owner, x)

    def worth(w: float, cube: int, owner: int) -> float:
        outcomes = [[w * (1 - win), w * win, 0, (1 - w) * (1 - loss), (1 - w) * loss, 0]]
        return float(cubeful_values(outcomes, [(cube, owner)], context, x)[0, 0])

    gains = {
        "take": lambda w: worth(w, 2 * cube, 1) - context.lost(cube),
        "double": lambda w: worth(w, 2 * cube, -1) - worth(w, cube, 0),
        "redouble": lambda w: worth(w, 2 * cube, -1) - worth(w, cube, 1),
        "cash": lambda w: worth(w, 2 * cube, -1) - context.won(cube),
        "beaver": lambda w: worth(w, 2 * cube, -1),
        "too_good": lambda w: worth(w, cube, owner) - context.won(cube),
    }
    for name, gain in gains.items():
        point = getattr(got, name)
        if point is None:
            continue
        assert 0 <= point <= 1
        if point > 1e-6:
            assert gain(point) == pytest.approx(0, abs=1e-6), name
            assert gain(point - 1e-6) <= 1e-9, name
            assert gain(point / 2) <= 1e-9, name
        else:
            assert gain(0.0) >= -1e-9, name
    if context.may_double(cube, owner):
        assert got.redouble is None or got.cash is None or got.redouble <= got.cash + 1e-9 or context.away is not None
    else:
        assert got.cash is got.too_good is got.beaver is None


def test_where_there_is_no_point() -> None:
    match = cube_points(PLAIN, CubeContext((5, 7)), 1, 0, 0.68)
    assert None not in (match.take, match.double, match.redouble, match.cash)
    assert match.beaver is None and match.too_good is None  # no beavers in matches, no gammons here
    crawford = cube_points(PLAIN, CubeContext((3, 1), crawford=True), 1, 0, 0.68)
    assert set(crawford) == {None}
    leader = cube_points(PLAIN, CubeContext((1, 3)), 1, 0, 0.68)
    assert leader.double is leader.redouble is leader.cash is None and leader.take is not None
    trailer = cube_points(PLAIN, CubeContext((3, 1)), 1, 0, 0.68)
    assert trailer.double == trailer.redouble == 0.0 and trailer.take is None  # he doubles with any chance
    jacoby = cube_points([0.3, 0.6, 0, 0.1, 0, 0], CubeContext(jacoby=True), 1, 0, 0.68)
    assert jacoby.too_good is None
    assert cube_points([0.3, 0.6, 0, 0.1, 0, 0], CubeContext(), 1, 0, 0.68).too_good is not None
    top = cube_points(PLAIN, CubeContext(max_cube=2), 2, 1, 0.68)
    assert set(top) == {None}
    one_sided = cube_points([0, 0, 0, 1, 0, 0], CubeContext(), 1, 0, 0.68)  # never wins: single games are assumed
    assert one_sided == cube_points(PLAIN, CubeContext(), 1, 0, 0.68)


def test_the_window_of_a_decision() -> None:
    """Position F: doubles from .670, is passed from .766, takes from .221 himself."""
    vector = VECTORS["F"]
    w, wg, wb, lg, lb = vector.chances
    outcomes = [w - wg, wg - wb, wb, 1 - w - lg, lg - lb, lb]
    got = decide(outcomes, money_state(vector.position_id, jacoby=True))
    assert (got.double_point, got.cash_point, got.take_point) == (
        pytest.approx(0.66982, abs=1e-5), pytest.approx(0.76622, abs=1e-5), pytest.approx(0.22136, abs=1e-5),
    )  # fmt: skip
    assert got.redouble_point == pytest.approx(0.70116, abs=1e-5) and got.points.double == got.double_point
    owned = decide(outcomes, money_state(vector.position_id, 1))
    assert owned.double_point == owned.redouble_point == pytest.approx(got.redouble_point, abs=1e-9)
    theirs = decide(outcomes, money_state(vector.position_id, -1))
    assert theirs.double_point is theirs.cash_point is theirs.too_good_point is theirs.beaver_point is None
    assert theirs.take_point == pytest.approx(got.take_point, abs=1e-9)


def test_actions_change_at_the_points() -> None:
    """Along the axis: no double, double/take, double/pass, too good, at the window's own borders."""
    share = np.array([0.5, 0.5, 0, 1, 0, 0])

    def judged(w: float):
        return decide(share * [w, w, w, 1 - w, 1 - w, 1 - w], match_state((5, 7)))

    middle = judged(0.5)
    double, cash, good = middle.double_point, middle.cash_point, middle.too_good_point
    assert double is not None and cash is not None and good is not None
    assert 0 < double < cash < good < 1
    for below, border, above in (
        ("no_double_take", double, "double_take"),
        ("double_take", cash, "double_pass"),
        ("double_pass", good, "too_good_pass"),
    ):
        assert (judged(border - 1e-4).action, judged(border + 1e-4).action) == (below, above)


def test_small_bearoffs_have_a_window_by_formula() -> None:
    board = np.zeros(26, dtype=np.int8)
    board[[1, 2, 3]] = 1
    board[[24, 23, 22]] = -1
    from engine import Position

    got = decide(None, money_state(Position(board)))
    assert got.efficiency is None
    assert got.points == cube_points(got.outcomes, got.context, 1, 0, 0.6)
