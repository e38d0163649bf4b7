"""The shim and a C host under AddressSanitizer and UBSan: runs, misuse, threads, damaged files; no leak, no report."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.fmu.host import compile_host
from tests.fmu import shim_model as toy
from tests.fmu.shim_build import TOY, compile_c, compiler, location, shared_sources
from tests.fmu.shim_model import HEADER_BYTES, PlantData

DRIVER = Path(__file__).resolve().parent / "driver"
MEMORY = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
THREADS = ("-g", "-O1", "-fsanitize=thread")
CATEGORIES = ("logEvents", "logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal")
CAUSALITIES = ("independent", "parameter", "input", "output", "local")


def build(folder: Path, flags: Sequence[str]) -> tuple[Path, Path]:
    """The host program and the toy FMU's library."""
    probe = folder / "probe.c"
    probe.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    done = subprocess.run([*compiler(), *flags, str(probe), "-o", str(folder / "probe")], capture_output=True)
    if done.returncode != 0:
        pytest.skip("this compiler has no such sanitizer")
    library = compile_c(folder / "toy.so", [*shared_sources(), TOY / "toy_kernels.c"], "-shared", "-fPIC", *flags)
    return compile_host(folder / "driver", sorted(DRIVER.glob("*.c")), tuple(compiler()), flags), library


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory):
    return build(tmp_path_factory.mktemp("sanitized"), MEMORY)


def description(folder: Path, library: Path, version: int) -> Path:
    """What the host must know of the toy FMU."""
    resources = location(PlantData().write(folder / "resources"), version)
    lines = [f"version {version}", f"library {library}", f"resources {resources}", f"token {toy.TOKEN}"]
    adjoint = " adjoint" if version == 3 else ""
    lines += [f"flags - co_simulation model_exchange states serializes directional{adjoint}", f"step {toy.DT}"]
    lines += ["sizes 9 4", *(f"category {name}" for name in CATEGORIES)]
    for place, row in enumerate(toy.table()):
        if version == 2 and (row.count > 1 or row.text):
            continue
        changes = {toy.TUNABLE: "tunable", toy.FIXED: "fixed"}.get(row.flags & ~toy.HAS_START, "continuous")
        kind = "other" if row.text or row.boolean else "started" if row.flags & toy.HAS_START else "real"
        facts = f"{place} {row.count} {CAUSALITIES[row.causality]} {changes} {kind} {row.low!r} {row.high!r}"
        lines.append(f"variable {facts} {row.name}")
    path = folder / f"toy{version}.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def drive(program: Path, *arguments: str) -> str:
    """Run the host; it must be content, and no sanitizer may report."""
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    assert "Sanitizer" not in done.stderr
    return done.stdout


@pytest.mark.long
def test_misuse(sanitized, tmp_path, version):
    program, library = sanitized
    output = drive(program, "misuse", str(description(tmp_path, library, version)))
    assert output.count("ok ") > 50


@pytest.mark.long
def test_runs(sanitized, tmp_path, version):
    program, library = sanitized
    facts, out = str(description(tmp_path, library, version)), tmp_path / "out"
    for command in ("run", "exchange"):
        drive(program, command, facts, "--steps", "50", "--out", str(out))
        assert out.stat().st_size > 50 * 8


@pytest.mark.long
def test_damaged_files(sanitized, tmp_path, version):
    program, library = sanitized
    good = PlantData().packed()
    places = [*range(0, HEADER_BYTES, 3), *range(HEADER_BYTES, len(good), 41)]
    bad = [good[:at] + bytes([good[at] ^ 0x80]) + good[at + 1 :] for at in places]
    bad += [toy.sealed(content) for content in bad[: HEADER_BYTES // 3] if not harmless(good, content)]
    bad += [good[:size] for size in (0, 1, 100, HEADER_BYTES, len(good) // 2, len(good) - 1)]
    folders = []
    for number, content in enumerate(bad):
        folder = tmp_path / f"bad{number}"
        folder.mkdir()
        (folder / "plant.bin").write_bytes(content)
        folders.append(location(folder, version))
    drive(program, "refuse", str(description(tmp_path, library, version)), *folders)


def harmless(good: bytes, content: bytes) -> bool:
    """Is the difference in the checksum itself, the hash, the token or the step, any of which may be right?"""
    at = next(i for i in range(len(good)) if good[i] != content[i])
    return 24 <= at < 28 or 32 <= at < 112


@pytest.mark.long
def test_threads(tmp_path, version):
    program, library = build(tmp_path, THREADS)
    checks = "threads,ended_by_another_thread,early_return"
    output = drive(program, "misuse", str(description(tmp_path, library, version)), "--only", checks)
    assert output.count("ok ") == 4
