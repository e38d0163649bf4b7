"""The one way from outlets to the engine: orders are checked, carried out, and reported to everybody."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from limberjack.bridge.bench_requests import REASON_MOST
from limberjack.bridge.client import Client
from limberjack.bridge.errors import BridgeError, Code, EngineLostError, EngineTimeoutError, RefusedError
from limberjack.bridge.telemetry.alarm_desk import AlarmDesk
from limberjack.bridge.telemetry.orders import (
    ALL_ALARMS,
    OF_ALARMS,
    RUN,
    Actor,
    Order,
    OrderRefused,
    Rule,
    examine,
    permit,
)
from limberjack.bridge.telemetry.preview import Preview, preview
from limberjack.bridge.telemetry.sample import printable
from limberjack.bridge.telemetry.session import CLOCK, Session
from limberjack.engine.api.impact import Impact
from limberjack.engine.common.errors import LimberjackError, SimulationError

log = logging.getLogger("limberjack.gateway")

Answer = TypeVar("Answer")
EVERYTHING = (Rule(),)
ANSWER_S = 2.0  # longest wait for the engine, and for another order to be done
_NOTICES_A_SECOND = 20  # of more orders, the others are counted


class Notifier(Protocol):
    """`Gateway.tell`."""

    def __call__(self, severity: int, text: str, kind: str = "link", **data: Any) -> None: ...


class Commander:
    """Carries out orders, one at a time. Usable from any thread; no call lasts longer than a few seconds.

    rules : who may do what; empty: nobody anything;  desk : what became of the alarms
    idle_s : after so long without an order the command lease is given up, so that others may command
    """

    def __init__(
        self,
        endpoint: str,
        session: Callable[[], Session],
        notify: Notifier,
        *,
        keys: Path | None = None,
        key_name: str = "client",
        rules: Sequence[Rule] = EVERYTHING,
        idle_s: float = 5.0,
    ) -> None:
        self._endpoint, self._session, self._keys = endpoint, session, (keys, key_name)
        self._notices, self._rules, self._idle_s = _Bounded(notify), tuple(rules), idle_s
        self.desk = AlarmDesk()
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._holds, self._last, self._closed = False, 0.0, False

    def check(self, order: Order, actor: Actor) -> None:
        """Raise OrderRefused if the order cannot or may not be carried out; everybody learns of the refusal."""
        try:
            examine(order, self._session())
            permit(order, actor, self._rules)
        except OrderRefused as refusal:
            self.refuse(order, actor, refusal)
            raise

    def execute(self, order: Order, actor: Actor) -> dict[str, Any]:
        """Check an order and let the engine carry it out. Returns what the engine answered; raises OrderRefused.

        parameter: {"value"}; attach, release, lock, unlock: {"energy_loss", "distance"}; fault, clear: {"active"};
        reset: {"time"}; acknowledge, shelve: as `AlarmDesk.carry_out`; else empty
        """
        self.check(order, actor)
        try:
            of_alarms = order.action in OF_ALARMS
            answer = self.desk.carry_out(order, actor) if of_alarms else self._forward(_signed(order, actor))
        except OrderRefused as refusal:
            self.refuse(order, actor, refusal)
            raise
        if order.action == "parameter":  # the engine's own word comes with its next heartbeat, and is asked for before
            self._session().mirror.set_parameters({order.target: answer["value"]})
        which = f": {', '.join(answer['alarms'])}" if order.target == ALL_ALARMS else ""
        self._notices.notify(0, f"{actor}: {order}{which}.", "command", **_data(order, actor), **answer)
        return answer

    def preview(self, order: Order, actor: Actor) -> Preview:
        """What an order would change, by the engine's present state. Raises OrderRefused, which is not reported to
        anybody else.
        """
        examine(order, self._session())
        permit(order, actor, self._rules)
        if order.action in OF_ALARMS:
            return Preview(())
        with self._turn():
            return self._answer(lambda: preview(order, self._session(), self._connected()))

    def refuse(self, what: Order | str, actor: Actor, refusal: OrderRefused) -> None:
        """Report a refusal to everybody, also of something that did not become an order."""
        text = f"{actor}: {what} refused ({refusal.code}): {refusal}"
        self._notices.notify(1, text, "refused", **_data(what, actor), code=refusal.code)

    def warn(self, text: str) -> None:
        """Report something unusual about orders to everybody."""
        self._notices.notify(1, text, "command")

    def look(self) -> None:
        """Give the lease up when it has not been used for a while; call now and then."""
        if self._holds and self._lock.acquire(blocking=False):
            try:
                if self._holds and time.monotonic() - self._last > self._idle_s:
                    self._give_up()
            finally:
                self._lock.release()

    def close(self) -> None:
        """Give the lease up and end the connection; orders are refused from now on."""
        self._closed = True
        if self._lock.acquire(timeout=2.0 * ANSWER_S):
            try:
                self._drop()
            finally:
                self._lock.release()

    # ---- the engine

    def _forward(self, order: Order) -> dict[str, Any]:
        with self._turn():
            if order.before_ns is not None and CLOCK.now() > order.before_ns:
                raise OrderRefused("late", "the order came after its time limit. Look again, then send it again.")
            try:
                answer = self._answer(lambda: self._ask(order))
            finally:
                self._last = time.monotonic()
            self._holds = order.action != "give_up"
            return answer

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """One at a time."""
        if not self._lock.acquire(timeout=ANSWER_S):
            raise OrderRefused("busy", "the engine is still carrying out an earlier order. Try again.")
        try:
            yield
        finally:
            self._lock.release()

    def _answer(self, ask: Callable[[], Answer]) -> Answer:
        """What the engine answers. A refusal by an engine that was started again does not count."""
        try:
            try:
                return ask()
            except RefusedError as error:
                if error.code != Code.UNKNOWN_CLIENT:
                    raise
            self._drop()
            return ask()
        except OrderRefused:
            raise
        except RefusedError as error:
            raise OrderRefused(error.code, str(error)) from None
        except (EngineLostError, EngineTimeoutError) as error:
            self._drop()
            raise OrderRefused("lost", f"{error} Whether the order took effect is not known.") from None
        except SimulationError as error:
            raise OrderRefused("simulation", str(error)) from None
        except LimberjackError as error:
            raise OrderRefused("malformed", str(error)) from None

    def _ask(self, order: Order) -> dict[str, Any]:
        client = self._connected()
        self._holds = True  # an order that the engine refuses takes the lease as well
        return _do(client, order)

    def _connected(self) -> Client:
        """A client of the engine that the telemetry comes from."""
        if self._closed:
            raise OrderRefused("lost", "the gateway is ending. Start it again.")
        if self._client is not None and self._client.lost:
            self._drop()
        if self._client is None:
            keys, key_name = self._keys
            options: dict[str, Any] = {"keys": keys, "key_name": key_name, "timeout_s": ANSWER_S}
            self._client = Client(self._endpoint, name="gateway", **options)
        if self._client.describe().model_hash != self._session().description.model_hash:
            self._drop()
            raise OrderRefused("lost", "the engine has just switched to another model. Look again, then command.")
        return self._client

    def _give_up(self) -> None:
        self._holds = False
        if self._client is not None:
            try:
                self._client.release()
            except BridgeError:
                self._drop()

    def _drop(self) -> None:
        self._holds = False
        if self._client is not None:
            self._client.close()
            self._client = None


def _signed(order: Order, actor: Actor) -> Order:
    """An order to a run names who gave it in its reason, which the run's report quotes; the bench knows the gateway."""
    if order.action not in RUN:
        return order
    reason = f"{actor}: {order.reason}" if order.reason else str(actor)
    return replace(order, reason=reason[:REASON_MOST])


def _do(client: Client, order: Order) -> dict[str, Any]:
    match order.action:
        case "command":
            client.command(order.values)
        case "parameter":
            return {"value": client.parameter(order.target, order.value)}
        case "fault" | "clear":
            return client.fault(order.target, order.action == "fault").as_dict()
        case action if action in RUN:
            client.run(RUN[action], order.reason)
        case "reset":
            return {"time": client.reset().time}
        case "give_up":
            client.release()
        case "attach":
            return _impact_data(client.attach(order.target))
        case "release":
            return _impact_data(client.release(order.target))
        case "lock":
            return _impact_data(client.lock(order.target))
        case "unlock":
            return _impact_data(client.unlock(order.target))
    return {}


def _impact_data(impact: Impact) -> dict[str, Any]:
    return {"energy_loss": impact.energy_loss, "distance": impact.distance}


def _data(order: Order | str, actor: Actor) -> dict[str, Any]:
    action = order.action if isinstance(order, Order) else ""
    return {"who": str(actor), "order": str(order), "action": action}


class _Bounded:
    """Reports at most so many notices a second; the next one gives the number of those left out."""

    def __init__(self, notify: Notifier) -> None:
        self._notify, self._lock = notify, threading.Lock()
        self._second, self._in_second, self._held_back = 0, 0, 0

    def notify(self, severity: int, text: str, kind: str, **data: Any) -> None:
        """Report and log it, or count it."""
        with self._lock:
            second = int(time.monotonic())
            if second != self._second:
                self._second, self._in_second = second, 0
            self._in_second += 1
            if self._in_second > _NOTICES_A_SECOND:
                self._held_back += 1
                return
            more, self._held_back = self._held_back, 0
        if more:
            text = f"{text} ({more} orders before this one were not reported.)"
        text = printable(text)
        log.log(logging.WARNING if severity else logging.INFO, text)
        self._notify(severity, text, kind, **data)
