"""Decorators for functions that become machine code.

`kernel` marks a function that only other kernels call and that becomes part of each of them; `entry` one that Python
and C call; `routine` long code that several entries need: it is compiled once and called by name. `formula` marks a
kernel that Python also calls, uncompiled.

A process that steps a model compiles nothing: it calls the entries in the library (library.py). In such a process the
decorators leave functions unchanged, and numba is not imported. The process that builds the library (lower.py) sets
COMPILED before it imports a decorated function; then `kernel` returns numba's dispatchers.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from limberjack.engine.compile.compiled import NOTHING, VECTORS, Compiled, Function

#: environment variable: "1" makes the decorators compile
COMPILED = "LIMBERJACK_COMPILED_KERNELS"

_ENTRY = "_entry"

#: entries and routines of all modules imported so far, by name
FUNCTIONS: dict[str, Compiled] = {}

#: whether the decorators compile
COMPILES = os.environ.get(COMPILED) == "1"

if COMPILES:
    from limberjack.engine.compile import inner_code

    kernel: Callable[[Function], Function] = inner_code.kernel
    formula: Callable[[Function], Function] = inner_code.formula
    intrinsic: Callable[[Function], Any] = inner_code.intrinsic
    _inner: Callable[[Function], Any] = inner_code.inner
    _called_by_name: Callable[[Compiled], Any] = inner_code.called_by_name
else:

    def kernel(function: Function) -> Function:
        """Mark a function that other kernels call."""
        return function

    formula = intrinsic = _inner = kernel

    def _called_by_name(known: Compiled) -> Any:
        return known.function


def _note(known: Compiled) -> Compiled:
    """Keep a function under its name, by which others call it."""
    other = FUNCTIONS.get(known.name, known)
    if (module := other.function.__module__) != known.function.__module__:
        raise NameError(f"{known.function.__module__} and {module} both have a compiled function '{known.name}'.")
    FUNCTIONS[known.name] = known
    return known


def entry(*arguments: str, worlds: bool = False, wide: bool = False) -> Callable[[Function], Any]:
    """Mark a function <name>_entry of these argument types as the entry <name>. Kernels may also call it.

    worlds : whether it is also compiled for several worlds at once
    wide : whether its code for one world uses 512-bit registers, which slow down all other code around them on Intel
    """

    def decorate(function: Function) -> Any:
        name = function.__name__.removesuffix(_ENTRY)
        _note(Compiled(name, function, "".join(arguments), NOTHING, True, worlds, wide=wide))
        return _inner(function)

    return decorate


def routine(
    *arguments: str, returns: str = NOTHING, unroll: bool = False, either: bool = False
) -> Callable[[Function], Any]:
    """Mark a function of these argument types, after VECTORS, as a routine.

    unroll : whether LLVM unrolls its loops, which is faster only for long ones: most have few iterations
    either : whether AMD processors run code of it that uses 512-bit registers
    """

    def decorate(function: Function) -> Any:
        taken = VECTORS + "".join(arguments)
        known = Compiled(function.__name__, function, taken, returns, False, unroll=unroll, either=either)
        return _called_by_name(_note(known))

    return decorate
