"""Games between bots with duplicate dice: who is stronger, and how sure is that?

Every dice sequence is played twice, once from either side (bgnet.arena_games). So luck cancels in part, a bot against
itself scores exactly 0, and the result depends on nothing but the bots and the seed: not on the number of workers or
the order of play. For that a player must choose by the board and the dice alone.

With a reference the luck of every roll is subtracted as well (bgnet.luck): the result means the same, and spreads so
much less that many times fewer games tell as much. Runs can stop early (bgnet.sequential), leave a record and be
continued from it (bgnet.arena_record); bgnet.round_robin lets more than two bots play.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bgnet.arena_errors import ArenaError, ArenaSettingsError
from bgnet.arena_games import RULES, CubelessSettings
from bgnet.arena_progress import two_bots
from bgnet.arena_record import RecordError
from bgnet.arena_results import ArenaResult
from bgnet.arena_runs import Sheet, play_contests
from bgnet.luck import DEFAULT_REFERENCE
from bgnet.players import Bot
from bgnet.progress import ProgressLike
from bgnet.sequential import Rule, Sprt, Stopped, StopRuleError, Until
from engine import RuleSet

__all__ = [
    "DEFAULT_REFERENCE", "RULES", "ArenaError", "ArenaResult", "ArenaSettingsError", "Bot", "RecordError", "Sprt",
    "StopRuleError", "Until", "play",
]  # fmt: skip

PAIRS_PER_CHUNK = 50
"""Pairs played in lockstep unless said: players see large batches, and workers get work in good time."""


def play(
    a: Bot,
    b: Bot,
    games: int,
    seed: int = 1,
    rules: str | RuleSet = "money",
    workers: int = 1,
    progress: ProgressLike | None = None,
    *,
    variant: str = "backgammon",
    start: NDArray[np.int8] | None = None,
    check: bool = True,
    pairs_per_chunk: int = PAIRS_PER_CHUNK,
    reference: Bot | None = None,
    stop: Rule | None = None,
    record: str | os.PathLike[str] | None = None,
    resume: bool = False,
) -> ArenaResult:
    """Let bots A and B play `games` cubeless games: half as many dice pairs, each played from both sides.

    a, b: bot specs, Evaluators or Players; with workers > 1 specs, since every process makes its own bots.
    rules: "money", "dmp" (every win 1 point, and bots made from specs or Evaluators play for wins) or a
    RuleSet. progress: anything with update(n, **fields), called with the games done. variant: backgammon, nackgammon
    or hypergammon. start: int8[26], another board to start from, the view of whoever begins. check: hold every choice
    against the legal results (a few microseconds each).
    pairs_per_chunk: pairs played in lockstep, so that players see large batches.

    reference: judges the luck of every roll, which is then subtracted (DEFAULT_REFERENCE will do); None: it is not
    looked at. stop: a rule that may end it before all games are played, Until(0.01) or Sprt(0, 0.01); it looks at the
    luck-adjusted results where there are some. record: a new file that gets every pair's result; resume: go on with
    that file, to the result that one run would have had. With another number of games it is a longer run.

    Raises ArenaSettingsError for bad arguments, what making the bots raises, BotSpecError for a reference that has no
    chances to give, ArenaError when a bot chooses an illegal result, StopRuleError for a rule that could never look,
    LuckError when the reference gives no numbers, bgnet.workers.WorkerError when a worker process dies, RecordError for
    a record that is there already or, to resume, of another run.
    """
    settings = CubelessSettings(
        count=games, seed=seed, rules=rules, workers=workers, progress=progress, variant=variant, start=start,
        check=check, pairs_per_chunk=pairs_per_chunk, reference=reference, stop=stop, record=record, resume=resume,
    )  # fmt: skip

    def result_of(
        names: Sequence[str], sheets: Sequence[Sheet], stopped: Stopped | None, seconds: float
    ) -> ArenaResult:
        return ArenaResult.of(names[0], names[1], sheets[0], settings, stopped, seconds)

    return play_contests((a, b), [(0, 1)], settings, result_of, show=two_bots(settings))
