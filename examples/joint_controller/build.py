"""Compile joint_controller.c with the C compiler at hand and pack it as an FMU.

python examples/joint_controller/build.py [joint_controller.fmu]
"""

from __future__ import annotations

import platform
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from limberjack.hil.c_program import BUILD_SECONDS, compiler

HERE = Path(__file__).resolve().parent
#: without contraction to fused multiply-adds, so that every compiler gives the same bits
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-ffp-contract=off", "-shared", "-fvisibility=hidden")
SYSTEMS = {"Linux": ("linux", ".so"), "Darwin": ("darwin", ".dylib"), "Windows": ("windows", ".dll")}
MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}


def compile_library(code: Path, library: Path) -> None:
    """Compile one C file to a shared library for this platform."""
    unix = [] if platform.system() == "Windows" else ["-fPIC", "-lm"]
    command = [*compiler(), *FLAGS, str(code), "-o", str(library), *unix]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"{code} does not compile:\n{done.stderr}")


def build(fmu: str | Path) -> Path:
    """Make the FMU for this platform; returns its path."""
    fmu = Path(fmu)
    system, suffix = SYSTEMS[platform.system()]
    code, library = HERE / "joint_controller.c", f"joint_controller{suffix}"
    with tempfile.TemporaryDirectory() as folder:
        compile_library(code, Path(folder, library))
        fmu.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(fmu, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(HERE / "modelDescription.xml", "modelDescription.xml")
            archive.write(Path(folder, library), f"binaries/{MACHINES[platform.machine().lower()]}-{system}/{library}")
            archive.write(code, f"documentation/{code.name}")
    return fmu


if __name__ == "__main__":
    print(build(Path(sys.argv[1] if len(sys.argv) > 1 else "joint_controller.fmu")))
