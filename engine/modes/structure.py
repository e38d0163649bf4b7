"""A finite-element structure: nodes with six degrees of freedom, sparse stiffness and mass, nodal bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from limberjack.engine.common.arguments import index_of
from limberjack.engine.common.errors import MissingExtraError
from limberjack.engine.modes.modal_fields import Stress
from limberjack.engine.modes.reference import cross_matrix

#: force of a unit rigid motion beside the sizes of its terms: rounding of files with few digits
RIGID_FORCE = 1e-5


def need_scipy() -> None:
    """MissingExtraError if SciPy is not installed."""
    try:
        import scipy.sparse.linalg  # noqa: F401
    except ImportError:
        raise MissingExtraError("making modes from finite elements", "scipy", "modes") from None


@dataclass(frozen=True, eq=False)
class Structure:
    """What is reduced to modes. N nodes, SI, one frame for all.

    node_ids : (N,) int64;  node_names : N names or "";  positions : (N, 3) m
    stiffness, mass : sparse (d, d), of the degrees of freedom kept
    motion : sparse (6 N, d): all nodal displacements [rotation; translation] from the degrees of freedom kept
    kept : (d,) which of the 6 N nodal displacements these are
    masses, centres, inertias : nodal bodies as in ModalData, node axes parallel to the frame's
    lumped : whether the mass matrix is that of the nodal bodies
    foreshortening : shapes (N, 6, n), anchor node -> G (N, 3, n, n), or None if it cannot be computed
    stress : shapes (N, 6, n) that hold the inboard node -> stress stiffness under unit loads, or None
    lines : (E, 2) indices of nodes that drawings join, or None
    """

    name: str
    source: str
    node_ids: np.ndarray
    node_names: tuple[str, ...]
    positions: np.ndarray
    stiffness: Any
    mass: Any
    motion: Any
    kept: np.ndarray
    masses: np.ndarray
    centres: np.ndarray
    inertias: np.ndarray
    lumped: bool
    foreshortening: Callable[[np.ndarray, int], np.ndarray] | None = None
    stress: Callable[[np.ndarray], Stress] | None = None
    lines: np.ndarray | None = None

    def labels(self) -> list[str]:
        """Name of every node, or its id as text."""
        return [name or str(identity) for name, identity in zip(self.node_names, self.node_ids)]

    def node(self, label: str) -> int:
        """Index of the node with this name or id. UnknownNameError."""
        return index_of(f"node of '{self.name}'", str(label), self.labels())

    def freedoms(self, nodes: list[int]) -> np.ndarray:
        """Indices among the kept degrees of freedom of those of these nodes."""
        return np.flatnonzero(np.isin(self.kept // 6, nodes))

    def resists_rigid_motions(self) -> bool:
        """Whether K B* ≠ 0: a structure without supports takes rigid motions without force (003, eq. 41)."""
        B = self.rigid_motions()
        forces, sizes = np.abs(self.stiffness @ B).max(axis=0), (abs(self.stiffness) @ np.abs(B)).max(axis=0)
        return bool(np.any(forces > RIGID_FORCE * sizes))

    def rigid_motions(self) -> np.ndarray:
        """(d, 6): B*, displacements of rigid motions [rotation; translation] about the origin, of the kept freedoms."""
        whole = np.zeros((len(self.positions), 6, 6))
        whole[:, :3, :3] = whole[:, 3:, 3:] = np.eye(3)
        whole[:, 3:, :3] = -cross_matrix(self.positions)
        return np.asarray(whole.reshape(-1, 6)[self.kept])
