"""The URDF files of the package example-robot-data."""

from __future__ import annotations

import sysconfig
from pathlib import Path

ROBOTS = Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"


def urdf_files() -> list[Path]:
    """Every URDF of the package, sorted."""
    return sorted(ROBOTS.rglob("*.urdf"))
