"""The shim, the core in C and the C interface compile without a warning for every platform."""

from __future__ import annotations

import subprocess
import sys

import pytest

from limberjack.engine.compile.link import C_FILES, write_entries
from limberjack.engine.compile.plan import Part
from limberjack.engine.compile.sources import NATIVE
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.native.layout import write_header
from tests.fmu.shim_build import FLAGS, SHIM, shared_sources

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
        *(f"-I{folder}" for folder in (tmp_path, C_FILES, NATIVE, SHIM)),
        "-Wconversion",
        "-O2",
        "-c",
    ]
    write_header(write_entries(tmp_path, [Part(*each, True, "", "") for each in entries().types.items()], ""))
    for source in {*shared_sources(), *NATIVE.glob("*.c")}:
        command = [*compiler, str(source), "-o", str(tmp_path / f"{source.stem}.o")]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
