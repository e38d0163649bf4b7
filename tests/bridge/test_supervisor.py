"""A supervisor notices an engine that hangs or dies, informs clients, and puts another in its place."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from types import SimpleNamespace

import pytest
import zmq

from limberjack.bridge import Client
from limberjack.bridge.checkpoint_writer import newest
from limberjack.bridge.errors import EndpointError, EngineTimeoutError
from limberjack.bridge.keys import keygen
from limberjack.bridge.notify import Notify
from limberjack.bridge.server import Server
from limberjack.bridge.settings import Settings
from limberjack.bridge.supervision_limits import Limits
from limberjack.bridge.supervisor import SupervisionError, Supervisor
from limberjack.bridge.telemetry.source import event_text
from limberjack.bridge.upkeep import CameBack, Pulse, Signs
from limberjack.bridge.watch_post import WatchPost
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError
from tests.bridge.bridge_helpers import make_dock, until

LIMITS = Limits(hung_s=3.0, restarts=3)


class Watched:
    """A supervisor in a thread, what it said, and how it ended."""

    def __init__(self, system, settings, **options):
        self.said, self.error = [], None
        options = {"limits": LIMITS, "steps": {}, **options}
        self.supervisor = Supervisor(system, settings, say=self.said.append, **options)
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        until(lambda: self.ready.is_set() or self.error, "the engine did not start")

    def _run(self):
        try:
            self.supervisor.run(lambda engine: self.ready.set())
        except Exception as error:
            self.error = error

    @property
    def pid(self):
        return self.supervisor.engine.pid

    def end(self):
        self.supervisor.stop()
        self.thread.join(60.0)
        assert not self.thread.is_alive()


@pytest.fixture
def watch(arm, endpoint):
    """Starts supervisors; all ended at the end."""
    made = []

    def start(system=arm, settings=None, **options):
        made.append(Watched(system, settings or Settings(endpoint), **options))
        return made[-1]

    yield start
    for each in made:
        each.end()


def reported(client, event, limit_s=60.0):
    """Wait for a message of the supervisor."""
    deadline = time.monotonic() + limit_s
    while (body := client.supervisor(timeout_s=limit_s))["event"] != event:
        assert time.monotonic() < deadline, body
    return body


def reported_by_engine(client, event, limit_s=30.0):
    """Wait for an event of the engine in the topic stream."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        kind, body = client.next_event(timeout_s=limit_s)
        if kind == "event" and body["event"] == event:
            return body
    raise AssertionError(f"the engine does not report {event}")


@pytest.mark.parametrize("mode", [pytest.param("lockstep", marks=pytest.mark.long), "free-running"])
def test_a_hung_engine_is_replaced_where_it_was_and_clients_hear_of_it(watch, arm, endpoint, tmp_path, mode):
    settings = Settings(endpoint, mode=mode, checkpoint_s=0.05, checkpoints=tmp_path / "c")
    watched = watch(settings=settings)
    with Client(endpoint, timeout_s=2.0) as client:
        assert client.supervisor()["event"] == "watching"
        before = client.describe().raw
        assert before["endpoints"]["supervisor"] == f"{endpoint}.supervisor"
        client.parameter("gravity.z", -3.0)
        client.command({"shoulder": 0.7})
        if mode == "lockstep":
            client.step(50)
        here = client.state().step
        client.next_event()  # who follows the stream hears of it there, too
        until(lambda: newest(tmp_path / "c", pytest.fail)[1].step >= here, "no checkpoint was written")
        first = watched.pid
        os.kill(first, signal.SIGSTOP)  # it hangs
        body = reported(client, "hung")
        assert "no sign of life for 3 s" in body["text"]
        assert body["step"] >= here
        reported(client, "restarted")
        assert "no sign of life" in reported_by_engine(client, "restarted")["cause"]
    with Client(endpoint) as client:
        after = client.describe().raw
        assert after["run"] != before["run"]
        restart = after["restarted"]
        assert (restart["restarts"], restart["rest"]) == (1, True)
        assert restart["resumed_step"] >= here
        assert client.parameter("gravity.z") == -3.0
        assert client.state().command["shoulder"] == 0.0  # nobody commands: it comes to rest
    assert watched.pid != first
    assert any("hung" in text for text in watched.said)


def test_an_engine_that_dies_is_replaced_and_held_commands_give_the_same_bits(watch, arm, endpoint, tmp_path):
    settings = Settings(endpoint, checkpoint_s=0.05, checkpoints=tmp_path / "c")
    watched = watch(settings=settings, limits=Limits(rest=False))
    with Client(endpoint) as client:
        client.step(300, {"shoulder": 0.7})
        until(lambda: newest(tmp_path / "c", pytest.fail)[1].step == 300, "no checkpoint was written")
        os.kill(watched.pid, signal.SIGKILL)
        assert "killed by signal 9" in reported(client, "died")["text"]
        reported(client, "restarted")
    with Client(endpoint) as client:
        state = client.step(100)
    local = Simulation(arm)
    local.command["shoulder"] = 0.7
    local.step(400)
    assert (state.q.tobytes(), state.v.tobytes()) == (local.q.tobytes(), local.v.tobytes())


def test_an_engine_that_waits_or_works_long_gives_signs_of_life(arm, endpoint):
    pulse = Pulse()
    server = Server(Simulation(arm), Settings(endpoint), signs=Signs(pulse))
    thread = threading.Thread(target=server.run)
    thread.start()
    first = pulse.read()[0]
    until(lambda: pulse.read()[0] >= first + 5, "in lockstep nobody asks for anything, and it gives no sign")
    with Client(endpoint, timeout_s=60.0) as client:
        assert client.describe().raw["restarted"] is None
        before = pulse.read()[0]
        client.step(100_000)
        assert pulse.read()[0] >= before + 99  # between portions of 1000 steps at most
        assert 0 < pulse.read()[1] <= 100_000
    server.stop()
    thread.join(30.0)
    pulse.close()


def test_after_too_many_restarts_it_gives_up(watch, endpoint):
    watched = watch(limits=Limits(restarts=0))
    with Client(endpoint) as client:
        assert client.supervisor()["event"] == "watching"
        os.kill(watched.pid, signal.SIGKILL)
        until(lambda: watched.error, "it does not give up")
    assert isinstance(watched.error, SupervisionError)
    assert "More than 0 restarts in 600 s" in str(watched.error)


def test_an_engine_that_ends_in_order_ends_the_watch(watch, endpoint, folder):
    watched = watch()
    with Client(endpoint) as client:
        client.shutdown()
    watched.thread.join(30.0)
    assert not watched.thread.is_alive()
    assert (watched.error, watched.said) == (None, [])
    assert list(folder.iterdir()) == []


def test_an_engine_without_a_supervisor_says_so(engine, endpoint):
    engine()
    with Client(endpoint) as client, pytest.raises(ArgumentError, match="this engine has no supervisor"):
        client.supervisor()


def test_a_supervisor_with_keys_speaks_to_those_that_have_one(watch, arm, tmp_path):
    keygen(tmp_path, ("operator",))
    watched = watch(settings=Settings("tcp://127.0.0.1:*", keys=tmp_path))
    address = watched.supervisor.engine.endpoints.request
    with Client(address, keys=tmp_path, key_name="operator") as client:
        assert client.supervisor()["event"] == "watching"


def test_consoles_have_words_for_it():
    came_back = {"cause": "the engine hung: no sign of life for 5 s.", "resumed_time": 2.5}
    assert event_text("restarted", came_back) == (
        "another engine took its place: the engine hung: no sign of life for 5 s. It goes on from t = 2.5 s."
    )
    assert event_text("checkpoint_failed", {"text": "full."}) == "the engine writes no checkpoints: full."


@pytest.mark.parametrize("bad", [{"hung_s": 0.0}, {"hung_s": float("nan")}, {"restarts": -1}])
def test_wrong_limits(bad):
    with pytest.raises(ArgumentError):
        Limits(**bad)


# ---- the post


@pytest.fixture
def post(endpoint):
    made = WatchPost(Settings(endpoint))
    yield made
    made.close()


def peers(context, address, count):
    for _ in range(count):
        each = context.socket(zmq.DEALER)
        each.linger = 0
        each.connect(address)
        each.send(b"")
        yield each


def test_the_post_keeps_few_readers_and_forgets_the_silent(post, monkeypatch):
    context = zmq.Context()
    readers = list(peers(context, post.address, 70))

    def heard():
        post.look({})
        return len(post._readers) == 64

    until(heard, "not all were heard")
    later = SimpleNamespace(monotonic=lambda: time.monotonic() + 11.0)
    monkeypatch.setattr("limberjack.bridge.watch_post.time", later)
    post.report("x", "")
    assert not post._readers
    for each in readers:
        each.close()
    context.term()


def test_a_reader_that_does_not_read_costs_nothing(post):
    context = zmq.Context()
    (reader,) = peers(context, post.address, 1)
    reader.rcvhwm = 1
    until(lambda: (post.look({}), post._readers)[-1], "the reader was not heard")
    begun = time.monotonic()
    for _ in range(20_000):
        post.report("x", "y" * 100)
    assert time.monotonic() - begun < 20.0
    reader.close()
    context.term()


def test_the_post_of_an_open_address_wants_keys(endpoint):
    with pytest.raises(EndpointError, match="keygen"):
        WatchPost(Settings(endpoint), "tcp://0.0.0.0:5599")


def test_a_supervisor_that_is_gone_is_reported(engine, endpoint):
    server = engine()
    server.service.about["endpoints"]["supervisor"] = f"{endpoint}.nobody"
    with Client(endpoint) as client, pytest.raises(EngineTimeoutError, match="it is gone"):
        client.supervisor(timeout_s=0.3)


# ---- parts


def test_a_pulse_is_seen_through_its_descriptor():
    pulse = Pulse()
    pulse.beat(7, 0.25)
    pulse.beat(8, 0.5)
    other = Pulse(os.dup(pulse.descriptor))
    assert other.read() == (2, 8, 0.5)
    pulse.close()
    other.close()


def test_commands_come_to_rest_and_loops_stay(arm):
    simulation = Simulation(arm)
    simulation.command["shoulder"], simulation.command["j2"] = 3.0, 1.0
    simulation.step(100)
    CameBack("", 1, 0, 0.0, rest=False).begin(simulation)
    assert simulation.command["shoulder"] == 3.0
    CameBack("", 1, 0, 0.0, rest=True).begin(simulation)
    assert simulation.command["shoulder"] == 0.0
    assert simulation.command["j2"] == simulation.q[2]  # a servo holds where it is
    dock = Simulation(make_dock())
    dock.attach("brake")
    CameBack("", 1, 0, 0.0, rest=True).begin(dock)
    dock.step()
    assert dock.closed("brake")


def test_systemd_hears_what_it_asked_for(tmp_path, monkeypatch):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener.bind(str(tmp_path / "notify"))
    listener.settimeout(5.0)
    for name, value in {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "200000"}.items():
        monkeypatch.setenv(name, value)
    notify = Notify()
    assert "NOTIFY_SOCKET" not in os.environ  # a child does not speak for this process
    notify.send("READY=1", "STATUS=fine")
    assert listener.recv(100) == b"READY=1\nSTATUS=fine"
    begun = time.monotonic()
    for _ in range(3):
        until(lambda: (notify.alive(), heard(listener))[-1], "no sign of life")
    assert time.monotonic() - begun >= 0.2  # one at once, then every 0.1 s
    listener.close()
    notify.send("STOPPING=1")  # nobody listens any more
    monkeypatch.setenv("WATCHDOG_USEC", "200000")
    monkeypatch.setenv("WATCHDOG_PID", "1")
    assert Notify()._period_s is None  # meant for another process


def heard(listener):
    listener.setblocking(False)
    try:
        return listener.recv(100) == b"WATCHDOG=1"
    except BlockingIOError:
        return False
