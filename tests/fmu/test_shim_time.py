"""Times as importers compute them: added up, in single precision too, and steps as differences of times."""

from __future__ import annotations

from ctypes import byref, c_bool, c_double, c_void_p
from itertools import pairwise

import numpy as np
import pytest

from tests.fmu import shim_model as toy
from tests.fmu.shim_build import CO_SIMULATION, ERROR, OK, Fmu, location

STEPS, H = 1_000_000, 0.001


@pytest.fixture
def fine(shim_library, tmp_path, version):
    """A Co-Simulation instance with internal steps of 1 ms."""
    fmu = Fmu(shim_library, version, CO_SIMULATION, location(toy.PlantData(dt=H).write(tmp_path / "fine"), version))
    yield fmu
    fmu.free()


def stepper(fmu: Fmu):
    """doStep with as little between as can be: a million of them take seconds."""
    step, instance = getattr(fmu.lib, f"fmi{fmu.version}DoStep"), c_void_p(fmu.c)
    if fmu.version == 2:
        return lambda time, h: step(instance, c_double(time), c_double(h), 1)
    flags = [byref(c_bool()) for _ in range(3)]
    last = byref(c_double())
    return lambda time, h: step(instance, c_double(time), c_double(h), True, *flags, last)


@pytest.mark.parametrize("number", [pytest.param(float, marks=pytest.mark.long), np.float32])
def test_a_million_steps_whose_times_are_added_up(fine, number):
    assert fine.start(stop=STEPS * H) == OK
    step, time, h = stepper(fine), number(0.0), number(H)
    for k in range(STEPS):
        assert step(float(time), H) == OK, k
        time = number(time + h)
    oracle = toy.Toy()
    oracle.step(H, STEPS)
    assert fine.value("angle") == oracle.angle


def test_single_precision_late_in_a_run(fine):
    """At 1000 s its unit is 0.06 ms, a twentieth of the step."""
    time = np.float32(1000.0)
    assert fine.start(start=float(time)) == OK
    for _ in range(1000):
        assert fine.step(float(time), H)[0] == OK
        time = np.float32(time + np.float32(H))


@pytest.mark.parametrize("start", [0.0, 1e3, 1e5, 1e7])
def test_steps_as_differences_of_times_are_the_internal_step(fine, start):
    times = [start + k * H for k in range(201)]
    assert fine.start(start=start, stop=times[-1]) == OK
    for now, then in pairwise(times):
        assert fine.step(now, then - now)[0] == OK
    oracle = toy.Toy()
    oracle.step(H, 200)
    assert fine.value("angle") == oracle.angle


@pytest.mark.parametrize("h", [float(np.float32(H)), H * (1 + 9e-7)])
def test_a_step_a_little_longer_than_the_internal_one_is_not_halved(fine, h):
    assert fine.start() == OK
    assert fine.step(0.0, h)[0] == OK
    oracle = toy.Toy()
    oracle.step(h, 1)
    assert fine.value("angle") == oracle.angle


def test_a_step_that_was_left_out_is_noticed(fine):
    assert fine.start() == OK
    assert fine.step(0.0, H)[0] == OK
    assert fine.step(2 * H, H)[0] == ERROR
    assert "stands at 0.001" in fine.log[-1][2]
