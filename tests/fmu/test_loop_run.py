"""FMUs of models with closed loops: the bits of `Simulation` across attach and release, states, derivatives, errors."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.compile import targets
from limberjack.engine.model.system import System
from limberjack.engine.native.plant_file import Region, read_plant_file
from tests.fmu.closed_model import docking
from tests.fmu.shim_build import CO_SIMULATION, ERROR, MODEL_EXCHANGE, OK, Fmu, location
from tests.fmu.test_shim_booleans import assign_place, boolean_place

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(targets.host() not in targets.TARGETS, reason="no FMU binary for this platform"),
]
DT = 1e-3
EVERY = {"outputs": ["*"], "inputs": ["*"]}


class Exported:
    """An exported model: its library, its resources, the place of each variable."""

    def __init__(self, system: System, folder: Path, version: int, dt: float = DT, **shown: list[str]) -> None:
        self.dt = dt
        path = folder / "model.fmu"
        lj.export_fmu(system, path, fmi=f"{version}.0", scalar=True, platforms=["host"], dt=dt, **EVERY | shown)
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder / "fmu")
        files = (folder / "fmu" / "binaries").rglob("*")
        suffix = targets.TARGETS[targets.host()].suffix
        (self.library,) = (file for file in files if file.suffix == suffix)
        self.resources = folder / "fmu" / "resources"
        self.read = read_plant_file((self.resources / "plant.bin").read_bytes())
        self.token = self.read.header["token"].split(b"\0")[0].decode()
        self.places = {row["name"]: i for i, row in enumerate(self.read.variables)}
        self.version = version

    def open(self, kind: str = CO_SIMULATION) -> Fmu:
        return Fmu(self.library, self.version, kind, location(self.resources, self.version), self.token)

    def state(self, fmu: Fmu) -> list[float]:
        """Coordinates, velocities and all numbers that are observed."""
        rows = enumerate(self.read.variables)
        wanted = (Region.Q, Region.V, Region.OBSERVED)
        places = [i for i, row in rows if row["region"] in wanted and row["type"] == 0 and row["causality"] == "output"]
        status, values = fmu.get(*places)
        assert status == OK, fmu.log[-1]
        return values

    def expected(self, sim: lj.Simulation) -> list[float]:
        vectors = {
            Region.Q: sim.q,
            Region.V: sim.v,
            Region.OBSERVED: np.concatenate([sim.tau, sim.vdot, sim.output_vector]),
        }
        rows = [r for r in self.read.variables if r["region"] in vectors and r["type"] == 0]
        return [float(vectors[r["region"]][r["offset"]]) for r in rows if r["causality"] == "output"]


@pytest.fixture(scope="module", params=[2, 3])
def exported(request, tmp_path_factory) -> Exported:
    return Exported(docking(), tmp_path_factory.mktemp(f"fmi{request.param}"), request.param)


@pytest.fixture
def fmu(exported):
    instance = exported.open()
    assert instance.start() == OK
    yield instance
    instance.free()


class Twin:
    """An FMU and a Simulation that do the same."""

    def __init__(self, exported: Exported, fmu: Fmu, system: System) -> None:
        self.exported, self.fmu, self.sim = exported, fmu, lj.Simulation(system, dt=exported.dt)
        self.time = 0.0

    def switch(self, loop: str, close: bool) -> None:
        assert assign_place(self.fmu, self.exported.places[f"loop.{loop}.closed"], close) == OK
        self.sim.command[f"{loop}.closed"] = float(close)

    def step(self, n: int) -> None:
        status, reached = self.fmu.step(self.time, n * self.exported.dt)
        assert status == OK, self.fmu.log[-1]
        self.sim.step(n)
        self.time = reached

    def agree(self) -> None:
        assert self.exported.state(self.fmu) == self.exported.expected(self.sim)


def test_the_bits_of_a_simulation_across_attach_and_release(exported, fmu):
    twin = Twin(exported, fmu, docking())
    twin.agree()
    twin.step(30)
    twin.switch("grasp", True)
    twin.step(40)
    held = exported.places["sensor.held"]
    assert boolean_place(fmu, held) == (OK, True)
    assert twin.sim.closed("grasp")
    assert twin.sim.impacts["grasp"] > 0.0
    twin.agree()
    twin.switch("brake", True)
    twin.step(20)
    twin.switch("grasp", False)
    twin.step(20)
    twin.switch("brake", False)
    twin.step(20)
    twin.agree()
    assert boolean_place(fmu, held) == (OK, False)


def test_prescribed_motion(exported, fmu):
    twin = Twin(exported, fmu, docking())
    for k in range(1, 21):
        rate = 0.4
        commands = {"position": rate * k * DT, "velocity": rate, "acceleration": 0.0}
        for word, value in commands.items():
            assert fmu.set([exported.places[f"loop.rod.{word}_command"]], [value]) == OK
            twin.sim.command[f"rod.{word}"] = value
        twin.step(1)
    twin.agree()
    (slide,) = twin.sim.part("q")[[docking().coordinate_names.index("slide")]]
    assert slide**2 + 1.0 == pytest.approx((1.25 + 0.4 * twin.time) ** 2, rel=1e-8)


def test_saved_states_know_what_is_closed(exported, fmu):
    twin = Twin(exported, fmu, docking())
    twin.switch("grasp", True)
    twin.step(10)
    status, saved = fmu.save()
    assert status == OK
    bytes_ = fmu.serialized(saved)
    twin.step(25)
    after = exported.state(fmu)
    twin.switch("grasp", False)
    twin.step(5)
    assert fmu.restore(saved) == OK
    assert boolean_place(fmu, exported.places["sensor.held"]) == (OK, True)
    assert fmu.step(0.010, 0.025)[0] == OK
    assert exported.state(fmu) == after
    assert len(bytes_) > 8 * len(exported.read.state)


def test_the_start_may_be_closed(exported):
    fmu = exported.open()
    assert fmu.enter() == OK
    assert assign_place(fmu, exported.places["loop.grasp.closed"], True) == OK
    assert fmu.call("ExitInitializationMode") == OK
    assert fmu.step(0.0, DT)[0] == OK
    assert boolean_place(fmu, exported.places["sensor.held"]) == (OK, True)
    fmu.free()


def test_derivatives_are_differences(exported, fmu):
    """dv/dt of the slider in its drive's force and in the rod's acceleration; the rod holds it: the first is zero."""
    accelerated = exported.places["der(hinge.slide.speed)"]
    force, rod = (exported.places[n] for n in ("hinge.slide.force_command", "loop.rod.acceleration_command"))
    status, found = fmu.derivative([accelerated], [force, rod], [1.0, 0.0], 1)
    assert status == OK
    assert found[0] == pytest.approx(0.0, abs=1e-8)
    status, found = fmu.derivative([accelerated], [force, rod], [0.0, 1.0], 1)
    assert status == OK
    assert found[0] == pytest.approx(1.25 / 0.75, rel=1e-7)


def test_switches_have_no_derivatives(exported, fmu):
    places = exported.places["hinge.slide.force"], exported.places["loop.grasp.closed"]
    assert fmu.derivative([places[0]], [places[1]], [1.0], 1)[0] == ERROR
    assert "is not a real number" in fmu.errors()[-1]


def test_model_exchange_is_refused(exported):
    fmu = exported.open(MODEL_EXCHANGE)
    assert fmu.c is None
    assert "closed loops" in fmu.errors()[-1]


def test_start_values_far_from_the_loops_discard_the_step(exported):
    fmu = exported.open()
    assert fmu.enter() == OK
    assert fmu.set([exported.places["loop.rod.position_command"]], [-1.2]) == OK  # a rod of 5 cm, 1 m away
    assert fmu.call("ExitInitializationMode") == OK
    status, reached = fmu.step(0.0, 0.02)
    assert status == 2
    assert reached < 0.02
    assert "loop 'rod' cannot be closed" in fmu.log[-1][2]
    fmu.free()


def test_a_reset_opens_what_was_closed(exported, fmu):
    assert assign_place(fmu, exported.places["loop.grasp.closed"], True) == OK
    assert fmu.step(0.0, DT)[0] == OK
    assert fmu.call("Reset") == OK
    assert fmu.start() == OK
    assert boolean_place(fmu, exported.places["sensor.held"]) == (OK, False)


def test_the_grasp_of_the_example_has_the_bits_of_a_simulation(tmp_path):
    """Arm and satellite are joined across metres here: the reach does not matter to the numbers."""
    system = lj.load(Path(__file__).parents[2] / "examples" / "satellite_grasp.yaml")
    system = replace(system, loops=tuple(replace(loop, reach=1e3) for loop in system.loops))
    exported = Exported(system, tmp_path, 3)
    fmu = exported.open()
    assert fmu.start() == OK
    twin = Twin(exported, fmu, system)
    twin.step(10)
    twin.switch("grasp", True)
    twin.step(50)
    twin.agree()
    twin.switch("grasp", False)
    twin.step(10)
    twin.agree()
    fmu.free()


def riding(folder: Path) -> System:
    """The bicycle whose steer is driven."""
    text = (Path(str(files("limberjack.examples"))) / "bicycle.yaml").read_text(encoding="utf-8")
    text = text.replace("     independent: [steer, rear_axle, frame.wx]}", "     method: embed}")
    drive = "  - {name: bars, type: coupling, terms: {steer: 1}, driven: true, initial: {velocity: 0.3}}\n"
    (folder / "riding.yaml").write_text(text.replace("sensors:\n", f"{drive}sensors:\n"), encoding="utf-8")
    return lj.load(folder / "riding.yaml")


def test_wheels_and_drives_have_the_bits_of_a_simulation(tmp_path):
    """Commands are those of the end of a communication step, of however many internal ones."""
    system = riding(tmp_path)
    exported = Exported(system, tmp_path, 2)
    instance = exported.open()
    assert instance.start() == OK
    twin, time = Twin(exported, instance, system), 0.0
    twin.agree()
    for n in (1, 7, 20, 3):
        time += n * DT
        motion = {"position": 0.3 * np.sin(time), "velocity": 0.3 * np.cos(time), "acceleration": -0.3 * np.sin(time)}
        for word, value in motion.items():
            assert instance.set([exported.places[f"loop.bars.{word}_command"]], [float(value)]) == OK
            twin.sim.command[f"bars.{word}"] = value
        twin.step(n)
        twin.agree()
        assert twin.sim.q[system.coordinate_names.index("steer")] == pytest.approx(0.3 * np.sin(time), abs=1e-12)
    instance.free()
