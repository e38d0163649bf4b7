"""What the user wrote, validated and immutable: bodies, hinges, loops, actuators, sensors, with names and units.

Readers (YAML, URDF, MJCF) make a `System`; `build` turns it into the flat arrays that kernels read.
Lengths are metres, masses kilograms, angles radians, times seconds. ``R_AB`` takes components in B to
components in A; ``p_AB_A`` is the position of B's origin from A's origin in A's axes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from limberjack.engine.algebra.rigid import Inertia as Inertia
from limberjack.engine.algebra.rigid import Pose as Pose
from limberjack.engine.files.patterns import Interface
from limberjack.engine.model.alarms import Alarm
from limberjack.engine.model.devices import Actuator, Sensor
from limberjack.engine.model.elements import CentralGravity, Rotor, Thruster
from limberjack.engine.model.shapes import Shape
from limberjack.engine.modes.modal import Attachment, Integrals
from limberjack.engine.tables.hinge_types import ATTACHED_TYPE, HINGE_TYPES, HingeType, modal_type
from limberjack.engine.tables.sensor_types import SENSOR_TYPES


@dataclass(frozen=True)
class Dof:
    """What acts along one velocity coordinate of a hinge. Units: N·m or N for forces, rad or m for positions.

    The hinge's own generalized force is
    ``-stiffness (q - rest) - damping v - friction tanh(v / friction_rate)`` plus, beyond a limit, the one-sided
    spring-damper ``limit_stiffness``, ``limit_damping``. ``armature`` (kg·m² or kg) is reflected rotor inertia and
    adds to the mass matrix. ``limit_stiffness`` and ``limit_damping`` of None are chosen at build from the
    hinge's articulated inertia, so that the stop behaves like a critically damped oscillator of 20 ms.
    """

    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    friction_rate: float = 0.01
    armature: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf
    limit_stiffness: float | None = None
    limit_damping: float | None = None


@dataclass(frozen=True, eq=False)
class Hinge:
    """Connection of a body to its parent.

    type : a key of HINGE_TYPES; "modal" and "attached" for the links of a modal body (`flexible.py`)
    parent : name of the parent body, or None for the inertial frame
    inboard : pose of the hinge frame O+ in the parent body's frame
    outboard : pose of the hinge frame O in this body's frame; O and O+ coincide at q = 0
    axes : unit axes in the hinge frame, one row a direction that the type asks for: the turning or sliding axis of
        1-dof and cylindrical hinges; universal and gimbal, the successive turning axes, mutually orthogonal; planar,
        [normal, x direction]; rolling, [spin axis, direction of travel for positive rotation]
    pitch : helical, metres of travel a radian; radius : rolling, metres
    map : custom, H* (6, r) in hinge-frame axes, [angular; linear]
    modes : modal, the integrals of the body, of unit modal mass; attachment : attached, where on the modal body
    dofs : one Dof for each velocity coordinate
    q0, v0 : initial coordinates (nq,) and velocities (nv,)
    merge : a fixed hinge is folded into its parent (no reaction is then reported) unless this is False
    where : where the hinge was written ("arm.urdf:30, joint 'elbow'"), for messages

    In a hinge made by hand, empty ``dofs``, ``q0`` or ``v0`` mean: default Dofs, the zero position (unit
    quaternion), at rest; `validate` fills them in and makes ``axes`` unit vectors.
    """

    name: str
    type: str
    parent: str | None
    inboard: Pose = field(default_factory=Pose)
    outboard: Pose = field(default_factory=Pose)
    axes: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    pitch: float = 0.0
    radius: float = 0.0
    map: np.ndarray | None = None
    modes: Integrals | None = None
    attachment: Attachment | None = None
    dofs: tuple[Dof, ...] = ()
    q0: np.ndarray = field(default_factory=lambda: np.zeros(0))
    v0: np.ndarray = field(default_factory=lambda: np.zeros(0))
    merge: bool = True
    where: str = field(default="", compare=False)

    @property
    def kind(self) -> HingeType:
        """Sizes and coordinate names of this hinge's type."""
        if self.modes is not None:
            return modal_type(len(self.modes.Mff))
        return ATTACHED_TYPE if self.attachment is not None else HINGE_TYPES[self.type]

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return self.map.shape[1] if self.map is not None else self.kind.nv

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the nq coordinates: "elbow" for one, "wrist.angle1", … for several."""
        return self.kind.coordinate_names(self.name)

    @property
    def velocity_names(self) -> tuple[str, ...]:
        """Names of the nv velocities."""
        return self.kind.velocity_names(self.name, self.nv)


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


#: what a loop may be → how many scalar constraints, before redundant ones are dropped (None: by the hinge)
LOOP_TYPES: dict[str, int | None] = {
    "hinge": None,
    "point": 3,
    "weld": 6,
    "distance": 1,
    "rolling": 3,
    "coupling": 1,
    "lock": None,
}
#: types that join two frames; the others constrain coordinates
JOINING = ("hinge", "point", "weld", "distance", "rolling")
#: type of ``Loop.hinge`` for those that leave no choice
JOINED_AS = {"point": "spherical", "weld": "fixed", "distance": "free", "rolling": "free"}
METHODS = ("embed", "force")


@dataclass(frozen=True)
class Term:
    """One coordinate's share in a coupling: ``factors[0] q + factors[1] q² + …`` (at most four factors)."""

    coordinate: str
    factors: tuple[float, ...]


#: wheels that roll without slip: a thin disc about an axle, and a ball
WHEELS = ("disc", "ball")


@dataclass(frozen=True, eq=False)
class Wheel:
    """What rolls: ``shape``, one of WHEELS, ``radius``, m, and a disc's unit ``axis`` in the frame at its centre."""

    shape: str
    radius: float
    axis: np.ndarray = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False)
class Loop:
    """One constraint on the tree of bodies.

    type : a key of LOOP_TYPES
        "hinge"     the frames move to each other as across ``hinge`` (any hinge type), a hinge that the tree cuts
        "point"     the frames' origins coincide (``hinge`` spherical);  "weld": the frames coincide (``hinge`` fixed)
        "distance"  the frames' origins keep the distance ``length``, m (``hinge`` free): a rigid rod
        "rolling"   ``wheel``, its centre at the second frame, rolls without slip on the x, y plane of the first one, on
                    the side of its z (``hinge`` free): one row for positions, two for velocities alone
        "coupling"  Σ terms = ``offset``: gears, differentials, belts
        "lock"      the hinge named ``locked`` does not move
    hinge : for types that join two frames; its ``parent`` and ``inboard`` are the first frame, its ``outboard`` is
        the second, on ``body``. Its name is the loop's, its dofs, q0 and v0 are empty
    body : the body of the second frame, None for the inertial frame
    length : of a distance; NaN means as the initial coordinates have it, which `validate` fills in
    method : "embed" (minimal coordinates, constraint embedding), "force" (constraint forces), None: chosen from the
        graph when the model is built
    independent : velocities that shall stay independent, () to choose by conditioning; the loop is then embedded
    switchable : may be closed and released while running; closed with the first command ``closed``; always by force.
        It holds the frames, length, offset or coordinates as they are when it closes
    reach : a switchable loop that joins frames closes only while their origins are nearer than this, m
    driven : takes the commands ``<name>.position``, ``.velocity``, ``.acceleration`` (distance and coupling): the
        length or offset is as given plus this position
    initial : of a driven loop, the first position, velocity and acceleration, at which it is assembled
    stabilisation : rate at which errors of a loop by force fade, 1/s (Baumgarte); 0 none
    projection : bring a loop by force back onto its constraint after each step
    """

    name: str
    type: str
    hinge: Hinge | None = None
    body: str | None = None
    length: float = math.nan
    wheel: Wheel | None = None
    terms: tuple[Term, ...] = ()
    offset: float = 0.0
    locked: str = ""
    method: str | None = None
    independent: tuple[str, ...] = ()
    closed: bool = True
    switchable: bool = False
    reach: float = math.inf
    driven: bool = False
    initial: tuple[float, ...] = (0.0, 0.0, 0.0)
    stabilisation: float = 0.0
    projection: bool = True
    where: str = field(default="", compare=False)

    @property
    def joins(self) -> bool:
        """Whether it joins two frames."""
        return self.type in JOINING

    @property
    def command_names(self) -> tuple[str, ...]:
        """The commands this loop takes: whether it is closed (1 or 0), and the prescribed motion."""
        switch = (f"{self.name}.closed",) if self.switchable else ()
        drive = tuple(f"{self.name}.{word}" for word in ("position", "velocity", "acceleration")) if self.driven else ()
        return switch + drive

    @property
    def first_commands(self) -> tuple[float, ...]:
        """Initial values of the commands."""
        return (float(self.closed),) * self.switchable + self.initial * self.driven


@dataclass(frozen=True, eq=False)
class System:
    """A validated model. Bodies are ordered base to tip: a parent comes before its children.

    Make one with `limberjack.load`, or by hand and then `validate` it. ``warnings`` lists, one text each, what was
    kept although it breaks a physical rule, and what of the file is ignored. ``held`` and ``held_rates`` name the
    coordinates and velocities whose initial values the user gave: of a model with loops the others are a guess, which
    is moved until the loops close. ``sun`` (3,) is the direction to the sun in the inertial frame; ``seed`` that of the
    noise of instruments.
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
        return tuple(sensor.name + suffix for sensor in self.sensors for suffix in SENSOR_TYPES[sensor.type].suffixes)

    @cached_property
    def output_places(self) -> dict[str, tuple[int, int]]:
        """Where outputs are among all: sensor, and each of its components ("load", "load.nx") → start and length."""
        places: dict[str, tuple[int, int]] = {}
        start = 0
        for sensor in self.sensors:
            suffixes = SENSOR_TYPES[sensor.type].suffixes
            places |= {sensor.name + suffix: (start + i, 1) for i, suffix in enumerate(suffixes)}
            places.setdefault(sensor.name, (start, len(suffixes)))
            start += len(suffixes)
        return places

    @property
    def command_takers(self) -> tuple[Actuator | Loop | Thruster, ...]:
        """All that commands go to, in the order of the commands."""
        return (*self.actuators, *self.loops, *self.thrusters)

    @cached_property
    def has_devices(self) -> bool:
        """Whether instruments, motors or valves have states that only steps of the engine move on."""
        return self.counts_steps or any(actuator.motor is not None for actuator in self.actuators)

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
