"""Worker processes on this machine; those that die or hang are replaced, and their runs tried again."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import Protocol

from limberjack.engine.common.errors import ArgumentError
from limberjack.hil.campaign.attempt import Run
from limberjack.hil.campaign.sampling import Job
from limberjack.hil.campaign.table import Row
from limberjack.hil.campaign.worker import READY
from limberjack.hil.errors import HilError

#: longest time in which a worker must have started, s; imports on a busy machine take their time
START_LIMIT_S = 120.0
#: workers in a row that do not start, after which no more are started
MOST_FAILED_STARTS = 3
#: longest wait for something to happen, s
MOST_WAIT_S = 10.0


class Pool(Protocol):
    """Where jobs are run."""

    def rows(self, jobs: Sequence[Job]) -> Iterator[Row]:
        """Run jobs; their rows in the order in which they end."""
        ...

    def __enter__(self) -> Pool: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Worker:
    """One process; what it prints goes to the end of a file, or where this process prints."""

    def __init__(self, run: Run, scenario: Path, log: Path | None) -> None:
        self.ready = False
        self.since = time.monotonic()
        self.job: Job | None = None
        here, there = socket.socketpair()
        self.connection = Connection(here.detach())
        with there, contextlib.ExitStack() as stack:
            sink = None if log is None else stack.enter_context(log.open("ab"))
            self._process = subprocess.Popen(
                [sys.executable, "-m", "limberjack.hil.campaign.worker", str(there.fileno())],
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
                start_new_session=True,  # an interrupt at the keyboard is for the campaign
            )
        with contextlib.suppress(OSError):  # its death is noticed when it is waited for
            self.connection.send((run, scenario))

    def give(self, job: Job) -> None:
        """Let it run a job."""
        self.job, self.since = job, time.monotonic()
        with contextlib.suppress(OSError):
            self.connection.send(job)

    def age(self) -> float:
        """Time since it was started or given its job, s."""
        return time.monotonic() - self.since

    def end(self) -> str:
        """Kill it, if it is still there, and say how it ended."""
        self.connection.close()
        code = self._process.poll()
        with contextlib.suppress(subprocess.TimeoutExpired):  # a closed connection means that it is ending
            code = self._process.wait(0.2) if code is None else code
        if code is None:
            self._process.kill()
            self._process.wait()
            return "was killed"
        return f"was killed by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"


class LocalPool:
    """Up to `count` workers; no more than there are jobs.

    limit_s : longest time of a run, s;  tries : how often a run is begun whose worker dies or hangs
    log : file to which what workers print is added; None: where this process prints
    """

    def __init__(
        self, run: Run, scenario: Path, count: int, *, limit_s: float, tries: int, log: Path | None = None
    ) -> None:
        _check_importable(run)
        self._run, self._scenario, self._count, self._log = run, scenario, count, log
        self._limit_s, self._tries = limit_s, tries
        self._workers: dict[int, Worker] = {}
        self._started, self._failed_starts = 0, 0

    def __enter__(self) -> LocalPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._workers:
            self._workers.popitem()[1].end()

    def rows(self, jobs: Sequence[Job]) -> Iterator[Row]:
        """Run jobs; their rows in the order in which they end. HilError if workers cannot be started."""
        waiting = deque(jobs)
        losses: Counter[int] = Counter()
        while waiting or any(worker.job for worker in self._workers.values()):
            self._hand_out(waiting)
            wait([worker.connection for worker in self._workers.values()], self._patience())
            for number, worker in list(self._workers.items()):
                row, cause = self._heard(worker)
                if row is not None:
                    yield row
                if not cause:
                    continue
                job = self._lose(number, cause)
                if job is None:
                    continue
                losses[job.run] += 1
                if losses[job.run] < self._tries:
                    waiting.appendleft(job)
                else:
                    cause = f"its process {cause}, at each of {self._tries} tries"
                    yield Row(job.run, job.seed, "lost", cause, job.values)

    def _hand_out(self, waiting: deque[Job]) -> None:
        """As many workers as there is work for, up to the most; a job to each that has none."""
        busy = sum(worker.job is not None for worker in self._workers.values())
        while len(self._workers) < min(self._count, busy + len(waiting)):
            self._started += 1
            self._workers[self._started] = Worker(self._run, self._scenario, self._log)
        for worker in self._workers.values():
            if waiting and worker.ready and worker.job is None:
                worker.give(waiting.popleft())

    def _limit(self, worker: Worker) -> float:
        """Longest time in which something must come from a worker, s."""
        if not worker.ready:
            return START_LIMIT_S
        return self._limit_s if worker.job is not None else math.inf

    def _patience(self) -> float:
        """Time to the first moment at which a worker will be too late, s."""
        left = [self._limit(worker) - worker.age() for worker in self._workers.values()]
        return min(max(0.0, min(left)), MOST_WAIT_S)

    def _heard(self, worker: Worker) -> tuple[Row | None, str]:
        """A row that has come, and why the worker is of no use any more."""
        try:
            if worker.connection.poll():
                message = worker.connection.recv()
                if message == READY:
                    worker.ready, self._failed_starts = True, 0
                    return None, ""
                worker.job = None
                return message, ""
        except (EOFError, OSError):
            return None, worker.end()
        limit = self._limit(worker)
        if worker.age() <= limit:
            return None, ""
        worker.end()
        return None, f"gave no result within {limit:g} s (limit_s) and was killed"

    def _lose(self, number: int, cause: str) -> Job | None:
        """Forget a worker that has ended; its job."""
        worker = self._workers.pop(number)
        self._failed_starts += not worker.ready
        if self._failed_starts >= MOST_FAILED_STARTS:
            see = "" if self._log is None else f"; see {self._log}"
            raise HilError(f"processes for the runs cannot be started: the last one {cause}{see}.")
        return worker.job


def _check_importable(run: Run) -> None:
    """ArgumentError for a function that other processes cannot find."""
    if getattr(run, "__module__", "__main__") == "__main__" or "<" in getattr(run, "__qualname__", "<"):
        raise ArgumentError("run must be a function of a module, so that other processes find it by its name.")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
