"""The binaries of FMUs: the same bytes again, one build for all, what is reported when a platform or cache fails."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from itertools import islice
from pathlib import Path

import llvmlite.binding as llvm
import pytest

import limberjack as lj
from limberjack.engine.common.errors import ArgumentError, MissingExtraError
from limberjack.engine.compile import build, link, objects, store, targets
from limberjack.engine.compile.compiled import Compiled
from limberjack.fmu import binaries
from tests.fmu.symbols import exported

pytestmark = pytest.mark.skipif(targets.host() not in targets.TARGETS, reason="no FMU binary for this platform")


@pytest.fixture
def cache(monkeypatch, tmp_path) -> Path:
    """An empty cache."""
    return moved(monkeypatch, tmp_path / "cache")


def moved(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """This folder, which is the cache from now on."""
    for module in (binaries, build, link):
        monkeypatch.setattr(module, "cache_folder", lambda: folder)
    return folder


@pytest.mark.parametrize("version", ["2.0", "3", 2, 3.0])
def test_an_fmi_version_may_be_a_number(version, tmp_path):
    arm = lj.load(files("limberjack.examples") / "torque_arm.yaml")
    with pytest.raises(ArgumentError, match="for platform 'amiga'"):  # the version has passed before that
        lj.export_fmu(arm, tmp_path / "arm.fmu", fmi=version, platforms="amiga")
    with pytest.raises(ArgumentError, match=r"FMI 4 cannot be written; choose '3.0' or '2.0'\."):
        lj.export_fmu(arm, tmp_path / "arm.fmu", fmi=4, platforms="amiga")


@pytest.mark.long
@pytest.mark.parametrize("name", targets.TARGETS)
def test_rounding_down_is_an_instruction_on_every_platform(name):
    """The small kernels that round down; the function's name would stand in the object file's table of symbols."""
    here = targets.TARGETS[targets.host()]
    files = {part.bitcode_file(store.cache_folder()) for part in build.object_code(here)[0]}
    codes = (file.read_bytes() for file in sorted(files, key=lambda file: file.stat().st_size))
    rounding = (code for code in codes if "llvm.floor" in str(llvm.parse_bitcode(code, llvm.create_context())))
    first, target = list(islice(rounding, 6)), targets.TARGETS[name]
    assert len(first) == 6
    known = Compiled("any", print, "", "", False)
    for code in first:
        for level in target.processors:
            assert b"floor\0" not in objects.object_code(known, code, target, level)


@pytest.mark.skipif(sys.platform != "linux", reason="ELF files")
def test_a_binary_exports_the_functions_of_both_standards_and_no_others():
    path = binaries.binaries(targets.chosen("host"), "embedded")[targets.host()]
    names = exported(path)
    assert {name[:4] for name in names} == {"fmi2", "fmi3"}
    assert {"fmi2DoStep", "fmi2GetDirectionalDerivative", "fmi3DoStep", "fmi3GetAdjointDerivative"} <= names


def test_without_ziglang_only_this_machine_can_be_linked_for(monkeypatch):
    monkeypatch.setattr(link.importlib.util, "find_spec", lambda name: None)
    foreign = next(target for name, target in targets.TARGETS.items() if name != targets.host())
    with pytest.raises(MissingExtraError, match=r'--platform host.*limberjack\[fmu\]"'):
        link.compiler(foreign)
    monkeypatch.setattr(link.shutil, "which", lambda name: f"/bin/{name}")
    assert link.compiler(targets.TARGETS[targets.host()]) == ["/bin/cc"]


def test_a_compiler_that_fails_is_quoted(tmp_path):
    target = targets.TARGETS[targets.host()]
    broken = tmp_path / "broken.o"
    broken.write_bytes(b"no object")
    with pytest.raises(link.LinkError, match=f"for {target.name} failed"):
        link.link(target, [], [broken], tmp_path / "x.so")


@pytest.mark.long
@pytest.mark.timeout(3600)  # 1 minute of two quiet processors, any time of busy ones
def test_what_is_compiled_again_has_the_same_bytes(monkeypatch, tmp_path):
    """Every sixth entry or routine, whose files a copy of the cache lacks. A release builds all of them again."""
    target, folder = targets.TARGETS[targets.host()], store.cache_folder()
    parts, linked = build.object_code(target, worlds=False)[0], binaries.binaries([target], "embedded")[target.name]
    again, cache = parts[::6], moved(monkeypatch, tmp_path / "cache")
    assert len(again) > 10
    for part in parts:
        for file in [] if part in again else part.files(folder, target):
            copy = cache / file.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.symlink_to(file)
    build.object_code(target, worlds=False)
    for part in again:
        for level, file in part.object_files(cache, target).items():
            assert not file.samefile(part.object_files(folder, target)[level])
            assert file.read_bytes() == part.object_files(folder, target)[level].read_bytes(), part.name
    assert binaries.binaries([target], "embedded")[target.name].read_bytes() == linked.read_bytes()


def test_of_several_processes_one_builds_for_all(cache, monkeypatch):
    made = []

    def linked(target, sources, files, output, *libraries):
        made.append(output)
        time.sleep(0.2)
        output.write_bytes(b"code")

    monkeypatch.setattr(binaries, "link", linked)
    with ThreadPoolExecutor(4) as pool:
        found = [pool.submit(binaries.binaries, targets.chosen("host"), "process") for _ in range(4)]
        assert [each.result(20.0)[targets.host()].read_bytes() for each in found] == [b"code"] * 4
    assert len(made) == 1


def test_a_platform_that_fails_costs_nothing_of_the_others(cache, monkeypatch):
    """Its error comes last, and says how to do without it; what was built stays."""
    linked, broken = [], {"aarch64-linux"}

    def fake(target, sources, files, output, *libraries):
        linked.append(target.name)
        if target.name in broken:
            raise link.PlatformError(f"linking the binary for {target.name} failed:\nno such luck")
        output.write_bytes(target.name.encode())

    monkeypatch.setattr(binaries, "link", fake)
    chosen = targets.chosen(["x86_64-linux", "aarch64-linux", "x86_64-windows"])
    advice = (
        r"aarch64-linux failed:\nno such luck\nTo export without it: --platform x86_64-linux --platform x86_64-windows"
    )
    with pytest.raises(link.LinkError, match=advice):
        binaries.binaries(chosen, "process")
    broken.clear()
    found = binaries.binaries(chosen, "process")
    assert linked == ["x86_64-linux", "aarch64-linux", "x86_64-windows", "aarch64-linux"]
    assert {name: path.read_text() for name, path in found.items()} == {target.name: target.name for target in chosen}


def test_a_cache_that_cannot_be_written(cache):
    """The folder is none of the caller's paths: the message says what it is for, and how to have another."""
    cache.write_text("")
    with pytest.raises(ArgumentError, match=r"compiled code is kept in .*cache, .*XDG_CACHE_HOME"):
        binaries.binaries(targets.chosen("host"), "embedded")
