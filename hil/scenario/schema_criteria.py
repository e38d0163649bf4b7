"""The YAML schema of a scenario's pass criteria."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from limberjack.engine.files.schema_values import (
    Listed,
    Model,
    Name,
    NamePattern,
    NonNegative,
    Number,
    Positive,
    Vector3,
    shape_of,
)

#: one identifier, or a list of them
Identifiers = Annotated[
    Annotated[Name, Tag("number")] | Annotated[Listed[Name], Field(min_length=1), Tag("list")], Discriminator(shape_of)
]


class Traced(Model):
    """What shows that requirements are met."""

    requirement: Identifiers | None = Field(
        default=None, description="identifier of the requirement that it shows, or a list of them; for report and JUnit"
    )

    @property
    def requirements(self) -> tuple[str, ...]:
        """The identifiers."""
        given = self.requirement or []
        return (given,) if isinstance(given, str) else tuple(given)


class _Criterion(Traced):
    name: Name = Field(description="unique among criteria; of the test case in JUnit")


class _Windowed(_Criterion):
    start: NonNegative = Field(default=0.0, description="s, from when it is judged (default 0)")
    until: Positive | None = Field(default=None, description="s, to when (default: the end of the run)")

    @model_validator(mode="after")
    def _ordered(self) -> _Windowed:
        if self.until is not None and self.until <= self.start:
            raise ValueError(f"until is {self.until:g} s, not after start, {self.start:g} s")
        return self


class OnSignals(_Criterion):
    """What is judged by signals."""

    signals: Annotated[Listed[NamePattern], Field(min_length=1)] = Field(description="patterns; all of them must pass")
    norm: bool = Field(
        default=False, description="judge the root of the sum of the signals' squares, not each (default false)"
    )


class _InWindow(OnSignals, _Windowed):
    pass


class BoundsSpec(_InWindow):
    """Signals stay in a range."""

    type: Literal["bounds"]
    lower: Number | None = Field(default=None, description="default: no bound")
    upper: Number | None = Field(default=None, description="default: no bound")

    @model_validator(mode="after")
    def _bounded(self) -> BoundsSpec:
        if self.lower is None and self.upper is None:
            raise ValueError("no bound is given; give lower, upper or both")
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise ValueError(f"lower is {self.lower:g}, above upper, {self.upper:g}; nothing can lie between them")
        return self


class SettlingSpec(_InWindow):
    """Signals come within a tolerance of a target in time, and stay there to the end of the window."""

    type: Literal["settling"]
    target: Number
    tolerance: Positive
    within: Positive = Field(description="s from start")


class RmsSpec(_InWindow):
    """The root mean square of the signal less its target is small."""

    type: Literal["rms"]
    target: Number = Field(default=0.0, description="default 0")
    most: NonNegative


class FinalSpec(OnSignals):
    """The last value is near a target."""

    type: Literal["final"]
    target: Number
    tolerance: NonNegative


class DeadlineSpec(OnSignals):
    """Signals have passed a level by a time."""

    type: Literal["deadline"]
    above: Number | None = Field(default=None, description="the level, from below")
    below: Number | None = Field(default=None, description="the level, from above")
    by: Positive = Field(description="s")

    @model_validator(mode="after")
    def _one_level(self) -> DeadlineSpec:
        if (self.above is None) == (self.below is None):
            raise ValueError("give either above or below")
        return self


#: what events of a run can be, docs/reference/scenario-format.md
Kind = Literal[
    "trip",
    "recover",
    "fault",
    "clear",
    "arm",
    "command",
    "parameter",
    "attach",
    "release",
    "lock",
    "unlock",
    "device",
    "overrun",
    "dropped",
    "visitor",
    "pause",
    "resume",
    "touch",
    "lift_off",
    "capture",
    "touching",
    "end",
]

#: those of them that contacts bring about
CONTACT_KINDS = ("touch", "lift_off", "capture", "touching")


class _OnEvents(_Windowed):
    kind: Kind
    source: NamePattern = Field(default="*", description="pattern of the source's name (default: any)")


class EventSpec(_OnEvents):
    """Something has happened."""

    type: Literal["event"]
    least: Annotated[int, Field(ge=1)] = Field(default=1, description="so often at least (default 1)")


class NoEventSpec(_OnEvents):
    """Something has not happened."""

    type: Literal["no_event"]


class ContactSpec(_Windowed):
    """Shapes of contacts touch gently: no force, or no closing speed, is larger in any step."""

    type: Literal["contact"]
    contact: NamePattern = Field(default="*", description="pattern of contacts (default: all)")
    most_force: Positive | None = Field(default=None, description="N, norm of a contact's force")
    most_speed: Positive | None = Field(default=None, description="m/s, closing speed where shapes begin to touch")

    @model_validator(mode="after")
    def _one_limit(self) -> ContactSpec:
        if (self.most_force is None) == (self.most_speed is None):
            raise ValueError("give either most_force or most_speed")
        return self


class FrameSpec(Model):
    """A docking frame, by the sensors that measure it."""

    position: Name = Field(description="sensor node_position")
    orientation: Name | None = Field(default=None, description="sensor node_orientation (default: inertial axes)")
    axis: Vector3 = Field(default=[1.0, 0.0, 0.0], description="docking axis in this frame (default x)")

    @model_validator(mode="after")
    def _directed(self) -> FrameSpec:
        if not any(self.axis):
            raise ValueError("the axis is zero; give a direction")
        return self


class EnvelopeSpec(Model):
    """Where the second frame must be when shapes first touch, as seen from the first."""

    first: FrameSpec
    second: FrameSpec
    most_offset: Positive | None = Field(default=None, description="m, from the first frame's axis")
    most_tilt: Positive | None = Field(default=None, description="rad, between both axes")

    @model_validator(mode="after")
    def _limited(self) -> EnvelopeSpec:
        if self.most_offset is None and self.most_tilt is None:
            raise ValueError("no limit is given; give most_offset, most_tilt or both")
        return self


class CaptureSpec(_Criterion):
    """A loop closes in time while shapes touch, and they first touched within an envelope."""

    type: Literal["capture"]
    loop: NamePattern = Field(default="*", description="pattern of loops (default: any)")
    contact: NamePattern = Field(default="*", description="pattern of contacts whose first touch counts (default: any)")
    by: Positive = Field(description="s")
    within: Positive | None = Field(default=None, description="s from the first touch to the capture")
    most_speed: Positive | None = Field(default=None, description="m/s, closing speed at the first touch")
    envelope: EnvelopeSpec | None = Field(default=None, description="offset and tilt at the first touch")


CriterionSpec = Annotated[
    BoundsSpec
    | SettlingSpec
    | RmsSpec
    | FinalSpec
    | DeadlineSpec
    | EventSpec
    | NoEventSpec
    | ContactSpec
    | CaptureSpec,
    Field(discriminator="type"),
]


def needs_contacts(criterion: CriterionSpec) -> bool:
    """Whether a criterion is judged by events of contacts."""
    return isinstance(criterion, (ContactSpec, CaptureSpec)) or getattr(criterion, "kind", "") in CONTACT_KINDS
