"""Unit loads of a body, and the stress stiffness that they cause, in the order of one list.

Order: accelerations x, y, z (forces m e_i); angular accelerations x, y, z (m e_i × r); centrifugal fields xx, yy, zz,
xy, xz, yz (m (δ_ij r - ½ (e_i r_j + e_j r_i))); unit forces x, y, z at each interface node. r is the position in the
data's frame. Everything is SI: m/s², rad/s², (rad/s)², N.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from limberjack.engine.modes.modal_fields import Stress
from limberjack.engine.modes.reference import cross_matrix

AXES = "xyz"
PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
#: loads that act on every body, beside three for each interface node
INERTIAL = 12


def load_names(interface: Sequence[str]) -> list[str]:
    """Words for the loads, in their order."""
    names = [f"acceleration {axis}" for axis in AXES] + [f"angular acceleration {axis}" for axis in AXES]
    names += [f"centrifugal {AXES[i]}{AXES[j]}" for i, j in PAIRS]
    return names + [f"force {axis} at '{name}'" for name in interface for axis in AXES]


def unit_loads(
    inertia: Callable[[np.ndarray], np.ndarray], positions: np.ndarray, forces: Sequence[np.ndarray]
) -> np.ndarray:
    """(12 + 3 k, N, 3) nodal forces, N.

    inertia : nodal forces (N, 3) of nodal accelerations (N, 3);  positions : (N, 3) m
    forces : of each interface node the nodal forces (3, N, 3) that unit forces at it stand for
    """
    unit = np.eye(3)
    fields = [np.broadcast_to(e, positions.shape) for e in unit]
    fields += [np.cross(e, positions) for e in unit]
    for i, j in PAIRS:
        field = -0.5 * (np.outer(positions[:, j], unit[i]) + np.outer(positions[:, i], unit[j]))
        fields.append(field + positions if i == j else field)
    return np.concatenate([np.array([inertia(field) for field in fields]), *forces])


def fit(arms: np.ndarray) -> np.ndarray:
    """(6, 3 k): rigid displacement [rotation; translation] of a point that fits those of nodes at `arms` (k, 3) best.

    Its transpose spreads a moment and a force at the point over the nodes.
    """
    A = np.concatenate([-cross_matrix(arms), np.tile(np.eye(3), (len(arms), 1, 1))], axis=2).reshape(-1, 6)
    return np.asarray(np.linalg.pinv(A))


def spread_forces(nodes: int, group: np.ndarray, arms: np.ndarray) -> np.ndarray:
    """(3, N, 3) nodal forces of unit forces at a point, spread over a group of nodes at `arms` from it."""
    forces = np.zeros((3, nodes, 3))
    forces[:, group] = fit(arms)[3:].reshape(3, -1, 3)
    return forces


def stress_of_loads(matrices: np.ndarray, nodes: Sequence[int]) -> Stress:
    """The parts of the modal data from modal stress stiffnesses (12 + 3 k, n, n) in the order of the loads."""
    n = matrices.shape[1]
    centrifugal = np.zeros((3, 3, n, n))
    for (i, j), matrix in zip(PAIRS, matrices[6:INERTIAL]):
        centrifugal[i, j] = centrifugal[j, i] = matrix
    return Stress(
        acceleration=matrices[:3].copy(),
        angular=matrices[3:6].copy(),
        centrifugal=centrifugal,
        nodes=np.array(nodes, dtype=np.int64),
        force=matrices[INERTIAL:].reshape(-1, 3, n, n).copy(),
    )
