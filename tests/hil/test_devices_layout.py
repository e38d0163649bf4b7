"""Binary layouts: what is packed is what struct says, limits of types, mistakes in files with their place."""

from __future__ import annotations

import struct
import sys

import numpy as np
import pytest

import limberjack as lj
from limberjack.hil.devices.device import Wiring
from limberjack.hil.devices.message import Head, Message, newer
from limberjack.hil.devices.message_layout import read_layout
from limberjack.hil.devices.uri import device_from
from tests.hil.links import WIRING

COMMANDS = {"fields": [{"use": "sequence", "type": "u16"}, {"name": "motor", "type": "f32"}]}


def layout(*fields: dict, **more: object):
    """A layout with these signals."""
    return read_layout({"limberjack_layout": 1, "signals": {"fields": list(fields)}, "commands": COMMANDS} | more)


@pytest.mark.parametrize(("order", "sign"), [("little", "<"), ("big", ">")])
def test_every_type_is_packed_as_struct_does_with_scale_offset_and_limits(order, sign):
    codes = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i", "u64": "Q", "i64": "q"}
    codes |= {"f32": "f", "f64": "d"}
    names = tuple(codes)
    fields = [{"name": kind, "type": kind, "scale": 0.5, "offset": 1.0} for kind in codes]
    spec = {"limberjack_layout": 1, "byte_order": order, "signals": {"fields": fields, "check": "none"}}
    message = Message(read_layout(spec), "signals", names, b"")
    form = struct.Struct(sign + "".join(codes.values()))
    data = message.pack(Head(), np.full(10, 21.2))
    assert data == form.pack(*[40] * 8, 40.4, 40.4)
    assert message.unpack(data) == ""
    assert message.values == pytest.approx([21.0] * 8 + [21.2] * 2, abs=1e-6)
    low, high = (form.unpack(message.pack(Head(), np.full(10, value))) for value in (-1e300, 1e300))
    for i, kind in enumerate(names[:8]):
        bits = int(kind[1:])
        least, most = (0, 2**bits - 1) if kind[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        assert (low[i], high[i]) == (least, pytest.approx(most, rel=1e-15))
        assert high[i] <= most
    assert np.isfinite(high[8])
    assert form.unpack(message.pack(Head(), np.full(10, np.nan)))[:8] == (0,) * 8


def test_counters_wrap():
    assert newer(0, 65535, 65536)
    assert newer(32766, 65535, 65536)
    assert not newer(32767, 65535, 65536)
    assert not newer(5, 5, 65536)


@pytest.mark.parametrize(("kind", "code", "least"), [("i32", "<i", -(2**31)), ("u16", "<H", 0)])
def test_time_in_ticks_begins_again_where_its_type_ends(kind, code, least):
    fields = [{"use": "time", "type": kind, "scale": 1e-6}]
    message = Message(
        read_layout({"limberjack_layout": 1, "signals": {"fields": fields, "check": "none"}}), "signals", (), b""
    )
    wraps = 2 ** int(kind[1:])
    for ticks in (0, 1, wraps // 2 - 1, wraps // 2, wraps - 1, wraps, 5 * wraps + 3):
        found = struct.unpack(code, message.pack(Head(time=1e-6 * ticks), np.zeros(0)))[0]
        assert (found - ticks) % wraps == 0
        assert least <= found < least + wraps


@pytest.mark.parametrize(
    ("fields", "more", "words"),
    [
        ([{"type": "u33"}], {}, r"layout.signals.fields\[0\].type: 'u33'"),
        ([{"type": "u8", "nme": "x"}], {}, r"fields\[0\].nme: no layout has this field"),
        ([{"type": "u8"}], {}, r"signals.fields\[0\]: name and use: value belong together"),
        ([{"type": "u8", "use": "constant"}], {}, "value and use: constant"),
        ([{"type": "u8", "use": "constant", "value": 256}], {}, "does not fit into u8"),
        ([{"type": "f32", "use": "sequence"}], {}, "needs an integer type"),
        ([{"type": "u8", "use": "sequence"}], {}, "use u16, u32 or u64"),
        ([{"type": "u32", "use": "session"}], {}, "use u64"),
        ([{"type": "u32", "use": "answer"}], {}, "belongs to commands"),
        ([{"type": "f32", "name": "x", "scale": 0.0}], {}, "scale is 0"),
        ([{"type": "f32", "name": "x"}] * 2, {}, "name: x appears twice"),
        ([{"type": "f32", "name": "x"}], {"framing": "sync"}, "make it use: constant"),
        ([{"type": "f32", "name": "x"}], {"authenticate": "hmac_sha256"}, "could be played again"),
        ([{"type": "f32", "name": "x"}], {"byte_order": "middle"}, "byte_order: 'middle'"),
    ],
)
def test_mistakes(fields, more, words):
    with pytest.raises(lj.ArgumentError, match=words):
        layout(*fields, **more)


def test_a_mistake_in_a_file_has_its_line(tmp_path):
    fields = "    - {name: q.pivot, type: f32}\n    - {name: v.pivot, type: f31}\n"
    text = f"limberjack_layout: 1\nsignals:\n  fields:\n{fields}"
    (tmp_path / "drive.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(lj.ArgumentError, match=r"drive.yaml:5, signals.fields\[1\].type: 'f31'"):
        device_from("udp://127.0.0.1:9", "drive", {"layout": "drive.yaml"}, tmp_path)


def test_what_is_wired_and_what_the_layout_has_are_the_same():
    signals = [{"name": "q.pivot", "type": "f32"}, {"name": "v.pivot", "type": "f32"}]
    spec = {"limberjack_layout": 1, "signals": {"fields": signals}, "commands": COMMANDS}
    for changes, wiring, words in (
        ({"signals": {"fields": signals[:1]}}, WIRING, "signal 'v.pivot' is wired to the device, but its layout lacks"),
        ({}, Wiring(("q.pivot",), ("rad",), ("motor",)), "no signal wired to the device is called 'v.pivot'"),
        ({"commands": None}, WIRING, "layout has no 'commands'"),
    ):
        device = device_from("udp://127.0.0.1:9", "drive", {"layout": spec | changes})
        with pytest.raises(lj.ArgumentError, match=words):
            device.open(wiring)


@pytest.mark.parametrize(
    ("package", "uri"),
    [("serial", "serial:///dev/ttyS0"), ("can", "can://virtual/x?dbc=x"), ("cantools", "can://virtual/x?dbc=x")],
)
def test_a_package_that_is_missing_is_named_with_its_command(package, uri, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(lj.MissingExtraError, match=r'pip install "limberjack\[hil\]"'):
        device_from(uri, "servo")
