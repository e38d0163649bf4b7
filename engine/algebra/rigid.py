"""The pose of a frame in another, and the inertia of a rigid body: the parts of a `System` consist of these."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Pose:
    """Pose of a frame B in a frame A: ``rotation`` R_AB (3, 3), ``position`` p_AB_A (3,), metres."""

    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))

    def __matmul__(self, other: Pose) -> Pose:
        """Compose: X_AC = X_AB @ X_BC."""
        return Pose(self.rotation @ other.rotation, self.position + self.rotation @ other.position)

    def inverse(self) -> Pose:
        """The pose of A in B."""
        return Pose(self.rotation.T.copy(), -self.rotation.T @ self.position)


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass properties of one rigid body in its own frame.

    mass (kg); com (3,) position of the centre of mass (m); about_com (3, 3) rotational inertia about the
    centre of mass in body axes (kg·m²).
    """

    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    about_com: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))
