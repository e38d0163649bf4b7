"""Programs for other platforms, linked here with what `limberjack embed --platform` writes, under Wine and qemu."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

import limberjack as lj
from limberjack.engine.compile.targets import TARGETS
from limberjack.engine.native.embedding import embed
from tests.engine.native.conftest import EXAMPLES
from tests.engine.native.test_programs import controlled, output_of
from tests.fmu.test_foreign_platforms import ARM_ROOT, WINE

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]


def program(platform: str, folder: Path, *options: str) -> Path:
    """The control loop for a platform, beside the library that it needs."""
    pytest.importorskip("ziglang")
    prefix, target = embed(folder / "prefix", platform), TARGETS[platform]
    made = folder / ("control_loop.exe" if "windows" in platform else "control_loop")
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", target.zig]
    flags = ["-std=c11", "-O2", "-ffp-contract=off", f"-I{prefix / 'include'}", f"-L{prefix / 'lib'}", "-llimberjack"]
    output_of(*zig, EXAMPLES / "embed" / "control_loop.c", *flags, *options, "-o", made)
    return made


def test_windows_has_the_bits_of_python(tmp_path, arm):
    wine = next((found for name in WINE if (found := shutil.which(name))), None)
    if wine is None:
        pytest.skip("no wine (Debian: wine64)")
    made = program("x86_64-windows", tmp_path)
    shutil.copy(tmp_path / "prefix" / "bin" / "limberjack.dll", tmp_path)
    model = "Z:" + str(lj.compile_model(arm, tmp_path / "arm.ljm")).replace("/", "\\")
    environment = {"WINEPREFIX": str(tmp_path / "wine"), "WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml="}
    assert output_of(wine, made, model, 200, **environment).replace("\r", "") == controlled(200)


def test_arm_has_the_bits_of_python(tmp_path, arm):
    qemu = shutil.which("qemu-aarch64")
    if qemu is None or not (ARM_ROOT / "lib" / "ld-linux-aarch64.so.1").exists():
        pytest.skip("no qemu-aarch64 with a C library (Debian: qemu-user, libc6-arm64-cross)")
    made = program("aarch64-linux", tmp_path, f"-Wl,-rpath,{tmp_path / 'prefix' / 'lib'}")
    model = lj.compile_model(arm, tmp_path / "arm.ljm")
    assert output_of(qemu, "-L", ARM_ROOT, made, model, 200) == controlled(200)
