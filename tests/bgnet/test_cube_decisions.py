"""What a cube decision says: values, costs, labels; pending doubles; other stakes and tables; bad input."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bgnet.cube import (
    CubeAction,
    CubeError,
    Efficiencies,
    decide,
    decision_from_values,
    should_beaver,
    should_double,
    should_take,
)
from bgnet.match_equity import MatchEquityError, MatchEquityTable
from engine import GameState, Position
from engine.outcomes import from_cumulative
from tests.cube_states import EVEN, OWNERS, judged, match_state, money_state, near, oracle_rows

# What a decision says


def test_values_and_costs_hang_together() -> None:
    for row in oracle_rows():
        got = decide(from_cumulative(row["probs"]), row["state"])
        assert got.costs.no_double >= 0 and got.best == near(got.no_double + got.costs.no_double, 1e-12)
        if not got.available:
            assert got.costs[1:] == (None, None, None, None) and got.costs.no_double == 0
            continue
        assert got.double_take is not None and got.costs.double is not None
        assert got.costs.take is not None and got.costs.pass_ is not None
        assert min(got.costs.no_double, got.costs.double) == 0 == min(got.costs.take, got.costs.pass_)
        assert (got.costs.take == 0) == (got.double_take <= 1.0)
        assert got.costs.double == near(got.best - min(got.double_take, 1.0), 1e-12)
        if not row["close"]:
            assert should_double(got) == got.label.startswith(("Double", "Redouble"))
            assert should_take(got) == got.label.endswith("take")
        if got.mwc is not None:
            assert got.mwc.best == near(float(got.context.from_equity(got.best, got.state.cube)), 1e-12)
            won, lost = got.context.won(got.state.cube), got.context.lost(got.state.cube)
            assert got.mwc.double_pass == near(won, 1e-12)
            assert got.no_double == near((2 * got.mwc.no_double - won - lost) / (won - lost), 1e-9)


def test_wrong_answers_needed() -> None:
    early = judged("B", money_state())
    assert early.wrong_answers_needed == near((0.3576 - 0.2396) / (1 - 0.2396), 2e-4)
    assert judged("F", money_state()).wrong_answers_needed is None  # to double is right
    good = judged("I", match_state((2, 4)))  # too good, take: even a wrong pass gives less
    assert good.wrong_answers_needed is None
    cashable = judged("C", money_state())  # too good, pass: made good by wrong takes
    assert cashable.wrong_answers_needed == near((1.7385 - 1) / (3.3503 - 1), 1e-4)
    beavered = judged("E", money_state(beavers=True))
    assert beavered.beaver is not None
    share = beavered.wrong_answers_needed
    assert share is not None and share * 1 + (1 - share) * beavered.beaver == near(beavered.no_double, 1e-9)


def test_as_dict_is_json() -> None:
    keys = {
        "no_double", "double_take", "double_pass", "beaver", "best", "cubeless", "action", "label", "costs", "mwc",
        "wrong_answers_needed", "take_point", "double_point", "redouble_point", "cash_point", "beaver_point",
        "too_good_point", "outcomes", "chances", "efficiency",
    }  # fmt: skip
    for got in (
        judged("F", money_state(jacoby=True)),
        judged("I", match_state((2, 4))),
        judged("B", money_state(owner=-1)),
    ):
        value = json.loads(json.dumps(got.as_dict(), allow_nan=False))
        assert value.keys() == keys
        assert value["action"] == got.action.value and value["costs"].keys() == {
            "no_double", "double", "take", "pass", "beaver",
        }  # fmt: skip
        assert value["chances"].keys() == {"win", "gammon_win", "backgammon_win", "gammon_loss", "backgammon_loss"}
        assert sum(value["outcomes"]) == pytest.approx(1)
    assert judged("F", money_state()).as_dict()["chances"]["win"] == pytest.approx(0.701945)


def test_labels_of_every_action() -> None:
    from bgnet.cube_actions import action_label

    labels = {action_label(action, "redouble" in action.value) for action in CubeAction}
    assert len(labels) == len(CubeAction)
    for label in ("Optional redouble, beaver", "No redouble, beaver", "Too good to redouble, take", "Double, beaver"):
        assert label in labels


def test_optional_and_certain_decisions() -> None:
    state = money_state()

    def action(no_double: float, taken: float, outcomes: Any = EVEN, **rules: Any) -> CubeAction:
        changed = replace(state, **rules)
        context = decide(outcomes, changed).context
        return decision_from_values(changed, context, np.array(outcomes), [no_double, taken]).action

    lost = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0)
    assert action(0.5, 0.500005) is CubeAction.OPTIONAL_DOUBLE_TAKE
    assert action(0.5, 0.50002) is CubeAction.DOUBLE_TAKE
    assert action(0.99999, 1.2) is CubeAction.OPTIONAL_DOUBLE_PASS
    assert action(0.99999, 1.2, jacoby=True) is CubeAction.DOUBLE_PASS
    assert action(0.99999, 1.2, outcomes=(0.9, 0, 0, 0.1, 0, 0)) is CubeAction.DOUBLE_PASS
    assert action(0.5, 1.0) is CubeAction.DOUBLE_PASS  # equal values are a pass
    assert action(1.1, 1.05, outcomes=(0.9, 0, 0, 0.1, 0, 0)) is CubeAction.DOUBLE_PASS
    assert action(1.1, 0.9, outcomes=(0.9, 0, 0, 0.1, 0, 0)) is CubeAction.NO_DOUBLE_TAKE
    assert action(-1.0, -1.0, outcomes=lost) is CubeAction.NO_DOUBLE_TAKE
    assert action(-0.1, -0.05) is CubeAction.DOUBLE_TAKE
    assert action(-0.1, -0.05, beavers=True) is CubeAction.DOUBLE_BEAVER
    assert action(-0.050005, -0.05, beavers=True) is CubeAction.NO_DOUBLE_BEAVER
    assert action(-0.000005, -0.000001, beavers=True) is CubeAction.OPTIONAL_DOUBLE_BEAVER
    assert not CubeAction.OPTIONAL_DOUBLE_TAKE.doubles and not CubeAction.NO_DOUBLE_TAKE.doubles


def test_the_seat_does_not_matter() -> None:
    for row in oracle_rows()[:60]:
        state = row["state"]
        owner = None if state.owner is None else 1 - state.owner
        turned = replace(state, on_roll=1 - state.on_roll, owner=owner, score=state.score[::-1])
        first, second = (decide(from_cumulative(row["probs"]), s) for s in (state, turned))
        assert (first.no_double, first.double_take, first.label) == (second.no_double, second.double_take, second.label)
        assert state.cube_owner == OWNERS[row["cube_owner"]]


def test_another_table() -> None:
    table = MatchEquityTable.from_rates(7)
    got, default = (judged("B", match_state((5, 3), owner=1), table=t) for t in (table, None))
    assert got.context.table is table and got.no_double != default.no_double
    assert got.no_double == near(default.no_double, 0.05)
    assert judged("B", money_state(), table=table).context.table is None


def test_long_matches() -> None:
    near_money = judged("B", match_state((64, 64)))
    assert near_money.no_double == near(judged("B", money_state()).no_double, 0.05)
    with pytest.raises(MatchEquityError, match="65 points away"):
        judged("B", match_state((65, 3)))
    assert judged("B", match_state((5, 3), length=500)).no_double == judged("B", match_state((5, 3))).no_double


def test_other_stakes() -> None:
    """Every win counts the same: as if there were no gammons. Twice the points: the same equities."""
    gammons, plain = [0.3, 0.2, 0.1, 0.3, 0.1, 0.0], [0.6, 0.0, 0.0, 0.4, 0.0, 0.0]
    same = money_state(stakes=(1, 1, 1))
    assert decide(gammons, same).no_double == near(decide(plain, money_state()).no_double, 1e-12)
    twice, once = decide(gammons, money_state(stakes=(2, 4, 6))), decide(gammons, money_state())
    assert (twice.no_double, twice.double_take) == (near(once.no_double, 1e-12), near(once.double_take, 1e-12))
    assert twice.context.won(2) == 4.0
    no_cube = decide(gammons, money_state(stakes=(1, 1, 1), max_cube=1))
    assert no_cube.no_double == near(0.2, 1e-12) and no_cube.action is CubeAction.NOT_AVAILABLE
    in_match = decide(gammons, match_state((6, 6), stakes=(2, 4, 6)))
    assert in_match.mwc is not None and in_match.mwc.double_pass == in_match.context.table.pre[4, 6]  # type: ignore[union-attr]


# The receiver's decision


def test_a_pending_double_is_the_receivers_decision() -> None:
    before = judged("F", money_state(jacoby=True))
    pending = judged("F", money_state(jacoby=True, doubled=True))
    assert (pending.no_double, pending.double_take, pending.action) == (
        before.no_double, before.double_take, before.action,
    )  # fmt: skip
    assert pending.best == pending.double_take and not should_double(pending) and should_take(pending)
    assert pending.costs == before.costs and pending.costs.pass_ == near(1 - 0.6839, 6e-5)
    early = judged("B", money_state(doubled=True))  # a wrong double is answered as well as a right one
    assert early.best == early.double_take and early.costs.take == 0
    passed = judged("G", money_state(owner=1, doubled=True))
    assert passed.best == 1.0 and not should_take(passed) and passed.costs.take == near(0.5105, 6e-5)


def test_a_pointless_double_is_taken() -> None:
    """The leader doubles after the Crawford game."""
    state = match_state((1, 3), doubled=True)
    got = judged("B", state)
    assert got.action is CubeAction.DEAD_CUBE and got.double_take is not None
    assert should_take(got) and got.costs.double is not None and got.costs.double > 0
    with pytest.raises(CubeError, match="no double to answer"):
        should_take(judged("B", replace(state, doubled=False)))


def test_beavers_near_the_highest_cube() -> None:
    free = judged("E", money_state(beavers=True))
    assert free.double_take is not None and free.beaver == 2 * free.double_take
    dead = judged("E", money_state(beavers=True, max_cube=4))  # a beaver takes it to the highest face
    assert dead.beaver == near(4 * dead.cubeless, 1e-12)
    none = judged("E", money_state(beavers=True, max_cube=2))
    assert none.beaver is None and none.double_take == near(2 * none.cubeless, 1e-12)
    assert none.action is CubeAction.NO_DOUBLE_TAKE and not should_beaver(none)


# Bad input


@pytest.mark.parametrize(
    ("outcomes", "message"),
    [
        ([0.5, 0.1, 0, 0.4, 0.1, 0], "sum to 1, not to 1.1"),
        ([0.5, 0, 0, 0.4, 0, 0], "sum to 1, not to 0.9"),
        ([0.6, -0.1, 0, 0.5, 0, 0], "negative"),
        ([float("nan"), 0, 0, 1, 0, 0], "finite"),
        ([float("inf"), 0, 0, 0, 0, 0], "finite"),
        ([0.5, 0.1, 0.0, 0.1, 0.0], "from_cumulative"),
        ([[0.5, 0, 0, 0.5, 0, 0]], r"shape \(6,\), not \(1, 6\)"),
        (0.5, "six"),
        ("half", "six numbers"),
        ([0.5, None, 0, 0.5, 0, 0], "six numbers|finite"),
        (["a"] * 6, "six numbers"),
    ],
)
def test_wrong_outcomes(outcomes: Any, message: str) -> None:
    with pytest.raises(CubeError, match=message):
        decide(outcomes, money_state())


def test_outcomes_may_be_a_hair_off() -> None:
    got = decide(np.array([0.5, -1e-6, 0, 0.50004, 0, 0], dtype=np.float32), money_state())
    assert got.outcomes.sum() == pytest.approx(1, abs=1e-12) and got.outcomes.min() == 0
    assert got.outcomes.dtype == np.float64 and not got.outcomes.flags.writeable


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dice": (3, 1)}, "the dice show 3-1"),
        ({"resigned": 1}, "resignation"),
        ({"game_state": 2}, "over"),
        ({"game_state": 4}, "over"),
        ({"match_length": 7, "score": (7, 3), "game_state": 0}, "the match to 7 is over at 7-3"),
    ],
)
def test_wrong_states(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CubeError, match=message):
        decide(EVEN, replace(money_state(), **changes))


def test_finished_boards_and_other_things() -> None:
    board = np.zeros(26, dtype=np.int8)
    board[3] = 2
    for position in (Position(board), Position(board).flipped()):
        with pytest.raises(CubeError, match="over"):
            decide(EVEN, GameState(position))
    with pytest.raises(CubeError, match="GameState, not str"):
        decide(EVEN, "money")  # type: ignore[arg-type]
    with pytest.raises(CubeError, match="MatchEquityTable, not str"):
        decide(EVEN, match_state((3, 5)), table="kazaross")  # type: ignore[arg-type]
    with pytest.raises(CubeError, match="give its outcomes"):
        decide(None, money_state())


@pytest.mark.parametrize("efficiency", [-0.1, 1.1, float("nan"), "gnubg", True, [0.5]])
def test_wrong_efficiencies(efficiency: Any) -> None:
    with pytest.raises(CubeError, match="efficiency"):
        decide(EVEN, money_state(), efficiency=efficiency)


@pytest.mark.parametrize(
    "wrong", [{"contact": 1.2}, {"one_sided": -0.1}, {"race_low": 0.8}, {"two_sided": float("nan")}]
)
def test_wrong_efficiency_tables(wrong: dict[str, float]) -> None:
    with pytest.raises(CubeError):
        Efficiencies(**wrong)


def test_one_sided_bearoffs_know_their_chances() -> None:
    board = np.zeros(26, dtype=np.int8)
    board[[2, 4, 6]] = 5
    board[[23, 21, 19]] = -5
    got = decide(None, money_state(Position(board)))
    assert got.efficiency == 0.6
    assert 0.5 < got.outcomes[:3].sum() < 0.75 and got.outcomes.sum() == pytest.approx(1)
