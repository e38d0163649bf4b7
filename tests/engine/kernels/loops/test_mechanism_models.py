"""The mechanisms as models: closed at the start, with the freedoms the literature gives them, and moving as published.

These tests use the dense reference only: they prove the models and the reference with each other.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.kernels.loops.mechanisms import bars, lines, spatial, squeezer
from tests.engine.kernels.loops.oracle import Oracle

#: mechanism → independent rows, and all
MODELS = {
    "squeezer": (squeezer.squeezer(), 6, 15),
    "squeezer with a strut": (squeezer.squeezer(strut=1e-6), 8, 20),
    "four-bar": (bars.four_bar(), 2, 5),
    "slider-crank": (bars.slider_crank(), 2, 5),
    "double parallelogram": (bars.parallelogram(windows=2), 4, 10),
    "Scott-Russell": (lines.scott_russell(), 2, 5),
    "Peaucellier": (lines.peaucellier(), 6, 15),
    "scissor": (lines.scissor(), 6, 15),
    "Bennett": (spatial.bennett(), 2, 5),
    "Bricard": (spatial.bricard(), 4, 5),
    "governor": (spatial.governor(), 2, 2),
}


@pytest.mark.parametrize("name", MODELS)
def test_closed_at_the_start_with_the_freedoms_it_should_have(name):
    system, rank, count = MODELS[name]
    oracle = Oracle(system)
    np.testing.assert_allclose(oracle.gaps(system.q0), 0.0, atol=2e-15)
    rows = oracle.rows(system.q0, system.v0)
    np.testing.assert_allclose(rows.C @ system.v0, 0.0, atol=1e-14)
    assert oracle.rank(system.q0) == rank
    assert len(rows.C) == count


def reference(system, times, tau=None) -> np.ndarray:
    """Coordinates (times, nq) of the dense reference from the system's initial state."""
    return Oracle(system).motion(system.q0, system.v0, times[-1], tau, times)[0]


def test_squeezer_starts_as_published():
    system = squeezer.squeezer()
    tau = squeezer.torques(system, system.q0)
    found = Oracle(system).solve(system.q0, system.v0, tau).vdot
    expected = [squeezer.START_RATES.get(name, 0.0) for name in system.velocity_names]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * 14222)


@pytest.mark.long
def test_squeezer_ends_as_published():
    """The crank turns two and a half times. The reference agrees with itself to 3e-12 rad at four tolerances from 1e-11
    to 3e-14 and differs from the published digits by 1.4e-9 rad, which are then good to ten digits."""
    system = squeezer.squeezer()
    found = reference(system, [squeezer.END_TIME], lambda q, _v: squeezer.torques(system, q))[-1]
    np.testing.assert_allclose(found, squeezer.end(system), rtol=0, atol=2e-9)


TIMES = np.array([0.1, 0.25])


@pytest.mark.parametrize(
    ("system", "freedom", "name"),
    [
        (bars.four_bar(rate=2.0), bars.four_bar_freedom(), "crank"),
        (bars.slider_crank(rate=5.0), bars.slider_crank_freedom(), "crank"),
        (bars.parallelogram(windows=1, theta=1.2), bars.parallelogram_freedom(1), "rocker0"),
        (spatial.governor(rate=0.3), spatial.governor_freedom(6.0 * spatial.governor_spin_inertia(0.5).real), "left"),
    ],
    ids=["four-bar", "slider-crank", "parallelogram", "governor"],
)
def test_mechanisms_of_one_freedom_move_as_in_closed_form(system, freedom, name):
    at = system.coordinate_names.index(name)
    expected = freedom.motion(system.q0[at], system.v0[at], TIMES)[:, 0]
    assert np.ptp(expected) > 0.01
    np.testing.assert_allclose(reference(system, TIMES)[:, at], expected, rtol=0, atol=1e-10)


def test_a_planetary_gear_accelerates_as_willis_says():
    system = spatial.planetary(rates=(3.0, 1.0))
    torques = {"sun": 0.7, "carrier": -0.4, "ring": 0.3}
    tau = np.array([torques.get(name, 0.0) for name in system.velocity_names])
    found = Oracle(system).solve(system.q0, system.v0, tau).vdot
    expected = spatial.planetary_accelerations(torques)
    np.testing.assert_allclose(found, [expected[n] for n in system.velocity_names], rtol=1e-11)


def test_bennett_stays_on_its_curve():
    """tan(θ1/2) tan(θ2/2) is constant and opposite angles are opposite, while the linkage falls."""
    q = reference(spatial.bennett(rate=1.0), TIMES)
    alpha, beta = spatial.BENNETT[2:]
    ratio = np.sin(0.5 * (beta + alpha)) / np.sin(0.5 * (beta - alpha))
    np.testing.assert_allclose(np.tan(0.5 * q[:, 0]) * np.tan(0.5 * q[:, 1]), ratio, rtol=1e-9)
    np.testing.assert_allclose(q[:, 2], -q[:, 0], atol=1e-9)


def test_bricard_keeps_its_symmetry():
    """Every second angle is the same, and with the angles between the sides π/2 - q the closed form of the threefold
    symmetric linkage of twist 90° holds: cos θ cos φ + cos θ + cos φ = 0 (Chen, You, Tarnai 2005). Energy is kept."""
    system = spatial.bricard()
    oracle = Oracle(system)
    q, v = oracle.motion(system.q0, system.v0, 0.5)
    a, b = np.sin(q[-1][:2])
    assert a > 0.2
    np.testing.assert_allclose(q[-1][2:], [*q[-1][:2], q[-1][0]], atol=1e-10)
    assert abs(a * b + a + b) < 1e-10
    assert sum(oracle.dynamics.energy(q[-1], v[-1])) == pytest.approx(-29.43, rel=1e-11)
