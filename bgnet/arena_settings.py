"""What all runs of the arena share: settings and their checks, bots made ready, contests played, a record kept."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bgnet.arena_games import (
    SCHEMA,
    ArenaSettingsError,
    Bot,
    Contest,
    Entrant,
    check_checkers,
    forget_bots,
    play_pairs,
    player_of,
    reference_of,
)
from bgnet.arena_record import Columns
from bgnet.arena_runs import Job, Plan, Result, Sheet, run_recorded
from bgnet.evaluators import Evaluator
from bgnet.sequential import Rule, Stopped
from engine import RuleSet, dice
from engine.moves import check_boards
from engine.rules import DMP, MONEY, VARIANTS

__all__ = ["RULES", "ProgressLike", "Settings", "play_contests"]

RULES = {rules.name: rules for rules in (MONEY, DMP)}
"""What arena games can be played for, by name."""
_MOST_GAMES = 100_000_000


class ProgressLike(Protocol):
    """Where progress goes, such as bgnet.progress.Progress."""

    def update(self, n: int, **fields: object) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The arguments of bgnet.arena.play, but for the bots. Raises ArenaSettingsError, DiceError, BoardError."""

    games: int
    """Of each contest, at most."""
    seed: int
    rules: str | RuleSet
    workers: int
    progress: ProgressLike | None
    variant: str
    start: NDArray[np.int8] | None
    check: bool
    pairs_per_chunk: int
    reference: str | Evaluator | None
    stop: Rule | None
    record: str | os.PathLike[str] | None
    resume: bool

    def __post_init__(self) -> None:
        least = {"games": 2, "workers": 1, "pairs_per_chunk": 1}
        for name in least:
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least[name]:
                raise ArenaSettingsError(f"{name} must be a whole number, at least {least[name]}, not {value!r}")
        if self.games > _MOST_GAMES:
            raise ArenaSettingsError(f"games must be at most {_MOST_GAMES:,}, not {self.games!r}")
        if self.games % 2:
            raise ArenaSettingsError(f"games must be even, every dice sequence is played twice; not {self.games}")
        dice.check_stream(self.seed, self.games // 2)
        if not isinstance(self.rules, RuleSet) and self.rules not in RULES:
            raise ArenaSettingsError(f"rules must be one of {', '.join(RULES)}, not {self.rules!r}")
        if self.variant not in VARIANTS:
            raise ArenaSettingsError(f"variant must be one of {', '.join(VARIANTS)}, not {self.variant!r}")
        if self.resume and self.record is None:
            raise ArenaSettingsError("resume goes on with a record: name its file")
        self.board  # noqa: B018 (raises for a start that is none)

    @property
    def rule_set(self) -> RuleSet:
        """With the variant's number of checkers; a RuleSet brings its own, in plain backgammon."""
        if isinstance(self.rules, RuleSet) and self.variant == "backgammon":
            return self.rules
        rules = self.rules if isinstance(self.rules, RuleSet) else RULES[self.rules]
        return replace(rules, checkers=VARIANTS[self.variant][1])

    @property
    def board(self) -> NDArray[np.int8]:
        """int8[26]: where games start, in the view of whoever begins."""
        board = np.asarray(VARIANTS[self.variant][0] if self.start is None else self.start)
        start: NDArray[np.int8] = check_boards(board[None], finished=False, checkers=self.rule_set.checkers)[0]
        return start


def play_contests(
    bots: Sequence[Bot],
    contests: Sequence[tuple[int, int]],
    settings: Settings,
    result_of: Callable[[Sequence[str], Sequence[Sheet], Stopped | None, float], Result],
    *,
    show: Callable[[Sequence[Sheet]], dict[str, object]],
    combine: NDArray[np.float64] | None = None,
    also: Mapping[str, Any] | None = None,
) -> Result:
    """Play the contests (numbers of bots) with the same dice; result_of(names, sheets, stopped, seconds) is the result.

    combine: see bgnet.arena_runs.Plan. show: the fields of the progress display, after every chunk. also: what else a
    record must hold, because it decides when the run stops.
    """
    begun = time.perf_counter()
    rules, board = settings.rule_set, settings.board
    if settings.workers > 1 and not all(isinstance(bot, str) for bot in (*bots, settings.reference or "")):
        raise ArenaSettingsError("with more than one worker name all bots by specs such as net:standard")
    forget_bots()
    entrants = [Entrant.of(bot) for bot in bots]
    for entrant in entrants:  # a bot that cannot be made or cannot play this fails here, before anything is started
        check_checkers(f"bot {entrant.name}", player_of(entrant, rules), rules.checkers)
    reference = None if settings.reference is None else Entrant.of(settings.reference)
    if reference is not None:
        check_checkers(f"reference {reference.name}", reference_of(reference), rules.checkers)
    pairs = int(settings.games) // 2
    plan = Plan(
        task=_play_job,
        contests=[
            Contest(entrants[a], entrants[b], rules, int(settings.seed), board, settings.check, reference)
            for a, b in contests
        ],
        schema=SCHEMA,
        pairs=pairs,
        chunk=settings.pairs_per_chunk,
        workers=settings.workers,
        rule=settings.stop,
        combine=combine,
    )
    names = [entrant.name for entrant in entrants]
    progress = settings.progress

    def on_games(n: int) -> None:
        if progress is not None:
            progress.update(n)

    def on_rows(sheets: Sequence[Sheet]) -> None:
        if progress is not None:
            progress.update(0, **show(sheets))

    titles = [f"{names[a]} against {names[b]}" for a, b in contests]
    asked = {**_asked(settings, rules, board, entrants, reference), **(also or {})}
    return run_recorded(
        plan, settings.record, asked, titles, lambda *found: result_of(names, *found),
        resume=settings.resume, begun=begun, on_games=on_games, on_rows=on_rows,
    )  # fmt: skip


def _play_job(job: Job, report: Callable[[int], None]) -> Columns:
    return play_pairs(job.what, job.first, job.pairs, report)


def _asked(
    settings: Settings,
    rules: RuleSet,
    board: NDArray[np.int8],
    entrants: Sequence[Entrant],
    reference: Entrant | None,
) -> dict[str, Any]:
    """All that decides a run's results, for its record."""
    known = entrants if reference is None else [*entrants, reference]
    return {
        "kind": "cubeless games",
        "bots": [entrant.name for entrant in entrants],
        "reference": None if reference is None else reference.name,
        "made of": {entrant.name: entrant.as_dict() for entrant in known},
        "seed": int(settings.seed),
        "rules": rules.name,
        "payoff": rules.payoff.tolist(),
        "variant": settings.variant,
        "checkers": rules.checkers,
        "start": board.tolist(),
        "stop": None if settings.stop is None else settings.stop.as_dict(),
    }
