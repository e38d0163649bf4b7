"""Independent tools find nothing wrong with the model descriptions: FMPy (with the standard's schemas), fmutool."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import fmpy
import pytest
from fmpy.validation import validate_fmu

from limberjack.fmu.fmu_file import write
from tests.cases import long_only
from tests.fmu import contents


@pytest.mark.parametrize("kind", contents.KINDS, ids="-".join)
@pytest.mark.parametrize(
    "name",
    [
        "full",
        "equipped",
        *long_only(name for name in contents.MODELS if name not in ("full", "equipped")),
    ],
)
def test_fmpy_finds_no_problem(name, kind, tmp_path):
    made = contents.content(name, *kind)
    path = write(tmp_path / "m.fmu", {"modelDescription.xml": contents.document(made)})
    assert validate_fmu(str(path)) == []


@pytest.mark.parametrize("kind", contents.KINDS, ids="-".join)
def test_fmpy_reads_what_was_written(kind, tmp_path):
    made = contents.content("full", *kind)
    path = write(tmp_path / "m.fmu", {"modelDescription.xml": contents.document(made)})
    read = fmpy.read_model_description(str(path))
    assert read.fmiVersion == made.fmi
    assert (read.guid or read.instantiationToken) == made.token
    assert read.coSimulation.modelIdentifier == made.identifier
    assert (read.modelExchange is None) == (kind[2] == "process")
    assert [v.name for v in read.modelVariables] == [v.name for v in made.variables]
    assert [v.valueReference for v in read.modelVariables] == list(range(len(made.variables)))
    assert float(read.defaultExperiment.stepSize) == made.experiment.step_size
    if kind[2] == "embedded":
        system = made.system
        states = sum(v.size for v in made.variables if v.is_state)
        assert states == system.nq + system.nv
        counted = int(read.numberOfEventIndicators) if kind[0] == "2.0" else len(read.eventIndicators)
        assert counted == len(made.indicators)


@pytest.mark.parametrize("kind", contents.KINDS[:3], ids="-".join)
def test_fmutool_finds_no_problem(kind, tmp_path):
    made = contents.content("full", *kind)
    path = write(tmp_path / "m.fmu", {"modelDescription.xml": contents.document(made)})
    tool = Path(sys.executable).with_name("fmutool")
    run = subprocess.run([str(tool), "-input", str(path), "-check"], capture_output=True, text=True)
    said = run.stdout + run.stderr
    assert run.returncode == 0, said
    assert "ERROR" not in said, said
    assert "compliant with FMI-" in said
    assert "No semantic error" in said


def test_the_tools_do_find_problems(tmp_path):
    """The oracle is awake: a start value too many is reported."""
    text = contents.document(contents.content("plain", "3.0", "scalar")).decode()
    broken = text.replace('initial="calculated"', 'initial="calculated" start="1.0"', 1)
    assert broken != text
    path = write(tmp_path / "m.fmu", {"modelDescription.xml": broken.encode()})
    assert validate_fmu(str(path))
