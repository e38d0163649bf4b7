"""An engine as a child process: started, waited for, stopped."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

from limberjack import children
from limberjack.bridge.checkpoint_file import Resume
from limberjack.bridge.client import Client
from limberjack.bridge.endpoints import DEFAULT_ENDPOINT, Endpoints
from limberjack.bridge.errors import EngineStartError
from limberjack.bridge.parent import end_with_parent
from limberjack.bridge.server import serve
from limberjack.bridge.settings import Settings
from limberjack.bridge.upkeep import NO_SIGNS, CameBack, Pulse, Signs
from limberjack.engine.common.errors import ExitCode, LimberjackError, exit_code_of
from limberjack.engine.model.load import load
from limberjack.engine.model.system import System

_LOOK_S = 0.1
_STATUS_MAX = 65536  # bytes of the child's report


class EngineProcess:
    """`with EngineProcess("arm.yaml") as engine, engine.client() as client: client.step()`.

    The child ends with the `with` block, on `stop`, and when this process ends in any way.
    """

    def __init__(
        self,
        model: Path | str | System,
        settings: Settings | None = None,
        *,
        dt: float | None = None,
        integrator: str | None = None,
        substeps: int = 1,
        resume: Resume | None = None,
        came_back: CameBack | None = None,
        watched: tuple[Pulse, str] | None = None,
        start_timeout_s: float = 300.0,
        waiting: Callable[[], None] = lambda: None,
    ) -> None:
        """Start an engine on a model file or System and wait until it answers.

        settings : as for `serve`; without, lockstep on a free port of 127.0.0.1
        resume, came_back : as for `serve`
        watched : by a supervisor: where signs of life go, and its address
        start_timeout_s : bound on the wait; the first start on a machine compiles the engine
        waiting : called every tenth of a second while that lasts

        Raises ModelError for a bad model, EngineStartError when the engine ends or does not answer in time.
        """
        system = model if isinstance(model, System) else load(model)
        settings = settings or Settings(endpoint=DEFAULT_ENDPOINT.rpartition(":")[0] + ":*")
        self.settings, self._waiting = settings, waiting
        with children.interrupts_held():
            self._child = subprocess.Popen(
                [sys.executable, "-m", "limberjack.bridge.process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=() if watched is None else (watched[0].descriptor,),
            )
        signs = None if watched is None else (watched[0].descriptor, watched[1])
        steps = {"dt": dt, "integrator": integrator, "substeps": substeps, "resume": resume, "came_back": came_back}
        try:
            self.endpoints = self._start((system, settings, steps, signs), time.monotonic() + start_timeout_s)
            if watched is None:  # its supervisor looks for signs of life, and may have no key of a client
                with self.client(name="starter", timeout_s=10.0):
                    pass
        except BaseException:
            self.kill()
            raise

    def _start(self, job: tuple, deadline: float) -> Endpoints:
        """Hand the child its job and wait for its report."""
        assert self._child.stdin is not None
        try:
            pickle.dump(job, self._child.stdin)
            self._child.stdin.flush()
        except OSError:
            raise self._ended() from None
        report = self._read_report(deadline)
        if "error" in report:
            refused = EngineStartError(f"the engine process could not start: {report['error']}")
            refused.exit_code = ExitCode(report["code"])
            raise refused
        return Endpoints(**report["endpoints"])

    def _read_report(self, deadline: float) -> dict[str, Any]:
        """The one line of JSON that the child writes when it is ready or has failed."""
        assert self._child.stdout is not None
        descriptor = self._child.stdout.fileno()
        line = b""
        while not line.endswith(b"\n") and len(line) < _STATUS_MAX:
            remaining = deadline - time.monotonic()
            if remaining <= 0.0:
                raise EngineStartError("the engine process did not answer in time. Allow more with start_timeout_s.")
            self._waiting()
            if not select.select([descriptor], [], [], min(remaining, _LOOK_S))[0]:
                continue
            portion = os.read(descriptor, 4096)
            if not portion:
                raise self._ended()
            line += portion
        report: dict[str, Any] = json.loads(line)
        return report

    def _ended(self) -> EngineStartError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(5.0)
        code = self._child.returncode
        return EngineStartError(
            f"the engine process ended before it answered, exit code {code}; its last output is above."
        )

    @property
    def pid(self) -> int:
        """Process number of the engine."""
        return self._child.pid

    @property
    def running(self) -> bool:
        """Whether the engine process is alive."""
        return self._child.poll() is None

    def client(self, **options: Any) -> Client:
        """A client of this engine; options as for `Client`. Keys come from the settings unless given."""
        return Client(self.endpoints.request, **{"keys": self.settings.keys, **options})

    def stop(self, timeout_s: float = 10.0) -> int:
        """End the engine with SIGTERM, with SIGKILL if it does not follow in time; returns its exit code."""
        if self.running:
            self._child.send_signal(signal.SIGTERM)
            try:
                self._child.wait(timeout_s)
            except subprocess.TimeoutExpired:
                self._child.kill()
        return self._reap()

    def kill(self) -> int:
        """End the engine at once with SIGKILL; returns its exit code."""
        if self.running:
            self._child.kill()
        return self._reap()

    def _reap(self) -> int:
        code = self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        return code

    def __enter__(self) -> EngineProcess:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


def _report(report: dict[str, Any], pipe: int) -> None:
    os.write(pipe, json.dumps(report).encode() + b"\n")


def child_main() -> int:
    """Main function of the child process: read the job from stdin, serve, report on stdout."""
    children.ignore_interrupts()  # until `serve`: the parent, which gets Ctrl-C too, ends this process
    pipe = os.dup(1)
    os.dup2(2, 1)  # all other output goes to stderr
    with os.fdopen(os.dup(0), "rb") as stream:
        system, settings, steps, watched = pickle.load(stream)
    signs = NO_SIGNS if watched is None else Signs(Pulse(watched[0]), watched[1])
    end_with_parent()

    def ready(endpoints: Endpoints) -> None:
        _report({"endpoints": asdict(endpoints)}, pipe)

    try:
        serve(system, settings, **steps, signs=signs, ready=ready)
    except LimberjackError as error:
        code = int(exit_code_of(error))
        _report({"error": str(error), "code": code}, pipe)
        return code
    return 0


if __name__ == "__main__":
    sys.exit(child_main())
