"""Programs that are compiled and linked against the library, as users do it, and what `limberjack embed` gives them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.cli import main
from limberjack.engine.compile import build, targets
from limberjack.engine.compile.library import library_path
from limberjack.engine.compile.link import C_FILES, write_entries
from limberjack.engine.compile.sources import NATIVE
from limberjack.engine.native.embedding import embed
from limberjack.engine.native.layout import write_header
from limberjack.engine.native.plant_file import read_plant_file
from tests.engine.native.conftest import EXAMPLES
from tests.fmu.shim_build import compiler
from tests.fmu.shim_model import sealed
from tests.fmu.symbols import exported

HERE = Path(__file__).resolve().parent
EMBED = EXAMPLES / "embed"
GOAL = np.array([0.5, 0.8, -0.3, -1.5, 0.2, 0.9, -0.4])
WARN = ("-Wall", "-Wextra", "-Werror", "-pedantic")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="linked as on Linux")


def output_of(*command: object, **environment: str) -> str:
    """What a command prints; it must succeed."""
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, env={**os.environ, **environment}, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def needed(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"needs {name}")
    return found


@pytest.fixture(scope="module")
def prefix(tmp_path_factory) -> Path:
    """What `limberjack embed` writes, moved elsewhere afterwards."""
    written = embed(tmp_path_factory.mktemp("embed") / "written")
    moved = tmp_path_factory.mktemp("moved") / "a place"
    shutil.copytree(written, moved, symlinks=True)
    return moved


def controlled(steps: int) -> str:
    """What the control loops print."""
    simulation = lj.Simulation(lj.load(EXAMPLES / "torque_arm.yaml"))
    for _ in range(steps):
        simulation.command_vector = 400.0 * (GOAL - simulation.q) - 40.0 * simulation.v
        simulation.step()
    return " ".join(f"{value:.17g}" for value in (simulation.time, *simulation.q, *simulation.v)) + "\n"


def test_the_examples_have_the_bits_of_python(prefix, tmp_path, capsys):
    needed("cmake")
    assert main(["compile", str(EXAMPLES / "torque_arm.yaml"), "-o", str(tmp_path / "arm.ljm")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'arm.ljm'}\n"
    output_of("cmake", "-S", EMBED, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    output_of("cmake", "--build", tmp_path / "build")
    expected = controlled(500)
    for program in ("control_loop", "control_loop_cpp"):
        assert output_of(tmp_path / "build" / program, tmp_path / "arm.ljm", 500) == expected


def linked(prefix: Path, source: Path, program: Path) -> Path:
    """A program compiled as docs/reference/c-interface.md says."""
    needed("pkg-config")
    path = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    flags = shlex.split(output_of("pkg-config", "--cflags", "--libs", "limberjack", **path))
    (folder,) = shlex.split(output_of("pkg-config", "--variable=libdir", "limberjack", **path))
    output_of(*compiler(), "-std=c11", *WARN, source, *flags, f"-Wl,-rpath,{folder}", "-o", program)
    return program


def test_the_examples_say_why_they_end(prefix, tmp_path):
    program = linked(prefix, EMBED / "control_loop.c", tmp_path / "control_loop")
    done = subprocess.run([program, tmp_path / "none.ljm"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(f"cannot open '{tmp_path / 'none.ljm'}'")


def test_the_program_of_the_guide(prefix, tmp_path, arm, monkeypatch):
    text = (EXAMPLES.parent / "docs" / "reference" / "c-interface.md").read_text(encoding="utf-8")
    (tmp_path / "program.c").write_text(re.findall(r"^```c\n(.*?)^```$", text, re.M | re.S)[0], encoding="utf-8")
    program = linked(prefix, tmp_path / "program.c", tmp_path / "program")
    lj.compile_model(arm, tmp_path / "torque_arm.ljm")
    monkeypatch.chdir(tmp_path)
    simulation = lj.Simulation(arm)
    for _ in range(1000):
        angle = simulation.q[3]
        simulation.command["joint4"] = 400.0 * (-1.5 - angle)
        simulation.step()
    assert output_of(program) == f"at 1 s the elbow is at {angle:g} rad\n"
    (tmp_path / "torque_arm.ljm").unlink()
    done = subprocess.run([program], capture_output=True, text=True)
    assert (done.returncode, done.stderr[:11]) == (2, "cannot open")


def test_the_header_is_plain_c_and_cpp(tmp_path):
    for suffix, standards in ((".c", ("c99", "c11", "c17")), (".cpp", ("c++11", "c++20"))):
        source = tmp_path / f"alone{suffix}"
        source.write_text("#include <limberjack.h>\nint main(void) { return lj_abi() - LJ_ABI; }\n")
        for standard in standards:
            options = [f"-std={standard}", *WARN, f"-I{NATIVE}", "-fsyntax-only"]
            output_of(*compiler(), *options, source)


def test_the_library_shows_the_interface_and_what_python_calls():
    text = (NATIVE / "limberjack.h").read_text(encoding="utf-8")
    declared = set(re.findall(r"^LJ_API [^;(]*?\b(lj_\w+)\(", text, flags=re.M))
    assert len(declared) == 20
    for_python = {f"limberjack_{name}" for name in ("manifest", "calls", "entries", "each", "width")}
    assert exported(library_path()) == declared | for_python


def test_embed_into_the_cache_prints_where(capsys):
    assert main(["embed"]) == 0
    folder = Path(capsys.readouterr().out.strip())
    name = build.linked_name(targets.TARGETS[targets.host()])
    assert (folder / "lib" / name).read_bytes() == library_path().read_bytes()
    assert (folder / "lib" / "liblimberjack.so").resolve().name == name
    assert (folder / "include" / "limberjack.h").read_bytes() == (NATIVE / "limberjack.h").read_bytes()


def test_embed_where_nothing_can_be_written(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["embed", str(tmp_path / "file")]) == 2
    assert "nothing can be written there" in capsys.readouterr().err
    assert main(["embed", str(tmp_path / "folder"), "--platform", "all"]) == 2
    assert "one platform" in capsys.readouterr().err
    assert main(["embed", str(tmp_path / "folder"), "--platform", "vax"]) == 2
    assert "x86_64-windows" in capsys.readouterr().err
    assert not (tmp_path / "folder").exists()


def test_compile_names_its_file_after_the_model(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["compile", str(EXAMPLES / "torque_arm.yaml")]) == 0
    assert capsys.readouterr().out == "torque_arm.ljm\n"
    assert main(["compile", "torque_arm.ljm"]) == 2
    assert "would overwrite the model" in capsys.readouterr().err
    assert main(["compile", "torque_arm.ljm", "-o", "again.ljm"]) == 0
    assert (tmp_path / "again.ljm").read_bytes() == (tmp_path / "torque_arm.ljm").read_bytes()


def test_compile_where_nothing_can_be_written(arm, tmp_path):
    with pytest.raises(lj.ArgumentError, match="end with .ljm"):
        lj.compile_model(arm, tmp_path / "arm.bin")
    with pytest.raises(lj.ArgumentError, match="cannot be written"):
        lj.compile_model(arm, tmp_path / "none" / "arm.ljm")
    with pytest.raises(lj.ArgumentError, match="no integrator"):
        lj.compile_model(arm, tmp_path / "arm.ljm", integrator="euler")
    assert list(tmp_path.iterdir()) == []


def test_a_run_allocates_nothing(prefix, tmp_path, array):
    program = tmp_path / "counted"
    library = prefix / "lib" / "liblimberjack.so"
    options = ["-std=c11", "-O1", "-fno-builtin", f"-I{prefix / 'include'}", HERE / "counted.c", library]
    output_of(*compiler(), *options, f"-Wl,-rpath,{library.parent}", "-o", program)
    line = output_of(program, lj.compile_model(array, tmp_path / "array.ljm"))
    failed, before, during = map(int, re.findall(r"\d+", line))
    assert (failed, during) == (0, 0), line
    assert before > 3  # the counter counts


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory) -> Path:
    """A program with the interface's C under AddressSanitizer and UBSan, and the engine's objects."""
    folder = tmp_path_factory.mktemp("sanitized")
    flags = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    (folder / "probe.c").write_text("int main(void) { return 0; }\n")
    if subprocess.run(
        [*compiler(), *flags, folder / "probe.c", "-o", folder / "probe"], capture_output=True
    ).returncode:
        pytest.skip("this compiler has no such sanitizer")
    parts, objects = build.object_code(targets.TARGETS[targets.host()])
    write_header(write_entries(folder, parts, ""))
    sources = [HERE / "stressed.c", C_FILES / "levels.c", *NATIVE.glob("*.c")]
    includes = [f"-I{each}" for each in (folder, C_FILES, NATIVE)]
    output_of(*compiler(), "-std=c11", *flags, *includes, *sources, *objects, "-lm", "-o", folder / "stressed")
    return folder / "stressed"


def test_no_file_leads_outside(sanitized, tmp_path, array):
    """Every region of a model's file spoilt, with right checksums: refused with a reason, or harmless."""
    good = lj.compile_model(array, tmp_path / "good.ljm").read_bytes()
    plant = struct.unpack_from("<I", good, 12)[0]
    file, rng = good[56 : 56 + plant], np.random.default_rng(3)
    header = read_plant_file(file).header
    places = [*range(8, 272, 4), *rng.integers(272, plant - 8, 600)]
    rows = range(header["at_variables"], header["at_labels"] - 64, 9 * 64)
    places += [row + column for row in rows for column in range(0, 64, 4)]
    paths = [tmp_path / "good.ljm"]
    for at in places:
        wrong = rng.choice([0, 1, 0x7FFFFFFF, 0xFFFFFFFF, int(rng.integers(2**32))])
        spoilt = sealed(file[:at] + struct.pack("<I", wrong) + file[at + 4 :])[: len(file)]
        paths.append(tmp_path / f"{len(paths)}.ljm")
        paths[-1].write_bytes(good[:56] + spoilt + good[56 + plant :])
    found = output_of(sanitized, *paths)
    assert re.fullmatch(r"\d+ opened\n", found), found
    assert int(found.split()[0]) < len(paths)
