"""The operators' state of alarms: acknowledged, or shelved for a time; the same for all clients."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from limberjack.bridge.telemetry.alarms import Alarm
from limberjack.bridge.telemetry.orders import ALL_ALARMS, Actor, Order, OrderRefused
from limberjack.bridge.telemetry.session import CLOCK


@dataclass(frozen=True)
class Mark:
    """The author and time of an action. unix_ns : ns since 1970"""

    who: str
    unix_ns: int


@dataclass(frozen=True)
class Shelf:
    """The shelving of an alarm. until_ns : ns since 1970, when it becomes active again"""

    who: str
    until_ns: int
    reason: str


@dataclass(frozen=True)
class Entry:
    """An alarm with its operators' state.

    severity : 1 warning, 2 critical, 0 normal again (but nobody has acknowledged it, or it is shelved)
    worst : the highest severity since it began;  value, since_unix_ns : at the newest change of severity
    acknowledged, shelved : None if it is not
    """

    id: str
    severity: int
    worst: int
    value: float
    since_unix_ns: int
    acknowledged: Mark | None = None
    shelved: Shelf | None = None

    @property
    def waits(self) -> bool:
        """Whether somebody has to acknowledge it."""
        return self.acknowledged is None and self.worst > 0 and self.shelved is None

    @property
    def settled(self) -> bool:
        """Whether nobody needs to see it any more."""
        return self.severity == 0 and self.shelved is None and (self.acknowledged is not None or self.worst == 0)


class AlarmDesk:
    """Keeps which alarms were acknowledged and shelved. All methods from any thread; none waits.

    An alarm that gets worse, or returns, must be acknowledged again. One that ends before it was acknowledged stays in
    the list until it is. The number of quantities limits the number of entries.
    """

    def __init__(self, clock: Callable[[], int] = CLOCK.now) -> None:
        self.on_order: Callable[[], None] = lambda: None  # called after every order that was carried out
        self._clock, self._lock = clock, threading.Lock()
        self._entries: dict[str, Entry] = {}
        self._active: Mapping[str, Alarm] = {}

    def entries(self) -> dict[str, Entry]:
        """Identifier → entry. A new mapping after every change; do not modify it."""
        return self._entries

    def take(self, active: Mapping[str, Alarm]) -> None:
        """Take the alarms of a new sample."""
        if active is self._active:
            return
        with self._lock:
            self._active = active
            found = dict(self._entries)
            for id in {*active, *found}:
                found[id] = _followed(found.get(id), active.get(id), id)
            self._entries = {id: entry for id, entry in found.items() if not entry.settled}

    def restore(self, saved: Mapping[str, Entry]) -> None:
        """Take over the entries of an earlier gateway; present alarms continue from there."""
        with self._lock:
            found = {**self._entries, **saved}
            for id in {*self._active} & {*saved}:
                found[id] = _followed(saved[id], self._active[id], id)
            self._entries, self._active = found, {}  # the next sample ends alarms that are no longer active

    def look(self) -> list[str]:
        """End shelvings whose time is over; returns the identifiers of their alarms. Call it at intervals."""
        now = self._clock()
        with self._lock:
            over = [id for id, each in self._entries.items() if each.shelved and each.shelved.until_ns <= now]
            for id in over:
                self._unshelve(id)
        return over

    def clear(self) -> None:
        """Clear all entries, because the engine runs another model."""
        with self._lock:
            self._entries, self._active = {}, {}

    def carry_out(self, order: Order, actor: Actor) -> dict[str, Any]:
        """Carry out an order. acknowledge: {"alarms": those acknowledged}; shelve: {"until": ms since 1970}; else {}.

        The order has been examined and is permitted. Raises OrderRefused.
        """
        with self._lock:
            answer = self._carry_out(order, actor)
        self.on_order()
        return answer

    def _carry_out(self, order: Order, actor: Actor) -> dict[str, Any]:
        if order.action == "acknowledge":
            return {"alarms": self._acknowledge(order.target, Mark(str(actor), self._clock()))}
        if order.action == "shelve":
            until = self._clock() + round(1e9 * (order.value or 0.0))
            self._shelve(order.target, Shelf(str(actor), until, order.reason))
            return {"until": 1e-6 * until}
        if self._entry(order.target).shelved is None:
            raise OrderRefused("state", f"the alarm of {order.target} is not shelved.")
        self._unshelve(order.target)
        return {}

    def _acknowledge(self, target: str, mark: Mark) -> list[str]:
        waiting = [id for id, each in self._entries.items() if each.waits]
        chosen = waiting if target == ALL_ALARMS else [target]
        if target != ALL_ALARMS and (by := self._entry(target).acknowledged) is not None:
            raise OrderRefused("state", f"the alarm of {target} is acknowledged already, by {by.who}.")
        if not chosen or not set(chosen) <= set(waiting):
            what = "no alarm" if target == ALL_ALARMS else f"{target} has no alarm that"
            raise OrderRefused("state", f"{what} waits to be acknowledged.")
        found = dict(self._entries)
        for id in chosen:
            found[id] = replace(found[id], acknowledged=mark)
        self._entries = {id: entry for id, entry in found.items() if not entry.settled}
        return chosen

    def _shelve(self, id: str, shelf: Shelf) -> None:
        entry = self._entries.get(id) or Entry(id, 0, 0, 0.0, self._clock())
        self._entries = {**self._entries, id: replace(entry, shelved=shelf)}

    def _unshelve(self, id: str) -> None:
        """Make it active again; it must then be acknowledged."""
        back = replace(self._entries[id], shelved=None, acknowledged=None)
        back = replace(back, worst=back.severity)  # its changes while it was shelved do not count
        self._entries = {key: each for key, each in {**self._entries, id: back}.items() if not each.settled}

    def _entry(self, id: str) -> Entry:
        if id not in self._entries:
            raise OrderRefused("state", f"{id} is not in alarm. The list of alarms has those that are.")
        return self._entries[id]


def _followed(entry: Entry | None, alarm: Alarm | None, id: str) -> Entry:
    """The entry of a quantity whose alarm is now as given; None: it is normal."""
    if alarm is None:
        assert entry is not None
        return replace(entry, severity=0)
    present = alarm.severity, alarm.value, alarm.since_unix_ns
    if entry is None:
        return Entry(id, present[0], *present)
    severity, value, since = present
    if severity == entry.severity:  # a gateway that was started again sees the alarm for the first time
        value, since = entry.value, entry.since_unix_ns
    new = severity > entry.severity  # worse than before, or back
    return replace(
        entry,
        severity=severity,
        worst=max(severity, entry.worst),
        value=value,
        since_unix_ns=since,
        acknowledged=None if new else entry.acknowledged,
    )


def to_text(entries: Mapping[str, Entry]) -> str:
    """The entries, to be kept."""
    return json.dumps([asdict(each) for each in entries.values()])


def from_text(text: str) -> dict[str, Entry]:
    """The entries of what `to_text` gave. ValueError, TypeError, LookupError, AttributeError for anything else."""
    found = {}
    for row in json.loads(text):
        acknowledged, shelved = row.pop("acknowledged"), row.pop("shelved")
        entry = Entry(
            acknowledged=None if acknowledged is None else Mark(**acknowledged),
            shelved=None if shelved is None else Shelf(**shelved),
            **row,
        )
        found[entry.id] = entry
    return found
