"""`Batch`: many worlds of one model, stepped together in the lanes of vector registers and on all cores.

Each world has the bits that a `Simulation` of it has: code for several worlds is made from the kernels' own
(compile/worlds.py), and worlds that go different ways are taken one after the other.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.api.batch_dynamics import ManyStates
from limberjack.engine.api.batch_values import (
    BatchCommands,
    BatchOutputs,
    BatchParameters,
    coordinates_of_worlds,
    of_worlds,
)
from limberjack.engine.api.held_mappings import HeldMappings
from limberjack.engine.api.moved_shapes import release_work
from limberjack.engine.api.named_values import Outputs
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.api.snapshots import opened, packed
from limberjack.engine.api.stepping import MOST_STEPS
from limberjack.engine.api.world_calls import Given, WorldsCall
from limberjack.engine.api.world_lanes import Lanes, Numbers
from limberjack.engine.api.world_threads import Threads
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.device_tables import carry_rotors
from limberjack.engine.model.system import System
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.reports import INTEGRATORS

#: steps of one compiled call: what worlds that disagree take again, alone
_PORTION = 32
_Values = MutableMapping[str, np.ndarray]
#: most worlds
MOST_WORLDS = 1_000_000


class Batch(ManyStates, HeldMappings[_Values, _Values, Mapping[str, np.ndarray]]):
    """Worlds of one model, stepped together.

    Parameters
    ----------
    system : from `limberjack.load`
    n : worlds
    dt : step, s; the model's own if None
    integrator, substeps : as for `Simulation`
    threads : that share the worlds; the processor's cores if None

    Attributes
    ----------
    command : mapping of command name to values (n,); one number sets all worlds
    output : mapping of output name to values (n,) or (n, k) at the present state; names as in `Simulation`
    parameters : mapping of parameter name to values (n,); worlds may differ in all that is tunable
    errors : world → why it stopped; it stands at its last good step until it is reset or restored
    """

    def __init__(
        self,
        system: System,
        n: int,
        dt: float | None = None,
        integrator: str | None = None,
        substeps: int = 1,
        threads: int | None = None,
    ) -> None:
        self.n = arguments.count("the number of worlds", n, 1, MOST_WORLDS)
        self._one = Simulation(system, dt, integrator, substeps)
        self.system, self.plant, self.layout = self._one.system, self._one.plant, self._one.state_layout
        self._start = self._one.state
        self._lanes = Lanes(self.n, entries().width)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        many = cores if threads is None else arguments.count("threads", threads, 1, 1024)
        self._threads, self._wanted_threads = Threads(self._lanes, self.plant, many), threads
        self.floats: Numbers | None = None
        self._calls: dict[str, WorldsCall] = {}
        self._rooms = {}
        self._lock = threading.RLock()
        self._errors: dict[int, str] = {}
        self._make()
        super().__init__(BatchCommands(self), BatchParameters(self), BatchOutputs(self, Outputs(self._one)))

    def _make(self) -> None:
        """Room for states and results, and the calls that step and look."""
        numbers, system = self._lanes.numbers, self.system
        self.states = numbers(self._start.size)
        self.states.put(slice(None), np.tile(self._start, (self.n, 1)))
        self._tau, self._vdot = numbers(system.nv), numbers(system.nv)
        self._outputs = numbers(self.plant.count(layout.C_OUTPUTS))
        self._survey = numbers(self.plant.surveyed_size)
        state = Given(self.states, (-1,))
        stepping = [None] * 5
        self._advance = self._call("advance", [state, *stepping], changed=self.states, report=3)
        self._look = self._call(
            "observe", [state, *(Given(each, (-1,)) for each in (self._tau, self._vdot, self._outputs))]
        )
        self._measure = self._call("survey", [state, Given(self._survey, (-1,))])
        self._observed = self._surveyed = False

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: another batch whose worlds are in the same states with the same parameters."""
        one, every = self._one, np.arange(self.n)
        made = self.system, self.n, one.dt, one.integrator, one.substeps, self._wanted_threads
        floats = None if self.floats is None else self.floats.rows(every)
        return Batch, made, (self.states.rows(every), floats, dict(self._errors))

    def __setstate__(self, kept: Any) -> None:
        states, floats, errors = kept
        if floats is not None:
            self.own_floats().put_rows(np.arange(self.n), floats)
        self.take(states, errors)

    def _call(
        self, name: str, given: Sequence[Given | None], changed: Numbers | None = None, report: int = 0
    ) -> WorldsCall:
        made = WorldsCall(entries(), name, self._threads, self._lanes, self.plant, given, changed, report)
        made.use(self.floats)
        self._calls[name] = made
        return made

    # state

    @property
    def dt(self) -> float:
        """Step, s."""
        return self._one.dt

    @property
    def width(self) -> int:
        """How many worlds this processor takes at once."""
        return self._lanes.width

    @property
    def errors(self) -> dict[int, str]:
        """World → why it stopped."""
        return dict(self._errors)

    @property
    def time(self) -> np.ndarray:
        """Simulated time (n,), s."""
        return self.states.get(slice(layout.S_TIME, layout.S_TIME + 1))[:, 0]

    @property
    def step_count(self) -> np.ndarray:
        """Steps (n,) since the start."""
        return self.states.get(slice(layout.S_STEPS, layout.S_STEPS + 1))[:, 0].astype(np.int64)

    @property
    def state(self) -> np.ndarray:
        """The State vectors, (n, …), as `Simulation.state`."""
        return self.states.get(slice(None))

    @property
    def q(self) -> np.ndarray:
        """Coordinates (n, nq), a copy; assign to set them, (nq,) for all worlds."""
        return self._part("q")

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self.move(q=value)

    @property
    def v(self) -> np.ndarray:
        """Velocities (n, nv), a copy; assign to set them, (nv,) for all worlds."""
        return self._part("v")

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self.move(v=value)

    def move(self, worlds: Iterable[int] | None = None, q: ArrayLike | None = None, v: ArrayLike | None = None) -> None:
        """Set coordinates and velocities of m worlds.

        worlds : their numbers, all if None
        q : (m, nq) coordinates, m or rad, None to leave them;  v : (m, nv) velocities, m/s or rad/s, None to leave them

        Raises ArgumentError that names the world of a wrong value.
        """
        chosen = self._worlds(worlds)
        with self._lock:
            rows = self.states.rows(chosen)
            if q is not None:
                rows[:, self._columns("q")] = coordinates_of_worlds(self.system, q, chosen.size, chosen)
                release_work(rows[:, self._columns("touch")])
            if v is not None:
                rows[:, self._columns("v")] = of_worlds("v", v, chosen.size, self.system.nv)
            self.states.put_rows(chosen, rows)
            self.changed()

    @property
    def vdot(self) -> np.ndarray:
        """Accelerations (n, nv) at the present states and commands; NaN where they are not finite."""
        with self._lock:
            self.observed()
            return self._vdot.get(slice(None))

    @property
    def tau(self) -> np.ndarray:
        """Forces (n, nv) of hinges and actuators at the present states and commands."""
        with self._lock:
            self.observed()
            return self._tau.get(slice(None))

    @property
    def command_vector(self) -> np.ndarray:
        """All commands (n, nu), a copy; assign to set them, (nu,) for all worlds."""
        return self._part("command")

    @command_vector.setter
    def command_vector(self, value: ArrayLike) -> None:
        self._put_part("command", of_worlds("command", value, self.n, len(self.system.command_names)))

    def read(self, motion: np.ndarray, tau: np.ndarray, outputs: np.ndarray) -> tuple[np.ndarray, ...]:
        """Some numbers of all worlds, three arrays (n, k), in the units of the coordinates, forces and outputs.

        motion, tau, outputs : (k,) indices into [q, v], tau and the outputs; forces and outputs are computed if any
            is asked for
        """
        with self._lock:
            if len(tau) or len(outputs):
                self.observed()
            return self.states.get(layout.S_Q + motion), self._tau.get(tau), self._outputs.get(outputs)

    def _columns(self, name: str) -> slice:
        start, size = self.layout[name]
        return slice(start, start + size)

    def _part(self, name: str) -> np.ndarray:
        return self.states.get(self._columns(name))

    def _put_part(self, name: str, values: np.ndarray) -> None:
        with self._lock:
            self.states.put(self._columns(name), values)
            self.changed()

    def changed(self) -> None:
        """Outputs are computed again at the next look. Until the first step rotors turn with their joints."""
        self._observed = self._surveyed = False
        if self.layout["drives"][1]:
            for world in np.flatnonzero(self.step_count == 0):
                row = self.states.rows(np.array([world]))
                parts = (row[0, self._columns(name)] for name in ("q", "v", "drives"))
                carry_rotors(self.plant, *parts)
                self.states.put_rows(np.array([world]), row)

    # steps

    def step(self, steps: int = 1, ahead: int | None = None) -> None:
        """Advance all worlds by steps of dt, except those that stopped (`errors`). Commands are held.

        ahead : steps that are taken together, as of `Simulation.step`
        """
        steps = arguments.count("the number of steps", steps, 0, MOST_STEPS)
        left = steps if ahead is None else arguments.count("the number of steps ahead", ahead, steps, MOST_STEPS)
        how = self.dt, INTEGRATORS[self._one.integrator], self._one.substeps
        with self._lock:
            self.changed()
            while steps:
                part = min(steps, _PORTION)
                self._advance(*how, part, left, amount=part)
                self._stop(self._advance.failed)
                steps, left = steps - part, left - part

    def _stop(self, worlds: np.ndarray) -> None:
        """Set worlds aside whose step failed."""
        if worlds.size:
            for world in worlds:
                status, index, _ = self._advance.report[world]
                self._errors[int(world)] = self._one.blame(self.states.rows(np.array([world]))[0], status, index)
            self._lanes.hold(worlds)

    def step_until(self, event: Callable[[Batch], np.ndarray], most: int) -> np.ndarray:
        """Step each world until `event`, (n,) bool, is true for it, at most `most` steps.

        Returns the steps (n,) that each took, -1 where the event did not come. A world for which it came waits.
        """
        most = arguments.count("the number of steps", most, 0, MOST_STEPS)
        taken = np.full(self.n, -1)
        waiting: list[int] = []
        try:
            for count in range(most + 1):
                came = np.flatnonzero(self._came(event) & (taken < 0) & ~self._lanes.aside)
                taken[came] = count
                waiting += came.tolist()
                if came.size:
                    self._lanes.hold(came)
                if count == most or self._lanes.aside.all():
                    break
                self.step()
        finally:
            self._lanes.release(world for world in waiting if world not in self._errors)
        return taken

    def _came(self, event: Callable[[Batch], np.ndarray]) -> np.ndarray:
        came = np.asarray(event(self))
        if came.dtype != np.bool_ or came.shape != (self.n,):
            raise ArgumentError(f"the event gave {came!r:.80}; give an array ({self.n},) of bool, one for each world.")
        return came

    def reset(self, worlds: Iterable[int] | None = None) -> None:
        """Return worlds, all if None, to time 0, the initial state and the initial commands; parameters stay."""
        chosen = self._worlds(worlds)
        self._set_states(chosen, np.tile(self._start, (chosen.size, 1)))

    def snapshot(self, worlds: Iterable[int] | None = None) -> list[bytes]:
        """The states of worlds, all if None, each as `Simulation.snapshot` gives it."""
        return [packed(self._one, row) for row in self.states.rows(self._worlds(worlds))]

    def restore(self, snapshots: Sequence[bytes], worlds: Iterable[int] | None = None) -> None:
        """Return worlds, all if None, to snapshots, one for each. ArgumentError names the world of a damaged one."""
        chosen, rows = self._worlds(worlds), []
        if len(snapshots) != chosen.size:
            raise ArgumentError(f"there are {len(snapshots)} snapshots for {chosen.size} worlds; give one for each.")
        if np.unique(chosen).size != chosen.size:
            raise ArgumentError(f"worlds {chosen.tolist()!r:.80} name one twice; give each world one snapshot.")
        for world, snapshot in zip(chosen, snapshots, strict=True):
            try:
                rows.append(opened(self._one, snapshot))
            except ArgumentError as error:
                raise ArgumentError(f"world {world}: {error}") from error
        self._set_states(chosen, np.array(rows).reshape(chosen.size, -1))

    def take(self, states: np.ndarray, errors: Mapping[int, str]) -> None:
        """Take `states`, all worlds' State vectors (n, …), SI, and set those aside for which there is an error."""
        with self._lock:
            self._set_states(np.arange(self.n), states)
            self._errors.update(errors)
            self._lanes.hold(errors)

    def _worlds(self, worlds: Iterable[int] | None) -> np.ndarray:
        if worlds is None:
            return np.arange(self.n)
        return np.array([arguments.count("world", world, 0, self.n - 1) for world in worlds], dtype=np.int64)

    def _set_states(self, worlds: np.ndarray, rows: np.ndarray) -> None:
        with self._lock:
            self.states.put_rows(worlds, rows)
            for world in worlds:
                self._errors.pop(int(world), None)
            self._lanes.release(worlds[self._lanes.aside[worlds]])
            self.changed()

    # what follows from the states

    def observed(self) -> Numbers:
        """Sensor outputs at the present states."""
        with self._lock:
            if not self._observed:
                self._look()
                self._observed = True
            return self._outputs

    def surveyed(self) -> Numbers:
        """Energies, momentum and the nodes' motion at the present states."""
        with self._lock:
            if not self._surveyed:
                self._measure()
                self._surveyed = True
            return self._survey

    def own_floats(self) -> Numbers:
        """Constants of the model that each world has for itself; from now on, if they were shared."""
        if self.floats is None:
            self.floats = self._lanes.numbers(self.plant.floats.size)
            self.floats.put(slice(None), np.tile(self.plant.floats, (self.n, 1)))
            for call in self._calls.values():
                call.use(self.floats)
        return self.floats
