"""Reading .mat files, as programs and people have written them.

A file is cut into games and rows, a row into cells, by what stands in them: a cell begins with a roll ("31:") or a word
("Doubles", "Wins"). Whose cell it is follows from its column, and must agree with whose turn it is.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from engine.actions import Action, new_game, points_of
from engine.errors import ActionError, EngineError, IllegalPlayError, RecordError
from engine.plays import Play, legal_plays, notation_of
from engine.position import Position
from engine.reading import Attempts, read_parts
from engine.record_tags import read_tag, rules_of_tags
from engine.records import GameBuilder, GameRecord, MatchRecord, closed_out
from engine.refusals import flaw_of_parts
from engine.state import GameState, GameStatus
from engine.xgid import read_xgid

__all__ = ["decoded", "parsed"]

_LENGTH = re.compile(r"\s*(?:(\d+)\s*-?\s*points?\s+match|(?:unlimited|money)\s+(?:match|session|game))\b.*", re.I)
_GAME = re.compile(r"\s*Game\s+\d+\s*[.:]?\s*", re.I)
# Two players and their scores. Names may have colons and single spaces.
_SCORES = [
    re.compile(rf"\s*(\S.*?)\s*:\s*(\d{{1,10}}){gap}(\S.*?)\s*:\s*(\d{{1,10}})\s*") for gap in (r"\s{2,}", r"\s+")
]
_SET_POSITION = re.compile(r"\s*;\s*Set Pos=([-a-pA-P]{26})(?![-a-zA-Z]).*", re.I)
_NUMBER = re.compile(r"\s*\d{1,4}\s*[).]")
_CELL = re.compile(
    r"(?<!\S)(?:(?P<dice>[0-9]{2})\s?:"
    r"|(?P<word>re-?doubles?|doubles?|takes?|drops?|beavers?|raccoons?|wins?|loses?|losses|resign[a-z]*)\b)",
    re.I,
)
_RATING = re.compile(r"\s*(?:\([\d.]+\)|,\s*[\d.]+)$")
_LEFT = 5  # where the left player's cells begin


def decoded(data: bytes) -> str:
    """Text of a file: UTF-8, UTF-16 with its mark, otherwise Windows-1252, where every byte has some meaning."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "".join(_byte(value) for value in data)


def _byte(value: int) -> str:
    try:
        return bytes([value]).decode("cp1252")
    except UnicodeDecodeError:
        return chr(value)


class _Cell(NamedTuple):
    """What one player did, as written."""

    line: int
    column: int
    word: str
    """Of the first word, in lower case, without re- and the last s: roll, double, take, win ..."""
    dice: str
    """Two digits, for a roll."""
    rest: str
    """What follows the dice or the word."""
    text: str
    """All of it as it stands in the file."""


@dataclass
class _GameText:
    """The lines of one game."""

    line: int
    names: tuple[str, str] = ("", "")
    score: tuple[int, int] = (0, 0)
    name_column: int = 0
    rows: list[list[_Cell]] = field(default_factory=list)
    """Of a row, all cells that are left after the number."""
    fault: RecordError | None = None
    """Why its lines cannot be cut into rows; the rest of them is left out."""


class _WrongPoints(RecordError):
    """A win that is not worth what the file says; it may be another rule."""


def parsed(text: str, strict: bool, keep_broken: bool) -> MatchRecord:
    """The record of a file's text. strict: every play must use the whole roll. keep_broken: see engine.records."""
    if not isinstance(text, str):
        raise RecordError(f"a .mat file is text, not {type(text).__name__}")
    file = _File(text)
    games = _Reader(file, strict, jacoby=False).read()
    if any(isinstance(game.fault, _WrongPoints) for game in games) and not file.length and "Jacoby" not in file.tags:
        otherwise = _Reader(file, strict, jacoby=True).read()
        if len(_faults(otherwise)) < len(_faults(games)):
            games = otherwise
    faults = _faults(games)
    if faults and (not keep_broken or len(faults) == len(games)):
        raise faults[0]
    return MatchRecord(file.length, file.names, tuple(games), file.tags, tuple(file.comments))


def _faults(games: list[GameRecord]) -> list[RecordError]:
    return [game.fault for game in games if game.fault is not None]


class _File:
    """The text cut into what stands above the games, games and rows."""

    def __init__(self, text: str) -> None:
        self.tags: dict[str, str] = {}
        self.tag_lines: dict[str, int] = {}
        self.comments: list[str] = []
        self.games: list[_GameText] = []
        self.set_positions: list[tuple[int, str]] = []
        lines = enumerate(re.split("\r\n|\r|\n", text.removeprefix("\ufeff")), 1)
        self.length = self._read_top(lines)
        self._read_games(lines)
        self.middle = self._middle()

    def _read_top(self, lines: Iterator[tuple[int, str]]) -> int:
        """Everything down to the line that says how long the match is."""
        for number, line in lines:
            match = _LENGTH.fullmatch(line)
            if match is not None:
                length = int(match.group(1) or 0)
                if length > 32767:
                    raise RecordError(f"a match to {length} points is too long", number)
                return length
            if _GAME.fullmatch(line):
                raise RecordError('" n point match" is missing above the first game', number)
            self._remark(number, line)
        raise RecordError('no line " n point match": this is not a .mat file')

    def _remark(self, number: int, line: str) -> None:
        """A tag or a comment; people also draw boxes without a semicolon."""
        comment = " ".join(line.strip().lstrip(";#").split())
        comment = "".join(character for character in comment if character.isprintable())
        tag = read_tag(comment)
        if tag is not None:
            self.tags[tag[0]], self.tag_lines[tag[0]] = tag[1], number
        elif comment:
            self.comments.append(comment)

    def _read_games(self, lines: Iterator[tuple[int, str]]) -> None:
        game: _GameText | None = None
        for number, line in lines:
            if _GAME.fullmatch(line):
                game = _GameText(number)
                self.games.append(game)
            elif not line.strip():
                continue
            elif line.lstrip().startswith((";", "#")):
                position = _SET_POSITION.fullmatch(line)
                if position is not None:
                    self.set_positions.append((number, position.group(1)))
                elif game is None:
                    self._remark(number, line)
            elif game is None:
                raise RecordError(f"' Game 1' is expected, not {line.strip()!r}", number)
            elif game.fault is None:
                self._read_line(game, number, line)
        if not self.games:
            raise RecordError("the file has no game")
        for game in self.games:
            if not game.name_column and game.fault is None:
                game.fault = RecordError("the game has no line with the players and the score", game.line)
        if not any(game.name_column for game in self.games):
            raise self.games[0].fault or RecordError("no game has a line with the players and the score")

    def _read_line(self, game: _GameText, number: int, line: str) -> None:
        try:
            if game.name_column:
                game.rows.append(_cells(number, line))
            else:
                self._read_names(game, number, line)
        except RecordError as error:
            game.fault = error

    @property
    def names(self) -> tuple[str, str]:
        """The players, as the first game that names them has them."""
        return next(game.names for game in self.games if game.name_column)

    def _read_names(self, game: _GameText, number: int, line: str) -> None:
        line = line.expandtabs(8)
        found = next(filter(None, (pattern.fullmatch(line) for pattern in _SCORES)), None)
        if found is None:
            raise RecordError(f"' name : score     name : score' is expected, not {line.strip()!r}", number)
        left, own, right, theirs = found.groups()
        game.names, game.score = (" ".join(left.split()), " ".join(right.split())), (int(own), int(theirs))
        game.line, game.name_column = number, found.start(3)
        first = self.names
        if [_RATING.sub("", name) for name in game.names] != [_RATING.sub("", name) for name in first]:
            raise RecordError(f"the players are {first[0]} and {first[1]}, not {' and '.join(game.names)}", number)

    def _middle(self) -> int:
        """The column that parts left from right cells where only one stands in a row."""
        rows = [[cell for cell in row if not _tells_end(cell)] for game in self.games for row in game.rows]
        starts = Counter(row[1].column for row in rows if len(row) == 2)
        starts = starts or Counter(game.name_column for game in self.games if game.name_column)
        right = starts.most_common(1)[0][0]
        return (_LEFT + right) // 2


def _cells(number: int, line: str) -> list[_Cell]:
    line = line.expandtabs(8)
    numbered = _NUMBER.match(line)
    start = numbered.end() if numbered else 0
    line = " " * start + line[start:]
    found = list(_CELL.finditer(line))
    before = line[: found[0].start()] if found else line
    if before.strip():
        raise RecordError(f"cannot read {before.strip()!r}", number)
    cells = []
    for match, following in zip(found, [*found[1:], None], strict=False):  # a row may be empty
        end = following.start() if following else None
        rest, text = line[match.end() : end].strip(), line[match.start() : end].strip()
        word = "roll" if match["dice"] else match["word"].lower().replace("-", "").removeprefix("re")
        cells.append(_Cell(number, match.start(), word.rstrip("s"), match["dice"] or "", rest, text))
    return cells


def _tells_end(cell: _Cell) -> bool:
    """Whether the cell tells who has won, instead of what somebody does."""
    return cell.word.startswith(("win", "los", "sign"))  # the last of them was "resigns" or "resigned"


class _Reader:
    """Plays the games of a file by the rules."""

    def __init__(self, file: _File, strict: bool, *, jacoby: bool) -> None:
        self.file, self.strict = file, strict
        self.set_positions = list(file.set_positions)
        rules = rules_of_tags(file.tags, file.tag_lines, match=bool(file.length))
        self.crawford_rule = bool(rules.pop("crawford", True))
        if not file.length:
            rules.setdefault("jacoby", jacoby)
            rules.setdefault("beavers", self._has_beaver())
        stakes = rules.pop("stakes", (1, 2, 3))
        try:
            self.first = replace(new_game(file.length, **rules), stakes=stakes)  # type: ignore[arg-type]
        except EngineError as error:
            raise RecordError(f"the tags at the top: {error}") from error
        self.games: list[GameRecord] = []

    def _has_beaver(self) -> bool:
        words = [cell.word for game in self.file.games for row in game.rows for cell in row]
        return ("double", "beaver") in pairwise(words)

    def read(self) -> list[GameRecord]:
        """All games; those that cannot be read have a fault."""
        games = self.file.games
        for number, text in enumerate(games):
            if self.games and self.games[-1].end.match_over:
                if any(text.rows) or text.fault is not None:
                    over = replace(self.first, score=self.games[-1].end.score)
                    fault = RecordError("the match is over, no game can follow", text.line)
                    self.games.append(GameRecord(over, (), over, fault))
                continue
            following = games[number + 1] if number + 1 < len(games) else None
            self.games.append(self._game(text, following))
        return self.games

    def _game(self, text: _GameText, following: _GameText | None) -> GameRecord:
        start = replace(self.first, score=self.games[-1].end.score) if self.games else self.first
        try:
            if text.name_column:
                start = self._start(text)
            if text.fault is not None:
                raise text.fault
            return _GameReader(self, start, text).record(following)
        except RecordError as error:
            return GameRecord(start, (), start, text.fault or error)

    def _start(self, text: _GameText) -> GameState:
        """The start of the game, which must be at the score of the file."""
        if not self.games:
            return self._first_start(text)
        before = self.games[-1]
        if before.fault is not None:
            return self._start_after_broken(before, text)
        start = before.start if before.result is None else before.end.next_game()
        if start.score != text.score:
            expected, found = ("{}-{}".format(*score) for score in (start.score, text.score))
            raise RecordError(f"the score is {found}, but after the games before it is {expected}", text.line)
        return start if self.crawford_rule else replace(start, crawford=False)

    def _start_after_broken(self, before: GameRecord, text: _GameText) -> GameState:
        """What was won in a game that cannot be read is told by the score alone: it is taken as it stands."""
        self.set_positions = [found for found in self.set_positions if found[0] > text.line]
        at_match_point = self._at_match_point(text)
        if text.score == before.start.score:
            crawford = before.start.crawford
        else:
            earlier = self.file.games[: len(self.games)]
            crawford = at_match_point and not any(self._at_match_point(other) for other in earlier)
        return replace(self.first, score=text.score, crawford=crawford and self.crawford_rule)

    def _first_start(self, text: _GameText) -> GameState:
        """A file may begin later in a match: then the score, and a double, say whether this is the Crawford game."""
        length, at_match_point = self.file.length, self._at_match_point(text)
        doubled = any(cell.word == "double" for row in text.rows for cell in row)
        crawford = self.crawford_rule and (length == 1 or (at_match_point and not doubled))
        return replace(self.first, score=text.score, crawford=crawford)

    def _at_match_point(self, text: _GameText) -> bool:
        """Whether just one player needs a single point. RecordError where the match is over."""
        length = self.file.length
        if length and max(text.score) >= length:
            raise RecordError(f"at {text.score[0]}-{text.score[1]} the match to {length} points is over", text.line)
        return bool(length) and [length - 1 == points for points in text.score].count(True) == 1


class _GameReader:
    """Plays one game."""

    def __init__(self, reader: _Reader, start: GameState, text: _GameText) -> None:
        self.reader, self.text = reader, text
        self.builder = GameBuilder(start)
        self.told = False
        """Whether the file has said who won."""

    @property
    def state(self) -> GameState:
        return self.builder.state

    def record(self, following: _GameText | None) -> GameRecord:
        """The game; following: the next one in the file, whose score tells how a game ended that does not say so."""
        for row in self.text.rows:
            doing = [cell for cell in row if not _tells_end(cell)]
            for cell in row:
                if self.told:  # some programs repeat themselves after the end
                    break
                seat = int(cell.column >= self.reader.file.middle)
                if _tells_end(cell):
                    self._end(seat, cell)
                elif len(doing) > 2:
                    raise RecordError(f"{len(doing)} actions in one row", cell.line)
                elif self.state.game_state != GameStatus.DROPPED:
                    self._act(int(cell is doing[1]) if len(doing) == 2 else seat, cell)
        if following is not None and self.state.result is None:
            gained = [now - before for now, before in zip(following.score, self.builder.start.score, strict=True)]
            if min(gained) == 0 < max(gained):
                self._resign(int(gained[1] > 0), max(gained), following.line)
        return self.builder.record()

    # ---- what the players do

    def _act(self, seat: int, cell: _Cell) -> None:
        self._check_position(cell)
        try:
            self._check_turn(seat, cell)
            match cell.word:
                case "roll":
                    self._roll(seat, cell)
                case "double":
                    self._check_cube(cell, 2)
                    self.builder.double()
                case "take" if self.builder.last is Action.BEAVER:
                    pass  # the doubler's answer to a beaver, which is settled
                case "take":
                    self.builder.apply(Action.TAKE)
                case "beaver":
                    self._check_cube(cell, 4)
                    self.builder.apply(Action.BEAVER)
                case "drop" if self.builder.last is Action.BEAVER:
                    raise ActionError("a beaver that is dropped cannot be recorded")
                case "drop":
                    self.builder.apply(Action.DROP)
                case _:
                    raise ActionError("raccoons cannot be recorded")
        except EngineError as error:
            raise RecordError(f"{self.text.names[seat]}, {cell.text!r}: {error}", cell.line) from error

    def _check_turn(self, seat: int, cell: _Cell) -> None:
        state = self.state
        if state.game_state == GameStatus.NONE:
            if cell.word != "roll":
                raise ActionError("a game begins with a roll")
            return
        if state.dice is not None:
            name = self.text.names[state.on_roll]
            raise ActionError(f"{name}'s play of {state.dice[0]}{state.dice[1]} before it is missing")
        if seat == state.decider or state.result is not None:
            return
        if not state.doubled and closed_out(state):  # some programs leave his turn out
            self.builder.pass_closed_out()
        else:
            raise ActionError(f"it is the turn of {self.text.names[state.decider]}, in the other column")

    def _check_cube(self, cell: _Cell, factor: int) -> None:
        written = re.search("[0-9]+", cell.rest)
        if written is not None and int(written.group()) != factor * self.state.cube:
            raise ActionError(f"the cube goes to {factor * self.state.cube}, not to {written.group()}")

    def _check_position(self, cell: _Cell) -> None:
        """A set position is taken where it says what is known."""
        positions = self.reader.set_positions
        while positions and positions[0][0] < cell.line:
            number, board = positions.pop(0)
            position = read_xgid(f"{board}:0:0:1:00:0:0:0:0:10").position
            if self.state.position not in (position, position.flipped()):
                raise RecordError("the game goes on from a set position, which cannot be recorded", number)

    def _roll(self, seat: int, cell: _Cell) -> None:
        """A roll and its play. Without one the play is forced, or the roll is the last thing before a resignation."""
        if cell.dice == "00":  # nothing was rolled, somebody resigns
            return
        if self.state.game_state == GameStatus.NONE:
            self.builder.begin(seat, cell.dice)
        else:
            self.builder.apply(Action.ROLL, cell.dice)
        text = " ".join(word for word in cell.rest.lower().split() if word != "0/0")  # a die that is not needed
        if text.startswith("??") or text == "illegal play":
            return
        if text.startswith("illegal"):
            raise ActionError("a play that breaks the rules cannot be recorded")
        if text and text not in ("cannot move", "no move"):
            self._play(text)
            return
        plays = legal_plays(self.state.position, self.state.dice)
        if len(plays) == 1 and not (text and plays[0].moves):
            self.builder.apply(Action.PLAY, plays[0])
        elif text:
            raise ActionError(f"{cell.dice} can be played, e.g. {plays[0].notation}")

    def _play(self, text: str) -> None:
        try:
            self.builder.apply(Action.PLAY, text)
        except IllegalPlayError:
            play = None if self.reader.strict else _irregular_play(self.state, text)
            if play is None:
                raise
            self.builder.play_irregular(play)

    # ---- how the game ends

    def _end(self, seat: int, cell: _Cell) -> None:
        """The line that tells what the winner gets; seat: in whose column it stands."""
        if cell.word != "win":  # "Losses 2 points", "Resigned Game": the winner's line says it all
            return
        self.told = True
        written = re.match("[0-9]+", cell.rest)
        points = None if written is None else int(written.group())
        result = self.state.result
        if result is None:
            self._resign(seat, points, cell.line)
        elif points is not None and not self._is_worth(result.points, result.winner, points):
            name = self.text.names[result.winner]
            raise _WrongPoints(f"{name} wins {_points(result.points)} here, not {points}", cell.line)

    def _is_worth(self, worth: int, winner: int, points: int) -> bool:
        """Whether a win that is worth so much may be written as `points`; some write what the match still needs."""
        start = self.builder.start
        return worth == points or (
            start.match_length > 0 and start.match_length - start.score[winner] == points < worth
        )

    def _resign(self, winner: int, points: int | None, line: int) -> None:
        """The game ends before its end: the loser has resigned, or dropped without saying so."""
        name = self.text.names[1 - winner]
        if points is None:
            raise RecordError(f"{name} has not lost yet, so it must be said how many points he resigns", line)
        state = self.state
        for level in (1, 2, 3):
            if self._is_worth(points_of(state, level), winner, points):
                break
        else:
            raise _WrongPoints(f"{name} cannot resign {_points(points)} with the cube at {state.cube}", line)
        try:
            if state.doubled and state.decider != winner and level == 1:
                self.builder.apply(Action.DROP)
            else:
                self.builder.resign(1 - winner, level)
        except EngineError as error:
            raise RecordError(f"{name} resigns {_points(points)}: {error}", line) from error


def _irregular_play(state: GameState, text: str) -> Play | None:
    """The play that text means when its moves can all be made; whether they use the whole roll is not asked."""
    assert state.dice is not None
    parts = read_parts(text)
    if not parts or flaw_of_parts(parts, state.dice) is not None:
        return None
    results = Attempts.of(state.position.board.copy(), state.dice, parts).results
    if len(results) != 1:
        return None
    (after, moves), *_ = results.items()
    if not frozenset[int]().union(*(part.hits for part in parts)) <= {move.end for move in moves if move.hit}:
        return None
    position = Position(np.frombuffer(after, dtype=np.int8)).flipped()
    return Play(notation_of(moves), position, moves)


def _points(count: int) -> str:
    return f"{count} point{'s' * (count != 1)}"
