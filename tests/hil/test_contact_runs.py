"""Contacts on the bench: their events in the log and in the record, whatever the frames."""

from __future__ import annotations

import pytest

import limberjack as lj
from limberjack.hil import timeline as tl
from limberjack.hil.executive import Executive
from limberjack.hil.timeline import At, Timeline
from tests.engine.contacts.touching import bouncing, latched
from tests.hil.benches import FakeRecorder, fake


def run(system, seconds, steps, **parts):
    simulation = lj.Simulation(system, dt=1e-3)
    executive = Executive(simulation, steps_per_frame=steps, paced=False, **parts, **fake())
    assert executive.run(seconds).reason == "completed"
    return executive.log.events


def test_frames_of_many_steps_miss_no_touch(tmp_path):
    system = bouncing(tmp_path)
    told = [run(system, 1.5, steps) for steps in (1, 50)]
    for events in told:
        assert [event.kind for event in events[:4]] == ["touch", "lift_off", "touch", "lift_off"]
        assert events[-2].kind in ("touching", "lift_off")
        assert events[-1].kind == "end"
    times = [[event.time for event in events if event.kind == "touch"] for events in told]
    assert times[0] == times[1]
    first = told[1][0]
    assert first.data["frame"] == 7  # the frame of 50 ms in which it comes down, 0.319 s after its release
    assert first.text == f"floor and ball touch at {first.data['speed']:.4g} m/s"


def test_a_capture_by_the_timeline_is_an_event_of_the_run_and_of_its_record(tmp_path):
    recorder = FakeRecorder()
    timeline = Timeline([At(0.12, tl.Switch("attach", "latch"))])
    events = run(latched(tmp_path), 0.3, 10, recorder=recorder, timeline=timeline)
    kinds = [event.kind for event in events]
    assert kinds == ["touch", "attach", "capture", "touching", "end"]
    captured = events[2]
    assert captured.source == "latch"
    assert captured.data["contacts"] == ["guide"]
    assert captured.data["lasted"] == pytest.approx(captured.time - events[0].time)
    assert recorder.events == events


def test_a_second_run_begins_where_the_first_ended(tmp_path):
    simulation = lj.Simulation(bouncing(tmp_path, restitution=0.0), dt=1e-3)
    executive = Executive(simulation, paced=False, **fake())
    executive.run(0.5)
    executive.log.events.clear()
    executive.run(0.1)
    assert [event.kind for event in executive.log.events] == ["touching", "end"]
