"""`bgnet arena --cube`: games and matches for stakes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bgnet.cli.arena_screens import record_line, rule_text, stop_lines
from bgnet.cli.common import print_json, print_text, signed

if TYPE_CHECKING:
    from bgnet.stakes import StakesResult

__all__ = ["arena_for_stakes", "check_no_stakes", "stakes_table"]

_FEW = 20  # a result that could move the mean of this share of the games by a point


def check_no_stakes(given: dict[str, Any]) -> None:
    """Raise ArenaSettingsError for options that only mean something with --cube."""
    from bgnet.arena import ArenaSettingsError

    for option, value in given.items():
        if value:
            raise ArenaSettingsError(f"{option} belongs to games with the cube: add --cube")


def arena_for_stakes(
    bots: list[str], contests: int, options: dict[str, Any], *, as_json: bool, quiet: bool, progress: str
) -> None:
    """Play and print; options: of bgnet.stakes.play_stakes. Raises what that raises."""
    from bgnet.arena import ArenaSettingsError
    from bgnet.progress import Progress
    from bgnet.stakes import play_stakes

    if len(bots) != 2:
        raise ArenaSettingsError(f"with --cube two bots play, not {len(bots)}")
    unit = "matches" if str(options["rules"]).startswith("match") else "games"
    if options["stop"] is not None and not quiet:
        print(rule_text(options["stop"], contests), file=sys.stderr, flush=True)
    with Progress(max(contests, 0), unit, "none" if quiet else progress) as shown:
        result = play_stakes(bots[0], bots[1], contests, progress=shown, **options)
    if as_json:
        print_json(result.as_dict())
        return
    print_text(stakes_table(result))
    if options["mat"] is not None:
        print_text(f"games   {Path(options['mat'])}/*.mat")


def stakes_table(result: StakesResult) -> str:
    """The result as lines of plain ASCII text (apart from the bots' names)."""
    start, score = result.start, result.score
    if start.match_length:
        played, unit = f"matches to {start.match_length}", "matches"
        shown = f"matches won  {score.mean:.2%}    95 % interval  [{score.low:.2%}, {score.high:.2%}]"
    else:
        rules = [word for word, on in (("Jacoby", start.jacoby), ("beavers", start.beavers)) if on]
        cap = [] if start.max_cube is None else [f"cube to {start.max_cube}"]
        played, unit = ", ".join(["money games with the cube", *rules, *cap]), "games"
        low, high = signed(score.low, 3), signed(score.high, 3)
        shown = f"points/game  {signed(score.mean, 3)}    95 % interval  [{low}, {high}]"
    workers = f"{result.workers} worker{'s' if result.workers > 1 else ''}"
    lines = [
        f"{result.a} against {result.b}, {played}, {result.contests // 2:,} dice pairs, seed {result.seed}",
        shown,
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


def _row(name: str, counts: tuple[int, int, int, int]) -> str:
    return f"{name:<15}" + "".join(f"{n:>8,}" for n in (*counts, sum(counts)))
