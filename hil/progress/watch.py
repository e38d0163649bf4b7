"""On the bench: starts a process that observes the run, and carries out its requests: pause, one frame, abort."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from limberjack import children
from limberjack.hil.errors import HilError
from limberjack.hil.events import Event
from limberjack.hil.progress.memory import Shared
from limberjack.hil.progress.observer import line_of
from limberjack.hil.scenario.bench_setup import Built
from limberjack.hil.scenario.scenario_file import Scenario
from limberjack.hil.scenario.schema_timeline import TimelineSpec

#: longest line: writes of up to PIPE_BUF bytes are atomic
LINE_MOST = select.PIPE_BUF - 32
#: longest wait for the process to be ready, and for it to end, s
_BEGIN_S, _END_S = 30.0, 3.0


class Watch:
    """A process that observes one run. It costs the bench no time in a frame, and some 20 µs for an event."""

    def __init__(self, command: Sequence[str], scenario: Scenario, built: Built) -> None:
        """command : of the process, which is given three numbers: of the memory, of what it hears, of what it says

        Before a paced run it waits until the process is ready, so that its start takes no time of a frame. Raises
        HilError if it does not become ready.
        """
        self._executive = executive = built.executive
        shape = built.tape.rows.shape
        self._shared, self._seen, self._lost = Shared((shape[0], shape[1])), 0, 0
        built.tape.move(self._shared.rows)
        executive.counts = self._shared.counts
        hears, self._pipe = os.pipe()
        self._hear, says = os.pipe()
        given = (self._shared.descriptor, hears, says)
        try:
            with children.interrupts_held():
                self._process = subprocess.Popen([*command, *map(str, given)], pass_fds=given)
        finally:
            os.close(hears)
            os.close(says)
        _write(self._pipe, json.dumps(_about(scenario, built, shape)).encode() + b"\n")
        if executive.paced and (
            not select.select([self._hear], [], [], _BEGIN_S)[0] or os.read(self._hear, 1) != b"\n"
        ):
            self.close()
            raise HilError("the process that shows the progress of the run did not start; --no-progress does without.")
        os.set_blocking(self._pipe, False)
        threading.Thread(target=self._obey, name="orders", daemon=True).start()
        executive.log.listeners.append(self._pass_on)

    def latest(self, wait_s: float = 0.0) -> dict[str, Any] | None:
        """The newest sample (`Progress.as_dict`), None if there is none since the last call."""
        self._seen, message = self._shared.read(self._seen)
        if not message and wait_s > 0.0:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(wait_s)
            self._seen, message = self._shared.read(self._seen)
        found: dict[str, Any] | None = json.loads(message) if message else None
        return found

    def close(self) -> None:
        """Let the process end; kill it if it does not."""
        with contextlib.suppress(ValueError):
            self._executive.log.listeners.remove(self._pass_on)
        os.close(self._pipe)
        try:
            self._process.wait(_END_S if self._shared.used else 0.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._shared.close()

    def _pass_on(self, event: Event) -> None:
        """Send an event to the process; events that do not fit are counted, and the next one carries the count."""
        lost = b"%d\n" % self._lost if self._lost else b""
        try:
            os.write(self._pipe, lost + line_of(event, LINE_MOST))
            self._lost = 0
        except OSError:
            self._lost += 1

    def _obey(self) -> None:
        """Carry out the requests of the process until it ends."""
        with open(self._hear, encoding="utf-8", errors="replace") as orders:
            for line in orders:
                with contextlib.suppress(ValueError, TypeError, KeyError):
                    asked = json.loads(line)
                    obey(self._executive, asked["do"], "the terminal", asked.get("reason", ""))


def obey(executive: Any, what: str, by: str, reason: str = "", frames: int = 1) -> None:
    """Carry out an operator's request for a run: "pause", "resume", "step" or "abort"."""
    match what:
        case "pause":
            executive.hold.pause(by, reason)
        case "resume":
            executive.hold.resume(by)
        case "step":
            executive.hold.step(by, frames)
        case "abort":
            executive.abort(by, reason)


@contextlib.contextmanager
def watched_run(scenario: Scenario, built: Built, command: Sequence[str]) -> Iterator[Watch]:
    """A run that is watched while this lasts."""
    watch = Watch(command, scenario, built)
    try:
        yield watch
    finally:
        watch.close()


def _about(scenario: Scenario, built: Built, shape: Sequence[int]) -> dict[str, Any]:
    """The data about the run that the process needs."""
    spec, tape = scenario.spec, built.tape
    entries = sorted((entry.at, described(entry)) for entry in spec.timeline)
    return {
        "scenario": spec.name,
        "duration": spec.duration,
        "paced": built.executive.paced,
        "shape": list(shape),
        "names": tape.names,
        "units": tape.units,
        "judged": built.judged,
        "criteria": [criterion.model_dump() for criterion in spec.criteria],
        "timeline": entries,
    }


def described(entry: TimelineSpec) -> str:
    """A short description of an entry of the timeline."""
    value = getattr(entry, entry.action)
    if entry.action == "ramp":
        targets = ", ".join(f"{name} to {to:g}" for name, to in value.to.items())
        return f"ramp {targets} in {value.duration:g} s"
    if isinstance(value, dict):
        return f"{entry.action} " + ", ".join(f"{name} = {number:g}" for name, number in value.items())
    return "end of the run" if entry.action == "end" else f"{entry.action} {value}"


def _write(descriptor: int, data: bytes) -> None:
    """Write all of it; if the process has died meanwhile, its silence shows that."""
    with contextlib.suppress(BrokenPipeError):
        while data:
            data = data[os.write(descriptor, data) :]
