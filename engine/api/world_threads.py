"""Threads that share the groups of a batch's worlds."""

from __future__ import annotations

import itertools
import math
import os
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

from limberjack.engine.api.world_lanes import Lanes
from limberjack.engine.model.plant import Plant, aligned_zeros

#: s; less work than this is done by one thread: another takes 0.05 ms to wake, and as much to say that it is done
_WORTH_WAKING = 4e-4
#: s; less is no share of its own, since each costs 0.01 ms
_WORTH_SHARING = 4e-4
#: ratio of efforts of a world above which worlds differ
_UNEQUAL = 1.2
#: how many parts there are for each thread, at most
_PARTS = 16


@dataclass(frozen=True)
class Share:
    """Neighbouring parts, by their numbers, and their groups, which one thread takes in one go."""

    parts: slice
    groups: slice


class Threads:
    """Shares all groups among threads, each with its own Work vectors for one world and for a group.

    Each thread takes one share. If the worlds of some took more effort than those of others the last time, each takes a
    large share, then small ones until none is left. Shares consist of parts: places where one may begin.
    """

    def __init__(self, lanes: Lanes, plant: Plant, threads: int) -> None:
        many = max(1, min(threads, lanes.groups))
        parts = min(_PARTS * many, lanes.groups) if many > 1 else 1
        self._bounds = [*_even(0, lanes.groups, parts), lanes.groups]
        self.parts = [self._share(i, i + 1) for i in range(parts)]
        self.works = [aligned_zeros(plant.work_size * lanes.width) for _ in range(many)]
        self.works_alone = [plant.new_work() for _ in range(many)]
        self._pool, self._process, self._differ = self._new_pool(), os.getpid(), True

    def _share(self, first: int, end: int) -> Share:
        return Share(slice(first, end), slice(self._bounds[first], self._bounds[end]))

    def _new_pool(self) -> ThreadPoolExecutor | None:
        """All threads but the calling one."""
        return ThreadPoolExecutor(len(self.works) - 1) if len(self.works) > 1 else None

    def all(self, run: Callable[[int, Share], None], seconds: float = math.inf) -> float:
        """Run something, run(thread, share), for all groups; returns about how long that takes one thread, s.

        seconds : what it returned the last time; little work is done without other threads, with equal results
        """
        if self._process != os.getpid():  # a fork has no threads of its parent's pool
            self._pool, self._process = self._new_pool(), os.getpid()
        spent: list[tuple[float, int]] = []

        def timed(thread: int, share: Share) -> None:
            begin = time.perf_counter()
            run(thread, share)
            spent.append((time.perf_counter() - begin, share.groups.stop - share.groups.start))

        if self._pool is None or seconds < _WORTH_WAKING:
            timed(0, self._share(0, len(self.parts)))
        else:
            self._together(timed, self._shares(seconds), self._pool)
            efforts = [each / groups for each, groups in spent]
            self._differ = max(efforts) > _UNEQUAL * min(efforts)
        return sum(each for each, _ in spent)

    def _shares(self, seconds: float) -> deque[Share]:
        """One for each thread, as many small ones for each after them if efforts differ: half of all groups."""
        many, parts = len(self.works), len(self.parts)
        begin = many * max(1, parts // (2 * many)) if self._differ else parts
        small = many * max(1, int(min(0.5 * seconds / (many * _WORTH_SHARING), parts)))
        bounds = [*_even(0, begin, many), *_even(begin, parts, min(small, parts - begin)), parts]
        return deque(itertools.starmap(self._share, itertools.pairwise(bounds)))

    def _together(self, run: Callable[[int, Share], None], left: deque[Share], pool: ThreadPoolExecutor) -> None:
        def work(thread: int) -> None:
            while (share := _taken(left)) is not None:
                run(thread, share)

        running = [pool.submit(work, thread) for thread in range(1, len(self.works))]
        try:
            work(0)
        finally:
            wait(running)  # after an interrupt too: no thread writes on behind the caller's back
        for each in running:
            each.result()


def _even(first: int, end: int, many: int) -> list[int]:
    """Where as many even pieces of a range begin."""
    return [first + (end - first) * i // many for i in range(many)]


def _taken(left: deque[Share]) -> Share | None:
    """One of those left; None if other threads took them all."""
    try:
        return left.popleft()
    except IndexError:
        return None
