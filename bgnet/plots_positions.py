"""Pictures of positions and games: the plays of a roll, the opening rolls, what a game was worth turn by turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bgnet.match_analysis_decisions import mark_of
from bgnet.plots_style import (
    BLUE,
    GREY,
    VERMILION,
    PathLike,
    PlotError,
    beside_bars,
    check_path,
    dressed,
    line_style,
    new_figure,
    saved,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bgnet.analysis import Analysis, JudgedPlay
    from bgnet.evaluators import Evaluator
    from bgnet.match_analysis import GameAnalysis, MatchAnalysis

__all__ = ["equity_along_game", "move_table", "opening_rolls"]


def move_table(analysis: Analysis, path: PathLike | None = None, most: int = 10) -> Figure:
    """The plays of a roll in their order: the equity of each, and what it loses against the best, with its mark.

    analysis: with dice. most: how many plays; one that was asked about is shown below them if it is not among them, and
    carries a `>`. Hatched: judged less deep than the best, so its loss says little. Raises PlotError without plays.
    """
    check_path(path)
    if not analysis.plays:
        raise PlotError("nothing to draw: the position has no dice, so no plays; analyze(..., dice=...)")
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise PlotError(f"most is how many plays to show, 1 or more, not {most!r}")
    plays = [*analysis.plays[:most], *(play for play in analysis.plays[most:] if play.played)]
    figure = new_figure(9, 1.3 + 0.34 * max(len(plays), 2))
    left, right = figure.subplots(1, 2, sharey=True)
    unit = "cubeful equity, per unit of the cube" if analysis.cubeful else "cubeless equity, points"
    _play_bars(dressed(left, unit, "", grid="x"), plays, [play.equity for play in plays], BLUE,
               [f"{play.equity:+.3f}  {play.depth}" for play in plays])  # fmt: skip
    lost = "loss against the best play, " + ("per unit of the cube" if analysis.cubeful else "points")
    _play_bars(dressed(right, lost, "", grid="x"), plays, [play.loss for play in plays], VERMILION,
               ["best" if play.rank == 1 else f"{-play.loss:+.3f} {mark_of(play.loss)}" for play in plays])  # fmt: skip
    left.axvline(0, color="black", lw=0.8)
    left.set_yticks(range(len(plays)), [f"{'> ' if play.played else ''}{play.rank}.  {play.play}" for play in plays])
    left.set_ylim(max(len(plays), 2) - 0.5, -0.5)
    dice = analysis.state.dice
    assert dice is not None
    figure.suptitle(f"X to play {dice[0]}-{dice[1]}, {analysis.bot}, {analysis.ply}-ply", fontsize=11)
    return saved(figure, path)


def _play_bars(axes: Axes, plays: list[JudgedPlay], lengths: list[float], colour: str, texts: list[str]) -> None:
    bars = axes.barh(range(len(plays)), lengths, 0.7, color=colour, alpha=0.8, edgecolor="white", lw=0)
    for bar, play in zip(bars, plays, strict=True):
        if play.depth != plays[0].depth and plays[0].ply is not None:
            bar.set_hatch("//")
    beside_bars(axes, lengths, texts)
    axes.locator_params(axis="x", nbins=5)


def opening_rolls(
    bot: str | Evaluator = "net:standard", ply: int = 0, path: PathLike | None = None, *, doubles: bool = False
) -> Figure:
    """The best play of every opening roll and its cubeless equity for the one who makes it, the best roll on top.

    bot: a name or an Evaluator. doubles: all 21 rolls, as in variants where the first roll may be a double, instead of
    15. Raises what `bgnet.analyze` raises.
    """
    from bgnet.analysis import analyze
    from engine import START

    check_path(path)
    figure = new_figure(7.5, 7 if doubles else 5.2)
    rolls = [(high, low) for high in range(1, 7) for low in range(1, high + doubles)]
    found = [analyze(START, dice=roll, bot=bot, ply=ply) for roll in rolls]
    found.sort(key=lambda analysis: -analysis.best.equity)
    best = [analysis.best for analysis in found]
    title = f"Opening rolls, {found[0].bot}, {ply}-ply"
    axes = dressed(figure.subplots(), "cubeless equity after the best play, points", "opening roll", title, grid="x")
    equities = [play.equity for play in best]
    axes.barh(range(len(best)), equities, 0.7, color=BLUE, alpha=0.8)
    axes.axvline(0, color="black", lw=0.8)
    beside_bars(axes, equities, [f"{play.equity:+.3f}  {play.play}" for play in best])
    axes.set_yticks(
        range(len(best)), ["{}-{}".format(*analysis.state.dice) for analysis in found if analysis.state.dice]
    )
    axes.set_ylim(len(best) - 0.5, -0.5)
    return saved(figure, path)


def equity_along_game(analysis: MatchAnalysis, path: PathLike | None = None) -> Figure:
    """What player 1 (X) could expect after each turn, the games one after another; blunders (??) are marked.

    In points, in a match his chance to win it in per cent. Raises PlotError when no game has a turn.
    """
    check_path(path)
    games = [game for game in analysis.games if len(game.curve) > 1]
    if not games:
        raise PlotError("nothing to draw: no game has a turn")
    match = analysis.record.length > 0
    o, x = analysis.record.players
    figure = new_figure(9.5, 4)
    what = f"chance of {x} to win the match,\nper cent" if match else f"expected result for {x},\npoints"
    axes = dressed(figure.subplots(), "turn (of both players; the games one after another)", what)
    scale = 100 if match else 1
    axes.axhline(50 if match else 0, color=GREY, lw=0.8)
    length = sum(game.curve[-1][0] + 1 for game in games)
    start = 0
    blundered = [False, False]
    for i, game in enumerate(games):
        turns = np.array([turn for turn, _ in game.curve]) + start
        values = np.array([value for _, value in game.curve]) * scale
        axes.plot(turns, values, marker=".", ms=3, **{**line_style(i % 2), "zorder": 2})
        if game.curve[-1][0] > 0.07 * length:
            axes.annotate(f"game {game.number}", (start, 1), xycoords=("data", "axes fraction"), xytext=(3, 2),
                          textcoords="offset points", fontsize=8, color=GREY)  # fmt: skip
        axes.axvline(start, color=GREY, lw=0.6)
        for seat in (0, 1):
            places = _blunders(game, seat)
            if places:
                label = None if blundered[seat] else f"blunder (??) of {(o, x)[seat]}"
                blundered[seat] = True
                axes.plot([turn + start for turn, _ in places], [scale * value for _, value in places], linestyle="",
                          marker="v^"[1 - seat], ms=7, color=VERMILION, mec="black", mew=0.5, label=label,
                          fillstyle="full" if seat else "none", zorder=3, clip_on=False)  # fmt: skip
        start = int(turns[-1]) + 1
    axes.set_xlim(0, max(start - 1, 1))
    figure.suptitle(f"{x} (X) against {o} (O), {analysis.bot}, {analysis.ply}-ply", fontsize=11)
    if any(blundered):
        figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    return saved(figure, path)


def _blunders(game: GameAnalysis, seat: int) -> list[tuple[int, float]]:
    """(turn, value on the curve there) of a player's blunders; a turn without a value has the one before it."""
    places = []
    for turn in sorted(
        {decision.turn for decision in game.decisions if decision.seat == seat and decision.mark == "??"}
    ):
        places.append((turn, next(value for at, value in reversed(game.curve) if at <= turn)))
    return places
