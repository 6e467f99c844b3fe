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

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.arena_progress import two_bots
from bgnet.arena_results import PairsResult, stop_fields
from bgnet.arena_runs import Sheet, play_contests
from bgnet.players import Bot, bot_name
from bgnet.progress import ProgressLike
from bgnet.sequential import Rule, Stopped
from bgnet.stakes_players import StakesPlayer
from bgnet.stakes_settings import StakesSettings, start_of
from bgnet.statistics import Estimate
from engine.state import GameState

__all__ = ["StakesResult", "play_stakes", "start_of"]

PAIRS_PER_CHUNK = 25


@dataclass(frozen=True, kw_only=True)
class StakesResult(PairsResult):
    """What came out of money games (results in points per game) or matches (in shares of matches won).

    `rules` is money or match:N.
    """

    start: GameState
    """What was played."""
    count: int
    """Money games or matches."""
    pair_scores: NDArray[np.float64] = field(repr=False, compare=False)
    """float64[count / 2]: points per game, or the share of matches won, in each dice pair, in order."""
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

    @classmethod
    def of(
        cls, a: str, b: str, sheet: Sheet, settings: StakesSettings, stopped: Stopped | None, seconds: float
    ) -> StakesResult:
        """The result of a contest's pairs."""
        rows = sheet.rows()
        games = int(rows["games"].sum())
        return cls(
            a=a,
            b=b,
            rules=settings.rules,
            start=settings.start,
            count=2 * sheet.done,
            seed=int(settings.seed),
            workers=int(settings.workers),
            seconds=seconds,
            pair_scores=rows["points"].copy(),
            games=games,
            plies=int(rows["plies"].sum()),
            won=tuple(rows["won"].sum(axis=0).tolist()),
            lost=tuple(rows["lost"].sum(axis=0).tolist()),
            mean_cube=float(rows["cubes"].sum() / games),
            turned=float(rows["turned"].sum() / games),
            largest=int(rows["largest"].max()),
            reference=None if settings.reference is None else bot_name(settings.reference),
            pair_luck=None if settings.reference is None else rows["luck"].copy(),
            stop=stopped,
            record=None if settings.record is None else str(settings.record),
        )

    @property
    def pair_results(self) -> NDArray[np.float64]:
        return self.pair_scores

    @property
    def bounds(self) -> tuple[float, float]:
        return (0.0, 1.0) if self.start.match_length else (-np.inf, np.inf)

    @property
    def score(self) -> Estimate:
        """Points per game, or the share of matches won, plain."""
        return self.plain

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
            "matches" if self.start.match_length else "games": self.count,
            "seed": self.seed,
            **self.estimate_fields(key),
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


def play_stakes(
    a: Bot | StakesPlayer,
    b: Bot | StakesPlayer,
    count: int,
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
    reference: Bot | None = None,
    stop: Rule | None = None,
    mat: str | os.PathLike[str] | None = None,
    record: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> StakesResult:
    """Let A and B play `count` money games or matches with the cube: half as many dice pairs, each from both seats.

    a, b: as in bgnet.stakes_players.stakes_player; with workers > 1 specs. rules, jacoby, beavers, max_cube: see
    `start_of`; start: a state from engine.new_game instead of them. Without a highest cube (max_cube) single
    games can decide a money session: look at `largest`. mat: a folder for a .mat file of every match or money game that
    is played, which GNU Backgammon and XG read; pair00001a.mat has A in seat 1 (X), pair00001b.mat in seat 0 (O).
    reference: judges the luck of every roll at 0-ply, which is then subtracted (bgnet.stakes_luck; bgnet.luck's
    DEFAULT_REFERENCE will do); None: it is not looked at. stop: as in bgnet.arena.play, for money games in points per
    game; of matches a rule sees the share won less one half, so Sprt(0, 0.02) tests 50 % against 52 % of the matches
    and Until(0.01) waits for +-1 %. progress, record, resume: as in bgnet.arena.play.

    Raises ArenaSettingsError or StateError for bad arguments, what making the bots raises, ArenaError when a bot does
    what it may not, LuckError when the reference gives no numbers, StopRuleError for a rule that could never look,
    RecordError, bgnet.workers.WorkerError.
    """
    settings = StakesSettings(
        count=count, seed=seed, workers=workers, progress=progress, pairs_per_chunk=pairs_per_chunk,
        reference=reference, stop=stop, record=record, resume=resume, mat=mat,
        start=start or start_of(rules, jacoby=jacoby, beavers=beavers, max_cube=max_cube),
    )  # fmt: skip

    def result_of(
        names: Sequence[str], sheets: Sequence[Sheet], stopped: Stopped | None, seconds: float
    ) -> StakesResult:
        return StakesResult.of(names[0], names[1], sheets[0], settings, stopped, seconds)

    shown = two_bots(settings, matches=settings.start.match_length > 0)
    return play_contests((a, b), [(0, 1)], settings, result_of, show=shown, before=settings.make_folder)
