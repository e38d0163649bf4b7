"""Which motions closed loops leave about a position: independent velocities, X, and the positions along them.

    Y(q) v = b    rows of all closed loops, embedded and by force, over all velocities; b of prescribed motions
    v = X v_I + v_b,    X_I = 1,    Y_D X_D = -Y_I,    Y_D v_b = b

for independent velocities I and dependent ones D. Rows of wheels and custom cuts hold velocities alone: with the
others, Y_h, alone, more can be displaced, J, than can move, and fewer depend, E. A displacement ξ along J moves the
coordinates by Z ξ to first order, with Z from Y_h as X from Y, and beyond it by what closes the loops again with E
alone. Rows of shapes that touch (`linearize_held.py`) stand behind those of loops.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from limberjack.engine.algebra.ranks import NOISE, first_largest, rank
from limberjack.engine.api.linearize_contacts import HeldTouches
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.frames import assemble
from limberjack.engine.model.loops.closure import Closure, closures
from limberjack.engine.model.loops.fill import held_data
from limberjack.engine.model.loops.joint_tree import Tree
from limberjack.engine.model.loops.mechanism import Mechanism
from limberjack.engine.model.loops.newton import sizes
from limberjack.engine.model.loops.selection import dependent_columns
from limberjack.engine.model.system import Pose, System
from limberjack.engine.tables.loops import COUPLING, DISTANCE, LOCK

#: displacement, in the sizes of the velocities, that distinguishes a singular configuration from others
_BESIDE, _BESIDE_TOUCHES = 1e-3, 1e-5
#: residual (rad, m) and rates (rad/s, m/s) at which a state does not fit its loops
MOST_OPEN, MOST_FAST = 1e-6, 1e-6
#: corrections that close the loops again after a small displacement: each one squares the error
_CORRECTIONS = 8
#: corrections below this, m or rad, are rounding
_CLOSED = 1e-15


@dataclass(frozen=True, eq=False)
class Drive:
    """The motion prescribed to a loop: the first of its three commands, and the loop's place in the mechanism."""

    command: int
    place: int


class Mobility:
    """The motions that the closed loops of a system leave about q: which velocities are independent, X, q(ξ), v(ξ, ν).

    independent : places of the velocities I; displaced_along : those of J, which has all of them
    Raises ArgumentError where a loop is open at q, and at singular configurations.
    """

    def __init__(
        self,
        system: System,
        q: np.ndarray,
        command: np.ndarray,
        preferred: list[int],
        touches: HeldTouches | None = None,
    ) -> None:
        """touches : that hold velocities as loops do"""
        self.system, self.q, self.command = system, q, command
        self._tree = tree = Tree(assemble(system))
        self._touches = touches
        loops = [_as_held(loop, tree, system) for loop in closures(system, tree) if loop.loop.closed]
        self._mechanism = Mechanism(tree, loops)
        self._drives = _drives(system, self._mechanism)
        self._require_closed()
        size = sizes(self._mechanism, q)
        own = np.zeros(0, dtype=bool) if touches is None else touches.holonomic
        self._row, self._velocity = np.concatenate([size.row, np.ones(len(own))]), np.ones(system.nv)
        self._velocity[self._mechanism.dofs] = size.velocity
        self._places = np.concatenate([self._mechanism.holonomic, own])
        Y = self._scaled(q, command)
        self._ranks = rank(Y), rank(Y[self._places])
        self.dependent = self._choose(Y, preferred)
        self.independent = [j for j in range(system.nv) if j not in self.dependent]
        self._closing = self._choose_closing(Y[self._places])
        self.displaced_along = [j for j in range(system.nv) if j not in self._closing]
        self.Z = self._basis(self._rows(q, command)[1], self._places, self.displaced_along, self._closing)
        self._require_regular()

    def displaced(self, xi: np.ndarray, command: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q(ξ) for a displacement ξ along J, and that along all velocities (nv,)."""
        whole = self.Z @ xi
        q = self._tree.moved(self.q, whole)
        for _ in range(_CORRECTIONS if self._closing else 0):
            r, Y = self._rows(q, command)
            correction = np.zeros(self.system.nv)
            correction[self._closing] = -self._solve(Y, r, self._places, self._closing)
            q = self._tree.moved(q, correction)
            whole = whole + correction
            if np.abs(correction).max() < _CLOSED:
                break
        return q, whole

    def basis(self, q: np.ndarray, command: np.ndarray) -> np.ndarray:
        """X(q) (nv, n)."""
        return self._basis(self._rows(q, command)[1], self._every, self.independent, self.dependent)

    def velocity(self, q: np.ndarray, v: np.ndarray, command: np.ndarray) -> np.ndarray:
        """All velocities (nv,) for independent ones (n,), with prescribed motions."""
        _, Y = self._rows(q, command)
        whole = self.basis(q, command) @ v
        whole[self.dependent] += self._solve(Y, self._prescribed(command), self._every, self.dependent)
        return np.asarray(whole)

    def extent(self) -> float:
        """Size of the mechanism, m."""
        return self._mechanism.extent(self.q) or 1.0

    def require_velocity(self, v: np.ndarray) -> None:
        """ArgumentError where v does not keep the loops closed."""
        _, Y = self._rows(self.q, self.command)
        rest = np.abs(Y @ v - self._prescribed(self.command))
        if rest.max(initial=0.0) > MOST_FAST * max(1.0, float(np.abs(v).max(initial=0.0))):
            worst = int(np.argmax(rest))
            if worst >= self._mechanism.count and self._touches is not None:
                raise ArgumentError(
                    f"with this v {self._touches.named(worst - self._mechanism.count)} move at {rest[worst]:.3g} m/s "
                    "where they touch and hold each other; give velocities at which they rest there, or roll."
                )
            name = self._loop_of(worst)
            raise ArgumentError(
                f"with this v loop '{name}' opens at {rest.max():.3g} (m/s or rad/s); limberjack.assemble(system, q, "
                "v) finds velocities that fit the loops."
            )

    def _rows(self, q: np.ndarray, command: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals, with prescribed positions, and rows over all velocities."""
        self._set_drives(command)
        r, Y = self._mechanism.evaluate(q)
        whole = np.zeros((len(Y), self.system.nv))
        whole[:, self._mechanism.dofs] = Y
        if self._touches is None:
            return r, whole
        change, held = self._touches.rows(q)
        return np.concatenate([r, change]), np.vstack([whole, held])

    @property
    def _every(self) -> np.ndarray:
        """All rows."""
        return np.arange(len(self._places))

    def _scaled(self, q: np.ndarray, command: np.ndarray) -> np.ndarray:
        """Rows over all velocities, both brought to order one (`ranks.py`)."""
        return np.asarray(self._row[:, None] * self._rows(q, command)[1] * self._velocity)

    def _solve(self, Y: np.ndarray, b: np.ndarray, rows: np.ndarray, dependent: list[int]) -> np.ndarray:
        """The dependent velocities for which some rows, which may be redundant, are those of b."""
        if not dependent:
            return np.zeros((0, *b.shape[1:]))
        row, size = np.diag(self._row[rows]), np.diag(self._velocity[dependent])
        return np.asarray(size @ np.linalg.lstsq(row @ Y[rows][:, dependent] @ size, row @ b[rows], rcond=NOISE)[0])

    def _basis(self, Y: np.ndarray, rows: np.ndarray, free: list[int], dependent: list[int]) -> np.ndarray:
        """The motions (nv, free) that some rows allow, one for each free velocity."""
        X = np.zeros((self.system.nv, len(free)))
        X[free] = np.eye(len(free))
        X[dependent] = -self._solve(Y, Y[:, free], rows, dependent)
        return X

    def _set_drives(self, command: np.ndarray) -> None:
        for drive in self._drives:
            self._mechanism.drives[drive.place] = command[drive.command : drive.command + 2]

    def _prescribed(self, command: np.ndarray) -> np.ndarray:
        """b: the rates of the rows that the prescribed motions ask for."""
        self._set_drives(command)
        return np.concatenate([self._mechanism.prescribed(), np.zeros(len(self._places) - self._mechanism.count)])

    def _choose(self, Y: np.ndarray, preferred: list[int]) -> list[int]:
        """Dependent velocities: those of embedded loops as the engine has them, those of others by pivoting."""
        given = [j for j in range(self.system.nv) if j not in preferred]
        left, chosen = Y.copy(), list[int]()
        for j in given:
            left = _without(left, j)
            chosen.append(j)
        count = self._ranks[0] - len(chosen)
        if count > 0:
            kept = _independent(left, count)
            chosen += dependent_columns([kept], [(0,)] * Y.shape[1], set(chosen))
        return sorted(chosen)

    def _choose_closing(self, Y: np.ndarray) -> list[int]:
        """E, of the dependent velocities: all of them where all rows hold positions."""
        count = self._ranks[1]
        if count == len(self.dependent):
            return self.dependent
        rows = _independent(Y, count) if count else Y[:0]
        return sorted(dependent_columns([rows], [(0,)] * Y.shape[1], set(self.independent)))

    def _require_closed(self) -> None:
        r, _ = self._rows(self.q, self.command)
        if np.abs(r).max(initial=0.0) > MOST_OPEN:
            worst = int(np.argmax(np.abs(r)))
            raise ArgumentError(
                f"at this q loop '{self._loop_of(worst)}' is open by {abs(r[worst]):.3g} (m or rad); "
                "limberjack.assemble(system, q) finds a position near it."
            )

    def _require_regular(self) -> None:
        """Beside a singular configuration the rows have a higher rank than in it."""
        size = self._velocity[self.displaced_along]
        direction = size * np.random.default_rng(0).normal(size=len(size))
        beside = _BESIDE if self._touches is None else _BESIDE_TOUCHES
        for step in (beside, -beside) if len(size) else ():
            q, _ = self.displaced(step * direction, self.command)
            r, _ = self._rows(q, self.command)
            Y = self._scaled(q, self.command)
            if np.abs(r).max(initial=0.0) > MOST_OPEN or (rank(Y), rank(Y[self._places])) != self._ranks:
                raise ArgumentError(
                    "the loops or touches are in a singular configuration: several motions begin here, and the "
                    "velocities cannot tell which one follows. Linearise at a state nearby."
                )

    def _loop_of(self, row: int) -> str:
        i = int(np.searchsorted(self._mechanism.starts, row, side="right")) - 1
        return self._mechanism.loops[i].loop.name


def _without(Y: np.ndarray, column: int) -> np.ndarray:
    """What rows say once this velocity is determined by one of them."""
    if not len(Y):
        return Y
    pivot = first_largest(np.abs(Y[:, column]))
    if abs(Y[pivot, column]) <= NOISE:
        return Y
    left = Y - np.outer(Y[:, column] / Y[pivot, column], Y[pivot])
    left[pivot], left[:, column] = 0.0, 0.0
    return np.asarray(left)


def _independent(Y: np.ndarray, count: int) -> np.ndarray:
    """So many orthonormal combinations of the rows, which span them."""
    return np.asarray(np.linalg.svd(Y)[2][:count])


def _as_held(loop: Closure, tree: Tree, system: System) -> Closure:
    """A switchable loop holds what was there when it closed, at the start."""
    if not loop.loop.switchable or loop.kind == LOCK:
        return loop
    held = held_data(loop, tree, system.q0)
    if loop.kind in (DISTANCE, COUPLING):
        return replace(loop, x=float(held[0]))
    return replace(loop, at_b=Pose(held[:9].reshape(3, 3), held[9:12]))


def _drives(system: System, mechanism: Mechanism) -> list[Drive]:
    """Prescribed motions of the loops of a mechanism."""
    found, command = [], sum(len(actuator.command_names) for actuator in system.actuators)
    places = {loop.loop.name: place for place, loop in enumerate(mechanism.loops)}
    for loop in system.loops:
        if loop.driven and loop.name in places:
            found.append(Drive(command + loop.switchable, places[loop.name]))
        command += len(loop.command_names)
    return found
