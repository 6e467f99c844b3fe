"""Files of benchmark sets: JSON lines, the first one a header that says how the rest was made.

{"format": "bgnet.decisions/1", "judge": "...", "settings": {...}} and then one decision a line (bgnet.decisions), or
{"format": "bgnet.outcomes/1", ...} and one position a line (bgnet.benchmark_outcomes). Positions are Position IDs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bgnet.netfile import atomic_write

__all__ = [
    "SHIPPED_SETS", "SetFileError", "checked_header", "find_set", "open_set", "read_lines", "shipped_sets",
    "write_lines",
]  # fmt: skip

SHIPPED_SETS = Path(__file__).parent / "benchmarks"
"""The folder of the sets that come with the package: decisions-NAME.jsonl and outcomes-NAME.jsonl."""


class SetFileError(ValueError):
    """A file of a benchmark set that cannot be read; the message names the file and the line."""


def shipped_sets(kind: str) -> list[str]:
    """Names of the sets of a kind ("decisions" or "outcomes") that come with the package."""
    return sorted(path.stem.removeprefix(f"{kind}-") for path in SHIPPED_SETS.glob(f"{kind}-*.jsonl"))


def find_set(name_or_path: str | os.PathLike[str], kind: str) -> Path:
    """The file of a set: a shipped name, or a path. Raises SetFileError listing what there is."""
    text = os.fspath(name_or_path)
    if text in shipped_sets(kind):  # first: a file of that name in the working directory is no reason to fail
        return SHIPPED_SETS / f"{kind}-{text}.jsonl"
    path = Path(text)
    if path.is_dir():
        raise SetFileError(f"{path}: a folder, not a file of {kind}")
    if not text or not path.exists():
        names = ", ".join(shipped_sets(kind)) or "none"
        raise SetFileError(f"no set of {kind} {text!r}: neither a file nor one of the shipped ones ({names})")
    return path


def open_set(name_or_path: str | os.PathLike[str], kind: str) -> tuple[Path, str, list[str], bool]:
    """A set's file, what it is called in results, its lines, and whether they are JSON. Raises SetFileError."""
    path = find_set(name_or_path, kind)
    lines = read_lines(path)
    first = next((line for line in lines if line.strip()), "")
    name = os.fspath(name_or_path) if path.parent == SHIPPED_SETS else path.name
    return path, name, lines, first.lstrip().startswith("{")


def checked_header(row: dict[str, Any], form: str, *, first: bool) -> dict[str, Any]:
    """A set's header; ValueError for another format than `form`, one that is not the first line, or without a judge."""
    if row.get("format") != form:
        raise ValueError(f"the format is {row.get('format')!r}, this version reads {form!r}")
    if not first:
        raise ValueError("a header after entries")
    if not isinstance(row.get("judge"), str):
        raise ValueError("the header must name the judge")
    return row


def read_lines(path: Path) -> list[str]:
    """The lines of a text file, those without anything included; SetFileError when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SetFileError(f"{path}: cannot be read ({error})") from error


def write_lines(path: Path, header: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write atomically: the file is the old one or the whole new one. Raises OSError when it cannot be written."""
    lines = [json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n" for line in (header, *rows)]
    with atomic_write(path) as temporary:
        temporary.write_text("".join(lines), encoding="utf-8")
