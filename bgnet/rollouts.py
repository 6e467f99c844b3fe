"""Rollouts: the value of a position, or of the plays of a roll, from games played out, with honest error bars.

`rollout` is for a position before the roll, `rollout_plays` for plays. The same seed gives the same numbers on any
number of threads and in chunks of any size, and one that is continued to a number of trials gives what one long
rollout would have given.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bgnet.analysis import read_state
from bgnet.evaluators import Evaluator
from bgnet.lockstep import RolloutError
from bgnet.players import DEFAULT_BOT, Player
from bgnet.rollout_file import read_rollout
from bgnet.rollout_results import (
    PlaysRollout,
    RolledPlay,
    RolloutEstimate,
    RolloutResult,
    RolloutSettings,
    Saved,
    plays_result_of,
    result_of,
)
from bgnet.rollout_runs import Asked, ProgressLike, Run
from bgnet.rollout_tally import Enough
from bgnet.search import MoveFilter, Search
from engine.errors import BoardError, DiceError
from engine.plays import Play, legal_plays, parse_play
from engine.position import Position
from engine.rules import MONEY
from engine.state import GameState

__all__ = [
    "PlaysRollout", "RolledPlay", "RolloutError", "RolloutEstimate", "RolloutInterrupted", "RolloutResult",
    "RolloutSettings", "read_rollout", "rollout", "rollout_plays",
]  # fmt: skip

AnyPosition = str | Position | GameState
Before = str | os.PathLike[str] | Saved | RolloutResult | PlaysRollout


class RolloutInterrupted(KeyboardInterrupt):
    """Ctrl-C during a rollout, when some trials were done. result: what they say."""

    def __init__(self, result: RolloutResult | PlaysRollout) -> None:
        super().__init__("the rollout was interrupted")
        self.result = result


def rollout(
    position: AnyPosition,
    evaluator: str | Evaluator = DEFAULT_BOT,
    *,
    trials: int = 1296,
    ply: int | None = None,
    truncate: int | None = None,
    seed: int = 1,
    threads: int = 0,
    luck: bool = True,
    luck_evaluator: str | Evaluator | None = None,
    player: str | Player | None = None,
    tables: bool = True,
    payoff: NDArray[np.float32] = MONEY.payoff,
    stop_se: float | None = None,
    min_trials: int = 324,
    progress: ProgressLike | None = None,
    stop: Callable[[], bool] = lambda: False,
    chunk: int = 36,
    save: str | os.PathLike[str] | None = None,
    resume: Before | None = None,
) -> RolloutResult:
    """Roll out a position before the roll; cubeless, the score of a match is not looked at.

    position: an XGID, GNUBG ID or Position ID, a Position or a GameState, without dice. evaluator: a bot's name (its
    depth may stand in it, as in net:standard@1ply) or an Evaluator: it chooses the plays of both sides, judges
    truncated trials and the luck of rolls. trials: multiples of 36 are balanced in the first roll, of 1,296 in the
    first two.

    ply: depth of the checker play, 0 unless said. truncate: judge each trial after so many plies instead of playing
    to the end. luck: take the luck of all rolls off, by one-ply lookahead; unbiased whoever judges it. luck_evaluator,
    player: others for these two tasks; a player must choose by board and dice alone. tables: ask the exact
    endgame tables where they know. payoff: float32[6], alike for both sides. threads: 0 = all cores.

    stop_se: stop once the standard error is no greater, after min_trials at least (estimates from an early
    stop lean a little). progress: anything with update(n, **fields), called with newly done trials and the running
    estimate. stop: polled; once it is true the trials done so far are the result. chunk: trials in lockstep.
    save: a file that gets the trials at the end and now and then. resume: such a file, or an earlier result; `trials`
    counts its trials too.

    Raises NotationError, BoardError, RolloutError and what making bots raises; SearchStopped when stopped before
    any trial was done; RolloutInterrupted, with what there is, on Ctrl-C; OSError when `save` cannot be written.
    """
    begun = time.perf_counter()
    state = read_state(position)
    if state.dice is not None:
        one, two = state.dice
        raise RolloutError(f"the roll {one}-{two} is thrown: rollout_plays(...) is for its plays")
    _check_going_on(state)
    asked = Asked(
        evaluator=evaluator, trials=trials, ply=ply, truncate=truncate, seed=seed, threads=threads, luck=luck,
        luck_evaluator=luck_evaluator, player=player, tables=tables, payoff=np.asarray(payoff, dtype=np.float32),
        chunk=chunk, enough=Enough(stop_se, None, min_trials), progress=progress, stop=stop, save=save,
    )  # fmt: skip
    run = Run(asked)
    before = None if resume is None else _before(resume)
    done = run.go(state, None, state.position.board[None], before)
    result = result_of(done.saved, done.stopped, time.perf_counter() - begun)
    if done.interrupted:
        raise RolloutInterrupted(result)
    return result


def rollout_plays(
    position: AnyPosition,
    dice: object = None,
    plays: Sequence[str | Play] | None = None,
    evaluator: str | Evaluator = DEFAULT_BOT,
    *,
    most: int = 5,
    within: float = 0.16,
    trials: int = 1296,
    ply: int | None = None,
    truncate: int | None = None,
    seed: int = 1,
    threads: int = 0,
    luck: bool = True,
    luck_evaluator: str | Evaluator | None = None,
    player: str | Player | None = None,
    tables: bool = True,
    payoff: NDArray[np.float32] = MONEY.payoff,
    stop_se: float | None = None,
    stop_clear: float | None = None,
    min_trials: int = 324,
    progress: ProgressLike | None = None,
    stop: Callable[[], bool] = lambda: False,
    chunk: int = 36,
    save: str | os.PathLike[str] | None = None,
    resume: Before | None = None,
) -> PlaysRollout:
    """Roll out plays of a roll with the same dice: the n-th roll of trial t is the same after every play.

    dice: two numbers or text such as "31"; None: those of the position. plays: as one writes them, or Play objects;
    None: the best two, and up to `most` in all that are `within` points of the best, at 0-ply. All get the same
    number of trials. stop_se: stop once no play's standard error is greater. stop_clear: stop once the best leads
    every other play by so many joint standard errors (of the difference, from trials paired by their dice).
    truncate counts plies after the play. Everything else is as in `rollout`; besides it raises DiceError and
    IllegalPlayError.
    """
    begun = time.perf_counter()
    state = read_state(position, dice)
    if state.dice is None:
        raise DiceError("the dice are not rolled: give dice=, such as '31', or rollout(...) the position itself")
    _check_going_on(state)
    asked = Asked(
        evaluator=evaluator, trials=trials, ply=ply, truncate=truncate, seed=seed, threads=threads, luck=luck,
        luck_evaluator=luck_evaluator, player=player, tables=tables, payoff=np.asarray(payoff, dtype=np.float32),
        chunk=chunk, enough=Enough(stop_se, stop_clear, min_trials), progress=progress, stop=stop, save=save,
    )  # fmt: skip
    run = Run(asked)
    before = None if resume is None else _before(resume)
    if plays is None and before is not None:
        plays = before.plays
    chosen = _candidates(run, state, most, within) if plays is None else _named(state, plays)
    roots = np.array([play.position.board for play in chosen])
    done = run.go(state, chosen, roots, before)
    result = plays_result_of(done.saved, chosen, done.stopped, time.perf_counter() - begun)
    if done.interrupted:
        raise RolloutInterrupted(result)
    return result


def _check_going_on(state: GameState) -> None:
    if state.position.ending() is not None:
        raise BoardError(f"the game is over: {state.position!r} has no checkers of one side left")


def _before(resume: Before) -> Saved:
    if isinstance(resume, Saved):
        return resume
    return resume.saved if isinstance(resume, (RolloutResult, PlaysRollout)) else read_rollout(resume)


def _named(state: GameState, plays: Sequence[str | Play]) -> list[Play]:
    """The plays that are meant, each once."""
    assert state.dice is not None
    texts = [play.notation if isinstance(play, Play) else play for play in plays]
    if not texts:
        raise RolloutError("plays is empty: name at least one, or leave it out")
    found = [parse_play(state.position, state.dice, text) for text in texts]
    return list({play.position: play for play in found}.values())


def _candidates(run: Run, state: GameState, most: int, within: float) -> list[Play]:
    """The best plays at 0-ply: two, and more that are close, the best first."""
    assert state.dice is not None
    if not isinstance(most, int) or most < 1:
        raise RolloutError(f"most must be a whole number, at least 1, not {most!r}")
    ranked = Search(run.plan.evaluator, 0, run.plan.payoff).rank(
        state.position.board, np.array(state.dice, dtype=np.int8)
    )
    kept = MoveFilter(min(2, most), max(0, most - 2), within).keep(np.array([c.equity for c in ranked]))
    plays = {play.position.board.tobytes(): play for play in legal_plays(state.position, state.dice)}
    return [plays[candidate.board.tobytes()] for candidate in ranked[:kept]]
