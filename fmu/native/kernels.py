"""Which kernels an FMU needs, and how they are called: the entries of `engine/kernels/entry_points.py` as C sees them.

numba hands an array to compiled code as seven values (memory information, parent, items, item size, data, shape,
stride), of which our kernels read the data only; the first two arguments are where a result and an exception would
go. `shim/kernels.c` declares the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.types import Type

from limberjack.engine.compile.routine import FLOATS, INTS, REAL, ROUTINES, WHOLE
from limberjack.engine.kernels.entry_points import entries

#: kernel → argument types, in the order of the entry of that name
KERNELS: dict[str, tuple[Type, ...]] = {
    "sizes": (INTS, INTS),
    "advance": (INTS, FLOATS, FLOATS, FLOATS, REAL, WHOLE, WHOLE, WHOLE, WHOLE, INTS),
    "observe": (INTS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS),
    "survey": (INTS, FLOATS, FLOATS, FLOATS, FLOATS),
    "rates": (INTS, FLOATS, FLOATS, FLOATS),
    "normalise": (INTS, FLOATS, FLOATS),
    "switches": (INTS, FLOATS, FLOATS, FLOATS),
    "refresh": (INTS, FLOATS),
    "check": (INTS, FLOATS, FLOATS, INTS),
    "forces": (INTS, FLOATS, FLOATS, FLOATS, FLOATS),
    "state_slopes": (INTS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS),
    "trust": (INTS, FLOATS, WHOLE, INTS),
}


def sources() -> dict[str, tuple[Callable[..., Any], tuple[Type, ...]]]:
    """All that an FMU compiles, by name: functions as written, and their types; routines that kernels call included."""
    written = {name: (getattr(entries(), name).py_func, types) for name, types in KERNELS.items()}
    return written | {name: (routine.function, routine.arguments) for name, routine in ROUTINES.items()}
