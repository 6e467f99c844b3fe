"""`bgnet play`: a game against a bot."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bgnet.cli.common import JsonOption, QuietOption, VerboseOption, note_compiling, print_json, reporting

if TYPE_CHECKING:
    from bgnet.cli.game_table import Judge
    from engine import GameState

__all__ = ["EPILOG", "play"]

EPILOG = """Examples:

bgnet play --against net:standard@2ply --seed 7

bgnet play --against pubeval --games 3 --dice --ascii"""


def play(
    against: Annotated[
        str | None, typer.Option("--against", "-a", metavar="BOT", help="The opponent; default: the best net shipped.")
    ] = None,
    games: Annotated[int, typer.Option("--games", "-n", min=1, help="How many games.")] = 1,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Names the dice: same seed, same dice; random without it.")
    ] = None,
    typed_dice: Annotated[
        bool, typer.Option("--dice", help="Type all dice yourself, both sides', as beside a real board.")
    ] = False,
    position: Annotated[
        str | None, typer.Option("--position", help="Start from an XGID, GNUBG ID or Position ID.")
    ] = None,
    hints: Annotated[
        str | None, typer.Option("--hints", metavar="BOT", help="Who gives hints; default: the opponent, if it can.")
    ] = None,
    save: Annotated[Path | None, typer.Option("--save", metavar="FILE", help="Keep a log of all plays there.")] = None,
    unicode: Annotated[
        bool | None, typer.Option("--unicode/--ascii", help="How boards are drawn; default: what the terminal can.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Play backgammon against a bot: cubeless money games, you are X, at the bottom.

    Type plays such as 8/5 6/5; `help` lists the commands: hint, undo, resign and more.

    The dice are honest: roll n of game g is engine.dice.roll(seed, g, n), the opening
    engine.dice.opening(seed, g), your die first. Nothing that you or the bot do
    changes them, and undo does not either.

    With --dice undo keeps the roll of your turn; later ones are typed again.

    In --position you are X; after a bare Position ID X is on roll. The first roll is
    the one that stands in it, else roll 1.

    Hints look two plies ahead unless the bot's name says how far. The first hint on a
    machine builds the endgame tables, some seconds.

    Bots: random, pubeval, gnubg:0|1|2, sage:0, net:NAME_OR_PATH, net:NAME@2ply.
    """
    with reporting(as_json=as_json, verbose=verbose, stopped="no game was begun"):
        note_compiling("choose_kernel", quiet=quiet)
        from bgnet.cli.game_table import GameTable, PlayError
        from bgnet.players import DEFAULT_BOT, player
        from bgnet.session import Session
        from engine.state import read_position

        if typed_dice and seed is not None:
            raise PlayError("with --dice you type the dice, so --seed has nothing to name: leave one out")
        start = None if position is None else read_position(position)
        if start is not None and not quiet and _leaves_out(start):
            print("note: cubeless money play: cube, score and offers are left out", file=sys.stderr, flush=True)
        if not typed_dice and seed is None:
            seed = secrets.randbelow(2**32)
        bot = against or DEFAULT_BOT
        judge = _judge(bot, hints)
        session = Session(player(bot), seed=seed, start=start)
        table = GameTable(session, bot, judge, games, _can_draw(unicode))
        if save is not None:
            table.keep_log(save)
        left = table.sit()
        if as_json:
            print_json(table.summary(left))
        if left == "interrupted":
            raise typer.Exit(130)


def _leaves_out(start: GameState) -> bool:
    return bool(start.match_length or start.cube > 1 or start.doubled or start.resigned or any(start.score))


def _can_draw(unicode: bool | None) -> bool:
    """Whether to draw with lines and circles: when asked to, or on a terminal; never what cannot be encoded."""
    try:
        "●○─│┌┬┐└┴┘".encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return sys.stdout.isatty() if unicode is None else unicode


def _judge(opponent: str, named: str | None) -> Judge:
    """The bot named for hints; else the opponent, unless it has no chances to give: then the default."""
    from bgnet.cli.game_table import Judge
    from bgnet.peers import BotSpecError
    from bgnet.players import DEFAULT_BOT, evaluator, split_depth

    spec, depth = split_depth(named or opponent)
    try:
        evaluator(spec)
    except BotSpecError:
        if named is not None:
            raise
        spec, depth = DEFAULT_BOT, None
    if spec.startswith(("gnubg:", "sage:")) and depth is None:
        depth = 0  # as deep as the opponent that was named
    return Judge(spec, depth)
