"""The settings of games and matches for stakes."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.arena_errors import ArenaSettingsError
from bgnet.arena_record import Columns
from bgnet.arena_settings import Job, Settings, Task
from bgnet.cubeful import CubefulSearch
from bgnet.entrants import Entrant, check_checkers
from bgnet.stakes_games import MOST_GAMES, SCHEMA, StakesContest, luck_of, play_stakes_pairs, stakes_player_of
from bgnet.stakes_players import PlainPlayer, StakesPlayer
from engine.actions import new_game
from engine.state import GameState, GameStatus

__all__ = ["StakesSettings", "start_of"]

_MOST_POINTS = 64  # of a match: as far as equity tables go


@dataclass(frozen=True, kw_only=True)
class StakesSettings(Settings):
    """The arguments of bgnet.stakes.play_stakes, but for the bots."""

    start: GameState
    mat: str | os.PathLike[str] | None

    kind = "games for stakes"
    schema = SCHEMA
    unit = "games or matches"
    streams = MOST_GAMES

    def __post_init__(self) -> None:
        super().__post_init__()
        start = self.start
        if start.game_state != GameStatus.NONE or start.match_over:
            raise ArenaSettingsError(
                f"start must be a game before its opening roll, such as engine.new_game(): {start!r}"
            )
        if start.match_length > _MOST_POINTS:
            raise ArenaSettingsError(f"matches go to {_MOST_POINTS} points, not to {start.match_length}")

    @property
    def even(self) -> float:
        """Half of the matches, or no points."""
        return 0.5 if self.start.match_length else 0.0

    @property
    def rules(self) -> str:
        """money or match:N."""
        return f"match:{self.start.match_length}" if self.start.match_length else "money"

    @property
    def folder(self) -> Path | None:
        """For .mat files."""
        return None if self.mat is None else Path(self.mat)

    @property
    def task(self) -> Task:
        return _play_job

    def contest(self, a: Entrant, b: Entrant, reference: Entrant | None) -> StakesContest:
        return StakesContest(a, b, self.start, int(self.seed), self.folder, reference)

    def check_bot(self, bot: Entrant) -> None:
        check_checkers(f"bot {bot.name}", _judging(stakes_player_of(bot)), self.start.checkers)

    def check_reference(self, reference: Entrant) -> None:
        check_checkers(f"reference {reference.name}", luck_of(reference).reference, self.start.checkers)

    def rules_asked(self) -> dict[str, Any]:
        start = self.start
        return {
            "rules": self.rules,
            "jacoby": start.jacoby,
            "beavers": start.beavers,
            "max_cube": start.max_cube,
            "start": repr(start),
        }

    def impossible(self, rows: Columns) -> NDArray[np.bool_]:
        points, games, largest = rows["points"], rows["games"], rows["largest"]
        over = rows["won"].sum(axis=1) + rows["lost"].sum(axis=1)
        wrong = (rows["won"] < 0).any(axis=1) | (rows["lost"] < 0).any(axis=1) | (over != games) | (games < 2)
        wrong |= (rows["plies"] < games) | (rows["turned"] < 0) | (rows["turned"] > games)
        wrong |= (rows["cubes"] < games) | (largest < 1) | (largest > 3 * rows["cubes"])
        if self.start.match_length:
            wrong |= ~np.isin(points, (0.0, 0.5, 1.0))
        else:
            wrong |= (games != 2) | (np.abs(points) > largest) | (2 * points != np.round(2 * points))
        if self.reference is None:
            wrong |= rows["luck"] != 0
        found: NDArray[np.bool_] = wrong
        return found

    def make_folder(self) -> None:
        """Make the folder for .mat files. ArenaSettingsError where files of another run would be mixed with these."""
        folder = self.folder
        if folder is None:
            return
        if folder.exists() and not folder.is_dir():
            raise ArenaSettingsError(f"{folder} is a file: name a folder for the .mat files")
        if not self.resume and next(folder.glob("pair*.mat"), None) is not None:
            raise ArenaSettingsError(
                f"{folder} holds the .mat files of another run: name another folder, or remove them"
            )
        folder.mkdir(parents=True, exist_ok=True)


def start_of(rules: str, *, jacoby: bool = False, beavers: bool = False, max_cube: int | None = None) -> GameState:
    """What is played: rules "money" or "match:N" (1 to 64 points). Raises ArenaSettingsError, StateError."""
    found = re.fullmatch(r"match:(\d{1,3})", rules)
    if rules != "money" and (found is None or not 1 <= int(found[1]) <= _MOST_POINTS):
        raise ArenaSettingsError(
            f"with the cube rules are money or match:N, a match to 1 to {_MOST_POINTS} points, not {rules!r}"
        )
    return new_game(0 if found is None else int(found[1]), jacoby=jacoby, beavers=beavers, max_cube=max_cube)


def _judging(bot: StakesPlayer) -> object:
    """The part of a bot that may know games with one number of checkers only."""
    if isinstance(bot, PlainPlayer):
        return bot.player
    return bot.evaluator if isinstance(bot, CubefulSearch) else bot


def _play_job(job: Job, report: Callable[[int], None]) -> Columns:
    return play_stakes_pairs(job.what, job.first, job.pairs, report)
