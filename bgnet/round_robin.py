"""Round robin: everybody plays everybody with the same dice; a cross table, and a ladder with its intervals.

A rating is in points per game. Ratings are the least-squares fit to all pairings: the numbers r for which the sum over
all pairings of (result of i against j - (r_i - r_j))^2 is least. All pairings have the same number of games, so that is
each bot's mean result over the field, itself included at 0. Zero is the anchor's.

Dice pair p is the same in all pairings, so its ratings from all of its games are one independent value each: intervals
are Student's over the dice pairs and know of what the pairings share.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.arena import PAIRS_PER_CHUNK
from bgnet.arena_errors import ArenaSettingsError
from bgnet.arena_games import CubelessSettings
from bgnet.arena_progress import ladder
from bgnet.arena_results import ArenaResult, interval_fields, stop_fields
from bgnet.arena_runs import Sheet, play_contests
from bgnet.players import Bot, bot_name
from bgnet.progress import ProgressLike
from bgnet.sequential import Stopped, Until
from bgnet.statistics import Estimate, estimate
from engine import RuleSet

__all__ = ["RoundRobinResult", "ladder_weights", "round_robin"]


@dataclass(frozen=True)
class RoundRobinResult:
    """What came out. Luck-adjusted where there was a reference, else plain."""

    bots: tuple[str, ...]
    """In the order they were named."""
    anchor: str
    """Whose rating is zero."""
    pairings: tuple[ArenaResult, ...]
    """The first bot against the second, the third, ...; the second against the third, ..."""
    ratings: tuple[Estimate, ...]
    """Points per game of each bot; the anchor's is 0 without an interval."""
    plain_ratings: tuple[Estimate, ...]
    """The same with the luck left in."""
    stop: Stopped | None
    seconds: float
    record: str | None

    @property
    def ranking(self) -> list[int]:
        """Numbers of the bots, the best first."""
        return sorted(range(len(self.bots)), key=lambda i: -self.ratings[i].mean)

    def against(self, i: int, j: int) -> Estimate:
        """Bot i's points per game against bot j, by their numbers."""
        if i == j:
            raise ValueError(f"a bot does not play itself (number {i})")
        found = self.pairings[list(combinations(range(len(self.bots)), 2)).index((min(i, j), max(i, j)))].best
        if i < j:
            return found
        return Estimate(-found.mean, -found.high, -found.low, found.std_error, found.count, found.level)

    def as_dict(self) -> dict[str, Any]:
        """For JSON: ladder and pairings; numbers of a pairing are its first bot's."""
        first = self.pairings[0]
        ranks = {i: rank for rank, i in enumerate(self.ranking, start=1)}
        return {
            "schema": "bgnet.round-robin/1",
            "bots": list(self.bots),
            "anchor": self.anchor,
            "rules": first.rules,
            "variant": first.variant,
            "games_per_pairing": first.games,
            "seed": first.seed,
            "reference": first.reference,
            "ratings": [
                {
                    "bot": bot,
                    "rank": ranks[i],
                    "rating": rating.mean,
                    "interval": interval_fields(rating),
                    "plain_rating": plain.mean,
                    "plain_interval": interval_fields(plain),
                }
                for i, (bot, rating, plain) in enumerate(zip(self.bots, self.ratings, self.plain_ratings, strict=True))
            ],
            "pairings": [
                {key: value for key, value in pairing.as_dict().items() if key not in _SHARED}
                for pairing in self.pairings
            ],
            **stop_fields(self.stop),
            "seconds": self.seconds,
            "games_per_s": sum(pairing.games for pairing in self.pairings) / self.seconds,
            "workers": first.workers,
            "record": self.record,
        }


_SHARED = {
    "schema", "rules", "variant", "seed", "stopped", "sprt", "until", "interval_valid", "seconds", "games_per_s",
    "workers", "record",
}  # fmt: skip


def round_robin(
    bots: Sequence[Bot],
    games: int,
    seed: int = 1,
    rules: str | RuleSet = "money",
    workers: int = 1,
    progress: ProgressLike | None = None,
    *,
    anchor: str | None = None,
    variant: str = "backgammon",
    start: NDArray[np.int8] | None = None,
    check: bool = True,
    pairs_per_chunk: int = PAIRS_PER_CHUNK,
    reference: Bot | None = None,
    stop: Until | None = None,
    record: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> RoundRobinResult:
    """Let every bot play `games` cubeless games against every other one.

    anchor: the name of the bot whose rating is zero; None: the last one. stop: Until(w) ends it once all ratings' 95 %
    intervals are at most w to either side. progress is told of games of all pairings. Everything else, and what is
    raised, as in bgnet.arena.play.
    """
    names = [bot_name(bot) for bot in bots]
    if len(names) < 2:
        raise ArenaSettingsError(f"a round robin needs at least two bots, not {len(names)}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ArenaSettingsError(f"bots of a round robin need different names, {', '.join(twice)} is there twice")
    zero = names[-1] if anchor is None else anchor
    if zero not in names:
        raise ArenaSettingsError(f"the anchor {zero} does not play; choose one of {', '.join(names)}")
    if not isinstance(stop, Until | None):
        raise ArenaSettingsError("an SPRT compares two bots; a round robin can stop by until (the ladder's intervals)")
    settings = CubelessSettings(
        count=games, seed=seed, rules=rules, workers=workers, progress=progress, variant=variant, start=start,
        check=check, pairs_per_chunk=pairs_per_chunk, reference=reference, stop=stop, record=record, resume=resume,
    )  # fmt: skip
    pairings = list(combinations(range(len(names)), 2))
    weights = ladder_weights(len(names), names.index(zero))

    def result_of(
        names: Sequence[str], sheets: Sequence[Sheet], stopped: Stopped | None, seconds: float
    ) -> RoundRobinResult:
        results = [
            ArenaResult.of(names[a], names[b], sheet, settings, None, seconds)
            for (a, b), sheet in zip(pairings, sheets, strict=True)
        ]
        return RoundRobinResult(
            bots=tuple(names),
            anchor=zero,
            pairings=tuple(results),
            ratings=_ratings(weights @ np.array([sheet.adjusted() for sheet in sheets]), names.index(zero)),
            plain_ratings=_ratings(weights @ np.array([sheet.points for sheet in sheets]), names.index(zero)),
            stop=stopped,
            seconds=seconds,
            record=None if record is None else str(record),
        )

    return play_contests(
        bots, pairings, settings, result_of, show=ladder(weights), combine=weights, also={"anchor": zero}
    )


def ladder_weights(bots: int, anchor: int) -> NDArray[np.float64]:
    """float64[K, K (K - 1) / 2]: the least-squares ratings of K bots from the results of all pairings.

    Pairings in the order of itertools.combinations, the first bot's results; the anchor (a number) is rated 0.
    """
    pairings = list(combinations(range(bots), 2))
    weights = np.zeros((bots, len(pairings)), dtype=np.float64)
    for p, (i, j) in enumerate(pairings):
        weights[i, p], weights[j, p] = 1 / bots, -1 / bots
    weights -= weights[anchor].copy()
    return weights


def _ratings(per_pair: NDArray[np.float64], anchor: int) -> tuple[Estimate, ...]:
    """float64[K, N], ratings by each dice pair -> the K estimates."""
    return tuple(
        Estimate(0.0, 0.0, 0.0, 0.0, len(row)) if bot == anchor else estimate(row) for bot, row in enumerate(per_pair)
    )
