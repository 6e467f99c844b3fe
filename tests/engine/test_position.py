"""Position: a small value, its flaws, its views; the one conversion of outcomes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import START, ArrayError, BoardError, Flaw, Position, outcomes
from engine.rules import PRESETS, RuleSet, match

counts = st.lists(st.integers(-127, 127), min_size=26, max_size=26)


@given(counts)
def test_value_semantics(points: list[int]) -> None:
    position = Position(points)
    assert position == Position(points) == eval(repr(position)) == pickle.loads(pickle.dumps(position))
    assert hash(position) == hash(Position(points))
    assert position.flipped().flipped() == position
    assert position.pips == position.flipped().pips[::-1]
    assert position.board.dtype == np.int8
    assert position != points


def test_immutable() -> None:
    with pytest.raises(ValueError, match="read-only"):
        START.board[6] = 4
    with pytest.raises(ValueError, match="WRITEABLE"):
        START.board.flags.writeable = True
    with pytest.raises(AttributeError):
        START.board = START.board  # type: ignore[misc]
    with pytest.raises(AttributeError):
        START.note = "no"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "points",
    [[0] * 25, [0] * 27, [0.5] * 26, "4HPwATDgc/ABMA", None, [[0] * 26], ["0"] * 26, [128] * 26, [-128] * 26,
     np.full(26, -128, np.int8), [None] * 26, [10**30] * 26],
    ids=str,
)  # fmt: skip
def test_what_is_no_board(points: object) -> None:
    with pytest.raises(BoardError):
        Position(points)  # type: ignore[arg-type]


def test_flaws_name_everything_at_once() -> None:
    bad = [1, *[-1] * 12, *[1] * 12, -4]
    bad[3], bad[20] = -9, 9
    assert Position(bad).flaws() == (
        Flaw.TOO_MANY_OWN | Flaw.TOO_MANY_OPPONENT | Flaw.WRONG_OWN_BAR | Flaw.WRONG_OPPONENT_BAR
    )
    assert Position([0] * 26).flaws() == Flaw.NO_CHECKERS
    assert START.flaws() == Flaw.NONE
    assert START.flaws(checkers=3) == Flaw.TOO_MANY_OWN | Flaw.TOO_MANY_OPPONENT


def test_start() -> None:
    assert START.pips == (167, 167)
    assert START.flipped() == START
    assert START.ending() is None
    assert START.position_id == "4HPwATDgc/ABMA"


simplex = st.lists(st.floats(0, 1), min_size=6, max_size=6).filter(lambda x: sum(x) > 0.01)


@given(simplex)
def test_outcome_conversions(raw: list[float]) -> None:
    six = np.array(raw) / sum(raw)
    assert np.abs(outcomes.from_cumulative(outcomes.to_cumulative(six)) - six).max() < 1e-12
    assert (outcomes.swap(outcomes.swap(six)) == six).all()
    five, turned = outcomes.to_cumulative(six), outcomes.to_cumulative(outcomes.swap(six))
    assert np.allclose(turned, [1 - five[0], five[3], five[4], five[1], five[2]])
    for rules in PRESETS.values():
        assert np.isclose(outcomes.swap(six) @ rules.payoff, -(six @ rules.payoff), atol=1e-6)


@pytest.mark.parametrize("function", [outcomes.swap, outcomes.to_cumulative, outcomes.from_cumulative])
@pytest.mark.parametrize("value", [np.zeros((2, 4)), np.zeros(()), []])
def test_outcomes_of_another_shape(function, value) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ArrayError, match="on the last axis"):
        function(value)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"checkers": 0}, "checkers"),
        ({"checkers": 16}, "checkers"),
        ({"stakes": (0.0, 1.0, 1.0)}, "stakes"),
        ({"stakes": (2.0, 1.0, 1.0)}, "stakes"),
        ({"max_cube": 3}, "power of two"),
        ({"match_length": -1}, "match_length"),
        ({"match_length": 5, "jacoby": True}, "money play"),
        ({"checkers": 2.5}, "whole number"),
        ({"match_length": True}, "whole number"),
    ],
)
def test_rules_that_cannot_be(settings: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        RuleSet("x", **settings)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1 point"):
        match(0)
