"""The sums that inference spends its time in, as numba intrinsics whose accumulators stay in registers.

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

__all__ = ["CHUNK", "LANES", "ROW_BLOCK", "STRIP", "add_rows", "aligned", "dense", "first_layers", "pack"]

LANES = 16
"""Layer sizes are padded to a multiple of this many floats (one AVX-512 register)."""
CHUNK = 8 * LANES
"""The first hidden layer is padded to a multiple of this many floats."""
STRIP = 4 * CHUNK
"""So many units of the first hidden layer are worked out at a time, for a block of rows that stays in the cache."""
ROW_BLOCK = 8
"""Buffers need up to this many rows more than are filled: products run over whole blocks of rows."""


_LIST_STEP = 4 * LANES
"""So many inputs are looked at together to list the active ones."""
_LINE = 16
"""Floats in a cache line: vectors that straddle two take twice as long (measured: row sums 1.5 times)."""


@kernel
def aligned(rows, width):
    """-> zeros float32[rows, width] that begin at a cache line."""
    memory = np.zeros(rows * width + _LINE, dtype=np.float32)
    skip = (-(memory.ctypes.data // 4)) % _LINE
    return memory[skip : skip + rows * width].reshape((rows, width))


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
    """An intrinsic: to `rows` rows of out, in `vectors` panels of LANES columns from `column` on, add acts @ panels.

    Of acts it takes the first `count` inputs of the list `active`, in the rows from acts_row on; panels begin at
    `start` and are panel_size apart.
    """

    @intrinsic
    def panel(_context, acts, acts_row, active, count, weights, start, panel_size, out, row, column):
        integer = types.intp
        signature = types.void(acts, integer, active, integer, weights, integer, integer, out, integer, integer)

        def codegen(context, builder, signature, args):
            e = _Emitter(context, builder, signature, args)
            acts_row, count, start, panel_size, row, column = args[1], args[3], args[5], args[6], args[8], args[9]
            n_in, n_out = e.width(0), e.width(7)
            numbers = [e.constant(r) for r in range(rows)]
            act_rows = [e.at(e.data(0), builder.mul(builder.add(acts_row, number), n_in)) for number in numbers]
            panels = [
                e.at(e.data(4), builder.add(start, builder.mul(panel_size, e.constant(v)))) for v in range(vectors)
            ]
            targets = [
                e.at(
                    e.data(7),
                    builder.add(
                        builder.mul(builder.add(row, number), n_out), builder.add(column, e.constant(v * LANES))
                    ),
                )
                for number in numbers
                for v in range(vectors)
            ]

            def step(i, sums):
                k = builder.load(e.at(e.data(2), i))
                offset = builder.mul(k, e.constant(LANES))
                weights = [e.load_vector(e.at(panel, offset)) for panel in panels]
                acts = [e.broadcast(e.at(act_row, k)) for act_row in act_rows]
                products = [(act, weight) for act in acts for weight in weights]
                return [e.fma(act, weight, s) for (act, weight), s in zip(products, sums, strict=True)]

            sums = e.accumulate([e.load_vector(target) for target in targets], count, step)
            for value, target in zip(sums, targets, strict=True):
                e.store_vector(value, target)
            return context.get_dummy_value()

        return signature, codegen

    return panel


def _row_sum(relu: bool):
    """An intrinsic: out[row, :width] = base + sum_k factors[list, k] * rows[picks[list, k]], k < n, from the column
    `start` of base and rows on; then ReLU if wanted.
    """

    @intrinsic
    def row_sum(_context, base, rows, picks, factors, list_row, n, start, width, out, row):
        integer = types.intp
        signature = types.void(base, rows, picks, factors, integer, integer, integer, integer, out, integer)

        def codegen(context, builder, signature, args):
            e = _Emitter(context, builder, signature, args)
            list_row, n, start, width, row = args[4], args[5], args[6], args[7], args[9]
            height = e.width(0)
            first_pick = builder.mul(list_row, e.width(2))
            target = e.at(e.data(8), builder.mul(row, e.width(8)))
            zero = ir.Constant(e.vector, [ir.Constant(e.single, 0.0)] * LANES)
            with cgutils.for_range_slice(builder, e.constant(0), width, e.constant(CHUNK)) as (h, _):
                places = [builder.add(h, e.constant(i)) for i in range(0, CHUNK, LANES)]
                columns = [builder.add(start, place) for place in places]

                def step(k, sums):
                    number = builder.add(first_pick, k)
                    factor = e.broadcast(e.at(e.data(3), number))
                    picked = e.at(e.data(1), builder.mul(builder.load(e.at(e.data(2), number)), height))
                    return [
                        e.fma(factor, e.load_vector(e.at(picked, c)), s) for c, s in zip(columns, sums, strict=True)
                    ]

                sums = e.accumulate([e.load_vector(e.at(e.data(0), c)) for c in columns], n, step)
                for place, value in zip(places, sums, strict=True):
                    if relu:
                        value = builder.select(builder.fcmp_ordered(">", value, zero), value, zero)
                    e.store_vector(value, e.at(target, place))
            return context.get_dummy_value()

        return signature, codegen

    return row_sum


@intrinsic
def _active_list(_context, acts, first, n, width, active):
    """An intrinsic: the inputs below `width` that are not 0 in all of acts[first : first + n], no value of which is
    below 0, into the list `active`, in order -> how many there are. width is a multiple of _LIST_STEP.
    """
    signature = types.intp(acts, types.intp, types.intp, types.intp, active)

    def codegen(context, builder, signature, args):
        e = _Emitter(context, builder, signature, args)
        first, n, width = args[1:4]
        stride = e.width(0)
        zero = ir.Constant(e.vector, [ir.Constant(e.single, 0.0)] * LANES)
        count = cgutils.alloca_once_value(builder, e.constant(0))
        left = cgutils.alloca_once(builder, e.index)
        with cgutils.for_range_slice(builder, e.constant(0), width, e.constant(_LIST_STEP)) as (h, _):
            places = [builder.add(h, e.constant(i)) for i in range(0, _LIST_STEP, LANES)]

            def step(r, sums):
                row = e.at(e.data(0), builder.mul(builder.add(first, r), stride))
                return [builder.fadd(s, e.load_vector(e.at(row, place))) for s, place in zip(sums, places, strict=True)]

            sums = e.accumulate([zero] * len(places), n, step)
            mask = e.constant(0)
            for i, value in enumerate(sums):
                bits = builder.bitcast(builder.fcmp_ordered(">", value, zero), ir.IntType(LANES))
                mask = builder.or_(mask, builder.shl(builder.zext(bits, e.index), e.constant(i * LANES)))
            builder.store(mask, left)
            head, body, done = (builder.append_basic_block(name) for name in ("bits.head", "bits.body", "bits.done"))
            builder.branch(head)
            builder.position_at_end(head)
            bits = builder.load(left)
            builder.cbranch(builder.icmp_unsigned("!=", bits, e.constant(0)), body, done)
            builder.position_at_end(body)
            place = builder.add(h, builder.cttz(bits, ir.IntType(1)(1)))
            number = builder.load(count)
            builder.store(place, e.at(e.data(4), number))
            builder.store(builder.add(number, e.constant(1)), count)
            builder.store(builder.and_(bits, builder.sub(bits, e.constant(1))), left)
            builder.branch(head)
            builder.position_at_end(done)
        return builder.load(count)

    return signature, codegen


def _interpreted_active_list(acts, first, n, width, active):
    """The same in numpy, for runs with the JIT off."""
    found = np.flatnonzero(acts[first : first + n, :width].any(axis=0))
    active[: len(found)] = found
    return len(found)


def _interpreted_panel(rows: int, vectors: int):
    """The same in numpy, for runs with the JIT off."""

    def panel(acts, acts_row, active, count, weights, start, panel_size, out, row, column):
        inputs = active[:count]
        for v in range(vectors):
            first = start + v * panel_size
            block = weights[first : first + acts.shape[1] * LANES].reshape(-1, LANES)
            columns = slice(column + v * LANES, column + (v + 1) * LANES)
            out[row : row + rows, columns] += acts[acts_row : acts_row + rows, inputs] @ block[inputs]

    return panel


def _interpreted_row_sum(relu: bool):
    """The same in numpy, for runs with the JIT off."""

    def row_sum(base, rows, picks, factors, list_row, n, start, width, out, row):
        columns = slice(start, start + width)
        total = base[columns] + factors[list_row, :n] @ rows[picks[list_row, :n], columns]
        out[row, :width] = np.maximum(total, 0) if relu else total

    return row_sum


# Accumulators must fit the registers: 8 x 32 floats fill half of AVX-512's, 4 x 16 suit the others. Either way every
# output is the same chain of sums, so results do not depend on it.
_ROWS, _VECTORS = (8, 2) if get_host_cpu_features().get("avx512f") else (4, 1)
_make_panel, _make_row_sum = (_interpreted_panel, _interpreted_row_sum) if config.DISABLE_JIT else (_panel, _row_sum)
_block, _narrow_block = _make_panel(_ROWS, _VECTORS), _make_panel(_ROWS, 1)
_tail, _narrow_tail = _make_panel(4, _VECTORS), _make_panel(4, 1)
_plain_sum, _relu_sum = _make_row_sum(False), _make_row_sum(True)
_list = _interpreted_active_list if config.DISABLE_JIT else _active_list
_WIDTH = _VECTORS * LANES


@kernel
def add_rows(base, rows, picks, factors, n, out):
    """base float32[H], rows float32[R, H], int64[1, >= n] picks and float32 factors -> out float32[1, H], base plus the
    picked rows, each times its factor. H is a multiple of CHUNK.
    """
    _plain_sum(base, rows, picks, factors, 0, n, 0, base.shape[0], out, 0)


@kernel
def _add_product(acts, acts_row, active, count, weights, start, n_in, out, row, whole):
    """acts float32[:, I] from acts_row on, packed weights of n_in inputs -> added to out float32[:, O] from row on: the
    product of a block of rows, 8 or 4 (whole), over the `count` inputs listed in active int64[>= count].
    """
    n_out = out.shape[1]
    size = n_in * LANES
    for column in range(0, n_out, _WIDTH):
        at = start + column * n_in
        if n_out - column >= _WIDTH:
            if whole:
                _block(acts, acts_row, active, count, weights, at, size, out, row, column)
            else:
                _tail(acts, acts_row, active, count, weights, at, size, out, row, column)
        elif whole:
            _narrow_block(acts, acts_row, active, count, weights, at, size, out, row, column)
        else:
            _narrow_tail(acts, acts_row, active, count, weights, at, size, out, row, column)


@kernel
def first_layers(base, rows, picks, factors, lengths, n, weights, biases, out, scratch):
    """base float32[H], rows float32[R, H], lists of lengths[r] picks int64[>= n, :] with float32 factors, packed
    weights and biases -> out[r] float32[O], r < n: biases + ReLU(base + the picked rows of list r) @ weights.

    out has n + ROW_BLOCK rows, those past n are scratch. Strip by strip, the first layer never leaves the first-level
    cache; units that are active in no row of a block are skipped, which changes no sum: most, since the results of one
    position activate nearly the same units.
    """
    acts, active = scratch
    height, n_out = base.shape[0], out.shape[1]
    for r in range(n + _ROWS - 1):
        for j in range(n_out):
            out[r, j] = biases[j]
    for start in range(0, height, STRIP):
        width = min(STRIP, height - start)
        for r in range(n):
            _relu_sum(base, rows, picks, factors, r, lengths[r], start, width, acts, r)
        for first in range(0, n, _ROWS):
            many = min(_ROWS, n - first)
            count = _list(acts, first, many, width, active)
            _add_product(acts, first, active, count, weights, start * LANES, height, out, first, many > 4)


@kernel
def dense(acts, n, weights, start, biases, bias_start, out, active):
    """acts float32[>= n + ROW_BLOCK, I], not below 0, packed weights and biases from their starts -> out float32[:, O].

    I and O are the whole widths of the two buffers, O a multiple of LANES; out has as many rows as acts, those past n
    are scratch, as is active int64[>= I]. Inputs that are 0 in all rows of a block are skipped as in `first_layers`,
    except in narrow layers, where finding them would take longer.
    """
    n_in, n_out = acts.shape[1], out.shape[1]
    sparse = n_in % _LIST_STEP == 0
    count = n_in
    if not sparse:
        for k in range(n_in):
            active[k] = k
    for row in range(0, n, _ROWS):
        for r in range(row, row + _ROWS):
            for j in range(n_out):
                out[r, j] = biases[bias_start + j]
        many = min(_ROWS, n - row)
        if sparse:
            count = _list(acts, row, many, n_in, active)
        _add_product(acts, row, active, count, weights, start, n_in, out, row, many > 4)
