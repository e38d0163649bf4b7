"""The code that `limberjack messages` makes, in C and in Octave, beside the bench's own packing of random layouts."""

from __future__ import annotations

import ctypes
import math
import subprocess
from collections import deque
from pathlib import Path

import numpy as np
import pytest

from limberjack.cli import main
from limberjack.hil.c_program import compiler
from limberjack.hil.code.c_header import c_header
from limberjack.hil.code.forms import Forms, forms_of, identifier
from limberjack.hil.code.matlab_functions import matlab_functions
from limberjack.hil.devices.device import Link, Wiring
from limberjack.hil.devices.framing import framer
from limberjack.hil.devices.message import Head, Message
from limberjack.hil.devices.message_layout import LayoutSpec, default_layout, read_layout
from tests.hil.links import PENDULUM
from tests.hil.octave import needs_octave, octave

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
KINDS = ("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f32", "f64")
SEEDS = range(8)


def random_layout(seed: int) -> tuple[LayoutSpec, Wiring]:
    """Every type at random, scaled or not, heads with and without each field, either byte order, check and framing."""
    rng = np.random.default_rng(seed)
    spec: dict = {"limberjack_layout": 1, "byte_order": ("little", "big")[seed % 2]}
    spec["framing"] = ("cobs", "cobs", "sync", "sync")[seed % 4]
    names: dict[str, list[str]] = {}
    for part in ("signals", "commands"):
        fields: list[dict] = [{"use": "constant", "type": ("u32", "u64", "i16")[seed % 3], "value": 17 + seed}]
        fields += [{"use": "session", "type": "u64"}] if seed % 3 else []
        fields += [{"use": "sequence", "type": ("u16", "u32", "u64")[seed % 3]}]
        fields += [{"use": "time", "type": "u32", "scale": 1e-6}] if part == "signals" else []
        fields += [{"use": "answer", "type": ("u32", "u16", "u64")[seed % 3]}] if part == "commands" else []
        names[part] = [f"{part[0]}.x-{i}" for i in range(10)]
        for name, kind in zip(names[part], rng.permutation(KINDS)):
            scaled = {"scale": float(rng.choice([0.25, -3e-4, 7.0])), "offset": float(rng.choice([0.0, -2.5]))}
            fields.append({"name": name, "type": str(kind)} | (scaled if rng.random() < 0.6 else {}))
        fields.append({"use": "unused", "type": "u8"})
        spec[part] = {"fields": fields, "check": ("none", "crc16_ccitt", "crc32")[(seed // 2) % 3]}
    return read_layout(spec), Wiring(tuple(names["signals"]), ("m",) * 10, tuple(names["commands"]))


class Pair:
    """The bench's messages, and the forms of the code."""

    def __init__(self, layout: LayoutSpec, wiring: Wiring, uri: str = "tcp://127.0.0.1:1") -> None:
        self.layout, self.wiring = layout, wiring
        self.forms = forms_of("dut", "a test", layout, wiring, ("N",) * len(wiring.commands), uri)
        self.signals = Message(layout, "signals", wiring.signals, b"")
        self.commands = Message(layout, "commands", wiring.commands, b"")


@pytest.fixture(params=SEEDS, scope="module")
def pair(request):
    return Pair(*random_layout(request.param))


@pytest.fixture(scope="module")
def library(pair, tmp_path_factory):
    return as_c(pair, tmp_path_factory.mktemp("code"))


def numbers(seed: int) -> np.ndarray:
    """Values of all sizes, halves, and what no type holds."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=10) * 10.0 ** rng.integers(-3, 7, size=10)
    values[:3] = rng.choice([0.0, 2.5, -2.5, 0.5, 1e300, -1e300, 1e19], size=3)
    return values


def as_c(pair: Pair, folder: Path) -> ctypes.CDLL:
    """The header in a library: from bytes to an array of the signals' values, from such an array to bytes."""
    (folder / "dut_messages.h").write_text(c_header(pair.forms), encoding="utf-8")
    shown = [place.label for place in pair.forms.signals.shown if place.field.use == "value"]
    given = [place.label for place in pair.forms.commands.shown if place.field.use == "value"]
    lines = [
        '#include "dut_messages.h"',
        "static struct dut_signals signals; static struct dut_commands commands; static struct dut_stream stream;",
        "const char *unpack(const uint8_t *data, size_t size, double *values) {",
        "  const char *why = dut_unpack(data, size, &signals);",
        *(f"  values[{i}] = signals.{label};" for i, label in enumerate(shown)),
        f"  values[{len(shown)}] = {'signals.time' if pair.forms.signals.has('time') else '0.0'};",
        "  return why; }",
        "size_t pack(const double *values, uint8_t *framed) {",
        "  uint8_t data[DUT_COMMANDS_BYTES];",
        *(f"  commands.{label} = values[{i}];" for i, label in enumerate(given)),
        "  dut_pack(&commands, &signals, data); return dut_frame(data, framed); }",
        "size_t take(uint8_t byte, uint8_t *data) {",
        "  size_t size = dut_take(&stream, byte);",
        "  if (size) memcpy(data, stream.data, size);",
        "  return size; }",
        "int newer(uint64_t a, uint64_t b) {",
        "  struct dut_signals came = {0}, last = {0}; came.sequence = a; last.sequence = b;",
        "  return dut_newer(&came, &last); }",
    ]
    (folder / "dut.c").write_text("\n".join(lines) + "\n", encoding="utf-8")
    flags = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"]
    words = [*compiler(), *flags, "-ffp-contract=off", "-shared", "-fPIC"]
    done = subprocess.run([*words, folder / "dut.c", "-o", folder / "dut.so", "-lm"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    library = ctypes.CDLL(str(folder / "dut.so"))
    library.unpack.restype = ctypes.c_char_p
    library.pack.restype = library.take.restype = ctypes.c_size_t
    return library


def unpacked(library: ctypes.CDLL, data: bytes, count: int) -> tuple[str, np.ndarray]:
    """Why the bytes are no signals, or ""; values and time."""
    values = np.zeros(count + 1)
    why = library.unpack(data, ctypes.c_size_t(len(data)), values.ctypes.data_as(ctypes.c_void_p))
    return (why or b"").decode(), values


def test_c_reads_and_writes_what_the_bench_does(pair, library):
    frame = framer(pair.layout.framing, pair.commands).frame
    buffer = ctypes.create_string_buffer(4096)
    for i in range(40):  # the first to use the library: it counts from 0
        head = Head(sequence=i + 1, session=2**63 - 5 - i, time=0.001 * i)
        data = pair.signals.pack(head, numbers(i))
        assert pair.signals.unpack(data) == ""
        why, values = unpacked(library, data, 10)
        assert why == ""
        np.testing.assert_array_equal(values, [*pair.signals.values, pair.signals.head.time])
        wanted = numbers(1000 + i)
        size = library.pack(wanted.ctypes.data_as(ctypes.c_void_p), buffer)
        session = head.session if pair.signals.has("session") else 0
        said = Head(sequence=i, answer=i + 1, session=session, time=pair.signals.head.time)
        assert buffer.raw[:size] == frame(pair.commands.pack(said, wanted))


def test_c_refuses_what_the_bench_refuses(pair, library):
    rng = np.random.default_rng(1)
    good = pair.signals.pack(Head(1, 0, 7, 0.5), numbers(3))
    bad = [b"", good[:-1], good + b"\0", bytes(len(good)), rng.bytes(len(good))]
    for i in range(len(good)):
        bad.append(good[:i] + bytes([good[i] ^ 1 << i % 8]) + good[i + 1 :])
    bad.append(pair.signals.pack(Head(), np.full(10, math.nan)))
    reported = set()
    for data in bad:
        why, _ = unpacked(library, data, 10)
        assert why == pair.signals.unpack(data)
        reported.add(why)
    assert {"wrong size", "wrong constant" if pair.forms.signals.check == "none" else "wrong check"} <= reported


def test_c_finds_messages_in_a_stream_as_the_bench_does(pair, library):
    rng = np.random.default_rng(2)
    bench = framer(pair.layout.framing, pair.signals)
    sent = [pair.signals.pack(Head(i, 0, 7, 0.1 * i), numbers(i)) for i in range(30)]
    stream = b"".join(
        bench.frame(data) + (rng.bytes(int(rng.integers(1, 90))) if i % 5 == 4 else b"") for i, data in enumerate(sent)
    )
    found, buffer = [], ctypes.create_string_buffer(4096)
    for byte in stream:
        size = library.take(byte, buffer)
        if size and not unpacked(library, buffer.raw[:size], 10)[0]:
            found.append(buffer.raw[:size])
    whole: deque[bytes] = deque()
    bench.feed(stream, whole, Link())
    expected = [data for data in whole if pair.signals.unpack(data) == ""]
    assert found == expected
    assert len(found) >= 20


def test_newer_in_c(tmp_path):
    pair = Pair(*random_layout(1))
    library = as_c(pair, tmp_path)
    bits = 32
    for a, b, newer in ((1, 0, 1), (5, 5, 0), (4, 5, 0), (0, 2**bits - 1, 1), (2**31 + 5, 6, 1), (2**31 + 7, 6, 0)):
        assert library.newer(ctypes.c_uint64(a), ctypes.c_uint64(b)) == newer


def listed(data: bytes) -> str:
    """Bytes in MATLAB."""
    return f"uint8([{' '.join(map(str, data))}])"


@needs_octave
@pytest.mark.parametrize("seed", SEEDS)
def test_octave_reads_and_writes_what_the_bench_does(seed, tmp_path):
    pair = Pair(*random_layout(seed))
    (tmp_path / "dut_messages.m").write_text(matlab_functions(pair.forms), encoding="utf-8")
    shown = [f"s.{place.label}" for place in pair.forms.signals.shown if place.field.use in ("value", "time")]
    given = [place.label for place in pair.forms.commands.shown if place.field.use == "value"]
    bench = framer(pair.layout.framing, pair.signals)
    lines = ["m = dut_messages(); commands = m.commands; rest = uint8([]);"]
    reads, writes = [], []
    for i in range(12):
        data = pair.signals.pack(Head(sequence=i + 1, session=2**63 - 5 - i, time=0.001 * i), numbers(i))
        assert pair.signals.unpack(data) == ""
        at = [place.field.name for place in pair.forms.signals.shown if place.field.use in ("value", "time")]
        known = dict(zip(pair.wiring.signals, pair.signals.values)) | {None: pair.signals.head.time}
        reads.append([known[name] for name in at])
        wanted = numbers(1000 + i)
        session = 2**63 - 5 - i if pair.signals.has("session") else 0
        head = Head(i, i + 1, session, pair.signals.head.time)
        writes.append(bench.frame(pair.commands.pack(head, wanted)).hex())
        junk = b"\x07\x07\x00" if i % 3 == 0 else b""
        lines.append(f"rest = [rest, {listed(junk + bench.frame(data))}];")
        lines.append(
            "why = 'x'; while ~isempty(why), [message, rest] = m.next(rest); [s, why] = m.unpack(message); end"
        )
        lines.append(f"printf('%.17g ', {', '.join(shown)}); printf('\\n');")
        lines += [f"commands.{label} = {value!r};" for label, value in zip(given, wanted.tolist())]
        lines.append("[out, commands] = m.pack(commands, s); printf('%02x', out); printf('\\n');")
    output = octave("\n".join(lines), tmp_path).splitlines()
    for i in range(12):
        np.testing.assert_array_equal(np.array(output[2 * i].split(), dtype=float), reads[i])
        assert output[2 * i + 1] == writes[i]


@needs_octave
def test_octave_refuses_what_is_no_message(tmp_path):
    pair = Pair(*random_layout(4))
    (tmp_path / "dut_messages.m").write_text(matlab_functions(pair.forms), encoding="utf-8")
    good = pair.signals.pack(Head(5, 0, 7, 0.5), numbers(3))
    wrong = good[:9] + bytes([good[9] ^ 1]) + good[10:]
    lines = ["m = dut_messages();", f"[s, why] = m.unpack({listed(good)}); disp(why);"]
    for data in (wrong, good[:-1], b"", pair.signals.pack(Head(), np.full(10, math.nan))):
        lines.append(f"[t, why] = m.unpack({listed(data)}); disp(why);")
    lines.append("u = s; u.sequence = 4; printf('%d %d %d\\n', m.newer(s, []), m.newer(s, s), m.newer(u, s));")
    output = octave("\n".join(lines), tmp_path).splitlines()
    assert output == ["", "wrong check", "wrong size", "wrong size", "not finite", "1 0 0"]


def test_names_that_no_program_may_have():
    names = {"q.joint-1": "q_joint_1", "1st": "x1st", "_a": "x_a", "end": "end_", "int": "int_", "time": "time_"}
    assert {name: identifier(name) for name in names} == names
    wiring = Wiring(("q.a", "q_a"), ("rad", "rad"), ("m",))
    forms: Forms = forms_of("d", "a test", default_layout(wiring), wiring, ("N",), "udp://127.0.0.1:1")
    assert [place.label for place in forms.signals.shown][-2:] == ["q_a", "q_a_"]


SCENARIO = """
limberjack_scenario: 1
name: swing
model: pendulum.yaml
duration: 1
devices:
  - {name: servo, uri: "URI", signals: [q.pivot, v.pivot], commands: [motor]}
"""


@pytest.fixture
def scenario(tmp_path):
    """Writes a scenario with a device of this URI."""
    (tmp_path / "pendulum.yaml").write_text(PENDULUM, encoding="utf-8")

    def made(uri: str) -> str:
        (tmp_path / "swing.yaml").write_text(SCENARIO.replace("URI", uri), encoding="utf-8")
        return str(tmp_path / "swing.yaml")

    return made


def test_the_command_lists_bytes_and_units(scenario, capsys):
    assert main(["messages", scenario("udp://127.0.0.1:9000")]) == 0
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines()]
    assert "device 'servo' of swing.yaml, udp://127.0.0.1:9000" in out
    assert "signals, 44 bytes, little-endian" in out
    assert ["16", "f64", "time", "s", "number"] in rows
    assert ["32", "f64", "v.pivot", "rad/s", "number"] in rows
    assert ["20", "f64", "motor", "N·m", "number"] in rows
    assert main(["messages", scenario("zmq://127.0.0.1:9000")]) == 0
    assert ["q.pivot", "rad"] in [line.split() for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize(
    ("uri", "words", "message"),
    [
        ("udp://127.0.0.1:9000", "-o swing.txt", "end the name in .h for C and C++"),
        ("udp://127.0.0.1:9000", "-o swing.m", "call it servo_messages.m"),
        ("udp://127.0.0.1:9000", "-o pendulum.h", "exists already and was not made by this command"),
        ("udp://127.0.0.1:9000", "--device sevro -o a.h", "did you mean 'servo'"),
        ("zmq://127.0.0.1:9000", "-o a.h", "its numbers go by name"),
        ("shm://limb-test", "-o servo_messages.m", "shared memory, which MATLAB and Octave cannot"),
    ],
)
def test_what_the_command_refuses(scenario, tmp_path, monkeypatch, capsys, uri, words, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pendulum.h").write_text("int mine;\n", encoding="utf-8")
    assert main(["messages", scenario(uri), *words.split()]) == 2
    assert message in capsys.readouterr().err
    assert (tmp_path / "pendulum.h").read_text(encoding="utf-8") == "int mine;\n"


def test_code_is_made_again_over_code_that_was_made(scenario, tmp_path):
    out = tmp_path / "servo.h"
    for _ in range(2):
        assert main(["messages", scenario("udp://127.0.0.1:9000"), "-o", str(out)]) == 0
    assert "device 'servo' of swing.yaml" in out.read_text(encoding="utf-8")


def test_a_device_that_signs_has_no_code_but_a_table(scenario, tmp_path, capsys):
    (tmp_path / "key").write_bytes(b"0123456789abcdef")
    (tmp_path / "key").chmod(0o600)
    path = scenario("udp://127.0.0.1:9000?key_file=key")
    assert main(["messages", path]) == 0
    assert "HMAC-SHA-256" in capsys.readouterr().out
    assert main(["messages", path, "-o", str(tmp_path / "a.h")]) == 2
    assert "without key_file" in capsys.readouterr().err
