"""Reading plays: every legal play in disguise, every spelling people use, and text that is no play."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import START, IllegalPlayError, NotationError, Play, Position, legal_plays, parse_play
from tests.boards import board, cases
from tests.turns import turns

TURNS = turns()


def disguised(rng: random.Random, play: Play) -> str:
    """The play as someone else might write it."""
    parts = play.notation.split(" ") if play.moves else [rng.choice(["pass", "no play", ""])]
    if play.moves:
        rng.shuffle(parts)
    text = rng.choice([" ", ", ", ",", "  "]).join(parts)
    if rng.random() < 0.5:
        text = text.replace("*", "")
    if rng.random() < 0.3:
        text = text.replace("bar", "25").replace("off", "0")
    return rng.choice([text, text.upper(), text.title(), f" {text}\n", text.replace("/", " / ").replace("(", " (")])


def test_every_play_reads_back():
    rng = random.Random(64)
    count = 0
    for start, dice in TURNS[::2]:
        position = Position(start)
        plays = legal_plays(position, dice)
        for play in rng.sample(plays, min(3, len(plays))):
            assert parse_play(position, dice, play.notation) == play
            text = disguised(rng, play)
            assert parse_play(position, dice[::-1], text) == play, (start, dice, play.notation, text)
            if play.moves:  # every single move, in the order of the play, or as it comes
                steps = [f"{move.start}/{move.end}" for move in play.moves]
                assert parse_play(position, dice, " ".join(steps)) == play, (start, dice, play)
                rng.shuffle(steps)
                assert parse_play(position, dice, " ".join(steps)) == play, (start, dice, play, steps)
            count += 1
    assert count > 500


@given(st.sampled_from(TURNS), st.text("0123456789/*()barof, ", max_size=20) | st.text(max_size=10))
def test_any_text_is_read_or_refused(turn, text):
    start, dice = turn
    position = Position(start)
    try:
        play = parse_play(position, dice, text)
    except (NotationError, IllegalPlayError) as error:
        assert repr(text) in str(error)
    else:
        assert play in legal_plays(position, dice)


STEPS = st.tuples(st.integers(0, 25), st.integers(0, 25)).map(lambda step: f"{step[0]}/{step[1]}")


@given(st.sampled_from(TURNS), st.lists(STEPS, min_size=1, max_size=4))
def test_every_readable_play_gets_a_verdict(turn, steps):
    """Random steps are a legal play, or are refused with one reason; no other exception comes up."""
    start, dice = turn
    try:
        parse_play(Position(start), dice, " ".join(steps))
    except (IllegalPlayError, NotationError) as error:
        assert len(str(error)) < 250


BLOTS = Position(board({13: 2, 8: 3, 6: 5, 24: 2}, {10: 1, 11: 1, 20: 1, 17: 3, 19: 5, 1: 2}))
ONE_WAY = Position(board({13: 2, 6: 5, 24: 2}, {10: 1, 11: 2, 19: 5, 1: 2}))
CHOICE = Position(board({13: 2, 6: 5, 24: 2}, {10: 1, 19: 5, 1: 2}))


@pytest.mark.parametrize(
    ("position", "dice", "text", "expected"),
    [
        (START, "31", "8/5 6/5", "8/5 6/5"),
        (START, "31", "6/5,8/5", "8/5 6/5"),
        (START, "31", "24/23/20", "24/20"),
        (START, "31", "24/23 23/20", "24/20"),
        (START, "31", "23/20 24/23", "24/20"),
        (START, "55", "13/3(2)", "13/3(2)"),
        (START, "55", "8/3, 13/8(2) 8/3", "13/3(2)"),
        (START, "55", "13/8/3 13/3", "13/3(2)"),
        (START, "55", "8/3(2) 6/1*(2)", IllegalPlayError),  # 1 is held by two
        (START, "66", "24/18 (2) 13/7 (2)", "24/18(2) 13/7(2)"),
        (BLOTS, "32", "13/10*/8", "13/10*/8"),
        (BLOTS, "32", "13/11/8", "13/11*/8"),
        (BLOTS, "32", "13/11*/8*", IllegalPlayError),
        (BLOTS, "32", "13/10 13/11", "13/11* 13/10*"),
        (BLOTS, "32", "13/11* 13/10", "13/11* 13/10*"),
        (CHOICE, "32", "13/8", "13/8"),
        (CHOICE, "32", "13/10*/8", "13/10*/8"),
        (CHOICE, "32", "13/10/8", "13/10*/8"),
        (CHOICE, "32", "13/11/8", "13/8"),
        (ONE_WAY, "32", "13/8", "13/10*/8"),
        (Position(board({25: 1, 6: 3}, {20: 1, 1: 2})), "51", "6/5 BAR/20", "bar/20* 6/5"),
        (Position(board({25: 1, 6: 3}, {20: 1, 1: 2})), "51", "25/20*/19", "bar/20*/19"),
        (Position(board({25: 2, 6: 3}, {1: 2})), "44", "bar/17(2)", "bar/17(2)"),
        (Position(board({25: 2, 6: 3}, {1: 2})), "44", "21/17 bar/21(2), 21/17", "bar/17(2)"),
        (Position(board({6: 2, 5: 2}, {24: 2})), "65", "6/0 5/Off", "6/off 5/off"),
        (Position(board({5: 1, 4: 1}, {24: 2})), "66", "5/off 4/off", "5/off 4/off"),
        (Position(board({8: 2, 6: 4}, {7: 1, 5: 1, 24: 2})), "11", "8/7(2)* 6/5(2)*", "8/7*(2) 6/5*(2)"),
        (Position(board({8: 2, 6: 4}, {7: 1, 5: 1, 24: 2})), "11", "8/7*(2), 6/5*(2)", "8/7*(2) 6/5*(2)"),
    ],
)
def test_reading(position, dice, text, expected):
    if expected is IllegalPlayError:
        with pytest.raises(IllegalPlayError):
            parse_play(position, dice, text)
    else:
        assert parse_play(position, dice, text).notation == expected


def test_both_ways_hit_something_else():
    with pytest.raises(NotationError) as caught:
        parse_play(BLOTS, "32", "13/8")
    assert str(caught.value) == "play '13/8' can mean 13/10*/8 or 13/11*/8: write which"


def test_reported_play_strings():
    """One play in the spellings that a program refused (kaggle-environments#1190)."""
    start = (0, -1, 0, 0, 0, 1, 3, 0, 2, 0, -3, 0, 0, 2, 0, 1, 0, -3, 0, -2, 3, -1, -2, -2, -1, 3)
    for text in ("bar/24*", "bar/24", "Bar/24*", "25/24"):
        assert parse_play(Position(start), (6, 1), text).notation == "bar/24*"


def test_reported_movegen_cases_read_back():
    for case in cases("movegen"):
        if "dice" in case["input"] and "results" in case["expect"]:
            position, dice = Position(case["input"]["board"]), case["input"]["dice"]
            for play in legal_plays(position, dice):
                assert parse_play(position, dice, play.notation) == play


DANCE = Position(board({25: 1, 13: 1}, {19: 2, 24: 2, 7: 2}))


@pytest.mark.parametrize("text", ["no play", "pass", "Pass", "", "  ", "NO  PLAY", "Cannot Move"])
def test_passing(text):
    play = parse_play(DANCE, "61", text)
    assert play == legal_plays(DANCE, "61")[0]
    assert (play.notation, play.moves, play.position) == ("no play", (), DANCE.flipped())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("hello", "cannot read 'hello'"),
        ("8/5 6-5", "cannot read '6-5'"),
        ("8", "cannot read '8'"),
        ("8/", "cannot read '8/'"),
        ("/5", "cannot read '/5'"),
        ("8*/5", "cannot read '8*/5'"),
        ("8/5**", "cannot read '8/5**'"),
        ("8/5()", "cannot read '8/5()'"),
        ("31: 8/5 6/5", "cannot read '31:'"),
        ("8/5 pass", "cannot read 'pass'"),
        ("8/5(0)", "moves 0 checkers"),
        ("8/5(5)", "moves 5 checkers"),
        ("26/25", "there is no point 26"),
        ("99/1", "there is no point 99"),
        (None, "not NoneType"),
        (86, "not int"),
    ],
)
def test_text_that_is_no_play(text, reason):
    with pytest.raises(NotationError) as caught:
        parse_play(START, "31", text)
    assert reason in str(caught.value)
    assert repr(text) in str(caught.value)
