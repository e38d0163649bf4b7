"""Long communication steps of the process coupling: in portions, cancelled, ended early, with an engine that hangs."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

import limberjack as lj
from tests.fmu.coupled_fmu import FakeEngine, children, right, same, state
from tests.fmu.shim_build import DISCARD, ERROR, OK, Stepping

DT = 1e-3
#: s; more than ten minutes of computing
LONG = 800_000.0


def cancel(unit, stepping):
    """As soon as the step runs."""
    while unit.call("CancelStep") != OK:
        assert stepping.is_alive(), unit.log


def test_a_cancelled_step_stands_where_the_engine_got(fmu, arm):
    unit, simulation = fmu(2), lj.Simulation(arm)
    stepping = Stepping(unit, LONG)
    time.sleep(0.3)
    cancel(unit, stepping)
    status, reached = stepping.ended()
    count = round(reached / DT)
    assert status == DISCARD
    assert 0 < count < LONG / DT
    assert "was cancelled at" in unit.log[-1][2]
    simulation.step(count)
    assert same(unit, simulation)
    assert unit.call("Reset") == OK
    assert unit.start() == OK
    assert unit.step(0.0, 0.1)[0] == OK
    simulation.reset()
    simulation.step(100)
    assert same(unit, simulation)


def test_an_importer_asks_for_an_early_return(fmu, arm):
    times = []
    unit = fmu(3, update=lambda now, can_return: times.append(now) or can_return)
    simulation = lj.Simulation(arm)
    assert unit.start() == OK
    status, reached = unit.step(0.0, LONG)
    assert (status, unit.returned_early) == (OK, True)
    assert times == [reached]
    count = round(reached / DT)
    simulation.step(count)
    assert same(unit, simulation)
    status, reached = unit.step(reached, 10 * DT)
    assert (status, unit.returned_early) == (OK, False)
    simulation.step(10)
    assert same(unit, simulation)


@pytest.mark.parametrize("name", ["Terminate", "Reset", "FreeInstance"])
def test_a_life_is_ended_from_another_thread(fmu, name):
    inside = threading.Event()
    unit = fmu(3, update=lambda *_: inside.set() or False)
    stepping = Stepping(unit, LONG)
    assert inside.wait(60.0)
    unit.call(name)
    assert stepping.ended()[0] == DISCARD
    if name == "FreeInstance":
        unit.c = None
    assert len(children()) == (name == "Reset")


def test_cancelled_while_the_engine_hangs(fmu):
    """The reply is not waited for as long as engine.timeout allows."""
    unit = fmu(2)
    assert unit.assign("engine.timeout", 1e5) == OK
    stepping = Stepping(unit, LONG)
    time.sleep(0.3)
    os.kill(children()[0], signal.SIGSTOP)
    time.sleep(0.3)
    cancel(unit, stepping)
    assert stepping.ended()[0] == ERROR
    assert "no reply to 'step' within" in unit.last_error()


def test_a_step_may_take_longer_than_a_reply(fmu, address):
    """It goes out in portions that fit the engine's pace."""
    made = 0

    def answer(kind, sequence, client):
        nonlocal made
        if kind != "step":
            return right(kind, sequence, client)
        made += engine.bodies[-1][0]
        time.sleep(5e-3 * engine.bodies[-1][0])
        return state(sequence, client, steps=made)

    with FakeEngine(address, answer) as engine:
        unit = fmu(endpoint=address)
        assert unit.assign("engine.timeout", 1.5) == OK
        assert unit.start() == OK
        assert unit.step(0.0, 0.6) == (OK, 0.6), unit.log
        asked = [body[0] for kind, body in zip(engine.kinds, engine.bodies) if kind == "step"]
        assert sum(asked) == 600
        assert max(asked) <= 21
        assert len(asked) > 20
