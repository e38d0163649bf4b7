"""Loops closed and released over the wire: the same bits as in Python, and refusals that change nothing."""

from __future__ import annotations

import math
import struct
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from limberjack.bridge import Client
from limberjack.bridge.errors import LeaseError, RefusedError
from limberjack.bridge.server import Server
from limberjack.bridge.service import Service
from limberjack.bridge.settings import Settings
from limberjack.bridge.telemetry.source import event_text
from limberjack.engine.api.simulation import Simulation
from tests.bridge.bridge_helpers import WAIT_S, make_dock, until
from tests.bridge.test_service import Talk


@pytest.fixture
def dock(endpoint):
    """Engines of the docking model in threads: `server = dock(mode="free-running")`."""
    running = []

    def start(**options):
        server = Server(Simulation(make_dock()), Settings(endpoint=endpoint, **options))
        running.append((server, threading.Thread(target=server.run, daemon=True)))
        running[-1][1].start()
        return server

    yield start
    for server, thread in running:
        server.stop()
        thread.join(WAIT_S)
        assert not thread.is_alive()


@pytest.fixture
def service():
    return Service(Simulation(make_dock()), Settings())


def test_attach_and_release_give_the_bits_of_python(dock, endpoint):
    dock()
    local = Simulation(make_dock())
    with Client(endpoint) as client:
        client.step(100)
        local.step(100)
        reported, known = client.attach("dock"), local.attach("dock")
        assert (reported.loop, reported.time, reported.energy_loss) == (known.loop, known.time, known.energy_loss)
        assert reported.distance == known.distance > 0.0
        assert reported.impulse.tobytes() == known.impulse.tobytes()
        assert reported.energy_loss > 0.0
        assert client.state().v.tobytes() == local.v.tobytes()
        client.step(200, {"elbow": 0.5})
        local.command["elbow"] = 0.5
        local.step(200)
        assert client.lock("elbow").energy_loss == local.lock("elbow").energy_loss
        client.step(50)
        local.step(50)
        assert client.release("dock").energy_loss == local.release("dock").energy_loss == 0.0
        assert isinstance(client.unlock("elbow").impulse, float)
        local.unlock("elbow")
        client.step(100)
        local.step(100)
        assert client.snapshot() == local.snapshot()


def test_commands_switch_too(dock, endpoint):
    dock()
    local = Simulation(make_dock())
    local.command["dock.closed"] = 1.0
    local.step(20)
    with Client(endpoint) as client:
        state = client.step(20, {"dock.closed": 1.0})
        assert client.status()["closed"] == {"dock": True, "brake": False}
        assert state.command["dock.closed"] == 1.0
        assert client.snapshot() == local.snapshot()


def test_a_snapshot_carries_what_is_closed(dock, endpoint):
    dock()
    with Client(endpoint) as client:
        client.attach("dock")
        client.step(10)
        saved = client.snapshot()
        client.release("dock")
        after = client.step(10)
        client.restore(saved)
        assert client.status()["closed"]["dock"]
        assert client.step(10).q.tobytes() != after.q.tobytes()
        client.reset()
        assert not client.status()["closed"]["dock"]


def test_the_description_lists_loops(dock, endpoint):
    dock()
    with Client(endpoint) as client:
        described = client.describe()
        assert described.loops == ("dock", "brake")
        weld, brake = described.raw["loops"]
        expected = {"type": "weld", "switchable": True, "driven": False, "reach": 0.2, "hinge": None}
        assert weld == {"name": "dock", **expected}
        assert (brake["hinge"], brake["reach"]) == ("elbow", None)
        assert described.names["command"] == ("elbow", "dock.closed", "brake.closed")


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        ("attach", "dok", "did you mean 'dock'"),
        ("release", "dock", "open already"),
        ("unlock", "elbow", "open already"),
        ("lock", "base", "has no lock"),
        ("lock", "elbo", "no hinge is called"),
        ("attach", "", "no loop is called"),
    ],
)
def test_refusals_say_why_and_change_nothing(service, kind, body, words):
    talk = Talk(service)
    talk.ask("step", [3, None, None])
    before = service.simulation.snapshot()
    reply = talk.ask(kind, body)
    assert reply.type == "error"
    assert reply.body["code"] == "argument"
    assert words in reply.body["text"]
    assert service.simulation.snapshot() == before


def test_out_of_reach_is_refused_with_both_distances(service):
    talk = Talk(service)
    service.simulation.part("q")[-3:] = 3.0, 0.0, 0.0
    service.simulation.changed()
    before = service.simulation.snapshot()
    text = talk.ask("attach", "dock").body["text"]
    assert "out of reach" in text
    assert "0.2 m" in text
    assert service.simulation.snapshot() == before
    assert talk.ask("command", [b"\1\0\0\0", np.ones(1).tobytes()]).type == "command"
    assert talk.ask("step", [5, None, None]).type == "state"
    assert service.status()["closed"] == {"dock": False, "brake": False}


def test_twice_is_refused(service):
    talk = Talk(service)
    assert talk.ask("attach", "dock").type == "attach"
    assert "closed already" in talk.ask("attach", "dock").body["text"]
    assert talk.ask("lock", "elbow").type == "lock"
    assert "closed already" in talk.ask("attach", "brake").body["text"]


def test_it_needs_the_lease(dock, endpoint):
    dock()
    with Client(endpoint, name="pilot") as pilot, Client(endpoint, name="guest") as guest:
        pilot.step()
        for call in (guest.attach, guest.release):
            with pytest.raises(LeaseError, match="pilot"):
                call("dock")
        for call in (guest.lock, guest.unlock):
            with pytest.raises(LeaseError, match="pilot"):
                call("elbow")
        guest.release()  # the lease that it does not hold
        assert not pilot.status()["closed"]["dock"]
        pilot.release()
        assert guest.attach("dock").energy_loss > 0.0
        with pytest.raises(RefusedError, match="closed already"):
            guest.attach("dock")


def test_a_free_running_engine_switches_between_cycles(dock, endpoint):
    server = dock(mode="free-running", rate_hz=100.0)
    with Client(endpoint) as client:
        impact = client.lock("elbow")
        assert impact.energy_loss > 0.0
        step = client.state().step
        until(lambda: client.state().step > step + 5, "it does not step")
        assert abs(client.state().velocity["elbow"]) < 1e-9
        client.unlock("elbow")
        assert server.service.status()["closed"] == {"dock": False, "brake": False}


def test_it_is_an_event(service):
    talk = Talk(service)
    talk.ask("attach", "dock")
    talk.ask("release", "dock")
    events = [{key: each[key] for key in ("loop", "closed")} for each in service.events if each["event"] == "loop"]
    assert events == [{"loop": "dock", "closed": True}, {"loop": "dock", "closed": False}]


def test_it_is_an_event_where_a_held_command_does_it(service):
    talk = Talk(service)
    place = service.simulation.command_names.index("brake.closed")
    talk.ask("step", [1, struct.pack("<I", place), struct.pack("<d", 1.0)])
    events = [each for each in service.events if each["event"] == "loop"]
    assert events == [{"event": "loop", "loop": "brake", "closed": True, "client": None}]
    assert event_text("loop", events[0]) == "loop brake closed by its command."


NAMES = st.sampled_from(["dock", "brake", "elbow", "base", "dock.closed"]) | st.text(max_size=5)
VERBS = st.tuples(st.sampled_from(["attach", "release", "lock", "unlock"]), NAMES | st.none() | st.binary(max_size=3))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(VERBS, max_size=12))
def test_any_order_of_verbs_keeps_a_finite_state(verbs):
    service = Service(Simulation(make_dock()), Settings())
    talk = Talk(service)
    for kind, body in verbs:
        talk.ask(kind, body)
        assert talk.ask("step", [2, None, None]).type == "state"
    assert service.refused["internal"] == 0
    assert all(map(math.isfinite, service.simulation.state))


@pytest.mark.parametrize("value", [2.0, -1.0, 0.5])
def test_a_snapshot_with_a_switch_that_is_neither_is_refused(service, value):
    simulation = service.simulation
    start, _ = simulation.state_layout["switch"]
    forged = bytearray(simulation.snapshot())
    place = len(forged) - 8 * (len(simulation.state) - start)
    forged[place : place + 8] = np.array([value]).tobytes()
    reply = Talk(service).ask("restore", bytes(forged))
    assert reply.body["code"] == "argument"
    assert "neither closed nor open" in reply.body["text"]
