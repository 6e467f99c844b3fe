"""Runs of dice pairs: cut into chunks, played on any number of processes, put together in order, stopped by a rule.

What a pair is - two cubeless games, two games with the cube, two matches - only the task knows that plays it. A pair's
values depend on its number and its contest alone, so the result does not depend on workers, chunks or interruptions.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from bgnet.arena_games import ArenaSettingsError
from bgnet.arena_record import Columns, Record, RecordError, Schema, open_record
from bgnet.sequential import Rule, Stopped, StopRuleError, Watch
from bgnet.workers import run_jobs

__all__ = ["Job", "Plan", "Result", "Sheet", "run", "run_recorded"]

_SAME = 1e-4  # luck judged on other processors differs by less, by another reference by more


class Job(NamedTuple):
    """A range of pairs to play; what travels to a worker."""

    what: Any
    """The contest, as the task knows it."""
    contest: int
    """Its number."""
    first: int
    pairs: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is played."""

    task: Callable[[Job, Callable[[int], None]], Columns]
    """Plays a job: the columns of the schema, a row for each pair; tells the second argument of ended games. At the top
    of a module, since other processes call it."""
    contests: Sequence[Any]
    schema: Schema
    """With at least "points", and "luck" to subtract from them (zeros when there is none to know)."""
    pairs: int
    """Of each contest, at most."""
    chunk: int
    """Pairs of a job."""
    workers: int = 1
    rule: Rule | None = None
    combine: NDArray[np.float64] | None = None
    """float64[K, C]: the K quantities that the rule watches, from the contests' values; None: the contests' own."""

    def __post_init__(self) -> None:
        """Raises StopRuleError for a rule that could never look."""
        if self.rule is not None and self.pairs < self.rule.least:
            raise StopRuleError(
                f"the first look of {self.rule.as_dict()['rule']} comes after {2 * self.rule.least:,} games, "
                f"but {2 * self.pairs:,} are to be played at most: give more games, or an earlier look"
            )


class HasDict(Protocol):
    """A result that a record can hold."""

    def as_dict(self) -> dict[str, Any]: ...


Result = TypeVar("Result", bound=HasDict)


class Sheet:
    """The pairs of one contest so far, in order."""

    def __init__(self, schema: Schema, most: int) -> None:
        self.done = 0
        self._columns = {name: np.empty((most, *shape), dtype) for name, (dtype, shape) in schema.items()}

    def append(self, rows: Columns) -> None:
        """The next pairs."""
        new = slice(self.done, self.done + len(rows["points"]))
        for name, column in self._columns.items():
            column[new] = rows[name]
        self.done = new.stop

    def cut(self, count: int) -> None:
        """Forget all but the first `count` pairs."""
        self.done = min(self.done, count)

    def rows(self) -> Columns:
        """All of them; views, not copies."""
        return {name: column[: self.done] for name, column in self._columns.items()}

    @property
    def points(self) -> NDArray[np.float64]:
        """float64[N], the plain points per game of each pair."""
        return self._columns["points"][: self.done]

    def adjusted(self, first: int = 0, stop: int | None = None) -> NDArray[np.float64]:
        """float64[N], the same less the luck, of some of the pairs."""
        some = slice(first, self.done if stop is None else stop)
        found: NDArray[np.float64] = self._columns["points"][some] - self._columns["luck"][some]
        return found


class _Enough(Exception):
    """Thrown through the workers' loop, which ends them."""


def run(
    plan: Plan,
    record: Record | None = None,
    *,
    on_games: Callable[[int], None] = lambda n: None,
    on_rows: Callable[[Sequence[Sheet]], None] = lambda sheets: None,
) -> tuple[list[Sheet], Stopped | None]:
    """Play all pairs, or until the rule has decided: a sheet for each contest, and with a rule what it says.

    record: is gone on with, and kept up to date, however this ends. on_games is told of games as they end; on_rows gets
    the sheets after each chunk, in the chunks' order. Raises RecordError when the recorded pairs come out differently
    now, and what the task raises.
    """
    sheets = [Sheet(plan.schema, plan.pairs) for _ in plan.contests]
    if record is not None:
        _restore(plan, record, sheets)
    jobs = [
        Job(what, c, start, stop - start)
        for first in range(0, plan.pairs, plan.chunk)
        for c, what in enumerate(plan.contests)
        if (start := max(first, sheets[c].done)) < (stop := min(first + plan.chunk, plan.pairs))
    ]
    watch = None if plan.rule is None else Watch(plan.rule)
    waiting: dict[int, Columns] = {}
    stopped: Stopped | None = None
    taken = 0

    def look(final: bool = False) -> bool:
        """Whether that is enough."""
        nonlocal stopped
        if watch is None:
            return False
        complete = min(sheet.done for sheet in sheets)
        fresh = np.array([sheet.adjusted(watch.count, complete) for sheet in sheets])
        found = watch.look(fresh if plan.combine is None else plan.combine @ fresh, final=final)
        if found is None:
            return False
        count, stopped = found
        for sheet in sheets:
            sheet.cut(count)
        return True

    def take(index: int, rows: Columns) -> None:
        nonlocal taken
        waiting[index] = rows
        while taken in waiting:
            job = jobs[taken]
            sheets[job.contest].append(waiting.pop(taken))
            taken += 1
            enough = job.contest == len(sheets) - 1 and look()
            on_rows(sheets)
            if enough:
                raise _Enough
        if record is not None:
            record.save_if_due([sheet.rows() for sheet in sheets], plan.pairs)

    try:
        if not look():
            run_jobs(plan.task, jobs, plan.workers, on_report=on_games, on_result=take)
            look(final=True)
    except _Enough:
        pass
    except BaseException:  # Ctrl-C too
        if record is not None:
            record.save([sheet.rows() for sheet in sheets], plan.pairs)
        raise
    return sheets, stopped


def run_recorded(
    plan: Plan,
    path: str | os.PathLike[str] | None,
    asked: Mapping[str, Any],
    titles: Sequence[str],
    result_of: Callable[[list[Sheet], Stopped | None, float], Result],
    *,
    resume: bool,
    begun: float,
    unit: str = "games",
    on_games: Callable[[int], None],
    on_rows: Callable[[Sequence[Sheet]], None],
) -> Result:
    """`run`, with a record when a path is given -> result_of(sheets, what the rule says, seconds).

    asked, resume: see bgnet.arena_record.open_record; titles: of the contests. begun: time.perf_counter() at the start;
    with a record the seconds are those of all its sessions. Raises what `run` and open_record raise, and
    ArenaSettingsError when the record holds more than was asked for.
    """

    def finish(record: Record | None) -> Result:
        sheets, stopped = run(plan, record, on_games=on_games, on_rows=on_rows)
        seconds = time.perf_counter() - begun if record is None else record.seconds
        result = result_of(sheets, stopped, seconds)
        if record is not None:
            record.save([sheet.rows() for sheet in sheets], plan.pairs, result.as_dict())
        return result

    if path is None:
        return finish(None)
    opened = open_record(path, asked, titles, plan.schema, resume=resume, workers=int(plan.workers))
    with opened as record:
        done = max((len(rows["points"]) for rows in record.earlier() if rows), default=0)
        if done > plan.pairs:
            raise ArenaSettingsError(
                f"{record.path} holds {2 * done:,} {unit} already, more than the {2 * plan.pairs:,} asked"
            )
        if not resume:
            record.save([{} for _ in plan.contests], plan.pairs)  # now, not after an hour of games
        return finish(record)


def _restore(plan: Plan, record: Record, sheets: Sequence[Sheet]) -> None:
    """Put what the record holds on the sheets, after playing the first pair of each contest again."""
    for c, (earlier, sheet) in enumerate(zip(record.earlier(), sheets, strict=True)):
        if not earlier or not len(earlier["points"]):
            continue
        again = plan.task(Job(plan.contests[c], c, 0, 1), lambda n: None)
        for name, column in again.items():
            if np.abs(column.astype(np.float64) - earlier[name][:1]).max() > _SAME:
                then, now = earlier[name][0].tolist(), column[0].tolist()
                raise RecordError(
                    f"the first pair of {record.path} comes out differently now ({name} {then} then, {now} now): "
                    "another bot, or another version of the program or its engines"
                )
        sheet.append({name: column[: plan.pairs] for name, column in earlier.items()})
