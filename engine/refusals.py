"""Why a written play is refused: the reason that helps most, in words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, permutations

import numpy as np
from numpy.typing import NDArray

from engine.reading import Attempts, Part, Stop
from engine.steps import BAR, OFF, legal_move, moved, place_name

__all__ = ["flaw_of_parts", "why_not_played", "why_roll_not_used", "written_roll"]

_NUMBERS = ("no", "one", "two", "three", "four")


def written_roll(roll: tuple[int, int]) -> str:
    """(3, 1) -> "3-1"."""
    return f"{roll[0]}-{roll[1]}"


def flaw_of_parts(parts: list[Part], roll: tuple[int, int]) -> str | None:
    """What is wrong with the parts on every board: the direction of a step, or too many of them."""
    for part in parts:
        for start, end in pairwise(part.path):
            if end >= start:
                return f"{_step(start, end)} runs the wrong way: checkers move from higher to lower points"
    steps = sum(len(part.path) - 1 for part in parts)
    most = 4 if roll[0] == roll[1] else 2
    if steps > most:
        return f"too many moves: {steps} are written, {written_roll(roll)} gives {_NUMBERS[most]}"
    return None


def why_roll_not_used(roll: tuple[int, int], used: int, playable: int, example: str) -> str:
    """The reason against moves that can be played one by one, but do not use the roll as the rules want.

    used, playable: how many dice these moves use, and how many every legal play uses; example: a legal play.
    """
    this = f"this plays {_NUMBERS[used]}; e.g. {example} is legal"
    if roll[0] == roll[1]:
        which = "all four" if playable == 4 else _NUMBERS[playable]
        return f"{which} {roll[0]}s can and must be played, {this}"
    if used < playable:
        return f"both dice can and must be played, {this}"
    return f"only one die can be played, so it must be the larger, the {max(roll)}; e.g. {example} is legal"


def why_not_played(attempts: Attempts, roll: tuple[int, int]) -> str:
    """The reason why the written moves cannot all be played, given every attempt to."""
    # As far as one gets; of several ways, the one that does first what is written first.
    stop = max(attempts.stops, key=lambda stop: (sum(stop.done), stop.done))
    pending = [
        (part.path[done], part.path[done + 1])
        for part, done in zip(attempts.parts, stop.done, strict=True)
        if done + 1 < len(part.path)
    ]
    # While a checker is on the bar, what keeps it there says more than that the others have to wait.
    entering = [step for step in pending if step[0] == BAR]
    start, end = (entering or pending)[0]
    return _why_not_step(attempts.stops[0].board, stop, roll, start, end)


def _why_not_step(first_board: NDArray[np.int8], stop: Stop, roll: tuple[int, int], start: int, end: int) -> str:
    """Why a written step, of one or more dice, cannot be played at this stop."""
    board, step = stop.board, _step(start, end)
    if not stop.dice:
        return f"{step} is too much: {written_roll(roll)} is used up by the other moves"
    if start != BAR and board[BAR] > 0:
        return f"{_on_bar(board)} must enter before {step}"
    if board[start] <= 0:
        return _no_checker(first_board, board, start, step)
    ways = _ways(stop.dice, start, end)
    if not ways and end == OFF and _rearmost_other(board, start) > 6:
        return f"{step}: {_outside_home(_rearmost_other(board, start))}"
    if not ways:
        return _wrong_pips(stop, roll, start, end)
    if end != OFF and board[end] <= -2:
        return f"{step}: {_held(board, end)}"
    reasons = [_why_not_way(board, start, way) for way in ways if len(way) == len(ways[0])]
    return f"{step}: " + "; ".join(dict.fromkeys(reasons))


def _why_not_way(board: NDArray[np.int8], start: int, way: tuple[int, ...]) -> str:
    """Why one checker cannot go on with these dice in this order: the reason at the first that fails."""
    place = start
    for die in way:
        move = legal_move(board, place, die)
        if move is None:
            break
        board, place = moved(board, move), move.end
    if place != BAR and board[BAR] > 0:
        return f"{_on_bar(board)} must enter first"
    if place > die:
        return _held(board, place - die)
    rearmost = _rearmost_other(board, place)
    if rearmost > 6:
        return _outside_home(rearmost)
    return f"with the {die} the checker on {rearmost} must move first, it is higher than {place}"


def _rearmost_other(board: NDArray[np.int8], place: int) -> int:
    """The highest place of the mover's other checkers than one on `place`; 0 without others."""
    others = board.copy()
    others[place] -= 1
    return max((int(other) for other in np.flatnonzero(others > 0)), default=0)


def _no_checker(first_board: NDArray[np.int8], board: NDArray[np.int8], start: int, step: str) -> str:
    if start == BAR:
        return f"{step}: you have no checker on the bar" + (" any more" if first_board[BAR] > 0 else "")
    if board[start] < 0:
        theirs = -int(board[start])
        return f"{step}: there is no checker of yours on point {start}, only {theirs} of the opponent"
    more = "no more checker" if first_board[start] > 0 else "no checker"
    return f"{step}: there is {more} of yours on point {start}"


def _wrong_pips(stop: Stop, roll: tuple[int, int], start: int, end: int) -> str:
    """The step's length fits none of the dice; what a checker on the same point could do instead."""
    whole_roll = len(stop.dice) == (4 if roll[0] == roll[1] else 2)
    left = f"the roll is {written_roll(roll)}" if whole_roll else f"you have {_dice_left(stop.dice)} left"
    steps = [legal_move(stop.board, start, die) for die in sorted(set(stop.dice), reverse=True)]
    options = [_step(step.start, step.end) + "*" * step.hit for step in steps if step is not None]
    hint = f". From {place_name(start)}: {', '.join(options)}" if options else ""
    needs = f"needs {start} pips or more" if end == OFF else f"is {start - end} pip{'s' * (start - end > 1)}"
    return f"{_step(start, end)} {needs}, {left}{hint}"


def _ways(dice: tuple[int, ...], start: int, end: int) -> list[tuple[int, ...]]:
    """Orders of some of the dice that lead from start to end on an empty board, fewest dice first."""
    ways = []
    for count in range(1, len(dice) + 1):
        for way in dict.fromkeys(permutations(dice, count)):
            exact = sum(way) == start - end
            borne_off = end == OFF and sum(way) >= start > sum(way[:-1])
            if exact or borne_off:
                ways.append(way)
    return ways


def _dice_left(dice: Sequence[int]) -> str:
    if len(dice) == 1:
        return f"a {dice[0]}"
    return f"{_NUMBERS[len(dice)]} {dice[0]}s"


def _on_bar(board: NDArray[np.int8]) -> str:
    count = int(board[BAR])
    return "your checker on the bar" if count == 1 else f"your {count} checkers on the bar"


def _outside_home(place: int) -> str:
    return f"no checker can be borne off while one is on {place_name(place)}, outside home"


def _held(board: NDArray[np.int8], point: int) -> str:
    count = -int(board[point])
    return f"point {point} is held by {count} opposing checker{'s' * (count > 1)}"


def _step(start: int, end: int) -> str:
    return f"{place_name(start)}/{place_name(end)}"
