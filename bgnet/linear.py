"""The two sums that inference spends its time in, as numba intrinsics whose accumulators stay in registers.

Numba alone keeps such accumulators in memory (measured: seven times slower for the dense product), and BLAS would
make numba depend on scipy and on how that was built. Every output is one chain of fused multiply-adds in a fixed
order, so a row's result does not depend on the rows beside it.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from engine.jit import kernel

__all__ = ["CHUNK", "LANES", "ROW_BLOCK", "add_rows", "add_rows_relu", "dense", "pack"]

LANES = 16
"""Layer sizes are padded to a multiple of this many floats (one AVX-512 register)."""
CHUNK = 4 * LANES
"""The first hidden layer is padded to a multiple of this many floats."""
ROW_BLOCK = 8
"""Buffers need up to this many rows more than are filled: products run over whole blocks of rows."""


def pack(matrix: np.ndarray) -> np.ndarray:
    """float32[in, out], out a multiple of LANES -> float32[in * out], panel by panel of LANES columns."""
    n_in, n_out = matrix.shape
    panels = matrix.reshape(n_in, n_out // LANES, LANES).transpose(1, 0, 2)
    return np.ascontiguousarray(panels, dtype=np.float32).reshape(-1)


class _Emitter:
    """Short words for the LLVM instructions that both intrinsics emit."""

    single = ir.FloatType()
    index = ir.IntType(64)
    vector = ir.VectorType(single, LANES)

    def __init__(self, context, builder, signature, args):
        self.builder = builder
        self.args = args
        self._arrays = [
            context.make_array(kind)(context, builder, arg) if isinstance(kind, types.Array) else None
            for kind, arg in zip(signature.args, args, strict=True)
        ]
        name = f"llvm.fma.v{LANES}f32"
        self._fma = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(self.vector, [self.vector] * 3), name
        )

    def data(self, argument):
        """The first element of an array argument."""
        return self._arrays[argument].data

    def width(self, argument):
        """The length of the last axis of an array argument."""
        shape = self._arrays[argument].shape
        return self.builder.extract_value(shape, len(shape.type.elements) - 1)

    def at(self, pointer, offset):
        return self.builder.gep(pointer, [offset])

    def constant(self, number):
        return self.index(number)

    def load_vector(self, pointer):
        value = self.builder.load(self.builder.bitcast(pointer, self.vector.as_pointer()))
        value.align = 4
        return value

    def store_vector(self, value, pointer):
        store = self.builder.store(value, self.builder.bitcast(pointer, self.vector.as_pointer()))
        store.align = 4

    def broadcast(self, pointer):
        undefined = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(undefined, self.builder.load(pointer), ir.IntType(32)(0))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return self.builder.shuffle_vector(first, undefined, zeros)

    def fma(self, a, b, c):
        return self.builder.call(self._fma, [a, b, c])

    def accumulate(self, start, count, step):
        """start: vectors; step(k, vectors) -> vectors, for k = 0 .. count-1 -> the last vectors."""
        builder = self.builder
        entry = builder.block
        head, body, done = (builder.append_basic_block(name) for name in ("sum.head", "sum.body", "sum.done"))
        builder.branch(head)
        builder.position_at_end(head)
        k = builder.phi(self.index)
        k.add_incoming(self.index(0), entry)
        sums = [builder.phi(self.vector) for _ in start]
        for s, value in zip(sums, start, strict=True):
            s.add_incoming(value, entry)
        builder.cbranch(builder.icmp_signed("<", k, count), body, done)
        builder.position_at_end(body)
        new = step(k, sums)
        k.add_incoming(builder.add(k, self.index(1)), builder.block)
        for s, value in zip(sums, new, strict=True):
            s.add_incoming(value, builder.block)
        builder.branch(head)
        builder.position_at_end(done)
        return sums


def _panel(rows: int, vectors: int):
    """An intrinsic: `rows` rows of out from `column` on, `vectors` panels of LANES columns = bias + acts @ panels."""

    @intrinsic
    def panel(_context, acts, row, weights, start, biases, bias_start, out, column):
        signature = types.void(acts, types.intp, weights, types.intp, biases, types.intp, out, types.intp)

        def codegen(context, builder, signature, args):
            e = _Emitter(context, builder, signature, args)
            row, start, bias_start, column = args[1], args[3], args[5], args[7]
            n_in, n_out = e.width(0), e.width(6)
            numbers = [builder.add(row, e.constant(r)) for r in range(rows)]
            act_rows = [e.at(e.data(0), builder.mul(number, n_in)) for number in numbers]
            panel_size = builder.mul(n_in, e.constant(LANES))
            panels = [
                e.at(e.data(2), builder.add(start, builder.mul(panel_size, e.constant(v)))) for v in range(vectors)
            ]
            bias_vectors = [
                e.load_vector(e.at(e.data(4), builder.add(bias_start, e.constant(v * LANES)))) for v in range(vectors)
            ]

            def step(k, sums):
                offset = builder.mul(k, e.constant(LANES))
                weights = [e.load_vector(e.at(panel, offset)) for panel in panels]
                acts = [e.broadcast(e.at(act_row, k)) for act_row in act_rows]
                products = [(act, weight) for act in acts for weight in weights]
                return [e.fma(act, weight, s) for (act, weight), s in zip(products, sums, strict=True)]

            sums = e.accumulate(bias_vectors * rows, n_in, step)
            for i, value in enumerate(sums):
                number, v = numbers[i // vectors], i % vectors
                first = builder.add(builder.mul(number, n_out), builder.add(column, e.constant(v * LANES)))
                e.store_vector(value, e.at(e.data(6), first))
            return context.get_dummy_value()

        return signature, codegen

    return panel


def _row_sum(relu: bool):
    """An intrinsic: out[row] = base + sum_k signs[k] * rows[picks[k]], k < n; then ReLU if wanted."""

    @intrinsic
    def row_sum(_context, base, rows, picks, signs, n, out, row):
        signature = types.void(base, rows, picks, signs, types.intp, out, types.intp)

        def codegen(context, builder, signature, args):
            e = _Emitter(context, builder, signature, args)
            n, row = args[4], args[6]
            width = e.width(0)
            target = e.at(e.data(5), builder.mul(row, width))
            zero = ir.Constant(e.vector, [ir.Constant(e.single, 0.0)] * LANES)
            with cgutils.for_range_slice(builder, e.constant(0), width, e.constant(CHUNK)) as (h, _):
                offsets = [builder.add(h, e.constant(i)) for i in range(0, CHUNK, LANES)]

                def step(k, sums):
                    sign = e.broadcast(e.at(e.data(3), k))
                    picked = e.at(e.data(1), builder.mul(builder.load(e.at(e.data(2), k)), width))
                    return [e.fma(sign, e.load_vector(e.at(picked, o)), s) for o, s in zip(offsets, sums, strict=True)]

                sums = e.accumulate([e.load_vector(e.at(e.data(0), o)) for o in offsets], n, step)
                for o, value in zip(offsets, sums, strict=True):
                    if relu:
                        value = builder.select(builder.fcmp_ordered(">", value, zero), value, zero)
                    e.store_vector(value, e.at(target, o))
            return context.get_dummy_value()

        return signature, codegen

    return row_sum


def _interpreted_panel(rows: int, vectors: int):
    """The same in numpy, for runs with the JIT off."""

    def panel(acts, row, weights, start, biases, bias_start, out, column):
        n_in = acts.shape[1]
        for v in range(vectors):
            first = start + v * n_in * LANES
            block = weights[first : first + n_in * LANES].reshape(n_in, LANES)
            bias = biases[bias_start + v * LANES : bias_start + (v + 1) * LANES]
            columns = slice(column + v * LANES, column + (v + 1) * LANES)
            out[row : row + rows, columns] = acts[row : row + rows] @ block + bias

    return panel


def _interpreted_row_sum(relu: bool):
    """The same in numpy, for runs with the JIT off."""

    def row_sum(base, rows, picks, signs, n, out, row):
        total = base + signs[:n] @ rows[picks[:n]]
        out[row] = np.maximum(total, 0) if relu else total

    return row_sum


# Accumulators must fit the registers: 8 x 32 floats fill half of AVX-512's, 4 x 16 suit the others. Either way every
# output is the same chain of sums, so results do not depend on it.
_ROWS, _VECTORS = (8, 2) if get_host_cpu_features().get("avx512f") else (4, 1)
_make_panel, _make_row_sum = (_interpreted_panel, _interpreted_row_sum) if config.DISABLE_JIT else (_panel, _row_sum)
_block, _narrow_block = _make_panel(_ROWS, _VECTORS), _make_panel(_ROWS, 1)
_tail, _narrow_tail = _make_panel(4, _VECTORS), _make_panel(4, 1)
_plain_sum, _relu_sum = _make_row_sum(False), _make_row_sum(True)
_WIDTH = _VECTORS * LANES


@kernel
def add_rows(base, rows, picks, signs, n, out, row):
    """base float32[H], rows float32[R, H], n picks int64 and signs float32 -> out[row] float32[H], base plus the picked
    rows, each times its sign.

    H is a multiple of CHUNK and the whole width of out float32[:, H].
    """
    _plain_sum(base, rows, picks, signs, n, out, row)


@kernel
def add_rows_relu(base, rows, picks, signs, n, out, row):
    """The same -> out[row] float32[H], through a ReLU."""
    _relu_sum(base, rows, picks, signs, n, out, row)


@kernel
def dense(acts, n, weights, start, biases, bias_start, out):
    """acts float32[>= n + 8, I], packed weights and biases from their starts -> out float32[>= n + 8, O].

    I and O are the whole widths of the two buffers; O is a multiple of 16. Rows past n are scratch.
    """
    n_in = acts.shape[1]
    n_out = out.shape[1]
    for row in range(0, n, _ROWS):
        whole = n - row > 4
        for column in range(0, n_out, _WIDTH):
            at = start + column * n_in
            if n_out - column >= _WIDTH:
                if whole:
                    _block(acts, row, weights, at, biases, bias_start + column, out, column)
                else:
                    _tail(acts, row, weights, at, biases, bias_start + column, out, column)
            elif whole:
                _narrow_block(acts, row, weights, at, biases, bias_start + column, out, column)
            else:
                _narrow_tail(acts, row, weights, at, biases, bias_start + column, out, column)
