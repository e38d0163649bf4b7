"""FMUs of the process coupling against `Simulation`: the same bits, whatever happens between the steps."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.bridge.keys import keygen
from limberjack.bridge.link import Link
from limberjack.bridge.server import Server
from limberjack.bridge.settings import Settings
from tests.fmu.coupled_fmu import CoupledFmu, children, same, write_resources
from tests.fmu.shim_build import DISCARD, ERROR, OK

WAIT_S = 20.0  # bound on every wait; reached only when something is broken
H = 0.01


@pytest.fixture
def engine(arm, tmp_path_factory):
    """Starts engines in threads: `endpoint = engine(lease_s=0.3)`."""
    folder = Path(tempfile.mkdtemp(prefix="lje"))
    running = []

    def start(model=arm, dt=None, integrator=None, substeps=1, **options):
        options = {"endpoint": f"ipc://{folder}/e{len(running)}", **options}
        simulation = lj.Simulation(model, dt=dt, integrator=integrator, substeps=substeps)
        server = Server(simulation, Settings(**options))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        running.append((server, thread))
        return options["endpoint"]

    yield start
    for server, thread in running:
        server.stop()
        thread.join(WAIT_S)
        assert not thread.is_alive()
    shutil.rmtree(folder)


def drive(fmu, simulation, steps, first=0):
    """Communication steps with a new command each; all compared."""
    for k in range(first, first + steps):
        target, torque = np.sin(0.3 * k), 0.2 * np.cos(k)
        assert fmu.assign("hinge.shoulder.angle_command", target) == OK
        assert fmu.assign("hinge.wrist.angle1_torque_command", torque) == OK
        simulation.command["shoulder"], simulation.command["wrist_1"] = target, torque
        assert fmu.step(k * H, H) == (OK, k * H + H), fmu.log
        simulation.step(10)
        assert same(fmu, simulation)


@pytest.mark.parametrize("version", [2, 3])
def test_the_trajectory_is_the_simulation_s_with_an_engine_of_its_own(fmu, arm, version):
    unit, simulation = fmu(version), lj.Simulation(arm)
    for name, value in (("hinge.shoulder.damping", 0.7), ("body.hand.mass", 1.5), ("gravity[3]", -9.8)):
        assert unit.assign(name, value) == OK
    simulation.parameters.update({"hinge.shoulder.damping": 0.7, "body.hand.mass": 1.5, "gravity.z": -9.8})
    assert unit.assign("hinge.shoulder.angle", 0.9) == unit.assign("hinge.wrist.angle2_rate", -0.4) == OK
    q, v = simulation.q, simulation.v
    q[7], v[8] = 0.9, -0.4
    simulation.q, simulation.v = q, v
    assert unit.start() == OK, unit.log
    assert len(children()) == 1
    assert same(unit, simulation)
    drive(unit, simulation, 10)
    assert unit.assign("actuator.shoulder.kp", 250.0) == OK
    simulation.parameters["actuator.shoulder.kp"] = 250.0
    drive(unit, simulation, 10, first=10)
    assert unit.call("Terminate") == OK
    assert children() == []
    assert same(unit, simulation)  # the last values can still be read


def test_outputs_before_the_start_follow_the_start_values(fmu, arm, engine):
    unit, simulation = fmu(endpoint=engine()), lj.Simulation(arm)
    assert unit.enter() == OK
    assert same(unit, simulation)
    assert unit.assign("hinge.shoulder.torque_command", 3.0) == OK
    assert unit.assign("hinge.shoulder.angle", -0.5) == OK
    simulation.command["shoulder.torque"] = 3.0
    q = simulation.q
    q[7] = -0.5
    simulation.q = q
    assert same(unit, simulation)
    assert unit.call("ExitInitializationMode") == OK
    drive(unit, simulation, 3)


def test_a_step_is_one_round_trip(fmu, arm, engine):
    endpoint = engine()
    unit, simulation = fmu(endpoint=endpoint), lj.Simulation(arm)
    assert unit.start() == OK
    observer = Link(endpoint, 60.0, None)  # without the heartbeats that a Client sends by itself
    try:
        observer.request("hello", {"name": "observer"})
        before = observer.request("heartbeat").body["received"]
        drive(unit, simulation, 20)
        assert observer.request("heartbeat").body["received"] - before == 20 + 1
    finally:
        observer.close()


def test_long_steps_and_steps_that_are_no_multiple(fmu, arm, engine):
    unit, simulation = fmu(endpoint=engine(steps_max=7)), lj.Simulation(arm)
    assert unit.start(start=3.0) == OK
    assert unit.step(3.0, 0.1) == (OK, 3.1)  # several requests
    simulation.step(100)
    assert same(unit, simulation)
    assert unit.step(3.1, 0.0105) == (DISCARD, 3.1)
    assert "not a multiple of the engine's step of 0.001" in unit.log[-1][2]
    assert same(unit, simulation)
    assert unit.step(3.1, 0.01) == (OK, 3.1 + 0.01)
    simulation.step(10)
    assert same(unit, simulation)


@pytest.mark.parametrize("version", [2, 3])
def test_saved_states_continue_with_the_same_bits(fmu, arm, engine, version):
    unit, simulation = fmu(version, endpoint=engine()), lj.Simulation(arm)
    status, at_start = unit.save()
    assert status == OK
    assert unit.assign("hinge.shoulder.damping", 0.6) == unit.start() == OK
    simulation.parameters["hinge.shoulder.damping"] = 0.6
    drive(unit, simulation, 5)
    assert unit.assign("hinge.shoulder.angle_command", 0.123) == OK  # not yet sent
    status, saved = unit.save()
    assert status == OK
    content, snapshot = unit.serialized(saved), simulation.snapshot()
    assert unit.assign("hinge.shoulder.damping", 0.1) == OK
    assert unit.step(0.05, 0.02)[0] == OK
    assert unit.restore(saved) == OK, unit.log
    assert unit.value("hinge.shoulder.angle_command") == 0.123
    assert unit.value("hinge.shoulder.damping") == 0.6
    assert same(unit, simulation)
    drive(unit, simulation, 3, first=5)
    other = fmu(version, endpoint=engine())  # a state of another process, where nothing was set
    status, copy = other.deserialized(content)
    assert status == other.restore(copy) == OK, other.log
    simulation.restore(snapshot)
    drive(other, simulation, 3, first=5)
    assert unit.restore(at_start) == OK
    again = lj.Simulation(arm)
    assert unit.start() == OK
    assert unit.assign("hinge.shoulder.damping", 0.2) == OK
    drive(unit, again, 2)
    for instance, state in ((unit, saved), (unit, at_start), (other, copy)):
        assert instance.drop(state) == OK


def test_a_state_saved_with_an_engine_of_its_own_goes_on_in_another(fmu, arm):
    unit, simulation = fmu(), lj.Simulation(arm)
    assert unit.start() == OK
    drive(unit, simulation, 3)
    _, saved = unit.save()
    content = unit.serialized(saved)
    unit.free()
    other = fmu()
    status, copy = other.deserialized(content)
    assert status == other.restore(copy) == OK, other.log
    drive(other, simulation, 3, first=3)


def test_reset_starts_again_and_terminate_lets_go(fmu, arm, engine):
    endpoint = engine()
    unit = fmu(endpoint=endpoint)
    for damping in (0.9, 0.2):
        simulation = lj.Simulation(arm)
        simulation.parameters["hinge.shoulder.damping"] = damping
        assert unit.assign("hinge.shoulder.damping", damping) == OK
        assert unit.start() == OK, unit.log
        drive(unit, simulation, 3)
        assert unit.call("Reset") == OK
        assert unit.text("engine.endpoint") == ""
        assert unit.value("hinge.shoulder.damping") == 0.2
        assert unit.set_text("engine.endpoint", endpoint) == OK
    assert unit.start() == OK
    assert unit.call("Terminate") == OK
    follower = fmu(endpoint=endpoint)  # the lease is free again
    assert follower.start() == OK, follower.log
    drive(follower, lj.Simulation(arm), 3)
    assert unit.call("Reset") == unit.set_text("engine.endpoint", endpoint) == OK
    assert unit.start() == ERROR
    assert "'FMU arm' holds the command lease" in unit.last_error()


@pytest.mark.parametrize("version", [2, 3])
def test_a_diverging_step_is_discarded(fmu, arm, engine, version):
    unit, simulation = fmu(version, endpoint=engine()), lj.Simulation(arm)
    assert unit.start() == OK
    drive(unit, simulation, 2)
    assert unit.assign("hinge.wrist.angle1_torque_command", 1e12) == OK
    simulation.command["wrist_1"] = 1e12
    status, reached = unit.step(0.02, 1.0)
    count = simulation.step_count
    with pytest.raises(lj.SimulationError):
        simulation.step(1000)
    assert (status, reached) == (DISCARD, 0.02 + (simulation.step_count - count) * 0.001), unit.log
    assert "diverged" in unit.log[-1][2] or "finite" in unit.log[-1][2]
    if version == 3:  # back where the step began: smaller steps may follow
        simulation = lj.Simulation(arm)
        drive_again = [np.sin(0.0), np.sin(0.3)]
        for k, target in enumerate(drive_again):
            simulation.command["shoulder"], simulation.command["wrist_1"] = target, 0.2 * np.cos(k)
            simulation.step(10)
        drive(unit, simulation, 3, first=2)
    else:
        assert same(unit, simulation)


def test_instances_on_several_threads_have_engines_of_their_own(fmu, arm):
    units = [fmu(version) for version in (2, 3)]
    faults = []

    def run(unit):
        try:
            assert unit.start() == OK, unit.log
            drive(unit, lj.Simulation(arm), 30)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=run, args=(unit,)) for unit in units]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert not faults
    assert len(children()) == 2


@pytest.mark.parametrize("own", [True, False])
def test_encrypted(fmu, arm, engine, tmp_path, own):
    keygen(tmp_path)
    settings = {} if own else {"endpoint": engine(keys=tmp_path)}
    unit = fmu(keys=str(tmp_path), **settings)
    assert unit.start() == OK, unit.log
    drive(unit, lj.Simulation(arm), 3)


def test_step_integrator_and_substeps_of_the_export_reach_the_engine(arm, fmu, place, tmp_path):
    folder = tmp_path / "other"
    resources = write_resources(folder, arm, dt=1.0 / 3000.0, integrator="semi_implicit", substeps=2)
    unit = CoupledFmu(place / "coupled.so", resources, arm)
    simulation = lj.Simulation(arm, dt=1.0 / 3000.0, integrator="semi_implicit", substeps=2)
    assert unit.start() == OK, unit.log
    assert unit.step(0.0, 0.01)[0] == OK
    simulation.step(30)
    assert same(unit, simulation)
    unit.free()


def test_the_engine_ends_when_its_importer_is_killed(place, arm):
    program = (
        "import sys, os; from tests.fmu.coupled_fmu import *; from pathlib import Path;"
        "folder = Path(sys.argv[1]);"
        "unit = CoupledFmu(folder / 'coupled.so', folder / 'resources', load_arm());"
        "assert unit.start() == 0, unit.log; print(children()[0], flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(place)],
        cwd=Path(__file__).resolve().parents[2],
        stdout=subprocess.PIPE,
    )
    engine = int(done.stdout)
    deadline = time.monotonic() + WAIT_S
    while (status := Path(f"/proc/{engine}/status")).exists() and "State:\tZ" not in status.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
