"""Games and matches for stakes: fair dice, the rules of the cube, exact values where they are known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bgnet.arena_games import ArenaError, ArenaSettingsError
from bgnet.arena_record import RecordError
from bgnet.cli import app
from bgnet.cubeful import CubefulSearch
from bgnet.gnubg_cli_process import is_installed
from bgnet.players import RandomPlayer
from bgnet.sequential import Until
from bgnet.stakes import play_stakes, start_of
from bgnet.stakes_players import OurCube, PlainPlayer, StakesPlayer, stakes_player
from engine import GameState, Position, new_game
from engine.actions import Action
from engine.records import read_mat
from engine.state import GameStatus
from tests.bgnet.nets import random_net


class Wild:
    """Plays, doubles and takes at random, by a hash of the state."""

    def __init__(self, seed: int) -> None:
        self.name = f"wild-{seed}"
        self.seed, self._plays = seed, RandomPlayer(seed)

    def plays(self, states: Sequence[GameState]) -> np.ndarray:
        return PlainPlayer(self._plays).plays(states)

    def _draw(self, states: Sequence[GameState], share: float) -> np.ndarray:
        drawn = [
            np.random.default_rng([self.seed, *(state.position.board + 20), state.cube]).random() for state in states
        ]
        return np.array(drawn, dtype=np.float64) < share

    def doubles(self, states: Sequence[GameState]) -> np.ndarray:
        return self._draw(states, 0.1)

    def takes(self, states: Sequence[GameState]) -> np.ndarray:
        return self._draw(states, 0.7)

    def beavers(self, states: Sequence[GameState]) -> np.ndarray:
        return self._draw(states, 0.2)


class Never(Wild):
    """Never doubles and always takes."""

    def doubles(self, states: Sequence[GameState]) -> np.ndarray:
        return np.zeros(len(states), dtype=np.bool_)

    def takes(self, states: Sequence[GameState]) -> np.ndarray:
        return np.ones(len(states), dtype=np.bool_)


@pytest.mark.parametrize("rules", ["money", "match:3"])
def test_a_bot_against_itself_scores_exactly_even(rules: str) -> None:
    result = play_stakes(Wild(1), Wild(1), 20, rules=rules)
    even = 0.5 if rules != "money" else 0.0
    assert (result.pair_scores == even).all() and result.won == result.lost
    assert result.turned > 0.2 and result.mean_cube > 1


@pytest.mark.parametrize("rules", ["money", "match:3"])
def test_sides_can_be_exchanged(rules: str) -> None:
    one, other = play_stakes(Wild(1), Wild(2), 20, 3, rules), play_stakes(Wild(2), Wild(1), 20, 3, rules)
    total = 1.0 if rules != "money" else 0.0
    assert np.allclose(one.pair_scores + other.pair_scores, total) and one.won == other.lost
    assert one.pair_scores.std() > 0


def test_chunks_and_workers_change_nothing() -> None:
    whole = play_stakes("random", "pubeval", 12, rules="match:3", pairs_per_chunk=6)
    parts = play_stakes("random", "pubeval", 12, rules="match:3", pairs_per_chunk=5)
    shared = play_stakes("random", "pubeval", 12, rules="match:3", pairs_per_chunk=4, workers=2)
    for other in (parts, shared):
        assert np.array_equal(whole.pair_scores, other.pair_scores)
        assert (whole.games, whole.won, whole.lost, whole.plies) == (other.games, other.won, other.lost, other.plies)


def test_every_match_keeps_the_crawford_rule(tmp_path: Path) -> None:
    result = play_stakes(Wild(1), Wild(2), 16, 5, "match:3", mat=tmp_path)
    files = sorted(tmp_path.glob("*.mat"))
    assert len(files) == 16
    games, wins, crawfords = 0, 0, 0
    for number, path in enumerate(files):
        record = read_mat(path)
        seat_of_a = record.players.index("wild-1")
        assert seat_of_a == 1 - number % 2, "A has seat 1 first, then seat 0, with the same dice"
        assert record.winner is not None
        wins += record.winner == seat_of_a
        games += len(record.games)
        seen = False
        for game in record.games:
            if game.start.crawford:
                assert 2 in game.score_before and not seen
                assert all(done.action is not Action.DOUBLE for done in game.actions)
                seen = True
            elif seen:
                assert 2 in game.score_before
        crawfords += seen
    assert (games, wins / 16) == (result.games, result.score.mean) and crawfords > 3


def test_money_games_are_played_by_their_rules(tmp_path: Path) -> None:
    result = play_stakes(Wild(1), Wild(2), 24, 2, jacoby=True, beavers=True, max_cube=8, mat=tmp_path)
    points, beavers = [], 0
    for path in sorted(tmp_path.glob("*.mat")):
        record = read_mat(path)
        (game,) = record.games
        sign = 1 if record.players[game.winner or 0] == "wild-1" else -1
        points.append(sign * game.points)
        assert game.end.cube <= 8
        beavers += any(done.action is Action.BEAVER for done in game.actions)
        if game.end.owner is None and game.result is not None:
            assert game.points == 1, "no gammons with the cube in the middle"
    assert np.allclose(np.reshape(points, (-1, 2)).mean(axis=1), result.pair_scores)
    assert beavers > 0 and result.largest == max(map(abs, points)) <= 24
    drops = result.won[3] + result.lost[3]
    assert drops > 0 and result.games == 24 and result.turned >= drops / 24


def test_illegal_choices_name_bot_and_position() -> None:
    class Cheat(Never):
        def plays(self, states: Sequence[GameState]) -> np.ndarray:
            return np.array([-state.position.board[::-1] for state in states], dtype=np.int8)

    with pytest.raises(ArenaError, match=r"bot wild-1 chose an illegal result for XGID=.*is no play of"):
        play_stakes(Cheat(1), Wild(2), 2)

    class Short(Never):
        def plays(self, states: Sequence[GameState]) -> np.ndarray:
            return np.zeros((0, 26), np.int8)

    with pytest.raises(ArenaError, match=r"int8\[\d+, 26\] from plays\(\), not \[0, 26\]"):
        play_stakes(Short(1), Wild(2), 2)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"contests": 3}, "must be even"),
        ({"contests": 0}, "contests must be a whole number, at least 2"),
        ({"contests": 2.0}, "whole number"),
        ({"rules": "dmp"}, "money or match:N"),
        ({"rules": "match:0"}, "1 to 64 points"),
        ({"rules": "match:65"}, "1 to 64 points"),
        ({"rules": "match:5", "jacoby": True}, "Jacoby"),
        ({"rules": "match:5", "beavers": True}, "beavers"),
        ({"max_cube": 3}, "power of two"),
        ({"workers": 0}, "workers"),
        ({"workers": 2}, "specs"),
        ({"resume": True}, "name its file"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_settings(changes: dict[str, object], words: str) -> None:
    contests = changes.pop("contests", 2)
    with pytest.raises(ValueError, match=words):
        play_stakes(Wild(1), Wild(2), contests, **changes)  # type: ignore[arg-type]


def test_records_are_continued_to_the_same_result(tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    short = play_stakes("random", "pubeval", 6, 2, "match:2", record=file, pairs_per_chunk=5)
    longer = play_stakes("random", "pubeval", 12, 2, "match:2", record=file, resume=True, pairs_per_chunk=7)
    assert np.array_equal(longer.pair_scores[:3], short.pair_scores)
    assert np.array_equal(longer.pair_scores, play_stakes("random", "pubeval", 12, 2, "match:2").pair_scores)
    assert json.loads(file.read_text())["result"]["match_wins"] == longer.score.mean
    with pytest.raises(RecordError, match="another run: .*match:2"):
        play_stakes("random", "pubeval", 12, 2, "match:5", record=file, resume=True)
    with pytest.raises(RecordError, match="exists already"):
        play_stakes("random", "pubeval", 12, 2, "match:2", record=file)
    with pytest.raises(ArenaSettingsError, match="more than 4"):
        play_stakes("random", "pubeval", 4, 2, "match:2", record=file, resume=True)


def test_a_rule_can_stop_it() -> None:
    result = play_stakes("random", "random", 400, stop=Until(0.9, 50), max_cube=1)
    assert result.contests < 400 and result.stop is not None and result.stop.decision


@pytest.mark.parametrize("spec", ["random", "pubeval", "net:standard", "gnubg:0", "sage:0"])
def test_bots_by_name(spec: str) -> None:
    bot = stakes_player(spec)
    assert isinstance(bot, StakesPlayer) and stakes_player(bot) is bot
    state = new_game(5).roll((6, 1))
    result = bot.plays([state])
    assert state.play(result[0]).on_roll == 0
    before = state.play(result[0])
    assert bot.doubles([before]).tolist() == [False], "nobody doubles on the first turn"
    assert bot.takes([before.double()]).tolist() == [True]


def test_bots_of_every_kind() -> None:
    assert isinstance(stakes_player("gnubg:1"), OurCube)
    assert isinstance(stakes_player(random_net([8])), CubefulSearch)
    assert isinstance(stakes_player(RandomPlayer()), PlainPlayer)
    deep = stakes_player("net:standard@1ply")
    assert isinstance(deep, CubefulSearch) and deep.ply == 1
    with pytest.raises(ValueError, match="unknown bot"):
        stakes_player("nobody")


def test_bots_without_chances_take_by_pips() -> None:
    bot = stakes_player("random")
    ahead, behind = np.zeros(26, np.int8), np.zeros(26, np.int8)
    ahead[6], ahead[19] = 8, -9  # the doubler has 48 pips, the other 54: 12.5 % more
    behind[6], behind[19] = 9, -9
    states = [GameState(Position(board)).double() for board in (ahead, behind)]
    assert bot.takes(states).tolist() == [False, True]


def test_starts() -> None:
    assert start_of("match:7").match_length == 7 and start_of("match:1").crawford
    assert start_of("money", jacoby=True, max_cube=64).max_cube == 64
    assert start_of("money").game_state == GameStatus.NONE


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    shown = run(app, ["arena", "random", "pubeval", "--cube", "--rules", "match:3", "--games", "4", "--mat", "games"])
    assert shown.exit_code == 0, shown.output
    assert "random against pubeval, matches to 3, 2 dice pairs" in shown.output and "matches won" in shown.output
    assert len(list(tmp_path.glob("games/*.mat"))) == 4
    shown = run(app, ["arena", "random", "pubeval", "--cube", "--jacoby", "--games", "4", "--json", "--no-record"])
    found = json.loads(shown.stdout.splitlines()[-1])
    assert found["schema"] == "bgnet.stakes/1" and found["jacoby"] and found["games"] == 4
    for wrong, words in (
        (["--jacoby"], "add --cube"),
        (["--cube", "--variant", "nackgammon"], "--variant is for cubeless games"),
        (["--cube", "--rules", "dmp"], "money or match:N"),
    ):
        shown = run(app, ["arena", "random", "pubeval", "--games", "2", *wrong])
        assert shown.exit_code == 2 and words in " ".join(shown.output.split()), shown.output


@pytest.mark.skipif(not is_installed(), reason="GNU Backgammon is not installed")
def test_the_real_gnubg_sits_at_the_table() -> None:
    result = play_stakes("gnubg-cli:0", "random", 2, rules="match:2")
    assert result.contests == 2 and result.games >= 2
