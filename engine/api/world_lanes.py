"""Numbers of many worlds, as code for several worlds at once reads them: in groups, each number beside its neighbours'.

A world that is held aside keeps its numbers, while its place in its group repeats a neighbour: groups stay whole, and
what stopped one world stops no other.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from limberjack.engine.model.plant import aligned_zeros


class Lanes:
    """Where each world is, and which are held aside.

    n : worlds; width : worlds of a group; groups : their number. Places beyond the last world repeat it.
    """

    def __init__(self, n: int, width: int) -> None:
        self.n, self.width, self.groups = n, width, -(-n // width)
        #: place → the world whose numbers are there
        self.source = np.minimum(np.arange(self.groups * width), n - 1)
        self.aside, self.some_aside = np.zeros(n, dtype=bool), False
        #: groups (groups,) all of whose worlds are aside
        self.idle = np.zeros(self.groups, dtype=bool)
        self._numbers: list[Numbers] = []

    @property
    def straight(self) -> bool:
        """Whether every place has its own world's numbers."""
        return self.groups * self.width == self.n and not self.some_aside

    def worlds_of(self, groups: slice) -> slice:
        """The worlds of these groups."""
        return slice(groups.start * self.width, min(groups.stop * self.width, self.n))

    def aside_of(self, worlds: slice) -> list[int]:
        """Those of these worlds that are held aside."""
        if not self.some_aside:
            return []
        aside: list[int] = (np.flatnonzero(self.aside[worlds]) + worlds.start).tolist()
        return aside

    def numbers(self, size: int) -> Numbers:
        """Room for `size` numbers of each world."""
        made = Numbers(self, size)
        for world in np.flatnonzero(self.aside):
            made.hold(int(world))
        self._numbers.append(made)
        return made

    def hold(self, worlds: Iterable[int]) -> None:
        """Set worlds aside with the numbers that they have."""
        for world in worlds:
            if not self.aside[world]:
                for numbers in self._numbers:
                    numbers.hold(world)
                self.aside[world] = True
        self._share()

    def release(self, worlds: Iterable[int]) -> None:
        """Put worlds that are aside back into their places."""
        for world in worlds:
            self.aside[world] = False
        self._share()
        for numbers in self._numbers:
            numbers.release()

    def _share(self) -> None:
        """Let places of worlds that are aside repeat a neighbour that is not, if their group has one."""
        worlds = np.minimum(np.arange(self.groups * self.width), self.n - 1).reshape(self.groups, self.width)
        running = ~self.aside[worlds]
        first = np.take_along_axis(worlds, running.argmax(axis=1)[:, None], axis=1)
        alone = ~np.any(running, axis=1, keepdims=True)
        self.source = np.where(running | alone, worlds, first).reshape(-1)
        self.idle, self.some_aside = alone.reshape(-1), bool(self.aside.any())
        for numbers in self._numbers:
            numbers.spread()


class Numbers:
    """`size` numbers of each world.

    data : (groups, size, width), on a cache line
    """

    def __init__(self, lanes: Lanes, size: int) -> None:
        self._lanes, self.size = lanes, size
        self.data = aligned_zeros(lanes.groups * size * lanes.width).reshape(lanes.groups, size, lanes.width)
        self._aside: dict[int, np.ndarray] = {}

    def rows(self, worlds: np.ndarray) -> np.ndarray:
        """A copy of the numbers (m, size) of these worlds."""
        rows = self.data[worlds // self._lanes.width, :, worlds % self._lanes.width]
        for i in np.flatnonzero(self._lanes.aside[worlds]):
            rows[i] = self._aside[int(worlds[i])]
        return rows

    def put_rows(self, worlds: np.ndarray, rows: np.ndarray) -> None:
        """Set the numbers of these worlds."""
        self.data[worlds // self._lanes.width, :, worlds % self._lanes.width] = rows
        for world, row in zip(worlds[self._lanes.aside[worlds]], rows[self._lanes.aside[worlds]], strict=True):
            self._aside[int(world)] = row.copy()
        self.spread(worlds // self._lanes.width)

    def get(self, columns: slice | np.ndarray, groups: slice | None = None) -> np.ndarray:
        """A copy (n, columns); of the worlds of some groups only, if these are given."""
        lanes, groups = self._lanes, groups or slice(0, self._lanes.groups)
        worlds = lanes.worlds_of(groups)
        found = np.array(self.data[groups, columns].transpose(0, 2, 1), order="C")
        found = found.reshape(len(found) * lanes.width, found.shape[2])[: worlds.stop - worlds.start]
        for world in lanes.aside_of(worlds):
            found[world - worlds.start] = self._aside[world][columns]
        return found

    def put(self, columns: slice, values: np.ndarray, groups: slice | None = None) -> None:
        """Set (n, columns); only of the worlds of some groups, if these are given: threads put what they will read."""
        lanes, groups = self._lanes, groups or slice(0, self._lanes.groups)
        for world in lanes.aside_of(lanes.worlds_of(groups)):
            self._aside[world][columns] = values[world]
        places = slice(groups.start * lanes.width, groups.stop * lanes.width)
        rows = values[places] if lanes.straight else values[lanes.source[places]]
        rows = rows.reshape(groups.stop - groups.start, lanes.width, values.shape[1])
        self.data[groups, columns] = rows.transpose(0, 2, 1)

    def hold(self, world: int) -> None:
        """Keep a world's numbers aside."""
        self._aside[world] = self.data[world // self._lanes.width, :, world % self._lanes.width].copy()

    def release(self) -> None:
        """Put what is aside no longer back into its place."""
        for world in [world for world in self._aside if not self._lanes.aside[world]]:
            self.data[world // self._lanes.width, :, world % self._lanes.width] = self._aside.pop(world)
        self.spread()

    def spread(self, groups: np.ndarray | None = None) -> None:
        """Repeat worlds in the places that stand for others, of some groups or of all; others may be running."""
        lanes = self._lanes
        places = np.flatnonzero(lanes.source != np.arange(lanes.groups * lanes.width))
        if groups is not None:
            places = places[np.isin(places // lanes.width, groups)]
        if places.size:
            source = lanes.source[places]
            self.data[places // lanes.width, :, places % lanes.width] = self.data[
                source // lanes.width, :, source % lanes.width
            ]
