"""A controller that is an FMU, with a separate instance for each world: fmu:PATH.

It is a controller over arrays. At each message the FMU steps up to the time of the signals, with these as inputs, and
its outputs are the commands; the first message initialises it. So does `lj.FmuController`, with equal bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.fmu.controller import unpacking
from limberjack.fmu.controller.errors import FmuError
from limberjack.fmu.controller.ports import Catalogue, Port, groups_of
from limberjack.fmu.controller.slave import Slave
from limberjack.fmu.controller.values import Parameters
from limberjack.fmu.controller.wiring import check_names, factors
from limberjack.hil.devices.device import Wiring
from limberjack.hil.devices.in_process import Factory

SCHEME = "fmu:"
OPTIONS = ("inputs", "outputs", "parameters")


def fmu_factory(uri: str, options: Mapping[str, Any], folder: Path) -> Factory:
    """What makes the law of a URI fmu:PATH, PATH as seen from the scenario's folder.

    ArgumentError where there is no FMU that runs here, and for an unknown option.
    """
    for name in options:
        if name not in OPTIONS:
            arguments.index_of("option of a device that is an FMU", name, OPTIONS)
    return partial(FmuLaw, *_read(uri, folder))


def serves_one(uri: str, folder: Path) -> bool:
    """Whether the FMU of a URI allows one instance in a process. ArgumentError where there is none."""
    _, description = _read(uri, folder)
    return bool(description.coSimulation.canBeInstantiatedOnlyOncePerProcess)


def _read(uri: str, folder: Path) -> tuple[Path, Any]:
    """File and description."""
    try:
        return unpacking.read(folder / uri.removeprefix(SCHEME))
    except FmuError as error:
        raise ArgumentError(str(error)) from error


class FmuLaw:
    """From time and signals (n, ns) to commands (n, nc), by n instances of an FMU.

    inputs : FMU input → signal that the device is sent, number, list with one of these for each element of an array,
        or None to leave it at the FMU's start value; equal names if None
    outputs : FMU output → command that the device sets, or a list; equal names if None
    parameters : FMU parameter → number, list of numbers or text
    Numbers are those of each world: (n,), lists (n, k). Signals and commands are SI and converted to the FMU's units.
    """

    def __init__(
        self,
        file: Path,
        description: Any,
        wiring: Wiring,
        inputs: Mapping[str, Any] | None = None,
        outputs: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self._name, self._worlds = file.stem, wiring.worlds
        self._time, self._period = np.nan, wiring.period
        given = [_of_world(parameters or {}, world) for world in range(wiring.worlds)]
        catalogue = Catalogue(self._name, description, given[0])
        check_names(self._name, catalogue, inputs, outputs)
        self._connect_inputs(catalogue, wiring, inputs)
        self._connect_outputs(catalogue, wiring, outputs)
        self._folder = unpacking.unpack(file, description)
        self._slaves: list[Slave] = []
        try:
            for _ in range(wiring.worlds):
                self._slaves.append(Slave(self._name, description, self._folder.path))
            self._parameters = [Parameters(catalogue, *pair) for pair in zip(self._slaves, given, strict=True)]
        except BaseException:
            self.close()
            raise

    def __call__(self, time: float, signals: np.ndarray) -> np.ndarray:
        """Commands (n, nc) from signals (n, ns) at simulated time, s. FmuError where an instance fails."""
        values = np.where(self._measured, signals[:, self._places], self._constants)
        values = np.where(self._measured, (values - self._offset) / self._factor, values)
        answers = np.full((self._worlds, self._commands), np.nan)
        for world in range(self._worlds):
            self._advance(world, time, values[world])
            answers[world, self._targets] = self._results(world)
        self._time = time
        return answers

    def close(self) -> None:
        """End all instances and remove the unpacked files; may be called twice."""
        for slave in self._slaves:
            slave.close()
        self._slaves = []
        self._folder.cleanup()

    def _advance(self, world: int, time: float, values: np.ndarray) -> None:
        slave = self._slaves[world]
        if np.isfinite(self._time):
            self._give(slave, values)
            slave.do_step(self._time, self._period or time - self._time)
            return
        slave.instantiate()
        self._parameters[world].write_structural()
        self._parameters[world].write()
        slave.enter_initialisation(time)
        self._give(slave, values)
        slave.exit_initialisation()

    def _give(self, slave: Slave, values: np.ndarray) -> None:
        for group in self._inputs:
            group.fill(values)
            slave.write(group)

    def _results(self, world: int) -> np.ndarray:
        values = np.zeros(len(self._targets))
        for group in self._outputs:
            self._slaves[world].read(group)
            group.empty(values)
        si: np.ndarray = values * self._out_factor + self._out_offset
        return si

    def _connect_inputs(self, catalogue: Catalogue, wiring: Wiring, given: Mapping[str, Any] | None) -> None:
        """For each number of the inputs: its place among the signals, or a constant of each world."""
        if given is None:
            given = {port.name: port.name for port in catalogue.of("input") if port.numeric}
        self._inputs, ports = groups_of([catalogue[name] for name, source in given.items() if source is not None])
        sources = [each for port in ports for each in _elements(port, given[port.name], wiring.worlds)]
        self._measured = np.array([isinstance(source, str) for source in sources], dtype=bool)
        names = wiring.signals
        self._places = np.array([_place(each, names, "signal of the device") for each in sources], dtype=np.intp)
        columns = [np.zeros(wiring.worlds) if isinstance(each, str) else each for each in sources]
        self._constants = np.array(columns).reshape(len(sources), wiring.worlds).T
        self._factor, self._offset = factors(ports)

    def _connect_outputs(self, catalogue: Catalogue, wiring: Wiring, given: Mapping[str, Any] | None) -> None:
        """For each number of the outputs: its place among the commands."""
        if given is None:
            given = {port.name: port.name for port in catalogue.of("output") if port.name in wiring.commands}
        self._outputs, ports = groups_of([catalogue[name] for name in given])
        targets = [each for port in ports for each in _elements(port, given[port.name], wiring.worlds)]
        bad = next((each for each in targets if not isinstance(each, str)), None)
        if bad is not None:
            raise ArgumentError(f"outputs of FMU '{self._name}' go to names of commands; got {bad!r:.60}.")
        self._targets = np.array([_place(each, wiring.commands, "command of the device") for each in targets], np.intp)
        self._commands = len(wiring.commands)
        missing = [name for i, name in enumerate(wiring.commands) if i not in self._targets]
        if missing or len(set(self._targets)) < len(self._targets):
            raise ArgumentError(
                f"each command of the device needs one output of FMU '{self._name}', which has: "
                f"{', '.join(port.name for port in catalogue.of('output'))}; without one, or with two: "
                f"{', '.join(missing) or 'some'}. Give outputs: {{output: command}}."
            )
        self._out_factor, self._out_offset = factors(ports)


def _elements(port: Port, end: Any, worlds: int) -> list[Any]:
    """What each number of a variable is connected to: a name, or numbers (worlds,). ArgumentError for another size."""
    if isinstance(end, np.ndarray) and end.ndim == 2:
        parts: list[Any] = list(end.T)
    elif isinstance(end, (list, tuple)):
        parts = [each if isinstance(each, str) else np.full(worlds, float(each)) for each in end]
    else:
        parts = [end if isinstance(end, (str, np.ndarray)) else np.full(worlds, float(end))]
    if len(parts) != port.size:
        raise ArgumentError(f"variable '{port.name}' has {port.size} numbers, but is connected to {len(parts)}.")
    return parts


def _place(end: Any, names: tuple[str, ...], kind: str) -> int:
    """Place of a name; 0 for numbers, which have none."""
    return arguments.index_of(kind, end, names) if isinstance(end, str) else 0


def _of_world(given: Mapping[str, Any], world: int) -> dict[str, Any]:
    """The parameters of one world."""
    return {name: value[world] if isinstance(value, np.ndarray) else value for name, value in given.items()}
