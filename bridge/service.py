"""Carries out requests on the simulation. No sockets here: bytes in, bytes out."""

from __future__ import annotations

import contextlib
import functools
import logging
import math
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import numpy as np

from limberjack.bridge import bench_requests
from limberjack.bridge.contact_reports import ContactReports, loops_in, waiting_in
from limberjack.bridge.controls import Controls
from limberjack.bridge.description import describe
from limberjack.bridge.errors import Code
from limberjack.bridge.messages import (
    FLOAT64,
    REPLY_MAX,
    Message,
    Refusal,
    StateFrame,
    decode,
    encode,
    read_vector,
)
from limberjack.bridge.roles import OWNER, Sender, check
from limberjack.bridge.sessions import Session, Sessions
from limberjack.bridge.settings import Settings
from limberjack.bridge.stepping import Stepper
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.api.switch_watch import SwitchWatch
from limberjack.engine.common.errors import ArgumentError, SimulationError
from limberjack.engine.model.archive import to_bytes

log = logging.getLogger("limberjack.bridge")

Reply = bytes | memoryview

#: steps of a request after which its sender's lease begins again
_LONG = 1000
_ENVELOPE = 1024  # bytes, at most, of a message beside its body
_ALL = slice(None)
_STEPS_END = 2**53  # step counts are whole numbers in a float64
_COMMANDING = frozenset({"step", "command", "restore", "reset", "shutdown", "acquire", "attach", "lock", "unlock"})


class Service:
    """Answers requests on one simulation; keeps the sessions, the lease and the counts."""

    def __init__(
        self,
        simulation: Simulation,
        settings: Settings,
        clock: Callable[[], float] = time.monotonic,
        controls: Controls | None = None,
    ) -> None:
        """controls : what requests change; without, the simulation itself

        Raises ModelError for a System made by hand that its archive cannot hold.
        """
        self.simulation, self.settings, self._clock = simulation, settings, clock
        self.controls = controls or Controls(simulation)
        self.sessions = Sessions(settings.lease_s)
        sim = simulation
        self._command = sim.part("command")
        nq, nv, ny, nu = sim.system.nq, sim.system.nv, len(sim.output_names), len(self._command)
        self.frame = StateFrame({"q": nq, "v": nv, "tau": nv, "outputs": ny, "command": nu})
        self._targets = self.frame.vector[: nq + nv], self.frame.parts["tau"], self.frame.parts["outputs"]
        self._shown = self.frame.parts["command"]
        self._lockstep = settings.mode == "lockstep"
        self._sampled = False  # the frame holds the present state
        self._switchable = [loop.name for loop in sim.system.loops if loop.switchable]
        self.size_max = max(65536, len(sim.snapshot()) + _ENVELOPE, 16 * nu + _ENVELOPE)
        self.about = {"size_max": self.size_max, "endpoints": {}, **self.controls.about}
        self.about["run"] = secrets.token_hex(8)
        self._description = describe(sim, settings)
        self.archive = to_bytes(sim.system)  # made now: a running cycle has no time for it
        self.received = self.parameters_set = 0
        self.refused: Counter[str] = Counter()
        self.events: deque[dict[str, Any]] = deque(maxlen=64)
        self.contacts = ContactReports(simulation, waiting_in(self.events))
        self.stepper, self._switches = Stepper(self.contacts.step), SwitchWatch(simulation)
        self.fresh = False  # the state changed since it was last published
        self.failure: str | None = None  # free-running: why stepping stopped
        self.stopping = False
        self.pace_status: Callable[[], dict[str, Any]] = dict  # how well the loop keeps pace
        self.link_status: Callable[[], dict[str, Any]] = dict  # what the sockets know
        self._handlers: dict[str, Callable[[Message, Session], Reply]] = {
            "describe": self._describe,
            "model": self._model,
            "state": self._state,
            "step": self._step,
            "command": self._take_command,
            "snapshot": self._snapshot,
            "restore": self._restore,
            "reset": self._reset,
            "parameter": self._parameter,
            "attach": self._switch,
            "lock": self._switch,
            "unlock": self._switch,
            "fault": functools.partial(bench_requests.fault, self),
            "run": functools.partial(bench_requests.run, self),
            "heartbeat": self._heartbeat,
            "acquire": self._heartbeat,
            "release": self._release,
            "shutdown": self._shutdown,
        }
        self._sample()

    # ---- entry

    def handle(self, payload: bytes, sender: Sender = OWNER) -> Reply:
        """The reply to one request, whatever its bytes; a memoryview is valid until the next call."""
        self.received += 1
        try:
            if len(payload) > self.size_max:
                text = f"a message of {len(payload)} bytes is longer than the {self.size_max} that are allowed."
                raise Refusal(Code.OVERSIZE, text)
            return self._dispatch(decode(payload), sender)
        except Refusal as refusal:
            return self.refuse(refusal)

    def refuse(self, refusal: Refusal) -> bytes:
        """Count a refused message and make the error reply."""
        self.refused[refusal.code.value] += 1
        self.events.append({"event": "refused", "code": refusal.code.value, "text": refusal.text})
        body = {"code": refusal.code.value, "text": refusal.text}
        return encode("error", refusal.sequence, self.simulation.time, refusal.client, body)

    def decline(self, payload: bytes, code: Code, text: str) -> bytes:
        """Refuse a request of which nothing but the envelope counts."""
        self.received += 1
        refusal = Refusal(code, text)
        if len(payload) <= self.size_max:
            with contextlib.suppress(Refusal):
                message = decode(payload)
                refusal.sequence, refusal.client = message.sequence, message.client
        return self.refuse(refusal)

    def _dispatch(self, message: Message, sender: Sender) -> Reply:
        try:
            if message.type == "hello":
                return self._hello(message, sender)
            now = self._clock()
            session = self.sessions.accept(message, now, sender)
            handler = self._handlers.get(message.type)
            if handler is None:
                raise Refusal(Code.UNKNOWN_TYPE, f"there is no message type {message.type!r:.40}.")
            check(sender, message)
            self.controls.check(message.type)
            if message.type in _COMMANDING:
                self.authorize(message, session)
            return handler(message, session)
        except Refusal as refusal:
            refusal.sequence, refusal.client = message.sequence, message.client
            raise
        except SimulationError as error:
            raise Refusal(Code.SIMULATION, str(error), message.sequence, message.client) from None
        except ArgumentError as error:
            raise Refusal(Code.ARGUMENT, str(error), message.sequence, message.client) from None
        except Exception as error:
            log.exception("internal error while answering a '%s' request", message.type)
            text = f"internal error, {type(error).__name__}: {error}. The engine's log has the details."
            raise Refusal(Code.INTERNAL, text, message.sequence, message.client) from None

    def authorize(self, message: Message, session: Session) -> None:
        """Let only the lease holder change the simulation, and only if the state it last saw is recent enough."""
        limit = self.settings.command_age_s
        if limit is not None and (age := self.simulation.time - message.time) > limit:
            text = f"the state this command answers is {age:g} s old; at most {limit:g} s is allowed."
            raise Refusal(Code.STALE, text)
        if self.sessions.command(session, self._clock()):
            self.events.append({"event": "lease", "client": session.name})

    # ---- state

    def show(self, values: np.ndarray) -> None:
        """Take the present state, q, v, tau, outputs and command in one vector, from whoever has read it already."""
        self.frame.vector[:] = values
        self.fresh = self._sampled = True

    def changed(self) -> None:
        """Somebody changed what the state shows, other than by a step."""
        self.fresh, self._sampled = True, False

    def _sample(self) -> None:
        """Copy the simulation's state into the frame that replies and streams send."""
        self.simulation.read(*self._targets)
        self._shown[:] = self._command
        self._sampled = True

    def state_message(self, sequence: int, client: int) -> memoryview:
        """The present state, addressed to a client (0: to everyone)."""
        if not self._sampled:
            self._sample()
        sim = self.simulation
        return self.frame.stamp(sequence, sim.time, client, sim.step_count)

    def advance(self, steps: int) -> None:
        """Step in bounded portions, so that a stop request is seen. Raises SimulationError, Refusal."""
        self._switches.begin()
        try:
            done = self.stepper.advance(steps, lambda: self.stopping)
        finally:
            self.fresh, self._sampled = True, False
            loops_in(self.events, self._switches.switched())
        if done < steps:
            raise Refusal(Code.STOPPING, f"the engine was asked to stop after {done} of {steps} steps.")

    def free_step(self, steps: int) -> None:
        """One free-running cycle; after a failure the state stays until a reset or restore."""
        if self.failure is None:
            try:
                self.advance(steps)
            except Refusal:
                return  # asked to stop; the loop ends
            except SimulationError as error:
                self.failure = str(error)
                self.events.append({"event": "failed", "text": self.failure})
                log.error("%s Stepping stopped; reset or restore continues.", error)

    # ---- requests

    def _hello(self, message: Message, sender: Sender) -> bytes:
        body = message.body
        name = body.get("name") if type(body) is dict else None
        if type(name) is not str or not name.isprintable() or not 0 < len(name) <= 64:
            raise Refusal(Code.MALFORMED, "hello needs {'name': text of 1 to 64 printable characters}.")
        self.sessions.hello(message, name, sender)
        return self.reply(message, {**self._description["hello"], **self.about, "role": sender.role.word})

    def _describe(self, message: Message, session: Session) -> bytes:
        return self.reply(message, {**self._description["hello"], **self.about, **self._description["names"]})

    def _model(self, message: Message, session: Session) -> bytes:
        if len(self.archive) + _ENVELOPE > REPLY_MAX:
            text = f"the model has {len(self.archive)} bytes, more than a reply of {REPLY_MAX} bytes can hold."
            raise Refusal(Code.OVERSIZE, f"{text} Read it from its file instead.")
        return self.reply(message, self.archive)

    def _state(self, message: Message, session: Session) -> Reply:
        return self.state_message(message.sequence, message.client)

    def _step(self, message: Message, session: Session) -> Reply:
        if not self._lockstep:
            raise Refusal(Code.MODE, "the engine is free-running and steps by itself. Send 'command' instead.")
        steps, indices, values = self.body(message, 3)
        if type(steps) is not int or not 1 <= steps <= self.settings.steps_max:
            text = f"steps is {steps!r:.40}; it must be a whole number from 1 to {self.settings.steps_max}."
            raise Refusal(Code.ARGUMENT, text)
        if values is not None:
            self._set_command(indices, values, session)
        self.advance(steps)
        if steps > _LONG:
            self.sessions.renew(session, self._clock())
        return self.state_message(message.sequence, message.client)

    def _take_command(self, message: Message, session: Session) -> bytes:
        indices, values = self.body(message, 2)
        self._set_command(indices, values, session)
        return self.reply(message, None)

    def _set_command(self, indices: Any, values: Any, session: Session) -> None:
        """Apply commands: all of them, or those at the given uint32 indices; nothing if anything is wrong."""
        command = self._command
        where: slice | np.ndarray = _ALL
        count = len(command)
        if indices is not None:
            if type(indices) is not bytes or len(indices) % 4:
                raise Refusal(Code.MALFORMED, "command indices must be binary uint32 values, or nil for all.")
            where = np.frombuffer(indices, dtype="<u4")
            if len(where) and int(where.max()) >= len(command):
                text = f"command index {where.max()} is out of range; this model has {len(command)} commands."
                raise Refusal(Code.ARGUMENT, text)
            count = len(where)
        self.controls.command(where, read_vector(values, count, "command"), session.name)
        self._sampled = False

    def _snapshot(self, message: Message, session: Session) -> bytes:
        return self.reply(message, self.simulation.snapshot())

    def _restore(self, message: Message, session: Session) -> Reply:
        if type(message.body) is not bytes:
            raise Refusal(Code.MALFORMED, "restore needs the bytes that a snapshot gave.")
        sim, before = self.simulation, self.simulation.snapshot()
        sim.restore(message.body)
        if not 0 <= sim.step_count < _STEPS_END:
            sim.restore(before)
            raise Refusal(Code.ARGUMENT, "the snapshot is damaged: its number of steps cannot be.")
        return self._jumped(message)

    def _reset(self, message: Message, session: Session) -> Reply:
        if message.body not in (None, True, False):
            raise Refusal(Code.MALFORMED, "reset takes nothing, or whether it restores the parameters.")
        for name, value in self.simulation.reset(parameters=message.body is True).items():
            self._report_parameter(name, value, session)
        return self._jumped(message)

    def _jumped(self, message: Message) -> Reply:
        """The state was replaced: clear a failure, and answer with the new state."""
        self.failure = None
        self.contacts.begin()
        self.fresh, self._sampled = True, False
        return self.state_message(message.sequence, message.client)

    def _parameter(self, message: Message, session: Session) -> bytes:
        name, value = self.body(message, 2)
        parameters = self.simulation.parameters
        if type(name) is not str:
            raise Refusal(Code.MALFORMED, "the name of a parameter is text.")
        if value is not None:
            if type(value) is not float or math.isnan(value):
                code = Code.NON_FINITE if type(value) is float else Code.ARGUMENT
                raise Refusal(
                    code, f"parameter {name} cannot be {value!r:.40}; give a float64, finite unless it is a bound."
                )
            self.authorize(message, session)
            self.controls.parameter(name, value, session.name)
            self._report_parameter(name, value, session)
        return self.reply(message, [name, float(parameters[name])])

    def _report_parameter(self, name: str, value: float, session: Session) -> None:
        """Count the change of a parameter, and publish it as an event."""
        self._sampled = False
        self.parameters_set += 1
        self.events.append({"event": "parameter", "name": name, "value": value, "client": session.name})

    def _heartbeat(self, message: Message, session: Session) -> bytes:
        status = self.status()
        status["lease_s"] = self.sessions.remaining(session, self._clock())
        return self.reply(message, status)

    def _switch(self, message: Message, session: Session) -> bytes:
        """Close or release a loop, or lock or unlock a hinge; the answer reports the effect of the impact."""
        if type(message.body) is not str:
            raise Refusal(Code.MALFORMED, f"the body of '{message.type}' is a name, text.")
        impact = self.controls.switch(message.type, message.body, session.name)
        self.fresh, self._sampled = True, False
        closed = self.simulation.closed(impact.loop)
        self.events.append({"event": "loop", "loop": impact.loop, "closed": closed, "client": session.name})
        body = {
            "loop": impact.loop,
            "energy_loss": impact.energy_loss,
            "impulse": np.atleast_1d(impact.impulse).astype(FLOAT64).tobytes(),
            "distance": impact.distance,
        }
        return self.reply(message, body)

    def _release(self, message: Message, session: Session) -> bytes:
        if message.body is not None:
            self.authorize(message, session)
            return self._switch(message, session)
        self.end_lease(session)
        return self.reply(message, None)

    def end_lease(self, session: Session) -> None:
        """Take the lease from a session that has it."""
        if self.sessions.release(session):
            self.events.append({"event": "lease", "client": None})

    def _shutdown(self, message: Message, session: Session) -> bytes:
        self.stopping = True
        self.controls.shut_down(session.name)
        self.events.append({"event": "shutdown", "client": session.name})
        return self.reply(message, None)

    # ---- helpers

    def status(self) -> dict[str, Any]:
        """What a heartbeat reports: health, counts, who holds the lease."""
        return {
            "status": "running" if self.failure is None else "failed",
            "failure": self.failure,
            "mode": self.settings.mode,
            "step_count": self.simulation.step_count,
            "touches": self.contacts.touches,
            "closed": {name: self.simulation.closed(name) for name in self._switchable},
            "lease": self.sessions.holder(self._clock()),
            "received": self.received,
            "refused": dict(self.refused),
            "parameters_set": self.parameters_set,
            **self.link_status(),
            **self.pace_status(),
        }

    def reply(self, message: Message, body: Any) -> bytes:
        return encode(message.type, message.sequence, self.simulation.time, message.client, body)

    @staticmethod
    def body(message: Message, count: int) -> list:
        body = message.body
        if type(body) is not list or len(body) != count:
            raise Refusal(Code.MALFORMED, f"the body of '{message.type}' is an array of {count}.")
        return body
