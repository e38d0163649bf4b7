"""Short ipc paths; property tests look for new examples on a developer's machine and repeat on every run of CI."""

from __future__ import annotations

import os
import select
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


_BUILD = """
import signal
from limberjack.fmu.native import binary_cache
signal.signal(signal.SIGTERM, signal.default_int_handler)
binary_cache.bitcode()
"""
_builders: list[subprocess.Popen] = []


def pytest_collection_finish(session: pytest.Session) -> None:
    """What FMUs are made of is compiled beside the tests that come first, by one process for all workers.

    The shell leaves it alone in a session of its own: some tests look at all children of their process.
    """
    first = os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0"
    if first and any(item.path.name == "test_native.py" for item in session.items):
        command = ["sh", "-c", '"$0" -c "$1" &', sys.executable, _BUILD]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        _builders.append(subprocess.Popen(command, **streams, start_new_session=True))
        _builders[0].wait()


def pytest_sessionfinish() -> None:
    """A run that ended before it was needed does not leave it behind: its standard output is open while it works."""
    for shell in _builders:
        if not select.select([shell.stdout], [], [], 0.0)[0]:
            os.killpg(shell.pid, signal.SIGTERM)


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
