"""Players who know which actions are legal and nothing else: for games that go everywhere the rules allow."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from engine import Action, GameState, legal_afterstates
from engine.state import GameStatus

_WEIGHTS = {Action.DOUBLE: 0.3, Action.RESIGN: 0.01, Action.DROP: 0.3, Action.BEAVER: 0.3, Action.REJECT: 0.5}


def choice(state: GameState, rng: random.Random) -> tuple[Action, object]:
    """An action that is legal in a state that is not over, and its argument."""
    legal = state.legal_actions()
    action = rng.choices(legal, [_WEIGHTS.get(action, 1.0) for action in legal])[0]
    if action is Action.ROLL:
        dice = rng.randint(1, 6), rng.randint(1, 6)
        if state.game_state == GameStatus.NONE:
            dice = (6, 2) if dice[0] == dice[1] else dice
        return action, dice
    if action is Action.PLAY:
        results = legal_afterstates(state.position.board[None], np.array([state.dice], dtype=np.int8)).boards
        return action, results[rng.randrange(len(results))]
    if action is Action.RESIGN:
        return action, rng.choice(state.can_lose)
    return action, None


def done(state: GameState, action: Action, argument: object) -> GameState:
    """The state after, by the method of the action's name."""
    method = getattr(state, action.value)
    return method() if argument is None else method(argument)


def random_session(start: GameState, rng: random.Random, actions: int) -> Iterator[tuple[GameState, Action, object]]:
    """(state, action, argument) for so many actions; a match that is won begins again."""
    state = start
    for _ in range(actions):
        while state.result is not None:
            state = start if state.match_over else state.next_game()
        action, argument = choice(state, rng)
        yield state, action, argument
        state = done(state, action, argument)
