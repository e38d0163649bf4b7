"""Whether the momentum of a driven system should be conserved, and how far it drifts."""

from __future__ import annotations

import numpy as np

from limberjack.engine.model.system import Dof, System

#: column of a log that says whether momentum should be conserved: 1 or 0
CONSERVED = "momentum.conserved"
#: strain energy of flexible bodies, J; logs of other models have none
STRAIN = "energy.strain"


def momentum_conserved(system: System) -> bool:
    """Whether nothing acts from outside: no gravity, no thrusters, and every root hinge is free, without drives or
    passive forces."""
    if (
        np.any(system.gravity)
        or system.central is not None
        or system.thrusters
        or any(each.FORCE for each in system.elements)
    ):
        return False
    driven = {a.coordinate for a in system.actuators}
    roots = [body.hinge for body in system.bodies if body.hinge.parent is None]
    return all(
        hinge.type == "free" and not driven & set(hinge.velocity_names) and not any(map(_acts, hinge.dofs))
        for hinge in roots
    )


def _acts(dof: Dof) -> bool:
    """Spring, damper, friction and the inertia of a motor act against the inertial frame at a root hinge."""
    return bool(dof.stiffness or dof.damping or dof.friction or dof.armature)


def log_conserves(log: dict[str, np.ndarray]) -> bool:
    """The result of `momentum_conserved` for the system of a log, for the plot and the table."""
    return CONSERVED in log and bool(np.all(log[CONSERVED] == 1.0))


def momentum_drift(log: dict[str, np.ndarray], parts: tuple[str, ...]) -> np.ndarray:
    """|p(t) - p(0)| of the named momentum components."""
    table = np.column_stack([log[f"momentum.{part}"] for part in parts])
    return np.asarray(np.linalg.norm(table - table[0], axis=1))
