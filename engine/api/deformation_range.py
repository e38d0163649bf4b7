"""Whether a failure comes from a flexible body that is deformed beyond what its inertia of second order bears."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from limberjack.engine.model.system import System

#: deformations, beside that of a failure, where the mass matrix is looked at: a failed step begins before that
BEYOND = (1.0, 1.25, 1.5, 2.0)


def deformed_too_far(system: System, q: np.ndarray, mass_matrix: Callable[[np.ndarray], np.ndarray]) -> str:
    """A sentence that names the flexible body, if the mass matrix is not positive definite at q or not far from it.

    mass_matrix : (nv, nv) at coordinates (nq,).  Empty if the mass matrix is positive definite, or nothing flexible.
    """
    places = modal_places(system)
    if not places or not np.all(np.isfinite(q)):
        return ""
    for scale in BEYOND:
        stretched = np.array(q, dtype=float)
        for part in places.values():
            stretched[part] *= scale
        if _least(mass_matrix(stretched)) <= 0.0:
            break
    else:
        return ""
    name = max(places, key=lambda body: _least(mass_matrix(_at_rest(stretched, places[body]))))
    largest = float(np.abs(q[places[name]]).max())
    place = "here" if scale == 1.0 else f"at {scale:g} times the deformation"
    return (
        f" The mass matrix is not positive definite {place}: the flexible body '{name}' (largest modal coordinate "
        f"{largest:.3g}) has left the range of its inertia, which is of second order in the deformation. Take fewer "
        "modes, `variant: linearized`, a smaller motion, or more inertia where it is held; `limberjack modes` reports "
        "the range."
    )


def modal_places(system: System) -> dict[str, slice]:
    """Coordinates of the modes of every flexible body whose mass matrix depends on them."""
    places, at = {}, 0
    for body in system.bodies:
        modes, count = body.hinge.modes, body.hinge.kind.nq
        if modes is not None and any(np.any(part) for part in (modes.S2, modes.J1, modes.J2, modes.N1)):
            places[body.name.removesuffix(".modes")] = slice(at, at + count)
        at += count
    return places


def _at_rest(q: np.ndarray, part: slice) -> np.ndarray:
    still = q.copy()
    still[part] = 0.0
    return still


def _least(matrix: np.ndarray) -> float:
    """Smallest eigenvalue of the matrix scaled to ones on its diagonal, or the least of its diagonal if not above 0."""
    diagonal = np.diag(matrix)
    if not np.all(np.isfinite(matrix)) or diagonal.min() <= 0.0:
        return float(min(diagonal.min(), 0.0)) if np.all(np.isfinite(matrix)) else -np.inf
    scale = 1.0 / np.sqrt(diagonal)
    return float(np.linalg.eigvalsh(matrix * scale * scale[:, None])[0])
