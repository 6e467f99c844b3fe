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
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
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

__all__ = [
    "FOLDER", "Columns", "Record", "RecordError", "RecordWarning", "Schema", "free_path", "open_record", "read_record",
]  # fmt: skip

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


class RecordWarning(UserWarning):
    """A record could not be written while games went on: its file is the last one that could."""


class Record:
    """A record that this process writes; made by open_record."""

    def __init__(self, path: Path, asked: Mapping[str, Any], contests: Sequence[str], workers: int, unit: str) -> None:
        self.path = path
        self._unit = unit
        self._held = 0  # pairs in the file
        self._warned = False
        self.names = list(contests)
        self._asked = dict(asked)
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
            self._held = sum(map(_length, columns))
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

    def keep_if_due(self, columns: Sequence[Columns], pairs: int) -> None:
        """Keep, if it is long enough ago."""
        if time.monotonic() >= self._due:
            self.keep(columns, pairs)

    def keep(self, columns: Sequence[Columns], pairs: int, result: Mapping[str, Any] | None = None) -> None:
        """Save, or go on without: games that were played are worth more than their file. The first failure warns."""
        try:
            self.save(columns, pairs, result)
        except OSError as error:
            self._due = time.monotonic() + _SAVE_EVERY_S
            if not self._warned:
                self._warned = True
                played = 2 * sum(map(_length, columns))
                text = f"{error}; the file holds {2 * self._held:,} of the {played:,} {self._unit} played so far"
                warnings.warn(RecordWarning(text), stacklevel=2)

    def save(self, columns: Sequence[Columns], pairs: int, result: Mapping[str, Any] | None = None) -> None:
        """Write everything atomically. pairs: how many were asked for; result: of a run that has ended.

        Raises OSError when it cannot be written; the file is as it was then.
        """
        began = time.monotonic()
        self._stop_watch()
        contests = [
            {"name": name, "pairs": _length(rows), "columns": {key: value.tolist() for key, value in rows.items()}}
            for name, rows in zip(self.names, columns, strict=True)
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
        with _in_words("write", self.path), atomic_write(self.path) as temporary:
            temporary.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        self._held = sum(map(_length, columns))
        now = time.monotonic()
        self._due = now + max(_SAVE_EVERY_S, _SHARE * (now - began))

    def _stop_watch(self) -> None:
        self._sessions[-1]["seconds"] = round(time.monotonic() - self._started, 3)


def read_record(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The JSON of a record. Raises OSError, and RecordError naming the file and the fault when it is none.

    Of the columns only bgnet.arena_record.open_record knows what they must be.
    """
    if not Path(path).is_file():
        raise RecordError(f"there is no record {path} to go on with")
    with _in_words("read", path):
        text = Path(path).read_bytes()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise RecordError(f"{path} is no record of the arena, or it is damaged: it is not JSON{where}") from error
    schema = value.get("schema") if isinstance(value, dict) else None
    if schema != _SCHEMA:
        if isinstance(schema, str) and schema.startswith(_SCHEMA.partition("/")[0] + "/"):
            raise RecordError(f"{path}: schema {schema!r}, this version reads {_SCHEMA!r}")
        raise RecordError(f"{path} is no record of the arena: its schema is not {_SCHEMA!r}")
    flaw = _flaw(value)
    if flaw is not None:
        raise RecordError(f"{path} is damaged: {flaw}")
    found: dict[str, Any] = value
    return found


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "object": ("an object", lambda value: isinstance(value, dict)),
    "list": ("a list of objects", lambda value: isinstance(value, list) and all(isinstance(x, dict) for x in value)),
    "count": ("a whole number", lambda value: type(value) is int and value >= 0),
    "seconds": ("a number", lambda value: type(value) in (int, float)),
    "text": ("a text", lambda value: isinstance(value, str)),
    "text or null": ("a text or null", lambda value: value is None or isinstance(value, str)),
    "object or null": ("an object or null", lambda value: value is None or isinstance(value, dict)),
    "bots": (
        "a list of two or more names",
        lambda value: isinstance(value, list) and len(value) > 1 and all(isinstance(bot, str) for bot in value),
    ),
}
"""What a field can be: in words, and the test."""


def _flaw(record: Mapping[str, Any]) -> str | None:
    """What is wrong with the fields of a record, the first of them; None: they are of the right kinds."""
    top = {"asked": "object", "pairs": "count", "sessions": "list", "contests": "list"}
    flaw = _wrong_kind("", record, top)
    if flaw is not None:
        return flaw
    asked = {
        "bots": "bots", "reference": "text or null", "seed": "count", "rules": "text", "made of": "object",
        "stop": "object or null",
    }  # fmt: skip
    # only cubeless games have a variant, and round robins an anchor
    asked |= {name: "text" for name in ("variant", "anchor") if name in record["asked"]}
    parts = [("asked ", record["asked"], asked)]
    parts += [(f"session {i}: ", session, {"seconds": "seconds"}) for i, session in enumerate(record["sessions"], 1)]
    contest = {"name": "text", "pairs": "count", "columns": "object"}
    parts += [(f"contest {i}: ", found, contest) for i, found in enumerate(record["contests"], 1)]
    parts.append(("asked made of ", record["asked"].get("made of"), dict.fromkeys(_bots_asked(record), "object")))
    return next((flaw for part in parts if (flaw := _wrong_kind(*part)) is not None), None)


def _bots_asked(record: Mapping[str, Any]) -> list[str]:
    """Who took part or judged, as far as can be told."""
    bots, reference = record["asked"].get("bots"), record["asked"].get("reference")
    named = [*(bots if isinstance(bots, list) else []), reference]
    return [name for name in named if isinstance(name, str)]


def _wrong_kind(where: str, fields: Mapping[str, Any], kinds: Mapping[str, str]) -> str | None:
    for name, kind in kinds.items():
        words, fits = _KINDS[kind]
        if name not in fields:
            return f"{where}{name} is missing"
        if not fits(fields[name]):
            return f"{where}{name} is {_short(fields[name])}, not {words}"
    return None


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


@contextlib.contextmanager
def _in_words(verb: str, path: str | os.PathLike[str]) -> Iterator[None]:
    """What the system refuses inside is raised as a sentence with the file's name, without an error number."""
    try:
        yield
    except OSError as error:
        cause = error.__cause__ if isinstance(error.__cause__, OSError) else error  # atomic_write has its own words
        raise type(error)(f"cannot {verb} {path}: {cause.strerror or cause}") from error


@contextlib.contextmanager
def open_record(
    path: str | os.PathLike[str],
    asked: Mapping[str, Any],
    contests: Sequence[str],
    schema: Schema,
    *,
    resume: bool,
    workers: int = 1,
    unit: str = "games",
) -> Iterator[Record]:
    """A record to write while the block runs; nobody else can write it meanwhile.

    asked: what decides the results, as JSON would give it back. resume: go on with the record that is there. unit: what
    a pair has two of. Raises RecordError: for one that is there and was not to be continued, is of another run, or in
    use; OSError when the file cannot be written.
    """
    path = Path(path)
    if path.is_dir():
        raise RecordError(f"{path} is a folder: name a file for the record")
    if not resume:
        with _in_words("write", path):
            path.absolute().parent.mkdir(parents=True, exist_ok=True)
    elif not path.is_file():  # before a lock is made beside it
        read_record(path)
    with _locked(path):
        record = Record(path, asked, contests, workers, unit)
        if resume:
            before = read_record(path)
            wrong = _other_run(before["asked"], asked)
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
    if [contest["name"] for contest in record["contests"]] != list(contests):
        raise RecordError(f"{path} is damaged: its contests are not those of its bots")
    found: list[Columns] = []
    for contest in record["contests"]:
        rows: Columns = {}
        if not contest["columns"] and contest["pairs"]:
            raise RecordError(f"{path} is damaged: {contest['name']} has {contest['pairs']} pairs without columns")
        for name, (dtype, shape) in schema.items() if contest["columns"] else ():
            try:
                rows[name] = _column(contest["columns"].get(name), contest["pairs"], dtype, shape)
            except ValueError as error:
                raise RecordError(f"{path} is damaged: column {name} of {contest['name']} {error}") from error
        found.append(rows)
    return found


def _column(values: object, pairs: int, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """dtype[pairs, *shape]. Raises ValueError with what is wrong."""
    if not isinstance(values, list):
        raise ValueError("is missing" if values is None else "is not a list")
    if len(values) != pairs:
        raise ValueError(f"has {len(values)} rows, not {pairs}")
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError("does not hold numbers alone") from error
    if not pairs:
        return np.empty((0, *shape), dtype)
    if numbers.shape != (pairs, *shape):
        raise ValueError(f"must have {int(np.prod(shape))} values in a row")
    with np.errstate(invalid="ignore"):
        column = numbers.astype(dtype)
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (column == numbers)).reshape(pairs, -1).all(axis=1))
    if len(wrong):
        raise ValueError(f"has {_short(values[wrong[0]])} in row {wrong[0] + 1}")
    return column


def _length(rows: Columns) -> int:
    return len(next(iter(rows.values()))) if rows else 0


def _other_run(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What two runs' `asked` differ in."""
    before, now = old["made of"], new["made of"]
    rest = [{key: value for key, value in asked.items() if key != "made of"} for asked in (old, new)]
    found = _differences(rest[0], rest[1])  # other bots differ by their names
    for bot in [bot for bot in now if bot in before]:
        if before[bot].get("sha256") != now[bot].get("sha256"):
            found.append(f"the file of {bot} has changed since")
        if before[bot].get("package") != now[bot].get("package"):
            found.append(f"{bot} came from {before[bot].get('package')} then, from {now[bot].get('package')} now")
    return found


def _differences(old: object, new: object, name: str = "") -> list[str]:
    """What two JSON values differ in, as "seed is 1, not 2"."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = list(dict.fromkeys([*old, *new]))
        found = [_differences(old.get(key), new.get(key), f"{name} {key}".strip()) for key in keys]
        return [text for texts in found for text in texts]
    return [] if old == new else [f"{name} is {json.dumps(old)}, not {json.dumps(new)}"]


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
            raise type(error)(f"cannot write beside {path}: {error.strerror}") from error
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
