"""The engine process: sockets and the two loops, lockstep and free-running, around a Service."""

from __future__ import annotations

import contextlib
import gc
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from limberjack.bridge.checkpoint_file import Resume
from limberjack.bridge.controls import Controls
from limberjack.bridge.endpoints import Endpoints
from limberjack.bridge.pacing import Pacer, place
from limberjack.bridge.service import Service
from limberjack.bridge.service_host import ServiceHost
from limberjack.bridge.settings import Settings
from limberjack.bridge.sockets import IDLE_MS
from limberjack.bridge.upkeep import NO_SIGNS, CameBack, Signs, Upkeep
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.model.system import System

_REQUESTS_A_CYCLE = 64  # requests answered in one free-running cycle


class Server:
    """One engine: binds its sockets, runs its loop until a request to stop, closes everything."""

    def __init__(
        self,
        simulation: Simulation,
        settings: Settings,
        *,
        parameters: Mapping[str, float] | None = None,
        signs: Signs = NO_SIGNS,
        came_back: CameBack | None = None,
    ) -> None:
        """parameters : those that were set before;  signs : of life, for whom they are;  came_back : what it replaces

        Raises EndpointError, KeyFileError, ArgumentError, BridgeError, OSError; nothing stays open then.
        """
        self.settings = settings
        place(settings.cpus, settings.priority)  # before the context, whose threads inherit it
        self.service = Service(simulation, settings, controls=Controls(simulation, parameters))
        self.service.pace_status = self._pace
        self._host = ServiceHost(self.service)
        self.endpoints: Endpoints = self._host.endpoints
        self._pacer: Pacer | None = None
        try:
            self._upkeep = Upkeep(self.service, signs, came_back)
        except BaseException:
            self._host.close()
            raise

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
            self._host.heartbeat()
        finally:
            try:
                self._upkeep.close()
            finally:
                self._host.close()

    # ---- loops

    def _run_lockstep(self) -> None:
        service, station = self.service, self._host
        while not service.stopping:
            served = station.serve_one(0)
            station.look_around()
            self._upkeep.look()
            if served and service.fresh:
                station.publish_state()

    def _run_free(self) -> None:
        service, dt = self.service, self.service.simulation.dt
        steps = self.settings.steps_per_cycle(dt)
        self._pacer = pacer = Pacer(steps * dt)
        while not service.stopping:
            self._serve_until(pacer.advance())
            if service.stopping:
                return
            service.free_step(steps)
            self._host.look_around()
            self._upkeep.look()
            self._host.publish_state()

    def _serve_until(self, deadline: float) -> None:
        """Answer requests until the deadline: at least one if any waits, at most a bounded number.

        The socket's descriptor signals edges: it may be waited on only after a receive found nothing.
        """
        descriptor = [self._host.descriptor]
        served = 0
        while not self.service.stopping:
            empty = served < _REQUESTS_A_CYCLE and not self._host.serve_one()
            remaining = deadline - time.monotonic()
            if remaining <= 0.0:
                return
            if empty:
                select.select(descriptor, (), (), min(remaining, 1e-3 * IDLE_MS))
            elif served == _REQUESTS_A_CYCLE:
                time.sleep(min(remaining, 1e-3 * IDLE_MS))
            else:
                served += 1

    def _pace(self) -> dict[str, Any]:
        """How well a free-running engine keeps pace, and from where it would go on."""
        pacer = self._pacer
        if pacer is None:
            return self._upkeep.status()
        return self._upkeep.status() | {
            "overruns": pacer.overruns,
            "late_max_s": pacer.late_max_s,
            "late_s": pacer.late.most,
            "lost_s": pacer.lost_s,
            "real_time_factor": pacer.real_time_factor(),
        }


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
    resume: Resume | None = None,
    signs: Signs = NO_SIGNS,
    came_back: CameBack | None = None,
) -> None:
    """Run an engine on ``system`` until SIGINT, SIGTERM or a client's shutdown; returns then.

    dt, integrator : instead of the model's own; substeps : equal parts of a step; those of ``resume`` come before both
    ready : called once with the bound addresses
    resume : a checkpoint to go on from;  signs, came_back : as for `Server`
    Raises EndpointError, KeyFileError, CheckpointError, ArgumentError, BridgeError before anything runs.
    """
    if resume is not None:
        dt, integrator, substeps = resume.steps(dt, integrator, substeps)
    simulation = Simulation(system, dt=dt, integrator=integrator, substeps=substeps)
    if resume is not None:
        resume.apply(simulation)
    if came_back is not None:
        came_back.begin(simulation)
    parameters = None if resume is None else resume.checkpoint.parameters
    server = Server(simulation, settings or Settings(), parameters=parameters, signs=signs, came_back=came_back)
    gc.freeze()  # what exists now stays; collections during the run need not look at it
    with _stop_on_signals(server.stop):
        if ready is not None:
            ready(server.endpoints)
        server.run()
