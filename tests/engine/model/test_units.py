"""Units of every number of a model: one for each, by what its coordinate, velocity or loop measures."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.catalogue.catalogue import units
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Body, Hinge, Inertia, Loop, System, Term
from limberjack.engine.model.validate import validate
from limberjack.engine.tables.measures import MEASURES
from limberjack.engine.tables.sensor_types import SENSOR_TYPES

SOLID = Inertia(1.0, np.zeros(3), np.eye(3))
X = np.array([[1.0, 0.0, 0.0]])


def plant() -> System:
    """A slide, a turntable geared to it, a free body, a body on a custom hinge, a rod to the ground."""
    bodies = (
        Body("slide", SOLID, Hinge("slide", "prismatic", None, axes=X)),
        Body("table", SOLID, Hinge("table", "revolute", None, axes=X)),
        Body("wheel", SOLID, Hinge("wheel", "revolute", None, axes=X)),
        Body("ship", SOLID, Hinge("ship", "free", None)),
        Body("odd", SOLID, Hinge("odd", "custom", None, map=np.eye(6)[:, 2:4])),
    )
    loops = (
        Loop("gears", "coupling", terms=(Term("table", (1.0,)), Term("wheel", (3.0,))), driven=True),
        Loop("screw", "coupling", terms=(Term("slide", (1.0,)), Term("wheel", (0.1,))), switchable=True, driven=True),
        Loop("brake", "lock", locked="slide", switchable=True),
        Loop("grasp", "weld", Hinge("grasp", "fixed", "ship"), "slide", switchable=True, closed=False),
    )
    actuators = (
        Actuator("pull", "slide"),
        Actuator("turn", "table", "servo", kp=1.0, kd=1.0),
        Actuator("spin", "wheel", "velocity", kd=1.0),
        Actuator("strange", "odd.1"),
    )
    sensors = (
        Sensor("where", "position", "slide"),
        Sensor("heading", "position", "ship.qw"),
        Sensor("speed", "rate", "ship.vy"),
        Sensor("torque", "effort", "table"),
        Sensor("root", "reaction", "table"),
        Sensor("tie", "loop_wrench", "grasp"),
        Sensor("gap", "loop_residual", "grasp"),
        Sensor("tooth", "loop_force", "gears"),
        Sensor("thread", "loop_force", "screw"),
        Sensor("held", "loop_force", "brake"),
        Sensor("slip", "loop_residual", "gears"),
        Sensor("shut", "loop_closed", "grasp"),
    )
    thruster = lj.Thruster("jet", "ship", np.array([0.0, 0.0, 1.0]), 2.0)
    system = System("plant", bodies, actuators=actuators, sensors=sensors, loops=loops, thrusters=(thruster,))
    return validate(system)


def test_each_component_has_its_own_unit():
    wrench = ["N·m"] * 3 + ["N"] * 3
    expected = ("m", "1", "m/s", "N·m", *wrench, *wrench, "", "N·m", "", "N", "rad", "1")
    system = plant()
    assert units(system, "output") == expected
    assert len(expected) == len(system.output_names)


def test_commands_have_the_unit_of_what_they_ask_for():
    system = plant()
    found = dict(zip(system.command_names, units(system, "command"), strict=True))
    assert found == {
        **{"pull": "N", "turn": "rad", "turn.rate": "rad/s", "turn.torque": "N·m", "spin": "rad/s"},
        **{"spin.torque": "N·m", "strange": ""},
        **{"gears.position": "rad", "gears.velocity": "rad/s", "gears.acceleration": "rad/s²"},
        **{"screw.closed": "1", "screw.position": "", "screw.velocity": "", "screw.acceleration": ""},
        **{"brake.closed": "1", "grasp.closed": "1", "jet": "N"},
    }


def test_units_of_hinges_follow_their_names():
    system = plant()
    q = dict(zip(system.coordinate_names, units(system, "q"), strict=True))
    tau = dict(zip(system.velocity_names, units(system, "tau"), strict=True))
    assert [q[name] for name in ("slide", "table", "ship.qx", "ship.z", "odd.qw", "odd.x")] == [
        "m",
        "rad",
        "1",
        "m",
        "1",
        "m",
    ]
    assert [tau[name] for name in ("slide", "table", "ship.wx", "ship.vz", "odd.1")] == ["N", "N·m", "N·m", "N", ""]


@pytest.mark.parametrize("kind", SENSOR_TYPES)
def test_the_table_of_sensors_has_one_measure_for_each_part(kind):
    target, parts = SENSOR_TYPES[kind].target, SENSOR_TYPES[kind].parts
    for part in parts:
        assert bool(part.measure) + bool(part.shows) + part.truth == 1
        assert isinstance(part.measure, str) or target == "loop"
        measures = (part.measure,) if isinstance(part.measure, str) else part.measure
        assert set(measures) <= {"", *MEASURES}
    assert len(SENSOR_TYPES[kind].suffixes) == len(set(SENSOR_TYPES[kind].suffixes))
