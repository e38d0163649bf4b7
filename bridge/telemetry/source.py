"""Where telemetry comes from: a thread that reads one engine's stream and finds its way back after every loss."""

from __future__ import annotations

import contextlib
import logging
import time
from pathlib import Path
from typing import Any, Protocol

from limberjack.bridge.background import Background
from limberjack.bridge.errors import EngineTimeoutError
from limberjack.bridge.messages import Message
from limberjack.bridge.telemetry.condition import Pulse
from limberjack.bridge.telemetry.limiter import Limiter
from limberjack.bridge.telemetry.sample import Notice, Sample
from limberjack.bridge.telemetry.session import CLOCK, Session
from limberjack.engine.common.errors import LimberjackError

log = logging.getLogger("limberjack.gateway")

_SLICE_S = 0.25  # between two looks at the connection while nothing comes
_SILENT_S = 10.0  # without any message: ask, and connect again if there is no answer
_PAUSES_S = (0.25, 0.5)  # between attempts to connect: first, longest; an operator waits for what comes back
_NOTICES_A_HEARTBEAT = 5  # of one kind; of more the number is reported
_PARAMETERS_S = 10.0  # least time between two readings of all parameters
_SEVERITY = {"failed": 2, "refused": 1, "shutdown": 1, "key_refused": 1, "handshake_failed": 1}
_SEVERITY |= {"restarted": 2, "checkpoint_failed": 1}
_SEVERITY |= {"turned_away": 1, "keys": 1}
_SEVERITY |= {"trip": 2, "fault": 1, "overrun": 1, "device": 1}  # of a test bench


class Sink(Protocol):
    """Who takes what the source brings, on the source's thread, without waiting."""

    def adopt(self, session: Session) -> None: ...

    def sample(self, sample: Sample) -> None: ...

    def notice(self, notice: Notice) -> None: ...


class _Lost(Exception):
    """The connection is of no use any more; the text says why."""


class Source:
    """The stream of one engine. `connect` once, then `start`; what comes goes to the sink until `stop`.

    most_hz : states taken a second; of more, those between are left out and do not count as a gap. None: all
    """

    def __init__(
        self, endpoint: str, sink: Sink, *, keys: Path | None = None, key_name: str = "client", most_hz: float | None
    ) -> None:
        self.endpoint, self._sink, self._keys = endpoint, sink, (keys, key_name)
        self._period_ns = 0 if most_hz is None else int(1e9 / most_hz)
        self._background = Background("source", self._run)
        self.session: Session | None = None
        self.pulse = Pulse()
        self.progress: dict[str, Any] | None = None  # the newest of a bench's run, None of an engine
        self._expected: int | None = None  # number of the next message
        self._gap = 0
        self._limiter = Limiter(_NOTICES_A_HEARTBEAT)
        self._set, self._suspect = 0, False  # parameters set, as events reported; whether one may have been lost
        self._read_again = 0.0  # not before this time of the monotonic clock
        self._ending = False  # the engine said that it ends
        self._time = 0.0
        self._due_ns = 0
        self._fresh = False  # a state came since the last heartbeat

    def connect(self) -> Session:
        """Connect for the first time. Raises BridgeError or ModelError."""
        session = Session(self.endpoint, *self._keys)
        self.session, self.progress = session, None
        self.pulse.meet(session.description.raw)
        return session

    def start(self) -> None:
        """Begin to read."""
        self._background.start()

    def stop(self, wait_s: float = 5.0) -> None:
        """End the thread and the connection; safe to call more than once."""
        if self._background.stop(wait_s) and self.session is not None:
            self.session.client.close()

    def notify(self, severity: int, text: str, **data: Any) -> None:
        """A notice about the connection."""
        log.log((logging.INFO, logging.WARNING, logging.WARNING)[severity], text)
        self._sink.notice(Notice("link", severity, text, self._time, CLOCK.now(), data))

    # ---- life of a connection

    def _run(self) -> None:
        session, unknown = self.session, 0
        while session is not None:
            try:
                self._follow(session, unknown)
            except (_Lost, LimberjackError) as error:
                self.notify(1 if self._ending else 2, f"connection to {self.endpoint} lost: {error} Trying again.")
            except Exception as error:  # what this version cannot read must not end the thread that reports it
                log.exception("a message of the engine could not be read")
                self.notify(2, f"{self.endpoint} sent a message that cannot be read, {type(error).__name__}: {error}.")
            finally:
                self.pulse.lose()
                session.client.close()
            session, unknown = None if self._background.stopping.is_set() else self._again(), 1

    def _again(self) -> Session | None:
        """Connect again, however long it takes; None when asked to stop."""
        started, pause, said = time.monotonic(), _PAUSES_S[0], ""
        while not self._background.stopping.wait(pause):
            try:
                session = Session(self.endpoint, *self._keys, before=self.session)
            except LimberjackError as error:
                if str(error) != said:
                    said = str(error)
                    log.info("%s Trying again.", said)
                pause = min(2.0 * pause, _PAUSES_S[1])
                continue
            self.session, self.progress = session, None
            self.pulse.meet(session.description.raw)
            what = "" if session.same else f"; it runs another model now, '{session.system.name}'"
            self._sink.adopt(session)
            self.notify(0, f"connected to {self.endpoint} again after {time.monotonic() - started:.1f} s{what}.")
            return session
        return None

    def _follow(self, session: Session, gap: int) -> None:
        """Read until asked to stop. gap : of the first sample. Raises _Lost, BridgeError."""
        self._expected, self._gap, self._fresh, self._suspect, self._ending = None, 0, False, False, False
        self._set = session.parameters_set
        first = session.state()
        self._time = first.time
        self._sink.sample(session.sample(first, 0, CLOCK.now(), gap))
        heard, stopped = time.monotonic(), self._background.stopping.is_set
        while not stopped():
            try:
                message = session.listen(_SLICE_S)
            except EngineTimeoutError:
                self._check(session, time.monotonic() - heard)
                continue
            _, kind, sequence, _, _, body = message
            heard = self.pulse.hear(kind, body)
            if sequence != self._expected:
                self._count(sequence)
            self._expected = sequence + 1
            if kind == "state":
                self._state(session, message)
            else:
                self._take(session, message)

    def _check(self, session: Session, silent_s: float) -> None:
        """Nothing came for a while. Raises _Lost, BridgeError when nothing more will."""
        if session.client.lost:
            raise _Lost("the engine closed the connection; it was stopped or killed.")
        if silent_s > _SILENT_S:
            session.client.status()

    def _count(self, sequence: int) -> None:
        """Note how many messages are missing. Raises _Lost when the engine began to count again."""
        if self._expected is None:
            return
        lost = sequence - self._expected
        if lost < 0:
            raise _Lost("the engine was started again.")
        self._gap += lost
        self._suspect |= lost > 0

    # ---- messages

    def _take(self, session: Session, message: Message) -> None:
        """Any other message than a state."""
        if message.type == "heartbeat":
            self._heartbeat(session, message)
        elif message.type == "event":
            self._event(session, message)

    def _state(self, session: Session, message: Message) -> None:
        now = CLOCK.now()
        self._fresh = True
        if self._period_ns:
            if now < self._due_ns:
                return
            self._due_ns = max(self._due_ns + self._period_ns, now)
        self._pass_on(session, message, message.sequence, now)

    def _pass_on(self, session: Session, state: Message, sequence: int, now: int) -> None:
        time = state.time
        if time < self._time:
            text = f"simulated time went back from {self._time:.6g} s to {time:.6g} s: reset or restore."
            self._notice("time went back", Notice("engine", 0, text, time, now))
        self._time = time
        gap, self._gap = self._gap, 0
        if gap:
            text = f"{gap} messages of the engine were lost before t = {time:.6g} s."
            self._notice("gap", Notice("gap", 1, text, time, now, {"lost": gap}))
        self._sink.sample(session.sample(state, sequence, now, gap))

    def _notice(self, kind: str, notice: Notice) -> None:
        """Pass on a notice unless there are too many of this kind."""
        if self._limiter.admits(kind):
            self._sink.notice(notice)

    def _heartbeat(self, session: Session, message: Message) -> None:
        """Health; and while no states come, one asked for, so that outlets see the present one."""
        session.heartbeat(message.body, self.pulse.overrun_share)
        for kind, count in self._limiter.rest().items():
            text = f"{count} more notice{'s' * (count != 1)} of '{kind}' in the last second."
            data = {"event": kind, "count": count}
            self._sink.notice(Notice("gap" if kind == "gap" else "engine", 1, text, self._time, CLOCK.now(), data))
        counted = message.body.get("parameters_set", self._set)
        self._suspect |= counted != self._set
        self._set = counted
        with contextlib.suppress(EngineTimeoutError):  # it is busy; the next heartbeat will do
            self._read_parameters(session)
            if not self._fresh:
                self._pass_on(session, session.state(), message.sequence, CLOCK.now())
        self._fresh = False

    def _read_parameters(self, session: Session) -> None:
        """When an event that changed one may have been lost, but seldom: a bench has little time to answer."""
        if self._suspect and time.monotonic() >= self._read_again:
            self._read_again = time.monotonic() + _PARAMETERS_S
            session.read_parameters()
            self._suspect = False

    def _event(self, session: Session, message: Message) -> None:
        body, kind = message.body, message.body["event"]
        if kind == "progress":
            self._progress(body, message)
            return
        if kind == "parameter":
            self._set += 1
            session.mirror.set_parameters({body["name"]: body["value"]})
        elif kind in ("bench", "contact"):
            kind = body["kind"]
            session.mirror.set_parameters(body["data"].get("parameters", {}))
        self._ending |= kind in ("shutdown", "end")
        severity, text = _SEVERITY.get(kind, 0), event_text(body["event"], body)
        self._notice(kind, Notice("engine", severity, text, message.time, CLOCK.now(), body))

    def _progress(self, body: dict[str, Any], message: Message) -> None:
        """Keep how a bench's run goes; a notice for each criterion that begins or ceases to fail."""
        before = {each["name"]: each["state"] for each in (self.progress or {}).get("criteria", ())}
        self.progress = body
        for each in body["criteria"]:
            name, failing = each["name"], each["state"] == "failing"
            if failing != (before.get(name) == "failing"):
                text = f"criterion {name} is {each['state']}: {each['text']}"
                data = {"event": "criterion", "name": name, "state": each["state"]}
                self._notice("criterion", Notice("engine", int(failing), text, message.time, CLOCK.now(), data))


def _keys_text(body: dict[str, Any]) -> str:
    """One sentence for a change of the engine's keys."""
    if "problem" in body:
        return f"the engine's keys stay as they were: {body['problem']}"
    changed = [f"{name} is {role} now" for name, role in body["changed"].items()]
    listed = [f"{what} {', '.join(body[what])}" for what in ("added", "removed") if body[what]]
    return f"the engine's keys changed: {'; '.join(listed + changed)}."


def event_text(kind: str, body: dict[str, Any]) -> str:
    """One sentence for an event of the engine (docs/reference/protocol.md, "Streams")."""
    client = body.get("client")
    match kind:
        case "failed" | "refused":
            return f"the engine {'failed' if kind == 'failed' else 'refused a request'}: {body['text']}"
        case "restarted":
            return f"another engine took its place: {body['cause']} It goes on from t = {body['resumed_time']:.6g} s."
        case "checkpoint_failed":
            return f"the engine writes no checkpoints: {body['text']}"
        case "lease":
            return f"'{client}' holds the command lease." if client else "nobody holds the command lease."
        case "parameter":
            return f"'{client}' set parameter {body['name']} to {body['value']:g}."
        case "loop":
            done = "closed" if body["closed"] else "opened"
            return (
                f"'{client}' {done} loop {body['loop']}." if client else f"loop {body['loop']} {done} by its command."
            )
        case "bench" | "contact":
            return f"{body['kind']}, {body['source']}" + (f": {body['text']}" if body["text"] else ".")
        case "shutdown":
            return f"'{client}' ended the engine."
        case "key_refused" | "handshake_failed" | "disconnected":
            count = body["count"]
            return f"{count} connection{'s' * (count != 1)} to the engine: {kind.replace('_', ' ')}."
        case "turned_away":
            return f"the engine ended {body['count']} connections, reason: {body['reason']}."
        case "keys":
            return _keys_text(body)
    rest = ", ".join(f"{key} {value}" for key, value in body.items() if key != "event")
    return f"the engine reports {kind}: {rest}."
