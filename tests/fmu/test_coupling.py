"""What an FMU of the process coupling carries: an exact model, and libraries that work where they are put."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import ModuleSpec

import pytest

from limberjack.engine.api.simulation import Simulation
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.compile.targets import TARGETS, host
from limberjack.engine.model.archive import from_bytes
from limberjack.fmu import process_coupling
from tests.fmu.coupled_fmu import load_arm


@pytest.fixture(autouse=True)
def fresh():
    process_coupling._libraries.cache_clear()
    yield
    process_coupling._libraries.cache_clear()


def pretend(monkeypatch, package):
    """pyzmq is installed in this folder."""
    package.mkdir(parents=True, exist_ok=True)
    spec = ModuleSpec("zmq", None, origin=str(package / "__init__.py"))
    monkeypatch.setattr(process_coupling.importlib.util, "find_spec", lambda name: spec)


def test_the_model_and_the_libraries(tmp_path):
    arm = load_arm()
    files = process_coupling.files(arm, [host()])
    model = from_bytes(files.pop("resources/model.ljm"), "model.ljm")
    assert Simulation(model).model_hash == Simulation(arm).model_hash
    for name, content in files.items():
        assert name.startswith(f"resources/{host()}/")
        (tmp_path / name.rpartition("/")[2]).write_bytes(content)
    (library,) = tmp_path.glob("libzmq.*")
    program = (
        "import ctypes, sys; ctypes.CDLL(sys.argv[1]);"
        "print(*(line.split()[-1] for line in open('/proc/self/maps') if 'zmq' in line or 'sodium' in line))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program, library], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert loaded  # all from the new place
    assert all(path.startswith(str(tmp_path)) for path in loaded)


def test_the_same_model_gives_the_same_files():
    assert process_coupling.files(load_arm(), [host()]) == process_coupling.files(load_arm(), [host()])


def test_other_platforms_are_refused():
    other = next(name for name in TARGETS if name != host())
    with pytest.raises(ArgumentError, match=f"for {other} cannot be made here.*embedded coupling"):
        process_coupling.files(load_arm(), [host(), other])


def test_a_pyzmq_without_libraries_is_refused(monkeypatch, tmp_path):
    pretend(monkeypatch, tmp_path / "zmq")
    with pytest.raises(process_coupling.LibraryError, match="brings no libzmq that could be carried.*pip install"):
        process_coupling.files(load_arm(), [host()])
    (tmp_path / "pyzmq.libs").mkdir()
    with pytest.raises(process_coupling.LibraryError, match="no libzmq among the libraries"):
        process_coupling.files(load_arm(), [host()])


def test_a_library_that_does_not_load_is_refused(monkeypatch, tmp_path):
    pretend(monkeypatch, tmp_path / "zmq")
    (tmp_path / "pyzmq.libs").mkdir()
    (tmp_path / "pyzmq.libs" / "libzmq-1.so.5").write_bytes(b"no library")
    with pytest.raises(process_coupling.LibraryError, match="cannot be loaded from another folder"):
        process_coupling.files(load_arm(), [host()])


def test_no_pyzmq(monkeypatch):
    monkeypatch.setattr(process_coupling.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(process_coupling.LibraryError, match="pyzmq is not installed"):
        process_coupling.files(load_arm(), [host()])
