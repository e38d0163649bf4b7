"""Loops that are attached and released from C: the bits, energies and refusals of `Simulation`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from tests.engine.native.c_model import BAD_ARGUMENT, OK, OUT_OF_REACH, library
from tests.fmu.closed_model import docking


def test_an_array_unfolds_and_latches(opened, array):
    model, simulation = opened(array), lj.Simulation(array)
    released, impact = simulation.release("hold_down"), model.switch("lj_release", "hold_down")[1]
    assert (impact.energy_loss, impact.distance) == (released.energy_loss, released.distance)
    simulation.step(2000)
    assert model.step(2000) == OK
    assert model.value("loop.latch.is_closed") == 0.0
    attached = simulation.attach("latch")
    status, impact = model.switch("lj_attach", "latch")
    assert status == OK
    assert (impact.energy_loss, impact.distance) == (attached.energy_loss, attached.distance)
    assert impact.energy_loss > 0.0
    assert list(impact.impulse)[: impact.n_impulse] == np.atleast_1d(attached.impulse).tolist()
    assert any(impact.impulse)
    assert (model.value("loop.latch.is_closed"), model.value("command.latch.closed")) == (1.0, 1.0)
    assert model.snapshot() == simulation.snapshot()
    simulation.step(100)
    assert model.step(100) == OK
    assert model.snapshot() == simulation.snapshot()


def test_a_command_switches_too(opened, array):
    model, simulation = opened(array), lj.Simulation(array)
    simulation.command["hold_down.closed"] = 0.0
    assert model.assign("command.hold_down.closed", 0.0) == OK
    simulation.step(10)
    assert model.step(10) == OK
    assert model.snapshot() == simulation.snapshot()
    assert model.value("loop.hold_down.is_closed") == 0.0


@pytest.mark.parametrize(
    ("function", "loop", "reason"),
    [
        ("lj_attach", "hold_down", "loop 'hold_down' is closed already"),
        ("lj_release", "latch", "loop 'latch' is open already"),
        ("lj_release", "cable_1", "always closed and cannot be released; write 'switchable: true'"),
        ("lj_attach", "none", "has no loop 'none'"),
        ("lj_attach", "x" * 5000, "has no loop 'xxx"),
    ],
)
def test_refusals_change_nothing(opened, array, function, loop, reason):
    model = opened(array)
    before = model.snapshot()
    assert model.switch(function, loop)[0] == BAD_ARGUMENT
    assert reason in model.error
    assert model.snapshot() == before


def test_out_of_reach(opened):
    system = docking()
    (name,) = (loop.name for loop in system.loops if loop.switchable and loop.joins)
    loops = tuple(replace(loop, reach=1e-9) if loop.name == name else loop for loop in system.loops)
    system = replace(system, loops=loops)
    model, simulation = opened(system), lj.Simulation(system)
    with pytest.raises(lj.ArgumentError) as refused:
        simulation.attach(name)
    before = model.snapshot()
    status, impact = model.switch("lj_attach", name)
    assert status == OUT_OF_REACH
    assert f"{impact.distance:.6g} m apart" in model.error
    assert f"{impact.distance:.6g} m apart" in str(refused.value)
    assert model.snapshot() == before


def test_the_impact_need_not_be_given(opened, array):
    model = opened(array)
    assert model.call("lj_release", b"hold_down", None) == OK
    assert model.call("lj_attach", None, None) == BAD_ARGUMENT
    assert "'loop' is NULL" in model.error
    assert library().lj_attach(None, b"latch", None) == BAD_ARGUMENT
