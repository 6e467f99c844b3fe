"""Match equity tables as files: our JSON, and the XML of GNU Backgammon.

JSON: an object with "schema": "bgnet.match_equity/1", "name", "source", "length", "pre_crawford" (n rows of n chances)
and "post_crawford" (n chances), both as MatchEquityTable takes them.
"""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ET
from pathlib import Path

from bgnet.match_equity import MatchEquityError, MatchEquityTable
from bgnet.netfile import atomic_write

__all__ = ["SCHEMA", "read_table", "write_table"]

SCHEMA = "bgnet.match_equity/1"


def read_table(path: str | os.PathLike[str]) -> MatchEquityTable:
    """The table of a JSON or XML file, told apart by their first character.

    Of XML, tables with explicit numbers that are the same for both players. Raises MatchEquityError with the path and
    what is wrong.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise MatchEquityError(f"cannot read the match equity table {str(path)!r}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise MatchEquityError(f"{path}: neither a JSON nor an XML file: {error}") from error
    try:
        return _from_xml(text) if text.lstrip().startswith("<") else _from_json(text)
    except MatchEquityError as error:
        raise MatchEquityError(f"{path}: {error}") from error


def write_table(path: str | os.PathLike[str], table: MatchEquityTable) -> None:
    """Write a table as JSON: `path` holds the old file or the whole new one. Raises OSError."""
    head = {"schema": SCHEMA, "name": table.name, "source": table.source, "length": table.length}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    rows = ",\n  ".join(json.dumps(row) for row in table.pre[1:, 1:].tolist())  # a line each
    lines += [f'"pre_crawford": [\n  {rows}\n ]', f'"post_crawford": {json.dumps(table.post[1:].tolist())}']
    text = "{\n " + ",\n ".join(lines) + "\n}\n"
    with atomic_write(Path(path)) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _from_json(text: str) -> MatchEquityTable:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise MatchEquityError(f"neither JSON nor XML can be read from it: {error}") from error
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        found = value.get("schema") if isinstance(value, dict) else type(value).__name__
        raise MatchEquityError(f'needs an object with "schema": "{SCHEMA}", not {found!r}')
    missing = [key for key in ("name", "pre_crawford", "post_crawford") if key not in value]
    if missing:
        raise MatchEquityError(f"lacks {', '.join(missing)}")
    table = MatchEquityTable(
        str(value["name"]), value["pre_crawford"], value["post_crawford"], source=str(value.get("source", ""))
    )
    if value.get("length", table.length) != table.length:
        raise MatchEquityError(f"says {value['length']} points and holds {table.length}")
    return table


def _from_xml(text: str) -> MatchEquityTable:
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise MatchEquityError(f"the XML cannot be read: {error}") from error
    if root.tag != "met":
        raise MatchEquityError(f"the XML holds <{root.tag}>, not a match equity table <met>")
    pre = root.findall("pre-crawford-table")
    posts = root.findall("post-crawford-table")
    if len(pre) != 1 or not posts:
        raise MatchEquityError("the XML needs one <pre-crawford-table> and a <post-crawford-table>")
    rows = _rows(pre[0])
    lines = [_rows(post) for post in posts]
    if any(len(line) != 1 for line in lines):
        raise MatchEquityError("a <post-crawford-table> needs one <row>")
    if any(line != lines[0] for line in lines):
        raise MatchEquityError(
            "the table has other post-Crawford chances for each player (handicap matches); only tables that are the "
            "same for both are supported"
        )
    row = lines[0][0]
    name = (root.findtext("info/name") or "unnamed").strip()
    source = (root.findtext("info/description") or "").strip()
    return MatchEquityTable(name, [line[: len(rows)] for line in rows], row[: len(rows)], source=source)


def _rows(table: ET.Element) -> list[list[float]]:
    kind = table.get("type", "explicit")
    if kind != "explicit":
        raise MatchEquityError(
            f"<{table.tag}> is of type {kind!r}, a formula with parameters; only tables with explicit numbers are "
            "supported (MatchEquityTable.from_rates computes one)"
        )
    try:
        return [[float(me.text or "") for me in row.findall("me")] for row in table.findall("row")]
    except ValueError as error:
        raise MatchEquityError(f"<{table.tag}> holds something else than numbers: {error}") from error
