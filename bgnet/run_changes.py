"""Changes of a run's configuration on the way: asked for, checked, and written down for the card."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import NamedTuple

from bgnet.checkpoints import Counters
from bgnet.config import RunConfig, differences, load_config, to_toml
from bgnet.netfile import atomic_write
from bgnet.runlog import RunError, RunFolder

__all__ = ["Change", "apply_change", "changes_of", "plan_change"]

_FIXED = (
    "net.", "game.", "seed ", "parent ", "learning.targets ", "exact.pool ", "exact.pruner", "exact.teacher ",
)  # fmt: skip
"""Beginnings of keys that a run is built on."""


class Change(NamedTuple):
    """What was changed after so many games, as "key (before / after)"."""

    games: int
    keys: list[str]


def plan_change(run: RunFolder, settings: list[str], counters: Counters) -> tuple[RunConfig, Counters, Change]:
    """`key=value` settings for a run that stands at `counters` -> its configuration and counters from then on, and what
    that changes. Nothing is written.

    Raises ConfigError for a bad key or value, RunError for what a run cannot change.
    """
    before = run.stored_config()  # says what is wrong with it before the settings may be blamed
    config = load_config(run.config, settings)
    keys = differences(before, config)
    fixed = [key for key in keys if key.startswith(_FIXED)]
    if fixed:
        raise RunError(
            f"a run is built on {', '.join(fixed)}: that belongs to a new run, which --from can base on this one"
        )
    counters = replace(counters)
    unsaved = _unsaved(run, counters.games)
    if counters.total_games and any(re.fullmatch(rf"games \(\w+ / {before.games}\)", key) for key in unsaved):
        counters.total_games = before.games
    # Where a run ends is in its checkpoints: `--minutes` may have found another number than its configuration has.
    if _sets_games(settings) and config.games != counters.total_games:
        if config.games <= counters.games:
            raise RunError(f"games = {config.games:,}: the run has played {counters.games:,} already")
        end = counters.total_games or "open"
        keys = [f"games ({end} / {config.games})", *(key for key in keys if not key.startswith("games "))]
        counters.total_games = config.games
    if keys and 0 < counters.total_games <= counters.games:
        raise RunError(f"the run is finished at {counters.games:,} games: it goes on only with more `games`")
    names = {key.partition(" ")[0] for key in (*unsaved, *keys)}
    if counters.total_games and names & {"games", "evaluation.times"}:
        counters.evaluations = counters.evaluations_due(config.evaluation.times)
    if names & {"evaluation.opponents", "evaluation.games"}:
        counters.best_score = None  # other scores do not compare with it
    return config, counters, Change(counters.games, keys)


def _unsaved(run: RunFolder, games: int) -> list[str]:
    """The last change's keys if it was made after so many games: the checkpoint that should hold it may never have been
    written, so what it does to the counters is done again.
    """
    return [key for change in changes_of(run)[-1:] if change.games == games for key in change.keys]


def _sets_games(settings: list[str]) -> bool:
    return any(setting.partition("=")[0].strip() == "games" for setting in settings)


def apply_change(run: RunFolder, config: RunConfig, change: Change) -> None:
    """Make `config` the run's own and add the change to its list, once however often it is tried."""
    if not change.keys:
        return
    changes = changes_of(run)
    if changes[-1:] != [change]:
        changes.append(change)
    for path, text in ((run.changes, "".join(map(_line, changes))), (run.config, to_toml(config))):
        with atomic_write(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def changes_of(run: RunFolder) -> list[Change]:
    """All changes so far, the oldest first. RunError when the list is damaged."""
    if not run.changes.is_file():
        return []
    try:
        return [_parsed(line) for line in run.changes.read_text(encoding="utf-8").splitlines()]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise RunError(f"{run.changes} is damaged ({error}): mend it, or take it away") from error


def _parsed(line: str) -> Change:
    row = json.loads(line)
    games, keys = row["games"], row["changed"]
    if not isinstance(games, int) or not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise ValueError(f"not a change: {line}")
    return Change(games, keys)


def _line(change: Change) -> str:
    return json.dumps({"games": change.games, "changed": change.keys}) + "\n"
