"""What `bgnet play` says when it is asked for a hint."""

from __future__ import annotations

from typing import NamedTuple

from bgnet.analysis import JudgedPlay, analyze
from bgnet.cli.analyze import percents
from bgnet.cli.common import signed
from bgnet.cubeful_analysis import analyze_cube
from bgnet.search import MoveFilter
from engine.outcomes import swap, to_cumulative
from engine.state import GameState

__all__ = ["Judge", "cube_hint", "play_hint"]


class Judge(NamedTuple):
    """Who gives hints, in the words of `bgnet.analyze`."""

    bot: str
    ply: int | None


def cube_hint(state: GameState, judge: Judge) -> str:
    """The three values of the player who decides, and what is best: before his roll, or for a double to answer."""
    found = analyze_cube(state, bot=judge.bot, ply=judge.ply)
    decision = found.decision
    answers = state.doubled
    outcomes = swap(decision.outcomes) if answers else decision.outcomes
    win, gammon, _ = (100 * float(x) for x in to_cumulative(outcomes)[:3])
    _, lost_gammon, _ = (100 * float(x) for x in to_cumulative(swap(outcomes))[:3])
    side = -1.0 if answers else 1.0
    costs, mwc = decision.costs, decision.mwc
    taken, passed = ("take", "pass") if answers else ("double, take", "double, pass")
    rows = [
        ("no double", decision.no_double, None if answers else costs.no_double, mwc and mwc.no_double),
        (taken, decision.double_take, costs.take if answers else None, mwc and mwc.double_take),
        (passed, decision.double_pass, costs.pass_ if answers else None, mwc and mwc.double_pass),
        ("beaver", decision.beaver, costs.beaver if answers else None, None),
    ]
    lines = [
        f"hint by {found.bot}, {found.depth}: you win {win:.1f} % (G {gammon:.1f}), lose with G {lost_gammon:.1f}, "
        "cubeless; cubeful equity, per cube"
    ]
    for name, equity, cost, chance in rows[1 if answers else 0 :]:
        if equity is None:
            continue
        loss = f"({signed(-cost, 3)})" if cost is not None and cost > 0.0005 else ""
        match = "" if chance is None else f"MWC {100 * (1 - chance if answers else chance):5.2f} %"
        lines.append(f"  {name:<13} {signed(side * equity, 3)}  {loss:<8} {match}".rstrip())
    if answers:
        costs_of = {"take": costs.take, "pass": costs.pass_, "beaver": costs.beaver}
        lines.append("  " + min((cost, name) for name, cost in costs_of.items() if cost is not None)[1])
    else:
        lines.append(f"  {decision.label}")
    return "\n".join(lines)


def play_hint(state: GameState, judge: Judge, rows: int) -> str:
    """The best plays of the deepest search, and the best of those that were judged less deep."""
    cubeful = bool(state.match_length) or state.max_cube != 1
    found = analyze(state, bot=judge.bot, ply=judge.ply, filters=[MoveFilter(rows, 3, 0.16)], cubeful=cubeful)
    deepest = [play for play in found.plays if play.depth in (found.plays[0].depth, "exact")]
    lines = [
        f"hint by {found.bot}, " + ("cubeful equity, per cube" if cubeful else "cubeless equity, points"),
        "     play                  equity    loss     win     G    B   lose     G    B   depth",
        *(_hint_row(play) for play in deepest[:rows]),
    ]
    if len(deepest) > rows:
        lines.append(f" -- {len(deepest) - rows} more (hint all) --")
    rest = [play for play in found.plays if play not in deepest]
    for depth in dict.fromkeys(play.depth for play in rest):
        same = [play for play in rest if play.depth == depth]
        more = "; the best:" if len(same) > 1 else ""
        lines.append(f" -- {len(same)} judged at {depth} only, not ranked with the rows above{more} --")
        lines.append(_hint_row(same[0], ranked=False))
    return "\n".join(lines)


def _hint_row(play: JudgedPlay, ranked: bool = True) -> str:
    number = f"{play.rank:>3}" if ranked else "   "
    loss = f"({signed(-play.loss, 3)})" if ranked and play.loss > 0.0005 else ""
    return f"{number}  {play.play:<21} {signed(play.equity, 3)}  {loss:<8} {percents(play.outcomes)}   {play.depth}"
