"""A game state for people: one line of words, and the drawing with that line below it.

As in all drawings X is the player on roll, whichever seat is his; the line says so where that is not player 1.
"""

from __future__ import annotations

from engine.diagram import text
from engine.state import GameState, GameStatus

__all__ = ["action", "drawing", "stakes", "summary"]

_LEVELS = ("", "a single game", "a gammon", "a backgammon")
_ENDS = {
    GameStatus.NONE: "no game going on",
    GameStatus.OVER: "game over",
    GameStatus.RESIGNED: "game resigned",
    GameStatus.DROPPED: "double dropped",
}


def drawing(state: GameState, unicode: bool = False) -> str:
    """The board with the cube and the action beside it, as `engine.diagram.text`, and the summary below."""
    board = text(state.position, unicode, middle=_cube(state), last=action(state), checkers=state.checkers)
    return f"{board}\n {summary(state)}"


def summary(state: GameState) -> str:
    """As "money, Jacoby, cube 2 owned by O, X to play 3-1" or "7-point match, X 3, O 6, Crawford game, ..."."""
    parts = [*stakes(state), _cube(state), action(state)]
    line = ", ".join(parts)
    return line if state.on_roll == 1 else f"{line} (X here is player 0, O in an XGID)"


def stakes(state: GameState) -> list[str]:
    """What is played for, in parts: the game and its stakes where they are not the usual ones, the rules, the score."""
    own, opponent = state.score[state.on_roll], state.score[1 - state.on_roll]
    points = f"X {own}, O {opponent}"
    unusual = [state.variant] if state.variant != "backgammon" else []
    if state.stakes != (1, 2, 3):
        unusual.append("wins count {}, {}, {}".format(*state.stakes))
    if not state.match_length:
        names = ["money", "Jacoby" if state.jacoby else "", "beavers" if state.beavers else ""]
        return [*unusual, *filter(None, names)] + ([f"session score {points}"] if own or opponent else [])
    parts = [*unusual, f"{state.match_length}-point match", points]
    if state.crawford:
        parts.append("Crawford game")
    elif state.match_length > 1 and state.match_length - 1 in state.score:
        parts.append("post-Crawford")
    return parts


def _cube(state: GameState) -> str:
    if state.max_cube == 1:
        return "no cube"
    place = {0: "centred", 1: "owned by X", -1: "owned by O"}[state.cube_owner]
    limit = f" (at most {state.max_cube})" if state.max_cube is not None else ""
    return f"cube {state.cube} {place}{limit}"


def action(state: GameState) -> str:
    """Who has to do what."""
    if state.game_state in _ENDS:
        return _ENDS[state.game_state]
    if state.position.ending() is not None:
        return "game over"
    if state.doubled:
        return f"X doubles to {2 * state.cube}, O to answer"
    if state.resigned:
        return f"X offers to resign {_LEVELS[state.resigned]}, O to answer"
    if state.dice is not None:
        return f"X to play {state.dice[0]}-{state.dice[1]}"
    return "X on roll"
