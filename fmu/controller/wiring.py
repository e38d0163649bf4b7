"""The connections between an FMU and a simulation: names resolved once, numbers converted at each exchange."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError
from limberjack.fmu.controller.errors import FmuWarning
from limberjack.fmu.controller.ports import Catalogue, Group, Port, groups_of
from limberjack.fmu.controller.slave import Slave
from limberjack.fmu.controller.sources import Reader, Source, Target, Writer, signals_of

Inputs = Mapping[str, Source | None] | None
Targets = Mapping[str, Target] | None


def check_names(fmu: str, catalogue: Catalogue, inputs: Inputs, outputs: Targets) -> None:
    """Check that the FMU names given exist, are inputs and outputs, and that no numeric input is missing."""
    for label, given, causality in (("inputs", inputs, "input"), ("outputs", outputs, "output")):
        if given is None:
            continue
        if not isinstance(given, Mapping):
            raise ArgumentError(f"{label} must map names of FMU variables, got {type(given).__name__}.")
        for name, end in given.items():
            if end is None and causality == "input":
                catalogue.require(name, causality)
            else:
                catalogue.require_number(name, causality)
    if inputs is not None:
        missing = [port.name for port in catalogue.of("input") if port.numeric and port.name not in inputs]
        if missing:
            raise ArgumentError(
                f"inputs of FMU '{fmu}' without a source: {', '.join(missing)}; give each one, or None to leave it at "
                "the FMU's start value."
            )


class Wiring:
    """Sources and targets of one FMU in one simulation, with preallocated buffers."""

    def __init__(
        self, fmu: str, catalogue: Catalogue, simulation: Simulation, inputs: Inputs, outputs: Targets
    ) -> None:
        self._fmu = fmu
        self._inputs = self._connect_inputs(catalogue, simulation, inputs)
        self._outputs = self._connect_outputs(catalogue, simulation, outputs)

    def _connect_inputs(self, catalogue: Catalogue, simulation: Simulation, given: Inputs) -> list[Group]:
        sources = _sources(self._fmu, catalogue, simulation, given)
        groups, ports = groups_of([catalogue[name] for name in sources])
        self._reader = Reader(
            simulation, [(f"input '{port.name}' of FMU '{self._fmu}'", port.size, sources[port.name]) for port in ports]
        )
        factor, offset = factors(ports)
        physical = self._reader.physical
        starts = np.cumsum([0, *(port.size for port in ports)])
        measured = [port for port, start in zip(ports, starts) if physical[start : start + port.size].any()]
        _warn(self._fmu, [port for port in measured if not port.converts])
        self._input_factor, self._input_offset = np.where(physical, factor, 1.0), np.where(physical, offset, 0.0)
        self._converts_inputs = bool((self._input_factor != 1.0).any() or (self._input_offset != 0.0).any())
        return groups

    def _connect_outputs(self, catalogue: Catalogue, simulation: Simulation, given: Targets) -> list[Group]:
        targets = _targets(self._fmu, catalogue, simulation, given)
        groups, ports = groups_of([catalogue[name] for name in targets])
        self._writer = Writer(
            simulation,
            [(f"output '{port.name}' of FMU '{self._fmu}'", port.size, targets[port.name]) for port in ports],
        )
        self._values = np.zeros(len(self._writer.places))
        self._output_factor, self._output_offset = factors(ports)
        _warn(self._fmu, [port for port in ports if not port.converts])
        return groups

    @property
    def command_places(self) -> frozenset[int]:
        """Places of the commands that the FMU sets."""
        return frozenset(int(place) for place in self._writer.places)

    def give(self, slave: Slave) -> None:
        """Measure, and pass the numbers to the FMU. Raises ArgumentError if one does not fit its variable."""
        values = self._reader.read()
        if self._converts_inputs:
            values = (values - self._input_offset) / self._input_factor
        bad = self._not_finite(self._inputs, values)
        if bad:
            raise ArgumentError(f"input '{bad}' of FMU '{self._fmu}' would get a number that is not finite.")
        for group in self._inputs:
            group.fill(values)
        for group in self._inputs:
            slave.write(group)

    def take(self, slave: Slave) -> str:
        """Fetch the FMU's outputs and set the commands; if one is not finite set none, and return its name."""
        for group in self._outputs:
            slave.read(group)
            group.empty(self._values)
        bad = self._not_finite(self._outputs, self._values)
        if not bad:
            self._writer.write(self._values * self._output_factor + self._output_offset)
        return bad

    @staticmethod
    def _not_finite(groups: Sequence[Group], values: np.ndarray) -> str:
        """Name of the first variable that is not finite, "" if all are."""
        if np.isfinite(values).all():
            return ""
        group = next(group for group in groups if not np.isfinite(values[group.span]).all())
        return group.name_of(int(np.argmin(np.isfinite(values[group.span]))))


def _sources(fmu: str, catalogue: Catalogue, simulation: Simulation, given: Inputs) -> dict[str, Source]:
    """FMU input → source; equal names where the user gave none."""
    if given is not None:
        return {name: source for name, source in given.items() if source is not None}
    names = signals_of(simulation)
    inputs = [port.name for port in catalogue.of("input") if port.numeric]
    missing = [name for name in inputs if name not in names]
    if missing:
        raise ArgumentError(
            f"inputs of FMU '{fmu}' whose names do not occur in the simulation: {', '.join(missing)}; give "
            "inputs={name: source, …}."
        )
    return {name: name for name in inputs}


def _targets(fmu: str, catalogue: Catalogue, simulation: Simulation, given: Targets) -> dict[str, Target]:
    """FMU output → command; equal names where the user gave none."""
    if given is not None:
        return dict(given)
    outputs = [port.name for port in catalogue.of("output") if port.numeric]
    found: dict[str, Target] = {name: name for name in outputs if name in simulation.command_names}
    if not found:
        raise ArgumentError(
            f"no output of FMU '{fmu}' ({', '.join(outputs) or 'it has none'}) has the name of a command of the "
            f"simulation ({', '.join(simulation.command_names) or 'it has none'}); give outputs={{name: command, …}}, "
            "or {} to set none."
        )
    return found


def _warn(fmu: str, ports: Sequence[Port]) -> None:
    """Warn of units that the FMU uses without their definition in SI."""
    if ports:
        names = ", ".join(f"'{port.name}' in '{port.unit}'" for port in ports)
        warnings.warn(
            f"FMU '{fmu}' does not say what its units are in SI: {names}; the numbers are passed as they are. Convert "
            "inputs in a function of the simulation where that is wrong.",
            FmuWarning,
            stacklevel=6,
        )


def factors(ports: Sequence[Port]) -> tuple[np.ndarray, np.ndarray]:
    """Factor and offset of each number: SI = factor · value + offset."""
    factor = np.concatenate([np.zeros(0), *(np.full(port.size, port.factor) for port in ports)])
    offset = np.concatenate([np.zeros(0), *(np.full(port.size, port.offset) for port in ports)])
    return factor, offset
