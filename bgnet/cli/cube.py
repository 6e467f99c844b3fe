"""`bgnet cube`: the cube decision explained, or the proper action at every score of a match."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from bgnet.cli.common import (
    JsonOption,
    MetOption,
    QuietOption,
    ThreadsOption,
    VerboseOption,
    note_compiling,
    print_json,
    print_text,
    reporting,
)
from bgnet.cli.cube_options import (
    BeaversOption,
    CrawfordOption,
    JacobyOption,
    LengthOption,
    OwnerOption,
    ScoreOption,
    Stakes,
    before_the_roll,
)
from bgnet.cli.pictures import check_pictures, draw_picture

__all__ = ["EPILOG", "cube"]

EPILOG = """Examples:

bgnet cube SneDGQBjew4wAA --jacoby

bgnet cube wrttAEDbch0ACA --length 7 --score 3-5 --ply 1 --json

bgnet cube SneDGQBjew4wAA --matrix 5"""


def cube(
    position: Annotated[str, typer.Argument(metavar="POSITION", help="An XGID, GNUBG ID or Position ID.")],
    bot: Annotated[str | None, typer.Option("--bot", help="Who judges: a net, gnubg:0, sage:0.")] = None,
    ply: Annotated[
        int | None, typer.Option("--ply", help="Depth, as GNU Backgammon counts: 0, 1, 2 (default), ... 8.")
    ] = None,
    matrix: Annotated[
        int | None, typer.Option("--matrix", metavar="N", help="The proper action at every score of a match to N.")
    ] = None,
    length: LengthOption = None,
    score: ScoreOption = None,
    crawford: CrawfordOption = None,
    jacoby: JacobyOption = None,
    beavers: BeaversOption = None,
    value: Annotated[int | None, typer.Option("--cube", metavar="K", help="What the cube shows: 1, 2, 4, ...")] = None,
    owner: OwnerOption = None,
    efficiency: Annotated[
        str | None,
        typer.Option("--efficiency", metavar="X", help="Cube efficiency 0..1 by formula alone, gnubg-1.07 or -1.08."),
    ] = None,
    met: MetOption = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the doubling window, or the matrix, there.")
    ] = None,
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Judge a double before the roll, or the answer to one.

    X is the player on roll. Equities are per unit of the cube as it stands, a pass is worth 1 at every score. What the
    position says of match, score and cube can be replaced by options; a bare Position ID says nothing of them.

    The first run on a machine builds the endgame tables, some seconds.
    """
    with reporting(as_json=as_json, verbose=verbose, stopped="no answer yet"):
        from bgnet.analysis import read_state
        from bgnet.cli.cube_screens import decision_screen, matrix_screen
        from bgnet.cubeful_analysis import analyze_cube, analyze_scores
        from bgnet.match_equity_files import read_table
        from bgnet.players import DEFAULT_BOT

        begun = time.perf_counter()

        def seconds() -> float:
            return time.perf_counter() - begun

        stakes = Stakes(length, score, crawford, jacoby, beavers, value, owner)
        if matrix is not None:
            stakes.refuse_with_matrix()
        state = stakes.placed(before_the_roll(read_state(position), 'bgnet cube "{}"'))
        check_pictures(plot)
        note_compiling("afterstates_kernel", "match_kernel", "lowest_kernel", quiet=quiet, tables=True)
        settings: dict[str, Any] = {
            "bot": bot or DEFAULT_BOT,
            "ply": ply,
            "efficiency": _efficiency(efficiency),
            "table": None if met is None else read_table(met),
            "threads": threads,
        }
        if matrix is not None:
            scores = analyze_scores(state, matrix, **settings)
            draw_picture("cube_matrix", scores, plot)
            print_json(scores.as_dict()) if as_json else print_text(matrix_screen(scores, seconds()))
            return
        found = analyze_cube(state, **settings)
        draw_picture("cube_window", found.decision, plot)
        print_json(found.as_dict()) if as_json else print_text(decision_screen(found, seconds()))


def _efficiency(text: str | None) -> float | str | None:
    """A number if it is one; bgnet.cube knows the names."""
    try:
        return None if text is None else float(text.replace(",", "."))
    except ValueError:
        return text
