"""Contacts on the bench: their events in the log and in the record, whatever the frames."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.hil import timeline as tl
from limberjack.hil.campaign.runner import run_campaign
from limberjack.hil.executive import Executive
from limberjack.hil.record.mcap_file import McapFile
from limberjack.hil.record.replay import replay
from limberjack.hil.scenario.execution import run_scenario
from limberjack.hil.scenario.scenario_file import load_scenario
from limberjack.hil.timeline import At, Timeline
from limberjack.hil.worlds.batchable import why_alone
from tests.engine.contacts.touching import bouncing, latched
from tests.hil.benches import FakeRecorder, fake
from tests.hil.test_worlds import compare


def run(system, seconds, steps, **parts):
    simulation = lj.Simulation(system, dt=1e-3)
    executive = Executive(simulation, steps_per_frame=steps, paced=False, **parts, **fake())
    assert executive.run(seconds).reason == "completed"
    return executive.log.events


def test_frames_of_many_steps_miss_no_touch(tmp_path):
    system = bouncing(tmp_path)
    reported = [run(system, 1.5, steps) for steps in (1, 50)]
    for events in reported:
        assert [event.kind for event in events[:4]] == ["touch", "lift_off", "touch", "lift_off"]
        assert events[-2].kind in ("touching", "lift_off")
        assert events[-1].kind == "end"
    times = [[event.time for event in events if event.kind == "touch"] for events in reported]
    assert times[0] == times[1]
    first = reported[1][0]
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


SCENARIO = """
limberjack_scenario: 1
name: dock
model: catch.yaml
dt: 0.001
steps_per_frame: 4
duration: 0.4
initial: {commands: {latch.closed: 1}, coordinates: {probe.y: 0.002}, parameters: {contact.guide.friction: 0.3}}
faults:
  - {name: slick, type: parameter, factors: {contact.guide.friction: 0.1, contact.guide.stiffness: 0.5}}
timeline:
  - {at: 0.104, fault: slick}
  - {at: 0.2, release: latch}
  - {at: 0.3, clear: slick}
criteria:
  - {name: load, type: contact, most_force: 20}
  - {name: docks, type: capture, by: 0.3, most_speed: 0.12}
"""


ENVELOPE = (
    "{first: {position: seat, orientation: seat_turn, axis: [0, 0, 1]}, "
    "second: {position: tip, orientation: tip_turn, axis: [0, 0, 1]}, most_offset: 0.005, most_tilt: 0.01}"
)


def write(folder: Path) -> Path:
    latched(folder)
    (folder / "dock.yaml").write_text(SCENARIO)
    return folder / "dock.yaml"


def test_a_record_through_contact_faults_and_capture_is_replayed_bit_for_bit(tmp_path):
    result = run_scenario(write(tmp_path), out=tmp_path / "out")
    kinds = [event.kind for event in result.outcome.log.events]
    assert kinds.index("touch") < kinds.index("fault") < kinds.index("capture") < kinds.index("release")
    again = replay(McapFile(tmp_path / "out" / "record.mcap"), lj.load(tmp_path / "catch.yaml"))
    assert (again.equal, again.frames) == (True, 101), str(again.difference)


CAMPAIGN = """
limberjack_campaign: 1
name: envelope
scenario: dock.yaml
seed: 3
runs: 6
vary:
  "initial.coordinates[probe.y]": {uniform: [-0.01, 0.01]}
  "initial.parameters[contact.guide.friction]": {uniform: [0, 0.5]}
"""


@pytest.mark.long
def test_a_campaign_of_contacts_that_is_resumed_has_the_same_table(tmp_path):
    write(tmp_path)
    path = tmp_path / "c.yaml"
    path.write_text(CAMPAIGN)
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    summary = run_campaign(path, out=whole, workers=1)
    assert {row.status for row in summary.rows} <= {"passed", "failed"}
    assert len({row.measured["load"] for row in summary.rows}) == 6
    cut.mkdir()
    lines = (whole / "rows.jsonl").read_bytes().splitlines(keepends=True)
    assert json.loads(lines[3])["run"] >= 0
    (cut / "rows.jsonl").write_bytes(b"".join(lines[:4]))
    run_campaign(path, out=cut, workers=1, resume=True)
    assert (cut / "table.csv").read_bytes() == (whole / "table.csv").read_bytes()


def test_runs_at_once_measure_at_contacts_what_single_runs_do(tmp_path, monkeypatch):
    """Frames of several steps, faults, captures and releases; some never touch, one is cut by its timeline."""
    path = write(tmp_path)
    path.write_text(
        path.read_text().replace("{name: docks,", f"{{name: docks, envelope: {ENVELOPE},")
        + "  - {name: speed, type: contact, most_speed: 0.099, until: 0.25}\n"
        "  - {name: touches, type: event, kind: touch, least: 2}\n"
        "  - {name: leaves, type: event, kind: lift_off, least: 1}\n"
        "  - {name: rests, type: no_event, kind: touching}\n"
    )
    assert why_alone(load_scenario(path)) == ""
    vary = {
        "initial.coordinates[probe.y]": [-0.01, 0.0, 0.004, 0.008, 0.35],
        "initial.parameters[contact.guide.friction]": (0.0, 0.5),
        "initial.commands[latch.closed]": [0.0, 1.0],
        "timeline[1].at": [0.11, 0.2, 0.3],
    }
    rows = compare(path, vary, monkeypatch, 8)
    assert len({row.measured["load"] for row in rows}) > 3
    assert {len(row.failed) for row in rows} != {0}
    assert any(np.isfinite(row.measured["docks"]) for row in rows)
