"""Other engines seen through our boards and outcomes: right side, right numbers, legal plays."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import engine
from bgnet import peers
from bgnet.legality import legal_choices
from bgnet.peers import BotSpecError, GnubgNN, MissingEngineError, OpenSage, PubEval
from bgnet.players import RandomPlayer
from engine.board import START_BOARD
from engine.outcomes import swap, to_cumulative
from engine.rules import DMP, MONEY
from tests.boards import array, board, roll

Boards = NDArray[np.int8]

pytest.importorskip("gnubg_nn", reason='needs the optional packages of "bgnet[peers]"')
pytest.importorskip("bgsage", reason='needs the optional packages of "bgnet[peers]"')

SPECS = ["pubeval", "gnubg:0", "gnubg:1", "gnubg:2", "sage:0"]
EVALUATORS = ["gnubg:0", "gnubg:1", "gnubg:2", "sage:0"]


def make(spec: str, rules: str = "money") -> Any:
    found = peers.player(spec, rules)
    assert found is not None
    return found


def positions_of(player: Any, games: int, seed: int) -> tuple[Boards, Boards]:
    """All positions of some games that `player` plays against itself, with their rolls."""
    boards = np.repeat(START_BOARD[None], games, axis=0)
    rng = np.random.default_rng(seed)
    seen, rolled = [], []
    while len(boards):
        dice = rng.integers(1, 7, (len(boards), 2)).astype(np.int8)
        seen.append(boards)
        rolled.append(dice)
        boards = player.choose(boards, dice)
        boards = boards[(boards > 0).any(axis=1) & (boards < 0).any(axis=1)]
    return np.concatenate(seen), np.concatenate(rolled)


@pytest.fixture(scope="module")
def bot_positions() -> tuple[Boards, Boards]:
    return positions_of(GnubgNN(0), games=20, seed=1)


@pytest.fixture(scope="module")
def odd_positions() -> tuple[Boards, Boards]:
    """From random play: crowded bars, broken boards, long bear-offs."""
    return positions_of(RandomPlayer(3), games=20, seed=2)


BOTH_ON_BAR = board({25: 2, 6: 5, 8: 3, 13: 5}, {0: 1, 1: 1, 12: 5, 17: 3, 19: 5})


def test_gnubg_knows_the_opening() -> None:
    """Its 0-ply chances of the opening position, as the package's documentation and others print them."""
    five = to_cumulative(GnubgNN(0).outcomes(START_BOARD[None]))[0]
    assert five == pytest.approx([0.5215, 0.1542, 0.0076, 0.1297, 0.0075], abs=2e-4)


@pytest.mark.parametrize("spec", EVALUATORS)
def test_start_is_near_the_reference(spec: str) -> None:
    five = to_cumulative(make(spec).outcomes(START_BOARD[None]))[0]
    assert five == pytest.approx([0.525, 0.149, 0.007, 0.126, 0.0055], abs=0.02)


@pytest.mark.parametrize("spec", SPECS)
def test_opening_3_1_makes_the_five_point(spec: str) -> None:
    expected = board({24: 2, 13: 5, 8: 2, 6: 4, 5: 2}, {1: 2, 12: 5, 17: 3, 19: 5})
    for dice in (roll(3, 1), roll(1, 3)):
        chosen = make(spec).choose(START_BOARD[None], dice)
        assert chosen.dtype == np.int8
        assert tuple(-chosen[0, ::-1]) == expected


@pytest.mark.parametrize("spec", ["pubeval", "gnubg:0", "sage:0"])
def test_choices_are_legal(
    spec: str, bot_positions: tuple[Boards, Boards], odd_positions: tuple[Boards, Boards]
) -> None:
    for boards, dice in (bot_positions, odd_positions):
        legal = legal_choices(boards, dice, make(spec).choose(boards, dice))
        assert legal.all(), (boards[~legal], dice[~legal])


@pytest.mark.parametrize("spec", ["gnubg:1", "gnubg:2"])
def test_deep_choices_are_legal(spec: str, bot_positions: tuple[Boards, Boards]) -> None:
    boards, dice = (rows[::150] for rows in bot_positions)
    assert legal_choices(boards, dice, make(spec).choose(boards, dice)).all()


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("dice", [(4, 4), (6, 1), (6, 6), (3, 5)])
def test_choices_from_the_bar_are_legal(spec: str, dice: tuple[int, int]) -> None:
    """Checkers of both sides on the bar; 6-6 cannot be played at all."""
    boards = array(BOTH_ON_BAR)
    assert legal_choices(boards, roll(*dice), make(spec).choose(boards, roll(*dice))).all()


@pytest.mark.parametrize("spec", SPECS)
def test_both_dice_must_be_played_even_by_the_last_checker(spec: str) -> None:
    """The 5 alone would bear off, but 2/1*/off plays both dice (Open Sage itself takes the short way)."""
    boards = array(board({2: 1}, {1: 1, 20: 3}))
    chosen = make(spec).choose(boards, roll(5, 1))
    assert legal_choices(boards, roll(5, 1), chosen).all()
    assert chosen[0, 25] == 1, "the blot was hit"


@pytest.mark.parametrize("spec", EVALUATORS)
def test_outcomes_are_chances(spec: str, odd_positions: tuple[Boards, Boards]) -> None:
    step = 400 if spec in ("gnubg:1", "gnubg:2") else 1
    boards = odd_positions[0][::step]
    outcomes = make(spec).outcomes(boards)
    assert outcomes.dtype == np.float32
    assert outcomes.shape == (len(boards), 6)
    assert (outcomes >= 0).all()
    assert outcomes.sum(axis=1) == pytest.approx(np.ones(len(boards)), abs=1e-6)


@pytest.mark.parametrize("spec", ["gnubg:0", "sage:0"])
def test_a_row_is_judged_the_same_alone(spec: str, bot_positions: tuple[Boards, Boards]) -> None:
    bot, boards = make(spec), bot_positions[0][:40]
    alone = np.concatenate([bot.outcomes(row[None]) for row in boards])
    assert np.array_equal(bot.outcomes(boards), alone)


def test_both_engines_look_from_the_same_side(bot_positions: tuple[Boards, Boards]) -> None:
    """Two strangers agree closely; a wrong side, or the wrong player on roll, is far off."""
    boards = bot_positions[0]
    payoff = MONEY.payoff
    gnubg = GnubgNN(0).outcomes(boards) @ payoff
    sage = OpenSage().outcomes(boards) @ payoff
    other_on_roll = swap(OpenSage().outcomes(np.ascontiguousarray(-boards[:, ::-1]))) @ payoff
    assert np.abs(gnubg - sage).mean() < 0.04
    assert np.abs(gnubg - other_on_roll).mean() > 0.12
    assert np.corrcoef(gnubg, sage)[0, 1] > 0.99


@pytest.mark.parametrize("spec", EVALUATORS)
def test_being_on_roll_is_worth_something(spec: str) -> None:
    """In a long symmetric race who rolls first is ahead; seen from the other side he is behind as much."""
    race = array(board({6: 5, 5: 5, 4: 5}, {19: 5, 20: 5, 21: 5}))
    win = float(to_cumulative(make(spec).outcomes(race))[0, 0])
    assert 0.55 < win < 0.8


@pytest.mark.parametrize(("rules", "payoff"), [("money", MONEY.payoff), ("dmp", DMP.payoff)])
def test_gnubg_plays_cubeless_for_its_stakes(
    rules: str, payoff: NDArray[np.float32], odd_positions: tuple[Boards, Boards]
) -> None:
    """best_move() and probabilities() must agree, else some match score or cube would be in the choice."""
    boards, dice = (rows[::4] for rows in odd_positions)
    bot = GnubgNN(0, rules)
    legal = engine.legal_afterstates(boards, dice)
    best = np.maximum.reduceat(swap(bot.outcomes(legal.boards)) @ payoff, legal.offsets[:-1])
    chosen = swap(bot.outcomes(bot.choose(boards, dice))) @ payoff
    assert chosen == pytest.approx(best, abs=2e-6)


def test_double_match_point_is_not_money_and_leaves_no_trace(bot_positions: tuple[Boards, Boards]) -> None:
    boards, dice = bot_positions
    for bot in (GnubgNN, OpenSage):
        money = bot(rules="money").choose(boards, dice)
        dmp = bot(rules="dmp").choose(boards, dice)
        assert 0.01 < (money != dmp).any(axis=1).mean() < 0.5
        assert np.array_equal(bot(rules="money").choose(boards, dice), money)


def test_others_in_the_process_find_gnubg_set_for_money(bot_positions: tuple[Boards, Boards]) -> None:
    """A program may use gnubg_nn itself beside our bots."""
    import gnubg_nn

    boards, dice = bot_positions

    def raw() -> list[str]:
        sides = peers.side_rows(boards)
        return [gnubg_nn.best_move(rows, *roll, b=1)[1] for rows, roll in zip(sides, dice.tolist(), strict=True)]

    before = raw()
    GnubgNN(0, "dmp").choose(boards, dice)
    assert raw() == before


def test_pubeval_plays_the_best_by_its_own_score(bot_positions: tuple[Boards, Boards]) -> None:
    """Where contact stays as it is, the package's score of a single position is what it plays by."""
    import gnubg_nn

    def kind(sides: list[list[int]]) -> bool:
        return bool(gnubg_nn.classify(sides) <= gnubg_nn.c_race)

    boards, dice = (rows[::3] for rows in bot_positions)
    chosen = PubEval().choose(boards, dice)
    legal = engine.legal_afterstates(boards, dice)
    checked = 0
    for i, before in enumerate(peers.side_rows(boards)):
        rows = peers.side_rows(legal.boards[legal.offsets[i] : legal.offsets[i + 1]])
        if {kind(row) for row in rows} != {kind(before)} or len(rows) == 1:
            continue
        score = gnubg_nn.pub_eval_score(peers.side_rows(chosen[i : i + 1])[0])
        assert score == pytest.approx(max(map(gnubg_nn.pub_eval_score, rows)), abs=1e-4)
        checked += 1
    assert checked > 100


def test_keys_of_gnubg_are_our_boards(odd_positions: tuple[Boards, Boards]) -> None:
    import gnubg_nn

    boards = odd_positions[0]
    keys = [gnubg_nn.key_of_board(rows) for rows in peers.side_rows(boards)]
    assert np.array_equal(peers._boards_of_keys(keys), boards)
    ids = [gnubg_nn.position_id(rows) for rows in peers.side_rows(boards[:50])]
    assert ids == [engine.Position(row).position_id for row in boards[:50].tolist()]


FINISHED = [
    (board({}, {6: 2}), 0),  # the opponent has borne off 13: single
    (board({}, {7: 5, 19: 10}), 1),
    (board({}, {0: 1, 19: 14}), 2),  # on the bar
    (board({3: 1}, {}), 3),
    (board({24: 5, 3: 10}, {}), 5),
    (board({18: 5, 3: 10}, {}), 4),
]


@pytest.mark.parametrize("spec", EVALUATORS)
def test_finished_games_are_exact(spec: str) -> None:
    """Also between positions that go on."""
    boards = np.concatenate([array([position for position, _ in FINISHED]), START_BOARD[None]])
    outcomes = make(spec).outcomes(boards)
    assert np.array_equal(outcomes[:-1], np.eye(6, dtype=np.float32)[[ending for _, ending in FINISHED]])
    assert 0.3 < outcomes[-1, 0] < 0.5


@pytest.mark.parametrize("spec", ["gnubg:0", "sage:0"])
def test_no_gammon_against_who_has_borne_off(spec: str) -> None:
    """Case ev-001: an opponent with 14 checkers left; Sage's networks give him gammon losses."""
    position = [0, 3, 2, 3, -2, -1, 0, 0, 0, -3, 0, 0, 0, 0, 0, 0, 0, 0, 0, -2, 0, -2, 0, -2, -2, 0]
    for turned in (False, True):
        boards = array(tuple(position))
        boards = np.ascontiguousarray(-boards[:, ::-1]) if turned else boards
        outcomes = make(spec).outcomes(boards)[0]
        gammons = outcomes[4:] if turned else outcomes[1:3]
        assert gammons.tolist() == [0, 0]
        assert outcomes[:3].sum() == pytest.approx(0 if turned else 1, abs=0.01)


@pytest.mark.parametrize("spec", SPECS)
def test_no_positions_no_answers(spec: str) -> None:
    nothing, no_dice = np.zeros((0, 26), dtype=np.int8), np.zeros((0, 2), dtype=np.int8)
    bot = make(spec)
    assert bot.choose(nothing, no_dice).shape == (0, 26)
    if spec != "pubeval":
        assert bot.outcomes(nothing).shape == (0, 6)


@pytest.mark.parametrize("spec", SPECS)
def test_bad_arrays_are_refused(spec: str) -> None:
    bot = make(spec)
    with pytest.raises(engine.ArrayError):
        bot.choose(START_BOARD[None].astype(np.int64), roll(3, 1))
    with pytest.raises(engine.DiceError):
        bot.choose(START_BOARD[None], roll(7, 1))
    with pytest.raises(engine.BoardError, match="over"):
        bot.choose(array(FINISHED[0][0]), roll(3, 1))
    if spec != "pubeval":
        with pytest.raises(engine.ArrayError):
            bot.outcomes(START_BOARD)


@pytest.mark.parametrize("spec", ["pubeval", "gnubg:0", "sage:0"])
def test_threads_may_share_a_bot(spec: str, bot_positions: tuple[Boards, Boards]) -> None:
    bot = make(spec)
    boards, dice = (rows[::3] for rows in bot_positions)
    expected = bot.choose(boards, dice)
    found: list[Boards] = []
    threads = [threading.Thread(target=lambda: found.append(bot.choose(boards, dice))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(np.array_equal(expected, answer) for answer in found)


def test_specs_name_the_bots() -> None:
    assert isinstance(peers.player("pubeval"), PubEval)
    assert isinstance(peers.player("sage:0"), OpenSage)
    for ply in (0, 1, 2):
        bot = peers.player(f"gnubg:{ply}")
        assert isinstance(bot, GnubgNN)
        assert bot.ply == ply
    assert [spec for spec in peers.available() if not spec.startswith("gnubg-cli:")] == SPECS
    for other in ("random", "net:standard", ""):
        assert peers.player(other) is None


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gnubg", '"gnubg".*0, 1 or 2.*gnubg:0'),
        ("gnubg:", "0, 1 or 2"),
        ("gnubg:7", '"gnubg:7".*0, 1 or 2'),
        ("gnubg:-1", "0, 1 or 2"),
        ("gnubg:two", "0, 1 or 2"),
        ("sage:1", '"sage:1".*sage:0.*1-ply'),
        ("sage", "sage:0"),
        ("pubeval:0", "no depths"),
    ],
)
def test_wrong_depths_are_refused(spec: str, message: str) -> None:
    with pytest.raises(BotSpecError, match=message):
        peers.player(spec)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(BotSpecError, match="7"):
        GnubgNN(7)
    with pytest.raises(BotSpecError, match="ply 0"):
        OpenSage(1)
    with pytest.raises(BotSpecError, match="chouette"):
        GnubgNN(0, "chouette")


@pytest.mark.parametrize(
    ("spec", "module", "package"),
    [
        ("gnubg:0", "gnubg_nn", "gnubg-nn"),
        ("pubeval", "gnubg_nn", "gnubg-nn"),
        ("sage:0", "bgsage", "bgsage"),
    ],
)
def test_a_missing_package_is_named(spec: str, module: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert spec not in peers.available()
    with pytest.raises(MissingEngineError) as caught:
        peers.player(spec)
    message = str(caught.value)
    assert f'"{spec}" needs the package {package}' in message
    assert 'pip install "bgnet[peers]"' in message
    assert "usable now: random, net:NAME" in message
