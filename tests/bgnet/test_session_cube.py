"""Games of a person against a bot, for stakes: the cube, matches, records, what the bot decides."""

from __future__ import annotations

import random

import pytest

from bgnet.composite import Composite
from bgnet.cubeful import CubefulSearch
from bgnet.players import RandomPlayer
from bgnet.session import BotError, Need, O, Session, SessionError, X
from bgnet.session_bots import Opponent
from bgnet.stakes_players import PlainPlayer
from engine import START, ActionError, GameState, Position
from engine.actions import Action, new_game
from engine.records import parse_mat, to_mat
from tests.bgnet.nets import random_net
from tests.bgnet.sessions import Scripted, play_made, play_on, session
from tests.boards import board
from tests.random_play import choice

# ---- the cube ------------------------------------------------------------------------------------------------------


def test_what_the_game_waits_for() -> None:
    game = session(None, new_game(5))
    assert (game.need, game.words) == (Need.DICE, "5-point match")
    game.roll("31")
    assert game.need is Need.PLAY
    game.play("8/5 6/5")
    assert (game.need, game.state.decider) == (Need.CUBE, O)
    assert not game.bot_doubles()
    game.roll("64")
    game.bot_turn()
    assert (game.need, game.state.decider) == (Need.CUBE, X)
    game.act(Action.DOUBLE)
    assert (game.need, game.state.decider) == (Need.ANSWER, O)
    with pytest.raises(ActionError, match="has doubled"):
        game.roll("21")
    assert game.bot_answers().action is Action.TAKE
    assert (game.need, game.state.cube, game.state.owner) == (Need.DICE, 2, O)
    with pytest.raises(ActionError, match="owns the cube"):
        game.act(Action.DOUBLE)
    with pytest.raises(SessionError, match="another way"):
        game.act(Action.ROLL)


def test_a_dropped_double_ends_the_game_and_beavers_turn_the_cube_twice() -> None:
    start = GameState(START, beavers=True, jacoby=True)
    game = session(1, start, Scripted(answer=Action.DROP))
    game.act(Action.DOUBLE)
    game.bot_answers()
    assert str(game.result) == "X wins by a drop: 1 point"
    game = session(1, start, Scripted(answer=Action.BEAVER))
    game.act(Action.DOUBLE)
    game.bot_answers()
    assert (game.state.cube, game.state.owner, game.need) == (4, O, Need.DICE)
    game = session(1, GameState(START, on_roll=O), Scripted(doubles=True))
    assert game.bot_doubles()
    assert game.need is Need.ANSWER
    game.act(Action.TAKE)
    assert (game.state.cube, game.state.owner) == (2, X)


def test_a_bot_that_answers_what_is_not_allowed() -> None:
    game = session(1, GameState(START), Scripted(answer=Action.BEAVER))  # beavers are not played
    game.act(Action.DOUBLE)
    with pytest.raises(BotError, match="beaver"):
        game.bot_answers()
    with pytest.raises(SessionError, match="X's turn"):
        session(1, GameState(START)).bot_doubles()


def test_undo_takes_back_doubles_and_answers_but_no_roll() -> None:
    game = session(1, GameState(START))
    before = game.state
    game.act(Action.DOUBLE)
    game.bot_answers()
    game.roll()
    with_dice = game.state
    game.play(game.plays[0])
    game.undo()
    assert game.state == with_dice
    game.undo()
    assert game.state == before, "the double"
    game = session(1, GameState(START, on_roll=O), Scripted(doubles=True))
    game.bot_doubles()
    doubled = game.state
    game.act(Action.TAKE)
    game.roll()
    game.bot_turn()
    game.undo()
    assert game.state == doubled


def test_after_a_match_there_is_no_next_game() -> None:
    game = session(1, GameState(START, dice=(3, 1), match_length=3, score=(1, 0)))
    with pytest.raises(SessionError, match="not over yet"):
        game.next_game()
    game.resign(2)
    assert game.state.match_over
    with pytest.raises(SessionError, match="match is over"):
        game.next_game()


@pytest.mark.parametrize(
    "start",
    [new_game(5), new_game(jacoby=True, beavers=True), new_game(3, max_cube=1)],
    ids=["match", "money", "no cube"],
)
def test_a_session_is_recorded_as_it_was_played(start: GameState) -> None:
    """Everything that the rules allow, by players who know nothing; then the file tells the same games."""
    rng = random.Random(8)
    game = session(None, start)
    for _ in range(400):
        if game.result is not None:
            if game.state.match_over or len(game.finished) == 4:
                break
            game.next_game()
        action, argument = choice(game.state, rng)
        match action:
            case Action.ROLL:
                game.roll(argument)
            case Action.PLAY:
                game.play(rng.choice(game.plays))
            case Action.RESIGN:
                if game.state.on_roll == X:
                    game.resign(rng.choice(game.state.can_lose))
            case _:
                game.act(action)
    record = parse_mat(to_mat(game.record("a bot")))
    assert record.players == ("a bot", "you")
    assert len(record.games) == len(game.games) >= 2
    assert record.games[-1].end.score == game.score
    if record.winner is None:
        again = Session.resume(Scripted(), record, seed=None)
        if game.result is not None:
            game.next_game()
        assert again.state == game.state
        assert again.record("a bot") == game.record("a bot")
        return
    with pytest.raises(SessionError, match="the match is over: "):
        Session.resume(Scripted(), record, seed=None)
    assert [g.result for g in record.games[:-1]] == [g.result for g in game.games[:-1]]
    for told, played in zip(record.games, game.games, strict=True):
        done = [(a.seat, a.play.position) for a in told.actions if a.play is not None]
        ours = [(step.seat, play_made(step).position) for step in played.steps if step.action is Action.PLAY]
        resigned = played.result is not None and played.result.resigned
        assert done[: len(ours)] == ours
        assert len(done) <= len(ours) + resigned, "a forced play before a resignation is read as made"


def test_an_interrupted_game_goes_on_with_the_same_dice() -> None:
    game = session(7, new_game(5))
    play_on(game, random.Random(2), 9)
    game.roll()
    again = Session.resume(Scripted(), parse_mat(to_mat(game.record("bot"))), seed=7)
    assert (again.state, again.game) == (game.state, game.game)
    for one in (game, again):
        play_on(one, random.Random(3), 20)
    assert again.state == game.state
    again.undo()


def test_what_cannot_be_gone_on_with() -> None:
    text = " 5 point match\n\n Game 1\n a : 0                         b : 0\n  1)                             31: 8/5\n"
    text += "  2) 64: 24/14\n"
    with pytest.raises(SessionError, match="played irregularly"):
        Session.resume(Scripted(), parse_mat(text), seed=1)


def test_a_record_needs_games_from_their_start() -> None:
    with pytest.raises(SessionError, match="began from a position"):
        session(1, GameState(START)).record("bot")


# ---- bots ----------------------------------------------------------------------------------------------------------


def judge() -> CubefulSearch:
    return CubefulSearch(Composite(random_net([8])), 0)


@pytest.mark.parametrize(("eights", "takes"), [(7, True), (8, False)])
def test_bots_without_chances_take_by_the_pip_count_and_never_double(eights: int, takes: bool) -> None:
    position = Position(board({7: 10, 6: 5}, {17: eights, 18: 15 - eights}))
    bot = Opponent(PlainPlayer(RandomPlayer()), judge())
    pending = GameState(position, doubled=True)
    assert pending.pips == (100, 112 if takes else 113)
    assert bot.answer(pending) is (Action.TAKE if takes else Action.DROP)
    assert not bot.doubles(GameState(position))


def test_a_resignation_is_judged_by_chances() -> None:
    """O bears off his last checker next, X none before: he has lost a gammon for sure, by the exact tables."""
    position = Position(board({13: 15}, {24: 1}))
    bot = Opponent(PlainPlayer(RandomPlayer()), judge())
    for cube, owner in ((1, None), (4, O)):
        state = GameState(position, dice=(2, 1), cube=cube, owner=owner)
        single, gammon = bot.judge(state.resign(1)), bot.judge(state.resign(2))
        assert not single.accepted
        assert (single.offered, gammon.offered) == (1.0, 2.0)
        assert single.expected == pytest.approx(2.0, abs=0.01)
        assert gammon.accepted
    jacoby = GameState(position, dice=(2, 1), jacoby=True)
    assert bot.judge(jacoby.resign(1)).accepted, "gammons do not count before the cube is turned"
    dmp = GameState(position, dice=(2, 1), match_length=1, crawford=True)
    assert bot.judge(dmp.resign(1)).accepted
