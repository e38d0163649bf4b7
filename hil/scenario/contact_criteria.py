"""Verdicts on contacts, from their events: loads, closing speeds, captures."""

from __future__ import annotations

import math

import numpy as np

from limberjack.engine.algebra.rotations import from_quaternion
from limberjack.engine.files.patterns import compiled
from limberjack.hil.events import Event
from limberjack.hil.scenario import schema_criteria as schema
from limberjack.hil.scenario.evidence import TIME_TOLERANCE, Evidence, Verdict

#: signals of an envelope for each frame (`contact_setup.envelope_signals`)
_POSITION, _ORIENTATION = 3, 4


def contact_verdict(spec: schema.ContactSpec, evidence: Evidence) -> Verdict:
    """The largest force, or closing speed, of all events of the contacts in the window."""
    matches, until = compiled(spec.contact).match, math.inf if spec.until is None else spec.until
    word, bound, unit = "force", spec.most_force, "N"
    if bound is None:
        word, bound, unit = "speed", spec.most_speed, "m/s"
    assert bound is not None
    value, worst = 0.0, None
    for event in evidence.log.events:
        if event.kind not in ("touch", "lift_off", "touching") or not matches(event.source):
            continue
        most = max(event.data[word], event.data.get(f"untold_{word}", 0.0))
        if spec.start - TIME_TOLERANCE <= event.time <= until + TIME_TOLERANCE and (worst is None or most > value):
            value, worst = most, event
    if worst is None:
        return Verdict(spec.name, True, f"no contact '{spec.contact}' touches", 0.0, bound, unit=unit)
    what = "largest force" if word == "force" else "largest closing speed"
    found = f"the {what} of {worst.source} is {value:.6g} {unit}, reported at {worst.time:.6g} s"
    text = f"{found}; {bound:g} {unit} is allowed"
    return Verdict(spec.name, value <= bound, text, value, bound, worst.time, unit)


def capture_verdict(spec: schema.CaptureSpec, evidence: Evidence) -> Verdict:
    """Whether a loop captures in time, and how shapes touched first."""
    touch, capture = _first(evidence, "touch", spec.contact), _first(evidence, "capture", spec.loop)
    if capture is None or touch is None or capture.time > spec.by + TIME_TOLERANCE:
        seen = "" if touch is None else f"; {touch.source} touched first at {touch.time:.6g} s"
        late = "" if capture is None else f", but {capture.source} at {capture.time:.6g} s"
        text = f"no capture by {spec.by:g} s{late}{seen}"
        return Verdict(spec.name, False, text, math.nan, spec.by, math.nan if capture is None else capture.time, "s")
    parts = [("m/s closing speed", touch.data["speed"], spec.most_speed)]
    parts.append(("s from touch to capture", capture.time - touch.time, spec.within))
    if spec.envelope is not None:
        parts += _pose(spec, spec.envelope, evidence, touch.time)
    compared = [(f"{value:.4g} {what}", value, most) for what, value, most in parts if most is not None]
    failed = [f"{text}, {most:g} is allowed" for text, value, most in compared if not value <= most]
    kept = [text for text, value, most in compared if value <= most]
    text = f"{capture.source} captures at {capture.time:.6g} s, {touch.source} touched first at {touch.time:.6g} s"
    text = "; ".join([*failed, text, *([f"within its limits: {', '.join(kept)}"] if kept else [])])
    return Verdict(spec.name, not failed, text, capture.time, spec.by, capture.time, "s")


def _first(evidence: Evidence, kind: str, pattern: str) -> Event | None:
    matches = compiled(pattern).match
    return next((event for event in evidence.log.of(kind) if matches(event.source)), None)


def _pose(
    spec: schema.CaptureSpec, envelope: schema.EnvelopeSpec, evidence: Evidence, time: float
) -> list[tuple[str, float, float | None]]:
    """Offset and tilt in the last frame before shapes touched, as parts of the verdict."""
    rows = np.flatnonzero(evidence.tape.table[:, 0] < time - TIME_TOLERANCE)
    values = evidence.tape.columns(evidence.signals[spec.name])[rows[-1]] if len(rows) else np.full(14, np.nan)
    poses = []
    for frame in (envelope.first, envelope.second):
        p, values = values[:_POSITION], values[_POSITION:]
        axis = np.array(frame.axis) / np.linalg.norm(frame.axis)
        if frame.orientation:
            axis, values = from_quaternion(values[:_ORIENTATION]) @ axis, values[_ORIENTATION:]
        poses.append((p, axis))
    (p, a), (x, b) = poses
    offset = float(np.linalg.norm(np.cross(a, x - p)))
    tilt = math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))
    return [("m off the axis", offset, envelope.most_offset), ("rad of tilt", tilt, envelope.most_tilt)]
