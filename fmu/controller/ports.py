"""The variables of an imported FMU: their properties, and the buffers through which their values pass."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.fmu.controller.errors import FmuError

#: type of a variable → name of its getter and setter, and the C type of one value
_FMI3 = {
    "Float32": ("Float32", ctypes.c_float),
    "Float64": ("Float64", ctypes.c_double),
    "Int8": ("Int8", ctypes.c_int8),
    "UInt8": ("UInt8", ctypes.c_uint8),
    "Int16": ("Int16", ctypes.c_int16),
    "UInt16": ("UInt16", ctypes.c_uint16),
    "Int32": ("Int32", ctypes.c_int32),
    "UInt32": ("UInt32", ctypes.c_uint32),
    "Int64": ("Int64", ctypes.c_int64),
    "UInt64": ("UInt64", ctypes.c_uint64),
    "Enumeration": ("Int64", ctypes.c_int64),
    "Boolean": ("Boolean", ctypes.c_bool),
}
_FMI2 = {
    "Real": ("Real", ctypes.c_double),
    "Integer": ("Integer", ctypes.c_int),
    "Enumeration": ("Integer", ctypes.c_int),
    "Boolean": ("Boolean", ctypes.c_int),
}
#: units that need no definition: their names, factor 1
_SI = {"", "1", "-", "rad", "rad/s", "rad/s2", "rad/s^2", "m", "m/s", "m/s2", "m/s^2", "s", "kg", "N", "Nm", "N.m", "J"}
#: whole numbers beyond this are not exact in float64
_EXACT = 2.0**53
#: most numbers in one variable
MOST_ELEMENTS = 1_000_000


@dataclass(frozen=True)
class Port:
    """One variable of the FMU.

    reference : value reference; type : as the description names it; call, ctype : how its values are passed (call is
    "" for texts, binaries and clocks); shape : () for a scalar; factor, offset : SI value = factor · value + offset;
    converts : whether the FMU says so, or names an SI unit or none
    """

    name: str
    reference: int
    type: str
    call: str
    ctype: Any
    shape: tuple[int, ...]
    causality: str
    variability: str
    start: str | None
    unit: str
    factor: float
    offset: float
    converts: bool

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def numeric(self) -> bool:
        """Whether it has numbers, which a simulation could set or use."""
        return bool(self.call)


class Catalogue(Mapping[str, Port]):
    """Name → Port of all variables of an FMU."""

    def __init__(self, fmu: str, description: Any, structural: Mapping[str, Any] | None = None) -> None:
        """structural : values given for structural parameters, which decide the sizes of arrays."""
        self._fmu = fmu
        fmi2 = str(description.fmiVersion) == "2.0"
        self.version = 2 if fmi2 else 3
        units = {unit.name: unit.baseUnit for unit in description.unitDefinitions}
        sizes = _sizes(description, structural or {})
        self._ports = {
            variable.name: _port(fmu, variable, _FMI2 if fmi2 else _FMI3, units, sizes)
            for variable in description.modelVariables
        }

    def __getitem__(self, name: str) -> Port:
        if not isinstance(name, str) or name not in self._ports:
            arguments.index_of(f"variable of FMU '{self._fmu}'", name, self._ports)
        return self._ports[name]

    def __iter__(self) -> Any:
        return iter(self._ports)

    def __len__(self) -> int:
        return len(self._ports)

    def of(self, *causalities: str) -> list[Port]:
        """Ports of these causalities, in the order of the description."""
        return [port for port in self._ports.values() if port.causality in causalities]

    def require(self, name: str, *causalities: str) -> Port:
        """The numeric port of this name and one of these causalities; the error offers the nearest such name."""
        if name not in self._ports:
            arguments.index_of(
                f"{causalities[0]} of FMU '{self._fmu}'", name, [port.name for port in self.of(*causalities)]
            )
        port = self._ports[name]
        if port.causality not in causalities:
            raise ArgumentError(
                f"variable '{name}' of FMU '{self._fmu}' is of causality '{port.causality}', but here one of causality "
                f"'{causalities[0]}' is needed; there are: {_list(each.name for each in self.of(*causalities))}."
            )
        return port

    def require_number(self, name: str, *causalities: str) -> Port:
        """As `require`; texts, binaries and clocks are refused."""
        port = self.require(name, *causalities)
        if not port.numeric:
            raise ArgumentError(
                f"variable '{name}' of FMU '{self._fmu}' is a {port.type}; a simulation has only numbers to connect."
            )
        return port


def _list(names: Iterable[str], most: int = 8) -> str:
    listed = list(names)
    return (", ".join(listed[:most]) + (", …" if len(listed) > most else "")) or "none"


def _sizes(description: Any, structural: Mapping[str, Any]) -> dict[int, int]:
    """Value reference → value, of the structural parameters."""
    sizes = {}
    for variable in description.modelVariables:
        if variable.causality == "structuralParameter":
            given = structural.get(variable.name)
            number = int(variable.start) if given is None else given
            sizes[variable.valueReference] = arguments.count(variable.name, number, 0, MOST_ELEMENTS)
    return sizes


def _port(fmu: str, variable: Any, table: Mapping[str, tuple[str, Any]], units: Any, sizes: dict[int, int]) -> Port:
    call, ctype = table.get(variable.type, ("", None))
    if variable.clocks:  # clocked variables live in event mode, which is not used
        call, ctype = "", None
    declared = variable.declaredType
    unit = variable.unit or (declared.unit if declared is not None else None) or ""
    base = units.get(unit)
    shape = tuple(
        sizes[dimension.valueReference] if dimension.start is None else int(dimension.start)
        for dimension in variable.dimensions
    )
    if math.prod(shape) > MOST_ELEMENTS:
        raise FmuError(fmu, f"variable '{variable.name}' has {math.prod(shape)} elements; at most {MOST_ELEMENTS}.")
    return Port(
        name=variable.name,
        reference=int(variable.valueReference),
        type=variable.type,
        call=call,
        ctype=ctype,
        shape=shape,
        causality=variable.causality,
        variability=variable.variability,
        start=variable.start,
        unit=unit,
        factor=float(base.factor) if base is not None else 1.0,
        offset=float(base.offset) if base is not None and not variable.relativeQuantity else 0.0,
        converts=base is not None or unit.replace("·", ".").replace("*", ".") in _SI,
    )


class Group:
    """Variables of one C type, which pass through one buffer in one call.

    span : slice of their numbers in the vector of all numbers that pass
    """

    def __init__(self, ports: Sequence[Port], start: int) -> None:
        self.ports = tuple(ports)
        self.call = ports[0].call
        self.size = sum(port.size for port in ports)
        self.span = slice(start, start + self.size)
        self.references = (ctypes.c_uint * len(ports))(*(port.reference for port in ports))
        self.buffer = (ports[0].ctype * self.size)()
        self._view: np.ndarray = (
            np.frombuffer(self.buffer, dtype=np.dtype(ports[0].ctype)) if self.size else np.zeros(0)
        )
        self._boolean = ports[0].type == "Boolean"
        self._whole = not self._boolean and self._view.dtype.kind in "iu"
        self._bounds = _bounds(self._view.dtype)

    def fill(self, values: np.ndarray) -> None:
        """Convert the vector of all numbers into the buffer; ArgumentError where a number does not fit the type."""
        mine = values[self.span]
        if self._boolean or self._whole or self._view.dtype.itemsize < 8:
            self._check(mine)
        self._view[:] = mine

    def empty(self, values: np.ndarray) -> None:
        """Convert the buffer into the vector of all numbers."""
        values[self.span] = self._view

    def _check(self, values: np.ndarray) -> None:
        low, high = (0.0, 1.0) if self._boolean else self._bounds
        bad = (values < low) | (values > high)
        if self._boolean or self._whole:
            bad |= values != np.floor(values)
        if bad.any():
            place = int(np.argmax(bad))
            needed = "0 or 1" if self._boolean else f"from {low:.10g} to {high:.10g}"
            whole = "a whole number " if self._whole else ""
            raise ArgumentError(
                f"variable '{self.name_of(place)}' would get {values[place]:.9g}, but the FMU takes {whole}{needed} "
                f"there ({self.ports[0].type}); convert it in a callable of the simulation."
            )

    def name_of(self, place: int) -> str:
        """Name of the variable, with index where it is an array, that holds the place-th number of this group."""
        for port in self.ports:
            if place < port.size:
                index = ", ".join(str(i + 1) for i in np.unravel_index(place, port.shape)) if port.shape else ""
                return f"{port.name}[{index}]" if index else port.name
            place -= port.size
        raise AssertionError("place beyond the group")


def _bounds(dtype: np.dtype) -> tuple[float, float]:
    """The range of values that fit this type and are exact in float64."""
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return max(float(info.min), -_EXACT), min(float(info.max), _EXACT)
    if dtype.kind == "f":
        return float(np.finfo(dtype).min), float(np.finfo(dtype).max)
    return 0.0, 1.0


def groups_of(ports: Sequence[Port]) -> tuple[list[Group], list[Port]]:
    """Ports grouped by type; and the ports in the order in which the groups lay out their numbers."""
    by_type: dict[tuple[str, bool], list[Port]] = {}
    for port in ports:
        by_type.setdefault((port.call, port.type == "Boolean"), []).append(port)
    groups: list[Group] = []
    start = 0
    for members in by_type.values():
        groups.append(Group(members, start))
        start += groups[-1].size
    return groups, [port for group in groups for port in group.ports]
