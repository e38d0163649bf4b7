"""What peers can make an engine keep: bounded, counted, published; who behaves notices nothing."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time

import pytest
import zmq

from limberjack.bridge import Client
from limberjack.bridge.doorkeeper import Doorkeeper
from limberjack.bridge.errors import EngineTimeoutError
from limberjack.bridge.link import Link
from limberjack.bridge.messages import decode, encode
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.replies import UNREAD_MAX
from limberjack.bridge.settings import Settings
from limberjack.bridge.sockets import CONNECTIONS_MAX
from limberjack.bridge.streams import READERS_MAX, LatestStream
from limberjack.doors import ReaderDoor
from tests.bridge.bridge_helpers import WAIT_S, make_arm, until
from tests.hostile import connected, frame, resident_mb, subscribe_without_end, take_frame

MOST_MB = 250.0  # of growth; without bounds the attacks below cost 800 MB and more
KEPT_MB = 50.0  # of growth after connections were ended; the C library alone would keep 250 MB for each attack


def port(endpoint):
    return int(endpoint.rpartition(":")[2])


def await_event(client, wanted):
    """The next event of a kind."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        kind, body = client.next_event()
        if kind == "event" and body["event"] == wanted:
            return body
    raise AssertionError(f"no event '{wanted}'")


def turned_away(server, reason):
    return server.service.status()["turned_away"].get(reason, 0)


@pytest.fixture
def tcp(engine):
    return engine(endpoint="tcp://127.0.0.1:*")


@pytest.mark.parametrize("stream", ["topics", "state"])
def test_subscriptions_do_not_fill_the_memory(arm, stream):
    with EngineProcess(arm, Settings(endpoint="tcp://127.0.0.1:*", mode="free-running")) as process:
        with Client(process.endpoints.request, timeout_s=WAIT_S) as client:
            client.next_event()
            before = resident_mb(process.pid)
            subscribe_without_end(port(getattr(process.endpoints, stream)), 20_000, 900)
            until(lambda: resident_mb(process.pid) - before < MOST_MB, "the memory is not returned")
            until(lambda: client.status()["turned_away"], "nobody was turned away")
            await_event(client, "turned_away")  # who read before reads on
        with Client(process.endpoints.request, timeout_s=WAIT_S) as client:
            assert client.state().step > 0


def test_a_reader_may_have_some_subscriptions_and_change_them(tcp):
    raw = connected(port(tcp.endpoints.topics))
    until(lambda: tcp._host._sockets._topics.door.table, "not connected")
    (connection,) = tcp._host._sockets._topics.door.table.values()
    for k in range(10):
        raw.sendall(b"".join(frame(b"\1topic %d" % i) + frame(b"\0topic %d" % i) for i in range(20)))
        until(lambda k=k: connection.heard >= 40 * (k + 1), "not heard")
    raw.sendall(b"".join(frame(b"\1prefix %d" % k) for k in range(31)) + frame(b"\1heartbeat"))
    assert take_frame(raw) == b"heartbeat"
    raw.sendall(frame(b"\1one more"))
    until(lambda: turned_away(tcp, "subscriptions") == 1, "33 subscriptions are kept")
    assert tcp.service.status()["turned_away"] == {"subscriptions": 1}
    raw.close()


@pytest.mark.parametrize("message", [b"\2words", b"", b"hello"])
def test_who_only_reads_has_nothing_to_say(tcp, message):
    with connected(port(tcp.endpoints.topics)) as raw:
        raw.sendall(frame(message))
        until(lambda: turned_away(tcp, "no subscription") == 1, "it is kept")


@pytest.mark.parametrize(("which", "most"), [("request", CONNECTIONS_MAX), ("topics", READERS_MAX)])
def test_connections_are_bounded_and_silent_ones_give_way(tcp, which, most):
    address = ("127.0.0.1", port(getattr(tcp.endpoints, which)))
    opened = [socket.create_connection(address, WAIT_S) for _ in range(most + 40)]
    until(lambda: turned_away(tcp, "connections") >= 40, "all of them stay")
    time.sleep(1.1)  # what is silent for a second gives way
    with Client(tcp.endpoints.request, timeout_s=WAIT_S) as client:
        assert client.step().step == 1
        assert client.next_event()[0] in ("heartbeat", "event", "state")
    for each in opened:
        each.close()


@pytest.mark.parametrize("size", [1_000, 60_000])
@pytest.mark.long
def test_a_message_that_never_ends_is_not_kept(arm, size):
    with EngineProcess(arm, Settings(endpoint="tcp://127.0.0.1:*")) as process:
        before, portion = resident_mb(process.pid), 10 * frame(bytes(size), more=True)
        for attack in range(1, 4):
            with connected(port(process.endpoints.request), b"DEALER") as raw, contextlib.suppress(OSError):
                for _ in range(300_000_000 // len(portion)):
                    raw.sendall(portion)
            with Client(process.endpoints.request, timeout_s=WAIT_S) as client:
                until(
                    lambda client=client, k=attack: client.status()["turned_away"].get("unfinished") == k,
                    "300 MB without an end are taken",
                )
                assert client.step().step == attack
        until(lambda: resident_mb(process.pid) - before < KEPT_MB, "the memory is not returned")


def hello(raw, client):
    raw.sendall(frame(encode("hello", 1, 0.0, client, {"name": "burst"})))
    assert decode(take_frame(raw)).type == "hello"


@pytest.mark.parametrize("waiting", [40, 50, UNREAD_MAX])
def test_no_reply_is_lost_with_as_many_requests_under_way_as_promised(tcp, waiting):
    with connected(port(tcp.endpoints.request), b"DEALER") as raw:
        hello(raw, 7)
        sent = 1
        for got in range(4000):
            while sent < 4001 and sent - 1 - got < waiting:
                sent += 1
                raw.sendall(frame(encode("state", sent, 0.0, 7, None)))
            reply = decode(take_frame(raw))
            assert (reply.type, reply.sequence) == ("state", got + 2)
    assert tcp.service.status()["refused"] == {}


def test_what_a_client_does_not_read_is_refused_and_not_carried_out(tcp):
    asked = 60_000
    with connected(port(tcp.endpoints.request), b"DEALER", receive_bytes=4096) as raw:
        hello(raw, 7)
        for k in range(0, asked, 100):
            raw.sendall(b"".join(frame(encode("step", 2 + k + i, 0.0, 7, [1, None, None])) for i in range(100)))
        until(lambda: tcp.service.received > asked, "not all requests were taken")
        status = tcp.service.status()
        refused, steps = status["refused"].get("backlog", 0), tcp.service.simulation.step_count
        assert refused > 0
        assert refused + steps == asked
        answers = [decode(take_frame(raw)) for _ in range(asked - status["unanswered"])]
    sequences = [each.sequence for each in answers]
    assert sequences == sorted(set(sequences))
    assert sum(each.type == "state" for each in answers) == steps
    reported = [each for each in answers if each.type == "error"]
    assert len(reported) == refused - status["unanswered"] > 0
    assert {each.body["code"] for each in reported} == {"backlog"}


def test_large_replies_that_nobody_reads_are_bounded_in_bytes(engine):
    tcp = engine(make_arm(20), endpoint="tcp://127.0.0.1:*")
    size = len(tcp.service.archive)
    assert size > 8192, "no large reply"
    asked = 40_000_000 // size
    with connected(port(tcp.endpoints.request), b"DEALER", receive_bytes=4096) as raw:
        hello(raw, 7)
        for k in range(asked):
            raw.sendall(frame(encode("model", 2 + k, 0.0, 7, None)))
        until(lambda: tcp.service.received > asked, "not all requests were taken")
        assert tcp.service.status()["refused"]["backlog"] > 0
        with Client(tcp.endpoints.request, timeout_s=WAIT_S) as other:
            assert other.model().name == "test arm"


def test_hellos_of_one_connection_push_out_its_own_clients_only(tcp):
    with Client(tcp.endpoints.request, timeout_s=WAIT_S) as client:
        with connected(port(tcp.endpoints.request), b"DEALER") as raw:
            for k in range(300):
                raw.sendall(frame(encode("hello", 1, 0.0, 1000 + k, {"name": "many"})))
                take_frame(raw)
            assert client._link.client in tcp.service.sessions._known
        assert client.state().step == 0


def test_a_client_that_was_forgotten_says_hello_again(tcp):
    with Client(tcp.endpoints.request, timeout_s=WAIT_S) as client:
        tcp.service.sessions._known.clear()
        assert client.state().step == 0
        tcp.service.sessions._known.clear()
        assert client.step(command={"shoulder": 1.0}).step == 1


def test_a_client_of_a_run_that_ended_does_not_go_on_in_another(tcp):
    with Client(tcp.endpoints.request, timeout_s=WAIT_S) as client:
        tcp.service.about["run"] = "another"
        tcp.service.sessions._known.clear()
        with pytest.raises(Exception, match="restarted"):
            client.step()


def test_a_request_waits_for_room(endpoint, monkeypatch):
    """Requests that nobody has read yet leave no room; the next one waits for it, as long as it may."""
    monkeypatch.setattr("limberjack.bridge.link._SLICE_MS", 1)
    with contextlib.closing(Link(endpoint, WAIT_S, None)) as link, zmq.Context() as context:
        for _ in range(link._socket.sndhwm):
            with pytest.raises(EngineTimeoutError, match="nothing listens there"):
                link.request("state", timeout_s=0.001)
        with pytest.raises(EngineTimeoutError, match="nothing listens there"):
            link.request("state", timeout_s=0.1)

        def answer():
            with context.socket(zmq.ROUTER) as router:
                router.rcvtimeo = int(1e3 * WAIT_S)
                router.bind(endpoint)
                for _ in range(link._socket.sndhwm + 1):  # the one that was given up for lack of room never comes
                    identity, request = router.recv_multipart()
                    asked = decode(request)
                    router.send_multipart([identity, encode("state", asked.sequence, 0.0, 0, None)])

        late = threading.Timer(0.2, answer)
        late.start()
        assert link.request("state").type == "state"
        late.join(WAIT_S)


def test_a_reader_that_was_too_slow_gets_the_newest_at_the_end():
    context = zmq.Context()
    publisher = context.socket(zmq.XPUB)
    publisher.linger, publisher.sndbuf = 0, 4096
    stream = LatestStream(publisher)
    publisher.bind("tcp://127.0.0.1:*")
    address = publisher.get_string(zmq.LAST_ENDPOINT)
    stream.door.bound(address)
    with connected(port(address), receive_bytes=4096) as raw:
        raw.sendall(frame(b"\1"))
        until(lambda: (stream.look(False), stream.door.look(), publisher.get(zmq.TOPICS_COUNT))[2], "no subscription")
        for k in range(3000):
            stream.show(memoryview(b"%6d" % k + bytes(10_000)))
        shown = []

        def newest_came():
            stream.look(False)
            while select.select([raw], [], [], 0.0)[0] and shown[-1:] != [2999]:
                shown.append(int(take_frame(raw)[:6]))
            return shown[-1:] == [2999]

        until(newest_came, "the newest does not come")
        assert len(shown) < 3000, "it was not too slow"
    stream.door.close()
    publisher.close()
    context.term()


def test_a_stream_that_holds_the_engine_loses_who_feeds_it():
    context = zmq.Context()
    publisher = context.socket(zmq.XPUB)
    door = ReaderDoor(publisher, 4)
    publisher.bind("tcp://127.0.0.1:*")
    door.bound(publisher.get_string(zmq.LAST_ENDPOINT))
    keeper = Doorkeeper([door], None)
    keeper.start()
    place = port(publisher.get_string(zmq.LAST_ENDPOINT))
    with connected(place) as calm, connected(place) as loud:
        until(lambda: len(door.table) == 2, "not connected")
        keeper.inside = time.monotonic()  # as if the socket never gave the engine back
        calm.sendall(frame(b"\1topic"))
        with contextlib.suppress(OSError):
            while not door.turned_away["flood"]:  # an error ends it too: the connection is shut
                loud.sendall(frame(b"\1" + bytes(900)))
                time.sleep(0.001)
        until(lambda: door.turned_away["flood"] >= 1, "it goes on")
        until(lambda: (door.read_subscriptions(), len(door.table) == 1)[1], "it is not gone")
        with pytest.raises(OSError, match="turned away"):
            take_frame(connected(place))
    keeper.stop()
    door.close()
    publisher.close(0)
    context.term()
