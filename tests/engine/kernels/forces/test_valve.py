"""Valves of thrusters: the impulse of any sequence of commands against a simulation of the valve by its events."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.elements.thruster import Thruster
from limberjack.engine.model.system import Body, Hinge, Inertia, System
from limberjack.engine.model.validate import validate
from tests.validation.figures import figure

MASS, THRUST, LEAST = 2.0, 5.0, 0.5


def sled(dt: float, **valve: float) -> lj.Simulation:
    """A body on a slide that a thruster pushes."""
    hinge = Hinge("slide", "prismatic", None, axes=np.array([[1.0, 0.0, 0.0]]))
    jet = Thruster("jet", "body", np.array([1.0, 0.0, 0.0]), THRUST, minimum=LEAST, **valve)
    system = System("sled", (Body("body", Inertia(MASS, np.zeros(3), np.eye(3)), hinge),), thrusters=(jet,))
    sensors = (Sensor("thrust", "thrust", "jet"),)
    return lj.Simulation(validate(replace(system, sensors=sensors, gravity=np.zeros(3))), dt=dt)


def flow(command: float) -> float:
    limited = min(command, THRUST)
    return limited if limited >= LEAST else 0.0


def impulse(commands: np.ndarray, dt: float, delay: float, pulse: float, initial: float = 0.0) -> np.ndarray:
    """Impulse since the start at the end of each step, from the times at which the valve moves."""
    edges = [(-np.inf, flow(initial)), *((k * dt + delay, flow(u)) for k, u in enumerate(commands)), (np.inf, 0.0)]
    pieces, until, now = [], 0.0, flow(initial)  # the initial command has been there for long
    for (start, wanted), (end, _) in itertools.pairwise(edges):
        start, end = max(start, 0.0), min(end, len(commands) * dt)
        if end <= start:
            continue
        if wanted > 0.0:
            until = start + pulse if now == 0.0 else until
            now = wanted
            pieces.append((start, end, now))
        elif now > 0.0:
            closing = min(max(until, start), end)
            pieces.append((start, closing, now))
            now = now if closing == end and until > end else 0.0
    ends = dt * np.arange(1, len(commands) + 1)
    return np.array([sum(max(0.0, min(b, t) - a) * f for a, b, f in pieces) for t in ends])


@pytest.mark.parametrize("dt", [1e-3, 0.7e-3, 1e-2])
@pytest.mark.parametrize(
    ("delay", "pulse"), [(0.0, 5e-3), (3e-3, 0.0), (3.4e-3, 0.0), (3.4e-3, 5.3e-3), (0.0123, 0.0301), (1.0, 0.02)]
)
def test_the_impulse_is_that_of_the_valves_times(dt, delay, pulse):
    rng = np.random.default_rng(3)
    commands = np.repeat(rng.choice([0.0, 0.3, 2.0, 7.0], 60, p=[0.55, 0.1, 0.2, 0.15]), rng.integers(1, 4, 60))
    simulation = sled(dt, delay=delay, minimum_pulse=pulse)
    expected = impulse(commands, dt, delay, pulse)
    felt, shown = [], []
    for command in commands:
        simulation.command["jet"] = command
        simulation.step()
        felt.append(MASS * simulation.v[0])
        shown.append(simulation.output["thrust"] * dt)
    figure("impulse that is felt", felt, expected, unit="N·s", oracle="events of the valve", atol=1e-12)
    figure(
        "impulse that the sensor shows",
        np.cumsum(shown),
        expected,
        unit="N·s",
        oracle="events of the valve",
        atol=1e-12,
    )
    assert expected[-1] > 0.0 or delay >= len(commands) * dt


def test_an_initial_command_has_been_there_before():
    simulation = sled(1e-3, delay=4.5e-3, initial=2.0)
    assert simulation.output["thrust"] == 2.0
    simulation.command["jet"] = 0.0
    simulation.step(10)
    figure(
        "impulse of a command that was there before",
        MASS * simulation.v[0],
        2.0 * 4.5e-3,
        unit="N·s",
        oracle="force by delay",
        atol=1e-14,
    )


def test_parts_of_a_step_and_single_steps_are_alike():
    runs = []
    for substeps, calls in ((1, 1), (1, 40), (4, 1)):
        simulation = lj.Simulation(sled(1e-3, delay=3.4e-3, minimum_pulse=7.7e-3).system, dt=1e-3, substeps=substeps)
        simulation.command["jet"] = 3.0
        simulation.step(2)
        simulation.command["jet"] = 0.0
        for _ in range(calls):
            simulation.step(40 // calls)
        runs.append(MASS * simulation.v[0])
    assert runs[0] == runs[1]
    figure("impulse of the shortest pulse", runs, [3.0 * 7.7e-3] * 3, unit="N·s", oracle="force by pulse", atol=1e-14)


def test_a_snapshot_keeps_the_commands_on_their_way():
    simulation = sled(1e-3, delay=20e-3)
    simulation.command["jet"] = 1.0
    simulation.step(5)
    simulation.command["jet"] = 0.0
    simulation.step(3)
    snapshot = simulation.snapshot()
    simulation.step(40)
    again = sled(1e-3, delay=20e-3)
    again.restore(snapshot)
    again.step(40)
    assert np.array_equal(again.state, simulation.state)
    figure("impulse after a snapshot", MASS * again.v[0], 5e-3, unit="N·s", oracle="force by time", atol=1e-14)
