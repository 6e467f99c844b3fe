"""The generator against the slow oracle and gnubg_nn's generator, and properties that need no reference."""

from __future__ import annotations

import random
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine import Position
from tests import oracle
from tests.boards import Board, array, engine_results, roll
from tests.oracle import Dice

SEEDS = range(12)

BIG_FANS = [
    # Position, results of 1-1; counts by the oracle and gnubg_nn. A fixed small buffer would overflow.
    ((0, -1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0), 2220),  # AACAkCRJqqoAAA
    ((0, -1, -1, 1, 1, -1, 1, 1, -1, 1, -1, 1, 1, -1, 1, 1, -1, 1, 1, -1, 1, 1, -1, 1, 1, 0), 2226),
]


def random_game_turns(seed: int) -> list[tuple[Board, Dice]]:
    """Two random games: two hundred turns, more or less."""
    return [turn for game in (2 * seed, 2 * seed + 1) for turn in oracle.random_game(game)]


def scattered_turns(seed: int, count: int) -> list[tuple[Board, Dice]]:
    rng = random.Random(seed)
    return [(oracle.scattered_board(rng), (rng.randint(1, 6), rng.randint(1, 6))) for _ in range(count)]


def batch_results(turns: list[tuple[Board, Dice]]) -> list[list[Board]]:
    """The engine's results of all turns in one batch, in the mover's view."""
    boards = array([position for position, _ in turns])
    found, offsets = engine.legal_afterstates(boards, np.array([dice for _, dice in turns], dtype=np.int8))
    rows = [tuple(row) for row in (-found[:, ::-1]).tolist()]
    return [rows[offsets[i] : offsets[i + 1]] for i in range(len(turns))]


def assert_same(position: Board, dice: Dice, got: Iterable[Board], want: set[Board]) -> None:
    found = list(got)
    assert set(found) == want, f"{position} {dice}: extra {set(found) - want}, missing {want - set(found)}"
    assert len(found) == len(want), f"{position} {dice}: results repeat"


# Against others


@pytest.mark.parametrize("seed", SEEDS)
def test_agrees_with_the_oracle_on_random_games(seed):
    turns = random_game_turns(seed)
    for (position, dice), got in zip(turns, batch_results(turns), strict=True):
        assert_same(position, dice, got, oracle.results(position, dice))


@pytest.mark.parametrize("seed", SEEDS)
def test_agrees_with_the_oracle_on_scattered_boards(seed):
    turns = scattered_turns(seed, 300)
    for (position, dice), got in zip(turns, batch_results(turns), strict=True):
        assert_same(position, dice, got, oracle.results(position, dice))


@pytest.mark.parametrize("seed", SEEDS)
def test_agrees_with_gnubg_nn(seed):
    pytest.importorskip("gnubg_nn", reason='needs the optional package gnubg-nn: pip install "bgnet[peers]"')
    from tests import gnubg_moves

    turns = random_game_turns(100 + seed) + scattered_turns(100 + seed, 500)
    for (position, dice), got in zip(turns, batch_results(turns), strict=True):
        assert_same(position, dice, got, gnubg_moves.results(position, dice))


@pytest.mark.parametrize(("position", "count"), BIG_FANS)
def test_more_than_two_thousand_results(position, count):
    want = oracle.results(position, (1, 1))
    assert len(want) == count
    assert_same(position, (1, 1), engine_results(position, 1, 1), want)


def test_the_2220_results_by_position_id():
    position = Position.from_position_id("AACAkCRJqqoAAA")
    assert len(engine.legal_afterstates(position.board[None], roll(1, 1)).boards) == 2220


def test_many_big_fans_in_one_batch():
    """Two hundred of them outgrow any first guess of the size of the answer."""
    position, count = BIG_FANS[0]
    dice = np.ones((200, 2), dtype=np.int8)
    found, offsets = engine.legal_afterstates(np.repeat(array(position), 200, axis=0), dice)
    assert offsets.tolist() == [count * i for i in range(201)]
    assert np.array_equal(found, np.tile(found[:count], (200, 1)))


# Made-up boards: any number of checkers up to 15 a side, bars included


@st.composite
def boards(draw: st.DrawFn) -> Board:
    piles = st.lists(st.tuples(st.integers(0, 25), st.integers(1, 5)), min_size=1, max_size=12)
    position = [0] * 26
    for side, bar in ((1, 25), (-1, 0)):
        left = 15
        for place, height in draw(piles):
            if place != 25 - bar and position[place] * side >= 0:  # neither the other's bar nor his point
                position[place] += side * min(height, left)
                left -= min(height, left)
        if left == 15:
            position[bar] = side
    return tuple(position)


dice_rolls = st.tuples(st.integers(1, 6), st.integers(1, 6))


@settings(max_examples=400)
@given(boards(), dice_rolls)
def test_made_up_boards_agree_with_the_oracle(position, dice):
    assert_same(position, dice, engine_results(position, *dice), oracle.results(position, dice))


@given(boards(), dice_rolls)
def test_order_of_the_dice_does_not_matter(position, dice):
    assert set(engine_results(position, *dice)) == set(engine_results(position, *dice[::-1]))


@given(boards(), dice_rolls)
def test_results_are_distinct_and_checkers_are_conserved(position, dice):
    found = engine_results(position, *dice)
    assert len(set(found)) == len(found) >= 1
    mine, theirs = (sum(max(0, side * n) for n in position) for side in (1, -1))
    steps = 4 if dice[0] == dice[1] else 2
    for result in found:
        assert sum(max(0, -n) for n in result) == theirs, "the opponent neither loses nor gains a checker"
        assert mine - steps <= sum(max(0, n) for n in result) <= mine
        assert result[0] <= 0 <= result[25]
        before, after = Position(position).pips, Position(result).pips
        assert before[0] - steps * max(dice) <= after[0] <= before[0]
        assert after[1] >= before[1], "hits only add to the opponent's pips"


@given(boards())
def test_flipping_twice_is_the_identity(position):
    flipped = Position(position).flipped()
    assert tuple(flipped.board.tolist()) == tuple(-n for n in reversed(position))
    assert flipped.flipped() == Position(position)
    assert flipped.pips == Position(position).pips[::-1]


@given(st.lists(st.tuples(boards(), dice_rolls), min_size=1, max_size=20))
def test_batch_row_equals_the_same_row_alone(turns):
    for (position, dice), got in zip(turns, batch_results(turns), strict=True):
        assert got == engine_results(position, *dice), "also the order of the results"


@given(boards(), st.booleans(), st.sampled_from([15, 3]))
def test_ending_agrees_with_the_oracle(position, mine_are_off, checkers):
    assert Position(position).ending(checkers) is None, "the game goes on"
    over = tuple(min(0, n) if mine_are_off else max(0, n) for n in position)
    assert Position(over).ending(checkers) == oracle.ending(over, checkers)


# The shape of the answer


def test_no_rows_give_no_results():
    nothing = np.zeros((0, 26), dtype=np.int8)
    found, offsets = engine.legal_afterstates(nothing, np.zeros((0, 2), dtype=np.int8))
    assert found.shape == (0, 26) and found.dtype == np.int8
    assert offsets.tolist() == [0] and offsets.dtype == np.int64


def test_offsets_start_with_0_rise_and_end_with_the_number_of_results():
    turns = random_game_turns(50)
    rolls = np.array([dice for _, dice in turns], dtype=np.int8)
    found, offsets = engine.legal_afterstates(array([position for position, _ in turns]), rolls)
    assert offsets.shape == (len(turns) + 1,) and offsets.dtype == np.int64
    assert offsets[0] == 0 and offsets[-1] == len(found)
    assert (np.diff(offsets) >= 1).all()
    assert found.shape == (offsets[-1], 26) and found.dtype == np.int8


def test_input_is_left_alone_in_any_memory_layout():
    turns = random_game_turns(51)
    wide = np.zeros((26, 2 * len(turns)), dtype=np.int8)
    wide[:, ::2] = array([position for position, _ in turns]).T
    strided = wide[:, ::2].T
    rolls = np.array([dice[::-1] for _, dice in turns], dtype=np.int8)[:, ::-1]
    before = strided.copy()
    strided.flags.writeable = False
    found = engine.legal_afterstates(strided, rolls)
    assert np.array_equal(strided, before)
    plain = engine.legal_afterstates(before, np.ascontiguousarray(rolls))
    assert np.array_equal(found.boards, plain.boards) and np.array_equal(found.offsets, plain.offsets)


def test_results_share_no_memory_with_the_input():
    position = array(oracle.START)
    engine.legal_afterstates(position, roll(3, 1)).boards[:] = 0
    assert position.tolist() == [list(oracle.START)]


def test_finished_games_are_results():
    found = engine_results((0, 2, *[0] * 22, -15, 0), 2, 1)
    assert found == [(0, 0, *[0] * 22, -15, 0)]
