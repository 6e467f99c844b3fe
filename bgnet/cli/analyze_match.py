"""`bgnet analyze-match`: every decision of a recorded match with what it loses."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bgnet.cli.common import (
    JsonOption,
    MetOption,
    ProgressOption,
    QuietOption,
    ThreadsOption,
    VerboseOption,
    note_compiling,
    print_json,
    print_text,
    reporting,
)
from bgnet.cli.pictures import check_pictures, draw_picture

if TYPE_CHECKING:
    from engine.records import MatchRecord

__all__ = ["EPILOG", "analyze_match"]

EPILOG = """Examples:

bgnet analyze-match tests/data/sample.mat

bgnet analyze-match tests/data/sample.mat --ply 1 --all --json"""


def analyze_match(
    file: Annotated[str, typer.Argument(metavar="FILE.mat", help="A .mat file; - reads standard input.")],
    bot: Annotated[str | None, typer.Option("--bot", help="Who judges: a net, gnubg:0, sage:0.")] = None,
    ply: Annotated[
        int | None, typer.Option("--ply", help="Depth, as GNU Backgammon counts: 0 (default), 1, 2, ... 8.")
    ] = None,
    game: Annotated[
        list[int] | None, typer.Option("--game", metavar="K", help="Only this game; may be repeated.")
    ] = None,
    show_all: Annotated[bool, typer.Option("--all", help="Show all decisions and rolls, not only errors.")] = False,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0.0, help="Show decisions that lose at least so much equity.")
    ] = 0.02,
    jacoby: Annotated[
        bool | None, typer.Option("--jacoby/--no-jacoby", help="The Jacoby rule (money); default: as the file shows.")
    ] = None,
    beavers: Annotated[
        bool | None, typer.Option("--beavers/--no-beavers", help="Beavers (money); default: as the file shows.")
    ] = None,
    met: MetOption = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="PICTURE", help="Draw the equity along the games there.")
    ] = None,
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    progress: ProgressOption = "auto",
    verbose: VerboseOption = False,
) -> None:
    """Judge every play and cube decision of a match or money session, and the luck of every roll.

    Losses are in equity per unit of the cube as it stands; S is their sum in plays
    and cube decisions, without resignations.
    Marks: ?! from 0.020, ? from 0.040, ?? (blunder) from 0.080.

    ER (mEMG) = 1000 S / (unforced plays + close or actual cube decisions). Close: a
    double would lose less than 0.16; actual: a cube turned or answered. This is
    GNU Backgammon's error rate.

    PR = 500 S / (the same decisions, without plays whose first ten differ by less
    than 0.001).

    Snowie ER = 1000 S / (all plays of both players).

    Luck of a roll = its best play less the mean over all rolls, at 0-ply; of the
    opening roll the mean goes over who starts, too.

    A game that breaks the rules or cannot be read is named and left out, and the exit
    code is 1; with --game only the games asked for matter.

    Luck-adjusted = result - own luck + the opponent's luck, over finished games:
    points, in a match chances to win it.

    The first run on a machine builds the endgame tables, some seconds.
    """
    with reporting(as_json=as_json, verbose=verbose, stopped="no answer yet"):
        from bgnet.cli.match_screens import match_screen
        from bgnet.match_analysis import analyze_match as analyze_record
        from bgnet.match_equity_files import read_table
        from bgnet.players import DEFAULT_BOT
        from bgnet.progress import Progress, check_mode

        check_mode(progress)
        record = _read(file)
        check_pictures(plot)
        note_compiling("afterstates_kernel", "match_kernel", "lowest_kernel", quiet=quiet, tables=True)
        begun = time.perf_counter()
        with Progress(0, "decisions", "none" if quiet else progress) as shown:

            def report(done: int, total: int) -> None:
                shown.set_total(total)
                shown.update(done - shown.count)

            found = analyze_record(
                record, bot=bot or DEFAULT_BOT, ply=ply, jacoby=jacoby, beavers=beavers, games=game or None,
                table=None if met is None else read_table(met), threads=threads, progress=report,
            )  # fmt: skip
        draw_picture("equity_along_game", found, plot)
        if not quiet:
            for number, fault in record.broken_games.items():
                print(f"note: game {number} is not judged: {fault}", file=sys.stderr)
            for line in record.irregular_openings:
                print(f"note: no luck is told of it, since no game opens with doubles: {line}", file=sys.stderr)
            for line in record.irregular_plays:
                print(f"note: not judged, since it uses less of its roll than it must: {line}", file=sys.stderr)
        if as_json:
            print_json({"file": file, **found.as_dict()})
        else:
            print_text(match_screen(found, time.perf_counter() - begun, 0.0 if show_all else threshold, show_all))
        if record.broken_games and not game:
            raise typer.Exit(1)


def _read(file: str) -> MatchRecord:
    """The record, with its broken games; RecordError with the line number for what is wrong around them."""
    from engine.errors import RecordError
    from engine.mat_reading import decoded
    from engine.records import parse_mat, read_mat

    if file != "-":
        return read_mat(Path(file), keep_broken=True)
    if sys.stdin is None:
        raise RecordError("there is no standard input to read")
    return parse_mat(decoded(sys.stdin.buffer.read()), keep_broken=True)
