"""Tactical features: what a player counts at the board and a network of raw inputs learns slowly.

For each side, the player on roll first: how far it is, what it holds, and of how many of the 36 rolls it can hit each
blot and move each of its checkers on. The counts are quick ones: a hit or a move on is looked at by itself, whatever
else of the roll has to be played, and checkers on the bar come in first. (GNU Backgammon's networks have inputs of such
kinds; these are our own.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.dice import ROLLS
from engine.jit import kernel

__all__ = ["SIDE", "TACTICS", "tactics", "tactics_kernel"]

SIDE = 59
"""Features of a side; place = the side's own number of it, 25 its bar.

0 pips / 167. 1 the rearmost checker's place / 25. 2 the most points in a row ahead of the opponent's rearmost checker
/ 6. 3 points made in the home board / 6. 4 blots / 4. 5 checkers in the opponent's home board or on the bar / 4.
6 pips from between there and the own home board into the own home board / 60. 7 contact: places from the opponent's
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


_ESCAPE_CHANCES = _escape_chances()
_ESCAPE_CHANCES.flags.writeable = False


@kernel
def _bits(word):
    """word, an integer below 2**32 -> how many of its bits are set."""
    word = word - ((word >> 1) & 0x55555555)
    word = (word & 0x33333333) + ((word >> 2) & 0x33333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F
    return ((word * 0x01010101) & 0xFFFFFFFF) >> 24


@kernel
def _chance(rolls):
    """A set of rolls -> the chance of one of them, float32."""
    return np.float32((_bits(rolls & _DOUBLES) + 2 * _bits(rolls >> 6)) / 36)


@kernel
def _hits(own, blocked, target):
    """Bits of own checkers' places, none on the bar, and of the opponent's points; target, a blot's place -> the set of
    rolls that hit it.
    """
    own >>= target
    blocked >>= target
    rolls = 0
    bit = _DOUBLES + 1
    for d1 in range(1, 7):
        direct = (own >> d1) & 1
        for steps in range(1, 5):
            if (own >> (steps * d1)) & 1:
                rolls |= 1 << (d1 - 1)
                break
            if (blocked >> (steps * d1)) & 1:
                break
        for d2 in range(1, d1):
            both = (own >> (d1 + d2)) & 1 and not ((blocked >> d1) & (blocked >> d2) & 1)
            if direct or (own >> d2) & 1 or both:
                rolls |= bit
            bit <<= 1
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
def _side(board, opponent, out):
    """board int8[26], whose side: the player on roll's or the opponent's -> out float32[59]."""
    own = 0  # bits of places
    blocked = 0
    ahead = 0  # blocked points, mirrored: bit 25 - place
    blots = 0
    rear = 0
    opponent_rear = 25
    pips = 0
    home = 0
    own_blots = 0
    back = 0
    outside = 0
    bar = 0
    for i in range(26):
        place = 25 - i if opponent else i
        n = -int(board[i]) if opponent else int(board[i])
        if n > 0:
            pips += n * place
            rear = max(rear, place)
            if place == 25:
                bar = n
            else:
                own |= 1 << place
                own_blots += n == 1
            if place > 18:
                back += n
            elif place > 6:
                outside += n * (place - 6)
            else:
                home += n > 1
        elif n < 0:
            opponent_rear = min(opponent_rear, place)
            if n == -1:
                blots |= 1 << place
            elif place > 0:
                blocked |= 1 << place
                ahead |= 1 << (25 - place)
    row = 0
    prime = 0
    for place in range(opponent_rear + 1, 25):
        n = -int(board[25 - place]) if opponent else int(board[place])
        row = row + 1 if n > 1 else 0
        prime = max(prime, row)
    any_hit = 0
    for place in range(1, 25):
        chance = np.float32(0.0)
        if (blots >> place) & 1:
            rolls = _hits(own, blocked, place) if bar == 0 else _hits_from_bar(own, blocked, bar, place)
            any_hit |= rolls
            chance = _chance(rolls)
        out[_SHOTS - 1 + place] = chance
    escape = np.float32(1.0)
    if bar > 0:
        own |= 1 << 25
    for place in range(1, 26):
        chance = np.float32(0.0)
        if place > opponent_rear and (own >> place) & 1:
            chance = _ESCAPE_CHANCES[(ahead >> (26 - place)) & 4095]
            escape = chance  # of the rearmost in the end
        out[_ESCAPES - 1 + place] = chance
    out[0] = pips / 167
    out[1] = rear / 25
    out[2] = prime / 6
    out[3] = home / 6
    out[4] = own_blots / 4
    out[5] = back / 4
    out[6] = outside / 60
    out[7] = max(0, rear - opponent_rear) / 24
    out[8] = escape
    out[9] = _chance(any_hit)


@kernel
def tactics_kernel(board, out):
    """board int8[26] -> out float32[118], the player on roll's features and then the opponent's."""
    _side(board, False, out[:SIDE])
    _side(board, True, out[SIDE:])


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
