"""Pairs out of reach sleep: loops leave their touches out, which changes no bit of the State and no gap."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from tests.engine.contacts.scenes import FLOOR, box, free, scene, sensors, sphere

SIZES = [0.2, 0.15, 0.1]


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit", "implicit"])
@pytest.mark.parametrize(
    "law", ["restitution: 0.7, friction: 0.4", "stiffness: 1.0e+4, dissipation: 0.1, friction: 0.4"]
)
def test_single_steps_have_the_bits_of_many(tmp_path, integrator, law):
    """Each call finds out again which pairs sleep. Boxes and balls bounce off each other and off the floor."""
    rng = np.random.default_rng(4)
    places = [(*rng.uniform(-0.05, 0.05, 2), 0.2 + 0.3 * i) for i in range(4)]
    bodies = [free(name, 1.0, (0.004, 0.005, 0.006), place) for name, place in zip("abcd", places)]
    shapes = [FLOOR, box("a", SIZES), sphere("b"), box("c", SIZES), sphere("d")]
    laws = [f"{{name: c, first: [a, b, c, d], {law}}}", f"{{name: g, first: floor, second: [a, b, c, d], {law}}}"]
    system = scene(tmp_path, bodies, shapes, laws, sensors("c"))
    many, single = (lj.Simulation(system, dt=1e-3, integrator=integrator) for _ in range(2))
    changes = []
    for _ in range(20):
        many.step(100)
        for _ in range(100):
            single.step()
            changes.append(float(single.output["touching"]))
        assert np.array_equal(many.q, single.q)
        assert np.array_equal(many.v, single.v)
        for name in ("force", "gap", "touching"):
            assert np.array_equal(many.output[name], single.output[name])
    assert np.count_nonzero(np.diff(changes)) > 4, "no pair fell asleep and woke again"


@pytest.mark.parametrize("calls", [1, 50])
def test_gaps_of_pairs_that_sleep_are_those_of_the_step(tmp_path, calls):
    """Two balls that fly apart: the gap is the distance of their centres less the radii, at the end of each call."""
    bodies = [
        free(name, 1.0, (0.004, 0.004, 0.004), (0, y, 1), f"{{vy: {speed}}}")
        for name, y, speed in (("a", 0.0, -1.0), ("b", 0.5, 2.0))
    ]
    laws = ["{name: c, first: a, second: b}"]
    system = scene(tmp_path, bodies, [sphere("a"), sphere("b")], laws, "gravity: [0, 0, 0]\n" + sensors("c"))
    simulation = lj.Simulation(system, dt=1e-3)
    for _ in range(calls):
        simulation.step(200 // calls)
    assert float(simulation.output["gap"]) == pytest.approx(0.3 + 0.2 * 3.0, abs=1e-9)
