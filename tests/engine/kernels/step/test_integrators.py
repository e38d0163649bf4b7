"""Integrators: against scipy's with an independent q̇, orders by step halving, energy, momentum, stiffness, failure."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import limberjack as lj
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, System
from limberjack.engine.model.validate import validate
from limberjack.engine.tables.reports import FASTEST, INTEGRATORS
from tests.engine.motions import euler, hinges, rates, unit_quaternions
from tests.engine.random_systems import MOVING, random_system
from tests.validation.figures import figure

Z = np.array([[0.0, 0.0, 1.0]])
UNIT = Inertia(1.0, np.zeros(3), np.eye(3))
DURATION = 0.4


def mixed(seed: int) -> lj.System:
    """A free base with a branched tree of every hinge type, springs and dampers where they are allowed."""
    rng = np.random.default_rng(seed)
    types = ["free", *rng.permutation([name for name in MOVING if name != "free"])[:5]]
    system = random_system(types, rng, armature=True)
    bodies = tuple(replace(body, hinge=with_springs(body.hinge, rng)) for body in system.bodies)
    return validate(replace(system, bodies=bodies))


def with_springs(hinge: Hinge, rng: np.random.Generator) -> Hinge:
    def sprung(dof: Dof, rest: float) -> Dof:
        spring = {} if hinge.kind.quasi else {"stiffness": rng.uniform(1.0, 5.0), "rest": rest}
        return replace(dof, damping=rng.uniform(0.05, 0.2), **spring)

    rests = hinge.q0 if not hinge.kind.quasi else np.zeros(hinge.nv)
    return replace(hinge, dofs=tuple(sprung(dof, rest) for dof, rest in zip(hinge.dofs, rests)))


def simulated(system: lj.System, integrator: str, steps: int) -> lj.Simulation:
    sim = lj.Simulation(system, dt=DURATION / steps, integrator=integrator)
    sim.step(steps)
    return sim


def reference(system: lj.System) -> tuple[np.ndarray, np.ndarray]:
    """q, v after DURATION by scipy's eighth-order method with the q̇ of `motions`, quaternions as plain numbers."""
    dynamics = lj.Dynamics(system)

    def slope(_, y):
        q, v = unit_quaternions(system, y[: system.nq]), y[system.nq :]
        vdot = dynamics.forward(q, v, dynamics.passive(q, v))
        return np.concatenate([rates(system, y[: system.nq], v), vdot])

    start = np.concatenate([system.q0, system.v0])
    end = solve_ivp(slope, (0.0, DURATION), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return unit_quaternions(system, end[: system.nq]), end[system.nq :]


def distance(system: lj.System, sim: lj.Simulation, q: np.ndarray, v: np.ndarray) -> float:
    """Largest difference of coordinates and velocities; a quaternion and its negative are the same."""
    ours = sim.q
    for hinge, i, _ in hinges(system):
        if hinge.kind.quasi and ours[i][:4] @ q[i][:4] < 0.0:
            ours[i.start : i.start + 4] *= -1.0
    return float(np.abs(np.concatenate([ours - q, sim.v - v])).max())


@cache
def mixed_reference(seed: int) -> tuple[np.ndarray, np.ndarray]:
    return reference(mixed(seed))


@pytest.mark.parametrize("seed", range(4))
def test_rk4_converges_with_fourth_order_to_another_integrator(seed):
    system, (q, v) = mixed(seed), mixed_reference(seed)
    coarse, fine, finest = (distance(system, simulated(system, "rk4", n), q, v) for n in (100, 200, 400))
    figure("error of rk4, finest step", finest, oracle="scipy's DOP853", below=1e-7)
    orders = np.log2([coarse / fine, fine / finest])
    figure("order of rk4", orders, 4.1, oracle="fourth order", atol=0.5)


@pytest.mark.parametrize("integrator", ["semi_implicit", "implicit"])
def test_euler_methods_keep_the_velocity_of_a_body_that_spins_as_it_flies(integrator):
    """R v and the path p + t R v in inertial axes: constant, whatever the step and the spin."""
    inertia = Inertia(2.0, np.zeros(3), np.diag([0.4, 0.5, 0.6]))
    start = np.array([30.0, 2.0, -5.0, 3.0, -4.0, 1.0])
    hinge = Hinge("joint", "free", None, q0=np.array([1.0, 0, 0, 0, 0.1, 0.2, 0.3]), v0=start)
    system = validate(System("spinning", (Body("body", inertia, hinge),), gravity=np.zeros(3)))
    sim = lj.Simulation(system, dt=1e-3, integrator=integrator)
    sim.step(1000)
    turned = Rotation.from_quat(sim.q[:4], scalar_first=True).apply(sim.v[3:])
    np.testing.assert_allclose(turned, start[3:], atol=1e-12)
    np.testing.assert_allclose(sim.q[4:], [0.1 + 3.0, 0.2 - 4.0, 0.3 + 1.0], atol=1e-11)


@pytest.mark.parametrize("integrator", ["semi_implicit", "implicit"])
@pytest.mark.parametrize("seed", range(4))
def test_euler_methods_converge_with_first_order(seed, integrator):
    system, (q, v) = mixed(seed), mixed_reference(seed)
    coarse, fine = (distance(system, simulated(system, integrator, n), q, v) for n in (2000, 4000))
    figure(f"order of {integrator}", np.log2(coarse / fine), 1.0, oracle="first order", atol=0.2)


def free_body(rate: np.ndarray) -> lj.System:
    inertia = Inertia(2.0, np.array([0.1, -0.2, 0.05]), np.diag([0.2, 0.3, 0.45]))
    hinge = Hinge("base", "free", None, v0=np.concatenate([rate, [0.3, 0.1, -0.2]]))
    return validate(System("body", (Body("body", inertia, hinge),), gravity=np.zeros(3)))


def test_rk4_order_on_a_tumbling_body_and_unit_quaternions():
    """Fourth order with quaternions moving fast: the chart's series must be long enough."""
    system = free_body(np.array([4.0, 3.0, -6.0]))
    q, v = reference(system)
    coarse, fine = (distance(system, simulated(system, "rk4", n), q, v) for n in (40, 80))
    figure("order of rk4 on a tumbling body", np.log2(coarse / fine), 4.1, oracle="fourth order", atol=0.4)
    for integrator in INTEGRATORS:
        sim = lj.Simulation(system, dt=1e-3, integrator=integrator)
        sim.step(20_000)
        figure("norm of a quaternion less 1", abs(np.linalg.norm(sim.q[:4]) - 1.0), oracle="unit", below=1e-14)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_momentum_drift_of_a_free_tree_follows_the_order(integrator):
    """No gravity, no base forces: the momentum error of a run shrinks with the method's order."""
    system = replace(mixed(1), gravity=np.zeros(3))
    root = replace(system.bodies[0].hinge, dofs=(Dof(),) * 6)
    system = replace(system, bodies=(replace(system.bodies[0], hinge=root), *system.bodies[1:]))
    drift = []
    for n in (100, 200) if integrator == "rk4" else (2000, 4000):
        sim = simulated(system, integrator, n)
        start = sim.dynamics.momentum(system.q0, system.v0)
        drift.append(np.abs(sim.output["momentum"] - start).max())
    order = np.log2(drift[0] / drift[1])
    least, most = (3.5, 5.5) if integrator == "rk4" else (0.8, 1.3)
    figure(
        f"order of the momentum's drift, {integrator}",
        order,
        0.5 * (least + most),
        oracle="order of the method",
        atol=0.5 * (most - least),
    )


def oscillator(**dof: float) -> lj.System:
    hinge = Hinge("spring", "revolute", None, axes=Z, dofs=(Dof(**dof),), q0=np.array([1.0]))
    return validate(System("oscillator", (Body("disc", UNIT, hinge),), gravity=np.zeros(3)))


def energies(sim: lj.Simulation, stiffness: float, samples: int, every: int) -> np.ndarray:
    out = []
    for _ in range(samples):
        sim.step(every)
        out.append(0.5 * sim.v[0] ** 2 + 0.5 * stiffness * sim.q[0] ** 2)
    return np.array(out)


def test_semi_implicit_keeps_its_own_energy_for_ever():
    """Symplectic Euler conserves ½v² + ½kq² - ½h k q v exactly.

    Since √k |q v| ≤ E, the energy stays within x / (1 - x) of the start for x = ½ h √k, without drift.
    """
    k, h = 4.0, 0.01
    sim = lj.Simulation(oscillator(stiffness=k), dt=h, integrator="semi_implicit")
    error = energies(sim, k, 400, 250) / (0.5 * k) - 1.0
    x = 0.5 * h * np.sqrt(k)
    figure(
        "energy of the semi-implicit method, relative error",
        np.abs(error).max(),
        oracle="x / (1 - x), x = ½ h √k",
        below=x / (1.0 - x) * (1.0 + 1e-9),
    )
    invariant = 0.5 * sim.v[0] ** 2 + 0.5 * k * sim.q[0] ** 2 - 0.5 * h * k * sim.q[0] * sim.v[0]
    figure(
        "invariant of the semi-implicit method", invariant, 0.5 * k, unit="J", oracle="½v² + ½kq² - ½hkqv", rtol=1e-11
    )


def test_implicit_loses_energy_and_never_gains_it():
    sim = lj.Simulation(oscillator(stiffness=400.0), dt=0.01, integrator="implicit")
    energy = energies(sim, 400.0, 200, 1)
    assert np.all(np.diff(energy) < 0.0)


def test_rk4_energy_drift_is_fifth_order_small():
    """Each step of a harmonic oscillator changes the energy by -(hω)⁶/72 relative, to leading order."""
    h, omega, steps = 0.1, 2.0, 1000
    sim = lj.Simulation(oscillator(stiffness=omega**2), dt=h, integrator="rk4")
    energy = energies(sim, omega**2, 1, steps)[0] / (0.5 * omega**2)
    figure(
        "logarithm of rk4's energy after 1000 steps",
        np.log(energy),
        -steps * (h * omega) ** 6 / 72,
        oracle="-n (hω)⁶ / 72",
        rtol=0.05,
    )


STIFF = {"stiffness": 1e9, "damping": 10.0}


def test_implicit_is_stable_where_semi_implicit_diverges():
    """hω = 30: far beyond the explicit limit of 2. The implicit method settles at the rest angle."""
    system = oscillator(**STIFF, rest=0.25)
    sim = lj.Simulation(system, dt=1e-3, integrator="implicit")
    sim.step(200)
    figure(
        "rest angle of a stiff spring by the implicit method",
        sim.q[0],
        0.25,
        unit="rad",
        oracle="its rest angle",
        atol=1e-12,
    )
    assert abs(sim.v[0]) < 1e-9
    for integrator in ("semi_implicit", "rk4"):
        with pytest.raises(lj.SimulationError):
            lj.Simulation(system, dt=1e-3, integrator=integrator).step(200)


def two_bodies() -> lj.System:
    calm = Hinge("calm", "prismatic", None, axes=Z, v0=np.array([0.1]))
    wild = Hinge("wild", "revolute", "slider", axes=Z, dofs=(Dof(**STIFF),), q0=np.array([1.0]))
    return validate(System("two", (Body("slider", UNIT, calm), Body("disc", UNIT, wild)), gravity=np.zeros(3)))


@pytest.mark.parametrize("substeps", [1, 3])
def test_divergence_names_body_and_time_and_keeps_the_last_good_state(substeps):
    system = two_bodies()
    sim = lj.Simulation(system, dt=1e-3, integrator="semi_implicit", substeps=substeps)
    with pytest.raises(lj.SimulationError) as caught:
        sim.step(1000)
    done, state = sim.step_count, sim.state
    message = str(caught.value)
    for word in ("'wild'", "'disc'", f"t = {sim.time:.6g} s", "semi_implicit", "smaller dt", "'implicit'"):
        assert word in message
    assert sim.time == done * 1e-3
    assert np.all(np.abs(sim.v) <= FASTEST)
    again = lj.Simulation(system, dt=1e-3, integrator="semi_implicit", substeps=substeps)
    again.step(done)
    assert np.array_equal(again.state, state)
    with pytest.raises(lj.SimulationError):
        sim.step()
    assert np.array_equal(sim.state, state)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_number_that_is_not_finite_is_reported(integrator):
    """Two finite commands whose sum is infinite; the message says so, the state before stays, and it goes on."""
    servo = Actuator("drive", "spring", "servo", kp=1.0)
    sim = lj.Simulation(replace(oscillator(), actuators=(servo,)), dt=1e-6, integrator=integrator)
    sim.step(3)
    q, v, time = sim.q, sim.v, sim.time
    sim.command["drive"] = sim.command["drive.torque"] = 1.7e308
    with pytest.raises(lj.SimulationError, match=r"'spring' of body 'disc' is no longer a finite number.*t = 3e-06 s"):
        sim.step(1)
    assert np.array_equal(sim.q, q)
    assert np.array_equal(sim.v, v)
    assert sim.time == time
    sim.command["drive"] = sim.command["drive.torque"] = 0.0
    sim.step(1)
    assert sim.step_count == 4


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_substeps_are_smaller_steps(integrator):
    """h = dt / 4 is exact in binary, so four substeps give the bits of four small steps."""
    system = mixed(2)
    whole = lj.Simulation(system, dt=2.0**-8, integrator=integrator, substeps=4)
    small = lj.Simulation(system, dt=2.0**-10, integrator=integrator)
    whole.step(50)
    small.step(200)
    assert np.array_equal(whole.q, small.q)
    assert np.array_equal(whole.v, small.v)
    assert whole.time == small.time == 50 * 2.0**-8
    assert whole.step_count == 50


def test_implicit_equals_its_defining_equation():
    """(M + hC + h²K) a = tau - hKv - bias for one step, hinge-diagonal C and K, solved densely."""
    system, h = mixed(3), 1e-2
    dynamics, q, v = lj.Dynamics(system), system.q0, system.v0
    dofs = [dof for body in system.bodies for dof in body.hinge.dofs]
    C, K = np.diag([d.damping for d in dofs]), np.diag([d.stiffness for d in dofs])
    right = dynamics.passive(q, v) - h * K @ v - dynamics.bias(q, v)
    a = np.linalg.solve(dynamics.mass_matrix(q) + h * C + h * h * K, right)
    expected = euler(system, v, a, h)
    sim = lj.Simulation(system, dt=h, integrator="implicit")
    sim.step()
    figure(
        "velocities after an implicit step",
        sim.v,
        expected,
        oracle="(M + hC + h²K) a = τ - hKv - bias, dense",
        atol=1e-11 * np.abs(expected).max(),
    )
