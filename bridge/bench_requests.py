"""Requests that only a test bench carries out: those for faults of its scenario, and those that control its run."""

from __future__ import annotations

from typing import Any, Protocol

from limberjack.bridge.controls import Controls
from limberjack.bridge.errors import Code
from limberjack.bridge.messages import Message, Refusal
from limberjack.bridge.sessions import Session

#: requests that control a run, docs/reference/protocol.md
RUN = ("pause", "resume", "step", "abort")
#: largest length of a reason, characters
REASON_MOST = 200


class Answering(Protocol):
    """The part of a `Service` that carries out these requests."""

    controls: Controls

    def body(self, message: Message, count: int) -> list:
        """The body's `count` parts; raises Refusal."""

    def authorize(self, message: Message, session: Session) -> None:
        """Raises Refusal unless the client may command."""

    def changed(self) -> None:
        """The state changed since it was last published."""

    def reply(self, message: Message, body: Any) -> bytes:
        """The reply to a request that was carried out."""


def fault(service: Answering, message: Message, session: Session) -> bytes:
    """[name, true, false or nil]: begin the fault, end it, or only read its state."""
    name, active = service.body(message, 2)
    if type(name) is not str or not (active is None or type(active) is bool):
        raise Refusal(Code.MALFORMED, "the body of 'fault' is a name, text, and true, false or nil.")
    if active is not None:
        service.authorize(message, session)
    state = service.controls.fault(name, active, session.name)
    if active is not None:
        service.changed()
    return service.reply(message, [name, state.active, state.as_dict()])


def run(service: Answering, message: Message, session: Session) -> bytes:
    """[one of RUN, reason or nil, frames or nil]: control the run."""
    what, reason, frames = service.body(message, 3)
    if what not in RUN:
        raise Refusal(Code.ARGUMENT, f"a run accepts {', '.join(RUN)}, not {what!r:.40}.")
    if reason is not None and not (type(reason) is str and reason.isprintable() and len(reason) <= REASON_MOST):
        raise Refusal(Code.MALFORMED, f"a reason is nil or printable text of at most {REASON_MOST} characters.")
    if frames is not None and type(frames) is not int:
        raise Refusal(Code.MALFORMED, "frames is nil or a whole number.")
    service.authorize(message, session)
    service.controls.run(what, reason or "", 1 if frames is None else frames, session.name)
    return service.reply(message, None)
