"""A process that runs jobs: `python -m limberjack.hil.campaign.worker FD`, started by `Worker`."""

from __future__ import annotations

import os
import queue
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path

from limberjack.hil.campaign.attempt import Run, RunMany, tried_together
from limberjack.hil.campaign.sampling import Job

#: first message of a worker
READY = "ready"


def main(descriptor: int) -> None:
    """Serve until the other end closes. First message: (run, many, scenario); then lists of jobs, answered by Rows."""
    connection = Connection(descriptor)
    run, many, scenario = connection.recv()
    connection.send(READY)
    jobs: queue.SimpleQueue[list[Job]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, jobs), daemon=True).start()
    _serve(connection, run, many, scenario, jobs)


def _receive(connection: Connection, jobs: queue.SimpleQueue[list[Job]]) -> None:
    """Put jobs into the queue. If the other end closes or was killed, end at once, even in the middle of a run."""
    while True:
        try:
            jobs.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)


def _serve(
    connection: Connection, run: Run, many: RunMany | None, scenario: Path, jobs: queue.SimpleQueue[list[Job]]
) -> None:
    while True:
        rows = tried_together(run, many, scenario, jobs.get())
        try:
            connection.send(rows)
        except OSError:
            os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
