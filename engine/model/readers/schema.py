"""The YAML model format as pydantic models; `json_schema` exports it for editors.

Field meanings, units and defaults are in the descriptions; docs/reference/model-format.md explains them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, create_model, model_validator
from pydantic_core import PydanticCustomError

from limberjack.engine.files.patterns import Interface
from limberjack.engine.files.schema_values import (
    Frame,
    InertiaMatrix,
    Listed,
    Model,
    Name,
    NamePattern,
    NonNegative,
    Positive,
    Vector3,
    schema_text,
)
from limberjack.engine.model.elements.alarm import Alarm
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.facts import spec_of
from limberjack.engine.model.elements.flexible import Flexible
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.readers.schema_elements import DEVICES, CmgSpec, Gravity, SensorSpec, WheelSpec
from limberjack.engine.model.readers.schema_hinges import HingeSpec
from limberjack.engine.model.readers.schema_loops import LoopSpec
from limberjack.engine.model.readers.schema_shapes import ShapeSpec
from limberjack.engine.model.system import element_kinds


class SimulationSpec(Model):
    """How the model is stepped unless the caller says otherwise."""

    dt: Positive = Field(default=0.001, description="step, s (default 0.001)")
    integrator: Literal["rk4", "semi_implicit", "implicit"] = Field(default="rk4", description="default rk4")


class BodySpec(Model):
    """A body and the hinge that carries it."""

    name: Name = Field(description="unique among bodies and nodes; not 'world'")
    mass: NonNegative = Field(default=0.0, description="kg; 0 must be written; not of a flexible body")
    com: Vector3 = Field(default=[0.0, 0.0, 0.0], description="centre of mass in the body frame, m (default [0, 0, 0])")
    inertia: InertiaMatrix | None = Field(
        default=None,
        description="about the centre of mass, body axes, kg·m²: matrix or xx, yy, zz, xy, xz, yz. "
        "Required unless the mass is 0 (which then means none)",
    )
    flexible: spec_of(Flexible) | None = Field(  # type: ignore[valid-type]
        default=None, description="modes, which bring mass and inertia along (default: rigid)"
    )
    hinge: HingeSpec = Field(description="how the body hangs on its parent")

    @model_validator(mode="after")
    def _mass_once(self) -> BodySpec:
        given = self.model_fields_set
        if self.flexible is None and "mass" not in given:
            raise PydanticCustomError("mass_missing", "mass is missing")
        if self.flexible is not None and given & {"mass", "com", "inertia"}:
            raise PydanticCustomError("mass_twice", "mass is given twice")
        return self


class NodeSpec(Frame):
    """A named frame fixed on a body."""

    name: Name = Field(description="unique among bodies and nodes; not 'world'")
    body: Name = Field(description="the body it sits on, or 'world'")


class InterfaceSpec(Model):
    """Which variables an exported FMU shows: patterns on names such as hinge.*.angle."""

    inputs: Listed[NamePattern] | None = Field(default=None, description="commands (default: all)")
    outputs: Listed[NamePattern] | None = Field(
        default=None,
        description="computed values (default: coordinates, velocities and forces of hinges, sensors, positions of "
        "named nodes, total energy)",
    )
    parameters: Listed[NamePattern] | None = Field(
        default=None,
        description="values that may be tuned (default: those of hinges that are not zero, gains and limits of drives, "
        "masses, gravity)",
    )

    def interface(self) -> Interface:
        """The same for the System."""
        chosen = (self.inputs, self.outputs, self.parameters)
        return Interface(*(None if patterns is None else tuple(patterns) for patterns in chosen))


class ModelSpec(Model):
    """A Limberjack model file."""

    limberjack: Literal[1] = Field(description="version of this format")
    name: Name
    strict: bool | None = Field(
        default=None,
        description="false: keep inertias that no real body has, with a warning; true: turn every warning into an "
        "error (default: refuse such inertias, warn of the rest)",
    )
    gravity: Gravity = Field(
        default=[0.0, 0.0, -9.80665], description="m/s², or {central: {mu: …}} (default [0, 0, -9.80665])"
    )
    simulation: SimulationSpec = SimulationSpec()
    bodies: Listed[BodySpec] = Field(min_length=1)
    nodes: Listed[NodeSpec] = Field(default=[])
    loops: Listed[LoopSpec] = Field(default=[])
    actuators: Listed[spec_of(Actuator)] = Field(default=[])  # type: ignore[valid-type]
    wheels: Listed[WheelSpec] = Field(default=[])
    cmgs: Listed[CmgSpec] = Field(default=[])
    thrusters: Listed[spec_of(Thruster)] = Field(default=[])  # type: ignore[valid-type]
    sensors: Listed[SensorSpec] = Field(default=[])
    shapes: Listed[ShapeSpec] = Field(default=[])
    alarms: Listed[spec_of(Alarm)] = Field(default=[])  # type: ignore[valid-type]
    sun: Vector3 = Field(
        default=[1.0, 0.0, 0.0], description="direction to the sun in the inertial frame (default [1, 0, 0])"
    )
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = Field(default=0, description="of the noise (default 0)")
    fmu: InterfaceSpec = InterfaceSpec()


def _listed(spec: Any) -> Any:
    return Listed[spec]


def _with_groups() -> Any:
    """The format with the other groups of devices, and those of elements by the fields of a System that list them."""
    groups: dict[str, Any] = {group: spec for group, (_, spec) in DEVICES.items()}
    groups |= {group: spec_of(kind) for group, kind in element_kinds().items()}
    empty: Any = Field(default=[])
    made: dict[str, Any] = {
        group: (_listed(spec), empty) for group, spec in groups.items() if group not in ModelSpec.model_fields
    }
    return create_model("ModelSpec", __base__=ModelSpec, __doc__=str(ModelSpec.__doc__), **made)


FileSpec = _with_groups()


def json_schema() -> str:
    """The JSON Schema of the format."""
    return schema_text(FileSpec, "Limberjack model")
