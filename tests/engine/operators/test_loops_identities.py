"""Every operator identity of trees on aggregated trees (001 §2 to §7), against dense numpy on the spanning tree."""

from __future__ import annotations

import numpy as np
import pytest

from limberjack.engine.operators import Operators
from tests.engine.operators.closed import COUNT, Drawn, embedded
from tests.engine.operators.parts import same


@pytest.fixture(params=range(COUNT))
def drawn(request: pytest.FixtureRequest) -> Drawn:
    return embedded(request.param)


def dense_mass(drawn: Drawn) -> np.ndarray:
    """X* 𝓜 X with the mass matrix of the spanning tree."""
    t, X = drawn.tree, drawn.ops.X.to_array()
    H, phi, M = t.H.to_array(), t.phi.to_array(), t.M.to_array()
    return X.T @ (H @ phi @ M @ phi.T @ H.T + t.J.to_array()) @ X


def test_aggregation_changes_no_velocity(drawn: Drawn):
    """(6), (7), (13), (28), (29): V = φ_a* H_a* θ̇ = φ_a* H_R* θ̇_R are the velocities of the spanning tree."""
    o, t = drawn.ops, drawn.tree
    of_tree = t.V
    for V in (o.V, o.phi.T * (o.H.T * o.beta), o.phi.T * (o.H_a.T * (o.X * o.beta))):
        for name in o.body_names:
            np.testing.assert_allclose(V[name], of_tree[name], rtol=0, atol=1e-10 * max(1.0, np.abs(of_tree).max()))
    for i in o.body_names:
        for j in o.body_names:  # φ = diag(φ_S) φ_a, block after block
            inner = _inner(o, t, i)
            total = sum(inner[k] @ o.phi[k, j] for k in inner)
            np.testing.assert_allclose(total, t.phi[i, j], rtol=0, atol=1e-10 * t.phi.scale)


def _inner(o: Operators, t: Operators, name: str) -> dict[str, np.ndarray]:
    """Row of φ_S at a body: over the bodies of its node."""
    node = next(parts for parts in o.body_space.parts if name in parts)
    return {k: t.phi[name, k] for k in node}


def test_joint_map(drawn: Drawn):
    """(26): H_R = X* H_a is block-diagonal, H_a = H φ_S within each node."""
    o, t = drawn.ops, drawn.tree
    same(o.H, o.X.T * o.H_a)
    for node, bodies in zip(o.block_names, o.body_space.parts, strict=True):
        alone = np.block([[t.phi[i, j] for j in bodies] for i in bodies])
        H = np.zeros((0, 6 * len(bodies)))
        for i, name in enumerate(bodies):
            rows = np.zeros((t.H[name].shape[0], 6 * len(bodies)))
            rows[:, 6 * i : 6 * i + 6] = t.H[name]
            H = np.vstack([H, rows])
        X = np.vstack([o.X[name, node] for name in bodies])
        same(o.H[node], X.T @ H @ alone)


def test_propagation_is_the_resolvent(drawn: Drawn):
    o = drawn.ops
    one = np.eye(o.body_space.size)
    for E, phi in ((o.E_phi, o.phi), (o.E_psi, o.psi)):
        assert E.leads_inward
        same(phi, np.linalg.inv(one - E.to_array()))
        same((o.I - E).inverse(), phi)
        same((o.I - E.T).inverse(), phi.T)


def test_operator_identities(drawn: Drawn):
    """(43) to (47) and what they are made of, with rotors."""
    o = drawn.ops
    H, phi, psi, K, M, D, I, J, P = o.H, o.phi, o.psi, o.K, o.M, o.D, o.I, o.J, o.P
    back = I - H * psi * K
    assert (back * H * phi - H * psi).is_zero()
    assert (phi * K * back - psi * K).is_zero()
    assert ((I + H * phi * K) * H * psi - H * phi).is_zero()
    assert (psi * K * (I + H * phi * K) - phi * K).is_zero()
    assert (D - H * psi * M * psi.T * H.T - back * J * back.T).is_zero()
    assert ((I + H * phi * K) * back).is_identity()
    assert (psi.inverse() - phi.inverse() - K * H).is_zero()
    assert (P - M - o.E_psi * P * o.E_psi.T - K * J * K.T).is_zero()
    assert (P - o.G * D * o.G.T - o.P_plus).is_zero()
    same(P, P.T)


def test_mass_matrix_in_minimal_coordinates_four_ways(drawn: Drawn):
    """(32), (46), (52) and composite bodies."""
    o = drawn.ops
    H, phi, K, M, D, I, J, R = o.H, o.phi, o.K, o.M, o.D, o.I, o.J, o.R
    dense = dense_mass(drawn)
    same(H * phi * M * phi.T * H.T + J, dense)
    same((I + H * phi * K) * D * (I + H * phi * K).T, dense)
    same(H * (phi * R + R * phi.T - R) * H.T + J, dense)
    assert (M - (R - o.E_phi * R * o.E_phi.T)).is_zero()
    H_a, t = o.H_a, drawn.tree
    same(o.X.T * (H_a * phi * M * phi.T * H_a.T + t.J) * o.X, dense)


def test_inverse_of_the_mass_matrix(drawn: Drawn):
    """(47), (48), and with Ω."""
    o = drawn.ops
    H, phi, psi, K, D, I = o.H, o.phi, o.psi, o.K, o.D, o.I
    mass = H * phi * o.M * phi.T * H.T + o.J
    inverse = (I - H * psi * K).T * D.inverse() * (I - H * psi * K)
    assert (mass * inverse).is_identity(1e-10 * max(1.0, mass.scale * inverse.scale))
    same((I + H * phi * K).inverse(), I - H * psi * K)
    cross = D.inverse() * H * psi * K
    same(D.inverse() - cross - cross.T + K.T * o.Omega * K, inverse)


def test_operational_space(drawn: Drawn):
    """Ω from its diagonal Υ; Λ of bodies inside and outside of loops is J 𝓜⁻¹ J*."""
    o = drawn.ops
    psi, H = o.psi.to_array(), o.H.to_array()
    same(o.Omega, psi.T @ H.T @ np.linalg.inv(o.D.to_array()) @ H @ psi)
    ends = o.B(*o.body_names[-2:])
    jacobian = (ends.T * o.phi.T * o.H.T).to_array()
    mass = dense_mass(drawn)
    same(ends.T * o.Omega * ends, jacobian @ np.linalg.solve(mass, jacobian.T))


def test_jacobians_are_those_of_the_tree_times_X(drawn: Drawn):
    o, t = drawn.ops, drawn.tree
    nodes = [node.name for node in o.system.nodes if node.body]
    for axes in ("node", "inertial"):
        jacobian = o.B(*nodes, axes=axes).T * o.phi.T * o.H.T
        same(jacobian, (t.B(*nodes, axes=axes).T * t.phi.T * t.H.T).to_array() @ o.X.to_array())


def test_forward_and_inverse_dynamics_are_the_oracles(drawn: Drawn):
    """(30), (31), (53): with Coriolis terms, gravity and rotors, against the dense null-space reference."""
    o, graph, tau = drawn.ops, drawn.graph, drawn.tau
    H, phi, psi, K, M, P, D, G = o.H, o.phi, o.psi, o.K, o.M, o.P, o.D, o.G
    expected = graph.oracle.solve(graph.q, graph.v, tau).vdot
    T, a, b = o.X.T * tau - o.c, o.a + o.g, o.b
    z = psi * (K * T + P * a + b)
    nu = D.inverse() * (T - H * z)
    alpha = psi.T * (H.T * nu + a)
    acceleration = nu - G.T * o.E_phi.T * alpha
    full = (o.X * acceleration + o.X_dot * o.beta).to_array()
    size = max(1.0, np.abs(expected).max(), np.abs(alpha).max())
    np.testing.assert_allclose(full, expected, rtol=0, atol=1e-10 * size)
    back = H * (phi * (M * alpha + b)) + o.J * acceleration
    np.testing.assert_allclose(back, T, rtol=0, atol=1e-10 * max(1.0, M.scale * size))
    same(alpha, phi.T * (H.T * acceleration + a))


def test_kinetic_energy(drawn: Drawn):
    o, t = drawn.ops, drawn.tree
    of_tree = 0.5 * (t.V.T * t.M * t.V + t.beta.T * t.J * t.beta)
    assert 0.5 * (o.V.T * o.M * o.V + o.beta.T * o.J * o.beta) == pytest.approx(of_tree, rel=1e-10)
    mass = o.H * o.phi * o.M * o.phi.T * o.H.T + o.J
    assert 0.5 * o.beta.T * mass * o.beta == pytest.approx(of_tree, rel=1e-10)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(COUNT, 150))
def test_many_more_graphs(seed):
    more = embedded(seed)
    for check in (
        test_aggregation_changes_no_velocity,
        test_joint_map,
        test_propagation_is_the_resolvent,
        test_operator_identities,
        test_mass_matrix_in_minimal_coordinates_four_ways,
        test_inverse_of_the_mass_matrix,
        test_operational_space,
        test_jacobians_are_those_of_the_tree_times_X,
        test_forward_and_inverse_dynamics_are_the_oracles,
        test_kinetic_energy,
    ):
        check(more)
