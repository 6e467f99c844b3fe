"""`bgnet bench`: bots and evaluators side by side, on judged decisions, rolled-out chances, played games, and speed."""

from __future__ import annotations

from pathlib import Path
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
)
from bgnet.cli.pictures import check_pictures, draw_picture

if TYPE_CHECKING:
    from bgnet.progress import Progress

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    help="Measure judgement and speed of bots, several side by side.",
    epilog="""Examples:

bgnet bench decisions net:standard gnubg:0 pubeval

bgnet bench outcomes net:standard net:flagship""",
)

BotsArgument = Annotated[
    list[str], typer.Argument(metavar="BOT...", help="net:NAME_OR_PATH[@1ply], gnubg:0, sage:0 ...", show_default=False)
]
SetOption = Annotated[str, typer.Option("--set", metavar="NAME_OR_FILE", help="A shipped set, or a file.")]
PlotOption = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw a picture there (.svg, .png ...); extra plot.")
]
ClassesOption = Annotated[
    Path | None, typer.Option("--plot-classes", metavar="FILE", help="Draw the scores by class there.")
]


@app.command(
    "decisions",
    epilog="""Examples:

bgnet bench decisions net:standard gnubg:0 pubeval

bgnet bench decisions net:standard net:standard@1ply --worst 3 --json""",
)
def decisions(
    bots: BotsArgument,
    name: SetOption = "small",
    judge: Annotated[
        int, typer.Option("--judge", min=1, help="Which judge's table comes first and names the worst; from 1.")
    ] = 1,
    worst: Annotated[
        int,
        typer.Option(
            "--worst",
            min=0,
            help="Draw so many worst decisions of the first bot; with --json: list those of every bot.",
        ),
    ] = 0,
    plot: PlotOption = None,
    plot_classes: ClassesOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    progress: ProgressOption = "auto",
    verbose: VerboseOption = False,
) -> None:
    """What bots' choices lose on positions whose candidate plays have been judged.

    Sets: a shipped one by name; our JSON lines (scripts/build_decisions.py makes them), JSON lines of other judges,
    GNU Backgammon's .bm files.

    A choice that is no candidate is charged what the worst candidate loses.

    The shipped set has as many decisions of each class, so "all" weighs them alike, which games do not.
    """
    with reporting(as_json=as_json, verbose=verbose):
        from bgnet.benchmark_decisions import score_decisions
        from bgnet.cli.bench_tables import decision_screen
        from bgnet.decisions import read_decisions

        check_pictures(plot, plot_classes)
        found = read_decisions(name)
        if judge > len(found.judges):
            raise ValueError(f"--judge {judge}: {found.name} has {len(found.judges)} ({', '.join(found.judges)})")
        note_compiling("choose_kernel", quiet=quiet)
        with _progress(len(found) * len(bots), "decisions", quiet, progress) as shown:
            result = score_decisions(bots, found, progress=shown)
        chosen = found.judges[judge - 1]
        draw_picture("benchmark_comparison", list(result.by_judge(chosen)), plot)
        draw_picture("error_by_class", list(result.by_judge(chosen)), plot_classes)
        if as_json:
            print_json(result.as_dict(worst=worst, judge=chosen))
        else:
            print_text(decision_screen(result, chosen, worst))


@app.command(
    "outcomes",
    epilog="""Examples:

bgnet bench outcomes net:standard gnubg:0

bgnet bench outcomes net:standard net:standard@1ply sage:0 --json""",
)
def outcomes(
    bots: BotsArgument,
    name: SetOption = "small",
    plot: PlotOption = None,
    plot_classes: ClassesOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    progress: ProgressOption = "auto",
    verbose: VerboseOption = False,
) -> None:
    """How far evaluators' chances and equities are from those rolled out.

    Sets: a shipped one by name; our JSON lines (scripts/build_decisions.py outcomes makes them); the o and #R lines of
    GNU Backgammon's .bm files.
    """
    with reporting(as_json=as_json, verbose=verbose):
        from bgnet.benchmark_outcomes import read_outcomes, score_outcomes
        from bgnet.cli.bench_tables import outcome_screen

        check_pictures(plot, plot_classes)
        found = read_outcomes(name)
        note_compiling("outcomes_kernel", quiet=quiet)
        with _progress(len(found) * len(bots), "positions", quiet, progress) as shown:
            result = score_outcomes(bots, found, progress=shown)
        draw_picture("benchmark_comparison", list(result.scores), plot)
        draw_picture("error_by_class", list(result.scores), plot_classes)
        if as_json:
            print_json(result.as_dict())
        else:
            print_text(outcome_screen(result))


@app.command(
    "calibration",
    epilog="""Examples:

bgnet bench calibration net:standard gnubg:0 --games 200

bgnet bench calibration net:standard --player gnubg:0 --games 100 --json""",
)
def calibration(
    bots: BotsArgument,
    games: Annotated[int, typer.Option("--games", "-n", help="Games that are played out.")] = 1000,
    player: Annotated[str, typer.Option("--player", metavar="BOT", help="Who plays them.")] = "net:standard",
    against: Annotated[
        str | None, typer.Option("--against", metavar="BOT", help="Against whom; default: itself.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Names the dice: same seed, same games.")] = 1,
    bins: Annotated[int, typer.Option("--bins", min=1, max=100, help="Of the reliability curves.")] = 10,
    plot: PlotOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    progress: ProgressOption = "auto",
    verbose: VerboseOption = False,
) -> None:
    """Do things happen as often as evaluators say, in games that are played out?

    Every position of the games is judged; intervals take the positions of a game together.

    A chance is that of the position as the two players play it on, not of best play.
    """
    with reporting(as_json=as_json, verbose=verbose):
        from bgnet.benchmark_calibration import calibrate
        from bgnet.cli.bench_tables import calibration_screen

        check_pictures(plot)
        note_compiling("choose_kernel", quiet=quiet)
        with _progress(games, "games", quiet, progress) as shown:
            result = calibrate(bots, games, a=player, b=against, seed=seed, bins=bins, progress=shown)
        draw_picture("reliability", result.curves, plot)
        if as_json:
            print_json(result.as_dict())
        else:
            print_text(calibration_screen(result))


@app.command(
    "speed",
    epilog="""Examples:

bgnet bench speed net:standard gnubg:0

bgnet bench speed net:standard@1ply --peer gnubg:1 --count 100 --json""",
)
def speed(
    bots: BotsArgument,
    count: Annotated[int, typer.Option("--count", "-n", help="Positions; fewer for bots that look ahead.")] = 2000,
    peer: Annotated[
        str | None, typer.Option("--peer", metavar="BOT", help="To compare with; default gnubg:0, else the first.")
    ] = None,
    blocks: Annotated[int, typer.Option("--blocks", help="Parts that are timed apart; the median counts.")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="Of the positions.")] = 1,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    progress: ProgressOption = "auto",
    verbose: VerboseOption = False,
) -> None:
    """Decisions and evaluations per second of one thread, every bot on the same positions in the same run.

    No position is asked twice, and bots are warmed up on others. The checksum of the choices tells whether a faster
    version still answers the same.
    """
    with reporting(as_json=as_json, verbose=verbose):
        from bgnet.benchmark_speed import measure_speed
        from bgnet.cli.bench_tables import speed_screen
        from bgnet.runlog import machine

        note_compiling("choose_kernel", "outcomes_kernel", quiet=quiet)
        with _progress(0, "decisions", quiet, progress) as shown:
            result = measure_speed(bots, count, peer=peer, blocks=blocks, seed=seed, progress=shown)
        if as_json:
            print_json({**result.as_dict(), "machine": machine()})
        else:
            print_text(speed_screen(result, machine()))


def _progress(total: int, unit: str, quiet: bool, mode: str) -> Progress:
    from bgnet.progress import Progress

    return Progress(max(total, 0), unit, "none" if quiet else mode)
