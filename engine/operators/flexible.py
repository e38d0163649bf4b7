"""Modal bodies in the workbench: their modal mass matrix and the map to their attachment nodes (003 eqs. 13 to 40).

A modal body is three kinds of links (decision 0009, after 003 eq. 61). The one that its hinge moves has blocks of six.
The modal link is fixed to it, has the modal rates as its velocities, and n + 6 rows, V_m = [dη/dt; V]:

    H* = [1; 0],    φ(body, modal) = [0, 1],    M_m = [m_f, N*, S*; N, J, s~; S, -s~, m]        (18), (25)

From there its nodes are moved by 𝒜 = [Π*; φ], Π the velocity of the node for each modal rate. (7), (17) With
displacements of second order in η and finite turning, in the node's axes,

    p = p0 + Πt η + ½ η* G η,    R = Exp(θ) R0,  θ = Πr η,    Π = [R0* J_r(θ) Πr; R* (Πt + G η)].

M_m depends on η, and its kinetic energy alone gives the bias forces. The coefficients below are power series, so that a
complex step differentiates all of it. Nothing here is shared with the compiled kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from limberjack.engine.model.flexible import is_full
from limberjack.engine.model.system import Hinge, Pose
from limberjack.engine.modes.modal import Attachment, Integrals
from limberjack.engine.operators.hinge_motion import HingeMotion
from limberjack.engine.operators.spatial import force_cross, skew

#: terms of the series in the square of an angle: below rounding up to ten radians
_TERMS = 32


@dataclass(frozen=True, eq=False)
class NodeMotion:
    """An attachment node at given modal coordinates (n,).

    pose : of the node in the frame of its body
    Pi : (6, n), velocity of the node against its body for each modal rate, axes of the node
    dPi : (n, 6, n), dPi[s] is the derivative of the numbers Pi along coordinate s
    """

    pose: Pose
    Pi: np.ndarray
    dPi: np.ndarray


class ModalInertia:
    """M_m and its derivatives at given modal coordinates; rows and columns are [modes; angular; linear].

    masses (n,) : of the modes, kg
    """

    def __init__(self, modes: Integrals, masses: np.ndarray, eta: np.ndarray) -> None:
        self._modes, self._masses, self._eta = modes, masses, eta
        self._full = is_full(modes)

    @cached_property
    def M(self) -> np.ndarray:
        """(n + 6, n + 6). (25)"""
        m, eta = self._modes, self._eta
        s, J, N = m.s0, m.J0, m.N0
        if self._full:
            s = s + 0.5 * (m.S1 + self._S) @ eta
            J = J + 0.5 * np.einsum("rij,r->ij", m.J1 + self._dJ, eta)
            N = N + m.N1 @ eta
        return _modal_matrix(np.diag(self._masses), N, self._S, J, s, m.m)

    @cached_property
    def dM(self) -> np.ndarray:
        """(n, n + 6, n + 6), its derivatives along η; zero where it is ruthlessly linearised."""
        m, n = self._modes, len(self._masses)
        zero = np.zeros((n, n))
        if not self._full:
            return np.zeros((n, n + 6, n + 6))
        parts = [_modal_matrix(zero, m.N1[:, :, t], m.S2[:, :, t], self._dJ[t], self._S[:, t], 0.0) for t in range(n)]
        return np.array(parts).reshape(n, n + 6, n + 6)

    def bias(self, V: np.ndarray) -> np.ndarray:
        """b_m (n + 6,) at the modal spatial velocity V_m (n + 6,). (39)

        Lagrange's equations of ½ V_m* M_m V_m: (dM_m/dt) V_m + [-½ V_m* (∂M_m/∂η) V_m; V × p], p the momentum of
        the frame. Ruthlessly linearised, what is left keeps v an acceleration in space.
        """
        n = len(self._masses)
        cross = force_cross(V[n:])
        if not self._full:
            return np.concatenate([self._S.T @ np.cross(V[n : n + 3], V[n + 3 :]), cross @ self.M[n:, n:] @ V[n:]])
        slopes = self.dM @ V
        b = np.einsum("ta,t->a", slopes, V[:n])
        b[:n] -= 0.5 * slopes @ V
        b[n:] += cross @ self.M[n:] @ V
        return np.asarray(b)

    @cached_property
    def _S(self) -> np.ndarray:
        """∂s/∂η (3, n)."""
        m = self._modes
        return np.asarray(m.S1 + m.S2 @ self._eta) if self._full else m.S1

    @cached_property
    def _dJ(self) -> np.ndarray:
        """∂J/∂η (n, 3, 3)."""
        return np.asarray(self._modes.J1 + np.einsum("rsij,s->rij", self._modes.J2, self._eta))


def _modal_matrix(
    masses: np.ndarray, N: np.ndarray, S: np.ndarray, J: np.ndarray, s: np.ndarray, m: float
) -> np.ndarray:
    """[m_f, N*, S*; N, J, s~; S, -s~, m]."""
    return np.block([[masses, N.T, S.T], [N, J, skew(s)], [S, -skew(s), m * np.eye(3)]])


def modal_motion(n: int) -> HingeMotion:
    """The link of n modes: fixed to the one that carries it, its own velocities first. (18)"""
    return HingeMotion(Pose(), np.eye(n + 6, n), np.zeros((n, n + 6, n)))


def rows_of(hinge: Hinge) -> int:
    """Rows of a link's block: 6, and one for each mode of a modal one."""
    return 6 + (0 if hinge.modes is None else hinge.nv)


def node_motion(node: Attachment, eta: np.ndarray) -> NodeMotion:
    """The motion of an attachment node at the modal coordinates eta (n,)."""
    theta, R0 = node.Pr @ eta, node.R0
    x, T = theta @ theta, skew(theta)
    a, da = _series(2, x)
    b, db = _series(3, x)
    R = (np.eye(3) + (1.0 - b * x) * T + a * T @ T) @ R0
    bent = node.Pt + node.G @ eta
    turning = R0.T @ (np.eye(3) - a * T + b * T @ T) @ node.Pr
    rates = []
    for s, delta in enumerate(node.Pr.T):
        U, slope = skew(delta), 2.0 * theta @ delta
        dJ = -a * U - da * slope * T + b * (U @ T + T @ U) + db * slope * T @ T
        moved = R.T @ node.G[:, :, s] - skew(turning[:, s]) @ R.T @ bent
        rates.append(np.vstack([R0.T @ dJ @ node.Pr, moved]))
    n = len(eta)
    position = node.p0 + 0.5 * (node.Pt + bent) @ eta
    return NodeMotion(Pose(R, position), np.vstack([turning, R.T @ bent]), np.array(rates).reshape(n, 6, n))


def _series(first: int, x: complex) -> tuple[complex, complex]:
    """Σ (-x)^k / (2 k + first)! and its derivative: (1 - cos φ) / φ² for 2 and (φ - sin φ) / φ³ for 3, x = φ²."""
    total: complex = 0.0
    slope: complex = 0.0
    for k in reversed(range(_TERMS)):  # Horner: total = 1 / first! (1 - x / ((first+1)(first+2)) (1 - …))
        ratio = 1.0 / ((2 * k + first + 1) * (2 * k + first + 2))
        total, slope = 1.0 - ratio * x * total, -ratio * (total + x * slope)
    factor = 1.0 / (2.0 if first == 2 else 6.0)
    return factor * total, factor * slope
