"""The events of a run: trips, faults, overruns, devices that connect and disconnect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

#: most events of a run that are kept; the first ones tell the cause
MOST_EVENTS = 100_000


@dataclass(frozen=True)
class Event:
    """One occurrence.

    time : simulated time, s;  kind : "overrun", "trip", "fault", "clear", "device", "command", "criterion", "end", …
    source : name of the device, fault, watchdog or signal;  text : description;  data : further numbers and texts
    """

    time: float
    kind: str
    source: str
    text: str
    data: dict[str, Any] = field(default_factory=dict)


class EventLog:
    """The events of a run in their order; bounded, and it counts what it drops.

    listener : called with every event kept, e.g. a recorder
    """

    def __init__(self, most: int = MOST_EVENTS) -> None:
        self._most = most
        self.events: list[Event] = []
        self.dropped = 0
        self.listeners: list[Callable[[Event], None]] = []

    @property
    def full(self) -> bool:
        """Whether further events would be dropped."""
        return len(self.events) >= self._most

    def add(self, event: Event) -> None:
        """Keep an event and tell the listeners."""
        if self.full:
            self.dropped += 1
            return
        self.events.append(event)
        for listener in self.listeners:
            listener(event)

    def of(self, kind: str) -> list[Event]:
        """All events of one kind."""
        return [event for event in self.events if event.kind == kind]
