"""Dynamics of many states of one model: the functions of `Dynamics` for arrays of states, one a world.

Forces, accelerations and mass matrices are computed for several worlds at once; Jacobians and derivatives for one after
the other on each thread.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.algebra.array_views import total
from limberjack.engine.api.batch_values import coordinates_of_worlds, of_worlds
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.api.world_calls import Given, Rows, WorldsCall, one_by_one
from limberjack.engine.api.world_lanes import Lanes, Numbers
from limberjack.engine.api.world_threads import Share, Threads
from limberjack.engine.common import arguments
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model.arguments import with_slopes
from limberjack.engine.model.plant import Plant, aligned_zeros
from limberjack.engine.model.system import System
from limberjack.engine.tables.plant import C_BODIES
from limberjack.engine.tables.slopes import slope_sections


@dataclass(frozen=True)
class Scratch:
    """An argument of an entry for which every thread needs room for `size` numbers."""

    size: int


class ManyStates:
    """What `Batch` has beside its steps. Worlds whose parameters differ have dynamics that differ.

    n : states; q : (n, nq) or (nq,);  v, vdot, tau : (n, nv) or (nv,), tau in N·m or N
    """

    n: int
    system: System
    plant: Plant
    floats: Numbers | None
    _one: Simulation
    _lanes: Lanes
    _threads: Threads
    _calls: dict[str, WorldsCall]
    _rooms: dict[str, tuple[list[Numbers], Numbers]]
    _lock: threading.RLock

    def _call(self, name: str, given: Sequence[Given | None]) -> WorldsCall:
        raise NotImplementedError

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> np.ndarray:
        """Accelerations (n, nv) of n states, as `Dynamics.forward`; NaN where a mass matrix is singular.

        q : (n, nq) or (nq,);  v, tau : (n, nv) or (nv,), tau in N·m or N
        """
        return self._evaluate("forward_dynamics", self._checked(q, v, tau), self.system.nv, False)

    def inverse_dynamics(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> np.ndarray:
        """Generalized forces (n, nv) of n states, as `Dynamics.inverse`.

        q : (n, nq) or (nq,);  v, vdot : (n, nv) or (nv,)
        """
        return self._evaluate("inverse_dynamics", self._checked(q, v, vdot), self.system.nv, False)

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """Mass matrices (n, nv, nv) of n states, as `Dynamics.mass_matrix`.

        q : (n, nq) or (nq,)
        """
        nv = self.system.nv
        checked = [coordinates_of_worlds(self.system, q, self.n)]
        return self._evaluate("mass_matrix", checked, nv * nv).reshape(self.n, nv, nv)

    def jacobian(self, node: str, q: ArrayLike) -> np.ndarray:
        """Jacobians (n, 6, nv) of a body or node in n states, as `Dynamics.jacobian`: its velocity is J v.

        q : (n, nq) or (nq,)
        """
        place = arguments.index_of("body or node", node, self.system.node_names)
        out = np.zeros((self.n, 6, self.system.nv))
        self._each("jacobian", self._q(q), place, Rows(out, (6, self.system.nv)))
        return out

    def forward_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Derivatives of `forward_dynamics` along q, in v and in tau, (n, nv, nv) each, as `Dynamics` gives them.

        q : (n, nq) or (nq,);  v, tau : (n, nv) or (nv,), tau in N·m or N. NaN where a mass matrix is singular.
        Raises ArgumentError for a model with flexible bodies, loops or elements at nodes.
        """
        with_slopes(self.system, "forward_derivatives", loops=False)
        out = self._derivatives(q, v, "tau", tau, 3)
        return out[:, 0], out[:, 1], out[:, 2]

    def inverse_derivatives(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of `inverse_dynamics` along q and in v: two (n, nv, nv), as `Dynamics.inverse_derivatives`.

        q : (n, nq) or (nq,);  v, vdot : (n, nv) or (nv,). Raises ArgumentError for a model with flexible bodies or
        elements at nodes.
        """
        with_slopes(self.system, "inverse_derivatives")
        out = self._derivatives(q, v, "vdot", vdot, 2)
        return out[:, 0], out[:, 1]

    def _derivatives(self, q: ArrayLike, v: ArrayLike, name: str, third: ArrayLike, matrices: int) -> np.ndarray:
        nv = self.system.nv
        out = np.full((self.n, matrices, nv, nv), np.nan)
        vectors = (Rows(of_worlds(word, value, self.n, nv), (nv,)) for word, value in (("v", v), (name, third)))
        scratch = total(slope_sections(self.plant.count(C_BODIES), nv))
        self._each("slopes_at", Scratch(scratch), self._q(q), *vectors, int(matrices == 3), Rows(out, (-1,)))
        return out

    def _q(self, q: ArrayLike) -> Rows:
        return Rows(coordinates_of_worlds(self.system, q, self.n), (self.system.nq,))

    def _each(self, name: str, *given: Any) -> None:
        """An entry for each state, of whose arguments the `Rows` differ, on all threads."""

        def run(thread: int, share: Share) -> None:
            mine = self._lanes.worlds_of(share.groups)
            handed = [Rows(each.rows[mine], each.shape) if isinstance(each, Rows) else each for each in given]
            handed = [aligned_zeros(each.size) if isinstance(each, Scratch) else each for each in handed]
            floats = None if self.floats is None else self.floats.rows(np.arange(mine.start, mine.stop))
            work = self._threads.works_alone[thread]
            one_by_one(getattr(entries(), name), self.plant, floats, work, handed, mine.stop - mine.start)()

        with self._lock:
            self._threads.all(run)

    def _checked(self, q: ArrayLike, v: ArrayLike, third: ArrayLike) -> list[np.ndarray]:
        rates = (of_worlds(word, value, self.n, self.system.nv) for word, value in (("v", v), ("tau or vdot", third)))
        return [coordinates_of_worlds(self.system, q, self.n), *rates]

    def _evaluate(self, name: str, given: Sequence[np.ndarray], size: int, *flags: bool) -> np.ndarray:
        """What an entry gives, (n, size), for arguments (n, …); flags: what it needs after these."""
        with self._lock:
            rooms, out = self._room(name, [each.shape[1] for each in given], size, len(flags))
            found = np.empty((self.n, size))

            def put(groups: slice) -> None:
                for room, values in zip(rooms, given, strict=True):
                    room.put(slice(None), values, groups)

            def take(groups: slice) -> None:
                found[self._lanes.worlds_of(groups)] = out.get(slice(None), groups)

            self._calls[name](*flags, before=put, after=take)
            return out.get(slice(None)) if self._lanes.some_aside else found

    def _room(self, name: str, sizes: list[int], size: int, flags: int) -> tuple[list[Numbers], Numbers]:
        """Where arguments and the result of an entry are, made at its first use."""
        if name not in self._rooms:
            given, out = [self._lanes.numbers(each) for each in sizes], self._lanes.numbers(size)
            shape = (size,) if flags else (self.system.nv, self.system.nv)
            self._call(name, [*(Given(each, (-1,)) for each in given), *flags * [None], Given(out, shape)])
            self._rooms[name] = given, out
        return self._rooms[name]
