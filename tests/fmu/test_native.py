"""The linked kernels: the same bits as Python's, both code paths, nothing but libc and libm, the same bytes again."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ArgumentError, MissingExtraError
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.kernels.step.integrate import INTEGRATORS
from limberjack.fmu.native import binary_cache, linker, lower, objects, targets
from limberjack.fmu.native.store import COMPLETE
from tests.engine.full_model import full_model
from tests.engine.kernels.flexible.models import MODELS as FLEXIBLE
from tests.engine.random_systems import MOVING, random_state, random_system
from tests.fmu.device_model import equipped
from tests.fmu.shim_build import header
from tests.fmu.symbols import exported, undefined

pytestmark = pytest.mark.skipif(targets.host() not in targets.TARGETS, reason="no FMU binary for this platform")

#: what C's library and the loader give; an allocator is not among it
SYSTEM = {"memset", "memcpy", "memmove", "atan2", "tanh", "sqrt"}

TABLES = """
#include "kernels.c"
#define EXPORT(path) const Kernels *table_##path(void) { return &kernels_##path; }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("native")


@pytest.fixture(scope="module")
def library(folder) -> ctypes.CDLL:
    """The host's kernels with a way to each code path."""
    target = targets.TARGETS[targets.host()]
    paths = list(target.processors)
    source = folder / "tables.c"
    source.write_text(TABLES + "\n".join(f"EXPORT({path})" for path in paths))
    code = objects.write_objects(binary_cache.bitcode(), target, folder)
    output = folder / f"tables{target.suffix}"
    command = [
        *linker.compiler(target),
        "-std=c11",
        "-O2",
        "-shared",
        "-fPIC",
        f"-I{linker.SHIM}",
        f"-I{header()}",
        str(source),
    ]
    subprocess.run([*command, *map(str, code), "-lm", "-o", str(output)], check=True)
    return ctypes.CDLL(str(output))


class Kernels:
    """One code path, called as the C shim calls it."""

    NAMES = (
        *("sizes", "advance", "observe", "survey", "rates", "normalise", "switches", "refresh", "check"),
        *("forces", "state_slopes"),
    )

    def __init__(self, library: ctypes.CDLL, path: str) -> None:
        table = getattr(library, f"table_{path}")
        table.restype = ctypes.POINTER(ctypes.c_void_p)
        self._functions = dict(zip(self.NAMES, table()[: len(self.NAMES)]))

    def __call__(self, name: str, *values: object) -> None:
        given = [value.ctypes.data_as(ctypes.c_void_p) if isinstance(value, np.ndarray) else value for value in values]
        kinds = [ctypes.c_void_p if isinstance(v, np.ndarray) else type(g) for v, g in zip(values, given)]
        ctypes.CFUNCTYPE(None, *kinds)(self._functions[name])(*given)

    def advance(self, simulation: lj.Simulation, steps: int) -> np.ndarray:
        """The State after some steps from the simulation's."""
        state, report = simulation.state, np.zeros(3, dtype=np.int64)
        integrator = ctypes.c_int64(INTEGRATORS[simulation.integrator])
        plant, count = simulation.plant, ctypes.c_int64(steps)
        numbers = (ctypes.c_double(simulation.dt), integrator, ctypes.c_int64(1), count, count)
        self("advance", plant.ints, plant.floats, plant.new_work(), state, *numbers, report)
        assert report.tolist() == [0, 0, steps]
        return state


def running(seed: int, integrator: str) -> lj.Simulation:
    rng = np.random.default_rng(seed)
    system = random_system(list(rng.choice(MOVING, rng.integers(1, 8))), rng)
    simulation = lj.Simulation(system, dt=1e-4, integrator=integrator)
    simulation.q, simulation.v = random_state(system, rng)
    return simulation


def best_path() -> str:
    return list(targets.TARGETS[targets.host()].processors)[-1]


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("seed", range(8))
def test_steps_have_the_bits_of_the_python_engine(library, seed, integrator):
    simulation = running(seed, integrator)
    state = Kernels(library, best_path()).advance(simulation, 100)
    simulation.step(100)
    assert np.array_equal(state, simulation.state)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", FLEXIBLE)
def test_flexible_bodies_have_the_bits_of_the_python_engine(library, name, integrator):
    simulation, call = lj.Simulation(FLEXIBLE[name](), integrator=integrator), Kernels(library, best_path())
    state = call.advance(simulation, 100)
    simulation.step(100)
    assert np.array_equal(state, simulation.state)
    plant, work = simulation.plant, simulation.plant.new_work()
    observed, surveyed = np.full(plant.observed_size, np.nan), np.full(plant.surveyed_size, np.nan)
    call("observe", plant.ints, plant.floats, work, state, observed)
    assert np.array_equal(observed, np.concatenate([simulation.tau, simulation.vdot, simulation.output_vector]))
    call("survey", plant.ints, plant.floats, work, state, surveyed)
    assert np.array_equal(surveyed, simulation.survey())
    assert simulation.output["energy.strain"] > 0.0


@pytest.mark.parametrize("seed", range(4))
def test_a_processor_without_fused_multiply_add_differs_in_the_last_bits_only(library, seed):
    simulation = running(seed, "rk4")
    slow = Kernels(library, next(iter(targets.TARGETS[targets.host()].processors))).advance(simulation, 100)
    simulation.step(100)
    assert slow == pytest.approx(simulation.state, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_instruments_motors_and_valves_have_the_bits_of_the_python_engine(library, integrator):
    simulation, call = lj.Simulation(equipped(), integrator=integrator), Kernels(library, best_path())
    simulation.command["elbow drive"], simulation.command["late"] = 0.7, 12.0
    state = call.advance(simulation, 100)
    simulation.step(100)
    assert np.array_equal(state, simulation.state)
    observed = np.full(simulation.plant.observed_size, np.nan)
    call("observe", simulation.plant.ints, simulation.plant.floats, simulation.plant.new_work(), state, observed)
    assert np.array_equal(observed, np.concatenate([simulation.tau, simulation.vdot, simulation.output_vector]))


def test_every_kernel_gives_what_the_python_engine_gives(library):
    call, simulation = Kernels(library, best_path()), lj.Simulation(full_model())
    plant, state, work = simulation.plant, simulation.state, simulation.plant.new_work()
    state[2 + simulation.system.nq :] += 0.1
    shapes = {"survey": plant.surveyed_size, "switches": plant.switches_size, "rates": simulation.system.nq}
    for name, size in shapes.items():
        ours, theirs = np.full(size, np.nan), np.full(size, np.nan)
        scratch = (work,) if name == "survey" else ()
        call(name, plant.ints, plant.floats, *scratch, state, ours)
        getattr(entries(), name)(plant.ints, plant.floats, *scratch, state, theirs)
        assert np.array_equal(ours, theirs), name
    observed, parts = np.full(plant.observed_size, np.nan), [np.full(simulation.system.nv, np.nan) for _ in range(2)]
    outputs = np.full(plant.observed_size - 2 * simulation.system.nv, np.nan)
    call("observe", plant.ints, plant.floats, work, state, observed)
    entries().observe(plant.ints, plant.floats, work, state, *parts, outputs)
    assert np.array_equal(observed, np.concatenate([*parts, outputs]))
    sizes, report = np.zeros(10, dtype=np.int64), np.zeros(2, dtype=np.int64)
    call("sizes", plant.ints, sizes)
    assert sizes[:4].tolist() == [len(plant.ints), len(plant.floats), plant.work_size, plant.state_size]
    forces = np.full(simulation.system.nv, np.nan)
    call("forces", plant.ints, plant.floats, work, state, forces)
    assert np.array_equal(forces, observed[: simulation.system.nv])
    room, ours, theirs = np.full(sizes[8], np.nan), np.full(sizes[9], np.nan), np.full(sizes[9], np.nan)
    call("state_slopes", plant.ints, plant.floats, work, room, state, ours)
    entries().state_slopes(plant.ints, plant.floats, work, room, state, theirs)
    # Which of two products goes into a fused sum is up to LLVM, processor by processor: steps agree to the bit.
    np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-14)
    call("check", plant.ints, plant.floats, state, report)
    assert report.tolist() == [0, -1]
    state[2:6] = 2.0, 0.0, 0.0, 0.0
    call("normalise", plant.ints, plant.floats, state)
    assert state[2:6].tolist() == [1.0, 0.0, 0.0, 0.0]
    before = plant.floats.copy()
    call("refresh", plant.ints, plant.floats)
    assert np.array_equal(plant.floats, before)


@pytest.mark.skipif(sys.platform != "linux", reason="ELF files")
def test_the_kernels_need_nothing_but_the_c_library(folder, library):
    for file in folder.glob("*.o"):
        assert {name for name in undefined(file) if not name.startswith("limberjack_")} <= SYSTEM, file.name


@pytest.mark.long
@pytest.mark.parametrize("name", targets.TARGETS)
def test_rounding_down_is_an_instruction_on_every_platform(name):
    """Every kernel that rounds down; the name would stand in the object file's table of symbols."""
    target, rounding = targets.TARGETS[name], 0
    for code in binary_cache.bitcode().values():
        if "llvm.floor" in str(llvm.parse_bitcode(code, llvm.create_context())):
            rounding += 1
            for path in target.processors:
                assert b"floor\0" not in objects.object_code(code, target, path)
    assert rounding > 0


@pytest.mark.skipif(sys.platform != "linux", reason="ELF files")
@pytest.mark.long
def test_a_binary_exports_the_functions_of_both_standards_and_no_others():
    path = binary_cache.binaries(targets.chosen("host"), "embedded")[targets.host()]
    names = exported(path)
    assert {name[:4] for name in names} == {"fmi2", "fmi3"}
    assert {"fmi2DoStep", "fmi2GetDirectionalDerivative", "fmi3DoStep", "fmi3GetAdjointDerivative"} <= names


def test_unknown_platforms_are_refused_by_name():
    with pytest.raises(ArgumentError, match=r"platform 'amiga'; choose from x86_64-linux"):
        targets.chosen("amiga")
    assert [target.name for target in targets.chosen(None)] == list(targets.TARGETS)
    assert [target.name for target in targets.chosen(["host"])] == [targets.host()]


def test_without_ziglang_only_this_machine_can_be_linked_for(monkeypatch):
    monkeypatch.setattr(linker.importlib.util, "find_spec", lambda name: None)
    foreign = next(target for name, target in targets.TARGETS.items() if name != targets.host())
    with pytest.raises(MissingExtraError, match=r'--platform host.*limberjack\[fmu\]"'):
        linker.compiler(foreign)
    monkeypatch.setattr(linker.shutil, "which", lambda name: f"/bin/{name}")
    assert linker.compiler(targets.TARGETS[targets.host()]) == ["/bin/cc"]


def test_a_compiler_that_fails_is_quoted(tmp_path):
    target = targets.TARGETS[targets.host()]
    broken = tmp_path / "broken.o"
    broken.write_bytes(b"no object")
    with pytest.raises(linker.LinkError, match=f"for {target.name} failed"):
        linker.link(target, "embedded", [broken], tmp_path / "x.so", tmp_path / "cache")


@pytest.mark.long
def test_a_build_from_nothing_gives_the_same_bytes(monkeypatch, tmp_path):
    kept = binary_cache.binaries(targets.chosen("host"), "embedded")[targets.host()].read_bytes()
    monkeypatch.setattr(binary_cache, "_cache_folder", lambda: tmp_path / "cache")
    assert binary_cache.binaries(targets.chosen("host"), "embedded")[targets.host()].read_bytes() == kept


def test_of_several_processes_one_compiles_for_all(monkeypatch, tmp_path):
    made = []

    def lower(folder: Path) -> None:
        made.append(folder)
        time.sleep(0.2)
        (folder / "advance.bc").write_bytes(b"code")
        (folder / COMPLETE).touch()

    monkeypatch.setattr(binary_cache, "_cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(binary_cache, "_lower", lower)
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(binary_cache.bitcode) for _ in range(4)]
        assert [each.result(20.0) for each in found] == [{"advance": b"code"}] * 4
    assert len(made) == 1


KERNELS = ["advance", "observe", "survey"]


def test_an_interrupted_compilation_goes_on_where_it_was(monkeypatch, tmp_path):
    made = []

    def compiled(name, function, signature):
        made.append(name)
        if len(made) == 2:
            raise KeyboardInterrupt
        return name.encode()

    monkeypatch.setattr(lower, "sources", lambda: dict.fromkeys(KERNELS, (None, None)))
    monkeypatch.setattr(lower, "bitcode", compiled)
    with pytest.raises(KeyboardInterrupt):
        lower.main(tmp_path)
    assert not (tmp_path / COMPLETE).exists()
    lower.main(tmp_path)
    assert made == ["advance", "observe", "observe", "survey"]
    assert {file.stem: file.read_text() for file in tmp_path.glob("*.bc")} == {name: name for name in KERNELS}
    assert (tmp_path / COMPLETE).exists()


def test_interrupted_objects_go_on_where_they_were(monkeypatch, tmp_path):
    made, target = [], targets.TARGETS["x86_64-linux"]

    def emitted(code, target, path):
        made.append(f"{code.decode()}_{path}")
        if len(made) == 4:
            raise KeyboardInterrupt
        return code

    monkeypatch.setattr(objects, "object_code", emitted)
    kernels = {name: name.encode() for name in KERNELS}
    with pytest.raises(KeyboardInterrupt):
        objects.write_objects(kernels, target, tmp_path)
    files = objects.write_objects(kernels, target, tmp_path)
    assert len(files) == 6
    assert made[4:] == ["advance_v3", "observe_v3", "survey_v3"]
    assert [file.read_text() for file in files] == 2 * KERNELS


def test_a_platform_that_fails_costs_nothing_of_the_others(monkeypatch, tmp_path):
    """Its error comes last, and says how to do without it; what was built stays."""
    linked, broken = [], {"aarch64-linux"}

    def fake(target, coupling, files, output, cache):
        linked.append(target.name)
        if target.name in broken:
            raise linker.PlatformError(f"linking the FMU binary for {target.name} failed:\nno such luck")
        output.write_bytes(target.name.encode())

    monkeypatch.setattr(binary_cache, "_cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(binary_cache, "link", fake)
    chosen = targets.chosen(["x86_64-linux", "aarch64-linux", "x86_64-windows"])
    advice = (
        r"aarch64-linux failed:\nno such luck\nTo export without it: --platform x86_64-linux --platform x86_64-windows"
    )
    with pytest.raises(linker.LinkError, match=advice):
        binary_cache.binaries(chosen, "process")
    broken.clear()
    found = binary_cache.binaries(chosen, "process")
    assert linked == ["x86_64-linux", "aarch64-linux", "x86_64-windows", "aarch64-linux"]
    assert {name: path.read_text() for name, path in found.items()} == {target.name: target.name for target in chosen}


def test_a_cache_that_cannot_be_written(monkeypatch, tmp_path):
    """The folder is none of the caller's paths: the message says what it is for, and how to have another."""
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(binary_cache.platformdirs, "user_cache_dir", lambda name: str(tmp_path / "file" / name))
    with pytest.raises(ArgumentError, match=r"FMU binaries are kept in .*file.limberjack.fmu, .*XDG_CACHE_HOME"):
        binary_cache.binaries(targets.chosen("host"), "embedded")
