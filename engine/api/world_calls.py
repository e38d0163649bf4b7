"""Calls of an entry for many worlds: groups of worlds in code for several at once, on all threads.

Where the worlds of a group disagree (compile/worlds.py), each is taken alone, from where the call began. A group that
disagreed is taken alone for some calls before it is tried together again.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from limberjack.engine.api.world_lanes import Lanes, Numbers
from limberjack.engine.compile.library import Call, Entry, Library
from limberjack.engine.model.plant import Plant, aligned_zeros

#: most calls for which a group is taken alone after it disagreed
_LONGEST = 64


@dataclass(frozen=True)
class Given:
    """An argument of an entry that each world has: numbers, and the shape in which one world's are handed over."""

    numbers: Numbers
    shape: tuple[int, ...]

    def together(self, groups: slice) -> np.ndarray:
        """What stands for the argument: where its first group begins, in the shape of one world."""
        first = self.numbers.data[groups].reshape(-1)[: self.numbers.size]
        return first.reshape(self.shape)


@dataclass(frozen=True)
class Rows:
    """An argument of an entry that is taken for one world after the other: rows (m, size), and one row's shape."""

    rows: np.ndarray
    shape: tuple[int, ...]


def one_by_one(
    entry: Entry, plant: Plant, floats: np.ndarray | None, work: np.ndarray, arguments: Sequence[Any], many: int
) -> Call:
    """A call of an entry for `many` worlds, of whose arguments after ints, floats and work the `Rows` move on.

    floats : (many, size), the constants of each world; the Plant's if None
    """
    moved = {3 + k: each.rows[0].nbytes for k, each in enumerate(arguments) if isinstance(each, Rows)}
    if floats is not None:
        moved[1] = floats[0].nbytes
    first = [each.rows[0].reshape(each.shape) if isinstance(each, Rows) else each for each in arguments]
    call: Call = entry.bind(plant.ints, plant.floats if floats is None else floats[0], work, *first)
    return call.over(many, moved, np.zeros(many, dtype=np.int64))


class Threads:
    """Threads that share groups, each with a Work vector of its own for one world and for a group."""

    def __init__(self, lanes: Lanes, plant: Plant, threads: int) -> None:
        many = max(1, min(threads, lanes.groups))
        bounds = [lanes.groups * i // many for i in range(many + 1)]
        self.parts = [slice(*pair) for pair in itertools.pairwise(bounds)]
        self.works = [aligned_zeros(plant.work_size * lanes.width) for _ in self.parts]
        self.works_alone = [plant.new_work() for _ in self.parts]
        self._pool, self._process = self._new_pool(), os.getpid()

    def _new_pool(self) -> ThreadPoolExecutor | None:
        return ThreadPoolExecutor(len(self.parts)) if len(self.parts) > 1 else None

    def all(self, run: Callable[[int], None]) -> None:
        """Run something for each part."""
        if self._process != os.getpid():  # a fork has no threads of its parent's pool
            self._pool, self._process = self._new_pool(), os.getpid()
        if self._pool is None:
            run(0)
            return
        running = [self._pool.submit(run, i) for i in range(len(self.parts))]
        try:
            wait(running)
        finally:
            wait(running)  # after an interrupt too: no thread writes on behind the caller's back
        for each in running:
            each.result()


class WorldsCall:
    """An entry for all worlds.

    arguments : after ints, floats and work; `Given`, or None for what every call gives
    changed : numbers that the entry reads and writes, which go back to where they were before worlds are taken alone
    report : how many integers the entry reports of each world, last of its arguments
    """

    def __init__(
        self,
        library: Library,
        name: str,
        threads: Threads,
        lanes: Lanes,
        plant: Plant,
        arguments: Sequence[Given | None],
        changed: Numbers | None = None,
        report: int = 0,
    ) -> None:
        self._lanes, self._plant, self._threads, self._arguments = lanes, plant, threads, arguments
        self._alone_entry = getattr(library, name)
        self._entry = getattr(library, f"{name}_worlds")
        self._changed, self._before = changed, None if changed is None else changed.data.copy()
        self._report = np.zeros((lanes.groups, report), dtype=np.int64)
        self.report = np.zeros((lanes.n, report), dtype=np.int64)
        self._agreed = np.zeros((lanes.groups, 1), dtype=np.int64)
        self._wait, self._patience = np.zeros(lanes.groups, dtype=np.int64), np.ones(lanes.groups, dtype=np.int64)
        self._skipped = np.zeros(lanes.groups, dtype=np.int64)
        self.use(None)

    def use(self, floats: Numbers | None) -> None:
        """The constants of the model: of each world, or the Plant's for all."""
        self._floats = floats
        width = self._lanes.width
        shared = None if floats else aligned_zeros(self._plant.floats.size * width)
        if shared is not None:
            shared[:] = np.repeat(self._plant.floats, width)
        self._calls = [self._bound(i, part, shared) for i, part in enumerate(self._threads.parts)]

    def _bound(self, i: int, part: slice, shared: np.ndarray | None) -> Call:
        floats = shared if shared is not None else Given(self._floats, (-1,)).together(part)  # type: ignore[arg-type]
        handed = [each.together(part) if each else None for each in self._arguments]
        tail = [self._report[part].reshape(-1)] if self.report.shape[1] else []
        call: Call = self._entry.bind(
            self._plant.ints, floats, self._threads.works[i], *handed, *tail, self._agreed[part][:, 0]
        )
        width = 8 * self._lanes.width
        moved = {3 + k: each.numbers.size * width for k, each in enumerate(self._arguments) if each}
        if shared is None:
            moved[1] = self._plant.floats.size * width
        if tail:
            moved[3 + len(handed)] = 8 * self.report.shape[1]
        moved[3 + len(handed) + len(tail)] = 8
        return call.over(part.stop - part.start, moved, self._skipped[part])

    def __call__(self, *given: float) -> None:
        """Call it for every world; one that changes the worlds' numbers leaves out those that are held aside."""
        np.copyto(self._skipped, (self._wait > 0) | self._lanes.idle)
        if self._before is not None:
            np.copyto(self._before, self._changed.data)  # type: ignore[union-attr]
        self._agreed[:] = 0
        self._threads.all(lambda i: self._part(i, given))
        if self._changed is None and self._lanes.aside.any():
            self._take(0, np.flatnonzero(self._lanes.aside), given)

    def _part(self, i: int, given: Sequence[float]) -> None:
        part = self._threads.parts[i]
        self._calls[i](*given)
        apart = self._agreed[part, 0] == 0
        apart |= (self._report[part, :1] != 0).any(axis=1)
        tried = self._skipped[part] == 0
        self._patience[part] = np.where(tried & ~apart, 1, self._patience[part])
        self._wait[part] = np.maximum(self._wait[part] - 1, 0)
        again = tried & apart
        self._wait[part][again] = self._patience[part][again]
        self._patience[part][again] = np.minimum(2 * self._patience[part][again], _LONGEST)
        if self.report.shape[1]:
            self._spread_report(part)
        groups = np.flatnonzero(apart & ~self._lanes.idle[part]) + part.start
        if groups.size:
            self._alone(i, groups, given)

    def _spread_report(self, part: slice) -> None:
        width = self._lanes.width
        worlds = slice(part.start * width, min(part.stop * width, self._lanes.n))
        self.report[worlds] = np.repeat(self._report[part], width, axis=0)[: worlds.stop - worlds.start]

    def _alone(self, i: int, groups: np.ndarray, given: Sequence[float]) -> None:
        """Take the worlds of these groups one after the other."""
        width = self._lanes.width
        worlds = (groups[:, None] * width + np.arange(width)).reshape(-1)
        worlds = worlds[(worlds < self._lanes.n)]
        if self._changed is not None:
            self._changed.data[groups] = self._before[groups]  # type: ignore[index]
        self._take(i, worlds[~self._lanes.aside[worlds]], given)

    def _take(self, i: int, worlds: np.ndarray, given: Sequence[float]) -> None:
        """Call it for one world after the other."""
        handed = [Rows(each.numbers.rows(worlds), each.shape) if each else None for each in self._arguments]
        report = np.zeros((worlds.size, self.report.shape[1]), dtype=np.int64)
        tail = [Rows(report, (-1,))] if report.shape[1] else []
        floats = None if self._floats is None else self._floats.rows(worlds)
        work = self._threads.works_alone[i]
        one_by_one(self._alone_entry, self._plant, floats, work, [*handed, *tail], worlds.size)(*given)
        for row, each in zip(handed, self._arguments, strict=True):
            if row and each:
                each.numbers.put_rows(worlds, row.rows)
        if report.shape[1]:
            self.report[worlds] = report
