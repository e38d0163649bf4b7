"""Whether numbers lie in a range, and slices in a vector."""

from __future__ import annotations

from limberjack.engine.compile.kernel import kernel


@kernel
def is_in(value, first, end):
    return value >= first and value < end


@kernel
def fits(start, size, count):
    """Whether `size` numbers from `start` lie in a vector of `count`."""
    return start >= 0 and size >= 0 and size <= count and start <= count - size
