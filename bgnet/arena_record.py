"""The record of a run of dice pairs: one JSON file with what was asked, by whom, and every pair's result so far.

{"schema": "bgnet.arena-record/1", "asked": {...}, "pairs": at most, "sessions": [...], "contests": [{"name", "pairs",
"columns": {...}}, ...], "finished": true or false, "result": what the command prints with --json, or null}.

`asked` is all that decides the results: a run can only be continued under the same. A session is a process that played:
when, on which commit and machine, for how long. Columns hold a value, or a list of values, for each pair in order.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

import numpy as np
from numpy.typing import NDArray

from bgnet import __version__
from bgnet.netfile import atomic_write

__all__ = ["FOLDER", "Columns", "Record", "RecordError", "Schema", "free_path", "open_record", "read_record"]

FOLDER = Path("runs") / "arena"
"""Where records go that nobody has named."""

Columns = dict[str, NDArray[Any]]
Schema = Mapping[str, tuple[str, tuple[int, ...]]]
"""Column name -> (dtype, shape of one pair's value)."""

_SCHEMA = "bgnet.arena-record/1"
_SAVE_EVERY_S = 30.0
_SHARE = 20  # a long record takes long to write: at most this part of the time


class RecordError(ValueError):
    """A record that cannot be used as asked: of another run, damaged, in use, or in the way."""


class Record:
    """A record that this process writes; made by open_record."""

    def __init__(self, path: Path, asked: Mapping[str, Any], contests: Sequence[str], workers: int) -> None:
        self.path = path
        self._asked, self._names = dict(asked), list(contests)
        self._sessions: list[dict[str, Any]] = []
        self._workers = workers
        self._columns: list[Columns] = [{} for _ in contests]
        self.finished = False
        self._started = self._due = 0.0

    @property
    def seconds(self) -> float:
        """All sessions together."""
        self._stop_watch()
        return float(sum(session["seconds"] for session in self._sessions))

    def begin(self, columns: Sequence[Columns] | None = None, sessions: Sequence[dict[str, Any]] = ()) -> None:
        """Start a session; columns, sessions: what earlier ones have left."""
        from bgnet.runlog import commit_id, machine  # here: it loads what only training needs

        if columns is not None:
            self._columns = list(columns)
        self._sessions = [
            *sessions,
            {
                "started": datetime.now(UTC).isoformat(timespec="seconds"),
                "commit": commit_id(),
                "bgnet": __version__,
                "machine": machine(),
                "workers": self._workers,
                "seconds": 0.0,
            },
        ]
        self._started = time.monotonic()

    def earlier(self) -> list[Columns]:
        """Each contest's columns from earlier sessions; empty dicts when there were none."""
        return self._columns

    def save_if_due(self, columns: Sequence[Columns], pairs: int) -> None:
        """Save, if it is long enough ago."""
        if time.monotonic() >= self._due:
            self.save(columns, pairs)

    def save(self, columns: Sequence[Columns], pairs: int, result: Mapping[str, Any] | None = None) -> None:
        """Write everything atomically. pairs: how many were asked for; result: of a run that has ended."""
        began = time.monotonic()
        self._stop_watch()
        contests = [
            {"name": name, "pairs": _length(rows), "columns": {key: value.tolist() for key, value in rows.items()}}
            for name, rows in zip(self._names, columns, strict=True)
        ]
        fields = {
            "schema": _SCHEMA,
            "asked": self._asked,
            "pairs": pairs,
            "finished": result is not None,
            "result": result,
            "sessions": self._sessions,
            "contests": contests,
        }
        lines = [f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in fields.items()]
        with atomic_write(self.path) as temporary:
            temporary.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        now = time.monotonic()
        self._due = now + max(_SAVE_EVERY_S, _SHARE * (now - began))

    def _stop_watch(self) -> None:
        self._sessions[-1]["seconds"] = round(time.monotonic() - self._started, 3)


def read_record(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The JSON of a record. Raises OSError, and RecordError naming the file when it holds something else."""
    if not Path(path).is_file():
        raise RecordError(f"there is no record {path} to go on with")
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
        if value["schema"] != _SCHEMA:
            raise RecordError(f"{path}: schema {value['schema']!r}, this version reads {_SCHEMA!r}")
        for name, kind in (("asked", dict), ("sessions", list), ("contests", list), ("pairs", int)):
            if not isinstance(value[name], kind):
                raise ValueError(f"{name} is {value[name]!r}")
        if not all(isinstance(session["seconds"], (int, float)) for session in value["sessions"]):
            raise ValueError("a session without its seconds")
    except RecordError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RecordError(f"{path} is no record of the arena, or it is damaged: {error!r}") from error
    found: dict[str, Any] = value
    return found


@contextlib.contextmanager
def open_record(
    path: str | os.PathLike[str],
    asked: Mapping[str, Any],
    contests: Sequence[str],
    schema: Schema,
    *,
    resume: bool,
    workers: int = 1,
) -> Iterator[Record]:
    """A record to write while the block runs; nobody else can write it meanwhile.

    asked: what decides the results, as JSON would give it back. resume: go on with the record that is there. Raises
    RecordError: for one that is there and was not to be continued, is of another run, or in use; OSError when the file
    cannot be written.
    """
    path = Path(path)
    if path.is_dir():
        raise RecordError(f"{path} is a folder: name a file for the record")
    if not resume:
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
    elif not path.is_file():  # before a lock is made beside it
        read_record(path)
    with _locked(path):
        record = Record(path, asked, contests, workers)
        if resume:
            before = read_record(path)
            wrong = _differences(before["asked"], dict(asked))
            if wrong:
                raise RecordError(f"{path} is the record of another run: {'; '.join(wrong)}")
            record.begin(_columns(path, before, contests, schema), before["sessions"])
        elif path.exists():
            raise RecordError(f"{path} exists already: name a new file, or go on with it by resuming it")
        else:
            record.begin()
        yield record


def free_path(bots: Sequence[str], seed: int, folder: Path = FOLDER) -> Path:
    """A name for a new record, such as runs/arena/flagship-standard-s7.json, or ...-s7-2.json when that is taken."""
    shown = [re.sub(r"[^\w.@+-]+", "-", bot.removeprefix("net:"))[-40:].strip("-.") or "bot" for bot in bots[:4]]
    if len(bots) > len(shown):
        shown.append(f"{len(bots) - len(shown)}-more")
    stem = "-".join([*shown, f"s{seed}"])
    paths = (folder / f"{stem}{'' if n == 1 else f'-{n}'}.json" for n in range(1, 100_000))
    return next(path for path in paths if not path.exists() and not _lock_of(path).exists())


def _columns(path: Path, record: Mapping[str, Any], contests: Sequence[str], schema: Schema) -> list[Columns]:
    """The columns of every contest, checked. Raises RecordError."""
    found = []
    try:
        if [contest["name"] for contest in record["contests"]] != list(contests):
            raise ValueError("other contests than its bots have")
        for contest in record["contests"]:
            rows: Columns = {}
            for name, (dtype, shape) in schema.items() if contest["columns"] else ():
                values = np.array(contest["columns"][name], dtype=np.float64).reshape(contest["pairs"], *shape)
                rows[name] = values.astype(dtype)
                if not np.isfinite(values).all() or not np.array_equal(rows[name], values):
                    raise ValueError(f"column {name} of {contest['name']}")
            found.append(rows)
    except (KeyError, TypeError, ValueError, OverflowError, MemoryError) as error:
        raise RecordError(f"{path} is damaged: {error!r}") from error
    return found


def _length(rows: Columns) -> int:
    return len(next(iter(rows.values()))) if rows else 0


def _differences(old: object, new: object, name: str = "") -> list[str]:
    """What two JSON values differ in, as "seed is 1, not 2"."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = list(dict.fromkeys([*old, *new]))
        found = [_differences(old.get(key), new.get(key), f"{name} {key}".strip()) for key in keys]
        return [text for texts in found for text in texts]
    if old == new:
        return []
    changed = " (the file has changed since)" if name.endswith("sha256") and old and new else ""
    return [f"{name} is {json.dumps(old)}, not {json.dumps(new)}{changed}"]


def _lock_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.lock")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a file of that name beside the record, and remove it at the end; RecordError when another process does.

    The system lets go of the lock when the process ends, however it ends; a file left behind is in nobody's way.
    """
    if fcntl is None:
        yield
        return
    lock = _lock_of(path)
    while True:
        try:
            file = open(lock, "w", encoding="utf-8")  # noqa: SIM115 (closed below, and with it the lock)
        except OSError as error:
            raise OSError(error.errno, f"cannot write beside {path}: {error.strerror}") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            raise RecordError(f"{path}: another process is writing this record") from error
        with contextlib.suppress(OSError):
            if os.fstat(file.fileno()).st_ino == os.stat(lock).st_ino:
                break
        file.close()  # whoever held it has just removed it: make a new one
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            lock.unlink()
        file.close()
