"""`linearize`: the state-space model of small motions about a state, from the analytic derivatives of the engine.

State x = [δq; δv]. δq (nv,) is a displacement along the velocities: the change of the coordinate where a velocity is
its rate; for free and spherical hinges the rotation vector δθ, R = R₀ exp(δθ~), and the displacement δp = R₀ δx, both
in the axes of the body. Then

    d(δq)/dt = δv - V₀ × δq   (the product of motions across the hinge; zero where v is the rate of q)
    d(δv)/dt = ∂(dv/dt)/∂q δq + ∂(dv/dt)/∂v δv + M⁻¹ ∂τ/∂u δu

with springs, dampers, friction, stops and actuators as `Simulation` has them, each at its slope there.

With closed loops δq and δv are along the independent velocities only, n_R of them, and the loops give the rest. Rolling
loops and custom cuts hold velocities and leave positions free: there are then more δq than δv. Shapes that touch at the
state go on to touch, by the slopes of their law, and no others (`linearize_contacts.py`); those that are nearly rigid
or stick hold velocities, as loops do (`linearize_held.py`). With contacts, loops,
flexible bodies, elements or sensors without a closed form the slopes are central differences
(`linearize_differences.py`), good to about 1e-11 of the largest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from limberjack.engine.api import linearize_differences
from limberjack.engine.api.linear_model import LinearModel
from limberjack.engine.api.linearize_contacts import HeldTouches
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.model import arguments as model_arguments
from limberjack.engine.model.catalogue.catalogue import units as units_of
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.flexible import modes_of
from limberjack.engine.model.system import Hinge, System
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.sensor_types import CLOSED_FORMS, SENSOR_TYPES

#: the names of δq beside a hinge's quasi-velocities
_DISPLACEMENTS = {"wx": "rx", "wy": "ry", "wz": "rz", "vx": "x", "vy": "y", "vz": "z"}
#: part of [V₀ × δq] that a custom map may leave out, relative
_CLOSED = 1e-9


def linearize(
    system: System,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    *,
    command: Mapping[str, float] | ArrayLike | None = None,
) -> LinearModel:
    """A, B, C, D of small motions about a state, with names, units, poles and modes.

    Parameters
    ----------
    system : from `limberjack.load`
    q (nq,), v (nv,) : the state, SI; the model's initial one by default. It need not be an equilibrium: the result
        has its rate there. Away from rest A belongs to this instant of the motion.
    tau (nv,) : N·m or N along the velocities, beside the hinges' own springs, dampers, friction and stops; the inputs
        are then these forces, and actuators and thrusters are left out, with their sensors
    command : without tau, the actuators' commands, SI, by name or (nu,), the initial ones by default; the inputs are
        then the commands. A model without actuators and thrusters is taken with tau = 0.

    Outputs are the model's sensors, ideal ones in the place of instruments; the state itself where it has none. Loops
    that can be switched are as they are at the start; the commands that switch them have no slope.

    Raises ArgumentError for arguments of the wrong shape, a singular mass matrix, both tau and command, or motion
    across a custom hinge whose map is not closed under V₀ × (linearise such a hinge at rest); with closed loops also
    for q or v at which one is not closed, and a singular configuration; with contacts where shapes
    that are nearly rigid or stick move against each other, or are about to part or slide.
    """
    model_arguments.system_of(system)
    if tau is not None and command is not None:
        raise ArgumentError("both tau and command are given; the inputs are one or the other.")
    if tau is None and command is None and not (system.actuators or system.thrusters or system.elements):
        tau = np.zeros(system.nv)
    if tau is not None:
        system = _driven_by_forces(system, arguments.vector("tau", tau, (system.nv,)))
    simulation = Simulation(_without_states_of_devices(system))
    if q is not None:
        simulation.q = q
    if v is not None:
        simulation.v = v
    if isinstance(command, Mapping):
        simulation.command.update(command)
    elif command is not None:
        simulation.command_vector = command
    return _model(simulation)


def _without_states_of_devices(system: System) -> System:
    """The same with ideal sensors and thrusters; ArgumentError for motors, whose currents are not small motions."""
    for actuator in system.actuators:
        if actuator.motor is not None:
            raise ArgumentError(
                f"actuator '{actuator.name}' has a motor with states of its own, which a linear model of small motions "
                "does not have; linearise the model without its motors, or give tau."
            )
    sensors = tuple(replace(sensor, errors=None) for sensor in system.sensors)
    thrusters = tuple(replace(thruster, delay=0.0, minimum_pulse=0.0) for thruster in system.thrusters)
    return replace(system, sensors=sensors, thrusters=thrusters)


def _driven_by_forces(system: System, tau: np.ndarray) -> System:
    """The same with one torque drive for each velocity in place of its actuators and thrusters."""
    names = system.velocity_names
    drives = tuple(Actuator(name, name, initial=float(force)) for name, force in zip(names, tau, strict=True))
    sensors = tuple(each for each in system.sensors if SENSOR_TYPES[each.type].target not in ("motor", "thruster"))
    return replace(system, actuators=drives, thrusters=(), sensors=sensors)


def _model(simulation: Simulation) -> LinearModel:
    system, v = simulation.system, simulation.v
    elements = system.thrusters or system.rotors or system.elements or system.central is not None
    deformed = any(body.hinge.modes is not None for body in system.bodies)
    plain = not (system.contacts or system.loops or elements or deformed)
    if not plain or any(sensor.type not in CLOSED_FORMS for sensor in system.sensors):
        return _model_by_differences(simulation)
    nv, nu = system.nv, len(system.command_names)
    stiffness, damping, drives, slopes = simulation.dynamics.at_state(simulation.state)
    seen = simulation.dynamics.output_slopes(len(simulation.output_names))
    A = np.block([[_kinematics(system, v), np.eye(nv)], [slopes[0], slopes[1]]])
    B = np.vstack([np.zeros((nv, nu)), slopes[2] @ drives])
    C, D = np.hstack([seen[0], seen[1]]) + seen[2] @ A[nv:], seen[2] @ B[nv:]
    _plain_sensors(simulation, stiffness, damping, drives, C, D)
    states, units = _states(system)
    outputs, output_units, y = simulation.output_names, simulation.output_units, simulation.output_vector
    if not system.sensors:
        outputs, output_units, y = states, units, np.concatenate([np.zeros(nv), v])
        C, D = np.eye(2 * nv), np.zeros((2 * nv, nu))
    return LinearModel(
        A, B, C, D, states, system.command_names, outputs, units, units_of(system, "command"), output_units,
        system.name, simulation.q, v, simulation.command_vector, simulation.vdot, y,
    )  # fmt: skip


def _model_by_differences(simulation: Simulation) -> LinearModel:
    """The same with closed loops, whose states are along the independent velocities, or flexible bodies."""
    system, touches = simulation.system, HeldTouches(simulation) if simulation.system.contacts else None
    if touches is not None:
        touches.put(simulation)
        touches.settle()
    found = linearize_differences.slopes(simulation, touches)
    along, own, nv = found.displaced, found.independent, system.nv
    _strain_rows(simulation, found.moved, found.seen[nv:])
    n, nu = len(along) + len(own), len(system.command_names)
    slopes = np.vstack([(_kinematics(system, simulation.v) @ found.moved + found.rates)[along], found.seen[own]])
    A, B = slopes[:, :n], slopes[:, n:]
    C, D = found.seen[nv:, :n], found.seen[nv:, n:]
    names, all_units = _states(system)
    places = [*along, *(nv + j for j in own)]
    states, units = tuple(names[i] for i in places), tuple(all_units[i] for i in places)
    v, vdot = simulation.v[along], simulation.vdot[own]
    outputs, output_units, y = simulation.output_names, simulation.output_units, simulation.output_vector
    if not system.sensors:
        outputs, output_units, y = states, units, np.concatenate([np.zeros(len(along)), simulation.v[own]])
        C, D = np.eye(n), np.zeros((n, nu))
    return LinearModel(
        A, B, C, D, states, system.command_names, outputs, units, units_of(system, "command"), output_units,
        system.name, simulation.q, v, simulation.command_vector, vdot, y, linearize_differences.ACCURACY,
    )  # fmt: skip


def _parts(system: System) -> list[tuple[Hinge, int, int]]:
    """(hinge, first coordinate, first velocity)."""
    found, i, j = [], 0, 0
    for body in system.bodies:
        found.append((body.hinge, i, j))
        i, j = i + body.hinge.kind.nq, j + body.hinge.nv
    return found


def _map(hinge: Hinge) -> np.ndarray:
    """H* (6, nv) of a hinge with quasi-velocities."""
    return hinge.map if hinge.map is not None else np.eye(6)[:, : hinge.nv]


def _kinematics(system: System, v: np.ndarray) -> np.ndarray:
    """∂(d(δq)/dt)/∂δq: -V₀ × of each hinge with quasi-velocities."""
    out = np.zeros((system.nv, system.nv))
    for hinge, _, j in _parts(system):
        if hinge.kind.quasi:
            own = slice(j, j + hinge.nv)
            out[own, own] = -_product(hinge, v[own])
    return out


def _product(hinge: Hinge, v: np.ndarray) -> np.ndarray:
    """[V₀ ×] (nv, nv) along the velocities of a hinge."""
    H = _map(hinge)
    w, u = H[:3] @ v, H[3:] @ v
    moved = np.vstack([np.cross(w, H[:3].T).T, np.cross(w, H[3:].T).T + np.cross(u, H[:3].T).T])
    found, *_ = np.linalg.lstsq(H, moved, rcond=None)
    left = np.abs(H @ found - moved).max(initial=0.0)
    if left > _CLOSED * np.abs(moved).max(initial=0.0):
        raise ArgumentError(
            f"hinge '{hinge.name}' moves, and its map is not closed under products of motions, so that {hinge.nv} "
            "displacements do not describe small motions about that; linearise with this hinge at rest."
        )
    return np.asarray(found)


def _coordinate_map(simulation: Simulation) -> np.ndarray:
    """∂q/∂δq (nq, nv): the rates of the coordinates for each velocity at one unit."""
    system, plant = simulation.system, simulation.plant
    state, out = simulation.state, np.zeros((system.nv, system.nq))
    v = state[layout.S_Q + system.nq : layout.S_Q + system.nq + system.nv]
    for j in range(system.nv):
        v[:] = 0.0
        v[j] = 1.0
        entries().rates(plant.ints, plant.floats, state, out[j])
    return out.T


def _plain_sensors(
    simulation: Simulation,
    stiffness: np.ndarray,
    damping: np.ndarray,
    drives: np.ndarray,
    C: np.ndarray,
    D: np.ndarray,
) -> None:
    """Rows of sensors that read a coordinate, a velocity or a force along it."""
    system, at = simulation.system, 0
    nv = system.nv
    coordinates = _coordinate_map(simulation)
    for sensor in system.sensors:
        if sensor.type == "position":
            C[at, :nv] = coordinates[system.coordinate_names.index(sensor.target)]
        elif sensor.type in ("rate", "effort"):
            j = system.velocity_names.index(sensor.target)
            if sensor.type == "rate":
                C[at, nv + j] = 1.0
            else:
                C[at, j], C[at, nv + j], D[at] = -stiffness[j], -damping[j], drives[j]
        at += len(SENSOR_TYPES[sensor.type].suffixes)


def _strain_rows(simulation: Simulation, moved: np.ndarray, rows: np.ndarray) -> None:
    """Rows of the outputs that are strain energies; moved (nv, …): displacements along the velocities."""
    at = 0
    for sensor in simulation.system.sensors:
        if sensor.type == "strain_energy":
            rows[at] = _strain_slope(simulation, sensor.target) @ moved
        at += len(SENSOR_TYPES[sensor.type].suffixes)


def _strain_slope(simulation: Simulation, body: str) -> np.ndarray:
    """∂E (nv,) of the strain energy ½ Σ k (q - rest)² of a flexible body: k (q - rest) along its modes."""
    sections = simulation.plant.sections
    link, _ = simulation.plant.hinge_rows[modes_of(body)]
    first, count = (int(sections["topo"][link - 1, column]) for column in (layout.VI, layout.NV))
    modes = slice(first, first + count)
    x = simulation.q[sections["dof_int"][modes, layout.DI_Q]] - sections["dof"][modes, layout.D_REST]
    row = np.zeros(simulation.system.nv)
    row[modes] = sections["dof"][modes, layout.D_STIFFNESS] * x
    return row


def _states(system: System) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and units of δq, then of δv."""
    names: tuple[list[str], list[str]] = ([], [])
    units: tuple[list[str], list[str]] = ([], [])
    for hinge, _, _ in _parts(system):
        for i, velocity in enumerate(hinge.velocity_names):
            owner, _, suffix = velocity.rpartition(".")
            if not hinge.kind.quasi:
                pair = velocity, f"{velocity}.rate"
            elif hinge.map is not None:
                pair = f"{owner}.d{suffix}", velocity
            else:
                pair = f"{owner}.{_DISPLACEMENTS[suffix]}", velocity
            unit = "1" if hinge.map is not None else "rad" if hinge.kind.angular[i] else "m"
            for place, name, text in zip((0, 1), pair, (unit, f"{unit}/s"), strict=True):
                names[place].append(name)
                units[place].append(text)
    return tuple(names[0] + names[1]), tuple(units[0] + units[1])
