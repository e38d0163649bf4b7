"""Our FMUs under the C driver: equal to the engine bit for bit, states across processes, misuse, memory."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.fmu.judged import VARIANTS, Judged, compiled, engine_rows, example_names, exported, random_commands

pytestmark = pytest.mark.long  # exports FMUs: the first compiles the engine
MODELS = [*example_names(), "full"]
STEPS, INNER = 60, 5
SANITIZE = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
Export = Callable[..., Judged]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("driver") / "driver", ["gcc"], ["-O2", "-g"])


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("sanitized") / "driver", ["gcc"], SANITIZE)


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Export:
    """export(model, variant): every FMU once."""
    made: dict[tuple[str, str], Judged] = {}

    def get(name: str, variant: str) -> Judged:
        if (name, variant) not in made:
            made[name, variant] = exported(name, variant, tmp_path_factory.mktemp("fmu"))
        return made[name, variant]

    return get


def write_inputs(fmu: Judged, folder: Path, steps: int) -> tuple[np.ndarray, Path]:
    """Random commands, and the file of them for the driver."""
    commands = random_commands(fmu.system, steps)
    commands.tofile(folder / "inputs.bin")
    return commands, folder / "inputs.bin"


def simulate(fmu: Judged, driver: Path, folder: Path, command: str = "run") -> tuple[np.ndarray, np.ndarray]:
    """Commands and the driver's rows, in communication steps of INNER engine steps."""
    commands, inputs = write_inputs(fmu, folder, STEPS)
    out, h = folder / f"{command}.bin", INNER * fmu.system.dt
    done = fmu.run(driver, command, "--steps", STEPS, "--h", h, "--inputs", inputs, "--out", out)
    assert done.returncode == 0, done.stderr
    return commands, fmu.rows(out)


def test_commands_are_the_inputs_in_order(export: Export) -> None:
    for name in MODELS:
        inputs = export(name, "fmi2").numbers("input")
        assert len(inputs) == len(export(name, "fmi2").system.command_names)
        assert list(export(name, "fmi3").numbers("input")) == ["command"]


@pytest.mark.parametrize("name", MODELS)
def test_array_variant_is_the_engine_bit_for_bit(name: str, export: Export, driver: Path, tmp_path: Path) -> None:
    fmu = export(name, "fmi3")
    commands, rows = simulate(fmu, driver, tmp_path)
    engine = engine_rows(fmu.system, commands, INNER)
    at = fmu.numbers("output")
    for variable in ("q", "v", "tau"):
        assert np.array_equal(rows[:, 1:][:, at[variable]], engine[variable]), variable
    assert np.array_equal(rows[:, 1:][:, at["energy.total"]].ravel(), engine["energy"])
    sensors = [columns for variable, columns in at.items() if variable.startswith("sensor.")]
    found = [rows[:, 1:][:, columns] for columns in sensors]
    assert np.array_equal(np.hstack([np.empty((STEPS + 1, 0)), *found]), engine["sensors"])


@pytest.mark.parametrize("variant", ["scalar", "fmi2"])
@pytest.mark.parametrize("name", MODELS)
def test_scalar_variants_are_the_array_variant_bit_for_bit(
    name: str, variant: str, export: Export, driver: Path, tmp_path: Path
) -> None:
    arrays, scalars = export(name, "fmi3"), export(name, variant)
    _, expected = simulate(arrays, driver, tmp_path)
    _, rows = simulate(scalars, driver, tmp_path)
    wanted = {
        f"{variable}[{i + 1}]" if columns.stop - columns.start > 1 else variable: columns.start + i
        for variable, columns in arrays.numbers("output").items()
        for i in range(columns.stop - columns.start)
    }
    compared = 0
    for variable, columns in scalars.numbers("output").items():
        assert np.array_equal(rows[:, 1 + columns.start], expected[:, 1 + wanted[variable]]), variable
        compared += 1
    assert compared > fmu_minimum(scalars)


def fmu_minimum(fmu: Judged) -> int:
    """Fewer outputs than angles and rates of hinges would make a comparison of nothing."""
    return 2 * sum(body.hinge.nv == 1 for body in fmu.system.bodies)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", MODELS)
def test_exchange_converges_to_the_engine(
    name: str, variant: str, export: Export, driver: Path, tmp_path: Path
) -> None:
    """RK4 over the derivatives, in the engine's own steps: equal up to the order in which states are combined."""
    fmu = export(name, variant)
    commands, inputs = write_inputs(fmu, tmp_path, STEPS)
    out, dt = tmp_path / "out.bin", fmu.system.dt / 4
    done = fmu.run(driver, "exchange", "--steps", STEPS, "--h", dt, "--inputs", inputs, "--out", out)
    assert done.returncode == 0, done.stderr
    engine = engine_rows(fmu.system, commands, 1, dt=dt, integrator="rk4")
    found = fmu.rows(out)[:, 1:][:, fmu.numbers("output")["energy.total"]].ravel()
    scale = np.abs(engine["energy"]).max() + np.ptp(engine["energy"])
    np.testing.assert_allclose(found, engine["energy"], rtol=0, atol=1e-6 * scale)
    if variant == "fmi3":
        for variable in ("q", "v"):
            rows = fmu.rows(out)[:, 1:][:, fmu.numbers("output")[variable]]
            np.testing.assert_allclose(rows, engine[variable], rtol=0, atol=1e-6 * np.abs(engine[variable]).max())


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", MODELS)
def test_a_state_goes_on_in_a_new_process(
    name: str, variant: str, export: Export, driver: Path, tmp_path: Path
) -> None:
    fmu, saved = export(name, variant), tmp_path / "state.bin"
    here = fmu.run(driver, "state", "--save", saved, "--steps", STEPS, "--out", tmp_path / "here.bin")
    there = fmu.run(driver, "state", "--restore", saved, "--steps", STEPS, "--out", tmp_path / "there.bin")
    assert here.returncode == there.returncode == 0, here.stderr + there.stderr
    assert (tmp_path / "here.bin").read_bytes() == (tmp_path / "there.bin").read_bytes()
    rows = fmu.rows(tmp_path / "here.bin")
    assert np.isfinite(rows).all()
    assert np.ptp(rows[:, 1:], axis=0).max() > 0


def test_a_state_of_another_model_is_refused(export: Export, driver: Path, tmp_path: Path) -> None:
    one, other = export(MODELS[0], "fmi3"), export("full", "fmi3")
    assert one.run(driver, "state", "--save", tmp_path / "s.bin").returncode == 0
    done = other.run(driver, "state", "--restore", tmp_path / "s.bin")
    assert done.returncode == 1
    assert "cannot be restored" in done.stderr


def checks(text: str) -> set[str]:
    return set(re.findall(r"^(?:ok  |FAIL) (.. \w+)$", text, re.MULTILINE))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", MODELS)
def test_misuse_under_sanitizers(name: str, variant: str, export: Export, sanitized: Path) -> None:
    """Wrong calls, damaged states, threads: refused with a log line, and AddressSanitizer finds no leak."""
    done = export(name, variant).run(sanitized, "misuse")
    assert done.returncode == 0, done.stderr
    assert {"CS threads", "CS damaged", "ME event_mode", "CS directions", "ME directions"} <= checks(done.stdout)
    assert len(checks(done.stdout)) > 50


@pytest.mark.parametrize("variant", ["fmi3", "fmi2"])
def test_misuse_under_valgrind(variant: str, export: Export, driver: Path) -> None:
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        pytest.skip("no valgrind")
    words = [valgrind, "--quiet", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=all", str(driver)]
    done = export(MODELS[0], variant).run(words, "misuse")
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(checks(done.stdout)) > 50
