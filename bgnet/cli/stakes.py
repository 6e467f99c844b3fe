"""`bgnet arena --cube`: games and matches for stakes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bgnet.cli.arena_screens import estimate_lines, record_line, rule_text, stop_lines
from bgnet.cli.common import print_json, print_text

if TYPE_CHECKING:
    from bgnet.stakes import StakesResult

__all__ = ["arena_for_stakes", "check_no_stakes", "recorded_rules", "stakes_table"]

_HEAVY = 0.05  # points by which a single result may move the mean before a note says so


def check_no_stakes(given: dict[str, Any]) -> None:
    """Raise ArenaSettingsError for options that only mean something with --cube."""
    from bgnet.arena import ArenaSettingsError

    for option, value in given.items():
        if value:
            raise ArenaSettingsError(f"{option} belongs to games with the cube: add --cube")


def recorded_rules(path: str) -> dict[str, Any] | None:
    """The rules of the cube that a record of games for stakes was made with; None for a record of cubeless games."""
    from bgnet.arena_record import RecordError, read_record
    from bgnet.stakes_settings import StakesSettings

    asked = read_record(path)["asked"]
    if asked.get("kind") != StakesSettings.kind:
        return None
    rules = {name: asked.get(name) for name in ("jacoby", "beavers", "max_cube")}
    for name, value in rules.items():
        if not (value is None or type(value) is int if name == "max_cube" else isinstance(value, bool)):
            raise RecordError(f"{path} is damaged: asked {name} is {value!r}")
    return rules


def arena_for_stakes(
    bots: list[str], count: int, done: int, options: dict[str, Any], *, as_json: bool, quiet: bool, progress: str
) -> None:
    """Play `count` games or matches and print; done: those in the record; options: of bgnet.stakes.play_stakes.

    Raises what that raises.
    """
    from bgnet.arena import ArenaSettingsError
    from bgnet.progress import Progress
    from bgnet.stakes import play_stakes

    if len(bots) != 2:
        raise ArenaSettingsError(f"with --cube two bots play, not {len(bots)}")
    matches = str(options["rules"]).startswith("match")
    if options["stop"] is not None and not quiet:
        print(rule_text(options["stop"], count, matches=matches), file=sys.stderr, flush=True)
    unit = "matches" if matches else "games"
    with Progress(max(count, 0), unit, "none" if quiet else progress, initial=done) as shown:
        result = play_stakes(bots[0], bots[1], count, progress=shown, **options)
    if as_json:
        print_json(result.as_dict())
        return
    print_text(stakes_table(result))
    if options["mat"] is not None:
        print_text(f"games   {Path(options['mat'])}/*.mat")


def stakes_table(result: StakesResult) -> str:
    """The result as lines of plain ASCII text (apart from the bots' names)."""
    start = result.start
    matches = start.match_length > 0
    if matches:
        played, unit = f"matches to {start.match_length}", "matches"
    else:
        rules = [word for word, on in (("Jacoby", start.jacoby), ("beavers", start.beavers)) if on]
        cap = [] if start.max_cube is None else [f"cube to {start.max_cube}"]
        played, unit = ", ".join(["money games with the cube", *rules, *cap]), "games"
    workers = f"{result.workers} worker{'s' if result.workers > 1 else ''}"
    lines = [
        f"{result.a} against {result.b}, {played}, {result.count // 2:,} dice pairs, seed {result.seed}",
        *estimate_lines(result, matches=matches),
        "games            single  gammon      bg    drop     all",
        _row("won", result.won),
        _row("lost", result.lost),
        f"doubled in {result.turned:.0%} of {result.games:,} games, mean cube {result.mean_cube:.2f}, "
        f"largest result {result.largest} points",
        f"{result.plies / result.games:.1f} rolls per game, {result.seconds:.1f} s, "
        f"{result.count / result.seconds:,.1f} {unit}/s with {workers}",
    ]
    if not matches and start.max_cube is None and result.largest / result.count > _HEAVY:
        lines.append("note  a few large cubes can decide this result; --max-cube 16, say, keeps them small")
    return "\n".join([*lines, *stop_lines(result.stop, matches=matches), *record_line(result.record)])


def _row(name: str, counts: tuple[int, int, int, int]) -> str:
    return f"{name:<15}" + "".join(f"{n:>8,}" for n in (*counts, sum(counts)))
