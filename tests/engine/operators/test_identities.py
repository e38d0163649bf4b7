"""Every operator identity of the papers on random trees of all hinge types, whole and in part, against dense numpy.

Rotor inertia J is no part of the papers: where it enters, the identity is stated with it.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

from limberjack.engine.operators import Operators
from tests.engine.operators.parts import random_part, same
from tests.engine.random_systems import random_state, trees

TREES = settings(max_examples=40, deadline=None)
#: 1e-16 times this leaves a hundred roundings below 1e-10
MOST_CONDITION = 1e4


def both(tree) -> list[Operators]:
    """Operators of the whole and of a random part of it."""
    system, rng = tree
    q, v = random_state(system, rng)
    made = [Operators(system, q, v), Operators(system, q, v, bodies=random_part(system, rng))]
    assume(all(well_conditioned(o) for o in made))
    return made


def well_conditioned(o: Operators) -> bool:
    """No random custom hinge whose directions nearly coincide: D⁻¹ has lost as many digits as D's condition has."""
    blocks = [o.D[name] for name in o.body_names]
    return all(np.linalg.cond(block) < MOST_CONDITION for block in blocks if block.size)


@TREES
@given(trees())
def test_propagation_is_the_resolvent(tree):
    for o in both(tree):
        one = np.eye(o.body_space.size)
        for E, phi in ((o.E_phi, o.phi), (o.E_psi, o.psi)):
            same(phi, np.linalg.inv(one - E.to_array()))
            same(phi.T, phi.to_array().T)
            same((o.I - E).inverse(), phi)
            same((o.I - E.T).inverse(), phi.T)
            same(phi.inverse(), one - E.to_array())


@TREES
@given(trees())
def test_products_with_vectors_are_those_of_the_matrices(tree):
    for o in both(tree):
        x, y = np.arange(1.0, 1.0 + o.body_space.size), np.ones(o.velocity_space.size)
        for A in (o.phi, o.psi, o.phi.T, o.psi.T, o.Omega, o.M, o.H, o.H.T * o.D.inverse() * o.H * o.psi):
            same(A * x, A.to_array() @ x)
        for A in (o.H.T, o.K, o.I + o.H * o.phi * o.K, o.G):
            same(A * y, A.to_array() @ y)


@TREES
@given(trees(armature=False))
def test_identities_26_27_29(tree):
    for o in both(tree):
        H, phi, psi, K, M, D, I = o.H, o.phi, o.psi, o.K, o.M, o.D, o.I
        assert ((I - H * psi * K) * H * phi - H * psi).is_zero()
        assert (phi * K * (I - H * psi * K) - psi * K).is_zero()
        assert ((I + H * phi * K) * H * psi - H * phi).is_zero()
        assert (psi * K * (I + H * phi * K) - phi * K).is_zero()
        assert (D - H * psi * M * psi.T * H.T).is_zero()
        assert ((I + H * phi * K) * (I - H * psi * K)).is_identity()
        assert (psi.inverse() - phi.inverse() - K * H).is_zero()


@TREES
@given(trees())
def test_identities_26_27_29_with_rotors(tree):
    for o in both(tree):
        H, phi, psi, K, M, D, I, J = o.H, o.phi, o.psi, o.K, o.M, o.D, o.I, o.J
        back = I - H * psi * K
        assert (back * H * phi - H * psi).is_zero()
        assert (D - H * psi * M * psi.T * H.T - back * J * back.T).is_zero()
        assert ((I + H * phi * K) * back).is_identity()


@TREES
@given(trees())
def test_three_factorisations_and_the_inverse(tree):
    for o in both(tree):
        H, phi, psi, K, M, D, R, I, J = o.H, o.phi, o.psi, o.K, o.M, o.D, o.R, o.I, o.J
        mass = H * phi * M * phi.T * H.T + J
        dense = H.to_array() @ phi.to_array() @ M.to_array() @ phi.to_array().T @ H.to_array().T + J.to_array()
        same(mass, dense)
        same(H * (phi * R + R * phi.T - R) * H.T + J, dense)
        factor = I + H * phi * K
        same(factor * D * factor.T, dense)
        inverse = (I - H * psi * K).T * D.inverse() * (I - H * psi * K)
        terms = max(1.0, mass.scale * inverse.scale)  # what the entries of the product are sums of
        assert (mass * inverse).is_identity(1e-10 * terms)
        cross = D.inverse() * H * psi * K
        same(D.inverse() - cross - cross.T + K.T * o.Omega * K, inverse)


@TREES
@given(trees())
def test_inverse_of_the_factor_is_a_recursion(tree):
    for o in both(tree):
        H, phi, psi, K, I = o.H, o.phi, o.psi, o.K, o.I
        same((I + H * phi * K).inverse(), I - H * psi * K)
        same((I - H * psi * K).inverse(), I + H * phi * K)
        same((I + H * phi * K).T.inverse(), (I - H * psi * K).T)


@TREES
@given(trees())
def test_lyapunov_equations(tree):
    for o in both(tree):
        same(o.M, o.R - o.E_phi * o.R * o.E_phi.T)
        X = o.H.T * o.D.inverse() * o.H
        residual = (o.Upsilon - o.E_psi.T * o.Upsilon * o.E_psi).to_array()
        for name in o.body_names:
            s = o.body_space.slices[o.body_space.place(name)]
            assert np.max(np.abs(residual[s, s] - X[name])) <= 1e-10 * max(o.Upsilon.scale, 1e-300)


@TREES
@given(trees(armature=False))
def test_riccati_equation(tree):
    """(25), and the articulated-body relations (23), (24)."""
    for o in both(tree):
        assert (o.M - (o.P - o.E_psi * o.P * o.E_psi.T)).is_zero()
        passed = o.P - o.G * o.D * o.G.T
        for P_plus in (o.P_plus, o.tau_bar * o.P, o.P * o.tau_bar.T, o.tau_bar * o.P * o.tau_bar.T):
            assert (passed - P_plus).is_zero()
        assert (o.tau_bar * o.P * o.H.T).to_array() == pytest.approx(0.0, abs=1e-10 * o.P.scale)
        same(o.P, o.P.T)


@TREES
@given(trees())
def test_riccati_equation_with_rotors(tree):
    for o in both(tree):
        P, K = o.P, o.K
        assert (P - o.M - o.E_psi * P * o.E_psi.T - K * o.J * K.T).is_zero()
        same(P, o.E_phi.riccati(o.M, o.H, o.J))


@TREES
@given(trees())
def test_omega_by_the_branch_rule(tree):
    for o in both(tree):
        psi, H, D = o.psi.to_array(), o.H.to_array(), o.D.to_array()
        dense = psi.T @ H.T @ np.linalg.inv(D) @ H @ psi
        same(o.Omega, dense)
        for i, a in enumerate(o.body_names):
            for j, b in enumerate(o.body_names):
                block = dense[6 * i : 6 * i + 6, 6 * j : 6 * j + 6]
                assert np.max(np.abs(o.Omega[a, b] - block)) <= 1e-10 * np.max(np.abs(dense), initial=0.0)


@TREES
@given(trees())
def test_decomposition_35_and_what_branches_add(tree):
    """psi* Y + Y psi - Y is Omega where one body is on the path of the other, and zero elsewhere."""
    for o in both(tree):
        psi, Y = o.psi, o.Upsilon
        left = (o.Omega - (psi.T * Y + Y * psi - Y)).to_array()
        full, size = o.Omega.to_array(), np.max(np.abs(o.Omega.to_array()), initial=0.0)
        related = o.phi.to_array() != 0.0
        on_path = np.kron(_any(related), np.ones((6, 6), dtype=bool))
        on_path |= on_path.T
        assert np.max(np.abs(left[on_path]), initial=0.0) <= 1e-10 * size
        assert np.max(np.abs((left - full)[~on_path]), initial=0.0) <= 1e-10 * size


@TREES
@given(trees())
def test_operational_space_inertia(tree):
    for o in both(tree):
        ends = o.B(*o.body_names[-2:])
        jacobian = (ends.T * o.phi.T * o.H.T).to_array()
        mass = (o.H * o.phi * o.M * o.phi.T * o.H.T + o.J).to_array()
        same(ends.T * o.Omega * ends, jacobian @ np.linalg.solve(mass, jacobian.T))


@TREES
@given(trees())
def test_forward_dynamics_31_solves_17(tree):
    for o in both(tree):
        H, phi, psi, K, M, P, D, G = o.H, o.phi, o.psi, o.K, o.M, o.P, o.D, o.G
        T, a, b = np.linspace(-1.0, 1.0, o.velocity_space.size), o.a + o.g, o.b
        z = psi * (K * T + P * a + b)
        nu = D.inverse() * (T - H * z)
        alpha = psi.T * (H.T * nu + a)
        acceleration = nu - G.T * o.E_phi.T * alpha
        same(H * (phi * (M * alpha + b)) + o.J * acceleration, T)
        same(alpha, phi.T * (H.T * acceleration + a))


def _any(mask: np.ndarray) -> np.ndarray:
    n = mask.shape[0] // 6
    return mask.reshape(n, 6, n, 6).any(axis=(1, 3))
