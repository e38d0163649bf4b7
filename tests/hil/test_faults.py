"""Every fault does what it says: seen in the commands that the model stepped with and in what devices were sent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.hil import faults
from limberjack.hil.bench_device import mount
from limberjack.hil.devices.in_process import InProcessDevice
from limberjack.hil.errors import HilError
from limberjack.hil.executive import Executive
from limberjack.hil.scenario.tape import Tape
from limberjack.hil.signals import Signals
from limberjack.hil.timeline import At, SetFault, Timeline

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PERIOD, START, STOP, FRAMES = 0.01, 0.05, 0.12, 20


@pytest.fixture(scope="module")
def arm():
    return lj.Simulation(lj.load(EXAMPLES / "torque_arm.yaml"))


def given(frame):
    """What the controller commands in a frame: something else in each."""
    return 0.01 * frame, -0.02 * frame


def bench(simulation, make, seed=3):
    """Run 20 frames with a fault from 0.05 s to 0.12 s.

    Returns the times of the steps, the applied commands (20, 2) and what the device was sent (20, 2): rates of joint 1
    and 2 and the true ones.
    """
    simulation.reset()
    signals = Signals(simulation)
    board = faults.FaultBoard(simulation, signals, PERIOD, seed)
    fault = make(board)
    sent = []

    def factory(wiring):
        def law(time, measured):
            sent.append((time, *measured))
            return given(round(time / PERIOD) + 1)  # taken in the next frame

        return law

    device = mount(InProcessDevice("c", factory), signals, simulation, ["v.joint1", "v.joint2"], ["joint1", "joint2"])
    tape = Tape(signals, ["command.joint1", "command.joint2", "v.joint1", "v.joint2"], FRAMES + 1)
    timeline = Timeline([At(START, SetFault(fault)), At(STOP, SetFault(fault, active=False))])
    executive = Executive(
        simulation, steps_per_frame=10, paced=False, devices=[device], timeline=timeline, recorder=tape, faults=board
    )
    outcome = executive.run(FRAMES * PERIOD)
    assert outcome.reason == "completed", outcome.text
    applied = tape.columns(["command.joint1", "command.joint2"])[1:]
    true = tape.columns(["v.joint1", "v.joint2"])
    return PERIOD * np.arange(FRAMES), applied, np.array(sent), true, outcome.log


def while_it_lasts(times):
    return (times > START - 1e-9) & (times < STOP - 1e-9)


def intended(times):
    return np.array([given(round(time / PERIOD) + 1) for time in times])


FIRST = np.array([given(5)])  # applied in the last step before the fault


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda *a: faults.Stuck(*a), lambda times, wanted: np.repeat(FIRST[:, :1], len(times), axis=0)),
        (lambda *a: faults.Stuck(*a, value=0.5), lambda times, wanted: np.full((len(times), 1), 0.5)),
        (lambda *a: faults.Scaled(*a, factor=0.25), lambda times, wanted: 0.25 * wanted[:, :1]),
        (lambda *a: faults.Scaled(*a, factor=-1.0), lambda times, wanted: -wanted[:, :1]),
        (lambda *a: faults.Runaway(*a, rate=3.0), lambda times, wanted: FIRST[0, 0] + 3.0 * (times[:, None] - START)),
        (
            lambda *a: faults.Runaway(*a, rate=-50.0, most=1.0),
            lambda times, wanted: np.maximum(FIRST[0, 0] - 50.0 * (times[:, None] - START), -1.0),
        ),
        (
            lambda *a: faults.Delay(*a, delay=0.03),
            lambda times, wanted: np.vstack([np.repeat(FIRST[:, :1], 3, axis=0), wanted[:-3, :1]]),
        ),
    ],
    ids=["stuck", "stuck at a value", "effectiveness", "reversed", "runaway", "runaway with a limit", "delay"],
)
def test_faults_of_commands(arm, make, expected):
    times, applied, _, _, _ = bench(arm, lambda board: make("f", board, np.array([0])))
    during, wanted = while_it_lasts(times), intended(times)
    assert during.sum() == 7
    assert np.allclose(applied[during][:, :1], expected(times[during], wanted[during]), rtol=0, atol=1e-15)
    # nothing before, nothing after, and nothing ever to the other command
    assert np.array_equal(applied[~during], wanted[~during])
    assert np.array_equal(applied[:, 1], wanted[:, 1])


def test_a_command_comes_back_although_its_device_is_silent(arm):
    """A held command is scaled once, not again in each frame, and is what it was when the fault ends."""
    arm.reset()
    signals = Signals(arm)
    board = faults.FaultBoard(arm, signals, PERIOD)
    fault = faults.Scaled("half", board, np.array([0]), 0.5)
    arm.command["joint1"] = 8.0
    tape = Tape(signals, ["command.joint1"], FRAMES + 1)
    timeline = Timeline([At(START, SetFault(fault)), At(STOP, SetFault(fault, active=False))])
    Executive(arm, steps_per_frame=10, paced=False, timeline=timeline, recorder=tape, faults=board).run(0.2)
    during = while_it_lasts(PERIOD * np.arange(FRAMES))
    assert np.array_equal(tape.columns(["command.joint1"])[1:, 0], np.where(during, 4.0, 8.0))


def seen(arm, make):
    """Difference between sent and true rate of joint 1 with and without the fault, and both signals."""
    _, _, sent, true, _ = bench(arm, lambda board: make("f", board, np.array([board.signals.index("v.joint1")])))
    assert np.array_equal(sent[:, 2], true[:, 1])  # the other signal is never touched
    # a fault set in the frame that begins at t acts on what is measured at that frame's end
    during = (sent[:, 0] > START + 1e-9) & (sent[:, 0] < STOP + 1e-9)
    assert np.array_equal(sent[~during][:, 1], true[~during][:, 0])
    return sent[during][:, 0], sent[during][:, 1], true[during][:, 0], true[~during][:, 0]


def test_bias_and_drift(arm):
    times, sent, true, _ = seen(arm, lambda *a: faults.Drift(*a, bias=0.3, rate=2.0))
    assert np.allclose(sent - true, 0.3 + 2.0 * (times - START), rtol=0, atol=1e-15)


def test_freeze_and_dropout(arm):
    _, sent, true, before = seen(arm, lambda *a: faults.Freeze(*a))
    assert np.all(sent == before[5])
    assert not np.any(true == before[5])
    _, sent, _, _ = seen(arm, lambda *a: faults.Freeze(*a, value=-7.0))
    assert np.all(sent == -7.0)


def test_spikes_come_as_often_as_asked_and_leave_other_frames_alone(arm):
    _, sent, true, _ = seen(arm, lambda *a: faults.Spikes(*a, value=5.0, every_s=1e-9))
    assert np.array_equal(sent, true + 5.0)
    signals = Signals(arm)
    board = faults.FaultBoard(arm, signals, PERIOD, seed=1)
    spikes = faults.Spikes("s", board, np.array([1]), 5.0, every_s=0.1)
    spikes.set(arm, 0.0)
    vector = np.zeros(len(signals.names))
    found = np.array([board.measured(vector)[1] for _ in range(20_000)])
    assert set(found) == {0.0, 5.0}
    # binomial: 2000 ± 42 in 20 000 frames with probability 0.1; five of those widths
    assert abs(np.count_nonzero(found) - 2000) < 5 * 42.5


def test_noise_is_white_and_repeats_by_seed_and_name(arm):
    signals = Signals(arm)

    def draw(seed, name):
        board = faults.FaultBoard(arm, signals, PERIOD, seed)
        fault = faults.Noise(name, board, np.array([1]), sigma=0.5)
        fault.set(arm, 0.0)
        return np.array([board.measured(np.zeros(len(signals.names)))[1] for _ in range(10_000)])

    first = draw(4, "n")
    assert np.array_equal(first, draw(4, "n"))
    assert not np.array_equal(first, draw(5, "n"))
    assert not np.array_equal(first, draw(4, "other"))
    assert abs(first.mean()) < 5 * 0.5 / 100
    assert abs(first.std() - 0.5) < 5 * 0.5 / np.sqrt(2e4)
    assert abs(np.mean(first[1:] * first[:-1])) < 5 * 0.25 / 100


def test_parameters_change_and_come_back_and_are_held_by_one_fault(arm):
    board = faults.FaultBoard(arm, Signals(arm), PERIOD)
    before = dict(arm.parameters)
    jump = faults.ChangedParameters("jump", board, {"hinge.joint4.friction": 9.0}, {"body.hand.mass": 1.5})
    other = faults.ChangedParameters("other", board, {"body.hand.mass": 1.0}, {})
    jump.set(arm, 0.0)
    assert (arm.parameters["hinge.joint4.friction"], arm.parameters["body.hand.mass"]) == (9.0, 6.75)
    with pytest.raises(HilError, match=r"'other' changes parameter 'body.hand.mass', which fault 'jump' holds"):
        other.set(arm, 0.1)
    with pytest.raises(HilError, match="'jump' acts already"):
        jump.set(arm, 0.1)
    jump.clear(arm, 0.2)
    assert dict(arm.parameters) == before
    other.set(arm, 0.3)
    other.clear(arm, 0.4)
    assert dict(arm.parameters) == before


def test_the_log_says_which_parameters_a_fault_changed(arm):
    _, _, _, _, log = bench(arm, lambda board: faults.ChangedParameters("heavy", board, {}, {"body.hand.mass": 2.0}))
    (event,) = log.of("fault")
    assert (event.source, event.data["parameters"]) == ("heavy", {"body.hand.mass": 9.0})
    (event,) = log.of("clear")
    assert event.data["parameters"] == {"body.hand.mass": 4.5}
