"""Contacts of all worlds of a batch: stepped one step at a time, and looked at where something may have happened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from limberjack.bridge.contact_reports import ContactReports
from limberjack.engine.api.batch import Batch
from limberjack.engine.api.contact_events import ContactEvent
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.tables import contacts as at
from limberjack.engine.tables.loops import SW_CLOSED, SWITCH
from limberjack.hil.events import Event, EventLog


class WorldsContacts:
    """Reports of contacts of the runs of a batch, as single runs have them.

    one : a simulation of the model, in which a world is looked at;  logs : of the run of each world
    """

    def __init__(self, batch: Batch, one: Simulation, logs: Sequence[EventLog]) -> None:
        self._batch, self._one, self._frame = batch, one, 0
        self._every = np.arange(batch.n)
        self._rows = batch.states.rows(self._every)
        self._reports: list[ContactReports] = []
        for i, log in enumerate(logs):
            self._load(i)
            self._reports.append(ContactReports(one, partial(self._report, log)))

    def step(self, frame: int, steps: int, running: np.ndarray) -> None:
        """The steps of a frame. running (n,): worlds whose runs go on"""
        self._frame = frame
        q, v = (slice(start, start + size) for start, size in (self._batch.layout[name] for name in ("q", "v")))
        for left in range(steps, 0, -1):
            self._batch.step(1, left)
            before, self._rows = self._rows, self._batch.states.rows(self._every)
            for i in np.flatnonzero(running & self._lively(before)).tolist():
                self._load(i)
                self._reports[i].look(before[i, q], before[i, v])

    def finish(self, world: int) -> None:
        """Report what is left to report of a world whose run ends."""
        self._load(world)
        self._reports[world].finish()

    def _lively(self, before: np.ndarray) -> np.ndarray:
        """Worlds (n,) in which shapes touch, or did, or a loop was switched in the last step."""
        touching = self._part(self._rows, "touch", at.TOUCH, at.TO_ACTS) > 0.0
        closed, was = (self._part(rows, "switch", SWITCH, SW_CLOSED) for rows in (self._rows, before))
        busy = np.array([reports.busy for reports in self._reports])
        lively: np.ndarray = busy | touching.any(axis=1) | (closed != was).any(axis=1)
        return lively

    def _part(self, rows: np.ndarray, name: str, size: int, column: int) -> np.ndarray:
        """One column (n, …) of a part of the State."""
        start, length = self._batch.layout[name]
        return rows[:, start + column : start + length : size]

    def _load(self, world: int) -> None:
        """Put a world into the simulation in which it is looked at."""
        for name, (start, size) in self._batch.layout.items():
            self._one.part(name)[:] = self._rows[world, start : start + size]
        self._one.changed()

    def _report(self, log: EventLog, event: ContactEvent, text: str, data: Mapping[str, Any]) -> None:
        log.add(Event(event.time, event.kind, event.source, text, {"frame": self._frame, **data}))
