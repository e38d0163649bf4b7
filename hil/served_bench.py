"""While a scenario runs, its bench answers as a free-running engine process does."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from limberjack.bridge.controls import Controls
from limberjack.bridge.fault_state import FaultState
from limberjack.bridge.service import Service
from limberjack.bridge.service_host import ServiceHost
from limberjack.bridge.settings import Settings
from limberjack.engine.api.impact import Impact
from limberjack.engine.common.errors import ArgumentError, LimberjackError
from limberjack.hil.bench_interfaces import Bench
from limberjack.hil.events import Event
from limberjack.hil.executive import Executive
from limberjack.hil.progress.watch import obey
from limberjack.hil.scenario.bench_setup import Built
from limberjack.hil.scenario.scenario_file import Scenario
from limberjack.hil.timeline import Action, SetFault, SetParameter, Switch

_REQUESTS_A_FRAME = 4
_EVENTS_A_FRAME = 4
_EVENTS_WAITING = 256  # events of the bench that wait to be published; more are dropped and counted
_REPORTED_BY_SERVICE = ("parameter", "attach", "release", "lock", "unlock")
_PROGRESS_S = 0.5  # between two looks at the progress of the run
_LAST_S = 1.0  # longest wait for the last word of it
_COMMANDS_REPORTED = 10_000  # events of commands from outside; the record's rows have all of them

#: `hil.progress.watch.Watch.latest`
Latest = Callable[[float], dict[str, Any] | None]


class BenchControls(Controls):
    """Changes by clients to a bench, which act in the next frame; each is an event of the run.

    A client that sets a device's command takes the command over, until the client gives up the lease.
    """

    def __init__(self, scenario: Scenario, built: Built) -> None:
        super().__init__(built.executive.simulation)
        reason = f"a bench plays the scenario '{scenario.spec.name}' from its start to its end"
        self.refused = {kind: f"{reason}; it does not accept '{kind}'." for kind in ("step", "restore", "reset")}
        self.about = {"bench": _about(scenario, built)}
        self._executive: Executive = built.executive
        self._faults = built.faults
        self._events, self._timeline = built.executive.log, built.executive.timeline
        names, devices = self.simulation.command_names, self.about["bench"]["devices"]
        self._owned = np.array([name in devices for name in names], dtype=bool)
        self._taken, self._values = np.zeros(len(names), dtype=bool), np.zeros(len(names))
        self._bench: Bench | None = None
        self._reported, self._owner = 0, ""
        self._shown: dict[str, FaultState] = {}

    def begin(self, bench: Bench) -> None:
        """Set the bench on which the following requests act."""
        self._bench = bench
        self._show_faults(bench)

    def lease(self, holder: str | None) -> None:
        """Return commands that were taken over to their devices if their client no longer holds the lease."""
        if self._owner and holder != self._owner:
            assert self._bench is not None
            names = self._names(self._taken)
            self._bench.say("command", names, f"back to the devices: '{self._owner}' no longer holds the lease")
            self._taken[:], self._owner = False, ""

    def hold(self, commands: np.ndarray) -> None:
        """Set the commands that clients have taken over, among all commands (nu,)."""
        if self._owner:
            np.copyto(commands, self._values, where=self._taken)

    def command(self, places: slice | np.ndarray, values: np.ndarray, client: str) -> None:
        """Take over commands; they act in the next frame."""
        with self._acting(client) as bench:
            before = self.simulation.command_vector
            super().command(places, values, client)
            now = self.simulation.part("command")
            named = np.zeros(len(now), dtype=bool)
            named[places] = True
            new = named & self._owned & ~self._taken
            self._taken |= named & self._owned
            self._values[named] = now[named]
            if new.any():
                self._owner = client
                bench.say("command", self._names(new), f"taken over from the devices by '{client}'")
            for place in np.flatnonzero(named).tolist():
                self._timeline.end_ramp(self.simulation.command_names[place])
            for place in np.flatnonzero(named & ((now != before) | new)).tolist():
                self._report(bench, self.simulation.command_names[place], float(now[place]))

    def parameter(self, name: str, value: float, client: str) -> None:
        """As the timeline does it; it is in the record."""
        with self._acting(client) as bench:
            self._begin(SetParameter(name, value), bench)

    def switch(self, kind: str, name: str, client: str) -> Impact:
        """As the timeline does it; it is in the record."""
        with self._acting(client) as bench:
            action = Switch(kind, name)
            action.check(self.simulation)
            return action.switch(bench)

    def fault(self, name: str, active: bool | None, client: str) -> FaultState:
        """Begin or end a fault of the scenario, if it is not in that state already; returns its state."""
        with self._acting(client) as bench:
            if name not in self._faults:
                listed = ", ".join(self._faults) or "none"
                raise ArgumentError(f"the scenario has no fault '{name:.40}'; it has {listed}.")
            before = bench.fault(name)
            if active is not None and active != before.active:
                self._begin(SetFault(self._faults[name], active), bench)
            self._show_faults(bench)
            return replace(bench.fault(name), changed=bench.fault(name) != before)

    def shut_down(self, client: str) -> None:
        """End the run before the next frame."""
        self._executive.stop(f"stopped by the client '{client}'.")

    def run(self, what: str, reason: str, frames: int, client: str) -> None:
        """Before the next frame; pauses and their ends are events of the run."""
        obey(self._executive, what, f"'{client}'", reason, frames)

    @contextlib.contextmanager
    def _acting(self, client: str) -> Iterator[Bench]:
        """Within this context events name the client. Raises ArgumentError if the bench refuses."""
        assert self._bench is not None
        self._bench.client = client
        try:
            yield self._bench
        except LimberjackError as error:
            raise ArgumentError(str(error)) from None
        finally:
            self._bench.client = ""

    def _begin(self, action: Action, bench: Bench) -> None:
        """ArgumentError also where the event would be lost: the record could not be replayed then."""
        if self._events.full:
            raise ArgumentError("the run's event log is full; the bench refuses changes that a replay would need.")
        action.check(self.simulation)
        action.begin(bench)

    def _show_faults(self, bench: Bench) -> None:
        """Update the faults in `describe` and heartbeats."""
        if self._shown != bench.faults:
            self._shown = dict(bench.faults)
            for fault in self.about["bench"]["faults"]:
                fault.update(bench.fault(fault["name"]).shown())

    def _report(self, bench: Bench, name: str, value: float) -> None:
        if self._reported < _COMMANDS_REPORTED:
            bench.say("command", name, f"{value:g}", value=value)
        elif self._reported == _COMMANDS_REPORTED:
            bench.say(
                "command",
                "*",
                "further commands from outside are not logged as events; the rows of the record have them",
            )
        self._reported += 1

    def _names(self, which: np.ndarray) -> str:
        return ", ".join(name for name, chosen in zip(self.simulation.command_names, which) if chosen)


class ServedBench:
    """A visitor of the run with a Service behind its sockets."""

    def __init__(self, scenario: Scenario, built: Built, settings: Settings, progress: Latest | None = None) -> None:
        """Binds; raises EndpointError, KeyFileError, ArgumentError. progress : as for `served`"""
        executive = built.executive
        self._executive, self._signals = executive, executive.signals
        self._controls = BenchControls(scenario, built)
        self.service = Service(executive.simulation, settings, controls=self._controls)
        self.service.pace_status, self.service.contacts = self._pace, executive.contacts
        self._host = ServiceHost(self.service)
        self.endpoints = self._host.endpoints
        self._waiting: deque[Event] = deque()
        self._dropped = self._frame = 0
        self._progress, self._look_at, self._paused = progress, 0.0, False
        self._patience_s = max(0.1 * executive.period, 1e-4)
        executive.log.listeners.append(self._hear)

    def command(self, commands: np.ndarray) -> None:
        """Set the commands that clients have taken over from devices."""
        self._controls.hold(commands)

    def visit(self, bench: Bench) -> None:
        """Publish the state and the events of a new frame, and answer a few requests."""
        station = self._host
        self._controls.begin(bench)
        if bench.frame != self._frame:
            self._frame = bench.frame
            self.service.show(self._signals.vector[1:])
            station.publish_state()
        self._publish_events(_EVENTS_A_FRAME)
        station.look_around()
        now = time.monotonic()
        station.serve(_REQUESTS_A_FRAME, now + self._patience_s)
        self._controls.lease(self.service.sessions.holder(now))
        if now >= self._look_at:
            self._look_at = now + _PROGRESS_S
            self._publish_progress()
        if self._executive.hold.paused != self._paused:
            self._paused = not self._paused
            station.heartbeat()

    def close(self) -> None:
        """Publish the remaining events and a last heartbeat, then release the addresses."""
        try:
            self._publish_events(_EVENTS_WAITING)
            self._publish_progress(_LAST_S)
            self._host.heartbeat()
        finally:
            self._host.close()

    def _hear(self, event: Event) -> None:
        """Queue an event for publication, unless the service publishes it itself."""
        if "client" in event.data and event.kind in _REPORTED_BY_SERVICE:
            return
        if len(self._waiting) < _EVENTS_WAITING:
            self._waiting.append(event)
        else:
            self._dropped += 1

    def _publish_events(self, most: int) -> None:
        for _ in range(min(len(self._waiting), most)):
            event = self._waiting.popleft()
            body = {"event": "bench", "kind": event.kind, "source": event.source, "text": event.text}
            self._host.publish("event", {**body, "time": event.time, "data": event.data})

    def _publish_progress(self, wait_s: float = 0.0) -> None:
        """The newest sample of the process that watches the run, if there is one that has not been published."""
        found = self._progress(wait_s) if self._progress is not None else None
        if found is not None:
            self._host.publish("event", {"event": "progress", **found})

    def _pace(self) -> dict[str, Any]:
        frames, hold = self._executive.frames, self._executive.hold
        p50, p99 = (1e-9 * frames.compute.percentile(percent) for percent in (50.0, 99.0))
        return {
            "overruns": frames.overruns,
            "late_max_s": 1e-9 * frames.lateness.most,
            "late_s": frames.late.most,
            "lost_s": frames.skipped * self._executive.period,
            "real_time_factor": frames.real_time_factor(),
            "frame_p50_s": p50,
            "frame_p99_s": p99,
            "events_dropped": self._dropped,
            "paused": f"by {hold.by}" + (f": {hold.reason}" if hold.reason else "") if hold.paused else None,
            "faults": self._controls.about["bench"]["faults"],
        }


@contextlib.contextmanager
def served(
    scenario: Scenario,
    built: Built,
    settings: Settings,
    say: Callable[[str], None],
    progress: Latest | None = None,
) -> Iterator[ServedBench]:
    """Within this context a bench answers requests; prints its addresses.

    settings : its mode and rate follow from the run;  progress : what is published of it, none without
    """
    settings = replace(settings, mode="free-running", rate_hz=1.0 / built.executive.period)
    bench = ServedBench(scenario, built, settings, progress)
    try:
        at = bench.endpoints
        say(f"bench '{scenario.spec.name}' answers at {at.request}, states at {at.state}, topics at {at.topics}")
        yield bench
    finally:
        bench.close()


def _about(scenario: Scenario, built: Built) -> dict[str, Any]:
    """The description of the bench for clients."""
    names = built.executive.simulation.command_names
    owners = {names[place]: part.name for part in built.executive.devices for place in part.commands}
    return {
        "scenario": scenario.spec.name,
        "paced": built.executive.paced,
        "faults": [{"name": fault.name, "type": fault.type, **FaultState().shown()} for fault in scenario.spec.faults],
        "devices": owners,
    }
