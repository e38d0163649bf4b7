"""Alarms: one state a quantity, and a notice at every change, without a flood if a value chatters at its limit.

An alarm rises at once. It falls when the value has kept the lower severity for a while, as ISA-18.2's off-delay.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from limberjack.bridge.telemetry.dictionary import Dictionary, Quantity
from limberjack.bridge.telemetry.sample import Notice, Sample

#: how long a value must keep a lower severity before its alarm falls
FALL_NS = 5_000_000_000
_NEVER = np.iinfo(np.int64).max
_LARGEST = sys.float_info.max
WORDS = ("normal", "warning", "critical")


@dataclass(frozen=True)
class Alarm:
    """A quantity beyond its limits, now or less than `FALL_NS` ago.

    severity : 1 warning, 2 critical; value : at its newest change; since : simulated s and ns since 1970
    """

    id: str
    severity: int
    value: float
    since: float
    since_unix_ns: int


class Alarms:
    """Compares samples with the limits of the dictionary. `look` on one thread; `active` from any.

    Each quantity has a span of values around its newest one in which its severity stays. Nearly every sample is within
    all spans, which one comparison shows: `look` has many thousands a second.
    """

    def __init__(self, dictionary: Dictionary) -> None:
        self._watched = dictionary.quantities
        self._edges = [_edges(each) for each in dictionary]
        count = len(dictionary)
        self._spans = np.full((2, count), np.nan)  # first value within, first one beyond
        self._reached = np.zeros((2, count), dtype=bool)  # which of these the newest sample reaches
        self._steady = np.ones((2, count), dtype=bool)  # the same while severities stay: so as no sample has it
        self._steady_bytes = self._steady.tobytes()
        self._newest = np.zeros(count, dtype=np.int64)  # severity of the newest value
        self._level = np.zeros(count, dtype=np.int64)  # severity of the alarm, at least the newest
        self._lower = np.zeros(count, dtype=np.int64)  # worst severity since it is lower than the alarm's
        self._fall_ns = np.full(count, _NEVER)  # when the alarm falls to that
        self._next_ns = _NEVER  # when the first one does
        self._active: dict[str, Alarm] = {}

    def active(self) -> dict[str, Alarm]:
        """Identifier → alarm. A new mapping after every change; do not modify it."""
        return self._active

    def look(self, sample: Sample) -> list[Notice]:
        """The changes with this sample. A value that is not finite is critical, also without limits.

        NaN of a quantity that may lack is normal.
        """
        values, before = sample.vector, self._level
        np.less_equal(self._spans, values, self._reached)
        if self._reached.tobytes() != self._steady_bytes:
            self._move(values, sample.unix_ns)
        if self._next_ns <= sample.unix_ns:
            self._fall(sample.unix_ns)
        if self._level is before:
            return []
        changed = np.flatnonzero(self._level != before)
        self._note(changed, values, sample)
        return [self._notice(int(k), int(before[k]), float(values[k]), sample) for k in changed]

    def _move(self, values: np.ndarray, now_ns: int) -> None:
        """Give quantities that left their spans new ones, let alarms rise, and note which may fall."""
        newest = self._newest.copy()
        for k in np.flatnonzero((self._reached != self._steady).any(axis=0)):
            value = float(values[k])
            self._spans[:, k] = _span(self._edges[k], value)
            newest[k] = self._watched[k].severity(value)
        np.less_equal(self._spans, values, self._steady)
        self._steady_bytes = self._steady.tobytes()
        if np.array_equal(newest, self._newest):
            return
        self._newest = newest
        if (newest > self._level).any():
            self._level = np.maximum(newest, self._level)
        self._wait(now_ns)

    def _wait(self, now_ns: int) -> None:
        """Set when alarms whose newest severity is lower fall, and to what."""
        low, waits = self._newest < self._level, self._fall_ns != _NEVER
        self._lower = np.where(waits, np.maximum(self._lower, self._newest), self._newest)
        self._fall_ns = np.where(low, np.where(waits, self._fall_ns, now_ns + FALL_NS), _NEVER)
        self._next_ns = int(self._fall_ns.min())

    def _fall(self, now_ns: int) -> None:
        """Let alarms fall whose time has come."""
        due = self._fall_ns <= now_ns
        self._level = np.where(due, self._lower, self._level)
        self._fall_ns[due] = _NEVER
        self._wait(now_ns)

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

    def _notice(self, k: int, previous: int, value: float, sample: Sample) -> Notice:
        quantity, level = self._watched[k], int(self._level[k])
        data = {"id": quantity.id, "value": value, "severity": level, "previous": previous}
        return Notice("alarm", level, _text(quantity, previous, level, value), sample.time, sample.unix_ns, data)


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


def _text(quantity: Quantity, previous: int, level: int, value: float) -> str:
    shown = f"{quantity.id} is {value:.6g} {quantity.unit}".rstrip()
    if level < previous:
        return f"{shown}, normal again." if level == 0 else f"{shown}, no longer {WORDS[previous]}."
    if not math.isfinite(value):
        return f"{quantity.id} is {value}, which is not a finite number."
    low, high = quantity.critical if level == 2 else quantity.warning
    where, limit = ("above", high) if value > high else ("below", low)
    return f"{shown}, {where} its {WORDS[level]} limit {limit:g}."
