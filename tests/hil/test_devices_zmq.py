"""A ZeroMQ device: messages that are none, keys."""

from __future__ import annotations

import contextlib
import math
import socket
import time

import msgpack
import numpy as np
import pytest
import zmq
from zmq.auth import create_certificates

import limberjack as lj
from limberjack.hil.devices.uri import device_from, twin_from
from tests.hil.links import WIRING, free_port, law
from tests.hostile import connected, frame


@pytest.fixture
def link():
    """An open device, a plain DEALER on its other end, the bench's session."""
    port = free_port(socket.SOCK_STREAM)
    device, context = device_from(f"zmq://127.0.0.1:{port}", "servo"), zmq.Context()
    dealer = context.socket(zmq.DEALER)
    dealer.routing_id, dealer.linger, dealer.rcvtimeo = b"controller", 0, 5000
    dealer.connect(f"tcp://127.0.0.1:{port}")
    device.open(WIRING)
    device.send(0, 0.25, np.array([1.0, 2.0]))
    assert msgpack.unpackb(dealer.recv())["n"] == 0
    yield device, dealer, msgpack.unpackb(dealer.recv())
    device.close()
    dealer.close()
    context.term()


def test_messages_that_are_none_are_counted_and_change_nothing(link):
    device, dealer, heard = link
    assert (heard["n"], heard["time"], heard["signals"]) == (1, 0.25, {"q.pivot": 1.0, "v.pivot": 2.0})
    good = {"n": 3, "session": heard["session"], "answer": 1, "commands": {"motor": 3.5}}
    bad = {
        "wrong form": [
            *(b"", b"\xc1", msgpack.packb(good)[:-1], msgpack.packb([good]), b"\xdf\xff\xff\xff\xff", b"\x91" * 2000),
            *({**good, "n": 1.5}, {**good, "n": True}, {**good, "more": 1}, {**good, "commands": [3.5]}),
            *({**good, "commands": {"motor": "3.5"}}, {**good, "commands": {"motor": True}}),
        ],
        "unknown command": [{**good, "commands": {"motor": 1.0, "pump": 1.0}}],
        "not finite": [{**good, "commands": {"motor": value}} for value in (math.nan, math.inf)],
        "other session": [{**good, "session": heard["session"] ^ 1}, {**good, "session": None}],
        "answers nothing sent": [{**good, "answer": 2}, {**good, "answer": 0}],
    }
    commands = np.array([7.0])
    for messages in bad.values():
        for message in messages:
            dealer.send(message if isinstance(message, bytes) else msgpack.packb(message))
            assert not device.answer(0.25, commands, 0.01)
    for _ in range(200):
        device.answer(0.25, commands, 0.01)
        if sum(device.link.rejected.values()) == sum(map(len, bad.values())):
            break
    assert device.link.rejected == {reason: len(messages) for reason, messages in bad.items()}
    assert (commands[0], device.link.received) == (7.0, 0)
    for message in (good, good, {**good, "n": 2, "commands": {"motor": 9.0}}):
        dealer.send(msgpack.packb(message))
    while device.link.rejected.get("replayed or late", 0) < 2:
        device.answer(0.25, commands, 0.1)
    assert (commands[0], device.link.received) == (3.5, 1)


def test_keys(tmp_path):
    (tmp_path / "clients").mkdir()
    for name in ("server", "client", "stranger"):
        create_certificates(tmp_path, name)
        (tmp_path / f"{name}.key_secret").chmod(0o600)
    (tmp_path / "client.key").rename(tmp_path / "clients" / "client.key")
    uri = f"zmq://127.0.0.1:{free_port(socket.SOCK_STREAM)}?wait_s=0&keys={tmp_path}"
    device, commands = device_from(uri, "servo"), np.zeros(1)
    device.open(WIRING)
    for client, heard in (("stranger", False), ("client", True)):
        twin = twin_from(uri, WIRING, law, {"client_key": f"{tmp_path}/{client}.key_secret"})
        twin.open()
        for _ in range(500 if heard else 10):
            device.send(0, 0.0, np.array([1.0, 2.0]))
            twin.step(0.02)
            if device.answer(0.0, commands, 0.02):
                break
        assert (commands[0] == -26.0) == heard
        twin.close()
    device.close()
    with pytest.raises(lj.ArgumentError, match="not this machine.*keygen"):
        device_from("zmq://0.0.0.0:9000", "servo")
    with pytest.raises(lj.ArgumentError, match="not this machine"):
        device_from(f"zmq://0.0.0.0:9000?keys={tmp_path}", "servo")
    (tmp_path / "server.key_secret").chmod(0o644)
    with pytest.raises(lj.ArgumentError, match="chmod 600"):
        device_from(uri, "servo")


def test_what_strangers_make_the_bench_keep_is_bounded(link):
    device, dealer, _ = link
    port, commands = int(dealer.get_string(zmq.LAST_ENDPOINT).rpartition(":")[2].rstrip("\0")), np.array([7.0])
    idle = [socket.create_connection(("127.0.0.1", port), 5.0) for _ in range(40)]
    endless = connected(port, b"DEALER")
    deadline = time.monotonic() + 20.0
    while not (device._door.turned_away["connections"] >= 33 and device._door.turned_away["unfinished"]):
        assert time.monotonic() < deadline, device._door.turned_away
        device.send(0, 0.25, np.array([1.0, 2.0]))
        device.receive(0.25, commands)
        try:
            endless.sendall(frame(bytes(60_000), more=True))
        except OSError:  # turned away as one too many, or for what it sends
            endless.close()
            with contextlib.suppress(OSError):
                endless = connected(port, b"DEALER")
    assert dealer.poll(5000)  # who was there first is there still
    for each in (*idle, endless):
        each.close()
