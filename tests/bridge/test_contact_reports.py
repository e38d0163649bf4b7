"""What contacts do is reported: bounded where they chatter, and nothing of it is lost for good."""

from __future__ import annotations

import pytest

from limberjack.bridge.contact_reports import A_SECOND, IN_ALL, ContactReports
from limberjack.bridge.service import Service
from limberjack.bridge.settings import Settings
from limberjack.bridge.telemetry.source import event_text
from limberjack.engine.api.simulation import Simulation
from tests.bridge.test_service import Talk
from tests.engine.contacts.touching import bouncing, latched


def reported(simulation, steps):
    found = []
    reports = ContactReports(simulation, lambda event, text, data: found.append((event, text, data)))
    reports.step(steps)
    return reports, found


def fastest(simulation, first, last):
    """Largest speed downwards between two steps, m/s."""
    simulation.reset()
    simulation.step(first)
    speeds = []
    for _ in range(first, last):
        simulation.step()
        speeds.append(-simulation.v[5])
    return max(speeds)


def test_a_chattering_contact_does_not_flood_and_the_rest_is_counted(tmp_path):
    """A ball that hops 2 mm high with little loss: more than ten times a second."""
    simulation = Simulation(bouncing(tmp_path, height=0.002, restitution=0.99), dt=1e-3)
    reports, found = reported(simulation, 3000)
    assert reports.touches["bounce"] > 40
    assert len(found) == 3 * A_SECOND
    untold = sum(data.get("untold", 0) for _, _, data in found)
    late = [(text, data) for _, text, data in found if "untold" in data]
    assert len(late) == 2  # the first event of a second reports what was left out in the one before
    assert "events before are not listed" in late[0][0]
    reports.finish()
    events = 2 * reports.touches["bounce"] - int(found[-1][1].startswith("still"))
    assert late[0][1]["untold_speed"] == pytest.approx(
        fastest(simulation, 205, 1000), rel=0.02
    )  # from the sixth hop on
    untold += found[-1][2]["untold"]
    assert untold + 3 * A_SECOND == events
    assert found[-1][0].kind == "touching"


def test_no_contact_reports_more_than_its_share_of_a_run(tmp_path, monkeypatch):
    monkeypatch.setattr("limberjack.bridge.contact_reports.IN_ALL", 12)
    assert IN_ALL == 1000
    simulation = Simulation(bouncing(tmp_path, height=0.002, restitution=0.99), dt=1e-3)
    reports, found = reported(simulation, 3000)
    assert len(found) == 12
    reports.finish()
    assert len(found) == 13


def test_a_ball_that_stays_down_is_reported_at_the_end(tmp_path):
    reports, found = reported(Simulation(bouncing(tmp_path, restitution=0.0), dt=1e-3), 1000)
    reports.finish()
    event, text, data = found[-1]
    assert (event.kind, event.source) == ("touching", "bounce")
    assert text.startswith("still: floor and ball touched for 0.6")
    assert data["force"] > 9.0


def test_the_engine_publishes_touches_and_captures(tmp_path):
    service = Service(Simulation(latched(tmp_path), dt=1e-3), Settings())
    talk = Talk(service)
    names = service.simulation.command_names
    assert names == ("latch.closed",)
    start = talk.ask("snapshot").body
    talk.ask("command", [None, b"\0\0\0\0\0\0\xf0\x3f"])
    assert talk.ask("heartbeat").body["touches"] == {"guide": 0}
    talk.ask("step", [300, None, None])
    events = [event for event in service.events if event["event"] == "contact"]
    assert [(event["kind"], event["source"]) for event in events] == [("touch", "guide"), ("capture", "latch")]
    assert events[0]["data"]["shapes"] == ["plate", "tip"]
    assert event_text("contact", events[0]) == "touch, guide: plate and tip touch at 0.1 m/s"
    assert event_text("contact", events[1]).startswith("capture, latch: closed 0.00")
    assert talk.ask("heartbeat").body["touches"] == {"guide": 1}
    service.events.clear()
    talk.ask("restore", start)
    talk.ask("step", [50, None, None])
    assert not [event for event in service.events if event["event"] == "contact"]


def test_events_of_contacts_leave_room_for_others(tmp_path):
    service = Service(Simulation(bouncing(tmp_path, height=0.002, restitution=0.99), dt=1e-3), Settings())
    Talk(service).ask("step", [3000, None, None])
    assert len(service.events) <= 9
    assert service.contacts.touches["bounce"] > 40
