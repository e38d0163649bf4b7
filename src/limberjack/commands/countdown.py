"""Shows what a long task is doing and how long it still takes, from a separate process, so that the task loses no time.

`Countdown` starts this file as a script. It imports nothing from limberjack, so that it starts at once. On a terminal
one line counts down each second; elsewhere each part of the task is one line.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from types import TracebackType

_TICK_S = 1.0


class Countdown:
    """`with Countdown() as countdown: countdown.say("step one", 20.0)`: shown on standard error until the end."""

    def __enter__(self) -> Countdown:
        command = [sys.executable, "-I", "-S", __file__]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=0)
        return self

    def say(self, text: str, left_s: float) -> None:
        """Show the present part of the task, and the longest time for it and all that follows, s."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(f"{left_s:.3f} {text}\n".encode())

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def lasting(seconds: float) -> str:
    """A duration as text: "12 s", "3 min 20 s", "2 h 05 min"."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def main() -> None:
    """Show the countdown until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the task, which ends this process
    terminal, text, ends, rest = sys.stderr.isatty(), "", 0.0, b""
    while True:
        if terminal and text:
            line = f"{text}; at most {lasting(ends - time.monotonic())} to go"
            width = os.get_terminal_size(2).columns or len(line) + 1
            print(f"\r\x1b[2K{line[: width - 1]}", end="", file=sys.stderr, flush=True)
        if not select.select([0], [], [], _TICK_S)[0]:
            continue
        data = os.read(0, 65536)
        if not data:
            break
        *lines, rest = (rest + data).split(b"\n")
        for each in lines:
            left, _, text = each.decode(errors="replace").partition(" ")
            ends = time.monotonic() + float(left)
            if not terminal:
                print(f"{text}; at most {lasting(float(left))} to go", file=sys.stderr, flush=True)
    if terminal:
        print("\r\x1b[2K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
