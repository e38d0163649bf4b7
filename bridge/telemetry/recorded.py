"""A record in place of an engine: provides outlets with the interface of a gateway, from recorded data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from limberjack.bridge.description import describe
from limberjack.bridge.settings import Settings
from limberjack.bridge.state import Description
from limberjack.bridge.telemetry.alarms import Alarms
from limberjack.bridge.telemetry.commander import Commander
from limberjack.bridge.telemetry.condition import Condition
from limberjack.bridge.telemetry.dictionary import Dictionary, dictionary_of
from limberjack.bridge.telemetry.history.history import History
from limberjack.bridge.telemetry.mirror import Mirror
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.bridge.telemetry.session import Session
from limberjack.engine.model.system import System

_FOR_EVER_S = 1e9
_SIZE = 8_000_000_000  # bytes of the history: all of a record


class Recorded:
    """The interface of a `Gateway` for one record. `add` rows and notices in order of time, then open outlets.

    The history has the record's numbers; energy and momentum are computed by the model where the record lacks them,
    and the engine's health is NaN without an alarm.
    """

    def __init__(self, system: System, names: Sequence[str], about: str, started_ns: int) -> None:
        """names : of the columns of all rows;  started_ns : the day's time at simulated time 0"""
        mirror = Mirror(system)
        known = dictionary_of(mirror.simulation)
        there = set(names)
        quantities = tuple(each if each.id in there else dataclasses.replace(each, may_lack=True) for each in known)
        self.dictionary = Dictionary(known.model, known.model_hash, quantities)
        self.history = History(full_s=_FOR_EVER_S, size_bytes=_SIZE)
        self.history.open(self.dictionary)
        description = Description.read({**(made := describe(mirror.simulation, Settings()))["hello"], **made["names"]})
        parts = {"dictionary": self.dictionary, "system": system, "mirror": mirror, "description": description}
        self._session = cast("Session", SimpleNamespace(**parts))
        self.commander = Commander("the record", self.session, self.tell, rules=())
        self._about, self._started_ns = about, started_ns
        places = self.dictionary.places
        self._from = np.array([k for k, name in enumerate(names) if name in places], dtype=np.intp)
        self._to = np.array([places[name] for name in names if name in places], dtype=np.intp)
        self._whole = self.dictionary.groups["energy"].start
        self._computed = "energy.total" not in there
        self._alarms = Alarms(self.dictionary)
        self._newest_ns = 0
        self.first: Sample | None = None

    def _moment(self, time: float) -> int:
        """When that was, ns since 1970; later than what was before, also where simulated time went back."""
        self._newest_ns = max(self._started_ns + round(1e9 * time), self._newest_ns + 1)
        return self._newest_ns

    def add_rows(self, rows: np.ndarray, gaps: Iterable[int]) -> None:
        """Rows (n, names); gaps : how many are missing before each."""
        groups = self.dictionary.groups
        for row, gap in zip(rows, gaps, strict=True):
            vector = np.full(len(self.dictionary), np.nan)
            vector[self._to] = row[self._from]
            if self._computed:
                whole = self._session.mirror.whole(vector[groups["q"]], vector[groups["v"]])
                vector[self._whole : self._whole + len(whole)] = whole
            sample = Sample(0, float(vector[0]), self._moment(float(vector[0])), vector, gap)
            self.first = self.first or sample
            self.history.sample(sample)
            for notice in self._alarms.look(sample):
                self.history.notice(notice)

    def add_notice(self, kind: str, severity: int, text: str, time: float, data: dict[str, Any]) -> None:
        """Something that happened in the record."""
        at = max(self._started_ns + round(1e9 * time), 0)
        self.history.notice(Notice(kind, severity, text, time, at, data))

    # ---- what outlets ask

    keeps_history = True  # the record has all of it

    def session(self) -> Session:
        """Model, dictionary and names; there is no connection."""
        return self._session

    def alarms(self) -> dict[str, Any]:
        """No alarms: there is no present."""
        return {}

    def progress(self) -> dict[str, Any] | None:
        """None: no run is in progress."""
        return None

    def condition(self) -> Condition:
        """The condition of a replay, always."""
        return Condition("replay", f"replay of {self._about}")

    def tell(self, severity: int, text: str, kind: str = "link", **data: Any) -> None:
        """Do nothing: refusals are answered to their senders."""

    def status(self) -> dict[str, dict[str, Any]]:
        """Empty: outlets have no queues."""
        return {}
