"""What a timeline does to a running bench, and when."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ArgumentError
from limberjack.hil import timeline as tl
from limberjack.hil.executive import Executive
from limberjack.hil.timeline import At, Timeline
from tests.hil.benches import FakeRecorder, fake
from tests.hil.conftest import EXAMPLES


def run(simulation, entries, duration, **options):
    """Outcome and rows of a run of a timeline."""
    recorder = FakeRecorder()
    timeline = entries if isinstance(entries, Timeline) else Timeline(entries)
    bench = Executive(simulation, timeline=timeline, recorder=recorder, **fake(), **options)
    return bench.run(duration), np.array(recorder.rows), recorder.names


def test_commands_come_at_their_times_and_stay(arm):
    name, other = arm.command_names[:2]
    entries = [At(0.005, tl.Command(name, 2.0)), At(0.003, tl.Command(name, 1.0)), At(0.0, tl.Command(other, 4.0))]
    outcome, rows, names = run(arm, entries, 0.01)
    assert np.array_equal(rows[:, names.index(f"command.{name}")], [0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2])
    assert np.array_equal(rows[:, names.index(f"command.{other}")], [0] + 10 * [4.0])
    assert [event.data["frame"] for event in outcome.log.of("command")] == [1, 4, 6]


@pytest.mark.parametrize("steps", [1, 7])
def test_times_on_the_grid_are_met_exactly(arm, steps):
    """k dt as a product and as a decimal number differ in the last bits; the frame is the same."""
    name, period = arm.command_names[0], 1e-3 * steps
    entries = [At(float(f"{k * period:.3f}"), tl.Command(name, float(k))) for k in range(300)]
    outcome, rows, names = run(arm, entries, 300 * period, steps_per_frame=steps)
    assert np.array_equal(rows[1:, names.index(f"command.{name}")], np.arange(300.0))
    assert outcome.reason == "completed"


def test_ramps(arm):
    name, period = arm.command_names[0], 1e-3
    entries = [At(0.0, tl.Command(name, 1.0)), At(0.01, tl.Ramp(name, 3.0, 0.02))]
    _, rows, names = run(arm, entries, 0.05)
    times = period * np.arange(50)
    wanted = np.interp(times, [0.01, 0.03], [1.0, 3.0])
    assert np.allclose(rows[1:, names.index(f"command.{name}")], wanted, rtol=0, atol=1e-5)
    assert rows[-1, names.index(f"command.{name}")] == 3.0


class Weaker:
    """A fault that changes a parameter."""

    name = "weak"

    def __init__(self, parameter):
        self.parameter, self.before = parameter, 0.0

    def set(self, simulation, time):
        self.before = simulation.parameters[self.parameter]
        simulation.parameters[self.parameter] = 0.5 * self.before

    def clear(self, simulation, time):
        simulation.parameters[self.parameter] = self.before


def test_faults_and_parameters_report_what_they_changed():
    simulation = lj.Simulation(lj.load(EXAMPLES / "space_manipulator.yaml"))
    fault, damping = Weaker("hinge.elbow_pitch.armature"), "hinge.wrist_pitch.damping"
    entries = [
        At(0.002, tl.SetFault(fault)),
        At(0.004, tl.SetFault(fault, active=False)),
        At(0.005, tl.SetParameter(damping, 3.0)),
    ]
    outcome, _, _ = run(simulation, entries, 0.01)
    assert [event.kind for event in outcome.log.events] == ["fault", "clear", "parameter", "end"]
    changes = [event.data["parameters"] for event in outcome.log.events[:3]]
    assert changes == [{fault.parameter: 2.5}, {fault.parameter: 5.0}, {damping: 3.0}]
    assert simulation.parameters[damping] == 3.0


def test_a_fault_that_acts_already_is_left_as_it_is():
    simulation = lj.Simulation(lj.load(EXAMPLES / "space_manipulator.yaml"))
    fault = Weaker("hinge.elbow_pitch.armature")
    actions = [tl.SetFault(fault), tl.SetFault(fault), *(tl.SetFault(fault, active=False) for _ in range(2))]
    outcome, _, _ = run(simulation, [At(0.001 * i, action) for i, action in enumerate(actions)], 0.01)
    assert outcome.reason == "completed"
    assert [event.text for event in outcome.log.events[:4]] == [
        "begins",
        "changes nothing: active since 0 s, set by 'scenario'",
        "ends",
        "changes nothing: not active since 0.002 s, set by 'scenario'",
    ]
    assert simulation.parameters[fault.parameter] == 5.0


@pytest.fixture(scope="module")
def grasp():
    return lj.Simulation(lj.load(EXAMPLES / "solar_array.yaml"))


def test_loops_are_closed_and_opened(grasp):
    grasp.reset()
    loop = next(loop.name for loop in grasp.system.loops if loop.switchable)
    first, second = ("release", "attach") if grasp.closed(loop) else ("attach", "release")
    outcome, _, _ = run(grasp, [At(0.002, tl.Switch(first, loop)), At(0.004, tl.Switch(second, loop))], 0.006)
    assert outcome.reason == "completed", outcome.text
    assert [(event.kind, event.time) for event in outcome.log.events[:2]] == [(first, 0.002), (second, 0.004)]
    assert outcome.log.events[0].data["loop"] == loop


class Grab:
    """A fault that switches a loop and not a parameter."""

    name = "grab"

    def __init__(self, what, loop):
        self.what, self.loop = what, loop

    def set(self, simulation, time):
        getattr(simulation, self.what)(self.loop)

    def clear(self, simulation, time):
        pass


def test_faults_report_which_loops_they_switched(grasp):
    grasp.reset()
    loop = next(loop.name for loop in grasp.system.loops if loop.switchable)
    what, word = ("release", "released") if grasp.closed(loop) else ("attach", "attached")
    outcome, _, _ = run(grasp, [At(0.0, tl.SetFault(Grab(what, loop)))], 0.003)
    assert outcome.log.of("fault")[0].data == {"frame": 1, word: [loop]}


def test_a_timed_action_that_the_model_refuses_fails_the_run(grasp):
    grasp.reset()
    loop = next(loop.name for loop in grasp.system.loops if loop.switchable)
    what = "attach" if grasp.closed(loop) else "release"
    outcome, _, _ = run(grasp, [At(0.002, tl.Switch(what, loop), "test.yaml:7, timeline[0]")], 0.01)
    assert outcome.reason == "failed"
    assert outcome.text.startswith("test.yaml:7, timeline[0], t = 0.002 s: loop")
    assert outcome.frames.frames == 2


def test_actions_on_demand(arm):
    """Posted ones happen in the next frame; a refused one is logged and the run goes on."""
    name = arm.command_names[0]
    timeline = Timeline()
    timeline.post(tl.Command(name, 5.0))
    timeline.post(tl.Command("nobody", 5.0))
    timeline.post(tl.Switch("lock", arm.system.bodies[2].hinge.name))
    outcome, rows, names = run(arm, timeline, 0.005)
    assert outcome.reason == "completed"
    assert np.array_equal(rows[:, names.index(f"command.{name}")], [0] + 5 * [5.0])
    assert [event.kind for event in outcome.log.events] == ["command", "refused", "refused", "end"]
    assert "nobody" in outcome.log.of("refused")[0].text


@pytest.mark.parametrize(
    "entry",
    [
        At(1.0, tl.Command("nobody", 1.0)),
        At(float("nan"), tl.End()),
        At(1.0, tl.Ramp("nobody", 1.0, 1.0)),
        At(1.0, tl.SetParameter("hinge.nobody.damping", 1.0)),
        At(1.0, tl.Switch("attach", "nobody")),
        At(1.0, tl.Switch("lock", "nobody")),
        At(1.0, tl.Switch("weld", "nobody")),
    ],
)
def test_what_the_model_does_not_have_is_refused_before_the_run(arm, entry):
    with pytest.raises(ArgumentError, match="timeline at"):
        Executive(arm, timeline=Timeline([entry]))


def test_values_that_are_no_numbers(arm):
    name = arm.command_names[0]
    for action in (tl.Command(name, float("inf")), tl.Ramp(name, 1.0, 0.0), tl.Ramp(name, 1.0, float("nan"))):
        with pytest.raises(ArgumentError):
            Timeline([At(0.0, action)]).check(arm)


def test_a_timeline_runs_again(arm):
    timeline = Timeline([At(0.002, tl.Command(arm.command_names[0], 1.0))])
    first = run(arm, timeline, 0.005)[1]
    arm.reset()
    assert np.array_equal(run(arm, timeline, 0.005)[1], first)


def test_a_loop_that_its_command_closes_is_an_event(grasp):
    """Within the steps of the frame in which it comes; the record's replay does it by the command alone."""
    grasp.reset()
    loop = next(loop.name for loop in grasp.system.loops if loop.switchable)
    now = grasp.closed(loop)
    entries = [At(0.002, tl.Command(f"{loop}.closed", float(not now))), At(0.004, tl.Command(f"{loop}.closed", now))]
    outcome, _, _ = run(grasp, entries, 0.006)
    events = [event for event in outcome.log.events if event.kind in ("attach", "release")]
    kinds = ["release", "attach"] if now else ["attach", "release"]
    assert [(event.kind, event.source, event.time) for event in events] == [
        (kinds[0], loop, 0.003),
        (kinds[1], loop, 0.005),
    ]
    assert all(event.data["by"] == "command" and event.data["frame"] in (3, 5) for event in events)
    closed = next(event for event in events if event.kind == "attach")
    assert closed.data["energy_loss"] == grasp.impacts[loop]
    assert closed.text.startswith("closed by its command")


def test_a_command_that_chatters_does_not_fill_the_log(grasp):
    grasp.reset()
    loop = next(loop.name for loop in grasp.system.loops if loop.switchable)
    entries = [At(0.001 * i, tl.Command(f"{loop}.closed", float(i % 2))) for i in range(1200)]
    outcome, _, _ = run(grasp, entries, 1.2)
    events = [event for event in outcome.log.events if event.data.get("by") == "command"]
    assert len(events) == 1000
    assert events[-1].text.endswith("Further ones are not logged as events.")
