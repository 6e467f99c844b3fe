"""The arena: duplicate dice, points, the same answer however the work is cut, and bots that misbehave."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import engine
from bgnet import arena, arena_games, entrants
from bgnet.arena import ArenaError, ArenaSettingsError, Until, play
from bgnet.cli.arena_screens import table
from bgnet.netfile import NetInfo, save_net
from bgnet.peers import BotSpecError
from bgnet.players import EvaluatorPlayer, RandomPlayer, evaluator
from engine import dice
from engine.board import NACKGAMMON_BOARD, START_BOARD
from engine.rules import JUNIOR
from tests.bgnet.nets import random_net, random_weights
from tests.boards import array, board
from tests.marks import needs_peers

Boards = NDArray[np.int8]


class FirstPlayer:
    """Plays the generator's first result, and remembers what it was asked."""

    def __init__(self, place: int = 0) -> None:
        self.place = place
        self.asked: list[tuple[Boards, Boards]] = []

    def choose(self, boards: Boards, dice: Boards) -> Boards:
        self.asked.append((boards.copy(), dice.copy()))
        legal = engine.legal_afterstates(boards, dice)
        last = legal.offsets[1:] - 1
        return legal.boards[np.minimum(legal.offsets[:-1] + self.place, last)]


class RaceEvaluator:
    """Takes the race for the game and blots of the other side for gammons; just enough of an Evaluator."""

    def outcomes(self, boards: Boards) -> NDArray[np.float32]:
        places = np.arange(26)
        ahead = np.maximum(-boards, 0) @ places[::-1] - np.maximum(boards, 0) @ places
        win = 1 / (1 + np.exp(-ahead / 20))
        outcomes = np.zeros((len(boards), 6), dtype=np.float32)
        blots = (boards == -1).sum(axis=1) / 30
        outcomes[:, 0], outcomes[:, 3], outcomes[:, 1] = win * (1 - blots), 1 - win, win * blots
        return outcomes


class Counter:
    def __init__(self) -> None:
        self.count = 0
        self.fields: dict[str, object] = {}

    def update(self, n: int, **fields: object) -> None:
        self.count += n
        self.fields.update(fields)


@pytest.mark.parametrize("bot", ["random", pytest.param("pubeval", marks=needs_peers)])
def test_a_bot_against_itself_scores_exactly_nothing(bot: str) -> None:
    result = play(bot, bot, 40, seed=3)
    assert result.points_per_game == 0
    assert result.interval == (0, 0)
    assert result.won == result.lost
    assert (result.pair_points == 0).all()


def test_turning_the_bots_round_turns_the_result() -> None:
    first = play(RandomPlayer(1), FirstPlayer(), 40, seed=3)
    second = play(FirstPlayer(), RandomPlayer(1), 40, seed=3)
    assert np.array_equal(first.pair_points, -second.pair_points)
    assert first.won == second.lost
    assert first.plies == second.plies


def test_both_games_of_a_pair_have_the_same_dice() -> None:
    """Each roll goes to A in one game and to B in the other: the n-th of the stream of (seed, pair)."""
    a, b = FirstPlayer(), FirstPlayer()
    play(a, b, 2, seed=11)
    assert [len(rolls) for _, rolls in a.asked] == [1] * len(a.asked)
    of_a = [tuple(rolls[0]) for _, rolls in a.asked]
    of_b = [tuple(rolls[0]) for _, rolls in b.asked]
    assert of_a == of_b
    assert of_a == [dice.opening(11, 0), *(dice.roll(11, 0, n) for n in range(1, len(of_a)))]
    assert all(np.array_equal(mine[0], theirs[0]) for mine, theirs in zip(a.asked, b.asked, strict=True))


def test_pairs_have_different_dice_and_openings_are_never_doubles() -> None:
    bot = FirstPlayer()
    play(bot, RandomPlayer(), 200, seed=11)
    openings = bot.asked[0][1]
    assert len(openings) == 50, "half of a chunk's games begin with this bot"
    assert (openings[:, 0] != openings[:, 1]).all()
    assert len(np.unique(openings, axis=0)) > 20


def test_seeds_name_the_dice() -> None:
    def points(seed: int) -> tuple[float, ...]:
        return tuple(play("random", FirstPlayer(), 40, seed).pair_points)

    assert points(1) == points(1)
    assert points(1) != points(2)


@pytest.mark.parametrize("pairs_per_chunk", [1, 7, 1000])
def test_any_cutting_gives_the_same_result(pairs_per_chunk: int) -> None:
    whole = play("random", FirstPlayer(), 60, seed=5)
    cut = play("random", FirstPlayer(), 60, seed=5, pairs_per_chunk=pairs_per_chunk)
    assert np.array_equal(cut.pair_points, whole.pair_points)
    assert (cut.endings, cut.plies) == (whole.endings, whole.plies)


@needs_peers
def test_any_number_of_workers_gives_the_same_result() -> None:
    alone = play("random", "pubeval", 60, seed=5)
    progress = Counter()
    shared = play("random", "pubeval", 60, seed=5, workers=2, progress=progress, pairs_per_chunk=10)
    assert np.array_equal(shared.pair_points, alone.pair_points)
    assert (shared.endings, shared.plies) == (alone.endings, alone.plies)
    assert (shared.workers, progress.count) == (2, 60)


@needs_peers
def test_a_rule_stops_any_number_of_workers_at_the_same_place() -> None:
    rule = Until(0.2, 50)
    alone = play("random", "pubeval", 4000, stop=rule, pairs_per_chunk=15)
    shared = play("random", "pubeval", 4000, stop=rule, workers=2, pairs_per_chunk=40)
    assert np.array_equal(shared.pair_points, alone.pair_points)
    assert alone.games == 100
    assert alone.points.half_width < 0.2


@needs_peers
def test_known_strengths_come_out() -> None:
    """PubEval loses some 0.6 points a game to GNU Backgammon's bare networks (published: 0.63)."""
    result = play("gnubg:0", "pubeval", 800, seed=1)
    assert result.interval[0] < 0.63 < result.interval[1]
    assert result.interval[1] - result.interval[0] < 0.3
    assert play("pubeval", "random", 100, seed=1).won[0] > 95


ENDGAMES = [
    # the one on roll bears off his last checker at once; what the other has left decides
    (board({1: 1}, {19: 14}), 0),
    (board({1: 1}, {19: 15}), 1),
    (board({1: 1}, {19: 14, 2: 1}), 2),
    (board({1: 1}, {19: 14, 0: 1}), 2),
]


@pytest.mark.parametrize(("start", "level"), ENDGAMES)
def test_endings_are_counted_for_the_right_bot(start: tuple[int, ...], level: int) -> None:
    """Who starts wins, so each bot wins one game of the pair in the same way."""
    result = play(FirstPlayer(), FirstPlayer(), 2, start=array(start)[0])
    expected = [0] * 6
    expected[level] = expected[level + 3] = 1
    assert list(result.endings) == expected
    assert result.plies == 2
    wins = [1, int(level >= 1), int(level == 2)]
    assert [*result.won, *result.lost] == wins * 2


class BearsOff:
    """Bears off as many checkers as it can or, not eager, as few."""

    def __init__(self, eager: bool = True) -> None:
        self.sign = 1 if eager else -1

    def choose(self, boards: Boards, dice: Boards) -> Boards:
        legal = engine.legal_afterstates(boards, dice)
        value = self.sign * np.minimum(legal.boards, 0).sum(axis=1)  # minus the mover's checkers left
        rows = np.split(np.arange(len(value)), legal.offsets[1:-1])
        return legal.boards[[row[value[row].argmax()] for row in rows]]


def test_points_follow_the_rules_of_the_arena() -> None:
    money = play("random", BearsOff(), 100, seed=2)
    dmp = play("random", BearsOff(), 100, seed=2, rules="dmp")
    junior = play("random", BearsOff(), 100, seed=2, rules=JUNIOR)
    assert money.endings == dmp.endings == junior.endings
    single, gammon, backgammon, *lost = money.endings
    points = single + 2 * gammon + 3 * backgammon - lost[0] - 2 * lost[1] - 3 * lost[2]
    assert money.points_per_game == pytest.approx(points / 100)
    assert dmp.points_per_game == pytest.approx((money.won[0] - money.lost[0]) / 100)
    assert junior.points_per_game == dmp.points_per_game
    assert money.lost[1] > 0, "a random player loses gammons"
    assert (dmp.rules, junior.rules) == ("dmp", "junior")


def test_who_bears_off_faster_wins() -> None:
    race = array(board({6: 3, 2: 12}, {19: 3, 23: 12}))[0]
    result = play(BearsOff(), BearsOff(eager=False), 100, seed=4, start=race)
    assert result.points_per_game > 0.3
    assert result.interval[0] > 0


@needs_peers
def test_engines_play_for_the_rules_of_the_arena() -> None:
    """gnubg at double match point against itself for money: only the first plays for wins alone."""
    bot = entrants.Entrant.of("gnubg:0")
    assert arena_games.player_of(bot, arena.RULES["dmp"])._away == 1  # type: ignore[attr-defined]
    assert arena_games.player_of(bot, arena.RULES["money"])._away == 0  # type: ignore[attr-defined]


def test_evaluators_play_too() -> None:
    """By the payoff of the arena's rules."""
    for rules in ("money", "dmp"):
        player = EvaluatorPlayer(RaceEvaluator(), arena.RULES[rules].payoff)
        result = play(RaceEvaluator(), "random", 40, seed=1, rules=rules)
        assert np.array_equal(result.pair_points, play(player, "random", 40, seed=1, rules=rules).pair_points)
        assert "RaceEvaluator" in result.a
    money, dmp = (play(RaceEvaluator(), "random", 40, rules=rules).plies for rules in ("money", "dmp"))
    assert money != dmp


def test_another_start_board() -> None:
    bot = FirstPlayer()
    play(bot, "random", 2, start=NACKGAMMON_BOARD)
    assert np.array_equal(bot.asked[0][0][0], NACKGAMMON_BOARD)


def test_progress_counts_every_game() -> None:
    progress = Counter()
    result = play("random", FirstPlayer(), 60, progress=progress, pairs_per_chunk=10)
    assert progress.count == 60
    assert progress.fields["points_per_game"] == f"{result.points_per_game:+.3f}"


def test_the_result_as_json() -> None:
    result = play("random", RandomPlayer(5), 40, seed=9)
    fields = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert fields["schema"] == "bgnet.arena/1"
    assert (fields["a"], fields["b"]) == ("random", "RandomPlayer(seed=5)")
    assert (fields["games"], fields["seed"], fields["rules"], fields["workers"]) == (40, 9, "money", 1)
    low, high = fields["interval"]
    assert low < fields["points_per_game"] < high
    assert fields["wins"] + fields["losses"] == 40
    assert fields["wins"] >= fields["gammons"] >= fields["backgammons"]
    assert fields["losses"] >= fields["gammons_lost"] >= fields["backgammons_lost"]
    assert fields["plies_per_game"] * 40 == pytest.approx(result.plies)
    assert fields["games_per_s"] == pytest.approx(40 / fields["seconds"])
    assert fields["interval_valid"] is True


def test_one_pair_tells_nothing_of_the_spread() -> None:
    result = play("random", FirstPlayer(), 2)
    assert result.interval == (-np.inf, np.inf)
    fields = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert fields["interval"] is None and fields["points_per_game"] == result.points_per_game
    assert "[-inf, +inf]" in table(result)


class Cheat(FirstPlayer):
    """Passes in the third call, checkers and all in order."""

    def choose(self, boards: Boards, dice: Boards) -> Boards:
        chosen = super().choose(boards, dice)
        return np.ascontiguousarray(-boards[:, ::-1]) if len(self.asked) == 3 else chosen

    def __repr__(self) -> str:
        return "Cheat()"


def test_an_illegal_choice_is_found_out() -> None:
    message = r"bot Cheat\(\) chose an illegal result for \S{14} and the roll \d-\d"
    with pytest.raises(ArenaError, match=message):
        play("random", Cheat(), 20)
    play("random", Cheat(), 20, check=False)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda boards: boards[:-1], "must return int8"),
        (lambda boards: boards.astype(np.int64), "not int64"),
        (lambda boards: None, "not None"),
    ],
)
def test_an_answer_of_another_shape_is_found_out(answer: object, message: str) -> None:
    class Broken:
        def choose(self, boards: Boards, dice: Boards) -> object:
            return answer(boards)  # type: ignore[operator]

    with pytest.raises(ArenaError, match=message):
        play(Broken(), "random", 20)  # type: ignore[arg-type]


def test_games_without_end_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena_games, "_MOST_PLIES", 10)
    with pytest.raises(ArenaError, match="no end after 10 plies"):
        play("random", "random", 2)


@pytest.mark.parametrize("games", [0, 1, 7, -2, 2.0, "10", True, None, 10**9])
def test_a_bad_number_of_games_is_refused(games: object) -> None:
    with pytest.raises(ArenaSettingsError, match="games must be"):
        play("random", "random", games)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, "x"])
def test_a_bad_seed_is_refused(seed: object) -> None:
    with pytest.raises(engine.DiceError, match="seed"):
        play("random", "random", 2, seed)  # type: ignore[arg-type]


def test_other_bad_settings_are_refused() -> None:
    with pytest.raises(ArenaSettingsError, match="workers"):
        play("random", "random", 2, workers=0)
    with pytest.raises(ArenaSettingsError, match="money, dmp, not 'match'"):
        play("random", "random", 2, rules="match")
    with pytest.raises(ArenaSettingsError, match="pairs_per_chunk"):
        play("random", "random", 2, pairs_per_chunk=0)
    with pytest.raises(ArenaSettingsError, match="by specs"):
        play("random", RandomPlayer(), 4, workers=2)
    with pytest.raises(engine.BoardError, match="over"):
        play("random", "random", 2, start=array(board({1: 1}, {}))[0])


def test_a_bot_that_nobody_knows_is_refused() -> None:
    with pytest.raises(BotSpecError, match="fancy"):
        play("random", "fancy", 2)
    with pytest.raises(BotSpecError, match="gnubg:7"):
        play("gnubg:7", "random", 2, workers=2)
    with pytest.raises(ValueError, match="42"):
        play("random", 42, 2)  # type: ignore[arg-type]


def save_random_net(path: Path, seed: int) -> None:
    sizes = [196, 8, 6]
    save_net(path, random_weights(sizes, seed), NetInfo(sizes=sizes))


def test_a_net_file_is_read_anew_each_time(tmp_path: Path) -> None:
    file = tmp_path / "net.safetensors"
    points = []
    for seed in (1, 2, 1):
        save_random_net(file, seed)
        points.append(play(f"net:{file}", "random", 4, pairs_per_chunk=1).pair_points.tolist())
    assert points[0] == points[2]
    assert points[0] != points[1]


def test_a_net_file_that_changes_while_the_games_go_on_is_found_out(tmp_path: Path) -> None:
    """What a worker process meets that loads its bots while training writes the next net."""
    file = tmp_path / "net.safetensors"
    save_random_net(file, 1)
    entrant = entrants.Entrant.of(f"net:{file}")
    save_random_net(file, 2)
    entrants.forget_bots()
    with pytest.raises(ArenaError, match="has changed while the games went on"):
        arena_games.player_of(entrant, arena.RULES["money"])
    with pytest.raises(ArenaError, match="has changed"):
        entrants.made(entrant, evaluator)


def test_start_board_is_left_alone() -> None:
    before = START_BOARD.copy()
    play("random", "random", 2)
    assert np.array_equal(before, START_BOARD)


def test_variants() -> None:
    small = random_net([16], checkers=3)
    result = play(small, "random", 20, variant="hypergammon")
    assert result.as_dict()["variant"] == "hypergammon"
    assert result.plies / 20 < 40, "three checkers a side are soon off"
    assert play("random", "random", 4, variant="nackgammon").points_per_game == 0
    for bot, variant in ((small, "backgammon"), (random_net([16]), "hypergammon")):
        with pytest.raises(ArenaSettingsError, match="checkers a side"):
            play(bot, "random", 2, variant=variant)
    with pytest.raises(ArenaSettingsError, match="variant must be one of"):
        play("random", "random", 2, variant="plakoto")


@needs_peers
def test_other_engines_know_fifteen_checkers_only() -> None:
    with pytest.raises(ArenaSettingsError, match="bot gnubg:0 knows games with 15"):
        play("gnubg:0", "random", 2, variant="hypergammon")
