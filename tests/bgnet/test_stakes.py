"""Games and matches for stakes: fair dice, the rules of the cube, exact values where they are known."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bgnet.arena_errors import ArenaError, ArenaSettingsError
from bgnet.arena_record import RecordError
from bgnet.cli import app
from bgnet.cli.stakes import stakes_table
from bgnet.cubeful import CubefulSearch
from bgnet.entrants import Entrant
from bgnet.gnubg_cli_process import find_gnubg
from bgnet.luck import DEFAULT_REFERENCE
from bgnet.netfile import NetInfo, save_net
from bgnet.players import EvaluatorPlayer, RandomPlayer
from bgnet.sequential import Sprt, Until
from bgnet.stakes import play_stakes, start_of
from bgnet.stakes_games import luck_of, stakes_player_of
from bgnet.stakes_players import OurCube, PlainPlayer, StakesPlayer, stakes_player
from engine import GameState, Position, legal_afterstates, new_game
from engine.actions import Action
from engine.records import read_mat
from engine.state import GameStatus
from tests.bgnet.nets import random_net, random_weights
from tests.marks import needs_gnubg, needs_peers


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


class Waits:
    """Keeps its rear checkers back, which wins most short games against random plays."""

    def choose(self, boards: np.ndarray, dice: np.ndarray) -> np.ndarray:
        legal = legal_afterstates(boards, dice)
        pips = -np.minimum(legal.boards, 0).astype(np.int64) @ np.arange(25, -1, -1) ** 2
        rows = np.split(np.arange(len(pips)), legal.offsets[1:-1])
        return legal.boards[[row[pips[row].argmax()] for row in rows]]


class Never(Wild):
    """Never doubles and always takes."""

    def doubles(self, states: Sequence[GameState]) -> np.ndarray:
        return np.zeros(len(states), dtype=np.bool_)

    def takes(self, states: Sequence[GameState]) -> np.ndarray:
        return np.ones(len(states), dtype=np.bool_)


SHORT: Any = {"variant": "hypergammon"}
"""Of new_game: the bots that play at random need hundreds of rolls for other games."""


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


@needs_peers
def test_chunks_and_workers_change_nothing() -> None:
    asked: Any = {"rules": "match:2", "reference": "net:standard"}
    whole = play_stakes("random", "pubeval", 8, pairs_per_chunk=4, **asked)
    parts = play_stakes("random", "pubeval", 8, pairs_per_chunk=3, **asked)
    shared = play_stakes("random", "pubeval", 8, pairs_per_chunk=2, workers=2, **asked)
    assert whole.pair_luck is not None and whole.pair_luck.all()
    for other in (parts, shared):
        assert np.array_equal(whole.pair_scores, other.pair_scores)
        assert np.array_equal(whole.pair_luck, other.pair_luck)
        assert (whole.games, whole.won, whole.lost, whole.plies) == (other.games, other.won, other.lost, other.plies)


def test_dice_are_used_twice_and_no_more(tmp_path: Path) -> None:
    """The n-th roll of the k-th game is the same in both matches of a pair, and in no others."""
    play_stakes(Wild(1), Wild(2), 8, 5, start=new_game(3, max_cube=1, **SHORT), mat=tmp_path)
    matches = []
    for path in sorted(tmp_path.glob("*.mat")):
        games = read_mat(path).games
        matches.append([[done.dice for done in game.actions if done.dice] for game in games])
    for one, two in zip(matches[::2], matches[1::2], strict=True):
        for rolls, others in zip(one, two, strict=False):
            common = min(len(rolls), len(others))
            assert common > 4 and rolls[:common] == others[:common]
    different = {tuple(rolls[:5]) for match in matches[::2] for rolls in match}
    assert len(different) == sum(len(match) for match in matches[::2]) > 4


def test_every_match_keeps_the_crawford_rule(tmp_path: Path) -> None:
    result = play_stakes(Wild(1), Wild(2), 40, 5, start=new_game(5, max_cube=2, **SHORT), mat=tmp_path)
    files = sorted(tmp_path.glob("*.mat"))
    assert len(files) == 40 and result.rules == "match:5"
    games, wins, crawfords, doubled_after = 0, 0, 0, 0
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
                assert 4 in game.score_before and not seen
                assert all(done.action is not Action.DOUBLE for done in game.actions)
                seen = True
            elif seen:
                assert 4 in game.score_before
                doubled_after += any(done.action is Action.DOUBLE for done in game.actions)
            else:
                assert 4 not in game.score_before
        crawfords += seen
    assert (games, wins / 40) == (result.games, result.score.mean) and crawfords > 10 and doubled_after > 2


def test_money_games_are_played_by_their_rules(tmp_path: Path) -> None:
    start = new_game(jacoby=True, beavers=True, max_cube=8, **SHORT)
    result = play_stakes(Wild(1), Wild(2), 60, 2, start=start, mat=tmp_path)
    points, beavers, doubled = [], 0, 0
    for path in sorted(tmp_path.glob("*.mat")):
        record = read_mat(path)
        (game,) = record.games
        sign = 1 if record.players[game.winner or 0] == "wild-1" else -1
        points.append(sign * game.points)
        assert game.end.cube <= 8
        beavers += any(done.action is Action.BEAVER for done in game.actions)
        doubled += any(done.action is Action.DOUBLE for done in game.actions)
        if game.end.owner is None and game.result is not None:
            assert game.points == 1, "no gammons with the cube in the middle"
    assert np.allclose(np.reshape(points, (-1, 2)).mean(axis=1), result.pair_scores)
    assert beavers > 0 and result.largest == max(map(abs, points)) <= 24
    drops = result.won[3] + result.lost[3]
    assert drops > 0 and result.games == 60 and result.turned == doubled / 60


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


@pytest.mark.parametrize("method", ["doubles", "takes", "beavers"])
def test_answers_about_the_cube_are_flags(method: str) -> None:
    start = new_game(beavers=True, **SHORT)
    for answer, words in ((np.zeros(99, np.bool_), r"bool\[99\]"), (0.5, r"float64\[\]")):
        bot = Wild(1)
        setattr(bot, method, lambda states, answer=answer: answer)
        with pytest.raises(ArenaError, match=rf"bot wild-1 must return bool\[\d+\] from {method}\(\), not {words}"):
            play_stakes(bot, Wild(2), 20, start=start)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"count": 3}, "the number of games or matches must be even"),
        ({"count": 0}, "games or matches must be a whole number, at least 2"),
        ({"count": 2.0}, "whole number"),
        ({"count": 10**9}, "at most 100,000,000"),
        ({"rules": "dmp"}, "money or match:N"),
        ({"rules": "match:0"}, "1 to 64 points"),
        ({"rules": "match:65"}, "1 to 64 points"),
        ({"rules": "match:5", "jacoby": True}, "Jacoby"),
        ({"rules": "match:5", "beavers": True}, "beavers"),
        ({"max_cube": 3}, "power of two"),
        ({"workers": 0}, "workers"),
        ({"workers": 2}, "specs"),
        ({"resume": True}, "name its file"),
        ({"start": new_game().roll((3, 1))}, "before its opening roll"),
        ({"start": new_game(100)}, "matches go to 64 points, not to 100"),
        ({"stop": Until(0.1)}, "first look of until comes after 500 games"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_settings(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        play_stakes(Wild(1), Wild(2), **{"count": 2, **changes})  # type: ignore[arg-type]


@needs_peers
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
    with pytest.raises(ArenaSettingsError, match="holds 12 games or matches already, more than the 4 asked"):
        play_stakes("random", "pubeval", 4, 2, "match:2", record=file, resume=True)


def test_a_rule_can_stop_it() -> None:
    result = play_stakes("random", "random", 400, stop=Until(0.9, 50), max_cube=1)
    assert result.count < 400 and result.stop is not None and result.stop.decision


@pytest.mark.parametrize(("stop", "decision"), [(Sprt(0, 0.02, least=50), "H0"), (Sprt(-0.02, 0.02, least=50), None)])
def test_of_matches_a_test_is_about_the_share_above_one_half(stop: Sprt, decision: str | None) -> None:
    """Equal bots win half of the matches, which is 0 to the test; a mean of 0.5 would accept any H1."""
    result = play_stakes(Wild(1), Wild(1), 100, start=new_game(1, **SHORT), stop=stop)
    assert result.score.mean == 0.5 and result.count == 100
    assert result.stop is not None and result.stop.decision == decision
    assert "of the matches above one half, 5 % / 5 %" in stakes_table(result)
    assert result.as_dict()["interval_valid"] is False


def test_a_test_over_matches_sees_who_is_worse() -> None:
    """A bot that wins clearly fewer than half: H0, 50 %, is accepted; from the other side H1."""
    good, bad = PlainPlayer(Waits()), Never(1)
    for a, b, decision in ((bad, good, "H0"), (good, bad, "H1")):
        result = play_stakes(a, b, 400, start=new_game(1, **SHORT), stop=Sprt(0, 0.1, least=50))
        assert result.stop is not None and result.stop.decision == decision
        assert (result.score.high < 0.5) if decision == "H0" else (result.score.low > 0.5)


class Shows:
    """Keeps what a progress display would show."""

    def __init__(self) -> None:
        self.count = 0
        self.fields: dict[str, object] = {}

    def update(self, n: int, **fields: object) -> None:
        self.count += n
        self.fields |= fields


@pytest.mark.parametrize("length", [0, 3])
def test_progress_shows_how_sure_it_is(length: int) -> None:
    """What the result says in the end, with the distance of a test from its bounds."""
    net, shown = random_net([4], checkers=3), Shows()
    stop = Sprt(-0.001, 0.001, least=50)
    asked: Any = {"start": new_game(length, max_cube=2, **SHORT), "reference": net, "stop": stop}
    result = play_stakes(Wild(1), Wild(2), 100, progress=shown, pairs_per_chunk=7, **asked)
    assert shown.count == 100 and result.luck_adjusted is not None and result.stop is not None
    mean, half = result.luck_adjusted.mean, result.luck_adjusted.half_width
    assert shown.fields == {
        **({"won": f"{result.score.mean:.1%}"} if length else {"points_per_game": f"{result.score.mean:+.3f}"}),
        "luck_adjusted": f"{mean:.2%} +-{half:.2%}" if length else f"{mean:+.4f} +-{half:.4f}",
        "LLR": f"{stop.llr(result.stop.moments):+.2f} (-2.94, +2.94)",
    }


@pytest.mark.parametrize("length", [0, 3])
def test_one_pair_tells_nothing_of_the_spread(length: int) -> None:
    net = random_net([4], checkers=3)
    result = play_stakes(Wild(1), Wild(2), 2, start=new_game(length, **SHORT), reference=net)
    assert (result.score.low, result.score.high) == (-np.inf, np.inf)
    fields = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert fields["interval"] is None and fields["luck_adjusted"]["interval"] is None


def test_the_evaluator_inside_a_bot_judges() -> None:
    net = random_net([4], checkers=3)
    asked: Any = {"start": new_game(1, **SHORT)}
    one, other = (play_stakes(Wild(1), Wild(2), 4, reference=by, **asked) for by in (net, EvaluatorPlayer(net)))
    assert one.pair_luck is not None and one.pair_luck.all()
    assert np.array_equal(one.pair_luck, other.pair_luck) and one.reference == other.reference  # type: ignore[arg-type]


def test_a_note_where_one_result_weighs_much() -> None:
    """More than a twentieth of a point of the mean; not where the cube has a limit."""
    result = replace(play_stakes(Wild(1), Wild(2), 2, start=new_game(**SHORT)), count=200)
    note = "note  a few large cubes can decide this result"
    assert note in stakes_table(replace(result, largest=11))
    assert note not in stakes_table(replace(result, largest=10))
    assert note not in stakes_table(replace(result, largest=11, start=new_game(max_cube=16, **SHORT)))


OTHERS = [pytest.param(bot, marks=needs_peers) for bot in ("pubeval", "gnubg:0", "sage:0")]


@pytest.mark.parametrize("spec", ["random", "net:standard", *OTHERS])
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
    assert "luck-adjusted" in shown.output and f"reference {DEFAULT_REFERENCE}, 0-ply" in shown.output
    asked = ["arena", "pubeval", "pubeval", "--cube", "--jacoby", "--max-cube", "8", "--no-luck", "--json"]
    shown = run(app, [*asked, "--games", "4", "--record", "x.json"])
    found = json.loads(shown.stdout.splitlines()[-1])
    assert found["schema"] == "bgnet.stakes/1" and found["jacoby"] and found["games"] == 4
    assert found["luck_adjusted"] is None and found["interval"] == [0.0, 0.0]
    shown = run(app, ["arena", "--resume", "x.json", "--games", "6", "--json"])  # under the rules it was begun with
    found = json.loads(shown.stdout.splitlines()[-1])
    assert found["games"] == 6 and found["jacoby"] and found["max_cube"] == 8 and not found["beavers"]
    shown = run(app, ["arena", "--resume", "x.json", "--games", "8", "--beavers"])
    assert shown.exit_code == 2 and "beavers is false, not true" in shown.output
    for wrong, words in (
        (["--jacoby"], "add --cube"),
        (["--cube", "--variant", "nackgammon"], "--variant is for cubeless games"),
        (["--cube", "--rules", "dmp"], "money or match:N"),
    ):
        shown = run(app, ["arena", "random", "pubeval", "--games", "2", *wrong])
        assert shown.exit_code == 2 and words in " ".join(shown.output.split()), shown.output


def test_folders_for_mat_files_are_not_mixed(tmp_path: Path) -> None:
    asked: Any = {"start": new_game(**SHORT)}
    record = tmp_path / "record.json"
    play_stakes("random", "random", 2, mat=tmp_path / "games", record=record, **asked)
    with pytest.raises(ArenaSettingsError, match="of another run: name another folder"):
        play_stakes("random", "random", 2, mat=tmp_path / "games", **asked)
    with pytest.raises(ArenaSettingsError, match="is a file: name a folder"):
        play_stakes("random", "random", 2, mat=record, **asked)
    play_stakes("random", "random", 4, mat=tmp_path / "games", record=record, resume=True, **asked)
    assert len(list(tmp_path.glob("games/pair0000[12][ab].mat"))) == 4


def test_a_network_that_is_replaced_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "changing.safetensors"
    info = NetInfo(sizes=[196, 4, 6])
    save_net(path, random_weights([196, 4, 6], seed=1), info)
    entrant = Entrant.of(f"net:{path}")
    save_net(path, random_weights([196, 4, 6], seed=2), info)
    for make in (stakes_player_of, luck_of):
        with pytest.raises(ArenaError, match="has changed while the games went on"):
            make(entrant)


def test_networks_know_one_game(tmp_path: Path) -> None:
    small = random_net([4], checkers=3)
    for wrong, more in (((small, "random"), {}), (("random", "random"), {"reference": small})):
        with pytest.raises(ArenaSettingsError, match="with 3 checkers a side, this one has 15"):
            play_stakes(*wrong, 2, **more)  # type: ignore[arg-type]
    with pytest.raises(ArenaSettingsError, match="bot gnubg:0 knows games with 15 checkers a side, this one has 3"):
        play_stakes(small, "gnubg:0", 2, start=new_game(**SHORT))
    assert play_stakes(small, "random", 4, start=new_game(3, **SHORT), reference=small).luck_adjusted is not None


@needs_gnubg
def test_the_real_gnubg_sits_at_the_table_and_reads_the_games(tmp_path: Path) -> None:
    """It imports every file without a complaint, and comes to the same score."""
    asked: Any = {"reference": "net:standard"}
    for number, rules in enumerate(("match:3", "money")):
        folder = tmp_path / rules.replace(":", "")
        result = play_stakes("gnubg-cli:0", "net:standard", 4, 1 + number, rules, mat=folder, **asked)
        files = sorted(folder.glob("*.mat"))
        assert result.count == 4 and len(files) == 4
        for path in files:
            script = f"import mat {path}\nshow score\n"
            run = subprocess.run(
                [str(find_gnubg()), "-t", "-q", "-r"], input=script, capture_output=True, text=True, timeout=60,
                env={**os.environ, "HOME": str(tmp_path), "LC_ALL": "C"}, check=True,
            )  # fmt: skip
            said = run.stdout + run.stderr
            record = read_mat(path, strict=True)
            names, score = record.players, record.score
            assert f"{names[0]} {score[0]}, {names[1]} {score[1]}" in said, said
            complaints = ("unrecognised", "invalid", "error", "illegal", "doesn't follow", "garbage")
            shown = said[said.index("show copying") :].lower()
            assert not [word for word in complaints if word in shown], said


@needs_gnubg
def test_gnubg_beavers() -> None:
    board = np.zeros(26, np.int8)
    board[[6, 5]], board[[24, 23]] = 1, -1  # the doubler needs luck to get off, the other is off next time
    state = GameState(Position(board), beavers=True).double()
    bot = stakes_player("gnubg-cli:0")
    assert bot.beavers([state]).tolist() == [True] and bot.takes([state]).tolist() == [True]  # type: ignore[attr-defined]
    assert stakes_player(random_net([8])).beavers([state]).tolist() == [True]  # type: ignore[attr-defined]
    result = play_stakes("gnubg-cli:0", Wild(1), 4, start=new_game(beavers=True, max_cube=16))
    assert result.count == 4


@pytest.mark.parametrize("rules", ["money", "match:2"])
def test_recorded_results_that_cannot_be_are_refused(tmp_path: Path, rules: str) -> None:
    file = tmp_path / "record.json"
    first = play_stakes("random", "random", 6, rules=rules, record=file)
    assert np.array_equal(play_stakes("random", "random", 6, rules=rules, record=file, resume=True).pair_scores,
                          first.pair_scores)  # fmt: skip
    text = file.read_text()
    for column, value in (
        ("points", 1e9),
        ("points", 0.3),
        ("plies", 0),
        ("games", 9),
        ("largest", 10**6),
        ("luck", 1),
    ):
        record = json.loads(text)
        record["contests"][0]["columns"][column][1] = value
        file.write_text(json.dumps(record))
        with pytest.raises(RecordError, match=r"record\.json is damaged: row 2 of random against random cannot have"):
            play_stakes("random", "random", 6, rules=rules, record=file, resume=True)
