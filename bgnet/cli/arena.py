"""`bgnet arena`: two bots, many games, who is stronger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bgnet.cli.common import (
    JsonOption,
    ProgressOption,
    QuietOption,
    VerboseOption,
    note_compiling,
    print_json,
    print_text,
    reporting,
    signed,
)

if TYPE_CHECKING:
    from bgnet.arena import ArenaResult

__all__ = ["EPILOG", "arena", "table"]

EPILOG = """Examples:

bgnet arena pubeval random --games 200 --seed 7

bgnet arena gnubg:0 pubeval --games 1000 --workers 2 --json"""


def arena(
    a: Annotated[str, typer.Argument(metavar="A", help="The bot whose view is shown.", show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help="Its opponent.", show_default=False)],
    games: Annotated[int, typer.Option("--games", "-n", help="Games in all, an even number.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="Names the dice: same seed, same dice.")] = 1,
    workers: Annotated[int, typer.Option("--workers", help="Processes; the result is the same.")] = 1,
    rules: Annotated[str, typer.Option("--rules", help="money, or dmp: every win 1 point.")] = "money",
    variant: Annotated[str, typer.Option("--variant", help="backgammon, nackgammon or hypergammon.")] = "backgammon",
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    progress: ProgressOption = "auto",
    verbose: VerboseOption = False,
) -> None:
    """Let two bots play cubeless games with duplicate dice.

    Each dice sequence is played twice, once from either side. All numbers are the first-named bot's.

    The 95 % interval of points per game is taken over the dice pairs.

    Bots: random, pubeval, gnubg:0, gnubg:1, gnubg:2, sage:0, net:NAME_OR_PATH.
    """
    with reporting(as_json=as_json, verbose=verbose, stopped="the games played so far are not kept"):
        from bgnet.arena import play
        from bgnet.progress import Progress

        note_compiling("choose_kernel", quiet=quiet)
        with Progress(max(games, 0), "games", "none" if quiet else progress) as shown:
            result = play(a, b, games, seed, rules, workers, shown, variant=variant)
        if as_json:
            print_json(result.as_dict())
        else:
            print_text(table(result))


def table(result: ArenaResult) -> str:
    """The result as lines of plain ASCII text (apart from the bots' names)."""
    played_for = "double match point (every win 1 point)" if result.rules == "dmp" else result.rules
    low, high = result.interval
    per_cent = [100 / result.games * n for n in (*result.won, *result.lost)]
    speed = f"{result.games / result.seconds:,.0f} games/s with {result.workers} worker"
    return "\n".join(
        [
            f"{result.a} against {result.b}, cubeless {played_for}, "
            f"{result.games // 2:,} dice pairs, seed {result.seed}",
            "             points/game    95 % interval",
            f"                 {signed(result.points_per_game, 4)}    [{signed(low, 4)}, {signed(high, 4)}]",
            "               win       G       B      lose       G       B",
            "games     " + _row([f"{n:,}" for n in (*result.won, *result.lost)]) + f"   of {result.games:,}",
            "per cent  " + _row([f"{x:.2f}" for x in per_cent]) + "   G contains B",
            f"{result.plies / result.games:.1f} plies per game, {result.seconds:.1f} s, "
            f"{speed}{'s' if result.workers > 1 else ''}",
        ]
    )


def _row(cells: list[str]) -> str:
    return "".join(f"{cell:>{10 if i == 3 else 8}}" for i, cell in enumerate(cells))
