"""Workers of a build: which code they make, also if they are spawned, as on Windows and macOS, and not forked."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

from limberjack.engine.compile import build
from limberjack.engine.compile.sources import KERNELS
from limberjack.engine.compile.targets import TARGETS, host

#: how this platform starts processes
USUAL = multiprocessing.get_all_start_methods()[0]
_ONE = """
import multiprocessing
import sys
from pathlib import Path
from limberjack.engine.compile import lower
from limberjack.engine.compile.targets import TARGETS
folder, name, start, worlds, root, target = sys.argv[1:]
multiprocessing.set_start_method(start)
every = lower.parts_of
lower.parts_of = lambda root: [part for part in every(root) if part.name == name]
lower.main(Path(folder), Path(folder) / "plan.json", root, TARGETS[target], worlds == "True")
"""


def made(folder: Path, name: str, start: str, worlds: bool) -> list[Path]:
    """The object files of one function, made by workers that start in this way."""
    command = [sys.executable, "-c", _ONE, str(folder), name, start, str(worlds), KERNELS, host()]
    subprocess.run(command, env={**os.environ, **build._environment()}, check=True)
    return list((folder / host()).iterdir())


def test_a_spawned_worker_makes_the_code_of_the_library(tmp_path):
    known, _ = build.object_code(TARGETS[host()])
    (part,) = (part for part in known if part.name == "sizes")
    files = made(tmp_path, "sizes", "spawn", worlds=False)
    kept = {file.name: file for file in part.object_files(build.cache_folder(), TARGETS[host()]).values()}
    assert {file.name for file in files} == set(kept)
    assert all(file.read_bytes() == kept[file.name].read_bytes() for file in files)


@pytest.mark.parametrize("worlds", [pytest.param(False, marks=pytest.mark.long), True])
def test_code_for_several_worlds_is_made_where_it_is_wanted(tmp_path, worlds):
    names = {file.name.partition("-")[0] for file in made(tmp_path, "around_routine", USUAL, worlds)}
    assert names == {"around_routine"} | ({"around_routine_worlds"} if worlds else set())
