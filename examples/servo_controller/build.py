"""Compile the servo with the C compiler at hand.

python examples/servo_controller/build.py [servo]
"""

from __future__ import annotations

import sys
from pathlib import Path

from limberjack.hil.c_program import compile_program

HERE = Path(__file__).resolve().parent
SOURCES = tuple(HERE / name for name in ("servo.c", "servo_udp.c", "servo_can.c"))


def build(program: Path) -> Path:
    """Make the program; returns its path."""
    return compile_program(SOURCES, program)


if __name__ == "__main__":
    print(build(Path(sys.argv[1] if len(sys.argv) > 1 else "servo")))
