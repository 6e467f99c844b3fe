"""Records of matches and money sessions: every action of every game, each checked against the rules.

They are read from and written to Jellyfish .mat files, which GNU Backgammon, eXtreme Gammon and the servers exchange:
`read_mat`, `write_mat`, `to_mat`. A `RecordBuilder` makes a record of a game while it is played.
The left player of a file is seat 0 (O), the right one seat 1 (X), as GNU Backgammon has it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine import actions
from engine.actions import Action, GameResult
from engine.errors import ActionError, RecordError
from engine.plays import Play, legal_plays, parse_play
from engine.record_tags import check_rule_tags, checked_comments, checked_tags, rule_tags
from engine.state import GameState, GameStatus
from engine.steps import read_dice
from engine.tablefile import replacing

__all__ = [
    "GameRecord", "MatchRecord", "RecordBuilder", "RecordedAction", "parse_mat", "read_mat", "to_mat", "write_mat",
]  # fmt: skip


@dataclass(frozen=True)
class RecordedAction:
    """One action of a game."""

    seat: int
    """Of the player who acts."""
    action: Action
    """PLAY with its roll, ROLL for one that was never played, DOUBLE, TAKE, DROP, BEAVER, or RESIGN, accepted."""
    dice: tuple[int, int] | None = None
    """Of PLAY and ROLL. None in PLAY: he was closed out, and his turn passed without a roll."""
    play: Play | None = None
    """Of PLAY; one without moves where nothing could be played."""
    level: int = 0
    """Of RESIGN: 1 single game, 2 gammon, 3 backgammon."""
    irregular: bool = False
    """Of PLAY: it stood although it uses less of the roll than it must."""


@dataclass(frozen=True)
class GameRecord:
    """One game, from its start to as far as it went. Made by a RecordBuilder or read from a file."""

    start: GameState
    """Before the opening roll, with the score and the rules."""
    actions: tuple[RecordedAction, ...]
    end: GameState
    """After the last action."""
    fault: RecordError | None = None
    """Why the game cannot be read from its file; then it has no actions."""

    @property
    def score_before(self) -> tuple[int, int]:
        """Points of (player 0, player 1) before the game."""
        return self.start.score

    @property
    def result(self) -> GameResult | None:
        """How it ended, None for an unfinished game."""
        return self.end.result

    @property
    def winner(self) -> int | None:
        """A seat, None for an unfinished game."""
        return None if self.result is None else self.result.winner

    @property
    def points(self) -> int:
        """What the winner won; 0 for an unfinished game."""
        return 0 if self.result is None else self.result.points

    def states(self) -> Iterator[tuple[GameState, Action, Play | tuple[int, int] | int | None]]:
        """(state before, action, argument) of every action, replayed and so checked.

        PLAY: the state shows the roll, the argument is the Play. ROLL, for a roll that was not played: the dice.
        RESIGN: the level; the state has the player who resigns on roll. DOUBLE, TAKE, DROP, BEAVER: None. Left out are
        turns that passed without a roll, and irregular plays. Raises an EngineError for what the rules forbid.
        """
        state = self.start
        for done in self.actions:
            before, after = replayed(state, done)
            if done.action is not Action.PLAY:
                yield before, done.action, done.dice or done.level or None
            elif done.dice is not None and not done.irregular:
                yield before, done.action, done.play
            state = after


@dataclass(frozen=True)
class MatchRecord:
    """A match or a money session.

    Raises RecordError for names, tags and comments that a file cannot hold, for tags that name other rules than the
    games have, and for games of different matches.
    """

    length: int
    """Points that win the match; 0 = money play."""
    players: tuple[str, str]
    """Names of (player 0, the left one; player 1, the right one)."""
    games: tuple[GameRecord, ...]
    tags: Mapping[str, str] = field(default_factory=dict)
    """The `; [Tag "value"]` lines at the top. Those that name rules (Crawford, Jacoby, Beaver, CubeLimit, Variation,
    Stakes) are added where the games have other rules than is usual."""
    comments: tuple[str, ...] = ()
    """The other comment lines at the top, without their semicolon."""

    def __post_init__(self) -> None:
        if not self.games:
            raise RecordError("a record has at least one game")
        for game in self.games:
            if game.start.match_length != self.length:
                raise RecordError(f"a game to {game.start.match_length} points in a match to {self.length}")
            if game.start.rules != self.games[0].start.rules:
                raise RecordError("all games of a record have the same rules")
        rules = rule_tags(self.games[0].start)
        object.__setattr__(self, "players", checked_players(self.players))
        object.__setattr__(self, "tags", checked_tags({**self.tags, **rules}))
        check_rule_tags(self.tags, [game.start for game in self.games])
        object.__setattr__(self, "comments", checked_comments(self.comments))

    @property
    def score(self) -> tuple[int, int]:
        """Points of (player 0, player 1) after the last game."""
        return self.games[-1].end.score

    @property
    def winner(self) -> int | None:
        """The seat that has won the match; None in money play and before."""
        if not self.games[-1].end.match_over:
            return None
        return int(self.score[1] >= self.length)

    @property
    def broken_games(self) -> dict[int, RecordError]:
        """The numbers, from 1, of the games that could not be read, and why; see `read_mat`."""
        return {number: game.fault for number, game in enumerate(self.games, 1) if game.fault is not None}

    @property
    def irregular_openings(self) -> list[str]:
        """A line for each game that began with doubles, which no opening roll can be."""
        lines = []
        for number, game in enumerate(self.games, 1):
            first = game.actions[0] if game.actions else None
            if first is not None and first.dice is not None and first.dice[0] == first.dice[1]:
                lines.append(f"game {number}, {self.players[first.seat]}: {first.dice[0]}{first.dice[1]}")
        return lines

    @property
    def irregular_plays(self) -> list[str]:
        """A line for each play that stood although it uses less of its roll than it must."""
        lines = []
        for number, game in enumerate(self.games, 1):
            for done in game.actions:
                if done.irregular and done.play and done.dice:
                    roll = f"{done.dice[0]}{done.dice[1]}"
                    lines.append(f"game {number}, {self.players[done.seat]}: {roll}: {done.play.notation}")
        return lines


class GameBuilder:
    """The record of one game as it grows."""

    def __init__(self, start: GameState) -> None:
        if start.game_state != GameStatus.NONE:
            raise RecordError("a game is recorded from before its opening roll: start with new_game() or next_game()")
        self.start = self.state = start
        self._done: list[RecordedAction] = []

    @property
    def last(self) -> Action | None:
        """The action before this moment."""
        return self._done[-1].action if self._done else None

    def apply(self, action: Action, argument: object = None) -> GameState:
        """Do what `state.decider` wants to do -> the state after; see RecordBuilder.apply."""
        state, seat = self.state, self.state.decider
        action = Action(action)
        match action:
            case Action.ROLL:
                self.state = state.roll(argument)
            case Action.PLAY:
                actions.check(state, action)
                play = find_play(state, argument)
                self.state = state.play(play)
                self._done.append(RecordedAction(seat, action, state.dice, play))
            case Action.RESIGN:
                self.state = state.resign(argument)  # type: ignore[arg-type]  # it says what is wrong
            case Action.ACCEPT:
                actions.check(state, action)
                self._accept()
            case Action.REJECT:
                self.state = state.reject()
            case _:
                self.state = getattr(state, action.value)()
                self._done.append(RecordedAction(seat, action))
        return self.state

    def _accept(self) -> None:
        """The resignation that is offered, told as a file can tell it.

        There only the points say by what level somebody resigned, and a roll that allows one play is read as played.
        """
        state, seat = self.state, self.state.on_roll
        worth = actions.points_of(state, state.resigned)
        level = next(level for level in (1, 2, 3) if actions.points_of(state, level) == worth)
        self.state = state.reject()
        plays = [] if state.dice is None else legal_plays(state.position, state.dice)
        if len(plays) == 1:
            after = self.state.play(plays[0])
            if after.result is None and level in replace(after, position=after.position.flipped()).can_lose:
                self.apply(Action.PLAY, plays[0])
            else:  # it wins, or bears off the first checker: the roll is left out
                self.state = replace(self.state, dice=None)
        self.resign(seat, level)

    # ---- what only files know of

    def begin(self, seat: int, dice: object) -> None:
        """The first roll as a file has it: who starts, and his dice in any order, equal ones too."""
        self.state = replace(self.start, on_roll=seat, game_state=GameStatus.PLAYING, dice=read_dice(dice))

    def double(self) -> None:
        """A double, also one that wins the doubler nothing, which some programs allow."""
        seat = self.state.on_roll
        self.state = actions.double(self.state, dead=True)
        self._done.append(RecordedAction(seat, Action.DOUBLE))

    def play_irregular(self, play: Play) -> None:
        """A play of the roll that uses less of it than it must, and stood."""
        done = RecordedAction(self.state.on_roll, Action.PLAY, self.state.dice, play, irregular=True)
        _, self.state = replayed(self.state, done)
        self._done.append(done)

    def pass_closed_out(self) -> None:
        """The player on roll is closed out and does not roll."""
        done = RecordedAction(self.state.on_roll, Action.PLAY, None, no_play(self.state))
        _, self.state = replayed(self.state, done)
        self._done.append(done)

    def resign(self, seat: int, level: int) -> None:
        """A resignation of either player at any time, accepted."""
        roll = self._open_roll()
        done = RecordedAction(seat, Action.RESIGN, level=level)
        _, self.state = replayed(self.state, done)
        self._done += [*roll, done]

    def record(self) -> GameRecord:
        """The game so far; an offer to resign that has no answer yet is left out."""
        offered = self.state.resigned and self.state.result is None
        return GameRecord(self.start, (*self._done, *self._open_roll()), self.state.reject() if offered else self.state)

    def _open_roll(self) -> list[RecordedAction]:
        """The roll that has not been played."""
        if self.state.dice is None or self.state.result is not None:
            return []
        return [RecordedAction(self.state.on_roll, Action.ROLL, self.state.dice)]


class RecordBuilder:
    """Plays a match or a money session and writes it down.

    players: names of (player 0, player 1). start: `new_game(...)`, or a later game from `next_game()`.

        builder = RecordBuilder(("bot", "you"), new_game(5))
        builder.apply(Action.ROLL, (3, 1))      # the opening: player 1's die, player 0's die
        builder.apply(Action.PLAY, "8/5 6/5")
        write_mat(builder.record(), "game.mat")
    """

    def __init__(
        self,
        players: tuple[str, str],
        start: GameState,
        *,
        tags: Mapping[str, str] | None = None,
        comments: tuple[str, ...] = (),
    ) -> None:
        self.players, self.tags, self.comments = checked_players(players), dict(tags or {}), comments
        self._games: list[GameRecord] = []
        self._game = GameBuilder(start)

    @property
    def state(self) -> GameState:
        """The game at this moment."""
        return self._game.state

    def apply(self, action: Action, argument: object = None) -> GameState:
        """Do what `state.decider` wants to do -> the state after.

        argument: the dice of ROLL (in a new game player 1's die first), the play of PLAY as GameState.play takes it,
        the level of RESIGN. Offers to resign that are not accepted leave no trace. Raises what the method of GameState
        of the same name raises, and records nothing then.
        """
        return self._game.apply(action, argument)

    def next_game(self) -> GameState:
        """Begin the next game; ActionError unless this one is over and the match is not."""
        start = self._game.state.next_game()
        self._games.append(self._game.record())
        self._game = GameBuilder(start)
        return start

    def record(self) -> MatchRecord:
        """All so far, with the game that goes on when anything has been done in it."""
        game = self._game.record()
        games = [*self._games, game] if game.actions or not self._games else self._games
        return MatchRecord(game.start.match_length, self.players, tuple(games), self.tags, self.comments)


def replayed(state: GameState, done: RecordedAction) -> tuple[GameState, GameState]:
    """A recorded action in the state that it finds -> (the state in which the player decides, the state after)."""
    if state.game_state == GameStatus.NONE:
        state = replace(state, on_roll=done.seat, game_state=GameStatus.PLAYING)
    if done.action is Action.RESIGN:
        return _resigned(state, done)
    if done.seat != state.decider:
        raise ActionError(f"cannot {done.action}: it is not his turn")
    match done.action:
        case Action.PLAY if done.dice is None:
            if not closed_out(state):
                raise ActionError("cannot pass without a roll: the player is not closed out")
            after = replace(state, position=state.position.flipped(), on_roll=1 - state.on_roll)
        case Action.PLAY:
            state = state if state.dice == done.dice else state.roll(done.dice)
            if done.irregular and done.play:
                after = replace(state, position=done.play.position, on_roll=1 - state.on_roll, dice=None)
            else:
                after = state.play(done.play)
        case Action.ROLL:
            after = state.roll(done.dice)
        case Action.DOUBLE:
            after = actions.double(state, dead=True)
        case _:
            after = getattr(state, done.action.value)()
    return state, after


def _resigned(state: GameState, done: RecordedAction) -> tuple[GameState, GameState]:
    """A player who resigns when it is not his turn is put on roll; a double that was pending is forgotten."""
    if done.seat != state.on_roll:
        state = replace(state, position=state.position.flipped(), on_roll=done.seat, dice=None, doubled=False)
    state = replace(state, doubled=False)
    return state, state.resign(done.level).accept()


def closed_out(state: GameState) -> bool:
    """Whether the player on roll cannot play any roll: on the bar against six held points."""
    board = state.position.board
    return bool(board[25] > 0 and (board[19:25] <= -2).all())


def no_play(state: GameState) -> Play:
    """The forced pass."""
    return Play("no play", state.position.flipped(), ())


def find_play(state: GameState, given: object) -> Play:
    """The legal Play of the state's roll that is meant by what GameState.play takes; it raises the reasons."""
    if isinstance(given, str):
        return parse_play(state.position, state.dice, given)
    after = state.play(given).position
    return next(play for play in legal_plays(state.position, state.dice) if play.position == after)


def checked_players(players: object) -> tuple[str, str]:
    """Two names with single spaces; RecordError for what cannot stand in a file."""
    if not isinstance(players, (tuple, list)) or len(players) != 2:
        raise RecordError(f"two players are needed, (player 0, player 1), not {players!r}")
    names = []
    for name in players:
        clean = " ".join(name.split()) if isinstance(name, str) else ""
        if not clean or not clean.isprintable() or clean[0] in ";#":
            raise RecordError(f"a player's name must be printable text, not a comment with ; or #, not {name!r}")
        names.append(clean)
    return names[0], names[1]


# ---- files ----------------------------------------------------------------------------------------------------------


def parse_mat(text: str, *, strict: bool = False, keep_broken: bool = False) -> MatchRecord:
    """The record that the text of a .mat file holds; see `read_mat`."""
    from engine.mat_reading import parsed

    return parsed(text, strict, keep_broken)


def read_mat(source: str | os.PathLike[str], *, strict: bool = False, keep_broken: bool = False) -> MatchRecord:
    """The record of a .mat file: a path, or the text itself when it has more than one line.

    Read are the files of GNU Backgammon, eXtreme Gammon, Jellyfish and the servers, as UTF-8, UTF-16 or Windows-1252,
    with any line ends. Every action is checked, the plays against the legal plays, the points against cube and
    score. Raises RecordError with the number of the line and what is wrong there.

    Only one fault is let pass, since it happens at the board and then stands: moves that can all be made, but leave a
    die unplayed that could and must be played. It is marked, see `MatchRecord.irregular_plays`; strict refuses it too.

    keep_broken: a game with another fault does not cost the others. It is kept without its actions, with the fault in
    `GameRecord.fault`, and the next game begins at the score that the file gives it. RecordError is raised only when no
    game can be read, or for what is wrong above and around the games.

    A file says little of the rules. Money play has the Jacoby rule when a tag says so or a gammon counted 1, beavers
    when a tag says so or one occurs. Matches have the Crawford rule, unless a tag says that they have not.
    """
    if isinstance(source, str) and ("\n" in source or "\r" in source):
        return parse_mat(source, strict=strict, keep_broken=keep_broken)
    from engine.mat_reading import decoded

    path = Path(source)
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise RecordError(f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}") from error
    return parse_mat(decoded(data), strict=strict, keep_broken=keep_broken)


def to_mat(record: MatchRecord) -> str:
    """The text of a .mat file, which reads back as an equal record. RecordError for one with a game that was not read.

    Only a highest cube of 1,024 is lost, which programs write where there is no limit. GNU Backgammon takes a name up
    to its first colon.
    """
    from engine.mat_writing import written

    for number, fault in record.broken_games.items():
        raise RecordError(f"game {number} was not read ({fault}), so it cannot be written")
    return written(record)


def write_mat(record: MatchRecord, path: str | os.PathLike[str]) -> None:
    """Write a .mat file, UTF-8; the file holds either its old or its whole new content. Raises RecordError."""
    text = to_mat(record)
    target = Path(path)
    try:
        with replacing(target) as temporary, open(temporary, "xb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
    except (OSError, UnicodeEncodeError) as error:
        raise RecordError(f"cannot write {str(target)!r}: {getattr(error, 'strerror', None) or error}") from error
