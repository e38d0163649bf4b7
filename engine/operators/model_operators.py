"""All operators that follow from the triple (H, E_phi, M) of a tree, whether its nodes are bodies or aggregated."""

from __future__ import annotations

from functools import cached_property

from limberjack.engine.operators.blocks import BlockOperator, Identity, PropagationOperator, renamed
from limberjack.engine.operators.compliance import ComplianceOperator
from limberjack.engine.operators.embedded_model import EmbeddedModel
from limberjack.engine.operators.graph import Space
from limberjack.engine.operators.tree_model import TreeModel
from limberjack.engine.operators.vectors import StackedVector


class ModelOperators:
    """The operators of a model at one state, named as in the papers; each is made when first asked for."""

    def __init__(self, model: TreeModel | EmbeddedModel) -> None:
        self.model = model

    @property
    def body_space(self) -> Space:
        """One block of spatial vectors for each node of the tree."""
        return self.model.body_space

    @property
    def velocity_space(self) -> Space:
        """One block of velocities for each node of the tree: the independent ones where loops are embedded."""
        return self.model.velocity_space

    @property
    def block_names(self) -> tuple[str, ...]:
        """Names of the blocks, base to tip: bodies, and those of an aggregated node with + between them."""
        return self.body_space.names

    # Kinematics

    @property
    def H(self) -> BlockOperator:
        """Joint map, velocities × bodies; its transpose H* takes β to the relative velocities of the hinges. (6)

        Of an aggregated node X* H φ_S, from its independent velocities to those of its bodies. (001 eq. 26)
        """
        return self.model.H

    @property
    def E_phi(self) -> BlockOperator:
        """Spatial kernel operator: φ(parent, k) at (parent, k) (7); into an aggregated node E_S φ_S (001 eq. 14)."""
        return self.model.E_phi

    @cached_property
    def phi(self) -> PropagationOperator:
        """(I - E_phi)⁻¹. (9)"""
        return PropagationOperator(self.E_phi, "phi")

    @property
    def M(self) -> BlockOperator:
        """Spatial inertia of each body about O_k. (15)"""
        return self.model.M

    @property
    def J(self) -> BlockOperator:
        """Armature, kg·m² or kg: reflected rotor inertia; of an aggregated node X* J X."""
        return self.model.J

    @cached_property
    def I(self) -> Identity:  # noqa: E743
        """The identity; in sums and products it takes the space of its partner."""
        return Identity(self.body_space)

    # Composite and articulated bodies

    @cached_property
    def R(self) -> BlockOperator:
        """Composite inertia of each body with all beyond it, forward Lyapunov. (19)"""
        return renamed(self.E_phi.lyapunov(self.M), "R")

    @cached_property
    def P(self) -> BlockOperator:
        """Articulated inertia, Riccati. (23)"""
        return self.E_phi.riccati(self.M, self.H, self.J)

    @cached_property
    def D(self) -> BlockOperator:
        """H P H* + J, the inertia that each hinge feels. (24)"""
        return renamed(self.H * self.P * self.H.T + self.J, "D")

    @cached_property
    def D_inverse(self) -> BlockOperator:
        """D⁻¹, block-diagonal."""
        return renamed(self.D.inverse(), "D^-1")

    @cached_property
    def G(self) -> BlockOperator:
        """P H* D⁻¹, the Kalman gain. (24)"""
        return renamed(self.P * self.H.T * self.D_inverse, "G")

    @cached_property
    def K(self) -> BlockOperator:
        """E_phi G. (24)"""
        return renamed(self.E_phi * self.G, "K")

    @cached_property
    def tau(self) -> BlockOperator:
        """G H. (24)"""
        return renamed(self.G * self.H, "tau")

    @cached_property
    def tau_bar(self) -> BlockOperator:
        """I - G H. (24)"""
        return renamed(self.I - self.tau, "tau_bar")

    @cached_property
    def P_plus(self) -> BlockOperator:
        """P⁺ = tau_bar P, articulated inertia before its hinge. (24)"""
        return renamed(self.tau_bar * self.P, "P_plus")

    @cached_property
    def E_psi(self) -> BlockOperator:
        """E_phi tau_bar. (24)"""
        return renamed(self.E_phi * self.tau_bar, "E_psi")

    @cached_property
    def psi(self) -> PropagationOperator:
        """(I - E_psi)⁻¹."""
        return PropagationOperator(self.E_psi, "psi")

    @cached_property
    def Upsilon(self) -> BlockOperator:
        """Diagonal of Omega, backward Lyapunov. (36)"""
        return renamed(self.E_psi.T.lyapunov(self._hinge_compliance), "Upsilon")

    @cached_property
    def Omega(self) -> ComplianceOperator:
        """Operational-space compliance ψ* H* D⁻¹ H ψ. (34)"""
        return ComplianceOperator(self.psi, self._hinge_compliance, self.Upsilon)

    # Motion

    @property
    def beta(self) -> StackedVector:
        """The generalized velocities of the sub-graph, θ̇ of the papers; with embedded loops the independent ones."""
        return self.model.beta

    @property
    def V(self) -> StackedVector:
        """Spatial velocities φ* H* β, rad/s and m/s. (10)"""
        return self.model.V

    @property
    def a(self) -> StackedVector:
        """Coriolis accelerations V~ ΔV + (dH*/dt) β, body-frame derivatives; gravity is `g`, apart. (17)

        Of an aggregated node φ_S* (a + H* dX/dt θ̇_R). (001 eq. 35)
        """
        return self.model.a

    @property
    def b(self) -> StackedVector:
        """Gyroscopic forces V × (M V), N·m and N. (17)"""
        return self.model.b

    @property
    def g(self) -> StackedVector:
        """Gravity as an acceleration -g of what the sub-graph stands on: `a + g` takes the place of a in (17), (31)."""
        return self.model.g

    @property
    def c(self) -> StackedVector:
        """Coriolis forces of the rotors of embedded loops, X* J dX/dt θ̇_R, which belong to T; zero without."""
        return self.model.c

    @cached_property
    def _hinge_compliance(self) -> BlockOperator:
        """H* D⁻¹ H."""
        return renamed(self.H.T * self.D_inverse * self.H, "H* D^-1 H")
