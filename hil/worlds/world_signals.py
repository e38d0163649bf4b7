"""The signals of all worlds: a row a world, of which only the columns that somebody looks at are filled."""

from __future__ import annotations

import numpy as np

from limberjack.engine.api.batch import Batch
from limberjack.hil.signals import Signals
from limberjack.hil.worlds.world import WorldSignals


class WorldsSignals:
    """Signals of the worlds of a batch.

    names : those of one world;  table : (n, signals), of the last `refresh`;  rows : the table's rows as Signals
    """

    def __init__(self, batch: Batch, names: Signals) -> None:
        self._batch, system = batch, batch.system
        self.table = np.zeros((batch.n, len(names.names)))
        self.rows = [WorldSignals(names, row) for row in self.table]
        ends = np.cumsum([1, system.nq + system.nv, system.nv, len(system.output_names)])
        self._ends = [int(end) for end in ends]
        self.look_at(np.arange(0))

    def look_at(self, places: np.ndarray) -> None:
        """Fill these columns (m,) from now on, beside time and commands."""
        bounds = zip(self._ends, self._ends[1:], strict=False)
        self._parts = [places[(places >= first) & (places < last)] for first, last in bounds]
        self._read = [part - first for part, first in zip(self._parts, self._ends, strict=False)]

    def refresh(self, times: np.ndarray, commands: np.ndarray) -> np.ndarray:
        """Read the batch, at times (n,) and with commands (n, nu); returns `table`."""
        self.table[:, 0] = times
        for places, values in zip(self._parts, self._batch.read(*self._read), strict=True):
            self.table[:, places] = values
        self.table[:, self._ends[-1] :] = commands
        return self.table
