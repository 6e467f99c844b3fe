"""`bgnet play`: a game against a bot."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bgnet.cli.common import JsonOption, QuietOption, VerboseOption, note_compiling, print_json, reporting

if TYPE_CHECKING:
    from bgnet.cli.game_hints import Judge
    from engine import GameState

__all__ = ["EPILOG", "play"]

EPILOG = """Examples:

bgnet play --against net:standard@2ply --seed 7

bgnet play --match 5 --ply 1 --against net:standard

bgnet play --against pubeval --games 3 --no-cube --dice --ascii"""

_LONGEST = 64  # bgnet.match_equity.LONGEST, which --help need not load


def play(
    against: Annotated[
        str | None, typer.Option("--against", "-a", metavar="BOT", help="The opponent; default: the best net shipped.")
    ] = None,
    match: Annotated[
        int | None, typer.Option("--match", metavar="N", min=1, max=_LONGEST, help="A match to N points, to its end.")
    ] = None,
    money: Annotated[bool, typer.Option("--money", help="Money play; it is so unless --match is given.")] = False,
    games: Annotated[
        int | None, typer.Option("--games", "-n", min=1, help="How many games of money play; 1 unless said.")
    ] = None,
    cube: Annotated[bool, typer.Option("--cube/--no-cube", help="With or without the doubling cube.")] = True,
    jacoby: Annotated[bool, typer.Option("--jacoby", help="Gammons count once the cube is turned (money).")] = False,
    beavers: Annotated[bool, typer.Option("--beavers", help="Who takes may redouble at once (money).")] = False,
    ply: Annotated[
        int | None, typer.Option("--ply", help="The bot's depth; default: the one in its name, else 0.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Names the dice: same seed, same dice; random without it.")
    ] = None,
    typed_dice: Annotated[
        bool, typer.Option("--dice", help="Type all dice yourself, both sides', as beside a real board.")
    ] = False,
    position: Annotated[
        str | None, typer.Option("--position", help="Start from an XGID, GNUBG ID or Position ID.")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume", metavar="FILE.mat", help="Go on with the games that were saved there; you on the right."
        ),
    ] = None,
    hints: Annotated[
        str | None, typer.Option("--hints", metavar="BOT", help="Who gives hints; default: the opponent, if it can.")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="FILE", help="Keep all plays there: FILE.mat, or any other name as text."),
    ] = None,
    unicode: Annotated[
        bool | None, typer.Option("--unicode/--ascii", help="How boards are drawn; default: what the terminal can.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Play backgammon against a bot, with the cube, for money or in a match: you are X, at the bottom.

    Type plays such as 8/5 6/5; `help` lists the commands: roll, double, take, pass, hint, undo, resign and more.

    The dice are honest: roll n of game g is engine.dice.roll(seed, g, n), the opening
    engine.dice.opening(seed, g), your die first. Nothing that you or the bot do
    changes them, and undo does not either.

    With --dice undo keeps the roll of your turn; later ones are typed again.

    In --position you are X, with the score, cube and rules that stand in it; after a
    bare Position ID X is on roll, and it is money play. The first roll is the one that
    stands in it, else roll 1.

    What --save or the command save has kept in a .mat file can be gone on with by --resume.

    Hints look two plies ahead unless the bot's name or --ply says how far. The first
    game on a machine builds the endgame tables, some seconds.

    The bot judges by its chances whether to double, to take, and to accept a
    resignation. random and pubeval have none: they never double, and take unless they
    are over 12 % of your pips behind.

    Bots: random, pubeval, gnubg:0|1|2, sage:0, gnubg-cli:0|1|2|3, net:NAME_OR_PATH,
    net:NAME@2ply.
    """
    with reporting(as_json=as_json, verbose=verbose, stopped="no game was begun"):
        note_compiling("choose_kernel", "match_kernel", "lowest_kernel", quiet=quiet, tables=True)
        from bgnet.cli.game_table import GameTable, PlayError
        from bgnet.composite import Composite
        from bgnet.cubeful import CubefulSearch
        from bgnet.players import DEFAULT_BOT, evaluator
        from bgnet.session import OWN_NAME, Session, X
        from bgnet.session_bots import opponent
        from engine.records import read_mat

        if typed_dice and seed is not None:
            raise PlayError("with --dice you type the dice, so --seed has nothing to name: leave one out")
        if match is not None and (money or games is not None):
            raise PlayError(f"a match goes on until it is won: leave {'--money' if money else '--games'} out")
        if not typed_dice and seed is None:
            seed = secrets.randbelow(2**32)
        record = None if resume is None else read_mat(resume)
        if record is not None and (position or match or money or jacoby or beavers or not cube):
            raise PlayError("--resume takes rules and score from the file: leave --match, --position and rules out")
        start = record.games[0].start if record else _start(position, match, cube, jacoby, beavers)
        bot = against or DEFAULT_BOT
        judge = _judge(bot, hints, ply)
        search = CubefulSearch(Composite(evaluator(judge.bot)), 2 if judge.ply is None else judge.ply, threads=0)
        against_you = opponent(bot, start, search, ply)
        if record is None:
            session = Session(against_you, seed=seed, start=start)
        else:
            session = Session.resume(against_you, record, seed=seed)
        _check_known(session.state)
        table = GameTable(session, bot, judge, games or session.game, _can_draw(unicode))
        if save is not None:
            table.keep_log(save)
        elif record is not None and resume is not None and record.players[X] == OWN_NAME:
            table.keep_log(resume, again=True)  # our own file: it is kept up to date
        left = table.sit()
        if as_json:
            print_json(table.summary(left))
        if left == "interrupted":
            raise typer.Exit(130)


def _start(position: str | None, match: int | None, cube: bool, jacoby: bool, beavers: bool) -> GameState:
    """Where the first game begins, with the rules and the score."""
    from dataclasses import replace

    from bgnet.cli.game_table import PlayError
    from engine.actions import new_game
    from engine.state import read_position

    if position is None:
        return new_game(match or 0, jacoby=jacoby, beavers=beavers, max_cube=None if cube else 1)
    start = read_position(position)
    if match is not None:
        raise PlayError("--position says itself whether it is of a match: leave --match out")
    if not cube and (start.cube > 1 or start.doubled):
        raise PlayError("the cube has been turned in this position: leave --no-cube out")
    return replace(
        start,
        jacoby=start.jacoby or jacoby,
        beavers=start.beavers or beavers,
        max_cube=start.max_cube if cube else 1,
    )


def _check_known(state: GameState) -> None:
    """PlayError for a match so long that nobody here can judge its cube, or what resigning in it costs."""
    from bgnet.cli.game_table import PlayError
    from bgnet.match_equity import LONGEST

    if state.away is not None and max(state.away) > LONGEST:
        raise PlayError(
            f"a match can be played from {LONGEST} points away at most, as far as match equities are known, and here "
            f"somebody needs {max(state.away)}"
        )


def _can_draw(unicode: bool | None) -> bool:
    """Whether to draw with lines and circles: when asked to, or on a terminal; never what cannot be encoded."""
    try:
        "●○─│┌┬┐└┴┘".encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return sys.stdout.isatty() if unicode is None else unicode


def _judge(opponent: str, named: str | None, ply: int | None) -> Judge:
    """The bot named for hints; else the opponent, unless it has no chances to give: then the default."""
    from bgnet.cli.game_hints import Judge
    from bgnet.peers import BotSpecError
    from bgnet.players import DEFAULT_BOT, evaluator, split_depth

    spec, depth = split_depth(named or opponent)
    try:
        evaluator(spec)
    except BotSpecError:
        if named is not None:
            raise
        spec, depth = DEFAULT_BOT, None
    if named is None and ply is not None:
        depth = ply
    if spec.startswith(("gnubg:", "sage:")) and depth is None:
        depth = 0  # as deep as the opponent that was named
    return Judge(spec, depth)
