"""XGIDs: XGID=position:cube:owner:turn:dice:score of X:score of O:rule:match length:maximum cube.

The board and all fields are X's, the bottom player's, whoever is on roll. X is player 1, O is player 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from engine.errors import NotationError, StateError
from engine.pointing import pointed, quoted, stripped_text
from engine.position import Position
from engine.state import CUBE_TOP, POINTS_TOP, GameState, GameStatus

__all__ = ["read_xgid", "write_xgid"]

_PREFIX = "XGID="
_NAMES = ("position", "cube", "owner", "turn", "dice", "score of X", "score of O", "rule", "match length",
          "maximum cube")  # fmt: skip
_O_BAR, _X_BAR = 0, 25
_CHECKERS = 15
_OWNERS = {"1": 1, "0": None, "-1": 0}
_TURNS = {"1": 1, "-1": 0}
_TOP = CUBE_TOP.bit_length() - 1
_NO_LIMIT = 10  # what programs write when nobody has asked for a limit
# Where the fields of GameState stand.
_PLACES = {"on_roll": "turn", "score": "score of X", "doubled": "dice", "crawford": "rule", "jacoby": "rule",
           "beavers": "rule", "match_length": "match length", "max_cube": "maximum cube"}  # fmt: skip


def write_xgid(state: GameState) -> str:
    """The XGID of a state; without a limit of the cube the maximum is written as 10, as programs do.

    An XGID has no room for how far the game is. Where it would show a game that goes on instead, StateError is
    raised: a resignation, offered or accepted, a drop, a match that is won. Variant and stakes are lost.
    """
    if state.resigned or state.game_state == GameStatus.RESIGNED:
        raise StateError("no XGID for this state: it has no room for a resignation", "resigned")
    if state.game_state == GameStatus.DROPPED:
        raise StateError("no XGID for this state: it has no room for a double that was dropped", "game_state")
    if state.match_length and max(state.score) >= state.match_length:
        raise StateError("no XGID for this state: it has no room for a match that is won", "score")
    if max(state.score) > POINTS_TOP:
        raise StateError(f"no XGID for this state: it holds scores up to {POINTS_TOP}, not {state.score}", "score")
    position = state.position if state.on_roll == 1 else state.position.flipped()
    dice = "D" if state.doubled else "{}{}".format(*(state.dice or (0, 0)))
    rule = int(state.crawford) if state.match_length else int(state.jacoby) + 2 * int(state.beavers)
    limit = _NO_LIMIT if state.max_cube is None else state.max_cube.bit_length() - 1
    values = (
        "".join(_letter(count) for count in position.board.tolist()),
        state.cube.bit_length() - 1,
        {seat: text for text, seat in _OWNERS.items()}[state.owner],
        1 if state.on_roll == 1 else -1,
        dice,
        state.score[1],
        state.score[0],
        rule,
        state.match_length,
        limit,
    )
    return _PREFIX + ":".join(map(str, values))


def _letter(count: int) -> str:
    if count == 0:
        return "-"
    return chr(ord("A") + count - 1) if count > 0 else chr(ord("a") - count - 1)


@dataclass(frozen=True)
class _Field:
    """One field and where it stands in the whole text."""

    name: str
    text: str
    whole: str
    start: int

    def error(self, reason: str, place: int | None = None, note: str = "") -> NotationError:
        """The error that points at the field, or at one character of it."""
        start = self.start if place is None else self.start + place
        stop = self.start + len(self.text) if place is None else start + 1
        return pointed("XGID", reason, self.whole, start, stop, note)


def read_xgid(text: str) -> GameState:
    """The state of an XGID; the prefix may be missing, white space around it does not matter.

    A maximum cube of 10 is read as no limit, a board without checkers of a side as a game that is over, its points in
    the score. Raises NotationError that names and points at the field for
    everything that is not as it should be, also for B and R, a pending beaver or raccoon, which no GameState holds.
    """
    fields = _fields(stripped_text("an XGID", text))
    position = Position(_board(fields["position"]))
    cube = 1 << _number(fields["cube"], _TOP)
    owner = _choice(fields["owner"], _OWNERS)
    on_roll = 1 if _choice(fields["turn"], _TURNS) else 0
    dice, doubled = _dice(fields["dice"])
    score_of_x = _number(fields["score of X"], POINTS_TOP)
    score_of_o = _number(fields["score of O"], POINTS_TOP)
    length = _number(fields["match length"], POINTS_TOP)
    rule = _number(fields["rule"], 3)
    if length and rule > 1:
        raise fields["rule"].error(f"rule: in a match 0, or 1 in the Crawford game, not {rule}")
    limit = _number(fields["maximum cube"], _TOP)
    try:
        return GameState(
            position if on_roll == 1 else position.flipped(),
            game_state=GameStatus.PLAYING if position.ending() is None else GameStatus.OVER,
            on_roll=on_roll,
            dice=dice,
            cube=cube,
            owner=owner,
            match_length=length,
            score=(score_of_o, score_of_x),
            crawford=bool(length and rule),
            jacoby=bool(not length and rule & 1),
            beavers=bool(not length and rule & 2),
            max_cube=None if limit == _NO_LIMIT else 1 << limit,
            doubled=doubled,
        )
    except StateError as error:
        name = _PLACES.get(error.part, error.part)
        if error.part == "score" and score_of_x < length:
            name = "score of O"
        raise fields[name].error(str(error)) from error


def _fields(text: str) -> dict[str, _Field]:
    """The ten fields by name."""
    start = len(_PREFIX) if text.startswith(_PREFIX) else 0
    if not start and text.upper().startswith("XGID"):
        raise pointed("XGID", f"the prefix is written {_PREFIX}, or left out", text, 0, len(_PREFIX))
    parts = text[start:].split(":")
    if len(parts) != len(_NAMES):
        layout = ":".join(name.replace("score of ", "score").replace(" ", "-") for name in _NAMES)
        reason = f"{len(parts)} fields instead of {len(_NAMES)}: XGID={layout}"
        raise pointed("XGID", reason, text, len(text) if len(parts) < len(_NAMES) else start)
    fields = {}
    for name, part in zip(_NAMES, parts, strict=True):
        fields[name] = _Field(name, part, text, start)
        start += len(part) + 1
    return fields


def _board(field: _Field) -> list[int]:
    """The 26 counts in X's view."""
    if len(field.text) != 26:
        raise field.error(f"position: {len(field.text)} places instead of 26: O's bar, points 1 to 24, X's bar")
    board = []
    for place, letter in enumerate(field.text):
        if "A" <= letter <= "P":
            board.append(ord(letter) - ord("A") + 1)
        elif "a" <= letter <= "p":
            board.append(-(ord(letter) - ord("a") + 1))
        elif letter == "-":
            board.append(0)
        else:
            raise field.error(f"position: {letter!r} cannot occur; A-P are X's checkers, a-p O's, - is nobody", place)
    if board[_O_BAR] > 0:
        raise field.error("position: the first place is O's bar, where only a-p can stand", _O_BAR)
    if board[_X_BAR] < 0:
        raise field.error("position: the last place is X's bar, where only A-P can stand", _X_BAR)
    for name, sign in (("X", 1), ("O", -1)):
        counts = [max(0, sign * count) for count in board]
        if sum(counts) > _CHECKERS:
            place = next(place for place in range(26) if sum(counts[: place + 1]) > _CHECKERS)
            where = {_O_BAR: "O's bar", _X_BAR: "X's bar"}.get(place, f"X's {place}-point")
            reason = f"{name} has {sum(counts)} checkers, at most {_CHECKERS} are allowed"
            raise field.error(reason, place, f"{counts[place]} on {where}")
    return board


def _number(field: _Field, high: int) -> int:
    if not re.fullmatch("0|[1-9][0-9]{0,5}", field.text) or int(field.text) > high:
        raise field.error(f"{field.name}: a whole number from 0 to {high} is needed, not {quoted(field.text)}")
    return int(field.text)


def _choice(field: _Field, choices: Mapping[str, int | None]) -> int | None:
    if field.text not in choices:
        meaning = "1 for X, -1 for O" + (", 0 for the middle" if "0" in choices else "")
        raise field.error(f"{field.name}: {meaning}, not {quoted(field.text)}")
    return choices[field.text]


def _dice(field: _Field) -> tuple[tuple[int, int] | None, bool]:
    """The dice, and whether a double is pending instead."""
    if field.text in ("B", "R"):
        pending = {"B": "beaver", "R": "raccoon"}[field.text]
        raise field.error(
            f"dice: {field.text}, a pending {pending}, cannot be read; give the position before the double"
        )
    if field.text in ("00", "D"):
        return None, field.text == "D"
    if not re.fullmatch("[1-6]{2}", field.text):
        raise field.error(
            f"dice: two digits from 1 to 6, 00 before the roll, or D for a double, not {quoted(field.text)}"
        )
    return (int(field.text[0]), int(field.text[1])), False
