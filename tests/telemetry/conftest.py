"""Models, and short ipc paths."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from limberjack.engine.system.system import System
from tests.bridge.bridge_helpers import make_arm, make_dock


@pytest.fixture(scope="package")
def arm() -> System:
    """A pendulum of three links with drives shoulder, j1 (torques) and j2 (a servo)."""
    return make_arm()


@pytest.fixture(scope="package")
def dock() -> System:
    """A free base with an arm and a free target: switchable weld "dock", lock "brake" of hinge "elbow"."""
    return make_dock()


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
