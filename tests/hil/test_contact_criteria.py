"""Criteria on contacts: loads and speeds against closed forms, captures within an envelope, words of refusals."""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree
from pathlib import Path

import pytest

from limberjack.engine.common.errors import ModelError
from limberjack.hil.campaign.findings import limits
from limberjack.hil.scenario.execution import run_scenario
from limberjack.hil.scenario.scenario_file import load_scenario
from tests.engine.contacts.touching import latched

SPEED, K, MU = 0.1, 1.0e4, 100.0 * 10.0 / 110.0
#: of two free bodies on a spring of K: v √(k µ)
PEAK = SPEED * math.sqrt(K * MU)
FRAMES = (
    "{first: {position: seat, orientation: seat_turn, axis: [0, 0, 1]}, "
    "second: {position: tip, orientation: tip_turn, axis: [0, 0, 1]}"
)


def write(folder: Path, criteria: str, more: str = "", name: str = "dock.yaml") -> Path:
    """A tip that comes down on a plate; the latch closes on command within its reach."""
    latched(folder)
    text = "limberjack_scenario: 1\nname: dock\nmodel: catch.yaml\ndt: 0.001\nsteps_per_frame: 20\nduration: 0.4\n"
    path = folder / name
    path.write_text(f"{text}{more}\ncriteria:\n{criteria}")
    return path


def verdict(folder: Path, criterion: str, more: str = "", **parts):
    result = run_scenario(write(folder, f"  - {{name: c, {criterion}}}\n", more), **parts)
    return next(found for found in result.criteria if found.name == "c")


BOUNCE = "initial: {parameters: {contact.guide.dissipation: 0}}"
DOCK = "initial: {commands: {latch.closed: 1}}"


def test_the_peak_load_between_frames_is_that_of_the_closed_form(tmp_path):
    """In frames of 20 ms, of which an impact of half a period π √(µ/k) = 95 ms has five."""
    found = verdict(tmp_path, f"type: contact, contact: guide, most_force: {1.01 * PEAK}", BOUNCE)
    assert found.passed
    assert found.value == pytest.approx(PEAK, rel=1e-3)
    assert found.unit == "N"
    found = verdict(tmp_path, f"type: contact, most_force: {0.99 * PEAK}", BOUNCE)
    assert not found.passed
    assert found.text.startswith("the largest force of guide is 30.1")


def test_the_closing_speed_is_judged_in_its_window(tmp_path):
    assert verdict(tmp_path, f"type: contact, most_speed: {SPEED * 1.0001}", BOUNCE).passed
    found = verdict(tmp_path, f"type: contact, most_speed: {SPEED * 0.999}", BOUNCE)
    assert (found.passed, found.value) == (False, pytest.approx(SPEED))
    found = verdict(tmp_path, "type: contact, most_speed: 0.001, until: 0.09", BOUNCE)
    assert found.passed
    assert found.text == "no contact '*' touches"


def test_norms_are_judged_as_one_signal(tmp_path):
    """Spheres that meet along (0, 0.6, 0.8): the largest component is 0.8 of the norm."""
    turned = "initial: {coordinates: {probe.y: 0.18, probe.z: 0.25}, velocities: {probe.vz: -0.1}}"
    norm = verdict(tmp_path, "type: bounds, signals: [output.load], norm: true, upper: 20", turned)
    parts = verdict(tmp_path, "type: bounds, signals: [output.load], lower: -20, upper: 20", turned)
    assert parts.passed
    assert not norm.passed
    assert norm.unit == "N"
    assert norm.text.startswith("norm of output.load comes to ")
    assert abs(parts.value) / norm.value == pytest.approx(0.8, abs=0.02)


def offset_dock(offset: float, tilt: float) -> str:
    """The tip begins off the axis, and turned about x."""
    half = 0.5 * tilt
    q = f"probe.qw: {math.cos(half)}, probe.qx: {math.sin(half)}, probe.y: {offset}"
    v = f"probe.vy: {-0.1 * math.sin(tilt)}, probe.vz: {-0.1 * math.cos(tilt)}"  # body axes: straight down
    return f"initial: {{commands: {{latch.closed: 1}}, coordinates: {{{q}}}, velocities: {{{v}}}}}"


def test_a_capture_in_time_within_its_envelope_passes(tmp_path):
    limited = f"type: capture, loop: latch, contact: guide, by: 0.2, within: 0.05, most_speed: 0.11, envelope: {FRAMES}"
    found = verdict(tmp_path, f"{limited}, most_offset: 0.001, most_tilt: 0.001}}", DOCK)
    assert found.passed, found.text
    assert found.value == found.time == pytest.approx(0.1, abs=0.02)
    assert "latch captures at 0.1" in found.text
    assert "0.1 m/s closing speed" in found.text


def test_offset_and_tilt_at_the_first_touch_are_those_that_were_set(tmp_path):
    limited = f"type: capture, by: 0.2, envelope: {FRAMES}"
    more = offset_dock(0.004, 0.05)
    found = verdict(tmp_path, f"{limited}, most_offset: 0.00401, most_tilt: 0.0501}}", more)
    assert found.passed, found.text
    offset, tilt = (float(re.search(rf"([\d.]+) {what}", found.text)[1]) for what in ("m off", "rad of tilt"))
    assert offset == pytest.approx(0.004, rel=1e-3)
    assert tilt == pytest.approx(0.05, rel=1e-3)
    found = verdict(tmp_path, f"{limited}, most_offset: 0.0039, most_tilt: 0.0501}}", more)
    assert not found.passed
    assert found.text.startswith("0.004 m off the axis, 0.0039 is allowed; latch captures at")
    assert not verdict(tmp_path, f"{limited}, most_tilt: 0.0499}}", more).passed


@pytest.mark.parametrize(
    ("criterion", "more", "text"),
    [
        ("by: 0.2", "", "no capture by 0.2 s; guide touched first at 0.1"),
        ("by: 0.2, most_speed: 0.09", DOCK, "0.1 m/s closing speed, 0.09 is allowed"),
        ("by: 0.2, within: 0.0001", DOCK, "0.006 s from touch to capture, 0.0001 is allowed"),
        ("by: 0.05", DOCK, "no capture by 0.05 s, but latch at 0.10"),
    ],
)
def test_why_a_capture_fails(tmp_path, criterion, more, text):
    found = verdict(tmp_path, f"type: capture, {criterion}", more)
    assert found.word == "failed"
    assert found.text.startswith(text)


def test_reports_have_the_verdicts_and_campaigns_their_limits(tmp_path):
    criteria = (
        "  - {name: soft, type: contact, contact: guide, most_force: 1}\n"
        f"  - {{name: docks, requirement: D-7, type: capture, by: 0.2, envelope: {FRAMES}, most_offset: 0.1}}}}\n"
        "  - {name: once, type: event, kind: touch, source: guide}\n"
    )
    path = write(tmp_path, criteria, DOCK)
    result = run_scenario(path, out=tmp_path / "out")
    assert [found.passed for found in result.criteria[1:4]] == [False, True, True]
    cases = xml.etree.ElementTree.parse(tmp_path / "out" / "junit.xml").findall(".//testcase")
    assert {case.get("name"): case.find("failure") is None for case in cases}["docks"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "the largest force of guide is " in page
    assert "latch captures at 0.1" in page
    events = [json.loads(line) for line in (tmp_path / "out" / "events.jsonl").read_text().splitlines()]
    assert [event["kind"] for event in events] == ["touch", "capture", "attach", "touching", "end"]
    bounds = [limits(criterion) for criterion in load_scenario(path).spec.criteria]
    assert [each.upper for each in bounds] == [1.0, 0.2, math.inf]


@pytest.mark.parametrize(
    ("criterion", "text"),
    [
        ("type: contact, contact: gide, most_force: 1", "contact 'gide' matches nothing. Name one of: 'guide'"),
        ("type: capture, loop: lutch, by: 0.1", "loop 'lutch' matches nothing. Name one of: 'latch'"),
        ("type: event, kind: touch, source: latch", "source 'latch' matches nothing. Name one of: 'guide'"),
        ("type: contact", "give either most_force or most_speed"),
        ("type: contact, most_force: 0", "most_force is 0. Give a number above 0"),
        ("type: rms, norm: true, signals: [output.load, time], most: 1", "the norm of signals in N, s means nothing"),
        (
            f"type: capture, by: 0.1, envelope: {FRAMES.replace('position: tip', 'position: load')}, most_tilt: 1}}",
            "'load' is not a sensor of type node_position. Name one: 'seat', 'tip'",
        ),
        (f"type: capture, by: 0.1, envelope: {FRAMES}}}", "give most_offset, most_tilt or both"),
    ],
)
def test_criteria_that_mean_nothing_are_refused_with_their_line(tmp_path, criterion, text):
    with pytest.raises(ModelError) as caught:
        verdict(tmp_path, criterion)
    assert text in str(caught.value)
    assert re.search(r"dock\.yaml:\d+", str(caught.value))


def test_models_without_contacts_have_no_such_criteria(tmp_path):
    path = write(tmp_path, "  - {name: c, type: contact, most_force: 1}\n")
    model = (tmp_path / "catch.yaml").read_text()
    (tmp_path / "catch.yaml").write_text(model[: model.index("contacts:")])
    with pytest.raises(ModelError, match="judges contacts, and the model 'catch' has none"):
        run_scenario(path)


SLIDER = """
limberjack: 1
name: slider
bodies:
  - {name: block, mass: 2, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}, hinge: {name: block, type: free, parent: world,
     initial: {position: [0, 0, 0.1], velocity: {vx: 2.0}}}}
shapes:
  - {name: floor, body: world, type: plane}
  - {name: block, body: block, type: box, size: [1.0, 1.0, 0.2]}
contacts:
  - {name: slide, first: floor, second: block, friction: 0.2}
"""


def test_a_fault_of_friction_acts_while_shapes_slide_and_ends(tmp_path):
    """µ g slows the block; from 0.2 s to 0.4 s a quarter of it."""
    (tmp_path / "slider.yaml").write_text(SLIDER)
    g, mu = 9.80665, 0.2
    after = 2.0 - mu * g * (0.2 + 0.25 * 0.2 + 0.1)
    text = "limberjack_scenario: 1\nname: ice\nmodel: slider.yaml\ndt: 0.001\nduration: 0.5\n"
    text += "faults: [{name: ice, type: parameter, factors: {contact.slide.friction: 0.25}}]\n"
    text += "timeline: [{at: 0.2, fault: ice}, {at: 0.4, clear: ice}]\n"
    text += f"criteria: [{{name: c, type: final, signals: [v.block.vx], target: {after}, tolerance: 1.0e-2}}]\n"
    (tmp_path / "ice.yaml").write_text(text)
    result = run_scenario(tmp_path / "ice.yaml")
    assert result.passed, result.explain()
    assert result.criteria[1].value == pytest.approx(after, abs=3.0 * mu * g * 1e-3)


def test_a_shape_on_a_locked_hinge_is_misaligned_by_initial_coordinates(tmp_path):
    path = write(
        tmp_path,
        f"  - {{name: c, type: capture, by: 0.2, envelope: {FRAMES}, most_tilt: 0.0499}}}}\n",
        "initial: {coordinates: {mount: 0.05}}\ntimeline: [{at: 0, lock: mount}, {at: 0.12, attach: latch}]",
    )
    model = (tmp_path / "catch.yaml").read_text()
    mount = (
        "  - {name: cup, mass: 0.1, inertia: {xx: 1.0e-3, yy: 1.0e-3, zz: 1.0e-3}, hinge: {name: mount, type: revolute,"
        " parent: target, axis: [1, 0, 0]}}\nnodes:\n"
    )
    lock = "loops:\n  - {name: held, type: lock, hinge: mount, switchable: true, closed: false}\n"
    model = model.replace("reach: 0.0095", "reach: 0.05").replace("nodes:\n", mount).replace("loops:\n", lock)
    model = model.replace("{name: seat, body: target", "{name: seat, body: cup").replace(
        "body: target, type", "body: cup, type"
    )
    (tmp_path / "catch.yaml").write_text(model)
    found = run_scenario(path).criteria[1]
    assert not found.passed
    assert found.text.startswith("0.05 rad of tilt, 0.0499 is allowed")
