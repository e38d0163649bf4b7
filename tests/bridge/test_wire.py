"""Real sockets against hostile peers, and a client written from docs/reference/protocol.md alone."""

from __future__ import annotations

import random
import re
import socket
import struct
from pathlib import Path

import numpy as np
import pytest
import zmq

from limberjack import examples
from limberjack.bridge import Client
from limberjack.bridge.errors import Code
from limberjack.bridge.messages import StateFrame, decode, encode
from limberjack.bridge.service import Service
from limberjack.bridge.settings import Settings
from limberjack.engine.api.impact import Impact
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.model.load import load
from tests.bridge.bridge_helpers import WAIT_S, make_dock, until

PROTOCOL = Path(__file__).parents[2] / "docs" / "reference" / "protocol.md"


@pytest.fixture
def dealer():
    """Plain sockets to an address; closed at the end."""
    context = zmq.Context()
    opened = []

    def connect(address):
        opened.append(context.socket(zmq.DEALER))
        opened[-1].rcvtimeo = opened[-1].sndtimeo = int(1000 * WAIT_S)
        opened[-1].connect(address)
        return opened[-1]

    yield connect
    for each in opened:
        each.close(0)
    context.term()


def test_random_frames_are_all_answered_and_change_nothing(engine, endpoint, dealer, arm):
    engine()
    local, noise, stranger = Simulation(arm), random.Random(3), dealer(endpoint)
    with Client(endpoint) as client:
        for _ in range(50):
            client.step(2, {"shoulder": 1.0})
            for _ in range(4):
                stranger.send(noise.randbytes(noise.randrange(200)))
                assert decode(stranger.recv()).type == "error"
        state = client.step(1)
    local.command["shoulder"] = 1.0
    local.step(101)
    assert state.q.tobytes() == local.q.tobytes()


def test_several_frames_are_one_malformed_message(engine, endpoint, dealer):
    engine()
    stranger = dealer(endpoint)
    stranger.send_multipart([b"", encode("hello", 1, 0.0, 5, {"name": "x"}), b"more"])
    assert decode(stranger.recv()).body["code"] == "malformed"
    with Client(endpoint) as client:
        assert client.step().step == 1


def test_random_bytes_on_the_port_do_no_harm(engine):
    server = engine(endpoint="tcp://127.0.0.1:*")
    port = int(server.endpoints.request.rpartition(":")[2])
    noise = random.Random(4)
    with Client(server.endpoints.request) as client:
        for _ in range(20):
            with socket.create_connection(("127.0.0.1", port), WAIT_S) as raw:
                raw.sendall(noise.randbytes(500))
        assert client.step(3).step == 3


def test_oversize_is_answered_and_a_giant_is_cut_off(engine, endpoint, dealer):
    server = engine()
    size = server.service.size_max
    stranger = dealer(endpoint)
    stranger.send(b"\0" * (size + 1))
    assert decode(stranger.recv()).body["code"] == "oversize"
    stranger.send(b"\0" * (5 * size))  # past MAXMSGSIZE libzmq drops the connection
    with Client(endpoint) as client:
        assert client.step(3).step == 3
    assert server.service.status()["refused"] == {"oversize": 1}
    until(lambda: server.service.status()["disconnected"] >= 1, "the giant is not counted")


def test_a_recorded_message_sent_from_elsewhere_is_refused(engine, endpoint, dealer):
    server = engine()
    thief = dealer(endpoint)
    with Client(endpoint) as client:
        client.step()
        link = client._link
        copy = encode("step", link._sequence, link.seen, link.client, [1, None, None])
        thief.send(copy)
        assert decode(thief.recv()).body["code"] == "replayed"
        assert client.step().step == 2
    assert server.service.simulation.step_count == 2


def test_readers_that_never_read_do_not_stop_the_engine(engine, endpoint, dealer):
    engine()
    silent = dealer(endpoint)
    for k in range(1, 500):
        silent.send(encode("hello", k, 0.0, 77, {"name": "silent"}))
    with Client(endpoint) as client:
        assert client.step(3).step == 3


# ---- docs/reference/protocol.md


def documented(title):
    """The bytes of the example with this title."""
    block = re.search(rf"```hex {re.escape(title)}\n(.*?)```", PROTOCOL.read_text(), re.DOTALL)
    assert block, title
    return bytes.fromhex(re.sub(r"#.*", "", block.group(1)))


def test_documented_request_is_what_the_code_packs():
    body = [10, struct.pack("<I", 0), struct.pack("<d", 1.5)]
    assert documented("step request") == encode("step", 3, 0.25, 0x1122334455667788, body)


def test_documented_reply_is_what_the_code_packs():
    frame = StateFrame({"q": 1, "v": 1, "tau": 1, "outputs": 0, "command": 1})
    frame.vector[:] = [0.5, -0.25, 1.5, 1.5]
    assert documented("state reply") == bytes(frame.stamp(3, 0.26, 0x1122334455667788, 260))


def test_documented_topology_is_what_the_code_packs(monkeypatch):
    """The request as `Client` sends it, and the reply as the service makes it of such an impact."""
    assert documented("attach request") == encode("attach", 5, 0.26, 0x1122334455667788, "dock")
    impulse = np.array([0.0, 0.0, 0.0, -4.0, 0.0, 0.0])
    service = Service(Simulation(make_dock()), Settings())
    monkeypatch.setattr(Simulation, "attach", lambda sim, loop: Impact(loop, 0.26, 2.5, impulse, 0.125))
    monkeypatch.setattr(Simulation, "time", 0.26)
    service.handle(encode("hello", 1, 0.0, 0x1122334455667788, {"name": "x"}))
    assert documented("attach reply") == bytes(service.handle(documented("attach request")))


def test_documented_error_is_what_the_code_packs():
    body = {"code": "non_finite", "text": "command has nan at index 0; values must be finite."}
    assert documented("error reply") == encode("error", 4, 0.26, 0x1122334455667788, body)


def test_a_client_by_the_book_in_plain_bytes(engine, endpoint, dealer, arm):
    """No msgpack here, only the fixed templates of the document, as a C program would use them."""
    engine()
    link, client = dealer(endpoint), 0x1122334455667788

    def envelope(kind, sequence, time):
        head = b"\x96\x01" + bytes([0xA0 + len(kind)]) + kind
        return head + struct.pack(">BQBdBQ", 0xCF, sequence, 0xCB, time, 0xCF, client)

    link.send(envelope(b"hello", 1, 0.0) + b"\x81\xa4name\xa4demo")
    assert link.recv()[2:8] == b"\xa5hello"
    link.send(
        envelope(b"step", 2, 0.0) + b"\x93\x0a\xc4\x04" + struct.pack("<I", 0) + b"\xc4\x08" + struct.pack("<d", 1.5)
    )
    reply = link.recv()
    assert reply[2:8] == b"\xa5state"
    assert struct.unpack_from(">Q", reply, 9)[0] == 2
    assert struct.unpack_from(">Q", reply, 37)[0] == 10
    local = Simulation(arm)
    local.command["shoulder"] = 1.5
    local.step(10)
    assert struct.unpack_from(">d", reply, 18)[0] == local.time
    assert np.frombuffer(reply, "<f8", arm.nq, 50).tobytes() == local.q.tobytes()


def test_every_request_and_error_is_documented(engine):
    text = PROTOCOL.read_text()
    for name in ("hello", *engine().service._handlers, *Code):
        assert f"`{name}`" in text, name


def test_documented_description_keys_are_those_sent(engine, endpoint, dealer):
    engine(mode="free-running")
    text = PROTOCOL.read_text()
    with Client(endpoint) as client:
        for key in (*client.describe().raw, *client.status()):
            assert f"`{key}`" in text, key


def test_client_gets_the_model_of_a_flexible_satellite(engine, endpoint):
    engine(load(Path(examples.__file__).parent / "solar_satellite.yaml"))
    with Client(endpoint) as client:
        assert Simulation(client.model()).model_hash == client.describe().model_hash
