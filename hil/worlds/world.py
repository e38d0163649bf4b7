"""One world of a batch, as timelines, faults and watchdogs see a model, its signals and its devices."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from limberjack.engine.api.impact import Impact
from limberjack.engine.api.named_values import Commands, Parameters
from limberjack.engine.api.simulation import Simulation
from limberjack.hil.bench_device import BenchDevice
from limberjack.hil.devices.device import Device, Link
from limberjack.hil.signals import Signals

if TYPE_CHECKING:
    from limberjack.engine.api.batch import Batch
    from limberjack.hil.worlds.world_device import WorldsDevice


class World:
    """A world, and its commands (nu,), which the bench writes to the batch before each step.

    one : a simulation of the same model, for what is done in one world alone
    floats : the world's constants
    """

    def __init__(self, batch: Batch, one: Simulation, index: int, commands: np.ndarray, floats: np.ndarray) -> None:
        self.batch, self.index, self._one, self._commands = batch, index, one, commands
        self.system, self.plant = batch.system, replace(batch.plant, floats=floats)
        self.command_names, self.dt = batch.system.command_names, batch.dt

    @cached_property
    def command(self) -> MutableMapping[str, float]:
        """Command name → value."""
        return Commands(self)

    @cached_property
    def parameters(self) -> MutableMapping[str, float]:
        """Parameter name → value."""
        made = Parameters(self)
        made.declared = self._one.parameters.declared
        return made

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return float(self.batch.time[self.index])

    @property
    def step_count(self) -> int:
        """Steps since the start."""
        return int(self.batch.step_count[self.index])

    @property
    def command_vector(self) -> np.ndarray:
        """All commands (nu,), a copy."""
        return self._commands.copy()

    def part(self, name: str) -> np.ndarray:
        """A view of the commands; of other parts of the State a copy."""
        if name == "command":
            return self._commands
        start, size = self.batch.layout[name]
        return self.batch.states.rows(np.array([self.index]))[0, start : start + size]

    def changed(self) -> None:
        """Write the constants to the batch, if they are not what it has."""
        here = np.array([self.index])
        now = self.batch.plant.floats if self.batch.floats is None else self.batch.floats.rows(here)[0]
        if not np.array_equal(now, self.plant.floats, equal_nan=True):
            self.batch.own_floats().put_rows(here, self.plant.floats[None])

    def attach(self, loop: str) -> Impact:
        """Close a loop that can be switched, as `Simulation.attach`."""
        return self._alone("attach", loop)

    def release(self, loop: str) -> Impact:
        """Open a loop that can be switched."""
        return self._alone("release", loop)

    def lock(self, hinge: str) -> Impact:
        """Stop a hinge for which the model has a lock."""
        return self._alone("lock", hinge)

    def unlock(self, hinge: str) -> Impact:
        """Let a locked hinge move again."""
        return self._alone("unlock", hinge)

    def _alone(self, what: str, name: str) -> Impact:
        """Do something in the simulation of one world, at this one's state and constants, and take its state over."""
        one = self._one
        one.plant.floats[:] = self.plant.floats
        one.restore(self.batch.snapshot([self.index])[0])
        one.part("command")[:] = self._commands
        impact: Impact = getattr(one, what)(name)
        self.batch.restore([one.snapshot()], [self.index])
        self._commands[:] = one.part("command")
        return impact


class WorldSignals(Signals):
    """The signals of one world: a row (n,) that the bench refreshes."""

    def __init__(self, of: Signals, row: np.ndarray) -> None:
        self.__dict__.update(of.__dict__)
        self.vector = row

    def refresh(self) -> np.ndarray:
        """The row as it is."""
        return self.vector


class _Answers:
    """What is known in one world of the link to a controller of all."""

    def __init__(self, device: WorldsDevice, world: int) -> None:
        self.name, self._device, self._world = device.name, device, world

    @property
    def link(self) -> Link:
        controller = self._device.controller
        return Link(received=int(controller.received[self._world]), rejected=controller.rejected[self._world])


def device_of(device: WorldsDevice, world: int) -> BenchDevice:
    """A controller of all worlds as watchdogs see the device of one."""
    made = BenchDevice(
        cast(Device, _Answers(device, world)), device.wiring, (device.signals, device.commands), device.every
    )
    made.set_times = device.set_times[world]
    return made
