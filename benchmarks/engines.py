"""What the harness asks of every engine it times."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from benchmarks.states import COUNT

#: name → what is timed
OPERATIONS = {
    "forward": "forward dynamics",
    "inverse": "inverse dynamics",
    "mass_matrix": "mass matrix",
    "step": "one step, symplectic Euler",
}
STEP_SECONDS = 1e-3

#: calls an operation this many times in compiled code, over changing states; returns CPU seconds
Timer = Callable[[int], float]


class Engine(Protocol):
    """One engine with one model.

    name : as shown in tables; note : how it was built or called; timers : operation → Timer.
    """

    name: str
    note: str
    timers: dict[str, Timer]

    def result(self, operation: str, k: int) -> np.ndarray:
        """What the operation gives for state k in our coordinate order: vdot (nv,), tau (nv,), M (nv, nv) or
        [q, v] (nq + nv,) after a step."""


def python_time(call: Callable[[int], Any], calls: int) -> float:
    """CPU seconds of this thread for `calls` calls from Python, cycling through the states."""
    begin = time.thread_time()
    for i in range(calls):
        call(i % COUNT)
    return time.thread_time() - begin


@contextmanager
def pinned(core: int | None = None) -> Iterator[int | None]:
    """Run the calling thread on one core (the last allowed one by default); yields it, None where unsupported."""
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    before = os.sched_getaffinity(0)
    chosen = max(before) if core is None else core
    os.sched_setaffinity(0, {chosen})
    try:
        yield chosen
    finally:
        os.sched_setaffinity(0, before)
