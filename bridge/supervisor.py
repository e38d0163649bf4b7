"""A process that watches an engine. If the engine hangs or dies, the supervisor ends it, notifies its clients, and
starts a new one at the same addresses, from the last checkpoint."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from limberjack.bridge.checkpoint_file import Resume
from limberjack.bridge.checkpoint_writer import newest
from limberjack.bridge.errors import BridgeError, EngineStartError
from limberjack.bridge.notify import Notify
from limberjack.bridge.process import EngineProcess
from limberjack.bridge.settings import Settings
from limberjack.bridge.supervision_limits import Limits
from limberjack.bridge.upkeep import CameBack, Pulse
from limberjack.bridge.watch_post import WatchPost
from limberjack.engine.model.system import System

log = logging.getLogger("limberjack.bridge")

#: looks within the time after which an engine is taken to hang
_LOOKS = 20
#: longest time between two looks, s
_LOOK_S = 0.2
#: longest wait for an engine that ends by itself or was asked to, s
_END_S = 30.0
#: pause before the next attempt to start an engine that did not start, s
_PAUSE_S = 1.0


class _Stopped(Exception):
    """A signal asked the supervisor to stop while an engine starts."""


class SupervisionError(BridgeError):
    """The engine hung or died too often."""


class Supervisor:
    """Starts an engine and watches it until it ends in order, or `stop` is called.

    steps : dt, integrator and substeps, as for `serve`;  resume : where the first engine begins
    address : at which clients hear of it (None: beside those of the engine);  say : gets a sentence for each event
    """

    def __init__(
        self,
        system: System,
        settings: Settings,
        *,
        steps: dict[str, Any],
        limits: Limits | None = None,
        resume: Resume | None = None,
        address: str | None = None,
        notify: Notify | None = None,
        say: Callable[[str], None] = log.warning,
    ) -> None:
        """Binds its own address. EndpointError, KeyFileError."""
        self._system, self._settings, self._steps = system, settings, steps
        self.limits, self._resume = limits or Limits(), resume
        self._say, self._notify = say, notify
        self._stop = threading.Event()
        self._restarted: deque[float] = deque()
        self._pulse = Pulse()
        self.post = WatchPost(settings, address)
        self.engine: EngineProcess | None = None

    def stop(self) -> None:
        """End the engine and the watch; from any thread or signal handler."""
        self._stop.set()

    def run(self, ready: Callable[[EngineProcess], None] = lambda _: None) -> None:
        """Watch until the engine ended in order. ready : called with the first engine

        Raises what the first start raises; SupervisionError after too many restarts.
        """
        try:
            self.engine = engine = self._start(None)
            ready(engine)
            self._notify_systemd("READY=1")
            while (cause := self._watched(engine)) is not None:
                self.engine = engine = self._replaced(engine, cause)
        except _Stopped:
            return
        finally:
            self._notify_systemd("STOPPING=1")
            if self.engine is not None:
                self.engine.stop(_END_S)
            self.post.close()
            self._pulse.close()

    def _notify_systemd(self, *lines: str) -> None:
        if self._notify is not None:
            self._notify.send(*lines)

    # ---- one engine

    def _start(self, came_back: CameBack | None) -> EngineProcess:
        engine = EngineProcess(
            self._system,
            self._settings,
            **self._steps,
            resume=self._resume,
            came_back=came_back,
            watched=(self._pulse, self.post.address),
            start_timeout_s=self.limits.start_s,
            waiting=self._alive,
        )
        found = engine.endpoints
        self._settings = replace(
            self._settings, endpoint=found.request, state_endpoint=found.state, topic_endpoint=found.topics
        )
        return engine

    def _alive(self) -> None:
        """A sign of life of the supervisor's own, while it waits or watches. Raises _Stopped."""
        if self._stop.is_set():
            raise _Stopped
        if self._notify is not None:
            self._notify.alive()
        step, at = self._pulse.read()[1:]
        self.post.look({"step": step, "time": at, "restarts": len(self._restarted)})

    def _watched(self, engine: EngineProcess) -> str | None:
        """Wait for something to happen: why the engine has to be replaced, None when it ended in order."""
        look_s = min(_LOOK_S, self.limits.hung_s / _LOOKS)
        signs, silent_s, before = self._pulse.read()[0], 0.0, time.monotonic()
        while not self._stop.wait(look_s):
            self._alive()
            if not engine.running:
                code = engine.kill()
                return None if code == 0 else f"the engine {_ended(code)}."
            now = time.monotonic()
            # a pause of this process or of the whole machine says nothing about the engine
            silent_s += min(now - before, 3.0 * look_s)
            before = now
            if (heard := self._pulse.read()[0]) != signs:
                signs, silent_s = heard, 0.0
            elif silent_s > self.limits.hung_s:
                return f"the engine hung: no sign of life for {self.limits.hung_s:g} s."
        return None

    def _replaced(self, engine: EngineProcess, cause: str) -> EngineProcess:
        """End what is left of an engine, and start another. SupervisionError when that happened too often."""
        _, step, at = self._pulse.read()
        kind = "hung" if engine.running else "died"
        self.post.report(kind, cause, step=step, time=at)
        self._say(f"{cause} It had reached step {step}, t = {at:.6g} s.")
        engine.kill()
        while True:
            self._count(cause)
            came_back = CameBack(cause, len(self._restarted), step, at, self.limits.rest)
            try:
                self._resume = self._last()
                started = self._start(came_back)
            except EngineStartError as error:
                cause = str(error)
                self._say(cause)
                self.post.report("failed", cause)
                self._stop.wait(_PAUSE_S)
                continue
            where = self._resume.where if self._resume is not None else "the start"
            commands = "come to rest" if self.limits.rest else "are held"
            text = f"another engine took its place, from {where}; commands {commands}."
            self.post.report("restarted", text)
            self._say(text)
            return started

    def _count(self, cause: str) -> None:
        now = time.monotonic()
        self._restarted.append(now)
        while self._restarted and now - self._restarted[0] > self.limits.within_s:
            self._restarted.popleft()
        if len(self._restarted) > self.limits.restarts:
            text = f"{cause} More than {self.limits.restarts} restarts in {self.limits.within_s:g} s: it gives up."
            self.post.report("gave_up", text)
            raise SupervisionError(text)

    def _last(self) -> Resume | None:
        """The newest checkpoint that can be read; None without checkpoints: from the beginning."""
        if self._settings.checkpoints is None:
            return None
        found = newest(self._settings.checkpoints, self._say)
        return None if found is None else Resume(str(found[0]), found[1])


def _ended(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
