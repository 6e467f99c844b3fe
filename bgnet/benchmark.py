"""Benchmarks of judgement: how much decisions lose, how far chances are off, whether they come true, and at what speed.

`score_decisions`, `score_outcomes`, `calibrate` and `measure_speed` take one bot or several (by spec, as objects, or as
a mapping of names to either) and give results with the numbers of tables, paired comparisons and `as_dict` for JSON.
The command is `bgnet bench`. `build_decisions` and `build_outcomes` make sets of one's own
(scripts/build_decisions.py).
"""

from __future__ import annotations

from bgnet.benchmark_bots import BrokenBot
from bgnet.benchmark_build import DecisionSettings, OutcomeSettings, build_decisions, build_outcomes, done_so_far
from bgnet.benchmark_calibration import CalibrationBenchmark, CalibrationScore, ReliabilityCurve, calibrate
from bgnet.benchmark_decisions import DecisionBenchmark, WorstDecision, score_decisions
from bgnet.benchmark_files import SetFileError, shipped_sets
from bgnet.benchmark_outcomes import OutcomeBenchmark, OutcomeSet, read_outcomes, score_outcomes
from bgnet.benchmark_results import Comparison, DecisionScore, OutcomeScore, Score
from bgnet.benchmark_speed import SpeedBenchmark, SpeedResult, measure_speed, selfplay_decisions
from bgnet.decisions import DecisionSet, JudgedDecision, read_decisions

__all__ = [
    "BrokenBot", "CalibrationBenchmark", "CalibrationScore", "Comparison", "DecisionBenchmark", "DecisionScore",
    "DecisionSet", "DecisionSettings", "JudgedDecision", "OutcomeBenchmark", "OutcomeScore", "OutcomeSet",
    "OutcomeSettings", "ReliabilityCurve", "Score", "SetFileError", "SpeedBenchmark", "SpeedResult", "WorstDecision",
    "build_decisions", "build_outcomes", "calibrate", "done_so_far", "measure_speed", "read_decisions", "read_outcomes",
    "score_decisions", "score_outcomes", "selfplay_decisions", "shipped_sets",
]  # fmt: skip
