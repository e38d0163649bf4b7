"""Whether code is for one world or for several: registers hold fewer sums of several worlds side by side."""

from __future__ import annotations

from limberjack.engine.compile.compiled import SEVERAL_WORLDS
from limberjack.engine.compile.kernel import intrinsic


@intrinsic
def several_worlds(typingctx):
    """Whether this is the code for several worlds at once: a constant, since `compile/lower.py` makes both of one text.

    It decides in which order sums are taken, never what they are.
    """
    from llvmlite import ir
    from numba import types

    def codegen(context, builder, signature, args):
        kind, known = ir.IntType(8), builder.module.globals
        flag = known.get(SEVERAL_WORLDS) or ir.GlobalVariable(builder.module, kind, SEVERAL_WORLDS)
        return builder.icmp_signed("!=", builder.load(flag), kind(0))

    return types.boolean(), codegen
