"""Games for stakes where the truth is known: small races, in which the two-sided table plays and doubles perfectly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bgnet import stakes_games
from bgnet.arena_record import RecordError
from bgnet.cube import decide
from bgnet.cubeful import CubefulSearch
from bgnet.luck import LuckError
from bgnet.peers import BotSpecError
from bgnet.players import RandomPlayer
from bgnet.stakes import play_stakes
from bgnet.stakes_games import _Table
from bgnet.stakes_players import StakesPlayer, stakes_player
from bgnet.statistics import estimate
from engine import GameState, Position, new_game
from engine.dice import ROLLS, WEIGHTS
from tests.bgnet.nets import random_net

REFERENCE = "net:standard"
NO_NET = random_net([8, 4])
"""What bots and references over the table ask about positions that do not occur here."""


class CubeShy:
    """The table's plays for a dead cube; never doubles, always takes."""

    name = "cube-shy"

    def __init__(self, perfect: StakesPlayer) -> None:
        self._perfect = perfect

    def plays(self, states: Sequence[GameState]) -> np.ndarray:
        return self._perfect.plays([replace(state, cube=1, owner=None, max_cube=1) for state in states])

    def doubles(self, states: Sequence[GameState]) -> np.ndarray:
        return np.zeros(len(states), dtype=np.bool_)

    def takes(self, states: Sequence[GameState]) -> np.ndarray:
        return np.ones(len(states), dtype=np.bool_)


class Expected:
    """The exact value of money games between two bots, by recursion over all rolls: slow, and apart from the arena."""

    def __init__(self, bots: tuple[StakesPlayer, StakesPlayer]) -> None:
        self.bots = bots  # seat 0, seat 1
        self._known: dict[tuple[bytes, int, int | None], float] = {}

    def game(self, start: Position) -> float:
        """Seat 1's points, before the opening roll."""
        throws = [roll for roll in ROLLS.tolist() if roll[0] != roll[1]]
        return sum(self._played(start, seat, None, roll) for seat in (0, 1) for roll in throws) / (2 * len(throws))

    def turn(self, position: Position, seat: int, owner: int | None) -> float:
        """Seat 1's points per unit of the cube, `seat` on roll."""
        key = position.board.tobytes(), seat, owner
        if key not in self._known:
            self._known[key] = self._turn(position, seat, owner)
        return self._known[key]

    def _turn(self, position: Position, seat: int, owner: int | None) -> float:
        state = _state(position, seat, owner)
        if state.may_double and self.bots[seat].doubles([state])[0]:
            if not self.bots[1 - seat].takes([state.double()])[0]:
                return 1.0 if seat == 1 else -1.0
            return 2 * self._rolled(position, seat, 1 - seat)
        return self._rolled(position, seat, owner)

    def _rolled(self, position: Position, seat: int, owner: int | None) -> float:
        values = [self._played(position, seat, owner, roll) for roll in ROLLS.tolist()]
        return float(np.dot(values, WEIGHTS))

    def _played(self, position: Position, seat: int, owner: int | None, roll: list[int]) -> float:
        after = Position(self.bots[seat].plays([_state(position, seat, owner).roll(roll)])[0])
        if after.ending() is not None:
            return 1.0 if seat == 1 else -1.0
        return self.turn(after, 1 - seat, owner)


def _state(position: Position, seat: int, owner: int | None) -> GameState:
    return GameState(position, on_roll=seat, cube=1 if owner is None else 2, owner=owner)


def _race(*points: int) -> Position:
    """The same for both sides."""
    board = np.zeros(26, np.int8)
    for point in points:
        board[point] += 1
        board[25 - point] -= 1
    return Position(board)


@pytest.fixture(scope="module")
def perfect() -> StakesPlayer:
    found = stakes_player(NO_NET)
    assert isinstance(found, CubefulSearch)
    return found


def test_perfect_bots_get_what_the_table_says(perfect: StakesPlayer) -> None:
    truth = Expected((perfect, perfect))
    for position in (_race(3, 5), _race(6), _race(2, 4)):
        best = decide(None, GameState(position)).best
        assert truth.turn(position, 1, None) == pytest.approx(best, abs=1e-4)
        assert truth.game(position) == pytest.approx(0, abs=1e-9)


def test_results_are_those_of_all_rolls(perfect: StakesPlayer) -> None:
    """Skill with the cube alone, plain and without the luck of the rolls, from either side."""
    shy = CubeShy(perfect)
    start = replace(new_game(), position=_race(3, 5))
    exact = Expected((shy, perfect)).game(start.position)
    assert exact == pytest.approx(-Expected((perfect, shy)).game(start.position), abs=1e-9) and exact > 0.2
    for a, b, sign in ((perfect, shy, 1), (shy, perfect, -1)):
        found = play_stakes(a, b, 2000, 2 + sign, start=start, reference=NO_NET)
        assert found.luck_adjusted is not None and found.variance_ratio is not None
        for result in (found.score, found.luck_adjusted):
            assert abs(result.mean - sign * exact) < 3.3 * result.std_error < 0.04
        assert found.variance_ratio > 1.2


def test_where_nobody_errs_luck_is_all_there_is(perfect: StakesPlayer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then what a game is worth before its opening roll, 0, and the luck of its rolls make up its result."""
    tables: list[_Table] = []

    class Kept(_Table):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            tables.append(self)

    monkeypatch.setattr(stakes_games, "_Table", Kept)
    start = replace(new_game(), position=_race(3, 5, 6))
    result = play_stakes(perfect, perfect, 120, 5, start=start, reference=NO_NET)
    assert (result.pair_scores == 0).all() and result.largest >= 4
    assert result.pair_luck is not None and (result.pair_luck == 0).all()
    assert len(tables) == 120 and all(abs(table.points) >= 1 for table in tables)
    for table in tables:
        assert table.luck == pytest.approx(table.points, abs=3e-4 * table.state.cube)


@pytest.mark.parametrize("length", [0, 3])
def test_luck_has_no_mean_whoever_judges(length: int) -> None:
    """Of whole games, judged by a network that knows nothing."""
    bots = stakes_player(random_net([4], 1, checkers=3)), stakes_player(random_net([4], 2, checkers=3))
    start = new_game(length, max_cube=8, variant="hypergammon")
    found = play_stakes(*bots, 400, 3, start=start, reference=random_net([8], checkers=3))
    assert found.pair_luck is not None
    luck = estimate(found.pair_luck)
    assert 0 < abs(luck.mean) < 3 * luck.std_error


def test_luck_belongs_to_the_run(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"count": 6, "seed": 4, "rules": "match:2", "reference": REFERENCE}
    whole = play_stakes("random", "pubeval", **asked)
    assert whole.pair_luck is not None and whole.reference == REFERENCE
    turned = play_stakes("pubeval", "random", **asked)
    assert turned.pair_luck is not None and np.allclose(turned.pair_luck, -whole.pair_luck, atol=1e-12)
    fields = whole.as_dict()["luck_adjusted"]
    assert fields["match_wins"] == whole.best.mean and fields["reference"] == REFERENCE
    file = tmp_path / "record.json"
    play_stakes("random", "pubeval", record=file, **{**asked, "count": 4})
    longer = play_stakes("random", "pubeval", record=file, resume=True, **asked)
    assert longer.luck_adjusted == whole.luck_adjusted
    with pytest.raises(RecordError, match='reference is "net:standard", not null'):
        play_stakes("random", "pubeval", record=file, resume=True, **{**asked, "reference": None})


def test_references_that_cannot_judge() -> None:
    for reference, error, words in (
        ("pubeval", BotSpecError, "no chances to give"),
        ("gnubg:1", BotSpecError, "looks ahead itself"),
        (RandomPlayer(), BotSpecError, "no chances to give"),
    ):
        with pytest.raises(error, match=words):
            play_stakes("random", "random", 2, reference=reference)

    class Broken:
        def outcomes(self, boards: np.ndarray) -> np.ndarray:
            return np.full((len(boards), 6), np.nan, np.float32)

    with pytest.raises(LuckError, match="not finite"):
        play_stakes("random", "random", 2, reference=Broken())
