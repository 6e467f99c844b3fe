"""Making a run's network one that comes with the package: half the size, with a card that says what it is."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

from bgnet.evaluators import SHIPPED
from bgnet.netfile import NetFileError, NetInfo, Weights, atomic_write, load_net, save_net
from bgnet.run_changes import Change, changes_of
from bgnet.runlog import RunFolder

__all__ = ["ship"]


def ship(
    run: RunFolder,
    name: str,
    note: str,
    folder: Path = SHIPPED,
    *,
    parent: str | None = None,
    teacher: str | None = None,
) -> tuple[Path, Path]:
    """Write `name`.safetensors (float16) and its card from a finished run -> both paths.

    parent, teacher: what the networks that it started from and learned from are called for others, instead of paths
    that only their maker knows. Raises NetFileError when the run has no summary, no games against others or no network.
    """
    if not run.summary.is_file():
        raise NetFileError(f"{run.path} has no summary.json: only finished runs are shipped")
    summary = json.loads(run.summary.read_text(encoding="utf-8"))
    weights, info = load_net(run.last)
    info = replace(info, note=note)
    if not summary["results"]:
        raise NetFileError(
            f"{run.path} played no games at its end (evaluation.final_games): its card could not say how strong it is"
        )
    if parent is not None:
        info = replace(info, parent=parent)
    for key, value in (("parent", parent), ("teacher", teacher)):
        if value is not None:
            line = f"{key} = {json.dumps(value)}".replace("\\", r"\\")  # a backslash means something in a replacement
            info = replace(info, config=re.sub(rf"(?m)^{key} = .*$", line, info.config))
    net, card = folder / f"{name}.safetensors", folder / f"{name}.md"
    save_net(net, weights, info, "float16")
    with atomic_write(card) as temporary:
        text = _card(name, note, weights, info, summary, changes_of(run), net.stat().st_size)
        temporary.write_text(text, encoding="utf-8")
    return net, card


def _card(
    name: str, note: str, weights: Weights, info: NetInfo, summary: dict[str, Any], changes: list[Change], size: int
) -> str:
    inputs = f"{info.encoding} inputs (version {info.encoding_version})"
    games, positions = f"{info.games:,} games", f"{summary['positions'] / 1e6:.1f} M positions"
    minutes, speed = f"{summary['seconds'] / 60:.1f} minutes", f"{summary['games_per_s']:,.0f} games/s"
    lines = [
        f"# {name}",
        "",
        f"{note}.",
        "",
        "| | |",
        "|---|---|",
        f"| layers | {info.label}, {weights.count:,} weights on {inputs} |",
        f"| file | {size / 1000:.0f} kB, float16 safetensors |",
        f"| learned from | {games}, {positions}; {_start(info)} |",
        f"| time | {minutes}, baseline games included ({speed}) |",
        f"| machine | {summary['machine']} |",
        f"| rules | {info.rules}, {info.checkers} checkers a side |",
        f"| seed, commit | {info.seed}, `{info.commit}` |",
        "",
        "Cubeless games with duplicate dice at the end of the run (float32 weights), 95 % intervals over dice pairs:",
        "",
        "| against | games | points per game | wins |",
        "|---|---|---|---|",
    ]
    for result in summary["results"]:
        wins = result["wins"] / result["games"]
        interval = ", ".join("-" if end is None else f"{end:+.3f}" for end in result["interval"])
        points = f"{result['points_per_game']:+.3f} [{interval}]"
        lines.append(f"| `{result['b']}` | {result['games']:,} | {points} | {wins:.1%} |")
    if changes:
        lines += ["", "Changed on the way (before / after):", ""]
        lines += [f"- at {change.games:,} games: {', '.join(change.keys)}" for change in changes]
    config = info.config.strip()
    return "\n".join([*lines, "", "The run file, defaults included:", "", "```toml", config, "```", ""])


def _start(info: NetInfo) -> str:
    start = f"started from {info.parent}" if info.parent else "from zero"
    exact = tomllib.loads(info.config).get("exact", {})
    taught = min(exact.get("teacher_games", 0), info.games)
    if taught == info.games:
        return f"{start}, all games were those of {exact['teacher']}"
    return (
        f"{start}, the first {taught:,} games were those of {exact['teacher']}, then its own"
        if taught
        else f"{start}, all games its own"
    )
