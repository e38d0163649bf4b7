"""Instruments, motors and valves as tables of the Plant, and their first states."""

from __future__ import annotations

import zlib
from dataclasses import replace
from itertools import accumulate

import numpy as np

from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor, SensorErrors
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.plant import Plant
from limberjack.engine.model.system import System
from limberjack.engine.tables import drives as dr
from limberjack.engine.tables import instruments as it
from limberjack.engine.tables.elements import TI_VALVE
from limberjack.engine.tables.plant import AI_MOTOR, C_OUTPUTS, DI_Q, SI_OUTPUT
from limberjack.engine.tables.sensor_types import SENSOR_TYPES


def for_step(system: System, dt: float) -> System:
    """The System as it is built for steps of dt: delays are kept as samples and commands on their way."""
    return replace(system, dt=dt) if system.counts_steps and dt != system.dt else system


def _instruments(system: System) -> list[tuple[int, Sensor, SensorErrors]]:
    return [(i, sensor, sensor.errors) for i, sensor in enumerate(system.sensors) if sensor.errors is not None]


def _motors(system: System) -> list[tuple[int, Actuator]]:
    return [(i, actuator) for i, actuator in enumerate(system.actuators) if actuator.motor is not None]


def _valves(system: System) -> list[tuple[int, Thruster]]:
    return [(i, thruster) for i, thruster in enumerate(system.thrusters) if thruster.has_valve]


def _state_sizes(system: System) -> tuple[list[int], list[int], list[int]]:
    """Numbers of the State of every instrument, motor and valve."""
    instruments = [
        it.instrument_size(len(sensor.outputs), len(sensor.erring), errors.delayed_samples(system.dt))
        for _, sensor, errors in _instruments(system)
    ]
    valves = [dr.U_RING + thruster.delayed_commands(system.dt) for _, thruster in _valves(system)]
    return instruments, [dr.MOTOR_STATE] * len(_motors(system)), valves


def drive_places(system: System) -> list[tuple[Actuator | Thruster, int]]:
    """Drives with a motor, thrusters with a valve, and where their numbers begin in the State's part of drives."""
    _, motors, valves = _state_sizes(system)
    elements: list[tuple[int, Actuator | Thruster]] = [*_motors(system), *_valves(system)]
    return [(element, place) for (_, element), place in zip(elements, accumulate([0, *motors, *valves]))]


def device_counts(system: System) -> dict[int, int]:
    """The counts C_… of instruments, motors and valves."""
    instruments, motors, valves = _state_sizes(system)
    outputs = sum(len(sensor.outputs) for sensor in system.sensors)
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
    _fill_instruments(plant, system)
    _fill_motors(plant, system)
    _fill_valves(plant, system)


def _fill_instruments(plant: Plant, system: System) -> None:
    at = 0
    for row, (i, sensor, errors) in enumerate(_instruments(system)):
        outputs, size, ring = len(sensor.outputs), len(sensor.erring), errors.delayed_samples(system.dt)
        level = it.FORCES if SENSOR_TYPES[sensor.type].forces else it.MOTION
        output = int(plant.sections["sensor_int"][i, SI_OUTPUT])
        channel = zlib.crc32(sensor.name.encode())
        plant.sections["instrument_int"][row] = sensor.reading, output, size, outputs, at, ring, channel, level
        errors.fill(plant.sections["instrument"][row], size, system.dt)
        at += it.instrument_size(outputs, size, ring)


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
        motor.fill(plant.sections["motor"][row])
        if motor.stiffness == 0.0:
            plant.sections["armature"][v] += motor.gear * motor.gear * motor.inertia
        start += dr.MOTOR_STATE


def _fill_valves(plant: Plant, system: System) -> None:
    start = dr.MOTOR_STATE * len(_motors(system))
    for row, (i, thruster) in enumerate(_valves(system)):
        ring = thruster.delayed_commands(system.dt)
        plant.sections["thruster_int"][i, TI_VALVE] = 1
        plant.sections["valve_int"][row] = i, start, ring
        plant.sections["valve"][row] = thruster.delay, thruster.minimum_pulse
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
        ring = np.full(thruster.delayed_commands(system.dt), thruster.initial)
        parts.append(np.concatenate([[flow, 0.0, flow], ring]))
    return np.concatenate(parts)
