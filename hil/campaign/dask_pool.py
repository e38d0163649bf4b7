"""Runs on a Dask cluster. Each of its threads starts a separate worker process, as on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import platform
import re
import threading
from collections.abc import Iterator, Sequence
from concurrent import futures
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from limberjack.engine.common.errors import ArgumentError, MissingExtraError
from limberjack.engine.files.bounded_file import read_bytes
from limberjack.hil.campaign.attempt import Run, RunMany
from limberjack.hil.campaign.campaign_file import Campaign
from limberjack.hil.campaign.local_pool import LocalPool, portions
from limberjack.hil.campaign.sampling import Job
from limberjack.hil.campaign.table import Row
from limberjack.hil.errors import HilError
from limberjack.version import __version__

#: longest wait for the scheduler to answer and for a first machine of the cluster, s
CONNECT_LIMIT_S = 20.0
_ADDRESS = re.compile(r"(tcp|tls|ucx|wss?)://.+:[0-9]+")


@dataclass(frozen=True)
class _Work:
    """What all tasks of a campaign have in common; digest: of the scenario file."""

    run: Run
    many: RunMany | None
    scenario: Path
    digest: str
    version: str
    limit_s: float
    tries: int


#: thread of this process → what its worker process runs, and the worker
_pools: dict[int, tuple[_Work, LocalPool]] = {}


class DaskPool:
    """Jobs as tasks of a scheduler; machines may come and go.

    A run whose worker process dies or hangs is tried again on the same machine, and a run whose machine is lost on
    others, as often as the scheduler allows.
    MissingExtraError without dask.distributed, HilError if the scheduler does not answer or has no machines.
    """

    def __init__(self, run: Run, campaign: Campaign, address: str, many: RunMany | None = None) -> None:
        if not _ADDRESS.fullmatch(address):
            raise ArgumentError(f"'{address:.100}' is not the address of a scheduler; write tcp://HOST:PORT.")
        try:
            import distributed
        except ImportError:
            raise MissingExtraError("a campaign on a cluster", "distributed", "campaign") from None
        spec, scenario = campaign.spec, campaign.scenario
        digest = hashlib.sha256(read_bytes(scenario)).hexdigest()
        self._work = _Work(run, many, scenario, digest, __version__, spec.limit_s, spec.tries)
        self._address = address
        self._dask: Any = distributed
        self._client: Any = None
        self.workers = 1

    def __enter__(self) -> DaskPool:
        try:
            self._client = self._dask.Client(self._address, timeout=CONNECT_LIMIT_S, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            text = f"the Dask scheduler {self._address} does not answer ({error}); start one with: dask scheduler"
            raise HilError(f"{text}, and give its address.") from None
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_LIMIT_S)
        except TimeoutError:
            self._client.close()
            text = f"the Dask scheduler {self._address} has no machines; start some with: dask worker {self._address}"
            raise HilError(f"{text}.") from None
        self.workers = max(1, sum(self._client.nthreads().values()))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(Exception):  # a cluster that is gone already
            self._client.run(_release, self._work)
        with contextlib.suppress(Exception):
            self._client.close(timeout=5.0)

    def rows(self, jobs: Sequence[Job], together: int = 1) -> Iterator[Row]:
        """Run jobs; their rows in the order in which they end.

        HilError when the scheduler is lost, or a machine has another scenario file or another version of Limberjack.
        """
        tasks = {self._submitted(part): part for part in portions(jobs, together)}
        with self._client.as_current():  # as_completed asks for it when it is made
            completed = self._dask.as_completed(tasks)
        for task in completed:
            rows = self._rows(task, tasks[task])
            if not rows:  # their machines were lost: each by itself
                again = {self._submitted([job]): [job] for job in tasks[task]}
                tasks |= again
                completed.update(again)
            yield from rows

    def _submitted(self, jobs: list[Job]) -> Any:
        return self._client.submit(_on_cluster, self._work, jobs, pure=False)

    def _rows(self, task: Any, jobs: list[Job]) -> list[Row]:
        """Rows of jobs, none where several were lost together."""
        try:
            error = task.exception()
            if error is None:
                rows: list[Row] = task.result()
                return rows
        except (OSError, TimeoutError, futures.CancelledError, asyncio.CancelledError):
            text = f"the Dask scheduler {self._address} was lost; go on with --resume when it is back."
            raise HilError(text) from None
        if isinstance(error, self._dask.KilledWorker):
            text = "the machines that ran it were lost"
            return [Row(job.run, job.seed, "lost", text, job.values) for job in jobs] if len(jobs) == 1 else []
        raise error if isinstance(error, HilError) else HilError(f"the cluster cannot run jobs: {error!r:.500}")


def _on_cluster(work: _Work, jobs: list[Job]) -> list[Row]:
    """Run jobs in the worker process of this thread."""
    thread = threading.get_ident()
    if thread in _pools and _pools[thread][0] != work:
        _pools.pop(thread)[1].__exit__(None, None, None)
    if thread not in _pools:
        _check_machine(work)
        _pools[thread] = (
            work,
            LocalPool(work.run, work.scenario, 1, limit_s=work.limit_s, tries=work.tries, many=work.many),
        )
    return list(_pools[thread][1].rows(jobs, len(jobs)))


def _check_machine(work: _Work) -> None:
    """HilError where this machine would run something else."""
    here = platform.node()
    if work.version != __version__:
        raise HilError(f"Limberjack is {__version__} on {here}, {work.version} where the campaign was started.")
    try:
        same = hashlib.sha256(read_bytes(work.scenario)).hexdigest() == work.digest
    except OSError as error:
        raise HilError(f"{work.scenario} cannot be read on {here}: {error.strerror}; use a shared folder.") from None
    if not same:
        raise HilError(f"{work.scenario} is another file on {here}; use a shared folder.")


def _release(work: _Work) -> None:
    """End the worker processes of a campaign."""
    for thread in [thread for thread, (whose, _) in _pools.items() if whose == work]:
        _pools.pop(thread)[1].__exit__(None, None, None)
