"""The engine process: sockets and the two loops, lockstep and free-running, around a Service."""

from __future__ import annotations

import contextlib
import gc
import logging
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import zmq

from limberjack.bridge.endpoints import Endpoints
from limberjack.bridge.errors import Code
from limberjack.bridge.messages import Refusal, encode
from limberjack.bridge.pacing import Pacer, place
from limberjack.bridge.service import Reply, Service
from limberjack.bridge.settings import Settings
from limberjack.bridge.sockets import IDLE_MS, MORE_NOWAIT, ServerSockets
from limberjack.engine.simulation import Simulation
from limberjack.engine.system.system import System

log = logging.getLogger("limberjack.bridge")

_HEARTBEAT_S = 1.0
_LOOK_S = 0.02

_REQUESTS_A_CYCLE = 64  # requests answered in one free-running cycle
_EVENTS_A_HEARTBEAT = 16  # events published between two heartbeats; counts in the heartbeat stay exact


class Server:
    """One engine: binds its sockets, runs its loop until it is told to stop, closes everything."""

    def __init__(self, simulation: Simulation, settings: Settings) -> None:
        """Raises EndpointError, KeyFileError, ArgumentError, BridgeError; nothing stays open then."""
        self.settings = settings
        place(settings.cpus, settings.priority)  # before the context, whose threads inherit it
        self.service = Service(simulation, settings)
        self._sockets = ServerSockets(settings, 4 * self.service.size_max)
        self.endpoints: Endpoints = self._sockets.endpoints
        streams = {"state": self.endpoints.state, "topics": self.endpoints.topics}
        self.service.about["endpoints"] = streams
        self.service.extra_status = self._link_status
        self._pacer: Pacer | None = None
        self._published = self._events_left = 0
        self._since_publish = 0
        self._next_heartbeat = self._next_look = time.monotonic()

    def stop(self) -> None:
        """Ask the loop to end; safe from signal handlers and other threads."""
        self.service.stopping = True

    def run(self) -> None:
        """Serve until stopped; closes the sockets."""
        try:
            if self.settings.mode == "lockstep":
                self._run_lockstep()
            else:
                self._run_free()
            self._heartbeat()
        finally:
            self._sockets.close()

    # ---- loops

    def _run_lockstep(self) -> None:
        service = self.service
        while not service.stopping:
            served = self._serve_one(0)
            self._look_around()
            if served and service.fresh:
                self._publish_state()

    def _run_free(self) -> None:
        service, dt = self.service, self.service.simulation.dt
        steps = self.settings.steps_per_cycle(dt)
        self._pacer = pacer = Pacer(steps * dt)
        while not service.stopping:
            self._serve_until(pacer.advance())
            if service.stopping:
                return
            service.free_step(steps)
            self._look_around()
            self._publish_state()

    def _serve_until(self, deadline: float) -> None:
        """Answer requests until the deadline: at least one if any waits, at most a bounded number.

        The socket's descriptor signals edges: it may be waited on only after a receive found nothing.
        """
        descriptor = [self._sockets.descriptor]
        served = 0
        while not self.service.stopping:
            empty = served < _REQUESTS_A_CYCLE and not self._serve_one(zmq.DONTWAIT)
            remaining = deadline - time.monotonic()
            if remaining <= 0.0:
                return
            if empty:
                select.select(descriptor, (), (), min(remaining, 1e-3 * IDLE_MS))
            elif served == _REQUESTS_A_CYCLE:
                time.sleep(min(remaining, 1e-3 * IDLE_MS))
            else:
                served += 1

    def _serve_one(self, flags: int) -> bool:
        """Receive one request and answer it; False when none came."""
        router = self._sockets.router
        try:
            identity = router.recv(flags)
        except zmq.Again:
            return False
        frame = router.recv(copy=False)  # a Frame knows whether more follow; asking the socket costs as much again
        if frame.more:
            while router.recv(copy=False).more:
                pass
            reply: Reply = self.service.refuse(Refusal(Code.MALFORMED, "a request is one frame."))
        else:
            reply = self.service.handle(frame.bytes)
        try:
            router.send(identity, MORE_NOWAIT)
            router.send(reply, zmq.DONTWAIT)
        except zmq.ZMQError:  # that client went away, or does not read its replies
            log.debug("a reply of %d bytes could not be delivered", len(reply))
        return True

    # ---- streams

    def _look_around(self) -> None:
        """Every few milliseconds: who reads the streams, whether a heartbeat is due."""
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + _LOOK_S
            self._sockets.look()
            if now >= self._next_heartbeat:
                self._heartbeat()

    def _publish_state(self) -> None:
        """Every so many cycles or requests, send the state to both streams, if anybody reads them."""
        self.service.fresh = False
        self._since_publish += 1
        if self._since_publish < self.settings.publish_divisor or not self._sockets.read:
            return
        self._since_publish = 0
        self._published += 1
        message = self.service.state_message(self._published, 0)
        self._sockets.publish_state(message)

    def _heartbeat(self) -> None:
        """Once a second: what happened since, then health and counts."""
        self._next_heartbeat = time.monotonic() + _HEARTBEAT_S
        events = self.service.events
        self._sockets.watch(events)
        for _ in range(min(len(events), _EVENTS_A_HEARTBEAT)):
            self._publish_map("event", events.popleft())
        events.clear()
        self._publish_map("heartbeat", self.service.status())

    def _publish_map(self, topic: str, body: dict[str, Any]) -> None:
        self._published += 1
        self._sockets.publish(topic, encode(topic, self._published, self.service.simulation.time, 0, body))

    def _link_status(self) -> dict[str, Any]:
        status: dict[str, Any] = {
            "keys_refused": self._sockets.keys_refused,
            "handshakes_failed": self._sockets.failed,
            "disconnected": self._sockets.disconnected,
        }
        if self._pacer is not None:
            status |= {
                "overruns": self._pacer.overruns,
                "late_max_s": self._pacer.late_max_s,
                "lost_s": self._pacer.lost_s,
                "real_time_factor": self._pacer.real_time_factor(),
            }
        return status


@contextlib.contextmanager
def _stop_on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """SIGINT and SIGTERM call ``stop`` while this lasts (main thread only: others never receive signals)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {number: signal.signal(number, lambda *_: stop()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def serve(
    system: System,
    settings: Settings | None = None,
    *,
    dt: float | None = None,
    integrator: str | None = None,
    substeps: int = 1,
    ready: Callable[[Endpoints], None] | None = None,
) -> None:
    """Run an engine on ``system`` until SIGINT, SIGTERM or a client's shutdown; returns then.

    dt, integrator : instead of the model's own; substeps : equal parts of a step
    ready : called once with the bound addresses
    Raises EndpointError, KeyFileError, ArgumentError, BridgeError before anything runs.
    """
    simulation = Simulation(system, dt=dt, integrator=integrator, substeps=substeps)
    server = Server(simulation, settings or Settings())
    gc.freeze()  # what exists now stays; collections during the run need not look at it
    with _stop_on_signals(server.stop):
        if ready is not None:
            ready(server.endpoints)
        server.run()
