"""`bgnet cube`: the cube decision explained, or the proper action at every score of a match."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from bgnet.cli.pictures import check_pictures, draw_picture

if TYPE_CHECKING:
    from engine.state import GameState

__all__ = ["EPILOG", "cube"]

EPILOG = """Examples:

bgnet cube SneDGQBjew4wAA --jacoby

bgnet cube wrttAEDbch0ACA --length 7 --score 3-5 --ply 1 --json

bgnet cube SneDGQBjew4wAA --matrix 5"""


def cube(
    position: Annotated[str, typer.Argument(metavar="POSITION", help="An XGID, GNUBG ID or Position ID.")],
    bot: Annotated[str | None, typer.Option("--bot", help="Who judges: a net, gnubg:0, sage:0.")] = None,
    ply: Annotated[
        int | None, typer.Option("--ply", help="Depth, as GNU Backgammon counts: 0, 1, 2 (default), 3.")
    ] = None,
    matrix: Annotated[
        int | None, typer.Option("--matrix", metavar="N", help="The proper action at every score of a match to N.")
    ] = None,
    length: Annotated[int | None, typer.Option("--length", min=0, help="Points of the match; 0 = money play.")] = None,
    score: Annotated[
        str | None, typer.Option("--score", metavar="A-B", help="Points of the player on roll and of his opponent.")
    ] = None,
    crawford: Annotated[
        bool | None, typer.Option("--crawford/--no-crawford", help="It is the Crawford game, or not.")
    ] = None,
    jacoby: Annotated[bool | None, typer.Option("--jacoby/--no-jacoby", help="The Jacoby rule (money).")] = None,
    beavers: Annotated[bool | None, typer.Option("--beavers/--no-beavers", help="Beavers (money).")] = None,
    value: Annotated[int | None, typer.Option("--cube", metavar="K", help="What the cube shows: 1, 2, 4, ...")] = None,
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="WHO", help="Whose cube it is: me (who rolls), opponent, centre.")
    ] = None,
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

        state = _placed(
            _before_the_roll(read_state(position)), length, score, crawford, jacoby, beavers, value, owner
        )  # fmt: skip
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


def _before_the_roll(state: GameState) -> GameState:
    """The same state, once it is one in which a cube decision can be taken."""
    from dataclasses import replace

    from bgnet.analysis import xgid_or_none
    from bgnet.cube import CubeError

    if state.dice is None:
        return state
    before = xgid_or_none(replace(state, dice=None))
    asked = f'the position before it: bgnet cube "{before}"' if before else "give the position before it"
    raise CubeError(f"cube decisions come before the roll, and the dice show {state.dice[0]}-{state.dice[1]}; {asked}")


def _placed(
    state: GameState,
    length: int | None,
    score: str | None,
    crawford: bool | None,
    jacoby: bool | None,
    beavers: bool | None,
    value: int | None,
    owner: str | None,
) -> GameState:
    """The state with what the options say instead of what it said itself. Raises CubeError or StateError."""
    from dataclasses import replace

    from bgnet.cube import CubeError

    changes: dict[str, Any] = {}
    if length is not None and length != state.match_length:
        changes |= {"match_length": length, "score": (0, 0), "crawford": False}
    match = state.match_length if length is None else length
    if match and not state.match_length:
        changes |= {"jacoby": False, "beavers": False}
    if score is not None:
        changes |= {"score": _score(score, state.on_roll), "crawford": False}
    for name, given in (("crawford", crawford), ("jacoby", jacoby), ("beavers", beavers), ("cube", value)):
        if given is not None:
            changes[name] = given
    if owner is not None:
        seats = {"me": state.on_roll, "opponent": 1 - state.on_roll, "centre": None, "center": None}
        if owner not in seats:
            raise CubeError(f"--owner {owner!r}: say me (the player on roll), opponent or centre")
        changes["owner"] = seats[owner]
    elif value == 1:
        changes["owner"] = None
    placed = replace(state, **changes)
    if placed.away and crawford is None and "crawford" in changes and min(placed.away) == 1 < max(placed.away):
        raise CubeError(
            f"at {placed.away[0]}-away {placed.away[1]}-away one player needs a single point: say --crawford, or "
            "--no-crawford if that game has been played"
        )
    return placed


def _score(text: str, on_roll: int) -> tuple[int, int]:
    """'3-5', the player on roll first -> by seat."""
    import re

    from bgnet.cube import CubeError

    found = re.fullmatch(r"\s*(\d+)\s*[-:,]\s*(\d+)\s*", text)
    if found is None:
        raise CubeError(f"--score {text!r}: give two numbers, the points of the player on roll first, such as 3-5")
    own, opponent = int(found[1]), int(found[2])
    return (opponent, own) if on_roll else (own, opponent)


def _efficiency(text: str | None) -> float | str | None:
    """A number if it is one; bgnet.cube knows the names."""
    try:
        return None if text is None else float(text.replace(",", "."))
    except ValueError:
        return text
