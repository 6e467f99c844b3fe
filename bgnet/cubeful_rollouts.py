"""Cubeful rollouts: a cube decision judged by games that are played out with the cube.

    result = rollout_cube(state, "net:standard", trials=1296)
    result.no_double.equity, result.double_take.std_error, result.label      # ..., "Double, take"

Both branches (no double now; the double taken) are played with the same dice. In each turn after the first the player
on roll doubles where that is right, the other one takes, beavers or passes; a pass ends the game. The same seed gives
the same numbers on any number of threads and in chunks of any size.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from bgnet.analysis import read_state
from bgnet.composite import Composite
from bgnet.cores import cores
from bgnet.cube import EFFICIENCIES, Efficiencies, check_state, checked_efficiency
from bgnet.cube_context import CubeContext
from bgnet.cubeful import CubefulSearch
from bgnet.cubeful_rollouts_games import CubeGames, CubePlan, joined, play_games
from bgnet.cubeful_rollouts_results import CubeBranch, CubefulRollout, CubeRolloutSettings, cube_result_of, equities_of
from bgnet.cubeful_tree import CubefulTree
from bgnet.evaluators import Evaluator
from bgnet.lockstep import RolloutError
from bgnet.match_equity import MatchEquityTable
from bgnet.players import DEFAULT_BOT, split_depth
from bgnet.players import evaluator as evaluator_of
from bgnet.rollout_runs import ProgressLike, check_whole, in_order
from bgnet.search import SearchStopped
from bgnet.strata import BLOCK, std_error, strata
from engine.dice import check_stream
from engine.position import Position
from engine.state import GameState

__all__ = ["CubeBranch", "CubeRolloutInterrupted", "CubeRolloutSettings", "CubefulRollout", "rollout_cube"]

_MOST_TRIALS = 2**32 - 1  # the dice count trials in 32 bits


class CubeRolloutInterrupted(KeyboardInterrupt):
    """Ctrl-C during a cubeful rollout, when some trials were done. result: what they say."""

    def __init__(self, result: CubefulRollout) -> None:
        super().__init__("the rollout was interrupted")
        self.result = result


def rollout_cube(
    state: str | Position | GameState,
    evaluator: str | Evaluator = DEFAULT_BOT,
    *,
    trials: int = 1296,
    ply: int | None = None,
    truncate: int | None = None,
    seed: int = 1,
    efficiency: float | str | Efficiencies | None = None,
    table: MatchEquityTable | None = None,
    threads: int = 0,
    luck: bool = True,
    tables: bool = True,
    stop_se: float | None = None,
    min_trials: int = 324,
    progress: ProgressLike | None = None,
    stop: Callable[[], bool] = lambda: False,
    chunk: int = 108,
) -> CubefulRollout:
    """Roll out the cube decision before a roll (or the answer to a pending double), money or match.

    state: a GameState without dice, a Position, or an XGID, GNUBG ID or Position ID. evaluator: a bot's name (its depth
    may stand in it) or an Evaluator: it plays and takes the cube decisions of both sides, and judges truncated games
    and the luck of rolls. trials: of each branch; multiples of 36 are balanced in the first roll, of 1,296 in the first
    two. Where nobody may double, only the branch without a double is played.

    ply: depth of play and cube decisions inside, 0 unless said. truncate: value each game at 0-ply after so many plies
    instead of playing to the end; 0 values the position itself. efficiency, table: as of bgnet.cube.decide. luck:
    take the luck of all rolls off, by one-ply lookahead with the cube of each game; it never biases. tables: ask the
    exact endgame tables for chances where they know. threads: 0 = all cores.

    stop_se: stop once the standard errors of all branches are no greater, after min_trials at least (an early stop
    leans a little). progress: anything with update(n, **fields), called with newly done trials. stop: polled;
    once it is true the trials done so far are the result. chunk: trials in lockstep.

    Raises NotationError, CubeError, MatchEquityError, RolloutError and what making bots raises; SearchStopped when
    stopped before any trial was done; CubeRolloutInterrupted, with what there is, on Ctrl-C.
    """
    begun = time.perf_counter()
    state = read_state(state)
    check_state(state)
    check_whole("trials", trials, 1, _MOST_TRIALS)
    check_whole("threads", threads, 0)
    check_whole("chunk", chunk, 1)
    check_whole("min_trials", min_trials, 1)
    if truncate is not None:
        check_whole("truncate", truncate, 0)
    if stop_se is not None and not stop_se > 0:
        raise RolloutError(f"stop_se must be above 0, not {stop_se!r}")
    check_stream(seed)
    judge, bot, named_ply = _judge(evaluator, tables)
    deep = named_ply if ply is None else ply
    x = checked_efficiency(efficiency)
    cancelled = threading.Event()
    search = CubefulSearch(judge, deep, efficiency=x, table=table, stop=cancelled.is_set)
    context = CubeContext.from_state(state, table)
    branches = [(state.cube, state.cube_owner)]
    if context.may_double(*branches[0]) or state.doubled:
        branches.append((2 * state.cube, -1))
    plan = CubePlan(
        state=state,
        context=context,
        branches=context.states(branches),
        tree=CubefulTree(
            judge, x, shared_plays=False, pruner=None, prune_to=1, threads=1, stop=cancelled.is_set
        ),
        search=search if deep else None,
        ply=deep,
        truncate=truncate,
        luck=luck,
        seed=seed,
    )  # fmt: skip
    settings = CubeRolloutSettings(
        trials=trials, seed=seed, ply=deep, truncate=truncate, luck=luck, tables=tables, bot=bot,
        efficiency=_name(x), table=context.table.name if context.table else None,
    )  # fmt: skip
    run = _Run(plan, stop_se, min_trials)
    stopped, interrupted = "trials", False
    chunks = in_order(
        lambda first, count: play_games(plan, first, count, cancelled.is_set),
        range(0, trials, chunk),
        threads or cores(),
        cancelled,
        stop,
    )
    try:
        for games in chunks:
            before = run.done
            enough = run.add(games)
            if progress is not None:
                progress.update(run.done - before, **run.shown())
            if enough:
                stopped = "std_error"
                break
    except SearchStopped:
        if not run.done:
            raise
        stopped = "asked"
    except KeyboardInterrupt:
        if not run.done:
            raise
        stopped, interrupted = "asked", True
    finally:
        chunks.close()
    result = cube_result_of(state, context, run.games(), settings, stopped, time.perf_counter() - begun)
    if interrupted:
        raise CubeRolloutInterrupted(result)
    return result


class _Run:
    """The trials done so far."""

    def __init__(self, plan: CubePlan, stop_se: float | None, min_trials: int) -> None:
        self.done = 0
        self._plan, self._stop_se, self._min_trials = plan, stop_se, min_trials
        self._parts: list[CubeGames] = []
        self._points = np.empty((len(plan.branches), 0), dtype=np.float64)

    def games(self) -> CubeGames:
        """All of them."""
        return joined(self._parts).first(self.done)

    def add(self, games: CubeGames) -> bool:
        """The next trials -> whether there are enough; those that are too many are left out.

        It is asked after every block of 36 trials, whatever the chunks are.
        """
        before, plan = self.done, self._plan
        self._parts.append(games)
        points = equities_of(games, plan.context, plan.state.cube)
        self._points = np.concatenate([self._points, points], axis=1)
        self.done = self._points.shape[1]
        if self._stop_se is not None:
            for count in range((before // BLOCK + 1) * BLOCK, self.done + 1, BLOCK):
                if count >= self._min_trials and max(self._errors(count)) <= self._stop_se:
                    self.done = count
                    return True
        return False

    def shown(self) -> dict[str, str]:
        """The running estimates, for progress."""
        means = self._points[:, : self.done].mean(axis=1)
        names = ("no_double", "double_take")[: len(means)]
        shown = {name: f"{mean:+.4f}" for name, mean in zip(names, means, strict=True)}
        return shown | {"SE": f"{max(self._errors(self.done)):.4f}"}

    def _errors(self, count: int) -> list[float]:
        stratum = strata(self._plan.seed, count)
        return [std_error(row[:count], stratum) for row in self._points]


def _judge(evaluator: str | Evaluator, tables: bool) -> tuple[Evaluator, str, int]:
    """Who judges, what it is called, and the depth that stands in its name, else 0."""
    ply: int | None = None
    if isinstance(evaluator, str):
        name, ply = split_depth(evaluator)
        found = evaluator_of(name)
    else:
        found, name = evaluator, repr(evaluator)
    if tables and not isinstance(found, Composite):
        found = Composite(found)
    return found, name, ply or 0


def _name(efficiency: float | Efficiencies) -> str:
    """A preset's name, else what it is."""
    names = [name for name, preset in EFFICIENCIES.items() if preset == efficiency]
    return names[0] if names else str(efficiency)
