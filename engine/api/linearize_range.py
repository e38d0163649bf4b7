"""How far differences may bend flexible bodies: their inertia is of second order in the deformation.

Where loops tie a slender body, a small displacement of a hinge may bend it far: the mass matrix then changes by more
than itself, and is no longer a mass matrix. Steps are shares of the displacement that changes it by half of itself,
M(q + δη) - M(q) measured in M(q), as others are shares of one radian.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from limberjack.engine.api.deformation_range import deformed_too_far, modal_places
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.system import System

#: the largest change of the mass matrix, in itself, within the range; and how often the range is halved at most
CHANGE, HALVINGS = 0.5, 80


class DeformationRange:
    """The deformations about q within which the mass matrix keeps its size.

    mass_matrix : (nv, nv) at coordinates (nq,); basis (nv, n) : the motions that the loops leave, for models whose
    mass matrix is singular without them. Raises ArgumentError where the mass matrix is not positive definite.
    """

    def __init__(
        self, system: System, q: np.ndarray, mass_matrix: Callable[[np.ndarray], np.ndarray], basis: np.ndarray
    ) -> None:
        self._q, self._mass_matrix, self._basis = q, mass_matrix, np.eye(system.nv)
        self._places = [i for part in modal_places(system).values() for i in range(part.start, part.stop)]
        if not self._places:
            return
        root = _root(mass_matrix(q))
        if root is None:
            self._basis, root = basis, _root(basis.T @ mass_matrix(q) @ basis)
        if root is None:
            raise ArgumentError(
                "the mass matrix is not positive definite at this q, so that the accelerations have no slopes."
                + deformed_too_far(system, q, mass_matrix)
            )
        self._inverse = np.linalg.inv(root)

    def share(self, moved: np.ndarray, most: float) -> float:
        """How often the displacement to coordinates `moved` may be made, at most so often, for modes to stay within."""
        bent = moved[self._places] - self._q[self._places]
        if not bent.any():
            return most
        times = most
        for _ in range(HALVINGS):
            if max(self._change(times * bent), self._change(-times * bent)) <= CHANGE:
                break
            times *= 0.5
        return times

    def _change(self, bent: np.ndarray) -> float:
        q = self._q.copy()
        q[self._places] += bent
        change = self._basis.T @ (self._mass_matrix(q) - self._mass_matrix(self._q)) @ self._basis
        return float(np.abs(np.linalg.eigvalsh(self._inverse @ change @ self._inverse.T)).max(initial=0.0))


def _root(M: np.ndarray) -> np.ndarray | None:
    """The Cholesky factor, None where there is none."""
    try:
        return np.asarray(np.linalg.cholesky(M))
    except np.linalg.LinAlgError:
        return None
