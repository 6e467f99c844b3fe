"""What a player's decisions and rolls add up to, and the rates that people compare.

S is the sum of his losses in plays and cube decisions, in equity per unit of the cube.

- error rate (ER, mEMG): 1000 S / (unforced plays + close or actual cube decisions), as GNU Backgammon 1.07 counts.
  Close is a decision not to double where a double would lose less than 0.16 (its manual adds all positions that are
  too good, the program does not); actual is a cube that was turned or answered.
- performance rating (PR): 500 S / counted decisions, the same ones without plays whose first ten differ by less than
  0.001. So it is like eXtreme Gammon's; half of ER where both count the same.
- Snowie error rate: 1000 S / all plays of both players, forced ones and turns without a play included.

Resignations are judged but stand in no rate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bgnet.match_analysis import GameAnalysis, JudgedDecision

__all__ = ["Totals", "totals_of"]

_CUBE = ("no_double", "double", "take", "pass", "beaver")
_RESIGNATIONS = ("resign", "accept")
_WORDS = (
    (2, "supernatural"), (5, "world class"), (8, "expert"), (12, "advanced"), (18, "intermediate"),
    (26, "casual player"), (35, "beginner"),
)  # fmt: skip


@dataclass(frozen=True)
class Totals:
    """Of one player. Losses and luck in equity; `stake_...` in points, in a match in chances to win it."""

    plays: int
    """All turns with a roll that was played or could not be."""
    unforced_plays: int
    plays_for_pr: int
    plays_of_both: int
    checker_loss: float
    checker_stake_loss: float
    cube_decisions: int
    """He might have doubled, did, or had to answer."""
    counted_cube_decisions: int
    """Close or actual ones."""
    cube_loss: float
    cube_stake_loss: float
    resignation_loss: float
    kinds: dict[str, int]
    """How often each DecisionKind occurred."""
    losses: dict[str, float]
    """The losses of each DecisionKind."""
    marks: dict[str, int]
    """How many plays and cube decisions have the mark ?!, ? and ??."""
    luck: float
    stake_luck: float
    opponent_stake_luck: float
    """In games that were finished, as the result."""
    own_stake_luck: float
    """The same for his own rolls."""
    result: float | None
    """Points won less points lost in the finished games, in a match how much his chance to win it went up; None without
    a finished game."""

    @property
    def loss(self) -> float:
        """S."""
        return self.checker_loss + self.cube_loss

    @property
    def counted(self) -> int:
        """Decisions behind the error rate."""
        return self.unforced_plays + self.counted_cube_decisions

    @property
    def counted_for_pr(self) -> int:
        """Decisions behind PR."""
        return self.plays_for_pr + self.counted_cube_decisions

    @property
    def error_rate(self) -> float | None:
        """ER in thousandths of equity a decision; None without a decision."""
        return _rate(1000.0, self.loss, self.counted)

    @property
    def checker_error_rate(self) -> float | None:
        """Of the plays alone, an unforced play."""
        return _rate(1000.0, self.checker_loss, self.unforced_plays)

    @property
    def cube_error_rate(self) -> float | None:
        """Of the cube alone, a close or actual decision."""
        return _rate(1000.0, self.cube_loss, self.counted_cube_decisions)

    @property
    def performance_rating(self) -> float | None:
        """PR."""
        return _rate(500.0, self.loss, self.counted_for_pr)

    @property
    def snowie_error_rate(self) -> float | None:
        """A play of either player."""
        return _rate(1000.0, self.loss, self.plays_of_both)

    @property
    def words(self) -> str:
        """What the GNU Backgammon manual calls such an error rate; empty without one."""
        rate = self.error_rate
        return "" if rate is None else next((words for limit, words in _WORDS if rate < limit), "awful")

    @property
    def luck_adjusted(self) -> float | None:
        """The result less his own luck, plus his opponent's."""
        return None if self.result is None else self.result - self.own_stake_luck + self.opponent_stake_luck

    def as_dict(self, name: str, match: bool) -> dict[str, Any]:
        """For JSON: sums, counts and rates. match: `stake` values are chances to win it, else points."""
        unit = "mwc" if match else "points"
        return {
            "player": name,
            "loss": self.loss,
            "checker_loss": self.checker_loss,
            "cube_loss": self.cube_loss,
            "resignation_loss": self.resignation_loss,
            f"{unit}_loss": self.checker_stake_loss + self.cube_stake_loss,
            f"checker_{unit}_loss": self.checker_stake_loss,
            f"cube_{unit}_loss": self.cube_stake_loss,
            "plays": self.plays,
            "unforced_plays": self.unforced_plays,
            "plays_for_pr": self.plays_for_pr,
            "plays_of_both": self.plays_of_both,
            "cube_decisions": self.cube_decisions,
            "counted_cube_decisions": self.counted_cube_decisions,
            "counted_decisions": self.counted,
            "counted_decisions_for_pr": self.counted_for_pr,
            "error_rate": self.error_rate,
            "checker_error_rate": self.checker_error_rate,
            "cube_error_rate": self.cube_error_rate,
            "performance_rating": self.performance_rating,
            "snowie_error_rate": self.snowie_error_rate,
            "rating_words": self.words or None,
            "decisions_by_kind": self.kinds,
            "loss_by_kind": self.losses,
            "marks": self.marks,
            "luck": self.luck,
            f"{unit}_luck": self.stake_luck,
            f"{unit}_result": self.result,
            f"{unit}_luck_adjusted": self.luck_adjusted,
        }


def totals_of(games: Iterable[GameAnalysis], seat: int) -> Totals:
    """The sums of one player over some games."""
    games = list(games)
    both = [decision for game in games for decision in game.decisions]
    own = [decision for decision in both if decision.seat == seat]
    plays = [decision for decision in own if decision.kind == "play"]
    cubes = [decision for decision in own if decision.kind in _CUBE]
    rolls = [roll for game in games for roll in game.rolls]
    finished = [game for game in games if game.result is not None]
    side = 1.0 if seat == 1 else -1.0
    marks = Counter(decision.mark for decision in [*plays, *cubes])
    kinds = sorted({decision.kind.value for decision in own})
    return Totals(
        plays=len(plays),
        unforced_plays=sum(decision.counts for decision in plays),
        plays_for_pr=sum(decision.counts_for_pr for decision in plays),
        plays_of_both=sum(decision.kind == "play" for decision in both),
        checker_loss=_sum(plays),
        checker_stake_loss=sum(decision.stake_loss for decision in plays),
        cube_decisions=len(cubes),
        counted_cube_decisions=sum(decision.counts for decision in cubes),
        cube_loss=_sum(cubes),
        cube_stake_loss=sum(decision.stake_loss for decision in cubes),
        resignation_loss=_sum([decision for decision in own if decision.kind in _RESIGNATIONS]),
        kinds={kind: sum(decision.kind == kind for decision in own) for kind in kinds},
        losses={kind: _sum([decision for decision in own if decision.kind == kind]) for kind in kinds},
        marks={mark: marks[mark] for mark in ("?!", "?", "??")},
        luck=sum(roll.luck for roll in rolls if roll.seat == seat),
        stake_luck=sum(roll.stake_luck for roll in rolls if roll.seat == seat),
        opponent_stake_luck=sum(roll.stake_luck for game in finished for roll in game.rolls if roll.seat != seat),
        own_stake_luck=sum(roll.stake_luck for game in finished for roll in game.rolls if roll.seat == seat),
        result=side * sum(game.result or 0.0 for game in finished) if finished else None,
    )


def _sum(decisions: Iterable[JudgedDecision]) -> float:
    return sum(decision.loss for decision in decisions)


def _rate(factor: float, loss: float, count: int) -> float | None:
    return factor * loss / count if count else None
