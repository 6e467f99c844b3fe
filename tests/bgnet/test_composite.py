"""The composite: exact where tables know, possible elsewhere, the wrapped Evaluator otherwise untouched."""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
from functools import cache
from typing import Any

import numpy as np
import pytest

from bgnet.composite import Composite
from bgnet.possible import NEVER, Needs, needs
from engine import ArrayError, BoardError, legal_afterstates, outcomes
from engine.bearoff import ONE_SIDED_MOST, one_sided, race_outcome, two_sided
from engine.board import is_race
from engine.homeboard import home_indices
from tests import oracle
from tests.bgnet.nets import random_net, some_positions
from tests.boards import DATA, array, board

UNSURE = [0.3, 0.2, 0.1, 0.15, 0.15, 0.1]


class Unsure:
    """Says the same of every position, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[np.ndarray] = []

    def outcomes(self, boards: np.ndarray) -> np.ndarray:
        self.asked.append(boards)
        return np.tile(np.array(UNSURE, np.float32), (len(boards), 1))


def case(name: str) -> dict[str, Any]:
    lines = (DATA / "cases_endings.jsonl").read_text(encoding="utf-8").splitlines()
    return next(found for found in map(json.loads, lines) if found["id"] == name)


def judged(position: Any) -> np.ndarray:
    """A Composite over Unsure on one board."""
    return Composite(Unsure()).outcomes(array(position))[0]


def race_boards(count: int, seed: int) -> np.ndarray:
    """int8[count, 26]: races of 1 to 15 checkers a side, some of them home, none finished."""
    rng = random.Random(seed)
    boards = []
    while len(boards) < count:
        row = [0] * 26
        split = rng.randint(1, 23)  # own checkers up to here, the opponent's above
        for side, places in ((1, range(1, split + 1)), (-1, range(split + 1, 25))):
            for _ in range(rng.choice([1, 3, 8, 14, 15, 15])):
                row[rng.choice(places)] += side
        boards.append(row)
    return array([tuple(row) for row in boards])


# Cases


def test_a_side_with_a_checker_off_loses_no_gammon_and_the_race_is_decided() -> None:
    given = case("ev-001")
    assert judged(given["input"]["board"]).tolist() == [1, 0, 0, 0, 0, 0]
    reverse = oracle.turned(tuple(given["input"]["board"]))
    # with him on roll six times 6-6 against six times 2-1 would still win
    assert judged(reverse) == pytest.approx([0.6, 0, 0, 0.4, 0, 0], abs=1e-6)


def test_the_same_position_with_the_checker_on_the_bar_is_left_to_the_network() -> None:
    # the opponent has not borne off any, but who is on roll has
    assert judged(case("ev-002")["input"]["board"]) == pytest.approx([0.3, 0.2, 0.1, 0.4, 0, 0])


def test_finished_games() -> None:
    given = case("ev-007")
    unsure = Unsure()
    got = Composite(unsure).outcomes(array([tuple(b) for b in given["input"]["boards"]]))
    assert outcomes.to_cumulative(got).tolist() == given["expect"]["outputs"]
    assert (got @ [1, 2, 3, -1, -2, -3]).tolist() == given["expect"]["equity"]
    assert not unsure.asked


@pytest.mark.parametrize("name", ["bo-006", "bo-007", "bo-009"])
def test_bearoff_cases(name: str) -> None:
    given = case(name)
    got = outcomes.to_cumulative(judged(given["input"]["board"]))
    want = given["expect"]
    assert got[0] == pytest.approx(want["win"], abs=1e-6)
    assert got[1:3] == pytest.approx([want.get("gammon", 0), want.get("backgammon", 0)], abs=1e-6)
    assert not got[3:].any()


# Tables


def test_two_sided_boards_have_the_tables_chance() -> None:
    own, opponent = {6: 3, 5: 1, 1: 2}, {19: 2, 21: 4}
    position = board(own, opponent)
    win = (two_sided().equities(np.array(position, dtype=np.int8))[0] + 1) / 2
    assert judged(position) == pytest.approx([win, 0, 0, 1 - win, 0, 0], abs=1e-7)


def test_one_sided_boards_have_the_distributions_chances() -> None:
    position = board({6: 15}, {24: 4, 23: 3})
    assert judged(position) == pytest.approx(race_outcome((0, 0, 0, 0, 0, 15), (4, 3, 0, 0, 0, 0)), abs=1e-7)
    assert judged(position)[4] > 0.001


def test_hypergammon_counts_three_checkers() -> None:
    position = array(board({1: 1}, {19: 3}))
    assert Composite(random_net([16], checkers=3)).outcomes(position)[0].tolist() == [0, 1, 0, 0, 0, 0]
    assert Composite(Unsure(), checkers=3).outcomes(position)[0].tolist() == [0, 1, 0, 0, 0, 0]
    assert Composite(Unsure()).outcomes(position)[0].tolist() == [1, 0, 0, 0, 0, 0]


# What is possible


@pytest.mark.parametrize(
    ("position", "want"),
    [
        # Contact, nobody has borne off: nothing is changed.
        (oracle.START, UNSURE),
        # Contact, one side or the other has borne off a checker.
        (board({24: 1, 6: 13}, {1: 2, 19: 13}), [0.3, 0.2, 0.1, 0.4, 0, 0]),
        (board({24: 1, 6: 14}, {1: 2, 19: 12}), [0.6, 0, 0, 0.15, 0.15, 0.1]),
        # A long race: no checker in the other's home board, so no backgammon.
        (board({7: 15}, {18: 15}), [0.3, 0.3, 0, 0.15, 0.25, 0]),
        # I cannot lose. Two of his checkers in my home board, and I need 2 to 4 rolls: he may get them out, and home.
        (board({2: 8}, {3: 2, 19: 13}), [0.3 / 0.6, 0.2 / 0.6, 0.1 / 0.6, 0, 0, 0]),
        # One checker there that needs two rolls at most, while I need four at least; and I save my gammon.
        (board({2: 15}, {3: 1, 19: 14}), [0.3, 0.3, 0, 0.4, 0, 0]),
        # I am off with this roll. He has a checker in my home board, or only outside his.
        (board({1: 2}, {5: 1, 18: 14}), [0, 0, 1, 0, 0, 0]),
        (board({1: 2}, {7: 1, 19: 14}), [0, 1, 0, 0, 0, 0]),
        (board({1: 2}, {7: 1, 19: 13}), [1, 0, 0, 0, 0, 0]),
        # I have one roll before he is off: five checkers cannot leave his home board, one can; none can be borne off.
        (board({23: 5, 7: 10}, {24: 2}), [0, 0, 0, 0, 0, 1]),
        (board({20: 1, 7: 14}, {24: 2}), [0, 0, 0, 0, 1, 0]),
        (board({18: 15}, {24: 2}), [0, 0, 0, 0, 1, 0]),
        # I am off in two rolls at most; in one he cannot come home, but at times leave my home board.
        (board({1: 3}, {5: 2, 18: 13}), [0, 5 / 6, 1 / 6, 0, 0, 0]),
    ],
)
def test_impossible_endings(position: oracle.Board, want: list[float]) -> None:
    assert judged(position) == pytest.approx(want, abs=1e-6)


def test_decided_races_keep_the_proportions_of_the_win() -> None:
    # three rolls at most; he needs at least 4, and can leave my home board and save the gammon, or not
    assert judged(board({1: 6}, {6: 1, 18: 2, 19: 12})) == pytest.approx([0.5, 0.5, 0, 0, 0, 0], abs=1e-6)


def single_rolls(position: oracle.Board, done: Any) -> tuple[int, int]:
    """Fewest rolls (best dice) and most (worst dice) that the side on roll needs, played as fast as possible."""

    @cache
    def search(here: oracle.Board) -> tuple[int, int]:
        if done(here):
            return 0, 0
        fewest, most = NEVER, 0
        for dice in oracle.ALL_ROLLS:
            ways = [search(after) for after in oracle.results(here, dice)]
            fewest = min(fewest, 1 + min(way[0] for way in ways))
            most = max(most, 1 + min(way[1] for way in ways))
        return fewest, most

    return search(position)


def needs_of(position: oracle.Board, side: int) -> Needs:
    """What make_possible takes a side to need."""
    row = np.array(position, dtype=np.int8)
    number = home_indices(row, ONE_SIDED_MOST)[0 if side > 0 else 1]
    if number < 0:
        return Needs(*needs(row, side, -1, -1))
    table = one_sided()
    most, save = (int(starts[number + 1] - starts[number]) - 1 for starts in (table.starts, table.first_starts))
    return Needs(*needs(row, side, most, save))


OFF = board({}, {24: 1})


@pytest.mark.parametrize(
    "own",
    [
        {24: 1},
        {19: 1},
        {20: 1, 4: 1},
        {14: 2},
        {7: 1, 1: 2},
        {8: 1, 7: 1, 6: 1},
        {7: 3},
        {19: 2},
        {23: 1, 19: 1},
        {19: 3},
        {7: 1, 1: 5},
    ],
    ids=str,
)
def test_the_arithmetic_is_sound(own: dict[int, int]) -> None:
    """Each task's bounds contain the rolls of the best and the worst dice, by search; seen from both sides."""
    position = list(board(own, {}))
    position[0] = -1  # somewhere out of the way; needs looks at one side only
    here = tuple(position)
    tasks = (
        ("", lambda b: not any(n > 0 for n in b)),
        ("_save", lambda b: sum(n for n in b if n > 0) < sum(own.values())),
        ("_leave", lambda b: not any(n > 0 for n in b[19:])),
    )
    for bounds in (needs_of(here, 1), needs_of(oracle.turned(here), -1)):
        for name, done in tasks:
            fewest, most = single_rolls(here, done)
            assert getattr(bounds, "least" + name) <= fewest
            assert getattr(bounds, "most" + name) >= most


def test_bounds_at_home_come_from_the_tables() -> None:
    here = board({1: 3, 2: 2, 3: 3}, {24: 1})
    bounds = needs_of(here, 1)
    assert (bounds.least, bounds.least_save, bounds.least_leave, bounds.most_leave) == (2, 1, 0, 0)
    assert bounds.most == single_rolls(here, lambda b: not any(n > 0 for n in b))[1] == 6
    full = (0, 0, 0, 0, 0, 15)
    assert needs_of(board({6: 15}, {24: 1}), 1).most_save == len(one_sided().first_off(full)) - 1


@pytest.mark.parametrize("seed", range(3))
def test_every_row_is_possible(seed: int) -> None:
    boards = np.concatenate([some_positions()[0], race_boards(2000, seed)])
    net = random_net([32], seed)
    got = Composite(net).outcomes(boards)
    assert got.dtype == np.float32 and got.shape == (len(boards), 6)
    assert (got >= 0).all() and got.sum(axis=1) == pytest.approx(np.ones(len(boards)), abs=1e-6)
    own, opponent = np.maximum(boards, 0).sum(axis=1), -np.minimum(boards, 0).sum(axis=1)
    assert not got[own < 15, 4:].any() and not got[opponent < 15, 1:3].any()
    races = np.array([is_race(row) for row in boards])
    assert races.sum() > 2000 and (~races).sum() > 1500
    assert not got[races & (boards[:, :7] >= 0).all(axis=1), 2].any()
    assert not got[races & (boards[:, 19:] <= 0).all(axis=1), 5].any()

    home = np.array([min(home_indices(row, 15)) >= 0 for row in boards])
    assert home.sum() > 100
    raw = net.outcomes(boards)
    full = (own == 15) & (opponent == 15) & ~races
    assert full.sum() > 300 and np.array_equal(got[full], raw[full]), "nothing to mend, nothing mended"
    decided = ~got[:, :3].any(axis=1) | ~got[:, 3:].any(axis=1)
    stay = ~home & ~decided
    assert got[stay, :3].sum(axis=1) == pytest.approx(raw[stay, :3].sum(axis=1), abs=1e-6)
    assert (races & stay).sum() > 500 and (races & decided & ~home).sum() > 50


# The wrapped Evaluator


def test_only_what_the_tables_do_not_know_is_asked() -> None:
    unsure = Unsure()
    composite = Composite(unsure)
    known, unknown = board({6: 3}, {19: 3}), oracle.START
    composite.outcomes(array([known, unknown, known, unknown, unknown]))
    assert [len(boards) for boards in unsure.asked] == [3]
    composite.outcomes(array([known, known]))
    assert len(unsure.asked) == 1


def test_a_row_does_not_depend_on_its_batch() -> None:
    boards = np.concatenate([some_positions()[0][::40], race_boards(50, 9)])
    composite = Composite(random_net([64, 16]))
    together = composite.outcomes(boards)
    for row, want in zip(boards, together, strict=True):
        assert np.array_equal(composite.outcomes(row), want)


def test_quick_siblings_agree_with_plain_outcomes() -> None:
    boards, dice = some_positions()
    boards, dice = np.concatenate([boards[::7], race_boards(150, 4)]), np.concatenate([dice[::7], dice[:150]])
    afterstates = legal_afterstates(boards, dice)
    for net in (random_net([64, 16]), Unsure()):
        composite = Composite(net)
        quick = composite.afterstate_outcomes(boards, afterstates)
        assert quick.dtype == np.float32
        assert quick == pytest.approx(composite.outcomes(afterstates.boards), abs=2e-6)


def test_quick_siblings_when_all_or_none_are_known() -> None:
    composite = Composite(random_net([16]))
    for position in (board({6: 3}, {19: 3}), oracle.START):
        boards = array(position)
        afterstates = legal_afterstates(boards, np.array([[2, 1]], dtype=np.int8))
        quick = composite.afterstate_outcomes(boards, afterstates)
        assert quick == pytest.approx(composite.outcomes(afterstates.boards), abs=2e-6)
    nothing = array([])
    none = legal_afterstates(nothing, np.zeros((0, 2), dtype=np.int8))
    assert composite.afterstate_outcomes(nothing, none).shape == composite.outcomes(nothing).shape == (0, 6)


def test_wrong_boards() -> None:
    composite = Composite(Unsure())
    with pytest.raises(ArrayError):
        composite.outcomes(np.zeros((1, 26)))
    with pytest.raises(BoardError, match=r"boards\[1\]"):
        composite.outcomes(np.stack([array(oracle.START)[0], np.full(26, 3, dtype=np.int8)]))


def test_pickled_without_its_tables() -> None:
    composite = Composite(random_net([16]))
    packed = pickle.dumps(composite)
    assert len(packed) < len(pickle.dumps(composite.evaluator)) + 1000
    boards = race_boards(30, 1)
    assert np.array_equal(pickle.loads(packed).outcomes(boards), composite.outcomes(boards))
    assert repr(composite) == "Composite(NetEvaluator('random weights', 16))"


def test_no_torch() -> None:
    code = "import sys, bgnet.composite; assert not {'torch', 'pydantic.main', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=DATA.parent.parent)


def test_it_is_found_among_the_evaluators() -> None:
    import bgnet.evaluators

    assert bgnet.evaluators.Composite is Composite
    with pytest.raises(AttributeError, match="Composit"):
        _ = bgnet.evaluators.Composit
