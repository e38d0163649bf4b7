"""Worker processes on this machine; those that die or hang are replaced, and their runs are tried again."""

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
from limberjack.hil.campaign.attempt import Run, RunMany
from limberjack.hil.campaign.sampling import Job
from limberjack.hil.campaign.table import Row
from limberjack.hil.campaign.worker import READY
from limberjack.hil.errors import HilError

#: longest time for a worker to start, s; imports may be slow on a busy machine
START_LIMIT_S = 120.0
#: after so many workers in a row that fail to start, no more are started
MOST_FAILED_STARTS = 3
#: longest wait for an event, s
MOST_WAIT_S = 10.0


class Pool(Protocol):
    """Runs jobs."""

    #: how many batches run at a time
    workers: int

    def rows(self, jobs: Sequence[Job], together: int = 1) -> Iterator[Row]:
        """Run jobs, each worker several at a time; their rows in the order in which they end."""
        ...

    def __enter__(self) -> Pool: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Worker:
    """One process; its output is appended to a file, or goes to the output of this process."""

    def __init__(self, run: Run, many: RunMany | None, scenario: Path, log: Path | None) -> None:
        self.ready = False
        self.since = time.monotonic()
        self.jobs: list[Job] = []
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
            self.connection.send((run, many, scenario))

    def give(self, jobs: list[Job]) -> None:
        """Give it jobs to run."""
        self.jobs, self.since = jobs, time.monotonic()
        with contextlib.suppress(OSError):
            self.connection.send(jobs)

    def age(self) -> float:
        """Time since it was started or given its jobs, s."""
        return time.monotonic() - self.since

    def end(self) -> str:
        """Kill it, if it still runs, and return how it ended."""
        self.connection.close()
        code = self._process.poll()
        with contextlib.suppress(subprocess.TimeoutExpired):  # a closed connection: it is ending
            code = self._process.wait(0.2) if code is None else code
        if code is None:
            self._process.kill()
            self._process.wait()
            return "was killed"
        return f"was killed by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"


class LocalPool:
    """Up to `count` workers; no more than there are jobs.

    limit_s : longest time of a run, s; tries : how often a run is tried if its worker dies or hangs
    many : runs several jobs at once. If its worker dies or hangs, each is tried by itself
    log : file to which the output of workers is appended; None: the output of this process
    """

    def __init__(
        self,
        run: Run,
        scenario: Path,
        count: int,
        *,
        limit_s: float,
        tries: int,
        many: RunMany | None = None,
        log: Path | None = None,
    ) -> None:
        _check_importable(run)
        self._run, self._many, self._scenario, self.workers, self._log = run, many, scenario, count, log
        self._limit_s, self._tries = limit_s, tries
        self._processes: dict[int, Worker] = {}
        self._started, self._failed_starts = 0, 0

    def __enter__(self) -> LocalPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._processes:
            self._processes.popitem()[1].end()

    def rows(self, jobs: Sequence[Job], together: int = 1) -> Iterator[Row]:
        """Run jobs; their rows in the order in which they end. HilError if workers cannot be started."""
        waiting = deque(portions(jobs, together))
        losses: Counter[int] = Counter()
        while waiting or any(worker.jobs for worker in self._processes.values()):
            self._hand_out(waiting)
            wait([worker.connection for worker in self._processes.values()], self._patience())
            for number, worker in list(self._processes.items()):
                rows, cause = self._heard(worker)
                yield from rows
                if cause:
                    yield from self._again(self._lose(number, cause), cause, waiting, losses)

    def _again(self, jobs: list[Job], cause: str, waiting: deque[list[Job]], losses: Counter[int]) -> Iterator[Row]:
        """Queue jobs whose worker was lost again, each one alone; rows of those given up."""
        for job in reversed(jobs):
            losses[job.run] += len(jobs) == 1
            if losses[job.run] < self._tries:
                waiting.appendleft([job])
            else:
                text = f"its process {cause}, at each of {self._tries} tries"
                yield Row(job.run, job.seed, "lost", text, job.values)

    def _hand_out(self, waiting: deque[list[Job]]) -> None:
        """Start as many workers as there are jobs, up to the largest number, and give jobs to the idle ones."""
        busy = sum(bool(worker.jobs) for worker in self._processes.values())
        while len(self._processes) < min(self.workers, busy + len(waiting)):
            self._started += 1
            self._processes[self._started] = Worker(self._run, self._many, self._scenario, self._log)
        for worker in self._processes.values():
            if waiting and worker.ready and not worker.jobs:
                worker.give(waiting.popleft())

    def _limit(self, worker: Worker) -> float:
        """Longest time in which a worker must answer, s."""
        if not worker.ready:
            return START_LIMIT_S
        return self._limit_s * len(worker.jobs) if worker.jobs else math.inf

    def _patience(self) -> float:
        """Time until the first worker exceeds its limit, s."""
        left = [self._limit(worker) - worker.age() for worker in self._processes.values()]
        return min(max(0.0, min(left)), MOST_WAIT_S)

    def _heard(self, worker: Worker) -> tuple[list[Row], str]:
        """Rows that have arrived, and why the worker is no longer usable."""
        try:
            if worker.connection.poll():
                message = worker.connection.recv()
                if message == READY:
                    worker.ready, self._failed_starts = True, 0
                    return [], ""
                worker.jobs = []
                return message, ""
        except (EOFError, OSError):
            return [], worker.end()
        limit = self._limit(worker)
        if worker.age() <= limit:
            return [], ""
        worker.end()
        return [], f"gave no result within {limit:g} s (limit_s) and was killed"

    def _lose(self, number: int, cause: str) -> list[Job]:
        """Forget a worker that has ended; its jobs."""
        worker = self._processes.pop(number)
        self._failed_starts += not worker.ready
        if self._failed_starts >= MOST_FAILED_STARTS:
            see = "" if self._log is None else f"; see {self._log}"
            raise HilError(f"processes for the runs cannot be started: the last one {cause}{see}.")
        return worker.jobs


def portions(jobs: Sequence[Job], together: int) -> list[list[Job]]:
    """Jobs in their order, in portions."""
    return [list(jobs[first : first + together]) for first in range(0, len(jobs), together)]


def _check_importable(run: Run) -> None:
    """Raise ArgumentError for a function that other processes cannot import."""
    if getattr(run, "__module__", "__main__") == "__main__" or "<" in getattr(run, "__qualname__", "<"):
        raise ArgumentError("run must be a function of a module, so that other processes find it by its name.")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
