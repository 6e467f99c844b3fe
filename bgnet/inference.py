"""Fast inference: the folded network and the kernels that judge positions with it. No torch.

The first layer of a network over any of our encodings folds into a table of hidden sums per (place, count).
The sums of a position are a base (the empty board) plus one row for each occupied place. The results of a
roll differ from their parent in about four places, mostly by one checker, and a step of one checker is a row
too; so a result's sums are the parent's plus about four rows. Tactical features have a row each, which is added as many
times as they are large, or have become larger. The small layers behind follow for all results of
a roll together (bgnet.linear).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bgnet.encoding import COUNTS, OPPONENT_OFF, PLACES, Encoding, place_counts
from bgnet.linear import CHUNK, LANES, ROW_BLOCK, STRIP, add_rows, aligned, dense, first_layers, pack
from bgnet.netfile import Weights
from bgnet.tactics import tactics_kernel
from engine.board import ending, turn
from engine.generator import MAX_RESULTS, generate
from engine.jit import kernel

__all__ = [
    "FoldedNet", "Workspace", "afterstates_kernel", "best_child", "best_result", "children_outcomes", "choose_kernel",
    "fold", "outcomes_kernel", "position_outcome", "set_parent", "workspace", "write_ending",
]  # fmt: skip

_BLOCK = 32  # results judged together
_STEPS = PLACES * COUNTS  # where the rows for one more checker start
_TACTICS = 2 * _STEPS  # where the rows of tactical features start
_LOWEST = -15


class FoldedNet(NamedTuple):
    """A network ready to judge; H is padded to a multiple of 64, the widths behind it to 16."""

    base: NDArray[np.float32]
    """float32[H], the hidden sums of the empty board."""
    rows: NDArray[np.float32]
    """float32[2 * 868 + T, H]: row p * 31 + 15 + c adds count c on place p to the empty board, row 868 + p * 31 + 15
    + c takes that place from c to c + 1, row 2 * 868 + t is one whole of the tactical feature t."""
    weights: NDArray[np.float32]
    """float32[...], the packed matrices of the layers behind, one after the other."""
    biases: NDArray[np.float32]
    """float32[...], their biases."""
    sizes: NDArray[np.int64]
    """int64[L], the padded widths H, ..., 16."""
    checkers: int
    """Checkers a side."""


class Workspace(NamedTuple):
    """Scratch memory of one thread."""

    ping: NDArray[np.float32]
    pong: NDArray[np.float32]
    """float32[40 * widest layer behind the first], used in turn."""
    probabilities: NDArray[np.float32]
    """float32[32, 6], what the block's positions are judged at."""
    parent: NDArray[np.float32]
    """float32[1, H], the parent's hidden sums before the activation."""
    counts: NDArray[np.int64]
    """int64[28], the parent's counts."""
    tactics: NDArray[np.float32]
    """float32[2, T], the parent's tactical features and those of one result."""
    picks: NDArray[np.int64]
    """int64[32, 56 + T], rows to add for each of a block of results."""
    factors: NDArray[np.float32]
    """float32[32, 56 + T], how many times: +1 or -1, or by how much a tactical feature changes."""
    lengths: NDArray[np.int64]
    """int64[32], how many there are."""
    strip: tuple[NDArray[np.float32], NDArray[np.int64]]
    """Scratch of `first_layers`: float32[40, STRIP] and int64[STRIP]."""
    active: NDArray[np.int64]
    """int64[widest layer behind the first], scratch of `dense`."""


def _padded(size: int, multiple: int = LANES) -> int:
    return -(-size // multiple) * multiple


def fold(weights: Weights, encoding: Encoding) -> FoldedNet:
    """Fold the first layer over the encoding's table and pack the layers behind it."""
    first = np.zeros((_padded(weights.sizes[1], CHUNK), weights.sizes[0]), dtype=np.float32)
    first[: weights.sizes[1]] = weights.matrices[0]
    hidden = len(first)
    flat = encoding.table.reshape(PLACES * COUNTS, encoding.folded_size)
    table = (flat @ first[:, : encoding.folded_size].T).reshape(PLACES, COUNTS, hidden)
    empty = table[:, -_LOWEST]
    steps = np.zeros_like(table)
    steps[:, :-1] = table[:, 1:] - table[:, :-1]
    tactical = first[:, encoding.folded_size :].T
    rows = np.concatenate([(table - empty[:, None]).reshape(-1, hidden), steps.reshape(-1, hidden), tactical])
    base = empty.sum(axis=0, dtype=np.float64)
    base[: weights.sizes[1]] += weights.biases[0]

    packed, biases = [], []
    widths = [hidden, *(_padded(size) for size in weights.sizes[2:])]
    for matrix, bias, n_in, n_out in zip(weights.matrices[1:], weights.biases[1:], widths, widths[1:], strict=False):
        wide = np.zeros((n_in, n_out), dtype=np.float32)
        wide[: matrix.shape[1], : matrix.shape[0]] = matrix.T
        packed.append(pack(wide))
        biases.append(np.pad(bias, (0, n_out - len(bias))))
    return FoldedNet(
        _lined_up(base[None])[0],
        _lined_up(rows),
        _lined_up(np.concatenate(packed)[None])[0],
        np.concatenate(biases).astype(np.float32),
        np.array(widths, dtype=np.int64),
        encoding.checkers,
    )


def _lined_up(array: NDArray[np.floating]) -> NDArray[np.float32]:
    """[R, C] -> float32[R, C] in memory that begins at a cache line."""
    copy: NDArray[np.float32] = aligned(*array.shape)
    copy[...] = array
    return copy


@kernel
def workspace(net):
    """net -> Workspace for one thread."""
    rows = _BLOCK + ROW_BLOCK
    widest = net.sizes[1:].max()
    hidden = net.sizes[0]
    tactical = net.rows.shape[0] - _TACTICS
    return Workspace(
        np.zeros(rows * widest, dtype=np.float32),
        np.zeros(rows * widest, dtype=np.float32),
        np.zeros((_BLOCK, 6), dtype=np.float32),
        aligned(1, hidden),
        np.zeros(28, dtype=np.int64),
        np.zeros((2, tactical), dtype=np.float32),
        np.zeros((_BLOCK, 56 + tactical), dtype=np.int64),
        np.zeros((_BLOCK, 56 + tactical), dtype=np.float32),
        np.zeros(_BLOCK, dtype=np.int64),
        (
            aligned(rows, STRIP),
            np.zeros(STRIP, dtype=np.int64),
        ),
        np.zeros(widest, dtype=np.int64),
    )


@kernel
def _position_rows(board, checkers, counts, tactics, picks, factors):
    """board int8[26] -> its counts int64[28] and tactics float32[T], the rows to pick for them, their factors; how many
    there are.
    """
    place_counts(board, checkers, counts)
    n = 0
    for p in range(28):
        c = counts[p]
        if c != 0:
            picks[n] = p * COUNTS + c - _LOWEST
            factors[n] = 1.0
            n += 1
    if tactics.shape[0] > 0:
        tactics_kernel(board, tactics)
        for t in range(tactics.shape[0]):
            if tactics[t] != 0:
                picks[n] = _TACTICS + t
                factors[n] = tactics[t]
                n += 1
    return n


@kernel
def _change_rows(counts, tactics, result, picks, factors):
    """counts int64[28] and tactics float32[2, T] of the parent, result int8[26] -> the rows that lead from one to the
    other, their factors; how many, and how many checkers the mover has borne off (his counts are negative here).
    """
    n = 0
    gone = 0
    for p in range(27):
        if p < 26:
            place = p
            old = counts[p]
            new = int(result[p])
            gone += min(new, 0) - min(old, 0)
        else:
            place = OPPONENT_OFF
            old = counts[OPPONENT_OFF]
            new = min(old + gone, COUNTS + _LOWEST - 1)
        if new == old:
            continue
        row = place * COUNTS - _LOWEST
        if new == old + 1:
            picks[n] = _STEPS + row + old
            factors[n] = 1.0
            n += 1
        elif new == old - 1:
            picks[n] = _STEPS + row + new
            factors[n] = -1.0
            n += 1
        else:
            picks[n] = row + new
            factors[n] = 1.0
            picks[n + 1] = row + old
            factors[n + 1] = -1.0
            n += 2
    if tactics.shape[1] > 0:
        parent, changed = tactics[0], tactics[1]
        tactics_kernel(result, changed)
        for t in range(parent.shape[0]):
            if changed[t] != parent[t]:
                picks[n] = _TACTICS + t
                factors[n] = changed[t] - parent[t]
                n += 1
    return n, gone


@kernel
def _rectify(values, n):
    """values float32[>= n, H] -> the same, ReLU applied in place to its first n rows."""
    for r in range(n):
        row = values[r]
        for h in range(row.shape[0]):
            row[h] = max(row[h], np.float32(0.0))


@kernel
def _judge(net, base, n, work):
    """The workspace's first n lists of rows to add to base float32[H] -> its probabilities float32[n, 6]."""
    rows = _BLOCK + ROW_BLOCK
    last = net.sizes.shape[0] - 1
    width = net.sizes[1]
    values = work.ping[: rows * width].reshape((rows, width))
    first_layers(base, net.rows, work.picks, work.factors, work.lengths, n, net.weights, net.biases, values, work.strip)
    weight_start = net.sizes[0] * width
    bias_start = width
    for layer in range(2, last + 1):
        _rectify(values, n)
        width = net.sizes[layer]
        flat = work.ping if layer % 2 == 1 else work.pong
        out = flat[: rows * width].reshape((rows, width))
        dense(values, n, net.weights, weight_start, net.biases, bias_start, out, work.active)
        weight_start += values.shape[1] * width
        bias_start += width
        values = out
    for r in range(n):
        _softmax(values[r], work.probabilities[r])


@kernel
def _softmax(logits, out):
    """logits float32[>= 6] -> out float32[6]."""
    top = logits[0]
    for j in range(1, 6):
        top = max(top, logits[j])
    total = np.float32(0.0)
    for j in range(6):
        out[j] = np.exp(logits[j] - top)
        total += out[j]
    for j in range(6):
        out[j] /= total


@kernel
def write_ending(index, out):
    """index of an ending -> out float32[6], exactly that."""
    out[:] = 0.0
    out[index] = 1.0


@kernel
def position_outcome(net, board, work, out):
    """board int8[26] -> out float32[6]; a finished game is exact."""
    over = ending(board, net.checkers)
    if over >= 0:
        write_ending(over, out)
    else:
        work.lengths[0] = _position_rows(
            board, net.checkers, work.counts, work.tactics[0], work.picks[0], work.factors[0]
        )
        _judge(net, net.base, 1, work)
        out[:] = work.probabilities[0]


@kernel
def outcomes_kernel(net, boards, out):
    """boards int8[N, 26] -> out float32[N, 6], each in its own view; a finished game is exact."""
    work = workspace(net)
    base, checkers = net.base, net.checkers
    counts, tactics, picks, factors, lengths = work.counts, work.tactics[0], work.picks, work.factors, work.lengths
    for first in range(0, boards.shape[0], _BLOCK):
        n = min(_BLOCK, boards.shape[0] - first)
        for r in range(n):
            lengths[r] = _position_rows(boards[first + r], checkers, counts, tactics, picks[r], factors[r])
        _judge(net, base, n, work)
        for r in range(n):
            over = ending(boards[first + r], net.checkers)
            if over >= 0:
                write_ending(over, out[first + r])
            else:
                out[first + r] = work.probabilities[r]


@kernel
def _judge_block(net, results, first, n, work):
    """results int8[:, 26], rows first .. first+n (n <= 32) of the workspace's parent, in the view of the player who is
    next -> the workspace's probabilities[:n]; finished games are exact.
    """
    # Taken out of the tuples once: each look into a tuple of arrays costs an atomic reference count.
    counts, tactics, picks, factors, lengths = work.counts, work.tactics, work.picks, work.factors, work.lengths
    any_off = False
    for r in range(n):
        lengths[r], gone = _change_rows(counts, tactics, results[first + r], picks[r], factors[r])
        any_off |= gone > 0
    _judge(net, work.parent[0], n, work)
    if any_off:  # only a play that bears off can end the game
        for r in range(n):
            over = ending(results[first + r], net.checkers)
            if over >= 0:
                write_ending(over, work.probabilities[r])


@kernel
def set_parent(net, turned, work):
    """turned int8[26], a parent in the next player's view -> its sums, counts and tactics in the workspace."""
    n = _position_rows(turned, net.checkers, work.counts, work.tactics[0], work.picks[0], work.factors[0])
    add_rows(net.base, net.rows, work.picks, work.factors, n, work.parent)


@kernel
def best_child(net, payoff, results, n, work, equities, outcome):
    """The result with the highest equity for the player who moved, of the parent that is set in the workspace.

    results int8[>= n, 26], in the next player's view; payoff float32[6] -> the index of the best (the first of equals);
    outcome float32[6] is its outcome in the next player's view; equities float32[>= n] are those of all, for the mover.
    """
    probabilities = work.probabilities
    best = 0
    best_equity = np.float32(-np.inf)
    for first in range(0, n, _BLOCK):
        m = min(_BLOCK, n - first)
        _judge_block(net, results, first, m, work)
        for r in range(m):
            equity = np.float32(0.0)
            for j in range(6):
                equity += payoff[(j + 3) % 6] * probabilities[r, j]
            equities[first + r] = equity
            if equity > best_equity:
                best_equity = equity
                best = first + r
                outcome[:] = probabilities[r]
    return best


@kernel
def best_result(net, payoff, turned, results, n, work, equities, outcome):
    """turned int8[26], a parent in the next player's view, and its results -> as best_child."""
    set_parent(net, turned, work)
    return best_child(net, payoff, results, n, work, equities, outcome)


@kernel
def children_outcomes(net, results, first, last, work, out):
    """Rows first .. last - 1 of results int8[:, 26], of the parent that is set in the workspace and in the next
    player's view -> the same rows of out float32[:, 6].
    """
    for start in range(first, last, _BLOCK):
        n = min(_BLOCK, last - start)
        _judge_block(net, results, start, n, work)
        out[start : start + n] = work.probabilities[:n]


@kernel
def afterstates_kernel(net, parents, boards, offsets, out):
    """parents int8[N, 26] (mover's view), their Afterstates -> out float32[M, 6] in the next player's view."""
    work = workspace(net)
    turned = np.empty(26, dtype=np.int8)
    for i in range(parents.shape[0]):
        turn(parents[i], turned)
        set_parent(net, turned, work)
        children_outcomes(net, boards, offsets[i], offsets[i + 1], work, out)


@kernel
def choose_kernel(net, payoff, boards, dice, out):
    """boards int8[N, 26], dice int8[N, 2] -> out int8[N, 26], the best result of each in the next player's view."""
    work = workspace(net)
    results = np.empty((MAX_RESULTS, 26), dtype=np.int8)
    board = np.empty(26, dtype=np.int8)
    turned = np.empty(26, dtype=np.int8)
    outcome = np.empty(6, dtype=np.float32)
    equities = np.empty(MAX_RESULTS, dtype=np.float32)
    for i in range(boards.shape[0]):
        board[:] = boards[i]
        n = generate(board, int(dice[i, 0]), int(dice[i, 1]), results)
        best = 0
        if n > 1:
            turn(board, turned)
            best = best_result(net, payoff, turned, results, n, work, equities, outcome)
        out[i] = results[best]
