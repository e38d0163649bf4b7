"""A run of the bench: order of things, lockstep, records that replay, ends of every kind. Timing decides nothing."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ArgumentError, SimulationError, UnknownNameError
from limberjack.hil import timeline as tl
from limberjack.hil.bench_device import PATIENCE, mount
from limberjack.hil.bench_interfaces import Trip
from limberjack.hil.errors import HilError
from limberjack.hil.events import Event, EventLog
from limberjack.hil.executive import Executive
from limberjack.hil.realtime_rights import RealtimeRights
from limberjack.hil.signals import Signals
from limberjack.hil.timeline import At, Command, End, Timeline
from tests.hil.benches import FakeClock, FakeDevice, FakeRecorder, fake


def servo(arm, device):
    """Let a device answer with a command that depends on what it was sent."""
    seen = np.zeros(len(arm.command_names))

    def on_send(frame, time, signals):
        seen[:] = 0.02 * np.sin(7.0 * time) - 0.1 * signals[-1]

    def answer(time, commands):
        commands[:] = seen
        return True

    device.on_send, device.on_receive = on_send, answer
    return mount(device, Signals(arm), arm, ["q.*"], ["*"])


def test_lockstep_records_what_a_plain_simulation_repeats_bit_for_bit(arm):
    recorder = FakeRecorder()
    executive = Executive(arm, steps_per_frame=2, paced=False, devices=[servo(arm, FakeDevice())], recorder=recorder)
    outcome = executive.run(0.5)
    assert (outcome.reason, outcome.frames.frames, len(recorder.rows)) == ("completed", 250, 251)
    assert recorder.meta["model_hash"] == arm.model_hash
    rows, names = np.array(recorder.rows), recorder.names
    commands = [names.index(f"command.{name}") for name in arm.command_names]
    assert np.ptp(rows[:, commands], axis=0).max() > 1e-3
    again = lj.Simulation(arm.system, dt=1e-3)
    signals = Signals(again)
    for row in rows[1:]:
        again.command_vector = row[commands]
        again.step(2)
        assert np.array_equal(signals.refresh(), row)


def test_pacing_changes_no_bit(arm):
    rows = []
    for options in ({"paced": False}, {"paced": True, "answer_limit_s": 2.0, **fake()}):
        arm.reset()
        recorder = FakeRecorder()
        Executive(arm, devices=[servo(arm, FakeDevice())], recorder=recorder, **options).run(0.1)
        rows.append(np.array(recorder.rows))
    assert np.array_equal(*rows)


def test_order_within_a_run(arm):
    calls = []
    devices = [FakeDevice(name, calls) for name in ("a", "b")]
    for device in devices:
        device.on_send = lambda frame, *_, name=device.name: calls.append(f"send {name} {frame}")
    mounted = [mount(device, Signals(arm), arm, ["time"]) for device in devices]
    outcome = Executive(arm, devices=mounted, recorder=FakeRecorder(calls), **fake()).run(2e-3)
    opened, closed = ["open recorder", "open a", "open b"], ["close b", "close a", "close recorder"]
    sent = [f"send {name} {frame}" for frame in range(3) for name in "ab"]
    assert calls == [*opened, *sent, *closed]
    assert [event.kind for event in outcome.log.events] == ["end"]


def test_wiring_keeps_the_order_given(arm):
    signals = Signals(arm)
    first, second = arm.command_names[:2]
    mounted = mount(FakeDevice(), signals, arm, [f"v.{arm.system.velocity_names[3]}", "time"], [second, first])
    assert mounted.wiring.signals == (f"v.{arm.system.velocity_names[3]}", "time")
    assert mounted.wiring.signal_units[1] == "s"
    assert mounted.wiring.commands == (second, first)
    for sent, commands in ((["q.nothing"], []), (["z*"], []), (["time"], ["nothing"]), (["time"], ["z*"])):
        with pytest.raises(UnknownNameError):
            mount(FakeDevice(), signals, arm, sent, commands)


def test_entries_that_a_message_leaves_out_keep_their_values(arm):
    first, second = arm.command_names[:2]
    device = FakeDevice()

    def receive(time, commands):
        commands[0] = 0.25
        return True

    device.on_receive = receive
    timeline = Timeline([At(0.0, Command(second, -0.5)), At(0.0, Command(first, 7.0))])
    mounted = mount(device, Signals(arm), arm, [], [first, second])
    Executive(arm, devices=[mounted], timeline=timeline, **fake()).run(3e-3)
    assert (arm.command[first], arm.command[second]) == (0.25, -0.5)


def test_a_silent_device_is_waited_for_only_so_often(arm):
    device = FakeDevice()
    mounted = mount(device, Signals(arm), arm, ["time"], ["*"])
    executive = Executive(arm, paced=False, devices=[mounted])
    assert executive.run(0.05).reason == "completed"
    assert device.answers == PATIENCE
    device.on_receive = lambda *_: True  # heard again: waited for again
    executive.run(0.05)
    assert device.answers == PATIENCE + 50


def test_an_answer_that_does_not_come_in_time_is_reported_once(arm):
    clock, device = FakeClock(), FakeDevice()

    def late(time, commands):
        clock.spend(600_000_000 if time > 0.0015 else 400_000_000)
        return True  # of commands, but not the answer

    device.on_receive = late
    mounted = mount(device, Signals(arm), arm, [], ["elbow_pitch"])
    outcome = Executive(arm, paced=False, devices=[mounted], answer_limit_s=0.5, **fake(clock)).run(0.005)
    (event,) = outcome.log.of("device")
    assert (event.source, event.data["frame"]) == ("fake", 3)
    assert event.text.startswith("did not answer within 0.5 s")


def test_every_so_many_frames(arm):
    frames, device = [], FakeDevice()
    device.on_send = lambda frame, *_: frames.append(frame)
    device.on_answer = lambda *_: True
    mounted = mount(device, Signals(arm), arm, ["time"], ["*"], every=4)
    Executive(arm, paced=False, devices=[mounted]).run(0.01)
    assert frames == [0, 4, 8]
    assert device.answers == 3


def fails(*_):
    raise OSError("cable is gone")


@pytest.mark.parametrize("where", ["on_send", "on_receive"])
def test_a_device_that_fails_ends_the_run_in_order(arm, where):
    calls = []
    device = FakeDevice("drive", calls)
    mounted = mount(device, Signals(arm), arm, ["time"], ["*"])
    setattr(device, where, fails)
    outcome = Executive(arm, devices=[mounted], recorder=FakeRecorder(calls), **fake()).run(1.0)
    assert outcome.reason == "failed"
    assert "device 'drive'" in outcome.text
    assert "cable is gone" in outcome.text
    assert isinstance(outcome.error, HilError)
    assert calls == ["open recorder", "open drive", "close drive", "close recorder"]


def test_a_device_that_cannot_be_opened_leaves_nothing_open(arm):
    calls = []
    devices = [FakeDevice(name, calls) for name in ("a", "b")]
    devices[1].open = fails
    mounted = [mount(device, Signals(arm), arm, ["time"]) for device in devices]
    with pytest.raises(OSError, match="cable"):
        Executive(arm, devices=mounted, recorder=FakeRecorder(calls), **fake()).run(1.0)
    assert calls == ["open recorder", "open a", "close b", "close a", "close recorder"]
    assert gc.isenabled()


def test_trouble_at_closing_is_reported_and_closes_the_others(arm):
    calls = []
    devices = [FakeDevice(name, calls) for name in ("a", "b")]
    devices[1].on_close = fails
    mounted = [mount(device, Signals(arm), arm, ["time"]) for device in devices]
    recorder = FakeRecorder(calls)
    outcome = Executive(arm, devices=mounted, recorder=recorder, **fake()).run(1e-3)
    assert calls[-3:] == ["close b", "close a", "close recorder"]
    assert [event.kind for event in outcome.log.events] == ["end", "device"]
    assert recorder.events == outcome.log.events


def test_a_simulation_that_diverges(arm):
    class Blow:
        def check(self, simulation):
            pass

        def begin(self, bench):
            v = bench.simulation.v
            v[-1] = 9e9
            bench.simulation.v = v

    outcome = Executive(arm, timeline=Timeline([At(0.01, Blow())]), **fake()).run(1.0)
    assert outcome.reason == "failed"
    assert isinstance(outcome.error, SimulationError)
    assert outcome.frames.frames == 10


def test_a_fault_in_the_bench_itself_is_reported_too(arm):
    class Broken:
        def check(self, time, signals, devices):
            raise KeyError("oops")

    outcome = Executive(arm, watchdogs=[Broken()], **fake()).run(1.0)
    assert (outcome.reason, outcome.text) == ("failed", "KeyError: 'oops'")


def test_watchdogs_end_a_run_before_the_step(arm):
    class Dog:
        def check(self, time, signals, devices):
            if time < 0.005:
                return ()
            return (Trip(Event(time, "trip", "dog", f"barked at {time:g} s"), ends=time >= 0.007),)

    outcome = Executive(arm, watchdogs=[Dog()], **fake()).run(1.0)
    assert (outcome.reason, outcome.text) == ("tripped", "barked at 0.007 s")
    assert len(outcome.log.of("trip")) == 3
    assert arm.time == pytest.approx(0.007)


def test_the_timeline_ends_a_run(arm):
    outcome = Executive(arm, timeline=Timeline([At(0.25, End())]), **fake()).run(1.0)
    assert outcome.reason == "completed"
    assert arm.time == 0.25


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupts_stop_in_order(arm, number):
    calls, device = [], FakeDevice("a")
    before = signal.getsignal(number)
    device.on_send = lambda frame, *_: os.kill(os.getpid(), number) if frame == 7 else None
    mounted = mount(device, Signals(arm), arm, ["time"])
    outcome = Executive(arm, devices=[mounted], recorder=FakeRecorder(calls), **fake()).run(1.0)
    assert (outcome.reason, outcome.text) == ("stopped", f"stopped by {number.name}.")
    assert outcome.frames.frames == 7
    assert calls[-1] == "close recorder"
    assert signal.getsignal(number) is before


def test_a_run_that_does_not_end_after_ctrl_c_says_what_a_second_one_does(arm, capsys):
    device, said = FakeDevice("a"), "Press Ctrl-C again to end it at once"

    def hang(frame, *_):
        if frame == 7:
            os.kill(os.getpid(), signal.SIGINT)
            while said not in capsys.readouterr().err:
                time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGINT)

    device.on_send = hang
    with pytest.raises(KeyboardInterrupt):
        Executive(arm, devices=[mount(device, Signals(arm), arm, ["time"])], **fake()).run(1.0)
    device.on_send = lambda frame, *_: os.kill(os.getpid(), signal.SIGINT) if frame == 7 else None
    assert Executive(arm, devices=[mount(device, Signals(arm), arm, ["time"])], **fake()).run(1.0).reason == "stopped"
    assert said not in capsys.readouterr().err


def test_a_long_frame_does_not_keep_an_interrupt_waiting(arm):
    """Frames of 10 s: the first would begin 10 s after the start, and the clock stays far from that."""
    clock = FakeClock()
    executive = Executive(arm, steps_per_frame=10_000, clock=clock, placing=RealtimeRights(freeze=False))
    begun, wait = clock.now_ns(), clock.wait_until

    def wait_until(deadline):
        if clock.now_ns() - begun > 2e9:
            executive.stop("enough.")
        return wait(deadline)

    clock.wait_until = wait_until
    outcome = executive.run(30.0)
    assert (outcome.reason, outcome.text, outcome.frames.frames) == ("stopped", "enough.", 0)
    assert clock.now_ns() - begun < 3e9


class Guest:
    """Remembers its visits; what it holds is put among the commands."""

    def __init__(self, work=lambda bench: None):
        self.visits, self.held, self.work = [], None, work

    def command(self, commands):
        if self.held is not None:
            commands[0] = self.held

    def visit(self, bench):
        self.visits.append((bench.frame, bench.time))
        self.work(bench)


def test_a_visitor_sees_each_frame_and_what_it_does_is_felt_by_the_next(arm):
    recorder = FakeRecorder()

    def work(bench):
        if bench.frame == 3:
            guest.held = 0.125
            tl.SetParameter("hinge.wrist_pitch.damping", 3.0).begin(bench)

    guest = Guest(work)
    executive = Executive(arm, paced=False, recorder=recorder, devices=[servo(arm, FakeDevice())], visitor=guest)
    assert executive.run(0.004).reason == "completed"
    assert guest.visits == [(1, 0.0), (2, 0.001), (3, 0.002), (4, 0.003), (5, 0.004)]
    first = Signals(arm).names.index(f"command.{arm.command_names[0]}")
    held = [row[first] == 0.125 for row in recorder.rows]
    assert held == [False, False, False, True, True]
    (event,) = (event for event in recorder.events if event.kind == "parameter")
    assert (event.time, event.data["frame"]) == (0.002, 3)


def test_a_visitor_is_heard_while_a_long_frame_is_awaited_and_sent_away_if_it_fails(arm):
    def fail(bench):
        if len(guest.visits) > 50:
            raise RuntimeError("broken")

    guest = Guest(fail)
    outcome = Executive(arm, steps_per_frame=1000, visitor=guest, **fake()).run(2.0)
    assert (outcome.reason, outcome.frames.frames) == ("completed", 2)
    assert {frame for frame, _ in guest.visits} == {1}
    (event,) = outcome.log.of("visitor")
    assert event.text == "RuntimeError: broken. The run goes on without."


@pytest.mark.long
def test_memory_stays_flat(arm):
    """Resident memory after 20 000 frames and after 400 000."""
    resident, device = {}, FakeDevice()

    def measure(frame, *_):
        if frame in (20_000, 400_000):
            resident[frame] = int(Path("/proc/self/statm").read_text().split()[1])

    device.on_send = measure
    mounted = [servo(arm, FakeDevice("servo")), mount(device, Signals(arm), arm, ["time"])]
    assert Executive(arm, devices=mounted, clock=FakeClock(kept=1)).run(400.0).reason == "completed"
    assert resident[400_000] - resident[20_000] < 256  # pages, 1 MB


def test_nothing_is_allocated_for_good_in_a_frame(arm):
    """Memory blocks and objects that the collector tracks, in frame 500 and in frame 3000."""
    blocks, objects, device = {}, {}, FakeDevice()

    def count(frame, *_):
        if frame in (500, 3000):
            blocks[frame], objects[frame] = sys.getallocatedblocks(), gc.get_count()[0]

    device.on_send = count
    mounted = servo(arm, FakeDevice("servo"))
    watch = mount(device, Signals(arm), arm, ["time"])
    outcome = Executive(arm, devices=[mounted, watch], clock=FakeClock(lambda k: k % 977, kept=1)).run(3.1)
    assert outcome.reason == "completed"
    assert blocks[3000] - blocks[500] < 50
    assert objects[3000] - objects[500] < 50


def test_a_run_at_the_pace_of_the_clock(arm):
    """A short real one: the frames are all there, none before its deadline."""
    outcome = Executive(arm, steps_per_frame=5, log=EventLog()).run(0.1)
    statistics = outcome.frames.statistics()
    assert (outcome.reason, statistics.frames) == ("completed", 20)
    assert outcome.margin_ns > 0
    assert np.all(np.diff(outcome.frames.latest()["start"]) > 0)
    assert statistics.elapsed >= 0.1 - 1e-9
    assert {right.name for right in outcome.rights} == {"thread switch interval", "timer slack", "garbage collector"}
    assert gc.isenabled()


@pytest.mark.parametrize("options", [{"steps_per_frame": 0}, {"paced": False, "answer_limit_s": 0.0}])
def test_arguments(arm, options):
    with pytest.raises(ArgumentError):
        Executive(arm, **options)
    for duration in (0.0, -1.0, float("nan"), 1e300):
        with pytest.raises(ArgumentError):
            Executive(arm, placing=RealtimeRights(freeze=False)).run(duration)
