"""One JSON line a commit and machine: what was measured, on what."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peer_build import version_of

HERE = Path(__file__).resolve().parent
PACKAGES = (
    "numpy",
    "numba",
    "llvmlite",
    "ziglang",
    "pin",
    "libpinocchio",
    "cmeel-eigen",
    "mujoco",
    "pyzmq",
    "exudyn",
    "bsk",
)


def machine() -> dict[str, Any]:
    """Processor, clock and versions; nothing that names the machine."""
    facts: dict[str, Any] = {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "mhz": _clock_mhz(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }
    return facts | {package: version_of(package) for package in PACKAGES}


def _cpu_model() -> str:
    return _cpuinfo("model name") or platform.processor() or platform.machine()


def _clock_mhz() -> float | None:
    text = _cpuinfo("cpu MHz")
    return round(float(text)) if text else None


def _cpuinfo(key: str) -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    found = [line.partition(":")[2].strip() for line in lines if line.split("\t")[0].strip() == key]
    return found[0] if found else ""


def commit() -> str | None:
    """Commit of the source tree this file is in, "+" behind it when files differ from it; None outside git."""
    revision = _git("rev-parse", "--short=12", "HEAD")
    if not revision:
        return None
    changes = _git("status", "--porcelain", "--untracked-files=no", "--", ":!benchmarks/history.jsonl")
    return revision + ("+" if changes else "")


def _git(*words: str) -> str:
    command = ["git", "-C", str(HERE.parent), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def default_path() -> Path | None:
    """benchmarks/history.jsonl of the source tree; None outside git."""
    top = _git("rev-parse", "--show-toplevel")
    return HERE / "history.jsonl" if top and Path(top) == HERE.parent else None


def record(path: Path, line: dict[str, Any]) -> None:
    """Append `line`; one that has the same commit and the same machine is replaced."""
    kept = []
    if path.exists():
        for text in path.read_text(encoding="utf-8").splitlines():
            old = json.loads(text)
            if (old["commit"], old["machine"]) != (line["commit"], line["machine"]):
                kept.append(text)
    kept.append(json.dumps(line, ensure_ascii=False, sort_keys=True))
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        file.write("\n".join(kept) + "\n")
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)


def write(content: dict[str, Any], out: Path, name: str) -> None:
    """What a run found as ``name``.json in the folder ``out``."""
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(content, indent=1, ensure_ascii=False)
    (out / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def append(path: Path | None, line: Callable[[str], dict[str, Any]]) -> None:
    """The line of a run, with the time now, where there is a history."""
    if path is not None:
        record(path, line(datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")))
