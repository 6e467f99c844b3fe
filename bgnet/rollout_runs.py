"""Running a rollout: the bots made, the trials played on several threads until there are enough, kept in a file."""

from __future__ import annotations

import functools
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bgnet import checks
from bgnet.cores import cores
from bgnet.evaluators import Evaluator
from bgnet.lockstep import Plan, RolloutError, Trials, play_trials
from bgnet.players import EvaluatorPlayer, Player, split_depth
from bgnet.players import evaluator as named_evaluator
from bgnet.players import player as make_player
from bgnet.progress import ProgressLike
from bgnet.rollout_results import RolloutSettings, Saved
from bgnet.rollout_tally import Enough, Tally
from bgnet.search import Search, SearchStopped
from engine.dice import check_stream
from engine.plays import Play
from engine.state import GameState

__all__ = ["Asked", "Done", "ProgressLike", "Run", "check_whole", "in_order"]

Rows = TypeVar("Rows")

_POLL_S = 0.2
_SAVE_EVERY_S = 30.0
_MOST_TRIALS = 2**32 - 1  # the dice count trials in 32 bits
_SAME = 1e-4  # other players and evaluators differ by more than this, other processors by less


check_whole = functools.partial(checks.check_whole, error=RolloutError)
"""See bgnet.checks; raises RolloutError."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The arguments of bgnet.rollouts.rollout, but for the position. Raises RolloutError for bad ones."""

    evaluator: str | Evaluator
    trials: int
    ply: int | None
    truncate: int | None
    seed: int
    threads: int
    luck: bool
    luck_evaluator: str | Evaluator | None
    player: str | Player | None
    tables: bool
    payoff: NDArray[np.float32]
    enough: Enough
    progress: ProgressLike | None
    stop: Callable[[], bool]
    chunk: int
    save: str | os.PathLike[str] | None

    def __post_init__(self) -> None:
        check_whole("trials", self.trials, 1, _MOST_TRIALS)
        check_whole("threads", self.threads, 0)
        check_whole("chunk", self.chunk, 1)
        check_whole("min_trials", self.enough.least, 1)
        if self.ply is not None:
            check_whole("ply", self.ply, 0)
        if self.truncate is not None:
            check_whole("truncate", self.truncate, 1)
        check_stream(self.seed)
        if self.payoff.shape != (6,) or not np.array_equal(self.payoff[3:], -self.payoff[:3]):
            raise RolloutError(f"payoff must be six numbers, what one side wins being lost by the other: {self.payoff}")
        if self.luck_evaluator is not None and not self.luck:
            raise RolloutError("luck_evaluator judges luck, but luck is False")
        if self.player is not None and self.ply is not None:
            raise RolloutError("ply is the depth at which the evaluator plays, but a player was given: leave one out")


class Done(NamedTuple):
    """What a run has left."""

    saved: Saved
    stopped: str
    """See RolloutResult.stopped."""
    interrupted: bool
    """By Ctrl-C."""


class Run:
    """A rollout with its bots made, ready for its positions; good for one `go`."""

    def __init__(self, asked: Asked) -> None:
        if asked.save is not None:
            _check_writable(asked.save)  # now, not after an hour of trials
        self._asked = asked
        self._cancelled = threading.Event()
        judge, bot, ply = _judge(asked)
        self.plan = Plan(
            player=_player(asked, judge, ply, self._cancelled),
            evaluator=judge,
            luck=_luck_judge(asked, judge),
            payoff=asked.payoff,
            truncate=asked.truncate,
            seed=asked.seed,
            checkers=_checkers(judge),
        )
        self.settings = RolloutSettings(
            trials=asked.trials,
            seed=asked.seed,
            ply=ply,
            truncate=asked.truncate,
            luck=asked.luck,
            tables=asked.tables,
            payoff=tuple(asked.payoff.tolist()),
            bot=bot,
            player=_name(asked.player),
            luck_evaluator=_name(asked.luck_evaluator),
        )

    def go(self, state: GameState, plays: Sequence[Play] | None, roots: NDArray[np.int8], before: Saved | None) -> Done:
        """Roll out roots int8[C, 26]: the results of the plays, or (plays None) the state's position.

        before: trials that were done earlier. Raises RolloutError when they are of another rollout, SearchStopped or
        KeyboardInterrupt when stopped before any trial was done.
        """
        names = None if plays is None else tuple(play.notation for play in plays)
        settings = self.settings
        if before is not None:
            self._check_same(before, state, names, roots)
            settings = replace(settings, trials=max(settings.trials, before.rows.results.shape[1]))
        # Rows are in the view of the one on roll: after a play that is the opponent of the one who made it.
        sign = 1 if plays is None else -1
        tally = Tally(len(roots), settings.trials, settings.payoff, settings.seed, sign)

        def keep() -> Saved:
            saved = Saved(state, names, settings, tally.rows())
            if self._asked.save is not None:
                saved.save(self._asked.save)
            return saved

        enough: tuple[int, str] | None = None
        if before is not None:
            tally.append(before.rows)
            enough = self._asked.enough.first(tally, tally.done - 1)
            self._show(tally, names, 0)
        stopped, interrupted = "trials" if enough is None else enough[1], False
        try:
            if enough is None:
                stopped = self._play(tally, settings.trials, roots, names, keep)
        except SearchStopped:
            if not tally.done:
                raise
            stopped = "asked"
        except KeyboardInterrupt:
            if not tally.done:
                raise
            stopped, interrupted = "asked", True
        return Done(keep(), stopped, interrupted)

    def _play(
        self,
        tally: Tally,
        most: int,
        roots: NDArray[np.int8],
        names: Sequence[str] | None,
        keep: Callable[[], object],
    ) -> str:
        """Add trials to the tally until there are enough -> why it ended."""
        asked = self._asked
        chunks = in_order(
            lambda first, count: play_trials(self.plan, roots, first, count, self._cancelled.is_set),
            range(tally.done, most, asked.chunk),
            asked.threads or cores(),
            self._cancelled,
            asked.stop,
        )
        kept_at = time.monotonic()
        try:
            for rows in chunks:
                done = tally.done
                tally.append(rows)
                enough = asked.enough.first(tally, done)
                if enough is not None:
                    tally.cut(enough[0])
                self._show(tally, names, tally.done - done)
                if enough is not None:
                    return enough[1]
                if asked.save is not None and time.monotonic() - kept_at >= _SAVE_EVERY_S:
                    keep()
                    kept_at = time.monotonic()
        finally:
            chunks.close()
        return "trials"

    def _show(self, tally: Tally, names: Sequence[str] | None, new: int) -> None:
        if self._asked.progress is None:
            return
        means = tally.means(tally.done)
        best = int(np.argmax(means))
        shown = f"{means[best]:+.4f}"
        if names is None:
            self._asked.progress.update(new, equity=shown, SE=f"{tally.error(tally.done, 0):.4f}")
        elif len(means) == 1:
            self._asked.progress.update(new, best=f"{names[best]} {shown}")
        else:
            second = max((i for i in range(len(means)) if i != best), key=lambda i: means[i])
            lead, joint = means[best] - means[second], tally.error(tally.done, best, second)
            ratio = f" = {lead / joint:.1f} joint SE" if joint > 0 else ""
            self._asked.progress.update(new, best=f"{names[best]} {shown}", lead=f"{lead:+.4f}{ratio}")

    def _check_same(
        self, before: Saved, state: GameState, names: Sequence[str] | None, roots: NDArray[np.int8]
    ) -> None:
        """Raise RolloutError unless the earlier trials are the first ones of this rollout."""
        wrong = before.settings.differences(self.settings)
        if before.state.position != state.position:
            wrong.append(f"the position is {before.state.position.position_id}, not {state.position.position_id}")
        if before.state.dice != state.dice:
            wrong.append(f"the dice are {before.state.dice}, not {state.dice}")
        if before.settings.bot != self.settings.bot:  # one trial without luck would hardly tell bots apart
            wrong.append(f"the bot is {before.settings.bot!r}, not {self.settings.bot!r}")
        if before.plays != names:
            wrong.append(f"the plays are {before.plays}, not {names}")
        if wrong:
            raise RolloutError(f"the earlier trials are of another rollout: {'; '.join(wrong)}")
        again = play_trials(self.plan, roots, 0, 1)
        first = Trials(before.rows.results[:, :1], before.rows.luck[:, :1])
        gaps = (np.abs(again.results - first.results).max(), np.abs(again.luck - first.luck).max())
        if max(gaps) > _SAME:
            raise RolloutError(
                f"the earlier trials were made by another bot (it was called {before.settings.bot!r}, the one now is "
                f"{self.settings.bot!r}): their first trial comes out differently now"
            )


def in_order(
    play: Callable[[int, int], Rows],
    trials: range,
    threads: int,
    cancelled: threading.Event,
    stop: Callable[[], bool],
) -> Generator[Rows, None, None]:
    """The trials, in chunks of the range's step and in their order, while the next ones are played on the threads.

    play: (first trial, how many) -> these trials; once `cancelled` is set it should raise SearchStopped.

    Raises SearchStopped once stop() is true. However it ends (by `close`, say), `cancelled` is set then and no thread
    is left.
    """
    chunks = iter(trials)
    pending: deque[Future[Rows]] = deque()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="rollout")

    def start_next() -> None:
        first = next(chunks, None)
        if first is not None:
            count = min(trials.step, trials.stop - first)
            pending.append(pool.submit(play, first, count))

    try:
        for _ in range(threads + 1):  # one more than there are threads: none waits for this loop
            start_next()
        while pending:
            if stop():
                raise SearchStopped("the rollout was stopped")
            if pending[0].done():
                rows = pending.popleft().result()
                start_next()
                yield rows
            else:
                wait([pending[0]], timeout=_POLL_S)
    finally:
        cancelled.set()
        pool.shutdown(cancel_futures=True)


def _judge(asked: Asked) -> tuple[Evaluator, str, int]:
    """Who judges, what it is called, and how deep it plays."""
    if isinstance(asked.evaluator, str):
        name, named_ply = split_depth(asked.evaluator)
        found: Evaluator = named_evaluator(name)
    else:
        found, name, named_ply = asked.evaluator, repr(asked.evaluator), None
    if asked.tables:
        from bgnet.composite import Composite

        found = found if isinstance(found, Composite) else Composite(found)
    return found, name, (named_ply or 0) if asked.ply is None else asked.ply


def _player(asked: Asked, judge: Evaluator, ply: int, cancelled: threading.Event) -> Player:
    if asked.player is not None:
        return make_player(asked.player, asked.payoff)
    return Search(judge, ply, asked.payoff, stop=cancelled.is_set) if ply else EvaluatorPlayer(judge, asked.payoff)


def _luck_judge(asked: Asked, judge: Evaluator) -> Evaluator | None:
    if isinstance(asked.luck_evaluator, str):
        return named_evaluator(asked.luck_evaluator)
    return asked.luck_evaluator or (judge if asked.luck else None)


def _checkers(judge: Evaluator) -> int:
    """Checkers a side: what the evaluator (a Composite), or its network, says; else 15."""
    info = getattr(judge, "info", None)
    return int(getattr(judge, "checkers", getattr(info, "checkers", 15)))


def _name(bot: object) -> str | None:
    return bot if bot is None or isinstance(bot, str) else repr(bot)


def _check_writable(path: str | os.PathLike[str]) -> None:
    folder = Path(path).absolute().parent
    if Path(path).is_dir() or not folder.is_dir():
        reason = "it is a folder" if folder.is_dir() else f"there is no folder {folder}"
        raise OSError(f"cannot write {path}: {reason}")
    if not os.access(folder, os.W_OK):
        raise OSError(f"cannot write {path}: no permission to write in {folder}")
