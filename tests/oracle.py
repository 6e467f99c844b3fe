"""A slow, obvious twin of the engine, written from the rule sheets: tuples, recursion, no tricks.

It judges the fast generator in the tests, so it must not import `engine`. Comments cite rules by number.

A board is a tuple of 26 counts as the player on roll (the mover) sees it: 1..24 are his point numbers, 25 is
his bar, 0 the opponent's bar; his checkers count positive, the opponent's negative, those off are implied.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import lru_cache

Board = tuple[int, ...]
Dice = tuple[int, int]
Choose = Callable[[random.Random, Board, list[Board]], Board]

OWN_BAR = 25
OPPONENT_BAR = 0
START: Board = (0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0)
ALL_ROLLS: list[Dice] = [(larger, smaller) for larger in range(1, 7) for smaller in range(1, larger + 1)]


def turned(board: Board) -> Board:
    """The same checkers as the other player sees them."""
    return tuple(-count for count in reversed(board))


def results(board: Board, dice: Dice) -> set[Board]:
    """Every board the mover may leave with these dice, still in his view; a forced pass leaves `board`.

    Strict reading of rule 10: both dice are used whenever some play uses both, even if the last checker
    could be borne off with one.
    """
    first, second = dice
    if first == second:
        plays = played_out(board, (first,) * 4)  # rule 9
    else:
        plays = played_out(board, (first, second)) | played_out(board, (second, first))  # rule 6

    most = max(len(used) for used, _ in plays)
    legal = [(used, result) for used, result in plays if len(used) == most]  # rules 10 and 12
    if most == 1:
        larger = max(used for used, _ in legal)
        legal = [(used, result) for used, result in legal if used == larger]  # rule 11
    return {result for _, result in legal}  # nothing playable: most is 0, and only `board` is left (rule 13)


@lru_cache(maxsize=20_000)  # plays of a double meet in the same board again and again
def played_out(board: Board, numbers: tuple[int, ...]) -> frozenset[tuple[tuple[int, ...], Board]]:
    """Every way to play `numbers` in this order till they run out or get stuck: (numbers used, result)."""
    ways: set[tuple[tuple[int, ...], Board]] = set()
    if numbers:
        for after in steps(board, numbers[0]):
            for used, result in played_out(after, numbers[1:]):
                ways.add(((numbers[0], *used), result))
    return frozenset(ways or {((), board)})


def steps(board: Board, number: int) -> Iterator[Board]:
    """Every board after one checker has moved by `number`."""
    sources = [OWN_BAR] if board[OWN_BAR] > 0 else range(1, 25)  # rule 15
    for source in sources:
        if board[source] <= 0:
            continue
        target = source - number  # rule 5; from the bar this is point 25 - number, rule 16
        if target >= 1:
            if board[target] >= -1:  # rule 7
                yield moved(board, source, target)
        elif may_bear_off(board, source, number):
            yield taken_off(board, source)


def moved(board: Board, source: int, target: int) -> Board:
    """One checker moved from source to target; a blot found there goes to the bar (rule 14)."""
    after = list(board)
    after[source] -= 1
    if after[target] == -1:
        after[target] = 0
        after[OPPONENT_BAR] -= 1
    after[target] += 1
    return tuple(after)


def may_bear_off(board: Board, source: int, number: int) -> bool:
    """May a checker on `source` be borne off with `number`?"""
    if any(board[place] > 0 for place in range(7, 26)):  # rule 19
        return False
    if number == source:  # rule 20
        return True
    return number > source and all(board[higher] <= 0 for higher in range(source + 1, 7))  # rule 21


def taken_off(board: Board, source: int) -> Board:
    """One checker borne off."""
    after = list(board)
    after[source] -= 1
    return tuple(after)


def ending(board: Board, checkers: int = 15) -> int | None:
    """How the game ended for the player whose view this is, or None while both sides have checkers.

    0, 1, 2 = he won a single game, a gammon, a backgammon; 3, 4, 5 = he lost one (rules 23 and 25).
    """
    own = sum(count for count in board if count > 0)
    opponent = -sum(count for count in board if count < 0)
    if own and opponent:
        return None
    if not own and not opponent:
        raise ValueError("both sides have borne off every checker")
    if own:
        won = ending(turned(board), checkers)
        assert won is not None
        return won + 3
    if opponent < checkers:
        return 0
    in_my_home_or_on_the_bar = any(board[place] < 0 for place in (OPPONENT_BAR, 1, 2, 3, 4, 5, 6))
    return 2 if in_my_home_or_on_the_bar else 1


def at_random(rng: random.Random, board: Board, options: list[Board]) -> Board:
    """The choice of a player who knows the rules and nothing else."""
    return rng.choice(options)


def random_game(seed: int, choose: Choose = at_random) -> Iterator[tuple[Board, Dice]]:
    """One game from the start, as (board before the turn, dice) for every turn, each in its mover's view.

    `choose(rng, board, options)` picks one of the sorted results (mover's view).
    """
    rng = random.Random(seed)
    board = START
    dice = rng.choice([(a, b) for a in range(1, 7) for b in range(1, 7) if a != b])  # rule 3
    while ending(board) is None:
        yield board, dice
        board = turned(choose(rng, board, sorted(results(board, dice))))
        dice = (rng.randint(1, 6), rng.randint(1, 6))  # rule 4


def scattered_board(rng: random.Random) -> Board:
    """A made-up board, legal to play on, that need not arise in a game: 1 to 15 checkers a side, bars too.

    Checkers come in piles, so that blocked points, primes and crowded bars are common.
    """
    board = [0] * 26
    for side, bar in ((1, OWN_BAR), (-1, OPPONENT_BAR)):
        left = rng.randint(1, 15)
        if rng.random() < 0.3:
            board[bar] = side * rng.randint(1, min(4, left))
            left -= abs(board[bar])
        span = rng.choice([range(1, 25), range(1, 25), range(1, 7), range(13, 25), range(1, 13)])
        for place in rng.sample(span, len(span)):
            if left and not board[place]:
                height = min(left, rng.choice([1, 1, 2, 2, 2, 3, 5]))
                board[place] = side * height
                left -= height
        if not any(count * side > 0 for count in board):
            board[bar] = side  # the other side holds every point of a small span
    return tuple(board)
