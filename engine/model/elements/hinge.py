"""Hinges: the connection of a body to its parent, and what acts along its coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from pydantic import Field as Bounds

from limberjack.engine.algebra.rigid import Pose
from limberjack.engine.files.schema_values import NonNegative, Number, Positive
from limberjack.engine.model.elements.facts import Fact, Tuned, facts_of
from limberjack.engine.modes.modal import Attachment, Integrals
from limberjack.engine.tables import plant as at
from limberjack.engine.tables.hinge_types import ATTACHED_TYPE, HINGE_TYPES, HingeType, modal_type
from limberjack.engine.tables.measures import POSITION

_FRICTION_RATE = "rate at which friction reaches 76 % of `friction`: friction·tanh(v/friction_rate)"
_STIFFNESS = Tuned("spring stiffness", "AngularStiffness", "LinearStiffness", 2)
_REST = Tuned("position where the spring is at rest", *POSITION, 3)
_DAMPING = Tuned("viscous damping", "AngularDamping", "LinearDamping", 0)
_FRICTION = Tuned("Coulomb friction", "TorqueBound", "ForceBound", 1)
_ARMATURE = Tuned("reflected rotor inertia", "RotorInertia", "RotorMass", 6)
_LOWER, _UPPER = Tuned("lower stop", *POSITION, 4), Tuned("upper stop", *POSITION, 5)
_SPRING, _DAMPER, _NONE, _CHOSEN = "N·m/rad, N/m", "N·m·s/rad, N·s/m", "none", "chosen at build"


@dataclass(frozen=True)
class Dof:
    """What acts along one velocity coordinate of a hinge. Units: N·m or N for forces, rad or m for positions.

    The hinge's own generalized force is
    ``-stiffness (q - rest) - damping v - friction tanh(v / friction_rate)`` plus, beyond a limit, the one-sided
    spring-damper ``limit_stiffness``, ``limit_damping``. ``limit_stiffness`` and ``limit_damping`` of None are chosen
    at build from the hinge's articulated inertia, so that the stop behaves like a critically damped oscillator of
    20 ms.
    """

    stiffness: Annotated[NonNegative, Fact("spring stiffness", _SPRING, "", at.D_STIFFNESS, _STIFFNESS)] = 0.0
    rest: Annotated[Number, Fact("position at which the spring has no force", "rad, m", "", at.D_REST, _REST)] = 0.0
    damping: Annotated[NonNegative, Fact("viscous damping", _DAMPER, "", at.D_DAMPING, _DAMPING)] = 0.0
    friction: Annotated[NonNegative, Fact("Coulomb friction", "N·m, N", "", at.D_FRICTION, _FRICTION)] = 0.0
    friction_rate: Annotated[Positive, Fact(_FRICTION_RATE, "rad/s, m/s", "", at.D_FRICTION_RATE)] = 0.01
    armature: Annotated[
        NonNegative, Fact("reflected rotor inertia, added to the mass matrix", "kg·m², kg", tuned=_ARMATURE)
    ] = 0.0
    lower: Annotated[Number, Fact("lower limit, below `upper`", "rad, m", _NONE, at.D_LOWER, _LOWER)] = -math.inf
    upper: Annotated[Number, Fact("upper limit, above `lower`", "rad, m", _NONE, at.D_UPPER, _UPPER)] = math.inf
    limit_stiffness: Annotated[
        Positive | None, Fact("stiffness of the one-sided spring beyond the limit", _SPRING, _CHOSEN, key="stiffness")
    ] = None
    limit_damping: Annotated[NonNegative | None, Fact("damping beyond the limit", _DAMPER, _CHOSEN, key="damping")] = (
        None
    )


MapRows = Annotated[
    list[Annotated[list[Number], Bounds(min_length=1, max_length=6)]], Bounds(min_length=6, max_length=6)
]
_PITCH = "travel along the axis per radian; may be negative"
_MAP = (
    "6 rows [angular; linear] of r numbers; column i is the body's velocity, in hinge-frame axes, for unit velocity i. "
    "The columns must be linearly independent"
)
_MERGE = "fold the body into its parent; `false` keeps it separate, so that sensors can measure the reaction"
#: the facts of a Dof that are limits, and the others; those of springs and stops, which quasi-velocities do not have
LIMITS = tuple(known for known in facts_of(Dof) if known.name in ("lower", "upper") or known.name.startswith("limit_"))
ACTING = tuple(known for known in facts_of(Dof) if known not in LIMITS)
OF_COORDINATES = ("stiffness", "rest", "lower", "upper")


@dataclass(frozen=True, eq=False)
class Hinge:
    """Connection of a body to its parent.

    type : a key of HINGE_TYPES; "modal" and "attached" for the links of a modal body (`flexible.py`)
    parent : name of the parent body, or None for the inertial frame
    inboard : pose of the hinge frame O+ in the parent body's frame
    outboard : pose of the hinge frame O in this body's frame; O and O+ coincide at q = 0
    axes : unit axes in the hinge frame, one row a direction that the type asks for, `HingeType.directions`
    map : custom, H* (6, r)
    modes : modal, the integrals of the body, of unit modal mass; attachment : attached, where on the modal body
    dofs : one Dof for each velocity coordinate
    q0, v0 : initial coordinates (nq,) and velocities (nv,)
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
    pitch: Annotated[Number, Fact(_PITCH, "m/rad", column=at.B_X, only=("helical",), needed=True)] = 0.0
    radius: Annotated[Positive, Fact("wheel radius", "m", column=at.B_X, only=("rolling",), needed=True)] = 0.0
    map: Annotated[np.ndarray | None, Fact(_MAP, given=MapRows, only=("custom",), needed=True)] = None
    modes: Integrals | None = None
    attachment: Attachment | None = None
    dofs: tuple[Dof, ...] = ()
    q0: np.ndarray = field(default_factory=lambda: np.zeros(0))
    v0: np.ndarray = field(default_factory=lambda: np.zeros(0))
    merge: Annotated[bool, Fact(_MERGE, only=("fixed",))] = True
    where: str = field(default="", compare=False)

    @property
    def parameter(self) -> float:
        """The one number that some types need: pitch, radius or handedness of the third gimbal axis."""
        if len(self.axes) == 3:
            first, second, third = self.axes
            return 1.0 if np.dot(np.cross(second, first), third) > 0.0 else -1.0
        own = (known.name for known in NUMBERS if self.type in known.fact.only)
        return float(next((getattr(self, name) for name in own), 0.0))

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


#: the numbers that only some types of hinges have
NUMBERS = tuple(known for known in facts_of(Hinge) if known.fact.column >= 0)
