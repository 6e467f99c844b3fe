"""Benchmark of probabilities: an evaluator's six chances and its equity against those rolled out.

Sets are JSON lines with a header (bgnet.benchmark_files), then {"position": ID, "outcomes": [six chances, exclusive, of
the player on roll], "std_error": of the equity, "chance_std_errors": [of the five cumulative chances]} and fields for
the reader's eyes only ("class", "equity", "trials"); or the o and #R lines of GNU Backgammon's .bm files.
"""

from __future__ import annotations

import functools
import json
import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.benchmark_bots import Bots, judged_by, named_evaluators
from bgnet.benchmark_files import SetFileError, checked_header, open_set
from bgnet.benchmark_gnubg import BmLineError, parse_bm
from bgnet.benchmark_results import MEQ, Comparison, OutcomeScore, compared
from bgnet.classes import classify
from bgnet.progress import ProgressLike
from engine.moves import check_boards
from engine.outcomes import from_cumulative
from engine.position import Position
from engine.rules import MONEY

__all__ = ["OUTCOMES_FORMAT", "OutcomeBenchmark", "OutcomeSet", "read_outcomes", "score_outcomes"]

OUTCOMES_FORMAT = "bgnet.outcomes/1"
_TOGETHER = 64  # positions that an evaluator gets at once, so that progress moves
_SQUARE = "squared error of equity, thousandths of a point, squared"


@dataclass(frozen=True, eq=False)
class OutcomeSet:
    """Positions before the roll with what became of them."""

    name: str
    boards: NDArray[np.int8] = field(repr=False)
    """int8[N, 26], the view of the player on roll."""
    outcomes: NDArray[np.float64] = field(repr=False)
    """float64[N, 6]; luck-adjusted, hence possibly a hair below 0."""
    std_errors: NDArray[np.float64] = field(repr=False)
    """float64[N], of the equities, points; nan where they are not known."""
    judge: str
    header: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Of the file: how it was made."""

    def __len__(self) -> int:
        return len(self.boards)

    @functools.cached_property
    def equities(self) -> NDArray[np.float64]:
        """float64[N], cubeless points."""
        return _equities(self.outcomes)

    @functools.cached_property
    def classes(self) -> NDArray[np.int8]:
        """int8[N], see bgnet.classes."""
        return classify(self.boards)

    @functools.cached_property
    def equity_error(self) -> float | None:
        """The root mean square of the standard errors of the equities, in points; None when they are not known.

        A perfect evaluator would score this much.
        """
        known = self.std_errors[np.isfinite(self.std_errors)]
        return float(np.sqrt(np.mean(known**2))) if len(known) else None


@dataclass(frozen=True, kw_only=True)
class OutcomeBenchmark:
    """The scores of some evaluators on one set."""

    positions: OutcomeSet = field(repr=False)
    scores: tuple[OutcomeScore, ...]

    @functools.cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """Paired differences of the mean squared error of equity of every two evaluators."""
        return compared([(s.bot, s.equity_errors**2) for s in self.scores], _SQUARE)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        error = self.positions.equity_error
        return {
            "schema": "bgnet.bench.outcomes/1",
            "set": self.positions.name,
            "positions": len(self.positions),
            "judge": self.positions.judge,
            "settings": self.positions.header.get("settings"),
            "equity_std_error": None if error is None else MEQ * error,
            "unit": "equities in thousandths of a point, chances as fractions of 1",
            "scores": [score.as_dict() for score in self.scores],
            "comparisons": [pair.as_dict() for pair in self.comparisons],
        }


def read_outcomes(name_or_path: str | os.PathLike[str]) -> OutcomeSet:
    """Read a shipped set by its name, or a file; its first line tells which kind. Raises SetFileError."""
    path, name, lines, is_json = open_set(name_or_path, "outcomes")
    found = _read_json(path, name, lines) if is_json else _read_bm(path, name, lines)
    if not len(found):
        raise SetFileError(f"{path}: holds no positions with outcomes")
    return found


def score_outcomes(
    bots: Bots, positions: OutcomeSet | str | os.PathLike[str] = "small", *, progress: ProgressLike | None = None
) -> OutcomeBenchmark:
    """Hold what evaluators think of the positions of a set against what became of them.

    bots: one or several, by spec, as objects, or as a mapping of names to either; each must have chances to give.
    positions: an OutcomeSet, the name of a shipped one, or a file. progress: anything with update(n, **fields).
    Raises SetFileError, BotSpecError, BrokenBot and what making bots raises.
    """
    evaluators = named_evaluators(bots)
    found = positions if isinstance(positions, OutcomeSet) else read_outcomes(positions)
    scores = []
    for name, bot in evaluators.items():
        begun = time.perf_counter()
        parts = []
        for start in range(0, len(found), _TOGETHER):
            parts.append(judged_by(name, bot, found.boards[start : start + _TOGETHER]))
            if progress is not None:
                progress.update(len(parts[-1]), bot=name)
        judged = np.concatenate(parts)
        scores.append(
            OutcomeScore(
                bot=name,
                errors=judged - found.outcomes,
                equity_errors=MEQ * (_equities(judged) - found.equities),
                classes=found.classes,
                seconds=time.perf_counter() - begun,
            )
        )
    return OutcomeBenchmark(positions=found, scores=tuple(scores))


def _equities(outcomes: NDArray[np.float64]) -> NDArray[np.float64]:
    return outcomes @ MONEY.payoff.astype(np.float64)


def _read_bm(path: Path, name: str, lines: list[str]) -> OutcomeSet:
    try:
        found = parse_bm(lines)
    except BmLineError as error:
        raise SetFileError(f"{path}, {error}") from error
    boards = np.array([row.board for row in found.outcomes], dtype=np.int8).reshape(-1, 26)
    chances = np.array([row.chances for row in found.outcomes], dtype=np.float64).reshape(-1, 5)
    outcomes = from_cumulative(chances).astype(np.float64)
    header = {"comments": found.comments}
    return OutcomeSet(name, boards, outcomes, np.full(len(boards), np.nan), "rollout", header)


def _read_json(path: Path, name: str, lines: list[str]) -> OutcomeSet:
    header: dict[str, Any] = {}
    boards: list[NDArray[np.int8]] = []
    outcomes: list[NDArray[np.float64]] = []
    errors: list[float] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if "format" in row or not header:
                header = checked_header(row, OUTCOMES_FORMAT, first=not boards)
                continue
            board = Position.from_position_id(row["position"]).board
            check_boards(board[None], finished=False)
            boards.append(board)
            outcomes.append(_chances(row["outcomes"]))
            errors.append(float(row.get("std_error", math.nan)))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else error
            raise SetFileError(f"{path}, line {number}: not a position with its outcome ({reason})") from error
    return OutcomeSet(
        name,
        np.array(boards, dtype=np.int8).reshape(-1, 26),
        np.array(outcomes, dtype=np.float64).reshape(-1, 6),
        np.array(errors, dtype=np.float64),
        str(header.get("judge", "")),
        header,
    )


def _chances(values: Any) -> NDArray[np.float64]:
    outcomes = np.array(values, dtype=np.float64)
    if outcomes.shape != (6,) or not np.isfinite(outcomes).all():
        raise ValueError("outcomes are six finite numbers")
    if abs(outcomes.sum() - 1) > 1e-3 or outcomes.min() < -0.1 or outcomes.max() > 1.1:
        raise ValueError(f"outcomes are chances that sum to 1, not {outcomes.tolist()}")
    return outcomes
