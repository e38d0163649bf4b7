"""Trees with modal bodies: identities of the algorithms, sums over all particles, conservation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from tests.engine.kernels.flexible.particles import Flexible, Sums, random_flexible, random_state
from tests.validation.figures import figure

SEEDS = range(12)


def made(
    seed: int, curved: float = 0.0, deformed: float = 0.05
) -> tuple[Flexible, np.ndarray, np.ndarray, np.random.Generator]:
    rng = np.random.default_rng(seed)
    found = random_flexible(rng, curved)
    return found, *random_state(found.system, rng, deformed), rng


@pytest.mark.parametrize("seed", SEEDS)
def test_the_algorithms_agree(seed):
    found, q, v, rng = made(seed, curved=0.1)
    dynamics, tau = lj.Dynamics(found.system), rng.normal(size=found.system.nv)
    M, vdot = dynamics.mass_matrix(q), dynamics.forward(q, v, tau)
    size = np.abs(vdot).max() + 1.0
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0.0
    figure(
        "torques after forward and inverse dynamics",
        dynamics.inverse(q, v, vdot),
        tau,
        oracle="identity",
        atol=1e-10 * size,
    )
    figure("torques by mass matrix and bias", M @ vdot + dynamics.bias(q, v), tau, oracle="identity", atol=1e-10 * size)
    figure("kinetic energy", dynamics.energy(q, v)[0], 0.5 * v @ M @ v, unit="J", oracle="½ v·M v", rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_jacobians_are_those_of_the_motion(seed):
    found, q, v, _ = made(seed, curved=0.1)
    dynamics = lj.Dynamics(found.system)
    for node in ("hand", "wheel", "panel.node0", "boom", "boom.node1"):
        twist = dynamics.velocity(node, q, v)
        figure(
            "Jacobian times velocity",
            dynamics.jacobian(node, q) @ v,
            twist,
            oracle="velocity of the node",
            atol=1e-12 * (1 + np.abs(twist).max()),
        )


def coordinate_rates(system: lj.System, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """dq/dt."""
    from limberjack.engine.kernels.entry_points import entries
    from limberjack.engine.model.build import build

    plant = build(system)
    state, rate = np.zeros(plant.state_size), np.zeros(system.nq)
    state[2 : 2 + system.nq], state[2 + system.nq : 2 + system.nq + system.nv] = q, v
    entries().rates(plant.ints, plant.floats, state, rate)
    return rate


def unit(system: lj.System, q: np.ndarray) -> np.ndarray:
    """q with its quaternions made unit."""
    new, start = q.copy(), 0
    for body in system.bodies:
        if body.hinge.kind.q[:1] == ("qw",):
            new[start : start + 4] /= np.linalg.norm(new[start : start + 4])
        start += body.hinge.kind.nq
    return new


def moved(system: lj.System, q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
    """q after a time t at the velocities v, by the engine's own step without forces."""
    return unit(system, q + t * coordinate_rates(system, q, v))


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_the_sum_over_all_particles(seed):
    """Displacements linear in η: then the integrals are exact, however large it is."""
    found, q, _, _ = made(seed, curved=0.0, deformed=0.3)
    sums, h, columns = Sums(found), 1e-6, []
    mass = sums.points(q)[0]
    for j in range(found.system.nv):
        unit = np.eye(found.system.nv)[j]
        ahead, behind = (sums.points(moved(found.system, q, unit, t))[1] for t in (h, -h))
        columns.append((ahead - behind) / (2.0 * h))
    J = np.array(columns)
    expected = np.einsum("k,aki,bki->ab", mass, J, J)
    M = lj.Dynamics(found.system).mass_matrix(q)
    figure("mass matrix", M, expected, oracle="sum over all particles", atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_and_momentum_are_kept_to_the_order_of_the_integrator(seed):
    found, q, v, _ = made(seed, curved=0.1, deformed=0.01)
    free = undamped(found.system)
    drifts = [drift(free, q, 0.3 * v, dt) for dt in (2e-3, 1e-3)]
    for coarse, fine in zip(*drifts):
        figure(
            "drift of energy and momentum at half the step",
            fine,
            oracle="a share of 1/11 of that at the whole step",
            below=max(coarse / 11.0, 1e-11),
        )  # fourth order: sixteen times less


def undamped(system: lj.System) -> lj.System:
    bodies = [
        replace(body, hinge=replace(body.hinge, dofs=tuple(replace(dof, damping=0.0) for dof in body.hinge.dofs)))
        for body in system.bodies
    ]
    return replace(system, bodies=tuple(bodies), gravity=np.zeros(3))


def drift(system: lj.System, q: np.ndarray, v: np.ndarray, dt: float) -> tuple[float, float]:
    """Relative change of energy, and of momentum, over 0.2 s."""
    simulation = lj.Simulation(system, dt=dt)
    simulation.q, simulation.v = q, v
    energy, momentum = whole_energy(simulation), simulation.dynamics.momentum(simulation.q, simulation.v)
    simulation.step(round(0.2 / dt))
    change = simulation.dynamics.momentum(simulation.q, simulation.v) - momentum
    return abs(whole_energy(simulation) / energy - 1.0), float(np.abs(change).max() / np.abs(momentum).max())


def whole_energy(simulation: lj.Simulation) -> float:
    """Kinetic energy and that of the modes' springs."""
    stiffness = [dof.stiffness for body in simulation.system.bodies for dof in body.hinge.dofs if body.hinge.modes]
    places = [i for i, name in enumerate(simulation.system.coordinate_names) if ".modes." in name]
    return (
        simulation.dynamics.energy(simulation.q, simulation.v)[0]
        + 0.5 * np.array(stiffness) @ simulation.q[places] ** 2
    )
