"""Changes of a run's configuration on the way: asked for, checked, and written down for the card."""

from __future__ import annotations

import json
from typing import NamedTuple

from bgnet.config import RunConfig, differences, load_config, to_toml
from bgnet.netfile import atomic_write
from bgnet.runlog import RunError, RunFolder

__all__ = ["Change", "apply_changes", "changed_config", "changes_of"]

_FIXED = ("net.", "game.", "seed ", "parent ", "exact.pool ", "exact.pruner", "exact.teacher ")
"""Beginnings of keys that a run is built on."""


class Change(NamedTuple):
    """What was changed after so many games, as "key (before / after)"."""

    games: int
    keys: list[str]


def changed_config(run: RunFolder, settings: list[str]) -> tuple[RunConfig, list[str]]:
    """The run's configuration with `key=value` settings applied, and what that changes. Nothing is written.

    Raises ConfigError for a bad key or value, RunError for a key that a run cannot change.
    """
    run.stored_config()  # says what is wrong with it before the settings may be blamed
    config = load_config(run.config, settings)
    changes = differences(run.stored_config(), config)
    fixed = [change for change in changes if change.startswith(_FIXED)]
    if fixed:
        raise RunError(
            f"a run is built on {', '.join(fixed)}: that belongs to a new run, which --from can base on this one"
        )
    return config, changes


def apply_changes(run: RunFolder, config: RunConfig, change: Change) -> None:
    """Make `config` the run's own and add the change to its list."""
    if not change.keys:
        return
    lines = [*map(_line, changes_of(run)), _line(change)]
    for path, text in ((run.changes, "".join(lines)), (run.config, to_toml(config))):
        with atomic_write(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def changes_of(run: RunFolder) -> list[Change]:
    """All changes so far, the oldest first. RunError when the list is damaged."""
    if not run.changes.is_file():
        return []
    try:
        rows = [json.loads(line) for line in run.changes.read_text(encoding="utf-8").splitlines()]
        return [Change(int(row["games"]), [str(key) for key in row["changed"]]) for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"{run.changes} is damaged ({error})") from error


def _line(change: Change) -> str:
    return json.dumps({"games": change.games, "changed": change.keys}) + "\n"
