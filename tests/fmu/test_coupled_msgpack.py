"""The shim's msgpack against the Python package: what one writes the other reads, and damage is noticed."""

from __future__ import annotations

import ctypes
import math
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_double, c_size_t, c_uint32, c_uint64, c_void_p

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fmu.shim_build import SHIM, compile_c


class Packer(Structure):
    _fields_ = (("bytes", c_void_p), ("size", c_size_t), ("used", c_size_t), ("full", c_bool))


class Unpacker(Structure):
    _fields_ = (("at", c_void_p), ("end", c_void_p), ("bad", c_bool))


@pytest.fixture(scope="module")
def lib(tmp_path_factory):
    path = tmp_path_factory.mktemp("msgpack") / "msgpack.so"
    source = SHIM / "coupled_msgpack.c"
    found = ctypes.CDLL(str(compile_c(path, [source], "-O1", "-shared", "-fPIC", "-fvisibility=default")))
    found.pack_float.argtypes = [POINTER(Packer), c_double]
    found.pack_unsigned.argtypes = [POINTER(Packer), c_uint64]
    found.pack_binary.argtypes = [POINTER(Packer), c_char_p, c_size_t]
    found.unpack_array.restype = found.unpack_map.restype = c_uint32
    found.unpack_unsigned.restype = c_uint64
    found.unpack_float.restype = c_double
    found.unpack_text.restype = found.unpack_binary.restype = c_void_p
    found.unpack_is.restype = c_bool
    return found


PLAIN = (
    st.none() | st.integers(0, 2**64 - 1) | st.floats() | st.text(st.characters(codec="ascii", exclude_characters="\0"))
)
WRITABLE = st.recursive(
    PLAIN | st.binary(max_size=100),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text("abc", max_size=4), inner, max_size=20),
    max_leaves=40,
)
ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=70)
    | st.binary(max_size=70)
    | st.builds(msgpack.ExtType, st.integers(0, 127), st.binary(max_size=40)),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=3), inner, max_size=20),
    max_leaves=40,
)


def write(lib, packer, value):
    """Pack as the shim does."""
    if value is None:
        lib.pack_nil(byref(packer))
    elif isinstance(value, int):
        lib.pack_unsigned(byref(packer), value)
    elif isinstance(value, float):
        lib.pack_float(byref(packer), value)
    elif isinstance(value, str):
        lib.pack_text(byref(packer), value.encode())
    elif isinstance(value, bytes):
        lib.pack_binary(byref(packer), value, len(value))
    elif isinstance(value, list):
        lib.pack_array(byref(packer), len(value))
        for each in value:
            write(lib, packer, each)
    else:
        lib.pack_map(byref(packer), len(value))
        for key, each in value.items():
            write(lib, packer, key)
            write(lib, packer, each)


def alike(a, b):
    if isinstance(a, float) and math.isnan(a):
        return isinstance(b, float) and math.isnan(b)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key]) for key in a)
    return type(a) is type(b) and a == b


@given(value=WRITABLE)
def test_python_reads_what_the_shim_writes(lib, value):
    room = ctypes.create_string_buffer(20_000)
    packer = Packer(ctypes.addressof(room), len(room), 0, False)
    write(lib, packer, value)
    assert not packer.full
    assert alike(msgpack.unpackb(room.raw[: packer.used]), value)


@given(value=WRITABLE, size=st.integers(0, 50))
def test_what_does_not_fit_is_noticed_and_nothing_is_written_beyond(lib, value, size):
    room = ctypes.create_string_buffer(b"\xc1" * 100, 100)
    packer = Packer(ctypes.addressof(room), size, 0, False)
    write(lib, packer, value)
    assert room.raw[size:] == b"\xc1" * (100 - size)
    assert packer.used <= size
    assert packer.full or alike(msgpack.unpackb(room.raw[: packer.used]), value)


def reader(content):
    room = ctypes.create_string_buffer(content, max(len(content), 1))
    start = ctypes.addressof(room)
    return room, Unpacker(start, start + len(content), False)


def read(lib, unpacker, like):
    """Unpack a value of the same form as `like`."""
    size = c_size_t()
    if isinstance(like, bool) or like is None or isinstance(like, msgpack.ExtType):
        lib.unpack_skip(byref(unpacker))
        return like
    if isinstance(like, int):
        return lib.unpack_unsigned(byref(unpacker))
    if isinstance(like, float):
        return lib.unpack_float(byref(unpacker))
    if isinstance(like, str):
        return ctypes.string_at(lib.unpack_text(byref(unpacker), byref(size)), size.value).decode()
    if isinstance(like, bytes):
        at = lib.unpack_binary(byref(unpacker), byref(size))
        return ctypes.string_at(at, size.value)
    if isinstance(like, list):
        assert lib.unpack_array(byref(unpacker)) == len(like)
        return [read(lib, unpacker, each) for each in like]
    assert lib.unpack_map(byref(unpacker)) == len(like)
    return {read(lib, unpacker, key): read(lib, unpacker, each) for key, each in like.items()}


@given(value=WRITABLE)
def test_the_shim_reads_what_python_writes(lib, value):
    room, unpacker = reader(msgpack.packb(value))
    assert alike(read(lib, unpacker, value), value)
    assert not unpacker.bad
    assert unpacker.at == unpacker.end
    del room


@given(value=ANY, mark=st.integers(0, 127))
def test_one_value_is_left_out(lib, value, mark):
    room, unpacker = reader(msgpack.packb(value) + bytes([mark]))
    lib.unpack_skip(byref(unpacker))
    assert lib.unpack_unsigned(byref(unpacker)) == mark
    assert not unpacker.bad
    del room


@given(value=ANY, data=st.data())
def test_a_value_that_is_cut_is_noticed(lib, value, data):
    content = msgpack.packb(value)
    room, unpacker = reader(content[: data.draw(st.integers(0, len(content) - 1))])
    lib.unpack_skip(byref(unpacker))
    assert unpacker.bad
    assert lib.unpack_unsigned(byref(unpacker)) == 0  # and nothing more is read
    del room


@given(content=st.binary(max_size=60), names=st.lists(st.sampled_from(["array", "map", "unsigned", "float", "skip"])))
def test_any_bytes_are_read_inside_their_bounds(lib, content, names):
    room, unpacker = reader(content)
    for name in names:
        getattr(lib, f"unpack_{name}")(byref(unpacker))
        assert ctypes.addressof(room) <= unpacker.at <= unpacker.end
        if unpacker.bad:
            break


def test_a_wrong_type_and_a_giant_count_are_bad(lib):
    for content, name in (
        (msgpack.packb("text"), "unsigned"),
        (msgpack.packb(-1), "unsigned"),
        (msgpack.packb(1), "float"),
        (msgpack.packb(1.0, use_single_float=True), "float"),
        (msgpack.packb({}), "array"),
        (b"\xdd\xff\xff\xff\xff", "array"),
        (b"\xdf\xff\xff\xff\xff", "map"),
        (b"\xdd\xff\xff\xff\xff", "skip"),
        (b"\xc6\xff\xff\xff\xff", "skip"),
        (b"\xc1", "skip"),
    ):
        room, unpacker = reader(content)
        getattr(lib, f"unpack_{name}")(byref(unpacker))
        assert unpacker.bad, (content, name)
        del room


def test_a_word_is_recognised_and_another_stays(lib):
    room, unpacker = reader(msgpack.packb("state") + msgpack.packb("error"))
    assert not lib.unpack_is(byref(unpacker), b"stat")
    assert not lib.unpack_is(byref(unpacker), b"states")
    assert lib.unpack_is(byref(unpacker), b"state")
    assert lib.unpack_is(byref(unpacker), b"error")
    assert not lib.unpack_is(byref(unpacker), b"error")
    assert not unpacker.bad
    del room
