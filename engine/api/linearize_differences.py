"""`linearize` for models with closed loops or flexible bodies: small motions by differences.

States are displacements δξ along velocities J and changes δν of the independent velocities I
(`independent_motions.py`): q(ξ), v(ξ, ν). I and J are the same but for rolling loops and custom
cuts, and all velocities without loops.

    d(δξ)/dt = [δv - V₀ × Z δξ]_J
    [dv/dt; outputs] = G(q, v, τ, u),    δτ = -K δq - C δv + E δu

G is the engine itself on the model without what acts along its hinges: bodies and loops, which are smooth. Hinge
forces and drives, of which friction and stops are not, and the springs and dampers of modes enter by their own slopes
K, C, E, and forces are linear. In positions slopes are central differences of fourth order; in velocities everything is
quadratic, so that central differences of any step are exact. Forces of contacts, which are stiff and have edges, enter
by the slopes of their laws (`linearize_contacts.py`). What is left is rounding and STEP⁴ times a fifth
derivative: about 1e-11 of the largest slope where the mechanism is not near a singular configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from limberjack.engine.api.independent_motions import Mobility
from limberjack.engine.api.linearize_contacts import HeldTouches
from limberjack.engine.api.linearize_range import DeformationRange
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError, SimulationError
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.system import Body, Dof, System
from limberjack.engine.modes.modal import Integrals

#: N, beyond any thruster's force
_UNLIMITED = 1e30
#: step of the differences in positions, rad, or times the model's extent
STEP = 1e-3
#: what the differences are good to, as a share of the largest slope
ACCURACY = 1e-11
#: share of it in modal coordinates, which bend slender bodies far beyond the least of their moments of inertia
_MODAL = 0.1


@dataclass(frozen=True, eq=False)
class Slopes:
    """displaced : places of the m velocities that displacements go along; independent : of the n that are states
    seen (nv + ny, m + n + nu) : slopes of dv/dt and of the outputs in ξ, ν and the commands
    moved, rates (nv, m + n + nu) : those of the displacement along all velocities, and of the velocities
    """

    displaced: list[int]
    independent: list[int]
    seen: np.ndarray
    moved: np.ndarray
    rates: np.ndarray


def slopes(simulation: Simulation, touches: HeldTouches | None = None) -> Slopes:
    """All slopes at a simulation's state. touches : of its contacts; None: it has none

    Raises ArgumentError where the state does not fit the loops, or no tangent describes their motions.
    """
    system, q, v, u = simulation.system, simulation.q, simulation.v, simulation.command_vector
    preferred = [*range(system.nv)]
    if system.loops:
        preferred = simulation.dynamics.embedding(q, np.zeros(system.nv))[2]
    mobility = Mobility(system, q, u, preferred, touches)
    mobility.require_velocity(v)
    tau, nv = simulation.tau, system.nv
    engine = _Bare(system, mobility, touches)
    stiffness, damping, drives, _ = simulation.dynamics.force_slopes(simulation.state)
    extent = mobility.extent() if system.loops else _extent(simulation)
    share = min(1.0, _shortest(simulation) / extent)
    at = np.concatenate([np.zeros(len(mobility.displaced_along)), v[mobility.independent], _acting(system, u)])
    steps = engine.within_range(at, engine.steps(extent, _orbit(simulation) or extent, share))
    try:
        found = _columns(lambda x: engine.at(x, tau), at, steps)
        in_tau = _columns(lambda t: engine.at(at, t), tau, [(max(1.0, float(np.abs(tau).max())), False)] * nv)
    except SimulationError as error:
        raise ArgumentError(f"the accelerations have no slopes near this state: {error}") from None
    step, rate, seen = found[:nv], found[nv : 2 * nv], found[2 * nv :]
    forces = -stiffness[:, None] * step - damping[:, None] * rate
    forces[:, len(at) - len(u) :] += drives
    seen = seen + in_tau[2 * nv :] @ forces
    if not (np.all(np.isfinite(seen)) and np.all(np.isfinite(step))):
        raise ArgumentError(
            "the slopes leave the range of float64: the arguments, or the sensors' values, are too large."
        )
    return Slopes(mobility.displaced_along, mobility.independent, seen, step, rate)


class _Bare:
    """The model without springs, dampers, friction, stops and drives, under given forces."""

    def __init__(self, system: System, mobility: Mobility, touches: HeldTouches | None) -> None:
        self._system, self._mobility, self._touches = system, mobility, touches
        self._m, self._n = len(mobility.displaced_along), len(mobility.independent)
        self._commanded = _thrusts(system, mobility.command)
        self._drives = sum(len(actuator.command_names) for actuator in system.actuators)
        drives = tuple(Actuator(name, name) for name in system.velocity_names)
        bodies = tuple(map(_without_forces, system.bodies))
        thrusters = tuple(replace(each, thrust=_UNLIMITED, minimum=-_UNLIMITED) for each in system.thrusters)
        self._simulation = Simulation(replace(system, bodies=bodies, actuators=drives, thrusters=thrusters))

    def at(self, x: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """[displacement along the velocities, v, dv/dt, outputs] for x = [ξ; ν; commands] and forces tau (nv,)."""
        m, n, sim = self._m, self._n, self._simulation
        u = x[m + n :]
        q, step = self._mobility.displaced(x[:m], u)
        v = self._mobility.velocity(q, x[m : m + n], u)
        sim.part("q")[:], sim.part("v")[:] = q, v
        sim.command_vector = np.concatenate([tau, u[self._drives :]])
        if self._touches is not None:
            self._touches.put(sim)
        return np.concatenate([step, v, sim.vdot, sim.output_vector])

    def steps(self, extent: float, orbit: float, share: float) -> list[tuple[float, bool]]:
        """Step of the differences in each of x, and whether it needs the fourth order; extent: of the model, m; orbit:
        size of distances from the ground, m; share: of the usual steps in positions."""
        sizes = [
            size
            for body in self._system.bodies
            for size in _sizes(body, orbit if body.hinge.parent is None else extent)
        ]
        listed = [(share * STEP * sizes[j], True) for j in self._mobility.displaced_along]
        listed += [(1.0, False)] * self._n + [(0.0, False)] * self._drives
        others = sum(len(element.command_names) for element in self._system.elements)
        return listed + self._loop_steps(extent) + self._thrust_steps() + [(1.0, False)] * others

    def within_range(self, x: np.ndarray, steps: list[tuple[float, bool]]) -> list[tuple[float, bool]]:
        """The steps about x, those in positions cut to shares of what flexible bodies bear."""
        sim = self._simulation
        motions = self._mobility.basis(self._mobility.q, self._mobility.command)
        bearable = DeformationRange(self._system, self._mobility.q, sim.dynamics.mass_matrix, motions)
        found = []
        for i, (h, fourth) in enumerate(steps):
            if fourth:
                displaced = partial(self._displaced, x, i)
                h = h * STEP * bearable.share(displaced(h), 1.0 / STEP)
                if self._touches is not None and i < self._m:
                    h = self._touches.largest_step(self._mobility.Z[:, i], h, displaced)
            found.append((h, fourth))
        return found

    def _displaced(self, x: np.ndarray, i: int, h: float) -> np.ndarray:
        """q where the i-th of x is h more."""
        moved = x.copy()
        moved[i] += h
        return self._mobility.displaced(moved[: self._m], moved[self._m + self._n :])[0]

    def _thrust_steps(self) -> list[tuple[float, bool]]:
        """Those of the thrusters' commands: none outside of their limits."""
        return [
            (1.0 if thruster.minimum <= force <= thruster.thrust else 0.0, False)
            for thruster, force in zip(self._system.thrusters, self._commanded)
        ]

    def _loop_steps(self, extent: float) -> list[tuple[float, bool]]:
        """Those of the loops' commands; a truth value has no slope."""
        listed: list[tuple[float, bool]] = []
        for loop in self._system.loops:
            listed += [(0.0, False)] * loop.switchable
            if loop.driven:
                listed += [(STEP * (1.0 if loop.type == "coupling" else extent), True), (1.0, False), (1.0, False)]
        return listed


def _thrusts(system: System, u: np.ndarray) -> np.ndarray:
    """The commands of the thrusters, behind those of drives and loops."""
    return u[_first_thrust(system) :][: len(system.thrusters)]


def _first_thrust(system: System) -> int:
    drives = sum(len(actuator.command_names) for actuator in system.actuators)
    return drives + sum(len(loop.command_names) for loop in system.loops)


def _acting(system: System, u: np.ndarray) -> np.ndarray:
    """The commands with those of thrusters as the forces that they give."""
    forces = [
        min(force, thruster.thrust) if force >= thruster.minimum else 0.0
        for thruster, force in zip(system.thrusters, _thrusts(system, u))
    ]
    first = _first_thrust(system)
    return np.concatenate([u[:first], forces, u[first + len(forces) :]])


def _extent(simulation: Simulation) -> float:
    """Size of its smaller bodies, m: a tenth of the distance between nodes on one axis, 1 for those in one place."""
    dynamics, q = simulation.dynamics, simulation.q
    places = np.array([dynamics.pose(name, q)[1] for name in simulation.system.node_names])
    return 0.1 * float(np.ptp(places, axis=0).max(initial=0.0)) or 1.0


def _shortest(simulation: Simulation) -> float:
    """The least distance between two nodes along which an element acts, m; infinite without such elements."""
    dynamics, q = simulation.dynamics, simulation.q
    pairs = [each.nodes for each in simulation.system.elements if each.ALONG]
    return min(
        (float(np.linalg.norm(dynamics.pose(b, q)[1] - dynamics.pose(a, q)[1])) for a, b in pairs), default=np.inf
    )


def _orbit(simulation: Simulation) -> float:
    """Distance of the first body from the centre of a field, m, over which that changes; 0 where there is none.

    Loops may tie a model to the ground: it is then not moved so far.
    """
    system = simulation.system
    if system.central is None or system.loops:
        return 0.0
    _, place = simulation.dynamics.pose(system.bodies[0].name, simulation.q)
    return float(np.linalg.norm(place - system.central.position))


def _sizes(body: Body, extent: float) -> list[float]:
    """Displacements along the velocities of a hinge that change the model as one radian does."""
    hinge = body.hinge
    if hinge.modes is not None:
        return _modal_sizes(hinge.modes)
    return [1.0 if turning else extent for turning in hinge.kind.angular or (True,) * hinge.nv]


def _modal_sizes(modes: Integrals) -> list[float]:
    """Modal coordinates that turn a node by one radian, or change the body's inertia as much as it is."""
    inertia, sizes = float(np.trace(modes.J0)), list[float]()
    for r in range(len(modes.Mff)):
        turning = [float(np.linalg.norm(node.Pr[:, r])) for node in modes.attachments]
        swelling = max(abs(float(np.trace(modes.J2[r, r]))), 1.0)  # unit modal mass
        slope = max([*turning, float(np.sqrt(swelling / inertia)) if inertia > 0.0 else 0.0])
        sizes.append(_MODAL / slope if slope > 0.0 else _MODAL)
    return sizes


def _without_forces(body: Body) -> Body:
    """Only the rotors' inertia is left of what acts along its hinge."""
    dofs = tuple(Dof(armature=dof.armature) for dof in body.hinge.dofs)
    return replace(body, hinge=replace(body.hinge, dofs=dofs))


def _columns(
    function: Callable[[np.ndarray], np.ndarray], x: np.ndarray, steps: Iterable[tuple[float, bool]]
) -> np.ndarray:
    """Slopes of a function, a column for each of x; zero for a step of zero."""
    columns = [_slope(function, x, i, h, fourth) for i, (h, fourth) in enumerate(steps)]
    return np.column_stack([np.zeros((len(function(x)), 0)), *columns])


def _slope(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray, i: int, h: float, fourth: bool) -> np.ndarray:
    """(8 (f(h) - f(-h)) - f(2h) + f(-2h)) / 12 h, or (f(h) - f(-h)) / 2 h."""

    def at(step: float) -> np.ndarray:
        moved = x.copy()
        moved[i] += step
        return function(moved)

    if h == 0.0:
        return np.zeros_like(function(x))
    central = (at(h) - at(-h)) / (2.0 * h)
    if not fourth:
        return np.asarray(central)
    wide = (at(2.0 * h) - at(-2.0 * h)) / (4.0 * h)
    return np.asarray((4.0 * central - wide) / 3.0)
