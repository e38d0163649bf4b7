"""Short ipc paths; property tests look for new examples on a developer's machine and repeat on every run of CI."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


_builder: list[subprocess.Popen] = []


def pytest_collection_finish(session: pytest.Session) -> None:
    """What FMUs are made of is compiled beside the tests that come first, by one worker for all."""
    first = os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0"
    if first and any(item.path.name == "test_native.py" for item in session.items):
        command = [sys.executable, "-c", "from limberjack.fmu.native import build; build.bitcode()"]
        _builder.append(subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True))


def pytest_sessionfinish() -> None:
    """A run that ended before it was needed does not wait for it."""
    for process in _builder:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        process.wait()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose path is short enough for a local socket."""
    path = Path(tempfile.mkdtemp(prefix="lj"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def endpoint(folder: Path) -> str:
    """A free address for an engine."""
    return f"ipc://{folder}/e"
