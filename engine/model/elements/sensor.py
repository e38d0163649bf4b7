"""Sensors of the types of `tables/sensor_types.py`, and the errors that make one an instrument."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from pydantic import Discriminator, Tag
from pydantic import Field as Bounds

from limberjack.engine.algebra.rotations import from_axis_angle
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.files.numbers import usable
from limberjack.engine.files.schema_values import Name, NonNegative, Number, Positive, Vector3, shape_of
from limberjack.engine.model.elements.facts import Fact, Fail, Tuned, check_numbers, facts_of, fill_row
from limberjack.engine.tables import instruments as at
from limberjack.engine.tables.sensor_types import SENSOR_TYPES

#: most samples on their way, and commands in a valve's delay
MOST_DELAYED = 100_000


#: sensor types that only files have → the types of the System that they become
OF_FILES: dict[str, tuple[str, ...]] = {
    "encoder": ("position",),
    "resolver": ("position",),
    "joint_torque": ("effort",),
    "force_torque": ("reaction",),
    "imu": ("gyro", "accelerometer"),
}
#: types of files that are instruments even without errors: while they see nothing, what they show stays
ALWAYS = ("encoder", "resolver", *(name for name, kind in SENSOR_TYPES.items() if kind.optical))


_Several = Annotated[list[Number], Bounds(min_length=1, max_length=at.MOST_NUMBERS)]
_SeveralSizes = Annotated[list[NonNegative], Bounds(min_length=1, max_length=at.MOST_NUMBERS)]
#: one number for all that a sensor measures, or one for each
Each = Annotated[Annotated[Number, Tag("number")] | Annotated[_Several, Tag("list")], Discriminator(shape_of)]
EachSize = Annotated[
    Annotated[NonNegative, Tag("number")] | Annotated[_SeveralSizes, Tag("list")], Discriminator(shape_of)
]
_TRACKER, _RESOLVER = ("star_tracker",), ("resolver", "motor_position")
_ZERO = "Give zero or more"
_NOISE, _BIAS = Tuned("standard deviation of a sample", rank=1), Tuned("bias", rank=0)
_SCALE, _LIMIT = Tuned("error of scale", "Fraction", rank=2), Tuned("largest size of a reading", rank=3)
_RATE = (
    "samples per second: the first at the initial state, then at the end of each step that reaches a multiple of "
    "the period"
)
_DELAY = "time from a sample to its output; until the first delayed sample arrives, the output is the initial sample"
_AXES = "rotation vector from the axes of the node or hinge to those of the instrument; vector measurements only"
_PAIRS = "number of pole pairs; unless `wrap` is given, the reading is the angle modulo 2π/`pole_pairs`"


_READINGS, _UNIT = "readings wrap into [0, `wrap`)", "as measured"
_OF_IMU = "errors of its {0}, output *name*`.{0}`"


def _none() -> np.ndarray:
    return np.zeros(0)


@dataclass(frozen=True, eq=False)
class SensorErrors:
    """What an instrument makes of the ideal value; a list has one number for each that it measures.

    A sensor with errors is an instrument, with samples, delay and noise. Vectors have one number for each that the
    sensor measures (of an attitude or a direction three small angles, rad, in the axes of the instrument), one number
    that is for all, or none, which means none of that error. A rate of 0 is one sample at the end of every step.
    Raises ArgumentError for a vector that is not of numbers; `limberjack.equip` checks the values.
    """

    rate: Annotated[float, Fact(_RATE, "1/s", "every step", at.N_RATE, remedy=_ZERO, given=Positive)] = 0.0
    delay: Annotated[NonNegative, Fact(_DELAY, "s", "", at.N_DELAY)] = 0.0
    noise: Annotated[
        np.ndarray, Fact("standard deviation of each sample", _UNIT, "0", at.N_NOISE, _NOISE, given=EachSize)
    ] = field(default_factory=_none)
    noise_density: Annotated[
        np.ndarray,
        Fact(
            "noise density, in addition to `noise`: each sample has the standard deviation density·√rate",
            "unit/√Hz",
            "0",
            given=EachSize,
        ),
    ] = field(default_factory=_none)
    bias: Annotated[np.ndarray, Fact("constant bias", _UNIT, "0", at.N_BIAS, _BIAS, given=Each)] = field(
        default_factory=_none
    )
    bias_walk: Annotated[
        np.ndarray, Fact("intensity of the random walk of the bias", "unit/√s", "0", at.N_WALK, given=EachSize)
    ] = field(default_factory=_none)
    bias_time: Annotated[
        NonNegative, Fact("correlation time of this walk; 0: the walk is unbounded", "s", "", at.N_WALK_TIME)
    ] = 0.0
    scale: Annotated[
        np.ndarray, Fact("scale error: 0.001 reads 0.1 % too high", "", "0", at.N_SCALE, _SCALE, given=Each)
    ] = field(default_factory=_none)
    misalignment: Annotated[np.ndarray, Fact(_AXES, "rad", "none", given=Vector3)] = field(
        default_factory=lambda: np.zeros(3)
    )
    saturation: Annotated[
        np.ndarray,
        Fact("largest magnitude of a reading", _UNIT, "no limit", at.N_LIMIT, _LIMIT, given=EachSize, empty=math.inf),
    ] = field(default_factory=_none)
    resolution: Annotated[
        np.ndarray, Fact("quantisation step of readings", _UNIT, "none", at.N_STEP, given=EachSize)
    ] = field(default_factory=_none)
    wrap: Annotated[
        float,
        Fact(_READINGS, _UNIT, "not wrapped", at.N_WRAP, remedy=_ZERO, given=Positive),
    ] = 0.0
    max_rate: Annotated[Positive, Fact("rate above which it sees no stars", "rad/s", "none", only=_TRACKER)] = math.inf
    sun_exclusion: Annotated[
        NonNegative,
        Fact("the tracker is blind while the sun is within this angle of its boresight", "rad", only=_TRACKER),
    ] = 0.0
    field_of_view: Annotated[
        Positive, Fact("full angle of view about its boresight", "rad", "all around", only=("sun_sensor",))
    ] = 2.0 * math.pi
    pole_pairs: Annotated[
        int, Fact(_PAIRS, "", "1", at.N_PAIRS, only=_RESOLVER, given=Annotated[int, Bounds(ge=1, le=1000)])
    ] = 0
    amplitude_imbalance: Annotated[
        Number,
        Fact(
            "amplitude of the cosine winding over that of the sine winding, minus 1",
            "",
            "",
            at.N_IMBALANCE,
            only=_RESOLVER,
        ),
    ] = 0.0
    quadrature: Annotated[
        Number, Fact("angle by which the windings deviate from 90°", "rad", "", at.N_QUADRATURE, only=_RESOLVER)
    ] = 0.0

    def __post_init__(self) -> None:
        for name in (*VECTORS, "misalignment"):
            value = getattr(self, name)
            try:
                object.__setattr__(self, name, np.atleast_1d(np.array(value, dtype=float)))
            except (TypeError, ValueError):
                raise ArgumentError(f"the {name} of a sensor is {value!r:.40}; give a number, or a list.") from None

    def fill(self, row: np.ndarray, size: int, dt: float) -> None:
        """Its row in `tables/instruments.py`; size: how many numbers carry errors."""
        noise, density = (np.zeros(size) + (each if len(each) else 0.0) for each in (self.noise, self.noise_density))
        fill_row(row, self, size)
        rate = 1.0 / dt if self.rate == 0.0 else min(self.rate, 1.0 / dt)
        row[at.N_NOISE : at.N_NOISE + size] = np.hypot(noise, math.sqrt(rate) * density)
        angle = float(np.linalg.norm(self.misalignment))
        turned = from_axis_angle(self.misalignment / angle, angle) if angle else np.eye(3)
        row[at.N_R : at.N_R + 9] = turned.T.ravel()

    def delayed_samples(self, dt: float) -> int:
        """Samples that may be on their way."""
        if self.delay == 0.0:
            return 0
        period = dt if self.rate == 0.0 else max(dt, 1.0 / self.rate)
        return math.ceil(self.delay / period * (1.0 - 1e-9)) + 2

    def sight(self, kind: str) -> tuple[float, float]:
        """What an optical sensor sees: largest rate and cosine to the nearest sun; cosine of half the view."""
        if kind == "star_tracker":
            return self.max_rate, math.cos(self.sun_exclusion) if self.sun_exclusion else 2.0
        if kind == "sun_sensor":
            return math.cos(0.5 * self.field_of_view) if self.field_of_view < 2.0 * math.pi else -2.0, 0.0
        return 0.0, 0.0


@dataclass(frozen=True)
class SensorMore:
    """Fields of a sensor that only files have."""

    bits: Annotated[
        int | None,
        Fact(
            "resolution in bits per turn; of a resolver per 2π/`pole_pairs`",
            otherwise="none",
            only=("encoder", "resolver"),
            given=Annotated[int, Bounds(ge=1, le=40)],
        ),
    ] = None
    gyro: Annotated[
        SensorErrors | None, Fact("errors of its gyro, output *name*`.gyro`", "", "ideal", only=("imu",))
    ] = None
    accelerometer: Annotated[
        SensorErrors | None,
        Fact("errors of its accelerometer, output *name*`.accelerometer`", "", "ideal", only=("imu",)),
    ] = None


#: largest seed that a float64 and a 32-bit program both hold
MOST_SEED = 2**32 - 1
#: the fields of `SensorErrors` that have a number for each that is measured
VECTORS = tuple(known.name for known in facts_of(SensorErrors) if known.fact.given in (Each, EachSize))


@dataclass(frozen=True)
class Sensor:
    """A measurement: ideal, computed with each output, or with errors, which make it an instrument.

    name : unique among sensors, the first part of its outputs' names
    type, target : one of those of docs/reference/model-format.md#sensors, and the node, hinge, loop or contact that it
        measures;  errors : None for an ideal one
    Raises ModelError in `limberjack.equip` for one that cannot be.
    """

    name: Annotated[Name, Fact("unique among sensors; first part of the outputs' names")]
    type: Annotated[str, Fact("see below", given=Literal[(*SENSOR_TYPES, *OF_FILES)])]
    target: Annotated[Name, Fact("what is measured")]
    errors: SensorErrors | None = None
    where: str = field(default="", compare=False)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Suffixes of its outputs."""
        return SENSOR_TYPES[self.type].suffixes

    @property
    def erring(self) -> tuple[str, ...]:
        """Suffixes of the numbers that carry errors."""
        return (".x", ".y", ".z") if SENSOR_TYPES[self.type].optical else self.outputs

    @property
    def reading(self) -> int:
        """Kind of its reading as an instrument."""
        return at.RESOLVER if self.errors is not None and self.errors.pole_pairs else SENSOR_TYPES[self.type].reading

    def check(self, dt: float, fail: Fail) -> None:
        """Refuse errors that cannot be; those of one number for all stay as given."""
        errors, said, count = self.errors, f"of sensor '{self.name}'", len(self.erring)
        if errors is None:
            return
        if self.type == "node_orientation":
            fail("type", f"sensor '{self.name}' is an ideal attitude", "Use type star_tracker")
        for known in facts_of(SensorErrors):
            if known.name in VECTORS:
                _check_vector(known.name, getattr(errors, known.name), known.least == 0.0, said, count, fail)
        check_numbers(errors, f"the {{field}} {said} is {{value}}", fail)
        if errors.delayed_samples(dt) > MOST_DELAYED:
            what = f"the delay {said} is {errors.delay:g} s, beyond {MOST_DELAYED} of its samples"
            fail("delay", what, "Give a shorter delay, or a lower rate")
        self._check_type(errors, count, fail)

    def _check_type(self, errors: SensorErrors, count: int, fail: Fail) -> None:
        """What only some sensors can have."""
        if np.shape(errors.misalignment) != (3,) or not usable(errors.misalignment):
            what = f"the misalignment of sensor '{self.name}' is not 3 finite numbers"
            fail("misalignment", what, "Give a rotation vector, rad")
        if np.any(errors.misalignment) and (count % 3 or self.type == "star_tracker"):
            what = f"sensor '{self.name}' of type {self.type} has no axes that could be misaligned"
            tracker = self.type == "star_tracker"
            fail("misalignment", what, "Give a bias of three small angles" if tracker else "Remove misalignment")
        if errors.wrap and count > 1:
            what = f"sensor '{self.name}' measures {count} numbers, which cannot be wrapped"
            fail("wrap", what, "Remove wrap")
        if errors.pole_pairs and self.type not in ("position", "motor_position"):
            what = f"sensor '{self.name}' of type {self.type} is not a resolver"
            fail("pole_pairs", what, "Remove pole_pairs, or use type resolver")
        off = errors.amplitude_imbalance, errors.quadrature
        if abs(off[0]) > 0.5 or abs(off[1]) > 0.5:
            what = f"the windings of resolver '{self.name}' differ by {off[0]} and {off[1]}"
            fail("amplitude_imbalance", what, "Give an imbalance and an angle within ±0.5")


def _check_vector(name: str, values: np.ndarray, size: bool, said: str, count: int, fail: Fail) -> None:
    """size: whether these are sizes, which are not negative."""
    if np.shape(values) not in ((0,), (1,), (count,)):
        remedy = f"Give one number for all, or {count} of them" if count > 1 else "Give one number"
        fail(name, f"{name} {said} has {np.size(values)} numbers, measured are {count}", remedy)
    bounded = values[np.isfinite(values)] if name == "saturation" else values
    if not usable(bounded) or (size and np.any(values < 0.0)):
        fail(name, f"{name} {said} is {values}", f"Give finite numbers{', zero or more' if size else ''}")
