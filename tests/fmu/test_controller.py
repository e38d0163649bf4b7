"""lj.FmuController: the same law as an FMU and in Python gives the same trajectory; names, units, types, failures."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.examples import cosimulate as example
from limberjack.fmu.controller.controller import FmuController
from limberjack.fmu.controller.errors import FmuError, FmuWarning
from limberjack.fmu.controller.schedule import cosimulate
from tests.fmu import controller_fmus as fmus

GAINS = {"kp": 0.002, "kd": 0.003, "ki": 0.001}
INPUTS = {"angle": "elbow", "rate": "elbow.rate", "gear": 1, "enable": True}


@pytest.fixture(scope="module")
def pid2(tmp_path_factory):
    return fmus.pack(tmp_path_factory.mktemp("pid2"), fmus.PID2)


@pytest.fixture(scope="module")
def joints(tmp_path_factory):
    return fmus.pack(tmp_path_factory.mktemp("joints"), fmus.EXAMPLE)


@pytest.fixture
def sim(tmp_path):
    return fmus.pendulum(tmp_path)


def pid(path, **changes):
    options = {"inputs": INPUTS, "outputs": {"torque": "elbow"}, "parameters": GAINS, "period": 0.01} | changes
    return FmuController(path, **options)


def test_fmi2_pid_equals_the_law_in_python(pid2, sim, tmp_path):
    with pid(pid2, inputs=INPUTS | {"gear": 2}) as controller:
        trace = controller.run(sim, 0.5)
    twin, integral = fmus.pendulum(tmp_path), 0.0
    expected = []
    for k in range(51):
        angle, rate = twin.q[1], twin.v[1]
        _, degrees = fmus.pid_torque(angle, rate, 0.0, **GAINS)
        integral += 0.01 * degrees if k else 0.0  # initialisation does not integrate
        twin.command["elbow"], _ = fmus.pid_torque(angle, rate, integral, **GAINS, gear=2)
        expected.append([*twin.q, *twin.v, twin.command["elbow"]])
        if k < 50:
            twin.step(10)
    found = np.column_stack([trace[n] for n in ("shoulder", "elbow", "shoulder.rate", "elbow.rate", "command.elbow")])
    np.testing.assert_array_equal(found, expected)
    assert np.abs(trace["command.elbow"]).max() > 0.1
    np.testing.assert_allclose(trace.time, np.arange(51) * 0.01, rtol=1e-15)


def test_fmi3_arrays_equal_the_law_in_python(joints):
    trace = example.run(joints, duration=1.0)
    twin = lj.Simulation(lj.load(example.MODEL))
    for k in range(201):
        now = [twin.q, twin.v, example.angle_reference(twin), example.rate_reference(twin)]
        np.testing.assert_array_equal(trace["angle"][k], twin.q)
        twin.command_vector = fmus.seven_joint_torque(example.GAINS, *now, example.gravity_torque(twin))
        np.testing.assert_array_equal(trace["torque"][k], twin.command_vector)
        np.testing.assert_array_equal(trace["tool"][k], twin.output["tool_position"])
        if k < 200:
            twin.step(5)


def test_the_example(joints, tmp_path):
    """The arm follows its reference, rests exactly where gravity is balanced, and one drive touches its limit."""
    trace = example.run(joints)
    error = np.abs(trace["angle"] - trace["reference"])
    assert np.rad2deg(error.max()) < 2.0
    assert np.rad2deg(error[-1].max()) < 1e-3
    assert trace["saturated"].max() == 1.0
    assert np.all(np.abs(trace["torque"]) <= example.GAINS["limit"])
    assert example.plot(trace, tmp_path / "plot" / "cosimulate.png").read_bytes().startswith(b"\x89PNG")


def test_fmpy_is_imported_when_an_fmu_is_opened_only():
    code = "import sys, limberjack.fmu.controller.controller as c; assert 'fmpy' not in sys.modules, 'imported'"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_first_outputs_act_at_once(pid2, sim):
    sim.q = [0.7, 0.3]
    with pid(pid2) as controller:
        controller.start(sim)
        assert sim.step_count == 0
        assert sim.command["elbow"] == pytest.approx(-0.002 * np.rad2deg(0.3) * 1000.0, rel=1e-14)
        assert controller.output["torque"] == pytest.approx(-0.002 * np.rad2deg(0.3), rel=1e-14)
        controller.step(sim)
        assert sim.step_count == 10
        assert controller.output["steps"] == 1


def test_starts_at_a_later_time(pid2, sim):
    sim.step(7)
    with pid(pid2) as controller:
        controller.run(sim, 0.05)
        assert sim.step_count == 57
        assert controller.output["steps"] == 5


def test_equal_names_are_connected(pid2, sim, tmp_path):
    xml = {'"angle"': '"elbow"', '"rate"': '"elbow.rate"', '"torque"': '"shoulder"'}
    plain = fmus.pack(tmp_path / "named", fmus.PID2, xml=xml)
    with pytest.raises(lj.ArgumentError, match="gear, enable"):
        FmuController(plain, period=0.01).start(sim)
    xml |= {
        '"gear" valueReference="1" causality="input"': '"gear" valueReference="1" causality="local"',
        'variability="discrete"><Integer start="1"': 'variability="discrete"><Integer',
        '"enable" valueReference="0" causality="input"': '"enable" valueReference="0" causality="local"',
        '<Boolean start="true"': "<Boolean",
    }
    with FmuController(fmus.pack(tmp_path / "auto", fmus.PID2, xml=xml), period=0.01) as controller:
        sim.q = [0.7, 0.3]
        controller.start(sim)
        assert sim.command["shoulder"] == pytest.approx(-np.rad2deg(0.3) * 1000.0, rel=1e-14)
        assert sim.command["elbow"] == 0.0


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("elbow", np.rad2deg(0.3)),
        (12.5, 12.5),
        (lambda sim: 2.0 * sim.q[1], 0.6),
        ("tip_place.x", None),
        ("command.shoulder", None),
        ("energy.kinetic", 0.0),
        ("time", 0.0),
    ],
)
def test_sources(pid2, sim, source, value):
    sim.q = [0.7, 0.3]
    sim.command["shoulder"] = 4.0
    known = {"tip_place.x": np.rad2deg(sim.output["tip_place"][0]), "command.shoulder": np.rad2deg(4.0)}
    wanted = known[source] if value is None else value
    with pid(pid2, inputs=INPUTS | {"angle": source}, parameters={"kp": 1.0, "kd": 0.0}) as controller:
        controller.start(sim)
        assert controller.output["torque"] == pytest.approx(-wanted, rel=1e-14, abs=1e-300)


def test_list_of_sources_for_an_array(joints):
    sim = lj.Simulation(lj.load(example.MODEL))
    zero = np.zeros(7)
    inputs = {"angle": [*[f"joint{i}" for i in range(1, 7)], 5.0], "rate": "v", "rate_reference": zero}
    inputs |= {"angle_reference": None, "feed_forward": lambda sim: np.arange(7.0).reshape(7, 1)}
    with FmuController(joints, inputs, {"torque": sim.command_names}, {"kp": np.ones(7)}, period=0.005) as controller:
        controller.start(sim)
        np.testing.assert_array_equal(sim.command_vector, np.arange(7.0) - np.array([*sim.q[:6], 5.0]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inputs": INPUTS | {"angel": "elbow"}}, "did you mean 'angle'"),
        ({"inputs": INPUTS | {"torque": "elbow"}}, "causality 'output'"),
        ({"inputs": {"angle": "elbow"}}, "without a source: rate, gear, enable"),
        ({"inputs": ["angle"]}, "must map"),
        ({"outputs": {"tork": "elbow"}}, "did you mean 'torque'"),
        ({"outputs": {"angle": "elbow"}}, "causality 'input'"),
        ({"parameters": {"kpp": 1.0}}, "did you mean 'kp'"),
        ({"parameters": {"angle": 1.0}}, "causality 'input'"),
        ({"parameters": {"kp": np.nan}}, "finite"),
        ({"parameters": {"kp": [1.0, 2.0]}}, "1 numbers are needed, got 2"),
        ({"parameters": {"label": 3}}, "is a string"),
        ({"parameters": {"fault": 1.5}}, "whole number"),
        ({"period": None}, "no default step size"),
        ({"period": -1.0}, "positive number"),
        ({"period": "soon"}, "positive number"),
    ],
)
def test_bad_arguments(pid2, changes, message):
    with pytest.raises(lj.ArgumentError, match=message):
        pid(pid2, **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"inputs": INPUTS | {"angle": "ellbow"}}, "input 'angle' .*did you mean 'elbow'"),
        ({"inputs": INPUTS | {"angle": "tip_place"}}, "'tip_place' has 3 numbers, but 1"),
        ({"inputs": INPUTS | {"angle": np.inf}}, "finite"),
        ({"inputs": INPUTS | {"angle": lambda sim: np.zeros(2)}}, "1 numbers are needed, got 2"),
        ({"inputs": INPUTS | {"gear": "elbow"}}, "gear' would get 0.7, .*whole number"),
        ({"inputs": INPUTS | {"enable": 2.0}}, "enable' would get 2, .*0 or 1"),
        ({"outputs": {"torque": "ellbow"}}, "output 'torque' .*did you mean 'elbow'"),
        ({"outputs": {"torque": ["elbow", "shoulder"]}}, "2 command names"),
        ({"outputs": {"torque": "elbow", "steps": "elbow"}}, "written by two outputs"),
        ({"outputs": None}, "no output .* has the name of a command"),
        ({"period": 0.0015}, "not a multiple"),
    ],
)
def test_bad_connections(pid2, sim, changes, message):
    sim.q = [0.7, 0.7]
    with pid(pid2, **changes) as controller, pytest.raises(lj.ArgumentError, match=message):
        controller.start(sim)
    assert sim.command["elbow"] == 0.0


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (1, r"'torque' is not a finite number at t = 0.05 s"),
        (2, r"fmi2DoStep returned discard .* got to t = 0.03 s.*(?s:.*)\[discard\].*fault 2 of arm"),
        (3, r"fmi2DoStep returned error while stepping from t = 0.03 s(?s:.*)\[error\].*fault 3 of arm"),
        (4, r"returned fatal(?s:.*)\[fatal\].*fault 4 of arm"),
        (5, "asked to end the simulation"),
        (6, "returned pending.*asynchronously"),
    ],
)
def test_failures_name_the_time_and_carry_the_log(pid2, sim, fault, message):
    with pid(pid2, parameters=GAINS | {"fault": fault, "label": "arm"}) as controller:
        with pytest.raises(FmuError, match=message) as caught:
            controller.run(sim, 1.0)
        np.testing.assert_allclose(caught.value.trace.time, np.arange(5 if fault == 1 else 4) * 0.01, atol=1e-15)
        before = sim.command["elbow"]
        assert sim.step_count == (50 if fault == 1 else 40)
        assert np.isfinite(before)
        assert bool(caught.value.log_lines) == (fault in (2, 3, 4, 5))
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
        with pytest.raises(lj.ArgumentError, match="has failed; call `start`"):
            controller.step(sim)
        if fault == 4:
            with pytest.raises(FmuError, match="fatally"):
                controller.start(sim)
        else:
            controller.parameters["fault"] = 0
            controller.start(sim)  # begins again
            controller.step(sim)
            assert controller.output["steps"] == 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("*terminate = true; return OK;", "asked to end"),
        ("*early = true; return OK;", "returned early, at t = 0 s"),
        ('return fail(c, "out of order");', r"fmi3DoStep returned error(?s:.*)out of order"),
        ('c->log(c->environment, DISCARD, "logStatusError", "no way"); return DISCARD;', "discard(?s:.*)no way"),
        ("c->state.values[KP][2] = NAN;", r"joint 3 is not finite"),
    ],
)
def test_fmi3_failures(tmp_path, code, message):
    begin = "    *last = c->state.time;\n"
    path = fmus.pack(tmp_path, fmus.EXAMPLE, {begin: f"{begin}    {code}\n"})
    with pytest.raises(FmuError, match=message):
        example.run(path, duration=0.1)


def test_units_without_a_definition_are_reported(tmp_path, sim):
    xml = {'<Unit name="deg"><BaseUnit rad="1" factor="0.017453292519943295"/></Unit>': '<Unit name="deg"/>'}
    path = fmus.pack(tmp_path / "f", fmus.PID2, xml=xml)
    with pid(path) as controller, pytest.warns(FmuWarning, match="'angle' in 'deg'"):
        controller.start(sim)
    with pid(path, inputs=INPUTS | {"angle": lambda sim: np.rad2deg(sim.q[1])}) as controller:
        controller.start(sim)  # the function gives degrees, as the FMU wants: nothing to report


def test_tunable_and_fixed_parameters(pid2, sim):
    sim.q = [0.7, 0.3]
    with pid(pid2) as controller:
        assert controller.parameters["kp"] == 0.002
        assert controller.parameters["label"] == "nothing"
        assert controller.parameters["fault"] == 0.0
        controller.parameters["kp"] = 0.004
        controller.start(sim)
        assert sim.command["elbow"] == pytest.approx(-4.0 * np.rad2deg(0.3))
        controller.parameters["kp"] = 0.0
        with pytest.raises(lj.ArgumentError, match="'kd' is fixed"):
            controller.parameters["kd"] = 0.0
        controller.step(sim)
        rate, integral = sim.v[1], controller.output["integral"]
        assert sim.command["elbow"] == pytest.approx(-1000.0 * (0.003 * rate + 0.001 * integral), rel=1e-12)
        assert set(controller.parameters) == {"kp", "kd", "ki", "fault", "label"}
        assert set(controller.output) == {"torque", "integral", "steps", "active"}
        assert controller.output["active"] == 1.0
        with pytest.raises(lj.UnknownNameError, match="did you mean 'torque'"):
            controller.output["tork"]


def test_snapshot_and_restore_together(pid2, sim):
    with pid(pid2) as controller:
        controller.run(sim, 0.1)
        kept, state = sim.snapshot(), controller.snapshot()
        first = controller.run(sim, 0.2)
        sim.restore(kept)
        with pytest.raises(lj.ArgumentError, match="restore the controller too"):
            controller.step(sim)
        controller.restore(state)
        again = controller.run(sim, 0.2)
        for name in first:
            np.testing.assert_array_equal(first[name], again[name])
        assert len(first["elbow"]) == 21
        controller.start(sim)
        with pytest.raises(FmuError, match="started again"):
            controller.restore(state)


def test_serialised_snapshot_goes_to_another_instance(joints):
    def new():
        inputs = {"angle": "q", "rate": "v", "angle_reference": None, "rate_reference": None, "feed_forward": None}
        sim = lj.Simulation(lj.load(example.MODEL))
        return sim, FmuController(joints, inputs, {"torque": sim.command_names}, example.GAINS)

    sim, controller = new()
    assert controller.period == 0.005  # the FMU's own
    controller.run(sim, 0.05)
    kept, state = sim.snapshot(), pickle.dumps(controller.snapshot())
    expected = controller.run(sim, 0.05)
    other, second = new()
    second.start(other)
    other.restore(kept)
    second.restore(pickle.loads(state))
    found = second.run(other, 0.05)
    np.testing.assert_array_equal(found["joint2"], expected["joint2"])
    with pytest.raises(lj.ArgumentError, match="not one of FMU"):
        second.restore(b"something")
    controller.close()
    second.close()


def test_no_snapshot_where_the_fmu_cannot(tmp_path, sim):
    path = fmus.pack(tmp_path / "f", fmus.PID2, xml={' canGetAndSetFMUstate="true"': ""})
    with pid(path) as controller:
        controller.start(sim)
        with pytest.raises(FmuError, match="canGetAndSetFMUState"):
            controller.snapshot()


def test_several_controllers_at_their_periods(pid2, sim, tmp_path):
    inner = pid(pid2, name="inner", period=0.002)
    outer = pid(pid2, name="outer", period=0.005, inputs=INPUTS | {"angle": "shoulder"}, outputs={"torque": "shoulder"})
    with inner, outer:
        trace = cosimulate(sim, [outer, inner], 0.021, log=["elbow", "q"], log_period=0.003)
        assert (inner.output["steps"], outer.output["steps"]) == (10, 4)
        cosimulate(sim, [outer, inner], 0.009)
        assert (inner.output["steps"], outer.output["steps"]) == (15, 6)
    np.testing.assert_allclose(trace.time, np.arange(8) * 0.003, atol=1e-15)
    assert trace["q"].shape == (8, 2)
    twin, sums = fmus.pendulum(tmp_path), {"elbow": 0.0, "shoulder": 0.0}
    for k in range(31):
        for at, (name, every) in enumerate((("shoulder", 5), ("elbow", 2))):
            if k % every == 0:
                rate = twin.v[1]
                degrees = fmus.pid_torque(twin.q[at], rate, 0.0, **GAINS)[1]
                sums[name] += every * 1e-3 * degrees if k else 0.0
                twin.command[name] = fmus.pid_torque(twin.q[at], rate, sums[name], **GAINS)[0]
        if k < 30:
            twin.step()
    np.testing.assert_allclose(sim.q, twin.q, rtol=1e-13)


def test_cascade_without_delay(pid2, sim):
    """An inner controller reads what an outer one has just put out."""
    with pid(pid2, name="outer", outputs={}) as outer:
        feed = INPUTS | {"angle": lambda _: 0.0, "rate": lambda _: outer.output["torque"]}
        with pid(pid2, name="inner", inputs=feed, parameters={"kp": 0.0, "kd": -1.0}) as inner:
            cosimulate(sim, [outer, inner], 0.05)
            assert inner.output["torque"] == outer.output["torque"] != 0.0


def test_what_a_schedule_refuses(pid2, sim, tmp_path):
    with pid(pid2, name="one") as one, pid(pid2, name="two") as two:
        with pytest.raises(lj.ArgumentError, match="set by two controllers, 'one' and 'two'"):
            cosimulate(sim, [one, two], 0.1)
        with pytest.raises(lj.ArgumentError, match="listed twice"):
            cosimulate(sim, [one, one], 0.1)
        with pytest.raises(lj.ArgumentError, match="list of FmuController"):
            cosimulate(sim, one, 0.1)
        with pytest.raises(lj.ArgumentError, match="duration is 0.0105"):
            one.run(sim, 0.0105)
        with pytest.raises(lj.ArgumentError, match="duration is nan"):
            one.run(sim, float("nan"))
        with pytest.raises(lj.UnknownNameError, match="did you mean 'elbow'"):
            one.run(sim, 0.1, log=["ellbow"])
        with (
            pid(pid2, name="odd", period=0.0105) as odd,
            pytest.raises(lj.ArgumentError, match="period of 'odd' is 0.01"),
        ):
            odd.run(sim, 0.1)
        trace = cosimulate(sim, [], 0.001, log=["elbow", "q"])
        assert repr(trace) == "Trace of 2 rows: time, elbow, q"
        with pytest.raises(lj.UnknownNameError, match="did you mean 'elbow'"):
            trace["ellbow"]
        with pytest.raises(lj.ArgumentError, match="another simulation"):
            one.step(fmus.pendulum(tmp_path))
        with pytest.raises(lj.ArgumentError, match="exchanges next at t = 0.01"):
            one.exchange(sim)
        sim.step(10)
        with pytest.raises(lj.ArgumentError, match="is at t = 0.011"):
            one.step(sim)


def test_what_is_no_usable_fmu(tmp_path, pid2):
    def remade(**changes):
        path = tmp_path / "remade.fmu"
        with zipfile.ZipFile(pid2) as old, zipfile.ZipFile(path, "w") as new:
            for name in old.namelist():
                data = old.read(name)
                if name == "modelDescription.xml":
                    for before, after in changes.get("xml", {}).items():
                        assert before in data
                        data = data.replace(before, after)
                new.writestr(changes.get("names", {}).get(name, name), data)
        return path

    (binary,) = [name for name in zipfile.ZipFile(pid2).namelist() if name.startswith("binaries")]
    text = tmp_path / "text.fmu"
    text.write_text("no archive")
    empty = tmp_path / "empty.fmu"
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("readme", "hello")
    cases = [
        (tmp_path / "none.fmu", "the file does not exist"),
        (text, "cannot be read as a ZIP"),
        (empty, "no modelDescription.xml"),
    ]
    for path, message in cases:
        with pytest.raises(FmuError, match=message):
            pid(path)
    for changes, message in [
        ({"xml": {b"<ModelVariables>": b"<ModelVariables"}}, "cannot be read"),
        ({"xml": {b'fmiVersion="2.0"': b'fmiVersion="7.0"'}}, "cannot be read: Unsupported FMI version"),
        ({"xml": {b"<CoSimulation": b"<ModelExchange"}}, "no Co-Simulation interface, only Model Exchange"),
        ({"names": {binary: "binaries/amiga/pid2.so"}}, r"no binary for this platform.*amiga"),
        ({"names": {binary: "sources/pid2.c"}}, "C sources only"),
    ]:
        with pytest.raises(FmuError, match=message):
            pid(remade(**changes))
    with pytest.raises(FmuError, match="cannot be instantiated"):
        pid(remade(xml={b"pid2-of-the-tests": b"another guid"})).start(fmus.pendulum(tmp_path))
    with pytest.warns(FmuWarning, match="breaks the standard"):
        pid(remade(xml={b"<CoSimulation": b'<CoSimulation colour="blue"'}, names={})).close()


def test_a_library_that_does_not_load(tmp_path, pid2):
    path, here = tmp_path / "broken.fmu", os.getcwd()
    with zipfile.ZipFile(pid2) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, b"\x7fELF nonsense" if name.startswith("binaries") else old.read(name))
    with pytest.raises(FmuError, match="library cannot be loaded"):
        pid(path)
    assert os.getcwd() == here


def test_nothing_is_left_behind(pid2, sim, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    Path(tempfile.tempdir).mkdir()
    controller = pid(pid2)
    controller.run(sim, 0.02)
    assert len(list(Path(tempfile.tempdir).iterdir())) == 2  # the folder and its lock
    controller.close()
    controller.close()
    with pytest.raises(lj.ArgumentError, match="is closed"):
        controller.step(sim)
    for _ in range(3):
        pid(pid2).start(sim)
    gc.collect()
    assert list(Path(tempfile.tempdir).iterdir()) == []


def test_one_instance_per_process(tmp_path):
    path = fmus.pack(tmp_path, fmus.PID2, xml={"canGetAnd": 'canBeInstantiatedOnlyOncePerProcess="true" canGetAnd'})
    with pid(path), pytest.raises(FmuError, match="only one instance"):
        pid(path)
    pid(path).close()


def test_instances_keep_their_own_logs(pid2, sim, tmp_path):
    healthy = pid(pid2, name="healthy")
    broken = pid(
        pid2,
        name="broken",
        inputs=INPUTS | {"angle": "shoulder"},
        outputs={"torque": "shoulder"},
        parameters=GAINS | {"fault": 3, "label": "b"},
    )
    with healthy, broken, pytest.raises(FmuError, match=r"FMU 'broken'(?s:.*)fault 3 of b") as caught:
        cosimulate(sim, [healthy, broken], 1.0)
    assert len(caught.value.log_lines) == 1
