"""Parameters that may be infinite, and `reset` that restores those that were set."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.motor import Motor
from limberjack.engine.model.elements.sensor import Sensor, SensorErrors
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, System
from limberjack.engine.model.validate import validate


def machine() -> System:
    """A joint with limits, a drive with a motor, an instrument."""
    hinge = Hinge("j", "revolute", None, axes=np.array([[0.0, 0.0, 1.0]]), dofs=(Dof(lower=-1.0, upper=1.0),))
    body = Body("limit", Inertia(1.0, np.zeros(3), np.eye(3)), hinge)
    motor = Motor(0.1, 1.0, 1e-3, 100.0)
    sensors = (
        Sensor("scale", "gyro", "limit", errors=SensorErrors()),
        Sensor("saturation", "rate", "j", errors=SensorErrors()),
    )
    made = System(name="m", bodies=(body,), actuators=(Actuator("limit", "j", motor=motor),), sensors=sensors)
    return validate(replace(made, gravity=np.zeros(3)))


UNBOUNDED = {
    "hinge.j.lower": -math.inf,
    "hinge.j.upper": math.inf,
    "actuator.limit.limit": math.inf,
    "actuator.limit.motor.voltage": math.inf,
    "actuator.limit.motor.current": math.inf,
    "sensor.scale.saturation.x": math.inf,
    "sensor.scale.saturation.z": math.inf,
    "sensor.saturation.saturation": math.inf,
}


@pytest.fixture(scope="module")
def simulation() -> lj.Simulation:
    return lj.Simulation(machine())


def test_what_is_infinite_by_default_can_be_again(simulation):
    for name, value in UNBOUNDED.items():
        assert math.isinf(simulation.parameters[name]) or name.startswith("hinge.")
        simulation.parameters[name] = math.copysign(0.5, value)
        simulation.parameters[name] = value
        assert simulation.parameters[name] == value
    simulation.reset(parameters=True)


def test_every_parameter_takes_back_what_it_holds(simulation):
    for name in simulation.parameters:
        simulation.parameters[name] = simulation.parameters[name]


def test_nothing_else_may_be_infinite(simulation):
    for name in simulation.parameters:
        for value in {math.inf, -math.inf} - {UNBOUNDED.get(name)}:
            if name.startswith("sensor.") and "saturation." in name and value > 0.0:
                continue  # one of the components that are not listed above
            with pytest.raises(ArgumentError, match=r"is -?inf; give finite numbers"):
                simulation.parameters[name] = value
    with pytest.raises(ArgumentError, match="nan"):
        simulation.parameters["hinge.j.upper"] = math.nan


def test_a_limit_that_was_set_and_removed_leaves_no_trace():
    free, touched = lj.Simulation(machine()), lj.Simulation(machine())
    touched.parameters["actuator.limit.limit"] = 1e-3
    touched.parameters["actuator.limit.limit"] = math.inf
    for simulation in (free, touched):
        simulation.command["limit"] = 2.0
        simulation.step(50)
    assert free.state.tobytes() == touched.state.tobytes()


def test_a_bound_of_1e30_is_none():
    """What an FMU sets instead of infinity (docs/reference/fmu.md) changes no bit."""
    free, bounded = lj.Simulation(machine()), lj.Simulation(machine())
    for name, value in UNBOUNDED.items():
        bounded.parameters[name] = math.copysign(1e30, value)
        if name.startswith("hinge."):
            free.parameters[name] = value
    for simulation in (free, bounded):
        simulation.command["limit"] = 20.0
        simulation.step(200)
    assert free.state.tobytes() == bounded.state.tobytes()
    assert free.output_vector.tobytes() == bounded.output_vector.tobytes()


def test_reset_restores_parameters_when_asked():
    simulation = lj.Simulation(machine())
    before, floats = dict(simulation.parameters), simulation.plant.floats.copy()
    simulation.command["limit"] = 1.0
    simulation.step(20)
    first = simulation.state
    changed = {"actuator.limit.limit": 1e-4, "hinge.j.damping": 3.0, "gravity.x": 1.0}
    for value in (1.0, 2.0):
        simulation.parameters.update({name: value * number for name, number in changed.items()})
    assert simulation.reset() == {}
    assert simulation.parameters["hinge.j.damping"] == 6.0
    assert simulation.reset(parameters=True) == {name: before[name] for name in changed}
    assert dict(simulation.parameters) == before
    assert simulation.plant.floats.tobytes() == floats.tobytes()
    assert simulation.reset(parameters=True) == {}
    simulation.command["limit"] = 1.0
    simulation.step(20)
    assert simulation.state.tobytes() == first.tobytes()


def test_outputs_by_sensor_and_by_component(simulation):
    whole = simulation.output["scale"]
    assert whole.shape == (3,)
    assert [simulation.output[f"scale.{axis}"] for axis in "xyz"] == list(whole)
    assert simulation.output["saturation"] == simulation.output_vector[3]
    assert "scale" in list(simulation.output)
    with pytest.raises(lj.UnknownNameError, match="no output is called 'scale.w'"):
        simulation.output["scale.w"]


def test_outputs_of_a_client_and_of_a_bench(simulation):
    """The same two names for a client's states and for the patterns of a scenario."""
    from limberjack.bridge.description import describe
    from limberjack.bridge.messages import Message
    from limberjack.bridge.settings import Settings
    from limberjack.bridge.state import Description, State
    from limberjack.hil.signals import Signals

    described = describe(simulation, Settings())
    description = Description.read({**described["hello"], **described["names"]})
    size = sum(len(names) for names in description.names.values())
    state = State(Message(1, "state", 1, 0.0, 0, (0, np.arange(float(size)).tobytes())), description)
    outputs = state.outputs
    assert list(state.output["scale"]) == list(outputs[:3])
    assert state.output["scale.y"] == outputs[1]
    assert state.output["saturation"] == outputs[3]
    assert dict(state.output) == dict(zip(simulation.output_names, outputs))
    signals = Signals(simulation)
    assert [signals.names[i] for i in signals.select(["output.scale"])] == [f"output.scale.{axis}" for axis in "xyz"]
    assert [signals.names[i] for i in signals.select(["output.saturation"])] == ["output.saturation"]
