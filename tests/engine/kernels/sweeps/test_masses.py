"""Masses that are tuned while the model runs: a part keeps its shape, the rest follows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.system import Inertia, System
from tests.engine.random_systems import MOVING, random_state, random_system
from tests.validation.figures import figure


def scaled(system: System, name: str, factor: float) -> System:
    """The same model loaded with a heavier body."""
    bodies = tuple(
        replace(b, inertia=Inertia(factor * b.inertia.mass, b.inertia.com, factor * b.inertia.about_com))
        if b.name == name
        else b
        for b in system.bodies
    )
    return replace(system, bodies=bodies)


@pytest.mark.parametrize("seed", range(6))
def test_a_tuned_mass_is_that_of_a_model_loaded_so(seed):
    rng = np.random.default_rng(seed)
    types = ["revolute", "fixed", *rng.choice(MOVING, 3), "fixed"]
    system = random_system(types, rng)
    q, v = random_state(system, rng)
    simulation = lj.Simulation(system)
    for name in ("b0", "b1", "b5"):
        simulation.parameters[f"body.{name}.mass"] *= 1.7
        system = scaled(system, name, 1.7)
    expected = lj.Dynamics(system).forward(q, v, np.ones(system.nv))
    figure(
        "accelerations with tuned masses",
        simulation.dynamics.forward(q, v, np.ones(system.nv)),
        expected,
        oracle="a model loaded with these masses",
        atol=1e-11,
        rtol=1e-11,
    )


def test_a_mass_set_back_gives_the_same_bits():
    system = random_system(["free", "revolute", "fixed"], np.random.default_rng(3))
    simulation = lj.Simulation(system)
    before = simulation.plant.floats.copy()
    mass = simulation.parameters["body.b2.mass"]
    simulation.parameters["body.b2.mass"] = 3.0
    assert not np.array_equal(simulation.plant.floats, before)
    simulation.parameters["body.b2.mass"] = mass
    assert np.array_equal(simulation.plant.floats, before)


def test_a_body_without_mass_is_refused():
    simulation = lj.Simulation(random_system(["revolute"], np.random.default_rng(0)))
    with pytest.raises(ArgumentError, match=r"body\.b0\.mass' must be positive"):
        simulation.parameters["body.b0.mass"] = 0.0


def test_what_stands_on_the_ground_has_no_mass_to_tune():
    system = random_system(["fixed", "revolute"], np.random.default_rng(0), parents=[None, 0])
    assert "body.b0.mass" not in lj.Simulation(system).parameters
