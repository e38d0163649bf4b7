"""Devices that are FMUs: commands of `lj.FmuController`, one instance for each world, errors with their remedies."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ModelError
from limberjack.hil.devices.device import Wiring
from limberjack.hil.devices.over_arrays import array_device
from limberjack.hil.errors import ControllerError
from limberjack.hil.scenario.bench_setup import build
from limberjack.hil.scenario.scenario_file import load_scenario
from limberjack.hil.worlds.batchable import why_alone
from tests.fmu import controller_fmus as fmus
from tests.hil.test_worlds import SPREAD, compare, write

GAINS = {"kp": 0.002, "kd": 0.003, "ki": 0.001}
SIGNALS = ("q.elbow", "v.elbow")
OPTIONS = {
    "inputs": {"angle": "q.elbow", "rate": "v.elbow", "gear": 1, "enable": True},
    "outputs": {"torque": "elbow"},
    "parameters": GAINS,
}
DEVICE = """
devices:
  - {name: law, uri: "fmu:pid2.fmu", signals: [q.elbow, v.elbow], commands: [elbow], every: 5,
     options: {inputs: {angle: q.elbow, rate: v.elbow, gear: 1, enable: true}, outputs: {torque: elbow},
               parameters: {kp: 0.002, kd: 0.003, ki: 0.001}}}
"""


@pytest.fixture(scope="module")
def pid2(tmp_path_factory):
    return fmus.pack(tmp_path_factory.mktemp("pid2"), fmus.PID2)


@pytest.fixture
def folder(pid2, tmp_path):
    (tmp_path / "pid2.fmu").write_bytes(pid2.read_bytes())
    return tmp_path


def opened(folder, commands=("elbow",), **changes):
    device = array_device("fmu:pid2.fmu", "law", OPTIONS | changes, folder)
    device.open(Wiring(SIGNALS, ("rad", "rad/s"), commands, period=0.01))
    return device


def test_its_commands_are_those_of_an_fmu_controller(folder):
    one, two, device = fmus.pendulum(folder), fmus.pendulum(folder), opened(folder)
    with lj.FmuController(
        folder / "pid2.fmu",
        inputs={"angle": "elbow", "rate": "elbow.rate", "gear": 1, "enable": True},
        outputs={"torque": "elbow"},
        parameters=GAINS,
        period=0.01,
    ) as controller:
        trace = controller.run(one, 0.5)
    found, command = [], np.zeros(1)
    for frame in range(51):
        device.send(frame, two.time, np.array([two.q[1], two.v[1]]))
        assert device.receive(two.time, command)
        two.command["elbow"] = command[0]
        found.append(command[0])
        two.step(10)
    device.close()
    assert np.array_equal(trace["command.elbow"], found)
    assert np.abs(found).max() > 0.1


def test_runs_at_once_are_those_one_by_one(folder, monkeypatch):
    path = write(folder, DEVICE)
    assert why_alone(load_scenario(path)) == ""
    vary = SPREAD | {"devices[law].options.parameters.kp": (0.001, 0.003), "initial.velocities[elbow]": (-1.0, 1.0)}
    rows = compare(path, vary, monkeypatch)
    assert len({row.measured["command.elbow"] for row in rows}) == 5
    assert all(row.measured["command.elbow"] > 0.01 for row in rows)


def test_an_instance_that_gives_no_number_keeps_the_last_commands(folder, monkeypatch):
    device = DEVICE.replace("kp: 0.002", "fault: 1, kp: 0.002")
    rows = compare(write(folder, device), SPREAD, monkeypatch, 2)
    assert all(row.status == "passed" for row in rows)


def test_an_instance_that_fails_ends_the_run_with_its_words(folder):
    scenario = load_scenario(write(folder, DEVICE.replace("kp: 0.002", "fault: 3, kp: 0.002")))
    outcome = build(scenario, 0, False).executive.run(0.2)
    assert outcome.reason == "failed"
    for word in ("controller 'law' raised", "fmi2DoStep", "fault 3"):
        assert word in outcome.text


def test_an_fmu_of_one_instance_runs_alone(pid2, tmp_path):
    single = {'modelIdentifier="pid2"': 'modelIdentifier="pid2" canBeInstantiatedOnlyOncePerProcess="true"'}
    fmus.pack(tmp_path, fmus.PID2, xml=single)
    scenario = load_scenario(write(tmp_path, DEVICE))
    assert "allows one instance in a process" in why_alone(scenario)
    assert build(scenario, 0, False).executive.run(0.1).reason == "completed"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"inputs": {"angle": "q.elbow"}}, "without a source: rate, gear, enable"),
        ({"inputs": OPTIONS["inputs"] | {"rate": "v.elbw"}}, "did you mean 'v.elbow'"),
        ({"inputs": OPTIONS["inputs"] | {"rate": [1.0, 2.0]}}, "'rate' has 1 numbers, but is connected to 2"),
        ({"outputs": {}}, "each command of the device needs one output"),
        ({"outputs": {"torque": "elbow", "active": "elbow"}}, "with two"),
        ({"outputs": {"torque": 3.0}}, "go to names of commands"),
        ({"outputs": {"torqe": "elbow"}}, "did you mean 'torque'"),
        ({"parameters": {"kpp": 1.0}}, "did you mean 'kp'"),
        ({"inputs": OPTIONS["inputs"] | {"gear": 1.5}}, "whole number"),
    ],
)
def test_wrong_connections_are_refused(folder, changes, words):
    with pytest.raises(ControllerError, match=words):
        opened(folder, **changes).send(0, 0.0, np.zeros(2))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("fmu:pid2.fmu", "fmu:pid3.fmu", "pid3.fmu cannot be read"),
        ("parameters:", "parameter:", "did you mean 'parameters'"),
        ("fmu:pid2.fmu", "fmu:model.yaml", "not an FMU|cannot be read"),
    ],
)
def test_wrong_files_and_options_are_refused_with_their_place(folder, old, new, words):
    with pytest.raises(ModelError, match=words) as caught:
        build(load_scenario(write(folder, DEVICE.replace(old, new))), 0, False)
    assert "s.yaml" in str(caught.value)
