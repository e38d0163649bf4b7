"""What the quantities of a model can be, as it was loaded: stops of hinges, limits of drives, never negative ones.

Stops are springs, so a coordinate goes a little beyond them: ranges are for scales and for checks of commands, not for
judging telemetry, which alarms do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Errors, Sensor
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.system import Dof, Loop, System
from limberjack.engine.tables.sensor_types import SENSOR_TYPES

Limits = tuple[float, float]
NO_LIMITS: Limits = (-math.inf, math.inf)
#: of energies, residuals and counts
POSITIVE: Limits = (0.0, math.inf)

_NEVER_NEGATIVE = ("energy.kinetic", "energy.strain")
_VALID: Limits = (0.0, 1.0)
_OUTPUTS: dict[str, Limits] = {"loop_closed": (0.0, 1.0), "loop_residual": POSITIVE, "strain_energy": POSITIVE}


def ranges(system: System) -> dict[str, Limits]:
    """Identifier of a quantity → lowest and highest value, of those that something bounds."""
    found = {"time": POSITIVE, **dict.fromkeys(_NEVER_NEGATIVE, POSITIVE)}
    stops = _stops(system)
    found |= {f"q.{name}": limits for name, limits in stops.items()}
    forces = _forces(system)
    found |= {f"tau.{name}": limits for name, limits in forces.items()}
    thrusts = {thruster.name: (0.0, thruster.thrust) for thruster in system.thrusters}
    ideal = {"position": stops, "effort": forces, "thrust": thrusts}
    for sensor in system.sensors:
        measured = ideal.get(sensor.type, {}).get(sensor.target) or _OUTPUTS.get(sensor.type, NO_LIMITS)
        found |= {f"output.{name}": limits for name, limits in _readings(sensor, measured)}
    for taker in system.command_takers:
        found |= {f"command.{name}": limits for name, limits in _commands(taker, stops)}
    return found


def _dofs(system: System) -> Iterator[tuple[str, Dof]]:
    """Velocity → its Dof. Of hinges without quasi-velocities the coordinate has the same name."""
    for body in system.bodies:
        yield from zip(body.hinge.velocity_names, body.hinge.dofs, strict=False)


def _stops(system: System) -> dict[str, Limits]:
    """Coordinate → its stops."""
    known = set(system.coordinate_names)
    stops = {name: (dof.lower, dof.upper) for name, dof in _dofs(system) if name in known}
    return {name: limits for name, limits in stops.items() if limits != NO_LIMITS}


def _forces(system: System) -> dict[str, Limits]:
    """Velocity → largest force of its drives and friction, where no spring, damper or stop adds to them."""
    drives = dict.fromkeys(system.velocity_names, 0.0)
    for actuator in system.actuators:
        drives[actuator.coordinate] += actuator.limit if actuator.motor is None else math.inf  # its current overshoots
    found = {}
    for name, dof in _dofs(system):
        most = drives[name] + dof.friction
        alone = not dof.stiffness and not dof.damping and (dof.lower, dof.upper) == NO_LIMITS
        if alone and 0.0 < most < math.inf:
            found[name] = (-most, most)
    return found


def _readings(sensor: Sensor, measured: Limits) -> Iterator[tuple[str, Limits]]:
    """Output → what it can show. measured : range of what the sensor measures, which errors of an instrument exceed."""
    _, suffixes, _ = SENSOR_TYPES[sensor.type]
    errors = None if ".valid" in suffixes else sensor.errors  # those of an attitude or direction are small angles
    for i, suffix in enumerate(suffixes):
        yield sensor.name + suffix, _VALID if suffix == ".valid" else _shown(errors, i, measured)


def _shown(errors: Errors | None, i: int, measured: Limits) -> Limits:
    """Range of the i-th number of a sensor."""
    if errors is None:
        return measured
    if errors.wrap > 0.0:
        return 0.0, errors.wrap
    most = float(errors.saturation[min(i, len(errors.saturation) - 1)]) if len(errors.saturation) else math.inf
    return -most, most


def _commands(taker: Actuator | Loop | Thruster, stops: dict[str, Limits]) -> Iterator[tuple[str, Limits]]:
    """Command → what may be asked for."""
    if isinstance(taker, Thruster):
        yield taker.name, (0.0, taker.thrust)
    elif isinstance(taker, Loop):
        if taker.switchable:
            yield f"{taker.name}.closed", (0.0, 1.0)
    else:
        force, rate = (-taker.limit, taker.limit), (-taker.max_rate, taker.max_rate)
        asked = {"torque": (force,), "velocity": (rate, force)}.get(taker.mode)
        asked = asked or (stops.get(taker.coordinate, NO_LIMITS), rate, force)
        yield from zip(taker.command_names, asked, strict=True)
