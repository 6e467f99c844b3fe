"""The numbered rules of the four printed rule sheets, each on hand-made boards with the results written out.

Boards, results and all point numbers are in the view of the player on roll, the opponent's checkers too.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import engine
from engine import Position, board, dice, outcomes, rules
from tests.boards import Board, array, engine_results, roll
from tests.boards import board as put

START: Board = tuple(engine.START.board.tolist())
Side = dict[int, int]
"""Checkers by place."""
FAR: Side = {1: 2}
"""Opposing checkers that are in nobody's way in boards that do not use the 1-point."""


def turned(position: Board) -> Board:
    return tuple(-count for count in reversed(position))


def results(position: Board, first: int, second: int) -> set[Board]:
    """The engine's results, which must be distinct and the same for both orders of the dice."""
    found = engine_results(position, first, second)
    assert len(set(found)) == len(found)
    assert set(engine_results(position, second, first)) == set(found)
    return set(found)


def check(own: Side, opponent: Side, dice: tuple[int, int], *after: Side) -> None:
    """The results are these placings of the mover's checkers and no others; the opponent's stay put."""
    assert results(put(own, opponent), *dice) == {put(placing, opponent) for placing in after}


# Setup


def test_rule_01_four_quadrants_a_bar_and_fifteen_checkers_a_side():
    start = engine.START.board
    assert start.dtype == np.int8 and start.shape == (26,)
    quadrants = start[1:25].reshape(4, 6)
    assert np.maximum(quadrants, 0).sum(axis=1).tolist() == [5, 3, 5, 2]
    assert np.maximum(-quadrants, 0).sum(axis=1).tolist() == [2, 5, 3, 5]
    assert (start[0], start[25]) == (0, 0)


def test_rule_02_start():
    assert put({24: 2, 13: 5, 8: 3, 6: 5}, {1: 2, 12: 5, 17: 3, 19: 5}) == START
    assert engine.START.flipped() == engine.START, "the two sides mirror each other"
    assert engine.START.pips == (167, 167)


def test_rule_03_opening_roll_is_never_a_double_and_both_numbers_are_played():
    seen = {dice.opening(seed=3, game=game) for game in range(1000)}
    assert seen == set(permutations(range(1, 7), 2))
    for first, second in seen:
        for result in results(START, first, second):
            assert Position(result).pips == (167 - first - second, 167)


def test_rule_04_players_alternate():
    after = engine.legal_afterstates(array(START), roll(6, 5))
    runner = array(turned(put({18: 1, 24: 1, 13: 4, 8: 4, 6: 5}, {1: 2, 12: 5, 17: 3, 19: 5})))
    assert runner.tolist()[0] in after.boards.tolist(), "results are turned to the next player's view"
    reply = engine.legal_afterstates(runner, roll(3, 1))
    closed = put({24: 2, 13: 5, 8: 2, 6: 4, 5: 2}, {1: 1, 7: 1, 12: 4, 17: 4, 19: 5})
    assert list(turned(closed)) in reply.boards.tolist(), "the other player moves his own checkers next"
    assert (1, 1) in {dice.roll(seed=3, game=0, n=n) for n in range(1, 200)}, "later rolls may be doubles"


# Moving


def test_rule_05_checkers_move_only_forward():
    check({10: 1}, FAR, (4, 2), {4: 1})
    theirs = turned(put({24: 2}, {15: 1}))  # his own 10-point is my 15-point
    assert {turned(result) for result in results(theirs, 4, 2)} == {put({24: 2}, {21: 1})}


def test_rule_06_each_die_is_a_separate_move():
    check(
        {20: 1, 10: 1},
        FAR,
        (4, 3),
        {13: 1, 10: 1},  # one checker takes both
        {16: 1, 7: 1},
        {17: 1, 6: 1},  # two checkers one each
        {20: 1, 3: 1},
    )


@pytest.mark.parametrize(
    ("own_on_4", "opponent_on_4", "open_"),
    [(0, 0, True), (13, 0, True), (0, 1, True), (0, 2, False), (0, 13, False)],
)
def test_rule_07_where_a_checker_may_land(own_on_4, opponent_on_4, open_):
    before = put({24: 1, 10: 1, 4: own_on_4}, {18: 2, 4: opponent_on_4})
    after = put({24: 1, 4: own_on_4 + 1}, {18: 2, 0: opponent_on_4})
    assert results(before, 6, 6) == {after if open_ else before}  # 24/18 is blocked


def test_rule_08_one_checker_with_both_dice_needs_one_open_order():
    check({10: 1}, {9: 2}, (3, 1), {6: 1})  # by way of the 7-point
    check({10: 1}, {7: 2}, (3, 1), {6: 1})  # by way of the 9-point
    check({10: 1}, {9: 2, 7: 2}, (3, 1), {10: 1})  # both ways are blocked
    check({10: 1}, {9: 2, 6: 2}, (3, 1), {7: 1})
    check({13: 1}, {9: 2}, (2, 2), {11: 1})  # a double may not jump either


def test_rule_09_double_is_played_four_times_by_one_to_four_checkers():
    check({20: 1}, FAR, (1, 1), {16: 1})
    found = results(put({20: 1, 15: 1, 10: 1, 6: 1}, {24: 2}), 1, 1)
    assert len(found) == 35, "every way to share four steps among four checkers"
    for after in (
        {16: 1, 15: 1, 10: 1, 6: 1},
        {17: 1, 14: 1, 10: 1, 6: 1},
        {18: 1, 13: 1, 10: 1, 6: 1},
        {18: 1, 14: 1, 9: 1, 6: 1},
        {19: 1, 14: 1, 9: 1, 5: 1},
    ):
        assert put(after, {24: 2}) in found


def test_rule_10_both_numbers_must_be_played():
    # 10/8 with the 2 would leave no 6: 8/2 and 20/14 are blocked.
    check({20: 1, 10: 1}, {14: 2, 12: 2, 2: 2}, (6, 2), {18: 1, 4: 1})


def test_rule_10_both_numbers_even_when_one_would_bear_off_the_last_checker():
    assert results(put({2: 1}, {1: 1, 20: 2}), 5, 1) == {put({}, {0: 1, 20: 2})}  # 2/1*/off, not 2/off


def test_rule_10_all_four_of_a_double_must_be_played():
    # 24/18 stops in front of the 15-point, 10/1 takes three.
    check({24: 1, 10: 1}, {15: 2}, (3, 3), {21: 1, 1: 1}, {18: 1, 4: 1})


def test_rule_11_larger_number_when_only_one_can_be_played():
    check({20: 1}, {9: 2}, (6, 5), {14: 1})
    check({25: 1, 2: 2}, {17: 2}, (6, 2), {19: 1, 2: 2})  # also from the bar


def test_rule_11_the_only_playable_number_must_be_played():
    check({20: 1}, {14: 2, 9: 2}, (6, 5), {15: 1})
    check({20: 1}, {15: 2, 9: 2}, (6, 5), {14: 1})


@pytest.mark.parametrize(("blocked", "stop"), [(2, 7), (7, 12), (12, 17)])
def test_rule_12_as_many_of_a_double_as_possible(blocked, stop):
    check({22: 1}, {blocked: 2}, (5, 5), {stop: 1})


def test_rule_13_turn_passes_when_nothing_can_be_played():
    before = put({24: 1, 13: 1}, {18: 2, 19: 2, 7: 2, 8: 2})
    assert results(before, 6, 5) == {before}
    assert engine.legal_afterstates(array(before), roll(6, 5)).boards.tolist() == [list(turned(before))]
    assert results(put({24: 1}, {18: 2}), 6, 6) == {put({24: 1}, {18: 2})}


# Hitting and entering


def test_rule_14_landing_on_a_blot_hits_it_and_the_checker_may_move_on():
    before = put({10: 1}, {8: 1, 5: 1, 20: 2})
    assert results(before, 3, 2) == {
        put({5: 1}, {0: 2, 20: 2}),  # 10/8*/5*
        put({5: 1}, {0: 1, 8: 1, 20: 2}),  # 10/7/5*: the same point, but another board
    }


def test_rule_15_bar_comes_first():
    check({25: 2, 10: 1}, FAR, (3, 2), {23: 1, 22: 1, 10: 1})
    check({25: 1, 10: 1}, FAR, (3, 2), {22: 1, 8: 1}, {20: 1, 10: 1}, {23: 1, 7: 1})
    check({25: 5, 10: 1}, FAR, (4, 4), {25: 1, 21: 4, 10: 1})


@pytest.mark.parametrize(("number", "other"), list(permutations(range(1, 7), 2)))
def test_rule_16_number_n_enters_on_the_opponents_n_point(number, other):
    shut = {25 - other: 2, 25 - number - other: 2}  # the other number neither enters nor goes on
    check({25: 1, 1: 2}, shut, (number, other), {25 - number: 1, 1: 2})
    blot = put({25: 1, 1: 2}, {**shut, 25 - number: 1})
    assert results(blot, number, other) == {put({25 - number: 1, 1: 2}, {**shut, 0: 1})}


def test_rule_17_those_that_can_must_enter_and_the_rest_of_the_turn_is_lost():
    check({25: 2, 10: 1}, {19: 2}, (6, 3), {25: 1, 22: 1, 10: 1})  # not 10/4 with the 6


def test_rule_18_both_entry_points_blocked_loses_the_turn():
    check({25: 1, 10: 1}, {19: 2, 22: 2}, (6, 3), {25: 1, 10: 1})


def test_rule_18_once_the_last_checker_is_in_the_rest_is_played_normally():
    check({25: 1, 10: 1}, {19: 2}, (6, 3), {16: 1, 10: 1}, {22: 1, 4: 1})
    check({25: 2}, FAR, (2, 2), {21: 2}, {23: 1, 19: 1})


# Bearing off


def test_rule_19_no_bearing_off_while_a_checker_is_outside():
    check({13: 1, 3: 1}, {24: 2}, (3, 2), {8: 1, 3: 1}, {10: 1, 1: 1})
    check(
        {7: 1, 3: 1},
        {24: 2},
        (3, 2),
        {5: 1},  # 7/5 brings the last one in, then 3/off
        {3: 1, 2: 1},
        {4: 1, 1: 1},
    )


def test_rule_19_a_checker_hit_while_bearing_off_must_come_home_first():
    check({25: 1, 2: 1, 1: 1}, {15: 2}, (6, 1), {18: 1, 2: 1, 1: 1}, {19: 1, 1: 2})


@pytest.mark.parametrize("number", range(1, 7))
def test_rule_20_number_n_bears_off_from_the_n_point(number):
    check({number: 5}, {20: 2}, (number, number), {number: 1})


def test_rule_21_nothing_on_the_point_and_nothing_higher_takes_the_highest():
    check({5: 5}, {20: 2}, (6, 6), {5: 1})  # a 6 with nothing on the 6-point takes one from the 5-point
    check({4: 1, 3: 2, 1: 2}, {20: 2}, (6, 5), {3: 1, 1: 2})  # the highest, then the next highest


@pytest.mark.parametrize(
    ("higher", "expected"),
    [
        (4, [{1: 4, 2: 1}]),
        (5, [{2: 5}]),
        (6, [{2: 1, 6: 2}, {2: 1, 3: 2, 6: 1}, {2: 1, 3: 4}]),  # what reached the 3-point may go off with a 3
    ],
)
def test_rule_21_a_checker_on_a_higher_point_must_be_moved(higher, expected):
    check({higher: 4, 2: 1}, {20: 2}, (3, 3), *expected)


def test_rule_21_a_blocked_checker_on_a_higher_point_still_forbids_bearing_off_below():
    check({6: 1, 2: 1}, {3: 2}, (3, 3), {6: 1, 2: 1})
    check({6: 1, 2: 1}, {3: 2, 1: 2}, (5, 3), {6: 1, 2: 1})


def test_rule_22_bearing_off_is_never_compulsory_where_another_move_uses_the_number():
    check(
        {5: 1, 2: 1},
        {20: 2},
        (2, 1),
        {4: 1},  # 2/off with the 2
        {2: 2},  # 5/2
        {3: 1, 1: 1},  # 5/3 2/1
    )


def test_rule_23_first_to_bear_off_all_wins():
    last_two = put({1: 2}, {24: 15})
    assert results(last_two, 2, 1) == {put({}, {24: 15})}
    after = Position(engine.legal_afterstates(array(last_two), roll(2, 1)).boards[0])
    assert after.ending() == outcomes.LOSE_GAMMON, "the player on roll has lost before he rolls"
    assert after.flipped().ending() == outcomes.WIN_GAMMON
    assert Position(put({1: 1}, {24: 15})).ending() is None, "fourteen off is not enough"
    assert results(put({1: 3}, {24: 15}), 1, 1) == {put({}, {24: 15})}, "nothing is left for the fourth 1"


# What a win is worth


@pytest.mark.parametrize("sheet", [rules.JUNIOR, rules.FOLD_UP, rules.TOWEL], ids=lambda sheet: sheet.name)
def test_rule_24_every_win_counts_the_same(sheet):
    assert sheet.payoff.tolist() == [1, 1, 1, -1, -1, -1]
    assert sheet.payoff.dtype == np.float32
    assert not sheet.cube


@pytest.mark.parametrize(
    ("loser", "points"),
    [
        ({20: 14}, 1),  # one borne off
        ({0: 1, 20: 13}, 1),  # one borne off: a checker on the bar costs nothing more
        ({6: 14}, 1),  # nor does one in the winner's home board
        ({20: 15}, 2),
        ({7: 15}, 2),  # just outside the winner's home board
        ({0: 1, 20: 14}, 3),
        ({6: 1, 20: 14}, 3),
        ({1: 15}, 3),
        ({0: 15}, 3),
    ],
)
def test_rule_25_single_game_gammon_backgammon(loser, points):
    won = Position(put({}, loser))
    assert rules.CLUB.payoff[won.ending()] == points
    assert rules.CLUB.payoff[won.flipped().ending()] == -points
    assert rules.TOWEL.payoff[won.ending()] == 1


def test_rule_25_payoff_of_the_club_sheet():
    assert rules.CLUB.payoff.tolist() == [1, 2, 3, -1, -2, -3]
    assert rules.CLUB.cube


@pytest.mark.parametrize("preset", list(rules.PRESETS.values()), ids=lambda preset: preset.name)
def test_rule_31_cube_stops_at_64_on_the_club_sheet_only(preset):
    assert preset.max_cube == (64 if preset is rules.CLUB else None)


# Beyond the sheets


def test_nackgammon_is_another_start_board_and_nothing_else():
    assert tuple(board.NACKGAMMON_BOARD.tolist()) == put(
        {24: 2, 23: 2, 13: 4, 8: 3, 6: 4}, {1: 2, 2: 2, 12: 4, 17: 3, 19: 4}
    )
    assert Position(board.NACKGAMMON_BOARD).flipped() == Position(board.NACKGAMMON_BOARD)


def test_hypergammon_has_three_checkers_a_side():
    assert tuple(board.HYPERGAMMON_BOARD.tolist()) == put({24: 1, 23: 1, 22: 1}, {1: 1, 2: 1, 3: 1})
    lost = Position(put({}, {20: 2, 9: 1}))
    assert lost.ending(checkers=3) == outcomes.WIN_GAMMON
    assert lost.ending(checkers=15) == outcomes.WIN
    assert Position(put({4: 4}, {20: 2})).flaws(checkers=3) == engine.Flaw.TOO_MANY_OWN


def test_money_match_and_double_match_point():
    assert rules.MONEY.payoff.tolist() == [1, 2, 3, -1, -2, -3]
    assert rules.DMP.payoff.tolist() == [1, 1, 1, -1, -1, -1]
    assert rules.match(7).max_cube is None
    for odd in (2.0, 3, 0, "2"):
        with pytest.raises(engine.EngineError, match="max_cube must be a power of two"):
            engine.RuleSet("odd", max_cube=odd)
    assert not rules.MONEY.jacoby and not rules.MONEY.beavers
