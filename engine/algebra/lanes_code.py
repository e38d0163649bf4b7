"""The functions and the type of `lanes.py`, for numba to compile."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model
from numba.np import arrayobj

from limberjack.engine.algebra.array_views import LANES
from limberjack.engine.compile.compiled import OPTIONS

_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)
_FLAGS = tuple(sorted(OPTIONS["fastmath"]))
_UNFUSED = tuple(flag for flag in _FLAGS if flag != "contract")


class LanesType(types.Type):
    """The type of so many numbers."""

    def __init__(self, count: int) -> None:
        self.count, self.vector = count, ir.VectorType(_DOUBLE, count)
        super().__init__(name=f"Lanes{count}")


lanes_type, narrow_type = LanesType(LANES), LanesType(LANES // 2)


@register_model(LanesType)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, fe_type.vector)


def _spread(builder: Any, vector: Any, value: Any) -> Any:
    """A vector of this type with the value in every element."""
    nothing = ir.Constant(vector, ir.Undefined)
    one = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
    return _shuffled(builder, one, nothing, [0] * vector.count)


def _splat(builder: Any, number: Any) -> Any:
    return _spread(builder, _VECTOR, number)


def _shuffled(builder: Any, a: Any, b: Any, order: list[int]) -> Any:
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(ir.IntType(32), len(order)), order))


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any, vector: Any = _VECTOR) -> Any:
    """Address of a[index], as a pointer to such a vector; negative indices do not wrap."""
    data = arrayobj.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), vector.as_pointer())


@intrinsic
def load_lanes(typingctx, a, i):
    """a[i] … a[i + LANES - 1] of a contiguous vector."""

    def codegen(context, builder, signature, args):
        return builder.load(_pointer(context, builder, signature.args[0], args[0], args[1]), align=8)

    return lanes_type(a, types.intp), codegen


@intrinsic
def load_like(typingctx, x, a, i):
    """a[i] … of a contiguous vector, as many as x has lanes."""

    def codegen(context, builder, signature, args):
        array, vector = signature.args[1], signature.return_type.vector
        return builder.load(_pointer(context, builder, array, args[1], args[2], vector), align=8)

    return x(x, a, types.intp), codegen


@intrinsic
def lower_lanes(typingctx, x):
    """The lower half of the lanes."""

    def codegen(context, builder, signature, args):
        return _shuffled(builder, args[0], args[0], list(range(LANES // 2)))

    return narrow_type(lanes_type), codegen


@intrinsic
def whole_lanes(typingctx, x):
    """Lanes whose lower half is x, and whose upper half is 0."""

    def codegen(context, builder, signature, args):
        zero = ir.Constant(narrow_type.vector, [0.0] * narrow_type.count)
        return _shuffled(builder, args[0], zero, list(range(LANES)))

    return lanes_type(narrow_type), codegen


@intrinsic
def store_lanes(typingctx, a, i, x):
    """a[i] … a[i + LANES - 1] = x."""

    def codegen(context, builder, signature, args):
        builder.store(args[2], _pointer(context, builder, signature.args[0], args[0], args[1]), align=8)
        return context.get_dummy_value()

    return types.void(a, types.intp, lanes_type), codegen


@intrinsic
def equal_lanes(typingctx, x):
    """The number x in every lane."""

    def codegen(context, builder, signature, args):
        return _splat(builder, args[0])

    return lanes_type(types.float64), codegen


@intrinsic
def between_lanes(typingctx, x, start, stop):
    """x in the lanes start … stop - 1, 0 in the others; start and stop may lie outside."""

    def codegen(context, builder, signature, args):
        word = ir.VectorType(ir.IntType(64), LANES)
        index = ir.Constant(word, list(range(LANES)))
        edges = [_spread(builder, word, edge) for edge in args[1:]]
        inside = builder.and_(builder.icmp_signed(">=", index, edges[0]), builder.icmp_signed("<", index, edges[1]))
        return builder.select(inside, args[0], ir.Constant(_VECTOR, [0.0] * LANES))

    return lanes_type(lanes_type, types.int64, types.int64), codegen


@intrinsic
def split_lanes(typingctx, x, y, i):
    """x in the lanes before i, y from there on."""

    def codegen(context, builder, signature, args):
        word = ir.VectorType(ir.IntType(64), LANES)
        index = ir.Constant(word, list(range(LANES)))
        before = builder.icmp_signed("<", index, _spread(builder, word, args[2]))
        return builder.select(before, args[0], args[1])

    return lanes_type(lanes_type, lanes_type, types.int64), codegen


@intrinsic
def with_lane(typingctx, x, i, a):
    """x with the number a in lane i."""

    def codegen(context, builder, signature, args):
        word = ir.VectorType(ir.IntType(64), LANES)
        index = ir.Constant(word, list(range(LANES)))
        chosen = builder.icmp_signed("==", index, _spread(builder, word, args[1]))
        return builder.select(chosen, _splat(builder, args[2]), args[0])

    return lanes_type(lanes_type, types.int64, types.float64), codegen


@intrinsic
def sum_lanes(typingctx, x):
    """The sum of the lanes, by halves.

    The compiler may not fuse a product into this sum. It could do so only if the lanes fill two registers, so the bits
    would depend on the processor.
    """

    def codegen(context, builder, signature, args):
        total = args[0]
        for step in (4, 2, 1):
            order = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [(i + step) % LANES for i in range(LANES)])
            turned = builder.shuffle_vector(total, ir.Constant(_VECTOR, ir.Undefined), order)
            total = builder.fadd(total, turned, flags=_UNFUSED)
        return builder.extract_element(total, ir.Constant(ir.IntType(32), 0))

    return types.float64(x), codegen


@intrinsic
def transpose_lanes(typingctx, a, b, c, d, e, f, g, h):
    """A tuple of LANES Lanes: lane i of the k-th is lane k of the i-th given."""

    def codegen(context, builder, signature, args):
        rows = list(args)
        for step in (4, 2, 1):  # blocks of this size change places across the diagonal
            for i in range(LANES):
                if i & step:
                    continue
                upper, lower = rows[i], rows[i + step]
                kept = [k if not k & step else LANES + k - step for k in range(LANES)]
                moved = [k + step if not k & step else LANES + k for k in range(LANES)]
                rows[i] = _shuffled(builder, upper, lower, kept)
                rows[i + step] = _shuffled(builder, upper, lower, moved)
        return context.make_tuple(builder, signature.return_type, rows)

    return types.UniTuple(lanes_type, LANES)(a, b, c, d, e, f, g, h), codegen


class _LanesOperator(AbstractTemplate):
    """Lanes with as many lanes, or a number with lanes."""

    def generic(self, args: Any, kws: Any) -> Any:
        lanes = {arg for arg in args if isinstance(arg, LanesType)}
        if len(args) == 2 and len(lanes) == 1 and all(arg in lanes or arg == types.float64 for arg in args):
            return signature(lanes.pop(), *args)
        return None


def _register(symbol: Any, method: str) -> None:
    infer_global(symbol)(type(f"_Lanes{method}", (_LanesOperator,), {}))

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        vector = sig.return_type.vector
        left, right = (x if t == sig.return_type else _spread(builder, vector, x) for t, x in zip(sig.args, args))
        return getattr(builder, method)(left, right, flags=_FLAGS)

    for lanes in (lanes_type, narrow_type):
        for pair in ((lanes, lanes), (types.float64, lanes), (lanes, types.float64)):
            lower_builtin(symbol, *pair)(lower)


for _symbol, _method in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _register(_symbol, _method)
