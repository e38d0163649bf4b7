"""Every watchdog trips on its cause and on nothing else, and every safe state is what it says."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.hil import watchdogs
from limberjack.hil.bench_device import mount
from limberjack.hil.devices.in_process import InProcessDevice
from limberjack.hil.executive import Executive
from limberjack.hil.link_faults import DisturbedDevice
from limberjack.hil.scenario.tape import Tape
from limberjack.hil.signals import Signals
from limberjack.hil.timeline import Arm, At, SetParameter, Timeline
from tests.hil.benches import FakeDevice

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PERIOD = 0.01


@pytest.fixture(scope="module")
def arm():
    return lj.Simulation(lj.load(EXAMPLES / "torque_arm.yaml"))


@pytest.fixture(scope="module")
def servo_arm():
    return lj.Simulation(lj.load(EXAMPLES / "space_manipulator.yaml"))


def run(
    simulation,
    make,
    law,
    duration=0.3,
    sent=(),
    commands=("joint1", "joint2"),
    tape_of=("command.*", "v.joint1"),
    timeline=lambda watch: None,
):
    """Run with one watchdog, from make(signals), a controller and timeline(watchdog); (outcome, tape)."""
    simulation.reset()
    signals = Signals(simulation)
    device = mount(InProcessDevice("c", lambda wiring: law), signals, simulation, sent, commands)
    tape = Tape(signals, tape_of, round(duration / PERIOD) + 1)
    steps = round(PERIOD / simulation.dt)
    parts = {"devices": [device], "watchdogs": [watch := make(signals)], "timeline": timeline(watch), "recorder": tape}
    return Executive(simulation, steps_per_frame=steps, paced=False, **parts).run(duration), tape


def silent(start, stop=math.inf, value=1.0):
    """A law that does not answer what it is sent from `start` to `stop`, s."""
    return lambda time, signals: None if start - 1e-9 <= time < stop - 1e-9 else [value + time, 2.0 * value]


def column(tape, name):
    """Of the rows after each step: frame k from 1."""
    return tape.columns([name])[1:, 0]


def test_commands_that_grow_old_are_noticed_and_zeroed_until_new_ones_come(arm):
    def make(signals):
        safe = watchdogs.SafeState("zero", arm, np.array([0, 1]))
        return watchdogs.CommandAge("age", safe, ["c"], limit=0.03)

    outcome, tape = run(arm, make, silent(0.10, 0.20))
    # the answer to what was sent at 0.09 s is the last, taken at 0.09; 0.03 s later it is just not too old
    (trip,) = outcome.log.of("trip")
    assert trip.time == pytest.approx(0.13, abs=1e-9)
    assert trip.text == "the commands of 'c' are 0.04 s old; the limit is 0.03 s"
    assert (trip.source, trip.data["safe"]) == ("age", "zero")
    (recovery,) = outcome.log.of("recover")
    assert recovery.time == pytest.approx(0.20, abs=1e-9)
    times, first = PERIOD * np.arange(30), column(tape, "command.joint1")
    safe = (times > 0.13 - 1e-9) & (times < 0.20 - 1e-9)
    assert np.all(first[safe] == 0.0)
    assert np.all(first[~safe] > 0.9)
    assert outcome.reason == "completed"


@pytest.mark.parametrize("disturbed", [False, True])
def test_each_command_has_its_own_age(arm, disturbed):
    """A device that sets one command and leaves the other, as over CAN one of two drives that has died."""

    def half(time, commands):
        commands[0] = time
        if time < 0.1 - 1e-9:
            commands[1] = 2.0
        return True

    def find(watched):
        arm.reset()
        signals, device = Signals(arm), FakeDevice("c")
        device.on_receive = half
        link = DisturbedDevice(device, 1) if disturbed else device
        mounted = mount(link, signals, arm, [], ["joint1", "joint2"])
        safe = watchdogs.SafeState("zero", arm, np.array(watched))
        watch = watchdogs.CommandAge("age", safe, ["c"], limit=0.03, places=np.array(watched))
        tape = Tape(signals, ["command.joint?"], 21)
        executive = Executive(arm, steps_per_frame=10, paced=False, devices=[mounted], watchdogs=[watch], recorder=tape)
        return executive.run(0.2).log.of("trip"), tape

    assert find([0])[0] == []
    (trip,), tape = find([0, 1])
    assert trip.time == pytest.approx(0.13, abs=1e-9)
    assert trip.text == "command 'joint2' of 'c' is 0.04 s old; the limit is 0.03 s"
    assert np.all(column(tape, "command.joint2") == np.repeat([2.0, 0.0], [13, 7]))


def test_a_device_that_never_commands_trips_after_the_limit_from_the_start(arm):
    def make(signals):
        return watchdogs.CommandAge("age", watchdogs.SafeState("stop", arm, np.array([0])), ["c"], 0.05)

    outcome, _ = run(arm, make, silent(0.0))
    assert (outcome.reason, outcome.frames.frames) == ("tripped", 6)
    assert "the commands of 'c' are 0.06 s old" in outcome.text


def test_hold_keeps_the_last_commands_and_latched_keeps_them_for_good(arm):
    def make(signals):
        safe = watchdogs.SafeState("hold", arm, np.array([0, 1]))
        return watchdogs.SignalLimit("limit", safe, np.array([signals.index("time")]), (-np.inf, 0.105), latched=True)

    outcome, tape = run(arm, make, silent(9.0))
    (trip,) = outcome.log.of("trip")
    assert trip.time == pytest.approx(0.11)
    first = column(tape, "command.joint1")
    assert np.all(first[11:] == first[10])
    assert np.all(np.diff(first[1:11]) > 0.0)
    assert not outcome.log.of("recover")


def test_a_latched_watchdog_is_armed_again_by_the_timeline(arm):
    """While the cause is there it trips again, and once more for every cause that comes later."""

    def make(signals):
        return watchdogs.CommandAge(
            "age", watchdogs.SafeState("zero", arm, np.array([0, 1])), ["c"], 0.03, latched=True
        )

    def armed(watch):
        return Timeline([At(0.05, Arm(watch)), At(0.15, Arm(watch)), At(0.25, Arm(watch))])

    outcome, tape = run(arm, make, silent(0.10, 0.20), duration=0.4, timeline=armed)
    events = [(event.kind, round(event.time, 9), event.text) for event in outcome.log.events if event.kind != "end"]
    assert [event[:2] for event in events] == [
        ("arm", 0.05),
        ("trip", 0.13),
        ("arm", 0.15),
        ("trip", 0.15),
        ("arm", 0.25),
    ]
    assert [event[2] for event in events if event[0] == "arm"] == ["was not tripped", "armed again", "armed again"]
    times, first = PERIOD * np.arange(40), column(tape, "command.joint1")
    safe = (times > 0.13 - 1e-9) & (times < 0.25 - 1e-9)
    assert np.all(first[safe] == 0.0)
    assert np.all(first[~safe] > 0.9)


def test_braking_in_torque_mode_is_a_damper(arm):
    def make(signals):
        safe = watchdogs.SafeState("brake", arm, np.array([0]), brake_gain=4.0)
        return watchdogs.CommandAge("age", safe, ["c"], limit=0.02)

    outcome, tape = run(arm, make, silent(0.10, value=20.0), duration=1.5, commands=["joint1", "joint3"])
    assert len(outcome.log.of("trip")) == 1
    rate, command = tape.columns(["v.joint1"])[:, 0], column(tape, "command.joint1")
    braked = np.arange(150) >= 12
    # the command of a frame is made from the rate before its steps
    assert np.allclose(command[braked], -4.0 * rate[:-1][braked], rtol=1e-12, atol=0)


def test_braking_in_torque_mode_needs_a_gain(arm):
    with pytest.raises(lj.LimberjackError, match="'joint1' is a torque or force: to brake with it a gain is needed"):
        watchdogs.SafeState("brake", arm, np.array([0]))


def test_braking_servos_holds_them_where_they_are(servo_arm):
    names = servo_arm.command_names
    places = np.array([names.index(name) for name in ("elbow_pitch", "elbow_pitch.rate", "elbow_pitch.torque")])

    def make(signals):
        return watchdogs.CommandAge("age", watchdogs.SafeState("brake", servo_arm, places), ["c"], 0.1)

    def law(time, signals):
        return None if time > 0.5 else [1.9 + 0.2 * time, 0.2, 0.0]

    commands = ["elbow_pitch", "elbow_pitch.rate", "elbow_pitch.torque"]
    outcome, tape = run(servo_arm, make, law, 1.5, (), commands, ("command.elbow_pitch*", "q.elbow_pitch"))
    (trip,) = outcome.log.of("trip")
    frame = round(trip.time / PERIOD)
    held = tape.columns([f"command.{name}" for name in commands])[frame + 1 :]
    here = tape.columns(["q.elbow_pitch"])[frame, 0]
    assert np.array_equal(held, np.tile([here, 0.0, 0.0], (len(held), 1)))


def test_a_heartbeat_is_any_message(arm):
    def make(signals):
        safe = watchdogs.SafeState("stop", arm, np.array([0]))
        return watchdogs.Heartbeat("heart", safe, "c", limit=0.04)

    outcome, _ = run(arm, make, silent(0.10))
    assert outcome.reason == "tripped"
    assert outcome.text == "nothing from 'c' for 0.05 s; the limit is 0.04 s"
    outcome, _ = run(arm, make, silent(9.0))
    assert outcome.reason == "completed"


@pytest.mark.parametrize(("bounds", "text"), [((-1.0, 0.5), "above 0.5"), ((0.6, 9.0), "is 0.4, below 0.6")])
def test_limits_of_signals_name_the_signal(arm, bounds, text):
    def make(signals):
        safe = watchdogs.SafeState("stop", arm, np.array([0]))
        places = np.array([signals.index("q.joint2"), signals.index("q.joint6")])
        return watchdogs.SignalLimit("limit", safe, places, bounds)

    outcome, _ = run(arm, make, lambda time, signals: [0.0, 5.0], duration=3.0)
    assert outcome.reason == "tripped"
    assert text in outcome.text
    assert "q.joint" in outcome.text


def test_the_engine_is_watched(arm):
    arm.reset()
    signals = Signals(arm)
    watch = watchdogs.EngineStatus("engine", watchdogs.SafeState("stop", arm, np.array([0])))
    signals.refresh()
    assert not watch.check(0.0, signals, [])
    (trip,) = watch.check(0.0, signals, [])
    assert trip.ends
    assert trip.event.text == "the engine has stopped at t = 0 s"
    assert [found.event.kind for found in watch.check(0.01, signals, [])] == ["recover"]
    signals.vector[3] = np.nan
    (trip,) = watch.check(0.02, signals, [])
    assert trip.event.text == f"{signals.names[3]} is not a finite number"


def test_a_signal_that_is_no_number_is_beyond_every_limit(arm):
    signals = Signals(arm)
    watch = watchdogs.SignalLimit(
        "limit", watchdogs.SafeState("zero", arm, np.array([0])), np.array([3]), (-1.0, np.inf)
    )
    signals.vector[3] = np.nan
    (trip,) = watch.check(0.0, signals, [])
    assert trip.event.text == f"{signals.names[3]} is not a number"


def test_the_timeline_acts_before_the_watchdogs_look(arm):
    """A safe state has the last word on commands; parameters are not its concern."""
    arm.reset()
    safe = watchdogs.SafeState("zero", arm, np.arange(7))
    watch = watchdogs.SignalLimit("limit", safe, np.array([0]), (-1.0, 0.05))
    timeline = Timeline([At(0.1, SetParameter("hinge.joint1.damping", 2.0))])
    Executive(arm, steps_per_frame=10, paced=False, timeline=timeline, watchdogs=[watch]).run(0.2)
    assert arm.parameters["hinge.joint1.damping"] == 2.0
    arm.parameters["hinge.joint1.damping"] = 0.6


def test_unknown_safe_states_are_refused(arm):
    with pytest.raises(lj.LimberjackError, match="no safe state is called 'panic'; choose hold, zero, brake, stop"):
        watchdogs.SafeState("panic", arm, np.array([0]))
