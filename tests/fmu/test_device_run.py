"""Built FMUs of a model with instruments, motors and valves: the bits of `Simulation`, states, parameters, refusals."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.compile import targets
from tests.fmu.device_model import DT, equipped
from tests.fmu.shim_build import DISCARD, MODEL_EXCHANGE, OK, Fmu
from tests.fmu.test_loop_run import Exported
from tests.fmu.test_shim_booleans import boolean_place

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(targets.host() not in targets.TARGETS, reason="no FMU binary for this platform"),
]
COMMANDS = {
    "hinge.elbow.angle_command": "elbow drive",
    "hinge.slide.force_command": "slide drive",
    "thruster.late.force_command": "late",
    "thruster.quick.force_command": "quick",
}


@pytest.fixture(scope="module", params=[2, 3])
def exported(request, tmp_path_factory) -> Exported:
    parameters = {"parameters": ["*"]}
    return Exported(equipped(), tmp_path_factory.mktemp(f"fmi{request.param}"), request.param, **parameters)


@pytest.fixture
def fmu(exported):
    instance = exported.open()
    assert instance.start() == OK, instance.log
    yield instance
    instance.free()


class Twin:
    """An FMU and a Simulation that get the same commands, a new random set every few steps."""

    def __init__(self, exported: Exported, fmu: Fmu) -> None:
        self.exported, self.fmu, self.sim, self.time = exported, fmu, lj.Simulation(equipped()), 0.0
        self.rng = np.random.default_rng(5)

    def command(self) -> None:
        for name, spoken in COMMANDS.items():
            value = float(self.rng.uniform(-1.0, 3.0)) * (1.0 if "hinge" in name else 6.0)
            assert self.fmu.set([self.exported.places[name]], [value]) == OK, self.fmu.log
            self.sim.command[spoken] = value

    def step(self, n: int) -> None:
        status, self.time = self.fmu.step(self.time, n * DT)
        assert status == OK, self.fmu.log[-1]
        self.sim.step(n)

    def run(self, rounds: int) -> None:
        for n in self.rng.integers(1, 12, rounds):
            self.command()
            self.step(int(n))
            self.agree()

    def agree(self) -> None:
        assert self.exported.state(self.fmu) == self.exported.expected(self.sim)
        for name in ("tracker.valid", "eye.valid"):
            seen = boolean_place(self.fmu, self.exported.places[f"sensor.{name}"])
            assert seen == (OK, self.sim.output[name.removesuffix(".valid")][-1] == 1.0)


def test_the_bits_of_a_simulation(exported, fmu):
    twin = Twin(exported, fmu)
    twin.agree()
    twin.run(40)
    assert twin.sim.output["push"] > 0.0
    assert twin.sim.output["current"] != 0.0


def test_saved_states_hold_samples_and_drives(exported, fmu):
    twin = Twin(exported, fmu)
    twin.run(10)
    (status, saved), time, snapshot = fmu.save(), twin.time, twin.sim.snapshot()
    assert status == OK
    content = fmu.serialized(saved)
    assert len(content) > 8 * len(exported.read.state)
    twin.run(10)
    other = exported.open()
    assert other.start() == OK
    for each in (fmu, other):
        status, state = each.deserialized(content)
        assert status == OK
        assert each.restore(state) == OK
        again = Twin(exported, each)
        again.sim.restore(snapshot)
        again.time = time
        again.agree()
        again.run(10)
    other.free()


def test_a_reset_forgets_samples_currents_and_pulses(exported, fmu):
    Twin(exported, fmu).run(10)
    assert fmu.call("Reset") == OK
    assert fmu.start() == OK
    Twin(exported, fmu).run(10)


def test_parameters_change_between_steps(exported, fmu):
    twin = Twin(exported, fmu)
    changes = {
        "noise.seed": ("noise.seed", 12.0),
        "sensor.encoder.bias": ("sensor.encoder.bias", 0.4),
        "sensor.'imu.gyro'.bias[2]": ("sensor.imu.gyro.bias.y", -0.3),
        "sensor.load.noise.force[3]": ("sensor.load.noise.fz", 0.5),
        "sensor.tracker.bias[1]": ("sensor.tracker.bias.x", 0.2),
        "sun[1]": ("sun.x", -0.8),
        "actuator.'elbow drive'.motor.voltage": ("actuator.elbow drive.motor.voltage", 3.0),
        "actuator.'slide drive'.motor.backlash": ("actuator.slide drive.motor.backlash", 1e-3),
        "thruster.late.minimum_pulse": ("thruster.late.minimum_pulse", 0.05),
    }
    for name, (spoken, value) in changes.items():
        twin.run(3)
        assert fmu.set([exported.places[name]], [value]) == OK, fmu.log
        twin.sim.parameters[spoken] = value
    twin.run(10)


def test_rotors_start_where_their_joints_do(exported):
    """A start value of the joint behind the elastic gear does not wind that up."""
    fmu = exported.open()
    assert fmu.enter() == OK
    places, twin = exported.places, Twin(exported, fmu)
    assert fmu.set([places["hinge.slide.distance"], places["hinge.slide.speed"]], [0.05, 0.2]) == OK
    assert fmu.get(places["hinge.slide.force"]) == (OK, [-0.1])  # of the damper alone
    assert fmu.call("ExitInitializationMode") == OK
    q, v = twin.sim.q, twin.sim.v
    q[-1], v[-1] = 0.05, 0.2
    twin.sim.q, twin.sim.v = q, v
    twin.agree()
    twin.run(10)
    fmu.free()


def test_noise_is_another_with_another_seed(exported):
    readings = []
    for seed in (7.0, 7.0, 8.0):
        fmu = exported.open()
        assert fmu.enter() == OK
        assert fmu.set([exported.places["noise.seed"]], [seed]) == OK
        assert fmu.call("ExitInitializationMode") == OK
        assert fmu.step(0.0, 20 * DT)[0] == OK
        readings.append(fmu.get(*(exported.places[f"sensor.'imu.gyro'[{i}]"] for i in (1, 2, 3)))[1])
        fmu.free()
    assert readings[0] == readings[1] != readings[2]


def test_steps_that_are_no_multiple_are_discarded(exported, fmu):
    twin = Twin(exported, fmu)
    twin.run(3)
    status, reached = fmu.step(twin.time, 2.5 * DT)
    assert status == DISCARD
    assert reached == pytest.approx(twin.time)
    assert "not a multiple of the step of 0.001" in fmu.log[-1][2]
    if exported.version == 3:  # the computation may go on
        twin.agree()
        twin.run(3)


def test_readings_have_no_derivative(exported, fmu):
    twin = Twin(exported, fmu)
    twin.run(2)
    places = exported.places
    unknowns = [places["sensor.encoder"], places["sensor.torque"], places["hinge.elbow.torque"]]
    status, found = fmu.derivative(unknowns, [places["hinge.elbow.angle_command"]], [1.0], 3)
    assert (status, found) == (OK, [0.0, 0.0, 0.0])
    assert fmu.set([places["thruster.quick.force_command"]], [5.0]) == OK  # between its least and its largest
    status, found = fmu.derivative([places["der(hinge.bus.vy)"]], [places["thruster.quick.force_command"]], [1.0], 1)
    assert status == OK
    assert found[0] > 0.0


def test_model_exchange_is_refused(exported):
    fmu = exported.open(MODEL_EXCHANGE)
    assert fmu.c is None
    assert "instruments, motors or valves has no Model Exchange" in fmu.errors()[-1]


def test_readings_of_arrays(tmp_path):
    """FMI 3 with arrays: the same numbers, vectors whole."""
    system = equipped()
    path = lj.export_fmu(system, tmp_path / "a.fmu", platforms=["host"], outputs=["sensor.*"], parameters=["*"])
    fmpy = pytest.importorskip("fmpy")
    found = fmpy.simulate_fmu(str(path), stop_time=0.05, step_size=DT, output_interval=DT, set_stop_time=False)
    sim = lj.Simulation(system)
    sim.step(50)
    assert found["sensor.'imu.gyro'"][-1].tolist() == sim.output["imu.gyro"].tolist()
    assert found["sensor.tracker.valid"][-1] == bool(sim.output["tracker"][-1])
