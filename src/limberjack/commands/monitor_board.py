"""The monitor's data about a running engine: the newest sample, earlier ones, notices, counts."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from limberjack.bridge.telemetry.condition import Condition
from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.sample import Notice, Sample

#: samples that a sparkline can show, notices kept
COLUMNS, NOTICES = 120, 200


@dataclass(frozen=True, eq=False)
class Picture:
    """The board at one moment.

    history : (samples, quantities), oldest first, the last row is the newest sample; a row of NaN stands for a gap
    severities : (quantities,) 0 normal, 1 warning, 2 critical;  condition : of the engine
    """

    dictionary: Dictionary
    history: np.ndarray
    severities: np.ndarray
    notices: tuple[Notice, ...]
    lost: int
    condition: Condition

    @property
    def newest(self) -> np.ndarray:
        """(quantities,) values of the newest sample."""
        newest: np.ndarray = self.history[-1]
        return newest

    def value(self, id: str) -> float:
        """Newest value of one quantity."""
        return float(self.newest[self.dictionary.place(id)])


class Board:
    """An outlet that keeps the data that the monitor shows. condition : the present condition of the engine"""

    name = "monitor"

    def __init__(self, condition: Callable[[], Condition]) -> None:
        self._condition = condition
        self._lock = threading.Lock()
        self._notices: deque[Notice] = deque(maxlen=NOTICES)
        self._dictionary: Dictionary | None = None
        self._count = self._lost = 0

    def open(self, dictionary: Dictionary) -> None:
        """Clear the board for a model."""
        bounds = [(*each.warning, *each.critical) for each in dictionary]
        with self._lock:
            self._dictionary, self._bounds = dictionary, np.array(bounds).reshape(-1, 4).T
            self._may_lack = np.array([each.may_lack for each in dictionary], dtype=bool)
            self._rows = np.full((COLUMNS, len(dictionary)), np.nan)
            self._count = self._lost = 0

    def sample(self, sample: Sample) -> None:
        """Keep a sample; if samples before it were lost, put a blank one first."""
        with self._lock:
            if sample.gap:
                self._push(np.nan)
            self._push(sample.vector)
            self._lost += sample.gap

    def _push(self, row: np.ndarray | float) -> None:
        self._rows[self._count % COLUMNS] = row
        self._count += 1

    def notice(self, notice: Notice) -> None:
        """Keep a notice."""
        with self._lock:
            self._notices.append(notice)

    def close(self) -> None:
        """Nothing to close."""

    def picture(self) -> Picture | None:
        """The present picture; None before the first sample."""
        with self._lock:
            if self._dictionary is None or not self._count:
                return None
            turn = self._count % COLUMNS if self._count > COLUMNS else 0
            history = np.roll(self._rows, -turn, axis=0)[: min(self._count, COLUMNS)]
            low, high, critical_low, critical_high = self._bounds
            newest = history[-1]
            warned = ~((newest >= low) & (newest <= high))
            critical = ~((newest >= critical_low) & (newest <= critical_high) & np.isfinite(newest))
            severities = np.where(critical, 2, warned.astype(int))
            severities[self._may_lack & np.isnan(newest)] = 0
            reported = tuple(self._notices), self._lost, self._condition()
            return Picture(self._dictionary, history, severities, *reported)
