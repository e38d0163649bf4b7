"""The folder of an engine that an FMU started goes, whoever of the two is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from limberjack.bridge.parent import end_with_parent
from tests.fmu.coupled_fmu import built, load_arm

WAIT_S = 30.0  # bound on every wait; reached only when something is broken

#: an importer that starts an engine, prints its number, and waits to be killed
IMPORTER = """
    import sys, time
    from pathlib import Path
    from tests.fmu.coupled_fmu import CoupledFmu, children, load_arm
    folder = Path(sys.argv[1])
    unit = CoupledFmu(folder / "coupled.so", folder / "resources", load_arm())
    print(unit.start(), *children(), flush=True)
    time.sleep(600)
"""


@pytest.fixture(scope="module")
def library():
    with built(load_arm()) as folder:
        yield folder


@pytest.fixture
def importer(library, tmp_path_factory):
    """Starts an importer whose temporary files stand in a folder; the importer and its engine's number."""
    place = tmp_path_factory.mktemp("t")
    running = []

    def start():
        command = [sys.executable, "-c", textwrap.dedent(IMPORTER), str(library)]
        environment = {**os.environ, "TMPDIR": str(place)}
        found = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=Path.cwd())
        running.append(found)
        status, engine = map(int, found.stdout.readline().split())
        assert status == 0
        return found, engine

    yield place, start
    for each in running:
        each.kill()
        each.wait(WAIT_S)
        each.stdout.close()


def until(condition, what):
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def test_a_killed_importer_leaves_neither_engine_nor_folder(importer):
    place, start = importer
    program, _ = start()
    assert len(list(place.glob("lj*/engine.log"))) == 1
    program.kill()
    until(lambda: not list(place.iterdir()), "the engine or its folder outlived the importer")


def test_the_next_engine_removes_what_a_killed_pair_left(importer):
    place, start = importer
    program, engine = start()
    os.kill(engine, signal.SIGKILL)
    program.kill()
    program.wait(WAIT_S)
    (left,) = place.glob("lj*/engine.log")
    start()
    assert not left.parent.exists()
    assert len(list(place.glob("lj*/engine.log"))) == 1  # that of the one that runs


def test_folders_of_the_living_and_of_others_stay(importer, monkeypatch):
    place, start = importer
    _, engine = start()
    (living,) = place.glob("lj*")
    os.kill(engine, signal.SIGKILL)  # the importer lives, and reads the engine's last words there
    until(lambda: "Z" in Path(f"/proc/{engine}/stat").read_text().rpartition(")")[2], "the engine is not dead")
    foreign = place / "ljother"
    foreign.mkdir()
    (foreign / "data").touch()
    (place / "ljmine").mkdir()
    monkeypatch.setattr("threading.Thread.start", lambda thread: None)  # no watch of this process's input
    end_with_parent(place / "ljmine")
    assert sorted(path.name for path in place.iterdir()) == sorted([living.name, "ljmine", "ljother"])
    assert (living / "engine.log").exists()
