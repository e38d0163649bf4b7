"""Programs that run beside the bench: controllers in separate processes, started before a run and ended with it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.bench_device import BenchDevice
from limberjack.hil.bench_interfaces import Trip
from limberjack.hil.errors import ControllerError
from limberjack.hil.events import Event
from limberjack.hil.scenario.scenario_file import Scenario
from limberjack.hil.scenario.schema import ControllerSpec
from limberjack.hil.signals import Signals
from limberjack.scratch import Scratch

_PR_SET_PDEATHSIG = 1
#: how often a starting program is looked at, s
_LOOK_S = 0.01
#: lines of a program's output that a verdict quotes, characters of each, and bytes read for them
_LINES, _LONGEST, _TAIL = 8, 200, 16_384


class Programs:
    """The programs of a scenario; a watchdog too: one that ends too early ends the run."""

    def __init__(self, scenario: Scenario, out: Path | None) -> None:
        self._scenario, self._out = scenario, out
        self._running: list[tuple[ControllerSpec, subprocess.Popen[bytes]]] = []
        self._reported: set[str] = set()
        #: names of the programs that ended the run by ending too early
        self.lost: list[str] = []
        self._outputs: dict[str, Path] = {}

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Start all, give each its time, and end all, whatever happens."""
        with contextlib.ExitStack() as stack:
            folder = self._out or stack.enter_context(Scratch("limberjack-programs-"))
            self._outputs = {spec.name: folder / f"{spec.name}.log" for spec in self._scenario.spec.controllers}
            for i, spec in enumerate(self._scenario.spec.controllers):
                with self._scenario.at("controllers", i, "command"):
                    child = self._start(spec, stack)
                stack.callback(_end, child, spec.end_s)
                self._running.append((spec, child))
            self._wait()
            yield

    def _wait(self) -> None:
        """Give each program its time to start; one that has ended needs none."""
        begun = time.monotonic()
        for spec, child in self._running:
            deadline = begun + spec.start_s
            while child.poll() is None and time.monotonic() < deadline and not self._is_ready(spec):
                time.sleep(_LOOK_S)
            if spec.ready is not None and not self._is_ready(spec):
                how = f"within {spec.start_s:g} s" if child.poll() is None else "before it ended"
                said = _tail(self._outputs[spec.name])
                last = f"its output ends with:\n{said}" if said else "it said nothing."
                raise ControllerError(
                    f"the program of controller '{spec.name}' did not say '{spec.ready}' {how}; {last}"
                )

    def _is_ready(self, spec: ControllerSpec) -> bool:
        """Whether it has printed that line; False for a program without such a line."""
        if spec.ready is None:
            return False
        return spec.ready in self._said(spec).splitlines()

    def _said(self, spec: ControllerSpec) -> str:
        return self._outputs[spec.name].read_text(encoding="utf-8", errors="replace")

    def last_lines(self) -> str:
        """The last lines of output of each program that said anything, for the verdict on a run that went wrong."""
        found = [(spec.name, _tail(self._outputs[spec.name])) for spec, _ in self._running]
        return "".join(f"\n{name}.log ends with:\n{text}" for name, text in found if text)

    def check(self, time: float, signals: Signals, devices: Sequence[BenchDevice]) -> Sequence[Trip]:
        """Programs that have ended since the last frame."""
        found = []
        for spec, child in self._running:
            code = child.poll()
            if code is not None and spec.name not in self._reported:
                self._reported.add(spec.name)
                self.lost += [] if spec.may_end else [spec.name]
                how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
                text = f"the program of controller '{spec.name}' {how}"
                kind = "device" if spec.may_end else "trip"
                found.append(Trip(Event(time, kind, spec.name, text, {"code": code}), not spec.may_end))
        return found

    def _start(self, spec: ControllerSpec, stack: contextlib.ExitStack) -> subprocess.Popen[bytes]:
        """In a new session, so that what it starts ends with it; its output goes to a file."""
        folder = self._scenario.folder
        words = [word.replace("{python}", sys.executable).replace("{folder}", str(folder)) for word in spec.command]
        sink = stack.enter_context(self._outputs[spec.name].open("wb"))
        try:
            return subprocess.Popen(
                words,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_end_with_bench if sys.platform == "linux" else None,
            )
        except OSError as error:
            text = f"the program of controller '{spec.name}' cannot be started: {error.strerror} ({shlex.join(words)})"
            raise ArgumentError(f"{text}; give a program that exists, {{python}} or {{folder}}/name.") from None


def _tail(path: Path) -> str:
    """The last lines of a file, however large it is; "" of an empty one."""
    with path.open("rb") as stream:
        stream.seek(max(path.stat().st_size - _TAIL, 0))
        lines = stream.read().decode(errors="replace").splitlines()
    last = [line.rstrip().expandtabs()[:_LONGEST] for line in lines if line.strip()][-_LINES:]
    return "\n".join("  " + "".join(each if each.isprintable() else "\ufffd" for each in line) for line in last)


def _end_with_bench() -> None:
    """In the child: be killed when the bench dies, however it dies (prctl of Linux)."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _end(child: subprocess.Popen[bytes], limit_s: float) -> None:
    """Ask the program and all that it started to end; kill what has not ended in time."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(limit_s if number == signal.SIGTERM else None)
