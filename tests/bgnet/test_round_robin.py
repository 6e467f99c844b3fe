"""Round robins: everybody's games are those of the two alone, ratings are least squares, intervals are honest."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import engine
from bgnet.arena import ArenaSettingsError, RecordError, Sprt, Until, play
from bgnet.arena_record import read_record
from bgnet.players import RandomPlayer
from bgnet.round_robin import RoundRobinResult, ladder_weights, round_robin
from tests.bgnet.nets import random_net

Boards = NDArray[np.int8]


class Runner:
    """Runs with its rear checkers or stays behind with them."""

    def __init__(self, name: str, weight: int) -> None:
        self.name, self.weight = name, weight

    def choose(self, boards: Boards, dice: Boards) -> Boards:
        legal = engine.legal_afterstates(boards, dice)
        value = self.weight * np.minimum(legal.boards, 0).astype(np.int64) @ np.arange(25, -1, -1) ** 2
        rows = np.split(np.arange(len(value)), legal.offsets[1:-1])
        return legal.boards[[row[value[row].argmax()] for row in rows]]


SMALL: Any = {"variant": "hypergammon", "reference": random_net([8], checkers=3)}


def bots() -> list[Any]:
    return [Runner("slow", -1), "random", Runner("fast", 1)]


@pytest.fixture(scope="module")
def result() -> RoundRobinResult:
    return round_robin(bots(), 120, seed=3, **SMALL)


def test_pairings_are_the_games_of_two(result: RoundRobinResult) -> None:
    assert result.bots == ("slow", "random", "fast")
    for pairing, (i, j) in zip(result.pairings, combinations(range(3), 2), strict=True):
        alone = play(bots()[i], bots()[j], 120, seed=3, **SMALL)
        assert np.array_equal(pairing.pair_points, alone.pair_points)
        assert np.array_equal(pairing.pair_luck, alone.pair_luck)  # type: ignore[arg-type]
        assert pairing.endings == alone.endings
        assert result.against(i, j) == alone.luck_adjusted
        back = result.against(j, i)
        assert (back.mean, back.low, back.high) == (-pairing.best.mean, -pairing.best.high, -pairing.best.low)
    with pytest.raises(ValueError, match="does not play itself"):
        result.against(1, 1)


@pytest.mark.parametrize("count", [2, 3, 6])
def test_ratings_are_least_squares(count: int) -> None:
    pairings = list(combinations(range(count), 2))
    results = np.random.default_rng(count).normal(size=len(pairings))
    design = np.zeros((len(pairings), count))
    for row, (i, j) in enumerate(pairings):
        design[row, i], design[row, j] = 1, -1
    free = [i for i in range(count) if i != 1]
    expected = np.zeros(count)
    expected[free] = np.linalg.lstsq(design[:, free], results, rcond=None)[0]
    assert ladder_weights(count, 1) @ results == pytest.approx(expected)


def test_the_ladder(result: RoundRobinResult) -> None:
    assert result.anchor == "fast"
    assert (result.ratings[2].mean, result.ratings[2].low, result.ratings[2].high) == (0, 0, 0)
    means = [[0.0 if i == j else result.against(i, j).mean for j in range(3)] for i in range(3)]
    over_all = np.mean(means, axis=1)
    assert [rating.mean for rating in result.ratings] == pytest.approx(over_all - over_all[2])
    assert result.ranking == np.argsort(-over_all).tolist()
    plain = [[0.0 if i == j else np.nan for j in range(3)] for i in range(3)]
    for pairing, (i, j) in zip(result.pairings, combinations(range(3), 2), strict=True):
        plain[i][j], plain[j][i] = pairing.points_per_game, -pairing.points_per_game
    over_all = np.mean(plain, axis=1)
    assert [rating.mean for rating in result.plain_ratings] == pytest.approx(over_all - over_all[2])


def test_intervals_know_that_pairings_share_their_dice() -> None:
    """One bot under two names: it gets the same luck twice, and the difference is exactly nothing."""
    twin = Runner("fast again", 1)
    found = round_robin([Runner("fast", 1), "random", twin], 60, variant="hypergammon")
    assert found.ratings[0].mean == pytest.approx(0, abs=1e-12)
    assert found.ratings[0].half_width == pytest.approx(0, abs=1e-12)
    assert found.ratings[1].half_width > 0.1


def test_the_anchor_only_moves_the_zero(result: RoundRobinResult) -> None:
    other = round_robin(bots(), 120, seed=3, anchor="slow", **SMALL)
    assert other.anchor == "slow"
    shifted = np.array([rating.mean for rating in result.ratings]) - result.ratings[0].mean
    assert [rating.mean for rating in other.ratings] == pytest.approx(shifted)
    assert other.ratings[2].half_width == pytest.approx(result.ratings[0].half_width)


def test_two_bots_are_a_round_robin_too() -> None:
    found = round_robin(["random", Runner("fast", 1)], 60, variant="hypergammon")
    alone = play("random", Runner("fast", 1), 60, variant="hypergammon")
    assert found.ratings[0].mean == alone.points_per_game
    assert (found.ratings[0].low, found.ratings[0].high) == alone.interval


@pytest.mark.parametrize("pairs_per_chunk", [1, 17])
def test_any_cutting_gives_the_same_result(result: RoundRobinResult, pairs_per_chunk: int) -> None:
    cut = round_robin(bots(), 120, seed=3, pairs_per_chunk=pairs_per_chunk, **SMALL)
    assert cut.ratings == result.ratings
    assert [p.endings for p in cut.pairings] == [p.endings for p in result.pairings]


def test_any_number_of_workers_gives_the_same_result() -> None:
    asked: Any = {"bots": ["net:standard", "random", "net:flagship"], "games": 4, "pairs_per_chunk": 1}
    alone, shared = round_robin(**asked), round_robin(**asked, workers=2)
    assert [p.endings for p in alone.pairings] == [p.endings for p in shared.pairings]
    assert alone.ratings == shared.ratings


def test_until_waits_for_the_ladder() -> None:
    asked: Any = {"bots": bots(), "games": 2000, "seed": 3, "stop": Until(0.2, 50), "variant": "hypergammon"}
    found = round_robin(**asked)
    assert found.as_dict()["stopped"] == "until"
    games = found.pairings[0].games
    assert 100 < games < 2000
    assert {pairing.games for pairing in found.pairings} == {games}
    assert max(rating.half_width for rating in found.ratings) <= 0.2
    before = round_robin(bots(), games - 100, seed=3, variant="hypergammon")
    assert max(rating.half_width for rating in before.ratings) > 0.2


def test_going_on_after_a_break(tmp_path: Path, result: RoundRobinResult) -> None:
    class Breaks(Runner):
        calls = 0

        def choose(self, boards: Boards, dice: Boards) -> Boards:
            self.calls += 1
            if self.calls == 150:
                raise KeyboardInterrupt
            return super().choose(boards, dice)

    file = tmp_path / "record.json"
    asked: Any = {"games": 120, "seed": 3, "record": file, "pairs_per_chunk": 9, **SMALL}
    with pytest.raises(KeyboardInterrupt):
        round_robin([*bots()[:2], Breaks("fast", 1)], **asked)
    pairs = [contest["pairs"] for contest in read_record(file)["contests"]]
    assert len(set(pairs)) == 2, "it broke off between the pairings of a round"
    assert read_record(file)["asked"]["anchor"] == "fast"
    with pytest.raises(RecordError, match='anchor is "fast", not "slow"'):
        round_robin(bots(), anchor="slow", resume=True, **asked)
    again = round_robin(bots(), resume=True, **asked)
    assert again.ratings == result.ratings
    assert again.record == str(file)
    assert read_record(file)["result"] == again.as_dict()


def test_progress_counts_the_games_of_all_pairings() -> None:
    class Counter:
        count = 0
        fields: dict[str, object] = {}

        def update(self, n: int, **fields: object) -> None:
            self.count += n
            self.fields |= fields

    progress = Counter()
    found = round_robin(bots(), 60, progress=progress, pairs_per_chunk=10, **SMALL)
    assert progress.count == 180
    widest = max(rating.half_width for rating in found.ratings)
    assert progress.fields == {"ladder": f"+-{widest:.4f}"}


def test_the_result_as_json(result: RoundRobinResult) -> None:
    fields = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert fields["schema"] == "bgnet.round-robin/1"
    assert (fields["bots"], fields["anchor"]) == (["slow", "random", "fast"], "fast")
    assert (fields["games_per_pairing"], fields["seed"], fields["stopped"]) == (120, 3, "games")
    assert fields["reference"] == "random weights"
    ranked = sorted(fields["ratings"], key=lambda rating: rating["rank"])
    assert [rating["rank"] for rating in ranked] == [1, 2, 3]
    assert ranked[0]["rating"] > ranked[1]["rating"] > ranked[2]["rating"]
    first = fields["ratings"][0]
    assert first["interval"][0] < first["rating"] < first["interval"][1]
    assert first["plain_interval"][0] < first["plain_rating"] < first["plain_interval"][1]
    assert [(p["a"], p["b"]) for p in fields["pairings"]] == [("slow", "random"), ("slow", "fast"), ("random", "fast")]
    assert all(p["wins"] + p["losses"] == 120 and "luck_adjusted" in p for p in fields["pairings"])
    single = round_robin(bots(), 2, variant="hypergammon").as_dict()
    assert single["ratings"][0]["interval"] is None, "one pair says nothing of the spread"
    assert single["ratings"][2]["interval"] == [0, 0], "the anchor is 0 in any case"
    assert fields["interval_valid"] is True and "interval_valid" not in fields["pairings"][0]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"bots": ["random"]}, "at least two bots"),
        ({"bots": ["random", "net:standard", "random"]}, "random is there twice"),
        ({"bots": ["random", RandomPlayer(1)], "anchor": "pubeval"}, "anchor pubeval does not play"),
        ({"bots": ["random", RandomPlayer(1)], "stop": Sprt(0, 0.1)}, "SPRT compares two bots"),
        ({"bots": ["random", RandomPlayer(1)], "games": 3}, "even"),
        ({"bots": ["random", RandomPlayer(1)], "workers": 2}, "by specs"),
    ],
)
def test_what_cannot_be_played_is_refused(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ArenaSettingsError, match=message):
        round_robin(**{"games": 100, **asked})
