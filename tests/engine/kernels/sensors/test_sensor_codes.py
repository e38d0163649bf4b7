"""The kernels read every sensor as a sensor of its target: those of the table, and one that is appended to it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from limberjack.engine.kernels.sensors import outputs
from limberjack.engine.kernels.slopes.state import sees_closed_forms
from limberjack.engine.tables.sensor_types import CLOSED_FORMS, SENSOR_TYPES

#: target → the functions that may read it; others read a number in the place
READERS = {
    "node": {"_node_output", "_optical_output", "_magnetic_field", "node_pose"},
    "contact": {"_contact_output"},
    "motor": {"_drive_output"},
    "thruster": {"_drive_output"},
    "flexible body": {"strain_energy"},
}


def readers_of(kind: int, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Which functions read a sensor of this code, in the kernel as it is written."""
    called: set[str] = set()
    results = {"node_pose": ((1.0,) * 9, (1.0,) * 3)}
    for name in {"store3", *(each for readers in READERS.values() for each in readers)}:
        result = results.get(name, 0.0)
        monkeypatch.setattr(outputs, name, lambda *_, name=name, result=result: called.add(name) or result)
    # the kernel as it is written: compiled, it calls what it was compiled with
    plant, numbers = SimpleNamespace(sensor_int=np.array([[kind, 0, 0]])), np.zeros(6)
    outputs._see.py_func(plant, SimpleNamespace(tau=numbers), numbers, numbers, numbers.copy())
    return called - {"store3"}


@pytest.mark.parametrize("name", SENSOR_TYPES)
def test_a_sensor_is_read_as_its_target_is(name, monkeypatch):
    code, target = list(SENSOR_TYPES).index(name), SENSOR_TYPES[name].target
    assert code == getattr(outputs, name.upper())
    called = readers_of(code, monkeypatch)
    assert called <= READERS.get(target, set())
    assert called or target not in READERS


def test_an_appended_code_is_not_read_as_a_contact(monkeypatch):
    """Rows of contacts, motors and instruments would be read outside of their tables."""
    assert readers_of(len(SENSOR_TYPES), monkeypatch) == {"_node_output"}


def test_slopes_are_closed_only_if_those_of_all_sensors_are():
    """FMUs take differences where the kernel refuses; a sensor that it left out would have slopes of zero."""
    codes = {name: code for code, name in enumerate(SENSOR_TYPES)}
    closed = [[codes[name], 0, 0] for name in CLOSED_FORMS]
    assert sees_closed_forms.py_func(SimpleNamespace(sensor_int=np.array(closed)))
    for name in SENSOR_TYPES.keys() - CLOSED_FORMS:
        assert not sees_closed_forms.py_func(SimpleNamespace(sensor_int=np.array([*closed, [codes[name], 0, 0]])))
