"""Luck-adjusted results: zero on average whoever judges, by enumeration and by simulation; exact where it can be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

import engine
from bgnet import arena_games
from bgnet.arena import ArenaSettingsError, play
from bgnet.composite import Composite
from bgnet.evaluators import Evaluator, load, settle
from bgnet.luck import OPENING_WEIGHTS, Luck, LuckError, values_of_rolls
from bgnet.peers import BotSpecError
from bgnet.players import EvaluatorPlayer, Player, RandomPlayer
from engine.board import START_BOARD
from engine.dice import ROLLS, WEIGHTS
from engine.rules import DMP, MONEY
from tests import oracle
from tests.bgnet.nets import random_net, some_positions
from tests.boards import array, board

Boards = NDArray[np.int8]


class Garbage:
    """Chances that have nothing to do with backgammon: a hash of the board; finished games included."""

    def __init__(self, seed: int = 1) -> None:
        self.seed = seed

    def outcomes(self, boards: Boards) -> NDArray[np.float32]:
        mixed = boards.astype(np.int64) @ np.random.default_rng(self.seed).integers(1, 10**6, size=(26, 6))
        chances = 0.5 + 0.5 * np.sin(mixed.astype(np.float64))
        return (chances / chances.sum(axis=1, keepdims=True)).astype(np.float32)


class Constant:
    """Every position is a sure backgammon for the one on roll."""

    def outcomes(self, boards: Boards) -> NDArray[np.float32]:
        return np.tile(np.array([0, 0, 1, 0, 0, 0], dtype=np.float32), (len(boards), 1))


class Wrapped:
    """An Evaluator that hides what kind of one it is: the same answers by the general way."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def outcomes(self, boards: Boards) -> NDArray[np.float32]:
        return self.evaluator.outcomes(boards)


class BearsOff:
    """Bears off as many checkers as it can or, not eager, as few."""

    def __init__(self, eager: bool = True) -> None:
        self.sign = 1 if eager else -1

    def choose(self, boards: Boards, dice: Boards) -> Boards:
        legal = engine.legal_afterstates(boards, dice)
        value = self.sign * np.minimum(legal.boards, 0).sum(axis=1)
        rows = np.split(np.arange(len(value)), legal.offsets[1:-1])
        return legal.boards[[row[value[row].argmax()] for row in rows]]


def going_on(count: int) -> Boards:
    return some_positions()[0][:count]


@pytest.mark.parametrize(
    "reference",
    [random_net([16]), Garbage(), Constant(), random_net([1024, 16])],
    ids=["net", "garbage", "same", "wide"],
)
@pytest.mark.parametrize("opening", [False, True])
def test_luck_is_nothing_on_average_at_every_position(reference: Evaluator, opening: bool) -> None:
    boards = going_on(40)
    judge = Luck(reference, MONEY.payoff)
    total = np.zeros(len(boards))
    for one, two in itertools.product(range(1, 7), repeat=2):  # the 36 ordered rolls, of which 30 can open a game
        if not opening or one != two:
            total += judge(boards, np.tile(np.array([one, two], dtype=np.int8), (len(boards), 1)), opening=opening)
    assert np.abs(total).max() < 1e-10
    assert OPENING_WEIGHTS.sum() == pytest.approx(1)
    assert np.count_nonzero(OPENING_WEIGHTS) == 15


@pytest.mark.parametrize("rules", [MONEY, DMP], ids=lambda rules: rules.name)
def test_values_of_rolls_against_the_slow_twin(rules: engine.RuleSet) -> None:
    """The best play of each roll by the rule book's results and the evaluator's own word on each."""
    net = random_net([16], seed=3)
    boards = np.concatenate([going_on(6), array([board({1: 2, 3: 1}, {24: 15}), board({1: 1, 25: 1}, {19: 2})])])
    found = values_of_rolls(net, boards, rules.payoff)
    for i, position in enumerate(boards.tolist()):
        for r, roll in enumerate(ROLLS.tolist()):
            results = [oracle.turned(result) for result in oracle.results(tuple(position), tuple(roll))]
            worth = -(net.outcomes(array(results)).astype(np.float64) @ rules.payoff)
            assert found[i, r] == pytest.approx(worth.max(), abs=1e-5), (position, roll)


def test_networks_have_a_quick_way_to_the_same_numbers() -> None:
    net, boards = random_net([32, 16], seed=2), going_on(150)
    quick = values_of_rolls(net, boards, MONEY.payoff)
    assert np.allclose(quick, values_of_rolls(Wrapped(net), boards, MONEY.payoff), atol=1e-5)
    alone = np.concatenate([values_of_rolls(net, one[None], MONEY.payoff) for one in boards])
    assert np.array_equal(quick, alone), "the answers do not depend on the batch"


def test_wide_networks_judge_what_a_small_one_picks() -> None:
    """Hardly a roll loses by it, none gains; and the quick way picks as the slow one does."""
    wide, small, boards = load("flagship"), load("small"), going_on(100)
    full, picked = values_of_rolls(wide, boards, MONEY.payoff), values_of_rolls(wide, boards, MONEY.payoff, small)
    assert (picked <= full + 1e-6).all() and (full - picked).mean() < 0.003
    assert np.allclose(picked, values_of_rolls(Wrapped(wide), boards, MONEY.payoff, small), atol=1e-5)
    luck = Luck(wide, MONEY.payoff)(boards, np.tile(np.array([6, 5], dtype=np.int8), (100, 1)))
    row = 19  # of 6-5 in ROLLS
    assert tuple(ROLLS[row]) == (6, 5)
    assert np.allclose(luck, picked[:, row] - picked @ WEIGHTS, atol=1e-9)


def test_luck_of_known_rolls() -> None:
    """One checker left on the six point against one on the ace: 27 rolls win at once, the rest lose."""
    boards = array(board({6: 1}, {24: 1}))
    judge = Luck(Composite(Garbage()), DMP.payoff)
    wins, loses = (judge(boards, np.array([roll], dtype=np.int8))[0] for roll in ((6, 1), (2, 1)))
    assert wins == pytest.approx(1 - (27 - 9) / 36, abs=1e-6)
    assert loses == pytest.approx(-1 - (27 - 9) / 36, abs=1e-6)


def test_all_games_together_have_no_luck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every sequence of dice of a short race, each as often as it comes, played through the arena itself."""
    start = array(board({3: 1, 1: 1}, {23: 2}))[0]
    sequences = list(itertools.product(*[range(len(ROLLS))] * 3))
    sequences = [sequence for sequence in sequences if OPENING_WEIGHTS[sequence[0]] > 0]
    chances = np.array([OPENING_WEIGHTS[a] * WEIGHTS[b] * WEIGHTS[c] for a, b, c in sequences])
    assert len(sequences) == 15 * 21 * 21
    assert chances.sum() == pytest.approx(1)
    rolls = ROLLS[np.array(sequences)]
    monkeypatch.setattr(arena_games.dice, "rolls_of_games", lambda seed, games, n: rolls[games, n])
    clumsy, eager = BearsOff(eager=False), BearsOff()
    for reference in (Garbage(), Constant(), random_net([8])):
        result = play(eager, clumsy, 2 * len(sequences), start=start, reference=reference, pairs_per_chunk=10_000)
        assert result.pair_luck is not None
        assert result.plies <= 6 * len(sequences), "three rolls end every game"
        assert chances @ result.pair_luck == pytest.approx(0, abs=1e-12)
        assert chances @ result.pair_points > 0.05, "there is a difference to be kept"
        if not isinstance(reference, Constant):  # to which all rolls are alike
            assert np.abs(result.pair_luck).max() > 0.1


def test_first_rolls_are_judged_as_openings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No result can tell: the opening's luck is that of both sides of a pair, and cancels."""
    asked: list[tuple[bool, bool]] = []
    judge = Luck.__call__

    def remembering(self: Luck, boards: Boards, dice: Boards, *, opening: bool = False) -> NDArray[np.float64]:
        asked.append((opening, bool((boards == START_BOARD).all())))
        return judge(self, boards, dice, opening=opening)

    monkeypatch.setattr(Luck, "__call__", remembering)
    play("random", RandomPlayer(1), 6, reference=Garbage(), pairs_per_chunk=1)
    assert asked.count((True, True)) == 3
    assert set(asked) == {(True, True), (False, False)}


class Recording:
    """A bot that remembers what it did."""

    def __init__(self, player: Player) -> None:
        self.player = player
        self.turns: list[tuple[Boards, Boards, Boards]] = []

    def choose(self, boards: Boards, dice: Boards) -> Boards:
        chosen = self.player.choose(boards, dice)
        self.turns.append((boards, dice, chosen))
        return chosen


def test_with_an_exact_reference_only_errors_are_left() -> None:
    """In a race that the tables know, what is left of a pair is just what the worse bot's errors cost."""
    exact = Composite(Garbage())
    start = array(board({6: 2, 4: 2, 2: 2}, {19: 2, 21: 2, 23: 2}))[0]
    clumsy = Recording(BearsOff(eager=False))
    games = 40
    result = play(EvaluatorPlayer(exact), clumsy, games, start=start, reference=exact)
    assert result.luck_adjusted is not None and result.pair_luck is not None
    lost = 0.0
    for boards, dice, chosen in clumsy.turns:
        for one, roll, result_of_it in zip(boards, dice, chosen, strict=True):
            others = engine.legal_afterstates(one[None], roll[None]).boards
            worth = -(exact.outcomes(others).astype(np.float64) @ MONEY.payoff)
            lost += worth.max() + float(exact.outcomes(result_of_it) @ MONEY.payoff)
    assert lost > 1
    assert result.luck_adjusted.mean * games == pytest.approx(lost, abs=1e-4)
    assert (result.pair_points - result.pair_luck > -1e-5).all(), "nobody beats perfect play but by luck"
    assert result.variance_ratio is not None and result.variance_ratio > 3, "luck was most of it"


@pytest.mark.parametrize("reference", [random_net([8], checkers=3), Garbage()], ids=lambda r: type(r).__name__)
def test_adjusted_and_plain_results_agree_whoever_judges(reference: Evaluator) -> None:
    """Also a reference that knows nothing: its luck is noise of mean zero."""
    result = play(RandomPlayer(1), BearsOff(), 1600, seed=5, variant="hypergammon", reference=reference)
    assert result.pair_luck is not None and result.luck_adjusted is not None
    assert result.points.high < -0.1, "the bots differ by far"
    error = result.pair_luck.std(ddof=1) / np.sqrt(len(result.pair_luck))
    assert error < 0.08
    assert abs(result.pair_luck.mean()) < 3 * error
    assert (
        abs(result.luck_adjusted.mean - result.points.mean) < result.points.half_width + result.luck_adjusted.half_width
    )


def test_a_good_reference_tells_as_much_in_far_fewer_games() -> None:
    result = play("net:standard", "net:flagship", 60, seed=2, reference="net:standard")
    assert result.variance_ratio is not None and result.luck_adjusted is not None
    assert result.variance_ratio > 8
    assert abs(result.luck_adjusted.mean - result.points.mean) < result.points.half_width
    fields = result.as_dict()["luck_adjusted"]
    assert fields["points_per_game"] == result.luck_adjusted.mean
    assert fields["interval"] == [result.luck_adjusted.low, result.luck_adjusted.high]
    assert (fields["reference"], fields["variance_ratio"]) == ("net:standard", result.variance_ratio)


def test_a_bot_against_itself_has_no_luck_either() -> None:
    result = play("random", "random", 40, seed=3, reference=Garbage())
    assert result.luck_adjusted is not None
    assert (result.luck_adjusted.mean, result.luck_adjusted.half_width) == (0, 0)
    assert result.variance_ratio is None


@pytest.mark.parametrize("pairs_per_chunk", [1, 7])
def test_any_cutting_gives_the_same_luck(pairs_per_chunk: int) -> None:
    net = random_net([16], checkers=3)
    whole = play(net, "random", 40, variant="hypergammon", reference=net)
    cut = play(net, "random", 40, variant="hypergammon", reference=net, pairs_per_chunk=pairs_per_chunk)
    assert np.array_equal(whole.pair_luck, cut.pair_luck)  # type: ignore[arg-type]
    assert np.array_equal(whole.pair_points, play(net, "random", 40, variant="hypergammon").pair_points)


def test_any_number_of_workers_gives_the_same_luck() -> None:
    alone = play("random", "net:standard", 8, reference="net:standard")
    shared = play("random", "net:standard", 8, reference="net:standard", workers=2, pairs_per_chunk=1)
    assert np.array_equal(alone.pair_luck, shared.pair_luck)  # type: ignore[arg-type]


def test_one_pair_has_no_interval() -> None:
    result = play("random", RandomPlayer(1), 2, reference=Garbage())
    fields = result.as_dict()["luck_adjusted"]
    assert (fields["interval"], fields["variance_ratio"]) == (None, None)


def test_the_evaluator_inside_a_bot_judges() -> None:
    net = random_net([8], checkers=3)
    one, other = (play(net, "random", 4, variant="hypergammon", reference=by) for by in (net, EvaluatorPlayer(net)))
    assert np.array_equal(one.pair_luck, other.pair_luck)  # type: ignore[arg-type]


def test_references_that_cannot_judge_are_refused() -> None:
    class Broken:
        def outcomes(self, boards: Boards) -> NDArray[np.float32]:
            return settle(boards, np.full((len(boards), 6), np.nan, dtype=np.float32))

    with pytest.raises(LuckError, match="not finite"):
        play("random", "random", 2, reference=Broken())
    with pytest.raises(BotSpecError, match="no chances to give"):
        play("random", "random", 2, reference="random")
    with pytest.raises(BotSpecError, match="no chances to give"):
        play("random", "random", 2, reference=RandomPlayer())
    with pytest.raises(ArenaSettingsError, match="reference random weights knows games with 3 checkers"):
        play("random", "random", 2, reference=random_net([8], checkers=3))
    with pytest.raises(ArenaSettingsError, match="by specs"):
        play("random", "random", 4, workers=2, reference=Garbage())
