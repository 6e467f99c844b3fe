"""The names of cube decisions, and which one three values call for."""

from __future__ import annotations

import enum
from typing import NamedTuple

__all__ = ["CubeAction", "CubeCosts", "action_label", "costs_of", "proper_action"]

_OPTIONAL = 1e-5  # nearer values than this count as equal, as in GNU Backgammon
_NOISE = 1e-9  # values that are equal by theory differ by this at most


class CubeAction(enum.StrEnum):
    """What both players should do: the one on roll, and the other if he doubles."""

    NO_DOUBLE_TAKE = "no_double_take"
    NO_DOUBLE_BEAVER = "no_double_beaver"
    DOUBLE_TAKE = "double_take"
    DOUBLE_PASS = "double_pass"
    DOUBLE_BEAVER = "double_beaver"
    TOO_GOOD_TAKE = "too_good_take"
    TOO_GOOD_PASS = "too_good_pass"
    OPTIONAL_DOUBLE_TAKE = "optional_double_take"
    OPTIONAL_DOUBLE_PASS = "optional_double_pass"
    OPTIONAL_DOUBLE_BEAVER = "optional_double_beaver"
    NO_REDOUBLE_TAKE = "no_redouble_take"
    NO_REDOUBLE_BEAVER = "no_redouble_beaver"
    REDOUBLE_TAKE = "redouble_take"
    REDOUBLE_PASS = "redouble_pass"
    REDOUBLE_BEAVER = "redouble_beaver"
    TOO_GOOD_REDOUBLE_TAKE = "too_good_redouble_take"
    TOO_GOOD_REDOUBLE_PASS = "too_good_redouble_pass"
    OPTIONAL_REDOUBLE_TAKE = "optional_redouble_take"
    OPTIONAL_REDOUBLE_PASS = "optional_redouble_pass"
    OPTIONAL_REDOUBLE_BEAVER = "optional_redouble_beaver"
    DEAD_CUBE = "dead_cube"
    """The rules of the match or the score leave nothing to gain by doubling."""
    NOT_AVAILABLE = "not_available"
    """The opponent owns the cube, or it is at its highest face."""

    @property
    def doubles(self) -> bool:
        """Whether the player on roll should turn the cube; where that is optional he keeps it."""
        return self.value.startswith(("double_", "redouble_"))


class CubeCosts(NamedTuple):
    """What each alternative loses against the best one, in equity; None where there is no such alternative."""

    no_double: float
    """The player on roll, by not doubling."""
    double: float | None
    """The player on roll, by doubling when the other answers best."""
    take: float | None
    """The other player, by taking a double."""
    pass_: float | None
    beaver: float | None

    def as_dict(self) -> dict[str, float | None]:
        """With "pass" as the key of pass_."""
        return {name.rstrip("_"): value for name, value in self._asdict().items()}


def costs_of(
    no_double: float, double_take: float | None, double_pass: float | None, beaver: float | None, best: float
) -> CubeCosts:
    """The costs of all alternatives; double_take and double_pass are None where there is no double."""
    if double_take is None or double_pass is None:
        return CubeCosts(best - no_double, None, None, None, None)
    answers = [double_take, double_pass] if beaver is None else [double_take, double_pass, beaver]
    lowest = min(answers)
    return CubeCosts(
        best - no_double,
        best - lowest,
        double_take - lowest,
        double_pass - lowest,
        None if beaver is None else beaver - lowest,
    )


def proper_action(
    no_double: float,
    double_take: float,
    double_pass: float,
    beaver: float | None,
    *,
    owned: bool,
    win: float,
    win_gammon: float,
    gammons_count: bool,
) -> CubeAction:
    """The action that the values of the branches call for, where the player on roll may double.

    beaver: the value once the receiver has beavered, None where that is forbidden. owned: he owns the cube, so that it
    is a redouble. win, win_gammon: his chances, cumulative. gammons_count: also if he does not double (no Jacoby).
    """
    kind, answer = _kind_and_answer(no_double, double_take, double_pass, beaver, win, win_gammon, gammons_count)
    verb = "redouble" if owned else "double"
    if kind == "too_good":
        return CubeAction(f"too_good_{'redouble_' * owned}{answer}")
    return CubeAction(f"{kind}{verb}_{answer}")


def _kind_and_answer(
    no_double: float,
    double_take: float,
    double_pass: float,
    beaver: float | None,
    win: float,
    win_gammon: float,
    gammons_count: bool,
) -> tuple[str, str]:
    """The prefix of the action's name ("", "no_", "optional_" or "too_good") and the proper answer to a double."""
    beavers = beaver is not None and double_take <= 0.0
    take_is_enough = double_take >= no_double - _NOISE
    pass_is_enough = double_pass >= no_double - _NOISE
    passes = double_take >= double_pass - _NOISE
    if take_is_enough and pass_is_enough:
        if passes:
            optional = abs(no_double - double_pass) <= _OPTIONAL and win_gammon > 0.0 and gammons_count
            return ("optional_" if optional else ""), "pass"
        if beavers and beaver is not None:
            if beaver < no_double - _NOISE:
                return "no_", "beaver"
            return ("optional_" if abs(double_take - no_double) <= _OPTIONAL else ""), "beaver"
        if win <= 0.0:
            return "no_", "take"
        return ("optional_" if abs(double_take - no_double) <= _OPTIONAL else ""), "take"
    if take_is_enough or passes:  # he could cash, and to play on is worth more
        return ("too_good" if win_gammon > 0.0 else ""), "pass"
    if not pass_is_enough:
        return ("too_good" if win_gammon > 0.0 else "no_"), "take"
    return "no_", "beaver" if beavers else "take"


def action_label(action: CubeAction, owned: bool) -> str:
    """What people say: "Redouble, take", "Too good to double, pass", "Never double, take (dead cube)"."""
    if action == CubeAction.NOT_AVAILABLE:
        return "cube not available"
    if action == CubeAction.DEAD_CUBE:
        return f"Never {'redouble' if owned else 'double'}, take (dead cube)"
    words = action.value.split("_")
    answer = words.pop()
    if words[:2] == ["too", "good"]:
        return f"Too good to {'redouble' if owned else 'double'}, {answer}"
    return f"{' '.join(words).capitalize()}, {answer}"
