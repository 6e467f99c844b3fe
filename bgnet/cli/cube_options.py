"""The stakes of a cube decision as options: what they put in place of what the position itself says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from engine.state import GameState

__all__ = [
    "BeaversOption", "CrawfordOption", "JacobyOption", "LengthOption", "OwnerOption", "ScoreOption", "Stakes",
    "before_the_roll",
]  # fmt: skip

LengthOption = Annotated[int | None, typer.Option("--length", min=0, help="Points of the match; 0 = money play.")]
ScoreOption = Annotated[
    str | None, typer.Option("--score", metavar="A-B", help="Points of the player on roll and of his opponent.")
]
CrawfordOption = Annotated[
    bool | None, typer.Option("--crawford/--no-crawford", help="It is the Crawford game, or not.")
]
JacobyOption = Annotated[bool | None, typer.Option("--jacoby/--no-jacoby", help="The Jacoby rule (money).")]
BeaversOption = Annotated[bool | None, typer.Option("--beavers/--no-beavers", help="Beavers (money).")]
OwnerOption = Annotated[
    str | None, typer.Option("--owner", metavar="WHO", help="Whose cube it is: me (who rolls), opponent, centre.")
]


class Stakes(NamedTuple):
    """The options, None where they were not given."""

    length: int | None = None
    score: str | None = None
    crawford: bool | None = None
    jacoby: bool | None = None
    beavers: bool | None = None
    value: int | None = None
    """What the cube shows."""
    owner: str | None = None

    def placed(self, state: GameState) -> GameState:
        """The state with what the options say instead of what it said itself. Raises CubeError or StateError."""
        from dataclasses import replace

        from bgnet.cube import CubeError

        match = state.match_length if self.length is None else self.length
        if not match and self.crawford is not None:
            raise CubeError(
                "the Crawford game belongs to matches, and this is money play: say --length, or leave it out"
            )
        changes: dict[str, Any] = {}
        if self.length is not None and self.length != state.match_length:
            changes |= {"match_length": self.length, "score": (0, 0), "crawford": False}
        if match and not state.match_length:
            changes |= {"jacoby": False, "beavers": False}
        if self.score is not None:
            changes |= {"score": _score(self.score, state.on_roll), "crawford": False}
        given = {"crawford": self.crawford, "jacoby": self.jacoby, "beavers": self.beavers, "cube": self.value}
        changes |= {name: value for name, value in given.items() if value is not None}
        if self.owner is not None:
            seats = {"me": state.on_roll, "opponent": 1 - state.on_roll, "centre": None, "center": None}
            if self.owner not in seats:
                raise CubeError(f"--owner {self.owner!r}: say me (the player on roll), opponent or centre")
            changes["owner"] = seats[self.owner]
        elif self.value == 1:
            changes["owner"] = None
        placed = replace(state, **changes)
        if placed.away and self.crawford is None and "crawford" in changes and min(placed.away) == 1 < max(placed.away):
            raise CubeError(
                f"at {placed.away[0]}-away {placed.away[1]}-away one player needs a single point: say --crawford, or "
                "--no-crawford if that game has been played"
            )
        return placed

    def refuse_with_matrix(self) -> None:
        """CubeError for those that a table of all scores would leave aside."""
        from bgnet.cube import CubeError

        for name in ("length", "score", "crawford", "jacoby", "beavers"):
            if getattr(self, name) is not None:
                raise CubeError(f"--matrix goes through the scores of a match by itself: leave --{name} out")


def before_the_roll(state: GameState, command: str) -> GameState:
    """The same state, once it is one in which a cube decision can be taken; CubeError with the command that asks so."""
    from dataclasses import replace

    from bgnet.analysis import xgid_or_none
    from bgnet.cube import CubeError

    if state.dice is None:
        return state
    before = xgid_or_none(replace(state, dice=None))
    asked = f"the position before it: {command.format(before)}" if before else "give the position before it"
    raise CubeError(f"cube decisions come before the roll, and the dice show {state.dice[0]}-{state.dice[1]}; {asked}")


def _score(text: str, on_roll: int) -> tuple[int, int]:
    """'3-5', the player on roll first -> by seat."""
    import re

    from bgnet.cube import CubeError

    found = re.fullmatch(r"\s*(\d+)\s*[-:,]\s*(\d+)\s*", text)
    if found is None:
        raise CubeError(f"--score {text!r}: give two numbers, the points of the player on roll first, such as 3-5")
    own, opponent = int(found[1]), int(found[2])
    return (opponent, own) if on_roll else (own, opponent)
