"""A bot against the field's yardsticks: random play, PubEval, GNU Backgammon, Open Sage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bgnet import arena, peers
from bgnet.arena import ArenaResult, Bot
from bgnet.progress import ProgressLike

__all__ = ["as_dict", "baselines", "markdown", "net_spec", "opponents", "table"]

_ALWAYS = ("random",)
_USUAL = ("pubeval", "gnubg:0")
_STRONGER = ("gnubg:1", "sage:0")
_ENGINES = ("random", "pubeval", "gnubg", "gnubg-cli", "sage", "net")


def opponents(*, stronger: bool = False) -> list[str]:
    """The baselines that can be played here: random, pubeval, gnubg:0; stronger adds gnubg:1 and sage:0."""
    usable = set(peers.available())
    wished = (*_USUAL, *_STRONGER) if stronger else _USUAL
    return [*_ALWAYS, *(spec for spec in wished if spec in usable)]


def net_spec(text: str) -> str:
    """A bot spec from what a user typed: specs stay, anything else names a net (name, file, run folder)."""
    return text if text.partition(":")[0] in _ENGINES else f"net:{text}"


def baselines(
    bot: Bot,
    games: int = 4000,
    seed: int = 1,
    workers: int = 1,
    against: Sequence[str] | None = None,
    progress: ProgressLike | None = None,
) -> list[ArenaResult]:
    """`games` cubeless money games with duplicate dice against each of `against`, by default `opponents()`.

    bot: a spec, or with one worker an Evaluator or Player. progress is told of games done, of
    games * len(against) in all. Raises what `bgnet.arena.play` raises.
    """
    results = []
    for opponent in opponents() if against is None else against:
        if progress is not None:
            progress.update(0, against=opponent, points_per_game="?")
        results.append(arena.play(bot, opponent, games, seed, "money", workers, progress))
    return results


def table(results: Sequence[ArenaResult]) -> str:
    """Lines of plain ASCII text, the bot's view, per cent cumulative; "" for no results."""
    if not results:
        return ""
    width = max(len(f"{results[0].games:,} games each"), *(len(result.b) for result in results))
    lines = [
        f"{f'{results[0].games:,} games each':<{width}}  points/game            win     G     B   lose     G     B   %"
    ]
    for result in results:
        won = "{:7.1f}{:6.1f}{:6.1f}".format(*_per_cent(result, result.won))
        lost = "{:7.1f}{:6.1f}{:6.1f}".format(*_per_cent(result, result.lost))
        lines.append(f"{result.b:<{width}}  {_points(result):<17}  {won}{lost}")
    return "\n".join(lines)


def markdown(results: Sequence[ArenaResult], command: str = "") -> str:
    """The same as a Markdown table with a head line; command: how it was made, shown below when given."""
    first = results[0]
    lines = [
        f"`{first.a}`, cubeless money, {first.games:,} games each with duplicate dice, seed {first.seed}. "
        "Per cent are cumulative (win contains G, G contains B).",
        "",
        "| against | points/game [95 %] | win | G | B | lose | G | B |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for result in results:
        low, high = result.interval
        shares = [f"{x:.1f}" for x in (*_per_cent(result, result.won), *_per_cent(result, result.lost))]
        points = f"{_signed(result.points_per_game)} [{_signed(low)}, {_signed(high)}]"
        lines.append(f"| {result.b} | {points} | {' | '.join(shares)} |")
    if command:
        lines += ["", f"Made by `{command}`."]
    return "\n".join(lines) + "\n"


def as_dict(results: Sequence[ArenaResult]) -> dict[str, Any]:
    """For JSON: the bot and the arena's object for each opponent."""
    return {
        "schema": "bgnet.baselines/1",
        "bot": results[0].a if results else None,
        "results": [result.as_dict() for result in results],
    }


def _per_cent(result: ArenaResult, counts: tuple[int, int, int]) -> list[float]:
    return [100 * n / result.games for n in counts]


def _points(result: ArenaResult) -> str:
    return f"{_signed(result.points_per_game)} +-{result.points.half_width:.3f}"


def _signed(value: float) -> str:
    return f"{round(value, 3) + 0.0:+.3f}"  # never -0.000
