"""The events of a run: trips, faults, overruns, devices that connect and disconnect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from limberjack.engine.api.switch_watch import Switched

#: loops switched by commands that are events; a command may chatter
_SWITCHES_REPORTED = 1000
#: who switched a loop, in the data of an event: its command, and no action of the bench
BY_COMMAND = "command"
#: most events of a run that are kept; the first ones show the cause
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
        """Keep an event and notify the listeners."""
        if self.full:
            self.dropped += 1
            return
        self.events.append(event)
        for listener in self.listeners:
            listener(event)

    def of(self, kind: str) -> list[Event]:
        """All events of one kind."""
        return [event for event in self.events if event.kind == kind]


class SwitchReports:
    """Loops that the steps of a run close and open, as events; a replay has them from the commands."""

    def __init__(self, log: EventLog) -> None:
        self._log, self._reported = log, 0

    def add(self, switched: Sequence[Switched], time: float, frame: int) -> None:
        """What the steps of a frame, which ended at `time`, s, did to loops."""
        for each in switched[: _SWITCHES_REPORTED - self._reported]:
            self._reported += 1
            last = " Further ones are not logged as events." if self._reported == _SWITCHES_REPORTED else ""
            data = {"frame": frame, "loop": each.loop, "energy_loss": each.energy_loss, "by": BY_COMMAND}
            kind = "attach" if each.closed else "release"
            self._log.add(Event(time, kind, each.loop, f"{each}{last and '.'}{last}", data))
