"""Making a run's network one that comes with the package: half the size, with a card that says what it is."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from bgnet.config import ConfigError, make_config, to_toml
from bgnet.evaluators import SHIPPED
from bgnet.netfile import NetFileError, NetInfo, Weights, atomic_write, load_net, save_net
from bgnet.run_changes import Change, changes_of
from bgnet.runlog import RunFolder

__all__ = ["ship"]

_SIZE = "{size of the file}"  # stands in the card until there is a file


def ship(
    run: RunFolder,
    name: str,
    note: str,
    folder: Path = SHIPPED,
    *,
    parent: str | None = None,
    teacher: str | None = None,
    pruner: str | None = None,
) -> tuple[Path, Path]:
    """Write `name`.safetensors (float16) and its card from a finished run -> both paths.

    parent, teacher, pruner: what the networks that it started from, learned from and pruned with are called for others,
    instead of paths that only their maker knows. Raises NetFileError when the run has no summary, as one that is not
    done since it was made longer, no games against others or no network, and ValueError for names that cannot be;
    nothing is written then.
    """
    if not re.fullmatch(r"[\w][\w.-]*", name):
        raise ValueError(f"a network's name is letters, digits, dots and dashes, not {name!r}")
    if not run.summary.is_file():
        raise NetFileError(f"{run.path} has no summary.json: only finished runs are shipped")
    weights, info = load_net(run.last)
    summary = _summary(run, info)
    info = _renamed(replace(info, note=note), {"parent": parent, "teacher": teacher, "pruner": pruner})
    net, card = folder / f"{name}.safetensors", folder / f"{name}.md"
    lines = _card(name, note, weights, info, summary, changes_of(run))
    save_net(net, weights, info, "float16")
    with atomic_write(card) as temporary:
        text = "\n".join(lines).replace(_SIZE, f"{net.stat().st_size / 1000:.0f} kB")
        temporary.write_text(text, encoding="utf-8")
    return net, card


def _summary(run: RunFolder, info: NetInfo) -> dict[str, Any]:
    """What the run wrote at its end, with all that a card needs."""
    try:
        summary: dict[str, Any] = json.loads(run.summary.read_text(encoding="utf-8"))
        for key in ("positions", "seconds", "games_per_s", "machine"):
            summary[key]
        for result in summary["results"]:
            _against(result)
        games = summary["games"]
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise NetFileError(f"{run.summary} is damaged ({error!r})") from error
    if games != info.games:
        raise NetFileError(
            f"{run.path}: {run.last.name} is after {info.games:,} games, summary.json after {games:,}: let it finish"
        )
    if not summary["results"]:
        raise NetFileError(
            f"{run.path} played no games at its end (evaluation.final_games): its card could not say how strong it is"
        )
    return summary


def _renamed(info: NetInfo, names: dict[str, str | None]) -> NetInfo:
    """With other names for the networks that it started from ("parent"), learned from and pruned with."""
    try:
        config = make_config(tomllib.loads(info.config), "the network's run file")
    except (tomllib.TOMLDecodeError, ConfigError) as error:
        raise NetFileError(f"the run file within the network cannot be read: {error}") from error
    new = {what: name for what, name in names.items() if name is not None}
    for what, name in new.items():
        if not getattr(config if what == "parent" else config.exact, what):
            raise ValueError(f"{what}: the run had none")
        if not name.isprintable() or not name.strip() or "|" in name:
            raise ValueError(f"{what}: a name on one line and without |, not {name!r}")
    parent = new.pop("parent", config.parent)
    config = config.model_copy(update={"parent": parent, "exact": config.exact.model_copy(update=new)})
    return replace(info, parent=config.parent, config=to_toml(config))


def _card(
    name: str, note: str, weights: Weights, info: NetInfo, summary: dict[str, Any], changes: list[Change]
) -> list[str]:
    inputs = f"{info.encoding} inputs (version {info.encoding_version})"
    games, positions = f"{info.games:,} games", f"{summary['positions'] / 1e6:.1f} M positions"
    minutes, speed = f"{summary['seconds'] / 60:.1f} minutes", f"{summary['games_per_s']:,.0f} games/s"
    # Older runs do not say it.
    learned_in = f"; learned in {summary['precision']} precision" if "precision" in summary else ""
    lines = [
        f"# {name}",
        "",
        f"{note}.",
        "",
        "| | |",
        "|---|---|",
        f"| layers | {info.label}, {weights.count:,} weights on {inputs} |",
        f"| file | {_SIZE}, float16 safetensors |",
        f"| learned from | {games}, {positions}; {_start(info)} |",
        f"| time | {minutes}, baseline games included ({speed}) |",
        f"| machine | {summary['machine']}{learned_in} |",
        f"| rules | {info.rules}, {info.checkers} checkers a side |",
        f"| seed, commit | {info.seed}, `{info.commit}` |",
        "",
        "Cubeless games with duplicate dice at the end of the run (float32 weights), 95 % intervals over dice pairs:",
        "",
        "| against | games | points per game | wins |",
        "|---|---|---|---|",
    ]
    lines += map(_against, summary["results"])
    if changes:
        lines += ["", "Changed on the way (before / after):", ""]
        lines += [f"- at {change.games:,} games: {', '.join(change.keys)}" for change in changes]
    config = info.config.strip()
    return [*lines, "", "The run file, defaults included:", "", "```toml", config, "```", ""]


def _against(result: dict[str, Any]) -> str:
    """A line of the table of results."""
    wins = result["wins"] / result["games"]
    ends = result["interval"]  # a single pair has none
    interval = "" if ends is None else " [{:+.3f}, {:+.3f}]".format(*ends)
    points = f"{result['points_per_game']:+.3f}{interval}"
    return f"| `{result['b']}` | {result['games']:,} | {points} | {wins:.1%} |"


def _start(info: NetInfo) -> str:
    start = f"started from {info.parent}" if info.parent else "from zero"
    config = make_config(tomllib.loads(info.config), "the network's run file")
    a_round = config.selfplay.games_per_round
    taught = min(-(-config.exact.teacher_games // a_round) * a_round, info.games)
    if not taught:
        return f"{start}, all games its own"
    if taught == info.games:
        return f"{start}, all games were those of {config.exact.teacher}"
    return f"{start}, the first {taught:,} games were those of {config.exact.teacher}, then its own"
