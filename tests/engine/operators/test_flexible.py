"""Flexible bodies in the workbench: the expressions of rigid bodies, against the compiled kernels and direct sums."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.flexible import modal_bodies
from limberjack.engine.model.system import Body, Dof, Hinge, System
from limberjack.engine.model.validate import validate
from limberjack.engine.modes import integrals
from limberjack.engine.modes.modal import Integrals
from limberjack.engine.operators import DiagonalDynamics, LoopForces, Operators, Sensitivity
from limberjack.engine.operators.closure import STEP
from limberjack.engine.operators.flexible import ModalInertia, node_motion
from limberjack.engine.operators.sensitivities_mass import log_det, mass_matrix_gradient
from limberjack.engine.operators.spatial import skew
from tests.engine.kernels.flexible.beams import Strip
from tests.engine.kernels.flexible.closed import looped, onto, rows
from tests.engine.kernels.flexible.particles import cloud, hinge, random_flexible, random_state, rigid
from tests.engine.operators.parts import same

SEEDS = range(8)


def ruthless(full: Integrals) -> Integrals:
    """The variant "linearized"."""
    zero = {name: np.zeros_like(getattr(full, name)) for name in ("S2", "J1", "J2", "N1")}
    nodes = tuple(replace(node, G=np.zeros_like(node.G)) for node in full.attachments)
    return replace(full, attachments=nodes, **zero)


def spacecraft(rng: np.random.Generator) -> System:
    """A free flexible bus, ruthlessly linearised, with a wheel and an arm on its nodes and two flexible tips."""
    bus, tip, vane = (cloud(rng, int(rng.integers(1, 6)), nodes, 0.1) for nodes in (2, 0, 1))
    wheel, arm = hinge(rng, "spin", "revolute", "bus.node0"), hinge(rng, "elbow", "spherical", "bus.node1")
    mast = replace(hinge(rng, "mast", "revolute", "arm"), type="fixed", axes=np.zeros((0, 3)))
    wheel = replace(wheel, dofs=(Dof(armature=0.3),))
    bodies = [*modal_bodies("bus", hinge(rng, "root", "free", None), ruthless(bus.integrals()))]
    bodies += [Body("wheel", rigid(rng), wheel), Body("arm", rigid(rng), arm)]
    bodies += modal_bodies("tip", hinge(rng, "wrist", "universal", "arm"), tip.integrals())
    bodies += modal_bodies("vane", mast, ruthless(vane.integrals()))
    return validate(System("spacecraft", tuple(bodies)))


def drawn(seed: int) -> tuple[Operators, lj.Dynamics, np.ndarray, np.ndarray, np.ndarray]:
    """Operators and kernels of a random model at a random state, with forces."""
    rng = np.random.default_rng(seed)
    system = spacecraft(rng) if seed % 2 else random_flexible(rng, 0.1, "revolute" if seed % 4 else "free").system
    q, v = random_state(system, rng, 0.1)
    return Operators(system, q, v), lj.Dynamics(system), q, v, rng.normal(size=system.nv)


def close(actual: object, expected: np.ndarray, size: float = 1.0) -> None:
    size = max(size, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(np.asarray(actual), expected, rtol=0, atol=1e-10 * size)


@pytest.mark.parametrize("seed", SEEDS)
def test_kernels_have_the_same_numbers(seed):
    o, dynamics, q, v, T = drawn(seed)
    H, phi, M, psi, a, b = o.H, o.phi, o.M, o.psi, o.a + o.g, o.b
    mass, bias = H * phi * M * phi.T * H.T + o.J, H * phi * (b + M * phi.T * a)
    close(mass, dynamics.mass_matrix(q))
    close(bias, dynamics.bias(q, v))
    expected = dynamics.forward(q, v, T)
    nu = o.D_inverse * (T - H * (psi * (o.K * T + o.P * a + b)))
    alpha = psi.T * (H.T * nu + a)
    close(nu - o.G.T * o.E_phi.T * alpha, expected, np.abs(alpha).max())
    close(mass * expected + bias, T, np.abs(bias).max())
    assert 0.5 * (o.V.T * M * o.V + o.beta.T * o.J * o.beta) == pytest.approx(dynamics.energy(q, v)[0], rel=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_nodes(seed):
    o, dynamics, q, v, _ = drawn(seed)
    for name in o.body_names:
        B, (R, p) = o.B(name, axes="inertial"), dynamics.pose(name, q)
        close(o.pose(name).rotation, R)
        close(o.pose(name).position, p)
        close(B.T * o.phi.T * o.H.T, dynamics.jacobian(name, q))
        close(B.T * o.V, dynamics.velocity(name, q, v))


@pytest.mark.parametrize("seed", SEEDS)
def test_identities(seed):
    """(28) to (31) and (48) to (56) of 003, with rotors, and those of the operational space."""
    o = drawn(seed)[0]
    H, phi, M, J, psi, K, D, R, I = o.H, o.phi, o.M, o.J, o.psi, o.K, o.D, o.R, o.I
    mass = H * phi * M * phi.T * H.T + J
    factor, back = I + H * phi * K, I - H * psi * K
    assert (phi * M * phi.T - (phi * R + R * phi.T - R)).is_zero()
    assert (factor * D * factor.T).equals(mass)
    assert (factor * back).is_identity()
    assert (mass * back.T * o.D_inverse * back).is_identity()
    assert (back * H * phi - H * psi).is_zero()
    assert (phi * K * back - psi * K).is_zero()
    assert (psi.inverse() - phi.inverse() - K * H).is_zero()
    assert (o.P - M - o.E_psi * o.P * o.E_psi.T - K * J * K.T).is_zero()
    same(phi, np.linalg.inv(np.eye(o.body_space.size) - o.E_phi.to_array()))
    same(psi * np.arange(o.body_space.size), psi.to_array() @ np.arange(o.body_space.size))
    same(o.Omega, psi.T * H.T * o.D_inverse * H * psi)
    B = o.B(*o.body_names[-2:])
    same(B.T * o.Omega * B, (B.T * phi.T * H.T) * mass.inverse() * (H * phi * B))
    assert log_det(o) == pytest.approx(np.linalg.slogdet(mass.to_array())[1], abs=1e-9)
    assert len(o.E_phi.blocks) == len(o.body_names) - 1  # no more than one block a link: φ is a sweep


@pytest.mark.parametrize("seed", SEEDS)
def test_the_smoother_gives_the_conditional_expectation(seed):
    """f = z + P α is cov(x, T) 𝓜⁻¹ T for x = φ w, cov w = M, T = H x + n, cov n = J (explanation/estimation.md)."""
    o, _, _, _, T = drawn(seed)
    M, H, phi = o.M.to_array(), o.H.to_array(), o.phi.to_array()
    spread = phi @ M @ phi.T
    expected = spread @ H.T @ np.linalg.solve(H @ spread @ H.T + o.J.to_array(), T)
    z = o.psi * (o.K * T)
    f = z + o.P * (o.psi.T * (o.H.T * (o.D_inverse * (T - o.H * z))))
    close(f, expected)


@pytest.mark.parametrize("seed", SEEDS)
def test_half_steps_of_the_paper(seed):
    """(62): the massless link has P_R = P_rr - g μ*, g = μ D_f⁻¹; nodes add 𝒜 P⁺ 𝒜* to M_m."""
    o, *_ = drawn(seed)
    for modal in o.graph.modal_names:
        n, body = len(o.H[modal]), modal.removesuffix(".modes")
        nodes = [name for name in o.body_names if name.startswith(f"{body}.node")]
        P = o.M[modal] + sum(o.E_phi[modal, name] @ o.P[name] @ o.E_phi[modal, name].T for name in nodes)
        close(o.P[modal], P)
        g = P[n:, :n] @ np.linalg.inv(P[:n, :n])
        hold = o.E_phi[body, modal][:, n:]  # to the hinge's frame
        close(o.P[body], hold @ (P[n:, n:] - g @ P[n:, :n].T) @ hold.T)
        close(o.D[modal], P[:n, :n])
        close(o.G[modal], np.vstack([np.eye(n), g]))


def test_a_long_chain_of_beams_stays_well():
    """Articulated inertias of 80 beams alike converge; a lopsided rounding in them would grow threefold a beam."""
    made, parent, bodies = integrals(Strip().data("cantilever", 8, 10), "root", ["tip"]), None, list[Body]()
    for i in range(80):
        turn = Hinge(f"h{i}", "revolute", parent, axes=np.array([[0.0, 1.0, 0.0]]))
        bodies += modal_bodies(f"b{i}", turn, made)
        parent = f"b{i}.tip"
    system = validate(System("chain", tuple(bodies)))
    o = Operators(system, system.q0)
    H, phi, K, M, I = o.H, o.phi, o.K, o.M, o.I
    factor = I + H * phi * K
    assert (factor * o.D * factor.T).equals(H * phi * M * phi.T * H.T)
    kept = [i for i in range(14) if i not in (8, 11)]  # all beyond turns about x and slides along it with each
    close(o.P["b3.modes"][np.ix_(kept, kept)], o.P["b20.modes"][np.ix_(kept, kept)])


@pytest.mark.parametrize("seed", SEEDS)
def test_modal_mass_matrix_is_the_sum_over_all_particles(seed):
    """(25): Σ m [P, -p~, 1]* [P, -p~, 1] at large deformation, displacements being linear in η."""
    rng = np.random.default_rng(seed)
    given, n = cloud(rng, 4, 1, 0.0), 4
    eta = rng.normal(size=n)
    found = ModalInertia(given.integrals(), np.zeros(n), eta).M
    found[:n, :n] += given.integrals().Mff
    maps = [np.hstack([P, -skew(p), np.eye(3)]) for P, p in zip(given.P, given.at(eta))]
    close(found, sum(m * J.T @ J for m, J in zip(given.mass, maps)))


@pytest.mark.parametrize("seed", SEEDS)
def test_derivatives_of_inertia_and_nodes(seed):
    """By complex steps; the last angles are large."""
    rng = np.random.default_rng(seed)
    made, n = cloud(rng, 3, 1, 0.3).integrals(), 3
    eta, masses = (0.1 + seed) * rng.normal(size=n), np.ones(n)
    node, inertia = made.attachments[0], ModalInertia(made, masses, eta)
    here = node_motion(node, eta)
    for s in range(n):
        moved = eta + 1j * STEP * np.eye(n)[s]
        there = node_motion(node, moved)
        close(here.dPi[s], there.Pi.imag / STEP)
        close(inertia.dM[s], ModalInertia(made, masses, moved).M.imag / STEP)
        turning = skew(here.Pi[:3, s])  # R* dR/dη
        close(turning, here.pose.rotation.T @ there.pose.rotation.imag / STEP)
        close(here.pose.rotation @ here.Pi[3:, s], there.pose.position.imag / STEP)


@pytest.mark.parametrize("kind", ["point", "weld"])
@pytest.mark.parametrize("seed", range(4))
def test_loops_by_force_and_embedded(seed, kind):
    system, q, v, rng = looped(seed, kind)
    dynamics, tau = lj.Dynamics(system), rng.normal(size=system.nv)
    v = onto(rows(system, lj.Dynamics(replace(system, loops=())), q), v)
    expected = dynamics.forward(q, v, tau)
    loops = LoopForces(Operators(system, q, v, embed=[]))
    found = loops.accelerations(tau)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    wrench = dynamics.loop_forces(q, v, tau)["tie"]
    given = loops.wrench("tie", loops.forces(tau))
    np.testing.assert_allclose(given, wrench, rtol=0, atol=1e-8 * np.abs(wrench).max())

    o = Operators(system, q, v, embed=["tie"])
    H, phi, M, D, I = o.H, o.phi, o.M, o.D, o.I
    factor = I + H * phi * o.K
    assert (factor * D * factor.T).equals(H * phi * M * phi.T * H.T + o.J)
    a, b, T = o.a + o.g, o.b, o.X.T * tau - o.c
    nu = o.D_inverse * (T - H * (o.psi * (o.K * T + o.P * a + b)))
    rates = nu - o.G.T * o.E_phi.T * (o.psi.T * (H.T * nu + a))
    everything = o.X * rates + o.X_dot * o.beta
    np.testing.assert_allclose(everything, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def test_diagonal_dynamics():
    """ν* C = 0, and the accelerations are those of the kernels: ν̇ = m* θ̈ + (dm/dt)* θ̇."""
    o, dynamics, q, v, T = drawn(0)
    diagonal = DiagonalDynamics(o)
    nu = diagonal.diagonal_velocities(v)
    assert 0.5 * nu.T * nu == pytest.approx(dynamics.energy(q, v)[0], rel=1e-11)
    C = diagonal.coriolis(nu)
    assert abs(nu.T * C) < 1e-9 * np.linalg.norm(nu) * np.linalg.norm(C)
    h, moved = 1e-6, []
    for t in (h, -h):
        ahead = o.displaced(o.beta)  # the motion of the coordinates to first order
        step = ahead.model.q.imag / STEP
        moved.append(DiagonalDynamics(Operators(o.system, _unit(o.system, q + t * step))).factor.to_array())
    expected = diagonal.factor.T * dynamics.forward(q, v, T) + (moved[0] - moved[1]).T / (2 * h) @ v
    got = diagonal.accelerations(nu, T)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-7 * np.abs(expected).max())


def _unit(system: System, q: np.ndarray) -> np.ndarray:
    start = 0
    for body in system.bodies:
        if body.hinge.kind.quasi:
            q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
        start += body.hinge.kind.nq
    return q


def test_a_part_has_the_links_of_its_flexible_bodies():
    o, dynamics, q, v, _ = drawn(0)
    part = Operators(o.system, q, v, bodies=["panel", "arm"])
    links = {"panel", "panel.modes", "panel.node0", "panel.node1"}
    assert set(part.body_names) == links | {"arm"}
    whole, own = dynamics.mass_matrix(q), [o.velocity_names.index(name) for name in part.velocity_names]
    alone = Operators(o.system, q, v, bodies=[name for name in o.body_names if name.startswith("panel")])
    assert set(alone.body_names) == links
    H, phi = part.H, part.phi
    loaded = H * phi * part.M * phi.T * H.T
    assert loaded.to_array().shape == whole[np.ix_(own, own)].shape
    X = part.diagonal({"panel.modes": part.M["panel.modes"], "arm": part.M["arm"]})
    same(H * phi * (part.M - X) * phi.T * H.T, np.zeros((len(own), len(own))))


def test_sensitivities_refuse_flexible_bodies_but_complex_steps_have_them():
    o, dynamics, q, _, _ = drawn(0)
    for refused in (lambda: Sensitivity(o, o.velocity_names[0]), lambda: mass_matrix_gradient(o)):
        with pytest.raises(lj.ArgumentError, match=r"for rigid bodies only: .*\(panel, boom\).* Operators.displaced"):
            refused()
    Sensitivity(Operators(o.system, q, bodies=["arm"]), o.velocity_names[o.velocity_names.index("elbow")])
    i, h = o.velocity_names.index("panel.modes.1"), 1e-5
    moved = o.displaced(o.beta * 0.0 + np.eye(len(q))[i, : len(o.velocity_names)])
    found = (moved.H * moved.phi * moved.M * moved.phi.T * moved.H.T).to_array().imag / STEP
    unit = h * np.eye(len(q))[o.system.coordinate_names.index("panel.modes.1")]
    expected = (dynamics.mass_matrix(q + unit) - dynamics.mass_matrix(q - unit)) / (2 * h)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())
