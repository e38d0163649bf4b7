"""One body on one hinge: the smallest System for a closed form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Node, Pose, System
from limberjack.engine.model.validate import validate

X, Y, Z = np.eye(3)
GRAVITY = 9.81


def one_body(
    hinge_type: str,
    axes: Sequence[np.ndarray] = (),
    *,
    mass: float = 1.0,
    com: Sequence[float] = (0.0, 0.0, 0.0),
    moments: Sequence[float] = (1.0, 1.0, 1.0),
    gravity: Sequence[float] = (0.0, 0.0, 0.0),
    dofs: tuple[Dof, ...] = (),
    q0: Sequence[float] = (),
    v0: Sequence[float] = (),
    node: Sequence[float] = (0.0, 0.0, 0.0),
    actuators: tuple[Actuator, ...] = (),
    pitch: float = 0.0,
    radius: float = 0.0,
) -> System:
    """Body "body" on hinge "hinge" at the inertial origin; `moments` are about the centre of mass; "tip" is a node."""
    hinge = Hinge(
        "hinge",
        hinge_type,
        None,
        axes=np.array(axes, dtype=float).reshape(-1, 3),
        pitch=pitch,
        radius=radius,
        dofs=dofs,
        q0=np.array(q0, dtype=float),
        v0=np.array(v0, dtype=float),
    )
    body = Body("body", Inertia(mass, np.array(com, dtype=float), np.diag(moments).astype(float)), hinge)
    nodes = (Node("tip", "body", Pose(position=np.array(node, dtype=float))),)
    return validate(System("one", (body,), nodes, actuators, gravity=np.array(gravity, dtype=float)))
