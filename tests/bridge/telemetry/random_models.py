"""Random models with drives, stops, sensors, thrusters and alarms, and names with all kinds of characters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import limberjack as lj
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.motor import Motor
from limberjack.engine.model.elements.sensor import Sensor, SensorErrors
from limberjack.engine.model.system import Dof, System
from limberjack.engine.model.validate import validate
from limberjack.engine.tables.sensor_types import SENSOR_TYPES
from tests.engine.random_systems import ALL_TYPES, random_system

ODD = ("left arm/{}", "Ärm:{}", "a.b_{}", "[{}] (x)", "{} 100 %", "q.{}")
MOTOR = Motor(torque_constant=0.1, resistance=0.5, inductance=1e-3, bandwidth=100.0)


def random_model(seed: int) -> System:
    """A tree with drives, motors, stops, instruments, a thruster and alarms; names of all kinds of characters."""
    rng = np.random.default_rng(seed)
    tree = random_system([str(rng.choice(ALL_TYPES)) for _ in range(5)] + ["revolute"], rng)
    bodies = [replace(body, hinge=replace(body.hinge, dofs=dofs(body.hinge, rng))) for body in tree.bodies]
    tree = replace(tree, bodies=tuple(bodies))
    quasi = {name for body in tree.bodies if body.hinge.kind.quasi for name in body.hinge.velocity_names}
    drives = []
    for i, coordinate in enumerate(rng.permutation(tree.velocity_names)[:4]):
        mode = str(rng.choice(["torque", "velocity"] if coordinate in quasi else ["torque", "velocity", "servo"]))
        gains = {"kp": 5.0 * (mode == "servo"), "kd": 1.0 * (mode != "torque")}
        motor = MOTOR if coordinate not in quasi and rng.random() < 0.5 else None
        drives.append(Actuator(name(rng, i), str(coordinate), mode, limit=rng.uniform(0.1, 3.0), motor=motor, **gains))
    targets = {"node": tree.node_names, "velocity": tree.velocity_names, "coordinate": tree.coordinate_names}
    kinds = [name for name, kind in SENSOR_TYPES.items() if kind.target in targets]
    measured = [str(rng.choice(targets[SENSOR_TYPES[kind].target])) for kind in kinds]
    sensors = [
        Sensor(name(rng, i), kind, target, errors(kind, rng))
        for i, (kind, target) in enumerate(zip(kinds, measured, strict=True))
    ]
    sensors.append(Sensor("thrust", "thrust", "jet"))
    jet = lj.Thruster("jet", "b0", rng.normal(size=3), 0.5)
    made = validate(replace(tree, actuators=tuple(drives), sensors=tuple(sensors), thrusters=(jet,)))
    return lj.equip(made, lj.Alarm("q.*", lj.Bounds(-1.0, 1.0), lj.Bounds(upper=2.0)))


def errors(kind: str, rng: np.random.Generator) -> SensorErrors | None:
    """Noise, and a reading that is cut or wrapped, on half of the sensors that may have errors."""
    if kind == "node_orientation" or rng.random() < 0.5:
        return None
    if kind == "position" and rng.random() < 0.5:
        return SensorErrors(noise=np.array([0.1]), wrap=1.5)
    return SensorErrors(noise=np.array([0.1]), saturation=np.array([0.2]))


def name(rng: np.random.Generator, i: int) -> str:
    return str(rng.choice(ODD)).format(i)


def dofs(hinge, rng: np.random.Generator) -> tuple[Dof, ...]:
    """Friction, and on half of the velocities stops, where the hinge may have them."""
    stops = (lambda: {"lower": -9.0, "upper": 9.0}) if not hinge.kind.quasi else dict
    return tuple(Dof(friction=0.1, **(stops() if rng.random() < 0.5 else {})) for _ in range(hinge.nv))
