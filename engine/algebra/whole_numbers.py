"""Whole numbers that kernels keep among float64 numbers."""

from __future__ import annotations

from limberjack.engine.algebra.array_views import opaque
from limberjack.engine.compile.kernel import intrinsic

#: the compiler knows this bound, so indices made from the number cannot be negative, nor overflow
_MOST = 2**40 - 1


@intrinsic
def whole(typingctx, number):
    """The int64 of a float64 number that is whole and not negative, as the compiler sees.

    Worlds that are stepped together agree on it here, and not wherever what follows from it is an index.
    """
    from llvmlite import ir
    from numba import types

    def codegen(context, builder, signature, args):
        kind = ir.IntType(64)
        return builder.and_(opaque(builder, builder.fptosi(args[0], kind)), kind(_MOST))

    return types.int64(types.float64), codegen
