"""Contacts against the literature: a rocking block, a coin, a tippe top, Painlevé's rod, orders of convergence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import limberjack as lj
from tests.engine.contacts.scenes import FLOOR, ball, box, free, scene, sensors, solid_box, sphere
from tests.validation.figures import figure

G = 9.80665


def turned(simulation: lj.Simulation, axis: int, angle: float) -> None:
    """Turn the only body about one of its axes, where it is."""
    q = simulation.q
    q[:4] = 0.0
    q[0], q[1 + axis] = math.cos(0.5 * angle), math.sin(0.5 * angle)
    simulation.q = q


def upright(q: np.ndarray) -> np.ndarray:
    """The body's z axis in the inertial frame."""
    w, x, y, z = q[:4]
    return np.array([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)])


def test_a_rocking_block_loses_what_housner_says(tmp_path):
    """It falls in the quarter period of its pendulum; each impact keeps 1 - 3/2 sin²α of the rate (Housner 1963)."""
    size, mass, dt = (0.2, 0.4, 1.0), 10.0, 2.5e-4
    slope = math.atan(size[0] / size[2])
    start, p2 = 0.4 * slope, 3.0 * G / (2.0 * math.hypot(size[0], size[2]))
    height = 0.5 * (size[0] * math.sin(start) + size[2] * math.cos(start))
    law = "{name: c, first: floor, second: block, friction: 1.0}"
    block = free("block", mass, solid_box(size, mass), (0, 0, height))
    simulation = lj.Simulation(scene(tmp_path, [block], [FLOOR, box("block", size)], [law]), dt=dt)
    turned(simulation, 1, start)
    run = []
    for _ in range(round(2.5 / dt)):
        simulation.step()
        run.append((simulation.time, 2.0 * math.atan2(simulation.q[2], simulation.q[0]), simulation.v[1]))
    time, angle, rate = np.array(run).T
    impacts = np.nonzero(angle[1:] * angle[:-1] < 0.0)[0]
    fall = solve_ivp(
        lambda _, y: [y[1], -p2 * math.sin(slope - y[0])], (0, 1), [start, 0.0], events=lambda _, y: y[0], rtol=1e-11
    )
    figure("first quarter period", time[impacts[0]], fall.t_events[0][0], unit="s", oracle="pendulum", atol=2.0 * dt)
    # rates a few steps away, referred to the upright block by the energy of the pendulum
    square = rate**2 - 2.0 * p2 * (math.cos(slope) - np.cos(slope - np.abs(angle)))
    kept = np.sqrt(square[impacts + 8] / square[impacts - 4])
    assert len(kept) >= 5
    figure("rate kept in an impact", kept, 1.0 - 1.5 * math.sin(slope) ** 2, oracle="Housner 1963", rtol=3e-3)


@pytest.mark.parametrize("degrees", [20.0, 45.0])
def test_a_spinning_coin_precesses_in_closed_form(tmp_path, degrees):
    """A thin disc whose centre stands still rolls around at Ω² = 4 g / (r sin α), at the angle it has."""
    r, thick, mass, slope, dt = 0.05, 1e-4, 0.05, math.radians(degrees), 2.5e-4
    law = "{name: c, first: floor, second: coin, friction: 0.5}"
    shape = f"{{body: coin, type: cylinder, radius: {r}, length: {thick}, name: coin}}"
    moment = 0.25 * mass * r * r
    height = r * math.sin(slope) + 0.5 * thick * math.cos(slope)
    coin = free("coin", mass, (moment, moment, 2.0 * moment), (0, 0, height))
    simulation = lj.Simulation(scene(tmp_path, [coin], [FLOOR, shape], [law]), dt=dt)
    turned(simulation, 1, slope)
    turns = math.sqrt(4.0 * G / (r * math.sin(slope)))
    simulation.v = np.array([turns * math.sin(slope), 0, 0, 0, 0, 0])
    energy, axes = [simulation.survey()[2]], []
    for _ in range(2000):
        simulation.step()
        axes.append(upright(simulation.q))
        energy.append(simulation.survey()[2])
    around = np.unwrap([math.atan2(axis[1], axis[0]) for axis in axes])
    found = abs(around[-1] - around[0]) / (1999 * dt)
    figure("rate of precession", found, turns, unit="rad/s", oracle="Ω² = 4 g / (r sin α)", rtol=5e-4)
    tilt = np.arccos([axis[2] for axis in axes])
    figure("inclination of a coin", tilt, slope, unit="rad", oracle="steady rolling", atol=5e-4)
    figure("energy that a step adds", max(0.0, np.diff(energy).max()) / energy[0], oracle="never any", below=1e-12)


#: of the tippe top: radius, centre of mass below the ball's centre, mass, moment, friction, spin, tilt
R, LOW, MASS, MU, SPIN, TILT = 0.02, 0.004, 0.02, 0.3, 150.0, 0.1
MOMENT, SMOOTH = 0.4 * MASS * R * R, 1e-4


def top_rates(_: float, y: np.ndarray) -> np.ndarray:
    """The equations of a gliding tippe top, as Cohen (1977): q, ω and v of the centre of mass, in inertial axes.

    Friction is smooth below SMOOTH, m/s.
    """
    q, w, v = y[:4] / np.linalg.norm(y[:4]), y[4:7], y[7:]
    axis = upright(q)
    arm = LOW * axis - [0.0, 0.0, R]
    slip = (v + np.cross(w, arm))[:2]
    push = np.append(-MU * slip / math.sqrt(slip @ slip + SMOOTH**2), 1.0)
    lift = push[2] / MASS + LOW * np.cross(np.cross(arm, push) / MOMENT, axis)[2]
    force = push * (G - LOW * np.cross(w, np.cross(w, axis))[2]) / lift
    turn = 0.5 * np.append(-w @ q[1:], q[0] * w + np.cross(w, q[1:]))
    return np.concatenate([turn, np.cross(arm, force) / MOMENT, force / MASS - [0.0, 0.0, G]])


def test_a_tippe_top_glides_as_the_equations_of_the_literature(tmp_path):
    """Its inclination against Cohen's equations, integrated independently; Jellett's integral is kept."""
    last, dt = 1.2, 2.5e-4
    start = [math.cos(0.5 * TILT), math.sin(0.5 * TILT), 0, 0]
    axis = np.array([0.0, -math.sin(TILT), math.cos(TILT)])
    first = np.concatenate([start, SPIN * axis, np.zeros(3)])
    wanted = solve_ivp(top_rates, (0, last), first, method="LSODA", rtol=1e-8, atol=1e-11, dense_output=True).sol
    law = f"{{name: c, first: floor, second: top, friction: {MU}}}"
    top = free("top", MASS, [MOMENT] * 3, (0, 0, R)).replace(", inertia", f", com: [0, 0, {-LOW}], inertia", 1)
    simulation = lj.Simulation(scene(tmp_path, [top], [FLOOR, sphere("top", R)], [law]), dt=dt)
    turned(simulation, 0, TILT)
    simulation.v = np.array([0, 0, SPIN, 0, 0, 0])
    found, expected, jellett = [], [], []
    while simulation.time < last:
        simulation.step(40)
        there = wanted(simulation.time)[:4]
        found.append(math.acos(upright(simulation.q)[2]))
        expected.append(math.acos(upright(there / np.linalg.norm(there))[2]))
        up = 2.0 * (simulation.q[1] * simulation.q[3] - simulation.q[0] * simulation.q[2])
        to_contact = np.array([up, 2.0 * (simulation.q[2] * simulation.q[3] + simulation.q[0] * simulation.q[1]), 0.0])
        to_contact[2] = upright(simulation.q)[2]
        jellett.append(simulation.v[:3] @ (R * to_contact - [0.0, 0.0, LOW]))
    figure("inclination of a tippe top", found, np.array(expected), unit="rad", oracle="Cohen 1977, SciPy", atol=2e-3)
    scale = SPIN * (R - LOW * math.cos(TILT))
    figure("Jellett's integral", np.array(jellett) / jellett[0], 1.0, oracle="SPIN (R - a cos θ)", rtol=1e-3)
    assert abs(jellett[0] / scale - 1.0) < 1e-2


@pytest.mark.parametrize("friction", [2.0, 5.0])
@pytest.mark.parametrize("degrees", [30.0, 60.0, 75.0])
def test_painleves_rod_stays_finite(tmp_path, friction, degrees):
    """A rod that slides on its tip where rigid bodies have no solution (µ > 4/3): forces and energy stay bounded."""
    length, radius, slope, speed = 1.0, 0.005, math.radians(degrees), 5.0
    law = f"{{name: c, first: floor, second: rod, friction: {friction}}}"
    shape = f"{{body: rod, type: capsule, radius: {radius}, length: {length}, name: rod}}"
    rod = free("rod", 1.0, (length**2 / 12.0, length**2 / 12.0, 1e-4), (0, 0, radius + 0.5 * length * math.sin(slope)))
    for way in (1.0, -1.0):
        simulation = lj.Simulation(scene(tmp_path, [rod], [FLOOR, shape], [law], sensors("c")))
        lean = 0.5 * math.pi - slope
        turned(simulation, 1, lean)
        simulation.v = way * speed * np.array([0, 0, 0, math.cos(lean), 0, math.sin(lean)])
        start = simulation.survey()[2]
        energy, force = start, 0.0
        for _ in range(1000):
            simulation.step()
            energy = max(energy, simulation.survey()[2])
            force = max(force, float(np.linalg.norm(simulation.output["force"])))
        figure("most energy of Painlevé's rod", energy / start, oracle="bounded by that at first", below=1.0 + 1e-6)
        # an impact with all its momentum within a step, and its friction
        figure("largest force on it", force, unit="N", oracle="2 m v / h", below=2.0 * speed / 1e-3)


@pytest.mark.parametrize(("integrator", "order"), [("rk4", 2.0), ("semi_implicit", 1.0), ("implicit", 1.0)])
def test_orders_of_convergence_in_an_impact(tmp_path, integrator, order):
    """Hertz' impact with dissipation on its way in, against its equation: errors over steps of T/50 to T/400."""
    k, dissipation = 1.0e7, 0.3
    span = 0.35 * 2.9432 * (1.25 / k) ** 0.4
    wanted = solve_ivp(
        lambda _, y: [y[1], k * max(-y[0], 0.0) ** 1.5 * (1.0 - dissipation * y[1])],
        (0, span), [0.0, -1.0], method="DOP853", rtol=1e-12, atol=1e-16,
    ).y[:, -1]  # fmt: skip
    law = f"{{name: c, first: floor, second: ball, stiffness: {k}, exponent: 1.5, dissipation: {dissipation}}}"
    body = ball("ball", (0, 0, 0.1), "{vz: -1.0}")
    system, errors = scene(tmp_path, [body], [FLOOR, sphere("ball")], [law], "gravity: [0, 0, 0]\n"), []
    for parts in (50, 100, 200, 400):
        simulation = lj.Simulation(system, dt=span / parts, integrator=integrator)
        simulation.step(parts)
        errors.append([abs(simulation.q[6] - 0.1 - wanted[0]), abs(simulation.v[5] - wanted[1])])
    found = np.log2(np.array(errors)[:-1] / np.array(errors)[1:])[-1]
    figure("order of convergence in an impact", found, order, oracle="the contact's equation, SciPy", atol=0.1)
