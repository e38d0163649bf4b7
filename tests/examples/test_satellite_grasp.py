"""The grasp: momentum through attach, motion and release; energy lost; the mission in this process and in another."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.bridge.process import EngineProcess
from limberjack.engine.model.system import Pose
from limberjack.examples import satellite_grasp
from tests.engine.kernels.loops.oracle import Oracle
from tests.examples.models import GAP, load, place


def before_contact() -> lj.Simulation:
    """The fixture 8 mm before the grasp point, the arm and both satellites in motion."""
    system = load("satellite_grasp")
    simulation = lj.Simulation(system)
    q, v = simulation.q, simulation.v
    R, p = simulation.dynamics.pose("grapple", q)
    ahead = simulation.dynamics.pose("grasp_point", q)[1] + np.array([0.008, 0.0, 0.0]) - p
    q[[place(system, f"target.{c}") for c in "xyz"]] += R.T @ ahead
    joints = [system.velocity_names.index(actuator.name) for actuator in system.actuators]
    v[joints] = 0.02 * np.array([1.0, -1.0, 0.5, -0.5, 1.0, 0.7, -0.3])
    simulation.q, simulation.v = q, v
    return simulation


def met(simulation: lj.Simulation) -> lj.System:
    """The system with the weld as the frames meet."""
    system = simulation.system
    loop = system.loops[0]
    arm, target = (Pose(*simulation.dynamics.pose(n, simulation.q)) for n in (loop.hinge.parent, loop.body))
    hinge = replace(loop.hinge, outboard=target.inverse() @ arm @ loop.hinge.inboard)
    return replace(system, loops=(replace(loop, hinge=hinge, closed=True, switchable=False),))


def momentum(simulation: lj.Simulation) -> np.ndarray:
    return simulation.dynamics.momentum(simulation.q, simulation.v)


def kinetic(simulation: lj.Simulation) -> float:
    return simulation.dynamics.energy(simulation.q, simulation.v)[0]


def test_attach_takes_relative_motion_away_and_leaves_momentum() -> None:
    simulation = before_contact()
    expected, lost = Oracle(met(simulation)).impulse(simulation.q, simulation.v)
    whole, energy = momentum(simulation), kinetic(simulation)
    impact = simulation.attach("grasp")
    assert simulation.closed("grasp")
    np.testing.assert_allclose(momentum(simulation), whole, rtol=0, atol=1e-9 * np.abs(whole).max())
    assert impact.energy_loss == pytest.approx(energy - kinetic(simulation), rel=1e-9)
    assert impact.energy_loss == pytest.approx(lost, rel=1e-9)
    assert lost > 0.01
    np.testing.assert_allclose(simulation.v, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    arm, fixture = (simulation.dynamics.velocity(n, simulation.q, simulation.v) for n in ("grasp_point", "grapple"))
    lever = np.subtract(*(simulation.dynamics.pose(n, simulation.q)[1] for n in ("grapple", "grasp_point")))
    np.testing.assert_allclose(fixture[:3], arm[:3], rtol=0, atol=1e-12)
    np.testing.assert_allclose(fixture[3:], arm[3:] + np.cross(arm[:3], lever), rtol=0, atol=1e-12)


def test_momentum_stays_while_held_and_through_release() -> None:
    simulation = before_contact()
    whole = momentum(simulation)
    held = Oracle(met(simulation))
    simulation.attach("grasp")
    for name, value in (("shoulder_roll", 0.1), ("elbow_pitch", 1.7), ("wrist_yaw", -0.1)):
        simulation.command[name] = value
    for _ in range(10):
        simulation.step(200)
        assert np.abs(held.gaps(simulation.q)).max() < GAP["force"]
        np.testing.assert_allclose(momentum(simulation), whole, rtol=0, atol=1e-9 * np.abs(whole).max())
    before = simulation.v
    simulation.release("grasp")
    np.testing.assert_array_equal(simulation.v, before)
    assert not simulation.closed("grasp")
    simulation.step(1000)
    np.testing.assert_allclose(momentum(simulation), whole, rtol=0, atol=1e-9 * np.abs(whole).max())
    assert np.abs(held.gaps(simulation.q)).max() > 1e-4


def test_asked_too_early_it_waits_until_within_reach() -> None:
    simulation = lj.Simulation(load("satellite_grasp"))
    simulation.command["grasp.closed"] = 1.0
    simulation.step(100)
    assert simulation.output["grasped"] == 0.0


@pytest.mark.long
def test_mission_grasps_moves_and_releases_here_and_over_zeromq(tmp_path: Path) -> None:
    system = load("satellite_grasp")
    log = satellite_grasp.fly(system, satellite_grasp.inside(system))
    assert tuple(log.begins) == satellite_grasp.PHASES
    before, after = log.across(satellite_grasp.BRAKING)
    let_go, apart = log.across(satellite_grasp.DRIFT)
    assert log["speed"][before] > 0.02
    held = slice(after, let_go + 1)
    assert (log["closed"][held] == 1.0).all()
    assert log["gap"][held].max() < GAP["force"]
    assert (log["closed"][apart:] == 0.0).all()
    assert log["speed"][-1] > 0.05
    whole = log["momentum"]
    np.testing.assert_allclose(whole - whole[0], 0.0, rtol=0, atol=1e-7 * np.abs(whole[0]).max())
    assert satellite_grasp.plot(log, ["joint"] * 7, tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    with EngineProcess(system) as engine, engine.client() as client:
        other = satellite_grasp.fly(system, satellite_grasp.remote(client), duration=2.0)
    for name, values in other.columns.items():
        np.testing.assert_array_equal(values, log[name][: len(values)])
