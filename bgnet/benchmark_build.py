"""Building benchmark sets: positions sampled from self-play, their candidates or themselves rolled out.

A set is settled by its settings: the same ones give the same lines, in one go or after any number of interruptions.
The file is written atomically every few seconds; going on with it needs no more than asking for the same set again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.benchmark_bots import chosen_by
from bgnet.benchmark_files import SetFileError, read_lines, write_lines
from bgnet.benchmark_outcomes import OUTCOMES_FORMAT
from bgnet.benchmark_sampling import NotEnough, Sample, sample
from bgnet.classes import CLASSES
from bgnet.composite import Composite
from bgnet.decisions import DECISIONS_FORMAT
from bgnet.evaluators import find_net, load
from bgnet.players import player
from bgnet.rollout_runs import ProgressLike
from bgnet.rollouts import rollout, rollout_plays
from bgnet.search import NORMAL, Candidate, Search
from engine.dice import check_stream
from engine.plays import Play, legal_plays
from engine.position import Position

__all__ = [
    "DecisionSettings", "NotEnough", "OutcomeSettings", "build_decisions", "build_outcomes", "done_so_far",
]  # fmt: skip

_SAVE_EVERY_S = 10.0
_DIGITS = 6  # of equities and chances: far finer than any rollout


def _evenly() -> dict[str, int]:
    return dict.fromkeys(CLASSES, 50)


@dataclass(frozen=True, kw_only=True)
class _Settings:
    """What settles a set. Raises ValueError for what cannot be."""

    net: str = "standard"
    """The network that plays the games and the rollouts, by name, file or run folder."""
    quotas: Mapping[str, int] = field(default_factory=_evenly)
    """How many of each class (bgnet.classes.CLASSES)."""
    seed: int = 1
    trials: int = 432
    """Of each rollout; multiples of 36 are balanced in the first roll."""
    truncate: int | None = 10
    """Plies after which trials are judged; None: to the end of the game."""
    ply: int = 0
    """The depth of the play inside the rollouts."""

    def __post_init__(self) -> None:
        check_stream(self.seed)
        if unknown := set(self.quotas) - set(CLASSES):
            raise NotEnough(f"there is no class {sorted(unknown)[0]!r}, only {', '.join(CLASSES)}")
        if min(self.quotas.values(), default=0) < 0 or not sum(self.quotas.values()):
            raise NotEnough(f"quotas must not be below 0, and not all 0: {dict(self.quotas)}")
        for name, value, least in (("trials", self.trials, 2), ("truncate", self.truncate, 1), ("ply", self.ply, 0)):
            if value is not None and (not isinstance(value, int) or value < least):
                raise ValueError(f"{name} must be a whole number, at least {least}, not {value!r}")

    @property
    def judge(self) -> str:
        """As "rollout 432x0-ply, 10 plies, net:standard"."""
        end = "" if self.truncate is None else f", {self.truncate} plies"
        return f"rollout {self.trials}x{self.ply}-ply{end}, net:{self.net.removeprefix('net:')}"

    @property
    def rollout(self) -> dict[str, Any]:
        """Arguments of a rollout."""
        return {"trials": self.trials, "truncate": self.truncate, "ply": self.ply}


@dataclass(frozen=True, kw_only=True)
class DecisionSettings(_Settings):
    """What settles a set of decisions."""

    search: int = 1
    """The depth at which candidates are picked."""
    most: int = 5
    """Candidates of the search at most."""
    within: float = 0.16
    """And no more than so many points below its best. With a single one the decision is dropped: it is too easy."""
    least: float = 0.002
    """A decision whose candidates are all closer together than this is dropped: nothing can be lost."""
    include: tuple[str, ...] = ()
    """Bots whose choices are candidates too, as the network's own at 0-ply always is: what they lose is then known, not
    only bounded."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.most, int) or self.most < 2 or not self.within > 0 or not self.least >= 0:
            raise ValueError(f"most must be at least 2, within above 0, least not below 0: {self}")


@dataclass(frozen=True, kw_only=True)
class OutcomeSettings(_Settings):
    """What settles a set of positions with outcomes."""


def build_decisions(
    path: str | os.PathLike[str],
    settings: DecisionSettings,
    *,
    threads: int = 0,
    progress: ProgressLike | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> int:
    """Build a set of decisions in a file, or go on with one -> how many decisions it has now.

    threads: 0 = all cores; the result does not depend on it. progress: anything with update(n, **fields). stop: asked
    after every decision; True leaves the file as it is then. Ctrl-C loses the decision at work, a kill up to ten
    seconds. Raises SetFileError when the file holds another set, NotEnough, OSError when it cannot be written, and what
    loading the network and making the bots raises.
    """
    net = load(settings.net)
    search = Search(Composite(net), settings.search, filters=NORMAL, threads=threads)
    choosers = {settings.net: player(net), **{spec: player(spec) for spec in settings.include}}
    picked: dict[bytes, list[Candidate]] = {}

    def wanted(found: Sample) -> bool:
        kept = _candidates(search, found, settings)
        picked[found.board.tobytes()] = kept
        return len(kept) > 1 and kept[0].equity - kept[-1].equity >= settings.least

    def judged(number: int, found: Sample) -> dict[str, Any]:
        results = [candidate.board for candidate in picked.pop(found.board.tobytes())]
        for spec, bot in choosers.items():
            choice = chosen_by(spec, bot, found.board[None], found.dice[None])[0]
            if not any((choice == result).all() for result in results):
                results.append(choice)
        position = Position(found.board.tolist())
        done = rollout_plays(
            position, found.dice.tolist(), _plays(position, found.dice, results), search.evaluator,
            seed=_rollout_seed(settings, number), threads=threads, **settings.rollout,
        )  # fmt: skip
        best = done.best
        rows = [[best.position.position_id, round(best.equity, _DIGITS), 0.0]]
        for play in done.plays[1:]:
            error = round(play.joint_std_error or 0.0, _DIGITS)
            rows.append([play.position.position_id, round(play.equity, _DIGITS), error])
        return {
            "class": found.kind,
            "position": position.position_id,
            "dice": found.dice.tolist(),
            "trials": done.trials,
            "candidates": rows,
        }

    samples = sample(net, settings.quotas, settings.seed, wanted)
    return _build(Path(path), _header(DECISIONS_FORMAT, settings), settings, samples, judged, progress, stop)


def build_outcomes(
    path: str | os.PathLike[str],
    settings: OutcomeSettings,
    *,
    threads: int = 0,
    progress: ProgressLike | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> int:
    """Build a set of positions with outcomes in a file, or go on with one; as `build_decisions`."""
    net = load(settings.net)
    judge = Composite(net)

    def judged(number: int, found: Sample) -> dict[str, Any]:
        position = Position(found.board.tolist())
        seed = _rollout_seed(settings, number)
        done = rollout(position, judge, seed=seed, threads=threads, **settings.rollout)
        return {
            "class": found.kind,
            "position": position.position_id,
            "trials": done.trials,
            "outcomes": [round(x, _DIGITS) for x in done.outcomes.tolist()],
            "equity": round(done.equity, _DIGITS),
            "std_error": round(done.std_error, _DIGITS),
            "chance_std_errors": [round(x, _DIGITS) for x in done.chance_std_errors.tolist()],
        }

    samples = sample(net, settings.quotas, settings.seed)
    return _build(Path(path), _header(OUTCOMES_FORMAT, settings), settings, samples, judged, progress, stop)


def _build(
    path: Path,
    header: dict[str, Any],
    settings: _Settings,
    samples: Iterator[Sample],
    judged: Callable[[int, Sample], dict[str, Any]],
    progress: ProgressLike | None,
    stop: Callable[[], bool],
) -> int:
    rows = _done_before(path, header)
    if not rows:
        write_lines(path, header, rows)  # fails now, not after the first rollouts
    begun_with = len(rows)
    written = time.monotonic()
    try:
        for number, found in enumerate(samples):
            if number < begun_with:
                _check_same(path, number, rows[number], found)
                continue
            if stop():
                break
            rows.append(judged(number, found))
            if progress is not None:
                progress.update(1)
            if time.monotonic() - written >= _SAVE_EVERY_S:
                write_lines(path, header, rows)
                written = time.monotonic()
    finally:
        if len(rows) > begun_with:
            write_lines(path, header, rows)
    return len(rows)


def done_so_far(path: str | os.PathLike[str]) -> int:
    """How many lines of a set a file has; 0 when there is none."""
    return max(0, sum(1 for line in read_lines(Path(path)) if line.strip()) - 1) if Path(path).exists() else 0


def _rollout_seed(settings: _Settings, number: int) -> int:
    """Another for every entry, and none the seed of the games."""
    return (settings.seed + 1 + number) % 2**32


def _header(format_: str, settings: _Settings) -> dict[str, Any]:
    fields = asdict(settings)
    fields["quotas"] = dict(settings.quotas)
    if "include" in fields:
        fields["include"] = list(fields["include"])
    digest = hashlib.sha256(find_net(settings.net).read_bytes()).hexdigest()[:16]
    return {"format": format_, "judge": settings.judge, "net_sha256": digest, "settings": fields}


def _done_before(path: Path, header: dict[str, Any]) -> list[dict[str, Any]]:
    """The lines of an earlier go at the same set. Raises SetFileError when the file holds something else."""
    if not path.exists():
        return []
    lines = [line for line in read_lines(path) if line.strip()]
    try:
        old, *rows = [json.loads(line) for line in lines]
        if not isinstance(old, dict) or not all(isinstance(row, dict) for row in rows):
            raise ValueError("objects are expected")
    except ValueError as error:
        raise SetFileError(f"{path}: not a set that can be gone on with ({error}); name a new file") from error
    if old != header:
        before = {**old, **old.get("settings", {})}
        now = {**header, **header["settings"]}
        names = sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))
        changes = [f"{key} is {before.get(key)!r}, not {now.get(key)!r}" for key in names if key != "settings"]
        raise SetFileError(f"{path} holds another set: {'; '.join(changes)}; name a new file")
    return rows


def _check_same(path: Path, number: int, row: Mapping[str, Any], found: Sample) -> None:
    position = Position(found.board.tolist()).position_id
    if row.get("position") != position or row.get("dice", found.dice.tolist()) != found.dice.tolist():
        raise SetFileError(
            f"{path}: entry {number + 1} is {row.get('position')}, but the games now give {position}; "
            "was the file made by another version? Name a new file"
        )


def _candidates(search: Search, found: Sample, settings: DecisionSettings) -> list[Candidate]:
    """What the search thinks worth a rollout, the best first; one or none for a decision that is too easy."""
    ranked = search.rank(found.board, found.dice)
    deepest = [candidate for candidate in ranked if candidate.ply == ranked[0].ply]
    near = [candidate for candidate in deepest if candidate.equity >= deepest[0].equity - settings.within]
    return near[: settings.most]


def _plays(position: Position, dice: NDArray[np.int8], results: list[NDArray[np.int8]]) -> list[Play]:
    plays = {play.position.board.tobytes(): play for play in legal_plays(position, dice.tolist())}
    return [plays[result.tobytes()] for result in results]
