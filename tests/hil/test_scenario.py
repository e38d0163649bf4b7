"""Scenario files: what is wrong is said with its line; criteria against closed forms; programs beside the bench."""

from __future__ import annotations

import html
import json
import os
import re
import sys
import time
import xml.etree.ElementTree
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml

import limberjack as lj
from limberjack.cli import main
from limberjack.hil.events import Event, EventLog
from limberjack.hil.scenario.criteria import judge
from limberjack.hil.scenario.evidence import Evidence
from limberjack.hil.scenario.execution import run_scenario
from limberjack.hil.scenario.scenario_file import load_scenario
from limberjack.hil.scenario.schema import ScenarioSpec, json_schema

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples" / "torque_arm.yaml"
pytest_plugins = ["limberjack.hil.scenario.pytest_plugin"]

PENDULUM = """\
limberjack: 1
name: pendulum
simulation: {dt: 0.001, integrator: rk4}
bodies:
  - {name: rod, mass: 2, com: [0, 0, -0.5], inertia: {xx: 0, yy: 0, zz: 0},
     hinge: {name: swing, type: revolute, parent: world, axis: [0, 1, 0], damping: 0.2}}
loops:
  - {name: swing_lock, type: lock, hinge: swing, switchable: true, closed: false}
actuators:
  - {name: swing, coordinate: swing}
"""
#: so that a busy machine fails no test that is not about its pace
RELAXED = ("--set", "pacing.overrun_share=1", "--set", "pacing.most_late_s=1000")
HEAD = "limberjack_scenario: 1\nname: test\nmodel: pendulum.yaml\nduration: 0.5\nsteps_per_frame: 10\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pendulum.yaml").write_text(PENDULUM)
    return tmp_path


def write(folder, text):
    path = folder / "test.yaml"
    path.write_text(HEAD + text)
    return path


def test_the_schema_knows_the_examples():
    for path in (ROOT / "examples" / "scenarios").glob("*.yaml"):
        jsonschema.validate(yaml.safe_load(path.read_text()), json.loads(json_schema()))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("duratoin: 3", r"test\.yaml:6, duratoin: unknown field 'duratoin'.*did you mean 'duration'"),
        (
            "criteria:\n  - {name: a, type: bonds, signals: [time]}",
            r"test\.yaml:7, criteria\[0\]\.type: unknown type 'bonds'\. Use one of: 'bounds', 'settling'",
        ),
        ("criteria:\n  - {name: a, signals: [time]}", r"test\.yaml:7, criteria\[0\]\.type: 'type' is missing"),
        (
            "criteria:\n  - {name: a, type: bounds, signals: [time]}",
            r"criteria\[0\]: no bound is given; give lower, upper or both",
        ),
        (
            "criteria:\n  - {name: a, type: bounds, signals: [time], lower: 2, upper: 1}",
            r"test\.yaml:7, criteria\[0\]: lower is 2, above upper, 1; nothing can lie between them",
        ),
        (
            "criteria:\n  - {name: a, type: bounds, signals: [q.swng], upper: 1}",
            r"test\.yaml:7, criteria\[0\]\.signals: no signal is called 'q.swng'; did you mean 'q.swing'",
        ),
        (
            "criteria:\n  - {name: a, type: bounds, signals: [swing], upper: 1}",
            r"no signal is called 'swing'; did you mean 'q.swing' or 'v.swing' or 'tau.swing' or 'command.swing'\?$",
        ),
        (
            "criteria:\n" + 2 * "  - {name: a, type: rms, signals: [time], most: 1}\n",
            r"test\.yaml:8, criteria\[1\]\.name: the name 'a' is given twice",
        ),
        ("timeline:\n  - {at: 0.1}", r"timeline\[0\]: nothing happens in this entry; give one of command, ramp"),
        ("timeline:\n  - {at: 0.1, end: true, lock: swing}", r"lock and end are given together"),
        ("timeline:\n  - {at: 0.1, arm: x}", r"test\.yaml:7, timeline\[0\]\.arm: no watchdog is called 'x'"),
        ("timeline:\n  - {at: 0.1, fault: x}", r"test\.yaml:7, timeline\[0\]\.fault: no fault is called 'x'"),
        ("timeline:\n  - {at: 0.1, command: {swin: 1}}", r"timeline\[0\]\.command: no command is called 'swin'"),
        (
            "faults:\n  - {name: f, type: reversed, commands: [swing]}\ntimeline:\n  - {at: 0.1, clear: f}",
            r"timeline\[0\]\.clear: fault 'f' does not act at 0\.1 s",
        ),
        (
            "faults:\n  - {name: f, type: parameter, values: {hinge.swing.fricton: 1}}",
            r"no parameter is called 'hinge.swing.fricton'; did you mean 'hinge.swing.friction'",
        ),
        ("faults:\n  - {name: f, type: stuck, commands: [swong]}", r"faults\[0\]\.commands: no command is called"),
        ("faults:\n  - {name: f, type: modal_frequency, body: rod, mode: 1, factor: 2}", r"faults\[0\]\.mode"),
        (
            "devices:\n  - {name: d, uri: 'python:nothing:here'}",
            r"devices\[0\]\.uri: controller module 'nothing' cannot",
        ),
        (
            "devices:\n  - {name: d, uri: 'python:textwrap:dedent', options: {kpp: 1}, commands: [swing]}",
            r"test\.yaml:7, devices\[0\]\.uri: options of function 'dedent': unknown 'kpp', it takes none; leave",
        ),
        (
            "devices:\n  - {name: d, uri: 'python:textwrap:shorten', options: {widht: 1}, commands: [swing]}",
            r"devices\[0\]\.uri: options of function 'shorten': unknown 'widht', did you mean 'width'\?",
        ),
        (
            "devices:\n  - {name: d, uri: 'python:textwrap:indent', commands: [swing]}",
            r"devices\[0\]\.uri: indent\(.*\) is called with the wiring and the options, and missing.*'prefix'",
        ),
        ("devices:\n  - {name: d, uri: 'pigeon://coop'}", r"devices\[0\]\.uri: .*no device has the scheme 'pigeon'"),
        (
            "watchdogs:\n  - {name: w, type: command_age, commands: [swing], limit: 1, safe: zero}",
            r"watchdogs\[0\]\.commands: no device sets command 'swing'",
        ),
        (
            "watchdogs:\n  - {name: w, type: limit, signals: [time], upper: 1, safe: brake}",
            r"watchdogs\[0\]\.safe: .*to brake with it a gain is needed; give brake_gain",
        ),
        ("watchdogs:\n  - {name: w, type: heartbeat, device: d, limit: 1, safe: zero}", r"no device is called 'd'"),
        ("initial: {coordinates: {swnig: 1}}", r"initial\.coordinates\.swnig: no coordinate is called 'swnig'"),
        (
            "timeline:\n  - {at: 0.5, end: true}",
            r"timeline\[0\]\.at: nothing happens at 0.5 s any more: the run ends at",
        ),
        (
            "criteria:\n  - {name: a, type: rms, signals: [time], most: 1, until: 0.6}",
            r"test\.yaml:7, criteria\[0\]\.until: until is 0.6 s, and the run ends at 0.5 s",
        ),
        (
            "faults:\n  - {name: f, type: delay, commands: [swing], delay: 1e20}",
            r"faults\[0\]\.commands: a delay of 1e\+20 s is .* frames; give at most 1000000 frames",
        ),
        (
            "criteria:\n  - {name: a, type: no_event, kind: tripp}",
            r"test\.yaml:7, criteria\[0\]\.kind: unknown kind 'tripp'",
        ),
        (
            "watchdogs:\n  - {name: w, type: engine, safe: zero}\n"
            "criteria:\n  - {name: a, type: no_event, kind: trip, source: v}",
            r"criteria\[0\]\.source: no 'trip' can come from 'v'; there are w\. Correct the name",
        ),
        (
            "criteria:\n"
            "  - {name: a, type: settling, signals: [time], target: 0, tolerance: 1, start: 0.2, within: 0.4}",
            r"criteria\[0\]\.within: within 0.4 s of 0.2 s is after 0.5 s, to when it is judged",
        ),
        (
            "devices:\n  - {name: d, uri: 'udp://127.0.0.1:9', signals: [time]}\n"
            "watchdogs:\n  - {name: w, type: heartbeat, device: d, limit: 0.1, safe: stop}",
            r"watchdogs\[0\]\.device: device 'd' sets no commands, so nothing is taken from it",
        ),
        ("controllers:\n  - {name: ../c, command: [x]}", r"controllers\[0\]\.name: '\.\./c'"),
        ("pacing: {policy: hurry}", r"pacing\.policy: unknown policy 'hurry'"),
        ("load: {base: loose}", r"load\.base: unknown base 'loose'"),
        ("controllers:\n  - {name: c, command: [/no/such/program]}", r"controllers\[0\]\.command: .*cannot be started"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(folder, capsys, text, message):
    path = write(folder, text)
    with pytest.raises(lj.LimberjackError, match=message):
        run_scenario(path)
    assert main(["hil", str(path), "--out", str(folder / "out")]) == 2


def test_a_missing_model_is_reported_where_the_scenario_names_it(folder):
    path = write(folder, "")
    path.write_text(path.read_text().replace("pendulum.yaml", "none.yaml"))
    with pytest.raises(lj.ModelError, match=r"test\.yaml:3, model: there is no file .*none\.yaml; give its path"):
        run_scenario(path)


def test_a_run_by_the_clock_says_how_long_it_takes(folder, capsys):
    path, out = write(folder, ""), str(folder / "out")
    paced = ["hil", str(path), "--out", out, "--set", "pacing.real_time=true"]
    assert main([*paced, *RELAXED, "--set", "duration=0.1"]) == 0
    assert "test: 0.1 s at the pace of the clock" in capsys.readouterr().err
    assert main([*paced, "--no-pace"]) == 0
    assert "pace of the clock" not in capsys.readouterr().err


def test_overrides_by_path(folder):
    path = write(folder, "faults:\n  - {name: f, type: effectiveness, commands: [swing], factor: 1}\n")
    changed = {
        "faults[f].factor": 0.5,
        "faults[0].name": "g",
        "initial.parameters[body.rod.mass]": 3.0,
        "pacing.real_time": True,
        "record": {"signals": ["time"]},
    }
    spec = load_scenario(path, changed).spec
    assert (spec.faults[0].factor, spec.faults[0].name) == (0.5, "g")
    assert spec.initial.parameters == {"body.rod.mass": 3.0}
    assert (spec.pacing.real_time, spec.record.signals) == (True, ["time"])
    for wrong in ("faults[h].factor", "faults.0x", "name.part", "", "faults[0", "nothing[3].x"):
        with pytest.raises(lj.LimberjackError):
            load_scenario(path, {wrong: 1})
    assert main(["hil", str(path), "--set", "duration"]) == 2
    assert main(["hil", str(path), "--rate", "10"]) == 2


class Recorded:
    """A tape with two known signals."""

    def __init__(self, times, **signals):
        self.names, self.units = ("time", *signals), ("s", *("m" for _ in signals))
        self.table = np.column_stack([times, *signals.values()])

    def columns(self, names):
        return self.table[:, [self.names.index(name) for name in names]]


def verdict(criterion, log=None, **ending):
    """Of a criterion on x = e^(−t) − 0.2 and y = sin(2π t), 0 to 10 s in steps of 0.01 s."""
    times = np.arange(1001) * 0.01
    tape = Recorded(times, x=np.exp(-times) - 0.2, y=np.sin(2 * np.pi * times))
    document = {"limberjack_scenario": 1, "name": "n", "model": "m", "duration": 1, "criteria": [criterion]}
    (spec,) = ScenarioSpec.model_validate(document).criteria
    return judge(spec, Evidence(tape, log or EventLog(), {"c": tuple(criterion.get("signals", ()))}, **ending))


def of(type_, signals=(), **fields):
    return {"name": "c", "type": type_, **({"signals": list(signals)} if signals else {}), **fields}


def test_bounds():
    assert verdict(of("bounds", "xy", lower=-1.0, upper=1.0)).passed
    found = verdict(of("bounds", "x", lower=-0.1))
    assert not found.passed
    assert (found.value, found.time) == (pytest.approx(np.exp(-10) - 0.2), 10.0)
    assert found.unit == "m"
    assert "left first at 2.31 s" in found.text  # e^(−t) = 0.1 at 2.303 s
    assert verdict(of("bounds", "x", upper=0.0, start=1.7)).passed
    assert not verdict(of("bounds", "x", upper=0.0, start=1.5)).passed
    assert verdict(of("bounds", "x", lower=0.0, until=1.6)).passed


def test_settling():
    # |x + 0.2| ≤ 0.01 from t = ln 100 = 4.605 s on
    found = verdict(of("settling", "x", target=-0.2, tolerance=0.01, within=4.7))
    assert (found.passed, found.value, found.unit) == (True, pytest.approx(4.61), "s")
    assert not verdict(of("settling", "x", target=-0.2, tolerance=0.01, within=4.6)).passed
    assert verdict(of("settling", "x", target=-0.2, tolerance=0.01, within=2.7, start=2.0)).passed
    assert not verdict(of("settling", "y", target=0.0, tolerance=0.5, within=9.0)).passed


def test_rms_final_and_deadline():
    found = verdict(of("rms", "y", most=0.71, until=9.99))
    assert (found.passed, found.value) == (True, pytest.approx(np.sqrt(0.5)))
    assert not verdict(of("rms", "y", most=0.70)).passed
    assert verdict(of("final", "xy", target=-0.1, tolerance=0.11)).passed
    assert not verdict(of("final", "x", target=0.0, tolerance=0.1)).passed
    found = verdict(of("deadline", "x", below=0.0, by=1.61))
    assert (found.passed, found.value) == (True, pytest.approx(1.61))  # ln 5 = 1.609 s
    assert not verdict(of("deadline", "x", below=0.0, by=1.6)).passed
    assert not verdict(of("deadline", "x", below=-0.3, by=9.0)).passed
    assert verdict(of("deadline", "y", above=0.9, by=0.2)).passed


def test_a_criterion_to_the_end_says_that_the_run_ended_early(folder):
    text = "timeline:\n  - {at: 0.2, end: true}\ncriteria:\n  - {name: a, type: rms, signals: [time], most: 1}\n"
    (_, found) = run_scenario(write(folder, text)).criteria
    assert found.text.endswith("; judged by 0.2 s of 0.5 s, when the run ended")


@pytest.mark.parametrize("name", ["model.urdf", "model.yaml", "spread.yaml"])
def test_models_and_campaigns_are_no_scenarios(folder, capsys, name):
    texts = {"model.urdf": "<robot/>", "model.yaml": PENDULUM, "spread.yaml": "limberjack_campaign: 1\nname: spread\n"}
    (folder / name).write_text(texts[name])
    assert main(["hil", str(folder / name)]) == 2
    err = capsys.readouterr().err
    assert ("this is a campaign" if name == "spread.yaml" else "this is a model, not a scenario") in err
    assert f"'limberjack {'campaign' if name == 'spread.yaml' else 'hil --probe'}'" in err


def test_a_warning_of_a_controller_names_its_line(folder, capfd):
    (folder / "far.py").write_text(
        "import numpy as np\ndef law(wiring):\n    return lambda t, s: [np.exp(999.0) * 0.0]\n"
    )
    device = "devices:\n  - {name: d, uri: 'python:far:law', commands: [swing]}\n"
    main(["hil", str(write(folder, device)), "--out", str(folder / "out")])
    assert "RuntimeWarning: overflow encountered in exp (far.py:3)" in capfd.readouterr().err


def test_events_and_runs_that_end_early():
    log = EventLog()
    log.add(Event(2.0, "trip", "speed", "too fast"))
    assert verdict(of("event", kind="trip", source="sp*"), log).passed
    assert not verdict(of("event", kind="trip", least=2), log).passed
    assert not verdict(of("event", kind="trip", start=2.5), log).passed
    assert not verdict(of("no_event", kind="trip"), log).passed
    assert verdict(of("no_event", kind="trip", until=1.9), log).text == "0 events 'trip'; none is allowed"
    assert verdict(of("no_event", kind="trip", until=1.9), log).passed
    full = EventLog(most=0)
    full.add(Event(2.0, "trip", "speed", "too fast"))
    found = verdict(of("no_event", kind="trip"), full)
    assert (found.passed, found.text[-40:]) == (False, "lowed, and 1 event found no room in the log"[-40:])
    found = verdict(of("bounds", "x", upper=9.0, until=11.0))
    assert (found.word, found.text[:45]) == ("undecided", "the run ended at 10 s, before 11 s; until the")


def test_numbers_that_are_none_never_pass():
    times = np.arange(3.0)
    tape = Recorded(times, x=np.array([0.0, np.nan, 0.0]))
    document = {"limberjack_scenario": 1, "name": "n", "model": "m", "duration": 1}
    for criterion in (
        of("bounds", "x", upper=1.0),
        of("rms", "x", most=1.0),
        of("settling", "x", target=0.0, tolerance=1.0, within=0.5),
    ):
        (spec,) = ScenarioSpec.model_validate({**document, "criteria": [criterion]}).criteria
        assert not judge(spec, Evidence(tape, EventLog(), {"c": ("x",)})).passed


def test_a_lock_fault_stops_the_hinge_and_lets_it_go(folder):
    text = """
initial: {coordinates: {swing: 1.0}}
faults:
  - {name: jam, type: lock, hinge: swing}
timeline:
  - {at: 0.1, fault: jam}
  - {at: 0.3, clear: jam}
"""
    result = run_scenario(write(folder, text))
    rate = result.built.tape.columns(["v.swing"])[:, 0]
    assert np.all(np.abs(rate[11:31]) < 1e-9)
    assert abs(rate[10]) > 0.1
    assert abs(rate[40]) > 0.1


def test_a_modal_frequency_changes_by_its_factor_and_keeps_its_damping_ratio(folder):
    path = write(folder, "faults:\n  - {name: soft, type: modal_frequency, body: wing_north, mode: 2, factor: 0.5}\n")
    model = str(ROOT / "examples" / "solar_satellite.yaml")
    timeline = [{"at": 0.0, "fault": "soft"}]
    result = run_scenario(path, overrides={"model": model, "duration": 0.02, "timeline": timeline})
    (event,) = result.outcome.log.of("fault")
    before = lj.Simulation(lj.load(model)).parameters
    k, c = (f"hinge.wing_north.modes.2.{word}" for word in ("stiffness", "damping"))
    after = event.data["parameters"]
    assert set(after) == {k, c}
    assert np.sqrt(after[k] / before[k]) == pytest.approx(0.5)
    assert after[c] / np.sqrt(after[k]) == pytest.approx(before[c] / np.sqrt(before[k]))


def test_a_parameter_set_while_a_fault_holds_it_stays_as_set(folder):
    path = write(
        folder,
        "faults:\n  - {name: f, type: parameter, factors: {hinge.swing.damping: 2, body.rod.mass: 3}}\n"
        "timeline:\n  - {at: 0.1, fault: f}\n  - {at: 0.2, parameter: {hinge.swing.damping: 0.7}}\n"
        "  - {at: 0.3, clear: f}\n",
    )
    parameters = run_scenario(path).built.executive.simulation.parameters
    assert (parameters["hinge.swing.damping"], parameters["body.rod.mass"]) == (0.7, 2.0)


OVERLAPPING = """
faults:
  - {name: heavy, type: parameter, factors: {body.rod.mass: 3}}
  - {name: odd, type: parameter, values: {hinge.swing.damping: 2, body.rod.mass: 1}}
timeline:
  - {at: 0.1, fault: heavy}
  - {at: 0.3, fault: odd}
  - {at: 0.2, clear: heavy}
"""


def test_faults_that_hold_one_parameter_at_once_are_refused_before_the_run(folder):
    assert run_scenario(write(folder, OVERLAPPING)).passed
    place = (
        r"test\.yaml:12, timeline\[1\]\.fault: fault 'odd' changes parameter 'body.rod.mass', which fault 'heavy' holds"
    )
    with pytest.raises(lj.ModelError, match=place + r" then\. Clear 'heavy' before 0.3 s\."):
        run_scenario(write(folder, OVERLAPPING.replace("at: 0.2, clear", "at: 0.4, clear")))


def test_ramps_parameters_and_an_early_end(folder):
    text = """
timeline:
  - {at: 0.1, ramp: {to: {swing: 2.0}, duration: 0.1}}
  - {at: 0.3, parameter: {hinge.swing.damping: 1.5}}
  - {at: 0.4, end: true}
criteria:
  - {name: ramped, type: final, signals: [command.swing], target: 2.0, tolerance: 0}
  - {name: reported, type: event, kind: parameter, source: hinge.swing.damping}
"""
    result = run_scenario(write(folder, text))
    assert result.passed, result.explain()
    assert result.built.executive.simulation.time == pytest.approx(0.4)
    command = result.built.tape.columns(["command.swing"])[11:22, 0]
    assert np.allclose(command, 0.2 * np.arange(11), rtol=0, atol=1e-6)


@pytest.mark.parametrize("entry", ["command: {swing: -1}", "ramp: {to: {swing: -1}, duration: 0.1}"])
def test_a_later_command_ends_a_ramp(folder, entry):
    text = f"timeline:\n  - {{at: 0, ramp: {{to: {{swing: 1}}, duration: 0.4}}}}\n  - {{at: 0.2, {entry}}}\n"
    text += "criteria:\n  - {name: last, type: final, signals: [command.swing], target: -1, tolerance: 0}\n"
    result = run_scenario(write(folder, text))
    assert result.passed, result.explain()


def test_a_run_that_a_watchdog_ends_passes_only_where_that_is_expected(folder):
    text = """
timeline:
  - {at: 0, command: {swing: 50}}
watchdogs:
  - {name: fast, type: limit, signals: [v.swing], lower: -1, upper: 1, safe: stop}
"""
    result = run_scenario(write(folder, text))
    assert (result.passed, result.outcome.reason) == (False, "tripped")
    assert run_scenario(write(folder, text), overrides={"expect": "tripped"}).passed


def test_controllers_that_raise_or_return_nonsense(folder):
    (folder / "bad.py").write_text(
        "def raising(wiring):\n    def law(t, s):\n        return 1 / 0\n    return law\n"
        "def nonsense(wiring):\n    return lambda t, s: ['a']\n"
        "def missing(wiring):\n    pass\n"
    )
    device = "devices:\n  - {name: d, uri: 'python:bad:FUNCTION', commands: [swing]}\n"
    device += "criteria:\n  - {name: small, type: bounds, signals: [q.swing], upper: 1}\n"
    result = run_scenario(write(folder, device.replace("FUNCTION", "raising")))
    assert result.outcome.reason == "failed"
    reported = "controller 'd' raised at t = 0 s: ZeroDivisionError: division by zero (bad.py:3: return 1 / 0)"
    assert result.outcome.text == reported
    assert [verdict.passed for verdict in result.criteria] == [False, False]
    assert result.criteria[1].word == "undecided"
    assert result.criteria[1].text.startswith("the run ended at 0 s, before 0.5 s")
    result = run_scenario(write(folder, device.replace("FUNCTION", "nonsense")))
    assert sum(result.built.executive.devices[0].device.link.rejected.values()) == 51
    assert "; the bench refused 51 messages of device 'd': 51 × 'commands of controller 'd'" in result.criteria[0].text
    with pytest.raises(lj.LimberjackError, match="its function returned NoneType; return a function"):
        run_scenario(write(folder, device.replace("FUNCTION", "missing")))
    with pytest.raises(lj.LimberjackError, match="did you mean 'nonsense'"):
        run_scenario(write(folder, device.replace("FUNCTION", "nonsens")))


def test_a_controller_that_exits_does_not_end_the_bench(folder):
    (folder / "bad.py").write_text(
        "import sys\ndef law(wiring):\n    def law(t, s):\n        sys.exit(3)\n    return law\n"
        "def factory(wiring):\n    sys.exit('no licence')\n"
    )
    device = "devices:\n  - {name: d, uri: 'python:bad:FUNCTION', commands: [swing]}\n"
    result = run_scenario(write(folder, device.replace("FUNCTION", "law")))
    assert result.outcome.text == "controller 'd' raised at t = 0 s: SystemExit: 3 (bad.py:4: sys.exit(3))"
    with pytest.raises(lj.LimberjackError, match=r"could not be made: SystemExit: no licence \(bad.py:7: sys.exit"):
        run_scenario(write(folder, device.replace("FUNCTION", "factory")))
    (folder / "bad.py").write_text("import sys\nsys.exit(1)\n")
    with pytest.raises(lj.LimberjackError, match=r"'bad' cannot be imported: SystemExit: 1 \(bad.py:2: sys.exit"):
        run_scenario(write(folder, device.replace("FUNCTION", "law")))


def controllers(program, **fields):
    return yaml.safe_dump({"controllers": [{"name": "c", "command": ["{python}", "-u", "-c", program], **fields}]})


def alive(pid):
    """Whether a process exists that is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_programs_end_with_the_run_and_those_that_do_not_are_killed_with_their_children(folder):
    program = (
        "import os, signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "sleeper = 'import signal, time; signal.signal(15, 1); time.sleep(600)'\n"
        "child = subprocess.Popen([sys.executable, '-c', sleeper])\n"
        "print(os.getpid(), child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    (folder / "waiter.py").write_text(  # the run goes on when the program has written its line
        "import pathlib, time\n"
        "def waiting(wiring, log):\n"
        "    def law(t, s):\n"
        "        limit = time.monotonic() + 60\n"
        "        while not pathlib.Path(log).read_text().endswith('\\n') and time.monotonic() < limit:\n"
        "            time.sleep(0.01)\n"
        "    return law\n"
    )
    device = {"name": "w", "uri": "python:waiter:waiting", "options": {"log": str(folder / "out" / "c.log")}}
    path = write(folder, controllers(program, start_s=0.0, end_s=0.2))
    result = run_scenario(path, out=folder / "out", overrides={"devices": [device]})
    assert result.passed, result.explain()
    pids = [int(word) for word in (folder / "out" / "c.log").read_text().split()]
    assert len(pids) == 2
    limit = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not any(map(alive, pids))
    assert os.getpid() not in pids


def test_a_program_that_ends_too_early_ends_the_run(folder):
    result = run_scenario(write(folder, controllers("raise SystemExit(3)", start_s=60.0)), out=folder / "out")
    assert result.outcome.reason == "tripped"
    assert "the program of controller 'c' ended with exit code 3" in result.outcome.text
    assert run_scenario(write(folder, controllers("raise SystemExit(3)", may_end=True))).passed


def test_the_fixture_runs_scenarios(folder, run_hil):
    result = run_hil(write(folder, "criteria:\n  - {name: at rest, type: rms, signals: [v.swing], most: 1.0e-12}\n"))
    assert result.values["at rest"] < 1e-12
    assert (result.folder / "report.html").is_file()
    with pytest.raises(pytest.fail.Exception, match=r"FAILED  moves"):
        run_hil(write(folder, "criteria:\n  - {name: moves, type: deadline, signals: [v.swing], above: 1, by: 0.4}\n"))
    assert json.loads((result.folder / "result.json").read_text())["passed"]  # each run has a folder of its own


def test_any_name_can_stand_in_a_report_and_none_stays_from_a_run_before(folder):
    name = "a <b> costs $5_{ and $6"
    path = write(folder, f"criteria:\n  - {{name: '{name}', type: bounds, signals: [v.swing], upper: 1}}\n")
    out = folder / "out"
    assert run_scenario(path, out=out).passed
    assert name in xml.etree.ElementTree.parse(out / "junit.xml").find(".//testcase[2]").attrib["name"]
    assert html.escape(name) in (out / "report.html").read_text(encoding="utf-8")
    with pytest.raises(lj.LimberjackError):
        run_scenario(path, out=out, overrides={"model": "none.yaml"})
    assert list(out.iterdir()) == []
    with pytest.raises(lj.ArgumentError, match="overrides are for a scenario's path"):
        run_scenario(load_scenario(path), overrides={"duration": 1})


LINKED = """
devices:
  - {name: d, uri: "python:echo:counting", commands: [swing]}
faults:
  - {name: late, type: link, device: d, commands: {latency_s: 0.05}}
  - {name: lossy, type: link, device: d, commands: {loss: 1.0}}
watchdogs:
  - {name: stale, type: command_age, commands: [swing], limit: 0.031, safe: zero}
timeline:
  - {at: 0.1, fault: late}
  - {at: 0.2, clear: late}
  - {at: 0.3, fault: lossy}
"""


def test_faults_of_links_delay_and_lose_commands(folder):
    (folder / "echo.py").write_text("def counting(wiring):\n    return lambda t, s: [t + 1.0]\n")
    result = run_scenario(write(folder, LINKED), out=folder / "out")
    assert result.passed, result.explain()
    command = result.built.tape.columns(["command.swing"])[1:, 0]
    times = 0.01 * np.arange(50)
    before, late = times < 0.1 - 1e-9, (times > 0.15 + 1e-9) & (times < 0.2 - 1e-9)
    assert np.allclose(command[before], 1.0 + times[before], rtol=0, atol=1e-12)
    assert np.allclose(command[late], 1.0 + times[late] - 0.05, rtol=0, atol=1e-12)
    # a frame takes its commands before the timeline acts: the last ones in time are of 0.10 s and of 0.30 s, and the
    # first frames in which those are older than 0.031 s begin at 0.14 s and at 0.34 s
    assert [event.time for event in result.outcome.log.of("trip")] == pytest.approx([0.14, 0.34])
    assert np.all(command[times > 0.335] == 0.0)


def test_the_record_of_a_run_with_faults_replays_bit_for_bit(folder, capsys):
    (folder / "echo.py").write_text("def counting(wiring):\n    return lambda t, s: [t + 1.0]\n")
    more = LINKED.replace(
        "faults:",
        "faults:\n  - {name: weak, type: effectiveness, commands: [swing], factor: 0.3}\n"
        "  - {name: rough, type: parameter, values: {hinge.swing.friction: 2.0}}\n",
    )
    more += "  - {at: 0.05, fault: weak}\n  - {at: 0.12, fault: rough}\n  - {at: 0.4, clear: weak}\n"
    path = write(folder, more + "initial: {coordinates: {swing: 0.7}, parameters: {body.rod.mass: 2.5}}\n")
    assert main(["hil", str(path), "--out", str(folder / "out")]) == 0
    capsys.readouterr()
    assert main(["replay", str(folder / "out" / "record.mcap")]) == 0
    assert "51 frames of" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("print('loads')\nprint('not yet')", "did not say 'ready' before it ended; .* with:\n  loads\n  not yet$"),
        ("import time; time.sleep(600)", "did not say 'ready' within 0.3 s"),
    ],
)
def test_a_program_that_does_not_become_ready_is_an_error(folder, program, message):
    start_s = 60.0 if "ended" in message else 0.3
    with pytest.raises(lj.LimberjackError, match=f"the program of controller 'c' {message}"):
        run_scenario(write(folder, controllers(program, ready="ready", start_s=start_s, end_s=0.2)))


def test_a_device_that_is_never_heard_is_reported_and_results_are_strict_json(folder):
    text = "pacing: {real_time: false}\ndevices:\n  - {name: d, uri: 'udp://127.0.0.1:47999', commands: [swing]}\n"
    result = run_scenario(write(folder, text), out=folder / "out")

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    reported = json.loads((folder / "out" / "result.json").read_text(), parse_constant=refuse)
    assert reported["devices"]["d"]["received"] == 0 < reported["devices"]["d"]["sent"]
    assert reported["criteria"][0]["value"] is None
    report = (folder / "out" / "report.html").read_text(encoding="utf-8")
    assert re.search(r"d: udp://127\.0\.0\.1:47999; \d+ sent, 0 received, \d+ dropped<", report)
    events = [json.loads(line) for line in (folder / "out" / "events.jsonl").read_text().splitlines()]
    assert [e for e in events if e["source"] == "d" and "never sent a message" in e["text"]]
    assert [event for event in result.outcome.log.of("device") if event.source == "d"]
