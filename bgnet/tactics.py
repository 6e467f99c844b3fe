"""Tactical features: what a player counts at the board and a network of raw inputs learns slowly.

For each side, the player on roll first: how far it is, what it holds, and of how many of the 36 rolls it can hit each
blot and move each of its checkers on. The counts are quick ones: a hit or a move on is looked at by itself, whatever
else of the roll has to be played. Hits count the checkers on the bar, which come in first; moves on do not, and take
bearing off for possible. (GNU Backgammon's networks have inputs of such kinds; these are our own.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.dice import ROLLS
from engine.jit import kernel

__all__ = ["SIDE", "TACTICS", "tactics", "tactics_kernel"]

SIDE = 59
"""Features of a side; place = the side's own number of it, 25 its bar.

0 pips / 167. 1 the rearmost checker's place / 25. 2 the most points in a row ahead of the opponent's rearmost checker
/ 6. 3 points made in the home board / 6. 4 blots / 4. 5 checkers in the opponent's home board or on the bar / 4.
6 pips that the checkers on the places 7 .. 18 are away from place 6 / 60. 7 contact: places from the opponent's
rearmost checker to the own one / 24, at least 0. 8 the rearmost checker's chance to move on, see below; 1 if it has
passed all. 9 the chance to hit any blot.
10 .. 33 the chance to hit the opponent's blot on point 1 .. 24; 0 without a blot.
34 .. 58 the chance that a checker on place 1 .. 25 can move by the whole roll (of doubles by two dice); 0 without one,
and for those that have passed all of the opponent's.
"""
TACTICS = 2 * SIDE
"""All features of a position."""

_SHOTS = 10
_ESCAPES = 34
_POINTS = (1 << 25) - 2  # the places 1 .. 24 of a set of places
_DOUBLES = (1 << 6) - 1  # of a set of rolls: bit d - 1 = double d, the others from bit 6 on


def _escape_chances() -> NDArray[np.float32]:
    """float32[4096]: by which of the 12 points ahead are blocked (bit i = i + 1 pips ahead), the chance to move by both
    dice, one after the other.
    """
    masks = np.arange(4096)
    chances = np.zeros(4096)
    for high, low in ROLLS.tolist():
        free_high, free_low, free_both = ((masks >> pips - 1) & 1 == 0 for pips in (high, low, high + low))
        chances += np.where(free_both & (free_high | free_low), 1 if high == low else 2, 0)
    return (chances / 36).astype(np.float32)


def _plain_shots() -> NDArray[np.int64]:
    """int64[25, 64]: by the distance to a blot and which of the 6 points before it are blocked (bit i = i + 1 pips
    before), the set of rolls, not doubles, by which a checker hits it.
    """
    shots = np.zeros((25, 64), dtype=np.int64)
    bit = _DOUBLES + 1
    for d1 in range(1, 7):
        for d2 in range(1, d1):
            shots[[d1, d2]] |= bit
            for blocked in range(64):
                if not (blocked >> d1 - 1) & (blocked >> d2 - 1) & 1:
                    shots[d1 + d2, blocked] |= bit
            bit <<= 1
    return shots


def _double_shots() -> NDArray[np.int64]:
    """int64[25, 3, 2]: by the distance to a blot up to three ways to hit it by a double: the points that must be open
    (bit i = i pips before the blot; bit 0 where there is no further way) and the roll.
    """
    shots = np.zeros((25, 3, 2), dtype=np.int64)
    shots[:, :, 0] = 1
    for distance in range(1, 25):
        pairs = [(distance // steps, steps) for steps in range(1, 5) if distance % steps == 0]
        ways = [(sum(1 << i * die for i in range(1, n)), 1 << die - 1) for die, n in pairs if die <= 6]
        shots[distance, : len(ways)] = np.array(ways).reshape(-1, 2)
    return shots


_ESCAPE_CHANCES = _escape_chances()
_PLAIN_SHOTS = _plain_shots()
_DOUBLE_SHOTS = _double_shots()
for _table in (_ESCAPE_CHANCES, _PLAIN_SHOTS, _DOUBLE_SHOTS):
    _table.flags.writeable = False


class _Side(NamedTuple):
    """What a look at the board finds out about a side. Sets of places: bit = the side's own number of the place."""

    held: int
    """Places with a checker, the bar among them."""
    made: int
    """Places with two or more."""
    held_seen: int
    """The same as the opponent numbers them."""
    made_seen: int
    bar: int
    """Checkers on the bar."""
    pips: int
    back: int
    """Checkers in the opponent's home board or on the bar."""
    outside: int
    """Pips that the checkers on the places 7 .. 18 are away from place 6."""


@kernel
def _bits(word):
    """word, an integer below 2**32 -> how many of its bits are set."""
    word = word - ((word >> 1) & 0x55555555)
    word = (word & 0x33333333) + ((word >> 2) & 0x33333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F
    return ((word * 0x01010101) & 0xFFFFFFFF) >> 24


@kernel
def _lowest(places):
    """A set of places, not empty -> its lowest."""
    return _bits((places & -places) - 1)


@kernel
def _chance(rolls):
    """A set of rolls -> the chance of one of them, float32."""
    return np.float32((_bits(rolls & _DOUBLES) + 2 * _bits(rolls >> 6)) / 36)


@kernel
def _hits(own, blocked, target):
    """Sets of places: own checkers, none on the bar, and the opponent's points; target, a blot's place -> the set of
    rolls that hit it.
    """
    left = own >> target & ~1  # bit = distance
    blocked = blocked >> target | 1
    near = blocked >> 1 & 63
    rolls = 0
    while left:
        distance = _lowest(left)
        left &= left - 1
        rolls |= _PLAIN_SHOTS[distance, near]
        for way in range(3):
            if not blocked & _DOUBLE_SHOTS[distance, way, 0]:
                rolls |= _DOUBLE_SHOTS[distance, way, 1]
    return rolls


@kernel
def _hits_from_bar(own, blocked, bar, target):
    """As `_hits`, with bar > 0 own checkers on the bar, which come in first -> the set of rolls that hit target."""
    rolls = 0
    bit = _DOUBLES + 1
    for d1 in range(1, 7):
        enters1 = not (blocked >> (25 - d1)) & 1
        for steps in range(1, 5):
            place = target + steps * d1
            if not enters1 or place > 25:
                break
            # One hits as it comes in; or all come in, at one step each, and then one of them or another goes on.
            from_bar = place == 25 and (steps == 1 or bar + steps <= 5)
            if from_bar or (place < 25 and (own >> place) & 1 and bar + steps <= 4):
                rolls |= 1 << (d1 - 1)
                break
            if place < 25 and (blocked >> place) & 1:
                break
        for d2 in range(1, d1):
            enters2 = not (blocked >> (25 - d2)) & 1
            hits = target + d1 == 25 or target + d2 == 25
            if bar == 1:
                hits |= enters2 and target + d1 < 25 and (own >> (target + d1)) & 1
                hits |= enters1 and target + d2 < 25 and (own >> (target + d2)) & 1
                hits |= target + d1 + d2 == 25 and (enters1 or enters2)
            if hits:
                rolls |= bit
            bit <<= 1
    return rolls


@kernel
def _side(board, opponent):
    """board int8[26], whose side: the player on roll's or the opponent's -> _Side."""
    held = made = held_seen = made_seen = bar = pips = back = outside = 0
    for place in range(1, 26):
        n = -int(board[25 - place]) if opponent else int(board[place])
        if n > 0:
            held |= 1 << place
            held_seen |= 1 << (25 - place)
            if n > 1:
                made |= 1 << place
                made_seen |= 1 << (25 - place)
            pips += n * place
            if place > 18:
                back += n
            elif place > 6:
                outside += n * (place - 6)
            if place == 25:
                bar = n
    return _Side(held, made, held_seen, made_seen, bar, pips, back, outside)


@kernel
def _write(side, other, out):
    """_Side of a player and of the opponent -> out float32[59], that player's features."""
    out[:] = 0.0
    own = side.held & _POINTS
    blocked = other.made_seen & _POINTS
    other_rear = _lowest(other.held_seen) if other.held_seen else 25
    ahead = -2 << other_rear  # places past the opponent's rearmost checker
    rear = 0
    escape = np.float32(1.0)
    left = side.held
    while left:
        rear = _lowest(left)
        left &= left - 1
        if (ahead >> rear) & 1:
            escape = _ESCAPE_CHANCES[(other.made & _POINTS) >> (26 - rear) & 4095]
            out[_ESCAPES - 1 + rear] = escape
    prime = 0
    row = side.made & ahead & _POINTS
    while row:
        row &= row << 1
        prime += 1
    any_hit = 0
    left = other.held_seen & ~other.made_seen & _POINTS
    while left:
        place = _lowest(left)
        left &= left - 1
        rolls = _hits(own, blocked, place) if side.bar == 0 else _hits_from_bar(own, blocked, side.bar, place)
        any_hit |= rolls
        out[_SHOTS - 1 + place] = _chance(rolls)
    out[0] = side.pips / 167
    out[1] = rear / 25
    out[2] = prime / 6
    out[3] = _bits(side.made & 0b1111110) / 6
    out[4] = _bits(own & ~side.made) / 4
    out[5] = side.back / 4
    out[6] = side.outside / 60
    out[7] = max(0, rear - other_rear) / 24
    out[8] = escape
    out[9] = _chance(any_hit)


@kernel
def tactics_kernel(board, out):
    """board int8[26] -> out float32[118], the player on roll's features and then the opponent's."""
    one, other = _side(board, False), _side(board, True)
    _write(one, other, out[:SIDE])
    _write(other, one, out[SIDE:])


@kernel
def _tactics(boards, out):
    """boards int8[N, 26] -> out float32[N, 118]."""
    for i in range(boards.shape[0]):
        tactics_kernel(boards[i], out[i])


def tactics(boards: NDArray[np.int8]) -> NDArray[np.float32]:
    """The features of trusted boards: int8[N, 26] -> float32[N, 118], each in the view of its player on roll."""
    out = np.empty((len(boards), TACTICS), dtype=np.float32)
    _tactics(np.ascontiguousarray(boards), out)
    return out
