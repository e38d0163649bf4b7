"""`Simulation`: a System stepped in fixed steps, with commands in and outputs out.

All storage is allocated and all code compiled when it is made; `step` and `attach` only run it. A snapshot is the
State vector and nothing else: restored under the same parameters, it continues with the same bits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.api.contact_events import ContactEvent, until
from limberjack.engine.api.deformation_range import deformed_too_far
from limberjack.engine.api.dynamics import Dynamics
from limberjack.engine.api.held_mappings import HeldMappings
from limberjack.engine.api.impact import Impact
from limberjack.engine.api.loop_switching import Topology
from limberjack.engine.api.moved_shapes import release_work
from limberjack.engine.api.named_values import Commands, Outputs, Parameters
from limberjack.engine.api.snapshots import opened, packed
from limberjack.engine.api.stepping import MOST_STEPS, stepping
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import SimulationError
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model import arguments as model_arguments
from limberjack.engine.model.build import new_state
from limberjack.engine.model.catalogue.catalogue import units
from limberjack.engine.model.device_tables import carry_rotors
from limberjack.engine.model.system import Hinge, System
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.contacts import C_ACTIVE
from limberjack.engine.tables.reports import CROWDED, DIVERGED, FASTEST, INTEGRATORS, LOOP_OPEN

#: velocities times steps in one compiled call, about a tenth of a second: between calls Ctrl-C is heard
_PORTION = 400_000
#: what a function that is asked for an event returns
Came = TypeVar("Came")


class Simulation(HeldMappings[MutableMapping[str, float], Parameters, Mapping[str, "float | np.ndarray"]]):
    """A running model.

    Parameters
    ----------
    system : from `limberjack.load`
    dt : step, s; the model's own if None
    integrator : "rk4", "semi_implicit" or "implicit"; the model's own if None
    substeps : equal parts of a step, for stiff models

    Attributes
    ----------
    command : mapping of command name to value, held until changed
    output : mapping of output name to value at the present state: sensors ("load", (6,)) and their components
        ("load.nx"), "<node>.position" (3,),
        "<node>.orientation" (4,), "<node>.velocity" (6,), "energy.kinetic", "energy.potential", "energy.strain"
        of flexible bodies, "energy.total", "momentum" (6,)
    parameters : mapping of parameter name to value, settable between steps ("hinge.elbow.damping", …); not part of a
        snapshot, and kept by `reset` unless it is asked to restore them
    model_hash : 32 hexadecimal digits that name the model's constants as it was loaded
    """

    def __init__(
        self, system: System, dt: float | None = None, integrator: str | None = None, substeps: int = 1
    ) -> None:
        chosen = stepping(system, dt, integrator, substeps)
        self.system = system = chosen.system
        self._dt, self._integrator, self._substeps = chosen.dt, chosen.integrator, chosen.substeps
        self.dynamics = Dynamics(system)
        self.plant = self.dynamics.plant
        self.model_hash = self.plant.digest()[:32]
        self._work = self.plant.new_work()
        self._state = new_state(self.plant, system)
        self._start = self._state.copy()
        self._motion = self._state[layout.S_Q : layout.S_Q + system.nq + system.nv]
        self._parts = {name: self._state[at : at + size] for name, (at, size) in self.state_layout.items()}
        self._model = self.plant.ints, self.plant.floats, self._work, self._state
        self._portion = _PORTION // (self._substeps * max(system.nv, 1)) + 1
        self._report = np.zeros(3, dtype=np.int64)
        self._tau, self._vdot = np.zeros(system.nv), np.zeros(system.nv)
        self._outputs = np.zeros(self.plant.count(layout.C_OUTPUTS))
        self._survey = np.zeros(self.plant.surveyed_size)
        self._observed = self._surveyed = False
        super().__init__(Commands(self), Parameters(self), Outputs(self))
        self._topology = Topology(self, self._work, self._state)
        self._bind()
        self._lock = threading.RLock()
        self.output_names, self.output_units = system.output_names, units(system, "output")

    def _bind(self) -> None:
        """Give the entries that run all the time their vectors once and for all."""
        stepping = self._dt, INTEGRATORS[self._integrator], self._substeps
        self._run = entries().advance.bind(*self._model, *stepping, None, None, self._report)
        self._look = entries().observe.bind(*self._model, self._tau, self._vdot, self._outputs)
        self._measure = entries().survey.bind(*self._model, self._survey)

    @property
    def dt(self) -> float:
        """Step, s."""
        return self._dt

    @property
    def integrator(self) -> str:
        """Name of the integrator."""
        return self._integrator

    @property
    def substeps(self) -> int:
        """Equal parts of a step."""
        return self._substeps

    @property
    def state_layout(self) -> dict[str, tuple[int, int]]:
        """Name → (start, length) of each part of the State vector."""
        parts, start = {}, 0
        for name, rows, columns in layout.state_sections(self.plant.ints):
            parts[name] = start, rows * columns
            start += rows * columns
        return parts

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return float(self._state[layout.S_TIME])

    @property
    def step_count(self) -> int:
        """Steps since the start."""
        return int(self._state[layout.S_STEPS])

    @property
    def state(self) -> np.ndarray:
        """The whole State vector (n,), a copy; `state_layout` says what is where."""
        return self._state.copy()

    @property
    def q(self) -> np.ndarray:
        """Coordinates (nq,), a copy; assign to set them."""
        return self.part("q").copy()

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self.part("q")[:] = model_arguments.coordinates(self.system, value)
        release_work(self.part("touch"))
        self.changed()

    @property
    def v(self) -> np.ndarray:
        """Velocities (nv,), a copy; assign to set them."""
        return self.part("v").copy()

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self.part("v")[:] = arguments.vector("v", value, (self.system.nv,))
        self.changed()

    @property
    def tau(self) -> np.ndarray:
        """Forces (nv,) of hinges and actuators at the present state and commands."""
        self._observe()
        return self._tau.copy()

    @property
    def vdot(self) -> np.ndarray:
        """Accelerations (nv,) at the present state and commands. SimulationError where they are not finite."""
        self._require_accelerations()
        return self._vdot.copy()

    @property
    def output_vector(self) -> np.ndarray:
        """All sensor outputs (ny,) at the present state, in the order of output_names. Raises as `vdot`."""
        self._require_accelerations()
        return self._outputs.copy()

    def read(self, motion: np.ndarray, tau: np.ndarray, outputs: np.ndarray) -> None:
        """Copy q, v into motion (nq + nv,), forces into tau (nv,) and sensor outputs into outputs (ny,), all in SI."""
        with self._lock:
            if not self._observed:
                self._observe()
            motion[:] = self._motion
            tau[:] = self._tau
            outputs[:] = self._outputs

    @property
    def command_names(self) -> tuple[str, ...]:
        """Names of the commands, in the order of `command_vector`."""
        return self.system.command_names

    @property
    def command_vector(self) -> np.ndarray:
        """All commands (nu,), a copy; assign to set them."""
        return self.part("command").copy()

    @command_vector.setter
    def command_vector(self, value: ArrayLike) -> None:
        self.part("command")[:] = arguments.vector("command", value, (len(self.command_names),))
        self.changed()

    def step(self, n: int = 1, ahead: int | None = None) -> None:
        """Advance n steps of dt.

        Commands are held. Driven loops are where their commands have them at the end of the call; where it is one of
        several that take some steps together, at the end of the `ahead` (at least n) steps that are left.

        Raises SimulationError where a coordinate or velocity is no longer finite or exceeds FASTEST, or a loop cannot
        be closed again; the simulation then stands at the last good step.
        """
        if type(n) is not int or not 0 <= n <= MOST_STEPS:
            n = arguments.count("the number of steps", n, 0, MOST_STEPS)
        left = n if ahead is None else ahead
        if type(left) is not int or not n <= left <= MOST_STEPS:
            left = arguments.count("the number of steps ahead", left, n, MOST_STEPS)
        self.changed()
        while n > self._portion:
            self._advance(self._portion, left)
            n, left = n - self._portion, left - self._portion
        if n:
            self._advance(n, left)

    @overload
    def step_until(self, event: str, most: int) -> ContactEvent | None: ...
    @overload
    def step_until(self, event: Callable[[Simulation], Came], most: int) -> Came | None: ...
    def step_until(self, event: str | Callable[[Simulation], Any], most: int) -> Any:
        """Step, at most `most` steps, until an event comes; returns it, or None if it does not come.

        event : "touch", "lift_off" or "capture", the first of any contact, or "touch guide", of the contact or loop
            named: returns a `ContactEvent`. Or a function of this simulation, which is called now and after every step:
            the first thing that it returns and that counts as true is returned
        """
        return until(self, event, arguments.count("the number of steps", most, 0, MOST_STEPS))

    def _advance(self, n: int, ahead: int) -> None:
        """n steps in one compiled call, of `ahead` that are taken together."""
        with self._lock:
            self._run(n, ahead)
            if self._report[0]:
                raise SimulationError(self._blame(int(self._report[0]), int(self._report[1])))

    def attach(self, loop: str) -> Impact:
        """Close a loop that can be switched, now, holding its frames, length, offset or coordinates as they are.

        The velocities that it forbids end at a stroke, with an impulse that keeps all momentum. Its command follows.
        ArgumentError if it is unknown, always closed, closed already, or out of reach; nothing changes then.
        """
        return self._switch(loop, True)

    def release(self, loop: str) -> Impact:
        """Open a loop that can be switched, now; its command follows. ArgumentError as for `attach`.

        One that was commanded to close and still waits for its reach stops waiting.
        """
        return self._switch(loop, False)

    def lock(self, hinge: str) -> Impact:
        """Stop a hinge for which the model has a lock, and hold it where it is; as `attach` of the lock."""
        return self._switch(self._topology.lock_of(hinge), True)

    def unlock(self, hinge: str) -> Impact:
        """Let a locked hinge move again; as `release` of its lock."""
        return self._switch(self._topology.lock_of(hinge), False)

    def closed(self, loop: str) -> bool:
        """Whether a loop is closed now. One that was commanded to close stays open until it is within reach."""
        return self._topology.closed(loop)

    @property
    def impacts(self) -> dict[str, float]:
        """Loop that can be switched → kinetic energy that it took when it last closed while running, J."""
        return self._topology.losses()

    def _switch(self, loop: str, close: bool) -> Impact:
        with self._lock:
            impact = self._topology.switch(loop, close)
            self.changed()
            return impact

    def snapshot(self) -> bytes:
        """The state as bytes, for `restore` in any simulation of the same model."""
        return packed(self, self._state)

    def restore(self, snapshot: bytes) -> None:
        """Return to a snapshot; ArgumentError if it is damaged, of another model or of another step."""
        self._state[:] = opened(self, snapshot)
        self.changed()

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: another simulation in the same state with the same parameters."""
        kept = self._parameters.kept(), self._state.copy()
        return Simulation, (self.system, self._dt, self._integrator, self._substeps), kept

    def __setstate__(self, kept: Any) -> None:
        self._parameters.take(kept[0])
        self._state[:] = kept[1]
        self.changed()

    def reset(self, parameters: bool = False) -> dict[str, float]:
        """Return to time 0, the initial state and commands; returns restored parameters by name, SI.

        parameters : whether those that were set get their loaded values again
        """
        restored = self._parameters.restore() if parameters else {}
        self._state[:] = self._start
        self.changed()
        return restored

    def part(self, name: str) -> np.ndarray:
        """A view (length,) of one part of the State vector: "q", "v", "command" or "switch" (`tables/loops.py`)."""
        return self._parts[name]

    def changed(self) -> None:
        """Outputs are computed again at the next look; whoever writes into `part` calls this.

        Until the first step rotors of motors turn with their joints.
        """
        self._observed = self._surveyed = False
        if self._state[layout.S_STEPS] == 0.0:
            carry_rotors(self.plant, self.part("q"), self.part("v"), self.part("drives"))

    def survey(self) -> np.ndarray:
        """Energy, momentum and the nodes' motion (length,) at the present state, laid out by `outputs.survey_entry`."""
        with self._lock:
            if not self._surveyed:
                self._measure()
                self._surveyed = True
            return self._survey.copy()

    def _observe(self) -> None:
        with self._lock:
            if not self._observed:
                self._look()
                self._observed = True

    def _require_accelerations(self) -> None:
        self._observe()
        bad = np.flatnonzero(~np.isfinite(self._vdot))
        if bad.size:
            raise SimulationError(
                f"the accelerations are not finite at '{self.system.velocity_names[bad[0]]}' at t = {self.time:.6g} s: "
                "the mass matrix is singular there, or state and commands are too large."
                f"{deformed_too_far(self.system, self.q, Dynamics(self.system).mass_matrix)}"
            )

    def blame(self, state: np.ndarray, status: int, index: int) -> str:
        """Why a step fails.

        state : (ns,), SI, with which it began; status, index : as `advance` reports them (tables/reports.py)
        """
        kept = self._state.copy()
        self._state[:] = state
        try:
            return self._blame(int(status), int(index))
        finally:
            self._state[:] = kept

    def _blame(self, status: int, index: int) -> str:
        if status == LOOP_OPEN:
            return (
                f"{self._topology.why_open(index)} in the step after t = {self.time:.6g} s ({self.integrator}, dt = "
                f"{self.dt:g} s); take a smaller dt or substeps, or look at the commands: the mechanism may have come "
                "to the end of its reach, or coordinates were set that do not fit its loops."
            )
        if status == CROWDED:
            return (
                f"{index} points of bodies that push each other touch at once in the step after t = {self.time:.6g} s "
                f"(points with torsional or rolling friction count twice), more than the {self.plant.count(C_ACTIVE)} "
                "that a step solves; use fewer or rounder shapes, or contacts between fewer of them."
            )
        what = f"is beyond {FASTEST:g} (diverged)" if status == DIVERGED else "is no longer a finite number"
        if index < 0:
            where = f"coordinate '{self.system.coordinate_names[-1 - index]}'"
            body = self._body_of(-1 - index, lambda hinge: hinge.kind.nq)
        else:
            where = f"velocity '{self.system.velocity_names[index]}'"
            body = self._body_of(index, lambda hinge: hinge.nv)
        return (
            f"{where} of body '{body}' {what} in the step after t = {self.time:.6g} s ({self.integrator}, "
            f"dt = {self.dt:g} s); take a smaller dt or substeps, the 'implicit' integrator for stiff springs, or "
            f"look at the commands.{deformed_too_far(self.system, self.q, Dynamics(self.system).mass_matrix)}"
        )

    def _body_of(self, index: int, size: Callable[[Hinge], int]) -> str:
        """The body whose hinge holds the index-th velocity or coordinate."""
        ends = np.cumsum([size(body.hinge) for body in self.system.bodies])
        return self.system.bodies[int(np.searchsorted(ends, index, side="right"))].name
