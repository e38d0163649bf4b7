"""Previews of orders: what an order would change, and whether the engine would refuse it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from limberjack.bridge import roles
from limberjack.bridge.client import Client
from limberjack.bridge.errors import Code
from limberjack.bridge.messages import PROTOCOL_VERSION, Message, Refusal
from limberjack.bridge.state import State
from limberjack.bridge.telemetry.loop_states import LoopStates, reach_words, words
from limberjack.bridge.telemetry.orders import Order, OrderRefused
from limberjack.bridge.telemetry.session import Session
from limberjack.engine.api.loop_switching import out_of_reach, so_already


@dataclass(frozen=True)
class Line:
    """One change by an order.

    now, then : numbers, or words for states;  low, high : the allowed range, infinite without a bound
    """

    name: str
    now: float | str
    then: float | str
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf

    @property
    def change(self) -> float | None:
        """The difference; None for words."""
        return self.then - self.now if isinstance(self.now, float) and isinstance(self.then, float) else None


@dataclass(frozen=True)
class Preview:
    """lines : what changes;  note : a sentence about when it acts, "" where that is at once"""

    lines: tuple[Line, ...]
    note: str = ""


def preview(order: Order, session: Session, client: Client) -> Preview:
    """Read the engine's state and compare. The order must have been examined. Raises OrderRefused, BridgeError."""
    _check_role(order, client.role)
    status = client.status()
    _check_lease(order, status)
    lines = _LINES[order.action](order, session, client.state(), status, client)
    if order.action == "command" and status["mode"] == "lockstep":
        return Preview(lines, "The engine is stepped by a program: it acts with the next step.")
    return Preview(lines)


def _check_role(order: Order, word: str) -> None:
    bodies: dict[str, tuple[str, Any]] = {
        "parameter": ("parameter", [order.target, order.value]),
        "fault": ("fault", [order.target, True]),
        "clear": ("fault", [order.target, False]),
        "release": ("release", order.target),
        "give_up": ("release", None),
    }
    kind, body = bodies.get(order.action, (order.action, None))
    if not word:
        return
    try:
        roles.check(roles.Sender(b"", "", roles.Role.of(word)), Message(PROTOCOL_VERSION, kind, 0, 0.0, 0, body))
    except Refusal as refusal:
        raise OrderRefused(refusal.code, refusal.text) from None


def _check_lease(order: Order, status: dict[str, Any]) -> None:
    holder = status["lease"]
    if holder is not None and status["lease_s"] <= 0.0 and order.action != "give_up":
        text = f"'{holder}' holds the command lease. Wait until it gives the lease up or falls silent."
        raise OrderRefused(Code.LEASE, text)


def _commands(order: Order, session: Session, state: State, *_: Any) -> tuple[Line, ...]:
    lines = []
    for name, value in order.values.items():
        known = session.dictionary[f"command.{name}"]
        lines.append(Line(name, float(state.command[name]), float(value), known.unit, known.low, known.high))
    return tuple(lines)


def _parameter(order: Order, session: Session, state: State, status: Any, client: Client) -> tuple[Line, ...]:
    assert order.value is not None
    parameters = session.mirror.simulation.parameters
    try:
        parameters.check(order.target, float(order.value))
    except ValueError as error:
        raise OrderRefused(Code.ARGUMENT, str(error)) from None
    low = parameters.declared[order.target].low
    return (Line(order.target, client.parameter(order.target), float(order.value), low=low),)


def _switch(order: Order, session: Session, state: State, status: dict[str, Any], _: Any) -> tuple[Line, ...]:
    """Attach, release, lock, unlock."""
    found, by_hinge = LoopStates(session), order.action in ("lock", "unlock")
    loop = next(each for each in found.loops.values() if order.target == (each.locked if by_hinge else each.name))
    close = order.action in ("attach", "lock")
    closed, wanted = bool(status["closed"][loop.name]), found.wanted(loop.name, state.commands)
    if close == closed == wanted:
        raise OrderRefused(Code.ARGUMENT, so_already(loop.name, close))
    distance = found.distances(state.q, state.v)[loop.name]
    if close and not closed and distance > loop.reach:
        raise OrderRefused(Code.ARGUMENT, out_of_reach(loop, distance))
    now = words(loop, closed, wanted, distance)
    if close and math.isfinite(loop.reach):
        now = f"{now} ({reach_words(loop, distance)})"
    return (Line(loop.name, now, words(loop, close, close, distance)),)


def _fault(order: Order, session: Session, state: State, status: Any, client: Client) -> tuple[Line, ...]:
    now = client.fault(order.target)
    return (Line(order.target, str(now), str(replace(now, active=order.action == "fault", since=None))),)


def _reset(order: Order, session: Session, state: State, *_: Any) -> tuple[Line, ...]:
    if "bench" in session.description.raw:
        raise OrderRefused(Code.MODE, "a bench plays its scenario from start to end; it does not accept 'reset'.")
    return (Line("simulated time", float(state.time), 0.0, "s"),)


def _give_up(order: Order, session: Session, state: State, status: dict[str, Any], _: Any) -> tuple[Line, ...]:
    return (Line("command lease", f"of '{status['lease']}'" if status["lease"] else "free", "free"),)


_Lines = Callable[[Order, Session, State, dict[str, Any], Client], tuple[Line, ...]]
_LINES: dict[str, _Lines] = {
    "command": _commands,
    "parameter": _parameter,
    **dict.fromkeys(("attach", "release", "lock", "unlock"), _switch),
    **dict.fromkeys(("fault", "clear"), _fault),
    "reset": _reset,
    "give_up": _give_up,
}
