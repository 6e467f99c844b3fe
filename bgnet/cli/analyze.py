"""`bgnet analyze`: what a position is worth, and which play is best."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from bgnet.cli.common import (
    JsonOption,
    QuietOption,
    ThreadsOption,
    VerboseOption,
    can_draw,
    note_compiling,
    print_json,
    print_text,
    reporting,
    signed,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bgnet.analysis import Analysis, JudgedPlay

__all__ = ["EPILOG", "analyze", "percents"]

EPILOG = """Examples:

bgnet analyze 4HPwATDgc/ABMA --dice 31

bgnet analyze "XGID=-a----EaC---dEa--c-e----B-:0:0:1:11:0:0:0:0:10" --ply 1 --played "24/22 6/5(2)" --json"""

_BLUNDER, _ERROR, _DOUBTFUL = 0.080, 0.040, 0.020
_HEAD = "     play                  equity    loss     win     G    B   lose     G    B   depth"


def analyze(
    position: Annotated[str, typer.Argument(metavar="POSITION", help="An XGID, GNUBG ID or Position ID.")],
    dice: Annotated[str | None, typer.Option("--dice", help="The roll, such as 31; else the one in POSITION.")] = None,
    ply: Annotated[
        int | None, typer.Option("--ply", help="Depth, as GNU Backgammon counts: 0, 1, 2 (default), 3.")
    ] = None,
    played: Annotated[str | None, typer.Option("--played", help="A play to judge as deep as the best.")] = None,
    bot: Annotated[str | None, typer.Option("--bot", help="Who judges: a net, gnubg:0, sage:0.")] = None,
    show_all: Annotated[bool, typer.Option("--all", help="Show all plays, not only the best of each depth.")] = False,
    tables: Annotated[bool, typer.Option(help="Ask the exact endgame tables where they know.")] = True,
    cubeful: Annotated[
        bool | None,
        typer.Option("--cubeful/--cubeless", help="With cube and score; by default in matches and once it is turned."),
    ] = None,
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Judge a position before the roll, or rank all plays of a roll.

    Cubeless equities are in points, cubeful ones per unit of the cube as it stands, a lost single game being -1.
    Chances are always cubeless, in per cent and cumulative (win contains G, G contains B).

    The first run on a machine builds the endgame tables, some seconds.
    """
    with reporting(as_json=as_json, verbose=verbose, stopped="no answer yet"):
        note_compiling("afterstates_kernel", "_best_rows", quiet=quiet, tables=tables)
        from bgnet.analysis import analyze as analyze_position
        from bgnet.players import DEFAULT_BOT

        begun = time.perf_counter()
        found = analyze_position(
            position, dice=dice, bot=bot or DEFAULT_BOT, ply=ply, played=played, tables=tables, cubeful=cubeful,
            threads=threads,
        )  # fmt: skip
        if as_json:
            print_json(found.as_dict())
        else:
            print_text(_screen(found, time.perf_counter() - begun, show_all))


def _screen(found: Analysis, seconds: float, show_all: bool) -> str:
    from engine.summary import drawing

    unicode = can_draw()
    own, opponent = found.state.position.pips
    lead = "level" if own == opponent else f"X {'leads' if own < opponent else 'trails'} by {abs(own - opponent)}"
    lines = [
        drawing(found.state, unicode),
        f" pips X {own}, O {opponent} ({lead})     {found.bot}     {_unit(found)}",
        "",
    ]
    lines += _plays(found, show_all) if found.plays else _chances(found)
    lines += ["", f"win contains G, G contains B. Our 2-ply is GNU Backgammon's, XG's 3-ply.   {seconds:.1f} s"]
    if found.state.match_length and not found.cubeful:
        lines.append("The score of the match is not taken into account.")
    return "\n".join(lines)


def _unit(found: Analysis) -> str:
    if not (found.cubeful and found.plays):
        return "cubeless equity, points"
    return "cubeful equity, per cube" + (", and chance to win the match" if found.state.match_length else "")


def _chances(found: Analysis) -> list[str]:
    lines = [
        "                           equity             win     G    B   lose     G    B   depth",
        f"     X before the roll     {signed(found.equity, 3)}          {percents(found.outcomes)}   {found.depth}",
    ]
    if found.cube is not None:
        from bgnet.cli.cube_screens import proper_action, rows

        lines += ["", *rows(found.cube), *proper_action(found.cube)]
    return lines


def _plays(found: Analysis, show_all: bool) -> list[str]:
    """The rows, a line between depths, and what the asked play costs."""
    deepest = [play for play in found.plays if play.depth in ("exact", f"{found.ply}-ply")]
    lines = [_HEAD, *(_row(play) for play in deepest)]
    rest = [play for play in found.plays if play not in deepest]
    last = None
    shown = rest if show_all else [play for i, play in enumerate(rest) if i == 0 or rest[i - 1].depth != play.depth]
    for play in shown:
        if play.depth != last:
            count = sum(other.depth == play.depth for other in rest)
            more = "" if show_all or count == 1 else "; the best:"
            lines.append(f" -- {count} judged at {play.depth} only, not ranked with the rows above{more} --")
            last = play.depth
        lines.append(_row(play, ranked=False))
    asked = next((play for play in found.plays if play.played), None)
    if asked is not None:
        lines.append(f"played {asked.play}: {_verdict(asked)}.")
    if len(found.plays) > 1:
        lines.append(f"{len(deepest)} of {len(found.plays)} plays were searched to the end.")
    return lines


def _row(play: JudgedPlay, ranked: bool = True) -> str:
    loss = f"({signed(-play.loss, 3)})" if play.loss > 0.0005 and ranked else ""
    number = f"{play.rank:>3}" if ranked else "   "
    mark = ">" if play.played else " "
    return (
        f"{number} {mark}{play.play:<21} {signed(play.equity, 3)}  {loss:<8} {percents(play.outcomes)}   {play.depth}"
        + ("" if play.mwc is None else f"   MWC {100 * play.mwc:5.2f}")
    )


def percents(outcomes: NDArray[np.float32]) -> str:
    """Win, gammon, backgammon; lose, gammon, backgammon, cumulative, in per cent."""
    from engine.outcomes import swap, to_cumulative

    win, lose = to_cumulative(outcomes), to_cumulative(swap(outcomes))
    numbers = [*(100 * x for x in win[:3]), *(100 * x for x in lose[:3])]
    return "{:5.1f} {:5.1f} {:4.1f}  {:5.1f} {:5.1f} {:4.1f}".format(*numbers)


def _verdict(play: JudgedPlay) -> str:
    if play.loss < 0.0005:
        return "the best play"
    for limit, mark in ((_BLUNDER, "?? (blunder)"), (_ERROR, "?"), (_DOUBTFUL, "?!")):
        if play.loss >= limit:
            return f"loses {play.loss:.3f} {mark}"
    return f"loses {play.loss:.3f}"
