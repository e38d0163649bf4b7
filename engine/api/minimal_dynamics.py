"""`MinimalDynamics`: the equations of motion in the independent velocities that constraint embedding leaves (001 §7).

    v = X v_R,    dv/dt = X dv_R/dt + Ẋ v_R,    X* M X dv_R/dt + bias_R = X* tau + Σ (J X)* f_external

Everything is the tree's seen through X. Loops by force do not reduce the coordinates: of all functions here only
`forward` knows their forces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.common import arguments
from limberjack.engine.model import arguments as model_arguments
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System
from limberjack.engine.tables.loops import GI_DOF, GI_DOFS

#: wrenches at nodes [moment; force]: by name of the node, or (nodes, 6)
External = Mapping[str, ArrayLike] | ArrayLike | None

#: scaled residuals of embedded loops beyond this, m or rad: q is not a position of the mechanism
MOST_OPEN = 1e-6


class TreeDynamics(Protocol):
    """Dynamics of all velocities, which `MinimalDynamics` sees through X."""

    system: System
    plant: Plant

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """(nv, nv)."""

    def inverse(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, external: External = None) -> np.ndarray:
        """(nv,)."""

    def forward(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: External = None) -> np.ndarray:
        """(nv,), loops by force closed."""

    def jacobian(self, node: str, q: ArrayLike) -> np.ndarray:
        """(6, nv)."""

    def embedding(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
        """X (nv, n_R), Ẋ v_R (nv,), and the places of the n_R independent velocities."""


class MinimalDynamics:
    """Dynamics of a System with embedded loops in minimal coordinates; `Dynamics.minimal` has it.

    q (nq,) are all coordinates, with the embedded loops closed; v_R (n_R,) the velocities that `names(q)` lists, n_R of
    the nv. Which they are depends on q: near a singular configuration of the usual ones the engine takes others.
    Without embedded loops they are all velocities.

    Raises ArgumentError for wrong shapes and for a q at which an embedded loop is open (`limberjack.assemble`
    closes it).
    """

    def __init__(self, dynamics: TreeDynamics) -> None:
        self._dynamics = dynamics

    def names(self, q: ArrayLike) -> tuple[str, ...]:
        """Names of the velocities that are independent at q, in the order of System.velocity_names."""
        names = self._dynamics.system.velocity_names
        return tuple(names[j] for j in self._map(q)[1])

    def X(self, q: ArrayLike) -> np.ndarray:
        """X (nv, n_R): v = X v_R. Its rows of independent velocities are those of the identity."""
        return self._map(q)[0]

    def bias_rate(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Ẋ v_R (nv,): dv/dt = X dv_R/dt + bias_rate, for independent velocities v (n_R,)."""
        return self._moving(q, v)[2]

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """X* M X (n_R, n_R), symmetric positive definite."""
        X, M = self.X(q), self._dynamics.mass_matrix(q)
        found = X.T @ M @ X
        return np.asarray(0.5 * (found + found.T))

    def bias(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Coriolis, gyroscopic and gravity forces (n_R,) for v (n_R,): mass_matrix dv_R/dt + bias = tau_R."""
        X, whole, drift = self._moving(q, v)
        return np.asarray(X.T @ self._dynamics.inverse(q, whole, drift))

    def inverse(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, external: External = None) -> np.ndarray:
        """Generalized forces tau_R (n_R,) for v and dv/dt (n_R,), O(N).

        tau_R = X* tau: of a force along an independent velocity its own and its share through the dependent ones.
        """
        X, whole, drift = self._moving(q, v)
        rates = arguments.vector("vdot", vdot, (X.shape[1],))
        return np.asarray(X.T @ self._dynamics.inverse(q, whole, X @ rates + drift, external))

    def forward(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: External = None) -> np.ndarray:
        """Accelerations dv_R/dt (n_R,) for v and tau_R (n_R,), by the recursion over aggregated nodes."""
        X, whole, _ = self._moving(q, v)
        independent, given = self._map(q)[1], arguments.vector("tau", tau, (X.shape[1],))
        forces = np.zeros(len(whole))
        forces[independent] = given
        return np.asarray(self._dynamics.forward(q, whole, forces, external)[independent])

    def jacobian(self, node: str, q: ArrayLike) -> np.ndarray:
        """J X (6, n_R): velocity of a node, [ω; v] in inertial axes, per independent velocity."""
        return np.asarray(self._dynamics.jacobian(node, q) @ self.X(q))

    def condition(self, q: ArrayLike) -> float:
        """Largest singular value of X, all velocities in their typical sizes: how fast independent velocities of size
        one move the mechanism; 1 where they move nothing but themselves.

        It grows without bound towards configurations where they no longer determine the motion, with one freedom too.
        """
        X, independent = self._map(q)
        sections, typical = self._dynamics.plant.sections, np.ones(len(X))
        for group in sections["group_int"]:
            places = slice(group[GI_DOF], group[GI_DOF] + group[GI_DOFS])
            typical[sections["listed"].ravel()[places]] = sections["scale"].ravel()[places]
        values = np.linalg.svd(X / typical[:, None] * typical[independent], compute_uv=False)
        return float(values[0]) if values.size else 1.0

    def _map(self, q: ArrayLike) -> tuple[np.ndarray, list[int]]:
        """X and the places of the independent velocities among all."""
        q = model_arguments.coordinates(self._dynamics.system, q)
        X, _, independent = self._dynamics.embedding(q, np.zeros(self._dynamics.system.nv))
        return X, independent

    def _moving(self, q: ArrayLike, v: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """X, all velocities X v_R, and Ẋ v_R."""
        q = model_arguments.coordinates(self._dynamics.system, q)
        X, independent = self._map(q)
        whole = X @ arguments.vector("v", v, (len(independent),))
        return X, whole, self._dynamics.embedding(q, whole)[1]
