"""The YAML schema of gravity, wheels and control-moment gyros; that of elements is made from their declarations."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Tag

from limberjack.engine.files.schema_values import Frame, Model, Vector3, shape_of
from limberjack.engine.model.elements.central_gravity import CentralGravity
from limberjack.engine.model.elements.cmg import Cmg
from limberjack.engine.model.elements.facts import facts_of, model_of, spec_of
from limberjack.engine.model.elements.sensor import Sensor, SensorErrors, SensorMore
from limberjack.engine.model.elements.slosh import SloshPendulum
from limberjack.engine.model.elements.wheel import EitherSpec, Wheel, WheelMore


class GravitySpec(Model):
    """Gravity that depends on the place."""

    central: spec_of(CentralGravity)  # type: ignore[valid-type]


Gravity = Annotated[
    Annotated[Vector3, Tag("list")] | Annotated[GravitySpec, Tag("mapping")] | Annotated[Vector3, Tag("number")],
    Discriminator(shape_of),
]
WheelSpec: Any = model_of(
    "WheelSpec", EitherSpec, (*facts_of(Wheel), *facts_of(WheelMore)), "A reaction or momentum wheel."
)
CmgSpec: Any = spec_of(Cmg, Frame)
#: groups of a file whose entries become bodies → their kind, and how files have it
DEVICES: dict[str, tuple[Any, Any]] = {
    "wheels": (Wheel, WheelSpec),
    "cmgs": (Cmg, CmgSpec),
    "slosh": (SloshPendulum, spec_of(SloshPendulum, Frame)),
}
SensorSpec: Any = model_of(
    "SensorSpec",
    spec_of(SensorErrors),
    (*facts_of(Sensor), *(known for known in facts_of(SensorErrors) if known.fact.only), *facts_of(SensorMore)),
    "A measurement: ideal, or with errors.",
)
