"""Plays and how they are written: 8/5 6/5, bar/20*, 13/7*/5, 6/off, 6/5(2), no play.

The mover's own point numbers, the highest start first. The moves of one checker are joined (24/18/13 becomes
24/13) unless it hits on the way; equal ones are counted; `*` marks each hit, where it first happens.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.errors import BoardError, IllegalPlayError, NotationError
from engine.moves import legal_afterstates
from engine.position import Position
from engine.reading import Attempts, Part, read_parts
from engine.refusals import flaw_of_parts, why_not_played, why_roll_not_used, written_roll
from engine.steps import Move, legal_moves, moved, place_name, read_dice

__all__ = ["Move", "Play", "legal_plays", "notation_of", "parse_play"]

_NO_PLAY = "no play"


@dataclass(frozen=True)
class Play:
    """What a player can do with a roll."""

    notation: str
    """As one writes it, in the mover's numbers; different for every legal play of the roll."""
    position: Position
    """The result, in the NEXT player's view."""
    moves: tuple[Move, ...]
    """One die each, in an order in which they can be played; empty for a forced pass."""

    @property
    def hits(self) -> frozenset[int]:
        """The points, in the mover's numbers, where blots were hit."""
        return frozenset(move.end for move in self.moves if move.hit)

    def __str__(self) -> str:
        return self.notation


def legal_plays(position: Position, dice: object) -> list[Play]:
    """All legal plays, one for each distinct result, in the order of `engine.legal_afterstates`.

    dice: two numbers from 1 to 6 in any order, or text as "31". A roll that cannot be played gives one play,
    "no play". Raises DiceError, and BoardError for a flawed or finished position.
    """
    if not isinstance(position, Position):
        raise BoardError(f"a Position is needed, not {type(position).__name__}: Position(board)")
    roll = read_dice(dice)
    board = position.board.copy()
    results = legal_afterstates(board[None], np.array([roll], dtype=np.int8)).boards
    best: dict[bytes, tuple[tuple[int, int], Play]] = {}
    wanted = {(-result[::-1]).tobytes(): Position(result) for result in results}
    for after, moves in _sequences(board, roll):
        result = wanted.get(after.tobytes())
        if result is None:
            continue
        play = Play(notation_of(moves), result, moves)
        rank = (-len(moves), play.notation.count(" "))  # the most dice, then the fewest parts, then the first
        if after.tobytes() not in best or rank < best[after.tobytes()][0]:
            best[after.tobytes()] = (rank, play)
    return [best[board_after][1] for board_after in wanted]


def parse_play(position: Position, dice: object, text: str) -> Play:
    """The legal play that the text means.

    Read are parts in any order, bar or 25, off or 0, commas, capitals, whole ways or single moves, a count as
    in 6/5(2), and plays without their `*`. For a roll that cannot be played: "no play", "pass" or nothing.

    Raises NotationError for text that is no play, or that fits several (they are named); IllegalPlayError
    with the reason for a play that the rules forbid, or a `*` where nothing is hit; DiceError; BoardError.
    """
    roll = read_dice(dice)
    parts = read_parts(text)
    plays = legal_plays(position, roll)
    forced_pass = not plays[0].moves
    if forced_pass and not parts:
        return plays[0]
    if forced_pass:
        raise _illegal(text, f"nothing can be played with {written_roll(roll)}; write 'no play' or 'pass'")
    if not parts:
        raise _illegal(text, f"{written_roll(roll)} can be played, so it must be, e.g. {plays[0].notation}")
    flaw = flaw_of_parts(parts, roll)
    if flaw is not None:
        raise _illegal(text, flaw)
    attempts = Attempts.of(position.board.copy(), roll, parts)
    fitting = [play for play in plays if play.position.flipped().board.tobytes() in attempts.results]
    if fitting:
        return _closest(text, parts, fitting)
    if not attempts.results:
        raise _illegal(text, why_not_played(attempts, roll))
    longest = max(attempts.results.values(), key=len)
    example = _example(plays, longest).notation
    raise _illegal(text, why_roll_not_used(roll, len(longest), len(plays[0].moves), example))


def _closest(text: str, parts: list[Part], plays: list[Play]) -> Play:
    """Of the plays that the parts fit, the one whose hits are written; a point that is named needs no `*`."""
    marked = frozenset[int]().union(*(part.hits for part in parts))
    hitting = [play for play in plays if marked <= play.hits]
    if not hitting:
        wrong = ", ".join(place_name(place) for place in sorted(marked - plays[0].hits, reverse=True))
        raise _illegal(text, f"nothing is hit on {wrong}; without the * there it is {plays[0].notation}")
    named = {place for part in parts for place in part.path}
    fewest = min(len(play.hits - named) for play in hitting)
    closest = [play for play in hitting if len(play.hits - named) == fewest]
    if len(closest) > 1:
        choices = " or ".join(play.notation for play in closest)
        raise NotationError(f"play {text!r} can mean {choices}: write which")
    return closest[0]


def _example(plays: list[Play], moves: Iterable[Move]) -> Play:
    """A legal play to show to someone who made these moves: one that contains them if there is one."""
    made = Counter(moves)
    return next((play for play in plays if made <= Counter(play.moves)), plays[0])


def _illegal(text: str, reason: str) -> IllegalPlayError:
    return IllegalPlayError(f"{text!r} is not legal: {reason}")


def _sequences(board: NDArray[np.int8], roll: tuple[int, int]) -> Iterator[tuple[NDArray[np.int8], tuple[Move, ...]]]:
    """Legal moves with none, a part or all of the roll -> (board after, moves); no result is missed."""
    high, low = max(roll), min(roll)
    if high == low:
        yield from _continued(board, (high,) * 4, (), ordered=True)
    else:
        yield from _continued(board, (high, low), ())
        yield from _continued(board, (low, high), ())


def _continued(
    board: NDArray[np.int8], dice: tuple[int, ...], moves: tuple[Move, ...], ordered: bool = False
) -> Iterator[tuple[NDArray[np.int8], tuple[Move, ...]]]:
    """`moves` and all that can follow them; ordered: starts never increase, which is enough for a double."""
    yield board, moves
    if not dice:
        return
    for move in legal_moves(board, dice[0]):
        if not (ordered and moves and move.start > moves[-1].start):
            yield from _continued(moved(board, move), dice[1:], (*moves, move), ordered)


def notation_of(moves: Iterable[Move]) -> str:
    """How moves, given in any order, are written."""
    hits = {move.end for move in moves if move.hit}
    paths = Counter(_paths(moves))
    parts = []
    for path in sorted(paths, key=lambda path: (-path[0], -path[-1])):
        part = place_name(path[0])
        for place in path[1:]:
            if place in hits:
                hits.remove(place)
                part += f"/{place}*"
            elif place == path[-1]:
                part += f"/{place_name(place)}"
        parts.append(part + (f"({paths[path]})" if paths[path] > 1 else ""))
    return " ".join(parts) or _NO_PLAY


def _paths(moves: Iterable[Move]) -> Iterator[tuple[int, ...]]:
    """The moves joined to as few ways of single checkers as can be, each with all places it touches."""
    left = sorted(((move.start, move.end) for move in moves), reverse=True)
    while left:
        path = list(left.pop(0))  # no other way can end where the highest one starts
        while step := next((step for step in left if step[0] == path[-1]), None):
            left.remove(step)
            path.append(step[1])
        yield tuple(path)
