"""Pass criteria: from what a run left to verdicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from limberjack.engine.files.patterns import compiled
from limberjack.hil.scenario import schema_criteria as schema
from limberjack.hil.scenario.contact_criteria import capture_verdict, contact_verdict
from limberjack.hil.scenario.evidence import TIME_TOLERANCE, Evidence, Verdict


def judge(spec: Any, evidence: Evidence) -> Verdict:
    """The verdict of one criterion; undecided where more of the run could still have changed it."""
    return replace(_judged(spec, evidence), requirements=spec.requirements)


def _judged(spec: Any, evidence: Evidence) -> Verdict:
    until = getattr(spec, "until", getattr(spec, "by", None))
    last = evidence.duration if until is None else until
    if hasattr(spec, "signals") and not evidence.window(getattr(spec, "start", 0.0), until).any():
        return _undecided(Verdict(spec.name, False, ""), last, evidence)
    verdict = _JUDGES[type(spec)](spec, evidence)
    if evidence.end >= last - TIME_TOLERANCE or decided(spec, verdict):
        return verdict
    if until is None and evidence.meant:
        text = f"judged by {evidence.end:.6g} s of {last:g} s, when the run ended"
        return replace(verdict, text=f"{verdict.text}; {text}")
    return _undecided(verdict, last, evidence)


def decided(spec: Any, verdict: Verdict) -> bool:
    """Whether a verdict on a part of the window stands, however the run would have gone on."""
    match spec:
        case schema.BoundsSpec() | schema.NoEventSpec() | schema.ContactSpec():
            return not verdict.passed
        case schema.DeadlineSpec() | schema.EventSpec():
            return verdict.passed
        case schema.CaptureSpec():
            return bool(np.isfinite(verdict.time))
        case schema.SettlingSpec():
            return not verdict.passed and verdict.time > spec.start + spec.within + TIME_TOLERANCE
    return False


def _undecided(verdict: Verdict, until: float, evidence: Evidence) -> Verdict:
    """What was seen proves nothing."""
    seen = f"; until then: {verdict.text}" if verdict.text else ""
    text = f"the run ended at {evidence.end:.6g} s, before {until:g} s{seen}"
    if evidence.end >= until - TIME_TOLERANCE:
        text = "no frame was recorded in its time window"
    return replace(verdict, passed=False, undecided=True, text=text, value=float("nan"))


def _columns(spec: Any, evidence: Evidence, rows: np.ndarray) -> tuple[tuple[str, ...], np.ndarray, np.ndarray]:
    """Names (m,), times (k,) and values (k, m) of a criterion's signals in some rows."""
    names = evidence.signals[spec.name]
    values = evidence.tape.columns(names)[rows]
    if spec.norm:
        names, values = ("norm of " + ", ".join(spec.signals),), np.linalg.norm(values, axis=1, keepdims=True)
    return names, evidence.tape.table[rows, 0], values


def _unit(spec: Any, evidence: Evidence, name: str) -> str:
    """Unit of one of the names of `_columns`; signals of a norm share theirs."""
    return evidence.unit(evidence.signals[spec.name][0] if spec.norm else name)


def _bounds(spec: schema.BoundsSpec, evidence: Evidence) -> Verdict:
    """Worst excess = max(lower − y, y − upper) ≤ 0."""
    names, times, values = _columns(spec, evidence, evidence.window(spec.start, spec.until))
    lower = -np.inf if spec.lower is None else spec.lower
    upper = np.inf if spec.upper is None else spec.upper
    excess = np.nan_to_num(np.maximum(lower - values, values - upper), nan=np.inf)
    row, column = np.unravel_index(int(np.argmax(excess)), excess.shape)
    value, time = float(values[row, column]), float(times[row])
    bound = lower if lower - value > value - upper else upper
    passed = bool(excess[row, column] <= 0.0)
    first = times[int(np.argmax((excess > 0.0).any(axis=1)))]
    text = f"{names[column]} comes to {value:.6g} at {time:.6g} s; the bound is {bound:g}"
    text += "" if passed else f", left first at {first:.6g} s"
    return Verdict(spec.name, passed, text, value, bound, time, _unit(spec, evidence, names[column]))


def _settling(spec: schema.SettlingSpec, evidence: Evidence) -> Verdict:
    """Time from the start of the window after the last |y − target| > tolerance."""
    names, times, values = _columns(spec, evidence, evidence.window(spec.start, spec.until))
    outside = ~(np.abs(values - spec.target) <= spec.tolerance)
    last = np.where(outside.any(axis=0), len(times) - 1 - np.argmax(outside[::-1], axis=0), -1)
    column = int(np.argmax(last))
    if last[column] == len(times) - 1:
        final = float(values[-1, column])
        text = f"{names[column]} is {final:.6g} at the end, not within {spec.tolerance:g} of {spec.target:g}"
        return Verdict(spec.name, False, text, float("inf"), spec.within, float(times[-1]), "s")
    settled = float(times[last[column] + 1])
    took = settled - spec.start
    passed = took <= spec.within + TIME_TOLERANCE
    text = f"{names[column]} stays within {spec.tolerance:g} of {spec.target:g} after {took:.6g} s"
    return Verdict(spec.name, passed, f"{text}; {spec.within:g} s are allowed", took, spec.within, settled, "s")


def _rms(spec: schema.RmsSpec, evidence: Evidence) -> Verdict:
    """√(mean (y − target)²)."""
    names, _, values = _columns(spec, evidence, evidence.window(spec.start, spec.until))
    found = np.sqrt(np.mean((values - spec.target) ** 2, axis=0))
    column = int(np.argmax(np.nan_to_num(found, nan=np.inf)))
    value = float(found[column])
    text = f"the RMS of {names[column]} about {spec.target:g} is {value:.6g}; {spec.most:g} is allowed"
    unit = _unit(spec, evidence, names[column])
    return Verdict(spec.name, bool(value <= spec.most), text, value, spec.most, unit=unit)


def _final(spec: schema.FinalSpec, evidence: Evidence) -> Verdict:
    """|y(end) − target| ≤ tolerance."""
    names, times, values = _columns(spec, evidence, evidence.window(0.0, None))
    away = np.nan_to_num(np.abs(values[-1] - spec.target), nan=np.inf)
    column = int(np.argmax(away))
    value = float(values[-1, column])
    text = f"{names[column]} ends at {value:.6g}; {spec.target:g} ± {spec.tolerance:g} is allowed"
    passed, unit = bool(away[column] <= spec.tolerance), _unit(spec, evidence, names[column])
    return Verdict(spec.name, passed, text, value, spec.target, float(times[-1]), unit)


def _deadline(spec: schema.DeadlineSpec, evidence: Evidence) -> Verdict:
    """The first time at which a level is passed, of the slowest signal."""
    names, times, values = _columns(spec, evidence, evidence.window(0.0, None))
    word, level = ("above", spec.above) if spec.above is not None else ("below", spec.below)
    assert level is not None
    there = values > level if word == "above" else values < level
    first = np.where(there.any(axis=0), times[np.argmax(there, axis=0)], np.inf)
    column = int(np.argmax(first))
    value = float(first[column])
    found = f"first at {value:.6g} s" if np.isfinite(value) else "never"
    text = f"{names[column]} is {word} {level:g} {found}; {spec.by:g} s is the deadline"
    return Verdict(spec.name, value <= spec.by + TIME_TOLERANCE, text, value, spec.by, value, "s")


def _events(spec: schema.EventSpec | schema.NoEventSpec, evidence: Evidence) -> Verdict:
    """How many events of a kind and source lie in the window."""
    matches, until = compiled(spec.source).match, np.inf if spec.until is None else spec.until
    found = [
        event
        for event in evidence.log.of(spec.kind)
        if matches(event.source) and spec.start - TIME_TOLERANCE <= event.time <= until + TIME_TOLERANCE
    ]
    least = spec.least if isinstance(spec, schema.EventSpec) else 0
    dropped = 0 if least else evidence.log.dropped
    passed = len(found) >= least if least else not found and not dropped
    what = f"{len(found)} event{'s' * (len(found) != 1)} '{spec.kind}'" + f" of '{spec.source}'" * (spec.source != "*")
    first = f", the first at {found[0].time:.6g} s: {found[0].source}: {found[0].text}" if found else ""
    wanted = f"; at least {least} required" if least else "; none is allowed"
    wanted += f", and {dropped} event{'s' * (dropped != 1)} found no room in the log" if dropped else ""
    time = found[0].time if found else float("nan")
    return Verdict(spec.name, passed, what + first + wanted, float(len(found)), float(least), time)


def so_far(spec: Any, evidence: Evidence) -> tuple[str, str]:
    """How a criterion stands in the middle of a run: "passing", "failing" or "undecided", and what was seen."""
    until = getattr(spec, "until", getattr(spec, "by", None))
    last = evidence.duration if until is None else until
    start = getattr(spec, "start", 0.0)
    if evidence.end < start or (hasattr(spec, "signals") and not evidence.window(start, until).any()):
        return "undecided", f"judged from {start:g} s"
    verdict = _JUDGES[type(spec)](spec, evidence)
    if evidence.end >= last - TIME_TOLERANCE or decided(spec, verdict):
        return ("passing" if verdict.passed else "failing"), verdict.text
    match spec:  # more of the run can change it
        case schema.FinalSpec() | schema.DeadlineSpec() | schema.EventSpec() | schema.CaptureSpec():
            return "undecided", verdict.text
        case schema.SettlingSpec() if not verdict.passed:
            late = evidence.end > spec.start + spec.within + TIME_TOLERANCE
            return ("failing" if late else "undecided"), verdict.text
    return ("passing" if verdict.passed else "failing"), verdict.text


_JUDGES: dict[type, Callable[[Any, Evidence], Verdict]] = {
    schema.BoundsSpec: _bounds,
    schema.SettlingSpec: _settling,
    schema.RmsSpec: _rms,
    schema.FinalSpec: _final,
    schema.DeadlineSpec: _deadline,
    schema.EventSpec: _events,
    schema.NoEventSpec: _events,
    schema.ContactSpec: contact_verdict,
    schema.CaptureSpec: capture_verdict,
}
