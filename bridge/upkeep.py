"""Tasks of an engine's loop besides stepping and answering: signs of life, checkpoints, the event of a restart."""

from __future__ import annotations

import mmap
import os
import struct
import tempfile
import time
from dataclasses import asdict, dataclass
from typing import Any

from limberjack.bridge.checkpoint_writer import Checkpoints
from limberjack.bridge.notify import Notify
from limberjack.bridge.service import Service
from limberjack.engine.api.rest import come_to_rest
from limberjack.engine.api.simulation import Simulation

_FORM = struct.Struct("<QQd")
#: delay of the event of a restart, s: readers reconnect within a tenth of a second
_NOTICE_S = 1.0


class Pulse:
    """Signs of life in memory that engine and supervisor share: how many, and the engine's step and time at the last.

    descriptor : of the file behind the memory; without, a new one is made
    """

    def __init__(self, descriptor: int | None = None) -> None:
        if descriptor is None:
            with tempfile.TemporaryFile() as made:
                made.truncate(mmap.PAGESIZE)
                descriptor = os.dup(made.fileno())
        self.descriptor = descriptor
        self._memory = mmap.mmap(descriptor, mmap.PAGESIZE)
        self._count = 0

    def beat(self, step: int, time_s: float) -> None:
        """A sign of life."""
        self._count += 1
        _FORM.pack_into(self._memory, 0, self._count, step, time_s)

    def rest(self) -> None:
        """Pause the signs of life until the next one, so that none are missed."""
        _FORM.pack_into(self._memory, 0, 0, *self.read()[1:])

    def read(self) -> tuple[int, int, float]:
        """Number of signs so far (0: none are due), steps and simulated time, s, at the last."""
        return _FORM.unpack_from(self._memory)

    def close(self) -> None:
        """Give the memory up."""
        self._memory.close()
        os.close(self.descriptor)


@dataclass(frozen=True)
class Signs:
    """The receivers of signs of life.

    pulse : of a supervisor, which answers at the address ``supervisor``;  notify : systemd
    """

    pulse: Pulse | None = None
    supervisor: str | None = None
    notify: Notify | None = None


NO_SIGNS = Signs()


@dataclass(frozen=True)
class CameBack:
    """Why an engine was started in place of another.

    cause : what became of that one, a sentence;  restarts : how many there were;  step, time : its last step and time
    rest : whether commands come to rest, for nobody may command any more
    """

    cause: str
    restarts: int
    step: int
    time: float
    rest: bool

    def begin(self, simulation: Simulation) -> None:
        """Commands as the new engine is to begin with them."""
        if self.rest:
            come_to_rest(simulation)


class Upkeep:
    """These tasks; the loop calls `look` at least every tenth of a second, and between portions of long requests."""

    def __init__(self, service: Service, signs: Signs, came_back: CameBack | None) -> None:
        """Begins the checkpoints that the service's settings ask for. CheckpointError, OSError."""
        self._service, self._pulse, self._notify = service, signs.pulse, signs.notify
        self._checkpoints: Checkpoints | None = None
        simulation, settings = service.simulation, service.settings
        if settings.checkpoints is not None and settings.checkpoint_s is not None:
            parts = simulation, service.archive, service.controls.parameters
            self._checkpoints = Checkpoints(*parts, settings.checkpoints, settings.checkpoint_s)
        self._unreported: dict[str, Any] | None = None
        service.about["restarted"] = None
        self._report_at = time.monotonic() + _NOTICE_S
        if came_back is not None:
            now = {"resumed_step": simulation.step_count, "resumed_time": simulation.time}
            self._unreported = service.about["restarted"] = {**asdict(came_back), **now}
        if signs.supervisor is not None:
            service.about["endpoints"]["supervisor"] = signs.supervisor
        service.stepper.between = self.look

    def look(self) -> None:
        """Carry out the tasks that are due."""
        service = self._service
        if self._pulse is not None:
            self._pulse.beat(service.simulation.step_count, service.simulation.time)
        if self._notify is not None:
            self._notify.alive()
        if self._checkpoints is not None:
            for trouble in self._checkpoints.look():
                service.events.append({"event": "checkpoint_failed", "text": trouble})
        if self._unreported is not None and time.monotonic() >= self._report_at:
            service.events.append({"event": "restarted", **self._unreported})
            self._unreported = None

    def status(self) -> dict[str, Any]:
        """For heartbeats: the checkpoint from which an engine would continue."""
        if self._checkpoints is None:
            return {}
        last, trouble = self._checkpoints.last, self._checkpoints.trouble
        return {"checkpoint": {"step": last.step, "time": last.time, "written": last.written, "trouble": trouble}}

    def close(self) -> None:
        """Write the last checkpoint."""
        if self._checkpoints is not None:
            self._checkpoints.close()
