"""Booleans, and models with closed loops, as the shim handles them."""

from __future__ import annotations

from ctypes import c_bool, c_int32, c_size_t

import pytest

from tests.fmu import shim_model as toy
from tests.fmu.shim_build import CO_SIMULATION, MODEL_EXCHANGE, OK, Fmu, location, vector
from tests.fmu.shim_model import DT, REFERENCE
from tests.fmu.test_shim_misuse import refused


def booleans(version: int, values: list[int]):
    """An array of the version's Booleans."""
    return ((c_bool if version == 3 else c_int32) * len(values))(*values)


def boolean_place(fmu: Fmu, place: int) -> tuple[int, bool]:
    """Status and value of a Boolean variable, by value reference."""
    value = booleans(fmu.version, [0])
    more = (c_size_t(1),) if fmu.version == 3 else ()
    return fmu.call("GetBoolean", vector([place]), c_size_t(1), value, *more), bool(value[0])


def assign_place(fmu: Fmu, place: int, value: int) -> int:
    more = (c_size_t(1),) if fmu.version == 3 else ()
    return fmu.call("SetBoolean", vector([place]), c_size_t(1), booleans(fmu.version, [value]), *more)


def boolean(fmu: Fmu, name: str) -> tuple[int, bool]:
    return boolean_place(fmu, REFERENCE[name])


def assign(fmu: Fmu, name: str, value: int) -> int:
    return assign_place(fmu, REFERENCE[name], value)


@pytest.mark.parametrize("kind", [CO_SIMULATION, MODEL_EXCHANGE])
def test_a_boolean_input_is_one_or_zero_in_the_model(opened, kind):
    fmu = opened(kind)
    assert fmu.enter() == OK
    assert boolean(fmu, "latch") == (OK, False)
    assert assign(fmu, "latch", 1) == OK
    assert fmu.call("ExitInitializationMode") == OK
    assert boolean(fmu, "latch") == boolean(fmu, "latched") == (OK, True)
    if kind == CO_SIMULATION:
        assert fmu.step(0.0, DT)[0] == OK
        assert assign(fmu, "latch", 0) == OK
        assert boolean(fmu, "latched") == (OK, False)


def test_any_number_but_zero_is_true_in_fmi_2(opened, version):
    fmu = opened(CO_SIMULATION)
    assert fmu.start() == OK
    assert assign(fmu, "latch", -7) == OK
    assert boolean(fmu, "latched") == (OK, True)


def test_states_carry_booleans(opened):
    fmu = opened(CO_SIMULATION)
    assert fmu.start() == OK
    assert assign(fmu, "latch", 1) == OK
    status, saved = fmu.save()
    assert status == OK
    assert assign(fmu, "latch", 0) == OK
    assert fmu.restore(saved) == OK
    assert boolean(fmu, "latched") == (OK, True)


@pytest.mark.parametrize(("name", "words"), [("angle", "'angle' is a Float64"), ("note#1 at 100%", "is a String")])
def test_other_types_are_no_booleans(opened, name, words):
    fmu = opened(CO_SIMULATION)
    assert fmu.start() == OK
    refused(fmu, boolean(fmu, name)[0], words)
    assert fmu.start() == OK
    refused(fmu, assign(fmu, name, 1), words)


def test_a_boolean_is_no_number(opened):
    fmu = opened(CO_SIMULATION)
    assert fmu.start() == OK
    refused(fmu, fmu.get(REFERENCE["latch"])[0], "'latch' is a Boolean")
    assert fmu.start() == OK
    refused(fmu, fmu.derivative([REFERENCE["torque"]], [REFERENCE["latch"]], [1.0], 1)[0], "is not a real number")


def test_a_boolean_output_cannot_be_set(opened):
    fmu = opened(CO_SIMULATION)
    assert fmu.start() == OK
    refused(fmu, assign(fmu, "latched", 1), "computed by the model")


def test_null_pointers_and_lengths(opened, version):
    fmu = opened(CO_SIMULATION)
    one, more = vector([REFERENCE["latch"]]), (c_size_t(1),) if version == 3 else ()
    for name in ("GetBoolean", "SetBoolean"):
        assert fmu.start() == OK
        refused(fmu, fmu.call(name, None, c_size_t(1), booleans(version, [0]), *more), "valueReferences is NULL")
        assert fmu.start() == OK
        refused(fmu, fmu.call(name, one, c_size_t(1), None, *more), "values is NULL")
        if version == 3:
            assert fmu.start() == OK
            refused(fmu, fmu.call(name, one, c_size_t(1), booleans(3, [0, 0]), c_size_t(2)), "values were given")


def test_closed_loops_have_no_model_exchange(shim_library, tmp_path, version):
    folder = location(toy.PlantData(loops=2).write(tmp_path / "loops"), version)
    fmu = Fmu(shim_library, version, MODEL_EXCHANGE, folder)
    assert fmu.c is None
    assert "a model with closed loops has no Model Exchange" in fmu.errors()[-1]
