"""What the binaries give and take: the functions of both standards and no others, from the C runtime and no more."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest

from limberjack.engine.compile import targets
from limberjack.fmu import binaries
from tests.fmu.shim_build import SHIM
from tests.fmu.symbols import exported

pytestmark = pytest.mark.skipif(targets.host() not in targets.TARGETS, reason="no FMU binary for this platform")
#: the C runtime of Windows 10, and what starts it
RUNTIME = re.compile(r"api-ms-win-crt-[a-z]+-l1-1-0\.dll|KERNEL32\.dll", re.IGNORECASE)


def declared() -> set[str]:
    """Functions of the two headers, those made by macros included."""
    names: set[str] = set()
    for version in (2, 3):
        text = (SHIM / f"fmi{version}_api.h").read_text(encoding="utf-8")
        names |= set(re.findall(rf"FMI{version}_EXPORT[^;(]*?\b(fmi{version}[A-Z]\w*)\(", text))
        for kind in re.findall(r"^FMI3_VALUES\((\w+)\);", text, flags=re.MULTILINE):
            names |= {f"fmi3Get{kind}", f"fmi3Set{kind}"}
    return {name for name in names if not name.endswith("##TYPE") and name not in ("fmi3Get", "fmi3Set")}


def output_of(*command: str) -> str:
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs {command[0]}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(done.stderr.strip())
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="ELF files")
@pytest.mark.parametrize("coupling", ["embedded", "process"])
def test_the_binary_here_exports_what_the_headers_declare(coupling):
    path = binaries.binaries(targets.chosen("host"), coupling)[targets.host()]
    names = exported(path)
    assert [sum(name.startswith(f"fmi{v}") for name in names) for v in (2, 3)] == [44, 75]  # of the standards' headers
    assert names == declared()


@pytest.mark.long
@pytest.mark.parametrize("coupling", ["embedded", "process"])
def test_the_windows_binary_exports_them_and_needs_the_c_runtime_only(coupling):
    path = binaries.binaries(targets.chosen("x86_64-windows"), coupling)["x86_64-windows"]
    facts = output_of("objdump", "-p", str(path))
    table = facts.split("[Ordinal/Name Pointer] Table")[1].split("\n\n")[0]
    assert set(re.findall(r"\b(\w+)$", table, flags=re.MULTILINE)) - {"Table"} == declared()
    libraries = re.findall(r"DLL Name: (\S+)", facts)
    assert libraries
    assert [name for name in libraries if not RUNTIME.fullmatch(name)] == []
