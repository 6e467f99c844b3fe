"""Games of a person (X, seat 1) against a bot (O, seat 0), without any screen: state, dice, undo, results, log.

Cubeless money play. A position is always the view of the player on roll, as in engine.GameState; `seen_by_x` is the
board as X sees it. The dice never depend on the players: those of turn t of game g are a pure function of
(seed, g, t), so that undoing does not change them either; or they are given from outside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bgnet.players import Player
from engine import START, EngineError, GameState, Play, Position, RuleSet, dice, legal_plays, parse_play
from engine.rules import MONEY
from engine.steps import read_dice

__all__ = ["LEVELS", "O", "X", "BotError", "Result", "Session", "SessionError", "Turn", "written"]

O, X = 0, 1  # noqa: E741  # the letters of all drawings
LEVELS = ("single", "gammon", "backgammon")
"""Kinds of wins; a result's level is the index plus one."""


class SessionError(EngineError):
    """What cannot be done at this moment of the game, or a position that no game can start from."""


class BotError(RuntimeError):
    """The bot broke the rules of the game."""


@dataclass(frozen=True)
class Turn:
    """One player's roll and what he did with it."""

    state: GameState
    """Before the play, with the dice; `state.on_roll` is the seat of who played."""
    play: Play
    forced: bool
    """Whether this was the only legal play; "no play" is forced too."""


@dataclass(frozen=True)
class Result:
    """How a game ended."""

    game: int
    winner: int
    """A seat."""
    level: int
    """1 single game, 2 gammon, 3 backgammon."""
    points: int
    turns: int
    """Rolls of both sides, those that could not be played included."""
    resigned: bool = False

    @property
    def text(self) -> str:
        """As "X wins a gammon: 2 points"."""
        won = ("a single game", "a gammon", "a backgammon")[self.level - 1]
        how = f"{'XO'[self.winner == X]} resigns, " if self.resigned else ""
        return f"{how}{'OX'[self.winner]} wins {won}: {self.points} point{'s' * (self.points != 1)}"


class Session:
    """One game after the other, the score kept.

    bot: plays O. seed: names the dice; None = every roll is given to `roll`. start: where each game starts, of which
    only board, dice and player on roll are used; None = the usual start with an opening roll. rules: what a win is
    worth.
    Raises SessionError for a start where the game is over, DiceError for a bad seed.
    """

    def __init__(
        self, bot: Player, *, seed: int | None, start: GameState | None = None, rules: RuleSet = MONEY
    ) -> None:
        if start is not None and start.position.ending(rules.checkers) is not None:
            raise SessionError("the game is over in this position: a side has borne off its last checker")
        if seed is not None:
            dice.check_stream(seed)
        self.bot = bot
        self.seed = seed
        self.rules = rules
        self.results: list[Result] = []
        self._start = start
        self._records: list[str] = []
        self.game = 0
        self.begin()

    def begin(self) -> None:
        """Start the next game; SessionError while one is going on."""
        if self.game and self.result is None:
            raise SessionError(f"game {self.game} is not over yet")
        self.game += 1
        self.result: Result | None = None
        self.turns: list[Turn] = []
        self._set_up()

    def _set_up(self) -> None:
        if self._start is None:
            self.state = GameState(START, score=self.score)
        else:
            start = self._start
            given = None if start.dice is None else _high_first(start.dice)
            self.state = GameState(start.position, on_roll=start.on_roll, dice=given, score=self.score)
        self._first_state = self.state
        self._plays: list[Play] | None = None

    # ---- what one may ask -------------------------------------------------------------------------------------

    @property
    def score(self) -> tuple[int, int]:
        """Points of (O, X) in the finished games."""
        won = [sum(result.points for result in self.results if result.winner == seat) for seat in (O, X)]
        return won[0], won[1]

    @property
    def is_opening(self) -> bool:
        """Whether the opening roll is still to come, which decides who starts; until then X counts as on roll."""
        return self._start is None and not self.turns and self.state.dice is None

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

    @property
    def can_lose(self) -> tuple[int, ...]:
        """The levels that X can still lose by, as far as his borne-off checkers say: those he may resign."""
        board = self.seen_by_x.board
        return (1,) if int(board[board > 0].sum()) < self.rules.checkers else (1, 2, 3)

    # ---- what happens in a game -------------------------------------------------------------------------------

    def roll(self, given: object = None) -> tuple[int, int]:
        """Roll for the player on roll, or take the dice given -> the dice as they fell (`state.dice`: high first).

        The opening: X's die, then O's; the higher one starts. given: two numbers from 1 to 6 or text as "31", just
        when there is no seed. Raises DiceError; SessionError for an opening double, or when there is nothing to roll.
        """
        if self.result is not None or self.state.dice is not None:
            raise SessionError("the game is over" if self.result else "the dice have been rolled already")
        if self.seed is None:
            fell = read_dice(given)
        elif given is not None:
            raise SessionError("the dice come from the seed, they cannot be chosen")
        elif self.is_opening:
            fell = dice.opening(self.seed, self.game)
        else:  # the opening, or the roll that came with the position, was number 0
            known_first = self._start is None or self._start.dice is not None
            fell = dice.roll(self.seed, self.game, len(self.turns) + (not known_first))
        on_roll = self.state.on_roll
        if self.is_opening:
            if fell[0] == fell[1]:
                raise SessionError(f"both threw a {fell[0]}: equal dice are thrown again to decide who starts")
            on_roll = X if fell[0] > fell[1] else O
        self.state = replace(self.state, on_roll=on_roll, dice=_high_first(fell))
        return fell

    def correct_dice(self, given: object) -> tuple[int, int] | None:
        """Replace the roll at hand by another one, where the dice are given.

        At the opening that may change who starts: then the dice as they fell are returned, X's first, else None.
        Raises what `roll` raises, and changes nothing then.
        """
        if self.seed is not None:
            raise SessionError("the dice come from the seed, they cannot be changed")
        before = self.state
        opening = self._start is None and not self.turns
        self.state = self._first_state if opening else replace(before, dice=None)
        try:
            fell = self.roll(given)
        except EngineError:
            self.state = before
            raise
        self._plays = None
        return fell if opening else None

    def play(self, play: Play | str) -> Turn:
        """Play for the player on roll, a legal play or text that `engine.parse_play` reads; it raises the reasons."""
        plays = self.plays
        if isinstance(play, str):
            play = parse_play(self.state.position, self.state.dice, play)
        if play not in plays:
            raise SessionError(f"{play.notation} is no play of this roll")
        turn = Turn(self.state, play, len(plays) == 1)
        self.turns.append(turn)
        self._plays = None
        self.state = replace(self.state, position=play.position, on_roll=1 - self.state.on_roll, dice=None)
        ending = play.position.ending(self.rules.checkers)
        if ending is not None:  # the view of the next player, who has lost
            self._finish(turn.state.on_roll, ending - 2)
        return turn

    def bot_turn(self) -> Turn:
        """Let the bot play its roll. Raises BotError when it chooses what is not legal."""
        if self.state.on_roll != O:
            raise SessionError("it is X's turn")
        plays = self.plays
        if len(plays) == 1:
            return self.play(plays[0])
        board = self.state.position.board.copy()
        chosen = np.asarray(self.bot.choose(board[None], np.array([self.state.dice], dtype=np.int8)))
        for play in plays:
            if chosen.shape == (1, 26) and bool((chosen[0] == play.position.board).all()):
                return self.play(play)
        raise BotError(
            f"the bot chose an illegal result for {self.state.position.position_id} and the roll "
            f"{written(self.state.dice)}: {chosen.tolist()} (the next player's view)"
        )

    def undo(self) -> None:
        """Take back to X's latest turn at which he had a choice; its dice stay.

        With dice from a seed the later rolls will be the same again; dice that are given are given anew. Where X
        has had no choice yet and the dice are given, back to the start. Raises SessionError when nothing is left.
        """
        if self.result is not None:
            raise SessionError("the game is over")
        own = [i for i, turn in enumerate(self.turns) if turn.state.on_roll == X and not turn.forced]
        if own:
            self.state = self.turns[own[-1]].state
            del self.turns[own[-1] :]
            self._plays = None
        elif self.seed is None and (self.turns or self.state != self._first_state):
            self.turns.clear()
            self._set_up()
        else:
            raise SessionError("nothing to undo: this is your first choice of the game")

    def resign(self, level: int) -> Result:
        """X gives the game up as lost by a level of `can_lose`, and O accepts."""
        if self.result is not None:
            raise SessionError("the game is over")
        if level not in self.can_lose:
            raise SessionError("a side that has borne off a checker can lose a single game only")
        return self._finish(O, level, resigned=True)

    def _finish(self, winner: int, level: int, *, resigned: bool = False) -> Result:
        points = int(self.rules.stakes[level - 1])
        self.result = Result(self.game, winner, level, points, len(self.turns), resigned)
        self._records += self._record()
        self.results.append(self.result)
        return self.result

    # ---- the log ----------------------------------------------------------------------------------------------

    def log(self, bot_name: str) -> str:
        """All games so far as plain ASCII text (apart from the bot's name); plays that were undone are left out."""
        source = "typed dice" if self.seed is None else f"dice of seed {self.seed}"
        lines = [f"bgnet play, cubeless {self.rules.name}, X = you, O = {bot_name}, {source}", *self._records]
        if self.result is None:
            lines += self._record()
        return "\n".join([*lines, f"score: X {self.score[X]}, O {self.score[O]}", ""])

    def _record(self) -> list[str]:
        """The game at hand: where it started, a line for each turn in the mover's own numbers, the result."""
        first = self.turns[0].state if self.turns else self.state
        lines = ["", f"game {self.game}, from {first.xgid}"]
        for number, turn in enumerate(self.turns, 1):
            rolled = written(turn.state.dice)
            lines.append(f"{number:>4} {'OX'[turn.state.on_roll]} {rolled}  {turn.play.notation}")
        return [*lines, f"     {self.result.text if self.result else 'not finished'}"]


def written(roll: tuple[int, int] | None) -> str:
    """(3, 1) -> "3-1"."""
    return "-" if roll is None else f"{roll[0]}-{roll[1]}"


def _high_first(roll: tuple[int, int]) -> tuple[int, int]:
    return max(roll), min(roll)
