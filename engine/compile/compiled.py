"""What a compiled function is: its types, its name, and the options that all of them are compiled with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Function = Callable[..., Any]

# Contraction to fused multiply-add is allowed, reassociation is not: results do not depend on vector width.
OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "boundscheck": False,
    "fastmath": {"contract", "nsz"},
    "nogil": True,
    # Without numba's run-time an allocation does not compile, and array views cost no reference counting.
    "_nrt": False,
}

# The processor, and changes to its features, whose costs LLVM's passes go by before code is generated for each level.
# By those of v3, or with 256-bit vectors, mass matrices took 13 % longer at v4 (docs/decisions/0018).
OPTIMISED_FOR = {"x86_64": ("x86-64-v4", "-prefer-256-bit")}
OPTIMISED_ELSEWHERE = ("generic", "")

# Types of arguments, a letter each. Arrays are contiguous. C callers hand over INTS and FLOATS as a pointer, so entries
# cannot read their length; VECTOR as a pointer and a length, MATRIX as a pointer, rows and columns.
INTS, FLOATS, VECTOR, MATRIX = "I", "F", "V", "M"
WHOLE, REAL, FLAG, NOTHING = "i", "f", "b", ""
#: what every routine takes first: Plant.ints, Plant.floats, Work
VECTORS = INTS + FLOATS + FLOATS

PREFIX = "limberjack_"


# What ends the name of code for several worlds at once (worlds.py).
WORLDS = "_worlds"


@dataclass(frozen=True)
class Compiled:
    """A function that has machine code of its own: an entry or a routine.

    arguments : a letter each; returns : a letter, or nothing; worlds : whether it has code for several worlds as well
    unroll : whether LLVM unrolls its loops, which are long ones
    """

    name: str
    function: Function
    arguments: str
    returns: str
    entry: bool
    worlds: bool = True
    unroll: bool = False

    @property
    def symbol(self) -> str:
        """The name that callers know it by."""
        return PREFIX + self.name
