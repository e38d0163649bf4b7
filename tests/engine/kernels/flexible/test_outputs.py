"""Outputs of flexible bodies: loads at hinges by sums over all particles, motion of nodes, strain energy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Pose, System
from limberjack.engine.model.validate import validate
from limberjack.engine.tables.sensor_types import SENSOR_TYPES
from tests.engine.kernels.flexible.closed import looped, onto, rows
from tests.engine.kernels.flexible.particles import Flexible, Sums, random_flexible, random_state
from tests.engine.kernels.flexible.test_tree import coordinate_rates, moved, unit
from tests.validation.figures import figure

GRAVITY = np.array([0.3, -1.0, -9.0])
H = 3e-4  # s
SEEDS = range(4)


def later(system: System, q: np.ndarray, v: np.ndarray, vdot: np.ndarray, t: float) -> np.ndarray:
    """q after a time t at the accelerations vdot, to the second order in t: by the rates half way."""
    half = moved(system, q, v, 0.5 * t)
    return unit(system, q + t * coordinate_rates(system, half, v + 0.5 * t * vdot))


def curve(values: tuple[np.ndarray, ...]) -> np.ndarray:
    """Second derivative from values at -2h, -h, 0, h, 2h."""
    a, b, c, d, e = values
    return (-a + 16.0 * b - 30.0 * c + 16.0 * d - e) / (12.0 * H * H)


def slope(values: tuple[np.ndarray, ...]) -> np.ndarray:
    """First derivative from the same."""
    a, b, _, d, e = values
    return (a - 8.0 * b + 8.0 * d - e) / (12.0 * H)


def outboard(system: System, hinge: str) -> set[str]:
    """Names of all bodies that a hinge carries."""
    names: set[str] = set()
    for body in system.bodies:
        if body.hinge.name == hinge or body.hinge.parent in names:
            names.add(body.name)
    return names


class Motion:
    """A system with gravity at q, v, vdot, and what its particles do there."""

    def __init__(self, found: Flexible, q: np.ndarray, v: np.ndarray, vdot: np.ndarray) -> None:
        self.system = found.system
        self.dynamics, self.sums = lj.Dynamics(found.system), Sums(found)
        self.path = tuple(later(found.system, q, v, vdot, i * H) for i in range(-2, 3))
        self.q = q

    def load(self, hinge: str) -> np.ndarray:
        """[moment; force] at the hinge frame, in its axes, that moves all particles it carries: Σ m (a - g)."""
        kept = outboard(self.system, hinge)
        sets = [self.sums.points(q, kept) for q in self.path]
        mass, places = sets[2]
        forces = mass[:, None] * (curve(tuple(p for _, p in sets)) - GRAVITY)
        R, p = self.frame(hinge)
        return np.concatenate([R.T @ np.cross(places - p, forces).sum(0), R.T @ forces.sum(0)])

    def frame(self, hinge: str) -> tuple[np.ndarray, np.ndarray]:
        """The hinge's outboard frame, in inertial axes."""
        (body,) = (body for body in self.system.bodies if body.hinge.name == hinge)
        found = Pose(*self.dynamics.pose(body.name, self.q)) @ body.hinge.outboard
        return found.rotation, found.position


def scene(seed: int, curved: float, deformed: float) -> tuple[Flexible, np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    found = random_flexible(rng, curved)
    q, v = random_state(found.system, rng, deformed)
    return replace(found, system=replace(found.system, gravity=GRAVITY)), q, v, rng


def close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    tolerance *= 1.0 + np.abs(expected).max()
    figure("load, motion or energy", found, expected, oracle="sums and differences over all particles", atol=tolerance)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("hinge", ["drive", "panel.modes", "panel.node0", "elbow", "wrist", "grip", "spin"])
def test_loads_at_hinges_move_all_that_they_carry(seed, hinge):
    """Displacements linear in η: the integrals are then exact. `drive` and `wrist` carry flexible bodies, `elbow`,
    `grip` and `spin` sit on their nodes."""
    found, q, v, rng = scene(seed, 0.0, 0.2)
    vdot = rng.normal(size=found.system.nv)
    motion = Motion(found, q, v, vdot)
    close(motion.dynamics.reaction(hinge, q, v, vdot), motion.load(hinge), 1e-6)


@pytest.mark.parametrize("hinge", ["drive", "wrist"])
def test_loads_count_displacements_of_second_order(hinge):
    """Small deformation: what is left out is smaller by that."""
    found, q, v, rng = scene(7, 0.1, 1e-5)
    vdot = rng.normal(size=found.system.nv)
    motion = Motion(found, q, v, vdot)
    close(motion.dynamics.reaction(hinge, q, v, vdot), motion.load(hinge), 1e-4)


def sensed(system: System) -> System:
    """With a sensor of each kind at a node of each flexible body and on what hangs there."""
    listed = [Sensor(f"{hinge}_load", "reaction", hinge) for hinge in ("drive", "wrist", "elbow", "spin")]
    listed += [Sensor(f"{body}_strain", "strain_energy", body) for body in ("panel", "boom")]
    listed += [Sensor("first", "position", "boom.modes.1"), Sensor("first_rate", "rate", "boom.modes.1")]
    nodes = [name for name, kind in SENSOR_TYPES.items() if kind.target == "node"]
    listed += [Sensor(f"{node} {kind}", kind, node) for node in ("boom.node1", "hand", "wheel") for kind in nodes]
    return validate(replace(system, sensors=tuple(listed)))


@pytest.mark.parametrize("seed", SEEDS)
def test_sensors_at_nodes_show_their_motion(seed):
    found, q, v, _ = scene(seed, 0.1, 0.05)
    simulation = lj.Simulation(sensed(found.system))
    simulation.q, simulation.v = q, v
    out = simulation.output
    motion = Motion(found, q, v, simulation.vdot)
    for node in ("boom.node1", "hand", "wheel"):
        poses = [motion.dynamics.pose(node, at) for at in motion.path]
        R, positions = poses[2][0], tuple(p for _, p in poses)
        turning = slope(tuple(pose[0] for pose in poses)) @ R.T
        w = np.array([turning[2, 1], turning[0, 2], turning[1, 0]])
        close(out[f"{node} node_position"], positions[2], 1e-12)
        close(out[f"{node} node_linear_velocity"], slope(positions), 1e-7)
        close(out[f"{node} accelerometer"], R.T @ (curve(positions) - GRAVITY), 1e-6)
        close(out[f"{node} node_angular_velocity"], w, 1e-7)
        close(out[f"{node} gyro"], R.T @ w, 1e-7)


def strain(found: Flexible, body: str, q: np.ndarray) -> float:
    """½ η* K η of the cloud that the body was made of."""
    names = found.system.coordinate_names
    eta = q[[i for i, name in enumerate(names) if name.startswith(f"{body}.modes.")]]
    return float(0.5 * eta @ found.clouds[body].stiffness @ eta)


@pytest.mark.parametrize("seed", SEEDS)
def test_strain_energy_is_that_of_each_body_and_part_of_the_total(seed):
    found, q, v, _ = scene(seed, 0.1, 0.05)
    simulation = lj.Simulation(sensed(found.system))
    simulation.q, simulation.v = q, v
    out, each = simulation.output, [strain(found, body, q) for body in ("panel", "boom")]
    assert [out["panel_strain"], out["boom_strain"]] == pytest.approx(each, rel=1e-12)
    assert simulation.dynamics.strain_energy(q) == pytest.approx(dict(zip(("panel", "boom"), each)), rel=1e-12)
    assert out["energy.strain"] == pytest.approx(sum(each), rel=1e-12)
    assert out["energy.total"] == pytest.approx(out["energy.kinetic"] + out["energy.potential"] + sum(each), rel=1e-12)
    eta = [i for i, name in enumerate(found.system.coordinate_names) if name == "boom.modes.1"]
    rate = [i for i, name in enumerate(found.system.velocity_names) if name == "boom.modes.1"]
    assert (out["first"], out["first_rate"]) == (q[eta[0]], v[rate[0]])


def test_total_energy_is_kept_under_gravity():
    found, q, v, _ = scene(3, 0.1, 0.01)
    bodies = [
        replace(body, hinge=replace(body.hinge, dofs=tuple(replace(dof, damping=0.0) for dof in body.hinge.dofs)))
        for body in found.system.bodies
    ]
    simulation = lj.Simulation(replace(found.system, bodies=tuple(bodies)), dt=5e-4)
    simulation.q, simulation.v = q, 0.3 * v
    before, least = simulation.output["energy.total"], []
    for _ in range(10):
        simulation.step(40)
        least.append(simulation.output["energy.strain"])
    assert simulation.output["energy.total"] == pytest.approx(before, rel=1e-8)
    assert np.ptp(least) > 1e-3 * max(least)  # and what is kept goes to and fro


def test_loads_count_the_forces_of_loops():
    """The hand is tied: its hinge passes Σ m (a - g) less what the loop does, at every hinge below too."""
    system, q, v, _ = looped(1, "weld")
    system = replace(system, gravity=GRAVITY)
    free = replace(system, loops=())
    sensors = (*(Sensor(f"{h}_load", "reaction", h) for h in ("wrist", "grip")), Sensor("tie", "loop_wrench", "tie"))
    simulation = lj.Simulation(validate(replace(system, sensors=sensors)))
    v = onto(rows(system, lj.Dynamics(free), q), v)
    simulation.q, simulation.v = q, v
    dynamics, out, vdot = lj.Dynamics(free), simulation.output, simulation.vdot
    R, p = dynamics.pose("wheel", q)
    (loop,) = system.loops
    frame = Pose(*dynamics.pose("hand", q)) @ loop.hinge.inboard
    place = p + R @ loop.hinge.outboard.position
    moment, force = frame.rotation @ out["tie"][:3], frame.rotation @ out["tie"][3:]
    point = dynamics.pose("hand", q)[1]
    on_hand = {"hand": np.concatenate([-moment - np.cross(place - point, force), -force])}
    for hinge in ("wrist", "grip"):
        expected = dynamics.reaction(hinge, q, v, vdot, external=on_hand)
        close(out[f"{hinge}_load"], expected, 1e-9)


def test_a_strain_sensor_wants_a_flexible_body():
    found, *_ = scene(0, 0.0, 0.1)
    with pytest.raises(lj.ModelError, match="measures 'arm', which is not a flexible body.*'boom', 'panel'"):
        validate(replace(found.system, sensors=(Sensor("strain", "strain_energy", "arm"),)))
