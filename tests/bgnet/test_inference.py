"""The folded network against the torch network it was folded from, and the kernels against plain Python."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from bgnet import linear
from bgnet.arena import play
from bgnet.backups import backups_kernel
from bgnet.encoding import ENCODINGS, encode, encoding
from bgnet.evaluators import NetEvaluator, afterstate_outcomes
from bgnet.netfile import NetInfo
from bgnet.network import Network, from_weights
from bgnet.players import EvaluatorPlayer
from engine.board import START_BOARD, ending
from engine.dice import ROLLS, WEIGHTS
from engine.errors import ArrayError, BoardError
from engine.moves import legal_afterstates
from engine.outcomes import swap
from engine.rules import DMP, MONEY
from tests.bgnet.nets import random_net, random_weights, some_positions

SHAPES = [[512, 32], [7], [33, 17, 9], [64, 64, 64, 64]]


def torch_outcomes(sizes: list[int], seed: int, boards: NDArray[np.int8], name: str) -> NDArray[np.float32]:
    network = Network(sizes)
    with torch.no_grad():
        for p, value in zip(network.parameters(), from_weights(random_weights(sizes, seed)), strict=True):
            p.copy_(value)
        logits = network(torch.from_numpy(encode(boards, encoding(name))))
        return torch.softmax(logits, dim=1).numpy()


@pytest.mark.parametrize("name", sorted(ENCODINGS))
@pytest.mark.parametrize("hidden", SHAPES, ids=str)
def test_folded_network_equals_torch(hidden: list[int], name: str) -> None:
    boards, dice = some_positions()
    boards, dice = boards[::5], dice[::5]
    sizes = [encoding(name).size, *hidden, 6]
    net = NetEvaluator(random_weights(sizes, 3), NetInfo(sizes=sizes, encoding=name))
    assert np.abs(net.outcomes(boards) - torch_outcomes(sizes, 3, boards, name)).max() < 1e-5

    results = legal_afterstates(boards, dice)
    incremental = net.afterstate_outcomes(boards, results)
    going = np.array([ending(board, 15) < 0 for board in results.boards])
    expected = torch_outcomes(sizes, 3, results.boards, name)
    assert going.sum() > 3000
    assert np.abs(incremental - expected)[going].max() < 1e-5
    assert np.abs(net.outcomes(results.boards) - incremental).max() < 1e-5


def test_finished_games_are_exact_in_every_kernel() -> None:
    lost_backgammon = np.zeros(26, np.int8)
    lost_backgammon[[6, 20]] = 14, 1
    won_gammon = np.zeros(26, np.int8)
    won_gammon[7] = -15
    net = random_net([16])
    assert net.outcomes(np.array([lost_backgammon, won_gammon])).tolist() == [[0, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0]]
    last = np.zeros(26, np.int8)
    last[1], last[24] = 1, -14
    results = legal_afterstates(last[None], np.array([[2, 1]], np.int8))
    assert net.afterstate_outcomes(last[None], results).tolist() == [[0, 0, 0, 1, 0, 0]]
    out = np.empty((1, 6), np.float32)
    backups_kernel(net.folded, MONEY.payoff, last[None], out)
    assert np.allclose(out, [[1, 0, 0, 0, 0, 0]], atol=1e-6)


def test_a_row_does_not_depend_on_its_batch() -> None:
    boards, _ = some_positions()
    net = random_net([48, 16])
    together = net.outcomes(boards[:100])
    for i in (0, 1, 31, 32, 33, 99):
        assert (net.outcomes(boards[i]) == together[i]).all()
    assert net.outcomes(boards[:0]).shape == (0, 6)


def test_outcomes_are_chances() -> None:
    outcomes = random_net([32]).outcomes(some_positions()[0])
    assert outcomes.dtype == np.float32
    assert (outcomes >= 0).all()
    assert np.abs(outcomes.sum(axis=1) - 1).max() < 1e-5


def test_threads_agree_with_one_thread() -> None:
    boards, dice = some_positions()
    player = EvaluatorPlayer(random_net([64, 32]))
    alone = player.choose(boards, dice)
    with ThreadPoolExecutor(4) as pool:
        for chosen in pool.map(lambda _: player.choose(boards, dice), range(8)):
            assert (chosen == alone).all()


@pytest.mark.parametrize("rules", [MONEY, DMP], ids=lambda rules: rules.name)
def test_choice_is_the_best_result(rules) -> None:  # type: ignore[no-untyped-def]
    """The fused kernel against: all results, all outcomes, argmax."""
    boards, dice = some_positions()
    net = random_net([64, 32])
    chosen = EvaluatorPlayer(net, rules.payoff).choose(boards, dice)

    class Plain:
        def outcomes(self, boards: NDArray[np.int8]) -> NDArray[np.float32]:
            return net.outcomes(boards)

    plain = EvaluatorPlayer(Plain(), rules.payoff).choose(boards, dice)
    different = np.flatnonzero((chosen != plain).any(axis=1))
    equity = swap(net.outcomes(chosen)) @ rules.payoff - swap(net.outcomes(plain)) @ rules.payoff
    assert len(different) < 5, "only ties within rounding may differ"
    assert np.abs(equity).max() < 1e-5


@pytest.mark.parametrize("inputs", ["classic", "tactical"])
def test_backup_equals_a_plain_recursion(inputs: str) -> None:
    boards, _ = some_positions()
    boards = np.concatenate([START_BOARD[None], boards[::300]])
    net = random_net([64, 16], inputs=inputs)
    out = np.empty((len(boards), 6), np.float32)
    backups_kernel(net.folded, MONEY.payoff, boards, out)
    for board, backup in zip(boards, out, strict=True):
        total = np.zeros(6)
        for roll, weight in zip(ROLLS, WEIGHTS, strict=True):
            results = legal_afterstates(board[None], roll[None])
            outcomes = swap(net.outcomes(results.boards)).astype(np.float64)
            total += weight * outcomes[np.argmax(outcomes @ MONEY.payoff)]
        assert np.abs(total - backup).max() < 1e-4


def test_hypergammon_counts_three_checkers() -> None:
    gammon = np.zeros(26, np.int8)
    gammon[[9, 15, 20]] = -1
    assert random_net([16], checkers=3).outcomes(gammon).tolist() == [0, 1, 0, 0, 0, 0]
    assert random_net([16]).outcomes(gammon).tolist() == [1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("boards", "error", "words"),
    [
        (np.zeros((2, 26)), ArrayError, "int8"),
        (np.zeros((2, 25), np.int8), ArrayError, "shape"),
        (np.zeros(5, np.int8), ArrayError, "shape"),
        ([0] * 26, ArrayError, "list"),
        (np.full((1, 26), 2, np.int8), BoardError, r"boards\[0\]"),
    ],
)
def test_bad_boards_are_refused(boards: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        random_net([16]).outcomes(boards)  # type: ignore[arg-type]


def test_default_afterstate_outcomes_call_outcomes() -> None:
    boards, dice = some_positions()
    net = random_net([16])
    results = legal_afterstates(boards[:20], dice[:20])

    class Plain:
        def outcomes(self, boards: NDArray[np.int8]) -> NDArray[np.float32]:
            return net.outcomes(boards)

    assert np.abs(afterstate_outcomes(Plain(), boards[:20], results) - net.outcomes(results.boards)).max() == 0


def test_kernels_run_with_the_jit_off() -> None:
    """Interpreted and compiled kernels choose alike, and interpreted ones do not wrap around."""
    code = (
        "import numpy as np; from tests.bgnet.nets import random_net, some_positions;"
        "from bgnet.players import EvaluatorPlayer; b, d = some_positions();"
        "p = EvaluatorPlayer(random_net([32, 16])); print(p.choose(b[:3000:150], d[:3000:150]).tolist())"
    )

    def run(jit_off: str) -> str:
        import os

        environment = {**os.environ, "NUMBA_DISABLE_JIT": jit_off}
        command = [sys.executable, "-W", "error::RuntimeWarning", "-c", code]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    assert run("1") == run("0") != ""


def test_results_that_do_not_belong_together_are_refused() -> None:
    boards, dice = some_positions()
    net = random_net([16])
    results = legal_afterstates(boards[:5], dice[:5])
    with pytest.raises(ArrayError, match="do not divide"):
        net.afterstate_outcomes(boards[:4], results)
    with pytest.raises(ArrayError, match="do not divide"):
        net.afterstate_outcomes(boards[:5], results._replace(boards=results.boards[:-1]))
    with pytest.raises(BoardError, match="more than 15"):
        net.afterstate_outcomes(boards[:5], results._replace(boards=np.full_like(results.boards, 100)))


def test_a_net_for_three_checkers_refuses_fifteen() -> None:
    with pytest.raises(BoardError, match="more than 3 checkers"):
        random_net([16], checkers=3).outcomes(START_BOARD)
    with pytest.raises(ValueError, match="knows games with 3 checkers"):
        play(random_net([16], checkers=3), "random", 2)


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 8, 9, 16, 21])
@pytest.mark.parametrize(("n_in", "n_out"), [(64, 16), (64, 32), (128, 48), (16, 64), (48, 16), (80, 32)])
@pytest.mark.parametrize("share", [0.0, 0.1, 1.0], ids=["nothing active", "sparse", "all active"])
def test_dense_product(rows: int, n_in: int, n_out: int, share: float) -> None:
    """Every shape of block: whole and partial rows, one and two panels; garbage past the rows does no harm."""
    rng = np.random.default_rng(rows)
    acts = rng.exponential(size=(rows + linear.ROW_BLOCK, n_in)).astype(np.float32)
    acts[:rows] *= rng.random((rows, n_in)) < share
    matrix, bias = rng.normal(size=(n_in, n_out)).astype(np.float32), rng.normal(size=n_out).astype(np.float32)
    out = np.zeros((rows + linear.ROW_BLOCK, n_out), np.float32)
    linear.dense(acts, rows, linear.pack(matrix), 0, bias, 0, out, np.zeros(n_in, np.int64))
    assert np.abs(out[:rows] - (acts[:rows].astype(float) @ matrix + bias)).max() < 1e-4


@pytest.mark.parametrize("rows", [1, 4, 5, 8, 13, 32])
@pytest.mark.parametrize(("height", "n_out"), [(128, 16), (640, 32), (1280, 48)])
@pytest.mark.parametrize("shift", [-9.0, -2.0, 9.0], ids=["hardly active", "sparse", "all active"])
def test_first_layers(rows: int, height: int, n_out: int, shift: float) -> None:
    """Picked rows, ReLU and product against numpy, over partial strips and blocks; leftovers of a call do no harm."""
    rng = np.random.default_rng(rows)
    base = (rng.normal(size=height) + shift).astype(np.float32)
    table = rng.normal(size=(50, height)).astype(np.float32)
    picks, factors = rng.integers(0, 50, size=(32, 8)), rng.choice([-1.0, 0.25, 1.0], size=(32, 8)).astype(np.float32)
    lengths = rng.integers(0, 9, size=32)
    matrix, bias = rng.normal(size=(height, n_out)).astype(np.float32), rng.normal(size=n_out).astype(np.float32)
    scratch = (linear.aligned(40, linear.STRIP), np.zeros(linear.STRIP, np.int64))
    out = np.zeros((40, n_out), np.float32)
    for n in (32, rows):
        linear.first_layers(base, table, picks, factors, lengths, n, linear.pack(matrix), bias, out, scratch)
    sums = np.array([base + factors[r, :m] @ table[picks[r, :m]] for r, m in enumerate(lengths)], np.float64)
    expected = np.maximum(sums, 0) @ matrix + bias
    assert np.abs(out[:rows] - expected[:rows]).max() < 1e-5 * max(1.0, np.abs(expected).max())


def test_memory_begins_at_a_cache_line() -> None:
    for rows, width in ((1, 64), (3, 16), (40, 512)):
        memory = linear.aligned(rows, width)
        assert memory.shape == (rows, width) and not memory.any() and memory.ctypes.data % 64 == 0


def test_block_shapes_for_other_processors_give_the_same_bits() -> None:
    """What is chosen for processors without AVX-512 computes the same chains of sums."""
    code = (
        "import sys, hashlib, engine, llvmlite.binding as b; real = b.get_host_cpu_features;"
        "b.get_host_cpu_features = dict if sys.argv[1] == 'narrow' else real;"
        "import bgnet.linear; b.get_host_cpu_features = real;"
        "assert sys.argv[1] == 'wide' or bgnet.linear._ROWS == 4;"
        "from tests.bgnet.nets import random_net, some_positions;"
        "print(hashlib.sha256(random_net([96, 40]).outcomes(some_positions()[0]).tobytes()).hexdigest())"
    )

    def run(kind: str) -> str:
        import os

        environment = {**os.environ, "NUMBA_CACHE_DIR": os.environ.get("TMPDIR", "/tmp") + f"/bgnet-test-{kind}"}
        done = subprocess.run([sys.executable, "-c", code, kind], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("narrow") == run("wide") != ""
