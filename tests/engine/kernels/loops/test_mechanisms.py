"""Simulated mechanisms against published solutions, closed forms and, where there are none, the dense reference.

Steps are RK4: errors fall with the fourth power of the step, which is asked where a closed form is at hand.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import limberjack as lj
from tests.engine.kernels.loops.mechanisms import bars, lines, spatial, squeezer
from tests.engine.kernels.loops.mechanisms.parts import OneFreedom
from tests.engine.kernels.loops.oracle import Oracle
from tests.validation.figures import figure

METHODS = ("embed", "force")
#: residuals that a step leaves: the contract
CLOSED = {"embed": 1e-10, "force": 1e-8}


def coordinate(sim: lj.Simulation, name: str) -> float:
    return float(sim.q[sim.system.coordinate_names.index(name)])


def rate(sim: lj.Simulation, name: str) -> float:
    return float(sim.v[sim.system.velocity_names.index(name)])


def errors(system: lj.System, freedom: OneFreedom, name: str, until: float, steps: tuple[float, ...]) -> list[float]:
    """Largest error of the coordinate at `until`, a tenth before, …, for each size of step."""
    start = lj.Simulation(system)
    times = np.linspace(0.1, 1.0, 10) * until
    expected = freedom.motion(coordinate(start, name), rate(start, name), times)
    found = []
    for dt in steps:
        sim, worst = lj.Simulation(system, dt=dt), 0.0
        for x, u in expected:
            sim.step(round(0.1 * until / dt))
            worst = max(worst, abs(coordinate(sim, name) - x), abs(rate(sim, name) - u))
        found.append(worst)
    return found


#: with the larger of two steps, which brings a crank 6 to 10 mrad further: above, higher orders still count
FREEDOMS = {
    "four-bar": (lambda m: bars.four_bar(m, rate=6.0), bars.four_bar_freedom(), "crank", 1.0, 1e-3),
    "four-bar by a point": (
        lambda m: bars.four_bar(m, rate=6.0, cut="point"),
        bars.four_bar_freedom(),
        "crank",
        1.0,
        1e-3,
    ),
    "slider-crank": (lambda m: bars.slider_crank(m, rate=20.0), bars.slider_crank_freedom(), "crank", 1.0, 5e-4),
    "parallelogram": (
        lambda m: bars.parallelogram(m, theta=2.0, rate=0.0),
        bars.parallelogram_freedom(),
        "rocker0",
        0.5,
        2e-3,
    ),
    "scissor": (lambda m: lines.scissor(m, 5), lines.scissor_freedom(5), "up0", 0.4, 4e-3),
    "governor": (
        lambda m: spatial.governor(m, rate=0.5),
        spatial.governor_freedom(6.0 * spatial.governor_spin_inertia(0.5).real),
        "left",
        1.0,
        2e-3,
    ),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", FREEDOMS)
def test_closed_forms_with_the_order_of_the_integrator(name, method):
    make, freedom, angle, until, dt = FREEDOMS[name]
    coarse, fine = errors(make(method), freedom, angle, until, (dt, 0.5 * dt))
    figure("error of angle and rate at the finer step", fine, oracle="closed form of one freedom", below=1e-6)
    figure("error at the step over that at half of it", coarse / fine, oracle="fourth order: 16", above=12.0)


@pytest.mark.parametrize("method", METHODS)
def test_squeezer_starts_as_published(method):
    system = squeezer.squeezer(method)
    tau = squeezer.torques(system, system.q0)
    found = lj.Dynamics(system).forward(system.q0, system.v0, tau)
    expected = [squeezer.START_RATES.get(name, 0.0) for name in system.velocity_names]
    figure(
        "Andrews' squeezer: accelerations at the start",
        found,
        expected,
        unit="rad/s²",
        oracle="published",
        atol=1e-9 * 14222,
    )


@pytest.mark.parametrize("method", METHODS)
def test_squeezer_ends_as_published(method):
    """The engine's accelerations in scipy's eighth-order integrator. See `test_mechanism_models` for the tolerance."""
    system = squeezer.squeezer(method)
    dynamics, n = lj.Dynamics(system), system.nq

    def slope(_t: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:n], y[n:]
        return np.concatenate([v, dynamics.forward(q, v, squeezer.torques(system, q))])

    y0 = np.concatenate([system.q0, system.v0])
    y = solve_ivp(slope, (0.0, squeezer.END_TIME), y0, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    figure(
        "Andrews' squeezer: angles at 0.03 s", y[:n], squeezer.end(system), unit="rad", oracle="published", atol=2e-9
    )


@pytest.mark.parametrize("method", METHODS)
def test_squeezer_stepped_with_its_spring(method):
    """The spring acts in a strut whose mass, 1e-4 of the mechanism's lightest part, and the step leave 1e-3 rad."""
    system = squeezer.squeezer(method, strut=4e-7)
    sim = lj.Simulation(system, dt=2e-6)
    sim.step(15000)
    angles = np.array([coordinate(sim, name) for name in squeezer.NAMES])
    figure("Andrews' squeezer stepped with its spring", angles, squeezer.END, unit="rad", oracle="published", atol=1e-3)
    figure(
        "gap of the loops",
        np.abs(Oracle(system).gaps(sim.q)).max(),
        unit="m, rad",
        oracle="closed",
        below=CLOSED[method],
    )


@pytest.mark.parametrize("method", METHODS)
def test_double_four_bar_of_the_benchmark_library(method):
    """Where B0 is after 10 s and how it moves: extrapolated from the values that Exudyn's public test model
    "fourBarMechanismIftomm" lists for steps of 1e-3 to 1.25e-4 s (second order); and in closed form. The extrapolated
    numbers differ from the closed form by up to 4.3e-8, which is their error. The mechanism passes its flat position
    twenty times, where it could fold; each time may cost 1e-9 of its kinetic energy of 70 J, in the end 3e-7 of spin.
    """
    sim = lj.Simulation(bars.parallelogram(method, windows=2), dt=5e-4)
    sim.step(20000)
    angle, spin = coordinate(sim, "rocker0"), rate(sim, "rocker0")
    place = [np.cos(angle), np.sin(angle), -np.sin(angle) * spin, np.cos(angle) * spin]
    listed = [0.3284580986, 0.9445185427, 1.423051428, -0.4948688096]
    figure(
        "double four-bar: place and rate of B0",
        place,
        listed,
        oracle="Exudyn's published model, extrapolated",
        atol=4.3e-8 + 3e-7,
    )
    expected = bars.parallelogram_freedom(2).motion(0.5 * np.pi, -1.0, [10.0])[0]
    figure("double four-bar: angle and spin after 10 s", [angle, spin], expected, oracle="closed form", atol=3e-7)


@pytest.mark.parametrize("method", METHODS)
def test_pens_stay_on_their_lines(method):
    sim = lj.Simulation(lines.scott_russell(method))
    sim.step(2000)
    x, y, _ = sim.output["pen.position"]
    assert abs(x) < CLOSED[method]
    assert abs(y - 0.5 * np.sin(coordinate(sim, "crank"))) < CLOSED[method]
    sim = lj.Simulation(lines.peaucellier(method, rate=2.0))
    heights = []
    for _ in range(20):
        sim.step(10)
        x, y, _ = sim.output["pen.position"]
        heights.append(y)
        assert abs(x - (0.5**2 - 0.2**2) / 0.44) < CLOSED[method]
    assert np.ptp(heights) > 0.05


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cells", [2, 5])
def test_scissors_stay_in_shape(method, cells):
    sim = lj.Simulation(lines.scissor(method, cells))
    for expected, _ in lines.scissor_freedom(cells).motion(0.5, 0.6, 0.02 * np.arange(1, 11)):
        sim.step(20)
        angle = coordinate(sim, "up0")
        assert angle == pytest.approx(expected, abs=1e-9)
        right, left = sim.output["top right.position"], sim.output["top left.position"]
        np.testing.assert_allclose(right, [np.cos(angle), cells * np.sin(angle), 0.0], atol=10 * CLOSED[method])
        np.testing.assert_allclose(left, [0.0, cells * np.sin(angle), 0.0], atol=10 * CLOSED[method])


@pytest.mark.parametrize("method", METHODS)
def test_bennett_stays_on_its_curve(method):
    sim = lj.Simulation(spatial.bennett(method, rate=1.0))
    alpha, beta = spatial.BENNETT[2:]
    ratio = np.sin(0.5 * (beta + alpha)) / np.sin(0.5 * (beta - alpha))
    energy = sum(sim.dynamics.energy(sim.q, sim.v))
    for _ in range(40):
        sim.step(50)
        q = sim.q
        figure(
            "Bennett's linkage: product of tangents",
            np.tan(0.5 * q[0]) * np.tan(0.5 * q[1]),
            ratio,
            oracle="closed form",
            rtol=1e-7,
        )
        figure("Bennett's linkage: opposite angles", q[2], -q[0], unit="rad", oracle="closed form", atol=1e-7)
        figure(
            "Bennett's linkage: energy",
            sum(sim.dynamics.energy(q, sim.v)),
            energy,
            unit="J",
            oracle="conservation",
            atol=1e-7,
        )


@pytest.mark.parametrize("method", METHODS)
def test_bricard_as_the_benchmark_asks(method):
    """Ten seconds: the closed form of its angles and the energy, which the benchmark's error measure is; the motion of
    the first half second is that of the dense reference."""
    sim = lj.Simulation(spatial.bricard(method))
    oracle = Oracle(sim.system)
    expected = oracle.motion(sim.q, sim.v, 0.5)[0][-1]
    sim.step(500)
    figure("Bricard's mechanism: first half second", sim.q, expected, oracle="dense reference", atol=1e-8)
    for _ in range(95):
        sim.step(100)
        a, b = np.sin(sim.q[:2])
        figure("Bricard's mechanism: its angles' closed form", abs(a * b + a + b), oracle="zero", below=1e-7)
        figure(
            "Bricard's mechanism: energy",
            sum(sim.dynamics.energy(sim.q, sim.v)),
            -29.43,
            unit="J",
            oracle="the benchmark's",
            atol=1e-5,
        )
    assert np.abs(oracle.gaps(sim.q)).max() < CLOSED[method]


@pytest.mark.parametrize("method", METHODS)
def test_a_planetary_gear_turns_as_willis_says(method):
    system = spatial.planetary(method, rates=(3.0, 1.0))
    torques = {"sun": 0.7, "carrier": -0.4, "ring": 0.3}
    tau = np.array([torques.get(name, 0.0) for name in system.velocity_names])
    expected = spatial.planetary_accelerations(torques)
    found = lj.Dynamics(system).forward(system.q0, system.v0, tau)
    figure(
        "planetary gear: accelerations",
        found,
        [expected[n] for n in system.velocity_names],
        unit="rad/s²",
        oracle="Willis' equation",
        rtol=1e-11,
    )
    sim = lj.Simulation(system)
    sim.step(1000)
    zs, _, zr = spatial.TEETH
    sun, carrier, ring = (rate(sim, name) for name in ("sun", "carrier", "ring"))
    figure(
        "planetary gear: rates after 1 s",
        zs * (sun - carrier),
        -zr * (ring - carrier),
        unit="rad/s",
        oracle="Willis' equation",
        rtol=1e-12,
    )
