"""What `bgnet cube` prints: a decision with its window on a line, and the table of scores."""

from __future__ import annotations

from typing import NamedTuple

from bgnet.cli.common import can_draw, signed
from bgnet.cube import CubeAction, CubeDecision
from bgnet.cubeful_analysis import CubeAnalysis, CubeMatrix, MatrixCell
from engine.outcomes import swap, to_cumulative
from engine.summary import drawing

__all__ = ["decision_screen", "matrix_screen", "proper_action", "rows"]

_MARKS = ((0.080, "??"), (0.040, "?"), (0.020, "?!"))
_NOTHING = 0.00005  # shown as 0.000
_LINE = 49
"""Columns of the line of the doubling window: two per cent each."""


def decision_screen(found: CubeAnalysis, seconds: float) -> str:
    """The whole answer, in ASCII apart from the board on a terminal that can show it."""
    decision, state = found.decision, found.state
    own, opponent = state.pips
    lead = "level" if own == opponent else f"X {'leads' if own < opponent else 'trails'} by {abs(own - opponent)}"
    lines = [
        drawing(state, can_draw()),
        f" pips X {own}, O {opponent} ({lead})     {found.bot}, {found.depth}{_efficiency(decision)}",
        "",
        *_chances(decision),
        *rows(decision),
        *proper_action(decision),
    ]
    if decision.available:
        lines += ["", *_window(decision)]
    table = "" if found.table is None else f"     match equity table {found.table}"
    lines += ["", f"win contains G, G contains B. Our 2-ply is GNU Backgammon's, XG's 3-ply.   {seconds:.1f} s{table}"]
    return "\n".join(lines)


def _efficiency(decision: CubeDecision) -> str:
    return "" if decision.efficiency is None else f", cube efficiency {decision.efficiency:.3g}"


def _chances(decision: CubeDecision) -> list[str]:
    win = [100 * float(x) for x in to_cumulative(decision.outcomes)[:3]]
    lose = [100 * float(x) for x in to_cumulative(swap(decision.outcomes))[:3]]
    return [
        "cubeless   X wins {:.2f}  G {:.2f}  B {:.2f}     O wins {:.2f}  G {:.2f}  B {:.2f}  %".format(*win, *lose),
        f"           equity {signed(decision.cubeless, 3)} (as if there were no cube: not how often X wins with it)",
    ]


def rows(decision: CubeDecision) -> list[str]:
    """The branches, always in the same order, and who pays for which mistake."""
    costs, mwc = decision.costs, decision.mwc
    verb = "Double" if decision.cube_owner == 0 else "Redouble"
    doubler = _cost("costs X", costs.no_double) if decision.available else ""
    lines = [_row(f"No {verb.lower()}", decision.no_double, mwc and mwc.no_double, doubler)]
    answers = (
        ("Take", "taking", decision.double_take, costs.take, mwc and mwc.double_take),
        ("Pass", "passing", decision.double_pass, costs.pass_, mwc and mwc.double_pass),
        ("Beaver", "a beaver", decision.beaver, costs.beaver, None),
    )
    for name, doing, equity, cost, chance in answers:
        if equity is None or cost is None:
            continue
        text = _cost("costs X", costs.double or 0.0) if cost < _NOTHING else _cost(f"{doing} would cost O", cost)
        lines.append(_row(f"{verb} / {name}", equity, chance, text))
    return lines


def _row(name: str, equity: float, chance: float | None, text: str) -> str:
    match = "" if chance is None else f"   MWC {100 * chance:5.2f} %"
    return f"   {name:<17} {signed(equity, 3)}{match}   {text}".rstrip()


def _cost(words: str, cost: float) -> str:
    if cost < _NOTHING:
        return "best"
    mark = next((mark for limit, mark in _MARKS if cost >= limit), "")
    return f"{words} {cost:.3f}   {mark}".rstrip()


def proper_action(decision: CubeDecision) -> list[str]:
    """What is right, in words, and when a wrong double would be."""
    if not decision.available:
        return [f"No cube decision: {_why_none(decision)}"]
    action = decision.action
    answer = action.value.rpartition("_")[2] if action is not CubeAction.DEAD_CUBE else "take"
    lines = []
    if decision.state.doubled:
        costs = decision.costs
        answers = {"take": costs.take, "pass": costs.pass_, "beaver": costs.beaver}
        answer = min((cost, name) for name, cost in answers.items() if cost is not None)[1]
        lines.append(f"Proper answer of O: {answer.capitalize()}")
        lines.append(f"Proper action of X before his double: {_words(decision)}")
    else:
        lines.append(f"Proper action: {_words(decision)}")
    share = decision.wrong_answers_needed
    if share is not None:
        wrong = "takes" if answer == "pass" else "passes"
        verb = "redouble" if decision.cube_owner > 0 else "double"
        lines.append(f"A {verb} is right only if O {wrong} wrongly in over {100 * share:.1f} % of games.")
    return lines


def _words(decision: CubeDecision) -> str:
    """As headings have it: "Double / Take"."""
    return " / ".join(part.capitalize() for part in decision.label.split(", "))


def _why_none(decision: CubeDecision) -> str:
    state = decision.state
    if state.crawford:
        return "it is the Crawford game, in which nobody doubles."
    if decision.cube_owner < 0:
        return "O owns the cube."
    if state.away is not None and state.away[0] <= state.cube:
        points = f"{state.away[0]} point{'s' * (state.away[0] > 1)}"
        return f"the cube is dead, X needs {points} and wins as much with the cube at {state.cube}."
    return f"the cube is at its highest face, {state.cube}."


class _Point(NamedTuple):
    mark: str
    at: float
    words: str


def _window(decision: CubeDecision) -> list[str]:
    """Where X and O act, on the line of X's chances to win."""
    points = decision.points
    win = float(decision.outcomes[:3].sum())
    owned = decision.cube_owner > 0
    marks = [_Point("*", win, f"now {100 * win:.1f}")]
    if points.take is not None:
        marks.append(_Point("t", points.take, f"X takes this cube from {100 * points.take:.1f}"))
    opens = points.redouble if owned else points.double
    if opens is not None:
        marks.append(_Point("D", opens, f"X {'re' * owned}doubles from {100 * opens:.1f}"))
    if points.beaver is not None:
        marks.append(_Point("B", points.beaver, f"O beavers up to {100 * points.beaver:.1f}"))
    if points.cash is not None:
        words = f"O passes from {100 * points.cash:.1f} (O takes from {100 * (1 - points.cash):.1f})"
        marks.append(_Point("P", points.cash, words))
    if points.too_good is not None:
        marks.append(_Point("G", points.too_good, f"too good from {100 * points.too_good:.1f}"))
    line = ["-"] * _LINE
    for point in reversed(marks):  # where marks meet, the first of them shows
        line[min(int(point.at * _LINE), _LINE - 1)] = point.mark
    texts = [f"{point.mark} {point.words}" for point in marks]
    legend = [""]
    for text in texts:
        if legend[-1] and len(legend[-1]) + len(text) > 76:
            legend.append("")
        legend[-1] += ("   " if legend[-1] else "") + text
    return [f"X wins 0 %  |{''.join(line)}| 100 %", *legend, "gammon shares held fixed"]


# ---- the table of scores --------------------------------------------------------------------------------------------

_CODES = {
    "no_double_take": "no", "double_take": "D/t", "double_pass": "D/p", "too_good_take": "tg/t",
    "too_good_pass": "tg/p", "optional_double_take": "o/t", "optional_double_pass": "o/p",
    "dead_cube": ".", "not_available": ".",
}  # fmt: skip


def matrix_screen(found: CubeMatrix, seconds: float) -> str:
    """A row for what X needs, a column for what O needs."""
    state = found.state
    own, opponent = state.pips
    cube = f"cube {state.cube}" + {0: " centred", 1: " owned by X", -1: " owned by O"}[state.cube_owner]
    cells = {(_place(c.away, c), _place(c.opponent_away, c)): c for c in found.cells}
    places = sorted({place for pair in cells for place in pair}, key=lambda place: (place[0], not place[1]))
    lines = [
        drawing(state, can_draw()).rpartition("\n")[0],
        f" {found.length}-point match, {cube}, X on roll     pips X {own}, O {opponent}     {found.bot}, "
        f"{found.ply}-ply",
        "",
        "X needs    O needs " + "".join(f"{_header(place):>6}" for place in places),
    ]
    for row in places:
        texts = [_code(cells.get((row, column))) for column in places]
        lines.append(f"{_header(row):>7}            " + "".join(f"{text:>6}" for text in texts))
    lines += [
        "",
        "D double, no: do not, tg: too good to double, o: optional; t take, p pass; . nobody can gain by it",
        f"1C: needs 1, Crawford game; 1: after it.   match equity table {found.table}   {seconds:.1f} s",
    ]
    return "\n".join(line.rstrip() for line in lines)


def _place(away: int, cell: MatrixCell) -> tuple[int, bool]:
    """A row or column: points needed, and whether it is the one of the Crawford game."""
    return away, cell.crawford and away == 1


def _header(place: tuple[int, bool]) -> str:
    return f"{place[0]}{'C' * place[1]}"


def _code(cell: MatrixCell | None) -> str:
    if cell is None:
        return ""
    return _CODES[cell.decision.action.value.replace("redouble", "double").replace("too_good_double", "too_good")]
