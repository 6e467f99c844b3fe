"""Self-play: the kernel against a plain loop over the public functions, and its independence of threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from bgnet.backups import backups_kernel
from bgnet.players import EvaluatorPlayer, RandomPlayer
from bgnet.seeds import kinds
from bgnet.selfplay import MONEY_GAME, Actor, SelfPlay, make_game, play_games, start_games
from engine import dice
from engine.board import HYPERGAMMON_BOARD, NACKGAMMON_BOARD, START_BOARD, ending
from engine.moves import legal_afterstates
from engine.rules import DMP, MONEY
from tests.bgnet.nets import random_net, some_positions
from tests.bgnet.test_targets import case


@pytest.mark.parametrize("inputs", ["classic", "tactical"])
@pytest.mark.parametrize(
    ("start", "checkers", "rules"),
    [(START_BOARD, 15, MONEY), (NACKGAMMON_BOARD, 15, DMP), (HYPERGAMMON_BOARD, 3, MONEY)],
    ids=["backgammon", "nackgammon-dmp", "hypergammon"],
)
def test_games_equal_a_plain_loop(start, checkers, rules, inputs) -> None:  # type: ignore[no-untyped-def]
    net = random_net([48, 16], checkers=checkers, inputs=inputs)
    player = EvaluatorPlayer(net, rules.payoff)
    games = play_games(net.folded, make_game(rules.payoff, start), 7, 100, 4)
    row = 0
    for g in range(4):
        board, roll, ply = start, dice.opening(7, 100 + g), 0
        assert games.offsets[g] == row
        while (over := ending(board, checkers)) < 0:
            assert (games.boards[row] == board).all()
            assert np.abs(games.values[row] - net.outcomes(board)).max() < 1e-5
            row += 1
            ply += 1
            board = player.choose(board[None], np.array([roll], np.int8))[0]
            roll = dice.roll(7, 100 + g, ply)
        assert games.finals[g].tolist() == np.eye(6)[over].tolist()
    assert games.offsets[-1] == len(games.boards) == row


def assert_same(one: SelfPlay, other: SelfPlay) -> None:
    for a, b in zip(one, other, strict=True):
        assert a.dtype == b.dtype
        assert (a == b).all()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 60])
def test_threads_do_not_matter(threads: int, count: int) -> None:
    net = random_net([32])
    alone = play_games(net.folded, MONEY_GAME, 1, 5, count)
    with ThreadPoolExecutor(threads) as pool:
        assert_same(start_games(pool, net.folded, MONEY_GAME, 1, 5, count).result(), alone)


def test_backups_on_the_way_change_nothing_else() -> None:
    """With every result judged, the games are the same and the backups those of the definition."""
    net = random_net([48, 16])
    plain = play_games(net.folded, MONEY_GAME, 2, 0, 2)
    exact = play_games(Actor(net.folded, net.folded, 20_000), MONEY_GAME, 2, 0, 2)
    assert (exact.boards == plain.boards).all() and (exact.finals == plain.finals).all()
    assert plain.backups.shape == (0, 6)
    expected = np.empty_like(exact.backups)
    backups_kernel(net.folded, MONEY.payoff, exact.boards, expected)
    assert np.abs(exact.backups - expected).max() < 1e-6


def test_pruning_keeps_what_the_pruner_likes() -> None:
    """A network that prunes for itself changes nothing, however few results it leaves; another one does."""
    net, other = random_net([48, 16]), random_net([16], seed=9)
    full = play_games(Actor(net.folded, net.folded, 20_000), MONEY_GAME, 2, 0, 2)
    pruned = play_games(Actor(net.folded, net.folded, 1), MONEY_GAME, 2, 0, 2)
    assert (pruned.boards == full.boards).all()
    assert np.abs(pruned.backups - full.backups).max() < 1e-6
    foreign = play_games(Actor(net.folded, other.folded, 2), MONEY_GAME, 2, 0, 2)
    assert foreign.boards.shape != full.boards.shape or (foreign.boards != full.boards).any()


@pytest.mark.parametrize(("keep", "inputs"), [(0, "classic"), (20_000, "classic"), (20_000, "tactical")])
def test_random_plays(keep: int, inputs: str) -> None:
    """In about their share of games about their share of plays: legal, of all kinds, and marked; the rest is greedy."""
    net = random_net([48, 16], inputs=inputs)
    actor = Actor(net.folded, net.folded, keep)
    count = 10 if keep else 200
    game = make_game(MONEY.payoff, START_BOARD, wandering=0.4, random_plays=0.2)
    games = play_games(actor, game, 2, 0, count)
    player = EvaluatorPlayer(net, MONEY.payoff)
    in_game = np.array([games.wandered[a:b].any() for a, b in zip(games.offsets, games.offsets[1:], strict=False)])
    share = games.wandered.sum() / sum(
        b - a for a, b, some in zip(games.offsets, games.offsets[1:], in_game, strict=False) if some
    )
    assert in_game.any() and not in_game.all()
    if not keep:
        assert abs(in_game.mean() - 0.4) < 0.1 and abs(share - 0.2) < 0.02
    ranks = []
    for g in range(min(count, 10)):
        for t in range(games.offsets[g], games.offsets[g + 1] - 1):
            ply = t - games.offsets[g]
            roll = np.array([dice.roll(2, g, ply) if ply else dice.opening(2, g)], np.int8)
            legal = [board.tobytes() for board in legal_afterstates(games.boards[t : t + 1], roll).boards]
            assert games.boards[t + 1].tobytes() in legal
            if games.wandered[t]:
                ranks.append(legal.index(games.boards[t + 1].tobytes()) / len(legal))
            else:
                assert (games.boards[t + 1] == player.choose(games.boards[t : t + 1], roll)[0]).all()
    assert min(ranks) < 0.2 and max(ranks) > 0.7
    assert_same(play_games(actor, game, 2, 3, 1), play_games(actor, game, 2, 3, 1))
    plain = play_games(actor, make_game(MONEY.payoff, START_BOARD), 2, 0, count)
    assert not plain.wandered.any() and plain.boards.shape != games.boards.shape


@pytest.mark.parametrize("keep", [0, 20_000])
def test_seeded_starts(keep: int) -> None:
    """About their share of games start from a seed and go on while it is of a hard kind; then the estimate counts."""
    net = random_net([48, 16])
    actor = Actor(net.folded, net.folded, keep)
    boards, _ = some_positions()
    seeds = boards[kinds(boards) > 0]
    count = 10 if keep else 300
    game = make_game(MONEY.payoff, START_BOARD, seeded=0.5)
    games = play_games(actor, game._replace(seeds=seeds), 2, 0, count)
    whole = play_games(actor, game, 2, 0, count)  # without seeds nothing is seeded
    assert_same(whole, play_games(actor, MONEY_GAME, 2, 0, count))
    seeded = (games.boards[games.offsets[:-1]] != START_BOARD).any(axis=1)
    assert seeded.any() and not seeded.all()
    if not keep:
        assert abs(seeded.mean() - 0.5) < 0.1
    known = {row.tobytes() for row in seeds}
    player = EvaluatorPlayer(net, MONEY.payoff)
    broken_off = doubles = 0
    starts = set()
    for g in range(count):
        first, last = games.offsets[g], games.offsets[g + 1] - 1
        if not seeded[g]:
            same = slice(whole.offsets[g], whole.offsets[g + 1])
            assert (games.boards[first : last + 1] == whole.boards[same]).all()
            assert (games.finals[g] == whole.finals[g]).all()
            continue
        starts.add(games.boards[first].tobytes())
        assert (kinds(games.boards[first : last + 1]) > 0).all()
        for t in range(first, last + 1):
            roll = np.array([dice.roll(2, g, int(t - first) + 1)], np.int8)
            doubles += int(t == first and roll[0, 0] == roll[0, 1])
            after = player.choose(games.boards[t : t + 1], roll)
            if t < last:
                assert (games.boards[t + 1] == after[0]).all()
        if ending(after[0], 15) < 0:
            broken_off += 1
            assert kinds(after)[0] == 0
            assert np.abs(games.finals[g] - net.outcomes(after[0])).max() < 1e-5
        assert (games.last_values[g] == games.finals[g]).all()
    assert starts <= known and len(starts) > seeded.sum() / 2 and broken_off
    assert keep or abs(doubles / seeded.sum() - 1 / 6) < 0.1


def test_games_end_at_the_tables() -> None:
    from engine.bearoff import endgames, known_outcomes

    net = random_net([48, 16])
    to_the_end = play_games(net.folded, MONEY_GAME, 2, 0, 8)
    short = play_games(net.folded, make_game(MONEY.payoff, START_BOARD, use_tables=True), 2, 0, 8)
    assert len(short.boards) < len(to_the_end.boards)
    out, unknown = np.empty((len(short.boards), 6), np.float32), np.empty(len(short.boards), np.int64)
    assert known_outcomes(endgames(), short.boards, 15, out, unknown) == len(short.boards), (
        "no known position is played"
    )
    assert np.abs(short.finals.sum(axis=1) - 1).max() < 1e-5
    assert ((short.finals > 0) & (short.finals < 1)).any()


def test_case_tr_004_random_play() -> None:
    """Statistics of random play that show a broken rule, roll or choice."""
    data = case("tr-004")
    expect, count = data["expect"], data["input"]["games"]  # type: ignore[index]
    player = RandomPlayer(seed=4)
    boards = np.repeat(START_BOARD[None], count, axis=0)
    starter_on_roll, going = np.ones(count, bool), np.arange(count)
    plies = results = ply = 0
    endings = np.zeros(6, int)  # for the player who starts
    while len(going):
        rolls = [dice.roll(9, g, ply) if ply else dice.opening(9, g) for g in going.tolist()]
        rolled = np.array(rolls, np.int8)
        results += len(legal_afterstates(boards[going], rolled).boards)
        plies += len(going)
        boards[going] = player.choose(boards[going], rolled)
        starter_on_roll[going] ^= True
        over = np.array([ending(board, 15) for board in boards[going]])
        for index, starter in zip(over[over >= 0], starter_on_roll[going][over >= 0], strict=True):
            endings[index if starter else (index + 3) % 6] += 1
        going = going[over < 0]
        ply += 1
    shares = endings / count
    rate = expect["tolerance_rates"]
    assert abs(shares[:3].sum() - expect["starter_wins"]) < rate
    for level, name in enumerate(("single", "gammon", "backgammon")):
        assert abs(shares[level] + shares[level + 3] - expect[name]) < rate
    assert abs(plies / count - expect["turns_per_game"]) < expect["tolerance_turns"]
    assert abs(results / plies - expect["mean_distinct_results_per_turn"]) < 0.3
