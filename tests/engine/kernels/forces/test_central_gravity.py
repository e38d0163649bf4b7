"""A central field: Kepler's orbits, gravity-gradient libration, sums over all particles, energy, accelerometers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Body, Hinge, Inertia, System
from limberjack.engine.model.validate import validate
from tests.cases import long_only
from tests.engine.kernels.flexible.particles import Flexible, Sums, particles_of, random_flexible, random_state
from tests.engine.kernels.flexible.test_tree import SEEDS, moved, undamped
from tests.validation.figures import figure

MU = 3.986004418e14


def satellite(
    moments: np.ndarray, q0: np.ndarray, v0: np.ndarray, gradient: bool = True, mass: float = 100.0
) -> System:
    body = Body(
        "sat", Inertia(mass, np.array([0.1, 0.2, -0.1]), np.diag(moments)), Hinge("sat", "free", None, q0=q0, v0=v0)
    )
    return lj.equip(validate(System("satellite", (body,))), lj.CentralGravity(MU, gradient=gradient))


def test_kepler_orbit():
    """Period, energy, angular momentum and the vector to the perigee of an ellipse."""
    body = Body("sat", Inertia(3.0, np.zeros(3), 1e-3 * np.eye(3)), Hinge("sat", "free", None))
    a, e = 8.0e6, 0.1
    r, speed = a * (1.0 - e), np.sqrt(MU / a * (1.0 + e) / (1.0 - e))
    start = np.array([1.0, 0, 0, 0, r, 0, 0]), np.array([0, 0, 0, 0, speed * 0.6, speed * 0.8])
    made = replace(body, hinge=replace(body.hinge, q0=start[0], v0=start[1]))
    system = lj.equip(validate(System("point", (made,))), lj.CentralGravity(MU))
    steps = 2000
    simulation = lj.Simulation(system, dt=2.0 * np.pi * np.sqrt(a**3 / MU) / steps)
    energy, momentum = simulation.output["energy.total"], simulation.output["momentum"]
    figure("energy of an orbit", energy, -MU * 3.0 / (2.0 * a), unit="J", oracle="-µ m / 2a", rtol=1e-12)
    simulation.step(steps // 2)
    figure(
        "apogee after half a period",
        simulation.q[4:],
        [-a * (1.0 + e), 0, 0],
        unit="m",
        oracle="Kepler's ellipse",
        atol=1e-8 * a,
    )
    simulation.step(steps // 2)
    figure("perigee after a period", simulation.q[4:], start[0][4:], unit="m", oracle="Kepler's ellipse", atol=2e-8 * a)
    figure(
        "energy after an orbit", simulation.output["energy.total"], energy, unit="J", oracle="conservation", rtol=1e-10
    )
    figure(
        "angular momentum after an orbit",
        simulation.output["momentum"][:3],
        momentum[:3],
        unit="N·m·s",
        oracle="conservation",
        atol=1e-10 * r * speed * 3.0,
    )


def circular(r: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Start of a body that turns once an orbit, and its rate n: z away from the centre, x forward, y across."""
    n = np.sqrt(MU / r**3)
    forward, up = np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])
    R = np.column_stack([forward, np.cross(up, forward), up])
    q0 = np.concatenate([quaternion(R), [r, 0.0, 0.0]])
    return q0, np.array([0.0, n, 0.0, r * n, 0.0, 0.0]), n


def quaternion(R: np.ndarray) -> np.ndarray:
    w = 0.5 * np.sqrt(1.0 + np.trace(R))
    return np.array([w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * w))])


def test_libration_in_pitch():
    """ω² = 3 n² (I_roll - I_yaw) / I_pitch, from a fit of a sine to a small swing over two periods of it."""
    r, moments = 7.0e6, np.array([120.0, 110.0, 40.0])
    q0, v0, n = circular(r)
    expected = n * np.sqrt(3.0 * (moments[0] - moments[2]) / moments[1])
    body = Body("sat", Inertia(100.0, np.zeros(3), np.diag(moments)), Hinge("sat", "free", None, q0=q0, v0=v0))
    system = lj.equip(validate(System("gravity gradient", (body,))), lj.CentralGravity(MU))
    simulation = lj.Simulation(system, dt=2.0)
    simulation.v = v0 + np.array([0.0, 1e-4 * n, 0.0, 0.0, 0.0, 0.0])
    times, angles = [], []
    for _ in range(round(2.0 * 2.0 * np.pi / expected / 20.0)):
        simulation.step(10)
        R, p = simulation.dynamics.pose("sat", simulation.q)
        up = R.T @ (p / np.linalg.norm(p))
        times.append(simulation.time)
        angles.append(np.arctan2(-up[0], up[2]))
    found = fitted(np.array(times), np.array(angles), expected)
    figure("rate of libration in pitch", found, expected, unit="rad/s", oracle="n √(3 (I_r - I_y) / I_p)", rtol=1e-5)


def fitted(t: np.ndarray, y: np.ndarray, guess: float) -> float:
    """The rate of the sine through y(t), by Newton's steps on a linear fit."""
    rate = guess
    for _ in range(20):
        basis = np.column_stack([np.cos(rate * t), np.sin(rate * t)])
        (a, b), *_ = np.linalg.lstsq(basis, y, rcond=None)
        slope = t * (b * np.cos(rate * t) - a * np.sin(rate * t))
        change = np.linalg.lstsq(np.column_stack([basis, slope]), y - basis @ [a, b], rcond=None)[0][2]
        rate += change
    return rate


class Field:
    """The potential of all particles of a system in a central field, to second order about each body's centre."""

    def __init__(self, made: Flexible, central: lj.CentralGravity) -> None:
        self._sums, self._made, self._central = Sums(made), made, central
        self._sizes = [
            len(made.clouds[body.hinge.parent].mass) if body.hinge.modes is not None else 6
            for body in made.system.bodies
            if body.inertia.mass > 0.0
        ]

    def energy(self, q: np.ndarray) -> float:
        masses, places = self._sums.points(q)
        total, start = 0.0, 0
        for size in self._sizes:
            m, x = masses[start : start + size], places[start : start + size] - self._central.position
            start += size
            c = m @ x / m.sum()
            r, d = np.linalg.norm(c), x - c
            total -= self._central.mu * m.sum() / r
            if self._central.gradient:
                total -= 0.5 * self._central.mu / r**5 * (3.0 * m @ (d @ c) ** 2 - r * r * m @ np.sum(d * d, axis=1))
        return float(total)


def near(
    seed: int, gradient: bool = True, curved: float = 0.1
) -> tuple[Flexible, lj.CentralGravity, np.ndarray, np.ndarray]:
    """A random flexible system a few of its sizes away from a strong centre."""
    rng = np.random.default_rng(seed)
    made = random_flexible(rng, curved)
    central = lj.CentralGravity(3.0e3, np.array([3.0, -14.0, 5.0]), gradient)
    system = lj.equip(made.system, central)
    return Flexible(system, made.clouds), central, *random_state(system, rng, 0.02)


@pytest.mark.parametrize("gradient", [True, False])
@pytest.mark.parametrize("seed", [*SEEDS[:3], *long_only(SEEDS[3:6])])
def test_forces_are_the_slopes_of_the_energy_of_all_particles(seed, gradient):
    """On hinges, the base and the modes, at rest: what inverse dynamics asks for is ∂U/∂q."""
    found, central, q, _ = near(seed, gradient, curved=0.0 if gradient else 0.1)  # as exact as the integrals are
    field, h, system = Field(found, central), 1e-4, found.system
    still = np.zeros(system.nv)
    slopes = []
    for unit in np.eye(system.nv):
        ahead, behind = (field.energy(moved(system, q, unit, t)) for t in (h, -h))
        wide = (field.energy(moved(system, q, unit, 2 * h)) - field.energy(moved(system, q, unit, -2 * h))) / (4.0 * h)
        slopes.append((4.0 * (ahead - behind) / (2.0 * h) - wide) / 3.0)
    dynamics = lj.Dynamics(system)
    expected = np.array(slopes)
    figure(
        "energy in the field",
        dynamics.energy(q, still)[1],
        field.energy(q),
        unit="J",
        oracle="sum over all particles",
        rtol=1e-9,
    )
    figure(
        "forces of the field",
        dynamics.bias(q, still),
        expected,
        oracle="slopes of the energy of all particles",
        atol=1e-8 * np.abs(expected).max(),
    )
    vdot = dynamics.forward(q, still, still)
    figure(
        "forces after forward dynamics",
        dynamics.inverse(q, still, vdot),
        still,
        oracle="inverse undoes forward",
        atol=1e-9 * np.abs(expected).max(),
    )


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_energy_and_angular_momentum_are_kept(seed):
    found, central, q, v = near(seed)
    system = replace(undamped(found.system), central=replace(central, position=np.zeros(3)))
    q[4:7] -= central.position
    drifts = [drift(system, q, 0.3 * v, dt) for dt in (2e-3, 1e-3)]
    for coarse, fine in zip(*drifts):
        figure(
            "drift of energy and momentum at half the step",
            fine,
            oracle="a share of 1/11 of that at the whole step",
            below=max(coarse / 11.0, 1e-11),
        )  # fourth order: sixteen times less


def drift(system: System, q: np.ndarray, v: np.ndarray, dt: float) -> tuple[float, float]:
    """Relative change over 0.2 s of the energy and of the angular momentum about the centre."""
    simulation = lj.Simulation(system, dt=dt)
    simulation.q, simulation.v = q, v
    energy, momentum = simulation.output["energy.total"], simulation.output["momentum"][:3]
    simulation.step(round(0.2 / dt))
    change = simulation.output["momentum"][:3] - momentum
    return abs(simulation.output["energy.total"] / energy - 1.0), float(np.abs(change).max() / np.abs(momentum).max())


def test_a_point_mass_feels_the_field_at_its_place_as_uniform_gravity_there():
    """Without gradient, at one place, a rigid tree moves as in uniform gravity; so do its accelerometers."""
    rng = np.random.default_rng(5)
    body = Body("base", Inertia(5.0, np.zeros(3), np.diag([1.0, 2.0, 2.5])), Hinge("base", "free", None))
    sensor = Sensor("felt", "accelerometer", "base")
    plain = validate(System("one", (body,), sensors=(sensor,)))
    q = np.concatenate([[1.0, 0, 0, 0], rng.normal(size=3)])
    v = rng.normal(size=6)
    at = q[4:] - np.array([0.0, 0.0, 50.0])
    g = -700.0 * at / np.linalg.norm(at) ** 3
    found = []
    for system in (
        lj.equip(plain, lj.CentralGravity(700.0, np.array([0.0, 0.0, 50.0]), gradient=False)),
        replace(plain, gravity=g),
    ):
        simulation = lj.Simulation(system)
        simulation.q, simulation.v = q, v
        found.append(np.concatenate([simulation.vdot, simulation.output["felt"]]))
    figure("accelerations in a field without gradient", found[0], found[1], oracle="uniform gravity", atol=1e-12)


def test_a_body_at_the_centre_is_refused():
    body = Body("ball", Inertia(1.0, np.zeros(3), np.eye(3)), Hinge("ball", "free", None))
    with pytest.raises(lj.ModelError, match="starts at the centre of the central field"):
        lj.Simulation(lj.equip(validate(System("ball", (body,))), lj.CentralGravity(1e3)))


def test_particles_of_a_rigid_body_near_the_centre():
    """Force and moment of the field to second order of a body's size, against all of its particles far away."""
    rng = np.random.default_rng(2)
    moments = np.array([3.0, 4.0, 5.0])
    q = np.concatenate([rng.normal(size=4), [300.0, 200.0, -400.0]])
    q[:4] /= np.linalg.norm(q[:4])
    system = satellite(moments, q, np.zeros(6), mass=2.0)
    dynamics = lj.Dynamics(system)
    R, p = dynamics.pose("sat", q)
    m, r = particles_of(system.bodies[0].inertia)
    x = p + r @ R.T
    pulls = -MU * m[:, None] * x / np.linalg.norm(x, axis=1)[:, None] ** 3
    force, moment = R.T @ pulls.sum(axis=0), R.T @ np.cross(x - p, pulls).sum(axis=0)
    asked = -dynamics.bias(q, np.zeros(6))
    size = np.linalg.norm(force)
    figure("force of the field", asked[3:], force, unit="N", oracle="sum over all particles", atol=1e-7 * size)
    about = asked[:3] - np.cross(system.bodies[0].inertia.com, asked[3:])
    truth = moment - np.cross(system.bodies[0].inertia.com, force)
    figure(
        "moment of the field",
        about,
        truth,
        unit="N·m",
        oracle="sum over all particles",
        atol=1e-2 * np.abs(truth).max(),
    )  # the next order: size / distance
