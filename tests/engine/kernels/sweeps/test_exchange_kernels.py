"""What co-simulation asks of the engine beyond stepping: surveys, coordinate rates, switches, checks."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.kernels.step import state_validity as readiness
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, System
from limberjack.engine.model.validate import validate
from limberjack.engine.tables import plant as layout
from tests.engine.random_systems import MOVING, random_state, random_system


def running(seed: int) -> lj.Simulation:
    rng = np.random.default_rng(seed)
    system = random_system(["free", *rng.choice(MOVING, 4), "spherical", "custom"], rng)
    simulation = lj.Simulation(system, dt=1e-5)
    simulation.q, simulation.v = random_state(system, rng)
    return simulation


@pytest.mark.parametrize("seed", range(5))
def test_a_survey_says_what_dynamics_says(seed):
    simulation = running(seed)
    dynamics, q, v = simulation.dynamics, simulation.q, simulation.v
    survey = simulation.survey()
    kinetic, potential = dynamics.energy(q, v)
    assert survey[:3] == pytest.approx([kinetic, potential, kinetic + potential], rel=1e-13)
    assert survey[3:9] == pytest.approx(dynamics.momentum(q, v), rel=1e-12, abs=1e-12)
    for i, node in enumerate(simulation.system.node_names):
        row = survey[layout.SURVEY_HEAD + layout.SURVEY_NODE * i :][: layout.SURVEY_NODE]
        R, p = dynamics.pose(node, q)
        w, x, y, z = row[3:7]
        turned = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])
        assert row[:3] == pytest.approx(p, abs=1e-13)
        assert turned == pytest.approx(R[:, 0], abs=1e-13)
        assert row[7:] == pytest.approx(dynamics.velocity(node, q, v), abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_rates_are_the_derivative_of_the_coordinates(seed):
    simulation = running(seed)
    q, v, h = simulation.q, simulation.v, simulation.dt
    rates = np.full(simulation.system.nq, np.nan)
    entries().rates(simulation.plant.ints, simulation.plant.floats, simulation.state, rates)
    vdot = simulation.vdot
    simulation.step()
    assert (simulation.q - q) / h == pytest.approx(rates, abs=2 * h * (1 + np.abs(vdot).max() + v @ v))


def test_rates_of_a_long_quaternion_keep_its_length_and_motion():
    simulation = running(2)
    plant, state = simulation.plant, simulation.state
    unit, long = np.zeros(simulation.system.nq), np.zeros(simulation.system.nq)
    entries().rates(plant.ints, plant.floats, state, unit)
    state[layout.S_Q : layout.S_Q + 4] *= 1.25
    entries().rates(plant.ints, plant.floats, state, long)
    assert long[:4] == pytest.approx(1.25 * unit[:4], rel=1e-14)
    assert long[4:] == pytest.approx(unit[4:], rel=1e-14)
    assert state[layout.S_Q : layout.S_Q + 4] @ long[:4] == pytest.approx(0.0, abs=1e-14)


def test_normalise_makes_unit_quaternions_and_leaves_those_that_are():
    simulation = running(3)
    plant, state = simulation.plant, simulation.state
    entries().normalise(plant.ints, plant.floats, state)
    assert np.array_equal(state, simulation.state)
    state[layout.S_Q : layout.S_Q + 4] *= 1.5
    entries().normalise(plant.ints, plant.floats, state)
    assert state == pytest.approx(simulation.state, rel=1e-15)


def stopped(q: float, v: float, command: float = 0.0) -> lj.Simulation:
    """A hinge with stops at ±1 and a drive of at most 5 N·m."""
    dof = Dof(lower=-1.0, upper=1.0, limit_stiffness=100.0, limit_damping=2.0)
    hinge = Hinge("h", "revolute", None, axes=np.array([[0.0, 0.0, 1.0]]), dofs=(dof,))
    drive = Actuator("h", "h", "servo", kp=10.0, kd=1.0, limit=5.0)
    body = Body("b", Inertia(1.0, np.zeros(3), np.eye(3)), hinge)
    simulation = lj.Simulation(validate(System("stopped", (body,), actuators=(drive,), gravity=np.zeros(3))))
    simulation.q, simulation.v = [q], [v]
    simulation.command["h"] = command
    return simulation


def switches(simulation: lj.Simulation) -> np.ndarray:
    out = np.full(simulation.plant.switches_size, np.nan)
    entries().switches(simulation.plant.ints, simulation.plant.floats, simulation.state, out)
    return out


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_switches_are_positive_just_where_a_force_is_switched_on(sign):
    stop, drive = (0, 2) if sign > 0 else (1, 3)
    for x in np.linspace(0.9, 1.1, 21):
        for rate in np.linspace(-6.0, 6.0, 13):
            simulation = stopped(sign * x, sign * rate)
            force = 100.0 * (x - 1.0) + 2.0 * rate
            acts = x > 1.0 and force > 0.0
            passive = simulation.dynamics.passive(simulation.q, simulation.v)[0]
            assert (passive != 0.0) == acts
            assert (switches(simulation)[stop] > 0.0) == acts
    assert switches(stopped(0.0, 0.0, sign * 0.4))[drive] == pytest.approx(-1.0)
    assert switches(stopped(0.0, 0.0, sign * 0.6))[drive] == pytest.approx(1.0)


def test_what_has_no_stop_and_no_limit_never_switches():
    simulation = running(1)
    assert np.all(switches(simulation) == -1.0)


def test_readiness_names_the_fault():
    simulation = running(4)
    plant, report = simulation.plant, np.zeros(2, dtype=np.int64)

    def verdict(state: np.ndarray) -> tuple[int, int]:
        entries().check(plant.ints, plant.floats, state, report)
        return int(report[0]), int(report[1])

    assert verdict(simulation.state) == (readiness.READY, -1)
    state = simulation.state
    state[layout.S_Q + 5] = np.nan
    assert verdict(state) == (readiness.NOT_A_NUMBER, 5)
    state = simulation.state
    state[layout.S_Q] += 0.5
    assert verdict(state) == (readiness.NOT_A_ROTATION, 0)
    held = stopped(0.0, 0.0)
    held.plant.floats[held.plant.parameters["hinge.h.lower"]] = 2.0
    entries().check(held.plant.ints, held.plant.floats, held.state, report)
    assert report.tolist() == [readiness.LIMITS_CROSSED, 0]
