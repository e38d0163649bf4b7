"""Runs programs that end, together with all their children, when the process that started them ends in any way.

`run` starts this file as a script, which starts the program in a group of its own and watches its standard input: the
starting process holds the other end of that pipe, so it ends when that process is gone or gives the program up.

The running time of a program is not limited, since it depends on the machine and its load. A program is ended when it
hangs, that is when none of its processes uses the processor for `IDLE_S`, or when one process takes more than
`PROCESSOR_S` of processor time.

On Windows nothing watches the program; Ctrl-C reaches it through the console.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

#: longest time between two checks whether the program has ended, s
_LOOK_S = 0.05
#: longest wait for a watcher to end its program on request, s
_END_S = 10.0
#: longest time in which a program and all that it started use no processor, s
IDLE_S = 600.0
#: most processor time of one process, s: sixty times the longest compilation measured
PROCESSOR_S = 7200.0
#: exit code of a program that was ended because it hung
HUNG = 124


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Ctrl-C waits while this lasts, and what is started within it does not hear it until it ignores interrupts: in its
    imports, Ctrl-C would end it with a traceback."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_interrupts() -> None:
    """In a process that was started so: Ctrl-C, also one that waits, does nothing until a handler is set."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def run(
    command: Sequence[str],
    *,
    idle_s: float = IDLE_S,
    processor_s: float = PROCESSOR_S,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program without input to its end; the result contains its output.

    idle_s, processor_s : limits, s, as above; a program that hung has the exit code HUNG, one that computed for too
        long 128 + SIGXCPU, and the last line of its standard error says so

    None of its children outlives it, also after an exception and when this process is killed.
    """
    if sys.platform == "win32":
        return subprocess.run(
            list(command), stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", env=env, cwd=cwd
        )
    watched, held = os.pipe()
    try:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(idle_s), str(processor_s), *command],
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
        said, errors = child.communicate()
    except BaseException:
        os.close(held)  # the watcher ends the program and all its children
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.communicate(timeout=_END_S)
        child.kill()
        raise
    os.close(held)
    return subprocess.CompletedProcess(list(command), child.returncode, said, errors)


def main(idle_s: float, processor_s: float, command: Sequence[str]) -> int:
    """Start the program; end it and its group when standard input ends, or when it hangs; its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        program = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            restore_signals=True,
            preexec_fn=lambda: _prepare(processor_s),
        )
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return 127
    progress = Progress(program.pid, idle_s)
    ended = gone = hung = False
    while not (ended or gone or hung):
        gone = bool(select.select([0], [], [], _LOOK_S)[0])
        ended = os.waitid(os.P_PID, program.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        hung = progress.hung()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(program.pid, signal.SIGKILL)
    code = program.wait()
    if hung and not ended:
        print(f"It was ended: it used no processor time for {idle_s:g} s.", file=sys.stderr)
        return HUNG
    if code == -signal.SIGXCPU:
        print(f"It was ended after {processor_s:g} s of processor time.", file=sys.stderr)
    return code if code >= 0 else 128 - code


def _prepare(processor_s: float) -> None:
    """In the child: restore signals that this file ignores, and limit the processor time."""
    import resource  # not on Windows

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    most, hard = max(1, round(processor_s)), resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


class Progress:
    """Finds out whether a group of processes works, by sampling the processor time that all of them have used."""

    def __init__(self, group: int, idle_s: float) -> None:
        self._group, self._idle_s = group, idle_s
        self._used, self._last, self._looked = -1.0, time.monotonic(), -float("inf")

    def hung(self) -> bool:
        """Whether no processor time was used for idle_s, s; False on systems that do not report it."""
        now = time.monotonic()
        if now - self._looked < min(5.0, 0.1 * self._idle_s):
            return False
        self._looked = now
        used = processor_time(self._group)
        if used is None or used != self._used:
            self._used, self._last = -1.0 if used is None else used, now
        return now - self._last > self._idle_s


def processor_time(group: int) -> float | None:
    """Processor time of all living processes of a group and their children that have ended, s; None: unknown."""
    if not os.path.isdir("/proc/self"):
        return _listed_time(group)
    ticks = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError), open(f"/proc/{name}/stat", "rb") as stream:
            fields = stream.read().rpartition(b")")[2].split()  # from the third field on, state
            if int(fields[2]) == group:
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _listed_time(group: int) -> float | None:
    """The same from the program ps, on systems without /proc: times are [[days-]hours:]minutes:seconds."""
    try:
        listed = subprocess.run(
            ["ps", "-A", "-o", "pgid=,time="], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60.0
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    total = 0.0
    for number, used in (line.split() for line in listed.stdout.splitlines() if len(line.split()) == 2):
        if number == str(group):
            days, _, clock = used.rpartition("-")
            total += 86400.0 * float(days or 0)
            total += sum(60.0**place * float(part) for place, part in enumerate(reversed(clock.split(":"))))
    return total if listed.stdout else None


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
