"""Reports of real runs: figures are the run's, what did not run is not shown, and a changed kernel fails the report."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from limberjack.commands import validate
from limberjack.engine.common.errors import ArgumentError
from tests.validation import parts
from tests.validation.contents import ROOT
from tests.validation.results import FAILED, INCOMPLETE, PASSED

CLOSED_FORMS = "tests/engine/kernels/sweeps/test_closed_forms.py"
PINOCCHIO = "tests/engine/kernels/sweeps/test_pinocchio.py"
#: what a scratch copy needs to run them
PARTS = ("bridge", "engine", "examples", "fmu", "hil", "src", "tests", "LICENSE", "pyproject.toml")


def reported(folder: Path, *options: str, root: Path = ROOT) -> tuple[int, dict[str, dict]]:
    """Exit status, and test → what the report says of it, of a run of the closed forms; '' is the whole report."""
    command = [sys.executable, "-m", "pytest", "-q", f"--validation-report={folder}", *options]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root / "src"), str(root), str(folder)])}
    done = subprocess.run(command, cwd=root, env=environment, timeout=900, capture_output=True, text=True, check=False)
    assert (folder / "results.json").is_file(), done.stdout + done.stderr
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    tests = {shown["test"].rpartition("::")[2]: shown for shown in document["models"]["rigid-trees"]["tests"]}
    return done.returncode, tests | {"": document}


@pytest.mark.parametrize("workers", ["0", pytest.param("2", marks=pytest.mark.long)])
def test_a_run_of_one_file_shows_its_figures_and_that_others_are_missing(tmp_path, workers):
    (tmp_path / "without_pinocchio.py").write_text("import sys\nsys.modules['pinocchio'] = None\n")
    options = ("-n", workers, "-p", "without_pinocchio", "-k", "not pendulum_period or 0.1")
    status, tests = reported(tmp_path, CLOSED_FORMS, PINOCCHIO, *options)
    assert status == 1
    assert tests[""]["verdict"] == INCOMPLETE
    projectile = tests["test_projectile"]
    (figure,) = projectile["cases"][0]["figures"]
    assert projectile["verdict"] == PASSED
    assert 0.0 < figure["error"] < figure["tolerance"] == 1e-10
    page = (tmp_path / "rigid-trees.html").read_text(encoding="utf-8")
    assert f"{figure['error']:.2g} m" in page
    assert tests["test_pendulum_period"]["why"] == "3 of 4 cases not run: not run"
    assert tests["test_every_frame"]["why"].startswith("could not import 'pinocchio'")
    assert tests["test_power_balance"]["why"] == "this run has no such test"
    assert "this run has no such test" in (tmp_path / "index.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_one_case_chosen_by_name_does_not_pass_for_all(tmp_path):
    status, tests = reported(tmp_path, f"{CLOSED_FORMS}::test_pendulum_period[0.1]", "-n", "0")
    assert status == 1
    assert tests[""]["restricted"].endswith("test_pendulum_period[0.1]")
    assert tests[""]["verdict"] == INCOMPLETE


@pytest.mark.long
def test_a_second_part_reports_what_the_first_has_shown_and_runs_the_rest(tmp_path):
    kept, first = tmp_path / "kept.json", ("-n", "0", "-k", "projectile or period")
    _, tests = reported(tmp_path / "first", CLOSED_FORMS, f"--validation-keep={kept}", *first)
    shown = tests["test_projectile"]
    _, tests = reported(tmp_path / "second", CLOSED_FORMS, f"--validation-earlier={kept}", "-n", "0")
    assert tests["test_projectile"] == shown
    assert tests["test_double_pendulum_acceleration"]["verdict"] == PASSED
    document = json.loads(kept.read_text(encoding="utf-8"))
    document["of"]["revision"] = "0"
    kept.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(pytest.UsageError, match="of another revision"):
        parts.read(kept)


@pytest.mark.long
def test_a_changed_constant_in_a_kernel_fails_the_report(tmp_path):
    """A weight of Runge and Kutta's method, 1/6, is 17 millionths too small; the engine is built from it and run."""
    root = tmp_path / "scratch"
    root.mkdir()
    for part in PARTS:
        source = ROOT / part
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, root / part, **({"symlinks": True} if source.is_dir() else {}))
    kernel = root / "engine" / "kernels" / "step" / "integrate.py"
    text = kernel.read_text(encoding="utf-8")
    assert text.count("h / 6.0\n") == 1
    kernel.write_text(text.replace("h / 6.0\n", "h / 6.0001\n"), encoding="utf-8")
    status, tests = reported(tmp_path / "report", CLOSED_FORMS, "-n", "0", root=root)
    assert status == 1
    assert tests[""]["verdict"] == FAILED
    for name in ("test_projectile", "test_pendulum_period", "test_torque_free_asymmetric_body"):
        figures = [figure for case in tests[name]["cases"] for figure in case["figures"]]
        assert tests[name]["verdict"] == FAILED
        assert not all(figure["holds"] for figure in figures)
    assert tests["test_double_pendulum_acceleration"]["verdict"] == PASSED  # takes no step
    assert '<span class="badge failed">failed</span>' in (tmp_path / "report" / "index.html").read_text(
        encoding="utf-8"
    )


def test_outside_of_the_repository_the_command_says_what_to_check_out(tmp_path, monkeypatch):
    monkeypatch.setattr(validate, "_TOP", tmp_path)
    with pytest.raises(
        ArgumentError, match=r"Check out Limberjack's repository at version .* then limberjack validate\."
    ):
        validate.validate(None)
