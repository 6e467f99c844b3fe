"""`bgnet arena --cube`: games and matches for stakes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bgnet.cli.arena_screens import record_line, rule_text, stop_lines, with_depth
from bgnet.cli.common import print_json, print_text, signed

if TYPE_CHECKING:
    from bgnet.stakes import StakesResult
    from bgnet.statistics import Estimate

__all__ = ["arena_for_stakes", "check_no_stakes", "recorded_rules", "stakes_table"]

_FEW = 20  # a result that could move the mean of this share of the games by a point


def check_no_stakes(given: dict[str, Any]) -> None:
    """Raise ArenaSettingsError for options that only mean something with --cube."""
    from bgnet.arena import ArenaSettingsError

    for option, value in given.items():
        if value:
            raise ArenaSettingsError(f"{option} belongs to games with the cube: add --cube")


def recorded_rules(path: str) -> dict[str, Any] | None:
    """The rules of the cube that a record of games for stakes was made with; None for a record of cubeless games."""
    from bgnet.arena_record import RecordError, read_record
    from bgnet.stakes import KIND

    asked = read_record(path)["asked"]
    if asked.get("kind") != KIND:
        return None
    try:
        return {name: asked[name] for name in ("jacoby", "beavers", "max_cube")}
    except KeyError as error:
        raise RecordError(f"{path} is damaged: {error!r}") from error


def arena_for_stakes(
    bots: list[str], contests: int, done: int, options: dict[str, Any], *, as_json: bool, quiet: bool, progress: str
) -> None:
    """Play and print; done: of the contests, those in the record; options: of bgnet.stakes.play_stakes.

    Raises what that raises.
    """
    from bgnet.arena import ArenaSettingsError
    from bgnet.progress import Progress
    from bgnet.stakes import play_stakes

    if len(bots) != 2:
        raise ArenaSettingsError(f"with --cube two bots play, not {len(bots)}")
    unit = "matches" if str(options["rules"]).startswith("match") else "games"
    if options["stop"] is not None and not quiet:
        print(rule_text(options["stop"], contests), file=sys.stderr, flush=True)
    with Progress(max(contests, 0), unit, "none" if quiet else progress, initial=done) as shown:
        result = play_stakes(bots[0], bots[1], contests, progress=shown, **options)
    if as_json:
        print_json(result.as_dict())
        return
    print_text(stakes_table(result))
    if options["mat"] is not None:
        print_text(f"games   {Path(options['mat'])}/*.mat")


def stakes_table(result: StakesResult) -> str:
    """The result as lines of plain ASCII text (apart from the bots' names)."""
    start = result.start
    if start.match_length:
        played, unit, head = f"matches to {start.match_length}", "matches", "matches won"
    else:
        rules = [word for word, on in (("Jacoby", start.jacoby), ("beavers", start.beavers)) if on]
        cap = [] if start.max_cube is None else [f"cube to {start.max_cube}"]
        played, unit, head = ", ".join(["money games with the cube", *rules, *cap]), "games", "points/game"
    workers = f"{result.workers} worker{'s' if result.workers > 1 else ''}"
    lines = [
        f"{result.a} against {result.b}, {played}, {result.contests // 2:,} dice pairs, seed {result.seed}",
        f"{'':<17}{head}    95 % interval",
        _estimate_line("plain", result.score, share=bool(start.match_length)),
        *_luck_lines(result),
        "games            single  gammon      bg    drop     all",
        _row("won", result.won),
        _row("lost", result.lost),
        f"doubled in {result.turned:.0%} of {result.games:,} games, mean cube {result.mean_cube:.2f}, "
        f"largest result {result.largest} points",
        f"{result.plies / result.games:.1f} rolls per game, {result.seconds:.1f} s, "
        f"{result.contests / result.seconds:,.1f} {unit}/s with {workers}",
    ]
    if not start.match_length and start.max_cube is None and result.largest > result.contests / _FEW:
        lines.append("note  a few large cubes can decide this result; --max-cube 16, say, keeps them small")
    return "\n".join([*lines, *stop_lines(result.stop), *record_line(result.record)])


def _luck_lines(result: StakesResult) -> list[str]:
    if result.luck_adjusted is None:
        return []
    line = _estimate_line("luck-adjusted", result.luck_adjusted, share=bool(result.start.match_length))
    cut = "" if result.variance_ratio is None else f", variance cut {result.variance_ratio:.0f}x"
    return [f"{line}   reference {with_depth(result.reference or '')}{cut}"]


def _estimate_line(label: str, estimate: Estimate, *, share: bool) -> str:
    mean, low, high = (
        f"{value:.2%}" if share else signed(value, 4) for value in (estimate.mean, estimate.low, estimate.high)
    )
    return f"{label:<17}{mean:>11}    [{low}, {high}]"


def _row(name: str, counts: tuple[int, int, int, int]) -> str:
    return f"{name:<15}" + "".join(f"{n:>8,}" for n in (*counts, sum(counts)))
