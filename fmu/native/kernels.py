"""Which kernels an FMU needs, and how they are called: the entries of `engine/entries.py` as C sees them.

numba hands an array to compiled code as seven values (memory information, parent, items, item size, data, shape,
stride), of which our kernels read the data only; the first two arguments are where a result and an exception would
go. `shim/kernels.c` declares the same.
"""

from __future__ import annotations

from numba import types
from numba.core.types import Type

INTS = types.Array(types.int64, 1, "C")
FLOATS = types.Array(types.float64, 1, "C")
WHOLE = types.int64
REAL = types.float64

#: kernel → argument types, in the order of the entry of that name
KERNELS: dict[str, tuple[Type, ...]] = {
    "sizes": (INTS, INTS),
    "advance": (INTS, FLOATS, FLOATS, FLOATS, REAL, WHOLE, WHOLE, WHOLE, INTS),
    "observe": (INTS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS),
    "survey": (INTS, FLOATS, FLOATS, FLOATS, FLOATS),
    "rates": (INTS, FLOATS, FLOATS, FLOATS),
    "normalise": (INTS, FLOATS, FLOATS),
    "switches": (INTS, FLOATS, FLOATS, FLOATS),
    "refresh": (INTS, FLOATS),
    "check": (INTS, FLOATS, FLOATS, INTS),
    "forces": (INTS, FLOATS, FLOATS, FLOATS, FLOATS),
    "state_slopes": (INTS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS),
}
