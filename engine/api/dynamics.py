"""`Dynamics`: the equations of motion of a System as functions of q, v and forces.

    M(q) dv/dt + bias(q, v) = tau + Σ J* f_external

Only the bodies, gravity, rotors of constant momentum and reflected rotor inertia count here; springs, dampers,
friction and stops (see `passive` for their forces), actuators and thrusters act in `Simulation`.

With closed loops the coordinates and velocities stay those of the tree of bodies, of full size. `forward` gives the
accelerations of all of them with the loops closed, `loop_forces` what the loops pass, `minimal` the equations in
independent velocities; all else here is of the tree, as if its loops were cut. Loops that can be switched are as they
are at the start, and prescribed motions stand still.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.algebra.array_views import total
from limberjack.engine.api.deformation_range import deformed_too_far
from limberjack.engine.api.minimal_dynamics import MOST_OPEN, External, MinimalDynamics
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.compile.library import Call
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model import arguments as model_arguments
from limberjack.engine.model.build import build
from limberjack.engine.model.flexible import modes_of
from limberjack.engine.model.loops.fill import first_switches
from limberjack.engine.model.loops.wrenches import in_axes
from limberjack.engine.model.plant import aligned_zeros, split
from limberjack.engine.model.system import Loop, System
from limberjack.engine.tables.loops import L_GROUP, L_ROWS, R_RESIDUAL
from limberjack.engine.tables.plant import C_BODIES, D_REST, D_STIFFNESS, DI_Q, NV, S_Q, VI, work_sections
from limberjack.engine.tables.slopes import slope_sections


class Dynamics:
    """Dynamics of one System.

    system : from `limberjack.load`
    q (nq,), v (nv,), vdot (nv,) : coordinates, velocities and accelerations, in rad, m, rad/s, m/s, rad/s², m/s²
    tau (nv,) : generalized forces along the velocities, N·m or N
    external : forces at nodes, {node: [moment; force]} or (nodes, 6), N·m and N, inertial axes; None: none
    node : name of a body or node
    state (n,) : a State vector of a Simulation, SI

    Every argument is checked for shape, type and finiteness (ArgumentError); every result is a fresh array.
    Forces and velocities at nodes are [angular; linear] in inertial axes, taken at the node's origin.
    """

    def __init__(self, system: System) -> None:
        self.system = model_arguments.system_of(system)
        self._lock = threading.RLock()
        self.plant = build(system)
        self._work = self.plant.new_work()
        self._scratch = split(self._work, work_sections(self.plant.ints))
        self._scratch["switch"][:] = first_switches(system)
        self._no_rates = np.zeros(system.nv)
        self._calls: dict[str, Call] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: other dynamics of the same model with the same parameters."""
        return Dynamics, (self.system,), self.plant.floats.copy()

    def __setstate__(self, floats: np.ndarray) -> None:
        self.plant.floats[:] = floats

    def forward(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: External = None) -> np.ndarray:
        """Accelerations dv/dt (nv,), O(N) articulated bodies, with the forces that keep closed loops closed.

        q (nq,), v (nv,), tau (nv,) N·m or N; external: {node: [moment; force]} or (nodes, 6), inertial axes.
        """
        q, v, tau = self._q(q), self._v("v", v), self._v("tau", tau)
        out = np.full(self.system.nv, np.nan)
        with self._lock:
            acts = self._spread(q, external)
            self._call("forward_dynamics", q, v, tau, acts, out)
        self._finite_accelerations(q, out)
        return out

    def inverse(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, external: External = None) -> np.ndarray:
        """Generalized forces tau (nv,) that give the accelerations vdot (nv,), O(N) Newton-Euler."""
        q, v, vdot = self._q(q), self._v("v", v), self._v("vdot", vdot)
        out = np.full(self.system.nv, np.nan)
        with self._lock:
            acts = self._spread(q, external)
            self._call("inverse_dynamics", q, v, vdot, acts, out)
        return _in_range(out, "the generalized forces")

    def loop_forces(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, external: External = None
    ) -> dict[str, np.ndarray | float]:
        """What each closed loop passes while `forward` is the motion, by name; 0 for an open one.

        Of a loop that joins frames [moment; force] (6,), N·m and N, on the second frame's body, at that frame's origin
        in the axes of the first; else the force along what it holds, N·m or N: a number, or for a lock of several
        velocities one each. Where loops share what they hold, those by force carry the least together.
        """
        q, v, tau = self._q(q), self._v("v", v), self._v("tau", tau)
        out = np.full((len(self.system.loops), 6), np.nan)
        with self._lock:
            acts = self._spread(q, external)
            self._call("loop_forces", q, v, tau, acts, out)
        _in_range(out, "the forces of the loops")
        counts = self.plant.sections["loop_int"][:, L_ROWS]
        return {
            loop.name: in_axes(loop, row) if loop.joins else _along(loop, row[:count])
            for loop, row, count in zip(self.system.loops, out, counts, strict=True)
        }

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """Mass matrix M (nv, nv), symmetric, by composite bodies."""
        nv = self.system.nv
        out = aligned_zeros(nv * nv).reshape(nv, nv)
        self._evaluate("mass_matrix", self._q(q), out)
        return _in_range(out, "the mass matrix")

    def bias(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Coriolis, gyroscopic and gravity forces (nv,): M dv/dt + bias = tau."""
        return self.inverse(q, v, self._no_rates)

    def forward_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Derivatives of `forward` along q, in v and in tau: three (nv, nv), the last M⁻¹. O(N²), analytic.

        Column j of the first is the rate of dv/dt while the coordinates move with velocity j at one unit: the partial
        derivative where v is the rate of q; for free and spherical hinges along δR = R δθ~, δp = R δx in body axes.

        Raises ArgumentError for a model with flexible bodies or with loops, of which single coordinates cannot move by
        themselves.
        """
        model_arguments.with_slopes(self.system, "forward_derivatives", loops=False)
        q, v, tau = self._q(q), self._v("v", v), self._v("tau", tau)
        out = np.full((3, self.system.nv, self.system.nv), np.nan)
        with self._lock:
            self._derive(v, self.forward(q, v, tau), self._no_rates, self._no_rates, out)
        _in_range(out, "the derivatives of the accelerations")
        return out[0], out[1], out[2]

    def inverse_derivatives(self, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of `inverse` along q and in v, two (nv, nv); that in vdot is the mass matrix. O(N²), analytic.

        Columns are those of `forward_derivatives`. Raises ArgumentError for a model with flexible bodies.
        """
        model_arguments.with_slopes(self.system, "inverse_derivatives")
        q, v, vdot = self._q(q), self._v("v", v), self._v("vdot", vdot)
        out = np.full((2, self.system.nv, self.system.nv), np.nan)
        with self._lock:
            self.inverse(q, v, vdot)
            self._derive(v, vdot, self._no_rates, self._no_rates, out)
        _in_range(out, "the derivatives of the generalized forces")
        return out[0], out[1]

    @cached_property
    def minimal(self) -> MinimalDynamics:
        """The equations of motion in the independent velocities that embedded loops leave."""
        return MinimalDynamics(self)

    def embedding(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[int]]:
        """For `minimal`: X (nv, n_R), Ẋ v_R (nv,), and the places of the n_R independent velocities.

        Raises ArgumentError where an embedded loop is open at q.
        """
        nv = self.system.nv
        X, rate, pick = np.zeros((nv, nv)), np.zeros(nv), np.zeros(nv)
        with self._lock:
            self._call("embedding", q, v, X, rate, pick)
            self._require_closed()
        independent = [j for j in range(nv) if pick[j] > 0.0]
        return _in_range(X[:, independent], "X"), _in_range(rate, "the rates of X"), independent

    def _require_closed(self) -> None:
        """ArgumentError that names the embedded loop that is open the most, if one is, at what was just embedded."""
        worst, most = "", MOST_OPEN
        for loop, row, work in zip(self.system.loops, self.plant.sections["loop_int"], self._scratch["row_work"]):
            rest = float(np.abs(work[R_RESIDUAL : R_RESIDUAL + row[L_ROWS]]).max(initial=0.0))
            if row[L_GROUP] >= 0 and not rest <= most:
                worst, most = loop.name, rest
        if worst:
            raise ArgumentError(
                f"at this q loop '{worst}' is open by {most:.3g} (m or rad), so q is not a position of the mechanism. "
                "`limberjack.assemble` finds one near it."
            )

    def at_state(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """For `linearize`: -∂τ/∂q, -∂τ/∂v (nv,), ∂τ/∂command (nv, nu) of hinge and actuator forces at a State vector
        and (3, nv, nv) derivatives of the accelerations under them."""
        nv, out = self.system.nv, np.full((3, self.system.nv, self.system.nv), np.nan)
        with self._lock:
            stiffness, damping, drives, vdot = self.force_slopes(state)
            v = state[S_Q + self.system.nq : S_Q + self.system.nq + nv]
            self._derive(v, vdot, stiffness, damping, out)
        return stiffness, damping, drives, _in_range(out, "the derivatives")

    def force_slopes(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """For `linearize`: -∂τ/∂q, -∂τ/∂v (nv,), ∂τ/∂command (nv, nu) of hinge and actuator forces at a State vector,
        and the accelerations (nv,) there."""
        nv, nu = self.system.nv, len(self.system.command_names)
        forces = np.full((4 + nu) * nv, np.nan)
        self._evaluate("force_slopes", state, forces)
        _, stiffness, damping, vdot = forces[: 4 * nv].reshape(4, nv)
        self._finite_accelerations(state[S_Q : S_Q + self.system.nq], vdot)
        return stiffness, damping, forces[4 * nv :].reshape(nv, nu), vdot

    def output_slopes(self, outputs: int) -> np.ndarray:
        """`derivatives.outputs.output_slopes_entry` after `at_state`: (3, outputs, nv)."""
        out = np.empty((3, outputs, self.system.nv))
        self._evaluate("output_slopes", self._slopes, out.reshape(-1))
        return out

    def _derive(
        self, v: np.ndarray, vdot: np.ndarray, stiffness: np.ndarray, damping: np.ndarray, out: np.ndarray
    ) -> None:
        """`derivatives.forward.slopes_entry` on what the dynamics just left in Work; out (2 or 3, nv, nv)."""
        self._call("slopes", self._slopes, v, vdot, stiffness, damping, int(len(out) == 3), out.reshape(-1))

    @cached_property
    def _slopes(self) -> np.ndarray:
        """Scratch of the derivatives, of the order of 3 nv² numbers."""
        return aligned_zeros(total(slope_sections(self.plant.count(C_BODIES), self.system.nv)))

    def pose(self, node: str, q: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Rotation R (3, 3), node to inertial axes, and position p (3,) m, of a body or node."""
        out = np.empty(12)
        self._evaluate("node_pose", self._q(q), self._node(node), out)
        _in_range(out, "the pose")
        return out[:9].reshape(3, 3).copy(), out[9:].copy()

    def velocity(self, node: str, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """[ω; v of the node's origin] (6,) rad/s, m/s, inertial axes."""
        return self._motion(node, q, v, self._no_rates)[:6]

    def acceleration(self, node: str, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> np.ndarray:
        """[dω/dt; classical acceleration of the node's origin] (6,) for accelerations vdot, inertial axes."""
        return self._motion(node, q, v, vdot)[6:]

    def jacobian(self, node: str, q: ArrayLike) -> np.ndarray:
        """J (6, nv): velocity(node) = J v."""
        out = np.zeros((6, self.system.nv))
        self._evaluate("jacobian", self._q(q), self._node(node), out)
        return _in_range(out, "the Jacobian")

    def jacobian_rate(self, node: str, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """(dJ/dt) v (6,): acceleration(node) = J dv/dt + jacobian_rate."""
        return self._motion(node, q, v, self._no_rates)[6:]

    def center_of_mass(self, q: ArrayLike) -> np.ndarray:
        """Position (3,) m of the centre of mass of all moving bodies, inertial axes."""
        out = self._totals(q, self._no_rates)
        if out[11] <= 0.0:
            raise ArgumentError("the model has no moving mass, so it has no centre of mass.")
        return np.asarray(out[8:11] / out[11])

    def momentum(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """[angular; linear] momentum (6,) about the inertial origin, N·m·s and N·s."""
        return self._totals(q, v)[2:8].copy()

    def energy(self, q: ArrayLike, v: ArrayLike) -> tuple[float, float]:
        """Kinetic and potential energy, J, of all moving bodies; potential is −g · (mass × centre of mass), and in a
        central field that of `engine/kernels/forces/body_forces.py`.

        `strain_energy` is not in it, as no spring is.
        """
        out = self._totals(q, v)
        return float(out[0]), float(out[1])

    def strain_energy(self, q: ArrayLike) -> dict[str, float]:
        """Flexible body → strain energy ½ Σ k (η - rest)², J."""
        q, sections, found = self._q(q), self.plant.sections, {}
        for body in self.system.flexible_names:
            row, _ = self.plant.hinge_rows[modes_of(body)]
            first, count = (int(sections["topo"][row - 1, column]) for column in (VI, NV))
            modes = slice(first, first + count)
            x = q[sections["dof_int"][modes, DI_Q]] - sections["dof"][modes, D_REST]
            found[body] = float(0.5 * sections["dof"][modes, D_STIFFNESS] @ x**2)
        return found

    def reaction(
        self, hinge: str, q: ArrayLike, v: ArrayLike, vdot: ArrayLike, external: External = None
    ) -> np.ndarray:
        """[moment; force] (6,) that a hinge passes from its parent to its body, at O in the hinge's outboard axes.

        A merged fixed hinge has none: write ``merge: false`` at the hinge, or load with ``merge=False``, to keep it.
        """
        row, R = self._hinge(hinge)
        out = np.empty(6)
        with self._lock:
            self.inverse(q, v, vdot, external)
            entries().hinge_force(self.plant.ints, self._work, row, out)
        return np.concatenate([R.T @ out[:3], R.T @ out[3:]])

    def passive(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        """Forces (nv,) of springs, dampers, friction and stops, as `Simulation` applies them."""
        out = np.full(self.system.nv, np.nan)
        self._evaluate("passive_forces", self._q(q), self._v("v", v), out)
        return _in_range(out, "the passive forces")

    def _q(self, q: ArrayLike) -> np.ndarray:
        return model_arguments.coordinates(self.system, q)

    def _v(self, name: str, value: ArrayLike) -> np.ndarray:
        return arguments.vector(name, value, (self.system.nv,))

    def _node(self, name: str) -> int:
        return arguments.index_of("body or node", name, self.system.node_names)

    def _hinge(self, name: str) -> tuple[int, np.ndarray]:
        names = [body.hinge.name for body in self.system.bodies]
        if name in names and name not in self.plant.hinge_rows:
            raise ArgumentError(
                f"hinge '{name}' is fixed and merged into its parent, so its reaction is not computed; "
                "write 'merge: false' at the hinge, or load the model with merge=False."
            )
        arguments.index_of("hinge", name, names)
        return self.plant.hinge_rows[name]

    def _spread(self, q: np.ndarray, external: External) -> bool:
        if external is None:
            return False
        table = model_arguments.wrenches(self.system, external)
        self._call("spread_wrenches", q, table)
        return True

    def _finite_accelerations(self, q: ArrayLike, vdot: np.ndarray) -> None:
        """ArgumentError that names the velocity of the first acceleration that is NaN or infinite."""
        bad = np.nonzero(~np.isfinite(vdot))[0]
        if bad.size:
            raise ArgumentError(
                f"the accelerations are not finite at '{self.system.velocity_names[bad[0]]}': the mass matrix is "
                "singular there, or the arguments are too large; give massless bodies mass or armature, and keep a "
                f"gimbal's middle angle off ±90 degrees.{deformed_too_far(self.system, self._q(q), self.mass_matrix)}"
            )

    def _motion(self, node: str, q: ArrayLike, v: ArrayLike, vdot: ArrayLike) -> np.ndarray:
        out = np.empty(12)
        q, v, vdot = self._q(q), self._v("v", v), self._v("vdot", vdot)
        self._evaluate("node_motion", q, v, vdot, self._node(node), out)
        return _in_range(out, "the motion")

    def _totals(self, q: ArrayLike, v: ArrayLike) -> np.ndarray:
        out = np.empty(12)
        self._evaluate("totals", self._q(q), self._v("v", v), out)
        return _in_range(out, "energy or momentum")

    def _evaluate(self, entry: str, *rest: object) -> None:
        """One compiled call; the scratch vector belongs to one thread at a time."""
        with self._lock:
            self._call(entry, *rest)

    def _call(self, entry: str, *rest: object) -> None:
        """An entry on the model, while the lock is held."""
        if entry not in self._calls:
            model = self.plant.ints, self.plant.floats, self._work
            self._calls[entry] = getattr(entries(), entry).bind(*model, *(None for _ in rest))
        self._calls[entry](*rest)


def _along(loop: Loop, forces: np.ndarray) -> np.ndarray | float:
    """Forces of a coupling or a lock; a coupling has one, also where its row follows from others and is not kept."""
    if loop.type == "coupling":
        return float(forces.sum())
    return float(forces[0]) if len(forces) == 1 else forces.copy()


def _in_range(values: np.ndarray, what: str) -> np.ndarray:
    """`values`; ArgumentError if they left the range of float64."""
    if not np.all(np.isfinite(values)):
        raise ArgumentError(f"{what} leave the range of float64: the arguments are too large.")
    return values
