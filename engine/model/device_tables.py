"""Instruments, motors and valves as tables of the Plant, and their first states."""

from __future__ import annotations

import math
import zlib
from dataclasses import replace

import numpy as np

from limberjack.engine.algebra.rotations import from_axis_angle
from limberjack.engine.model.devices import Actuator, Errors, Sensor
from limberjack.engine.model.elements import Thruster
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System
from limberjack.engine.tables import drives as dr
from limberjack.engine.tables import instruments as it
from limberjack.engine.tables.elements import TI_VALVE
from limberjack.engine.tables.plant import AI_MOTOR, C_OUTPUTS, DI_Q, SI_OUTPUT
from limberjack.engine.tables.sensor_types import SENSOR_TYPES

#: sensor types whose last output says whether they see anything, with the kind of their reading
OPTICAL = {"star_tracker": it.ATTITUDE, "sun_sensor": it.DIRECTION}
#: most samples on their way, and commands in a valve's delay
MOST_DELAYED = 100_000
#: sensor types that need no accelerations and forces
_OF_MOTION = frozenset(
    {"position", "rate", "gyro", "strain_energy", "motor_current", "motor_position", "motor_rate", "thrust", *OPTICAL}
    | {name for name in SENSOR_TYPES if name.startswith("node_")}
)


def for_step(system: System, dt: float) -> System:
    """The System as it is built for steps of dt: delays are kept as samples and commands on their way."""
    return replace(system, dt=dt) if system.counts_steps and dt != system.dt else system


def error_count(sensor: Sensor) -> int:
    """How many numbers of a sensor carry errors."""
    return 3 if sensor.type in OPTICAL else len(SENSOR_TYPES[sensor.type][1])


def delayed_samples(errors: Errors, dt: float) -> int:
    """Samples that may be on their way."""
    if errors.delay == 0.0:
        return 0
    period = dt if errors.rate == 0.0 else max(dt, 1.0 / errors.rate)
    return math.ceil(errors.delay / period * (1.0 - 1e-9)) + 2


def delayed_commands(thruster: Thruster, dt: float) -> int:
    """Commands that a valve keeps: those of the steps of its delay, and two more."""
    return math.floor(thruster.delay / dt * (1.0 + 1e-12)) + 2


def _instruments(system: System) -> list[tuple[int, Sensor, Errors]]:
    return [(i, sensor, sensor.errors) for i, sensor in enumerate(system.sensors) if sensor.errors is not None]


def _motors(system: System) -> list[tuple[int, Actuator]]:
    return [(i, actuator) for i, actuator in enumerate(system.actuators) if actuator.motor is not None]


def _valves(system: System) -> list[tuple[int, Thruster]]:
    return [(i, thruster) for i, thruster in enumerate(system.thrusters) if thruster.has_valve]


def _state_sizes(system: System) -> tuple[list[int], list[int], list[int]]:
    """Numbers of the State of every instrument, motor and valve."""
    instruments = [
        it.instrument_size(len(SENSOR_TYPES[s.type][1]), error_count(s), delayed_samples(errors, system.dt))
        for _, s, errors in _instruments(system)
    ]
    valves = [dr.U_RING + delayed_commands(thruster, system.dt) for _, thruster in _valves(system)]
    return instruments, [dr.MOTOR_STATE] * len(_motors(system)), valves


def device_counts(system: System) -> dict[int, int]:
    """The counts C_… of instruments, motors and valves."""
    instruments, motors, valves = _state_sizes(system)
    outputs = sum(len(SENSOR_TYPES[sensor.type][1]) for sensor in system.sensors)
    return {
        C_OUTPUTS: outputs,
        it.C_INSTRUMENTS: len(instruments),
        it.C_INSTRUMENT_STATE: sum(instruments),
        dr.C_MOTORS: len(motors),
        dr.C_VALVES: len(valves),
        dr.C_DRIVE_STATE: sum(motors) + sum(valves),
    }


def fill_devices(plant: Plant, system: System) -> None:
    """Write the tables; those of sensors and actuators are filled."""
    plant.sections["surroundings"][:, 0] = [*system.sun, float(system.seed)]
    if any(sensor.type in OPTICAL for sensor in system.sensors):
        for axis, column in zip("xyz", range(3)):
            plant.parameters[f"sun.{axis}"] = plant.place("surroundings", it.SUN + column, 0)
    if _instruments(system):
        plant.parameters["noise.seed"] = plant.place("surroundings", it.SEED, 0)
    _fill_instruments(plant, system)
    _fill_motors(plant, system)
    _fill_valves(plant, system)


def _fill_instruments(plant: Plant, system: System) -> None:
    at = 0
    for row, (i, sensor, errors) in enumerate(_instruments(system)):
        outputs, size = len(SENSOR_TYPES[sensor.type][1]), error_count(sensor)
        ring = delayed_samples(errors, system.dt)
        kind = it.RESOLVER if errors.pole_pairs else OPTICAL.get(sensor.type, it.PLAIN)
        level = it.MOTION if sensor.type in _OF_MOTION else it.FORCES
        output = int(plant.sections["sensor_int"][i, SI_OUTPUT])
        channel = zlib.crc32(sensor.name.encode())
        plant.sections["instrument_int"][row] = kind, output, size, outputs, at, ring, channel, level
        _fill_errors(plant.sections["instrument"][row], errors, size, system.dt)
        _name_errors(plant, sensor, row, size)
        at += it.instrument_size(outputs, size, ring)


def _each(values: np.ndarray, size: int, none: float = 0.0) -> np.ndarray:
    return np.full(size, none) if len(values) == 0 else np.broadcast_to(values, (size,))


def _fill_errors(row: np.ndarray, errors: Errors, size: int, dt: float) -> None:
    rate = 1.0 / dt if errors.rate == 0.0 else min(errors.rate, 1.0 / dt)
    row[[it.N_RATE, it.N_DELAY, it.N_WALK_TIME, it.N_WRAP]] = errors.rate, errors.delay, errors.bias_time, errors.wrap
    row[[it.N_PAIRS, it.N_IMBALANCE, it.N_QUADRATURE]] = (
        errors.pole_pairs,
        errors.amplitude_imbalance,
        errors.quadrature,
    )
    noise = np.hypot(_each(errors.noise, size), math.sqrt(rate) * _each(errors.noise_density, size))
    columns = {
        it.N_BIAS: _each(errors.bias, size),
        it.N_NOISE: noise,
        it.N_WALK: _each(errors.bias_walk, size),
        it.N_LIMIT: _each(errors.saturation, size, math.inf),
        it.N_STEP: _each(errors.resolution, size),
        it.N_SCALE: _each(errors.scale, size),
    }
    for column, values in columns.items():
        row[column : column + len(values)] = values
    angle = float(np.linalg.norm(errors.misalignment))
    turned = from_axis_angle(errors.misalignment / angle, angle) if angle else np.eye(3)
    row[it.N_R : it.N_R + 9] = turned.T.ravel()


#: parameters of an instrument, by the columns that hold them
_TUNABLE = {"bias": it.N_BIAS, "noise": it.N_NOISE, "scale": it.N_SCALE, "saturation": it.N_LIMIT}


def _name_errors(plant: Plant, sensor: Sensor, row: int, size: int) -> None:
    """sensor.<name>.bias for a scalar, sensor.<name>.bias.x … for vectors."""
    suffixes = (".x", ".y", ".z") if sensor.type in OPTICAL else SENSOR_TYPES[sensor.type][1]
    for word, column in _TUNABLE.items():
        for j, suffix in enumerate(suffixes[:size]):
            plant.parameters[f"sensor.{sensor.name}.{word}{suffix}"] = plant.place("instrument", row, column + j)


def _fill_motors(plant: Plant, system: System) -> None:
    drives, start = plant.sections["actuator_int"], 0
    drives[:, AI_MOTOR] = -1
    for row, (i, actuator) in enumerate(_motors(system)):
        motor = actuator.motor
        assert motor is not None
        v = system.velocity_names.index(actuator.coordinate)
        q = int(plant.sections["dof_int"][v, DI_Q])
        drives[i, AI_MOTOR] = row
        plant.sections["motor_int"][row] = v, q, start, motor.stiffness > 0.0
        n, loop = motor.gear, 2.0 * math.pi * motor.bandwidth
        plant.sections["motor"][row, :15] = [
            n * motor.torque_constant,
            motor.resistance,
            motor.inductance,
            loop * motor.inductance,
            loop * motor.resistance,
            motor.voltage,
            motor.current,
            n,
            n * n * motor.inertia,
            n * motor.friction,
            motor.friction_rate / n,
            n * n * motor.damping,
            motor.backlash,
            motor.stiffness,
            motor.gear_damping,
        ]
        if motor.stiffness == 0.0:
            plant.sections["armature"][v] += n * n * motor.inertia
        for word, column in _MOTOR_PARAMETERS.items():
            plant.parameters[f"actuator.{actuator.name}.motor.{word}"] = plant.place("motor", row, column)
        start += dr.MOTOR_STATE


_MOTOR_PARAMETERS = {
    "resistance": dr.MO_R,
    "voltage": dr.MO_VOLTAGE,
    "current": dr.MO_CURRENT,
    "stiffness": dr.MO_STIFFNESS,
    "backlash": dr.MO_PLAY,
}


def _fill_valves(plant: Plant, system: System) -> None:
    start = dr.MOTOR_STATE * len(_motors(system))
    for row, (i, thruster) in enumerate(_valves(system)):
        ring = delayed_commands(thruster, system.dt)
        plant.sections["thruster_int"][i, TI_VALVE] = 1
        plant.sections["valve_int"][row] = i, start, ring
        plant.sections["valve"][row] = thruster.delay, thruster.minimum_pulse
        plant.parameters[f"thruster.{thruster.name}.minimum_pulse"] = plant.place("valve", row, dr.VA_PULSE)
        start += dr.U_RING + ring


def carry_rotors(plant: Plant, q: np.ndarray, v: np.ndarray, drives: np.ndarray) -> None:
    """Rotors take the angles and rates of their joints; drives : the State's part of drives, written to."""
    for row in plant.sections["motor_int"]:
        first = row[dr.MO_STATE]
        drives[first + dr.MX_ANGLE], drives[first + dr.MX_RATE] = q[row[dr.MO_Q]], v[row[dr.MO_V]]


def first_readings(system: System) -> np.ndarray:
    """The State's part of instruments at the start: no samples; attitudes not seen yet are 1, 0, 0, 0."""
    instruments = [np.zeros(size) for size in _state_sizes(system)[0]]
    for state, (_, sensor, _) in zip(instruments, _instruments(system)):
        if sensor.type == "star_tracker":
            state[it.I_HELD] = 1.0
    return np.concatenate([np.zeros(0), *instruments])


def first_drives(system: System) -> np.ndarray:
    """The State's part of drives at the start: no current, rotors that move with their joints, valves as commanded."""
    parts = [np.zeros(0)]
    for _, actuator in _motors(system):
        v = system.velocity_names.index(actuator.coordinate)
        q = system.coordinate_names.index(actuator.coordinate)
        parts.append(np.array([0.0, 0.0, system.q0[q], system.v0[v]]))
    for _, thruster in _valves(system):
        flow = min(thruster.initial, thruster.thrust)
        flow = flow if flow >= thruster.minimum else 0.0
        ring = np.full(delayed_commands(thruster, system.dt), thruster.initial)
        parts.append(np.concatenate([[flow, 0.0, flow], ring]))
    return np.concatenate(parts)
