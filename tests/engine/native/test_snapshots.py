"""Snapshots of the C interface: they go on with the same bits, in C and in Python; damage does not pass."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import limberjack as lj
from tests.engine.native.c_model import BAD_ARGUMENT, OK, in_python
from tests.fmu.closed_model import docking
from tests.fmu.device_model import equipped

AT_STATE = 56


def test_a_snapshot_continues_with_the_same_bits(opened):
    model = opened(equipped())
    assert model.step(20) == OK
    before = model.snapshot()
    assert model.step(30) == OK
    after = model.snapshot()
    assert model.restore(before) == OK
    assert model.snapshot() == before
    assert model.step(30) == OK
    assert model.snapshot() == after


@pytest.mark.parametrize("make", [equipped, docking])
def test_c_and_python_restore_each_others(make, opened):
    model, simulation = opened(make()), lj.Simulation(make())
    simulation.step(15)
    assert model.restore(simulation.snapshot()) == OK, model.error
    assert model.step(10) == OK
    simulation.step(10)
    assert model.snapshot() == simulation.snapshot()
    assert model.step(5) == OK
    simulation.restore(model.snapshot())
    expected = list(in_python(simulation).values())
    assert model.get(*range(len(expected)))[1].tobytes() == np.array(expected).tobytes()


def damaged(good: bytes, switch: int) -> dict[str, bytes]:
    """Why it is refused → the bytes. switch : place of the first switch in the state"""

    def with_number(place: int, value: float) -> bytes:
        at = AT_STATE + 8 * place
        return good[:at] + struct.pack("<d", value) + good[at + 8 :]

    return {
        "has ": good[:-8],
        "not a snapshot": b"X" + good[1:],
        "another model": good[:8] + b"0" * 32 + good[40:],
        "another dt": good[:40] + struct.pack("<d", 0.5) + good[48:],
        "not finite": with_number(5, float("nan")),
        "its time does not match": with_number(1, 4.0),
        "length 1": with_number(2, 2.0),
        "neither closed nor open": with_number(switch, 0.5),
    }


def test_damage_is_refused_and_changes_nothing(opened):
    model = opened(docking())
    assert model.step(3) == OK
    good = model.snapshot()
    switch, _ = lj.Simulation(docking()).state_layout["switch"]
    for reason, content in damaged(good, switch).items():
        assert model.restore(content) == BAD_ARGUMENT, reason
        assert reason in model.error
        assert model.snapshot() == good
