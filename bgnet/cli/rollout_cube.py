"""`bgnet rollout --cube`: the cube decision before a roll, played out with the cube."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import typer

from bgnet.cli.common import can_draw, note_compiling, print_json, print_text, signed

if TYPE_CHECKING:
    from bgnet.cubeful_rollouts import CubeBranch, CubefulRollout
    from engine.state import GameState

__all__ = ["screen", "show_cube"]

_HEAD = "equity    SE (plain)    win     G    B   lose     G    B   cashed passed"


def show_cube(state: GameState, options: dict[str, Any], *, as_json: bool, mode: str) -> None:
    """Roll the decision out and print the result. mode: of progress. Raises what `rollout_cube` does, typer.Exit
    after Ctrl-C.
    """
    from bgnet.cubeful_rollouts import CubeRolloutInterrupted, rollout_cube
    from bgnet.progress import Progress

    note_compiling("match_kernel", "lowest_kernel", quiet=mode == "none", tables=True)
    interrupted = False
    with Progress(options["trials"], "trials", mode) as shown:
        try:
            result = rollout_cube(state, **options, progress=shown)
        except CubeRolloutInterrupted as error:
            result, interrupted = error.result, True
    print_json(result.as_dict()) if as_json else print_text(screen(result))
    if interrupted:
        raise typer.Exit(130)


def screen(result: CubefulRollout) -> str:
    """The result as text: board, what was done, the three equities, the proper action, how sure it is."""
    from bgnet.cli.cube_screens import proper_action
    from bgnet.rollout_results import ROUNDING
    from engine.summary import drawing

    settings, state = result.settings, result.state
    name = "double" if state.cube_owner == 0 else "redouble"
    end = "to the end" if settings.truncate is None else f"for {settings.truncate} plies, then judged at 0-ply"
    done = f"rollout with the cube, {settings.ply}-ply play {end}"
    adjusted = "luck-adjusted" if settings.luck else "luck included"
    branches = [(f"no {name}", result.no_double)]
    if result.double_take is not None:
        branches.append((f"{name}, take", result.double_take))
    width = len(f"{name}, take")
    lines = [
        drawing(state, can_draw()),
        "",
        f"{done}, {adjusted}, seed {settings.seed}     {settings.bot}",
        f"{'':{width}}  {_HEAD}",
        *(f"{label:{width}}  {_row(branch)}" for label, branch in branches),
    ]
    if result.double_pass is not None:
        lines.append(f"{f'{name}, pass':{width}}  {signed(result.double_pass, 4)}")
    if result.difference is not None and result.joint_std_error is not None:
        gap, error = signed(result.difference, 4), result.joint_std_error
        ratio = f" = {abs(result.difference) / error:.1f} joint SE" if error > ROUNDING else ""
        lines.append(f"take less no {name} {gap}{ratio} ({_short(error)})")
    mwc = result.decision.mwc
    if mwc is not None:
        chances = [value for value in mwc[:3] if value is not None]
        lines.append("chance to win the match, in the same order: " + ", ".join(f"{100 * x:.2f}%" for x in chances))
    lines += [f"Proper action: {result.label}"] if result.decision.available else proper_action(result.decision)
    if result.trials == 1:
        lines.append("One trial has no standard error: it says hardly anything, give more --trials.")
    lines.append(_end(result))
    return "\n".join(lines)


def _row(branch: CubeBranch) -> str:
    chances = branch.chances
    numbers = [
        chances["win"], chances["gammon_win"], chances["backgammon_win"],
        1 - chances["win"], chances["gammon_loss"], chances["backgammon_loss"], branch.cashed, branch.passed,
    ]  # fmt: skip
    percents = "{:6.2f} {:5.2f} {:4.2f} {:6.2f} {:5.2f} {:4.2f}   {:6.2f} {:6.2f}".format(*(100 * x for x in numbers))
    return f"{signed(branch.equity, 4)} {_short(branch.std_error)} ({_short(branch.std_error_plain)}) {percents}"


def _end(result: CubefulRollout) -> str:
    reasons = {"std_error": ", errors small enough", "asked": ", as asked"}
    parts = [result.depth]
    if result.stopped in reasons:
        parts.append(f"stopped at {result.trials} of {result.settings.trials} trials{reasons[result.stopped]}")
    found = [branch for branch in (result.no_double, result.double_take) if branch is not None]
    factors = [f"{branch.variance_factor:.0f}x" for branch in found if branch.variance_factor > 0]
    if result.settings.luck and factors:
        parts.append(f"luck adjustment cut the variance {', '.join(factors)}")
    return "   ".join([*parts, f"{result.seconds:.1f} s"])


def _short(value: float) -> str:
    """A standard error: .0040, or a dash for none."""
    return "  -  " if math.isnan(value) else f"{value:.4f}".removeprefix("0")
