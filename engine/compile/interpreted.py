"""Kernels run by the interpreter: a build needs a few numbers of them, and waits less for these than for a compiler."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType


@cache
def interpreted(kernel: Callable) -> Callable:
    """A kernel on numbers, tuples and whatever has elements, in plain Python with all the kernels that it calls.

    The same expressions, rounded one by one: compiled, a product and a sum may become one operation.
    """
    function = getattr(kernel, "py_func", kernel)  # where kernels are not compiled it is a function already
    names = [name for name in function.__code__.co_names if name in function.__globals__]
    known = {name: function.__globals__[name] for name in names}
    called = {name: interpreted(item) if hasattr(item, "py_func") else item for name, item in known.items()}
    return FunctionType(function.__code__, called, function.__name__)
