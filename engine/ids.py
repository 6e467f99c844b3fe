"""IDs: positions as short text. The 14-character Position ID of GNU Backgammon.

Layout: 80 bits, first for the player NOT on roll, then for the player on roll. Each writes his places 1..24
and his bar, in his own numbers, as so many 1 bits as checkers stand there and one 0 bit; the rest is 0. The
bits fill ten bytes from the least significant bit of the first, and base64 makes 14 characters of these.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import BoardError, NotationError

__all__ = ["ALPHABET", "POSITION_ID_LENGTH", "decode_position", "encode_position"]

POSITION_ID_LENGTH = 14

ALPHABET = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
"""Of base64."""
_POSITION_BYTES = 10
_PLACES = 25  # 24 points and the bar
_CHECKERS = 15  # the format has room for 30 checkers, 15 a side


def encode_position(board: Sequence[int] | NDArray[np.int8]) -> str:
    """Position ID of a board: 26 counts in the view of the player on roll, 25 his bar, 0 the opponent's.

    Raises BoardError unless there are 26 places, at most 15 checkers a side, and no side on the other's bar.
    """
    counts = [int(count) for count in board]
    if len(counts) != 26:
        raise BoardError(f"a board has 26 places, not {len(counts)}")
    if counts[25] < 0 or counts[0] > 0:
        raise BoardError(f"no Position ID for this board: a side stands on the other side's bar: {counts}")
    own = [max(count, 0) for count in counts[1:]]
    opponent = [max(-count, 0) for count in counts[24::-1]]
    for name, side in (("the player on roll", own), ("the opponent", opponent)):
        if sum(side) > _CHECKERS:
            raise BoardError(
                f"no Position ID for this board: {name} has {sum(side)} checkers, "
                f"at most {_CHECKERS} are allowed: {counts}"
            )
    bits = "".join("1" * count + "0" for count in opponent + own).ljust(8 * _POSITION_BYTES, "0")
    packed = int(bits[::-1], 2).to_bytes(_POSITION_BYTES, "little")
    return base64.b64encode(packed).decode("ascii").rstrip("=")


def decode_position(text: str) -> tuple[int, ...]:
    """The 26 counts, in the view of the player on roll, of a Position ID; no other text has the same counts.

    Raises NotationError, each with its reason, for a wrong length, a character outside base64, more than
    15 checkers a side, both sides on one point, and bits that are set after the last checker.
    """
    if not isinstance(text, str):
        raise NotationError(f"a Position ID is text, not {type(text).__name__}: {text!r}")
    _check_characters(text)
    packed = base64.b64decode(text + "==")
    bits = f"{int.from_bytes(packed, 'little'):0{8 * _POSITION_BYTES}b}"[::-1]
    # Any two texts differ in their bytes or in the four spare bits that fill up the last character.
    spare_bits_set = base64.b64encode(packed).decode("ascii").rstrip("=") != text
    # Over 30 checkers leave no room for all 50 zeros: these are added, and one side is found to be over 15.
    *places, tail = (bits + "0" * 2 * _PLACES).split("0", 2 * _PLACES)
    opponent = [len(ones) for ones in places[:_PLACES]]
    own = [len(ones) for ones in places[_PLACES:]]
    for name, side in (("the opponent", opponent), ("the player on roll", own)):
        if sum(side) > _CHECKERS:
            raise NotationError(
                f"Position ID {text!r}: {name} has {sum(side)} checkers, at most {_CHECKERS} are allowed"
            )
    if "1" in tail or spare_bits_set:
        raise NotationError(f"Position ID {text!r}: bits are set after the last checker, so a character is wrong")
    for point in range(1, 25):
        if own[point - 1] and opponent[24 - point]:
            raise NotationError(
                f"Position ID {text!r}: both sides stand on the {point}-point of the player on roll, "
                f"he with {own[point - 1]} and the opponent with {opponent[24 - point]}"
            )
    return tuple(mine - theirs for mine, theirs in zip([0, *own], [*opponent[::-1], 0], strict=True))


def _check_characters(text: str) -> None:
    foreign = sorted(set(text) - ALPHABET)
    if len(text) != POSITION_ID_LENGTH:
        hint = ""
        if ":" in text:
            hint = "; of a pair 'position:match' give the part before the colon"
        elif "=" in text:
            hint = "; leave out the padding '='"
        elif any(character.isspace() for character in text):
            hint = "; leave out the white space"
        raise NotationError(f"Position ID {text!r}: {len(text)} characters instead of {POSITION_ID_LENGTH}{hint}")
    if foreign:
        raise NotationError(
            f"Position ID {text!r}: {', '.join(map(repr, foreign))} cannot occur, only A-Z a-z 0-9 + / can"
        )
