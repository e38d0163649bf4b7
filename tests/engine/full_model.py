"""A model that uses every part of a tree's step: all hinge types, passive forces, actuators, every sensor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Body, Dof, System
from limberjack.engine.model.validate import validate
from limberjack.engine.tables.hinge_types import HINGE_TYPES
from limberjack.engine.tables.sensor_types import SENSOR_TYPES
from tests.engine.random_systems import random_system

TYPES = ("free", *(name for name in HINGE_TYPES if name != "free"), "revolute", "revolute", "prismatic")
_ACTUATED = ("revolute", "prismatic", "helical")


def _passive(body: Body) -> Body:
    hinge = body.hinge
    if hinge.type == "free":
        return replace(body, hinge=replace(hinge, dofs=(Dof(),) * 6))
    if hinge.kind.quasi:
        dofs = (Dof(damping=0.2, friction=0.05, armature=0.05),) * hinge.nv
    else:
        dofs = tuple(Dof(3.0, q, 0.2, 0.05, 0.01, armature=0.05, lower=q - 0.3, upper=q + 0.3) for q in hinge.q0)
    return replace(body, hinge=replace(hinge, dofs=dofs))


def full_model() -> System:
    """Fifteen bodies on a free base, in 9.8 m/s² of gravity."""
    system = random_system(TYPES, np.random.default_rng(11), merge=False, gravity=np.array([0.0, 0.0, -9.8]))
    bodies = tuple(_passive(body) for body in system.bodies)
    driven = [body.hinge.name for body in bodies if body.hinge.type in _ACTUATED]
    gains = ({"mode": "torque"}, {"mode": "servo", "kp": 20.0, "kd": 2.0}, {"mode": "velocity", "kd": 2.0})
    actuators = tuple(
        Actuator(f"drive {name}", name, limit=5.0, initial=0.3, **gains[i % 3]) for i, name in enumerate(driven)
    )
    targets = {"coordinate": "h2", "velocity": "h2", "hinge": "h0", "node": "n5"}
    sensors = [
        Sensor(name, name, targets[kind.target]) for name, kind in SENSOR_TYPES.items() if kind.target in targets
    ]
    sensors.append(Sensor("weld", "reaction", next(b.hinge.name for b in bodies if b.hinge.type == "fixed")))
    return validate(replace(system, bodies=bodies, actuators=actuators, sensors=tuple(sensors)))
