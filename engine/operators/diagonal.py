"""Diagonalised dynamics: velocities ν in which the mass matrix is the identity at every configuration.

The innovations factorization 𝓜 = m m*, m = [I + H φ K] D^½, gives

    ν = m* θ̇,    ½ θ̇* 𝓜 θ̇ = ½ ν* ν,    ν̇ + C(θ, ν) = ε,    ε = m⁻¹ T,    m⁻¹ = D^-½ [I - H ψ K].

Each equation has one unknown acceleration; they are coupled through the Coriolis term alone, and that does no work:
ν* C = 0. ν are quasi-velocities, so θ is integrated with θ̇ = m⁻* ν beside them. D^½ is the lower Cholesky factor of
each hinge's block of D; for one degree of freedom it is the square root.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.common import arguments
from limberjack.engine.model.system import System
from limberjack.engine.operators.algebra import Operator
from limberjack.engine.operators.blocks import BlockOperator
from limberjack.engine.operators.closure import STEP
from limberjack.engine.operators.sensitivities import Sensitivity
from limberjack.engine.operators.spatial import force_cross
from limberjack.engine.operators.tree_model import moved_coordinates, system_velocities
from limberjack.engine.operators.vectors import StackedVector
from limberjack.engine.operators.workbench import Operators, operators_of


class DiagonalDynamics:
    """The diagonalised equations of motion at the configuration of `ops`.

    Vectors go in as arrays (nv of the sub-graph,) or stacked vectors and come out as stacked vectors over its
    velocities: v in rad/s and m/s, tau in N·m and N, nu in √J. Every product is a recursion, O(N).
    """

    def __init__(self, ops: Operators) -> None:
        self.ops = operators_of(ops)

    @cached_property
    def root(self) -> BlockOperator:
        """D^½, lower triangular in each block."""
        return self._blocks([np.linalg.cholesky(self.ops.D[name]) for name in self.ops.block_names], "D^1/2")

    @cached_property
    def factor(self) -> Operator:
        """m = [I + H φ K] D^½."""
        return (self.ops.I + self.ops.H * self.ops.phi * self.ops.K) * self.root

    @cached_property
    def factor_inverse(self) -> Operator:
        """m⁻¹ = D^-½ [I - H ψ K]."""
        return self.root.inverse() * (self.ops.I - self.ops.H * self.ops.psi * self.ops.K)

    def diagonal_velocities(self, v: StackedVector | ArrayLike) -> StackedVector:
        """ν = m* v, √J, of velocities v (nv,)."""
        return self._named("nu", self.factor.T * self._vector("v", v))

    def velocities(self, nu: StackedVector | ArrayLike) -> StackedVector:
        """Back again: v = m⁻* ν of nu (nv,)."""
        return self._named("v", self.factor_inverse.T * self._vector("nu", nu))

    def forces(self, tau: StackedVector | ArrayLike) -> StackedVector:
        """ε = m⁻¹ (T - H φ M φ* g), √J/s, of forces tau (nv,), with m⁻¹ H φ = D^-½ H ψ for the weight."""
        H, phi, psi, M = self.ops.H, self.ops.phi, self.ops.psi, self.ops.M
        weight = self.root.inverse() * H * psi * M * phi.T * self.ops.g
        return self._named("eps", self.factor_inverse * self._vector("tau", tau) - weight)

    def coriolis(self, nu: StackedVector | ArrayLike) -> StackedVector:
        """C = D^-½ H ψ (M α + b) - (dm/dt)* v, √J/s, at v = m⁻* ν of nu (nv,).

        α = d(φ* H*)/dt v are the accelerations at constant v, b = -V~* M V; the rates are sensitivities along v, where
        loops are embedded or bodies flexible complex steps.
        """
        v = self.velocities(nu)
        if self.ops.embeddings or self.ops.graph.modal_names:
            return self._named("C", self._stepped_coriolis(v))
        H, phi, psi, M, d = self.ops.H, self.ops.phi, self.ops.psi, self.ops.M, Sensitivity(self.ops, v)
        V = phi.T * d.h
        alpha = phi.T * (d.H_star * v + d.Delta.T * (V - d.h))
        forces = np.concatenate([force_cross(V[k]) @ M[k] @ V[k] for k in self.ops.body_names])
        return self._named("C", self.root.inverse() * H * psi * (M * alpha + forces) - self._factor_rate(d).T * v)

    def accelerations(self, nu: StackedVector | ArrayLike, tau: StackedVector | ArrayLike) -> StackedVector:
        """ν̇ = ε - C, √J/s, at nu (nv,) under the forces tau (nv,)."""
        return self._named("dnu/dt", self.forces(tau) - self.coriolis(nu))

    def _stepped_coriolis(self, v: StackedVector) -> StackedVector:
        """C with α = φ* a and the rates of m by a complex step along v; rotors add m⁻¹ X* J dX/dt v."""
        ops, at, moved = self.ops, self.ops.at_velocities(v), self.ops.displaced(v)
        gyroscopic = self.root.inverse() * ops.H * ops.psi * (ops.M * ops.phi.T * at.a + at.b)
        root_rates = [_root_rate(self.root[name], moved.D[name].imag / STEP) for name in ops.block_names]
        factor = ops.I + ops.H * ops.phi * ops.K
        factor_rate = (moved.I + moved.H * moved.phi * moved.K).to_array().imag / STEP
        rate = factor_rate @ self.root.to_array() + (factor * self._blocks(root_rates, "[D^1/2]")).to_array()
        C: StackedVector = gyroscopic + self.factor_inverse * at.c - rate.T @ v.to_array()
        return C

    def _factor_rate(self, d: Sensitivity) -> Operator:
        """[m]_θ = [I + H φ K]_θ D^½ + [I + H φ K] [D^½]_θ."""
        rates = [_root_rate(self.root[name], d.D[name]) for name in self.ops.body_names]
        factor = self.ops.I + self.ops.H * self.ops.phi * self.ops.K
        return d.innovations * self.root + factor * self._blocks(rates, "[D^1/2]")

    def _blocks(self, blocks: list[np.ndarray], name: str) -> BlockOperator:
        return BlockOperator.diagonal(self.ops.velocity_space, self.ops.velocity_space, blocks, name)

    @staticmethod
    def _named(name: str, x: StackedVector) -> StackedVector:
        return StackedVector(x.space, x.to_array(), name)

    def _vector(self, name: str, value: StackedVector | ArrayLike) -> StackedVector:
        if isinstance(value, StackedVector):
            return value
        space = self.ops.velocity_space
        return StackedVector(space, arguments.vector(name, value, (space.size,)), name)


def diagonal_step(
    system: System, q: np.ndarray, nu: np.ndarray, tau: np.ndarray, dt: float
) -> tuple[np.ndarray, np.ndarray]:
    """One step dt (s) of the classical Runge-Kutta method in (q, ν) at constant forces tau (nv,); fresh q, ν."""

    def rates(q: np.ndarray, nu: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        dynamics = DiagonalDynamics(Operators(system, _with_unit_quaternions(system, q)))
        v = system_velocities(dynamics.ops.X * dynamics.velocities(nu))
        return _coordinate_rates(system, q, v), dynamics.accelerations(nu, tau).to_array()

    k1 = rates(q, nu)
    k2 = rates(q + dt / 2 * k1[0], nu + dt / 2 * k1[1])
    k3 = rates(q + dt / 2 * k2[0], nu + dt / 2 * k2[1])
    k4 = rates(q + dt * k3[0], nu + dt * k3[1])
    new_q, new_nu = (x + dt / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip((q, nu), k1, k2, k3, k4))
    return _with_unit_quaternions(system, new_q), new_nu


def _root_rate(L: np.ndarray, D_rate: np.ndarray) -> np.ndarray:
    """[L]_θ of D = L L*: L ⌊L⁻¹ [D]_θ L⁻*⌋, ⌊·⌋ the lower triangle with half the diagonal."""
    L_inverse = np.linalg.inv(L)
    X = L_inverse @ D_rate @ L_inverse.T
    return np.asarray(L @ (np.tril(X) - 0.5 * np.diag(np.diag(X))))


def _coordinate_rates(system: System, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """dq/dt (nq,): the first-order motion along v, which a complex step yields to rounding."""
    return moved_coordinates(system, q, STEP * 1j * v).imag / STEP


def _with_unit_quaternions(system: System, q: np.ndarray) -> np.ndarray:
    q, i = q.copy(), 0
    for hinge in (body.hinge for body in system.bodies):
        if hinge.kind.quasi:
            q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
        i += hinge.kind.nq
    return q
