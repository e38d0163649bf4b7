"""The engine is started with numbers that it understands, whatever the importer's locale."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from limberjack.engine.compile.sources import NATIVE
from tests.cases import long_only
from tests.fmu.shim_build import SHIM, TOY, compile_c

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX shell script")


@pytest.fixture
def german(tmp_path: Path) -> dict[str, str]:
    """An environment whose decimal point is a comma."""
    if shutil.which("localedef") is None:
        pytest.skip("no localedef")
    command = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / "de_DE.UTF-8")]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("no source of the locale de_DE (Debian: locales)")
    return os.environ | {"LOCPATH": str(tmp_path), "LC_ALL": "de_DE.UTF-8"}


@pytest.mark.parametrize("dt", ["0.001", "2.5e-05", *long_only(("1", "0.5"))])
def test_the_step_is_reported_with_a_point(german, tmp_path, dt):
    sources = [TOY / "start_engine.c", SHIM / "coupled_process.c", SHIM / "coupled_posix.c", NATIVE / "files.c"]
    host = compile_c(tmp_path / "host", sources, f"-I{SHIM}", "-ldl")
    script, reported = tmp_path / "engine", tmp_path / "reported"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{reported}"\n', encoding="utf-8")
    script.chmod(0o755)
    subprocess.run([str(host), str(script), dt], env=german, check=True)
    words = reported.read_text(encoding="utf-8").splitlines()
    assert words[words.index("--dt") + 1] == f"{float(dt):.17g}"
