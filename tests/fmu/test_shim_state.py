"""FMU states: exact return, bytes that another process restores, refusal of foreign and damaged ones."""

from __future__ import annotations

import math
import struct
import subprocess
import sys
import zlib
from ctypes import c_size_t, c_void_p
from pathlib import Path

import pytest

from tests.fmu import shim_model as toy
from tests.fmu.shim_build import CO_SIMULATION, ERROR, MODEL_EXCHANGE, OK, Fmu, location
from tests.fmu.shim_model import DT, REFERENCE


@pytest.fixture
def resources(tmp_path, version):
    return location(toy.PlantData().write(tmp_path / "resources"), version)


@pytest.fixture
def fmu(shim_library, resources, version):
    """A Co-Simulation instance after 20 steps, with a command and a parameter changed."""
    fmu = Fmu(shim_library, version, CO_SIMULATION, resources)
    assert fmu.start(stop=10.0) == OK
    assert fmu.assign("torque_command", 2.5) == OK
    assert fmu.assign("mass", 1.7) == OK
    run(fmu, 0, 20)
    yield fmu
    fmu.free()


def run(fmu: Fmu, first: int, count: int) -> list[float]:
    """Steps, and all numbers at their end."""
    for k in range(first, first + count):
        assert fmu.step(k * DT, DT)[0] == OK
    status, values = fmu.get(*range(REFERENCE["misalignment"]))
    assert status == OK
    return values


def test_a_restored_state_continues_with_the_same_bits(fmu):
    status, state = fmu.save()
    assert status == OK
    wanted = run(fmu, 20, 30)
    assert fmu.assign("mass", 5.0) == OK
    assert fmu.restore(state) == OK
    assert fmu.value("mass") == 1.7
    assert run(fmu, 20, 30) == wanted
    assert fmu.call("Terminate") == OK
    assert fmu.restore(state) == OK
    assert run(fmu, 20, 30) == wanted
    assert fmu.step(0.0, -1.0)[0] == ERROR
    assert fmu.restore(state) == OK
    assert run(fmu, 20, 30) == wanted
    assert fmu.step(50 * DT, 10.0)[0] == ERROR  # the stop time is part of the state
    assert fmu.drop(state) == OK


def test_a_state_is_overwritten_in_place(fmu):
    _, state = fmu.save()
    wanted = run(fmu, 20, 10)
    status, again = fmu.save(into=state.value)
    assert (status, again.value) == (OK, state.value)
    later = run(fmu, 30, 10)
    assert fmu.restore(again) == OK
    assert run(fmu, 30, 10) == later != wanted


def test_bytes_are_restored_by_another_instance(fmu, shim_library, resources, version):
    content = fmu.serialized(fmu.save()[1])
    wanted = run(fmu, 20, 30)
    other = Fmu(shim_library, version, CO_SIMULATION, resources)
    status, state = other.deserialized(content)
    assert status == OK
    assert other.serialized(state) == content
    assert other.restore(state) == OK
    assert run(other, 20, 30) == wanted
    other.free()


def test_bytes_are_restored_by_another_process(fmu, shim_library, resources, version, tmp_path):
    (tmp_path / "state").write_bytes(fmu.serialized(fmu.save()[1]))
    wanted = run(fmu, 20, 30)
    program = (
        "import sys; from pathlib import Path; from tests.fmu.shim_build import *; from tests.fmu.test_shim_state "
        "import run\n"
        "fmu = Fmu(Path(sys.argv[1]), int(sys.argv[2]), CO_SIMULATION, sys.argv[3])\n"
        "status, state = fmu.deserialized(Path(sys.argv[4]).read_bytes())\n"
        "assert status == fmu.restore(state) == OK\n"
        "print([value.hex() for value in run(fmu, 20, 30)])\n"
    )
    command = [sys.executable, "-c", program, str(shim_library), str(version), resources, str(tmp_path / "state")]
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root)
    assert done.stdout.strip() == str([value.hex() for value in wanted]), done.stderr


def test_model_exchange_states_keep_the_mode(shim_library, resources, version):
    fmu = Fmu(shim_library, version, MODEL_EXCHANGE, resources)
    assert fmu.start() == OK
    _, state = fmu.save()
    assert fmu.call("EnterEventMode") == OK
    assert fmu.restore(state) == OK
    assert fmu.set_states([0.5] * 9) == OK  # Continuous-Time Mode again
    assert fmu.restore(state) == OK
    assert fmu.numbers("GetContinuousStates", 9)[1] == list(toy.START[2:11])
    fmu.free()


def test_every_damaged_byte_is_noticed(fmu):
    content = fmu.serialized(fmu.save()[1])
    for at in range(len(content)):
        damaged = bytearray(content)
        damaged[at] ^= 1 << at % 8
        status, state = fmu.deserialized(bytes(damaged))
        assert (status, state.value) == (ERROR, None), at
        assert "cannot be restored" in fmu.log[-1][2]
        fmu.call("Reset")


@pytest.mark.parametrize(
    ("place", "form", "value"),
    [(96, "<I", 0), (96, "<I", 1 << 2), (96, "<I", 3), (96, "<I", 1 << 8), (104, "<I", 5), (64, "<d", math.nan)],
)
def test_states_of_no_run_are_refused_though_their_checksum_is_right(fmu, place, form, value):
    """Phase (none, Model Exchange's, two, none of ours), status of the last step, time."""
    content = bytearray(fmu.serialized(fmu.save()[1]))
    struct.pack_into(form, content, place, value)
    struct.pack_into("<I", content, 12, zlib.crc32(content[16:]))
    status, state = fmu.deserialized(bytes(content))
    assert (status, state.value) == (ERROR, None)
    assert "of no run" in fmu.log[-1][2]


@pytest.mark.parametrize("size", [0, 1, 111, 112, 150])
def test_bytes_that_were_cut(fmu, size):
    content = fmu.serialized(fmu.save()[1])
    assert fmu.deserialized(content[:size])[0] == ERROR
    assert "too few" in fmu.log[-1][2] or "cut" in fmu.log[-1][2]


def test_bytes_of_other_fmus(fmu, shim_library, tmp_path, version):
    content = fmu.serialized(fmu.save()[1])
    other = Fmu(shim_library, version, MODEL_EXCHANGE, location(tmp_path / "resources", version))
    assert other.deserialized(content)[0] == ERROR
    assert "another interface" in other.log[-1][2]
    other.free()
    folder = toy.PlantData(dt=2 * DT).write(tmp_path / "slower")
    other = Fmu(shim_library, version, CO_SIMULATION, location(folder, version))
    assert other.deserialized(content)[0] == ERROR
    assert "another internal step" in other.log[-1][2]
    other.free()


def test_pointers_that_are_no_states(fmu, shim_library, resources, version):
    other = Fmu(shim_library, version, CO_SIMULATION, resources)
    _, foreign = other.save()
    _, freed = fmu.save()
    kept = c_void_p(freed.value)
    assert fmu.drop(freed) == OK
    for pointer in (c_void_p(None), c_void_p(1), foreign, kept):
        assert fmu.restore(pointer) == ERROR
        assert "not an FMU state of this instance" in fmu.log[-1][2]
        fmu.call("Reset")
    assert fmu.call(fmu.state_name("FreeFMUState"), None) == OK
    assert fmu.drop(c_void_p(None)) == OK
    assert fmu.call(fmu.state_name("GetFMUState"), None) == ERROR
    other.free()


def test_too_little_room_for_bytes(fmu):
    _, state = fmu.save()
    assert fmu.call(fmu.state_name("SerializeFMUState"), state, bytes(10), c_size_t(10)) == ERROR
    assert "too few" in fmu.log[-1][2]
