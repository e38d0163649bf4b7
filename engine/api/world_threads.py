"""Threads that share the groups of a batch's worlds."""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from limberjack.engine.api.world_lanes import Lanes
from limberjack.engine.model.plant import Plant, aligned_zeros

#: s; less work than this is done by one thread: another takes 0.05 ms to wake, and as much to say that it is done
_WORTH_WAKING = 4e-4


class Threads:
    """Parts of all groups, one for each thread, each with its own Work vectors for one world and for a group."""

    def __init__(self, lanes: Lanes, plant: Plant, threads: int) -> None:
        many = max(1, min(threads, lanes.groups))
        bounds = [lanes.groups * i // many for i in range(many + 1)]
        self.parts = [slice(*pair) for pair in itertools.pairwise(bounds)]
        self.works = [aligned_zeros(plant.work_size * lanes.width) for _ in self.parts]
        self.works_alone = [plant.new_work() for _ in self.parts]
        self._pool, self._process = self._new_pool(), os.getpid()

    def _new_pool(self) -> ThreadPoolExecutor | None:
        """For all parts but the first, which is the calling thread's."""
        return ThreadPoolExecutor(len(self.parts) - 1) if len(self.parts) > 1 else None

    def all(self, run: Callable[[int], None], seconds: float = math.inf) -> float:
        """Run something for each part; returns about how long that takes one thread, s.

        seconds : what it returned the last time; little work is done without other threads, with equal results
        """
        if self._process != os.getpid():  # a fork has no threads of its parent's pool
            self._pool, self._process = self._new_pool(), os.getpid()
        spent = [0.0 for _ in self.parts]

        def timed(i: int) -> None:
            begin = time.perf_counter()
            run(i)
            spent[i] = time.perf_counter() - begin

        if self._pool is None or seconds < _WORTH_WAKING:
            for i in range(len(self.parts)):
                timed(i)
        else:
            self._together(timed, self._pool)
        return sum(spent)

    def _together(self, run: Callable[[int], None], pool: ThreadPoolExecutor) -> None:
        running = [pool.submit(run, i) for i in range(1, len(self.parts))]
        try:
            run(0)
        finally:
            wait(running)  # after an interrupt too: no thread writes on behind the caller's back
        for each in running:
            each.result()
