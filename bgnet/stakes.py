"""Play for stakes: money games and matches with the cube between two bots, and how sure the result is.

    result = play_stakes("net:standard", "gnubg:0", 400, rules="match:5", reference="net:standard")
    result.score            # A's share of the matches, with its 95 % interval
    result.luck_adjusted    # the same less the luck of the rolls: it means the same, in far fewer matches

Everything else is as in bgnet.arena: duplicate dice, the same result for any number of workers, runs that stop by a
rule, leave a record and are continued from it.

A money cube has no limit, so a few games can decide a session, however long it is: `StakesResult.largest` is the
largest result, and `max_cube` keeps it small.
"""

from __future__ import annotations

import functools
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.arena_games import ArenaSettingsError, Entrant, check_checkers
from bgnet.arena_record import Columns
from bgnet.arena_results import stop_fields
from bgnet.arena_runs import Job, Plan, Sheet, run_recorded
from bgnet.arena_settings import ProgressLike
from bgnet.cubeful import CubefulSearch
from bgnet.evaluators import Evaluator
from bgnet.players import Player
from bgnet.sequential import Rule, Stopped
from bgnet.stakes_games import MOST_GAMES, SCHEMA, StakesContest, luck_of, play_stakes_pairs, stakes_player_of
from bgnet.stakes_players import PlainPlayer, StakesPlayer
from bgnet.statistics import Estimate, estimate, variance_ratio
from engine import dice
from engine.actions import new_game
from engine.state import GameState, GameStatus

__all__ = ["KIND", "StakesResult", "play_stakes", "start_of"]

KIND = "games for stakes"
"""What records of such runs say they are."""
PAIRS_PER_CHUNK = 25
_MOST_POINTS = 64  # of a match: as far as equity tables go


@dataclass(frozen=True)
class StakesResult:
    """What came out, all from A's view."""

    a: str
    b: str
    rules: str
    """money or match:N."""
    start: GameState
    """What was played."""
    contests: int
    """Money games or matches."""
    seed: int
    workers: int
    seconds: float
    pair_scores: NDArray[np.float64] = field(repr=False, compare=False)
    """float64[contests / 2]: points per game, or the share of matches won, in each dice pair, in order."""
    games: int
    plies: int
    won: tuple[int, int, int, int]
    """Games won: single games, gammons, backgammons, by drops. They exclude each other."""
    lost: tuple[int, int, int, int]
    mean_cube: float
    """At the end of games; a double that is dropped is not in it."""
    turned: float
    """Share of games in which somebody doubled."""
    largest: int
    """The largest result of a game, in points."""
    reference: str | None = None
    """Who judged the luck of the rolls; None: luck was not looked at."""
    pair_luck: NDArray[np.float64] | None = field(repr=False, compare=False, default=None)
    """float64[contests / 2]: A's luck, less B's, per game or match in each dice pair, in the unit of pair_scores; None
    without a reference."""
    stop: Stopped | None = field(repr=False, compare=False, default=None)
    record: str | None = None

    @functools.cached_property
    def score(self) -> Estimate:
        """Points per game, or the share of matches won, with its 95 % interval over the pairs."""
        bounds = (0.0, 1.0) if self.start.match_length else (-np.inf, np.inf)
        return estimate(self.pair_scores, bounds=bounds)

    @functools.cached_property
    def luck_adjusted(self) -> Estimate | None:
        """The same less the luck of all rolls; None without a reference.

        Unbiased, whoever the reference is: every roll's luck is 0 on average. A share of few matches may lie outside of
        0 to 1.
        """
        return None if self.pair_luck is None else estimate(self.pair_scores - self.pair_luck)

    @property
    def best(self) -> Estimate:
        """The luck-adjusted estimate where there is one, else the plain one."""
        return self.luck_adjusted or self.score

    @property
    def variance_ratio(self) -> float | None:
        """How many times more pairs the plain result would need for the luck-adjusted interval; None if not known."""
        adjusted = self.luck_adjusted
        return None if adjusted is None else variance_ratio(self.score, adjusted)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        names = ("single", "gammon", "backgammon", "drop")
        key = "match_wins" if self.start.match_length else "points_per_game"
        return {
            "schema": "bgnet.stakes/1",
            "a": self.a,
            "b": self.b,
            "rules": self.rules,
            "jacoby": self.start.jacoby,
            "beavers": self.start.beavers,
            "max_cube": self.start.max_cube,
            "matches" if self.start.match_length else "games": self.contests,
            "seed": self.seed,
            key: self.score.mean,
            "interval": _interval(self.score),
            "luck_adjusted": self._luck_adjusted_dict(key),
            "games_played": self.games,
            "won": dict(zip(names, self.won, strict=True)),
            "lost": dict(zip(names, self.lost, strict=True)),
            "mean_cube": self.mean_cube,
            "share_doubled": self.turned,
            "largest_result": self.largest,
            "plies_per_game": self.plies / self.games,
            **stop_fields(self.stop),
            "seconds": self.seconds,
            "workers": self.workers,
            "record": self.record,
        }

    def _luck_adjusted_dict(self, key: str) -> dict[str, Any] | None:
        adjusted = self.luck_adjusted
        if adjusted is None:
            return None
        return {
            key: adjusted.mean,
            "interval": _interval(adjusted),
            "reference": self.reference,
            "variance_ratio": self.variance_ratio,
        }


def _interval(found: Estimate) -> list[float] | None:
    return [found.low, found.high] if np.isfinite(found.half_width) else None


def start_of(rules: str, *, jacoby: bool = False, beavers: bool = False, max_cube: int | None = None) -> GameState:
    """What is played: rules "money" or "match:N" (1 to 64 points). Raises ArenaSettingsError, StateError."""
    found = re.fullmatch(r"match:(\d{1,3})", rules)
    if rules != "money" and (found is None or not 1 <= int(found[1]) <= _MOST_POINTS):
        raise ArenaSettingsError(
            f"with the cube rules are money or match:N, a match to 1 to {_MOST_POINTS} points, not {rules!r}"
        )
    return new_game(0 if found is None else int(found[1]), jacoby=jacoby, beavers=beavers, max_cube=max_cube)


def play_stakes(
    a: str | Evaluator | Player | StakesPlayer,
    b: str | Evaluator | Player | StakesPlayer,
    contests: int,
    seed: int = 1,
    rules: str = "money",
    workers: int = 1,
    progress: ProgressLike | None = None,
    *,
    jacoby: bool = False,
    beavers: bool = False,
    max_cube: int | None = None,
    start: GameState | None = None,
    pairs_per_chunk: int = PAIRS_PER_CHUNK,
    reference: str | Evaluator | None = None,
    stop: Rule | None = None,
    mat: str | os.PathLike[str] | None = None,
    record: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> StakesResult:
    """Let A and B play `contests` money games or matches with the cube: half as many dice pairs, each from both seats.

    a, b: as in bgnet.stakes_players.stakes_player; with workers > 1 specs. rules, jacoby, beavers, max_cube: see
    `start_of`; start: a state from engine.new_game instead of them. Without a highest cube (max_cube) single
    games can decide a money session: look at `largest`. mat: a folder for a .mat file of every match or money game that
    is played, which GNU Backgammon and XG read; pair00001a.mat has A in seat 1 (X), pair00001b.mat in seat 0 (O).
    reference: judges the luck of every roll at 0-ply, which is then subtracted (bgnet.stakes_luck; bgnet.luck's
    DEFAULT_REFERENCE will do); None: it is not looked at. progress, stop, record, resume: as in bgnet.arena.play.

    Raises ArenaSettingsError or StateError for bad arguments, what making the bots raises, ArenaError when a bot does
    what it may not, LuckError when the reference gives no numbers, StopRuleError for a rule that could never look,
    RecordError, bgnet.workers.WorkerError.
    """
    begun = time.perf_counter()
    start = start or start_of(rules, jacoby=jacoby, beavers=beavers, max_cube=max_cube)
    _check_start(start)
    _check_numbers(contests, workers, pairs_per_chunk)
    if workers > 1 and not all(isinstance(bot, str) for bot in (a, b, reference or "")):
        raise ArenaSettingsError("with more than one worker name all bots by specs such as net:standard")
    if resume and record is None:
        raise ArenaSettingsError("resume goes on with a record: name its file")
    pairs = int(contests) // 2
    dice.check_stream(seed, pairs * MOST_GAMES)
    folder = None if mat is None else Path(mat)
    judge = None if reference is None else Entrant.of(reference)
    contest = StakesContest(Entrant.of(a), Entrant.of(b), start, int(seed), folder, judge)  # type: ignore[arg-type]
    for entrant in (contest.a, contest.b):  # a bot that cannot be made or play this fails here, before anything starts
        check_checkers(f"bot {entrant.name}", _judging(stakes_player_of(entrant)), start.checkers)
    if judge is not None:
        check_checkers(f"reference {judge.name}", luck_of(judge).reference, start.checkers)
    if folder is not None:
        _make_ready(folder, resume=resume)
    plan = Plan(
        task=_play_job,
        contests=[contest],
        schema=SCHEMA,
        pairs=pairs,
        chunk=pairs_per_chunk,
        workers=workers,
        rule=stop,
    )

    def on_games(n: int) -> None:
        if progress is not None:
            progress.update(n)

    def on_rows(sheets: Sequence[Sheet]) -> None:
        if progress is not None:
            progress.update(0, **_shown(sheets[0], start, lucky=judge is not None))

    return run_recorded(
        plan, record, _asked(contest, stop), [f"{contest.a.name} against {contest.b.name}"],
        lambda sheets, stopped, seconds: _result(contest, sheets[0], workers, seconds, stopped, record),
        resume=resume, begun=begun, unit="games or matches", on_games=on_games, on_rows=on_rows,
    )  # fmt: skip


def _check_start(start: GameState) -> None:
    if start.game_state != GameStatus.NONE or start.match_over:
        raise ArenaSettingsError(f"start must be a game before its opening roll, such as engine.new_game(): {start!r}")
    if start.match_length > _MOST_POINTS:
        raise ArenaSettingsError(f"matches go to {_MOST_POINTS} points, not to {start.match_length}")


def _check_numbers(contests: int, workers: int, pairs_per_chunk: int) -> None:
    for name, value, least in (
        ("contests", contests, 2),
        ("workers", workers, 1),
        ("pairs_per_chunk", pairs_per_chunk, 1),
    ):
        if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
            raise ArenaSettingsError(f"{name} must be a whole number, at least {least}, not {value!r}")
    if contests % 2:
        raise ArenaSettingsError(
            f"the number of games or matches must be even, the dice are used twice; not {contests}"
        )


def _judging(bot: StakesPlayer) -> object:
    """The part of a bot that may know games with one number of checkers only."""
    if isinstance(bot, PlainPlayer):
        return bot.player
    return bot.evaluator if isinstance(bot, CubefulSearch) else bot


def _make_ready(folder: Path, *, resume: bool) -> None:
    """Make the folder for .mat files. ArenaSettingsError where files of another run would be mixed with this one's."""
    if folder.exists() and not folder.is_dir():
        raise ArenaSettingsError(f"{folder} is a file: name a folder for the .mat files")
    if not resume and next(folder.glob("pair*.mat"), None) is not None:
        raise ArenaSettingsError(f"{folder} holds the .mat files of another run: name another folder, or remove them")
    folder.mkdir(parents=True, exist_ok=True)


def _play_job(job: Job, report: Callable[[int], None]) -> Columns:
    return play_stakes_pairs(job.what, job.first, job.pairs, report)


def _shown(sheet: Sheet, start: GameState, *, lucky: bool) -> dict[str, object]:
    if not sheet.done:
        return {}
    means = {"": float(sheet.points.mean())}
    if lucky:
        means["luck_adjusted_"] = float(sheet.adjusted().mean())
    if start.match_length:
        return {f"{kind}won": f"{mean:.1%}" for kind, mean in means.items()}
    return {f"{kind}points_per_game": f"{mean:+.3f}" for kind, mean in means.items()}


def _rules(start: GameState) -> str:
    return f"match:{start.match_length}" if start.match_length else "money"


def _asked(contest: StakesContest, stop: Rule | None) -> dict[str, Any]:
    start, reference = contest.start, contest.reference
    known = [contest.a, contest.b] if reference is None else [contest.a, contest.b, reference]
    return {
        "kind": KIND,
        "bots": [contest.a.name, contest.b.name],
        "reference": None if reference is None else reference.name,
        "made of": {entrant.name: entrant.as_dict() for entrant in known},
        "seed": contest.seed,
        "rules": _rules(start),
        "jacoby": start.jacoby,
        "beavers": start.beavers,
        "max_cube": start.max_cube,
        "start": repr(start),
        "stop": None if stop is None else stop.as_dict(),
    }


def _result(
    contest: StakesContest,
    sheet: Sheet,
    workers: int,
    seconds: float,
    stopped: Stopped | None,
    record: str | os.PathLike[str] | None,
) -> StakesResult:
    rows = sheet.rows()
    games = int(rows["games"].sum())
    return StakesResult(
        a=contest.a.name,
        b=contest.b.name,
        rules=_rules(contest.start),
        start=contest.start,
        contests=2 * sheet.done,
        seed=contest.seed,
        workers=int(workers),
        seconds=seconds,
        pair_scores=rows["points"].copy(),
        games=games,
        plies=int(rows["plies"].sum()),
        won=tuple(rows["won"].sum(axis=0).tolist()),
        lost=tuple(rows["lost"].sum(axis=0).tolist()),
        mean_cube=float(rows["cubes"].sum() / games),
        turned=float(rows["turned"].sum() / games),
        largest=int(rows["largest"].max()),
        reference=None if contest.reference is None else contest.reference.name,
        pair_luck=None if contest.reference is None else rows["luck"].copy(),
        stop=stopped,
        record=None if record is None else str(record),
    )
