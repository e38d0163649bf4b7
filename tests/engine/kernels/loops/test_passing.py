"""Next to singular positions: the right accelerations at any distance, steps that may land anywhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.kernels.groups import admittance, elimination
from limberjack.engine.kernels.loops import dynamics as passing
from limberjack.engine.model.system import Dof, Inertia, Loop, Term
from tests.engine.kernels.loops.mechanisms import bars
from tests.engine.kernels.loops.mechanisms.parts import OneFreedom, assembled, pin, rod, sliding, turning
from tests.engine.kernels.loops.oracle import Oracle
from tests.engine.kernels.loops.test_mechanisms import METHODS, coordinate
from tests.validation.figures import figure

#: rad from the singular position, on both sides of it
DISTANCES = [0.0, *(sign * 10.0**-k for k in range(2, 9) for sign in (1.0, -1.0)), 4e-3, 6e-3]


def equal_slider_crank(method: str | None, theta: float, rate: float, r: float = 0.3) -> lj.System:
    """Crank and rod of the same length: at θ = π/2 the slider passes the crank's axis, and the rod could stay folded on
    the crank."""
    block = Inertia(0.6, np.zeros(3), 1e-3 * np.eye(3))
    bodies = [
        turning("crank", None, (0, 0), rod(0.5, (r, 0)), theta, rate),
        turning("rod", "crank", (r, 0), rod(0.4, (r, 0)), -2.0 * theta, -2.0 * rate),
        sliding("slider", None, (0, 0), (1, 0), block, 2 * r * np.cos(theta), -2 * r * np.sin(theta) * rate),
    ]
    return assembled("equal", bodies, [pin("gudgeon", "rod", (r, 0), "slider", (0, 0))], method)


def equal_freedom(r: float = 0.3) -> OneFreedom:
    """The same in its crank angle, on the branch x = 2 r cos θ."""

    def A(x):
        rod_ = 0.4 * r * r * (1.0 + 0.25 - np.cos(2 * x) + 1.0 / 12.0)
        return 0.5 * r * r / 3.0 + rod_ + 0.6 * (2 * r * np.sin(x)) ** 2

    return OneFreedom(A, lambda x: 9.81 * r * np.sin(x) * (0.25 + 0.2))


Maker = Callable[[str | None, float, float], lj.System]
#: mechanisms as (method, angle, rate), their freedoms, and the angle of their singular position
SINGULAR: dict[str, tuple[Maker, OneFreedom, float]] = {
    "parallelogram": (lambda m, x, u: bars.parallelogram(m, 1, x, u), bars.parallelogram_freedom(), 0.0),
    "four windows": (lambda m, x, u: bars.parallelogram(m, 4, x, u), bars.parallelogram_freedom(4), 0.0),
    "by points": (lambda m, x, u: bars.parallelogram(m, 2, x, u, cut="point"), bars.parallelogram_freedom(2), 0.0),
    "rod": (bars.rod_parallelogram, OneFreedom(lambda _x: 2 / 3 + 0j, lambda x: 9.81 * np.sin(x)), 0.0),
    "slider-crank": (equal_slider_crank, equal_freedom(), 0.5 * np.pi),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SINGULAR)
def test_accelerations_at_any_distance(name, method):
    """At the singular position itself too: the motion, fast or slow, says which branch it is on."""
    make, freedom, where = SINGULAR[name]
    for distance in DISTANCES:
        system = make(method, where + distance, 1.0)
        dynamics = lj.Dynamics(system)
        for speed in (3.0, 0.05):
            vdot = dynamics.forward(system.q0, speed * system.v0, np.zeros(system.nv))
            figure(
                "acceleration next to a singular position",
                vdot[0],
                freedom.acceleration(where + distance, speed),
                unit="rad/s²",
                oracle="closed form",
                atol=1e-8,
            )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SINGULAR)
def test_accelerations_at_rest(name, method):
    """At rest the position says which branch it is on, as far as its digits do."""
    make, freedom, where = SINGULAR[name]
    for distance in [x for x in DISTANCES if abs(x) > 1e-7]:
        system = make(method, where + distance, 0.0)
        vdot = lj.Dynamics(system).forward(system.q0, system.v0, np.zeros(system.nv))
        figure(
            "acceleration at rest next to a singular position",
            vdot[0],
            freedom.acceleration(where + distance, 0.0),
            unit="rad/s²",
            oracle="closed form",
            atol=1e-8,
        )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SINGULAR)
def test_steps_may_land_anywhere(name, method):
    """The tenth of twenty steps lands at each distance: motion and energy are those of the closed form."""
    make, freedom, where = SINGULAR[name]
    dt, times = 1e-3, 1e-3 * np.arange(1, 11)
    for distance in DISTANCES:
        x, u = where + distance, 3.0
        back = freedom.motion(x, -u, times)[-1]
        ahead = freedom.motion(x, u, times)[-1]
        sim = lj.Simulation(make(method, back[0], -back[1]), dt=dt)
        start = sum(sim.dynamics.energy(sim.q, sim.v))
        sim.step(10)
        assert sim.q[0] == pytest.approx(x, abs=1e-10), f"at {distance} rad"
        sim.step(10)
        np.testing.assert_allclose([sim.q[0], sim.v[0]], ahead, rtol=0, atol=2e-9, err_msg=f"at {distance} rad")
        assert abs(sum(sim.dynamics.energy(sim.q, sim.v)) - start) < 2e-9, f"at {distance} rad"
        assert np.abs(Oracle(sim.system).gaps(sim.q)).max() < 1e-10, f"at {distance} rad"


def table(method: str | None, theta: float, rates: tuple[float, float, float], coupled: bool) -> lj.System:
    """A parallelogram and a five-bar on a cart: three freedoms, two of them in one mechanism of loops.

    coupled: the parallelogram's bars keep parallel by couplings, whose rows never vanish, in the place of its pin.
    """
    bar, block = rod(1.0, (1, 0)), Inertia(3.0, np.zeros(3), np.eye(3))
    slide, turn, swing = rates
    arm = 0.4
    bodies = [
        sliding("cart", None, (0, 0), (1, 0), block, 0.2, slide),
        turning("left", "cart", (0, 0), bar, theta, turn),
        turning("coupler", "left", (1, 0), bar, -theta, -turn),
        turning("right", "cart", (1, 0), bar, theta, turn),
        turning("arm", "coupler", (0.5, 0), rod(0.5, (0.7, 0)), arm, swing),
        turning("leg", "cart", (2.5, -0.5), rod(0.7, (0.9, 0)), 1.9, 0.0),
        turning("shank", "leg", (0.9, 0), rod(0.6, (0.8, 0)), 0.9, 0.0),
    ]
    loops = [pin("tip", "arm", (0.7, 0), "shank", (0.8, 0))]
    if coupled:
        terms = [("right", "left", -1.0), ("coupler", "left", 1.0)]
        loops += [Loop(f"{a} {b}", "coupling", terms=(Term(a, (1.0,)), Term(b, (f,)))) for a, b, f in terms]
    else:
        loops.append(pin("pin", "coupler", (1, 0), "right", (1, 0)))
    return assembled("table", bodies, loops, method)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "rates", [(0.0, 2.0, 0.0), (1.5, 2.0, -3.0), pytest.param((5.0, 0.02, 3.0), marks=pytest.mark.long)]
)
def test_several_freedoms(rates, method):
    """Against the same mechanism closed by couplings, which are regular there; the positions beside turn the five-bar
    by up to 0.1 rad, so that h⁸ f⁽⁸⁾ / 70 is 2e-8 of accelerations of 15."""
    names = ["cart", "left", "arm"]
    for distance in DISTANCES:
        closed = lj.assemble(table("embed", distance, rates, True), hold=["cart", "left", "right", "coupler", "arm"])
        expected = lj.Dynamics(closed).forward(closed.q0, closed.v0, np.zeros(closed.nv))
        system = replace(table(method, distance, rates, False), bodies=closed.bodies)
        vdot = lj.Dynamics(system).forward(closed.q0, closed.v0, np.zeros(closed.nv))
        index = [system.velocity_names.index(name) for name in names]
        np.testing.assert_allclose(vdot[index], expected[index], rtol=0, atol=5e-8, err_msg=f"at {distance} rad")


def switched(system: lj.System) -> lj.System:
    """The same with all loops switchable."""
    return replace(system, loops=tuple(replace(loop, switchable=True) for loop in system.loops))


@pytest.mark.parametrize("speed", [3.0, 0.0])
@pytest.mark.parametrize("windows", [1, 2])
def test_loops_that_switch_have_accelerations_at_any_distance(windows, speed):
    for distance in [x for x in DISTANCES if speed or abs(x) > 1e-7]:
        system = switched(bars.parallelogram("force", windows, distance, speed))
        vdot = lj.Dynamics(system).forward(system.q0, system.v0, np.zeros(system.nv))
        expected = bars.parallelogram_freedom(windows).acceleration(distance, speed)
        assert vdot[0] == pytest.approx(expected, abs=1e-8), f"at {distance} rad"


@pytest.mark.parametrize("angle", [0.0, 1.3e-3, 2.1e-3, 3.4e-3])
def test_loops_that_switch_pass_with_the_order_of_the_integrator(angle):
    """Two windows from upright through flat, and one of them with the other one's loop released."""
    sim = lj.Simulation(switched(bars.parallelogram("force", 2, 0.5 * np.pi + angle)))
    bare = bars.parallelogram("force", 2, 0.5 * np.pi + angle)
    other = lj.Simulation(replace(bare, loops=bare.loops[:1]))
    start = sum(sim.dynamics.energy(sim.q, sim.v))
    sim.step(3000)
    assert abs(sum(sim.dynamics.energy(sim.q, sim.v)) - start) < 2e-10
    sim.reset()
    sim.release("pin2")
    sim.step(1500)
    other.step(1500)
    np.testing.assert_allclose(sim.q, other.q, rtol=0, atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_a_mechanism_that_lives_in_a_singular_position(method):
    """A parallelogram that springs hold flat swings by 1e-3 rad, never out of its reach."""
    system = bars.parallelogram(method, 1, 1e-3, 0.0, gravity=np.zeros(3))
    dof = Dof(stiffness=40.0)
    bodies = tuple(
        replace(body, hinge=replace(body.hinge, dofs=(dof,))) if body.name.startswith("rocker") else body
        for body in system.bodies
    )
    sim = lj.Simulation(replace(system, bodies=bodies))
    omega = np.sqrt(2 * 40.0 / (2 / 3 + 1))
    for k in range(1, 21):
        sim.step(50)
        expected = 1e-3 * np.cos(omega * 0.05 * k)
        assert sim.q[0] == pytest.approx(expected, abs=1e-9)
        assert np.abs(Oracle(sim.system).gaps(sim.q)).max() < 1e-10
        assert coordinate(sim, "rocker1") == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_snapshots_next_to_a_singular_position(method):
    """Nothing that both sides say is remembered: a snapshot continues with the same bits."""
    sim = lj.Simulation(bars.parallelogram(method, 2, 0.03, -3.0))
    other = lj.Simulation(sim.system)
    for _ in range(20):
        sim.step()
        other.restore(sim.snapshot())
        sim.step()
        other.step()
        np.testing.assert_array_equal(other.state, sim.state)


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_forty_windows(method):
    """N four-bars of the benchmark library, ten seconds, six times through flat with eighty loops' rows."""
    sim = lj.Simulation(bars.parallelogram(method, 40))
    start = sum(sim.dynamics.energy(sim.q, sim.v))
    expected = bars.parallelogram_freedom(40).motion(0.5 * np.pi, -1.0, [10.0])[-1]
    sim.step(10_000)
    assert abs(sum(sim.dynamics.energy(sim.q, sim.v)) - start) < 2e-9
    np.testing.assert_allclose([sim.q[0], sim.v[0]], expected, rtol=0, atol=1e-7)


def test_the_guide_states_the_thresholds():
    """docs/how-to/closed-chains.md names the numbers that the kernels go by."""
    text = (Path(__file__).resolve().parents[4] / "docs" / "how-to" / "closed-chains.md").read_text(encoding="utf-8")
    section = " ".join(text.split("## Singular positions")[1].split("\n## ")[0].split())
    stated = {
        passing.NEAR: "above 0.05",
        passing.WINDOW: "below 0.005",
        passing.STRIDE: "0.0125 rad of the fastest body",
        passing.STILL: "1e-6 rad/s",
        elimination.COAST: "below 1e-4 (embedded",
        round(admittance.COAST**0.5, 6): "by force 3.2e-5",
        elimination.RANK: "within 1e-5",
        admittance.RANK**0.5: "within 1e-5",
    }
    for value, words in stated.items():
        assert words in section
        numbers = [float(word) for word in re.findall(r"\d[\d.e-]*", words)]
        assert numbers[0] == pytest.approx(value, rel=0.06)


@pytest.mark.parametrize("method", METHODS)
def test_many_windows_started_flat(method):
    """2⁸ branches meet where the model is built: the one that it moves on says how many rows are independent."""
    system = bars.parallelogram(method, 8, 0.0, 3.0)
    vdot = lj.Dynamics(system).forward(system.q0, system.v0, np.zeros(system.nv))
    expected = bars.parallelogram_freedom(8).acceleration(0.0, 3.0)
    np.testing.assert_allclose(np.abs(vdot), abs(expected), rtol=0, atol=1e-8)
    sim = lj.Simulation(system)
    sim.step(200)
    expected = bars.parallelogram_freedom(8).motion(0.0, 3.0, [0.2])[0]
    np.testing.assert_allclose([sim.q[0], sim.v[0]], expected, rtol=0, atol=1e-8)
    assert coordinate(sim, "rocker8") == pytest.approx(expected[0], abs=1e-8)
