"""Sessions against a bot that does what a test tells it."""

from __future__ import annotations

import random

from bgnet.players import RandomPlayer
from bgnet.session import O, Session, Step
from bgnet.session_bots import Offer, Opponent
from bgnet.stakes_players import PlainPlayer
from engine import GameState, Play
from engine.actions import Action


class Scripted(Opponent):
    """Plays at random; doubles, answers and judges as it is told."""

    def __init__(self, doubles: bool = False, answer: Action = Action.TAKE, accepts: bool = True) -> None:
        self.bot = PlainPlayer(RandomPlayer())
        self._doubles, self._answer, self._accepts = doubles, answer, accepts

    def doubles(self, state: GameState) -> bool:
        return self._doubles

    def answer(self, state: GameState) -> Action:
        return self._answer

    def judge(self, state: GameState) -> Offer:
        assert state.resigned
        return Offer(self._accepts, 1.0, 2.0)


def session(seed: int | None = 1, start: GameState | None = None, opponent: Scripted | None = None) -> Session:
    """Without a cube unless the start has one."""
    return Session(opponent or Scripted(), seed=seed, start=start)


def plays_of(game: Session) -> list[Step]:
    """The rolls that were played in the game at hand, or in the last one."""
    return [step for step in game.steps if step.action is Action.PLAY]


def play_made(step: Step) -> Play:
    assert isinstance(step.argument, Play)
    return step.argument


def play_on(game: Session, choices: random.Random, turns: int = 10_000) -> None:
    """Both sides to the end, or some turns; X plays at random."""
    for _ in range(turns):
        if game.result is not None:
            return
        if game.state.dice is None:
            game.roll()
        if game.state.on_roll == O:
            game.bot_turn()
        else:
            game.play(choices.choice(game.plays))
