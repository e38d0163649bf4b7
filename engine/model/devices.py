"""Drives and sensors, as the user wrote them: the motor behind a drive, the errors that make a sensor an instrument."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np


def _none() -> np.ndarray:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class Errors:
    """What a sensor makes of the ideal value: it is then an instrument, with samples, delay and noise.

    Vectors have one number for each that the sensor measures (of an attitude or a direction three small angles, rad,
    in the axes of the instrument), one number that is for all, or none, which means none of that error.

    rate : samples a second; 0: one at the end of every step
    delay : s from the sample to when it is shown
    noise : standard deviation of a sample;  noise_density : instead or as well, unit/√Hz, of which a sample has
        density × √rate
    bias : constant;  bias_walk : unit/√s, of the part that wanders;  bias_time : s in which that forgets, 0: never
    scale : error of scale, 1e-3 for 0.1 %;  misalignment : (3,) rotation vector of its axes in those of the node, rad
    saturation : largest size of a reading;  resolution : step of a reading
    wrap : readings are in [0, wrap)
    max_rate : of a star tracker, beyond which it sees no stars, rad/s;  sun_exclusion : of a star tracker, angle from
        its boresight to the sun below which it is blind, rad;  field_of_view : of a sun sensor, whole angle, rad
    pole_pairs : of a resolver, 0 for others;  amplitude_imbalance : of its cosine over its sine, less 1;  quadrature :
        angle by which its windings are not square, rad;  its noise is that of the windings, of amplitude 1
    """

    rate: float = 0.0
    delay: float = 0.0
    noise: np.ndarray = field(default_factory=_none)
    noise_density: np.ndarray = field(default_factory=_none)
    bias: np.ndarray = field(default_factory=_none)
    bias_walk: np.ndarray = field(default_factory=_none)
    bias_time: float = 0.0
    scale: np.ndarray = field(default_factory=_none)
    misalignment: np.ndarray = field(default_factory=lambda: np.zeros(3))
    saturation: np.ndarray = field(default_factory=_none)
    resolution: np.ndarray = field(default_factory=_none)
    wrap: float = 0.0
    max_rate: float = math.inf
    sun_exclusion: float = 0.0
    field_of_view: float = 2.0 * math.pi
    pole_pairs: int = 0
    amplitude_imbalance: float = 0.0
    quadrature: float = 0.0


#: the vectors of `Errors` that have a number for each that is measured
VECTORS = ("noise", "noise_density", "bias", "bias_walk", "scale", "saturation", "resolution")


@dataclass(frozen=True)
class Motor:
    """The motor behind a drive: winding, current loop, gear. Angles, rates and inertia are those of the rotor.

    The force that the drive asks for becomes a current, which the loop brings about with the voltage there is.

    torque_constant : N·m/A, back-emf as well, V·s/rad;  resistance : Ω;  inductance : H
    bandwidth : of the current loop, Hz: its gains are k_p = 2π f L, k_i = 2π f R
    voltage : largest, V;  current : largest, A
    gear : turns of the rotor for one of the joint (for rad a metre on a sliding hinge)
    inertia : of the rotor, kg·m²;  friction : Coulomb, N·m, of smoothed sign tanh(rate/friction_rate);  damping :
        viscous, N·m·s/rad
    stiffness, gear_damping : of the gear, at the joint, N·m/rad and N·m·s/rad; 0: stiff, the rotor turns with the joint
    backlash : whole play of the gear, at the joint, rad; needs stiffness
    """

    torque_constant: float
    resistance: float
    inductance: float
    bandwidth: float
    voltage: float = math.inf
    current: float = math.inf
    gear: float = 1.0
    inertia: float = 0.0
    friction: float = 0.0
    friction_rate: float = 0.1
    damping: float = 0.0
    stiffness: float = 0.0
    gear_damping: float = 0.0
    backlash: float = 0.0


@dataclass(frozen=True)
class Actuator:
    """A drive on one velocity coordinate, with up to three commands, held between updates.

    mode "torque": force = command.
    mode "servo":  force = kp (position − q) + kd (rate − v) + torque; commands name, name.rate, name.torque.
    mode "velocity": force = kd (rate − v) + torque; commands name, name.torque.
    The force (N·m or N) is clipped to ±limit; at ±max_rate (rad/s or m/s) it does not drive the rate further.
    ``initial`` is the first command. With a ``motor`` this force is what the motor is asked for.
    """

    name: str
    coordinate: str
    mode: str = "torque"
    kp: float = 0.0
    kd: float = 0.0
    limit: float = math.inf
    initial: float = 0.0
    max_rate: float = math.inf
    motor: Motor | None = None
    where: str = field(default="", compare=False)

    @property
    def command_names(self) -> tuple[str, ...]:
        """The commands this actuator takes, main one first."""
        extra = {"torque": (), "velocity": (".torque",), "servo": (".rate", ".torque")}[self.mode]
        return (self.name, *(self.name + suffix for suffix in extra))


@dataclass(frozen=True)
class Sensor:
    """A measurement: ideal, computed with each output, or with errors, which make it an instrument.

    type : a key of SENSOR_TYPES; target : a coordinate or velocity name, a node, a hinge (reaction), a flexible body
    (strain_energy), a loop, an actuator with a motor (motor_…) or a thruster (thrust).
    """

    name: str
    type: str
    target: str
    errors: Errors | None = None
    where: str = field(default="", compare=False)
