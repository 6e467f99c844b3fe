"""What may be done in a game, and what comes of it. Every action gives a new GameState, illegal ones raise ActionError.

These functions stand behind the methods of GameState. Decided here, where books differ:

- A game begins undecided (GameStatus.NONE): the one action is the opening roll, whose higher die starts.
- In a match nobody may double when the cube as it stands wins him the match: for him it is dead, and a dead cube is no
  cube. So the leader at match point cannot double after the Crawford game either, where it could only cost him. A
  record of a game may hold such a double all the same; `double(state, dead=True)` makes it.
- A beaver is settled at once: the cube goes to four times the stake and to the player who beavers, and the doubler
  rolls. He cannot drop it, and there are no raccoons.
- The player on roll may offer to resign, before or after his roll, by any level that he can still lose.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

import numpy as np

from engine.errors import ActionError
from engine.moves import legal_afterstates
from engine.outcomes import LOSE
from engine.plays import Play, parse_play
from engine.position import Position
from engine.refusals import written_roll
from engine.rules import VARIANTS, RuleSet
from engine.state import CUBE_TOP, SEATS, START_POSITIONS, GameState, GameStatus
from engine.steps import read_dice

__all__ = [
    "LEVELS", "Action", "GameResult", "WinKind", "accept", "beaver", "can_lose", "check", "double", "drop",
    "legal_actions", "new_game", "next_game", "open_game", "play", "points_of", "reject", "resign", "result", "roll",
    "take", "why_not",
]  # fmt: skip


class Action(enum.StrEnum):
    """Everything that can be done in a game."""

    ROLL = "roll"
    DOUBLE = "double"
    TAKE = "take"
    DROP = "drop"
    BEAVER = "beaver"
    PLAY = "play"
    RESIGN = "resign"
    ACCEPT = "accept"
    """The resignation that is offered."""
    REJECT = "reject"
    """The resignation that is offered: the game goes on as if nothing had been said."""


class WinKind(enum.StrEnum):
    """How a game was won."""

    SINGLE = "single"
    GAMMON = "gammon"
    BACKGAMMON = "backgammon"
    DROP = "drop"
    """The loser dropped a double."""


LEVELS = (WinKind.SINGLE, WinKind.GAMMON, WinKind.BACKGAMMON)
"""A level, as resignations count them, is the index plus one."""


@dataclass(frozen=True)
class GameResult:
    """How a game ended."""

    winner: int
    """A seat."""
    points: int
    """What it is worth: cube and Jacoby rule included, not cut at the end of a match."""
    kind: WinKind
    """What the loser lost; under the Jacoby rule a gammon may count no more than a single game."""
    resigned: bool = False

    def __str__(self) -> str:
        won = {WinKind.SINGLE: "a single game", WinKind.DROP: "by a drop"}.get(self.kind, f"a {self.kind}")
        how = ", resigned" if self.resigned else ""
        return f"{'OX'[self.winner]} wins {won}{how}: {self.points} point{'s' * (self.points != 1)}"


# ---- a game from beginning to end ---------------------------------------------------------------------------------


def new_game(
    match_length: int = 0,
    *,
    jacoby: bool = False,
    beavers: bool = False,
    max_cube: int | None = None,
    variant: str = "backgammon",
    rules: RuleSet | None = None,
) -> GameState:
    """The first game of a match to `match_length` points, or of a money session (0), before its opening roll.

    variant: a name of engine.rules.VARIANTS. max_cube: the cube's highest face; 1 = there is no cube. rules: a RuleSet
    instead of the rest, which then must be left out, except for the variant: `new_game(rules=rules.CLUB)`.
    Raises StateError or ActionError for what cannot be played, such as a match with the Jacoby rule.
    """
    stakes: tuple[float, float, float] = (1, 2, 3)
    if rules is not None:
        if (match_length, jacoby, beavers, max_cube) != (0, False, False, None):
            raise ActionError("give either rules or match_length, jacoby, beavers and max_cube")
        if rules.match_length and not rules.crawford:
            raise ActionError(f"rules {rules.name!r}: matches are played with the Crawford rule here")
        if rules.checkers not in (15, VARIANTS.get(variant, (None, 15))[1]):
            raise ActionError(f"rules {rules.name!r}: {rules.checkers} checkers a side do not fit {variant}")
        match_length, jacoby, beavers, stakes = rules.match_length, rules.jacoby, rules.beavers, rules.stakes
        max_cube = rules.max_cube if rules.cube else 1
    return GameState(
        START_POSITIONS.get(variant, START_POSITIONS["backgammon"]),
        match_length=match_length,
        crawford=match_length == 1,
        jacoby=jacoby,
        beavers=beavers,
        max_cube=max_cube,
        variant=variant,
        stakes=stakes,  # type: ignore[arg-type]  # GameState takes whole ones only and says so
        game_state=GameStatus.NONE,
    )


def next_game(state: GameState) -> GameState:
    """The next game of the match or session before its opening roll; ActionError unless this one is over.

    The Crawford game is the first one in which a player needs one point; where that rule is not in force, as a record
    may say, `dataclasses.replace(..., crawford=False)` takes it back.
    """
    ended = result(state)
    if ended is None:
        over = _why_over(state)
        reason = f"{over}, but not how it ended" if over else "the game is not over yet"
        raise ActionError(f"{reason}: no next game")
    if state.match_over:
        raise ActionError(f"{SEATS[ended.winner]} has won the match: no next game")
    before = list(state.score)
    before[ended.winner] -= ended.points
    match_point = state.match_length - 1
    return replace(
        state,
        position=START_POSITIONS[state.variant],
        on_roll=1,
        dice=None,
        cube=1,
        owner=None,
        crawford=bool(state.match_length) and match_point in state.score and match_point not in before,
        doubled=False,
        resigned=0,
        game_state=GameStatus.NONE,
    )


def result(state: GameState) -> GameResult | None:
    """How the game ended, from a state that says that it did; None while it goes on."""
    if state.game_state == GameStatus.DROPPED:
        return GameResult(state.on_roll, points_of(state, 1), WinKind.DROP)
    if state.game_state == GameStatus.RESIGNED and state.resigned:
        level = state.resigned
        return GameResult(1 - state.on_roll, points_of(state, level), LEVELS[level - 1], resigned=True)
    ending = state.position.ending(state.checkers)
    if state.game_state != GameStatus.OVER or ending is None:
        return None
    level = ending % LOSE + 1
    winner = 1 - state.on_roll if ending >= LOSE else state.on_roll
    return GameResult(winner, points_of(state, level), LEVELS[level - 1])


def points_of(state: GameState, level: int) -> int:
    """What a win of this level (1 single game, 2 gammon, 3 backgammon) is worth now."""
    if state.jacoby and state.owner is None:  # the cube has not been turned
        level = 1
    return state.cube * state.stakes[level - 1]


def _with_points(state: GameState, status: GameStatus) -> GameState:
    """The finished game, its points added to the score."""
    over = replace(state, game_state=status)
    ended = result(over)
    assert ended is not None
    score = list(state.score)
    score[ended.winner] += ended.points
    return replace(over, score=(score[0], score[1]))


# ---- what may be done ---------------------------------------------------------------------------------------------


def legal_actions(state: GameState) -> tuple[Action, ...]:
    """What `state.decider` may do, in the order of Action; nothing when the game is over."""
    return tuple(action for action in Action if why_not(state, action) is None)


def why_not(state: GameState, action: Action) -> str | None:
    """The reason why an action is not allowed now, None if it is."""
    over = _why_over(state)
    if over is not None:
        return over
    if state.game_state == GameStatus.NONE:
        return (
            _why_no_opening(state) if action is Action.ROLL else "the opening roll comes first, it decides who starts"
        )
    if action in (Action.TAKE, Action.DROP, Action.BEAVER):
        if not state.doubled:
            return "no double is pending"
        return _why_no_beaver(state) if action is Action.BEAVER else None
    if action in (Action.ACCEPT, Action.REJECT):
        return None if state.resigned else "no resignation is pending"
    if state.doubled:
        return f"{SEATS[state.on_roll]} has doubled: {SEATS[state.decider]} takes or drops first"
    if state.resigned:
        return f"{SEATS[state.on_roll]} offers to resign: {SEATS[state.decider]} accepts or rejects first"
    rolled = None if state.dice is None else written_roll(state.dice)
    if action is Action.ROLL:
        return None if rolled is None else f"the dice have been rolled already, they show {rolled}"
    if action is Action.PLAY:
        return "the dice have not been rolled yet" if rolled is None else None
    if action is Action.DOUBLE:
        if rolled is not None:
            return f"one doubles before the roll, but the dice show {rolled}"
        return _why_no_cube(state) or _why_dead(state)
    return None  # a resignation


def _why_over(state: GameState) -> str | None:
    if state.game_state == GameStatus.DROPPED:
        return "the game is over: a double was dropped"
    if state.game_state == GameStatus.RESIGNED:
        return "the game is over: it was resigned"
    if state.game_state == GameStatus.OVER or state.position.ending(state.checkers) is not None:
        return "the game is over"
    if state.match_over:
        return "the match is over"
    return None


def _why_no_opening(state: GameState) -> str | None:
    if state.dice is not None or state.doubled or state.resigned or state.owner is not None:
        return "no game has begun here, yet it is under way: give it game_state=GameStatus.PLAYING"
    if state.position != state.position.flipped():
        return "an opening roll decides who starts, so the position must be the same for both players"
    return None


def _why_no_cube(state: GameState) -> str | None:
    """Why the player on roll has no cube that he could turn, whatever the score."""
    if state.max_cube == 1:
        return "there is no cube in this game"
    if state.crawford:
        return "it is the Crawford game: nobody may double"
    if state.cube_owner < 0:
        return f"{SEATS[1 - state.on_roll]} owns the cube"
    if state.cube >= _top(state):
        return f"the cube is at its highest face, {state.cube}"
    return None


def _why_dead(state: GameState) -> str | None:
    away = state.away
    if away is None or away[0] > points_of(state, 1):
        return None
    points = f"{away[0]} point{'s' * (away[0] > 1)}"
    return f"the cube is dead: {SEATS[state.on_roll]} needs {points}, which a cube at {state.cube} wins already"


def _why_no_beaver(state: GameState) -> str | None:
    if state.match_length:
        return "beavers belong to money play, not to matches"
    if not state.beavers:
        return "beavers are not played"
    if 4 * state.cube > _top(state):
        return f"a beaver would turn the cube to {4 * state.cube}, above its highest face, {_top(state)}"
    return None


def _top(state: GameState) -> int:
    return CUBE_TOP if state.max_cube is None else state.max_cube


def can_lose(state: GameState) -> tuple[int, ...]:
    """The levels that the player on roll can still lose by, as far as his borne-off checkers say."""
    board = state.position.board.astype(np.int64)
    return (1,) if int(board[board > 0].sum()) < state.checkers else (1, 2, 3)


# ---- the actions ----------------------------------------------------------------------------------------------------


def check(state: GameState, action: Action) -> None:
    """Raise ActionError with the reason unless the action is allowed now."""
    reason = why_not(state, action)
    if reason is not None:
        raise ActionError(f"cannot {action}: {reason}")


def roll(state: GameState, dice: object) -> GameState:
    """The state with these dice; before a game has begun its opening roll, see `open_game`."""
    if state.game_state == GameStatus.NONE:
        return open_game(state, dice)
    check(state, Action.ROLL)
    return replace(state, dice=read_dice(dice))


def open_game(state: GameState, dice: object) -> GameState:
    """Begin the game: dice = (the die of player 1, the die of player 0); the higher one starts with both.

    His own die comes first in the state. Raises ActionError for equal dice: both throw again.
    """
    if state.game_state != GameStatus.NONE:
        raise ActionError("cannot open the game: it has begun")
    check(state, Action.ROLL)
    of_1, of_0 = read_dice(dice)
    if of_1 == of_0:
        raise ActionError(f"both threw a {of_1}: equal dice are thrown again to decide who starts")
    pair = max(of_1, of_0), min(of_1, of_0)
    return replace(state, on_roll=int(of_1 > of_0), dice=pair, game_state=GameStatus.PLAYING)


def double(state: GameState, *, dead: bool = False) -> GameState:
    """The state with a double to answer. dead: also with a cube that is dead, for games as others played them."""
    reason = why_not(state, Action.DOUBLE)
    if not (dead and reason is not None and reason == _why_dead(state)):
        check(state, Action.DOUBLE)
    return replace(state, doubled=True)


def take(state: GameState) -> GameState:
    """The stake doubles, and the player who takes owns the cube."""
    check(state, Action.TAKE)
    return replace(state, cube=2 * state.cube, owner=state.decider, doubled=False)


def beaver(state: GameState) -> GameState:
    """Take, redouble at once and keep the cube, which goes to four times the stake; the doubler rolls."""
    check(state, Action.BEAVER)
    return replace(state, cube=4 * state.cube, owner=state.decider, doubled=False)


def drop(state: GameState) -> GameState:
    """The game is over: the doubler, who stays on roll, wins the stake as it was before the double."""
    check(state, Action.DROP)
    return _with_points(replace(state, doubled=False), GameStatus.DROPPED)


def play(state: GameState, given: object) -> GameState:
    """The state after a play, which may end the game.

    given: a Play, text that `engine.parse_play` reads, or the result in the next player's view as a Position or
    int8[26]. Raises ActionError for what is no play of the roll; for text what `parse_play` raises.
    """
    check(state, Action.PLAY)
    after = replace(state, position=_result_of_play(state, given), on_roll=1 - state.on_roll, dice=None)
    return after if after.position.ending(state.checkers) is None else _with_points(after, GameStatus.OVER)


def _result_of_play(state: GameState, given: object) -> Position:
    assert state.dice is not None
    if isinstance(given, str):
        return parse_play(state.position, state.dice, given).position
    wanted = given.position if isinstance(given, Play) else given
    if not isinstance(wanted, Position):
        wanted = Position(wanted)  # type: ignore[arg-type]  # it raises what is wrong
    results = legal_afterstates(state.position.board[None], np.array([state.dice], dtype=np.int8)).boards
    if (results == wanted.board).all(axis=1).any():
        return wanted
    shown = f"{given.notation!r}" if isinstance(given, Play) else f"{wanted!r}"
    if (results == wanted.flipped().board).all(axis=1).any():
        raise ActionError(f"{shown} is the result of a play in the mover's view; give it in the next player's view")
    raise ActionError(f"{shown} is no play of {written_roll(state.dice)} in {state.position.position_id}")


def resign(state: GameState, level: int) -> GameState:
    """The state with an offer to lose a single game (1), a gammon (2) or a backgammon (3), which the other answers."""
    check(state, Action.RESIGN)
    levels = can_lose(state)
    if isinstance(level, bool) or level not in (1, 2, 3):
        raise ActionError(f"one resigns a single game (1), a gammon (2) or a backgammon (3), not {level!r}")
    if level not in levels:
        raise ActionError(f"{SEATS[state.on_roll]} has borne off a checker, so he can lose a single game only")
    return replace(state, resigned=level)


def accept(state: GameState) -> GameState:
    """The game is over, lost by the player on roll by the level he offered."""
    check(state, Action.ACCEPT)
    return _with_points(state, GameStatus.RESIGNED)


def reject(state: GameState) -> GameState:
    """The game goes on as it was before the offer."""
    check(state, Action.REJECT)
    return replace(state, resigned=0)
