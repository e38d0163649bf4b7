"""Views into flat vectors, and the width of the blocks that kernels work on."""

from __future__ import annotations

from typing import Any

from limberjack.engine.compile.kernel import formula, intrinsic

#: (name, rows, columns) of consecutive parts of a vector
Sections = list[tuple[str, int, int]]

#: numbers that one vector instruction works on; a block holds LANES spatial vectors, component by component:
#: component i of vector j at [LANES i + j]
LANES = 8
BLOCK = 6 * LANES

#: numbers of what children hand to their parent (work.acc, tables/plant.py)
ACC = 28


def total(sections: Sections) -> int:
    """Length of the vector that holds these sections."""
    return sum(rows * columns for _, rows, columns in sections)


@formula
def padded(n):
    """n rounded up to whole vector registers, so that loops over coordinates have no remainder."""
    return (n + LANES - 1) // LANES * LANES


@intrinsic
def matrix_view(typingctx, a, start, rows, columns):
    """A (rows, columns) view of a contiguous vector from element `start`; owns nothing, so costs no reference."""
    return _view_signature(a, (start, rows, columns), 2)


@intrinsic
def vector_view(typingctx, a, start, size):
    """A (size,) view of a contiguous vector from element `start`."""
    return _view_signature(a, (start, size), 1)


@intrinsic
def real_view(typingctx, a, start, size):
    """A (size,) view of float64 numbers in a contiguous int64 vector from element `start`."""
    return _view_signature(a, (start, size), 1, real=True)


def opaque(builder: Any, number: Any) -> Any:
    """The same number, hidden from the optimiser, which then cannot see how it was computed.

    The start of a view is a sum of many products. LLVM's strength reduction tries ways to split it in every loop that
    uses the view, which takes seconds for each loop. A constant is returned as it is.
    """
    from llvmlite import ir

    if isinstance(number, ir.Constant):
        return number
    kind = ir.FunctionType(number.type, [number.type])
    return builder.asm(kind, "", "=r,0", [number], side_effect=False)


def _view_signature(a: Any, arguments: tuple, ndim: int, real: bool = False) -> tuple:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.np import arrayobj

    result = types.Array(types.float64 if real else a.dtype, ndim, "C")

    def codegen(context, builder, signature, args):
        source = arrayobj.make_array(signature.args[0])(context, builder, args[0])
        out = arrayobj.make_array(result)(context, builder)
        word = ir.IntType(context.address_size)
        itemsize = ir.Constant(word, context.get_abi_sizeof(context.get_data_type(a.dtype)))
        shape = list(args[2:])
        strides = [builder.mul(shape[1], itemsize), itemsize] if ndim == 2 else [itemsize]
        begin = cgutils.pointer_add(builder, source.data, builder.mul(opaque(builder, args[1]), itemsize))
        arrayobj.populate_array(
            out,
            data=builder.bitcast(begin, out.data.type),
            shape=shape,
            strides=strides,
            itemsize=itemsize,
            meminfo=None,
        )
        return out._getvalue()

    return result(a, *(types.intp for _ in arguments)), codegen
