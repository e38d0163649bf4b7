"""Limberjack's side: compiled loops over the engine's kernels."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks.engines import OPERATIONS, Timer
from benchmarks.peer_build import version_of
from benchmarks.states import COUNT, States
from limberjack.engine.compile.library import Library, load
from limberjack.engine.model.build import build, new_state
from limberjack.engine.model.system import System
from limberjack.engine.tables.plant import S_Q


def loops() -> Library:
    """The compiled loops of loops.py."""
    return load("benchmarks.loops")


class Limberjack:
    """The engine's kernels, called in a compiled loop."""

    def __init__(
        self, system: System, states: States, operations: Sequence[str] = tuple(OPERATIONS), name: str = "Limberjack"
    ) -> None:
        plant = build(system)
        self._states, self.name = states, name
        self._command = np.ascontiguousarray(states.tau[:, driven_velocities(system)])
        self._state, work = new_state(plant, system), plant.new_work()
        self._vector, self._matrix = np.empty(system.nv), np.empty((system.nv, system.nv))
        model, s = (plant.ints, plant.floats, work), states
        self._diverged = np.zeros(1, dtype=np.int64)
        known: dict[str, tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]] = {
            "forward": ((s.q, s.v, s.tau), (self._vector,)),
            "inverse": ((s.q, s.v, s.vdot), (self._vector,)),
            "mass_matrix": ((s.q,), (self._matrix,)),
            "step": ((s.q, s.v, self._command), (self._diverged, self._state)),
        }
        self._model, self._loops = model, {operation: known[operation] for operation in operations}
        for operation in operations:  # compile before anything is timed
            self._run(operation, COUNT)
        self.timers: dict[str, Timer] = {operation: partial(self._time, operation) for operation in operations}
        self.note = f"numba {version_of('numba')}, LLVM of llvmlite {version_of('llvmlite')}"

    def _run(self, operation: str, calls: int, k: int | None = None) -> None:
        inputs, out = self._loops[operation]
        chosen = inputs if k is None else tuple(a[k : k + 1] for a in inputs)
        getattr(loops(), f"{operation}_loop")(calls, *self._model, *chosen, *out)
        if self._diverged[0]:
            raise RuntimeError("a benchmark step diverged")

    def _time(self, operation: str, calls: int) -> float:
        begin = time.thread_time()
        self._run(operation, calls)
        return time.thread_time() - begin

    def result(self, operation: str, k: int) -> np.ndarray:
        self._run(operation, 1, k)
        if operation == "step":
            nq, nv = self._states.q.shape[1], self._states.v.shape[1]
            return self._state[S_Q : S_Q + nq + nv].copy()
        return np.array(self._loops[operation][1][0])


def driven_velocities(system: System) -> list[int]:
    """The velocity that each actuator acts on."""
    return [system.velocity_names.index(drive.coordinate) for drive in system.actuators]
