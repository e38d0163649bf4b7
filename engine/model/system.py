"""What the user wrote, validated and immutable: bodies, hinges, loops, actuators, sensors, with names and units.

Readers (YAML, URDF, MJCF) make a `System`; `build` turns it into the flat arrays that kernels read.
Lengths are metres, masses kilograms, angles radians, times seconds. ``R_AB`` takes components in B to
components in A; ``p_AB_A`` is the position of B's origin from A's origin in A's axes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import get_args, get_origin, get_type_hints

import numpy as np

from limberjack.engine.algebra.rigid import Inertia as Inertia
from limberjack.engine.algebra.rigid import Pose as Pose
from limberjack.engine.files.patterns import Interface
from limberjack.engine.model.elements.alarm import Alarm
from limberjack.engine.model.elements.bushing import Bushing
from limberjack.engine.model.elements.central_gravity import CentralGravity
from limberjack.engine.model.elements.contact import Contact
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.external_force import ExternalForce
from limberjack.engine.model.elements.facts import Element
from limberjack.engine.model.elements.hinge import Dof as Dof
from limberjack.engine.model.elements.hinge import Hinge as Hinge
from limberjack.engine.model.elements.loop import JOINED_AS as JOINED_AS
from limberjack.engine.model.elements.loop import JOINING as JOINING
from limberjack.engine.model.elements.loop import LOOP_TYPES as LOOP_TYPES
from limberjack.engine.model.elements.loop import METHODS as METHODS
from limberjack.engine.model.elements.loop import WHEELS as WHEELS
from limberjack.engine.model.elements.loop import Loop as Loop
from limberjack.engine.model.elements.loop import Term as Term
from limberjack.engine.model.elements.loop import Wheel as Wheel
from limberjack.engine.model.elements.magnetic_field import MagneticField
from limberjack.engine.model.elements.rotor import Rotor
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.elements.shape import Shape
from limberjack.engine.model.elements.spring import Spring
from limberjack.engine.model.elements.thruster import Thruster


@dataclass(frozen=True, eq=False)
class Body:
    """One rigid body: its name, mass properties in its own frame and inboard hinge.

    ``where`` says where the body was written ("arm.urdf:12"), for messages.
    """

    name: str
    inertia: Inertia
    hinge: Hinge
    where: str = ""


@dataclass(frozen=True, eq=False)
class Node:
    """A named frame fixed on a body (``body`` None: fixed in the inertial frame); ``pose`` X_BN."""

    name: str
    body: str | None
    pose: Pose = field(default_factory=Pose)
    where: str = field(default="", compare=False)


@dataclass(frozen=True, eq=False)
class System:
    """A validated model. Make one with `limberjack.load`, or by hand and then `validate` it.

    name : of the model; source : the file that it came from, or ""
    bodies : ordered base to tip, a parent before its children; nodes : named frames on them; shapes : what views draw
    actuators, sensors, thrusters, rotors, springs, bushings, external_forces, magnetic_fields, contacts, loops : the
        elements
    gravity : uniform, (3,) m/s², inertial axes; central : a central field that takes its place, or None
    sun : direction to the sun, (3,), inertial axes; seed : of the noise of instruments
    dt : step, s; integrator : "rk4", "semi_implicit" or "implicit"
    interface : which variables an FMU has; alarms : limits that consoles watch
    held, held_rates : coordinates and velocities whose initial values the user gave; in a model with loops the
        others are a guess, which is moved until the loops close
    warnings : one text for each broken physical rule that was tolerated, and for each ignored part of the file
    """

    name: str
    bodies: tuple[Body, ...]
    nodes: tuple[Node, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    loops: tuple[Loop, ...] = ()
    thrusters: tuple[Thruster, ...] = ()
    rotors: tuple[Rotor, ...] = ()
    shapes: tuple[Shape, ...] = ()
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -9.80665]))
    central: CentralGravity | None = None
    sun: np.ndarray = field(default_factory=lambda: np.array([1.0, 0.0, 0.0]))
    seed: int = 0
    dt: float = 1e-3
    integrator: str = "rk4"
    source: str = ""
    warnings: tuple[str, ...] = ()
    interface: Interface = field(default_factory=Interface)
    held: tuple[str, ...] = ()
    held_rates: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    springs: tuple[Spring, ...] = ()
    bushings: tuple[Bushing, ...] = ()
    external_forces: tuple[ExternalForce, ...] = ()
    magnetic_fields: tuple[MagneticField, ...] = ()
    contacts: tuple[Contact, ...] = ()

    def __repr__(self) -> str:
        parts = (
            (len(self.bodies), "bodies"),
            (self.nq, "coordinates"),
            (self.nv, "velocities"),
            (len(self.loops), "loops"),
        )
        return f"System('{self.name}', {', '.join(f'{count} {what}' for count, what in parts)})"

    @cached_property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.coordinate_names)

    @cached_property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return len(self.velocity_names)

    @cached_property
    def body_names(self) -> tuple[str, ...]:
        return tuple(body.name for body in self.bodies)

    @cached_property
    def node_names(self) -> tuple[str, ...]:
        """Every frame a user can ask for: the bodies' own frames first, then the named nodes."""
        return self.body_names + tuple(node.name for node in self.nodes)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        return tuple(name for body in self.bodies for name in body.hinge.coordinate_names)

    @cached_property
    def velocity_names(self) -> tuple[str, ...]:
        return tuple(name for body in self.bodies for name in body.hinge.velocity_names)

    @cached_property
    def own_bodies(self) -> tuple[Body, ...]:
        """The bodies without the further links of flexible ones (`flexible.py`)."""
        return tuple(b for b in self.bodies if b.hinge.modes is None and b.hinge.attachment is None)

    @cached_property
    def flexible_names(self) -> tuple[str, ...]:
        """Names of the flexible bodies."""
        return tuple(str(body.hinge.parent) for body in self.bodies if body.hinge.modes is not None)

    @cached_property
    def loop_names(self) -> tuple[str, ...]:
        return tuple(loop.name for loop in self.loops)

    @cached_property
    def command_names(self) -> tuple[str, ...]:
        return tuple(name for taker in self.command_takers for name in taker.command_names)

    @cached_property
    def output_names(self) -> tuple[str, ...]:
        return tuple(sensor.name + suffix for sensor in self.sensors for suffix in sensor.outputs)

    @cached_property
    def output_places(self) -> dict[str, tuple[int, int]]:
        """Where outputs are among all: sensor, and each of its components ("load", "load.nx") → start and length."""
        places: dict[str, tuple[int, int]] = {}
        start = 0
        for sensor in self.sensors:
            suffixes = sensor.outputs
            places |= {sensor.name + suffix: (start + i, 1) for i, suffix in enumerate(suffixes)}
            places.setdefault(sensor.name, (start, len(suffixes)))
            start += len(suffixes)
        return places

    @cached_property
    def sensor_targets(self) -> dict[str, tuple[str, ...]]:
        """Kind of target, as `SENSOR_TYPES` names it → what a sensor may aim at."""
        return {
            "coordinate": self.coordinate_names,
            "velocity": self.velocity_names,
            "node": self.node_names,
            "hinge": tuple(body.hinge.name for body in self.bodies),
            "flexible body": self.flexible_names,
            "loop": self.loop_names,
            "joining loop": tuple(loop.name for loop in self.loops if loop.joins),
            "motor": tuple(actuator.name for actuator in self.actuators if actuator.motor is not None),
            "thruster": tuple(thruster.name for thruster in self.thrusters),
            "contact": tuple(contact.name for contact in self.contacts),
        }

    @property
    def command_takers(self) -> tuple[Actuator | Loop | Thruster | Element, ...]:
        """All that commands go to, in the order of the commands."""
        return (*self.actuators, *self.loops, *self.thrusters, *self.elements)

    @cached_property
    def elements(self) -> tuple[Element, ...]:
        """The items of all kinds that have their own table."""
        return tuple(item for group in element_kinds() for item in getattr(self, group))

    @cached_property
    def has_devices(self) -> bool:
        """Whether instruments, motors, valves or contacts have states that only steps of the engine move on."""
        motors = any(actuator.motor is not None for actuator in self.actuators)
        return self.counts_steps or motors or bool(self.contacts)

    @cached_property
    def counts_steps(self) -> bool:
        """Whether instruments or valves of thrusters count steps of the engine: all steps are then of one length."""
        sampled = any(sensor.errors is not None for sensor in self.sensors)
        return sampled or any(thruster.has_valve for thruster in self.thrusters)

    @cached_property
    def mass(self) -> float:
        """Total mass of the bodies, kg."""
        return float(sum(body.inertia.mass for body in self.bodies))

    @property
    def q0(self) -> np.ndarray:
        """Initial coordinates (nq,), a fresh copy."""
        return np.concatenate([np.zeros(0), *(body.hinge.q0 for body in self.bodies)])

    @property
    def v0(self) -> np.ndarray:
        """Initial velocities (nv,), a fresh copy."""
        return np.concatenate([np.zeros(0), *(body.hinge.v0 for body in self.bodies)])


@cache
def item_kinds() -> dict[str, type]:
    """Field of a System → the kind of the items that it lists."""
    hints = get_type_hints(System)
    listed = {name: get_args(hint)[0] for name, hint in hints.items() if get_origin(hint) is tuple}
    return {name: kind for name, kind in listed.items() if kind is not str}


@cache
def element_kinds() -> dict[str, type[Element]]:
    """Field of a System, and group of a file → the kind of elements that it lists."""
    return {name: kind for name, kind in item_kinds().items() if issubclass(kind, Element)}
