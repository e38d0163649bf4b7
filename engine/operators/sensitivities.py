"""Sensitivities: derivatives of the operators along a motion of the hinges, for every hinge type.

A direction θ is one generalized velocity, or any combination β of them: along the velocities of the motion itself the
derivative is the time derivative. Where velocities are quasi-velocities (a ball's ω, a free body's twist) this is the
derivative along the tangent direction of the manifold that they span; it is ∂/∂q only where v = dq/dt.

What is differentiated are the numbers in body axes that `to_array()` shows. They change in two places only, the pose
and the joint map of each moving hinge. With the twist h = H* β of O in O+ and the matrix h~ of a motion along h

    Δ = -h~*,  [E_phi]_θ = E_phi Δ,    [H*]_θ = its own derivative,    [M]_θ = 0,

and everything below follows. It is short when the joint map is seen from O+, where its change is N = [H*]_θ + h~ H*:
zero for every hinge of one degree of freedom, whatever its pitch. The papers write the same derivatives as an observer
in inertial axes sees them; `Hi`, `Hs`, `Hd`, `Hv` are their operators and `seen_from_ground` changes the observer.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.common import arguments
from limberjack.engine.operators.algebra import Operator
from limberjack.engine.operators.blocks import BlockOperator
from limberjack.engine.operators.spatial import force_cross, motion_cross, skew
from limberjack.engine.operators.vectors import StackedVector
from limberjack.engine.operators.workbench import Operators, tree_operators_of


class Sensitivity:
    """Derivatives [X]_θ of the operators X of one `Operators`, named as they are: ``d.phi`` is [phi]_θ.

    ops : the operators
    along : θ: the name of a generalized velocity, or numbers (nv,) of the sub-graph that combine all of them

    Each is made when first asked for, at the cost of one sweep; numbers are in body axes, per rad or m (or per the
    unit of `along`). Raises UnknownNameError for a name that is not there, ArgumentError for the wrong shape and where
    loops are embedded.
    """

    def __init__(self, ops: Operators, along: str | StackedVector | ArrayLike) -> None:
        self.ops = tree_operators_of(ops, "sensitivities")
        if isinstance(along, str):
            unit = arguments.index_of("velocity", along, ops.velocity_names)
            along = np.eye(ops.velocity_space.size)[unit]
        elif not isinstance(along, StackedVector):
            along = arguments.vector("along", along, (ops.velocity_space.size,))
        self.beta = StackedVector(ops.velocity_space, np.asarray(along), "beta")

    # What moves

    @cached_property
    def h(self) -> StackedVector:
        """Twist of each hinge, H* β."""
        return StackedVector(self.ops.body_space, self.ops.H.T * self.beta, "h")

    @cached_property
    def Delta(self) -> BlockOperator:
        """-h~*, block-diagonal: [φ(parent, k)]_θ = φ(parent, k) Δ(k)."""
        return self._diagonal([force_cross(self.h[name]) for name in self.ops.body_names], "Delta")

    @cached_property
    def N(self) -> BlockOperator:
        """[H*]_θ as seen from O+."""
        blocks = [motion_cross(self.h[body]) @ self.ops.H[body].T for body in self.ops.body_names]
        space = self.ops.velocity_space, self.ops.body_space
        return self.H_star + BlockOperator.diagonal(*space[::-1], blocks, "h~ H*")

    # Kinematics and masses

    @cached_property
    def H_star(self) -> BlockOperator:
        """[H*]_θ; not zero where the axes of a hinge depend on its coordinates."""
        ops = self.ops
        blocks = [np.einsum("i,iaj->aj", self.beta[n], m.dH_star) for n, m in zip(ops.body_names, ops.hinge_motions)]
        return BlockOperator.diagonal(ops.body_space, ops.velocity_space, blocks, "[H*]")

    @cached_property
    def E_phi(self) -> BlockOperator:
        """(41a)"""
        return self.ops.E_phi * self.Delta

    @cached_property
    def phi(self) -> Operator:
        """(41b)"""
        return self.ops.phi * self.E_phi * self.ops.phi

    @cached_property
    def M(self) -> BlockOperator:
        """Zero: a rigid body's inertia is constant in its own axes. (41d)"""
        return self.ops.M * 0.0

    @cached_property
    def mass_matrix(self) -> Operator:
        """(42)"""
        H, phi, M = self.ops.H, self.ops.phi, self.ops.M
        X = (self.N.T + H * phi * self.Delta) * phi * M * phi.T * H.T
        return X + X.T

    # Articulated bodies

    @cached_property
    def lambda_(self) -> BlockOperator:
        """λ, the change of P as seen from the inboard side of each hinge: forward Lyapunov. (43)"""
        ops, P, Delta = self.ops, self.ops.P, self.Delta
        S = ops.tau_bar * P * self.N * ops.G.T
        return ops.E_psi.lyapunov(Delta * P + P * Delta.T - ops.E_phi * (S + S.T) * ops.E_phi.T)

    @cached_property
    def P(self) -> BlockOperator:
        P, Delta = self.ops.P, self.Delta
        return self.lambda_ - (Delta * P + P * Delta.T)

    @cached_property
    def D(self) -> BlockOperator:
        """(44a)"""
        H, P = self.ops.H, self.ops.P
        return H * self.lambda_ * H.T + H * P * self.N + self.N.T * P * H.T

    @cached_property
    def D_inverse(self) -> Operator:
        """[D⁻¹]_θ. (44b)"""
        D_inv = self.ops.D.inverse()
        return -(D_inv * self.D * D_inv)

    @cached_property
    def gain(self) -> Operator:
        """[G]_θ as seen from O+."""
        H, P, G, tau_bar, N = self.ops.H, self.ops.P, self.ops.G, self.ops.tau_bar, self.N
        return (tau_bar * (self.lambda_ * H.T + P * N) - G * N.T * P * H.T) * self.ops.D.inverse()

    @cached_property
    def G(self) -> Operator:
        """(44c)"""
        return self.gain - self.Delta * self.ops.G

    @cached_property
    def K(self) -> Operator:
        return self.ops.E_phi * self.gain

    @cached_property
    def tau(self) -> Operator:
        """(44d)"""
        return self.G * self.ops.H + self.ops.G * self.H_star.T

    @cached_property
    def tau_bar(self) -> Operator:
        """(44e)"""
        return -self.tau

    @cached_property
    def E_psi(self) -> Operator:
        """(44f)"""
        return self.ops.E_phi * (self.Delta * self.ops.tau_bar + self.tau_bar)

    @cached_property
    def psi(self) -> Operator:
        return self.ops.psi * self.E_psi * self.ops.psi

    @cached_property
    def innovations(self) -> Operator:
        """[I + H φ K]_θ. (45)"""
        H, phi, K = self.ops.H, self.ops.phi, self.ops.K
        return (self.N.T + H * phi * self.Delta) * phi * K + H * phi * self.K

    @cached_property
    def innovations_inverse(self) -> Operator:
        """[I - H ψ K]_θ. (46)"""
        H, psi, K = self.ops.H, self.ops.psi, self.ops.K
        factor = self.ops.I - H * psi * K
        return -(factor * self.N.T + H * psi * self.Delta) * psi * K - H * psi * self.K * factor

    @property
    def log_det(self) -> float:
        """[log det 𝓜]_θ = trace of D⁻¹ [D]_θ, in 1/rad or 1/m."""
        X = self.ops.D.inverse() * self.D
        return float(sum(np.trace(X.block(k, k)) for k in range(len(self.ops.body_names))))

    # The observer in inertial axes, whose operators are the papers'

    @cached_property
    def Hi(self) -> BlockOperator:
        """Turning of every body that moves, over all its hinges, ω~ twice on the diagonal. (40), k ≤ i"""
        V = StackedVector(self.ops.body_space, self.ops.phi.T * self.h)
        return self._turning([V[name][:3] for name in self.ops.body_names], "Hi")

    @cached_property
    def Hd(self) -> BlockOperator:
        """The hinges' own turning. (40), k = i"""
        return self._turning([self.h[name][:3] for name in self.ops.body_names], "Hd")

    @cached_property
    def Hs(self) -> BlockOperator:
        """Turning of the bodies beyond the hinges, Hi - Hd. (40), k < i"""
        return self.Hi - self.Hd

    @cached_property
    def Hv(self) -> BlockOperator:
        """The hinges' own sliding, v~ at the upper right: Δ = Hd + Hv."""
        return self.Delta - self.Hd

    def seen_from_ground(self, derivative: Operator, X: Operator) -> Operator:
        """derivative, the [X]_θ in body axes of X, for an observer in inertial axes: its body blocks turn with Hi."""
        bodies = self.ops.body_space
        if X.rows == bodies:
            derivative = derivative + self.Hi * X
        if X.columns == bodies:
            derivative = derivative - X * self.Hi
        return derivative

    def _turning(self, rates: list[np.ndarray], name: str) -> BlockOperator:
        return self._diagonal([np.kron(np.eye(2), skew(w)) for w in rates], name)

    def _diagonal(self, blocks: list[np.ndarray], name: str) -> BlockOperator:
        return BlockOperator.diagonal(self.ops.body_space, self.ops.body_space, blocks, name)
