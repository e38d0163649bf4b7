"""Closed loops with flexible bodies, embedded and by force: dense system, closing, energy and momentum, repeats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.entries import entries
from limberjack.engine.system.build import build
from limberjack.engine.system.loops.plan import plan
from limberjack.engine.system.frames import assemble
from limberjack.engine.system.system import System
from tests.flexible.closed import PLACES, Closed, accelerations, closed, gaps, onto, rows

METHODS = [("embed",), ("force",), ("embed", "force"), ("force", "embed")]
SEEDS = range(3)


def moving(made: Closed, speed: float = 1.0) -> np.ndarray:
    """Velocities that keep the loops closed."""
    return onto(rows(made.system, lj.Dynamics(made.open), made.q), speed * made.v)


@pytest.mark.parametrize("kind", ["point", "pin", "weld"])
@pytest.mark.parametrize("places", PLACES, ids=str)
@pytest.mark.parametrize("seed", SEEDS)
def test_accelerations_are_those_of_the_dense_system(seed, places, kind):
    made = closed(seed, places, kind, "free" if seed % 2 else "revolute")
    v, tau = moving(made), made.rng.normal(size=made.system.nv)
    expected = accelerations(made, v, tau)
    for methods in METHODS[: 2 if len(places) == 1 else 4]:
        found = lj.Dynamics(made.by(*methods)).forward(made.q, v, tau)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
