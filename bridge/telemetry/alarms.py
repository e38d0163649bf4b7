"""Alarms: one state a quantity, and a notice at every edge, without a flood if a value chatters at its limit."""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

from limberjack.bridge.telemetry.dictionary import Dictionary, Quantity
from limberjack.bridge.telemetry.sample import Notice, Sample

#: after a notice, further changes of the quantity are counted for so long, then reported in one
_HOLD_NS = 1_000_000_000
_LARGEST = sys.float_info.max
WORDS = ("normal", "warning", "critical")


@dataclass(frozen=True)
class Alarm:
    """A quantity beyond its limits now. severity : 1 warning, 2 critical; since : simulated s and ns since 1970"""

    id: str
    severity: int
    value: float
    since: float
    since_unix_ns: int


class Alarms:
    """Compares samples with the limits of the dictionary. `look` on one thread; `active` from any.

    Each quantity has a span of values around its newest one in which its severity stays. Nearly every sample is within
    all spans, which one comparison tells: `look` has many thousands a second.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self._watched = dictionary.quantities
        self._edges = [_edges(each) for each in dictionary]
        count = len(dictionary)
        self._spans = np.full((2, count), np.nan)  # first value within, first one beyond
        self._reached = np.zeros((2, count), dtype=bool)  # which of these the newest sample reaches
        self._steady = np.ones((2, count), dtype=bool)  # the same while severities stay: so as no sample has it
        self._steady_bytes = self._steady.tobytes()
        self._level = np.zeros(count, dtype=np.int64)
        self._told = np.zeros(count, dtype=np.int64)
        self._worst = np.zeros(count, dtype=np.int64)
        self._changes = np.zeros(count, dtype=np.int64)
        self._due_ns = np.zeros(count, dtype=np.int64)
        self._active: dict[str, Alarm] = {}
        self._calm = True  # the newest levels are reported

    def active(self) -> dict[str, Alarm]:
        """Identifier → alarm, of all quantities beyond their limits in the newest sample."""
        return self._active

    def look(self, sample: Sample) -> list[Notice]:
        """The changes with this sample. A value that is not finite is critical, also without limits.

        NaN of a quantity that may lack is normal.
        """
        values = sample.vector
        np.less_equal(self._spans, values, self._reached)
        if self._reached.tobytes() != self._steady_bytes:
            self._move(values, sample)
        if self._calm:
            return []
        due = np.flatnonzero((self._changes > 0) & (self._due_ns <= sample.unix_ns))
        notices = [self._notice(int(k), float(values[k]), sample) for k in due]
        self._calm = not self._changes.any()
        return notices

    def _move(self, values: np.ndarray, sample: Sample) -> None:
        """Give quantities that left their spans new ones, and note new severities."""
        level = self._level.copy()
        for k in np.flatnonzero((self._reached != self._steady).any(axis=0)):
            value = float(values[k])
            self._spans[:, k] = _span(self._edges[k], value)
            level[k] = self._watched[k].severity(value)
        np.less_equal(self._spans, values, self._steady)
        self._steady_bytes = self._steady.tobytes()
        changed = level != self._level
        if changed.any():
            self._changes += changed
            np.maximum(self._worst, level, out=self._worst)
            self._level = level
            self._note(np.flatnonzero(changed), values, sample)
            self._calm = False

    def _note(self, changed: np.ndarray, values: np.ndarray, sample: Sample) -> None:
        """Make a new table of active alarms, since readers may still use the old one."""
        active = dict(self._active)
        for k in changed:
            quantity, severity = self._watched[k], int(self._level[k])
            active.pop(quantity.id, None)
            if severity:
                alarm = Alarm(quantity.id, severity, float(values[k]), sample.time, sample.unix_ns)
                active[quantity.id] = alarm
        self._active = active

    def _notice(self, k: int, value: float, sample: Sample) -> Notice:
        quantity, level, changes = self._watched[k], int(self._level[k]), int(self._changes[k])
        data: dict[str, Any] = {
            "id": quantity.id,
            "value": value,
            "severity": level,
            "previous": int(self._told[k]),
            "worst": int(self._worst[k]),
            "changes": changes,
        }
        text = _text(quantity, level, value)
        if changes > 1:
            text += f" {changes} changes since the last notice, at worst {WORDS[data['worst']]}."
        self._told[k], self._worst[k], self._changes[k] = level, level, 0
        self._due_ns[k] = sample.unix_ns + _HOLD_NS
        return Notice("alarm", level, text, sample.time, sample.unix_ns, data)


def _edges(quantity: Quantity) -> list[float]:
    """All values at which the severity may be another than just below, in order, from -inf on."""
    (warning_low, warning_high), (critical_low, critical_high) = quantity.warning, quantity.critical
    highest = (math.nextafter(each, math.inf) for each in (warning_high, critical_high))
    return sorted({-math.inf, -_LARGEST, warning_low, critical_low, *highest, math.inf})


def _span(edges: list[float], value: float) -> tuple[float, float]:
    """The edge at or below a value and the next one, NaN if none is above. Of NaN one that any number reaches."""
    if math.isnan(value):
        return -math.inf, math.nan
    above = bisect_right(edges, value)
    return edges[above - 1], edges[above] if above < len(edges) else math.nan


def _text(quantity: Quantity, level: int, value: float) -> str:
    shown = f"{quantity.id} is {value:.6g} {quantity.unit}".rstrip()
    if level == 0:
        return f"{shown}, normal again."
    if not np.isfinite(value):
        return f"{quantity.id} is {value}, which is not a finite number."
    low, high = quantity.critical if level == 2 else quantity.warning
    if value > high:
        return f"{shown}, above its {WORDS[level]} limit {high:g}."
    return f"{shown}, below its {WORDS[level]} limit {low:g}." if value < low else f"{shown}, {WORDS[level]}."
