"""Kernels run by the interpreter: a build needs a few numbers of them, and waits less for these than for a compiler."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType


@cache
def interpreted(kernel: Callable, *plain: tuple[str, Callable]) -> Callable:
    """A kernel on numbers, tuples and whatever has elements, in plain Python with all the kernels that it calls.

    The same expressions, rounded one by one: compiled, a product and a sum may become one operation.
    plain : (name, function) of what takes the place of functions that are compiled code by themselves
    """
    function = getattr(kernel, "py_func", kernel)  # where kernels are not compiled it is a function already
    names = [name for name in function.__code__.co_names if name in function.__globals__]
    known = {name: function.__globals__[name] for name in names}
    kernels = {name for name, item in known.items() if hasattr(item, "py_func") or (plain and _is_plain(item))}
    called = {name: interpreted(item, *plain) if name in kernels else item for name, item in known.items()}
    return FunctionType(function.__code__, called | dict(plain), function.__name__)


def _is_plain(item: object) -> bool:
    """Whether this is a kernel that is not compiled."""
    return isinstance(item, FunctionType) and item.__closure__ is None
