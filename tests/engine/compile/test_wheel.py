"""A wheel runs by itself: without compiler, network, cache and numba it steps a model and exports an FMU."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.engine.native.test_programs import controlled, output_of
from tests.fmu.shim_build import compiler

ROOT = Path(__file__).parents[3]

#: `sitecustomize` of every process of the test
ALONE = """
import importlib.abc, socket, sys

class Refuses(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite", "ziglang"):
            raise AssertionError(f"{name} is imported")

sys.meta_path.insert(0, Refuses())
connect = socket.socket.connect

def connect_here(self, address):
    assert self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1"), f"{address} is asked"
    return connect(self, address)

socket.socket.connect = connect_here
"""

PROGRAM = """
import sys
import limberjack as lj
from pathlib import Path
folder = Path(lj.__file__).parent
assert str(folder).startswith(sys.argv[1]), folder
system = lj.load(folder / "examples" / "space_manipulator.yaml")
simulation = lj.Simulation(system)
simulation.step(1000)
lj.export_fmu(system, Path(sys.argv[1]) / "arm.fmu", platforms="host")
lj.export_fmu(system, Path(sys.argv[1]) / "thin.fmu", platforms="host", coupling="process")
from limberjack.engine.native.embedding import embed
embed(Path(sys.argv[1]) / "prefix")
lj.compile_model(lj.load(folder / "examples" / "torque_arm.yaml"), Path(sys.argv[1]) / "torque_arm.ljm")
print(simulation.step_count)
"""


@pytest.mark.long
def test_a_wheel_needs_no_compiler(tmp_path):
    pytest.importorskip("setuptools", minversion="77")
    build = [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "-q", "-w", tmp_path]
    subprocess.run(build, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert "-py3-none-" in wheel.name
    (library,) = (name for name in zipfile.ZipFile(wheel).namelist() if "/compile/binaries/" in name)
    assert library.endswith((".so", ".dll", ".dylib"))
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    (tmp_path / "site" / "sitecustomize.py").write_text(ALONE)
    environment = {
        **{"PATH": "/nowhere", "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "MPLBACKEND": "Agg"},
        "PYTHONPATH": str(tmp_path / "site"),
    }

    def run(*command):
        return subprocess.run(
            [sys.executable, *command], env=environment, capture_output=True, text=True, cwd=tmp_path, check=False
        )

    done = run("-c", PROGRAM, str(tmp_path / "site"))
    assert (done.stdout, done.stderr) == ("1000\n", "")
    demo = run("-m", "limberjack", "demo", "--out", str(tmp_path / "demo"))
    assert demo.returncode == 0, demo.stdout + demo.stderr
    assert {"run.png", "log.csv", "fmu.png", "grasp.png"} <= {file.name for file in (tmp_path / "demo").iterdir()}
    assert not (tmp_path / "cache" / "limberjack").exists()
    check_program(tmp_path / "site", tmp_path)


def check_program(site: Path, folder: Path) -> None:
    """A program in C runs with what the wheel brought."""
    prefix, program = site / "prefix", folder / "control_loop"
    source = ROOT / "examples" / "embed" / "control_loop.c"
    library = f"-L{prefix / 'lib'}", "-llimberjack", f"-Wl,-rpath,{prefix / 'lib'}"
    output_of(*compiler(), "-std=c11", f"-I{prefix / 'include'}", source, *library, "-o", program)
    assert output_of(program, site / "torque_arm.ljm", 100) == controlled(100)
