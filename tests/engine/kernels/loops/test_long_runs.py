"""A minute at 1 kHz: loops stay closed to the contract's residuals, energy drifts by the integrator's order only."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import limberjack as lj
from tests.engine.kernels.loops.mechanisms import bars, lines, spatial
from tests.engine.kernels.loops.oracle import Oracle
from tests.engine.kernels.loops.test_mechanisms import CLOSED, METHODS, coordinate
from tests.validation.figures import figure

pytestmark = pytest.mark.long

#: conservative mechanisms that keep moving
MAKERS: dict[str, Callable[[str], lj.System]] = {
    "four-bar": lambda method: bars.four_bar(method, rate=8.0),
    "four-bar by a point": lambda method: bars.four_bar(method, rate=8.0, cut="point"),
    "slider-crank": lambda method: bars.slider_crank(method, rate=20.0),
    "parallelogram": lambda method: bars.parallelogram(method, windows=2),
    "Scott-Russell": lambda method: lines.scott_russell(method, rate=5.0),
    "Bennett": lambda method: spatial.bennett(method, rate=4.0),
    "Bricard": spatial.bricard,
    "governor": lambda method: spatial.governor(method, rate=0.5),
}


def energy(sim: lj.Simulation) -> float:
    return sum(sim.dynamics.energy(sim.q, sim.v))


def minute(system: lj.System, dt: float) -> tuple[float, float]:
    """The largest gap of the loops in a minute, and the largest drift of the energy as a share of the kinetic one."""
    sim, oracle = lj.Simulation(system, dt=dt), Oracle(system)
    start, kinetic, worst, drift = energy(sim), 0.0, 0.0, 0.0
    for _ in range(600):
        sim.step(round(0.1 / dt))
        worst = max(worst, float(np.abs(oracle.gaps(sim.q)).max()))
        kinetic = max(kinetic, sim.dynamics.energy(sim.q, sim.v)[0])
        drift = max(drift, abs(energy(sim) - start))
    return worst, drift / kinetic


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", MAKERS)
def test_a_minute(name, method):
    """A drift above 1e-5, as of the slider-crank that turns three times a second, must be that of the integrator: half
    the step, at most an eighth of it."""
    system = MAKERS[name](method)
    worst, drift = minute(system, 1e-3)
    figure("largest gap in a minute", worst, unit="m, rad", oracle="closed", below=CLOSED[method])
    assert drift < 1e-5 or minute(system, 5e-4)[1] < drift / 8.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "Bennett", "governor"])
def test_energy_drifts_with_the_order_of_the_integrator(name, method):
    """Ten seconds of RK4: half the step, at most an eighth of the drift."""
    drift = []
    for dt in (2e-3, 1e-3):
        sim = lj.Simulation(MAKERS[name](method), dt=dt)
        start = energy(sim)
        sim.step(round(10.0 / dt))
        drift.append(abs(energy(sim) - start))
    assert drift[1] < 1e-11 * abs(start) or drift[0] / drift[1] > 8.0


@pytest.mark.parametrize("method", METHODS)
def test_the_parallelogram_never_folds(method):
    """A minute of turning over and over, forty times through flat."""
    sim = lj.Simulation(bars.parallelogram(method, windows=3))
    turns = 0.0
    for _ in range(6000):
        sim.step(10)
        angle = coordinate(sim, "rocker0")
        for i in (1, 2, 3):
            figure(
                "angles of parallel rockers",
                coordinate(sim, f"rocker{i}"),
                angle,
                unit="rad",
                oracle="they are equal",
                atol=1e-6,
            )
        turns = max(turns, abs(angle) / (2 * np.pi))
    assert turns > 20.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dt", [1e-3, 7e-4, 5e-4])
def test_a_rod_whose_only_row_vanishes(dt, method):
    """Steps of different sizes come differently close to the forty singular positions."""
    worst, drift = minute(bars.rod_parallelogram(method), dt)
    figure("largest gap in a minute", worst, unit="m, rad", oracle="closed", below=CLOSED[method])
    figure("energy drift in a minute over the kinetic energy", drift, oracle="conservation", below=1e-10)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dt", [9e-4, 8e-4, 7e-4])
@pytest.mark.parametrize("name", ["parallelogram", "Scott-Russell"])
def test_singular_positions_are_passed_at_any_step(name, dt, method):
    """Wherever steps land, the energy keeps to what the integrator does to it away from such positions."""
    worst, drift = minute(MAKERS[name](method), dt)
    figure("largest gap in a minute", worst, unit="m, rad", oracle="closed", below=CLOSED[method])
    figure(
        "energy drift in a minute over the kinetic energy",
        drift,
        oracle="conservation",
        below={"parallelogram": 1e-10, "Scott-Russell": 1e-7}[name],
    )
