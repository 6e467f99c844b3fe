"""Self-play: a kernel that plays whole games with one network and keeps what training needs."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.backups import backup_position, expansion
from bgnet.inference import FoldedNet, best_result, position_outcome, workspace, write_ending
from bgnet.seeds import NO_SEEDS, kind_kernel
from engine.bearoff import Endgames, endgames, known_outcomes
from engine.board import START_BOARD, ending, turn
from engine.dice import ROLL_NUMBERS, opening_kernel, philox, roll_kernel
from engine.generator import MAX_RESULTS, generate
from engine.jit import kernel
from engine.rules import MONEY

__all__ = ["GAMES_PER_TASK", "MONEY_GAME", "Actor", "Game", "SelfPlay", "make_game", "play_games", "start_games"]

GAMES_PER_TASK = 10
"""A task of a worker thread. The result does not depend on it, only how evenly the threads are busy."""
_CHOICES = 0x85EBCA6B  # turns the key of a dice stream into that of the random plays beside it


class Game(NamedTuple):
    """What is played."""

    payoff: NDArray[np.float32]
    """float32[6], the points of the six endings that the player plays for."""
    start: NDArray[np.int8]
    """int8[26], the board that games start from."""
    tables: Endgames
    """The exact endgame tables; empty unless they are used."""
    use_tables: bool
    """End a game where the tables know the position, with their outcome."""
    wandering: float = 0.0
    """Share of the games that have random plays in them."""
    random_plays: float = 0.0
    """The chance of every play of such a game to be a random one, each legal result equally likely."""
    seeded: float = 0.0
    """Share of the games that start from one of `seeds` in place of `start`, if there are any, and are broken off where
    the position is of no hard kind any more (see bgnet.seeds)."""
    seeds: NDArray[np.int8] = NO_SEEDS
    """int8[S, 26], boards in the view of the player on roll, each equally likely. The first roll may be a double."""


class Actor(NamedTuple):
    """Who plays."""

    net: FoldedNet
    pruner: FoldedNet
    """A small network that picks the results of a roll that `net` judges in exact backups; may be `net` itself."""
    keep: int
    """How many results of a roll it leaves; 0 = no backups are made."""


class SelfPlay(NamedTuple):
    """Games one after the other. Positions are before the roll, in the view of the player on roll."""

    boards: NDArray[np.int8]
    """int8[M, 26]."""
    values: NDArray[np.float32]
    """float32[M, 6], what the acting network thought of each."""
    backups: NDArray[np.float32]
    """float32[M, 6], the exact one-roll backup of each; float32[0, 6] when none were made."""
    offsets: NDArray[np.int64]
    """int64[G + 1], where each game begins."""
    finals: NDArray[np.float32]
    """float32[G, 6], the outcome for the player who would be on roll after the last position: exactly how the game
    ended, or what the endgame tables say; where a seeded game was broken off what the acting network thinks."""
    last_values: NDArray[np.float32]
    """float32[G, 6], what the acting network thought of that: the same when the game is over or was broken off."""
    wandered: NDArray[np.bool_]
    """bool[M], whether the play made from each position was a random one: what followed says nothing about it."""


def make_game(
    payoff: NDArray[np.float32],
    start: NDArray[np.int8],
    use_tables: bool = False,
    *,
    wandering: float = 0.0,
    random_plays: float = 0.0,
    seeded: float = 0.0,
) -> Game:
    """The first use of the tables on a machine builds them, some seconds."""
    tables = endgames() if use_tables else _no_tables()
    start = np.ascontiguousarray(start)
    return Game(payoff, start, tables, use_tables, float(wandering), float(random_plays), float(seeded))


def _no_tables() -> Endgames:
    """Empty arrays of the same kinds, read-only as those of the tables, so that kernels compile once for both."""
    starts, chances, equities = np.zeros(1, np.int64), np.zeros(0, np.float64), np.zeros((0, 0, 4), np.float64)
    for array in (starts, chances, equities):
        array.flags.writeable = False
    return Endgames(starts, chances, starts, chances, equities)


MONEY_GAME = make_game(MONEY.payoff, START_BOARD)
"""Backgammon from the start for money, to the last checker."""


@kernel
def _chance(word, probability):
    """A random word below 2**32 -> whether what has this probability happens."""
    return word < probability * 4294967296.0


@kernel
def _play(actor, game, seed, first_game, games):
    """actor plays `games` games on both sides, with the dice of (seed, first_game ...) -> boards int8[M, 26], values
    float32[M, 6], backups float32[M or 0, 6], offsets int64[G + 1], finals and last_values float32[G, 6], wandered
    bool[M]. It plays greedily but for the random plays of the game's settings.
    """
    net, keep, payoff = actor.net, actor.keep, game.payoff
    work = workspace(net)
    pruner_work = workspace(actor.pruner)
    results = np.empty((MAX_RESULTS, 26), dtype=np.int8)
    equities = np.empty(MAX_RESULTS, dtype=np.float32)
    x = expansion()
    turned = np.empty(26, dtype=np.int8)
    board = np.empty((1, 26), dtype=np.int8)
    outcome = np.empty((1, 6), dtype=np.float32)
    backup = np.zeros(6, dtype=np.float32)
    unknown = np.empty(1, dtype=np.int64)
    room = 80 * games + 16
    boards = np.empty((room, 26), dtype=np.int8)
    values = np.empty((room, 6), dtype=np.float32)
    backups = np.empty((room if keep > 0 else 0, 6), dtype=np.float32)
    wandered = np.zeros((room, 1), dtype=np.bool_)
    offsets = np.zeros(games + 1, dtype=np.int64)
    finals = np.zeros((games, 6), dtype=np.float32)
    last_values = np.zeros((games, 6), dtype=np.float32)
    known = np.empty((1, 6), dtype=np.float32)
    total = 0
    for g in range(games):
        of_game, of_start = philox(0xFFFFFFFF, first_game + g, seed ^ _CHOICES)
        seeded = len(game.seeds) > 0 and _chance(of_start, game.seeded)
        if seeded:  # no opening, so its rolls are those from 1 on
            ply = 1
            of_seed, _ = philox(0xFFFFFFFE, first_game + g, seed ^ _CHOICES)
            board[0] = game.seeds[(of_seed * len(game.seeds)) >> 32]
            die1, die2 = roll_kernel(seed, first_game + g, 1)
        else:
            ply = 0
            board[0] = game.start
            die1, die2 = opening_kernel(seed, first_game + g)
        position_outcome(net, board[0], work, outcome[0])
        random_plays = game.random_plays if _chance(of_game, game.wandering) else 0.0
        while True:
            if total == room:
                room *= 2
                boards = _grown(boards, room)
                values = _grown(values, room)
                wandered = _grown(wandered, room)
                if keep > 0:
                    backups = _grown(backups, room)
            boards[total] = board[0]
            values[total] = outcome[0]
            if keep > 0:
                backup_position(net, actor.pruner, keep, payoff, board[0], work, pruner_work, x, backup)
                backups[total] = backup
            of_play, of_result = philox(ply, first_game + g, seed ^ _CHOICES)
            wandered[total, 0] = _chance(of_play, random_plays)
            if wandered[total, 0]:
                n = generate(board[0], die1, die2, results)
                board[0] = results[(of_result * n) >> 32]
                position_outcome(net, board[0], work, outcome[0])
            elif keep > 0:
                best = x.best[ROLL_NUMBERS[die1, die2]]
                board[0] = x.results[best]
                outcome[0] = x.outcomes[best]
            else:
                n = generate(board[0], die1, die2, results)
                turn(board[0], turned)
                board[0] = results[best_result(net, payoff, turned, results, n, work, equities, outcome[0])]
            total += 1
            over = ending(board[0], net.checkers)
            if over >= 0:
                write_ending(over, finals[g])
                last_values[g] = finals[g]
                break
            if game.use_tables and known_outcomes(game.tables, board, net.checkers, known, unknown) == 0:
                finals[g] = known[0]
                last_values[g] = outcome[0]
                break
            if seeded and kind_kernel(board[0]) == 0:
                finals[g] = outcome[0]
                last_values[g] = outcome[0]
                break
            ply += 1
            die1, die2 = roll_kernel(seed, first_game + g, ply)
        offsets[g + 1] = total
    return (
        boards[:total].copy(), values[:total].copy(), backups[:total].copy(), offsets, finals, last_values,
        wandered[:total, 0].copy(),
    )  # fmt: skip


@kernel
def _grown(array, room):
    """array [R, C] -> the same with space for `room` rows."""
    bigger = np.empty((room, array.shape[1]), dtype=array.dtype)
    bigger[: array.shape[0]] = array
    return bigger


def play_games(actor: Actor | FoldedNet, game: Game, seed: int, first_game: int, games: int) -> SelfPlay:
    """Play games `first_game` .. `first_game + games - 1` of the dice stream `seed` at 0-ply."""
    if isinstance(actor, FoldedNet):
        actor = Actor(actor, actor, 0)
    return SelfPlay(*_play(actor, game, seed, first_game, games))


class PendingGames:
    """Games being played on worker threads; `result()` waits for them and joins them in order."""

    def __init__(self, tasks: list[Future[SelfPlay]]) -> None:
        self._tasks = tasks

    def result(self) -> SelfPlay:
        parts = [task.result() for task in self._tasks]
        starts = np.cumsum([0, *(len(part.boards) for part in parts)])
        offsets = [part.offsets[:-1] + start for part, start in zip(parts, starts, strict=False)]
        return SelfPlay(
            np.concatenate([part.boards for part in parts]),
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.backups for part in parts]),
            np.concatenate([*offsets, starts[-1:]]),
            np.concatenate([part.finals for part in parts]),
            np.concatenate([part.last_values for part in parts]),
            np.concatenate([part.wandered for part in parts]),
        )


def start_games(
    executor: Executor, actor: Actor | FoldedNet, game: Game, seed: int, first_game: int, games: int
) -> PendingGames:
    """The same as `play_games`, spread over the threads of an executor and without waiting."""
    tasks = []
    for done in range(0, max(games, 1), GAMES_PER_TASK):  # one task even for no games
        count = min(GAMES_PER_TASK, games - done)
        tasks.append(executor.submit(play_games, actor, game, seed, first_game + done, count))
    return PendingGames(tasks)
