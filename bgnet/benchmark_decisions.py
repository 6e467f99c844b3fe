"""Benchmark of decisions: what bots' choices lose on positions whose candidate plays have been judged."""

from __future__ import annotations

import functools
import os
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bgnet.benchmark_bots import Bots, chosen_by, named_players
from bgnet.benchmark_results import MEQ, Comparison, DecisionScore, compared
from bgnet.classes import CLASSES
from bgnet.decisions import DecisionSet, read_decisions
from bgnet.players import Player
from bgnet.progress import ProgressLike
from engine.plays import legal_plays
from engine.position import Position

__all__ = ["DecisionBenchmark", "WorstDecision", "score_decisions"]

_TOGETHER = 64  # decisions that a bot gets at once, so that progress moves


@dataclass(frozen=True, kw_only=True)
class WorstDecision:
    """A decision that a bot got wrong."""

    bot: str
    number: int
    """In the set, from 1."""
    kind: str
    """Its class."""
    position: Position
    dice: tuple[int, int]
    played: str
    """As one writes the bot's choice, in the mover's numbers."""
    best: str
    """The judge's best play."""
    loss: float
    """Thousandths of a point."""
    listed: bool
    """False: the choice is no candidate, and is charged what the set says for such ones (a lower bound as a rule)."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "bot": self.bot,
            "number": self.number,
            "class": self.kind,
            "position_id": self.position.position_id,
            "dice": list(self.dice),
            "played": self.played,
            "best": self.best,
            "loss": self.loss,
            "listed": self.listed,
        }


@dataclass(frozen=True, kw_only=True)
class DecisionBenchmark:
    """The scores of some bots on one set."""

    decisions: DecisionSet = field(repr=False)
    scores: tuple[DecisionScore, ...]
    """Of every bot, in the order asked, by every judge."""

    def by_judge(self, judge: str) -> tuple[DecisionScore, ...]:
        """The scores of all bots by one judge."""
        return tuple(score for score in self.scores if score.judge == judge)

    @functools.cached_property
    def comparisons(self) -> dict[str, tuple[Comparison, ...]]:
        """By judge: paired differences of mean loss of every two bots."""
        return {
            judge: compared([(s.bot, s.losses) for s in self.by_judge(judge)], DecisionScore.measure)
            for judge in self.decisions.judges
        }

    def worst(self, bot: str, count: int = 5, judge: str | None = None) -> list[WorstDecision]:
        """A bot's decisions that lose most by a judge (default: the first), the worst first; only real losses."""
        score = next(s for s in self.by_judge(judge or self.decisions.judges[0]) if s.bot == bot)
        order = np.argsort(-score.losses, kind="stable")[:count]
        return [self._wrong(score, int(row)) for row in order if score.losses[row] > 0]

    def as_dict(self, worst: int = 0, judge: str | None = None) -> dict[str, Any]:
        """For JSON. worst: how many wrong decisions of each bot to add, by a judge (default: the first)."""
        error = self.decisions.loss_error
        bots = [score.bot for score in self.by_judge(self.decisions.judges[0])]
        return {
            "schema": "bgnet.bench.decisions/1",
            "set": self.decisions.name,
            "decisions": len(self.decisions),
            "judges": list(self.decisions.judges),
            "settings": self.decisions.header.get("settings"),
            "loss_std_error": None if error is None else MEQ * error,
            "unit": DecisionScore.measure,
            "scores": [score.as_dict() for score in self.scores],
            "comparisons": [
                {"judge": judge, **pair.as_dict()} for judge, pairs in self.comparisons.items() for pair in pairs
            ],
            "worst": [wrong.as_dict() for bot in bots for wrong in self.worst(bot, worst, judge)],
        }

    def _wrong(self, score: DecisionScore, row: int) -> WorstDecision:
        decision = self.decisions.decisions[row]
        column = self.decisions.judges.index(score.judge)
        position, dice = Position(decision.board.tolist()), (int(decision.dice[0]), int(decision.dice[1]))
        written = {play.position.board.tobytes(): play.notation for play in legal_plays(position, dice)}
        return WorstDecision(
            bot=score.bot,
            number=row + 1,
            kind=CLASSES[score.classes[row]],
            position=position,
            dice=dice,
            played=written[score.chosen[row].tobytes()],
            best=written[decision.results[int(decision.losses[:, column].argmin())].tobytes()],
            loss=float(score.losses[row]),
            listed=decision.row(score.chosen[row]) is not None,
        )


def score_decisions(
    bots: Bots, decisions: DecisionSet | str | os.PathLike[str] = "small", *, progress: ProgressLike | None = None
) -> DecisionBenchmark:
    """Let bots choose in every decision of a set, and charge them what their choices lose by its judges.

    bots: one or several, by spec, as objects, or as a mapping of names to either. decisions: a DecisionSet, the name of
    a shipped one, or a file. progress: anything with update(n, **fields), called with newly made choices.
    Raises SetFileError, BrokenBot for an illegal choice, and what making bots raises.
    """
    players = named_players(bots)  # first: a misspelt bot should not wait for the file
    found = decisions if isinstance(decisions, DecisionSet) else read_decisions(decisions)
    scores = []
    for name, bot in players.items():
        begun = time.perf_counter()
        chosen = _choices(name, bot, found, progress)
        seconds = time.perf_counter() - begun
        table = MEQ * found.losses_of(chosen)
        for column, judge in enumerate(found.judges):
            scores.append(
                DecisionScore(
                    bot=name,
                    judge=judge,
                    losses=table[:, column],
                    chosen=chosen,
                    classes=found.classes,
                    seconds=seconds,
                )
            )
    return DecisionBenchmark(decisions=found, scores=tuple(scores))


def _choices(name: str, bot: Player, found: DecisionSet, progress: ProgressLike | None) -> NDArray[np.int8]:
    chosen = []
    for start in range(0, len(found), _TOGETHER):
        some = slice(start, start + _TOGETHER)
        chosen.append(chosen_by(name, bot, found.boards[some], found.dice[some]))
        if progress is not None:
            progress.update(len(chosen[-1]), bot=name)
    return np.concatenate(chosen)
