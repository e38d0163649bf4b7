"""The shim compiles without a warning for every platform of an FMU."""

from __future__ import annotations

import subprocess
import sys

import pytest

from limberjack.engine.compile.link import C_FILES
from tests.fmu.shim_build import FLAGS, header, shared_sources

TARGETS = (
    "x86_64-linux-gnu.2.17",
    "aarch64-linux-gnu.2.17",
    "x86_64-windows-gnu",
    "x86_64-macos.11.0",
    "aarch64-macos.11.0",
)


@pytest.mark.long
@pytest.mark.parametrize("target", TARGETS)
def test_no_warnings(tmp_path, target):
    pytest.importorskip("ziglang")
    compiler = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-target",
        target,
        *FLAGS,
        f"-I{header()}",
        f"-I{C_FILES}",
        "-Wconversion",
        "-O2",
        "-c",
    ]
    for source in shared_sources():
        command = [*compiler, str(source), "-o", str(tmp_path / f"{source.stem}.o")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
