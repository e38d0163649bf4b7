"""Compile the servo with the C compiler at hand.

python examples/servo_controller/build.py [servo]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from limberjack.examples.joint_controller.build import BUILD_SECONDS, compiler

HERE = Path(__file__).resolve().parent
SOURCES = ("servo.c", "servo_udp.c", "servo_can.c")
#: without contraction to fused multiply-adds, so that every compiler gives the same bits
FLAGS = ("-std=c11", "-D_DEFAULT_SOURCE", "-D_POSIX_C_SOURCE=200809L", "-O2", "-Wall", "-Wextra", "-ffp-contract=off")


def build(program: Path) -> Path:
    """Make the program; returns its path."""
    program.parent.mkdir(parents=True, exist_ok=True)
    command = [*compiler(), *FLAGS, *(str(HERE / name) for name in SOURCES), "-o", str(program), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"the servo does not compile:\n{done.stderr}")
    return program


if __name__ == "__main__":
    print(build(Path(sys.argv[1] if len(sys.argv) > 1 else "servo")))
