"""What a model takes of a body's modes; the links that they become: `model/flexible.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field as Bounds

from limberjack.engine.files.schema_values import Listed, Name, NonNegative
from limberjack.engine.model.elements.facts import Fact

_INBOARD = (
    "node that the hinge holds; its frame is the body frame. Rigid motion that modes give this node is subtracted"
)
_HELD = "the node that the modes hold; without one, the frame of the data"
_ATTACHMENTS = "nodes where other bodies, sensors and forces attach; the model names them `<body>.<node>`"
_VARIANT = (
    "`full`: all inertia and velocity terms to second order in the deformation; `linearized`: constant mass "
    "matrix, for slow rotation"
)
_GEOMETRIC = "geometric stiffening (`full` only); without it a spinning beam softens instead of stiffening"


@dataclass(frozen=True)
class Flexible:
    """Modes of a body, from a file of modal data (docs/how-to/modes.md)."""

    file: Annotated[Name, Fact("modal data (.npz), beside the model file unless the path is absolute")]
    inboard: Annotated[str | None, Fact(_INBOARD, "", _HELD, given=Name)] = None
    attachments: Annotated[
        list[str] | None, Fact(_ATTACHMENTS, "", "the interface nodes of the file", given=Listed[Name])
    ] = None
    modes: Annotated[
        int | None,
        Fact("number of modes, lowest frequency first", "", "all", given=Annotated[int, Bounds(ge=1, le=1000)]),
    ] = None
    variant: Annotated[Literal["full", "linearized"], Fact(_VARIANT)] = "full"
    geometric: Annotated[bool, Fact(_GEOMETRIC)] = True
    damping: Annotated[NonNegative | None, Fact("damping ratio of every mode", "", "from the file")] = None
