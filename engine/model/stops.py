"""Stiffness and damping of the hinge stops for which the model gives none."""

from __future__ import annotations

import numpy as np

from limberjack.engine.common.errors import ModelError
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.loops.closure import slope
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import Loop, System
from limberjack.engine.tables import plant as at

#: time constant of such stops, s
LIMIT_TIME = 0.02


def complete_limits(plant: Plant, system: System) -> None:
    """Stops without a given stiffness act on the coordinate's effective inertia D like a damped oscillator.

    k = D / T², c = 2 D / T with T = LIMIT_TIME and D = 1 / (M⁻¹)_ii of the tree at the initial coordinates.
    """
    dof = plant.sections["dof"]
    limited = np.isfinite(dof[:, at.D_LOWER]) | np.isfinite(dof[:, at.D_UPPER])
    open_k, open_c = np.isnan(dof[:, at.D_LIMIT_K]), np.isnan(dof[:, at.D_LIMIT_C])
    if np.any(limited & (open_k | open_c)):
        inertia = _effective_inertia(plant, system)
        dof[:, at.D_LIMIT_K] = np.where(open_k, inertia / LIMIT_TIME**2, dof[:, at.D_LIMIT_K])
        dof[:, at.D_LIMIT_C] = np.where(open_c, 2.0 * inertia / LIMIT_TIME, dof[:, at.D_LIMIT_C])
    np.nan_to_num(dof[:, at.D_LIMIT_K : at.D_LIMIT_C + 1], copy=False, nan=0.0)


def _effective_inertia(plant: Plant, system: System) -> np.ndarray:
    """(nv,): of a coordinate that moves only what a coupling c q = 0 moves with it, 1 / (c M⁻¹ cᵀ) of the others."""
    M = np.zeros((system.nv, system.nv))
    entries().mass_matrix(plant.ints, plant.floats, plant.new_work(), system.q0, M)
    massless = np.diag(M) == 0.0
    rows = {j: row for loop in system.loops for j, row in _coupled(loop, system, massless).items()}
    M[list(rows), list(rows)] = 1.0
    try:
        factor = np.linalg.inv(np.linalg.cholesky(M))
    except np.linalg.LinAlgError as error:
        raise ModelError(
            "the mass matrix at the initial coordinates is not positive definite, so the stiffness of the hinge "
            "limits cannot be chosen",
            where=system.source or system.name,
            remedy="Give the massless bodies mass or armature, or give limit_stiffness and limit_damping",
        ) from error
    inertia = 1.0 / np.sum(factor * factor, axis=0)
    for j, row in rows.items():
        inertia[j] = 1.0 / np.sum((factor @ row) ** 2)
    return np.asarray(inertia)


def _coupled(loop: Loop, system: System, massless: np.ndarray) -> dict[int, np.ndarray]:
    """The massless coordinate of a coupling, and the slopes (nv,) of the others on which it depends."""
    slopes = np.zeros(system.nv)
    for term in loop.terms:
        i, j = (every.index(term.coordinate) for every in (system.coordinate_names, system.velocity_names))
        slopes[j] = slope(term.factors, system.q0[i])
    found = [j for j in np.flatnonzero(slopes) if massless[j]]
    if len(found) != 1 or np.count_nonzero(slopes) == 1:
        return {}
    own, slopes[found[0]] = slopes[found[0]], 0.0
    return {int(found[0]): -slopes / own}
