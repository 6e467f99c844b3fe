"""Decision sets: positions with dice, and what their candidate plays are worth by one or more judges.

Three kinds of files are read:
- our own JSON lines: a header (bgnet.benchmark_files), then {"position": ID, "dice": [3, 1], "candidates":
  [[ID after the play with the opponent on roll, equity for the mover, standard error of its loss], ...]} and fields for
  the reader's eyes only ("class", "trials");
- JSON lines without a header: {"board": 26 counts, "dice": [3, 1], "candidates": [[26 counts after the play in the
  MOVER's view, equity by the first judge, by the second ...], ...]};
- GNU Backgammon's .bm files (bgnet.benchmark_gnubg), whose o and #R lines are outcomes (bgnet.benchmark_outcomes).
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.benchmark_files import SetFileError, checked_header, open_set
from bgnet.benchmark_gnubg import BmLineError, parse_bm
from bgnet.classes import classify
from bgnet.legality import legal_choices
from engine.moves import check_boards, check_dice
from engine.position import Position

__all__ = ["DECISIONS_FORMAT", "DecisionSet", "JudgedDecision", "read_decisions"]

DECISIONS_FORMAT = "bgnet.decisions/1"
_TOGETHER = 4096  # decisions whose legal results are made together


@dataclass(frozen=True, eq=False)
class JudgedDecision:
    """A position with dice, and what its candidates lose."""

    board: NDArray[np.int8]
    """int8[26], the mover's view."""
    dice: NDArray[np.int8]
    """int8[2]."""
    results: NDArray[np.int8]
    """int8[K, 26]: the candidates, in the next player's view."""
    losses: NDArray[np.float64]
    """float64[K, J]: points that each loses against the best one, by each judge; >= 0."""
    unlisted: NDArray[np.float64]
    """float64[J]: what a choice loses that is no candidate."""
    errors: NDArray[np.float64] | None = None
    """float64[K], standard errors of the losses by a judge that rolled them out; None when not known."""

    def row(self, result: NDArray[np.int8]) -> int | None:
        """Which candidate a result int8[26] (next player's view) is, None if it is not listed."""
        found = np.flatnonzero((self.results == result).all(axis=1))
        return int(found[0]) if len(found) else None

    def losses_of(self, result: NDArray[np.int8]) -> NDArray[np.float64]:
        """float64[J]: what choosing a result int8[26] (next player's view) loses."""
        row = self.row(result)
        return self.unlisted if row is None else self.losses[row]


@dataclass(frozen=True, eq=False)
class DecisionSet(Sequence[JudgedDecision]):
    """Judged decisions with what is known about them."""

    name: str
    decisions: tuple[JudgedDecision, ...] = field(repr=False)
    judges: tuple[str, ...]
    """One for each column of losses."""
    header: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Of the file: how it was made."""

    def __len__(self) -> int:
        return len(self.decisions)

    def __getitem__(self, index: Any) -> Any:
        """A decision; a DecisionSet for a slice."""
        if isinstance(index, slice):
            return DecisionSet(self.name, self.decisions[index], self.judges, self.header)
        return self.decisions[index]

    def __iter__(self) -> Iterator[JudgedDecision]:
        return iter(self.decisions)

    @functools.cached_property
    def boards(self) -> NDArray[np.int8]:
        """int8[N, 26]."""
        return np.array([d.board for d in self.decisions], dtype=np.int8).reshape(-1, 26)

    @functools.cached_property
    def dice(self) -> NDArray[np.int8]:
        """int8[N, 2]."""
        return np.array([d.dice for d in self.decisions], dtype=np.int8).reshape(-1, 2)

    @functools.cached_property
    def classes(self) -> NDArray[np.int8]:
        """int8[N], see bgnet.classes: of the positions before the play."""
        return classify(self.boards)

    def losses_of(self, chosen: NDArray[np.int8]) -> NDArray[np.float64]:
        """int8[N, 26], a result for every decision (next player's view) -> float64[N, J], points lost by each judge."""
        pairs = zip(self.decisions, chosen, strict=True)
        return np.array([decision.losses_of(result) for decision, result in pairs], dtype=np.float64)

    @functools.cached_property
    def loss_error(self) -> float | None:
        """The root mean square of the standard errors of the losses, in points; None when they are not known.

        The best candidate is left out, its loss is 0.
        """
        known = [d.errors[d.losses[:, 0] > 0] for d in self.decisions if d.errors is not None]
        errors = np.concatenate(known) if known else np.zeros(0)
        return float(np.sqrt(np.mean(errors**2))) if len(errors) else None


def read_decisions(name_or_path: str | os.PathLike[str]) -> DecisionSet:
    """Read a shipped set by its name, or a file of one of the three kinds (its first line tells which).

    Raises SetFileError naming the line: also for a candidate that is not legal.
    """
    path, name, lines, is_json = open_set(name_or_path, "decisions")
    found = _read_json(path, name, lines) if is_json else _read_bm(path, name, lines)
    if not len(found):
        raise SetFileError(f"{path}: holds no decisions")
    return found


def _read_bm(path: Path, name: str, lines: list[str]) -> DecisionSet:
    try:
        found = parse_bm(lines)
    except BmLineError as error:
        raise SetFileError(f"{path}, {error}") from error
    decisions = [JudgedDecision(d.board, d.dice, d.results, d.losses[:, None], d.losses[-1:]) for d in found.decisions]
    _check_legal(path, [d.line for d in found.decisions], decisions)
    return DecisionSet(name, tuple(decisions), ("rollout",), {"comments": found.comments})


def _read_json(path: Path, name: str, lines: list[str]) -> DecisionSet:
    header: dict[str, Any] = {}
    decisions: list[JudgedDecision] = []
    numbers: list[int] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if "format" in row:
                header = checked_header(row, DECISIONS_FORMAT, first=not decisions)
            else:
                decisions.append(_own(row) if header else _headless(row))
                numbers.append(number)
                if decisions[-1].losses.shape[1] != decisions[0].losses.shape[1]:
                    raise ValueError("another number of judges than before")
        except (ValueError, KeyError, TypeError, IndexError, OverflowError, RecursionError) as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else error
            raise SetFileError(f"{path}, line {number}: not a judged decision ({reason})") from error
    _check_legal(path, numbers, decisions)
    count = decisions[0].losses.shape[1] if decisions else 1
    judges = (str(header["judge"]),) if header else tuple(f"judge {j + 1}" for j in range(count))
    return DecisionSet(name, tuple(decisions), judges, header)


def _own(row: dict[str, Any]) -> JudgedDecision:
    board = Position.from_position_id(row["position"]).board
    results = np.array([Position.from_position_id(id_).board for id_, _, _ in row["candidates"]])
    numbers = np.array([(equity, error) for _, equity, error in row["candidates"]], dtype=np.float64)
    return _judged(board, row["dice"], results, numbers[:, :1], numbers[:, 1])


def _headless(row: dict[str, Any]) -> JudgedDecision:
    board = np.array(row["board"], dtype=np.int8)
    candidates = row["candidates"]
    if not candidates:
        raise ValueError("no candidates")
    results = np.array([np.array(result, dtype=np.int8) for result, *_ in candidates]).reshape(-1, 26)
    equities = np.array([equities for _, *equities in candidates], dtype=np.float64).reshape(len(candidates), -1)
    return _judged(board, row["dice"], np.ascontiguousarray(-results[:, ::-1]), equities)


def _judged(
    board: NDArray[np.int8],
    dice: list[int],
    results: NDArray[np.int8],
    equities: NDArray[np.float64],
    errors: NDArray[np.float64] | None = None,
) -> JudgedDecision:
    roll = np.array(dice, dtype=np.int8)
    if board.shape != (26,) or roll.shape != (2,) or not len(results) or not equities.size:
        raise ValueError("a board has 26 numbers, dice are two, and candidates with equities are needed")
    if not np.isfinite(equities).all():
        raise ValueError("an equity that is no finite number")
    check_boards(np.concatenate([board[None], results]))
    check_boards(board[None], finished=False)
    check_dice(roll[None], 1)
    lost = equities.max(axis=0) - equities
    return JudgedDecision(board, roll, results, lost, lost.max(axis=0), errors)


def _check_legal(path: Path, numbers: Sequence[int], decisions: Sequence[JudgedDecision]) -> None:
    """Raise SetFileError unless every candidate is a legal result: boards seen from the wrong side show up here."""
    for start in range(0, len(decisions), _TOGETHER):
        some = decisions[start : start + _TOGETHER]
        counts = [len(d.results) for d in some]
        boards = np.repeat([d.board for d in some], counts, axis=0)
        dice = np.repeat([d.dice for d in some], counts, axis=0)
        legal = legal_choices(boards, dice, np.concatenate([d.results for d in some]))
        if not legal.all():
            bad = int(np.repeat(np.arange(len(some)), counts)[legal.argmin()])
            raise SetFileError(
                f"{path}, line {numbers[start + bad]}: not a judged decision (a candidate is no legal result; "
                "candidates of JSON lines without a header are in the mover's view, all others in the next player's)"
            )
