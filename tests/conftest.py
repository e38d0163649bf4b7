"""Short ipc paths; property tests look for new examples on a developer's machine and repeat on every run of CI.

The garbage collector leaves alone what the collection of the tests made: millions of objects that stay to the end. Of
what came later it examines all a tenth as often: with pytest's, hypothesis' and numba's records that took 3 % of a run.
"""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq
from hypothesis import settings

# Tests compile small functions of their own that call kernels. Entries they call in the library, like everybody, and so
# do the processes that they start.
os.environ["LIMBERJACK_COMPILED_KERNELS"] = "1"
importlib.import_module("limberjack.engine.compile.kernel")
del os.environ["LIMBERJACK_COMPILED_KERNELS"]

# FMUs that tests couple start the command of the package, also where its environment is not the active one.
os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])

# A shell that starts the tests in the background makes them ignore Ctrl-C, which tests send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Consoles and gateways that tests start keep their histories here, and not in the user's folder.
_STATE = tempfile.TemporaryDirectory(prefix="lj-state-")
os.environ["XDG_STATE_HOME"] = _STATE.name

# The collector ends contexts that a failed test left, and would wait for their sockets for ever.
zmq.Context.__del__ = lambda self: None

#: records what tests compare, and writes the validation report
pytest_plugins = ["tests.validation.plugin"]

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


def pytest_collection() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(2_000, 10, 50)
    gc.enable()


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
