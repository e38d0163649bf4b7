"""Runs made many at once have the rows of the same runs one by one, bit for bit, whatever happens in them."""

from __future__ import annotations

import importlib.util
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.campaign import job as jobs_of
from limberjack.hil.campaign.attempt import tried
from limberjack.hil.campaign.campaign_file import load_campaign
from limberjack.hil.campaign.runner import run_campaign
from limberjack.hil.campaign.sampling import Job, plan
from limberjack.hil.campaign.table import Row
from limberjack.hil.campaign.together import difference
from limberjack.hil.devices.arrays import form_of, stacked
from limberjack.hil.errors import ControllerError
from limberjack.hil.scenario.scenario_file import load_scenario
from limberjack.hil.signals import Signals
from limberjack.hil.worlds.batchable import kind_of, why_alone
from limberjack.hil.worlds.running import run_worlds
from tests.hil.test_campaign import kill_at

MODEL = """
limberjack: 1
name: two_links
simulation: {dt: 0.002}
bodies:
  - name: upper
    mass: 2.0
    com: [0, 0, -0.3]
    inertia: {xx: 0.1, yy: 0.1, zz: 0.01}
    hinge: {name: shoulder, type: revolute, parent: world, axis: [0, 1, 0], initial: {position: 0.4},
            limits: {lower: -1.5, upper: 1.5}}
  - name: lower
    mass: 1.0
    com: [0, 0, -0.2]
    inertia: {xx: 0.05, yy: 0.05, zz: 0.01}
    hinge: {name: elbow, type: revolute, parent: upper, axis: [0, 1, 0], position: [0, 0, -0.6], friction: 0.02}
loops:
  - {name: brake, type: lock, hinge: elbow, switchable: true, closed: false}
nodes:
  - {name: hand, body: lower, position: [0, 0, -0.4]}
actuators:
  - {name: shoulder, coordinate: shoulder, limit: 40}
  - {name: elbow, coordinate: elbow, mode: servo, kp: 60, kd: 2, limit: 20}
sensors:
  - {name: gyro, type: gyro, target: hand, rate: 100, noise_density: 1.0e-3}
"""
LAWS = '''
import numpy as np

def hold(wiring, gains, wobble=0.0):
    """A spring and a damper for the shoulder, and a slow wave for the elbow."""
    integral, wobble = np.zeros(wiring.worlds), wobble * np.ones(wiring.worlds)

    def law(time, signals):
        angle, rate, gyro = signals[:, 0], signals[:, 1], signals[:, 2]
        integral[:] += 0.004 * angle
        torque = -gains[:, 0] * angle - gains[:, 1] * rate - 0.5 * gyro - integral
        return np.stack([torque, wobble * np.sin(3.0 * time)], axis=1)

    return law

def sometimes(wiring, gains):
    """No answer in some frames, and no number in some worlds."""
    def law(time, signals):
        if round(time / 0.004) % 3 == 0:
            return None
        answer = np.stack([-gains[:, 0] * signals[:, 0], 0.0 * time + gains[:, 1]], axis=1)
        answer[signals[:, 0] > 0.35] = np.nan
        return answer
    return law

def raises(wiring, gains):
    def law(time, signals):
        if (gains[:, 0] > 25.0).any():
            raise ValueError("too stiff")
        return np.zeros((wiring.worlds, 2))
    return law

def kills(wiring, gains):
    import os, signal
    if (gains[:, 0] >= BOUND).any():
        os.kill(os.getpid(), signal.SIGKILL)
    return lambda time, signals: np.zeros((wiring.worlds, 2))

def flat(wiring, gains):
    return lambda time, signals: np.zeros(2)

def mean(wiring, gains):
    """Wrong: a world's commands depend on its neighbours."""
    return lambda time, signals: np.full((wiring.worlds, 2), -signals[:, 0].mean())
'''
SIGNALS = ["q.shoulder", "q.elbow", "v.shoulder", "v.elbow", "tau.shoulder", "tau.elbow", "output.gyro.x",
           "output.gyro.y", "output.gyro.z", "command.shoulder", "command.elbow"]  # fmt: skip
DEVICE = """
devices:
  - {name: law, uri: "arrays:laws:%s", signals: [q.shoulder, v.shoulder, output.gyro.y],
     commands: [shoulder, elbow], every: %d, options: {gains: [20, 2]}}
"""
FAULTS = """
faults:
  - {name: f, %s}
timeline:
  - {at: 0.1, fault: f}
  - {at: 0.3, clear: f}
"""
SPREAD = {"initial.coordinates[shoulder]": (0.1, 0.5), "initial.parameters[body.lower.mass]": (0.8, 1.3)}
GAIN = {"devices[law].options.gains[0]": (10.0, 40.0)}


def write(folder: Path, more: str, name: str = "s.yaml") -> Path:
    """A scenario whose criteria measure every signal."""
    (folder / "model.yaml").write_text(MODEL, encoding="utf-8")
    (folder / "laws.py").write_text(LAWS, encoding="utf-8")
    criteria = "".join(f"  - {{name: {s}, type: rms, signals: [{s}], most: 1.0e9}}\n" for s in SIGNALS)
    criteria += "  - {name: trips, type: no_event, kind: trip}\n  - {name: end, type: event, kind: end}\n"
    if "brake.closed" in more:
        criteria += "  - {name: caught, type: event, kind: attach}\n  - {name: freed, type: event, kind: release}\n"
    text = "limberjack_scenario: 1\nname: s\nmodel: model.yaml\nsteps_per_frame: 2\nduration: 0.5\ninitial: {}\n"
    path = folder / name
    path.write_text(f"{text}{more}\ncriteria:\n{criteria}", encoding="utf-8")
    return path


def jobs(vary: dict, count: int = 5) -> list[Job]:
    """Jobs with values between the bounds, or from lists, and seeds of their own."""
    random = np.random.default_rng(4)

    def value(of):
        return of[random.integers(len(of))] if isinstance(of, list) else float(random.uniform(*of))

    return [Job(run, 2**40 + run, {path: value(of) for path, of in vary.items()}) for run in range(count)]


def compare(path: Path, vary: dict, monkeypatch, count: int = 5) -> list:
    """Rows of runs at once, after they were found equal to those one by one."""
    wanted = [tried(jobs_of.run_job, path, job) for job in jobs(vary, count)]
    with monkeypatch.context() as patch:
        patch.setattr(jobs_of, "run_job", _not_alone)
        rows = jobs_of.run_jobs(path, jobs(vary, count))
    for row, alone in zip(rows, wanted, strict=True):
        assert repr(row) == repr(alone)
    return rows


def _not_alone(*_):
    raise AssertionError("this run was made by itself")


CASES = {
    "controller": (DEVICE % ("hold", 1), GAIN | {"devices[law].options.wobble": (0.0, 0.3)}),
    "no answer": (DEVICE % ("sometimes", 1), GAIN),
    "seldom": (DEVICE % ("hold", 3), GAIN),
    "no device": ("timeline:\n  - {at: 0.1, command: {elbow: 0.3}}\n", {"timeline[0].at": (0.05, 0.2)}),
    "ramp and end": (
        "timeline:\n  - {at: 0.1, ramp: {to: {elbow: 0.5}, duration: 0.2}}\n  - {at: 0.4, end: true}\n",
        {"timeline[0].ramp.duration": (0.1, 0.3), "timeline[1].at": (0.2, 0.45)},
    ),
    "parameter": (
        "timeline:\n  - {at: 0.1, parameter: {body.lower.mass: 1.7}}\n",
        {"timeline[0].parameter[body.lower.mass]": (1.0, 2.0)},
    ),
    "refused action": (
        "timeline:\n  - {at: 0.1, parameter: {body.lower.mass: 1.7}}\n",
        {"timeline[0].parameter[body.lower.mass]": [1.5, -1.0]},
    ),
    "lock": (
        "timeline:\n  - {at: 0.1, lock: elbow}\n  - {at: 0.3, unlock: elbow}\n",
        {"timeline[0].at": (0.05, 0.2), "initial.velocities[elbow]": (-2.0, 2.0)},
    ),
    "lock by command": (
        "timeline:\n  - {at: 0.1, command: {brake.closed: 1}}\n  - {at: 0.3, command: {brake.closed: 0}}\n",
        {"timeline[0].at": (0.05, 0.2), "initial.velocities[elbow]": (-2.0, 2.0)},
    ),
    "bad mass": ("", {"initial.parameters[body.upper.mass]": [2.0, -1.0]}),
    "bad name": (
        "faults:\n  - {name: f, type: stuck, commands: [elbow]}\n",
        {"faults[f].commands": [["elbow"], ["x"]]},
    ),
    "diverges": ("", {"initial.velocities[elbow]": [0.0, 1.0e120]}),
}
for _name, _text in {
    "stuck": "type: stuck, commands: [shoulder]",
    "effectiveness": "type: effectiveness, commands: [shoulder], factor: 0.3",
    "reversed": "type: reversed, commands: [elbow]",
    "runaway": "type: runaway, commands: [shoulder], rate: 50, most: 9",
    "delay": "type: delay, commands: [shoulder, elbow], delay: 0.02",
    "bias": "type: bias, signals: [q.shoulder], value: 0.1",
    "drift": "type: drift, signals: [q.shoulder], rate: 0.4",
    "freeze": "type: freeze, signals: [q.shoulder]",
    "dropout": "type: dropout, signals: [v.shoulder]",
    "spike": "type: spike, signals: [q.shoulder], value: 0.2, every_s: 0.03",
    "noise": "type: noise, signals: [q.shoulder, output.gyro.y], sigma: 0.02",
    "parameter fault": "type: parameter, factors: {body.lower.mass: 1.5}",
    "lock fault": "type: lock, hinge: elbow",
}.items():
    CASES[_name] = DEVICE % ("hold", 1) + FAULTS % _text, GAIN | {"timeline[0].at": (0.05, 0.2)}
for _safe in ("hold", "zero", "brake", "stop"):
    _dog = f"safe: {_safe}, brake_gain: 3"
    CASES[f"limit, {_safe}"] = (
        DEVICE % ("hold", 1)
        + f"watchdogs:\n  - {{name: w, type: limit, signals: [v.shoulder], lower: -1, upper: 1, {_dog}}}\n"
        + f"  - {{name: age, type: command_age, commands: [shoulder], limit: 0.1, {_dog}}}\n",
        GAIN | {"watchdogs[w].lower": (-2.0, -0.2)},
    )
    CASES[f"age, {_safe}"] = (
        DEVICE % ("sometimes", 1)
        + f"watchdogs:\n  - {{name: age, type: command_age, commands: [shoulder], limit: 1, latched: true, {_dog}}}\n"
        + f"  - {{name: heart, type: heartbeat, device: law, limit: 0.01, {_dog}}}\n"
        + f"  - {{name: e, type: engine, {_dog}}}\n"
        + "timeline:\n  - {at: 0.3, arm: age}\n",
        GAIN | {"watchdogs[age].limit": (0.005, 0.06)},
    )


#: one case of every kind; the others are long together
QUICK = ("controller", "no answer", "ramp and end", "parameter", "refused action", "lock", "diverges", "stuck")
QUICK += ("delay", "noise", "limit, hold", "age, stop")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in CASES]
)
def test_rows_are_those_of_single_runs(name, tmp_path, monkeypatch):
    more, vary = CASES[name]
    rows = compare(write(tmp_path, more), SPREAD | vary, monkeypatch, 11 if name == "controller" else 5)
    assert len({repr((row.measured, row.cause)) for row in rows}) > 1
    if name in ("refused action", "bad mass", "bad name", "diverges"):  # one world's trouble is its own
        statuses = {row.status for row in rows}
        assert len(statuses) == 2
        assert "passed" in statuses


def test_signals_have_the_bits_of_a_simulation_stepped_by_hand(tmp_path):
    """An oracle without any bench: commands of the law's formula, set by hand."""
    path = write(tmp_path, DEVICE % ("hold", 1))
    loaded = [load_scenario(path, {"devices[law].options.gains[0]": gain}) for gain in (15.0, 25.0, 35.0)]
    found = run_worlds(loaded, [7, 8, 9])
    for scenario, seed, (_, values) in zip(loaded, (7, 8, 9), found, strict=True):
        sim = lj.Simulation(lj.load(tmp_path / "model.yaml"))
        sim.parameters["noise.seed"] = seed
        signals, (kp, kd), integral = Signals(sim), scenario.spec.devices[0].options["gains"], 0.0
        seen = [signals.index(name) for name in ("q.shoulder", "v.shoulder", "output.gyro.y")]
        table = [signals.refresh().copy()]
        for _ in range(125):
            angle, rate, gyro = table[-1][seen]
            integral += 0.004 * angle
            sim.command["shoulder"] = -kp * angle - kd * rate - 0.5 * gyro - integral
            sim.step(2)
            table.append(signals.refresh().copy())
        for name in SIGNALS:
            column = np.array(table)[:, [signals.index(name)]]
            assert values[name] == float(np.sqrt(np.mean(column**2, axis=0))[0]), name


def test_a_law_that_raises_fails_the_runs_in_which_it_raises(tmp_path):
    path = write(tmp_path, DEVICE % ("raises", 1))
    rows = jobs_of.run_jobs(path, jobs(GAIN))
    assert {row.status for row in rows} == {"passed", "failed"}
    for row, job in zip(rows, jobs(GAIN), strict=True):
        assert repr(row) == repr(tried(jobs_of.run_job, path, job))
        assert ("too stiff" in row.cause) == (job.values["devices[law].options.gains[0]"] > 25.0)


def test_answers_of_another_shape_are_no_commands(tmp_path, monkeypatch):
    rows = compare(write(tmp_path, DEVICE % ("flat", 1)), SPREAD, monkeypatch, 3)
    assert all(row.measured["command.shoulder"] == 0.0 for row in rows)


def test_runs_of_several_kinds_are_several_batches(tmp_path, monkeypatch):
    vary = SPREAD | {"duration": [0.3, 0.5], "integrator": ["rk4", "implicit"], "watchdogs[w].safe": ["hold", "stop"]}
    more = "watchdogs:\n  - {name: w, type: limit, signals: [v.elbow], upper: 0.5, safe: zero}\n"
    assert len({row.measured["end"] for row in compare(write(tmp_path, more), vary, monkeypatch)}) == 1


def test_why_runs_cannot_be_worlds(tmp_path):
    for more, why in (
        (DEVICE.replace("arrays:", "python:") % ("hold", 1), "device 'law' is a law of one world"),
        (DEVICE.replace("arrays:laws:%s", "udp://127.0.0.1:1%s") % ("", 1), "device 'law' is outside of this process"),
        ("controllers:\n  - {name: c, command: [x]}\n", "controller 'c' is a program"),
        (DEVICE % ("hold", 1) + "faults:\n  - {name: f, type: link, device: law}\n", "fault 'f' disturbs the link"),
    ):
        assert why_alone(load_scenario(write(tmp_path, more))).startswith(why)
    path = write(tmp_path, DEVICE % ("hold", 1))
    assert why_alone(load_scenario(path)) == ""
    assert kind_of(load_scenario(path)) == kind_of(load_scenario(path, {"devices[law].options.gains[1]": 7}))
    assert kind_of(load_scenario(path)) != kind_of(load_scenario(path, {"devices[law].every": 2}))


def test_options_of_worlds_are_arrays():
    given = [{"a": k, "b": [k, 2.0], "c": {"d": [[1, k]]}, "word": "x", "yes": True, "none": None} for k in (1, 2, 3)]
    made = stacked(given)
    assert made["a"].tolist() == [1.0, 2.0, 3.0]
    assert made["b"].shape == (3, 2)
    assert made["c"]["d"].shape == (3, 1, 2)
    assert (made["word"], made["yes"], made["none"]) == ("x", True, None)
    assert form_of({"a": [1, "x"]}) != form_of({"a": [1, "y"]})
    with pytest.raises(ArgumentError, match="numbers alone"):
        stacked([{"a": "x"}, {"a": "y"}])


CAMPAIGN = """
limberjack_campaign: 1
name: c
scenario: s.yaml
runs: 22
seed: 5
vary:
  "devices[law].options.gains[0]": {uniform: [10, 40]}
  "initial.coordinates[shoulder]": {uniform: [0.1, 0.5]}
"""


@pytest.mark.long
@pytest.mark.parametrize("law", ["hold", "mean"])
def test_campaigns_at_once_have_the_table_of_single_runs(tmp_path, law):
    """A law whose commands depend on other worlds is found out, and its runs are made one by one."""
    write(tmp_path, DEVICE % (law, 1))
    path = tmp_path / "c.yaml"
    path.write_text(CAMPAIGN, encoding="utf-8")
    alone = run_campaign(path, out=tmp_path / "alone", workers=1, batch=False)
    summary = run_campaign(path, out=tmp_path / "batch", workers=1)
    assert repr(summary.rows) == repr(alone.rows)
    for name in ("table.csv", "table.parquet", "junit.xml"):
        assert (tmp_path / "alone" / name).read_bytes() == (tmp_path / "batch" / name).read_bytes()
    assert bool(summary.one_by_one) == (law == "mean")
    if law == "mean":
        assert "a controller or the model does other arithmetic for several worlds than for one" in summary.one_by_one
        with pytest.raises(ArgumentError, match="cannot be computed as a batch: '.*' of run 0 is"):
            run_campaign(path, out=tmp_path / "must", workers=1, batch=True)


@pytest.mark.long
def test_killed_between_two_batches_and_resumed_is_the_same_table(tmp_path):
    write(tmp_path, DEVICE % ("hold", 1))
    path, out = tmp_path / "c.yaml", tmp_path / "out"
    path.write_text(CAMPAIGN, encoding="utf-8")
    run_campaign(path, out=tmp_path / "alone", workers=2, batch=False)
    words = [sys.executable, "-m", "limberjack", "campaign", str(path), "--out", str(out), "--workers", "1", "--batch"]
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    kill_at(out, 10, child.kill)  # the run made by itself, and some of the first batch
    child.wait()
    kept = len((out / "rows.jsonl").read_bytes().splitlines()) - 1
    assert 10 <= kept < 22
    ran: list[int] = []
    run_campaign(path, out=out, workers=2, resume=True, batch=True, progress=lambda row, *_: ran.append(row.run))
    assert len(ran) == len(set(ran)) == 22 - kept
    assert (out / "table.csv").read_bytes() == (tmp_path / "alone" / "table.csv").read_bytes()


@pytest.mark.long
@pytest.mark.skipif(not importlib.util.find_spec("distributed"), reason="dask.distributed is not installed")
def test_batches_on_a_cluster_make_the_same_table(tmp_path):
    import distributed

    write(tmp_path, DEVICE % ("hold", 1))
    path = tmp_path / "c.yaml"
    path.write_text(CAMPAIGN, encoding="utf-8")
    run_campaign(path, out=tmp_path / "alone", workers=2, batch=False)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        run_campaign(path, out=tmp_path / "batch", scheduler=cluster.scheduler_address, batch=True)
    assert (tmp_path / "batch" / "table.csv").read_bytes() == (tmp_path / "alone" / "table.csv").read_bytes()


@pytest.mark.long
def test_a_batch_whose_process_dies_costs_the_run_that_killed_it(tmp_path):
    """A law that kills its process in one world: its runs are made one by one, and only that one is lost."""
    path = write(tmp_path, DEVICE % ("kills", 1))
    (tmp_path / "c.yaml").write_text(CAMPAIGN.replace("runs: 22", "runs: 24\ntries: 1"), encoding="utf-8")
    plan_of = plan(load_campaign(tmp_path / "c.yaml"))
    worst = max(plan_of[1:], key=lambda job: job.values["devices[law].options.gains[0]"])
    bound = worst.values["devices[law].options.gains[0]"]
    (tmp_path / "laws.py").write_text(LAWS.replace("BOUND", repr(bound)), encoding="utf-8")
    assert path.is_file()
    rows = run_campaign(tmp_path / "c.yaml", out=tmp_path / "out", workers=1).rows
    assert [row.run for row in rows if row.status == "lost"] == [worst.run]
    assert "was killed by SIGKILL" in rows[worst.run].cause
    assert all(row.status == "passed" for row in rows if row.run != worst.run)


def test_rows_of_one_run_are_compared():
    row = Row(3, 5, "failed", "x: much", {"a": 1}, {"x": 2.0, "y": math.nan, "z": math.inf}, ["x"])
    assert difference(row, replace(row)) == ("", 0.0)
    near = replace(row, cause="x: other", measured={"x": 2.0 + 1e-12, "y": math.nan, "z": math.inf})
    assert difference(row, near) == ("", pytest.approx(5e-13, rel=1e-3))
    for other, text in (
        (replace(row, measured={**row.measured, "x": 2.1}), "'x' of run 3 is 2.0 by itself, 2.1 among others"),
        (replace(row, measured={**row.measured, "y": 1.0}), "'y' of run 3 is nan by itself, 1.0 among others"),
        (replace(row, status="passed", failed=[]), "run 3 failed by itself and passed among others"),
    ):
        assert difference(row, other)[0].startswith(text)


#: examples, what happens in them, and by how much their numbers may differ from those of single runs, relative
EVENTS = {
    "stewart_platform.yaml": ("{at: 0.1, command: {strut_1: 0.01}}", 0.0),
    "solar_satellite.yaml": ("{at: 0.1, command: {wheel_1: 0.5}}", 0.0),
    "torque_arm.yaml": ("{at: 0.1, ramp: {to: {joint2: -50}, duration: 0.2}}", 0.0),
    "solar_array.yaml": ("{at: 0.1, release: hold_down}", 1e-12),
    "instruments/servicer.yaml": ("{at: 0.1, command: {array_drive: 0.01}}", 1e-12),
}


@pytest.mark.parametrize("name", EVENTS)
def test_examples_have_the_numbers_of_single_runs(name, tmp_path, monkeypatch):
    entry, bound = EVENTS[name]
    model = Path(lj.__file__).parent / "examples" / name
    names = [signal for signal in Signals(lj.Simulation(lj.load(model))).names if signal != "time"]
    criteria = "".join(f'  - {{name: "{s}", type: rms, signals: ["{s}"], most: 1.0e9}}\n' for s in names)
    text = (
        f"limberjack_scenario: 1\nname: s\nmodel: {model}\nsteps_per_frame: 5\nduration: 0.5\ntimeline:\n  - {entry}\n"
    )
    (tmp_path / "s.yaml").write_text(f"{text}criteria:\n{criteria}", encoding="utf-8")
    made = jobs({"timeline[0].at": (0.02, 0.3)}, 9)
    alone = [tried(jobs_of.run_job, tmp_path / "s.yaml", job) for job in made[::4]]
    with monkeypatch.context() as patch:
        patch.setattr(jobs_of, "run_job", _not_alone)
        rows = jobs_of.run_jobs(tmp_path / "s.yaml", made)[::4]
    assert all(row.status == "passed" for row in rows)
    for row, one in zip(rows, alone, strict=True):
        largest = max(abs(row.measured[s]) for s in names)
        apart = max(abs(row.measured[s] - one.measured[s]) for s in names)
        assert apart <= bound * largest
        assert bound > 0.0 or repr(row) == repr(one)


def test_a_batch_that_is_demanded_says_why_there_is_none(tmp_path):
    write(tmp_path, DEVICE.replace("arrays:", "python:") % ("hold", 1))
    (tmp_path / "c.yaml").write_text(CAMPAIGN, encoding="utf-8")
    with pytest.raises(ArgumentError, match=r"cannot be computed as a batch: device 'law' is a law of one world"):
        run_campaign(tmp_path / "c.yaml", out=tmp_path / "out", batch=True)


def test_a_controller_that_cannot_be_made_ends_the_campaign_as_alone(tmp_path):
    loaded = load_scenario(write(tmp_path, DEVICE % ("hold", 1)), {"devices[law].options": {"gains": 3.0}})
    with pytest.raises(ControllerError, match="controller 'law' raised"):
        run_worlds([loaded], [1])
