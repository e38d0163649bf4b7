"""A bench in a separate process. The caller ends a bench that hangs, and reports one that hangs or is killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from limberjack.bridge.parent import end_with_parent
from limberjack.bridge.upkeep import Pulse
from limberjack.engine.common.errors import ExitCode
from limberjack.hil.bench_interfaces import Bench, Visitor
from limberjack.hil.scenario.bench_setup import Built
from limberjack.hil.scenario.evidence import Verdict
from limberjack.hil.scenario.execution import Visit
from limberjack.hil.scenario.junit import write_junit

#: where the process of the bench sends its signs of life
_VARIABLE = "LIMBERJACK_PULSE"
#: looks within the time after which a bench is taken to hang, and the longest time between two, s
_LOOKS, _LOOK_S = 20, 0.2


class Signs:
    """A visitor that gives a sign of life after each frame, and lets another one act."""

    def __init__(self, pulse: Pulse, other: Visitor | None) -> None:
        self._pulse, self._other = pulse, other

    def command(self, commands: np.ndarray) -> None:
        """As the other."""
        if self._other is not None:
            self._other.command(commands)

    def visit(self, bench: Bench) -> None:
        """A sign of life; then as the other."""
        self._pulse.beat(bench.simulation.step_count, bench.simulation.time)
        if self._other is not None:
            self._other.visit(bench)


def watched(visit: Visit | None) -> Visit | None:
    """In the process of a watched bench: a visit with signs of life; else the visit itself."""
    descriptor = os.environ.pop(_VARIABLE, "")
    if not descriptor:
        return visit
    end_with_parent()
    pulse = Pulse(int(descriptor))

    @contextlib.contextmanager
    def signs(built: Built) -> Iterator[Visitor]:
        with visit(built) if visit is not None else contextlib.nullcontext() as other:
            yield Signs(pulse, other)
        pulse.rest()

    return signs


def guard(command: Sequence[str], name: str, out: Path, limit_s: float, say: Callable[[str], None]) -> int:
    """Run a scenario in another process; its exit code, or that of the machine's failure where it hung.

    command : of the process, which gives its visit to `watched`;  name, out : of the scenario, its results folder
    limit_s : longest time without a frame, s;  say : reports that there is no verdict
    """
    pulse = Pulse()
    bench = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        pass_fds=(pulse.descriptor,),
        env={**os.environ, _VARIABLE: str(pulse.descriptor)},
    )
    try:
        with _passed_on(bench):
            hung = _wait(bench, pulse, limit_s)
    finally:
        bench.kill()
        bench.wait()
    if not hung and bench.returncode >= 0:
        return bench.returncode
    why = f"the process of the bench was killed by signal {-bench.returncode}"
    if hung:
        why = f"the bench hung: no frame for {limit_s:g} s of the clock; it was killed"
    text = _judge(name, out, why, pulse)
    say(f"{name}: FAILED. {text}. {out}: junit.xml, result.json, and what the bench had recorded")
    return ExitCode.MACHINE


def _wait(bench: subprocess.Popen[bytes], pulse: Pulse, limit_s: float) -> bool:
    """Until the bench ends, False, or hangs within its run, True."""
    look_s = min(_LOOK_S, limit_s / _LOOKS)
    signs, silent_s, before = 0, 0.0, time.monotonic()
    while bench.poll() is None:
        time.sleep(look_s)
        now, heard = time.monotonic(), pulse.read()[0]
        # a pause of this process or of the machine says nothing about the bench; nor does a bench that does not run
        silent_s = 0.0 if heard != signs or not heard else silent_s + min(now - before, 3.0 * look_s)
        signs, before = heard, now
        if silent_s > limit_s:
            return True
    return False


@contextlib.contextmanager
def _passed_on(bench: subprocess.Popen[bytes]) -> Iterator[None]:
    """SIGTERM goes to the bench, which ends in order; Ctrl-C reaches it anyway."""
    handlers = {signal.SIGTERM: lambda *_: bench.terminate(), signal.SIGINT: lambda *_: None}
    before: dict[int, Any] = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _judge(name: str, out: Path, why: str, pulse: Pulse) -> str:
    """JUnit and result of a run that has no verdicts; what became of it."""
    _, step, at = pulse.read()
    text = f"{why}, after step {step}, t = {at:.6g} s; links of devices fell silent then"
    out.mkdir(parents=True, exist_ok=True)
    verdict = Verdict("end of the run", False, text, time=at, machine=True)
    write_junit(out / "junit.xml", name, [verdict], 0.0)
    criterion = {"name": verdict.name, "passed": False, "text": text, "time": at, "machine": True}
    found = {"scenario": name, "passed": False, "exit_code": int(ExitCode.MACHINE), "text": text}
    (out / "result.json").write_text(json.dumps({**found, "criteria": [criterion]}, indent=1) + "\n", encoding="utf-8")
    return text
