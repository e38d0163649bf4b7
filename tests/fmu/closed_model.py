"""A model with closed loops of several kinds, for the tests of what an FMU makes of them."""

from __future__ import annotations

import numpy as np

from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Loop, Pose, System, Term
from limberjack.engine.model.validate import validate

SOLID = Inertia(2.0, np.array([0.1, 0.0, 0.05]), np.diag([0.2, 0.3, 0.4]))
Z = np.array([[0.0, 0.0, 1.0]])


def _at(x: float, y: float = 0.0) -> Pose:
    return Pose(position=np.array([x, y, 0.0]))


def docking() -> System:
    """Three trees: a free base with a geared arm, a free target, a slider that a driven rod holds.

    weld "grasp" joins arm and target, open at the start, within 0.5 m; lock "brake" holds the arm's hinge "elbow";
    coupling "gear" (embedded) turns its motor; driven distance "rod" holds the slider.
    """
    level = np.array([1.0, 0.0, 0.0, 0.0])
    placed = np.concatenate([level, [1.1, 0.05, 0.0]])
    spin = np.array([0.02, 0.1, -0.05, -0.3, 0.1, 0.02])
    damped = (Dof(damping=0.1),)
    bodies = (
        Body("base", SOLID, Hinge("base", "free", None, q0=np.concatenate([level, np.zeros(3)]), v0=np.zeros(6))),
        Body("arm", SOLID, Hinge("elbow", "revolute", "base", _at(0.4), axes=Z, dofs=damped, q0=np.array([0.1]))),
        Body("rotor", SOLID, Hinge("motor", "revolute", "base", _at(-0.2), axes=Z, q0=np.array([1.0]))),
        Body("target", SOLID, Hinge("target", "free", None, q0=placed, v0=spin)),
        Body("slider", SOLID, Hinge("slide", "prismatic", None, axes=np.eye(3)[:1], q0=np.array([0.75]))),
    )
    loops = (
        Loop(
            "grasp",
            "weld",
            Hinge("grasp", "fixed", "arm", inboard=_at(0.6)),
            "target",
            closed=False,
            switchable=True,
            reach=0.5,
        ),
        Loop("brake", "lock", locked="elbow", closed=False, switchable=True),
        Loop("gear", "coupling", terms=(Term("motor", (1.0,)), Term("elbow", (-10.0,)))),
        Loop("rod", "distance", Hinge("rod", "free", "slider", inboard=_at(0.0, 1.0)), length=1.25, driven=True),
    )
    sensors = (
        Sensor("load", "loop_wrench", "grasp"),
        Sensor("held", "loop_closed", "grasp"),
        Sensor("lost", "loop_energy_loss", "grasp"),
        Sensor("torque", "loop_force", "gear"),
        Sensor("pull", "loop_force", "rod"),
        Sensor("gap", "loop_residual", "rod"),
        Sensor("turn", "position", "elbow"),
    )
    actuators = (Actuator("motor", "motor"), Actuator("push", "slide"))
    return validate(System("docking", bodies, (), actuators, sensors, loops, gravity=np.zeros(3)))
