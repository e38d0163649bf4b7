"""Fuel slosh in a tank as a pendulum: the mass that moves with the first mode, on a hinge at a point of the tank."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from limberjack.engine.algebra.rigid import Pose
from limberjack.engine.files.schema_values import Name, NonNegative, Number, Positive, Vector3
from limberjack.engine.model.elements.device import CARRIER, Device, Parts, unit
from limberjack.engine.model.elements.facts import Fact
from limberjack.engine.model.places import Locate, plain_locate
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia

_DIRECTION = (
    "direction from hinge to mass at rest, in the pendulum's frame: along gravity or against thrust; its length does "
    "not matter"
)
_ANGLE = "initial angle about the first axis across `direction`; *name*`.angle2` starts at 0"


@dataclass(frozen=True, eq=False)
class SloshPendulum(Device):
    """Slosh of a liquid, as a spherical pendulum without spin. The mass that does not move is part of the tank's body.

    The names of its body, of its hinge and of the coordinates `<name>.angle1`, `<name>.angle2` are its own. pose : of
    its frame on the body; its origin is the hinge
    """

    SAID = "slosh pendulum"
    name: Annotated[Name, Fact("name of the pendulum, its body and hinge; first part of its coordinates' names")]
    body: Annotated[Name, Fact(CARRIER)]
    mass: Annotated[Positive, Fact("moving mass", "kg")]
    length: Annotated[
        Positive, Fact("distance from hinge to mass; the angular frequency is √(acceleration / length)", "m")
    ]
    direction: Annotated[np.ndarray, Fact(_DIRECTION, given=Vector3)]
    pose: Pose = field(default_factory=Pose)
    damping: Annotated[NonNegative, Fact("viscous damping of both angles", "N·m·s/rad")] = 0.0
    stiffness: Annotated[
        NonNegative,
        Fact("spring stiffness of both angles; represents what holds the liquid without gravity", "N·m/rad"),
    ] = 0.0
    inertia: Annotated[NonNegative, Fact("inertia of the mass about its own centre", "kg·m²")] = 0.0
    angle: Annotated[Number, Fact(_ANGLE, "rad")] = 0.0
    rate: Annotated[Number, Fact("initial rate of that angle", "rad/s")] = 0.0
    where: str = ""

    def parts(self, locate: Locate = plain_locate) -> Parts:
        """The mass on a universal hinge."""
        down = unit(self, "direction", self.direction, locate)
        first = np.cross(down, np.eye(3)[int(np.argmin(np.abs(down)))])
        first /= np.linalg.norm(first)
        bob = Inertia(self.mass, self.length * down, self.inertia * np.eye(3))
        held = Dof(damping=self.damping, stiffness=self.stiffness)
        hinge = Hinge(
            self.name,
            "universal",
            self.body,
            inboard=self.pose,
            axes=np.array([first, np.cross(down, first)]),
            dofs=(held, held),
            q0=np.array([float(self.angle), 0.0]),
            v0=np.array([float(self.rate), 0.0]),
            where=self.where,
        )
        return Parts(Body(self.name, bob, hinge, self.where))
