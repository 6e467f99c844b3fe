"""`bgnet rollout`: what a position, or the plays of a roll, are worth when games are played out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bgnet.cli.common import (
    JsonOption,
    MetOption,
    ProgressOption,
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

if TYPE_CHECKING:
    from bgnet.rollouts import PlaysRollout, RolledPlay, RolloutEstimate, RolloutResult, RolloutSettings
    from engine import GameState

__all__ = ["EPILOG", "rollout", "screen"]

EPILOG = """Examples:

bgnet rollout 4HPwATDgc/ABMA --trials 36

bgnet rollout "XGID=-a----EaC---dEa--c-e----B-:0:0:1:11:0:0:0:0:10" --plays "8/7*(2) 6/5(2); 24/22 6/5(2)" -n 36

bgnet rollout SneDGQBjew4wAA --cube --jacoby -n 36"""

_COLUMNS = " equity    SE (plain)    win     G    B   lose     G    B   depth"
_SURE, _LIKELY = 3.0, 2.0  # joint standard errors


def rollout(
    position: Annotated[
        str | None, typer.Argument(metavar="[POSITION]", help="An XGID, GNUBG ID or Position ID; not with --resume.")
    ] = None,
    dice: Annotated[str | None, typer.Option("--dice", help="The roll, such as 31; else the one in POSITION.")] = None,
    plays: Annotated[
        str | None, typer.Option("--plays", help='Plays to roll out, as "8/5 6/5; 24/20"; else the best few.')
    ] = None,
    most: Annotated[int, typer.Option("--most", help="How many plays, when none are named.")] = 5,
    bot: Annotated[str | None, typer.Option("--bot", help="Who plays and judges: a net, gnubg:0, sage:0.")] = None,
    trials: Annotated[int | None, typer.Option("--trials", "-n", help="Games for each position.  [1296]")] = None,
    ply: Annotated[int | None, typer.Option("--ply", help="Depth of the checker play inside.  [0]")] = None,
    truncate: Annotated[
        int | None, typer.Option("--truncate", help="Judge after so many plies; else play to the end.")
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Names the dice: same seed, same dice.  [1]")] = None,
    threads: ThreadsOption = 0,
    stop_se: Annotated[
        float | None, typer.Option("--stop-se", metavar="X", help="Stop once all standard errors are X or less.")
    ] = None,
    stop_clear: Annotated[
        float,
        typer.Option(
            "--stop-clear", metavar="X", min=0.0, help="Stop once the best leads by X joint errors; 0 = never."
        ),
    ] = 3.0,
    min_trials: Annotated[int, typer.Option("--min-trials", help="Never stop before.")] = 324,
    luck: Annotated[bool | None, typer.Option("--luck/--no-luck", help="Take the luck of rolls off.  [luck]")] = None,
    tables: Annotated[
        bool | None, typer.Option("--tables/--no-tables", help="Ask the exact endgame tables.  [tables]")
    ] = None,
    cube: Annotated[
        bool, typer.Option("--cube", help="The cube decision before the roll, played out with the cube.")
    ] = False,
    length: LengthOption = None,
    score: ScoreOption = None,
    crawford: CrawfordOption = None,
    jacoby: JacobyOption = None,
    beavers: BeaversOption = None,
    value: Annotated[
        int | None, typer.Option("--cube-value", metavar="K", help="What the cube shows: 1, 2, 4, ...")
    ] = None,
    owner: OwnerOption = None,
    met: MetOption = None,
    save: Annotated[str | None, typer.Option("--save", metavar="FILE", help="Keep the trials in FILE.")] = None,
    resume: Annotated[
        str | None, typer.Option("--resume", metavar="FILE", help="Go on from FILE, up to --trials in all.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    progress: ProgressOption = "auto",
    verbose: VerboseOption = False,
) -> None:
    """Play a position out many times, before the roll or after each of some plays of a roll.

    With --cube both branches of the cube decision are played, the score of a match taken into account. What the
    position says of match, score and cube can then be replaced by the options from --length to --met, as in bgnet cube.

    Else equities are cubeless and in points, chances in per cent and cumulative (win contains G, G contains B).

    SE is the standard error of the equity with the luck of the rolls taken off, (plain) of the one without that.

    All plays get the same dice; their joint SE is that of the difference. Ctrl-C shows what the trials done say.
    """
    with reporting(as_json=as_json, verbose=verbose, stopped="no trial was done"):
        note_compiling("afterstates_kernel", "_best_rows", quiet=quiet, tables=tables is not False)
        from bgnet.progress import Progress
        from bgnet.rollouts import RolloutError, RolloutInterrupted, rollout, rollout_plays

        if cube and (dice, plays, save, resume) != (None,) * 4:
            raise RolloutError(
                "--cube, the decision before the roll, goes with none of --dice, --plays, --save, --resume"
            )
        stakes = Stakes(length, score, crawford, jacoby, beavers, value, owner)
        if not cube and (stakes != Stakes() or met is not None):
            raise RolloutError("the options from --length to --met are for the cube decision: say --cube")
        where, options, done = _asked(
            position, dice, resume, evaluator=bot, trials=trials, ply=ply, truncate=truncate, seed=seed, luck=luck,
            tables=tables,
        )  # fmt: skip
        if cube:
            from bgnet.cli.rollout_cube import show_cube

            options |= {"threads": threads, "stop_se": stop_se, "min_trials": min_trials}
            if met is not None:
                from bgnet.match_equity_files import read_table

                options["table"] = read_table(met)
            where = stakes.placed(before_the_roll(where, 'bgnet rollout "{}" --cube'))
            show_cube(where, options, as_json=as_json, mode="none" if quiet else progress)
            return
        if save is not None and save != resume and Path(save).exists():
            raise RolloutError(f"{save} exists already: name a new file, or go on with it: --resume {save}")
        save = save or resume
        options |= {"threads": threads, "stop_se": stop_se, "min_trials": min_trials, "save": save, "resume": resume}
        named = None if plays is None else [play for play in plays.split(";") if play.strip()]
        result: RolloutResult | PlaysRollout
        interrupted = False
        total, mode = max(options["trials"], done), "none" if quiet else progress
        with Progress(total, "trials", mode, initial=done) as shown:
            try:
                options["progress"] = shown
                if where.dice is not None or named is not None:
                    result = rollout_plays(where, None, named, most=most, stop_clear=stop_clear or None, **options)
                else:
                    result = rollout(where, **options)
            except RolloutInterrupted as error:
                result, interrupted = error.result, True
        if as_json:
            print_json(result.as_dict())
        else:
            print_text(screen(result, save))
        if interrupted:
            raise typer.Exit(130)


def _asked(
    position: str | None, dice: str | None, resume: str | None, **options: Any
) -> tuple[GameState, dict[str, Any], int]:
    """The state to roll out, the options, and how many trials are done.

    Options that were not given are those of the file, or the defaults.
    """
    from bgnet.analysis import read_state
    from bgnet.players import DEFAULT_BOT
    from bgnet.rollouts import RolloutError, read_rollout

    defaults: dict[str, Any] = {"evaluator": DEFAULT_BOT, "trials": 1296, "seed": 1, "luck": True, "tables": True}
    state, done = None if position is None else read_state(position, dice), 0
    if resume is not None:
        saved = read_rollout(resume)
        old = saved.settings
        if old.player is not None or old.luck_evaluator is not None:
            raise RolloutError(f"{resume} was made in Python with a player or luck evaluator of its own: go on there")
        defaults = {
            "evaluator": old.bot, "trials": old.trials, "ply": old.ply, "truncate": old.truncate, "seed": old.seed,
            "luck": old.luck, "tables": old.tables,
        }  # fmt: skip
        state, done = state or read_state(saved.state, dice), saved.rows.results.shape[1]
    if state is None:
        raise RolloutError("which position? Give an XGID, a GNUBG ID or a Position ID, or --resume FILE")
    return state, defaults | {name: value for name, value in options.items() if value is not None}, done


def screen(result: RolloutResult | PlaysRollout, saved_in: str | None = None) -> str:
    """The result as text: board, what was done, a row for each position, how sure it is."""
    from bgnet.rollouts import PlaysRollout
    from engine.summary import drawing

    unicode = can_draw()
    rows: list[tuple[str, RolloutEstimate]]
    if isinstance(result, PlaysRollout):
        head, rows = "    play", [(f"{play.rank:>2}  {play.play}", play) for play in result.plays]
    else:
        head, rows = "", [("    X before the roll", result)]
    width = max(len(label) for label, _ in rows)
    lines = [
        drawing(result.state, unicode),
        "",
        _what(result.settings, same_dice=len(rows) > 1),
        f"{head:{width}}  {_COLUMNS}",
        *(f"{label:{width}}  {_row(estimate)}" for label, estimate in rows),
    ]
    if isinstance(result, PlaysRollout) and len(rows) > 1:
        lines.append(_lead(result.plays))
    lines += [_end(result, [estimate for _, estimate in rows], saved_in)]
    if result.state.match_length:
        lines.append("The score of the match is not taken into account.")
    return "\n".join(lines)


def _what(settings: RolloutSettings, same_dice: bool) -> str:
    end = "to the end" if settings.truncate is None else f"for {settings.truncate} plies, then judged at 0-ply"
    return ", ".join(
        [
            "rollout, cubeless money",
            f"{settings.play} play {end}",
            "luck-adjusted" if settings.luck else "luck included",
            *(["same dice"] if same_dice else []),
            f"seed {settings.seed}     {settings.bot}",
        ]
    )


def _row(estimate: RolloutEstimate) -> str:
    chances = estimate.chances
    lose = 1 - chances["win"]
    numbers = [
        chances["win"], chances["gammon_win"], chances["backgammon_win"],
        lose, chances["gammon_loss"], chances["backgammon_loss"],
    ]  # fmt: skip
    percents = "{:6.2f} {:5.2f} {:4.2f} {:6.2f} {:5.2f} {:4.2f}".format(*(100 * x for x in numbers))
    errors = f"{_short(estimate.std_error)} ({_short(estimate.std_error_plain)})"
    return f"{signed(estimate.equity, 4)} {errors} {percents}   {estimate.depth}"


def _lead(plays: tuple[RolledPlay, ...]) -> str:
    lead, joint = plays[1].loss, plays[0].joint_std_error
    from bgnet.rollout_results import ROUNDING

    if joint is None or not joint > ROUNDING:
        return f"lead {signed(lead, 4)}"
    ratio = lead / joint
    sure = "1 is best" if ratio >= _SURE else "1 is likely best" if ratio >= _LIKELY else "1 and 2 are not told apart"
    return f"lead {signed(lead, 4)} = {ratio:.1f} joint SE ({_short(joint)}): {sure}"


def _end(result: RolloutResult | PlaysRollout, estimates: list[RolloutEstimate], saved_in: str | None) -> str:
    reasons = {"std_error": ", errors small enough", "clear": ", the lead is clear", "asked": ", as asked"}
    parts = []
    if result.stopped in reasons:
        parts.append(f"stopped at {result.trials} of {result.settings.trials} trials{reasons[result.stopped]}")
    factors = [f"{e.variance_factor:.0f}x" for e in estimates if e.variance_factor > 0]
    if result.settings.luck and factors:
        parts.append(f"luck adjustment cut the variance {', '.join(factors)}")
    parts.append(f"{result.seconds:.1f} s")
    if saved_in is not None:
        parts.append(f"to go on: --resume {saved_in}")
    return "   ".join(parts)


def _short(value: float) -> str:
    """A standard error: .0040, or a dash for none."""
    return f"{value:.4f}".removeprefix("0") if value == value else "  -  "
