"""What the C interface answers to wrong calls and wrong files: the status, and a sentence with cause and remedy."""

from __future__ import annotations

import ctypes
import math
import struct

import pytest

import limberjack as lj
from limberjack.engine.model.archive import to_bytes
from limberjack.engine.native.plant_file import read_plant_file
from limberjack.engine.tables.plant import FORMAT_VERSION
from tests.engine.full_model import full_model
from tests.engine.native.c_model import ABI, BAD_ARGUMENT, CANNOT_OPEN, DIVERGED, NOT_FINITE, OK, CModel, library
from tests.fmu.shim_model import sealed

HEAD = 56
NAN, INFINITE = math.nan, math.inf


@pytest.fixture
def model(opened) -> CModel:
    return opened(full_model())


@pytest.fixture
def content(arm, tmp_path) -> bytes:
    """A compiled model."""
    return lj.compile_model(arm, tmp_path / "good.ljm").read_bytes()


def refused(path: object, status: int = CANNOT_OPEN, abi: int = ABI) -> str:
    """Why a file is not opened; the handle is of no use then."""
    model = CModel(path, abi)  # type: ignore[arg-type]
    assert model.opened == status
    assert model.call("lj_count") == model.call("lj_snapshot_size") == 0
    assert model.call("lj_time") == model.call("lj_dt") == 0.0
    reason = model.error
    assert model.step() == model.call("lj_reset", 1) == BAD_ARGUMENT
    assert model.error == reason
    model.close()
    return reason


def test_no_file(tmp_path):
    assert "cannot open" in refused(tmp_path / "none.ljm")
    assert "limberjack compile" in refused(tmp_path / "none.ljm")
    assert "cannot open" in refused(tmp_path)
    assert "'path' is NULL" in refused(None, BAD_ARGUMENT)
    assert "cannot open" in refused("ü" * 3000)


def test_another_abi(content, tmp_path):
    reason = refused(tmp_path / "good.ljm", abi=ABI + 1)
    assert f"ABI {ABI + 1}, this library has ABI {ABI}" in reason
    assert library().lj_abi() == ABI
    assert library().lj_format() == FORMAT_VERSION
    level = library().lj_level
    level.restype = ctypes.c_char_p
    assert level() in (b"x86-64-v2", b"x86-64-v3", b"x86-64-v4", b"aarch64")


def test_a_model_that_is_not_compiled(arm, tmp_path):
    path = tmp_path / "plain.ljm"
    path.write_bytes(to_bytes(arm))
    assert "is not compiled; write it again with 'limberjack compile MODEL'" in refused(path)


def test_files_that_are_damaged(content, tmp_path):
    path = tmp_path / "bad.ljm"
    plant = struct.unpack_from("<I", content, 12)[0]
    cases = {
        "damaged": content[: HEAD + 400] + bytes([content[HEAD + 400] ^ 1]) + content[HEAD + 401 :],
        "was cut": content[:-1],
        "cannot be a model's data": content[:40],
        "too short": content[:12] + struct.pack("<I", 8) + content[16:],
        "does not start like": b"X" + content[1:],
        "has format": content[:HEAD] + sealed(content[HEAD : HEAD + 8] + b"\x09" + content[HEAD + 9 : HEAD + plant]),
    }
    cases["has format"] += content[HEAD + plant :]
    for reason, wrong in cases.items():
        path.write_bytes(wrong)
        assert reason in refused(path), reason
    path.write_bytes(cases["damaged"])
    with pytest.raises(lj.ModelError, match="damaged"):
        lj.load(path)


def test_tables_that_would_lead_outside(content, tmp_path):
    """Every int of the model, spoilt with a right checksum: refused, or a model that runs."""
    path, plant = tmp_path / "bad.ljm", struct.unpack_from("<I", content, 12)[0]
    file = content[HEAD : HEAD + plant]
    header = read_plant_file(file).header
    reasons = set()
    for i in range(0, header["n_ints"], 7):
        at = header["at_ints"] + 8 * i
        spoilt = sealed(file[:at] + struct.pack("<q", 2**40) + file[at + 8 :])
        path.write_bytes(content[:HEAD] + spoilt + content[HEAD + plant :])
        model = CModel(path)
        if model.opened == OK:
            assert model.step() in (OK, DIVERGED)
        else:
            reasons.add(model.error)
        model.close()
    assert any("cannot be those of a model for this binary" in reason for reason in reasons)


def test_names_and_indices(model):
    index = ctypes.c_uint32(7)
    assert model.call("lj_find", b"q.nothing", ctypes.byref(index)) == BAD_ARGUMENT
    assert "no quantity 'q.nothing'" in model.error
    assert index.value == 7
    assert model.call("lj_find", b"kinetic", ctypes.byref(index)) == BAD_ARGUMENT
    assert "the whole name may be 'energy.kinetic'" in model.error
    assert model.call("lj_find", b"y" * 5000, ctypes.byref(index)) == BAD_ARGUMENT
    count = model.call("lj_count")
    assert model.get(0, count)[0] == BAD_ARGUMENT
    assert f"indices[1] is {count}; the model has {count} quantities" in model.error
    assert model.set([count], [0.0]) == BAD_ARGUMENT
    assert model.call("lj_describe", count, None) == BAD_ARGUMENT
    assert "'quantity' is NULL" in model.error


def test_null(model):
    assert model.call("lj_find", None, None) == BAD_ARGUMENT
    assert model.call("lj_get", None, 1, None) == BAD_ARGUMENT
    assert "'indices' is NULL" in model.error
    assert model.call("lj_get", None, 0, None) == OK
    assert model.call("lj_snapshot", None, model.call("lj_snapshot_size")) == BAD_ARGUMENT
    loaded = library()
    assert loaded.lj_step(None, 1) == loaded.lj_get(None, None, 0, None) == loaded.lj_reset(None, 0) == BAD_ARGUMENT
    assert loaded.lj_open_abi(b"x", ABI, None) == BAD_ARGUMENT
    assert loaded.lj_count(None) == loaded.lj_snapshot_size(None) == loaded.lj_time(None) == 0
    assert b"the model is NULL" in loaded.lj_error(None)
    loaded.lj_close(None)


def described(model: CModel, word: str) -> list[str]:
    return [name for name in model.names() if name.startswith("parameter.") and name.endswith(word)]


@pytest.mark.parametrize("value", [NAN, INFINITE, -INFINITE])
def test_numbers_that_are_not_finite(model, value):
    before = model.snapshot()
    for group in ("q.", "v.", "command."):
        name = next(name for name in model.names() if name.startswith(group))
        assert model.assign(name, value) == BAD_ARGUMENT
        assert "is not a finite number" in model.error
    assert model.assign(described(model, ".mass")[0], value) == BAD_ARGUMENT
    assert model.snapshot() == before


def test_values_are_set_all_or_none(model):
    first, second, *_ = (model.find(name) for name in model.names() if name.startswith("command."))
    before = model.snapshot()
    assert model.set([first, second], [0.5, NAN]) == BAD_ARGUMENT
    assert model.snapshot() == before


def test_what_is_computed_cannot_be_set(model):
    for name in ("time", "energy.total", next(name for name in model.names() if name.startswith("output."))):
        assert model.assign(name, 0.0) == BAD_ARGUMENT
        assert f"'{name}' cannot be set: it is computed" in model.error
        assert not model.quantity(model.find(name)).settable


def test_ranges_of_parameters_are_those_of_python(model):
    simulation = lj.Simulation(full_model())
    values = (-1.0, 0.0, 0.3, INFINITE, -INFINITE, NAN)
    for name in simulation.parameters:
        index = model.find(f"parameter.{name}")
        kept = simulation.parameters[name]
        for value in values:
            crossing = name.endswith((".lower", ".upper"))
            if crossing and math.isfinite(value):
                continue  # Python looks at once whether stops are crossed, C before the next step
            try:
                simulation.parameters[name] = value
                expected = OK
            except lj.ArgumentError:
                expected = BAD_ARGUMENT
            assert model.set([index], [value]) == expected, (name, value, model.error)
            simulation.parameters[name] = kept
            assert model.set([index], [kept]) == expected or expected == BAD_ARGUMENT


def test_stops_that_are_crossed(model):
    name = next(n for n in described(model, ".lower") if model.quantity(model.find(n)).settable)
    upper = model.value(name.replace(".lower", ".upper"))
    before = model.snapshot()
    assert model.assign(name, upper + 1.0) == OK  # the other stop may follow
    assert model.step() == BAD_ARGUMENT
    assert "are crossed" in model.error
    assert model.get(model.find("energy.total"))[0] == BAD_ARGUMENT
    assert model.snapshot() == before
    assert model.assign(name.replace(".lower", ".upper"), upper + 2.0) == OK
    assert model.step() == OK


def test_a_quaternion_is_set_one_number_after_the_other(model):
    names = [name for name in model.names() if name.startswith("q.") and name.endswith((".qw", ".qx", ".qy", ".qz"))][
        :4
    ]
    assert model.assign(names[0], 0.6) == OK
    assert model.step() == BAD_ARGUMENT
    assert "does not have length 1" in model.error
    assert model.set([model.find(name) for name in names[1:]], [0.0, 0.8, 0.0]) == OK
    assert model.step() == OK, model.error


def test_numbers_of_steps(model):
    for n in (-1, 2**53 + 1, -(2**63)):
        assert model.step(n) == BAD_ARGUMENT
        assert "0 to 2^53" in model.error
    assert model.step(0) == OK
    assert model.call("lj_time") == 0.0


def test_a_run_that_diverges_stands_at_its_last_good_step(opened, arm):
    model, simulation = opened(arm), lj.Simulation(arm)
    assert model.assign("command.joint1", 1e14) == OK
    simulation.command["joint1"] = 1e14
    assert model.step(1000) == DIVERGED
    assert "'joint" in model.error
    assert "the step with which the model was compiled (0.001 s)" in model.error
    with pytest.raises(lj.SimulationError):
        simulation.step(1000)
    assert model.snapshot() == simulation.snapshot()


def test_outputs_that_are_not_finite(opened, arm):
    model = opened(arm)
    assert model.assign("v.joint1", 1e200) == OK
    assert model.get(model.find("vdot.joint2"))[0] == NOT_FINITE
    assert "'vdot.joint2' is not a finite number" in model.error


def test_snapshot_of_the_wrong_size(model):
    size = model.call("lj_snapshot_size")
    assert model.call("lj_snapshot", ctypes.create_string_buffer(size + 8), size + 8) == BAD_ARGUMENT
    assert f"has {size} bytes, not {size + 8}" in model.error
