"""Compile the servo if that has not been done yet, and become it: for scenarios, which start controllers by name.

python examples/servo_controller/run.py udp 9000 0.001
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path

from platformdirs import user_cache_path

from limberjack.examples.servo_controller.build import FLAGS, HERE, SOURCES, build


def built() -> Path:
    """The program of these sources, from the user's cache."""
    content = b"".join((HERE / name).read_bytes() for name in (*SOURCES, "servo.h")) + repr(FLAGS).encode()
    program = user_cache_path("limberjack") / f"servo-{hashlib.sha256(content).hexdigest()[:16]}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=program.parent) as folder:
            os.replace(build(Path(folder, "servo")), program)
    return program


if __name__ == "__main__":
    os.execv(built(), ["servo", *sys.argv[1:]])
