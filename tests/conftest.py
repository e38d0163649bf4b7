"""Short ipc paths; property tests look for new examples on a developer's machine and repeat on every run of CI."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


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
