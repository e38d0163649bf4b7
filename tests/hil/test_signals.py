"""Signals of a simulation by name, and the log of events."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.hil.events import Event, EventLog
from limberjack.hil.signals import Signals

ARM = Path(__file__).resolve().parents[2] / "examples" / "space_manipulator.yaml"


@pytest.fixture(scope="module")
def simulation():
    return lj.Simulation(lj.load(ARM))


def test_signals_are_what_the_simulation_says(simulation):
    signals = Signals(simulation)
    first = simulation.command_names[0]
    simulation.command[first] = 0.25
    simulation.step(7)
    vector = signals.refresh()
    assert vector is signals.vector
    assert vector[signals.index("time")] == simulation.time
    for part, names, values in (
        ("q", simulation.system.coordinate_names, simulation.q),
        ("v", simulation.system.velocity_names, simulation.v),
        ("tau", simulation.system.velocity_names, simulation.tau),
        ("output", simulation.output_names, simulation.output_vector),
        ("command", simulation.command_names, simulation.command_vector),
    ):
        found = [vector[signals.index(f"{part}.{name}")] for name in names]
        assert np.array_equal(found, values)
    assert len(signals.names) == len(signals.units) == len(vector)


def test_each_component_and_each_command_has_its_own_unit(simulation):
    signals = Signals(simulation)
    units = dict(zip(signals.names, signals.units, strict=True))
    assert [units[f"output.shoulder_load.{part}"] for part in ("nx", "nz", "fx", "fz")] == ["N·m", "N·m", "N", "N"]
    assert [units[f"command.elbow_pitch{part}"] for part in ("", ".rate", ".torque")] == ["rad", "rad/s", "N·m"]


def test_patterns_choose_signals_in_order(simulation):
    signals = Signals(simulation)
    chosen = signals.select(["command.*", "time"])
    assert [signals.names[i] for i in chosen] == ["time", *(f"command.{name}" for name in simulation.command_names)]
    with pytest.raises(lj.LimberjackError, match="no signal is called 'tmie'; did you mean 'time'"):
        signals.select(["tmie"])
    with pytest.raises(lj.LimberjackError, match=r"no signal.*'torque\.\*'"):
        signals.select(["torque.*"])


def test_a_full_log_keeps_the_first_events_and_counts_the_others():
    log, heard = EventLog(most=2), []
    log.listeners.append(heard.append)
    for i in range(5):
        log.add(Event(0.1 * i, "trip" if i else "fault", "shoulder", "what"))
    assert [event.time for event in log.events] == [0.0, 0.1]
    assert (log.dropped, heard, log.of("trip")) == (3, log.events, log.events[1:])
