"""Octave, where it is installed with its package for sockets."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest


@functools.cache
def missing() -> str:
    """Why tests with Octave cannot run here, or ""."""
    if shutil.which("octave-cli") is None:
        return "needs Octave: apt-get install octave octave-instrument-control"
    done = subprocess.run(["octave-cli", "--eval", "pkg load instrument-control"], capture_output=True, timeout=120)
    return "needs Octave's package instrument-control" if done.returncode else ""


needs_octave = pytest.mark.skipif(bool(missing()), reason=missing())


def octave(script: str, folder: Path) -> str:
    """What a script says that runs in a folder."""
    (folder / "script_of_test.m").write_text(script, encoding="utf-8")
    words = ["octave-cli", "--no-init-file", "script_of_test.m"]
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=120, env={**os.environ, "LC_ALL": "C"}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
