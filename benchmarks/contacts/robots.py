"""Scenes of robots that touch: one declaration a scene, from which every engine is built.

ANYmal stands    on a floor of 3.4 degrees, joints held by servos: feet that rub do not creep
Panda pushes     a box along a floor: where the box ends, beside the same engine at a far smaller step
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.models import robot_system
from limberjack.engine.api.dynamics import Dynamics
from limberjack.engine.model.elements.contact import Contact
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.system import Body, Hinge, Inertia, System
from limberjack.engine.model.validate import validate

FEET = ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")
#: rad, of hips and knees, by the end of the joint's name; abduction stays at 0
STANCE = {"HFE": 0.7, "KFE": -1.4}
SLOPE = np.array([0.5, 0.3, -9.8])
TOOL, FOOT_RADIUS, TOOL_RADIUS = "panda_hand_tcp", 0.03, 0.03
POSE = np.array([0.0, 0.5, 0.0, -2.2, 0.0, 2.7, 0.8])
BOX_MASS, BOX_SIZE = 2.0, 0.2
#: s, when the arm begins to turn, and its rate, rad/s
BEGIN, RATE = 0.2, 0.15


@dataclass(frozen=True)
class RobotScene:
    """A robot on servos.

    make : its System; the servos hold its first pose, with what gravity asks of them if `carried`
    watched : shapes whose centres are compared;  settle, seconds : s, when they are first and last looked at
    turned : the coordinate whose command turns at RATE from BEGIN to `seconds`, if any
    refined : the error is against the same engine with steps so many times smaller; 0: against the places at `settle`
    """

    name: str
    make: Callable[[], System]
    watched: tuple[str, ...]
    settle: float
    seconds: float
    carried: bool = False
    turned: str = ""
    refined: int = 0

    @property
    def count(self) -> int:
        """Number of bodies that are looked at."""
        return len(self.watched)

    def commands(self, system: System) -> dict[str, float]:
        """The servos' commands at the start, of their coordinates' names."""
        rows = {name: system.coordinate_names.index(name) for name in (a.name for a in system.actuators)}
        still = np.zeros(system.nv)
        load = Dynamics(system).inverse(system.q0, still, still) if self.carried else still
        gains = {a.name: a.kp for a in system.actuators}
        forces = dict(zip(system.velocity_names, load, strict=True))
        return {name: float(system.q0[row] + forces[name] / gains[name]) for name, row in rows.items()}

    def turn(self, time: float) -> float:
        """How far the command has turned, rad."""
        return RATE * max(0.0, min(time, self.seconds) - BEGIN) if self.turned else 0.0


def standing_anymal() -> System:
    """ANYmal in its stance, feet on the floor."""
    robot = robot_system("anymal")
    robot = replace(robot, bodies=tuple(map(_in_stance, robot.bodies)), gravity=SLOPE, shapes=())
    dynamics = Dynamics(robot)
    low = min(dynamics.pose(foot, robot.q0)[1][2] for foot in FEET) - FOOT_RADIUS
    floor = Shape(None, "plane", np.ones(2), position=np.array([0.0, 0.0, low]), name="floor")
    feet = (Shape(foot, "sphere", np.array([FOOT_RADIUS]), name=foot) for foot in FEET)
    ground = Contact("ground", ("floor",), FEET, friction=0.7)
    return _equipped(robot, (*feet, floor), (ground,), kp=400.0, kd=8.0)


def _in_stance(body: Body) -> Body:
    if body.hinge.type != "revolute":
        return body
    angle = STANCE.get(body.hinge.name[-3:], 0.0) * (-1.0 if body.hinge.name[1] == "H" else 1.0)
    return replace(body, hinge=replace(body.hinge, q0=np.array([angle])))


def pushing_panda() -> System:
    """The arm with a ball as its tool, and a box a millimetre beside it on a floor."""
    arm = robot_system("panda")
    angles = iter(POSE)
    bodies = tuple(
        replace(body, hinge=replace(body.hinge, q0=np.array([next(angles)]))) if body.hinge.dofs else body
        for body in arm.bodies
    )
    arm = replace(arm, bodies=bodies, shapes=())
    place = Dynamics(arm).pose(TOOL, arm.q0)[1]
    beside = place + np.array([0.0, 0.5 * BOX_SIZE + TOOL_RADIUS + 0.001, 0.0])
    start = np.array([1.0, 0.0, 0.0, 0.0, *beside])
    inertia = Inertia(BOX_MASS, np.zeros(3), np.eye(3) * BOX_MASS * BOX_SIZE**2 / 6.0)
    box = Body("box", inertia, Hinge("box", "free", None, q0=start, v0=np.zeros(6)))
    shapes = (
        Shape(TOOL, "sphere", np.array([TOOL_RADIUS]), name="tool"),
        Shape("box", "box", np.full(3, BOX_SIZE), name="box"),
        Shape(None, "plane", np.ones(2), position=place - [0.0, 0.0, 0.5 * BOX_SIZE], name="floor"),
    )
    laws = (Contact("push", ("tool",), ("box",), friction=0.3), Contact("ground", ("floor",), ("box",), friction=0.4))
    return _equipped(replace(arm, bodies=(*bodies, box)), shapes, laws, kp=4000.0, kd=120.0)


def _equipped(robot: System, shapes: tuple[Shape, ...], laws: tuple[Contact, ...], *, kp: float, kd: float) -> System:
    """With shapes, contacts, their forces as outputs, and a servo of its own name on every joint."""
    driven = (body.hinge.name for body in robot.bodies if body.hinge.type == "revolute")
    servos = tuple(Actuator(name, name, "servo", kp=kp, kd=kd) for name in driven)
    forces = tuple(Sensor(law.name, "contact_force", law.name) for law in laws)
    made = replace(robot, shapes=shapes, contacts=laws, actuators=servos, sensors=forces)
    return validate(made, inertia="warn")


def robot_scenes(*, quick: bool) -> list[RobotScene]:
    """The scenes of a run; quick ones stand for two seconds after one, and push for half a second."""
    settle, stands, pushes, refined = (1.0, 3.0, 0.5, 4) if quick else (5.0, 65.0, 2.5, 20)
    return [
        RobotScene("ANYmal stands", standing_anymal, FEET, settle, stands),
        RobotScene("Panda pushes a box", pushing_panda, ("box",), 0.0, pushes, True, "panda_joint1", refined),
    ]
