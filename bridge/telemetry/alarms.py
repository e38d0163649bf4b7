"""Alarms: one state a quantity, and a notice at every edge, without a flood if a value chatters at its limit."""

from __future__ import annotations

import sys
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
    """Compares samples with the limits of the dictionary. `look` on one thread; `active` from any."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._watched = dictionary.quantities
        table = np.array([_normal(each) for each in dictionary]).reshape(-1, 2)
        self._normal_low, self._normal_high = table.T.copy()
        count = len(dictionary)
        self._level = np.zeros(count, dtype=np.int64)
        self._told = np.zeros(count, dtype=np.int64)
        self._worst = np.zeros(count, dtype=np.int64)
        self._changes = np.zeros(count, dtype=np.int64)
        self._due_ns = np.zeros(count, dtype=np.int64)
        self._active: dict[str, Alarm] = {}
        self._normal, self._below = np.ones(count, dtype=bool), np.ones(count, dtype=bool)
        self._places = np.zeros(0, dtype=np.intp)  # those that were not normal in the newest sample
        self._before: tuple[bytes, bytes] | None = None  # which were normal, and the values of the others
        self._calm = True  # the newest levels are reported

    def active(self) -> dict[str, Alarm]:
        """Identifier → alarm, of all quantities beyond their limits in the newest sample."""
        return self._active

    def look(self, sample: Sample) -> list[Notice]:
        """The changes with this sample. A value that is not finite is critical, also without limits.

        NaN of a quantity that may lack is normal.
        """
        values = sample.vector
        if not self._moved(values) and self._calm:
            return []
        level = np.zeros(len(values), dtype=np.int64)
        level[self._places] = [self._watched[k].severity(float(values[k])) for k in self._places]
        changed = level != self._level
        if changed.any():
            self._changes += changed
            np.maximum(self._worst, level, out=self._worst)
            self._level = level
            self._note(np.flatnonzero(changed), values, sample)
            self._calm = False
        if self._calm:
            return []
        due = np.flatnonzero((self._changes > 0) & (self._due_ns <= sample.unix_ns))
        notices = [self._notice(int(k), float(values[k]), sample) for k in due]
        self._calm = not self._changes.any()
        return notices

    def _moved(self, values: np.ndarray) -> bool:
        """Whether severities may have changed: not where the same few quantities have the same abnormal values.

        Nearly every sample ends here, many thousands a second: hence no new arrays.
        """
        normal = np.greater_equal(values, self._normal_low, self._normal)
        normal &= np.less_equal(values, self._normal_high, self._below)
        which, before = normal.tobytes(), self._before
        if before is None or before[0] != which:
            self._places = np.flatnonzero(~normal)
        self._before = which, values[self._places].tobytes()
        return before != self._before

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


def _normal(quantity: Quantity) -> tuple[float, float]:
    """Between these a value is normal without a further look; the largest finite numbers where nothing bounds it."""
    (warning_low, warning_high), (critical_low, critical_high) = quantity.warning, quantity.critical
    return max(warning_low, critical_low, -_LARGEST), min(warning_high, critical_high, _LARGEST)


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
