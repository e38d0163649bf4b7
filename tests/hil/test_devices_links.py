"""Every link with its twin, no hardware: the same loop in lockstep, bit for bit the one in a single process."""

from __future__ import annotations

import os
import socket
import struct
import zlib
from collections import deque

import numpy as np
import pytest

import limberjack as lj
from limberjack.hil.bench_device import mount
from limberjack.hil.devices.device import Link
from limberjack.hil.devices.framing import Cobs
from limberjack.hil.devices.shared_memory import path_of
from limberjack.hil.devices.uri import device_from, twin_from
from limberjack.hil.errors import HilError
from limberjack.hil.executive import Executive
from limberjack.hil.signals import Signals
from tests.hil.links import WIRING, free_port, in_process, law, pendulum

FRAMES = 150


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return in_process(pendulum(tmp_path_factory.mktemp("model")), FRAMES)


def uri_of(kind: str, folder) -> str:
    """A device that nothing else uses."""
    return {
        "udp": f"udp://127.0.0.1:{free_port()}",
        "tcp": f"tcp://127.0.0.1:{free_port(socket.SOCK_STREAM)}",
        "serial": f"serial://pty?link={folder}/port",
        "shm": f"shm://test-{os.getpid()}",
        "zmq": f"zmq://127.0.0.1:{free_port(socket.SOCK_STREAM)}",
    }[kind]


@pytest.mark.parametrize("kind", ["udp", "tcp", "serial", "shm", "zmq"])
def test_lockstep_over_a_link_is_the_loop_in_one_process_bit_for_bit(kind, tmp_path, expected):
    simulation, uri = pendulum(tmp_path), uri_of(kind, tmp_path)
    device = device_from(uri, "servo")
    mounted = mount(device, Signals(simulation), simulation, ["q.*", "v.*"], ["motor"])
    with twin_from(uri, mounted.wiring, law) as twin:
        outcome = Executive(simulation, paced=False, devices=[mounted], answer_limit_s=20.0).run(FRAMES * simulation.dt)
    assert (outcome.reason, outcome.text, twin.error, device.link.rejected) == ("completed", "", None, {})
    assert np.array_equal([simulation.q[0], simulation.v[0]], expected)


def test_cobs_gives_back_every_message_and_drops_only_the_damaged_one():
    generator, link, found = np.random.default_rng(5), Link(), deque()
    sizes = (1, 2, 253, 254, 255, 256, 508, 600)
    messages = [bytes(generator.integers(0, top, size, dtype=np.uint8)) for size in sizes for top in (1, 2, 256)]
    messages += [b"\x07" * size for size in sizes]
    framer = Cobs(600)
    stream = b"".join(framer.frame(message) for message in messages)
    for start in range(0, len(stream), 97):
        framer.feed(stream[start : start + 97], found, link)
    assert (list(found), link.rejected) == (messages, {})
    found.clear()
    framer.feed(b"\x09abc\x00" + bytes([1]) * 5000 + b"\x00" + framer.frame(b"good"), found, link)
    assert (list(found), link.rejected) == ([b"good"], {"wrong framing": 1, "oversized": 1})


def test_messages_back_to_back_are_found_again_after_junk_and_false_constants(tmp_path):
    layout = {
        "limberjack_layout": 1,
        "framing": "sync",
        "byte_order": "big",
        "signals": {"fields": [{"use": "constant", "type": "u16", "value": 1}, {"name": "q.pivot", "type": "i16"}]},
        "commands": {
            "fields": [
                {"use": "constant", "type": "u16", "value": 0xA55A},
                {"use": "sequence", "type": "u16"},
                {"name": "motor", "type": "i16", "scale": 0.01},
            ],
            "check": "crc16_ccitt",
        },
    }

    def message(sequence: int, value: int) -> bytes:
        body = struct.pack(">HHh", 0xA55A, sequence, value)
        crc = 0xFFFF
        for byte in body:  # CRC-16/CCITT-FALSE bit by bit
            crc ^= byte << 8
            for _ in range(8):
                crc = (crc << 1) ^ (0x1021 if crc & 0x8000 else 0)
            crc &= 0xFFFF
        return body + struct.pack(">H", crc)

    device = device_from(f"serial://pty?link={tmp_path}/port", "drive", {"layout": layout})
    wiring = type(WIRING)(("q.pivot",), ("rad",), ("motor",))
    device.open(wiring)
    other = os.open(tmp_path / "port", os.O_RDWR | os.O_NOCTTY)
    commands = np.zeros(1)
    for junk, value in ((b"", 150), (b"xyz", -250), (b"\xa5\x5a", 31000), (message(9, 9)[:5], -7)):
        os.write(other, junk + message(device.link.received + 1, value))
        assert device.receive(0.0, commands)
        assert commands[0] == pytest.approx(0.01 * value, abs=1e-12)
    assert set(device.link.rejected) == {"wrong framing", "wrong check"}
    device.send(0, 0.0, np.array([40000.0]))
    body = struct.pack(">Hh", 1, 32767)
    assert os.read(other, 64) == body + struct.pack(">I", zlib.crc32(body))
    os.close(other)
    device.close()


def test_a_shared_memory_that_is_in_use_left_behind_or_of_another_form(tmp_path):
    name = f"test-{os.getpid()}-other"
    first, second = (device_from(f"shm://{name}", "servo") for _ in range(2))
    first.open(WIRING)
    with pytest.raises(HilError, match="in use by another bench"):
        second.open(WIRING)
    wider = type(WIRING)(("a", "b", "c"), ("", "", ""), ("motor",))
    with pytest.raises(HilError, match=r"other messages|cannot be used"):
        twin_from(f"shm://{name}", wider, law).open()
    first.close()
    assert not path_of(name, "").exists()
    path_of(name, "").write_bytes(b"left by a bench that was killed")
    second.open(WIRING)
    second.close()
    with pytest.raises(lj.ArgumentError, match="is not a name"):
        device_from("shm://../etc/passwd", "servo")


def one_life(device, uri: str, life: int, commands: np.ndarray) -> None:
    """A controller that starts, is heard with an answer of its own, and ends."""
    twin = twin_from(uri, WIRING, law)
    twin.open()
    for _ in range(400):
        device.send(0, 0.0, np.array([1.0 + life, 0.0]))
        twin.step(0.02)
        if device.answer(0.0, commands, 0.02) and commands[0] == -20.0 * (1 + life):
            break
    assert commands[0] == -20.0 * (1 + life)
    twin.close()


@pytest.mark.parametrize("listen", [False, True])
def test_tcp_survives_controllers_that_come_and_go(listen):
    uri = f"tcp://127.0.0.1:{free_port(socket.SOCK_STREAM)}?wait_s=0&listen={'true' if listen else 'false'}"
    device, commands = device_from(uri, "servo"), np.zeros(1)
    device.open(WIRING)
    for life in range(3):
        one_life(device, uri, life, commands)
    assert device.link.rejected == {}
    device.close()


def test_a_line_that_nobody_reads_drops_messages_and_never_waits(tmp_path):
    device = device_from(f"serial://pty?link={tmp_path}/port", "servo")
    device.open(WIRING)
    for frame in range(2000):
        device.send(frame, 0.0, np.zeros(2))
    assert device.link.dropped > 0
    assert device.link.sent + device.link.dropped == 2000
    device.close()


@pytest.mark.parametrize("kind", ["udp", "tcp", "serial", "shm", "zmq"])
def test_a_controller_that_is_started_again_is_heard_again(kind, tmp_path):
    uri = uri_of(kind, tmp_path)
    device, commands = device_from(uri, "servo", {"wait_s": 0} if kind in ("tcp", "zmq") else {}), np.zeros(1)
    device.open(WIRING)
    for life in range(3):
        for frame in range(10):
            device.send(frame, 0.0, np.zeros(2))  # nobody is there
        one_life(device, uri, life, commands)
    assert device.link.rejected == {}
    device.close()


def test_a_writer_that_died_while_writing_keeps_nobody_waiting():
    uri = f"shm://test-{os.getpid()}-torn"
    device, twin, commands = device_from(uri, "servo"), twin_from(uri, WIRING, law), np.zeros(1)
    device.open(WIRING)
    twin.open()
    device.send(0, 0.0, np.ones(2))
    assert twin.step(1.0)
    counter = os.open(path_of(uri[6:], ""), os.O_RDWR)
    second = os.fstat(counter).st_size - 8 - 32  # the slot of 32 bytes of commands
    assert os.pread(counter, 8, second) == struct.pack("<Q", 2)
    os.pwrite(counter, struct.pack("<Q", 3), second)
    assert not device.answer(0.0, commands, 0.01)
    twin.close()
    os.close(counter)
    twin.open()
    device.send(0, 0.0, np.ones(2))
    assert twin.step(1.0)
    assert device.answer(0.0, commands, 1.0)
    assert commands[0] == -23.0
    twin.close()
    device.close()
