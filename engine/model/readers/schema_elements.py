"""The YAML schema of force elements: gravity, thrusters, wheels and control-moment gyros."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from limberjack.engine.files.schema_values import (
    Frame,
    InertiaMatrix,
    Model,
    Name,
    NonNegative,
    Number,
    Positive,
    Vector3,
    shape_of,
)

#: (one field, another that says the same)
_EITHER = (("max_speed", "max_momentum"), ("speed", "momentum"))


class CentralSpec(Model):
    """The field of a point mass."""

    mu: Positive = Field(description="gravitational parameter, m³/s²")
    position: Vector3 = Field(default=[0.0, 0.0, 0.0], description="of the centre, m (default [0, 0, 0])")
    gradient: bool = Field(default=True, description="the gradient across each body counts (default true)")


class GravitySpec(Model):
    """Gravity that depends on the place."""

    central: CentralSpec


Gravity = Annotated[
    Annotated[Vector3, Tag("list")] | Annotated[GravitySpec, Tag("mapping")] | Annotated[Vector3, Tag("number")],
    Discriminator(shape_of),
]


class ThrusterSpec(Model):
    """A force on a body, commanded in newtons."""

    name: Name = Field(description="unique among thrusters; name of the command")
    body: Name = Field(description="the body or node that it sits on")
    position: Vector3 = Field(default=[0.0, 0.0, 0.0], description="where it acts, m (default [0, 0, 0])")
    direction: Vector3 = Field(description="of the force on the body; its length does not matter")
    thrust: Positive = Field(description="largest force, N")
    minimum: NonNegative = Field(default=0.0, description="commands below this give no force, N (default 0)")
    initial: Number = Field(default=0.0, description="first command, N (default 0)")
    delay: NonNegative = Field(default=0.0, description="of its valve, from command to thrust, s (default 0)")
    minimum_pulse: NonNegative = Field(default=0.0, description="once open it stays so at least so long, s (default 0)")


class Spinning(Frame):
    """Fields of wheels and control-moment gyros. Position and orientation are those of the device's frame."""

    name: Name = Field(description="of its body, hinge, velocity and drive; name of the main command")
    body: Name = Field(description="the body or node that carries it")
    mass: Positive = Field(description="kg")
    max_torque: Positive | None = Field(default=None, description="of its motor, N·m (default: no limit)")
    gain: NonNegative = Field(default=0.0, description="of the mode that holds a rate, N·m·s/rad (default 0)")
    damping: NonNegative = Field(default=0.0, description="viscous, N·m·s/rad (default 0)")
    friction: NonNegative = Field(default=0.0, description="Coulomb friction, N·m (default 0)")
    friction_rate: Positive = Field(
        default=0.01, description="rate of the smoothed sign: friction·tanh(v/friction_rate) (default 0.01)"
    )


class WheelSpec(Spinning):
    """A reaction or momentum wheel."""

    axis: Vector3 = Field(description="spin axis in its frame; its length does not matter")
    spin_inertia: Positive = Field(description="about the axis, kg·m²")
    transverse_inertia: Positive | None = Field(
        default=None, description="across the axis, about the centre of mass, kg·m² (default: half of spin_inertia)"
    )
    max_speed: Positive | None = Field(default=None, description="at which the motor accelerates no more, rad/s")
    max_momentum: Positive | None = Field(default=None, description="instead of max_speed, N·m·s")
    speed: Number | None = Field(default=None, description="initial, rad/s (default 0)")
    momentum: Number | None = Field(default=None, description="instead of speed, N·m·s")
    mode: Literal["torque", "speed"] = Field(default="torque", description="what is commanded (default torque)")

    @model_validator(mode="after")
    def _one_of_each(self) -> WheelSpec:
        for one, other in _EITHER:
            if getattr(self, one) is not None and getattr(self, other) is not None:
                raise PydanticCustomError("given_twice", "{one} and {other}", {"one": one, "other": other})
        return self


class CmgSpec(Spinning):
    """A single-gimbal control-moment gyro."""

    gimbal_axis: Vector3 = Field(description="in its frame; its length does not matter")
    rotor_axis: Vector3 = Field(description="at gimbal angle 0, across the gimbal axis")
    momentum: Number = Field(description="of the rotor relative to the gimbal, constant, N·m·s")
    inertia: InertiaMatrix = Field(
        description="of gimbal and rotor about their centre of mass, the frame's origin, in its axes, kg·m²: "
        "matrix or xx, yy, zz, xy, xz, yz"
    )
    mode: Literal["rate", "torque"] = Field(default="rate", description="what is commanded (default rate)")
    max_rate: Positive | None = Field(default=None, description="at which the motor accelerates no more, rad/s")
    angle: Number = Field(default=0.0, description="initial gimbal angle, rad (default 0)")
    rate: Number = Field(default=0.0, description="initial gimbal rate, rad/s (default 0)")
