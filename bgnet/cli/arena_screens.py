"""What `bgnet arena` shows: the result of two bots, and the cross table of more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgnet.cli.common import signed

if TYPE_CHECKING:
    from bgnet.arena_results import ArenaResult, PairsResult
    from bgnet.round_robin import RoundRobinResult
    from bgnet.sequential import Rule, Sprt, Stopped, Until
    from bgnet.statistics import Estimate

__all__ = ["cross_table", "estimate_lines", "record_line", "rule_text", "screen", "stop_lines", "table"]


def screen(result: ArenaResult | RoundRobinResult) -> str:
    """Either of them."""
    from bgnet.arena_results import ArenaResult

    return table(result) if isinstance(result, ArenaResult) else cross_table(result)


def table(result: ArenaResult) -> str:
    """The result of two bots as lines of plain ASCII text (apart from the bots' names)."""
    per_cent = [100 / result.games * n for n in (*result.won, *result.lost)]
    lines = [
        f"{result.a} against {result.b}, cubeless {_played_for(result)}, "
        f"{result.games // 2:,} dice pairs, seed {result.seed}",
        *estimate_lines(result),
        "               win       G       B      lose       G       B",
        "games     " + _row([f"{n:,}" for n in (*result.won, *result.lost)]) + f"   of {result.games:,}",
        "per cent  " + _row([f"{x:.2f}" for x in per_cent]) + "   G contains B",
        f"{result.plies / result.games:.1f} plies per game, {_speed(result.games, result.seconds, result.workers)}",
    ]
    return "\n".join([*lines, *stop_lines(result.stop), *record_line(result.record)])


def estimate_lines(result: PairsResult, *, matches: bool = False) -> list[str]:
    """The plain mean and the luck-adjusted one below each other, with their head; matches: shares of matches won."""
    head = "matches won" if matches else "points/game"
    lines = [f"{'':<17}{head}    95 % interval", _estimate_line("plain", result.plain, matches)]
    if result.luck_adjusted is not None:
        ratio = result.variance_ratio
        cut = "" if ratio is None or ratio < 1 else f", variance cut {ratio:.0f}x"
        line = _estimate_line("luck-adjusted", result.luck_adjusted, matches)
        lines.append(f"{line}   reference {_with_depth(result.reference or '')}{cut}")
        if ratio is not None and ratio < 1:
            lines.append("note  luck adjustment widens the interval here: the plain result is better, use --no-luck")
    return lines


def cross_table(result: RoundRobinResult) -> str:
    """Rows against columns, and the ladder, the best first: lines of plain ASCII text (apart from the bots' names)."""
    order = result.ranking
    names = [result.bots[i] for i in order]
    widths = [max(len(name), 7) for name in names]
    left = max(len("mEq/game"), *(len(name) for name in names))
    lines = [f"{'mEq/game':<{left}}  " + "  ".join(f"{n:>{w}}" for n, w in zip(names, widths, strict=True))]
    plain_too = result.pairings[0].reference is not None
    lines[0] += " |  rating  [95 %]" + ("   plain  [95 %]" if plain_too else "")
    for i in order:
        cells = ["." if i == j else _milli(result.against(i, j).mean) for j in order]
        row = "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        shown = f"{0:>6}  (anchor)"
        if result.bots[i] != result.anchor:
            shown = _rating(result.ratings[i]) + (_rating(result.plain_ratings[i]) if plain_too else "")
        lines.append(f"{result.bots[i]:<{left}}  {row} |  {shown.rstrip()}")
    first = result.pairings[0]
    widest = max(pairing.best.half_width for pairing in result.pairings)
    kind = "plain" if first.reference is None else f"luck-adjusted (reference {_with_depth(first.reference)})"
    games = sum(pairing.games for pairing in result.pairings)
    lines += [
        f"{first.games:,} {kind} games a pairing (+-{1000 * widest:.0f}), cubeless {_played_for(first)}, "
        f"seed {first.seed}",
        "mEq: thousandths of a point, the row's bot against the column's; rating: least squares over all pairings",
        _speed(games, result.seconds, first.workers),
    ]
    return "\n".join([*lines, *stop_lines(result.stop), *record_line(result.record)])


def rule_text(rule: Rule, count: int, *, matches: bool = False) -> str:
    """What stops the run of `count` games or matches at most, said before it starts."""
    from bgnet.sequential import EVERY, Sprt, Until

    unit = "matches" if matches else "games"
    looks = f"first look after {2 * rule.least:,} {unit}, then every {2 * EVERY}, at most {count:,}"
    if isinstance(rule, Sprt):
        bounds = f"H0 at LLR {signed(rule.lower, 2)}, H1 at {signed(rule.upper, 2)}"
        return f"test  {_hypotheses(rule, matches)}: {bounds}; {looks}"
    assert isinstance(rule, Until)
    return f"until  the 95 % interval is {_width(rule, matches)}; {looks}"


def _width(rule: Until, matches: bool) -> str:
    return f"+-{100 * rule.half_width:g} % of the matches" if matches else f"+-{rule.half_width:g} points"


def _hypotheses(rule: Sprt, matches: bool) -> str:
    digits = max(2, *(len(f"{abs(h):g}".partition(".")[2]) for h in (rule.h0, rule.h1)))
    errors = f"{100 * rule.alpha:g} % / {100 * rule.beta:g} %"
    unit = "of the matches above one half" if matches else "points/game"
    return f"H0 {signed(rule.h0, digits)}, H1 {signed(rule.h1, digits)} {unit}, {errors}"


def stop_lines(stop: Stopped | None, *, matches: bool = False) -> list[str]:
    """What the rule has decided, where there was one."""
    from bgnet.sequential import Sprt, Until

    if stop is None:
        return []
    unit = "matches" if matches else "games"
    if isinstance(stop.rule, Sprt):
        found = f"test  {_hypotheses(stop.rule, matches)}: LLR {signed(stop.rule.llr(stop.moments), 2)}"
        if stop.decision is None:
            bounds = f"{signed(stop.rule.lower, 2)} and {signed(stop.rule.upper, 2)}"
            return [f"{found} between {bounds} when the {unit} ran out, undecided"]
        bound = stop.rule.upper if stop.decision == "H1" else stop.rule.lower
        return [
            f"{found} past {signed(bound, 2)}, {stop.decision} accepted",
            "note  estimates taken at an early stop lean to the winner; for a clean figure use --games alone",
        ]
    assert isinstance(stop.rule, Until)
    what = f"until  {_width(stop.rule, matches)}: "
    return [what + ("reached" if stop.decision else f"not reached when the {unit} ran out")]


def record_line(record: str | None) -> list[str]:
    return [] if record is None else [f"record  {record}"]


def _played_for(result: ArenaResult) -> str:
    played_for = "double match point (every win 1 point)" if result.rules == "dmp" else result.rules
    return played_for if result.variant == "backgammon" else f"{played_for}, {result.variant}"


def _with_depth(reference: str) -> str:
    return reference if "@" in reference else f"{reference}, 0-ply"


def _estimate_line(label: str, estimate: Estimate, matches: bool) -> str:
    numbers = (estimate.mean, estimate.low, estimate.high)
    mean, low, high = (f"{value:.2%}" if matches else signed(value, 4) for value in numbers)
    return f"{label:<17}{mean:>10}    [{low}, {high}]"


def _speed(games: int, seconds: float, workers: int) -> str:
    return f"{seconds:.1f} s, {games / seconds:,.0f} games/s with {workers} worker{'s' if workers > 1 else ''}"


def _milli(points: float) -> str:
    return f"{round(1000 * points):+d}"


def _rating(rating: Estimate) -> str:
    return f"{_milli(rating.mean):>6}  {f'+-{1000 * rating.half_width:.0f}':<8}"


def _row(cells: list[str]) -> str:
    return "".join(f"{cell:>{10 if i == 3 else 8}}" for i, cell in enumerate(cells))
