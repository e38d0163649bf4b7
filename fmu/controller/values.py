"""Parameters and outputs of a controller FMU as mappings of names to values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.fmu.controller.ports import Catalogue, Group, Port, groups_of
from limberjack.fmu.controller.slave import Slave
from limberjack.fmu.controller.sources import numbers

Value = float | np.ndarray
_STRUCTURAL = "structuralParameter"
_TRUTH = {"true": 1.0, "false": 0.0}


def shaped(port: Port, values: np.ndarray) -> Value:
    """Numbers in the shape of a variable: a float for a scalar."""
    return values.reshape(port.shape) if port.shape else float(values[0])


def fetch(slave: Slave, port: Port) -> Value:
    """The FMU's present value of one variable."""
    groups, _ = groups_of([port])
    slave.read(groups[0])
    values = np.zeros(port.size)
    groups[0].empty(values)
    return shaped(port, values)


class Parameters(MutableMapping[str, "Value | str"]):
    """Parameter name → value, in the FMU's own units. Fixed ones are set before `start`, tunable ones any time."""

    def __init__(self, catalogue: Catalogue, slave: Slave, given: Mapping[str, Any]) -> None:
        self._catalogue, self._slave = catalogue, slave
        self._given: dict[str, np.ndarray | str] = {}
        self.running = False
        for name, value in given.items():
            self[name] = value

    def _port(self, name: str) -> Port:
        return self._catalogue.require(name, "parameter", _STRUCTURAL)

    def __getitem__(self, name: str) -> Value | str:
        port = self._port(name)
        value = self._given.get(name)
        if isinstance(value, str):
            return value
        if value is not None:
            return shaped(port, value)
        return fetch(self._slave, port) if self.running and port.numeric else _start_of(port)

    def __setitem__(self, name: str, value: Any) -> None:
        port = self._port(name)
        if port.type == "String":
            if not isinstance(value, str):
                raise ArgumentError(f"parameter '{name}' is a string; got {value!r:.40}.")
            kept: np.ndarray | str = value
        elif not port.numeric:
            raise ArgumentError(f"parameter '{name}' is a {port.type}; only numbers and texts can be set.")
        else:
            kept = numbers(f"parameter '{name}'", value, port.size)
            Group([port], 0).fill(kept)  # does it fit the type?
        if self.running:
            self._tune(port, kept)
        self._given[name] = kept

    def _tune(self, port: Port, value: np.ndarray | str) -> None:
        if port.variability != "tunable" or port.causality == _STRUCTURAL:
            raise ArgumentError(
                f"parameter '{port.name}' is {port.variability} and cannot change while the FMU runs; set it before "
                "`start`."
            )
        self._write([port], {port.name: value})

    def write_structural(self) -> bool:
        """Write structural parameters, in configuration mode; returns whether there were any."""
        ports = [self._catalogue[name] for name in self._given if self._catalogue[name].causality == _STRUCTURAL]
        if ports:
            self._slave.configure(lambda: self._write(ports, self._given))
        return bool(ports)

    def write(self) -> None:
        """Write the other given parameters."""
        ports = [self._catalogue[name] for name in self._given if self._catalogue[name].causality != _STRUCTURAL]
        self._write(ports, self._given)

    def _write(self, ports: list[Port], values: Mapping[str, np.ndarray | str]) -> None:
        groups, ordered = groups_of([port for port in ports if port.numeric])
        vector = np.concatenate([np.zeros(0), *(np.asarray(values[port.name]) for port in ordered)])
        for group in groups:
            group.fill(vector)
            self._slave.write(group)
        for port in ports:
            text = values[port.name]
            if isinstance(text, str):
                self._slave.write_text(port.reference, text)

    def __delitem__(self, name: str) -> None:
        raise ArgumentError("a parameter cannot be removed; set it instead.")

    def __iter__(self) -> Iterator[str]:
        return (port.name for port in self._catalogue.of("parameter", _STRUCTURAL))

    def __len__(self) -> int:
        return len(self._catalogue.of("parameter", _STRUCTURAL))


def _start_of(port: Port) -> Value | str:
    """Start value in the model description; arrays may give one number for all elements."""
    if port.start is None:
        raise ArgumentError(f"parameter '{port.name}' has no start value; set it.")
    if not port.numeric:
        return port.start
    values = np.array([_TRUTH[word] if word in _TRUTH else float(word) for word in port.start.split()])
    return shaped(port, np.broadcast_to(values, (port.size,)).copy() if values.size == 1 else values)


class Outputs(Mapping[str, Value]):
    """Name → present value of every output and local variable, in the FMU's own units; read from the FMU each time."""

    _CAUSALITIES = ("output", "local", "calculatedParameter")

    def __init__(self, catalogue: Catalogue, slave: Slave) -> None:
        self._catalogue, self._slave = catalogue, slave
        self._names = [port.name for port in catalogue.of(*self._CAUSALITIES) if port.numeric]
        self.running = False

    def __getitem__(self, name: str) -> Value:
        if name not in self._names:
            arguments.index_of(f"output of FMU '{self._slave.name}'", name, self._names)
        if not self.running:
            raise ArgumentError(f"FMU '{self._slave.name}' does not run, so it has no outputs; call `start` first.")
        return fetch(self._slave, self._catalogue[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
