"""The YAML schema of sensors, with the errors that make them instruments."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from limberjack.engine.files.schema_values import Model, Name, NonNegative, Number, Positive, Vector3, shape_of

SensorType = Literal[
    "position",
    "rate",
    "effort",
    "reaction",
    "node_position",
    "node_orientation",
    "node_angular_velocity",
    "node_linear_velocity",
    "gyro",
    "accelerometer",
    "strain_energy",
    "loop_wrench",
    "loop_force",
    "loop_residual",
    "loop_closed",
    "loop_energy_loss",
    "motor_current",
    "motor_position",
    "motor_rate",
    "thrust",
    "star_tracker",
    "sun_sensor",
    "encoder",
    "resolver",
    "joint_torque",
    "force_torque",
    "imu",
]

_Several = Annotated[list[Number], Field(min_length=1, max_length=6)]
_SeveralSizes = Annotated[list[NonNegative], Field(min_length=1, max_length=6)]
#: one number for all that a sensor measures, or one for each
Each = Annotated[Annotated[Number, Tag("number")] | Annotated[_Several, Tag("list")], Discriminator(shape_of)]
EachSize = Annotated[
    Annotated[NonNegative, Tag("number")] | Annotated[_SeveralSizes, Tag("list")], Discriminator(shape_of)
]


class ErrorsSpec(Model):
    """What an instrument makes of the ideal value; a list has one number for each that it measures."""

    rate: Positive | None = Field(default=None, description="samples a second (default: one every step)")
    delay: NonNegative = Field(default=0.0, description="from the sample to when it is shown, s (default 0)")
    noise: EachSize | None = Field(default=None, description="standard deviation of a sample (default 0)")
    noise_density: EachSize | None = Field(
        default=None, description="unit/√Hz; a sample has this × √rate, beside noise (default 0)"
    )
    bias: Each | None = Field(default=None, description="constant (default 0)")
    bias_walk: EachSize | None = Field(default=None, description="of the part that wanders, unit/√s (default 0)")
    bias_time: NonNegative = Field(default=0.0, description="s in which the wandering part forgets (default 0: never)")
    scale: Each | None = Field(default=None, description="error of scale, 0.001 for 0.1 % (default 0)")
    misalignment: Vector3 | None = Field(
        default=None, description="rotation vector of its axes in those of the node, rad (default none)"
    )
    saturation: EachSize | None = Field(default=None, description="largest size of a reading (default: no limit)")
    resolution: EachSize | None = Field(default=None, description="step of a reading (default: none)")
    wrap: Positive | None = Field(default=None, description="readings are in [0, wrap) (default: not wrapped)")


class SensorSpec(ErrorsSpec):
    """A measurement: ideal, or with errors."""

    name: Name = Field(description="unique among sensors")
    type: SensorType
    target: Name = Field(
        description="a coordinate (position, encoder, resolver), velocity (rate, effort, joint_torque), hinge "
        "(reaction, force_torque), flexible body (strain_energy), loop (loop_…), drive with a motor (motor_…), "
        "thruster (thrust) or node"
    )
    bits: Annotated[int, Field(ge=1, le=40)] | None = Field(
        default=None, description="encoder and resolver: resolution as bits of a turn (default: none)"
    )
    pole_pairs: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None, description="resolver (default 1), and motor_position measured by one"
    )
    amplitude_imbalance: Number = Field(
        default=0.0, description="resolver: amplitude of cosine over sine, less 1 (default 0)"
    )
    quadrature: Number = Field(default=0.0, description="resolver: angle by which windings are not square, rad")
    max_rate: Positive | None = Field(
        default=None, description="star_tracker: rate beyond which it sees nothing, rad/s (default: none)"
    )
    sun_exclusion: NonNegative = Field(
        default=0.0,
        description="star_tracker: angle from boresight (z) to sun below which it is blind, rad (default 0)",
    )
    field_of_view: Positive | None = Field(
        default=None, description="sun_sensor: whole angle about its boresight (z), rad (default: all around)"
    )
    gyro: ErrorsSpec | None = Field(default=None, description="imu: errors of its gyro, output <name>.gyro")
    accelerometer: ErrorsSpec | None = Field(
        default=None, description="imu: errors of its accelerometer, output <name>.accelerometer"
    )


class MotorSpec(Model):
    """The motor behind a drive. Inertia, friction and rates are the rotor's."""

    torque_constant: Positive = Field(description="N·m/A; back-emf as well, V·s/rad")
    resistance: Positive = Field(description="of the winding, Ω")
    inductance: Positive = Field(description="of the winding, H")
    bandwidth: Positive = Field(description="of the current loop, Hz")
    voltage: Positive | None = Field(default=None, description="largest, V (default: no limit)")
    current: Positive | None = Field(default=None, description="largest, A (default: no limit)")
    gear: Positive = Field(default=1.0, description="turns of the rotor for one of the joint (default 1)")
    inertia: NonNegative = Field(default=0.0, description="of the rotor, kg·m² (default 0)")
    friction: NonNegative = Field(default=0.0, description="Coulomb friction of the rotor, N·m (default 0)")
    friction_rate: Positive = Field(
        default=0.1, description="rate of its smoothed sign: friction·tanh(rate/friction_rate), rad/s (default 0.1)"
    )
    damping: NonNegative = Field(default=0.0, description="viscous, of the rotor, N·m·s/rad (default 0)")
    stiffness: NonNegative = Field(default=0.0, description="of the gear, at the joint, N·m/rad (default 0: stiff)")
    gear_damping: NonNegative = Field(default=0.0, description="of the gear, at the joint, N·m·s/rad (default 0)")
    backlash: NonNegative = Field(default=0.0, description="whole play, at the joint, rad; needs stiffness (default 0)")
