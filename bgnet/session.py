"""Games of a person (X, seat 1) against a bot (O, seat 0), without any screen: state, dice, undo, records, log.

A session is a money session or a match, with or without the cube, by the rules of the state it starts from. A position
is always the view of the player on roll, as in engine.GameState; `seen_by_x` is the board as X sees it. The dice never
depend on the players: those of turn t of game g are a pure function of (seed, g, t), so that undoing does not change
them either; or they are given from outside.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bgnet.session_bots import Offer, Opponent
from engine import EngineError, GameState, Play, Position, dice, legal_plays, parse_play
from engine.actions import Action, GameResult, new_game
from engine.records import MatchRecord, RecordBuilder
from engine.state import GameStatus
from engine.steps import read_dice

__all__ = ["OWN_NAME", "O", "X", "BotError", "Game", "Need", "Session", "SessionError", "Step", "written"]

O, X = 0, 1  # noqa: E741  # the letters of all drawings
OWN_NAME = "you"
"""X in records."""


class SessionError(EngineError):
    """What cannot be done at this moment of the game, or a position that no game can start from."""


class BotError(RuntimeError):
    """The bot broke the rules of the game."""


class Need(enum.Enum):
    """What the game waits for."""

    DICE = "dice"
    """Nobody has a choice."""
    CUBE = "cube"
    """The player on roll rolls or doubles."""
    ANSWER = "answer"
    """To a double, by the other player."""
    PLAY = "play"
    NOTHING = "nothing"
    """The game is over."""


@dataclass(frozen=True)
class Step:
    """Something that was done."""

    state: GameState
    """Before it."""
    action: Action
    argument: object = None
    """As engine.records.RecordBuilder.apply takes it; of PLAY the Play, of ROLL the dice, high first; X's first at the
    opening."""
    forced: bool = False
    """Of PLAY: it was the only legal play; "no play" is forced too."""

    @property
    def seat(self) -> int:
        """Of the player who did it."""
        return self.state.decider


@dataclass(frozen=True)
class Game:
    """A game from its start to its end, or as far as it went."""

    number: int
    start: GameState
    steps: tuple[Step, ...]
    end: GameState

    @property
    def turns(self) -> int:
        """Rolls of both sides that were played, or could not be."""
        return sum(step.action is Action.PLAY for step in self.steps)

    @property
    def result(self) -> GameResult | None:
        """None while it is not over."""
        return self.end.result


class Session:
    """One game after the other, the score kept.

    opponent: plays O. seed: names the dice; None = every roll is given to `roll`. start: the rules and the score, and
    where the first game begins: `new_game(...)`, or any moment of a game. In money play every game begins there, in a
    match the later ones as games do.
    Raises SessionError for a start where the game is over, DiceError for a bad seed.
    """

    def __init__(self, opponent: Opponent, *, seed: int | None, start: GameState | None = None) -> None:
        start = new_game(max_cube=1) if start is None else start
        ended = start.position.ending(start.checkers) is not None
        if ended or start.game_state > GameStatus.PLAYING:
            raise SessionError("the game is over in this position: a side has borne off its last checker" if ended else
                               "the game is over there, it was resigned or a double dropped")  # fmt: skip
        if seed is not None:
            dice.check_stream(seed)
        self.opponent = opponent
        self.seed = seed
        self.finished: list[Game] = []
        self._first = replace(start, resigned=0, dice=None if start.dice is None else _high_first(start.dice))
        self._begin(self._first)

    @classmethod
    def resume(cls, opponent: Opponent, record: MatchRecord, *, seed: int | None) -> Session:
        """Go on where a record ends, the left player being O, the right one X; with the same seed with the same dice.

        Raises SessionError for a match that is over, and for what was not played as here: turns without a roll,
        irregular plays, resignations out of turn.
        """
        if record.winner is not None:
            raise SessionError(f"the match is over: {record.players[record.winner]} has won it")
        session = cls(opponent, seed=seed, start=record.games[0].start)
        for told in record.games:
            if session.result is not None:
                session.next_game()
            for before, action, argument in told.states():
                session._retell(before, action, argument)
        if session.state.score != told.end.score:
            raise SessionError(f"game {session.game} was not played by the rules of this table")
        if session.result is not None:
            session.next_game()
        return session

    def _retell(self, before: GameState, action: Action, argument: object) -> None:
        if before.position != self.state.position:
            raise SessionError(f"game {self.game} has a turn without a roll, or one that was played irregularly")
        if action in (Action.PLAY, Action.ROLL):
            fell = _high_first(read_dice(before.dice or argument))
            shown = fell[::-1] if self.is_opening and before.on_roll == O else fell
            self._do(Action.ROLL, shown, self.state.roll(shown))
        if isinstance(argument, Play):
            self.play(next(play for play in self.plays if play.position == argument.position))
        elif action is Action.RESIGN and isinstance(argument, int):
            if before.on_roll != self.state.on_roll:
                raise SessionError(f"game {self.game} was resigned out of turn")
            self._do(Action.RESIGN, argument, self.state.resign(argument))
            self._do(Action.ACCEPT, None, self.state.accept())
        elif action is not Action.ROLL:
            self.act(action)

    def next_game(self) -> None:
        """Begin the next game; SessionError while one is going on or once the match is won."""
        if self.result is None:
            raise SessionError(f"game {self.game} is not over yet")
        if self.state.match_over:
            raise SessionError("the match is over")
        if self.from_position and not self.state.match_length:
            self._begin(replace(self._first, score=self.state.score))
        else:
            self._begin(self.state.next_game())

    def _begin(self, start: GameState) -> None:
        self._start = self.state = start
        self.steps: list[Step] = []
        self._plays: list[Play] | None = None

    # ---- what one may ask -------------------------------------------------------------------------------------

    @property
    def game(self) -> int:
        """The number of the game at hand, from 1."""
        return len(self.finished) + (self.result is None)

    @property
    def from_position(self) -> bool:
        """Whether the first game began elsewhere than games do."""
        return self._first.game_state != GameStatus.NONE

    @property
    def result(self) -> GameResult | None:
        """Of the game at hand; None while it goes on."""
        return self.state.result

    @property
    def score(self) -> tuple[int, int]:
        """Points of (O, X)."""
        return self.state.score

    @property
    def with_cube(self) -> bool:
        """Whether there is a cube in this session."""
        return self.state.max_cube != 1

    @property
    def is_opening(self) -> bool:
        """Whether the opening roll is still to come, which decides who starts; until then X counts as on roll."""
        return self.state.game_state == GameStatus.NONE

    @property
    def need(self) -> Need:
        """What the game waits for; of whom: `state.decider`."""
        if self.result is not None:
            return Need.NOTHING
        if self.state.doubled:
            return Need.ANSWER
        if self.state.dice is not None:
            return Need.PLAY
        return Need.CUBE if self.state.may_double else Need.DICE

    @property
    def plays(self) -> list[Play]:
        """The legal plays of the roll; SessionError before the roll or after the end."""
        if self.result is not None or self.state.dice is None:
            raise SessionError("the game is over" if self.result else "the dice have not been rolled yet")
        if self._plays is None:
            self._plays = legal_plays(self.state.position, self.state.dice)
        return self._plays

    @property
    def seen_by_x(self) -> Position:
        """The board in X's view, whoever is on roll."""
        return self.state.position if self.state.on_roll == X else self.state.position.flipped()

    # ---- what happens in a game -------------------------------------------------------------------------------

    def roll(self, given: object = None) -> tuple[int, int]:
        """Roll for the player on roll, or take the dice given -> the dice as they fell (`state.dice`: high first).

        The opening: X's die, then O's; the higher one starts. given: two numbers from 1 to 6 or text as "31", just
        when there is no seed. Raises DiceError, SessionError, ActionError when there is nothing to roll or both threw
        the same at the opening.
        """
        if self.result is not None:
            raise SessionError("the game is over")
        if self.seed is None:
            fell = read_dice(given)
        elif given is not None:
            raise SessionError("the dice come from the seed, they cannot be chosen")
        elif self.is_opening:
            fell = dice.opening(self.seed, self.game)
        else:  # the opening, or the roll that came with the position, was number 0
            known_first = self._start.game_state == GameStatus.NONE or self._start.dice is not None
            played = sum(step.action is Action.PLAY for step in self.steps)
            fell = dice.roll(self.seed, self.game, played + (not known_first))
        shown = fell if self.is_opening else _high_first(fell)
        self._do(Action.ROLL, shown, self.state.roll(shown))
        return fell

    def correct_dice(self, given: object) -> tuple[int, int] | None:
        """Replace the roll at hand by another one, where the dice are given.

        At the opening that may change who starts: then the dice as they fell are returned, X's first, else None.
        Raises what `roll` raises, and changes nothing then.
        """
        if self.seed is not None:
            raise SessionError("the dice come from the seed, they cannot be changed")
        if self.state.dice is None or not self.steps or self.steps[-1].action is not Action.ROLL:
            raise SessionError("there is no roll here that could be changed")
        before, step = self.state, self.steps.pop()
        self.state = step.state
        try:
            fell = self.roll(given)
        except EngineError:
            self.state = before
            self.steps.append(step)
            raise
        return fell if step.state.game_state == GameStatus.NONE else None

    def play(self, play: Play | str) -> Step:
        """Play for the player on roll, a legal play or text that `engine.parse_play` reads; it raises the reasons."""
        plays = self.plays
        if isinstance(play, str):
            play = parse_play(self.state.position, self.state.dice, play)
        if play not in plays:
            raise SessionError(f"{play.notation} is no play of this roll")
        return self._do(Action.PLAY, play, self.state.play(play), forced=len(plays) == 1)

    def act(self, action: Action) -> Step:
        """DOUBLE, TAKE, DROP or BEAVER by whose turn it is. Raises ActionError with the reason."""
        if action not in (Action.DOUBLE, Action.TAKE, Action.DROP, Action.BEAVER):
            raise SessionError(f"{action} is done in another way")
        return self._do(action, None, getattr(self.state, action.value)())

    def resign(self, level: int) -> Offer:
        """X offers to give the game up as lost by a level (1 single game, 2 gammon, 3 backgammon); O judges.

        Unless accepted nothing has happened. Raises SessionError, ActionError.
        """
        if self.result is not None:
            raise SessionError("the game is over")
        if self.state.on_roll != X and not self.is_opening:
            raise SessionError("one resigns when it is one's turn")
        offered = self.state.resign(level)
        offer = self.opponent.judge(offered)
        if offer.accepted:
            self._do(Action.RESIGN, level, offered)
            self._do(Action.ACCEPT, None, offered.accept())
        return offer

    def _do(self, action: Action, argument: object, after: GameState, *, forced: bool = False) -> Step:
        step = Step(self.state, action, argument, forced)
        self.steps.append(step)
        self.state = after
        self._plays = None
        if after.result is not None:
            self.finished.append(self._game(len(self.finished) + 1))
        return step

    # ---- the bot ----------------------------------------------------------------------------------------------

    def bot_doubles(self) -> bool:
        """Let the bot double before its roll, if it wants to -> whether it has."""
        self._check_bot(self.state.on_roll)
        if self.need is not Need.CUBE or not self.opponent.doubles(self.state):
            return False
        self.act(Action.DOUBLE)
        return True

    def bot_answers(self) -> Step:
        """Let the bot answer X's double. Raises BotError when it does what is not allowed."""
        self._check_bot(self.state.decider)
        answer = self.opponent.answer(self.state)
        if answer not in self.state.legal_actions():
            raise BotError(f"the bot answered a double by {answer!r} in {self.state!r}")
        return self.act(answer)

    def bot_turn(self) -> Step:
        """Let the bot play its roll. Raises BotError when it chooses what is not legal."""
        self._check_bot(self.state.on_roll)
        plays = self.plays
        if len(plays) == 1:
            return self.play(plays[0])
        chosen = np.asarray(self.opponent.play(self.state))
        for play in plays:
            if chosen.shape == (26,) and bool((chosen == play.position.board).all()):
                return self.play(play)
        raise BotError(
            f"the bot chose an illegal result for {self.state.position.position_id} and the roll "
            f"{written(self.state.dice)}: {chosen.tolist()} (the next player's view)"
        )

    def _check_bot(self, seat: int) -> None:
        if seat != O or self.is_opening:
            raise SessionError("it is X's turn")

    # ---- undo -------------------------------------------------------------------------------------------------

    def undo(self) -> None:
        """Take back to X's latest play, double or answer of which he had a choice; its dice stay.

        With dice from a seed the later rolls will be the same again; dice that are given are given anew. Where X
        has had no choice yet and the dice are given, back to the start. That he rolled instead of doubling is not
        taken back by itself. Raises SessionError when nothing is left.
        """
        if self.result is not None:
            raise SessionError("the game is over")
        own = [i for i, step in enumerate(self.steps) if step.seat == X and _is_choice(step)]
        if own:
            self.state = self.steps[own[-1]].state
            del self.steps[own[-1] :]
        elif self.seed is None and self.steps:
            self.state = self._start
            self.steps.clear()
        else:
            raise SessionError("nothing to undo: this is your first choice of the game")
        self._plays = None

    # ---- records ----------------------------------------------------------------------------------------------

    @property
    def games(self) -> list[Game]:
        """All games, with the one at hand."""
        return self.finished + ([] if self.result is not None else [self._game(self.game)])

    def _game(self, number: int) -> Game:
        return Game(number, self._start, tuple(self.steps), self.state)

    def record(self, bot_name: str, own_name: str = OWN_NAME) -> MatchRecord:
        """All games so far as a record, which engine.records.write_mat writes to a file.

        Raises SessionError for games from a position, which such a file cannot hold, RecordError for bad names.
        """
        if self.from_position:
            raise SessionError("a .mat file holds games from their start, and this one began from a position")
        builder = RecordBuilder((bot_name, own_name), self._first)
        for game in self.games:
            if game.number > 1:
                builder.next_game()
            for step in game.steps:
                builder.apply(step.action, step.argument)
        return builder.record()

    def log(self, bot_name: str) -> str:
        """All games so far as plain ASCII text (apart from the bot's name); plays that were undone are left out."""
        source = "typed dice" if self.seed is None else f"dice of seed {self.seed}"
        lines = [f"bgnet play, {self.words}, X = you, O = {bot_name}, {source}"]
        for game in self.games:
            lines += _told(game)
        return "\n".join([*lines, f"score: X {self.score[X]}, O {self.score[O]}", ""])

    @property
    def words(self) -> str:
        """What is played for: "cubeless money play", "money play, Jacoby", "5-point match" ..."""
        state = self.state
        cube = "" if self.with_cube else "cubeless "
        if state.match_length:
            return f"{cube}{state.match_length}-point match"
        return f"{cube}money play{', Jacoby' * state.jacoby}{', beavers' * state.beavers}"


def _is_choice(step: Step) -> bool:
    if step.action is Action.PLAY:
        return not step.forced
    return step.action in (Action.DOUBLE, Action.TAKE, Action.BEAVER)


def _told(game: Game) -> Iterator[str]:
    """Where a game started, a line for each turn in the mover's own numbers and each cube action, the result."""
    yield ""
    first = game.steps[0].state if game.steps else game.end
    if first.game_state == GameStatus.NONE:  # from the opening roll on, which the ID then has
        first = game.steps[1].state if len(game.steps) > 1 else game.end
    yield f"game {game.number}, from {first.xgid}"
    number = 0
    for step in game.steps:
        who = "OX"[step.seat]
        if step.action is Action.PLAY and isinstance(step.argument, Play):
            number += 1
            yield f"{number:>4} {who} {written(step.state.dice)}  {step.argument.notation}"
        elif step.action is Action.DOUBLE:
            yield f"     {who} doubles to {2 * step.state.cube}"
        elif step.action in (Action.TAKE, Action.DROP, Action.BEAVER):
            yield f"     {who} {step.action}s"
    yield f"     {game.result or 'not finished'}"


def written(roll: tuple[int, int] | None) -> str:
    """(3, 1) -> "3-1"."""
    return "-" if roll is None else f"{roll[0]}-{roll[1]}"


def _high_first(roll: tuple[int, int]) -> tuple[int, int]:
    return max(roll), min(roll)
