"""Stepping allocates nothing: Python's tracer says so, and numba refuses; compile/test_library.py looks at symbols."""

from __future__ import annotations

import tracemalloc

import numba
import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.compile.compiled import OPTIONS
from tests.engine.full_model import full_model


@pytest.fixture(scope="module")
def sim() -> lj.Simulation:
    """Warm: every entry that stepping and observing use is compiled."""
    sim = lj.Simulation(full_model(), dt=1e-4)
    sim.step(1)
    assert np.all(np.isfinite(sim.output_vector))
    return sim


def test_python_memory_does_not_grow(sim):
    sim.reset()
    sim.step(10)
    tracemalloc.start()
    try:
        sim.step(10)
        before = tracemalloc.take_snapshot()
        sim.step(10_000)
        after = tracemalloc.take_snapshot()
    finally:
        tracemalloc.stop()
    grown = [d for d in after.compare_to(before, "filename") if d.size_diff > 0 and "tracemalloc" not in str(d)]
    # A few integer objects of the interpreter itself; 10,000 steps of anything would be tens of kilobytes.
    assert sum(d.size_diff for d in grown) < 2048, grown


def test_an_allocation_does_not_compile():
    """The jit options leave numba's run-time out: a kernel that makes an array is refused when it is compiled."""

    @numba.njit(**OPTIONS)
    def careless(n):
        return np.zeros(n)[0]

    with pytest.raises(numba.TypingError, match="np.empty"):
        careless(3)
