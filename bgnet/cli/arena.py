"""`bgnet arena`: two or more bots, many games, who is stronger."""

from __future__ import annotations

import json
import sys
import tempfile
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bgnet.cli.arena_ends import record_warnings, stopping
from bgnet.cli.arena_screens import rule_text, screen
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
from bgnet.cli.stakes import arena_for_stakes, check_no_stakes, recorded_rules

if TYPE_CHECKING:
    from bgnet.arena_results import ArenaResult
    from bgnet.round_robin import RoundRobinResult
    from bgnet.sequential import Sprt, Until

__all__ = ["EPILOG", "arena"]

EPILOG = """Examples:

bgnet arena pubeval random --games 200 --seed 7

bgnet arena net:flagship net:standard --sprt 0 0.02 --games 2000 --workers 2

bgnet arena net:standard gnubg:0 pubeval --games 200 --json

bgnet arena net:standard gnubg:0 --cube --rules match:5 --games 100"""

_GAMES, _AT_MOST = 1000, 100_000
_ROOM = 16_384  # bytes; an empty record takes less


def arena(
    bots: Annotated[
        list[str] | None,
        typer.Argument(metavar="A B [C ...]", help="The bots; of two, A's view is shown.", show_default=False),
    ] = None,
    games: Annotated[
        int | None,
        typer.Option(
            "--games",
            "-n",
            help="Games of each two bots, an even number: 1000 unless said; with --until or --sprt at most 100,000.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Names the dice: same seed, same dice (1).")] = None,
    workers: Annotated[int, typer.Option("--workers", help="Processes; the result is the same.")] = 1,
    rules: Annotated[
        str | None,
        typer.Option("--rules", help="money (unless said), or dmp: every win 1 point; with --cube money or match:N."),
    ] = None,
    variant: Annotated[
        str | None, typer.Option("--variant", help="backgammon (unless said), nackgammon or hypergammon.")
    ] = None,
    luck: Annotated[
        bool | None,
        typer.Option(
            "--luck/--no-luck", help="Show luck-adjusted results beside the plain ones, or not; shown unless said."
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference", metavar="BOT", help="Who judges luck: a net, gnubg:0, sage:0; net:flagship unless said."
        ),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(
            "--until",
            metavar="X",
            help="Stop once the 95 % interval (the luck-adjusted one where there is one) is +-X points per game or "
            "less; of matches +-X of those won, 0.01 = 1 %.",
        ),
    ] = None,
    sprt: Annotated[
        tuple[float, float] | None,
        typer.Option(
            "--sprt",
            metavar="H0 H1",
            help="Stop once one of two means is accepted: points per game; of matches the share won above one half "
            "(0 0.02: 50 % against 52 %). Luck-adjusted results decide where there are some.",
            show_default=False,
        ),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="With --sprt: chance to accept H1 where H0 is true (0.05).")
    ] = None,
    beta: Annotated[
        float | None, typer.Option("--beta", help="With --sprt: chance to accept H0 where H1 is true (0.05).")
    ] = None,
    min_games: Annotated[
        int | None, typer.Option("--min-games", help="With --until or --sprt: never stop before (500).")
    ] = None,
    anchor: Annotated[
        str | None,
        typer.Option("--anchor", metavar="BOT", help="Of more than two bots: whose rating is 0; the last unless said."),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(
            "--record",
            metavar="FILE",
            help="A new file for every pair's result, saved about every 30 s and at the end, also after Ctrl-C or "
            "SIGTERM; one in runs/arena/ unless said.",
        ),
    ] = None,
    no_record: Annotated[bool, typer.Option("--no-record", help="Keep no such file.")] = False,
    resume: Annotated[
        str | None,
        typer.Option("--resume", metavar="FILE", help="Go on with the run of that record, up to --games."),
    ] = None,
    cube: Annotated[bool, typer.Option("--cube", help="Two bots play with the cube: money games or matches.")] = False,
    jacoby: Annotated[
        bool, typer.Option("--jacoby", help="With --cube: gammons count once the cube is turned.")
    ] = False,
    beavers: Annotated[bool, typer.Option("--beavers", help="With --cube: a taker may redouble at once.")] = False,
    max_cube: Annotated[
        int | None, typer.Option("--max-cube", metavar="N", help="With --cube: its highest face.", show_default=False)
    ] = None,
    mat: Annotated[
        str | None,
        typer.Option("--mat", metavar="FOLDER", help="With --cube: keep every game or match as a .mat file."),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    progress: ProgressOption = "auto",
    verbose: VerboseOption = False,
) -> None:
    """Let bots play games with duplicate dice: two, or each against each other; cubeless unless --cube.

    Each dice sequence is played twice, once from either side. Of two bots all numbers are the first-named one's.

    Luck-adjusted: the luck of every roll (what its best play is worth, less the mean over all rolls, by the reference)
    is subtracted. That changes no result on average, whoever the reference is, and tells as much in far fewer games,
    but for a bot that plays at random, which --no-luck measures better.

    95 % intervals are taken over the dice pairs. --sprt is a sequential test (GSPRT) of H0 against H1; after it they
    are no longer 95 % ones.

    More than two bots get a cross table and a ladder, in thousandths of a point per game.

    With --cube two bots play money games, or with --rules match:5 matches to 5 points; --games counts matches then.

    Bots: random, pubeval, gnubg:0|1|2, sage:0, gnubg-cli:0|1|2|3, net:NAME_OR_PATH.
    """
    with reporting(as_json=as_json, verbose=verbose), stopping(resume, as_json=as_json):
        given = {
            "bots": bots, "games": games, "seed": seed, "rules": rules, "variant": variant, "anchor": anchor,
            "reference": reference, "stop": _rule(until, sprt, alpha, beta, min_games),
        }  # fmt: skip
        stakes = {"--jacoby": jacoby, "--beavers": beavers, "--max-cube": max_cube, "--mat": mat}
        recorded = None if resume is None else recorded_rules(resume)
        cube = cube or recorded is not None
        if cube:
            _check_with_cube({"--variant": variant, "--anchor": anchor})
        else:
            check_no_stakes(stakes)
        options, done = _asked(given, luck, resume, quiet)
        file = resume if resume is not None else _record(options, record, no_record, quiet)
        options |= {"workers": workers, "record": file, "resume": resume is not None}
    with (
        reporting(as_json=as_json, verbose=verbose),
        stopping(file, as_json=as_json),
        record_warnings() as warned,
    ):
        if cube:
            names = ("seed", "rules", "workers", "reference", "stop", "record", "resume")
            chosen = {name: options[name] for name in names} | {"mat": mat}
            said = {"jacoby": jacoby or None, "beavers": beavers or None, "max_cube": max_cube}
            chosen |= (recorded or {}) | {name: value for name, value in said.items() if value is not None}
            note_compiling("choose_kernel", "lowest_kernel", quiet=quiet)
            games = options["games"]
            arena_for_stakes(options["bots"], games, done, chosen, as_json=as_json, quiet=quiet, progress=progress)
        else:
            _cubeless(options, done, as_json=as_json, quiet=quiet, progress=progress)
        if warned and (record is not None or resume is not None):  # it was asked for, and is not complete
            raise typer.Exit(1)


def _cubeless(options: dict[str, Any], done: int, *, as_json: bool, quiet: bool, progress: str) -> None:
    """Play cubeless games and print; done: games in the record."""
    from bgnet.progress import Progress

    note_compiling("choose_kernel", *(["best_of_rolls_kernel"] if options["reference"] else []), quiet=quiet)
    if options["stop"] is not None:
        _note(rule_text(options["stop"], options["games"]), quiet)
    count = len(options["bots"])
    total = max(options["games"], 0) * count * (count - 1) // 2
    with Progress(total, "games", "none" if quiet else progress, initial=done) as shown:
        result = _play({**options, "progress": shown})
    if as_json:
        print_json(result.as_dict())
    else:
        print_text(screen(result))


def _rule(
    until: float | None,
    sprt: tuple[float, float] | None,
    alpha: float | None,
    beta: float | None,
    min_games: int | None,
) -> Until | Sprt | None:
    from bgnet.sequential import EVERY, LEAST, Sprt, StopRuleError, Until

    if sprt is None and (alpha is not None or beta is not None):
        raise StopRuleError("--alpha and --beta are the error bounds of --sprt H0 H1, which is missing")
    if until is None and sprt is None and min_games is not None:
        raise StopRuleError("--min-games belongs to --until or --sprt; without them all --games are played")
    if until is not None and sprt is not None:
        raise StopRuleError("--until and --sprt are two ways to stop: choose one")
    if min_games is not None and (min_games < 2 * EVERY or min_games % (2 * EVERY)):
        raise StopRuleError(f"--min-games must be a multiple of {2 * EVERY}, not {min_games}")
    least = LEAST if min_games is None else min_games // 2
    if until is not None:
        return Until(until, least)
    if sprt is not None:
        return Sprt(*sprt, 0.05 if alpha is None else alpha, 0.05 if beta is None else beta, least)
    return None


def _asked(given: dict[str, Any], luck: bool | None, resume: str | None, quiet: bool) -> tuple[dict[str, Any], int]:
    """What to play and how many games are played already: what was given, else the record's or the defaults."""
    from bgnet.arena import ArenaSettingsError

    options: dict[str, Any] = {
        "bots": None, "games": None, "seed": 1, "rules": "money", "variant": "backgammon", "anchor": None,
        "reference": None, "stop": None,
    }  # fmt: skip
    done = 0
    if resume is not None:
        options, done = _recorded(resume)
    options |= {name: value for name, value in given.items() if value is not None}
    if not options["bots"] or len(options["bots"]) < 2:
        raise ArenaSettingsError("name at least two bots, as in: bgnet arena net:standard pubeval")
    if options["anchor"] is not None and len(options["bots"]) == 2 and given["anchor"] is not None:
        raise ArenaSettingsError("--anchor is for more than two bots; of two the first one's points are shown")
    if options["games"] is None:
        options["games"] = _GAMES if options["stop"] is None else _AT_MOST
    if luck is False:
        if given["reference"] is not None:
            raise ArenaSettingsError("--reference judges luck, but --no-luck says to leave it: drop one of them")
        options["reference"] = None
    elif options["reference"] is None and (luck or resume is None):
        options["reference"] = _usual_reference(options["variant"], wanted=bool(luck), quiet=quiet)
    return options, done


def _recorded(path: str) -> tuple[dict[str, Any], int]:
    """The options that a record was made with, and how many games it holds."""
    from bgnet.arena_record import RecordError, read_record
    from bgnet.sequential import read_rule

    record = read_record(path)
    asked, stop = record["asked"], record["asked"]["stop"]
    options = {name: asked[name] for name in ("bots", "seed", "rules")}
    options["games"] = 2 * record["pairs"]
    # what games with the cube, or of two bots, do not have
    options |= {"variant": asked.get("variant", "backgammon"), "anchor": asked.get("anchor")}
    options["reference"] = asked["reference"]
    try:
        options["stop"] = None if stop is None else read_rule(stop)
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(f"{path} is damaged: asked stop is {json.dumps(stop)}, which is no rule") from error
    return options, 2 * sum(contest["pairs"] for contest in record["contests"])


def _usual_reference(variant: str, *, wanted: bool, quiet: bool) -> str | None:
    """Who judges luck when nobody is named; None where no network that comes with bgnet knows the game."""
    from bgnet.arena import DEFAULT_REFERENCE, ArenaSettingsError
    from engine.rules import VARIANTS

    if variant not in VARIANTS or VARIANTS[variant][1] == 15:
        return DEFAULT_REFERENCE
    why = f"no network that comes with bgnet knows {variant}; --reference names one of yours"
    if wanted:
        raise ArenaSettingsError(f"who judges luck? {why}")
    _note(f"plain results only: {why}", quiet)
    return None


def _record(options: dict[str, Any], named: str | None, unwanted: bool, quiet: bool) -> str | None:
    """The new file for the record."""
    from bgnet.arena import ArenaSettingsError
    from bgnet.arena_record import FOLDER, free_path

    if named is not None:
        if unwanted:
            raise ArenaSettingsError("--record names a file and --no-record wants none: drop one of them")
        if named == "-":
            raise ArenaSettingsError("--record names a file, a record cannot go to stdout; --json prints the result")
        return named
    if unwanted:
        return None
    try:
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=FOLDER) as file:
            file.write(bytes(_ROOM))
    except OSError as error:  # nobody has asked for it: no reason to fail
        _note(f"no record is kept: cannot write in {FOLDER} ({error.strerror}); --record names a file", quiet)
        return None
    return str(free_path(options["bots"], options["seed"]))


def _play(options: dict[str, Any]) -> ArenaResult | RoundRobinResult:
    from bgnet.arena import play
    from bgnet.round_robin import round_robin

    bots, anchor = options.pop("bots"), options.pop("anchor")
    if len(bots) == 2 and anchor is None:
        return play(*bots, **options)
    return round_robin(bots, anchor=anchor, **options)


def _note(text: str, quiet: bool) -> None:
    if not quiet and sys.stderr is not None:
        print(text, file=sys.stderr, flush=True)


def _check_with_cube(given: dict[str, Any]) -> None:
    from bgnet.arena import ArenaSettingsError

    for option, value in given.items():
        if value is not None:
            raise ArenaSettingsError(f"{option} is for cubeless games; games with the cube do not take it yet")
