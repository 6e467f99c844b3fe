"""The program GNU Backgammon as a bot: a stand-in shows what it is asked, the real one that answers are read right."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import engine
from bgnet import arena, peers
from bgnet.gnubg_cli import GnubgCli, GnubgCubeDecision
from bgnet.legality import legal_choices
from bgnet.peers import BotSpecError
from bgnet.players import Player, RandomPlayer, evaluator, player, split_depth
from engine import START, GameState, Position
from engine.board import START_BOARD
from engine.errors import StateError
from engine.outcomes import swap, to_cumulative
from engine.rules import DMP, MONEY
from engine.state import GameStatus
from tests.bgnet.fake_gnubg import CUBE_ANSWER, RAMP, asked, make, stand_ins
from tests.boards import array, board, roll
from tests.cube_states import match_state, money_state, oracle_rows
from tests.marks import needs_gnubg, needs_scripts

Boards = NDArray[np.int8]

STARTS = np.repeat(START_BOARD[None], 10, axis=0)
LEADER = match_state((3, 9), owner=1, cube=2)  # X leads 6-0 in a match to 9


@pytest.fixture(autouse=True)
def _no_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BGNET_GNUBG", raising=False)


@pytest.fixture
def fake(tmp_path: Path) -> Any:
    """Makes bots that drive a stand-in."""
    with stand_ins(tmp_path) as made:
        yield made


def other_seat(state: GameState) -> GameState:
    """The same for the player on roll, who is the other one."""
    owner = None if state.owner is None else 1 - state.owner
    return replace(state, on_roll=1 - state.on_roll, owner=owner, score=state.score[::-1])


# ---- driven right: the stand-in says what it was asked ---------------------------------------------------------------


@needs_scripts
class TestDriving:
    def test_what_the_program_gets(self, fake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The user's settings, screen and Python are kept from it."""
        monkeypatch.setenv("DISPLAY", ":0")
        fake(ply=2)
        (options, home, display, _, folder), *others = asked(tmp_path, "start")
        assert not others
        assert options[:5] == ["-t", "-q", "-r", "-s", home]
        assert home == folder != os.environ["HOME"]
        assert display is None
        assert asked(tmp_path, "command") == [["set threads 1"]]

    @pytest.mark.parametrize("ply", [0, 1, 2, 3])
    def test_depth_without_noise(self, ply: int, fake: Any, tmp_path: Path) -> None:
        bot = fake(ply=ply)
        bot.outcomes(STARTS[:1])
        bot.decide([GameState(START)])
        contexts = [asked(tmp_path, name)[0][2] for name in ("evaluate", "cfevaluate")]
        common = {"plies": ply, "deterministic": 1, "prune": 1, "noise": 0.0}
        assert contexts == [{**common, "cubeful": 0}, {**common, "cubeful": 1}]

    def test_chances_of_the_player_on_roll(self, fake: Any, tmp_path: Path) -> None:
        boards = array(
            [
                board({24: 2, 13: 5, 8: 3, 6: 5}, {0: 1, 3: 4, 12: 5, 19: 5}),
                board({25: 1, 1: 2}, {20: 3}),
                board({1: 2}, {}),
            ]
        )
        outcomes = fake().outcomes(boards)
        assert to_cumulative(outcomes[0]) == pytest.approx([0.52, 0.25, 0.125, 0.2, 0], abs=1e-6)
        assert outcomes[1].tolist() == pytest.approx([0.5, 0, 0, 0.5, 0, 0]), "both have borne off: no gammons"
        assert outcomes[2].tolist() == [0, 0, 0, 1, 0, 0], "over: exact, and the program is not asked"
        (opponent, own), info, _ = asked(tmp_path, "evaluate")[0]
        assert (own[23], own[5], opponent[24], opponent[21], sum(own), sum(opponent)) == (2, 5, 1, 4, 15, 15)
        assert info == {"cube": 1, "owner": -1, "move": 1, "matchto": 0, "score": [0, 0], "crawford": 0,
                        "jacoby": 0, "beavers": 0}  # fmt: skip
        assert len(asked(tmp_path, "evaluate")) == 2

    @pytest.mark.parametrize(("rules", "length"), [("money", 0), ("dmp", 1)])
    def test_checker_play_is_cubeless(self, rules: str, length: int, fake: Any, tmp_path: Path) -> None:
        chosen = fake(rules=rules).choose(STARTS[:1], roll(3, 1))
        assert tuple(-chosen[0, ::-1]) == board({24: 2, 13: 5, 8: 2, 6: 4, 5: 2}, {1: 2, 12: 5, 17: 3, 19: 5})
        _, info, context, dice = asked(tmp_path, "findbestmove")[0]
        assert (info["matchto"], info["jacoby"], context["cubeful"], dice) == (length, 0, 0, [3, 1])

    @pytest.mark.parametrize("turned", [False, True])
    def test_scores_and_owner_reach_the_right_side(self, turned: bool, fake: Any, tmp_path: Path) -> None:
        """The program's score is (player 0, player 1), and the player on roll is always its player 1."""
        state = other_seat(LEADER) if turned else LEADER
        assert state.away == (3, 9)
        bot = fake()
        bot.decide([state])
        bot.plays([replace(state, position=START, dice=(3, 1))])
        for name in ("cfevaluate", "findbestmove"):
            _, info, context, *_ = asked(tmp_path, name)[0]
            assert (info["move"], info["owner"], info["cube"], info["matchto"]) == (1, 1, 2, 9)
            assert info["score"] == [0, 6]
            assert context["cubeful"] == 1

    @pytest.mark.parametrize(
        ("state", "expected"),
        [
            (money_state(owner=-1, cube=8), {"owner": 0, "cube": 8, "matchto": 0, "score": [0, 0]}),
            (money_state(score=(5, 70)), {"owner": -1, "cube": 1, "score": [0, 0], "jacoby": 0, "beavers": 0}),
            (money_state(jacoby=True, beavers=True), {"jacoby": 1, "beavers": 1, "crawford": 0}),
            (match_state((3, 1), crawford=True), {"crawford": 1, "score": [2, 0], "matchto": 3}),
            (match_state((3, 1)), {"crawford": 0, "score": [2, 0], "matchto": 3}),
        ],
    )
    def test_cube_and_rules(self, state: GameState, expected: dict[str, Any], fake: Any, tmp_path: Path) -> None:
        bot = fake()
        bot.decide([state])
        bot.decide([other_seat(state)])
        for _, info, _ in asked(tmp_path, "cfevaluate"):
            assert {name: info[name] for name in expected} == expected

    def test_a_highest_cube_is_no_cube_for_plays(self, fake: Any, tmp_path: Path) -> None:
        fake().plays([GameState(START, dice=(3, 1), max_cube=1), GameState(START, dice=(3, 1), max_cube=2)])
        assert [call[2]["cubeful"] for call in asked(tmp_path, "findbestmove")] == [0, 1]

    def test_cube_numbers(self, fake: Any) -> None:
        bot = fake()
        assert bot.decide([GameState(START)]) == [GnubgCubeDecision(0.25, 0.5, 1.0, None, "No double, take")]
        assert bot.decide([LEADER])[0].mwc == (0.525, 0.55, 0.6)

    @pytest.mark.parametrize(
        ("text", "doubles", "takes", "beavers"),
        [
            ("Double, take", True, True, False),
            ("Redouble, pass", True, False, False),
            ("Double, beaver", True, True, True),
            ("No double, take", False, True, False),
            ("No redouble, beaver", False, True, True),
            ("Too good to redouble, pass", False, False, False),
            ("Too good to double, take", False, True, False),
            ("Optional double, pass", False, False, False),
            ("Optional redouble, take", False, True, False),
        ],
    )
    def test_what_the_actions_mean(self, text: str, doubles: bool, takes: bool, beavers: bool, fake: Any) -> None:
        bot = fake(cube=[*CUBE_ANSWER[:5], text])
        pending = replace(GameState(START), doubled=True)
        assert bot.doubles([GameState(START)]).tolist() == [doubles]
        assert bot.takes([pending]).tolist() == [takes]
        assert bot.decide([pending])[0].beavers == beavers

    @pytest.mark.parametrize(
        "text", ["Unknown cube decision", "Cube not available", "Never redouble, take (dead cube)"]
    )
    def test_no_cube_to_turn(self, text: str, fake: Any) -> None:
        decision = fake(cube=[*CUBE_ANSWER[:5], text]).decide([LEADER])[0]
        assert (decision.no_double, decision.double_take, decision.double_pass) == (0.25, None, None)
        assert decision.mwc == (0.525, None, None)
        assert decision.action == (text if text.startswith("Never") else "cube not available")
        assert (decision.doubles, decision.takes) == (False, True)

    def test_doubles_asks_only_where_one_may(self, fake: Any, tmp_path: Path) -> None:
        bot = fake(cube=[*CUBE_ANSWER[:5], "Double, take"])
        states = [
            money_state(owner=-1), money_state(), money_state(dice=(3, 1)), match_state((1, 3), crawford=True),
            match_state((1, 3)), match_state((3, 1)), money_state(max_cube=1), money_state(doubled=True),
        ]  # fmt: skip
        assert bot.doubles(states).tolist() == [False, True, False, False, False, True, False, False]
        assert len(asked(tmp_path, "cfevaluate")) == 2

    def test_many_processes_keep_the_order(self, fake: Any, tmp_path: Path) -> None:
        several = fake(processes=3).outcomes(RAMP)
        assert len({call[3] for call in asked(tmp_path, "start")}) == 3
        assert several[:, :3].sum(axis=1) == pytest.approx(0.5 + np.arange(10) / 100)
        assert np.array_equal(several, fake(processes=1).outcomes(RAMP))

    def test_no_more_processes_than_questions(self, fake: Any, tmp_path: Path) -> None:
        fake(processes=5).outcomes(STARTS[:2])
        assert len(asked(tmp_path, "start")) == 2

    def test_nothing_asked_nothing_answered(self, fake: Any) -> None:
        bot = fake(processes=3)
        assert bot.choose(STARTS[:0], np.zeros((0, 2), dtype=np.int8)).shape == (0, 26)
        assert bot.outcomes(STARTS[:0]).shape == (0, 6)
        assert bot.plays([]).shape == (0, 26)
        assert (bot.decide([]), bot.doubles([]).shape, bot.takes([]).shape) == ([], (0,), (0,))

    def test_threads_may_share_a_bot(self, fake: Any) -> None:
        bot = fake(processes=2)
        expected, found = bot.outcomes(RAMP), []
        threads = [threading.Thread(target=lambda: found.append(bot.outcomes(RAMP))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 4
        assert all(np.array_equal(expected, answer) for answer in found)


# ---- names and refusals ----------------------------------------------------------------------------------------------


@needs_scripts
def test_specs_name_the_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BGNET_GNUBG", str(make(tmp_path)))
    for ply in range(4):
        bot = player(f"gnubg-cli:{ply}")
        assert isinstance(bot, GnubgCli) and isinstance(bot, Player)
        assert (bot.ply, repr(bot)) == (ply, f"GnubgCli({ply})")
        assert bot._cubeless[3] == 0
        bot.close()
    assert player("gnubg-cli:0", DMP.payoff)._cubeless[3] == 1  # type: ignore[attr-defined]
    with pytest.raises(arena.ArenaSettingsError, match="bot gnubg-cli:0 knows games with 15 checkers"):
        arena.play("gnubg-cli:0", "random", 2, variant="hypergammon")


@pytest.mark.parametrize("spec", ["gnubg-cli", "gnubg-cli:", "gnubg-cli:4", "gnubg-cli:02", "gnubg-cli:2ply"])
def test_wrong_depths_are_refused(spec: str) -> None:
    with pytest.raises(BotSpecError, match=f'"{spec}".*0, 1, 2 or 3.*gnubg-cli:0'):
        player(spec)


@pytest.mark.parametrize("spec", ["gnubg-cli:0", "gnubg-cli:2"])
def test_it_does_not_judge_for_others(spec: str) -> None:
    """Each answer takes 10 ms: a search over it would take minutes."""
    with pytest.raises(BotSpecError, match=rf"{spec}.*gnubg:0.*ply={spec[-1]}"):
        evaluator(split_depth(spec)[0])


@pytest.mark.parametrize("typed", ["gnubg-cl:2", "gnubgcli:2", "gnucli:2"])
def test_a_near_miss_is_offered(typed: str) -> None:
    with pytest.raises(BotSpecError, match="did you mean gnubg-cli:2"):
        player(typed)


@pytest.mark.parametrize(
    "options",
    [
        {"ply": 4}, {"ply": -1}, {"ply": True}, {"ply": "2"}, {"rules": "match"}, {"timeout": 0}, {"timeout": -1.0},
        {"timeout": float("nan")}, {"processes": 0}, {"processes": 65}, {"processes": True},
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BotSpecError, match=str(next(iter(options.values())))):
        GnubgCli(**options)


ROLLED = GameState(START, dice=(3, 1))


@needs_scripts
@pytest.mark.parametrize(
    ("method", "state", "error", "message"),
    [
        ("plays", GameState(START), StateError, "state 1: there are no dice"),
        ("decide", ROLLED, StateError, "state 1: the dice are rolled"),
        ("decide", GameState(START, max_cube=1), StateError, "highest face"),
        ("takes", GameState(START), StateError, "state 1: no double is pending"),
        ("decide", GameState(START, resigned=1), StateError, "a resignation is pending"),
        ("decide", GameState(START, stakes=(1, 1, 1)), StateError, "stakes are"),
        ("plays", replace(ROLLED, stakes=(1, 2, 2)), StateError, "stakes are"),
        ("decide", GameState(START, match_length=65), StateError, "to 64 points"),
        ("decide", GameState(START, game_state=GameStatus.DROPPED), StateError, "no game is under way"),
        ("decide", GameState(START, game_state=GameStatus.NONE), StateError, "no game is under way"),
        ("decide", GameState(Position(board({3: 1}, {22: 1})), variant="hypergammon"), StateError, "3 checkers"),
        ("decide", GameState(Position(board({3: 1}, {}))), engine.BoardError, "over"),
    ],
)
def test_states_it_does_not_know(
    method: str, state: GameState, error: type[Exception], message: str, fake: Callable[..., GnubgCli]
) -> None:
    good = {"plays": ROLLED, "decide": GameState(START), "takes": GameState(START, doubled=True)}[method]
    with pytest.raises(error, match=message):
        getattr(fake(), method)([good, state])


@needs_scripts
def test_bad_arrays_are_refused(fake: Callable[..., GnubgCli]) -> None:
    bot = fake()
    with pytest.raises(engine.ArrayError):
        bot.choose(STARTS.astype(np.int64), roll(3, 1))
    with pytest.raises(engine.DiceError):
        bot.choose(STARTS[:1], roll(7, 1))
    with pytest.raises(engine.BoardError, match="over"):
        bot.choose(array(board({3: 1}, {})), roll(3, 1))
    with pytest.raises(engine.ArrayError):
        bot.outcomes(START_BOARD)


# ---- the real program ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real() -> Any:
    bot = GnubgCli(0)
    yield bot
    bot.close()


@pytest.fixture(scope="module")
def odd_positions() -> tuple[Boards, Boards]:
    """From random play: bars, broken boards, bear-offs; with their rolls."""
    rng, boards, seen, rolled = np.random.default_rng(4), STARTS[:3], [], []
    while len(boards):
        dice = rng.integers(1, 7, (len(boards), 2)).astype(np.int8)
        seen.append(boards)
        rolled.append(dice)
        boards = RandomPlayer(3).choose(boards, dice)
        boards = boards[(boards > 0).any(axis=1) & (boards < 0).any(axis=1)]
    return np.concatenate(seen), np.concatenate(rolled)


# What `hint` of gnubg 1.07.001 prints on its terminal at 0-ply, cubeful: the best play and its equity. Both seats, and
# scores that matter: with the two scores exchanged most of these plays are others.
HINTS = [
    ("yc3gARTYzcgHAA:MAFqABAAAAAE", "13/9 11/9", 1.017),
    ("wXPwICLg8+AFBA:UYkFAVAAGAAE", "8/7*/4*", 0.818),
    ("tm1yAQBMdxsAMA:EYFkABAAAAAE", "9/8 6/4 6/5", -1.013),
    ("s22SCCD23CcAAA:UQnSAFAACAAE", "6/2 5/1*(3)", 1.020),
    ("cjsNAAew29AVAA:cInkAAAAKAAE", "14/11 12/11", 0.336),
    ("3sOGAAxmOxgGBg:cAklATAAIAAE", "15/13* 6/5", 0.962),
    ("22ZUMAAcc8YgYA:UYnWADAAEAAE", "bar/15*(2)", 0.004),
    ("t2cMMABu24ADQA:sAHKAFAAAAAE", "bar/19", -0.110),  # Crawford game, player 0
    ("phsPIAZt7oEARA:8IlpACAACAAE", "bar/22 3/1", 0.052),  # Crawford game, player 1
]


def best_for_doubler(no_double: float, double_take: float | None, double_pass: float | None) -> float:
    if double_take is None or double_pass is None:
        return no_double
    return min(double_take, double_pass) if double_take >= no_double <= double_pass else no_double


@needs_gnubg
class TestRealProgram:
    @pytest.mark.parametrize("turned", [False, True])
    def test_cube_decisions(self, turned: bool, real: GnubgCli) -> None:
        """300 states of all kinds, money and matches at uneven scores, from both seats."""
        rows = oracle_rows()
        states = [other_seat(row["state"]) if turned else row["state"] for row in rows]
        for row, found in zip(rows, real.decide(states), strict=True):
            assert found.action == row["action"], row
            for mine, name in ((found.no_double, "nd"), (found.double_take, "dt"), (found.double_pass, "dp")):
                assert mine == (None if row[name] is None else pytest.approx(row[name], abs=2e-6)), row
            if row.get("mwc") is not None:
                assert found.mwc is not None and found.mwc[0] == pytest.approx(row["mwc"]["nd"], abs=1e-6)
                assert found.mwc[1] == (None if row["dt"] is None else pytest.approx(row["mwc"]["dt"], abs=1e-6))
            else:
                assert found.mwc is None

    def test_chances(self, real: GnubgCli) -> None:
        rows = oracle_rows()[::5]
        boards = np.array([row["state"].position.board for row in rows], dtype=np.int8)
        five = to_cumulative(real.outcomes(boards))
        assert five == pytest.approx(np.array([row["probs"] for row in rows]), abs=2e-6)

    def test_doubles_and_takes(self, real: GnubgCli) -> None:
        rows = [row for row in oracle_rows() if row["dt"] is not None]
        doubles = real.doubles([row["state"] for row in rows])
        assert doubles.tolist() == [row["action"].startswith(("Double", "Redouble")) for row in rows]
        takes = real.takes([replace(other_seat(row["state"]), doubled=True) for row in rows])
        assert takes.tolist() == [row["dt"] < row["dp"] for row in rows]
        assert 50 < doubles.sum() < 200 and 50 < takes.sum() < 250

    def test_beavers(self, real: GnubgCli) -> None:
        """Rows 5 and 6 of the cube specification's worked vectors: position E."""
        position = "mGfwATCGZ/ABMA"
        centred, own = real.decide(
            [money_state(position, jacoby=True, beavers=True), money_state(position, owner=1, beavers=True)]
        )
        assert (centred.action, own.action) == ("No double, beaver", "No redouble, beaver")
        assert (centred.no_double, own.no_double) == pytest.approx((-0.0675, 0.1123), abs=1e-4)
        assert (centred.double_take, own.double_take) == pytest.approx((-0.4553, -0.4553), abs=1e-4)
        assert not centred.doubles and centred.beavers

    def test_checker_play_is_the_best_by_its_chances(
        self, real: GnubgCli, odd_positions: tuple[Boards, Boards]
    ) -> None:
        boards, dice = (rows[::8] for rows in odd_positions)
        legal = engine.legal_afterstates(boards, dice)
        chosen = real.choose(boards, dice)
        both = swap(real.outcomes(np.concatenate([legal.boards, chosen]))) @ MONEY.payoff
        best = np.maximum.reduceat(both[: len(legal.boards)], legal.offsets[:-1])
        assert both[len(legal.boards) :] == pytest.approx(best, abs=2e-6)

    def test_gnubg_nn_plays_nearly_the_same(self, real: GnubgCli, odd_positions: tuple[Boards, Boards]) -> None:
        """The package has networks of another day: on 800 hard decisions 4.5 % of its plays differ."""
        pytest.importorskip("gnubg_nn", reason='needs the optional packages of "bgnet[peers]"')
        boards, dice = (rows[::2] for rows in odd_positions)
        same = (real.choose(boards, dice) == peers.GnubgNN(0).choose(boards, dice)).all(axis=1)
        assert same.mean() > 0.93

    @pytest.mark.parametrize("dice", [(4, 4), (6, 1), (6, 6), (3, 5)])
    def test_plays_from_the_bar(self, dice: tuple[int, int], real: GnubgCli) -> None:
        """Checkers of both sides on the bar; 6-6 cannot be played at all."""
        boards = array(board({25: 2, 6: 5, 8: 3, 13: 5}, {0: 1, 1: 1, 12: 5, 17: 3, 19: 5}))
        assert legal_choices(boards, roll(*dice), real.choose(boards, roll(*dice))).all()

    def test_cubeful_play_minds_score_and_seat(self, real: GnubgCli, odd_positions: tuple[Boards, Boards]) -> None:
        """Its choice leaves the opponent the worst cube decision, which cube.jsonl.gz has shown to be read right."""
        rng = np.random.default_rng(8)
        states, ahead = [], []
        for square, dice in zip(*(rows[5::40] for rows in odd_positions), strict=True):
            score = (int(rng.integers(0, 7)), int(rng.integers(0, 7)))
            for on_roll in (0, 1):
                state = GameState(Position(square.tolist()), on_roll=on_roll, dice=tuple(dice.tolist()),
                                  match_length=7, score=score, cube=2, owner=int(rng.integers(2)))  # fmt: skip
                legal = engine.legal_afterstates(square[None], dice[None]).boards
                if len(legal) > 1 and (legal > 0).any(axis=1).all() and (legal < 0).any(axis=1).all():
                    states.append(state)
                    following = replace(state, dice=None, on_roll=1 - on_roll)
                    ahead.append([replace(following, position=Position(row.tolist())) for row in legal])
        assert len(states) >= 6
        assert any(state.score[0] != state.score[1] for state in states)
        decisions = iter(real.decide([state for group in ahead for state in group]))
        for state, group, chosen in zip(states, ahead, real.plays(states), strict=True):
            values = [best_for_doubler(*(next(decisions).mwc or ())) for _ in group]
            row = [tuple(after.position.board) for after in group].index(tuple(chosen.tolist()))
            assert values[row] == pytest.approx(min(values), abs=2e-7), state

    @pytest.mark.parametrize(("gnubg_id", "play", "equity"), HINTS)
    def test_hints(self, gnubg_id: str, play: str, equity: float, real: GnubgCli) -> None:
        state = GameState.from_gnubg_id(gnubg_id)
        best = engine.parse_play(state.position, state.dice, play).position
        assert tuple(real.plays([state])[0]) == tuple(best.board)
        answer = real.decide([replace(state, position=best, dice=None, on_roll=1 - state.on_roll)])[0]
        theirs = best_for_doubler(answer.no_double, answer.double_take, answer.double_pass)
        assert -theirs == pytest.approx(equity, abs=6e-4)

    def test_two_plies(self, real: GnubgCli) -> None:
        """Rolls that 0-ply misplays by 0.05 and more, as GNU Backgammon's own 2-ply analysis says."""
        rolls = [("bJtQIBxzHgAMTg", (2, 1), "bar/23 18/17*"), ("7GyDAUHbHoQCSA", (2, 2), "bar/23 13/11 9/5*"),
                 ("yG8jQQJszsgBUA", (2, 1), "bar/23 13/12*"), ("zO4GAQZ1NoMBBg", (5, 2), "13/11 13/8")]  # fmt: skip
        positions = [Position.from_position_id(text) for text, _, _ in rolls]
        best = [
            engine.parse_play(position, dice, play).position.board
            for position, (_, dice, play) in zip(positions, rolls, strict=True)
        ]
        boards = array([tuple(position.board) for position in positions])
        dice = np.array([dice for _, dice, _ in rolls], dtype=np.int8)
        deep = GnubgCli(2)
        assert (deep.choose(boards, dice) == np.array(best)).all()
        assert (real.choose(boards, dice) != np.array(best)).any(axis=1).all()
        deep.close()

    def test_an_arena_game(self) -> None:
        result = arena.play("gnubg-cli:0", "random", 4, seed=1)
        assert result.points_per_game > 0.5

    def test_it_writes_only_where_it_may(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.chdir(tmp_path)
        bot = GnubgCli(0)
        bot.outcomes(STARTS[:1])
        bot.close()
        assert list(tmp_path.iterdir()) == []
