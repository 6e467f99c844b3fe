"""Games of a person against a bot, without a screen: dice, turns, undo, results, log."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from bgnet.session import BotError, O, SessionError, X, written
from bgnet.session_bots import Offer
from engine import START, ActionError, DiceError, GameState, IllegalPlayError, Position, dice, legal_plays
from tests.bgnet.sessions import Scripted, play_made, play_on, plays_of, session
from tests.boards import board

NO_MOVES = board({25: 1, 13: 14}, {24: 2, 23: 2, 22: 2, 21: 2, 20: 2, 19: 5})


def state(points: tuple[int, ...], **fields: object) -> GameState:
    return GameState(Position(points), max_cube=1, **fields)  # type: ignore[arg-type]


def test_the_dice_are_those_of_the_seed_whatever_is_played() -> None:
    lengths = set()
    for policy in range(5):
        game = session(seed=11)
        play_on(game, random.Random(policy))
        game.next_game()
        play_on(game, random.Random(policy))
        first = max(dice.opening(11, 2)), min(dice.opening(11, 2))
        rolled = [step.state.dice for step in plays_of(game)]
        rest = [dice.roll(11, 2, n) for n in range(1, len(rolled))]
        assert rolled == [first, *((max(roll), min(roll)) for roll in rest)]
        lengths.add(len(rolled))
    assert len(lengths) > 1, "the plays did differ"


def test_rule_3_the_higher_die_starts_and_plays_both() -> None:
    starters = set()
    for seed in range(10):
        game = session(seed)
        assert game.is_opening
        fell = game.roll()
        assert fell == dice.opening(seed, 1)
        assert game.state.on_roll == (X if fell[0] > fell[1] else O)
        assert game.state.dice == (max(fell), min(fell))
        assert game.state.position == START
        assert not game.is_opening
        starters.add(game.state.on_roll)
    assert starters == {X, O}


def test_players_alternate_and_each_play_is_legal_for_the_board_before_it() -> None:
    game = session()
    play_on(game, random.Random(3))
    for before, after in zip(plays_of(game), plays_of(game)[1:], strict=False):
        assert after.state.on_roll == 1 - before.state.on_roll
        assert after.state.position == play_made(before).position
    for turn in plays_of(game):
        plays = legal_plays(turn.state.position, turn.state.dice)
        assert play_made(turn) in plays
        assert turn.forced == (len(plays) == 1)


def test_a_start_with_dice_uses_them_and_goes_on_with_roll_1() -> None:
    game = session(5, GameState(START, on_roll=O, dice=(1, 3), max_cube=1))
    assert (game.state.dice, game.state.on_roll, game.is_opening) == ((3, 1), O, False)
    assert game.seen_by_x == START.flipped()
    game.bot_turn()
    assert game.seen_by_x == game.state.position
    assert sorted(game.roll()) == sorted(dice.roll(5, 1, 1))


def test_a_start_without_dice_begins_with_roll_1() -> None:
    game = session(5, GameState(START, max_cube=1))
    assert not game.is_opening
    assert game.roll() == dice.roll(5, 1, 1)
    game.play(game.plays[0])
    assert game.roll() == dice.roll(5, 1, 2)


def test_a_start_is_taken_over_whole() -> None:
    start = GameState(START, dice=(3, 1), match_length=5, score=(2, 1), cube=2, owner=1)
    game = session(5, start)
    assert game.state == start
    game.resign(1)
    assert (game.score, game.from_position) == ((4, 1), True)
    game.next_game()
    assert game.state == GameState(START, match_length=5, score=(4, 1), crawford=True, game_state=0)


def test_money_games_from_a_position_all_begin_there() -> None:
    start = GameState(START, dice=(3, 1), cube=2, owner=1)
    game = session(5, start)
    game.resign(1)
    game.next_game()
    assert game.state == GameState(START, dice=(3, 1), cube=2, owner=1, score=(2, 0))


def test_a_finished_start_is_refused() -> None:
    with pytest.raises(SessionError, match="the game is over"):
        session(1, state(board({}, {1: 3})))
    with pytest.raises(DiceError, match="seed"):
        session(-1)


@pytest.mark.parametrize(
    ("own", "opponent", "level"),
    [({1: 1}, {20: 14}, 1), ({1: 1}, {20: 15}, 2), ({1: 1}, {20: 14, 0: 1}, 3), ({1: 1}, {20: 14, 6: 1}, 3)],
)
def test_rule_25_what_a_win_is_worth(own: dict[int, int], opponent: dict[int, int], level: int) -> None:
    for seat in (X, O):
        game = session(1, state(board(own, opponent), on_roll=seat, dice=(2, 1)))
        if seat == X:
            game.play("1/off")
        else:
            game.bot_turn()
        result = game.result
        assert result is not None
        assert (result.winner, result.kind, result.points) == (
            seat,
            ("single", "gammon", "backgammon")[level - 1],
            level,
        )
        assert game.finished[0].turns == 1
        assert game.score == ((0, level) if seat == X else (level, 0))
        assert str(result).startswith(f"{'OX'[seat]} wins a ")
        with pytest.raises(SessionError, match="over"):
            game.roll()
        with pytest.raises(SessionError, match="over"):
            _ = game.plays
        with pytest.raises(SessionError, match="over"):
            game.undo()
        with pytest.raises(SessionError, match="over"):
            game.resign(1)


def test_plays_are_read_and_refused_with_reasons() -> None:
    game = session(1, GameState(START, dice=(3, 1)))
    with pytest.raises(IllegalPlayError, match="both dice"):
        game.play("8/5")
    with pytest.raises(SessionError, match="no play of this roll"):
        game.play(legal_plays(START, (6, 5))[0])
    assert plays_of(game) == []
    assert play_made(game.play("6/5, 8/5")).notation == "8/5 6/5"
    with pytest.raises(SessionError, match="not been rolled"):
        game.play("8/5 6/5")
    game.roll()
    with pytest.raises(ActionError, match="rolled already"):
        game.roll()
    with pytest.raises(SessionError, match="not over"):
        game.next_game()


def test_no_play_is_a_forced_turn_of_both() -> None:
    game = session(1, state(NO_MOVES, dice=(6, 6)))
    turn = game.play("")
    assert (play_made(turn).notation, turn.forced) == ("no play", True)

    class Never(Scripted):
        def play(self, state: GameState) -> np.ndarray:
            raise AssertionError("a bot need not be asked for a forced play")

    game = session(1, state(NO_MOVES, on_roll=O, dice=(6, 6)), Never())
    assert play_made(game.bot_turn()).moves == ()


def test_the_bot_does_not_play_for_x() -> None:
    with pytest.raises(SessionError, match="X's turn"):
        session(1, GameState(START, dice=(3, 1))).bot_turn()


@pytest.mark.parametrize("wrong", [START.board.copy()[None], START.board.copy(), np.zeros((1, 25), np.int8)])
def test_a_bot_that_breaks_the_rules_is_found_out(wrong: np.ndarray) -> None:
    class Cheat(Scripted):
        def play(self, state: GameState) -> np.ndarray:
            return wrong

    game = session(1, GameState(START, on_roll=O, dice=(3, 1), max_cube=1), Cheat())
    with pytest.raises(BotError, match=re.escape(f"{START.position_id} and the roll 3-1")):
        game.bot_turn()
    assert plays_of(game) == []


# ---- undo ----------------------------------------------------------------------------------------------------------


def test_undo_goes_back_choice_by_choice_and_changes_no_dice() -> None:
    for seed in range(6):
        game = session(seed)
        play_on(game, random.Random(seed), 30)
        assert game.result is None
        rolled = [step.state.dice for step in plays_of(game)]
        choices = [i for i, turn in enumerate(plays_of(game)) if turn.state.on_roll == X and not turn.forced]
        for i in reversed(choices):
            before = plays_of(game)[i].state
            game.undo()
            assert game.state == before
            assert len(plays_of(game)) == i
            assert len(game.plays) > 1
        with pytest.raises(SessionError, match="first choice"):
            game.undo()
        play_on(game, random.Random(99), 30)
        again = [step.state.dice for step in plays_of(game)]
        assert again[: len(rolled)] == rolled[: len(again)]


def test_undo_passes_over_forced_turns() -> None:
    game = session(1, state(NO_MOVES, on_roll=X, dice=(6, 6)))
    game.play("no play")
    game.roll()
    game.bot_turn()
    with pytest.raises(SessionError, match="nothing to undo"):
        game.undo()


# ---- resigning -----------------------------------------------------------------------------------------------------


def test_resigning_costs_what_is_said() -> None:
    game = session()
    with pytest.raises(ActionError, match="opening roll"):
        game.resign(2)
    game.state = GameState(START, dice=(3, 1), max_cube=1)
    assert game.resign(2).accepted
    assert game.result is not None
    assert str(game.result) == "O wins a gammon, resigned: 2 points"
    game.next_game()
    assert game.state.score == (2, 0)


def test_an_offer_that_is_not_accepted_leaves_no_trace() -> None:
    game = session(1, GameState(START, dice=(3, 1), max_cube=1), Scripted(accepts=False))
    before = game.state
    assert game.resign(1) == Offer(False, 1.0, 2.0)
    assert (game.state, game.steps, game.result) == (before, [], None)


def test_who_has_borne_off_cannot_lose_a_gammon_and_one_resigns_in_turn() -> None:
    game = session(1, state(board({6: 14}, {19: 15})))
    with pytest.raises(ActionError, match="borne off"):
        game.resign(2)
    assert game.result is None
    other = session(1, state(board({6: 14}, {19: 15}), on_roll=O))
    with pytest.raises(SessionError, match="one's turn"):
        other.resign(1)


# ---- dice that are given -------------------------------------------------------------------------------------------


def test_given_dice() -> None:
    game = session(seed=None)
    for wrong, words in ((None, "missing"), ("7 1", "1 to 6"), ("", "1 to 6"), ("3", "1 to 6")):
        with pytest.raises(DiceError, match=words):
            game.roll(wrong)
    with pytest.raises(ActionError, match="thrown again"):
        game.roll("33")
    assert game.roll("1-3") == (1, 3)
    assert (game.state.on_roll, game.state.dice) == (O, (3, 1))
    game.bot_turn()
    assert game.roll("5 5") == (5, 5)
    assert game.state.on_roll == X


def test_dice_of_a_seed_cannot_be_chosen() -> None:
    game = session(seed=1)
    with pytest.raises(SessionError, match="cannot be chosen"):
        game.roll("31")
    game.roll()
    with pytest.raises(SessionError, match="cannot be changed"):
        game.correct_dice("31")


def test_a_given_roll_can_be_corrected() -> None:
    game = session(seed=None)
    game.roll("31")
    assert len(game.plays) == 16
    assert game.correct_dice("64") == (6, 4)
    assert (game.state.dice, game.state.on_roll) == ((6, 4), X)
    assert {play.notation for play in game.plays} == {play.notation for play in legal_plays(START, "64")}
    for wrong in ("44", "x"):
        with pytest.raises((ActionError, DiceError)):
            game.correct_dice(wrong)
        assert (game.state.dice, game.state.on_roll) == ((6, 4), X), "a wrong correction changes nothing"
    assert game.correct_dice("46") == (4, 6)
    assert game.state.on_roll == O, "at the opening the dice decide who starts"
    game.bot_turn()
    game.roll("21")
    assert game.correct_dice("66") is None
    assert (game.state.dice, game.state.on_roll) == ((6, 6), X)


def test_undo_with_given_dice_keeps_the_roll_and_asks_for_the_next_ones_again() -> None:
    game = session(seed=None)
    game.roll("31")
    game.play("8/5 6/5")
    game.roll("66")
    game.undo()
    assert (game.state.dice, game.state.position, plays_of(game)) == ((3, 1), START, [])
    game.play("24/23 13/10")
    game.roll("52")
    assert game.state.dice == (5, 2)


def test_undo_with_given_dice_and_no_choice_yet_goes_back_to_the_start() -> None:
    game = session(seed=None)
    game.roll("13")
    game.bot_turn()
    game.undo()
    assert game.is_opening
    assert game.state.position == START
    with pytest.raises(SessionError, match="nothing to undo"):
        game.undo()


# ---- the log -------------------------------------------------------------------------------------------------------


def test_the_log_tells_the_games_again() -> None:
    game = session(seed=4)
    for _ in range(2):
        play_on(game, random.Random(4))
        game.next_game()
    play_on(game, random.Random(4), 3)
    lines = iter(game.log("random").splitlines())
    assert next(lines) == "bgnet play, cubeless money play, X = you, O = random, dice of seed 4"
    endings = []
    for number in (1, 2, 3):
        assert next(lines) == ""
        header, _, xgid = next(lines).partition(", from ")
        assert header == f"game {number}"
        at = GameState.from_xgid(xgid)
        position, on_roll = at.position, at.on_roll
        assert position == START
        for line in lines:
            found = re.fullmatch(r" *(\d+) ([XO]) (\d-\d)  (.+)", line)
            if found is None:
                endings.append(line.strip())
                break
            assert found[2] == "OX"[on_roll]
            plays = {play.notation: play for play in legal_plays(position, found[3])}
            position, on_roll = plays[found[4]].position, 1 - on_roll
        assert (position.ending() is not None) == (number < 3)
    assert endings == [*(str(g.result) for g in game.finished), "not finished"]
    assert next(lines) == f"score: X {game.score[X]}, O {game.score[O]}"


def test_rolls_are_written_with_a_dash() -> None:
    assert (written((3, 1)), written(None)) == ("3-1", "-")
