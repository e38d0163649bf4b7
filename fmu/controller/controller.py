"""`FmuController`: someone else's FMU as a controller or actuator inside a simulation.

The coupling is the sampled-data one: at each communication point the plant has just reached the time, the FMU then
steps up to the same time with the measurements of that time as inputs, and its outputs are held as commands over the
next period. A controller without states thus acts exactly like the same law evaluated at the sampling instants, without
a period of delay. Outputs after initialisation, computed from the measurements at the start, are the first commands.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError
from limberjack.fmu.controller import unpacking as controller_archive
from limberjack.fmu.controller.errors import FmuError, FmuWarning
from limberjack.fmu.controller.ports import Catalogue
from limberjack.fmu.controller.schedule import Controller, Trace, cosimulate
from limberjack.fmu.controller.slave import Slave
from limberjack.fmu.controller.sources import Source, Target
from limberjack.fmu.controller.values import Outputs, Parameters
from limberjack.fmu.controller.wiring import Wiring, check_names
from limberjack.scratch import Scratch

#: a period is a multiple of the simulation's step within this, relative
_MULTIPLE = 1e-9
#: loaded FMUs that allow only one instance in a process, by instantiation token
_single: set[str] = set()


@dataclass(frozen=True)
class ControllerSnapshot:
    """State of a controller FMU at one communication point; see `FmuController.snapshot`."""

    token: str
    step_count: int
    state: Any


class FmuController(Controller):
    """An FMU (FMI 2.0 or 3.0 Co-Simulation) connected to a simulation.

    Parameters
    ----------
    path : the .fmu file
    inputs : FMU input → its source: a name of the simulation (a coordinate "elbow", its velocity "elbow.rate", a
        sensor, any name of `sim.output`, "command.elbow", "q", "v", "tau", "time"), a constant, a function of the
        simulation, a list with one of these for each element of an array, or None to leave the input at the FMU's
        start value. Every numeric input must be named. If omitted, inputs are connected to equal names.
    outputs : FMU output → the command it sets, or a list with one for each element of an array. Others are only
        readable. If omitted, outputs are connected to equal command names.
    parameters : FMU parameter → value (number, array, or text), in the FMU's own unit
    period : communication step, s, a multiple of the simulation's dt; the FMU's default step size if None
    name : instance name, for messages; the file's name if None

    Values of the simulation are SI and are converted to the units the FMU declares (with its own factors and offsets);
    constants and functions give numbers in the FMU's own unit. Inputs of integer and Boolean type take whole numbers
    and 0 or 1 only.

    Attributes
    ----------
    parameters : mapping of parameter name to value; tunable ones can be set while the FMU runs
    output : mapping of the FMU's outputs and local variables to their present values
    variables : mapping of every variable name to what the FMU says about it

    Raises
    ------
    FmuError : the file is not an FMU, or an FMU that cannot run here or fails
    ArgumentError, UnknownNameError : wrong names, sizes, values

    An FMU is native code in this process: one that crashes or hangs takes the process with it. One thread at a time.
    """

    def __init__(
        self,
        path: Path | str,
        inputs: Mapping[str, Source | None] | None = None,
        outputs: Mapping[str, Target] | None = None,
        parameters: Mapping[str, Any] | None = None,
        period: float | None = None,
        *,
        name: str | None = None,
    ) -> None:
        file, description = controller_archive.read(path)
        self.name = file.stem if name is None else str(name)
        self.path = file
        self.period = _period(self.name, description, period)
        self._token = str(description.guid)
        self.variables = Catalogue(self.name, description, parameters)
        check_names(self.name, self.variables, inputs, outputs)
        self._inputs, self._outputs = inputs, outputs
        self._simulation: Simulation | None = None
        self._failed = False
        self._last = self._ratio = 0
        self._slave, folder = _load(self.name, file, description)
        self._finalizer = weakref.finalize(self, _unload, self._slave, folder, self._token)
        try:
            self._parameters = Parameters(self.variables, self._slave, parameters or {})
        except BaseException:
            self._finalizer()
            raise
        self._output = Outputs(self.variables, self._slave)

    @property
    def parameters(self) -> Parameters:
        """Parameter name → value."""
        return self._parameters

    @property
    def output(self) -> Outputs:
        """Name of an output or local variable → present value."""
        return self._output

    @property
    def simulation(self) -> Simulation | None:
        """The simulation with which it runs."""
        return self._simulation

    @property
    def due(self) -> int:
        """Step count of the simulation at which the next exchange is due."""
        return self._last + self._ratio

    # ---- running

    def start(self, simulation: Simulation) -> None:
        """Connect to a simulation at its present time: a fresh FMU instance, parameters set, initialised with the
        present measurements; its first outputs become commands.
        """
        self._check_open()
        if not isinstance(simulation, Simulation):
            raise ArgumentError(f"a Simulation is needed, got {type(simulation).__name__}.")
        self._stop()
        ratio = self.period / simulation.dt
        if round(ratio) < 1 or abs(ratio - round(ratio)) > _MULTIPLE * ratio:
            raise ArgumentError(
                f"the period {self.period:g} s of FMU '{self.name}' is not a multiple of the simulation's step "
                f"{simulation.dt:g} s; choose it so, or another dt."
            )
        self._wiring = Wiring(self.name, self.variables, simulation, self._inputs, self._outputs)
        self._initialise(simulation)
        self._ratio, self._last = round(ratio), simulation.step_count
        self._simulation, self._failed = simulation, False
        self._parameters.running = self._output.running = True

    def _initialise(self, simulation: Simulation) -> None:
        """From a fresh instance to the first outputs."""
        slave = self._slave
        slave.instantiate()
        self._parameters.write_structural()
        self._parameters.write()
        slave.enter_initialisation(simulation.time)
        self._wiring.give(self._slave)
        slave.exit_initialisation()
        self._take_outputs(simulation.time)

    def exchange(self, simulation: Simulation) -> None:
        """Step the FMU up to the simulation's present time, which must be the one due, and set the commands."""
        self.check_running(simulation)
        if simulation.step_count != self.due:
            raise ArgumentError(
                f"FMU '{self.name}' exchanges next at t = {self.due * simulation.dt:.9g} s, but the simulation stands "
                f"at {simulation.time:.9g} s; use `step`, `run` or `cosimulate`."
            )
        self._wiring.give(self._slave)
        try:
            self._slave.do_step(self._last * simulation.dt, self.period)
            self._take_outputs(simulation.time)
        except FmuError:
            self._failed = True
            self._parameters.running = self._output.running = False
            raise
        self._last = simulation.step_count

    def step(self, simulation: Simulation) -> None:
        """Advance simulation and FMU to the next communication point; the first call starts the FMU."""
        if self._simulation is None:
            self.start(simulation)
        self.check_running(simulation)
        simulation.step(self.due - simulation.step_count)
        self.exchange(simulation)

    def run(self, simulation: Simulation, duration: float, log: Any = None) -> Trace:
        """`cosimulate` with only this controller, for a duration, s; log : as there."""
        return cosimulate(simulation, [self], duration, log=log)

    def _check_open(self) -> None:
        if not self._finalizer.alive:
            raise ArgumentError(f"FMU '{self.name}' is closed; make a new FmuController.")

    def check_running(self, simulation: Simulation) -> None:
        """Raise ArgumentError unless it runs with this simulation and both are at the same time."""
        self._check_open()
        if self._failed:
            raise ArgumentError(f"FMU '{self.name}' has failed; call `start` to begin again.")
        if self._simulation is None:
            raise ArgumentError(f"FMU '{self.name}' does not run; call `start` first.")
        if self._simulation is not simulation:
            raise ArgumentError(
                f"FMU '{self.name}' runs with another simulation; call `start` to begin again with this one."
            )
        if not self._last <= simulation.step_count <= self.due:
            raise ArgumentError(
                f"the simulation is at t = {simulation.time:.9g} s, FMU '{self.name}' between "
                f"{self._last * simulation.dt:.9g} s and {self.due * simulation.dt:.9g} s; after stepping, reset or "
                "restore of the simulation alone, restore the controller too, or call `start`."
            )

    @property
    def command_places(self) -> frozenset[int]:
        """Indices of the commands that it sets; empty before `start`."""
        return self._wiring.command_places if self._simulation is not None else frozenset()

    def _take_outputs(self, time: float) -> None:
        bad = self._wiring.take(self._slave)
        if bad:
            raise self._slave.error(
                f"its variable '{bad}' is not a finite number at t = {time:.9g} s; the commands keep their values."
            )

    # ---- state and life

    def snapshot(self) -> ControllerSnapshot:
        """The FMU's state, to be taken and restored together with the simulation's.

        It can be pickled, and used with another controller of the same file in another process, where the FMU can
        serialise its state. FmuError if the FMU cannot save its state.
        """
        if self._simulation is None:
            raise ArgumentError(f"FMU '{self.name}' does not run; call `start` first.")
        self.check_running(self._simulation)
        self._check_restores()
        return ControllerSnapshot(self._token, self._last, self._slave.state())

    def restore(self, snapshot: ControllerSnapshot) -> None:
        """Return the FMU to a snapshot; restore the simulation too. In a new process call `start` first."""
        self._check_open()
        self._check_restores()
        if self._simulation is None or self._failed:
            raise ArgumentError(f"FMU '{self.name}' does not run; call `start` first, then restore.")
        if not isinstance(snapshot, ControllerSnapshot) or snapshot.token != self._token:
            raise ArgumentError(f"the snapshot is not one of FMU '{self.name}'; give a result of its `snapshot`.")
        self._slave.restore(snapshot.state)
        self._last = snapshot.step_count

    def _check_restores(self) -> None:
        if not self._slave.can_restore:
            raise FmuError(
                self.name,
                "it cannot save and restore its state (canGetAndSetFMUState is not set), so no snapshot can be taken; "
                "ask its maker for that capability.",
            )

    def _stop(self) -> None:
        self._simulation = None
        self._parameters.running = self._output.running = False

    def close(self) -> None:
        """End the FMU, unload its library and remove the unpacked files; safe to call more than once."""
        self._stop()
        self._finalizer()

    def __enter__(self) -> FmuController:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"FmuController('{self.path.name}', period={self.period:g}, FMI {self.variables.version})"


def _period(name: str, description: Any, period: float | None) -> float:
    """The given period, or the FMU's default step size."""
    experiment, fixed = description.defaultExperiment, description.coSimulation.fixedInternalStepSize
    if period is None:
        period = experiment.stepSize if experiment is not None else None
    if period is None:
        raise ArgumentError(f"FMU '{name}' names no default step size; give a period, in seconds.")
    seconds = controller_archive.check_period(period)
    if fixed is not None and float(fixed) > 0.0:
        ratio = seconds / float(fixed)
        if abs(ratio - round(ratio)) > _MULTIPLE * ratio or round(ratio) < 1:
            warnings.warn(
                f"FMU '{name}' steps internally by {float(fixed):g} s, of which the period {seconds:g} s is not a "
                "multiple: it may refuse to step, or lag.",
                FmuWarning,
                stacklevel=3,
            )
    return seconds


def _load(name: str, file: Path, description: Any) -> tuple[Slave, Scratch]:
    """The loaded FMU, and the folder to which it was unpacked; one that allows only one instance is loaded once."""
    token = str(description.guid)
    single = bool(description.coSimulation.canBeInstantiatedOnlyOncePerProcess)
    if single and token in _single:
        raise FmuError(name, "it allows only one instance in a process, and there is one; close that one first.")
    folder = controller_archive.unpack(file, description)
    try:
        slave = Slave(name, description, folder.path)
    except BaseException:
        folder.cleanup()
        raise
    if single:
        _single.add(token)
    return slave, folder


def _unload(slave: Slave, folder: Scratch, token: str) -> None:
    _single.discard(token)
    slave.close()
    folder.cleanup()
