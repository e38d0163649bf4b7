"""Kernels run by the interpreter: a build needs a few of their results, which take less time than a compiler."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType


@cache
def interpreted(kernel: Callable, *plain: tuple[str, Callable]) -> Callable:
    """A kernel, and all kernels that it calls, as plain Python functions on numbers, tuples and sequences.

    The expressions are the same, but each operation rounds: compiled, a product and a sum may be fused into one.
    plain : (name, function) to replace functions that exist only as compiled code
    """
    function = getattr(kernel, "py_func", kernel)  # if kernels are not compiled, it is a plain function already
    names = [name for name in function.__code__.co_names if name in function.__globals__]
    known = {name: function.__globals__[name] for name in names}
    kernels = {name for name, item in known.items() if hasattr(item, "py_func") or (plain and _is_plain(item))}
    called = {name: interpreted(item, *plain) if name in kernels else item for name, item in known.items()}
    return FunctionType(function.__code__, called | dict(plain), function.__name__)


def _is_plain(item: object) -> bool:
    """Whether the object is a kernel that is not compiled."""
    return isinstance(item, FunctionType) and item.__closure__ is None
