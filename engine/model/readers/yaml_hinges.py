"""A hinge of the YAML schema to a Hinge: values for each dof are spread over its coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np

from limberjack.engine.algebra.rotations import to_quaternion
from limberjack.engine.common.errors import ModelError
from limberjack.engine.files.yaml_document import Document
from limberjack.engine.model.elements.facts import values
from limberjack.engine.model.elements.hinge import ACTING, LIMITS
from limberjack.engine.model.readers.schema_hinges import (
    InitialFree,
    InitialSpherical,
    Limits,
    OneDof,
    QuasiDof,
    SeveralDofs,
)
from limberjack.engine.model.system import Dof, Hinge, Pose
from limberjack.engine.tables.hinge_types import HINGE_TYPES

T = TypeVar("T")


def make_hinge(
    spec: Any,
    body: str,
    carrier: tuple[str | None, Pose],
    document: Document,
    body_path: tuple[str, int],
) -> Hinge:
    """The Hinge of body ``body``; ``carrier`` is the parent body and the pose of the named frame on it."""
    kind, path = HINGE_TYPES[spec.type], (*body_path, "hinge")
    given = geometry(spec, spec.type, document, path)
    names = tuple(str(i + 1) for i in range(given["map"].shape[1])) if "map" in given else kind.v
    spread = _Spread(document, path, names, kind.angular or (None,) * len(names))
    q0, v0 = _initial(spec, spread, kind.q) if hasattr(spec, "initial") else (np.zeros(0), np.zeros(0))
    return Hinge(
        name=spec.name or body,
        type=spec.type,
        parent=carrier[0],
        inboard=carrier[1] @ spec.pose(),
        outboard=spec.outboard.pose(),
        dofs=_dofs(spec, spread),
        q0=q0,
        v0=v0,
        where=document.place(path),
        **given,
    )


def geometry(spec: Any, name: str, document: Document, path: tuple[str | int, ...]) -> dict[str, Any]:
    """What a file says of how a hinge of this type moves: its axes and the fields that the type has."""
    if len({len(row) for row in getattr(spec, "map", ())}) > 1:
        where = document.place((*path, "map"))
        raise ModelError("the rows of the map differ in length", where=where, remedy="Give 6 rows of r numbers")
    axes = getattr(spec, "axes", None) or ([spec.axis] if HINGE_TYPES[name].axes else [])
    return {"axes": np.array(axes, dtype=float).reshape(-1, 3), **values(Hinge, spec, name)}


class _Spread:
    """Spreads one number, a list or a mapping over a hinge's coordinates, with errors at the right field."""

    def __init__(
        self,
        document: Document,
        path: tuple[str | int, ...],
        names: Sequence[str],
        units: Sequence[bool | None],
    ) -> None:
        self._document, self._path, self.names = document, path, tuple(names)
        self._like_units = len(set(units)) <= 1

    def numbers(self, field: str, value: float | list[float] | dict[str, float], default: float) -> list[float]:
        """One number for each coordinate."""
        if isinstance(value, (list, dict)):
            return self.items(field, value, default)
        if not self._like_units and value != default:
            what = "one number for coordinates of different units (angles and distances)"
            self._fail(field, what, f"Give a list of {len(self.names)} or a mapping of {', '.join(self.names)}")
        return [float(value)] * len(self.names)

    def items(self, field: str, value: Sequence[T] | dict[str, T], default: T) -> list[T]:
        """One item for each coordinate from a list or a mapping; what a mapping leaves out is ``default``."""
        if isinstance(value, dict):
            unknown = [name for name in value if name not in self.names]
            if unknown:
                remedy = f"Use {', '.join(self.names)}"
                self._fail(field, f"unknown coordinate '{unknown[0]}'", remedy)
            return [value.get(name, default) for name in self.names]
        if len(value) != len(self.names):
            what = f"{len(value)} values for {len(self.names)} coordinates"
            self._fail(field, what, f"Give one each for {', '.join(self.names)}")
        return list(value)

    def _fail(self, field: str, what: str, remedy: str) -> NoReturn:
        where = self._document.place((*self._path, *field.split(".")))
        raise ModelError(what, where=where, remedy=remedy)


def _dofs(spec: Any, spread: _Spread) -> tuple[Dof, ...]:
    if not isinstance(spec, (OneDof, QuasiDof)):
        return ()
    columns = {
        known.name: spread.numbers(known.name, getattr(spec, known.name), known.default)
        for known in ACTING
        if hasattr(spec, known.name)
    }
    limits: list[Limits | None] = [None] * len(spread.names)
    if isinstance(spec, OneDof):
        limits = [spec.limits]
    elif isinstance(spec, SeveralDofs) and spec.limits is not None:
        limits = spread.items("limits", spec.limits, None)  # type: ignore[arg-type]
    return tuple(
        Dof(**{name: column[i] for name, column in columns.items()}, **_limit_fields(limits[i]))
        for i in range(len(spread.names))
    )


def _limit_fields(limits: Limits | None) -> dict[str, Any]:
    given = ((known.name, getattr(limits, known.key)) for known in LIMITS) if limits is not None else ()
    return {name: value for name, value in given if value is not None}


def _initial(spec: Any, spread: _Spread, coordinates: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Initial q0 and v0."""
    initial = spec.initial
    v0 = np.array(spread.numbers("initial.velocity", initial.velocity, 0.0))
    if isinstance(initial, InitialFree):
        return np.concatenate([to_quaternion(initial.matrix()), np.array(initial.position, dtype=float)]), v0
    if isinstance(initial, InitialSpherical):
        return to_quaternion(initial.matrix()), v0
    assert len(coordinates) == len(spread.names)  # positions and velocities of these types go by the same names
    return np.array(spread.numbers("initial.position", initial.position, 0.0)), v0


def given_initials(spec: Any, body: str, nv: int) -> tuple[list[str], list[str]]:
    """Names of the coordinates and of the velocities whose initial values the file gives."""
    initial = getattr(spec, "initial", None)
    if initial is None:
        return [], []
    kind, name, given = HINGE_TYPES[spec.type], spec.name or body, initial.model_fields_set
    positions = _given(initial, "position", kind.q)
    if kind.q[:1] == ("qw",):
        turned = given & {"rpy", "quaternion", "rotation"}
        positions = (*(kind.q[:4] if turned else ()), *(kind.q[4:] if "position" in given else ()))
    velocities = kind.v or tuple(str(i + 1) for i in range(nv))
    return [_full(name, suffix) for suffix in positions], [
        _full(name, suffix) for suffix in _given(initial, "velocity", velocities)
    ]


def _given(initial: Any, field: str, suffixes: tuple[str, ...]) -> tuple[str, ...]:
    """Which coordinates a number, list or mapping gives."""
    if field not in initial.model_fields_set:
        return ()
    value = getattr(initial, field)
    return tuple(suffix for suffix in suffixes if suffix in value) if isinstance(value, dict) else suffixes


def _full(hinge: str, suffix: str) -> str:
    return f"{hinge}.{suffix}" if suffix else hinge
