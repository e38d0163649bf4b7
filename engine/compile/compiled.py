"""Compiled functions: their types, their names, and the options of the compiler that all of them share."""

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
    # Without numba's run-time an allocation does not compile, and array views need no reference counts.
    "_nrt": False,
}

# The processor by whose costs LLVM's passes decide, and changes to its features: those of most functions, and those of
# functions that are `wide`. Then code is generated for each level (docs/decisions/0018).
OPTIMISED_FOR = {"x86_64": ("x86-64-v4", "+prefer-256-bit", "-prefer-256-bit")}
OPTIMISED_ELSEWHERE = ("generic", "", "")

# Types of arguments, one letter each. Arrays are contiguous. C callers pass INTS and FLOATS as a pointer, so entries
# cannot read their length; VECTOR as a pointer and a length, MATRIX as a pointer, rows and columns.
INTS, FLOATS, VECTOR, MATRIX = "I", "F", "V", "M"
WHOLE, REAL, FLAG, NOTHING = "i", "f", "b", ""
#: first arguments of every routine: Plant.ints, Plant.floats, Work
VECTORS = INTS + FLOATS + FLOATS

PREFIX = "limberjack_"


# Suffix of the names of code for several worlds at once (worlds.py).
WORLDS = "_worlds"
# Suffix of the names of code for 512-bit registers, of functions that also have code for 256-bit ones.
FULL = "_full"
# Name of the constant that code for one world and for several reads before LLVM knows which it is.
SEVERAL_WORLDS = "several_worlds"


@dataclass(frozen=True)
class Compiled:
    """A function with its own machine code: an entry or a routine.

    arguments : one letter each; returns : a letter, or ""; worlds : whether it also has code for several worlds
    unroll : whether LLVM unrolls its loops; for long loops
    wide : whether it uses 512-bit registers at v4; for functions that do little else than arithmetic on lanes
    either : whether it has code for 256-bit and for 512-bit registers at v4; the processor decides which is used
    """

    name: str
    function: Function
    arguments: str
    returns: str
    entry: bool
    worlds: bool = True
    unroll: bool = False
    wide: bool = False
    either: bool = False

    @property
    def symbol(self) -> str:
        """The name by which callers refer to it."""
        return PREFIX + self.name
