"""FMUs of models with flexible bodies: the engine's bits in every variant and integrator, importers, states."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu

import limberjack as lj
from limberjack.engine.compile import targets
from limberjack.engine.tables.flexible import (
    AN_MODAL,
    AN_TABLE,
    ATTACHED_INT,
    C_ATTACHED,
    C_MODAL,
    C_MODAL_TABLE,
    MI_MODES,
    MI_WORK,
    MODAL_INT,
)
from limberjack.engine.tables.reports import INTEGRATORS
from tests.engine.kernels.flexible.models import MODELS
from tests.fmu.judged import VARIANTS, Judged, compiled, engine_rows, exported, flexible_names, random_commands
from tests.fmu.shim_build import CO_SIMULATION, OK, Fmu, location
from tests.fmu.shim_model import sealed
from tests.fmu.test_loop_run import DT, Exported
from tests.fmu.test_shim_layout import AT_INTS

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(targets.host() not in targets.TARGETS, reason="no FMU binary for this platform"),
]
STEPS, INNER = 30, 5


@pytest.fixture(scope="module", params=[2, 3])
def boom(request, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    return Exported(MODELS["boom"](), tmp_path_factory.mktemp(f"fmi{request.param}"), request.param)


@pytest.fixture
def running(boom: Exported) -> Iterator[tuple[Fmu, lj.Simulation]]:
    """An instance that has started, and a simulation that does the same."""
    fmu = boom.open()
    assert fmu.start() == OK, fmu.log
    yield fmu, lj.Simulation(MODELS["boom"](), dt=DT)
    fmu.free()


def test_tuned_modes_have_the_bits_of_the_engine(boom: Exported, running: tuple[Fmu, lj.Simulation]) -> None:
    fmu, sim = running
    assert fmu.step(0.0, 10 * DT)[0] == OK
    sim.step(10)
    for word, factor in (("stiffness", 1.7), ("damping", 3.0)):
        place, name = boom.places[f"flexible.boom.mode2_{word}"], f"hinge.boom.modes.2.{word}"
        sim.parameters[name] *= factor
        assert fmu.set([place], [sim.parameters[name]]) == OK, fmu.log
    assert fmu.step(10 * DT, 30 * DT)[0] == OK
    sim.step(30)
    assert boom.state(fmu) == boom.expected(sim)


def test_derivatives_are_differences(boom: Exported, running: tuple[Fmu, lj.Simulation]) -> None:
    """Of accelerations and a load in a mode and in a command, against differences of the engine."""
    fmu, sim = running
    assert fmu.step(0.0, 10 * DT)[0] == OK
    sim.step(10)
    unknowns = [boom.places[name] for name in ("der(flexible.boom.mode1_rate)", "sensor.reaction.force[1]")]
    seen = [sim.system.nv + 1, 2 * sim.system.nv + _output(sim, "reaction.fx")]
    for known, change in (("flexible.boom.mode2", _mode), ("hinge.pan.torque_command", _command)):
        status, found = fmu.derivative(unknowns, [boom.places[known]], [1.0], len(unknowns))
        assert status == OK, fmu.log
        ahead, behind = (_observed_after(sim, change, step)[seen] for step in (1e-5, -1e-5))
        assert found == pytest.approx(list((ahead - behind) / 2e-5), rel=1e-5, abs=1e-6)


def _output(sim: lj.Simulation, name: str) -> int:
    return sim.output_names.index(name)


def _mode(sim: lj.Simulation, step: float) -> None:
    sim.part("q")[2] += step


def _command(sim: lj.Simulation, step: float) -> None:
    sim.command["pan"] += step


def _observed_after(sim: lj.Simulation, change: Callable[[lj.Simulation, float], None], step: float) -> np.ndarray:
    """Forces, accelerations and outputs with something changed; the simulation then goes on as it was."""
    before = sim.snapshot()
    change(sim, step)
    sim.changed()
    observed = np.concatenate([sim.tau, sim.vdot, sim.output_vector])
    sim.restore(before)
    return observed


def test_forged_tables_of_flexible_bodies_are_refused(boom: Exported, tmp_path: Path) -> None:
    """The checksum is right, the file is not: an error and a log line, no crash."""
    good = (boom.resources / "plant.bin").read_bytes()
    first = struct.unpack_from("<Q", good, AT_INTS)[0]
    ints = boom.read.ints
    tables = MODAL_INT * ints[C_MODAL] + ATTACHED_INT * ints[C_ATTACHED] + ints[C_MODAL_TABLE]
    start = len(ints) - tables  # no loops follow
    for place, value in ((MI_MODES, 7), (MI_WORK, 8), (MODAL_INT + AN_MODAL, 1), (MODAL_INT + AN_TABLE, 10**6)):
        bad = bytearray(good)
        struct.pack_into("<q", bad, first + 8 * (start + place), value)
        (tmp_path / "plant.bin").write_bytes(sealed(bytes(bad)))
        fmu = Fmu(boom.library, boom.version, CO_SIMULATION, location(tmp_path, boom.version), boom.token)
        assert fmu.c is None
        assert "its flexible bodies cannot be those of a model" in fmu.errors()[0]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("driver") / "driver", ["gcc"], ["-O2", "-g"])


def simulated(fmu: Judged, driver: Path, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Commands and the driver's rows."""
    commands = random_commands(fmu.system, STEPS)
    commands.tofile(folder / "inputs.bin")
    words = ("--steps", STEPS, "--h", INNER * fmu.system.dt, "--inputs", folder / "inputs.bin")
    done = fmu.run(driver, "run", *words, "--out", folder / "rows.bin")
    assert done.returncode == 0, done.stderr
    return commands, fmu.rows(folder / "rows.bin")


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", flexible_names())
def test_the_bits_of_the_engine(name: str, integrator: str, driver: Path, tmp_path: Path) -> None:
    fmu = exported(name, "fmi3", tmp_path, integrator=integrator, outputs=["q", "v", "tau", "sensor.*", "energy.*"])
    commands, rows = simulated(fmu, driver, tmp_path)
    engine, at = engine_rows(fmu.system, commands, INNER, integrator=integrator), fmu.numbers("output")
    assert np.isfinite(rows).all()
    for variable in ("q", "v", "tau"):
        assert np.array_equal(rows[:, 1:][:, at[variable]], engine[variable]), variable
    assert np.array_equal(rows[:, 1:][:, at["energy.total"]].ravel(), engine["energy"])
    sensors = [rows[:, 1:][:, columns] for variable, columns in at.items() if variable.startswith("sensor.")]
    assert np.array_equal(np.hstack([np.empty((STEPS + 1, 0)), *sensors]), engine["sensors"])
    assert np.ptp(rows[:, 1:][:, at["energy.strain"]]) > 0.0


@pytest.mark.parametrize("variant", ["scalar", "fmi2"])
@pytest.mark.parametrize("name", MODELS)
def test_scalar_variants_have_them_too(name: str, variant: str, driver: Path, tmp_path: Path) -> None:
    fmu = exported(name, variant, tmp_path)
    commands, rows = simulated(fmu, driver, tmp_path)
    engine, at = engine_rows(fmu.system, commands, INNER), fmu.numbers("output")
    modes = [i for i, label in enumerate(fmu.system.coordinate_names) if ".modes." in label]
    for i in modes:
        body, _, number = fmu.system.coordinate_names[i].rpartition(".modes.")
        found = rows[:, 1:][:, at[f"flexible.{body}.mode{number}"]].ravel()
        assert np.array_equal(found, engine["q"][:, i])
    assert np.array_equal(rows[:, 1:][:, at["energy.total"]].ravel(), engine["energy"])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", flexible_names())
def test_fmpy_finds_nothing_wrong(name: str, variant: str, tmp_path: Path) -> None:
    assert validate_fmu(str(exported(name, variant, tmp_path).path)) == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_fmpy_simulates_what_the_engine_does(variant: str, tmp_path: Path) -> None:
    fmu = exported("boom", variant, tmp_path)
    found = fmpy.simulate_fmu(str(fmu.unpacked), stop_time=0.05, step_size=5e-4, output_interval=0.05)
    simulation = lj.Simulation(fmu.system)
    simulation.step(100)
    tip = simulation.output["boom.tip.position"]
    names = ["node.'boom.tip'.position"] if variant == "fmi3" else [f"node.'boom.tip'.position[{i}]" for i in (1, 2, 3)]
    np.testing.assert_allclose(np.ravel([found[name][-1] for name in names]), tip, rtol=1e-12)
    np.testing.assert_allclose(found["flexible.boom.mode1"][-1], simulation.q[1], rtol=1e-12)


@pytest.mark.parametrize("name", ["boom", "flexible base"])
def test_exchange_converges_to_the_engine(name: str, driver: Path, tmp_path: Path) -> None:
    fmu = exported(name, "fmi3", tmp_path, outputs=["q", "v", "energy.total"])
    commands, dt = random_commands(fmu.system, STEPS), fmu.system.dt / 4
    commands.tofile(tmp_path / "inputs.bin")
    words = ("--steps", STEPS, "--h", dt, "--inputs", tmp_path / "inputs.bin", "--out", tmp_path / "out.bin")
    done = fmu.run(driver, "exchange", *words)
    assert done.returncode == 0, done.stderr
    engine = engine_rows(fmu.system, commands, 1, dt=dt, integrator="rk4")
    for variable in ("q", "v"):
        rows = fmu.rows(tmp_path / "out.bin")[:, 1:][:, fmu.numbers("output")[variable]]
        np.testing.assert_allclose(rows, engine[variable], rtol=0, atol=1e-6 * np.abs(engine[variable]).max())


@pytest.mark.parametrize("name", MODELS)
def test_a_state_goes_on_in_a_new_process(name: str, driver: Path, tmp_path: Path) -> None:
    fmu, saved = exported(name, "fmi3", tmp_path), tmp_path / "state.bin"
    here = fmu.run(driver, "state", "--save", saved, "--steps", STEPS, "--out", tmp_path / "here.bin")
    there = fmu.run(driver, "state", "--restore", saved, "--steps", STEPS, "--out", tmp_path / "there.bin")
    assert here.returncode == there.returncode == 0, here.stderr + there.stderr
    assert (tmp_path / "here.bin").read_bytes() == (tmp_path / "there.bin").read_bytes()
