"""Models as bytes: exact for whatever was loaded, and damage never passes."""

from __future__ import annotations

import dataclasses
import hashlib
import struct
from importlib.resources import as_file, files
from pathlib import Path

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import limberjack as lj
from limberjack.cli import main
from limberjack.engine.model import archive
from limberjack.engine.model.archive import from_bytes, to_bytes
from limberjack.engine.model.build import build
from limberjack.engine.model.elements.drive import Actuator
from limberjack.engine.model.elements.sensor import Sensor
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Node, System
from limberjack.engine.model.validate import validate

HERE = Path(__file__).parent


def same(a: object, b: object) -> bool:
    """Equal to the last bit, fields of dataclasses one by one."""
    if dataclasses.is_dataclass(a):
        return type(a) is type(b) and all(
            same(getattr(a, field.name), getattr(b, field.name)) for field in dataclasses.fields(a)
        )
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return isinstance(b, float) and struct.pack("d", a) == struct.pack("d", b)
    return type(a) is type(b) and a == b


def arm() -> System:
    return lj.load(HERE / "arm.yaml")


def manipulator() -> System:
    with as_file(files("limberjack.examples") / "space_manipulator.yaml") as path:
        return lj.load(path)


def crooked() -> System:
    """Numbers without a short decimal form, several hinge types, a custom map, names beyond ASCII."""
    rng = np.random.default_rng(7)
    axis = rng.normal(size=(1, 3))
    inertia = Inertia(1.0 / 3.0, rng.normal(size=3), np.diag([0.1, 0.2, 0.25]) + 1e-17)
    first = Hinge("φ", "revolute", None, axes=axis, dofs=(Dof(damping=0.1 + 0.2, lower=-np.pi, upper=np.e),))
    second = Hinge("wild", "custom", "bödy", map=rng.normal(size=(6, 2)))
    bodies = (Body("bödy", inertia, first), Body("tip", inertia, second))
    drive = Actuator("drive", "φ", "servo", kp=1 / 7, kd=1 / 11)
    return validate(System("crooked", bodies, (Node("n", "tip"),), (drive,), (Sensor("s", "gyro", "n"),), dt=1 / 3000))


@pytest.mark.parametrize("make", [arm, manipulator, crooked])
def test_a_model_comes_back_to_the_last_bit(make):
    system = make()
    back = from_bytes(to_bytes(system), "model.ljm")
    assert same(system, back)
    first, second = build(system), build(back)
    assert first.ints.tobytes() == second.ints.tobytes()
    assert first.floats.tobytes() == second.floats.tobytes()
    assert first.parameters == second.parameters
    assert to_bytes(back) == to_bytes(system)


def test_load_and_the_command_line_read_it(tmp_path, capsys):
    system = manipulator()
    path = tmp_path / "model.ljm"
    path.write_bytes(to_bytes(system))
    assert same(lj.load(path), system)
    assert lj.Simulation(lj.load(path)).model_hash == lj.Simulation(system).model_hash
    assert main(["check", str(path)]) == 0
    floating = lj.load(path, base="fixed")
    assert floating.nq < system.nq
    assert capsys.readouterr().err == ""


def test_kept_warnings_are_said_again_and_strict_refuses(tmp_path):
    system = dataclasses.replace(arm(), warnings=("arm.yaml:3: odd; kept as given",))
    path = tmp_path / "model.ljm"
    path.write_bytes(to_bytes(system))
    with pytest.warns(lj.ModelWarning, match="odd; kept"):
        assert lj.load(path).warnings == system.warnings
    with pytest.raises(lj.ModelError, match="refused because of strict"):
        lj.load(path, strict=True)


@given(st.data())
def test_any_changed_bit_is_refused(data):
    good = bytearray(GOOD)
    place = data.draw(st.integers(0, len(good) - 1))
    good[place] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(lj.ModelError, match=r"^model\.ljm: "):
        from_bytes(bytes(good), "model.ljm")


@given(st.integers(0, 3000))
def test_any_cut_is_refused(length):
    with pytest.raises(lj.ModelError):
        from_bytes(GOOD[: min(length, len(GOOD) - 1)], "model.ljm")


@given(st.binary(max_size=300))
def test_foreign_bytes_are_refused(data):
    with pytest.raises(lj.ModelError):
        from_bytes(data, "model.ljm")


def forged(content: object, catalogue: object = None) -> bytes:
    """A file with a right header and checksum around this content."""
    body = msgpack.packb([archive._catalogue() if catalogue is None else catalogue, content])
    return archive._HEADER.pack(archive._MAGIC, 1, 0, len(body), hashlib.sha256(body).digest()) + body


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text() | st.binary(max_size=30),
    lambda inner: st.lists(inner, max_size=10) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=30,
)


@given(JUNK)
def test_forged_content_is_refused(content):
    with pytest.raises(lj.ModelError):
        from_bytes(forged(content), "model.ljm")


@given(st.data())
def test_a_forged_field_is_refused_or_gives_a_checked_model(data):
    """Any one value of a good file exchanged for junk: ModelError, or a model that can be built."""
    _, content = msgpack.unpackb(GOOD[archive._HEADER.size :])
    node = content
    while True:
        place = data.draw(st.integers(0, len(node) - 1))
        if type(node[place]) is not list or not node[place] or data.draw(st.booleans()):
            break
        node = node[place]
    node[place] = data.draw(JUNK)
    try:
        system = from_bytes(forged(content), "model.ljm")
    except lj.ModelError:
        return
    assert isinstance(system, System)


def test_other_fields_other_version_and_wrong_types():
    _, content = msgpack.unpackb(GOOD[archive._HEADER.size :])
    with pytest.raises(lj.ModelError, match="other fields"):
        from_bytes(forged(content, {"System": [["name", "str"]]}), "model.ljm")
    newer = bytearray(GOOD)
    newer[8] = 3
    with pytest.raises(lj.ModelError, match="format 3"):
        from_bytes(bytes(newer), "model.ljm")
    with pytest.raises(lj.ModelError, match=r"system\.dt is 'fast'"):
        to_bytes(dataclasses.replace(arm(), dt="fast"))


def test_types_may_have_moved_to_other_modules_and_may_not_be_others():
    catalogue, content = msgpack.unpackb(GOOD[archive._HEADER.size :])
    (alarms,) = (field for field in catalogue["System"] if field[0] == "alarms")
    assert alarms[1] == "tuple[Alarm, ...]"
    alarms[1] = "tuple[limberjack.engine.model.alarms.Alarm, ...]"
    assert same(from_bytes(forged(content, catalogue), "model.ljm"), arm())
    alarms[1] = "tuple[limberjack.engine.model.alarms.Bounds, ...]"
    with pytest.raises(lj.ModelError, match="other fields"):
        from_bytes(forged(content, catalogue), "model.ljm")


def test_a_catalogue_without_end_is_refused():
    with pytest.raises(lj.ModelError, match="other fields"):
        from_bytes(forged([], {"System": [["name", "str"]] * 50_000}), "model.ljm")


def test_a_missing_file_names_itself(tmp_path):
    with pytest.raises(lj.ModelError, match=r"absent\.ljm: the file does not exist"):
        lj.load(tmp_path / "absent.ljm")


GOOD = to_bytes(arm())


def test_a_compiled_model_is_the_same_model():
    system = arm()
    compiled = to_bytes(system, b"plant file")
    assert same(from_bytes(compiled, "model.ljm"), system)
    header, rest = compiled[: archive._HEADER.size], compiled[archive._HEADER.size :]
    assert rest == b"plant file" + to_bytes(system)[archive._HEADER.size :]
    for wrong in (0, len(rest) + 1):  # bytes of the plant file
        with pytest.raises(lj.ModelError, match="damaged"):
            from_bytes(header[:12] + struct.pack("<I", wrong) + header[16:] + rest, "model.ljm")
