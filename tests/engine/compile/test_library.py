"""The library of compiled entries: what it takes, what it refuses, what it needs, and that its levels agree."""

from __future__ import annotations

import _ctypes
import ctypes
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.compile import build, library, sources, store, targets
from limberjack.engine.compile.compiled import FULL, WORLDS
from limberjack.engine.compile.library import Library, LibraryError
from limberjack.engine.compile.targets import TARGETS, host
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.tables.reports import INTEGRATORS
from tests.engine.random_systems import MOVING, random_state, random_system
from tests.fmu.symbols import undefined
from tests.validation.scope import does_not_apply

EXAMPLES, CPUINFO = Path(__file__).parents[3] / "examples", Path("/proc/cpuinfo")
#: what C's library and the loader give; an allocator is not among it
SYSTEM = {"memset", "memcpy", "memmove", "atan2", "tan", "tanh", "sqrt"}
LEVELS = list(TARGETS[host()].processors)
LEAST = LEVELS[0]

STEPPED = """
import sys
import limberjack as lj
simulation = lj.Simulation(lj.load(sys.argv[1]))
simulation.step(10)
simulation.output_vector, simulation.dynamics.mass_matrix(simulation.q)
print(sorted({"numba", "llvmlite"} & set(sys.modules)))
"""


def running(seed: int, integrator: str) -> lj.Simulation:
    rng = np.random.default_rng(seed)
    system = random_system(list(rng.choice(MOVING, rng.integers(1, 8))), rng)
    simulation = lj.Simulation(system, dt=1e-4, integrator=integrator)
    simulation.q, simulation.v = random_state(system, rng)
    return simulation


def advanced(of: Library, simulation: lj.Simulation, steps: int) -> np.ndarray:
    """The State after some steps from the simulation's."""
    state, report, plant = simulation.state, np.zeros(3, dtype=np.int64), simulation.plant
    numbers = simulation.dt, INTEGRATORS[simulation.integrator], 1, steps, steps
    of.advance(plant.ints, plant.floats, plant.new_work(), state, *numbers, report)
    assert report.tolist() == [0, 0, steps]
    return state


def require_wider_registers() -> None:
    if entries().level != "v4":
        does_not_apply(f"this processor runs code of level {entries().level}, and has no wider registers")


def masses(of: Library, simulation: lj.Simulation) -> np.ndarray:
    """The mass matrix, whose columns fill the widest registers."""
    plant, M = simulation.plant, np.zeros((simulation.system.nv, simulation.system.nv))
    of.mass_matrix(plant.ints, plant.floats, plant.new_work(), simulation.q, M)
    return M


@pytest.mark.parametrize("model", ["space_manipulator", "four_bar"])
def test_a_process_that_steps_a_model_imports_no_compiler(model):
    assert entries().path.is_file()  # built
    command = [sys.executable, "-c", STEPPED, str(EXAMPLES / f"{model}.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize("seed", range(4))
def test_a_processor_without_fused_multiply_add_differs_in_the_last_bits_only(seed):
    simulation = running(seed, "rk4")
    slow = advanced(library.load(level=LEAST), simulation, 100)
    fast = advanced(library.load(), simulation, 100)
    simulation.step(100)
    assert np.array_equal(fast, simulation.state)
    assert slow == pytest.approx(fast, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_wider_registers_give_the_same_bits(integrator):
    require_wider_registers()
    wide = library.load(level="v4")
    for seed in range(4):
        simulation = running(seed, integrator)
        narrow = library.load(level="v3")
        assert np.array_equal(advanced(narrow, simulation, 100), advanced(wide, simulation, 100))
        assert np.array_equal(masses(narrow, simulation), masses(wide, simulation))


@pytest.fixture
def width():
    """What decides which registers routines use that have code for two widths."""
    require_wider_registers()
    where = ctypes.CDLL(str(entries().path)).limberjack_width
    where.restype = ctypes.POINTER(ctypes.c_ubyte)
    chosen = where()[0]
    yield where()
    where()[0] = chosen


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("model", ["four_bar", "stewart_platform", "dual_arm_grasp", "solar_satellite", "wishbone"])
def test_code_for_two_widths_of_registers_gives_the_same_bits(model, integrator, width):
    states = []
    for width[0] in (0, 1):
        simulation = lj.Simulation(lj.load(EXAMPLES / f"{model}.yaml"), 1e-3, integrator)
        simulation.step(100)
        states.append(simulation.state)
    assert np.array_equal(*states)


def test_amd_processors_use_the_wider_registers(width):
    if not CPUINFO.is_file():
        does_not_apply("this system does not say who made its processor")
    assert width[0] == ("AuthenticAMD" in CPUINFO.read_text(encoding="utf-8"))


def test_arrays_that_compiled_code_would_misread_are_refused():
    ints, sizes = np.zeros(64, dtype=np.int64), np.zeros(10, dtype=np.int64)
    for bad in (sizes.astype(float), sizes.astype(np.int32), np.zeros((2, 5), dtype=np.int64), np.zeros(20, "i8")[::2]):
        with pytest.raises(TypeError, match="sizes: .* is no contiguous array of int64 with 1 dimensions"):
            entries().sizes(ints, bad)
    with pytest.raises(ValueError, match="shorter"):
        entries().sizes(ints)
    with pytest.raises(TypeError):
        entries().trust(ints, np.zeros(1), 64.0, sizes)
    with pytest.raises(AttributeError, match=r"has no entry 'advances'"):
        entries().advances()


def test_a_bound_call_takes_the_others():
    simulation = lj.Simulation(lj.load(EXAMPLES / "four_bar.yaml"))
    plant, M, bound = simulation.plant, np.zeros((2, simulation.system.nv, simulation.system.nv)), []
    model = plant.ints, plant.floats, plant.new_work()
    entries().mass_matrix(*model, simulation.q, M[0])
    bound = entries().mass_matrix.bind(*model, None, M[1])
    bound(simulation.q)
    assert np.array_equal(M[0], M[1])
    assert np.all(np.diag(M[0]) > 0.0)


def test_a_damaged_library_is_refused_by_name(tmp_path):
    damaged, whole = tmp_path / entries().path.name, entries().path.read_bytes()
    for content in (b"", b"no library", whole[: len(whole) // 2], whole[:-1] + bytes([whole[-1] ^ 1])):
        damaged.write_bytes(content)
        with pytest.raises(LibraryError, match=rf"{damaged}: the engine's library is damaged. Remove the file"):
            Library(damaged)


def test_a_library_of_other_sources_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(library, "library_digest", lambda root: "0123456789abcdef")
    with pytest.raises(LibraryError, match=rf"{entries().path}: the library was made from other sources"):
        Library(entries().path)


def named(tmp_path: Path, content: bytes) -> Path:
    """A file of this content under the name that it should have."""
    path = tmp_path / f"new{TARGETS[host()].suffix}"
    path.write_bytes(content)
    return path.rename(tmp_path / sources.file_name(path, "limberjack_kernels-0123456789abcdef"))


def test_a_foreign_library_is_refused_by_name(tmp_path):
    with pytest.raises(LibraryError, match=r"the engine's library cannot be loaded \(.*\). Remove the file"):
        Library(named(tmp_path, b"of another platform"))
    other = Path(_ctypes.__file__)
    with pytest.raises(LibraryError, match=r"this is not the engine's library"):
        Library(named(tmp_path, other.read_bytes()))


def test_a_processor_that_runs_no_level_is_reported():
    with pytest.raises(LibraryError, match=r"this processor does not run code of level v9"):
        Library(entries().path, level="v9")


def test_unknown_platforms_are_refused_by_name():
    with pytest.raises(lj.ArgumentError, match=r"platform 'amiga'; choose from x86_64-linux"):
        targets.chosen("amiga")
    assert [target.name for target in targets.chosen(None)] == list(TARGETS)
    assert [target.name for target in targets.chosen(["host"])] == [host()]


@pytest.fixture(scope="module")
def objects() -> list[Path]:
    return build.object_code(TARGETS[host()])[1]


@pytest.mark.skipif(sys.platform != "linux", reason="ELF files")
def test_the_code_needs_nothing_but_the_c_library(objects):
    """No allocator, no run-time of numba or Python; routines call each other by name. levels.c has limberjack_wide."""
    made = {f"limberjack_{file.name.rsplit('-', 2)[0]}" for file in objects} | {"limberjack_wide"}
    for file in objects:
        level = file.stem.rsplit("-", 1)[1]
        assert {name.removesuffix(f"_{level}") for name in undefined(file)} <= SYSTEM | made, file.name


@pytest.mark.skipif(shutil.which("objdump") is None, reason="needs objdump")
@pytest.mark.skipif("v2" not in LEVELS, reason="registers of x86-64")
def test_code_of_a_level_uses_no_register_beyond_it(objects):
    beyond = {"v2": r"%[yz]mm|%k[1-7]\b", "v3": r"%zmm|%k[1-7]\b|%[xy]mm(?:1[6-9]|[23]\d)"}
    for level, registers in beyond.items():
        files = [str(file) for file in objects if file.stem.endswith(f"-{level}")]
        text = subprocess.run(["objdump", "-d", *files], capture_output=True, text=True, check=True).stdout
        assert "%xmm" in text
        assert not re.search(registers, text), level


@pytest.mark.skipif(shutil.which("objdump") is None, reason="needs objdump")
@pytest.mark.skipif("v4" not in LEVELS, reason="registers of x86-64")
def test_code_for_one_world_uses_half_of_the_widest_registers(objects):
    """Except in the mass matrix: where few instructions use all of them, an Intel processor slows down the others. Code
    for AMD's processors uses all."""
    wide = set()
    for file in (file for file in objects if file.stem.endswith("-v4") and WORLDS not in file.name):
        text = subprocess.run(["objdump", "-d", str(file)], capture_output=True, text=True, check=True).stdout
        wide |= {file.name.split("-")[0]} if "%zmm" in text else set()
    assert {name for name in wide if not name.endswith(FULL)} == {"mass_matrix"}
    parts = build.object_code(TARGETS[host()])[0]
    assert {name for name in wide if name.endswith(FULL)} == {part.symbol for part in parts if part.full}


@pytest.mark.skipif(shutil.which("objdump") is None, reason="needs objdump")
@pytest.mark.skipif("v4" not in LEVELS, reason="registers of x86-64")
@pytest.mark.parametrize(("level", "register", "mask"), [("v3", "%ymm", "e0"), ("v4", "%zmm", "c0")])
def test_frames_begin_where_the_widest_registers_do(objects, level, register, mask):
    """Else a register kept in the frame lies across two cache lines, or not, as the caller's stack happens to stand."""
    aligned = re.compile(rf"and +\$0xf*{mask},%rsp")
    for file in (file for file in objects if file.stem.endswith(f"-{level}")):
        text = subprocess.run(["objdump", "-d", str(file)], capture_output=True, text=True, check=True).stdout
        assert aligned.search(text) or not re.search(rf"{register}.*%rsp|%rsp.*{register}", text), file.name


def test_a_change_concerns_what_is_made_from_it_alone():
    at = sources.KERNELS
    assert len(sources.sources_of(f"{at}.nodes.manifold")) < len(sources.sources_of(f"{at}.step.integrate"))
    names = {file.name for file in sources.sources_of(f"{at}.nodes.manifold")}
    assert {"manifold.py", "plant.py", "array_views.py", "kernel.py"} <= names
    assert "integrate.py" not in names


def test_files_are_there_whole_or_not_at_all(tmp_path):
    def stopped() -> bytes:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.keep(tmp_path / "a.o", stopped)
    assert list(tmp_path.iterdir()) == []
    assert store.keep(tmp_path / "a.o", lambda: b"code").read_bytes() == b"code"
    assert store.keep(tmp_path / "a.o", stopped).read_bytes() == b"code"
