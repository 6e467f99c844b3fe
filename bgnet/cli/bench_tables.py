"""The screens of `bgnet bench`, as plain ASCII text apart from the bots' names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bgnet.cli.common import can_draw, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bgnet.benchmark_calibration import CalibrationBenchmark
    from bgnet.benchmark_decisions import DecisionBenchmark, WorstDecision
    from bgnet.benchmark_outcomes import OutcomeBenchmark
    from bgnet.benchmark_results import Comparison, Score
    from bgnet.benchmark_speed import SpeedBenchmark
    from bgnet.statistics import Estimate

__all__ = ["calibration_screen", "decision_screen", "outcome_screen", "speed_screen"]

_CHANCE_HEADS = ("win", "win G", "win B", "lose", "lose G", "lose B")


def decision_screen(result: DecisionBenchmark, judge: str, worst: int) -> str:
    """A table of the bots by one judge, a line for each other judge, paired differences, the worst decisions."""
    found = result.decisions
    scores = result.by_judge(judge)
    lines = [
        "mean loss, thousandths of a point per decision (lower is better); "
        f"{len(found):,} decisions of {found.name}, judged by {judge}",
        *_class_table(scores, [f"{100 * s.agreement.mean:6.1f} %" for s in scores], "agrees"),
    ]
    for other in found.judges:
        if other != judge:
            means = [f"{s.bot} {s.total.mean:.2f} {_half(s.total)}" for s in result.by_judge(other)]
            lines.append(f"by {other}: {'   '.join(means)}")
    lines += _differences(result.comparisons[judge], scores[0].bot)
    if found.loss_error is not None:
        lines.append(f"the judge's own standard error of a loss: {1000 * found.loss_error:.1f} (root mean square)")
    wrong = result.worst(scores[0].bot, max(worst, 1), judge)
    if worst:
        lines += [line for decision in wrong for line in ("", *_drawn(decision))]
    elif wrong:
        lines.append(f"worst of {wrong[0].bot}: {_words(wrong[0])}   (--worst 10 draws ten)")
    return "\n".join(lines)


def outcome_screen(result: OutcomeBenchmark) -> str:
    """Errors of equity by class, then bias and error of each chance."""
    found = result.positions
    scores = result.scores
    biases = [f"{signed(s.bias.mean, 1):>7} {_half(s.bias, 1)}" for s in scores]
    lines = [
        "root mean square error of equity, thousandths of a point (lower is better); "
        f"{len(found):,} positions of {found.name}, {found.judge}",
        *_class_table(scores, biases, "mean error"),
    ]
    if found.equity_error is not None:
        lines.append(f"what a perfect evaluator would score: {1000 * found.equity_error:.1f} (the judge's own error)")
    width = _width([s.bot for s in scores])
    for title, pick in (("mean error (bias)", "chance_bias"), ("root mean square error", "chance_errors")):
        lines += ["", f"{title} of each chance, per cent (the six exclude each other)"]
        lines.append(" " * width + "".join(f"{head:>14}" for head in _CHANCE_HEADS))
        for score in scores:
            cells = []
            for estimate in getattr(score, pick).values():
                mean = 100 * estimate.mean
                text = signed(mean, 2) if pick == "chance_bias" else f"{mean:.2f}"
                cells.append(f"{text} {_half(estimate, 2, 100)}")
            lines.append(f"{score.bot:<{width}}" + "".join(f"{cell:>14}" for cell in cells))
    pairs = [pair for pair in result.comparisons if pair.a == scores[0].bot]
    if pairs:
        lines += ["", "difference of the mean squared error of equity, 95 % interval, paired"]
        lines += _pair_lines(pairs, 0)
    return "\n".join(lines)


def calibration_screen(result: CalibrationBenchmark) -> str:
    """Bias, Brier and log scores of each chance, then the reliability of every evaluator's chance to win."""
    names = [score.bot for score in result.scores]
    width = _width(names)
    sides = f"{result.a} against {'itself' if result.a == result.b else result.b}"
    lines = [
        f"calibration: {len(result.played.boards):,} positions of {result.games:,} games, {sides}, seed {result.seed}; "
        "intervals by game",
        " " * width + f"{'log score, six endings':>26}",
    ]
    for score in result.scores:
        lines.append(f"{score.bot:<{width}}{f'{score.log_score.mean:.4f} {_half(score.log_score, 4)}':>26}")
    lines += _pair_lines([pair for pair in result.comparisons if pair.a == names[0]], 4)
    for chance in result.scores[0].chances:
        lines += ["", f"{chance.replace('_', ' ')}"]
        lines.append(" " * width + f"{'bias, per cent':>22}{'Brier score':>22}{'log score':>22}")
        for score in result.scores:
            found = score.chances[chance]
            bias = f"{signed(100 * found.bias.mean, 2)} {_half(found.bias, 2, 100)}"
            brier = f"{found.brier.mean:.4f} {_half(found.brier, 4)}"
            log = f"{found.log_score.mean:.4f} {_half(found.log_score, 4)}"
            lines.append(f"{score.bot:<{width}}{bias:>22}{brier:>22}{log:>22}")
    for score in result.scores:
        lines += ["", f"{score.bot}: chance to win, said and come true, per cent"]
        lines.append("     said  came true     95 % interval   positions    games")
        curve = score.chances["win"].curve
        for i, said in enumerate(curve.predicted):
            interval = f"[{100 * curve.low[i]:.1f}, {100 * curve.high[i]:.1f}]"
            outside = "" if curve.low[i] <= said <= curve.high[i] else "   outside"
            lines.append(
                f"{100 * said:9.1f}  {100 * curve.observed[i]:9.1f}  {interval:>16}   {curve.positions[i]:>9,}"
                f"  {curve.games[i]:>7,}{outside}"
            )
    lines += ["", "lower scores are better; bias: said less came true"]
    return "\n".join(lines)


def speed_screen(result: SpeedBenchmark, machine: str) -> str:
    """A row for each bot, and what the figures are of."""
    width = _width([found.bot for found in result.results])
    head = (
        f"{'decisions/s':>13}{'ratio':>9}{'evaluations/s':>16}   {'choices':<10}{'mean equity':>12}{'same choice':>13}"
    )
    lines = [
        f"{result.decisions:,} positions in {result.blocks} blocks, one thread; ratio to {result.peer}",
        " " * width + head,
    ]
    for found in result.results:
        evaluations = "-" if found.evaluations_per_s is None else f"{found.evaluations_per_s:,.0f}"
        equity = "-" if found.mean_equity is None else signed(found.mean_equity, 5)
        lines.append(
            f"{found.bot:<{width}}{found.decisions_per_s:>13,.0f}{found.ratio:>9.2f}{evaluations:>16}   "
            f"{found.checksum:<10}{equity:>12}{100 * found.same_choice:>11.1f} %"
        )
    lines.append(f"choices: checksum of all boards chosen; same choice: as {result.peer}   {machine}")
    return "\n".join(lines)


def _class_table(scores: Sequence[Score], last: list[str], head: str) -> list[str]:
    """Scores by class and in all, with a last column of its own."""
    classes = scores[0].by_class
    width = _width([score.bot for score in scores])
    lines = [
        " " * width + "".join(f"{name:>10}" for name in classes) + f" |{'all':>9}   {'95 %':<8} {head}",
        f"{'n':>{width}}" + "".join(f"{e.count:>10,}" for e in classes.values()) + f" |{scores[0].total.count:>9,}",
    ]
    for score, extra in zip(scores, last, strict=True):
        cells = "".join(f"{e.mean:>10.2f}" for e in score.by_class.values())
        lines.append(f"{score.bot:<{width}}{cells} |{score.total.mean:>9.2f}   {_half(score.total):<8} {extra}")
    return lines


def _differences(pairs: Sequence[Comparison], first: str) -> list[str]:
    return _pair_lines([pair for pair in pairs if pair.a == first], 2)


def _pair_lines(pairs: Sequence[Comparison], digits: int) -> list[str]:
    lines = []
    for pair in pairs:
        d = pair.difference
        verdict = "" if pair.told_apart else ": not told apart here"
        interval = f"[{signed(d.low, digits)}, {signed(d.high, digits)}]"
        lines.append(f"{pair.a} - {pair.b}   {signed(d.mean, digits)}  {interval}   paired{verdict}")
    return lines


def _drawn(decision: WorstDecision) -> list[str]:
    from bgnet.analysis import read_state
    from engine.summary import drawing

    state = read_state(decision.position, decision.dice)
    return [_words(decision), drawing(state, can_draw()), f" {decision.position.position_id}"]


def _words(decision: WorstDecision) -> str:
    one, two = decision.dice
    charged = "" if decision.listed else " (no candidate: charged as the worst of them)"
    return (
        f"#{decision.number} {decision.kind} {one}-{two}, {decision.played} loses {decision.loss / 1000:.3f} "
        f"against {decision.best}{charged}"
    )


def _half(estimate: Estimate, digits: int = 2, factor: float = 1) -> str:
    """Half the 95 % interval: +-0.31; a dash when there is none."""
    half = factor * estimate.half_width
    return f"+-{half:.{digits}f}" if half < float("inf") else "+-  -"


def _width(names: Sequence[str]) -> int:
    return max(12, *(len(name) for name in names)) + 2
