"""Models with flexible bodies that FMUs, archives and engine processes are tested with."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import limberjack as lj
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.flexible import modal_bodies
from limberjack.engine.model.system import Body, Dof, Hinge, Node, Pose, System
from limberjack.engine.model.validate import validate
from limberjack.engine.modes import integrals
from limberjack.engine.modes.frame import Beam, Frame, Material, rectangle
from limberjack.engine.modes.frame_structure import frame_structure
from limberjack.engine.modes.modal import Integrals
from limberjack.engine.modes.reduction import Reduction, reduce_structure
from limberjack.engine.tables.sensor_types import SENSOR_TYPES
from tests.engine.kernels.flexible.closed import closed
from tests.engine.kernels.flexible.particles import cloud, hinge, rigid

Z = np.array([[0.0, 0.0, 1.0]])


@cache
def strip() -> Integrals:
    """An aluminium strip of 2 m with six modes, held at its root, with a node at its tip."""
    ends = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    beam = Beam(("root", "tip"), rectangle(0.03, 0.02), Material(70e9, 26e9, 2700.0), np.array([0.0, 0.0, 1.0]), 8)
    data = reduce_structure(
        frame_structure(Frame("boom", ("root", "tip"), ends, (beam,))), Reduction("cantilever", "root", ("tip",), 6)
    )
    made = integrals(data, "root", ["tip"], None)
    return replace(made, C=2e-4 * made.K)


def boom() -> System:
    """A boom that a servo turns, with a camera that pans at its tip and every sensor."""
    rng = np.random.default_rng(2)
    drive = Hinge(
        "drive", "revolute", None, axes=Z, dofs=(Dof(damping=0.2, lower=-2.0, upper=2.0),), q0=np.array([0.2])
    )
    tip = Pose(np.eye(3), np.array([0.05, 0.0, 0.1]))
    camera = Body("camera", rigid(rng), Hinge("pan", "revolute", "boom.tip", inboard=tip, axes=Z, v0=np.array([0.4])))
    drives = (
        Actuator("drive", "drive", "servo", kp=40.0, kd=20.0, limit=60.0),
        Actuator("pan", "pan", limit=1.5, initial=0.2),
    )
    system = System("boom", (*modal_bodies("boom", drive, strip()), camera), (Node("eye", "camera", tip),), drives)
    system = replace(system, gravity=np.array([0.0, 0.0, -1.6]), dt=5e-4, integrator="implicit")
    return validate(replace(system, sensors=sensors("eye", "pan", "boom")))


def sensors(node: str, joint: str, flexible: str) -> tuple[Sensor, ...]:
    """Every sensor of trees, at what is named and at the flexible body's modes."""
    targets = {"coordinate": f"{flexible}.modes.1", "velocity": joint, "node": node, "hinge": joint}
    targets["flexible body"] = flexible
    listed = [Sensor(name, name, targets[kind.target]) for name, kind in SENSOR_TYPES.items() if kind.target in targets]
    return (*listed, Sensor("root load", "reaction", f"{flexible}.modes"))


def flexible_base() -> System:
    """A free body with five modes; on its nodes a wheel and an arm with another flexible body."""
    rng = np.random.default_rng(5)
    bodies = [
        *modal_bodies(
            "bus", hinge(rng, "root", "free", None), cloud(rng, 5, 2, 0.05).integrals(), 0.02 * rng.normal(size=5)
        )
    ]
    wheel = Body("wheel", rigid(rng), hinge(rng, "spin", "revolute", "bus.node0"))
    arm = Body("arm", rigid(rng), hinge(rng, "elbow", "universal", "bus.node1"))
    panel = modal_bodies("panel", hinge(rng, "root of panel", "spherical", "arm"), cloud(rng, 9, 1, 0.05).integrals())
    system = System("flexible base", (*bodies, arm, *panel, wheel), actuators=(Actuator("spin", "spin", initial=0.3),))
    return validate(replace(system, gravity=np.zeros(3), sensors=sensors("panel.node0", "spin", "panel")))


def tied() -> System:
    """Two flexible bodies in two loops, one by force, one embedded; modes damped."""
    system = closed(1, [("hand", "base"), ("wheel", "arm")], "point").by("force", "embed")
    listed = (*sensors("hand", "spin", "boom"), Sensor("tie load", "loop_wrench", "tie"))
    return validate(replace(system, sensors=listed, actuators=(Actuator("spin", "spin", initial=0.3),)))


def spacecraft() -> System:
    """The flexible base in a central field, with wheels, a gyro and thrusters."""
    wheel = lj.Wheel(
        "wheel 2", "arm", np.array([0.0, 1.0, 1.0]), 0.3, 0.02, max_torque=0.1, max_speed=5.0, friction=0.01
    )
    held = lj.Wheel("held", "panel.node0", Z[0], 0.3, 0.02, speed=20.0, mode="speed", gain=0.2)
    gyro = lj.Cmg("gyro", "bus.node0", Z[0], np.array([1.0, 0.0, 0.0]), 3.0, 0.5, 0.1 * np.eye(3), gain=1.0, rate=0.4)
    jets = [
        lj.Thruster(f"jet {i}", body, np.eye(3)[i], 2.0, 0.1 * np.ones(3), initial=1.0)
        for i, body in enumerate(("arm", "panel.node0"))
    ]
    field = lj.CentralGravity(30.0, np.array([3.0, -14.0, 5.0]))
    return lj.equip(flexible_base(), wheel, held, gyro, *jets, field)


MODELS = {"boom": boom, "flexible base": flexible_base, "tied": tied, "spacecraft": spacecraft}
