"""Models, short ipc paths, and an environment with ground systems."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from limberjack.engine.model.system import System
from tests.bridge.bridge_helpers import make_arm, make_dock


@pytest.fixture(scope="package")
def arm() -> System:
    """A pendulum of three links with drives shoulder, j1 (torques) and j2 (a servo)."""
    return make_arm()


@pytest.fixture(scope="package")
def dock() -> System:
    """A free base with an arm and a free target: switchable weld "dock", lock "brake" of hinge "elbow"."""
    return make_dock()


@pytest.fixture(scope="session")
def ground_python(tmp_path_factory) -> str:
    """A Python with fprime-gds and openc3, which bring many packages: $LIMBERJACK_GROUND_PYTHON, or made again."""
    given = os.environ.get("LIMBERJACK_GROUND_PYTHON")
    if given:
        return given
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    folder = tmp_path_factory.mktemp("ground") / "env"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, env=clean, timeout=120)
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "-q", "fprime-gds>=4.4", "openc3>=7.4"]
    done = subprocess.run(install, env=clean, capture_output=True, text=True, timeout=600)
    if "Could not find a version" in done.stderr or "Temporary failure" in done.stderr:
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stderr[-2000:]
    return python
