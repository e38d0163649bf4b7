"""Through singular configurations: the motion neither stops nor jumps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from tests.cases import long_only
from tests.engine.kernels.loops.mechanisms import bars
from tests.engine.kernels.loops.oracle import Oracle
from tests.engine.kernels.loops.test_mechanisms import CLOSED, METHODS, coordinate, rate


def independent(system: lj.System, name: str) -> lj.System:
    """The same with this velocity wanted as the independent one."""
    return replace(system, loops=tuple(replace(k, method="embed", independent=(name,)) for k in system.loops))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("windows", [1, 2, 4])
@pytest.mark.parametrize("cut", ["revolute", "point"])
def test_parallelogram_through_its_flat_position(method, windows, cut):
    """Falls through flat at full speed, swings round and comes again: at every step next to the closed form."""
    sim = lj.Simulation(bars.parallelogram(method, windows, cut=cut))
    times = 1e-3 * np.arange(1, 2501)
    expected = bars.parallelogram_freedom(windows).motion(0.5 * np.pi, -1.0, times)
    assert np.sum(np.diff(np.sign(np.sin(expected[:, 0]))) != 0) >= 2
    oracle = Oracle(sim.system)
    for k, (angle, spin) in enumerate(expected):
        sim.step()
        assert coordinate(sim, "rocker0") == pytest.approx(angle, abs=1e-7), f"at {times[k]} s"
        assert rate(sim, "rocker0") == pytest.approx(spin, abs=1e-6), f"at {times[k]} s"
        assert coordinate(sim, f"rocker{windows}") == pytest.approx(angle, abs=1e-6), f"folded at {times[k]} s"
        if k % 100 == 0:
            assert np.abs(oracle.gaps(sim.q)).max() < CLOSED[method]


@pytest.mark.parametrize("method", METHODS)
def test_parallelogram_started_flat(method):
    """Exactly flat at the start, where the rows lose a rank, turning as a parallelogram."""
    sim = lj.Simulation(bars.parallelogram(method, theta=0.0, rate=-4.0))
    expected = bars.parallelogram_freedom().motion(0.0, -4.0, [0.2])[0]
    sim.step(200)
    assert coordinate(sim, "rocker0") == pytest.approx(expected[0], abs=1e-7)
    assert coordinate(sim, "rocker1") == pytest.approx(expected[0], abs=1e-6)


@pytest.mark.parametrize("name", ["crank", "rod", "slider"])
def test_slider_crank_through_its_dead_centres(name):
    """The slider stands still at dead centre: as the independent coordinate it must give way, without a jump."""
    sim = lj.Simulation(independent(bars.slider_crank(theta=0.7, rate=25.0), name), dt=5e-4)
    times = 5e-4 * np.arange(1, 1001)
    expected = bars.slider_crank_freedom().motion(0.7, 25.0, times)
    assert expected[-1, 0] - 0.7 > 2 * np.pi
    for angle, spin in expected:
        sim.step()
        assert coordinate(sim, "crank") == pytest.approx(angle, abs=1e-6)
        assert rate(sim, "crank") == pytest.approx(spin, abs=1e-4)


@pytest.mark.parametrize("name", ["crank", *long_only(("coupler", "rocker")), None])
def test_double_rocker_at_its_ends(name):
    """A four-bar whose crank turns back where coupler and rocker are in line: there its rate says nothing."""
    links = (0.4, 0.2, 0.35, 0.3)  # the shortest bar is the coupler
    system = bars.four_bar("embed", theta=1.2, rate=0.0, links=links)
    system = independent(system, name) if name else system
    reference = Oracle(system)
    sim = lj.Simulation(system, dt=5e-4)
    times = 0.05 * np.arange(1, 25)
    q, v = reference.motion(sim.q, sim.v, times[-1], at=times)
    for k in range(len(times)):
        sim.step(100)
        np.testing.assert_allclose(sim.q, q[k], rtol=0, atol=1e-6)
        np.testing.assert_allclose(sim.v, v[k], rtol=0, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_forces_stay_finite_at_a_singular_position(method):
    """Flat parallelogram: accelerations and forces are those of least norm, no NaN."""
    system = bars.parallelogram(method, theta=0.0, rate=-4.0)
    dynamics = lj.Dynamics(system)
    vdot = dynamics.forward(system.q0, system.v0, np.zeros(system.nv))
    assert np.all(np.isfinite(vdot))
    for force in dynamics.loop_forces(system.q0, system.v0, np.zeros(system.nv)).values():
        assert np.all(np.isfinite(force))
