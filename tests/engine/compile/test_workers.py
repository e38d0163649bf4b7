"""Workers of a build, started as Windows and macOS start them: spawned, not forked."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import pytest

from limberjack.engine.compile import build
from limberjack.engine.compile.sources import KERNELS
from limberjack.engine.compile.targets import TARGETS, host


def test_a_spawned_worker_compiles(tmp_path, monkeypatch):
    """It imports all kernels by itself; its object code is that of the library."""
    for name, value in build._environment().items():
        monkeypatch.setenv(name, value)
    target = TARGETS[host()]
    known, _ = build.object_code(target)
    part = next(part for part in known if part.name == "sizes")
    for name in ("bitcode", target.name):
        (tmp_path / name).mkdir()
    spawn = multiprocessing.get_context("spawn")
    from limberjack.engine.compile import lower

    with ProcessPoolExecutor(1, spawn, lower._begin, (KERNELS,)) as pool:
        pool.submit(lower._make, [part], tmp_path, target).result()
    kept = part.object_files(build.cache_folder(), target)
    for level, file in part.object_files(tmp_path, target).items():
        assert file.read_bytes() == kept[level].read_bytes()


_ONE = """
import sys
from pathlib import Path
from limberjack.engine.compile import lower
from limberjack.engine.compile.targets import TARGETS
every = lower.parts_of
lower.parts_of = lambda root: [part for part in every(root) if part.name == "around_routine"]
folder = Path(sys.argv[1])
lower.main(folder, folder / "plan.json", sys.argv[2], TARGETS[sys.argv[3]], sys.argv[4] == "True")
"""


@pytest.mark.parametrize("worlds", [False, True])
def test_code_for_several_worlds_is_made_where_it_is_wanted(tmp_path, worlds):
    command = [sys.executable, "-c", _ONE, str(tmp_path), KERNELS, host(), str(worlds)]
    subprocess.run(command, env={**os.environ, **build._environment()}, check=True)
    made = {file.name.partition("-")[0] for file in (tmp_path / host()).iterdir()}
    assert made == {"around_routine"} | ({"around_routine_worlds"} if worlds else set())
