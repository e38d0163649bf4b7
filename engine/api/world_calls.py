"""Calls of an entry for many worlds: groups of worlds in code for several at once, on all threads.

Where the worlds of a group disagree (compile/worlds.py), each is taken alone, from where the call began. A group that
disagreed is taken alone for some calls before it is tried together again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from limberjack.engine.api.world_lanes import Lanes, Numbers
from limberjack.engine.api.world_threads import Share, Threads
from limberjack.engine.compile.library import Call, Entry, Library
from limberjack.engine.model.plant import Plant, aligned_zeros

#: most calls for which a group is taken alone after it disagreed
_LONGEST = 64

#: what is done with some groups
OfGroups = Callable[[slice], None]


def nothing(groups: slice) -> None:
    """Nothing is done with these groups."""


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
    return call.over(moved, np.zeros(many, dtype=np.int64))


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
        self._skipped, self._skips = np.zeros(lanes.groups, dtype=np.int64), False
        #: of each part: whether a group of it disagreed lately, or some world reports a failure
        self._uneven = np.zeros(len(threads.parts), dtype=bool)
        self._pace = np.inf
        self.use(None)

    def use(self, floats: Numbers | None) -> None:
        """The constants of the model: of each world, or the Plant's for all."""
        self._floats = floats
        width = self._lanes.width
        shared = None if floats else aligned_zeros(self._plant.floats.size * width)
        if shared is not None:
            shared[:] = np.repeat(self._plant.floats, width)
        self._calls = [self._bound(part.groups, shared) for part in self._threads.parts]

    def _bound(self, part: slice, shared: np.ndarray | None) -> Call:
        """A call for the groups from the first of a part on."""
        floats = shared if shared is not None else Given(self._floats, (-1,)).together(part)  # type: ignore[arg-type]
        handed = [each.together(part) if each else None for each in self._arguments]
        tail = [self._report[part].reshape(-1)] if self.report.shape[1] else []
        call: Call = self._entry.bind(self._plant.ints, floats, None, *handed, *tail, self._agreed[part][:, 0])
        width = 8 * self._lanes.width
        moved = {3 + k: each.numbers.size * width for k, each in enumerate(self._arguments) if each}
        if shared is None:
            moved[1] = self._plant.floats.size * width
        if tail:
            moved[3 + len(handed)] = 8 * self.report.shape[1]
        moved[3 + len(handed) + len(tail)] = 8
        return call.over(moved, self._skipped[part.start :])

    def __call__(self, *given: float, amount: int = 1, before: OfGroups = nothing, after: OfGroups = nothing) -> None:
        """Call it for every world; one that changes the worlds' numbers leaves out those that are held aside.

        amount : of work, such as steps, to which the time of a call is proportional
        before, after : what each thread does with its groups besides, so that it finds their numbers in its own cache
        """
        some_aside = self._lanes.some_aside
        if some_aside or self._skips or self._uneven.any():
            np.copyto(self._skipped, (self._wait > 0) | self._lanes.idle)
            self._skips = bool(self._skipped.any())

        def run(thread: int, share: Share) -> None:
            before(share.groups)
            self._run(thread, share, given)
            after(share.groups)

        self._pace = self._threads.all(run, self._pace * amount) / amount
        if self._changed is None and some_aside:
            self._take(0, np.flatnonzero(self._lanes.aside), given)

    @property
    def failed(self) -> np.ndarray:
        """Worlds whose last call reports a failure, those that are held aside left out."""
        if not self._uneven.any():
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero((self.report[:, 0] != 0) & ~self._lanes.aside)

    def _run(self, thread: int, share: Share, given: Sequence[float]) -> None:
        groups, call = share.groups, self._calls[share.parts.start]
        if self._before is not None:
            np.copyto(self._before[groups], self._changed.data[groups])  # type: ignore[union-attr]
        agreed, report = self._agreed[groups], self._report[groups, :1]
        agreed.fill(0)
        call.times.value = len(agreed)
        call(self._threads.works[thread], *given)
        if agreed.all() and not report.any() and not self._uneven[share.parts].any():
            return
        apart = (agreed[:, 0] == 0) | (report != 0).any(axis=1)
        self._be_patient(groups, apart)
        if self.report.shape[1]:
            self._spread_report(groups)
        alone = np.flatnonzero(apart & ~self._lanes.idle[groups]) + groups.start
        if alone.size:
            self._alone(thread, alone, given)
        for part in self._threads.parts[share.parts]:
            self._uneven[part.parts] = self._is_uneven(part.groups)

    def _be_patient(self, groups: slice, apart: np.ndarray) -> None:
        """Note which of these groups to leave out for how many calls."""
        wait, patience, tried = self._wait[groups], self._patience[groups], self._skipped[groups] == 0
        patience[tried & ~apart] = 1
        np.maximum(wait - 1, 0, out=wait)
        again = tried & apart
        wait[again] = patience[again]
        patience[again] = np.minimum(2 * patience[again], _LONGEST)

    def _is_uneven(self, groups: slice) -> bool:
        failed = self.report[self._lanes.worlds_of(groups), :1].any()
        return bool(failed or self._wait[groups].any() or (self._patience[groups] != 1).any())

    def _spread_report(self, part: slice) -> None:
        worlds = self._lanes.worlds_of(part)
        self.report[worlds] = np.repeat(self._report[part], self._lanes.width, axis=0)[: worlds.stop - worlds.start]

    def _alone(self, thread: int, groups: np.ndarray, given: Sequence[float]) -> None:
        """Take the worlds of these groups one after the other."""
        width = self._lanes.width
        worlds = (groups[:, None] * width + np.arange(width)).reshape(-1)
        worlds = worlds[(worlds < self._lanes.n)]
        if self._changed is not None:
            self._changed.data[groups] = self._before[groups]  # type: ignore[index]
        self._take(thread, worlds[~self._lanes.aside[worlds]], given)

    def _take(self, thread: int, worlds: np.ndarray, given: Sequence[float]) -> None:
        """Call it for one world after the other."""
        handed = [Rows(each.numbers.rows(worlds), each.shape) if each else None for each in self._arguments]
        report = np.zeros((worlds.size, self.report.shape[1]), dtype=np.int64)
        tail = [Rows(report, (-1,))] if report.shape[1] else []
        floats = None if self._floats is None else self._floats.rows(worlds)
        work = self._threads.works_alone[thread]
        one_by_one(self._alone_entry, self._plant, floats, work, [*handed, *tail], worlds.size)(*given)
        for row, each in zip(handed, self._arguments, strict=True):
            if row and each:
                each.numbers.put_rows(worlds, row.rows)
        if report.shape[1]:
            self.report[worlds] = report
