"""Match IDs, 12 characters that hold dice, cube and score; and GNUBG IDs, `PositionID:MatchID`.

Layout: 72 bits from the least significant bit of the first of nine bytes, which base64 writes six bits a character.
"""

from __future__ import annotations

import base64
from typing import NamedTuple

from engine.errors import NotationError, StateError
from engine.ids import ALPHABET, POSITION_ID_LENGTH
from engine.pointing import pointed, stripped_text
from engine.position import Position
from engine.state import POINTS_TOP, GameState, GameStatus

__all__ = ["MATCH_ID_LENGTH", "read_gnubg_id", "read_position_id", "write_match_id"]

MATCH_ID_LENGTH = 12
_BYTES = 9
_CENTRED = 3


class _Bits(NamedTuple):
    """Where a field stands."""

    offset: int
    width: int

    @property
    def characters(self) -> tuple[int, int]:
        """The first character that holds some of its bits, and the first after them."""
        return self.offset // 6, (self.offset + self.width - 1) // 6 + 1


# The decision, too, is the seat of a player.
_LAYOUT = {
    "cube": _Bits(0, 4),
    "owner": _Bits(4, 2),
    "on_roll": _Bits(6, 1),
    "crawford": _Bits(7, 1),
    "game_state": _Bits(8, 3),
    "decision": _Bits(11, 1),
    "doubled": _Bits(12, 1),
    "resigned": _Bits(13, 2),
    "die 1": _Bits(15, 3),
    "die 2": _Bits(18, 3),
    "match_length": _Bits(21, 15),
    "score 0": _Bits(36, 15),
    "score 1": _Bits(51, 15),
    "no_jacoby": _Bits(66, 1),
    "rest": _Bits(67, 5),
}
# Fields of GameState that stand under other names, or in two places; the first place is pointed at.
_PLACES = {"dice": "die 1", "score": "score 0", "jacoby": "no_jacoby"}


def write_match_id(state: GameState) -> str:
    """The Match ID of a state. The larger die comes first; in a match Jacoby is marked as not in use.

    Raises StateError for a score that its 15 bits cannot hold.
    """
    if max(state.score) > POINTS_TOP:
        raise StateError(f"no Match ID for this state: it holds scores up to {POINTS_TOP}, not {state.score}", "score")
    larger, smaller = sorted(state.dice or (0, 0), reverse=True)
    values = {
        "cube": state.cube.bit_length() - 1,
        "owner": _CENTRED if state.owner is None else state.owner,
        "on_roll": state.on_roll,
        "crawford": int(state.crawford),
        "game_state": int(state.game_state),
        "decision": state.decider,
        "doubled": int(state.doubled),
        "resigned": state.resigned,
        "die 1": larger,
        "die 2": smaller,
        "match_length": state.match_length,
        "score 0": state.score[0],
        "score 1": state.score[1],
        "no_jacoby": int(not state.jacoby),
        "rest": 0,
    }
    bits = sum(values[name] << place.offset for name, place in _LAYOUT.items())
    return base64.b64encode(bits.to_bytes(_BYTES, "little")).decode("ascii")


def read_gnubg_id(text: str) -> GameState:
    """The state of `PositionID:MatchID`; white space around it does not matter.

    The bit for Jacoby says nothing in a match (older IDs leave it at 0), and the player to decide says nothing
    when no game goes on. Dice in any order are taken as they stand. Raises NotationError for everything else
    that is not as it should be: lengths, characters, boards, numbers out of range, values that contradict.
    """
    text = stripped_text("a GNUBG ID", text)
    position_text, colon, match_text = text.partition(":")
    if not colon or ":" in match_text:
        raise pointed("GNUBG ID", f"one colon is needed, as in PositionID:MatchID, not {text.count(':')}", text)
    if (len(position_text), len(match_text)) == (MATCH_ID_LENGTH, POSITION_ID_LENGTH):
        raise pointed("GNUBG ID", "the Position ID comes first, here the Match ID seems to", text)
    position = read_position_id("GNUBG ID", text, len(position_text))
    reader = _MatchReader(text, len(position_text) + 1)
    fields = reader.fields()
    try:
        return GameState(position, **fields)  # type: ignore[arg-type]
    except StateError as error:
        if error.part == "position":
            raise pointed("GNUBG ID", str(error), text, 0, len(position_text)) from error
        place = _PLACES.get(error.part, error.part)
        if error.part == "score" and reader["score 0"] < reader["match_length"]:
            place = "score 1"
        raise reader.error(place, str(error)) from error


def read_position_id(what: str, text: str, stop: int | None = None) -> Position:
    """The position of the Position ID text[:stop], with errors that show the whole text and say `what` it is."""
    part = text[:stop]
    if len(part) != POSITION_ID_LENGTH:
        raise pointed(what, f"Position ID: {len(part)} characters instead of {POSITION_ID_LENGTH}", text, 0, stop)
    try:
        return Position.from_position_id(part)
    except NotationError as error:
        raise pointed(what, str(error), text, 0, stop) from error


class _MatchReader:
    """Reads the Match ID that begins at `start` of a text."""

    def __init__(self, text: str, start: int) -> None:
        self.text, self.start = text, start
        match_text = text[start:]
        if len(match_text) != MATCH_ID_LENGTH:
            hint = "; leave out the padding '='" if "=" in match_text else ""
            raise pointed(
                "GNUBG ID", f"Match ID: {len(match_text)} characters instead of {MATCH_ID_LENGTH}{hint}", text, start
            )
        for place, character in enumerate(match_text, start):
            if character not in ALPHABET:
                reason = f"Match ID: {character!r} cannot occur, only A-Z a-z 0-9 + / can"
                raise pointed("GNUBG ID", reason, text, place, place + 1)
        self._bits = int.from_bytes(base64.b64decode(match_text), "little")

    def __getitem__(self, name: str) -> int:
        place = _LAYOUT[name]
        return self._bits >> place.offset & ((1 << place.width) - 1)

    def error(self, name: str, reason: str) -> NotationError:
        first, last = _LAYOUT[name].characters
        return pointed("GNUBG ID", f"Match ID: {reason}", self.text, self.start + first, self.start + last)

    def fields(self) -> dict[str, object]:
        """Arguments of GameState. Checked here is only what these cannot say any more."""
        if self["owner"] == 2:
            raise self.error("owner", "the cube's owner must be 0, 1 or 3 for none, not 2")
        if self["game_state"] > max(GameStatus):
            raise self.error("game_state", f"the state of the game must be 0 to 4, not {self['game_state']}")
        if self["rest"]:
            raise self.error("rest", "bits are set after the last field, so a character is wrong")
        self._check_decision()
        return {
            "on_roll": self["on_roll"],
            "dice": self._dice(),
            "cube": 1 << self["cube"],
            "owner": None if self["owner"] == _CENTRED else self["owner"],
            "match_length": self["match_length"],
            "score": (self["score 0"], self["score 1"]),
            "crawford": self["crawford"],
            "jacoby": self["match_length"] == 0 and not self["no_jacoby"],
            "doubled": self["doubled"],
            "resigned": self["resigned"],
            "game_state": self["game_state"],
        }

    def _dice(self) -> tuple[int, int] | None:
        dice = self["die 1"], self["die 2"]
        if dice == (0, 0):
            return None
        for name, die in zip(("die 1", "die 2"), dice, strict=True):
            if not 1 <= die <= 6:
                raise self.error(name, f"dice are two numbers from 1 to 6, or both 0 before the roll, not {dice}")
        return dice

    def _check_decision(self) -> None:
        pending = "a double" if self["doubled"] else "a resignation" if self["resigned"] else ""
        answers = self["decision"] != self["on_roll"]
        if self["game_state"] != GameStatus.PLAYING or answers == bool(pending):
            return
        if pending:
            reason = f"{pending} of player {self['on_roll']} is pending, but the same player is to decide"
        else:
            reason = f"player {self['on_roll']} is on roll and nothing is pending, but the other is to decide"
        raise self.error("decision", reason)
