"""The executive: frame by frame, commands in, one or more steps, signals out, each frame at its deadline."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from limberjack.bridge.contact_reports import ContactReports
from limberjack.engine.api.contact_events import ContactEvent
from limberjack.engine.api.simulation import Simulation
from limberjack.engine.api.switch_watch import SwitchWatch
from limberjack.engine.common import arguments
from limberjack.engine.common.errors import ArgumentError, LimberjackError
from limberjack.hil.bench_device import BenchDevice
from limberjack.hil.bench_interfaces import Bench, Interference, Recorder, Visitor, Watchdog
from limberjack.hil.clock import Clock, MonotonicClock, measured_clock
from limberjack.hil.events import Event, EventLog, SwitchReports
from limberjack.hil.frame_times import FrameLog
from limberjack.hil.hold import Hold
from limberjack.hil.interrupts import interrupts
from limberjack.hil.overruns import MOST_FRAMES, OverrunPolicy, Overruns
from limberjack.hil.realtime_rights import RealtimeRights, Right
from limberjack.hil.signals import Signals
from limberjack.hil.timeline import Timeline

#: limits of a frame: the resolution of the clock, and a day
_SHORTEST_NS, _LONGEST_NS = 1_000, 86_400_000_000_000
#: largest number of overruns that become events, which leaves room in the log for their consequences
_OVERRUNS_REPORTED = 1000
#: period of the check for the end of the run while the end of a long frame is awaited, ns
_LOOK_NS = 100_000_000
#: the same with a visitor
_VISIT_NS = 2_000_000
#: the same while the run is paused, without a visitor, s
_PAUSED_S = 0.05


@dataclass
class Outcome:
    """How a run ended.

    reason : "completed", "stopped" (Ctrl-C, `stop`), "aborted" (`abort`), "tripped" (a watchdog), "overrun" (its
        limits) or "failed"
    text : why, in words;  error : the exception of a failed run
    frames : times of the frames;  log : events;  rights : requested privileges
    margin_ns : time of the spin before each deadline; 0 if unpaced
    unrecorded : why the record is not complete, "" if it is
    overruns : counted and judged by the policy; None if unpaced
    """

    reason: str
    text: str
    frames: FrameLog
    log: EventLog
    rights: tuple[Right, ...] = ()
    margin_ns: int = 0
    error: Exception | None = field(default=None, repr=False)
    unrecorded: str = ""
    overruns: Overruns | None = field(default=None, repr=False)


class Executive:
    """Runs a simulation with devices.

    Each frame, from 1: commands from the devices, timeline, watchdogs, faults of commands, steps, signals, signals to
    the devices, record; then the next deadline is awaited. Before the first frame the initial signals are sent and
    recorded.

    steps_per_frame : steps of the simulation in a frame
    paced : at the pace of the clock; else in lockstep: each frame waits for the devices' answers
    policy : what overruns mean, when paced
    devices : from `mount`, in the order in which their commands are taken
    timeline, watchdogs, recorder : none unless given
    faults : changes commands on their way to the model and signals on their way to the devices; the record has the
        commands with which the model stepped, and the true signals
    log : events are added to it
    answer_limit_s : longest wait for an answer in lockstep, s of wall time. After 3 unanswered frames in a row the
        bench does not wait for a device until it sends again
    placing : privileges requested while it runs; by default, only a stopped garbage collector if paced
    clock : by default one whose margin is measured before the run
    signals : the Signals to refresh; by default new ones
    meta : texts and numbers that the recorder keeps in addition to its own
    visitor : sees each frame and acts between two of them; may be set until the run begins
    Attributes: hold : pauses the run, from any thread;  counts : None, or two whole numbers of shared memory that
    follow the overruns of a paced run: how many, and the longest lateness, ns;  contacts : steps, and reports touches
    """

    def __init__(
        self,
        simulation: Simulation,
        *,
        steps_per_frame: int = 1,
        paced: bool = True,
        policy: OverrunPolicy | None = None,
        devices: Sequence[BenchDevice] = (),
        timeline: Timeline | None = None,
        watchdogs: Sequence[Watchdog] = (),
        recorder: Recorder | None = None,
        faults: Interference | None = None,
        log: EventLog | None = None,
        answer_limit_s: float = 1.0,
        placing: RealtimeRights | None = None,
        clock: Clock | None = None,
        signals: Signals | None = None,
        meta: Mapping[str, Any] | None = None,
        visitor: Visitor | None = None,
    ) -> None:
        self.simulation, self.devices, self.watchdogs = simulation, tuple(devices), tuple(watchdogs)
        self.steps = arguments.count("steps_per_frame", steps_per_frame, 1, MOST_FRAMES)
        self.paced, self.policy = paced, policy or OverrunPolicy()
        self.timeline, self.recorder, self.faults = timeline or Timeline(), recorder, faults
        self.signals, self.log = signals or Signals(simulation), log or EventLog()
        self.visitor, self.hold = visitor, Hold()
        self.counts: memoryview | None = None
        self._limit_s = 0.0 if paced else arguments.positive("answer_limit_s", answer_limit_s)
        self._placing, self._clock, self._meta = placing or RealtimeRights(freeze=paced), clock, dict(meta or {})
        self.period = self.steps * simulation.dt
        self.period_ns = round(1e9 * self.period)
        if not _SHORTEST_NS <= self.period_ns <= _LONGEST_NS:
            raise ArgumentError(
                f"a frame of {self.period:g} s cannot be timed; give steps_per_frame and dt that make 1 µs to a day."
            )
        self.timeline.check(simulation)
        self._bench = Bench(simulation, self.log, self.period)
        self.contacts = ContactReports(simulation, self._report_contact)
        self._switches, self._switched = SwitchWatch(simulation), SwitchReports(self.log)
        self._commands = simulation.part("command")
        self._overruns = Overruns(self.policy, self.period_ns)
        self.frames = FrameLog(self.period_ns, 1)
        self._ending: tuple[str, str] | None = None
        self._error: Exception | None = None
        self._unrecorded = ""
        self._now = MonotonicClock(0).now_ns
        self._step_ns = self._visit_ns = self._reported = 0
        self._paused = False
        self._late: set[str] = set()

    def stop(self, text: str = "stopped on request.") -> None:
        """Let the run end before its next frame; from any thread or signal handler."""
        self._ending = self._ending or ("stopped", text)

    def abort(self, by: str, reason: str) -> None:
        """Let the run end before its next frame, for a reason that its report gives; from any thread."""
        self._ending = self._ending or ("aborted", f"by {by}: {reason or 'no reason was given'}")

    def run(self, duration_s: float) -> Outcome:
        """Run for so much simulated time, from the present state; the cause of its end is reported, not raised.

        Raises what the recorder and the devices raise when they are opened; all is closed again then.
        """
        count = frames_of(duration_s, self.period)
        self._begin(count)
        with contextlib.ExitStack() as parts, interrupts(self.stop):
            self._open_recorder(parts)
            rights = parts.enter_context(self._placing.held())
            for mounted in self.devices:
                parts.callback(self._close, f"device '{mounted.name}'", mounted.close)
                mounted.open()
            clock = self._clock or (measured_clock(self.period_ns) if self.paced else MonotonicClock(0))
            self._now = clock.now_ns
            self._guarded(count, clock)
            self.contacts.finish()
            reason, text = self._ending or ("completed", "")
            self.log.add(Event(self.simulation.time, "end", reason, text, {"frames": self.frames.frames}))
        margin = clock.margin_ns if self.paced and isinstance(clock, MonotonicClock) else 0
        rest = self._error, self._unrecorded, self._overruns if self.paced else None
        return Outcome(reason, text, self.frames, self.log, rights, margin, *rest)

    def _begin(self, count: int) -> None:
        self._ending, self._error, self._unrecorded, self._reported, self._paused = None, None, "", 0, False
        self._late.clear()
        self._bench = Bench(
            self.simulation, self.log, self.period, time=self.simulation.time, faults=self._bench.faults
        )
        self._overruns = Overruns(self.policy, self.period_ns)
        self.frames = FrameLog(self.period_ns, count)
        self.timeline.begin()
        self.contacts.begin()
        self._switched = SwitchReports(self.log)

    def _open_recorder(self, parts: contextlib.ExitStack) -> None:
        """Open it first, so that its thread has none of the privileges of the loop, and close it last."""
        if self.recorder is None:
            return
        sim, record = self.simulation, self.recorder.event
        meta = {
            "model": sim.system.name,
            "model_hash": sim.model_hash,
            "dt": sim.dt,
            "integrator": sim.integrator,
            "substeps": sim.substeps,
            "steps_per_frame": self.steps,
            "paced": self.paced,
            "policy": self.policy.policy,
            "source": sim.system.source,
            "snapshot": base64.b64encode(sim.snapshot()).decode(),
            "parameters": dict(sim.parameters),
        }
        parts.callback(self._close_recorder, self.recorder)
        self.recorder.open(self.signals.names, self.signals.units, {**meta, **self._meta})
        parts.callback(self.log.listeners.remove, record)
        self.log.listeners.append(record)

    def _guarded(self, count: int, clock: Clock) -> None:
        """Run all frames; an exception in one becomes the reason of the end."""
        try:
            self._loop(count, clock)
        except LimberjackError as error:
            self._ending, self._error = ("failed", str(error)), error
        except Exception as error:
            self._ending, self._error = ("failed", f"{type(error).__name__}: {error}"), error

    def _loop(self, count: int, clock: Clock) -> None:
        self._send_and_record(0)
        self._visit(1)
        frames, overruns, paced, hold = self.frames, self._overruns, self.paced, self.hold
        deadline = clock.now_ns() + (self.period_ns if paced else 0)
        for frame in range(1, count + 1):
            if hold.paused or self._paused:
                deadline += self._held(clock)
            start = self._wait(clock, deadline) if paced else clock.now_ns()
            deadline = deadline if paced else start
            if not self._frame(frame):
                return
            end = clock.now_ns()
            slack = frames.add(deadline, start, end)
            if paced:
                self._judge(frame, slack, start - deadline)
                deadline = overruns.next_deadline(deadline, end)
                frames.skipped = overruns.skipped
            frames.until_ns = deadline if paced and slack >= 0 else end

    def _held(self, clock: Clock) -> int:
        """Wait while the run is paused, and serve clients meanwhile; returns how long that took, ns."""
        began, hold, bench = clock.now_ns(), self.hold, self._bench
        if not self._paused:
            self._paused = True
            bench.say("pause", hold.by, hold.reason or "paused")
        while hold.waits and not self._ending:
            self._visit(bench.frame)
            if hold.waits:
                hold.wait(_PAUSED_S if self.visitor is None else 1e-9 * _VISIT_NS)
        if not hold.paused:
            self._paused = False
            bench.say("resume", hold.by, "goes on")
        hold.take()
        held = clock.now_ns() - began
        self.frames.shift(held)
        return held

    def _wait(self, clock: Clock, deadline: int) -> int:
        """Wait for the deadline, or for the end of the run if that comes first; returns the time then."""
        look = _LOOK_NS if self.visitor is None else _VISIT_NS
        if self.period_ns > look:
            while deadline - clock.now_ns() > look and not self._ending:
                clock.wait_until(clock.now_ns() + look)
                self._visit(self._bench.frame)
        return clock.now_ns() if self._ending else clock.wait_until(deadline)

    def _frame(self, frame: int) -> bool:
        """Do the work of one frame; False if the run ends before its step."""
        bench, commands, now, faults = self._bench, self._commands, self._now, self.faults
        if faults is not None:
            faults.restore(commands)
        bench.frame, bench.time = frame, self.simulation.time
        for mounted in self.devices:
            before = now()
            mounted.receive(bench.time, commands, self._limit_s)
            mounted.spent_ns = now() - before
            if not self.paced and mounted.spent_ns >= 1e9 * self._limit_s:
                self._report_late(mounted)
        if self.visitor is not None:
            self.visitor.command(commands)
        self.timeline.fire(bench)
        if bench.end_text:
            self._ending = self._ending or ("completed", bench.end_text)
        for watchdog in self.watchdogs:
            for trip in watchdog.check(bench.time, self.signals, self.devices):
                self.log.add(trip.event)
                if trip.ends:
                    self._ending = self._ending or ("tripped", trip.event.text)
        if self._ending:
            return False
        if faults is not None:
            faults.apply(bench.time, commands)
        self._step(frame)
        self._send_and_record(frame)
        self._visit(frame + 1)
        return True

    def _step(self, frame: int) -> None:
        before = self._now()
        self._switches.begin()
        self.contacts.step(self.steps)
        self._step_ns = self._now() - before
        self._switched.add(self._switches.switched(), self.simulation.time, frame)

    def _report_contact(self, event: ContactEvent, text: str, data: Mapping[str, Any]) -> None:
        self.log.add(Event(event.time, event.kind, event.source, text, {"frame": self._bench.frame, **data}))

    def _report_late(self, mounted: BenchDevice) -> None:
        """An event for the first answer that a device failed to give."""
        if mounted.name not in self._late:
            self._late.add(mounted.name)
            text = f"did not answer within {self._limit_s:g} s; another run in lockstep may give other results."
            self._bench.say("device", mounted.name, text)

    def _send_and_record(self, frame: int) -> None:
        vector, now = self.signals.refresh(), self._now
        sent = vector if self.faults is None else self.faults.measured(vector)
        for mounted in self.devices:
            before = now()
            mounted.send(frame, vector[0], sent)
            mounted.spent_ns += now() - before
        if self.recorder is not None:
            self.recorder.row(vector)

    def _visit(self, frame: int) -> None:
        """Let the visitor see the state and act on the next frame; one that raises is removed."""
        if self.visitor is None:
            return
        before, bench = self._now(), self._bench
        bench.frame, bench.time = frame, self.simulation.time
        if self.faults is not None:
            self.faults.restore(self._commands)
        try:
            self.visitor.visit(bench)
        except Exception as error:
            self.visitor = None
            bench.say("visitor", "executive", f"{type(error).__name__}: {error}. The run goes on without.")
        self._visit_ns = self._now() - before

    def _judge(self, frame: int, slack: int, late: int) -> None:
        """Count an overrun, log the first of several in a row with its cause, and end the run beyond the limits."""
        overruns, frames = self._overruns, self.frames
        why = overruns.count(frame, slack)
        if slack >= 0:
            return
        frames.overruns, frames.most_consecutive = overruns.total + overruns.start_up, overruns.most_consecutive
        if self.counts is not None:
            self.counts[0], self.counts[1] = frames.overruns, overruns.latest_ns
        if overruns.consecutive == 1 or why:
            parts = {"a late start": late, "the steps": self._step_ns, "what serves clients": self._visit_ns}
            parts |= {f"device '{mounted.name}'": mounted.spent_ns for mounted in self.devices}
            cause = max(parts, key=lambda part: parts[part])
            text = f"frame {frame} ended {-1e-3 * slack:.1f} µs too late; {1e-3 * parts[cause]:.1f} µs for {cause}."
            self._reported += 1
            if self._reported == _OVERRUNS_REPORTED:
                text += " Further overruns are counted, but not logged as events."
            if self._reported <= _OVERRUNS_REPORTED or why:
                self._bench.say("overrun", "executive", text, late_s=-1e-9 * slack, cause=cause)
        if why:
            self._ending = self._ending or ("overrun", why)

    def _close(self, what: str, close: Callable[[], None]) -> str:
        """Close a part; an error is logged and returned, and the other parts are still closed."""
        try:
            close()
        except Exception as error:
            self.log.add(Event(self.simulation.time, "device", what, f"could not be closed: {error}"))
            return str(error)
        return ""

    def _close_recorder(self, recorder: Recorder) -> None:
        self._unrecorded = self._close("the recorder", recorder.close)


def frames_of(duration_s: float, period: float) -> int:
    """Frames of a period, s, in a duration: it is reached or passed by less than a frame."""
    duration = arguments.positive("duration_s", duration_s)
    return arguments.count("frames of the run", -int(-(duration / period - 1e-6) // 1), 1, MOST_FRAMES)
