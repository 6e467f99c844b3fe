"""Runs of dice pairs: bots made ready, pairs cut into chunks, played on any number of processes, put together in order,
stopped by a rule, kept in a record.

What a pair is - two cubeless games, two games with the cube, two matches - only the settings know. A pair's values
depend on its number and its contest alone, so the result does not depend on workers, chunks or interruptions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from bgnet.arena_errors import ArenaSettingsError
from bgnet.arena_record import Columns, Record, RecordError, Schema, open_record
from bgnet.arena_settings import Job, Settings
from bgnet.entrants import Entrant, forget_bots
from bgnet.sequential import Stopped, Watch
from bgnet.workers import run_jobs

__all__ = ["Plan", "Result", "Sheet", "play_contests", "run"]

_SAME = 1e-4  # luck judged on other processors differs by less, by another reference by more


@dataclass(frozen=True)
class Plan:
    """What is played."""

    settings: Settings
    contests: Sequence[Any]
    """Who plays whom, as the settings' task knows it; all with the same dice."""
    combine: NDArray[np.float64] | None = None
    """float64[K, C]: the K quantities that the rule watches, from the contests' values; None: the contests' own."""


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
        """float64[N], the plain result of each pair."""
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

    record: is gone on with, and kept up to date, however this ends; when it cannot be written games go on, with a
    RecordWarning. on_games is told of games as they end; on_rows gets
    the sheets after each chunk, in the chunks' order. Raises RecordError when the recorded pairs come out differently
    now, and what the task raises.
    """
    settings = plan.settings
    pairs, chunk = settings.pairs, int(settings.pairs_per_chunk)
    sheets = [Sheet(settings.schema, pairs) for _ in plan.contests]
    if record is not None:
        _restore(plan, record, sheets)
    jobs = [
        Job(what, c, start, stop - start)
        for first in range(0, pairs, chunk)
        for c, what in enumerate(plan.contests)
        if (start := max(first, sheets[c].done)) < (stop := min(first + chunk, pairs))
    ]
    watch = None if settings.stop is None else Watch(settings.stop)
    waiting: dict[int, Columns] = {}
    stopped: Stopped | None = None
    taken = 0

    def look(final: bool = False) -> bool:
        """Whether that is enough."""
        nonlocal stopped
        if watch is None:
            return False
        complete = min(sheet.done for sheet in sheets)
        fresh = np.array([sheet.adjusted(watch.count, complete) for sheet in sheets]) - settings.even
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
            record.keep_if_due([sheet.rows() for sheet in sheets], pairs)

    try:
        if not look():
            run_jobs(settings.task, jobs, int(settings.workers), on_report=on_games, on_result=take)
            look(final=True)
    except _Enough:
        pass
    except BaseException:  # Ctrl-C too
        if record is not None:
            record.keep([sheet.rows() for sheet in sheets], pairs)
        raise
    return sheets, stopped


def play_contests(
    bots: Sequence[object],
    contests: Sequence[tuple[int, int]],
    settings: Settings,
    result_of: Callable[[Sequence[str], Sequence[Sheet], Stopped | None, float], Result],
    *,
    show: Callable[[Sequence[Sheet]], dict[str, object]],
    combine: NDArray[np.float64] | None = None,
    also: Mapping[str, Any] | None = None,
    before: Callable[[], None] = lambda: None,
) -> Result:
    """Play the contests (numbers of bots) with the same dice -> result_of(names, sheets, what the rule says, seconds).

    With a record the seconds are those of all its sessions. combine: see Plan. show: the fields of the progress
    display, after every chunk. also: what else a record must hold, because it decides when the run stops. before: is
    called once the bots are made, before anything is started. Raises what `run` and bgnet.arena_record.open_record
    raise, and ArenaSettingsError for bots that cannot play this, or when the record holds more than was asked for.
    """
    begun = time.perf_counter()
    if settings.workers > 1 and not all(isinstance(bot, str) for bot in (*bots, settings.reference or "")):
        raise ArenaSettingsError("with more than one worker name all bots by specs such as net:standard")
    forget_bots()
    entrants = [Entrant.of(bot) for bot in bots]
    for entrant in entrants:  # a bot that cannot be made or cannot play this fails here, before anything is started
        settings.check_bot(entrant)
    reference = None if settings.reference is None else Entrant.of(settings.reference)
    if reference is not None:
        settings.check_reference(reference)
    before()
    plan = Plan(settings, [settings.contest(entrants[a], entrants[b], reference) for a, b in contests], combine)
    names = [entrant.name for entrant in entrants]
    progress = settings.progress

    def on_games(n: int) -> None:
        if progress is not None:
            progress.update(n)

    def on_rows(sheets: Sequence[Sheet]) -> None:
        if progress is not None:
            progress.update(0, **show(sheets))

    def finish(record: Record | None) -> Result:
        sheets, stopped = run(plan, record, on_games=on_games, on_rows=on_rows)
        seconds = time.perf_counter() - begun if record is None else record.seconds
        result = result_of(names, sheets, stopped, seconds)
        if record is not None:
            record.keep([sheet.rows() for sheet in sheets], settings.pairs, result.as_dict())
        return result

    if settings.record is None:
        return finish(None)
    opened = open_record(
        settings.record, {**_asked(settings, entrants, reference), **(also or {})},
        [f"{names[a]} against {names[b]}" for a, b in contests], settings.schema,
        resume=settings.resume, workers=int(settings.workers), unit=settings.unit,
    )  # fmt: skip
    with opened as record:
        done = max((len(rows["points"]) for rows in record.earlier() if rows), default=0)
        if done > settings.pairs:
            raise ArenaSettingsError(
                f"{record.path} holds {2 * done:,} {settings.unit} already, more than the {2 * settings.pairs:,} asked"
            )
        if not settings.resume:
            record.save([{} for _ in contests], settings.pairs)  # now, not after an hour of games
        return finish(record)


def _asked(settings: Settings, entrants: Sequence[Entrant], reference: Entrant | None) -> dict[str, Any]:
    """All that decides a run's results, for its record."""
    known = entrants if reference is None else [*entrants, reference]
    return {
        "kind": settings.kind,
        "bots": [entrant.name for entrant in entrants],
        "reference": None if reference is None else reference.name,
        "made of": {entrant.name: entrant.as_dict() for entrant in known},
        "seed": int(settings.seed),
        **settings.rules_asked(),
        "stop": None if settings.stop is None else settings.stop.as_dict(),
    }


def _restore(plan: Plan, record: Record, sheets: Sequence[Sheet]) -> None:
    """Put what the record holds on the sheets, after playing the first pair of each contest again."""
    for c, (earlier, sheet) in enumerate(zip(record.earlier(), sheets, strict=True)):
        if not earlier or not len(earlier["points"]):
            continue
        wrong = np.flatnonzero(plan.settings.impossible(earlier))
        if len(wrong):
            row = ", ".join(f"{name} {column[wrong[0]].tolist()}" for name, column in earlier.items())
            raise RecordError(
                f"{record.path} is damaged: row {wrong[0] + 1} of {record.names[c]} cannot have been played ({row})"
            )
        again = plan.settings.task(Job(plan.contests[c], c, 0, 1), lambda n: None)
        for name, column in again.items():
            if np.abs(column.astype(np.float64) - earlier[name][:1]).max() > _SAME:
                then, now = earlier[name][0].tolist(), column[0].tolist()
                raise RecordError(
                    f"the first pair of {record.path} comes out differently now ({name} {then} then, {now} now): "
                    "another bot, or another version of the program or its engines"
                )
        sheet.append({name: column[: plan.settings.pairs] for name, column in earlier.items()})
