"""A game at one moment: whose turn it is on which board, the dice, the cube, the score, the rules in force."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import KW_ONLY, MISSING, dataclass, fields
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import StateError
from engine.position import Position
from engine.rules import VARIANTS, RuleSet
from engine.steps import read_dice

if TYPE_CHECKING:
    from engine.actions import Action, GameResult

__all__ = ["CUBE_TOP", "POINTS_TOP", "SEATS", "START_POSITIONS", "GameState", "GameStatus", "read_position"]

CUBE_TOP = 2**15
"""The highest cube: a Match ID has four bits for its logarithm."""
POINTS_TOP = 2**15 - 1
"""The longest match, and the highest score that a Match ID or an XGID can hold: 15 bits."""
SEATS = ("player 0 (O)", "player 1 (X)")
START_POSITIONS = {name: Position(board) for name, (board, _) in VARIANTS.items()}
"""Where a game of each variant begins."""

_SCORE_TOP = 2**31 - 1  # a money session has no end
_STAKES_TOP = 100


class GameStatus(enum.IntEnum):
    """How far the game is, in the numbers of Match IDs."""

    NONE = 0
    """No game has begun: the opening roll is still to come, or a position was set up by hand."""
    PLAYING = 1
    OVER = 2
    """A player has borne off his last checker."""
    RESIGNED = 3
    """A player has resigned, and the other has accepted."""
    DROPPED = 4
    """A player has dropped a double."""


@dataclass(frozen=True, slots=True, repr=False)
class GameState:
    """One moment of a game. Seats are absolute: player 1 is X, who sits at the bottom, player 0 is O.

    A plain value: == compares field by field, it hashes, and `dataclasses.replace` makes another one from it.
    Raises StateError, with every reason, for values that are out of range or cannot go together.
    """

    position: Position
    """In the view of the player on roll, also while a double or a resignation is pending."""
    _: KW_ONLY
    on_roll: int = 1
    """The seat of the player whose turn it is, 0 or 1."""
    dice: tuple[int, int] | None = None
    """In the order read; None = not rolled."""
    cube: int = 1
    """The stake, a power of two; while a double is pending still the one before it."""
    owner: int | None = None
    """The seat of the cube's owner, None = in the middle."""
    match_length: int = 0
    """Points that win the match; 0 = money play."""
    score: tuple[int, int] = (0, 0)
    """Points of (player 0, player 1), in a match or a money session."""
    crawford: bool = False
    """This is the Crawford game of the match: nobody may double."""
    jacoby: bool = False
    """Gammons and backgammons count only once the cube has been turned (money play only)."""
    beavers: bool = False
    """A player who takes may redouble at once and keep the cube (money play only)."""
    max_cube: int | None = None
    """The cube's highest face; None = no limit, 1 = there is no cube."""
    variant: str = "backgammon"
    """A name of engine.rules.VARIANTS: the start board of the next game, and the number of checkers."""
    stakes: tuple[int, int, int] = (1, 2, 3)
    """Points for a single game, a gammon and a backgammon, with the cube at 1."""
    doubled: bool = False
    """The player on roll has doubled, and the other has not answered yet."""
    resigned: int = 0
    """The player on roll has offered to resign: 1 a single game, 2 a gammon, 3 a backgammon; 0 = no.

    Unanswered, or accepted where game_state is RESIGNED.
    """
    game_state: GameStatus = GameStatus.PLAYING

    def __post_init__(self) -> None:
        if not isinstance(self.position, Position):
            raise StateError(f"position must be a Position, not {self.position!r}", "position")
        if not isinstance(self.variant, str) or self.variant not in VARIANTS:
            raise StateError(f"variant must be one of {', '.join(VARIANTS)}, not {self.variant!r}", "variant")
        if flaws := self.position.flaws(self.checkers):
            names = (flaws.name or "").lower().replace("_", " ").replace("|", ", ")
            raise StateError(f"no game has this position: {names}: {self.position!r}", "position")
        self._set("on_roll", _whole("on_roll", self.on_roll, 0, 1))
        if self.dice is not None:
            self._set("dice", read_dice(self.dice))
        self._set("cube", _face("cube", self.cube))
        if self.owner is not None:
            self._set("owner", _whole("owner", self.owner, 0, 1))
        self._set("match_length", _whole("match_length", self.match_length, 0, POINTS_TOP))
        self._set("score", _pair_of_scores(self.score))
        for name in ("crawford", "jacoby", "beavers", "doubled"):
            self._set(name, bool(_whole(name, getattr(self, name), 0, 1)))
        if self.max_cube is not None:
            self._set("max_cube", _face("max_cube", self.max_cube))
        self._set("stakes", _stakes(self.stakes))
        self._set("resigned", _whole("resigned", self.resigned, 0, 3))
        self._set("game_state", GameStatus(_whole("game_state", self.game_state, 0, max(GameStatus))))
        flaws_found = list(_contradictions(self))
        if flaws_found:
            raise StateError("; ".join(reason for _, reason in flaws_found), flaws_found[0][0])

    def _set(self, name: str, value: object) -> None:
        """For __post_init__ alone: puts what was given into its one form (an int8 becomes an int, a list a tuple)."""
        object.__setattr__(self, name, value)

    @classmethod
    def from_xgid(cls, text: str) -> GameState:
        """The state of an XGID; NotationError says which field is wrong and points at it.

        Its maximum cube of 10 (1,024), which programs write as a matter of course, is read as no limit.
        """
        from engine.xgid import read_xgid

        return read_xgid(text)

    @classmethod
    def from_gnubg_id(cls, text: str) -> GameState:
        """The state of a GNUBG ID, `PositionID:MatchID`; NotationError says which field is wrong and points at it.

        The ID says nothing of beavers, a highest cube, the variant and the stakes: they have their defaults, unless
        `dataclasses.replace` says otherwise.
        """
        from engine.match_id import read_gnubg_id

        return read_gnubg_id(text)

    @property
    def xgid(self) -> str:
        """The XGID, with its prefix; StateError for what it cannot hold: a resignation, a drop, a match that is won."""
        from engine.xgid import write_xgid

        return write_xgid(self)

    @property
    def match_id(self) -> str:
        """The 12-character Match ID; StateError for a score above 32767 that it cannot hold.

        Lost are beavers, the highest cube, the variant, the stakes and the order of the dice.
        """
        from engine.match_id import write_match_id

        return write_match_id(self)

    @property
    def gnubg_id(self) -> str:
        """`PositionID:MatchID`; what a Match ID loses is lost."""
        return f"{self.position.position_id}:{self.match_id}"

    @property
    def decider(self) -> int:
        """The seat of the player who acts: the one on roll, or the other while a double or resignation is pending."""
        return 1 - self.on_roll if self.doubled or self.resigned else self.on_roll

    @property
    def away(self) -> tuple[int, int] | None:
        """Points that (the player on roll, his opponent) need to win the match; None in money play."""
        if not self.match_length:
            return None
        return self.match_length - self.score[self.on_roll], self.match_length - self.score[1 - self.on_roll]

    @property
    def cube_owner(self) -> int:
        """Whose cube it is for the player on roll: +1 his own, 0 in the middle, -1 the opponent's."""
        if self.owner is None:
            return 0
        return 1 if self.owner == self.on_roll else -1

    @property
    def pips(self) -> tuple[int, int]:
        """Pip counts of (the player on roll, his opponent)."""
        return self.position.pips

    @property
    def rules(self) -> RuleSet:
        """The rules in force; they follow from the fields, so they cannot contradict them."""
        return _rules(self.match_length, self.jacoby, self.beavers, self.max_cube, self.stakes, self.checkers)

    @property
    def checkers(self) -> int:
        """Checkers a side at the start of a game."""
        return VARIANTS[self.variant][1]

    @property
    def summary(self) -> str:
        """One line for people: the rules, the score, the cube, who acts. X is the player on roll, as in drawings."""
        from engine.summary import summary

        return summary(self)

    # ---- how the game goes on; each method gives a new state. engine.actions says more.

    def legal_actions(self) -> tuple[Action, ...]:
        """What `decider` may do now; empty when the game is over."""
        from engine import actions

        return actions.legal_actions(self)

    @property
    def may_double(self) -> bool:
        """Whether the player on roll may double now.

        He may not after his roll, in the Crawford game, with a cube that is the opponent's or at its highest face,
        and in a match not when the cube as it stands gives him the points he needs: for him it is dead.
        """
        from engine import actions

        return actions.why_not(self, actions.Action.DOUBLE) is None

    @property
    def can_lose(self) -> tuple[int, ...]:
        """The levels (1 single game, 2 gammon, 3 backgammon) that the player on roll can still lose or resign by."""
        from engine import actions

        return actions.can_lose(self)

    @property
    def result(self) -> GameResult | None:
        """How the game ended (its points are in `score`), None while it goes on."""
        from engine import actions

        return actions.result(self)

    @property
    def match_over(self) -> bool:
        """Whether a player has the points that win the match; never in money play."""
        return bool(self.match_length) and max(self.score) >= self.match_length

    def open(self, dice: object) -> GameState:
        """Begin a new game: (the die of player 1, the die of player 0); the higher starts. ActionError if equal."""
        from engine import actions

        return actions.open_game(self, dice)

    def roll(self, dice: object) -> GameState:
        """With these dice, two numbers from 1 to 6 or text as "31"; in a new game the opening roll, see `open`."""
        from engine import actions

        return actions.roll(self, dice)

    def play(self, play: object) -> GameState:
        """After a Play, a written play, or its result in the next player's view (Position or int8[26])."""
        from engine import actions

        return actions.play(self, play)

    def double(self) -> GameState:
        """With a double for the other player to answer."""
        from engine import actions

        return actions.double(self)

    def take(self) -> GameState:
        """The double is taken: the stake is twice as high, and the cube belongs to the player who takes."""
        from engine import actions

        return actions.take(self)

    def drop(self) -> GameState:
        """The double is dropped: the doubler wins the stake as it was."""
        from engine import actions

        return actions.drop(self)

    def beaver(self) -> GameState:
        """The double is taken and redoubled at once: the cube at four times the stake, kept; the doubler rolls."""
        from engine import actions

        return actions.beaver(self)

    def resign(self, level: int) -> GameState:
        """With an offer of the player on roll to lose by a level of `can_lose`."""
        from engine import actions

        return actions.resign(self, level)

    def accept(self) -> GameState:
        """The resignation is accepted: the game is over."""
        from engine import actions

        return actions.accept(self)

    def reject(self) -> GameState:
        """The resignation is rejected: the game goes on as before."""
        from engine import actions

        return actions.reject(self)

    def next_game(self) -> GameState:
        """The next game before its opening roll, the score kept; ActionError unless this one is over, the match not."""
        from engine import actions

        return actions.next_game(self)

    def __repr__(self) -> str:
        """Can be pasted back; fields at their defaults are left out."""
        parts = [repr(self.position)]
        for field in fields(self):
            value = getattr(self, field.name)
            if field.default is not MISSING and value != field.default:
                parts.append(f"{field.name}={int(value) if isinstance(value, GameStatus) else value!r}")
        return f"GameState({', '.join(parts)})"

    def _repr_svg_(self) -> str:
        """The picture that notebooks show; `engine.drawing.draw` has options."""
        from engine.drawing import draw

        return draw(self).svg

    def __str__(self) -> str:
        from engine.summary import drawing

        return drawing(self)


def read_position(text: str) -> GameState:
    """The state of an XGID, a GNUBG ID or a bare Position ID: whatever people paste.

    A bare Position ID says nothing else: money play without Jacoby, no dice, X on roll, the cube at 1 in the
    middle. Raises NotationError.
    """
    from engine.match_id import MATCH_ID_LENGTH, read_position_id
    from engine.pointing import pointed, stripped_text

    stripped = stripped_text("a position", text)
    colons = stripped.count(":")
    if stripped.startswith("XGID") or colons > 1:
        return GameState.from_xgid(stripped)
    if colons:
        return GameState.from_gnubg_id(stripped)
    if len(stripped) == MATCH_ID_LENGTH:
        reason = f"{MATCH_ID_LENGTH} characters as in a Match ID, which holds no board: give PositionID:MatchID"
        raise pointed("position", reason, stripped)
    position = read_position_id("position, neither an XGID nor a GNUBG ID", stripped)
    try:
        return GameState(position)
    except StateError as error:
        raise pointed("Position ID", str(error), stripped) from error


@lru_cache(maxsize=256)
def _rules(
    match_length: int,
    jacoby: bool,
    beavers: bool,
    max_cube: int | None,
    stakes: tuple[int, int, int],
    checkers: int,
) -> RuleSet:
    cube = max_cube != 1
    return RuleSet(
        f"match:{match_length}" if match_length else "money",
        stakes=stakes,
        checkers=checkers,
        cube=cube,
        max_cube=max_cube if cube else None,
        jacoby=jacoby,
        beavers=beavers,
        match_length=match_length,
    )


def _whole(name: str, value: object, low: int, high: int) -> int:
    if not isinstance(value, (int, np.integer, np.bool_)) or not low <= int(value) <= high:
        raise StateError(f"{name} must be a whole number from {low} to {high}, not {value!r}", name)
    return int(value)


def _face(name: str, value: object) -> int:
    """A face of the cube."""
    face = _whole(name, value, 1, CUBE_TOP)
    if face & (face - 1):
        raise StateError(f"{name} must be a power of two, not {value!r}", name)
    return face


def _pair_of_scores(score: object) -> tuple[int, int]:
    if not isinstance(score, (tuple, list, np.ndarray)) or len(score) != 2:
        raise StateError(f"score must be two numbers, (player 0, player 1), not {score!r}", "score")
    return _whole("score", score[0], 0, _SCORE_TOP), _whole("score", score[1], 0, _SCORE_TOP)


def _stakes(stakes: object) -> tuple[int, int, int]:
    values = list(stakes) if isinstance(stakes, (tuple, list, np.ndarray)) else []
    kinds = (int, float, np.integer, np.floating)
    whole = [int(value) for value in values if isinstance(value, kinds) and float(value).is_integer()]
    if len(values) != 3 or len(whole) != 3 or not 1 <= whole[0] <= whole[1] <= whole[2] <= _STAKES_TOP:
        reason = f"stakes must be three whole numbers from 1 to {_STAKES_TOP} that do not fall, not {stakes!r}"
        raise StateError(reason, "stakes")
    return whole[0], whole[1], whole[2]


def _contradictions(state: GameState) -> Iterator[tuple[str, str]]:
    """Every (field, reason) why values, each possible by itself, cannot go together."""
    yield from _wrong_cube(state)
    yield from _wrong_score(state)
    if state.crawford:
        yield from _wrong_crawford(state)
    if state.match_length and state.jacoby:
        yield "jacoby", "the Jacoby rule belongs to money play, not to matches"
    if state.match_length and state.beavers:
        yield "beavers", "beavers belong to money play, not to matches"
    if state.doubled:
        yield from _wrong_double(state)


def _wrong_cube(state: GameState) -> Iterator[tuple[str, str]]:
    if state.cube == 1 and state.owner is not None:
        yield "owner", f"a cube at 1 has not been turned, so nobody owns it, not {SEATS[state.owner]}"
    if state.cube > 1 and state.owner is None and state.match_length:  # money: automatic doubles, at the first roll
        yield "cube", f"in a match a cube in the middle is at 1, not at {state.cube}"
    if state.max_cube is not None and state.cube > state.max_cube:
        yield "cube", f"the cube is at {state.cube}, above its highest face, {state.max_cube}"


def _wrong_score(state: GameState) -> Iterator[tuple[str, str]]:
    if not state.match_length:
        return
    winners = [seat for seat in (0, 1) if state.score[seat] >= state.match_length]
    if len(winners) == 2:
        yield "score", f"both players have the {state.match_length} points that win the match: {state.score}"
    elif winners and state.game_state == GameStatus.PLAYING:
        seat = winners[0]
        yield (
            "score",
            (
                f"{SEATS[seat]} has {state.score[seat]} points and has won the match to {state.match_length}, "
                "no game goes on"
            ),
        )


def _wrong_crawford(state: GameState) -> Iterator[tuple[str, str]]:
    if not state.match_length:
        yield "crawford", "the Crawford game belongs to matches, and this is money play"
        return
    if state.match_length - 1 not in state.score and state.game_state == GameStatus.PLAYING:
        yield (
            "crawford",
            (
                f"in the Crawford game a player needs one point, and at {state.score[0]}-{state.score[1]} in a match "
                f"to {state.match_length} nobody does"
            ),
        )
    if state.cube > 1:
        yield "cube", f"nobody doubles in the Crawford game, but the cube is at {state.cube}"


def _wrong_double(state: GameState) -> Iterator[tuple[str, str]]:
    if state.dice is not None:
        yield "doubled", f"one doubles before the roll, but the dice show {state.dice[0]}-{state.dice[1]}"
    if state.cube_owner < 0:
        yield "doubled", f"{SEATS[state.on_roll]} cannot have doubled: {SEATS[1 - state.on_roll]} owns the cube"
    if state.crawford:
        yield "doubled", "nobody doubles in the Crawford game"
    if state.cube >= (state.max_cube or CUBE_TOP):
        yield "doubled", f"the cube is at its highest face, {state.cube}, and cannot be doubled"
    if state.resigned:
        yield "resigned", "a double and a resignation cannot be pending together: the double is answered first"
