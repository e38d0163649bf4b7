"""A UDP device: messages that are none, controllers that begin again, floods, reach beyond this machine."""

from __future__ import annotations

import hmac
import socket
import struct
import zlib

import numpy as np
import pytest

import limberjack as lj
from limberjack.hil.devices.uri import device_from, twin_from
from tests.hil.links import WIRING, free_port, law


def wrong(data: bytes, **changes: object) -> bytes:
    """A valid default message of commands, changed; the check is right again unless asked otherwise."""
    constant, session, sequence, answer, value = struct.unpack("<IQIId", data[:-4])
    parts = {"constant": constant, "session": session, "sequence": sequence, "answer": answer, "value": value} | changes
    body = struct.pack("<IQIId", *parts.values())
    return body + struct.pack("<I", zlib.crc32(body))


class Open:
    """An open device with a plain socket on its other end."""

    def __init__(self, options: dict | None = None) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(5.0)
        self.device = device_from(f"udp://127.0.0.1:{self.socket.getsockname()[1]}", "servo", options)
        self.device.open(WIRING)
        self.commands = np.array([7.0])

    def heard(self) -> bytes:
        self.device.send(0, 0.25, np.array([1.0, 2.0]))
        data, self.bench = self.socket.recvfrom(4096)
        return data

    def say(self, data: bytes) -> bool:
        self.socket.sendto(data, self.bench)
        return self.device.answer(0.25, self.commands, 0.02)


@pytest.fixture
def link():
    made = Open()
    yield made
    made.device.close()
    made.socket.close()


def test_messages_that_are_none_are_counted_and_change_nothing(link):
    session = struct.unpack_from("<Q", link.heard(), 4)[0]
    body = struct.pack("<IQIId", 0x4C4A0002, session, 5, 1, 3.5)
    good = body + struct.pack("<I", zlib.crc32(body))
    bad = {
        "wrong size": [b"", good[:-1], good + b"x", bytes(60_000)],
        "wrong check": [good[:-1] + bytes([good[-1] ^ 1]), bytes(len(good))],
        "wrong constant": [wrong(good, constant=0x4C4A0001)],
        "not finite": [wrong(good, value=np.nan), wrong(good, value=-np.inf)],
        "other session": [wrong(good, session=session ^ 1)],
        "answers nothing sent": [wrong(good, answer=2), wrong(good, answer=2**32 - 1)],
    }
    for messages in bad.values():
        assert not any(link.say(message) for message in messages)
    assert link.device.link.rejected == {reason: len(messages) for reason, messages in bad.items()}
    assert (link.commands[0], link.device.link.received, link.device.link.last_time) == (7.0, 0, -np.inf)
    assert link.say(good)
    assert not any(link.say(message) for message in (good, wrong(good, sequence=4)))
    assert link.device.link.rejected["replayed or late"] == 2
    assert (link.commands[0], link.device.link.received, link.device.link.last_time) == (3.5, 1, 0.25)


def test_a_controller_that_begins_again_is_heard_once_it_answers_something_new(link):
    session = struct.unpack_from("<Q", link.heard(), 4)[0]
    body = struct.pack("<IQIId", 0x4C4A0002, session, 9, 1, 1.0)
    good = body + struct.pack("<I", zlib.crc32(body))
    assert link.say(good)
    assert not link.say(wrong(good, sequence=0))
    link.heard()
    assert link.say(wrong(good, sequence=0, answer=2, value=2.0))
    assert not link.say(wrong(good, sequence=0, answer=2, value=3.0))
    assert link.commands[0] == 2.0


def test_of_a_controller_that_is_faster_than_the_bench_the_newest_commands_count(link):
    session = struct.unpack_from("<Q", link.heard(), 4)[0]
    for number in range(200):
        body = struct.pack("<IQIId", 0x4C4A0002, session, number, 1, float(number))
        link.socket.sendto(body + struct.pack("<I", zlib.crc32(body)), link.bench)
        if number % 100 == 99:
            assert link.device.receive(0.0, link.commands)
            assert link.commands[0] == number
    assert (link.device.link.rejected, link.device.link.received) == ({"superseded": 72}, 128)


def test_a_flood_is_bounded_and_nobody_there_is_no_trouble(link):
    link.heard()
    for _ in range(500):
        link.socket.sendto(b"junk", link.bench)
    assert not link.device.receive(0.0, link.commands)
    assert 0 < link.device.link.rejected["wrong size"] <= 64
    link.socket.close()
    for frame in range(5):
        link.device.send(frame, 0.0, np.zeros(2))
        link.device.receive(0.0, link.commands)
    assert link.device.link.sent + link.device.link.dropped == 6


def test_reach_beyond_this_machine_needs_key_and_allowed_hosts(tmp_path):
    key = tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o644)
    for uri in (
        "udp://192.0.2.1:9000",
        "udp://127.0.0.1:9000?bind=0.0.0.0:9001",
        "udp://127.0.0.1:9000?allow=192.0.2.9",
    ):
        with pytest.raises(lj.ArgumentError, match="not this machine.*key_file"):
            device_from(uri, "servo")
    with pytest.raises(lj.ArgumentError, match="chmod 600"):
        device_from("udp://192.0.2.1:9000", "servo", {"allow": ["192.0.2.1"], "key_file": str(key)})
    key.chmod(0o600)
    with pytest.raises(lj.ArgumentError, match="give allow"):
        device_from("udp://192.0.2.1:9000", "servo", {"key_file": str(key)})
    device_from("udp://192.0.2.1:9000", "servo", {"allow": ["192.0.2.1"], "key_file": str(key)})


def test_messages_with_a_key(tmp_path):
    key = tmp_path / "key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    options, uri = {"key_file": str(key)}, f"udp://127.0.0.1:{free_port()}"
    device, commands = device_from(uri, "servo", options), np.zeros(1)
    twin = twin_from(uri, WIRING, law, options)
    twin.open()
    device.open(WIRING)
    device.send(0, 0.0, np.array([1.0, 2.0]))
    assert twin.step(5.0)
    assert device.answer(0.0, commands, 5.0)
    assert commands[0] == -26.0
    device.close()
    twin.close()
    tapped = Open(options)
    reflected = tapped.heard()
    assert not tapped.say(reflected)
    assert not tapped.say(bytes(len(reflected) - 12))
    assert tapped.device.link.rejected == {"wrong size": 1, "not authentic": 1}
    forged = struct.pack("<IQIId", 0x4C4A0002, struct.unpack_from("<Q", reflected, 4)[0], 0, 1, 1.0)
    forged += struct.pack("<I", zlib.crc32(forged))
    recorded = forged + hmac.digest(bytes(range(32)), b"commands" + forged, "sha256")
    assert tapped.say(recorded)
    tapped.device.open(WIRING)
    tapped.heard()
    assert not tapped.say(recorded)
    assert tapped.device.link.rejected["other session"] == 1
    tapped.device.close()
    tapped.socket.close()


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("upd://127.0.0.1:9", "did you mean udp"),
        ("udp://127.0.0.1", "HOST:PORT"),
        ("udp://example.org:9", "not an address"),
        ("udp://127.0.0.1:9?layot=x", "did you mean 'layout'"),
        ("udp://127.0.0.1:9?bind=127.0.0.1:0&bind=127.0.0.1:1", "twice"),
        ("udp://127.0.0.1:9?layout=nowhere.yaml", "nowhere.yaml"),
    ],
)
def test_errors_of_uris(uri, words):
    with pytest.raises(ValueError, match=words):
        device_from(uri, "servo")


def test_an_address_that_is_taken():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.bind(("127.0.0.1", 0))
        port = made.getsockname()[1]
        device = device_from(f"udp://127.0.0.1:9?bind=127.0.0.1:{port}", "servo")
        with pytest.raises(lj.LimberjackError, match=r"cannot be bound.*another port"):
            device.open(WIRING)
