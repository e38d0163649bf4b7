"""Stepping allocates nothing: Python's tracer says so, and numba refuses; compile/test_library.py looks at symbols."""

from __future__ import annotations

import tracemalloc
from functools import partial
from pathlib import Path

import numba
import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.compile.compiled import OPTIONS
from tests.engine.contacts.heaps import heap
from tests.engine.contacts.scenes import FLOOR, ball, box, free, scene, sensors, solid_box, sphere
from tests.engine.full_model import full_model


def crowded(folder: Path) -> lj.System:
    """Bodies that fall on a floor and on each other, with all kinds of friction."""
    bodies = [ball(f"b{i}", (0.05 * i, 0.0, 0.11 + 0.21 * i)) for i in range(4)]
    bodies.append(free("block", 1.0, solid_box((0.2, 0.2, 0.2), 1.0), (1.0, 0.0, 0.11)))
    shapes = [FLOOR, *(sphere(f"b{i}") for i in range(4)), box("block", (0.2, 0.2, 0.2))]
    rubs = "friction: 0.3, torsional_friction: 1.0e-3, rolling_friction: 1.0e-3"
    laws = [
        f"{{name: ground, first: floor, second: [b0, b1, b2, b3, block], {rubs}}}",
        "{name: others, first: [b0, b1, b2, b3, block], stiffness: 1.0e5, dissipation: 0.5, friction: 0.3}",
    ]
    return scene(folder, bodies, shapes, laws, sensors("ground"))


@pytest.fixture(scope="module", params=["full", "contacts", "shapes"])
def sim(request, tmp_path_factory) -> lj.Simulation:
    """Warm: every entry that stepping and observing use is compiled."""
    makers = {"full": lambda folder: full_model(), "contacts": crowded, "shapes": partial(heap, seed=1)}
    model = makers[request.param](tmp_path_factory.mktemp("model"))
    sim = lj.Simulation(model, dt=1e-4)
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
