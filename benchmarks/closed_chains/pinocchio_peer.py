"""Pinocchio's two algorithms for closed loops, compiled against the wheel's headers."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.engines import STEP_SECONDS, Timer
from benchmarks.peer_build import PeerUnavailableError, version_of
from benchmarks.pinocchio_peer import compiled
from benchmarks.states import COUNT, States, pinocchio_orders, to_pinocchio
from benchmarks.trees import Tree, pinocchio_text

#: algorithm → operation → its number in pinocchio_loops.cpp
VARIANTS = {"lcaba": {"forward": 0, "step": 1}, "constraintDynamics": {"forward": 2, "step": 3}}
#: proximal settings that are tried: the one with the fewest iterations that is exact enough is timed
REGULARISATIONS = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
MOST_ITERATIONS = 10


class LoopPinocchio:
    """One algorithm, "lcaba" or "constraintDynamics", with the cheapest proximal settings of error below `exact`."""

    def __init__(self, algorithm: str, tree: Tree, states: States, exact: float, say: Callable[[str], None]) -> None:
        self.name = f"Pinocchio {algorithm}"
        self._codes, self._tree = VARIANTS[algorithm], tree
        self._library = library = compiled("closed_chains/pinocchio_loops.cpp", say)
        library.peer_settings.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_double, ctypes.c_int]
        message = ctypes.create_string_buffer(300)
        handle = library.peer_create(pinocchio_text(tree).encode(), message, len(message))
        if not handle:
            raise PeerUnavailableError(f"Pinocchio did not take the model: {message.value.decode()}")
        self._handle = handle
        weakref.finalize(self, library.peer_destroy, handle)
        theirs = to_pinocchio(tree, states)
        q, v, tau = (np.ascontiguousarray(a) for a in (theirs.q, theirs.v, theirs.tau))
        library.peer_states(handle, q, v, tau, COUNT, STEP_SECONDS)
        mu, iterations = self._settings(algorithm == "lcaba", states.vdot, exact)
        self.timers: dict[str, Timer] = {name: partial(self._time, code) for name, code in self._codes.items()}
        self.note = f"C++ {version_of('libpinocchio')}, clang -O3 -march=native; mu {mu:g}, {iterations} iterations"

    def _settings(self, lcaba: bool, expected: np.ndarray, exact: float) -> tuple[float, int]:
        """Fewest iterations, then least error, among those that are exact enough; else the least error."""
        best = (True, 0, np.inf, 0.0, 0)
        for iterations in range(1, MOST_ITERATIONS + 1):
            for mu in REGULARISATIONS:
                self._library.peer_settings(self._handle, lcaba, mu, iterations)
                error = max(relative(self.result("forward", k), expected[k]) for k in range(COUNT))
                poor = not error <= exact
                best = min(best, (poor, 0 if poor else iterations, error, mu, iterations))
            if not best[0]:
                break
        *_, mu, iterations = best
        self._library.peer_settings(self._handle, lcaba, mu, iterations)
        return mu, iterations

    def _time(self, code: int, calls: int) -> float:
        return float(self._library.peer_time(self._handle, code, calls))

    def result(self, operation: str, k: int) -> np.ndarray:
        """Accelerations, or q and v after a step, of state k in our order."""
        tree = self._tree
        out = np.empty(tree.nv if operation == "forward" else tree.nq + tree.nv)
        code = self._library.peer_result(self._handle, self._codes[operation], k, out, out.size)
        if code != 0:
            raise RuntimeError(f"the Pinocchio peer refused {operation} on state {k}: code {code}")
        q_order, v_order = pinocchio_orders(tree)
        if operation == "forward":
            return np.asarray(out[v_order])
        return np.concatenate([out[: tree.nq][np.argsort(q_order)], out[tree.nq :][v_order]])


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference relative to the largest number."""
    return float(np.abs(found - expected).max() / np.abs(expected).max())
