"""A file is held by one process at a time, and given up however that process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from limberjack.bridge.file_lock import hold

HOLDER = """
import sys, time
from pathlib import Path
from limberjack.bridge.file_lock import hold
hold(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(600)
"""


def test_a_dead_process_holds_nothing(tmp_path):
    path = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLDER, path], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(BlockingIOError):
            hold(path)
        other.send_signal(signal.SIGKILL)
        other.wait()
    descriptor = hold(path)
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(BlockingIOError):
        hold(path)
    os.close(descriptor)
    os.close(hold(path))


def test_links_are_not_followed(tmp_path):
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        hold(tmp_path / "lock")
    assert not (tmp_path / "elsewhere").exists()
