"""resources/plant.bin: what Python writes is what the shim reads, number by number."""

from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.compile.sources import NATIVE
from limberjack.engine.model.build import build
from limberjack.engine.model.system import System
from limberjack.engine.native.plant_file import Region, labels, read_plant_file
from limberjack.fmu.plant_file import plant_file
from limberjack.fmu.variables.listing import variables_of
from limberjack.fmu.variables.variable import Variable
from tests.engine.full_model import full_model
from tests.fmu.shim_build import TOY, compile_c

TOKEN = "{8c4e810f-3df3-4a00-8276-176fa3c9f000}"
CAUSALITIES = ["independent", "parameter", "input", "output", "local"]


@pytest.fixture(scope="module")
def model() -> System:
    return full_model()


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shim's reader as a program that prints what it finds."""
    output = tmp_path_factory.mktemp("reader") / "print_plant_file"
    return compile_c(
        output, [TOY / "print_plant_file.c", *(NATIVE / name for name in ("plant_file.c", "files.c", "message.c"))]
    )


def written(system: System, variant: str = "arrays", coupling: str = "embedded") -> tuple[bytes, list[Variable]]:
    plant = build(system)
    variables = variables_of(system, plant, variant, coupling, parameters=["*"])  # type: ignore[arg-type]
    return plant_file(system, plant, variables, TOKEN, coupling=coupling), variables  # type: ignore[arg-type]


def printed(reader: Path, folder: Path, content: bytes) -> dict[str, list[str]]:
    """First word of each line → the rest of the lines."""
    (folder / "plant.bin").write_bytes(content)
    done = subprocess.run([reader, folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    found: dict[str, list[str]] = defaultdict(list)
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        found[word].append(rest)
    return found


def flags(variable: Variable) -> int:
    return bool(variable.start) + 2 * (variable.variability == "tunable") + 4 * (variable.variability == "fixed")


@pytest.mark.parametrize("variant", ["arrays", "scalar"])
def test_the_shim_reads_the_embedded_model_that_was_written(model, reader, tmp_path, variant):
    content, variables = written(model, variant)
    found = printed(reader, tmp_path, content)
    plant, simulation = build(model), lj.Simulation(model)
    assert found["coupling"] == ["0"]
    assert found["hash"] == [simulation.model_hash]
    assert found["token"] == [TOKEN]
    assert float(found["dt"][0]) == model.dt
    assert [int(x) for x in found["int"]] == list(plant.ints)
    assert [float(x) for x in found["float"]] == list(plant.floats)
    assert [float(x) for x in found["state"]] == list(simulation.state)
    assert found["label"] == labels(model)
    observed = 2 * model.nv + len(simulation.output_vector)
    switches = 2 * model.nv + 2 * len(model.actuators)
    surveyed = 10 + 13 * len(model.node_names)
    lengths = [len(plant.ints), len(plant.floats), plant.work_size, len(simulation.state), observed, surveyed, switches]
    counts = [*lengths, model.nq, model.nv, len(model.command_names)]
    assert [int(x) for x in found["counts"][0].split()] == counts
    assert found["variable"] == [
        f"{int(v.region)} {v.size} {v.offset} {2 if v.boolean else 0} {CAUSALITIES.index(v.causality)} {flags(v)} "
        f"{v.minimum:g} {v.maximum:g} {v.nominal if v.is_state else 0:.17g} {v.name}|"
        for v in variables
    ]


def test_with_an_engine_process_parameters_carry_the_engines_names(model, reader, tmp_path):
    content, variables = written(model, "arrays", "process")
    found, plant = printed(reader, tmp_path, content), build(model)
    assert found["coupling"] == ["1"]
    assert found["int"] == []
    parameters = [v for v in variables if v.region is Region.PARAMETER]
    floats = [float(x) for x in found["float"]]
    lines = [line.split(" ", 9) for line in found["variable"]]
    reported = [line for line in lines if int(line[0]) == Region.PARAMETER]
    count = 0
    for line, variable in zip(reported, parameters, strict=True):
        name, _, engine_name = line[9].partition("|")
        assert (name, int(line[2])) == (variable.name, count)
        assert plant.parameters[engine_name] == variable.offset
        assert floats[count : count + variable.size] == list(variable.start)
        count += variable.size
    assert count == len(floats)
    assert b"\0gravity.x\0gravity.y\0gravity.z\0" in content


def test_settings_carry_their_start_values(model, reader, tmp_path):
    content, variables = written(model, "scalar", "process")
    lines = printed(reader, tmp_path, content)["variable"]
    for line, variable in zip(lines, variables, strict=True):
        if variable.region is Region.SETTING:
            _, _, _, kind, _, reported, _, _, start, texts = line.split(" ", 9)
            assert (int(kind), int(reported)) == (int(variable.text), 5)
            if variable.text:
                assert texts == f"{variable.name}|{variable.start[0]}"
            else:
                assert float(start) == variable.start[0]


def test_reading_back_in_python(model):
    content, variables = written(model)
    found = read_plant_file(content)
    assert [row["name"] for row in found.variables] == [v.name for v in variables]
    assert [row["region"] for row in found.variables] == [v.region for v in variables]
    assert [row["causality"] for row in found.variables] == [v.causality for v in variables]
    np.testing.assert_array_equal(found.floats, build(model).floats)
    np.testing.assert_array_equal(found.ints, build(model).ints)
    np.testing.assert_array_equal(found.state, lj.Simulation(model).state)
    assert found.labels == tuple(labels(model))
    assert all(found.header[name] % 8 == 0 for name in found.header if name.startswith("at_"))


def test_the_settings_of_a_run_are_the_callers(model):
    plant = build(model)
    variables = variables_of(model, plant, "scalar")
    content = plant_file(model, plant, variables, TOKEN, dt=2e-4, integrator="implicit", substeps=3)
    header = read_plant_file(content).header
    assert (header["dt"], header["integrator"], header["substeps"]) == (2e-4, 2, 3)


def test_the_same_model_gives_the_same_bytes(model):
    assert written(model)[0] == written(full_model())[0]


def test_damage_is_found(model):
    content = bytearray(written(model)[0])
    for at in (8, 30, 300, len(content) - 1):
        content[at] ^= 1
        with pytest.raises(ArgumentError, match="damaged"):
            read_plant_file(bytes(content))
        content[at] ^= 1
    with pytest.raises(ArgumentError, match="not a plant file"):
        read_plant_file(b"PK\3\4" + bytes(500))
    with pytest.raises(ArgumentError, match="damaged"):
        read_plant_file(bytes(content[:-8]))


@pytest.mark.parametrize("token", ["", "x" * 40])
def test_tokens_that_do_not_fit_are_refused(model, token):
    with pytest.raises(ArgumentError, match="shorter"):
        plant_file(model, build(model), [], token)
