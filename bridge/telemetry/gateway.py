"""The gateway: passes one engine's stream to any number of outlets; none can delay another."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from limberjack.bridge.errors import EngineLostError, EngineTimeoutError
from limberjack.bridge.telemetry.alarms import Alarm, Alarms
from limberjack.bridge.telemetry.commander import EVERYTHING, Commander
from limberjack.bridge.telemetry.condition import Condition
from limberjack.bridge.telemetry.desk_keeper import DeskKeeper
from limberjack.bridge.telemetry.history.history import History
from limberjack.bridge.telemetry.history.home import Home
from limberjack.bridge.telemetry.orders import Rule
from limberjack.bridge.telemetry.queues import Feed
from limberjack.bridge.telemetry.sample import Notice, Outlet, Sample
from limberjack.bridge.telemetry.session import CLOCK, Session
from limberjack.bridge.telemetry.source import Source
from limberjack.engine.common import arguments

log = logging.getLogger("limberjack.gateway")

_WATCH_S = 0.5
_HANGS_S = 5.0  # an outlet that long in one call is reported
_DROPS_NOTICE_S = 5.0  # between two notices of dropped samples of one outlet
_CLOSE_S = 3.0


class Gateway:
    """One engine's telemetry. `connect`, `add` outlets, `start`; `stop` at the end.

    For outlets, from any thread: `session()`, `commander`, `history`, `alarms()`, `condition()`, `tell`, `status()`.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        keys: Path | None = None,
        key_name: str = "client",
        most_hz: float | None = None,
        rules: Sequence[Rule] = EVERYTHING,
        history: Path | Home | None = None,
        full_s: float = 600.0,
        history_bytes: int = 1_000_000_000,
    ) -> None:
        """most_hz : states taken a second; None: all;  rules : who may command what; empty: nobody anything

        history, full_s, history_bytes : file, age and size, as for `History`; in a `Home`, what cannot be used is
            reported and makes way; without a file there is a history, a temporary one, once an outlet asks for it
        """
        if most_hz is not None:
            arguments.positive("the rate of states in Hz", most_hz)
        self._history_options = history, full_s, history_bytes
        self._history: History | None = None
        self._keeper: DeskKeeper | None = None
        self._history_lock = threading.Lock()
        self.endpoint = endpoint
        self.commander = Commander(endpoint, self.session, self.tell, keys=keys, key_name=key_name, rules=rules)
        self._source = Source(endpoint, self, keys=keys, key_name=key_name, most_hz=most_hz)
        self._feeds: list[Feed] = []
        self._in_turn: list[Feed] = []  # the same, in the order of `Feed.turn`
        self._time = 0.0
        self._stopping = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="watch", daemon=True)

    # ---- life

    def connect(self, wait_s: float = 0.0) -> Session:
        """Connect to the engine, waiting up to wait_s for it to be there. Raises BridgeError, ModelError."""
        deadline = time.monotonic() + wait_s
        while True:
            try:
                session = self._source.connect()
            except (EngineTimeoutError, EngineLostError) as error:
                if time.monotonic() < deadline:
                    continue
                if wait_s == 0.0:
                    raise
                raise type(error)(f"waited {wait_s:g} s: {error}") from None
            else:
                self._alarms = Alarms(session.dictionary)
                return session

    def add(self, outlet: Outlet, *, rate_hz: float | None = None) -> None:
        """Open an outlet and send it all further samples and notices. Raises what its `open` raises.

        rate_hz : samples a second that it gets at most; None: as many as it wants itself
        """
        wanted = rate_hz if rate_hz is not None else getattr(outlet, "rate_hz", None)
        feed = Feed(outlet, self.tell, rate_hz=wanted)
        dictionary = self.session().dictionary
        feed.start(dictionary)
        self._feeds.append(feed)
        self._in_turn = sorted(self._feeds, key=lambda each: each.turn)
        if self.session().dictionary != dictionary:  # the engine came back with another model meanwhile
            feed.reopen(self.session().dictionary)

    def start(self) -> None:
        """Begin to read the stream and to watch the outlets."""
        self._source.start()
        self._watcher.start()

    def stop(self) -> None:
        """End the source, deliver waiting samples, close all outlets; bounded, even if one hangs."""
        self._source.stop()
        self._stopping.set()
        self.commander.close()
        self._keep_desk()
        deadline = time.monotonic() + _CLOSE_S
        for feed in self._feeds:
            feed.end()
        for feed in self._feeds:
            if not feed.close(max(0.1, deadline - time.monotonic())):
                log.warning("outlet %s hangs; the gateway abandons it.", feed.outlet.name)

    # ---- for outlets, from any thread

    @property
    def history(self) -> History:
        """The history; it begins when it is first asked for. HistoryError, OSError when its file cannot be used."""
        with self._history_lock:
            if self._history is None:
                self._history = self._begin_history()
            return self._history

    def _begin_history(self) -> History:
        place, full_s, size = self._history_options
        dictionary = self.session().dictionary
        remarks: list[str] = []
        size_and_age: dict[str, Any] = {"full_s": full_s, "size_bytes": size}
        if isinstance(place, Home):
            made = History(place.file(dictionary.model), say=remarks.append, **size_and_age)
        else:
            made = History(place, **size_and_age)
        self.add(made)
        keeper = DeskKeeper(self.commander.desk, made)
        keeper.restore(dictionary)
        self._keeper, self.commander.desk.on_order = keeper, self._keep_desk
        for text in remarks:  # now it has a place where it stands
            self._remark(text)
        if made.say is not None:
            made.say = self._remark
        return made

    def _remark(self, text: str) -> None:
        log.warning(text)
        self.tell(1, text)

    @property
    def keeps_history(self) -> bool:
        """Whether the history is in a file that outlives this gateway; before it begins, whether it shall be."""
        return self._history_options[0] is not None if self._history is None else self._history.kept

    def alarms(self) -> dict[str, Alarm]:
        """Identifier → alarm, of all quantities beyond their limits now."""
        return self._alarms.active()

    def condition(self) -> Condition:
        """The present condition of the engine, the same for all displays."""
        return self._source.pulse.condition()

    def progress(self) -> dict[str, Any] | None:
        """The progress of a test bench's run (docs/reference/protocol.md, "Test bench"); None for an engine, and at
        first."""
        return self._source.progress

    def session(self) -> Session:
        """The newest connection to the engine: system, dictionary, mirror, description."""
        session = self._source.session
        assert session is not None, "connect first"
        return session

    def tell(self, severity: int, text: str, kind: str = "link", **data: Any) -> None:
        """Send a notice with the present time to all outlets."""
        self.notice(Notice(kind, severity, text, self._time, CLOCK.now(), data))

    def status(self) -> dict[str, dict[str, Any]]:
        """Outlet → its counts (`queues.Counts`), how many samples wait for it, how long it has been busy (s)."""
        return {
            f"{place}.{feed.outlet.name}": {**asdict(feed.counts), "waiting": feed.waiting, "busy_s": feed.busy_s()}
            for place, feed in enumerate(self._feeds)
        }

    # ---- what the source brings, on its thread

    def adopt(self, session: Session) -> None:
        """Take a new connection; outlets reopen if the model is another one."""
        if not session.same:
            self._alarms = Alarms(session.dictionary)
            self.commander.desk.clear()
            for feed in self._feeds:
                feed.reopen(session.dictionary)

    def sample(self, sample: Sample) -> None:
        """Fan out a sample, and the alarms that it brings."""
        self._time = sample.time
        notices = self._alarms.look(sample)
        for feed in self._in_turn:
            feed.offer_sample(sample)
        self.commander.desk.take(self._alarms.active())
        for notice in notices:
            log.warning(notice.text)
            self.notice(notice)

    def notice(self, notice: Notice) -> None:
        """Fan out a notice."""
        for feed in self._feeds:
            feed.offer_notice(notice)

    # ---- watch

    def _watch(self) -> None:
        """Twice a second, check which outlets hang or lost samples, and whether the command lease is still needed."""
        watches: dict[Feed, _Watch] = {}
        stale = False
        while not self._stopping.wait(_WATCH_S):
            self.commander.look()
            self._keep_desk()
            for id in self.commander.desk.look():
                text = f"the alarm of {id} is active again: the time for which it was shelved is over."
                self.tell(1, text, "alarm", id=id)
            stale = self._report_stale(stale)
            for feed in self._feeds:
                for severity, text in watches.setdefault(feed, _Watch()).look(feed, time.monotonic()):
                    log.warning(text)
                    self.tell(severity, text)

    def _keep_desk(self) -> None:
        if self._keeper is not None:
            self._keeper.keep(self.session().dictionary)

    def _report_stale(self, before: bool) -> bool:
        """Send a notice when the engine becomes silent, and when it sends again; returns whether it is silent."""
        condition = self.condition()
        stale = condition.state == "stale"
        if stale and not before:
            self.tell(1, f"{condition.text}; the values shown are old.")
        elif before and condition.current:
            self.tell(0, "the engine sends again.")
        return stale


class _Watch:
    """The reports about one outlet so far."""

    def __init__(self) -> None:
        self._hangs = False
        self._dropped, self._next_notice = 0, 0.0

    def look(self, feed: Feed, now: float) -> Iterator[tuple[int, str]]:
        """Severity and text of new findings."""
        name, busy = feed.outlet.name, feed.busy_s()
        if (busy > _HANGS_S) != self._hangs:
            self._hangs = not self._hangs
            text = f"hangs: it has been busy with one call for {busy:.0f} s" if self._hangs else "goes on"
            yield 2 if self._hangs else 0, f"outlet {name} {text}."
        dropped = feed.counts.dropped + feed.counts.notices_dropped
        if dropped > self._dropped and now >= self._next_notice:
            lost, self._dropped, self._next_notice = dropped - self._dropped, dropped, now + _DROPS_NOTICE_S
            yield 1, f"outlet {name} is too slow: {lost} of its samples and notices were dropped."
