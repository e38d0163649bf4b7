"""Programs that end with the process that started them, however it ends, and with them all that they started.

`run` starts this file as a script, which starts the program in a group of its own and watches its standard input: the
starting process holds the other end of that pipe, so it ends when that process is gone or gives the program up.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

#: longest time between two looks whether the program has ended, s
_LOOK_S = 0.05
#: longest wait for a watcher that was told to end its program, s
_END_S = 10.0


def run(
    command: Sequence[str], *, timeout_s: float, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program without input to its end; what it printed is in the result.

    Raises subprocess.TimeoutExpired after timeout_s, s of wall time; nothing that it started is left then, nor after
    any other exception, nor when this process is killed.
    """
    watched, held = os.pipe()
    try:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, *command],
            stdin=watched,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=env,
            cwd=cwd,
        )
    except BaseException:
        os.close(held)
        raise
    finally:
        os.close(watched)
    try:
        said, errors = child.communicate(timeout=timeout_s)
    except BaseException:
        os.close(held)  # the watcher ends the program and all that it started
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.communicate(timeout=_END_S)
        child.kill()
        raise
    os.close(held)
    return subprocess.CompletedProcess(list(command), child.returncode, said, errors)


def main(command: Sequence[str]) -> int:
    """Start the program; end it and its group when standard input ends; its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        program = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, start_new_session=True, restore_signals=True, preexec_fn=_as_usual
        )
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return 127
    ended = gone = False
    while not (ended or gone):
        gone = bool(select.select([0], [], [], _LOOK_S)[0])
        ended = os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(program.pid, signal.SIGKILL)
    code = program.wait()
    return code if code >= 0 else 128 - code


def _as_usual() -> None:
    """In the program: signals that this file ignores end it."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
