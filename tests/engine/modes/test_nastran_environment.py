"""The reader of Nastran's files with pyNastran itself, which needs an older NumPy than the other tests have."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
READER = "tests/engine/modes/test_nastran.py"


@pytest.mark.long
@pytest.mark.timeout(900)
def test_nastran_files_in_an_environment_with_the_extra(tmp_path):
    """`pip install limberjack[nastran]` works, and READER's tests run there, on OP2 and BDF files, none skipped."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True, env=clean, timeout=120)
    install = [
        str(python),
        "-m",
        "pip",
        "install",
        "-q",
        f"{ROOT}[nastran,build]",
        "pytest",
        "pytest-timeout",
        "pytest-xdist",
        "hypothesis",
    ]
    done = subprocess.run(install, env=clean, capture_output=True, text=True, timeout=600)
    if "Could not find a version" in done.stderr or "Temporary failure" in done.stderr:
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stderr[-2000:]
    run = [str(python), "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", READER]
    done = subprocess.run(run, cwd=ROOT, env=clean, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-4000:]
    assert re.search(r"\d+ passed", done.stdout)
    assert "skipped" not in done.stdout
