"""Live telemetry to browsers over WebSocket: each with its own subscriptions, bounded queue and counted drops."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import json
import logging
import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from aiohttp import WSCloseCode, WSMsgType, web

from limberjack.bridge.console.envelope import Envelope, Point, Taken
from limberjack.bridge.telemetry.alarm_desk import Entry
from limberjack.bridge.telemetry.condition import Condition
from limberjack.bridge.telemetry.dictionary import Dictionary
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.bridge.telemetry.session import CLOCK

log = logging.getLogger("limberjack.gateway")

_QUEUE_MAX = 64  # messages that wait for one browser
_UNSEEN_MAX = 2  # messages with samples on their way to a browser that confirms them
_WAITING_MAX = 100  # takings that wait for a slow browser
_MESSAGE_MAX = 65536  # bytes of a message from a browser
_NOTICES_MAX = 1000  # notices that wait for the next sending
_PING_S = 30.0  # a browser that does not answer for so long is disconnected
_BYE_S = 0.5
_LOOK_S = 0.2  # between two looks at the engine's condition
_CLOCK_S = 1.0  # between two tellings of the condition when it stays
BROWSERS_MAX = 64

#: makes the content of a message of one kind from the newest sample, for browsers that requested this kind
Stream = Callable[[Sample], dict[str, Any]]
Active = Callable[[], Mapping[str, Entry]]
Judge = Callable[[], Condition]
Progress = Callable[[], dict[str, Any] | None]


def to_json(content: Any) -> str:
    """Strict JSON, without spaces."""
    return json.dumps(content, separators=(",", ":"), allow_nan=False)


def number(value: float) -> float | None:
    """The value for JSON: None if it is not finite."""
    return value if math.isfinite(value) else None


class Browser:
    """One connected browser.

    dropped : messages that it lost without a report yet
    unseen : messages with samples that it has not confirmed; None for a program that never confirms any
    waiting : takings that go with the next message, which is sent when the browser has seen the ones before
    """

    def __init__(self, socket: web.WebSocketResponse, role: str) -> None:
        self.role = role
        self.places: dict[int, str] = {}
        self.streams: set[str] = set()
        self.dropped = 0
        self.unseen: int | None = None
        self.waiting: collections.deque[Taken] = collections.deque()
        self._socket = socket
        self._queue: asyncio.Queue[str] = asyncio.Queue(_QUEUE_MAX)

    def offer(self, message: str) -> bool:
        """Queue a message. If the browser does not keep up, drop and count it, and return False."""
        try:
            self._queue.put_nowait(message)
        except asyncio.QueueFull:
            self.dropped += 1
            return False
        return True

    async def write(self) -> None:
        """Send what is queued, for as long as the connection lasts."""
        while True:
            await self._socket.send_str(await self._queue.get())

    async def bye(self) -> None:
        """End the connection; the browser will reconnect. Does not wait for one that does not read."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._socket.close(code=WSCloseCode.GOING_AWAY), _BYE_S)


class Live:
    """All browsers of a console. `add` and `notice` may be called from any thread, the rest on the event loop's."""

    def __init__(
        self,
        dictionary: Dictionary,
        rate_hz: float,
        hello: Callable[[], dict[str, Any]],
        alarms: Active,
        condition: Judge,
        progress: Progress = lambda: None,
    ) -> None:
        """rate_hz : messages a second to each browser;  alarms : as operators have them;  condition : of the engine

        progress : of a bench's run
        hello : first message to every browser, beside its role and the alarms
        """
        self.streams: dict[str, Stream] = {}
        self.browsers: set[Browser] = set()
        self._dictionary, self._period_s, self._hello = dictionary, 1.0 / rate_hz, hello
        self._envelope = Envelope(len(dictionary))
        self.add: Callable[[Sample], None] = self._envelope.add  # one sample of the stream
        self._notices: collections.deque[Notice] = collections.deque(maxlen=_NOTICES_MAX)
        self._alarms, self._condition, self._progress = alarms, condition, progress
        self._alarms_sent = alarms()

    def notice(self, notice: Notice) -> None:
        """Add a notice; with more than a thousand between two messages the oldest are dropped."""
        self._notices.append(notice)

    async def watch(self) -> None:
        """Send the engine's condition and a run's progress when they change, the condition at least once a second.

        So a browser knows the time, and that it is connected, also while nothing happens. Until cancelled.
        """
        sent, due, shown = "", 0.0, None
        while True:
            if (progress := self._progress()) is not shown:
                shown = progress
                self._offer(to_json({"kind": "progress", "progress": plain(progress)}), self.browsers)
            condition = self._condition()
            if condition.state != sent or time.monotonic() >= due:
                sent, due = condition.state, time.monotonic() + _CLOCK_S
                message = {"kind": "condition", "utc": 1e-6 * CLOCK.now(), **_condition_fields(condition)}
                self._offer(to_json(message), self.browsers)
            await asyncio.sleep(_LOOK_S)

    async def run(self) -> None:
        """Send new messages at the rate, until cancelled."""
        while True:
            await asyncio.sleep(self._period_s)
            while self._notices:
                message = to_json({"kind": "notice", **notice_fields(self._notices.popleft())})
                self._offer(message, self.browsers)
                await asyncio.sleep(0)  # there may be many at once: let each be sent before the queue is full
            self._send_alarms()
            taken = self._envelope.take()
            if taken is not None:
                self._send(taken)

    def _send_alarms(self) -> None:
        """Send the list of alarms if it has changed."""
        active = self._alarms()
        if active is not self._alarms_sent:
            self._alarms_sent = active
            self._offer(to_json({"kind": "alarms", "alarms": _alarm_fields(active)}), self.browsers)

    def _send(self, taken: Taken) -> None:
        for browser in self.browsers:
            if browser.places:
                self._send_samples(browser, taken)
        for kind in {kind for browser in self.browsers for kind in browser.streams}:
            self._send_stream(kind, taken.sample)

    def _send_samples(self, browser: Browser, taken: Taken) -> None:
        """Send samples; to a slow browser in fewer, larger messages, so that its values stay current."""
        browser.waiting.append(taken)
        if len(browser.waiting) > _WAITING_MAX:
            browser.waiting.popleft()
            browser.dropped += 1
        if browser.unseen is not None and browser.unseen >= _UNSEEN_MAX:
            return
        dropped = browser.dropped
        if browser.offer(self._samples(browser)):
            browser.dropped -= dropped
            browser.unseen = None if browser.unseen is None else browser.unseen + 1
        browser.waiting.clear()

    def _send_stream(self, kind: str, sample: Sample) -> None:
        """Send the message of one kind to its subscribers; an error in it stops only this kind."""
        try:
            message = to_json({"kind": kind, **_stamp(sample), **self.streams[kind](sample)})
        except Exception:
            log.exception("console: the messages %r end, as one of them failed", kind)
            message = _problem(f"the server cannot make {kind} any more; its log says why.")
            del self.streams[kind]
        wanting = [each for each in self.browsers if kind in each.streams]
        self._offer(message, wanting)
        for browser in wanting if kind not in self.streams else ():
            browser.streams.discard(kind)

    def _samples(self, browser: Browser) -> str:
        takings = browser.waiting
        values = {
            id: _pairs([point for taken in takings for point in taken.points(place)])
            for place, id in browser.places.items()
        }
        counts = {"gap": sum(taken.gap for taken in takings), "dropped": browser.dropped}
        return to_json({"kind": "samples", **_stamp(takings[-1].sample), **counts, "values": values})

    def _offer(self, message: str, browsers: Iterable[Browser]) -> None:
        for browser in browsers:
            browser.offer(message)

    async def close(self) -> None:
        """Say goodbye to all browsers."""
        await asyncio.gather(*(browser.bye() for browser in self.browsers), return_exceptions=True)

    async def serve(self, request: web.Request, role: str) -> web.StreamResponse:
        """One browser from its first message to its last."""
        if len(self.browsers) >= BROWSERS_MAX:
            raise web.HTTPServiceUnavailable(text=f"{BROWSERS_MAX} browsers are connected already. Close one of them.")
        socket = web.WebSocketResponse(heartbeat=_PING_S, max_msg_size=_MESSAGE_MAX, compress=False)
        await socket.prepare(request)
        browser = Browser(socket, role)
        now = {"alarms": _alarm_fields(self._alarms()), "condition": _condition_fields(self._condition())}
        now["progress"] = plain(self._progress())
        browser.offer(to_json({"kind": "hello", "role": role, **now, **self._hello()}))
        self.browsers.add(browser)
        writer = asyncio.create_task(browser.write())
        try:
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._hear(browser, message.data)
                else:
                    browser.offer(_problem("messages are JSON texts."))
                await asyncio.sleep(0)  # a page asks for much at once: let each answer go before the queue is full
        finally:
            self.browsers.discard(browser)
            writer.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await writer
        return socket

    def _hear(self, browser: Browser, text: str) -> None:
        """Process a browser's message. One that is not understood is answered with an error."""
        try:
            message = json.loads(text)
            kind, ids = message["kind"], message.get("ids", [])
            if kind == "stream" and message["name"] in self.streams:
                self._switch_stream(browser, message["name"], bool(message["on"]))
                return
            if kind == "seen":
                browser.unseen = max(0, (browser.unseen or 0) - 1)
                return
            places = {self._dictionary.places[id]: id for id in ids}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            browser.offer(_problem(f"a message is not understood ({type(error).__name__}: {error})."))
            return
        if kind == "subscribe":
            browser.places |= places
            self._present(browser, places)
        elif kind == "unsubscribe":
            browser.places = {place: id for place, id in browser.places.items() if place not in places}
        else:
            browser.offer(_problem(f"no message of kind {kind!r}; there are subscribe, unsubscribe, seen and stream."))

    def _switch_stream(self, browser: Browser, kind: str, on: bool) -> None:
        """Begin or end a kind of messages; it begins with the newest state, since the next one may take long."""
        (browser.streams.add if on else browser.streams.discard)(kind)
        sample = self._envelope.newest
        if on and sample is not None:
            self._send_stream(kind, sample)

    def _present(self, browser: Browser, places: dict[int, str]) -> None:
        """Send the newest values at once, so that no display is empty while the engine waits."""
        sample = self._envelope.newest
        if sample is not None:
            at = 1e-6 * sample.unix_ns
            values = {id: _pairs([(at, float(sample.vector[place]))]) for place, id in places.items()}
            browser.offer(to_json({"kind": "samples", **_stamp(sample), "gap": 0, "dropped": 0, "values": values}))


def notice_fields(notice: Notice) -> dict[str, Any]:
    """The fields of a notice for the browser, live and from the past."""
    return {
        "what": notice.kind,
        "severity": notice.severity,
        "text": notice.text,
        "time": number(notice.time),
        "utc": 1e-6 * notice.unix_ns,
        "data": {key: plain(value) for key, value in notice.data.items()},
    }


def _pairs(points: list[Point]) -> list[tuple[float, float | None]]:
    return [(at, number(value)) for at, value in points]


def _alarm_fields(entries: Mapping[str, Entry]) -> list[dict[str, Any]]:
    return [
        {
            "id": each.id,
            "severity": each.severity,
            "worst": each.worst,
            "value": number(each.value),
            "utc": 1e-6 * each.since_unix_ns,
            "waits": each.waits,
            "acknowledged": each.acknowledged and _mark(each.acknowledged.who, each.acknowledged.unix_ns),
            "shelved": each.shelved
            and {**_mark(each.shelved.who, each.shelved.until_ns), "reason": each.shelved.reason},
        }
        for each in entries.values()
    ]


def _mark(who: str, unix_ns: int) -> dict[str, Any]:
    return {"who": who, "utc": 1e-6 * unix_ns}


def _condition_fields(condition: Condition) -> dict[str, Any]:
    """heard : ms since 1970 of the engine's newest message"""
    fields = {"state": condition.state, "text": condition.text, "age": condition.age_s, "current": condition.current}
    return fields | {"heard": 1e-6 * CLOCK.now() - 1e3 * condition.age_s}


def _stamp(sample: Sample) -> dict[str, float]:
    return {"time": sample.time, "utc": 1e-6 * sample.unix_ns}


def plain(value: Any) -> Any:
    """A value for JSON: numbers that are not finite become None, objects other than numbers and texts their text."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, (bool, str, int)) or value is None:
        return value
    return number(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def _problem(text: str) -> str:
    return to_json({"kind": "problem", "text": text})
