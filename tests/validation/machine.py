"""What ran, where and when: the part of the report that says whose figures these are."""

from __future__ import annotations

import os
import platform
import subprocess
import tomllib
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from limberjack.engine.compile.sources import library_digest
from limberjack.engine.kernels.entry_points import entries
from tests.validation.contents import ROOT

#: engines and libraries that tests compare with
PEERS = ("numpy", "scipy", "pin", "mujoco", "exudyn", "fmpy", "pytest", "hypothesis")


def about() -> dict[str, str]:
    """Version, revision, time, compiled engine, machine and the versions of peers."""
    return {
        "Limberjack": tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"],
        "revision": _revision(),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "compiled engine": f"level {entries().level}, of sources {library_digest()}",
        "machine": f"{platform.machine()}, {_processor()}, {os.cpu_count()} processors",
        "system": f"{platform.platform()}, Python {platform.python_version()}",
        "libraries": ", ".join(f"{name} {_version(name)}" for name in PEERS),
    }


def _revision() -> str:
    """The commit that is checked out, and whether files differ from it."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=, with changes", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    """Its name, where the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "unknown processor")
