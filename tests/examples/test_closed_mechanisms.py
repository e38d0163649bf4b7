"""The example mechanisms: they load closed, stay closed, conserve what they must, and agree with closed forms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

import limberjack as lj
from tests.engine.kernels.loops.agreement import check_forward, close
from tests.engine.kernels.loops.oracle import Oracle
from tests.examples.models import CLOSED, GAP, by, energies, gap, load, place, text

BOTH = [name for name in CLOSED if name != "satellite_grasp"]


def some_motion(system: lj.System, oracle: Oracle, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Velocities that the loops allow, of the order of 0.3 rad/s or m/s, and forces of order one."""
    N = oracle.null_space(system.q0)
    return system.q0, 0.3 * N @ rng.normal(size=N.shape[1]), rng.normal(size=system.nv)


@pytest.mark.parametrize("name", CLOSED)
def test_loads_closed_and_without_warnings(name: str) -> None:
    system = load(name)
    assert system.warnings == ()
    assert gap(Oracle(system), system.q0) < 1e-12
    rows = Oracle(system).rows(system.q0, system.v0, {loop.name: loop.initial for loop in system.loops})
    assert np.abs(rows.C @ system.v0 - rows.rate).max(initial=0.0) < 1e-10


@pytest.mark.parametrize("method", ["embed", "force"])
@pytest.mark.parametrize("name", BOTH)
def test_both_methods_agree_with_the_dense_reference(name: str, method: str) -> None:
    system = by(load(name), method)
    oracle = Oracle(system)
    for seed in range(3):
        check_forward(system, oracle, *some_motion(system, oracle, np.random.default_rng(seed)))


@pytest.mark.parametrize("method", ["embed", "force"])
@pytest.mark.parametrize("name", BOTH)
def test_stays_closed(name: str, method: str) -> None:
    system = by(load(name), method)
    simulation, oracle = lj.Simulation(system), Oracle(system)
    for _ in range(5):
        simulation.step(100)
        assert gap(oracle, simulation.q) < GAP[method]


def test_four_bar_cut_at_a_hinge_and_cut_inside_a_body_move_alike() -> None:
    """They differ by the integrator's error in the coordinates that only one of them has, which falls with dt⁴."""
    terminal, internal = (lj.Simulation(load(name), dt=2.5e-4) for name in ("four_bar", "four_bar_internal"))
    for _ in range(100):
        terminal.step(40)
        internal.step(40)
        np.testing.assert_allclose(internal.q[:3], terminal.q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(internal.v[:3], terminal.v, rtol=0, atol=1e-9 * np.abs(terminal.v).max())


def test_four_bar_moves_alike_whichever_coordinate_is_independent() -> None:
    """The rocker has two dead points a turn: there another coordinate takes its place. Which one is held while the loop
    is closed again moves the mechanism along its motion by a share of the step's error: they differ by less than a
    smaller step makes different, and by dt⁴."""
    system, apart, motions = by(load("four_bar"), "embed"), [], []
    systems = system, replace(system, loops=(replace(system.loops[0], independent=("rocker",)),))
    for steps in (10, 20):
        simulations = [lj.Simulation(wanted, dt=0.01 / steps) for wanted in systems]
        motions.append(np.array([[_moved(simulation, steps) for simulation in simulations] for _ in range(100)]))
        apart.append(np.abs(motions[-1][:, 1] - motions[-1][:, 0]).max())
    assert motions[0][-1, 0, 0] > 2.0 * np.pi
    assert apart[0] < np.abs(motions[1] - motions[0]).max()
    assert apart[1] < apart[0] / 8.0


def _moved(simulation: lj.Simulation, steps: int) -> np.ndarray:
    simulation.step(steps)
    return simulation.q


@pytest.mark.parametrize("name", ["four_bar", "four_bar_internal"])
def test_energy_of_the_four_bar_drifts_at_the_order_of_the_integrator(name: str) -> None:
    drift = []
    for dt in (2e-3, 1e-3):
        simulation = lj.Simulation(load(name), dt=dt)
        first = energies(simulation)
        simulation.step(round(1.0 / dt))
        drift.append(abs(energies(simulation) / first - 1.0))
    assert drift[1] < 1e-6
    assert drift[1] < drift[0] / 12.0


def test_weld_inside_the_coupler_carries_its_internal_load() -> None:
    """Newton and Euler of the coupler's rear half: weld, pin reaction and weight make its momentum change."""
    system = load("four_bar_internal")
    simulation = lj.Simulation(system)
    simulation.step(37)
    q, v, vdot = simulation.q, simulation.v, simulation.vdot
    oracle = Oracle(system).solve(q, v, simulation.tau)
    carried = simulation.output["coupler_load"]
    # in the plane of the linkage nothing is redundant: moment about y, forces along x and z
    scale = float(np.abs(oracle.loop["cut"]).max())
    np.testing.assert_allclose(carried[[1, 3, 5]], oracle.loop["cut"][[1, 3, 5]], rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(vdot, oracle.vdot, rtol=0, atol=1e-9 * np.abs(oracle.vdot).max())


def test_geared_arm_has_the_reflected_inertia_of_its_rotors(tmp_path: Path) -> None:
    """M = M(rotors held) + Σ J (g g* + g w* + w g*): rotor of inertia J, geared by g to the joints, on a carrier that
    turns along its axis by w. All axes are parallel, so nothing gyroscopic is added."""
    held = text("geared_arm")
    for body in held["bodies"]:
        if body["name"].endswith("_rotor"):
            body["hinge"] = {k: body["hinge"][k] for k in ("name", "parent", "position")} | {"type": "fixed"}
    held |= {"loops": [], "actuators": [], "sensors": []}
    (tmp_path / "held.yaml").write_text(yaml.safe_dump(held))
    arm, system = lj.Dynamics(lj.load(tmp_path / "held.yaml")), load("geared_arm")
    joints = ["shoulder", "elbow", "pitch", "roll"]
    assert list(arm.system.velocity_names) == joints
    g = np.array([[100.0, 0, 0, 0], [0, 80.0, 0, 0], [0, 0, 50.0, 50.0], [0, 0, 50.0, -50.0]])
    w = np.array([[0.0, 0, 0, 0], [1.0, 0, 0, 0], [1.0, 1, 0, 0], [1.0, 1, 0, 0]])
    J = np.array([1.2e-4, 0.8e-4, 2.0e-5, 2.0e-5])
    rng = np.random.default_rng(5)
    q, v, tau = rng.uniform(-1, 1, 4), rng.normal(size=4), 10.0 * rng.normal(size=4)
    M = arm.mass_matrix(q) + sum(j * (np.outer(a, a) + np.outer(a, b) + np.outer(b, a)) for j, a, b in zip(J, g, w))
    expected = np.linalg.solve(M, tau - arm.bias(q, v))
    at = [system.velocity_names.index(name) for name in joints]
    motors = [system.velocity_names.index(f"{name}_motor") for name in ("shoulder", "elbow", "left", "right")]
    whole = np.zeros((3, system.nv))
    whole[:, at], whole[:2, motors] = (q, v, tau), (g @ q, g @ v)
    close(lj.Dynamics(system).forward(*whole)[at], expected)
    assert M[0, 0] - arm.mass_matrix(q)[0, 0] == pytest.approx(100.0**2 * 1.2e-4)  # what `armature` would say


def test_stewart_platform_struts_are_those_of_the_inverse_kinematics() -> None:
    """Strut lengths of the simulation against |p + R b - a| from the pose of the platform and the file's numbers."""
    system, data = load("stewart_platform"), text("stewart_platform")
    feet = np.array([body["hinge"]["position"] for body in data["bodies"] if body["name"].startswith("barrel")])
    balls = np.array([loop["to"]["position"] for loop in data["loops"]])
    middle = np.array([loop["from"]["position"][2] for loop in data["loops"]])
    struts = [place(system, f"strut_{i}") for i in range(1, 7)]
    simulation = lj.Simulation(system)
    for i in range(6):
        simulation.command[f"strut_{i + 1}"] = 0.05 * np.cos(i)
    for _ in range(10):
        simulation.step(50)
        R, p = simulation.dynamics.pose("platform", simulation.q)
        lengths = np.linalg.norm(p + balls @ R.T - feet, axis=1)
        np.testing.assert_allclose(simulation.q[struts], lengths - middle, rtol=0, atol=1e-9)
    assert np.ptp(simulation.q[struts]) > 0.05


def test_delta_robot_is_where_three_spheres_meet() -> None:
    """The platform does not turn, and is 0.8 m from the three elbows, each moved inward by the platform's radius."""
    system = load("delta_robot")
    simulation = lj.Simulation(system)
    for i, actuator in enumerate(system.actuators):
        simulation.command[actuator.name] = 0.35 + 0.2 * (i - 1)
    simulation.step(400)
    yaw, angle = (
        np.array([0.0, 2.0, -2.0]) * np.pi / 3.0,
        simulation.q[[place(system, f"motor_{i}") for i in (1, 2, 3)]],
    )
    reach = 0.2 - 0.05 + 0.35 * np.cos(angle)
    centres = np.column_stack([reach * np.cos(yaw), reach * np.sin(yaw), -0.35 * np.sin(angle)])
    R, p = simulation.dynamics.pose("platform", simulation.q)
    np.testing.assert_allclose(np.linalg.norm(p - centres, axis=1), 0.8, rtol=0, atol=1e-8)
    np.testing.assert_allclose(R, np.eye(3), rtol=0, atol=1e-8)
    assert np.ptp(angle) > 0.3


def test_clamp_holds_the_body_while_the_wheel_travels() -> None:
    system = load("wishbone")
    simulation = lj.Simulation(system)
    simulation.step(50)
    simulation.command["clamp.closed"] = 1.0
    simulation.step()
    heave = simulation.q[place(system, "heave")]
    simulation.command["shaker"] = 0.05
    simulation.step(500)
    assert simulation.q[place(system, "heave")] == pytest.approx(heave, abs=1e-9)
    assert simulation.output["hub"][2] - 0.31 > 0.03
    assert gap(Oracle(system), simulation.q) < 1e-10


def test_two_arms_move_the_box_and_momentum_stays_zero() -> None:
    system = load("dual_arm_grasp")
    simulation = lj.Simulation(system)
    for side in ("left", "right"):
        simulation.command[f"{side}_elbow"], simulation.command[f"{side}_shoulder_pitch"] = -0.3, 0.2
    simulation.step(1500)
    moved = simulation.dynamics.pose("box", simulation.q)[1] - [0.65, 0.0, -0.15]
    assert np.linalg.norm(moved) > 0.05
    kinetic = simulation.dynamics.energy(simulation.q, simulation.v)[0]
    assert np.abs(simulation.dynamics.momentum(simulation.q, simulation.v)).max() < 1e-8 * np.sqrt(2.0 * 330.0 * 1.0)
    assert kinetic < 1.0
    assert gap(Oracle(system), simulation.q) < GAP["force"]


def test_solar_array_unfolds_in_pace_and_latches() -> None:
    system = load("solar_array")
    simulation = lj.Simulation(system)
    root, folds = place(system, "root"), [place(system, f"fold_{i}") for i in (1, 2, 3)]
    simulation.step(200)
    assert simulation.q[root] == pytest.approx(0.0, abs=1e-12)  # the hold-down
    simulation.command["hold_down.closed"] = 0.0
    while simulation.q[root] < 0.5 * np.pi and simulation.time < 60.0:
        simulation.step(20)
        np.testing.assert_allclose(simulation.q[folds], simulation.q[root] * np.array([-2, 2, -2]), rtol=0, atol=1e-10)
    before = simulation.dynamics.energy(simulation.q, simulation.v)[0]
    impact = simulation.attach("latch")
    assert impact.energy_loss == pytest.approx(before, rel=1e-6)  # no momentum, and one body: all of it is lost
    simulation.step(1000)
    assert simulation.q[root] == pytest.approx(0.5 * np.pi, abs=0.01)
    assert np.abs(simulation.v).max() < 1e-8
    assert np.abs(simulation.dynamics.momentum(simulation.q, simulation.v)).max() < 1e-7
