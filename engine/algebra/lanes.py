"""Eight float64 numbers as one value of compiled code, in one vector register or in several.

`load_lanes(a, i)` takes a[i] … a[i + 7]; sums, differences and products work lane by lane, also with a plain number on
either side. In loops over arrays the compiler must prove that rows do not overlap; here it need not. `lower_lanes(x)`
is a value of four, which costs half where the others are padding; the same operators and `load_like` take it.
Where kernels are not compiled (compile/kernel.py) these are only names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from limberjack.engine.compile.kernel import COMPILES

if COMPILES or TYPE_CHECKING:
    from limberjack.engine.algebra.lanes_code import (
        between_lanes,
        equal_lanes,
        load_lanes,
        load_like,
        lower_lanes,
        split_lanes,
        store_lanes,
        sum_lanes,
        transpose_lanes,
        whole_lanes,
        with_lane,
    )
else:

    def __getattr__(name: str) -> None:
        """The names that kernels import."""
        if not name.endswith(("_lane", "_lanes", "_like")):
            raise AttributeError(name)


__all__ = [
    "between_lanes",
    "equal_lanes",
    "load_lanes",
    "load_like",
    "lower_lanes",
    "split_lanes",
    "store_lanes",
    "sum_lanes",
    "transpose_lanes",
    "whole_lanes",
    "with_lane",
]
