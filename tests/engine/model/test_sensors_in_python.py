"""Sensors that `lj.equip` adds: the same readings as those of a file, errors in numbers or lists."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj

ARM = """\
limberjack: 1
name: arm
bodies:
  - {name: rod, mass: 2, com: [0, 0, -0.5], inertia: {xx: 0, yy: 0, zz: 0},
     hinge: {name: swing, type: revolute, parent: world, axis: [0, 1, 0]}}
"""
SENSORS = """\
sensors:
  - {name: gyro, type: gyro, target: rod, noise: 0.01, bias: [1, 2, 3], rate: 100}
"""


@pytest.fixture
def arm(tmp_path):
    def make(text):
        path = tmp_path / "arm.yaml"
        path.write_text(text)
        return lj.load(path)

    return make


def test_a_sensor_made_in_python_reads_what_that_of_a_file_does(arm):
    errors = lj.SensorErrors(noise=0.01, bias=[1, 2, 3], rate=100)
    made = lj.equip(arm(ARM), lj.Sensor("gyro", "gyro", "rod", errors))
    readings = []
    for system in (made, arm(ARM + SENSORS)):
        simulation = lj.Simulation(system, dt=1e-3)
        simulation.step(50)
        readings.append(simulation.output["gyro"])
    np.testing.assert_array_equal(*readings)
    assert np.all(np.abs(readings[0][[0, 2]] - (1.0, 3.0)) < 0.1)


@pytest.mark.parametrize(
    ("errors", "text"),
    [
        ({"noise": [1, 2]}, "has 2 numbers, measured are 3. Give one number for all, or 3 of them."),
        ({"noise": -1.0}, "Give finite numbers, zero or more."),
        ({"rate": -1}, "the rate of sensor 'g' is -1. Give zero or more."),
        ({"misalignment": 0.1}, "is not 3 finite numbers. Give a rotation vector, rad."),
    ],
)
def test_errors_that_cannot_be(arm, errors, text):
    with pytest.raises(lj.ModelError) as caught:
        lj.equip(arm(ARM), lj.Sensor("g", "gyro", "rod", lj.SensorErrors(**errors)))
    assert text in str(caught.value)


@pytest.mark.parametrize("value", ["a", [[1], [1, 2]]])
def test_errors_that_are_not_numbers(value):
    with pytest.raises(lj.ArgumentError, match="the bias of a sensor is .*; give a number, or a list"):
        lj.SensorErrors(bias=value)
