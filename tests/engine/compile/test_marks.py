"""What the marks of compiled functions refuse (engine/compile/kernel.py)."""

from __future__ import annotations

import pytest

from limberjack.engine.compile.compiled import FLOATS, REAL, Compiled
from limberjack.engine.compile.inner_code import lowered
from limberjack.engine.compile.kernel import FUNCTIONS, entry, routine
from limberjack.engine.kernels.contacts import polish


def test_two_functions_of_one_name_are_refused() -> None:
    known = FUNCTIONS["polish_routine"]

    def polish_routine(ints, floats, vector):  # type: ignore[no-untyped-def]
        pass

    for mark in (routine(), entry()):
        with pytest.raises(NameError, match=rf"{__name__} and {polish.__name__} both .* 'polish_routine'"):
            mark(polish_routine)
    assert FUNCTIONS["polish_routine"] is known


def test_an_index_from_the_end_is_refused() -> None:
    def last(a):  # type: ignore[no-untyped-def]
        return a[-1]

    with pytest.raises(Exception, match="does not count from the end: -1"):
        lowered(Compiled("last", last, FLOATS, REAL, False))
