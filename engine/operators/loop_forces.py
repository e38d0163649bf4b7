"""Loops by force: constraint forces by the steps A to F of 000, least-norm where the rows do not determine them.

The rows A V̂ + C θ̇ = Û of the loops, V̂ = B* V, act on the tree with the forces -(J* A* + C*) f̂, J = B* φ* H*. With

    L = [I - HψK] (J* A* + C*) = H ψ B A* + [I - HψK] C*,    A Λ A* = L* D⁻¹ L,    Λ = B* Ω B,    b = D^-½ L

and bias-free forces T̄ = T - H φ (M φ* (a + g) + b) the steps are

    (A) θ̈f = [I - HψK]* D⁻¹ [I - HψK] T̄              (D) f̂ = (A Λ A*)⁺ (A αf + C θ̈f - U),   U = dÛ/dt - d(AJ + C)/dt θ̇
    (B) αf = B* ψ* H* D⁻¹ [I - HψK] T̄                (E) θ̈δ = -[I - HψK]* D⁻¹ L f̂
    (C) A Λ A*                                        (F) θ̈ = θ̈f + θ̈δ

The paper has no C: couplings and locks do not join frames, their rows are over the velocities themselves.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.algebra.ranks import NOISE, RANK_TOLERANCE
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.operators.algebra import DenseOperator, Operator
from limberjack.engine.operators.blocks import BlockOperator, renamed
from limberjack.engine.operators.closure import Closure
from limberjack.engine.operators.diagonal import DiagonalDynamics
from limberjack.engine.operators.loop_choice import check_closed, row_sizes
from limberjack.engine.operators.vectors import StackedVector
from limberjack.engine.operators.workbench import Operators, operators_of


class LoopForces:
    """The loops that `ops` leaves to act by force, at its state; it needs velocities for `U` and what follows.

    Rows are one block for each loop, frames are "<loop>.a" and "<loop>.b". Raises ArgumentError where q leaves one of
    the loops open, or where there is none.
    """

    def __init__(self, ops: Operators) -> None:
        self.ops = operators_of(ops)
        if not ops.loops.forced:
            raise ArgumentError("no loop of these bodies acts by force; name the ones to embed, embed=() for none.")
        check_closed(ops.spanning_tree, ops.loops.forced)
        self.closure = Closure(ops.spanning_tree, ops.loops.forced)

    # The rows

    @property
    def A(self) -> BlockOperator:
        """Rows × frames. (0.20)"""
        return self.closure.A

    @cached_property
    def B(self) -> BlockOperator:
        """Pick-off, bodies × frames: B* V are the velocities of the loops' frames in their own axes. (0.18)"""
        return self.ops.model.gathered(self.closure.B)

    @cached_property
    def C(self) -> BlockOperator:
        """Rows × velocities, of couplings and locks."""
        return renamed(self.closure.C * self.ops.X, "C")

    @cached_property
    def U(self) -> StackedVector:
        """-d(AJ + C)/dt θ̇: what the rows' accelerations have to be where no motion is prescribed. (0.22)

        A prescribed motion adds dÛ/dt.
        """
        ops = self.ops
        moving = ops.X * ops.beta
        rates = self.closure.rate(ops.model.all_velocities)
        drift = rates @ moving.to_array() + (self.closure.Y * (ops.X_dot * ops.beta)).to_array()
        return StackedVector(self.closure.row_space, -drift, "U")

    # Steps C and D

    @cached_property
    def Lambda(self) -> Operator:
        """B* Ω B, what velocities forces at the frames make per unit of time: step C. (0.34)"""
        return self.B.T * self.ops.Omega * self.B

    @cached_property
    def L(self) -> Operator:
        """H ψ B A* + [I - HψK] C*, velocities × rows: the forces of the rows as the hinges feel them."""
        ops, joined = self.ops, self.ops.H * self.ops.psi * self.B * self.A.T
        return joined + (ops.I - ops.H * ops.psi * ops.K) * self.C.T if self.C.blocks else joined

    @cached_property
    def admittance(self) -> Operator:
        """A Λ A* = L* D⁻¹ L, rows × rows."""
        return self.L.T * self.ops.D_inverse * self.L

    @cached_property
    def admittance_inverse(self) -> DenseOperator:
        """(A Λ A*)⁺: its product is the least-norm solution where A Λ A* is singular, the solution elsewhere.

        The norm, and the rank, are those of rows brought to a unit diagonal, as in the kernels; rows of which nothing
        but rounding is left take no part.
        """
        array = self.admittance.to_array()
        mobile = np.diag(array) * row_sizes(self.ops.spanning_tree, self.closure.loops) ** 2
        moves = mobile > NOISE**2 * mobile.max(initial=0.0)
        scale = np.where(moves, 1.0 / np.sqrt(np.where(moves, np.diag(array), 1.0)), 0.0)
        unit = array * scale * scale[:, None]
        array = scale[:, None] * np.linalg.pinv(unit, rcond=RANK_TOLERANCE**2, hermitian=True) * scale
        return DenseOperator(self.admittance.rows, self.admittance.columns, array, "(A Lambda A*)^+")

    @cached_property
    def b(self) -> Operator:
        """D^-½ H ψ B A*, velocities × rows. (0.37)"""
        return DiagonalDynamics(self.ops).root.inverse() * self.L

    @cached_property
    def projection(self) -> Operator:
        """I - b (A Λ A*)⁺ b*, which takes from the innovations what the loops forbid. (0.37)"""
        return self.ops.I - self.b * self.admittance_inverse * self.b.T

    # The steps

    def bias_free(self, tau: StackedVector | ArrayLike) -> StackedVector:
        """T̄ of the forces tau (nv,) over the velocities of `ops`, N·m and N."""
        ops, T = self.ops, self._over(self.ops.velocity_space.size, "tau", tau)
        bias = ops.H * ops.phi * (ops.M * ops.phi.T * (ops.a + ops.g) + ops.b) + ops.c
        return self._named("T_bar", StackedVector(ops.velocity_space, T) - bias)

    def free_accelerations(self, tau: StackedVector | ArrayLike) -> StackedVector:
        """Step A: θ̈f under the forces tau (nv,), N·m and N, with the loops open. (0.31)"""
        ops = self.ops
        factor = ops.I - ops.H * ops.psi * ops.K
        return self._named("beta_f", factor.T * ops.D_inverse * factor * self.bias_free(tau))

    def forces(
        self, tau: StackedVector | ArrayLike, prescribed: StackedVector | ArrayLike | None = None
    ) -> StackedVector:
        """Steps B to D: f̂ over the rows, of least norm, N·m and N. (0.35)

        tau : forces (nv,) over the velocities of `ops`, N·m and N
        prescribed : dÛ/dt (rows,), accelerations of the rows beyond `U`, rad/s² and m/s²
        """
        ops = self.ops
        free = ops.D_inverse * (ops.I - ops.H * ops.psi * ops.K) * self.bias_free(tau)
        wanted = self.A * self.B.T * ops.psi.T * ops.H.T * free - self.U
        if self.C.blocks:
            wanted = wanted + self.C * self.free_accelerations(tau)
        if prescribed is not None:
            wanted = wanted - self._over(self.closure.row_space.size, "prescribed", prescribed)
        return self._named("f", self.admittance_inverse * wanted)

    def accelerations(
        self, tau: StackedVector | ArrayLike, prescribed: StackedVector | ArrayLike | None = None
    ) -> StackedVector:
        """Steps A to F: θ̈ over the velocities of `ops`. (0.36)

        tau : forces (nv,) over them, N·m and N;  prescribed : dÛ/dt (rows,), rad/s² and m/s², as for `forces`
        """
        ops, f = self.ops, self.forces(tau, prescribed)
        correction = (ops.I - ops.H * ops.psi * ops.K).T * ops.D_inverse * self.L * f
        return self._named("accelerations", self.free_accelerations(tau) - correction)

    def wrench(self, loop: str, f: StackedVector) -> np.ndarray:
        """What a joining loop does to the body of its frame b: [moment; force] (6,) at b's origin, axes of frame a.

        f : forces over the rows, of `forces`. ArgumentError for a loop of coordinates
        """
        i = self.closure.row_space.place(loop)
        if loop not in self.closure.poses:
            raise ArgumentError(f"loop '{loop}' joins no frames; f['{loop}'] are its forces on the coordinates.")
        turn = np.kron(np.eye(2), self.closure.poses[loop].rotation)
        block = self.A.block(i, self.closure.frame_space.place(f"{loop}.b"))
        return np.asarray(-turn @ block.T @ f[loop])

    @staticmethod
    def _named(name: str, x: StackedVector) -> StackedVector:
        return StackedVector(x.space, x.to_array(), name)

    @staticmethod
    def _over(size: int, name: str, value: StackedVector | ArrayLike) -> np.ndarray:
        return arguments.vector(name, value, (size,))
