"""Reading a written play: first its words, then every way to play them out on a board."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import NotationError
from engine.steps import BAR, OFF, Move, legal_move, moved

__all__ = ["Attempts", "Part", "Stop", "read_parts"]

_PASSES = {"", "pass", "no play", "cannot move"}
_NAMES = {"bar": BAR, "off": OFF}
_PLACE = "(?:bar|off|[0-9]{1,2})"
_PART = re.compile(rf"({_PLACE}(?:/{_PLACE}\*?)+)(?:\(([0-9])\)(\*?))?")


class Part(NamedTuple):
    """The way of one checker as written."""

    path: tuple[int, ...]
    """The places written, two or more; 25 = bar, 0 = off."""
    hits: frozenset[int]
    """The places written with `*`."""


class Stop(NamedTuple):
    """A moment on the way where every written step is either done or not begun."""

    board: NDArray[np.int8]
    """int8[26], mover's view."""
    dice: tuple[int, ...]
    """Those not played yet."""
    done: tuple[int, ...]
    """For each part, how many of its steps are done."""


def read_parts(text: str) -> list[Part]:
    """The parts of a written play, one for each checker it moves; none for a pass.

    Raises NotationError for text that does not read as a play, whatever the board.
    """
    if not isinstance(text, str):
        raise NotationError(f"a play is text, not {type(text).__name__}: {text!r}")
    words = " ".join(text.lower().replace(",", " ").split())
    if words in _PASSES:
        return []
    parts: list[Part] = []
    words = re.sub(r" ?/ ?", "/", words)
    words = re.sub(r" (?=[(*])", "", words)
    for word in words.split(" "):
        parts += _read_part(text, word)
    return parts


def _read_part(text: str, word: str) -> list[Part]:
    match = _PART.fullmatch(word)
    if match is None:
        raise NotationError(
            f"play {text!r}: cannot read {word!r}; write plays as 8/5 6/5, bar/20*, 6/off, 6/5(2) or no play"
        )
    way, count, late_star = match.groups()
    if count is not None and not 1 <= int(count) <= 4:
        raise NotationError(f"play {text!r}: {word!r} moves {count} checkers; a roll moves one to four")
    written = way.split("/")
    places = [place.rstrip("*") for place in written]
    path = tuple(_NAMES[place] if place in _NAMES else int(place) for place in places)
    if max(path) > BAR:
        raise NotationError(f"play {text!r}: there is no point {max(path)}; points are 1 to 24, bar and off")
    hits = {place for place, name in zip(path, written, strict=True) if name.endswith("*")}
    if late_star:  # 6/5(2)*
        hits.add(path[-1])
    return [Part(path, frozenset(hits))] * int(count or 1)


@dataclass
class Attempts:
    """Every way to play out the written parts, in any order and with the dice in any order, move by move.

    Each move is legal by itself; whether the roll is used as the rules want is for others to judge.
    """

    parts: list[Part]
    results: dict[bytes, tuple[Move, ...]] = field(default_factory=dict)
    """Board (bytes of int8[26], mover's view) after all that is written -> the moves that lead there."""
    stops: list[Stop] = field(default_factory=list)
    """Where one got to, including the board as it was; what cannot be played is seen there."""
    _seen: set[tuple[bytes, tuple[int, ...], tuple[tuple[int, int], ...]]] = field(default_factory=set)

    @classmethod
    def of(cls, board: NDArray[np.int8], roll: tuple[int, int], parts: list[Part]) -> Attempts:
        """All attempts on a board (int8[26], mover's view) with a roll."""
        attempts = cls(parts)
        dice = roll * 2 if roll[0] == roll[1] else roll
        attempts._go_on(board, dice, tuple((part.path[0], 0) for part in parts), ())
        return attempts

    def _go_on(
        self,
        board: NDArray[np.int8],
        dice: tuple[int, ...],
        checkers: tuple[tuple[int, int], ...],  # for each part: where its checker is, how many steps are done
        moves: tuple[Move, ...],
    ) -> None:
        state = (board.tobytes(), dice, checkers)
        if state in self._seen:
            return
        self._seen.add(state)
        if all(place == part.path[done] for part, (place, done) in zip(self.parts, checkers, strict=True)):
            done = tuple(done for _, done in checkers)
            self.stops.append(Stop(board, dice, done))
            if all(len(part.path) == n + 1 for part, n in zip(self.parts, done, strict=True)):
                if len(moves) > len(self.results.get(board.tobytes(), ())):
                    self.results[board.tobytes()] = moves
                return
        for i, (part, (place, steps)) in enumerate(zip(self.parts, checkers, strict=True)):
            if steps + 1 == len(part.path):
                continue
            target = part.path[steps + 1]
            for die in sorted(set(dice), reverse=True):
                move = legal_move(board, place, die)
                if move is None or move.end < target:
                    continue
                left = list(dice)
                left.remove(die)
                checker = (move.end, steps + int(move.end == target))
                self._go_on(
                    moved(board, move),
                    tuple(left),
                    (*checkers[:i], checker, *checkers[i + 1 :]),
                    (*moves, move),
                )
