"""pickle and copy: what is pickled or copied goes on as the original does, bit for bit."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
MODELS = sorted(path.name for path in EXAMPLES.glob("*.yaml"))
WAYS = [lambda each: pickle.loads(pickle.dumps(each)), copy.copy, copy.deepcopy]


@pytest.mark.parametrize("name", MODELS)
def test_a_simulation_goes_on_with_equal_bits(name):
    simulation = lj.Simulation(lj.load(EXAMPLES / name), integrator="semi_implicit", substeps=2)
    for command in simulation.command_names:
        simulation.command[command] += 0.01
    for parameter in list(simulation.parameters)[:2]:
        simulation.parameters[parameter] *= 1.1
    simulation.step(7)
    others = [way(simulation) for way in WAYS]
    for each in (simulation, *others):
        each.step(11)
    for other in others:
        assert np.array_equal(simulation.state, other.state)
        assert np.array_equal(simulation.output_vector, other.output_vector)
        assert dict(simulation.parameters) == dict(other.parameters)
    loaded = simulation.reset(parameters=True)
    assert all(other.reset(parameters=True) == loaded for other in others)


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_is_independent(way):
    simulation = lj.Simulation(lj.load(EXAMPLES / "torque_arm.yaml"))
    mass = next(name for name in simulation.parameters if name.endswith(".mass"))
    other, before = way(simulation), simulation.parameters[mass]
    other.step(5)
    other.parameters[mass] = 2.0 * before
    assert simulation.step_count == 0
    assert simulation.parameters[mass] == before


@pytest.mark.parametrize("way", WAYS)
def test_dynamics_keep_the_parameters_of_their_simulation(way):
    simulation = lj.Simulation(lj.load(EXAMPLES / "torque_arm.yaml"))
    mass = next(name for name in simulation.parameters if name.endswith(".mass"))
    simulation.parameters[mass] *= 3.0
    given, other = simulation.q, way(simulation.dynamics)
    assert np.array_equal(simulation.dynamics.mass_matrix(given), other.mass_matrix(given))
    assert not np.array_equal(other.mass_matrix(given), lj.Dynamics(simulation.system).mass_matrix(given))
