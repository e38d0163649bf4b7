"""Events of contacts and of switched loops for people and records; their number is limited, since both may chatter."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from limberjack.engine.api.contact_events import TOUCH, ContactEvent, ContactWatch
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.api.switch_watch import Switched

#: events of one contact or loop that are reported: in a second of simulated time, and in all
A_SECOND, IN_ALL = 10, 1000
#: beyond so many events that wait to be published, those of contacts and loops are left out
_WAITING = 8

#: kind of the last event of a contact that touches when a run ends, or that has unreported events
TOUCHING = "touching"

#: takes an event, its text and its data
Report = Callable[[ContactEvent, str, Mapping[str, Any]], object]


def waiting_in(events: deque[dict[str, Any]]) -> Report:
    """Adds events of contacts to those that an engine publishes, while there is room for others beside them."""

    def report(event: ContactEvent, text: str, data: Mapping[str, Any]) -> None:
        if len(events) < _WAITING:
            said = {"event": "contact", "kind": event.kind, "source": event.source, "text": text}
            events.append({**said, "time": event.time, "data": dict(data)})

    return report


def loops_in(events: deque[dict[str, Any]], switched: Iterable[Switched]) -> None:
    """Add loops that their commands closed or opened to the events that an engine publishes, while there is room."""
    for each in switched:
        if len(events) < _WAITING:
            events.append({"event": "loop", "loop": each.loop, "closed": each.closed, "client": None})


@dataclass
class _Omitted:
    """Events that were left out, together."""

    count: int = 0
    speed: float = 0.0
    force: float = 0.0

    def add(self, event: ContactEvent) -> None:
        self.count += 1
        self.speed, self.force = max(self.speed, event.speed), max(self.force, event.force)


class ContactReports:
    """Steps a simulation and reports events of its contacts: of each at most 10 per second, 1000 in all.

    Others are counted; the next reported event has their number, and their largest speed and force.

    touches : contact → how often it began to touch
    """

    def __init__(self, simulation: Simulation, report: Report) -> None:
        self._report, self._simulation = report, simulation
        self.touches = {contact.name: 0 for contact in simulation.system.contacts}
        self._watch = ContactWatch(simulation, self._hear)
        self.step, self.look = self._watch.step, self._watch.look_from
        self.begin()

    def begin(self) -> None:
        """The simulation was moved without steps."""
        self._watch.begin()
        self._second = -1
        self._reported: Counter[str] = Counter()
        self._lately: Counter[str] = Counter()
        self._omitted: dict[str, _Omitted] = {}

    @property
    def busy(self) -> bool:
        """Whether each step must be checked."""
        return self._watch.busy

    def finish(self) -> None:
        """Report what is still unreported, and how long contacts that touch now have done so."""
        for event in self._watch.touching.values():
            self._pass_on(replace(event, kind=TOUCHING), f"still: {event}")
        for source in list(self._omitted):
            self._pass_on(ContactEvent(TOUCHING, source, self._simulation.time), "no longer")

    def _hear(self, event: ContactEvent) -> None:
        if event.kind == TOUCH:
            self.touches[event.source] += 1
        if int(event.time) != self._second:
            self._second = int(event.time)
            self._lately.clear()
        if self._lately[event.source] >= A_SECOND or self._reported[event.source] >= IN_ALL:
            self._omitted.setdefault(event.source, _Omitted()).add(event)
            return
        self._lately[event.source] += 1
        self._reported[event.source] += 1
        self._pass_on(event, str(event))

    def _pass_on(self, event: ContactEvent, text: str) -> None:
        data: dict[str, Any] = {"speed": event.speed, "force": event.force, "lasted": event.lasted}
        if event.shapes:
            data["shapes"] = list(event.shapes)
        if event.kind == "capture":
            data["contacts"] = list(event.contacts)
        rest = self._omitted.pop(event.source, None)
        if rest is not None:
            text += f"; {rest.count} events before are not listed"
            data |= {"untold": rest.count, "untold_speed": rest.speed, "untold_force": rest.force}
        self._report(event, text, data)
