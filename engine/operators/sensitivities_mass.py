"""Derivatives of the mass matrix 𝓜 along each generalized velocity: its gradient, Christoffel symbols and the Coriolis
vector from them, log det 𝓜 and its gradient (the Fixman potential).

Direction i is that of generalized velocity i (see `sensitivities`); for quasi-velocities the directions do not commute,
and the Christoffel symbols carry the Hamel terms that this asks for.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from limberjack.engine.operators.spatial import force_cross, motion_cross
from limberjack.engine.operators.vectors import StackedVector
from limberjack.engine.operators.workbench import Operators, tree_operators_of


def mass_matrix_gradient(ops: Operators) -> np.ndarray:
    """[𝓜]_θi for every direction: (nv, nv, nv), entry [i, j, k] is the derivative of 𝓜_jk along i. (42)

    With A = φ M φ* H* each is X + X*, X = (N* + H φ Δ) A, where Δ and N have one block, that of the hinge.
    """
    tree_operators_of(ops, "gradients of the mass matrix")
    nv, A, H_phi = ops.velocity_space.size, _momenta(ops), (ops.H * ops.phi).to_array()
    gradient = np.zeros((nv, nv, nv))
    for i, k, Delta, N in _directions(ops):
        rows, own = ops.body_space.slices[k], ops.velocity_space.slices[k]
        X = H_phi[:, rows] @ Delta @ A[rows]
        X[own] += N.T @ A[rows]
        gradient[i] = X + X.T
    return gradient


def christoffel_symbols(ops: Operators) -> np.ndarray:
    """Γ of the first kind: (nv, nv, nv), symmetric in its last two indices; the Coriolis vector is Γ_i(j, k) v_j v_k.

        Γ_i(j, k) = ½ ([𝓜_ij]_k + [𝓜_ik]_j - [𝓜_jk]_i) + ½ (S_ij(k) + S_ik(j))            (38), (Hamel)

    S_ij(k) = b_ij* A_k, with A_k the momentum beyond the hinge at unit velocity k. It vanishes for hinges whose
    velocities are rates of their coordinates: b_ij is what fails in the equality of their mixed derivatives. A custom
    hinge may be nonholonomic; b_ij then leaves the range of H*, and the symbols are those of d'Alembert's principle.
    """
    gradient = mass_matrix_gradient(ops)
    S = np.einsum("ija,ak->ijk", _curls(ops), _momenta(ops))
    halves = gradient.transpose(1, 2, 0) - 0.5 * gradient + S
    return np.asarray(0.5 * (halves + halves.transpose(0, 2, 1)))


def coriolis(ops: Operators) -> StackedVector:
    """Coriolis and gyroscopic forces Γ_i(j, k) v_j v_k, N·m and N: H φ (M φ* a + b), by the other road. (17)"""
    v = ops.beta.to_array()
    return StackedVector(ops.velocity_space, christoffel_symbols(ops) @ v @ v, "C")


def log_det(ops: Operators) -> float:
    """log det 𝓜 = Σ log det D(k), O(N): the innovations factor has determinant 1.

    This is the Fixman potential U of (47); in a simulation at temperature T it acts with the weight ½ k_B T.
    """
    return float(sum(np.linalg.slogdet(ops.D[name])[1] for name in ops.block_names))


def log_det_gradient(ops: Operators) -> np.ndarray:
    """[log det 𝓜]_θi for every direction, (nv,), O(N) for all of them together. (48)

    2 trace(Υ Δ P) + 2 trace((D⁻¹ H - G* U tau_bar) P N), U = φ*(parent, k) Υ(parent) φ(parent, k), blocks of the hinge;
    N = 0 and Δ = h~ leave the papers' 2 trace(P Υ H~).
    """
    tree_operators_of(ops, "gradients of the mass matrix")
    gradient = np.zeros(ops.velocity_space.size)
    P, D_inverse, H, G, tau_bar = ops.P, ops.D.inverse(), ops.H, ops.G, ops.tau_bar
    for i, k, Delta, N in _directions(ops):
        left = D_inverse.block(k, k) @ H.block(k, k) - G.block(k, k).T @ _inboard(ops, k) @ tau_bar.block(k, k)
        seen = ops.Upsilon.block(k, k) @ Delta @ P.block(k, k)
        gradient[i] = 2 * (np.trace(seen) + np.trace(left @ P.block(k, k) @ N))
    return gradient


def _momenta(ops: Operators) -> np.ndarray:
    """A = φ M φ* H*, (6 bodies, nv): momentum of all beyond each hinge, for unit velocities."""
    return (ops.phi * ops.M * ops.phi.T * ops.H.T).to_array()


def _inboard(ops: Operators, k: int) -> np.ndarray:
    """U, the operational-space compliance of what body k hangs from, at its frame; 0 on the ground."""
    parent = ops.graph.parents[k]
    if parent < 0:
        return np.zeros((6, 6))
    phi = ops.E_phi.block(parent, k)
    return np.asarray(phi.T @ ops.Upsilon.block(parent, parent) @ phi)


def _curls(ops: Operators) -> np.ndarray:
    """b_ij = [H*_j]_i - [H*_i]_j + H*_i~ H*_j of directions in one hinge, else 0: (nv, nv, 6 bodies)."""
    nv = ops.velocity_space.size
    curls = np.zeros((nv, nv, ops.body_space.size))
    for i, k, _, N in _directions(ops):
        rows, own = ops.body_space.slices[k], ops.velocity_space.slices[k]
        change = ops.hinge_motions[k].dH_star
        curls[i, own, rows] = N.T - change[:, :, i - own.start]
    return curls


def _directions(ops: Operators) -> Iterator[tuple[int, int, np.ndarray, np.ndarray]]:
    """Index of each generalized velocity, place of its body, and there Δ (6, 6) and N (6, r)."""
    i = 0
    for k, motion in enumerate(ops.hinge_motions):
        for change, h in zip(motion.dH_star, motion.H_star.T):
            yield i, k, force_cross(h), change + motion_cross(h) @ motion.H_star
            i += 1
