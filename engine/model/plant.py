"""The Plant: a System as two flat vectors, the only model data that kernels, engine process and FMU read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from limberjack.engine.algebra.array_views import Sections, total
from limberjack.engine.tables import plant as layout


def aligned_zeros(size: int) -> np.ndarray:
    """A zeroed float64 vector that starts on a cache line."""
    raw = np.zeros(size + 8)
    offset = (-raw.ctypes.data // 8) % 8
    return raw[offset : offset + size]


@dataclass(eq=False)
class Plant:
    """Constants of one model.

    ints : int64 vector, counts and topology; floats : float64 vector, everything with a unit. `tables/plant.py`
    documents every field. parameters : name → index into floats of what may be tuned between steps.
    hinge_rows : hinge name → (body row, rotation R_CO from hinge axes to the engine's axes) for reactions.
    touching : names of the shapes a and b of each row of pair_int.
    """

    ints: np.ndarray
    floats: np.ndarray
    parameters: dict[str, int] = field(default_factory=dict)
    hinge_rows: dict[str, tuple[int, np.ndarray]] = field(default_factory=dict)
    touching: tuple[tuple[str, str], ...] = ()

    def place(self, section: str, row: int, column: int) -> int:
        """Index into floats of one number of a section."""
        view = self.sections[section]
        start = (view.ctypes.data - self.floats.ctypes.data) // 8
        return int(start + row * view.shape[1] + column)

    def count(self, which: int) -> int:
        """One of the counts C_… at the head of ints."""
        return int(self.ints[which])

    @cached_property
    def sections(self) -> dict[str, np.ndarray]:
        """Named views of every section, (rows, columns)."""
        views = split(self.ints, layout.int_sections(self.ints))
        for table in layout.tables_of("ints"):
            if table.real:
                views[table.name] = views[table.name].view(np.float64)
        return views | split(self.floats, layout.float_sections(self.ints))

    @property
    def work_size(self) -> int:
        """Length of the Work vector that kernels need for this model."""
        return total(layout.work_sections(self.ints))

    @property
    def state_size(self) -> int:
        """Length of the State vector."""
        return total(layout.state_sections(self.ints))

    @property
    def observed_size(self) -> int:
        """Numbers in forces, accelerations and sensor outputs together (`outputs.observe_entry`)."""
        return 2 * self.count(layout.C_V) + self.count(layout.C_OUTPUTS)

    @property
    def surveyed_size(self) -> int:
        """Numbers that `outputs.survey_entry` writes."""
        return layout.SURVEY_HEAD + layout.SURVEY_NODE * self.count(layout.C_NODES)

    @property
    def switches_size(self) -> int:
        """Numbers that `forces.switches_entry` writes."""
        return 2 * self.count(layout.C_V) + 2 * self.count(layout.C_ACTUATORS)

    def new_work(self) -> np.ndarray:
        """A fresh scratch vector; the only allocation that stepping needs."""
        return aligned_zeros(self.work_size)

    def digest(self) -> str:
        """Hash of the constants as they are now: equal digests step alike."""
        digest = hashlib.sha256(self.ints.tobytes())
        digest.update(self.floats.tobytes())
        return digest.hexdigest()


def split(vector: np.ndarray, sections: Sections) -> dict[str, np.ndarray]:
    """Name → view (rows, columns) of consecutive parts of a vector."""
    views, start = {}, 0
    for name, rows, columns in sections:
        views[name] = vector[start : start + rows * columns].reshape(rows, columns)
        start += rows * columns
    return views


def empty_plant(counts: Mapping[int, int]) -> Plant:
    """A zeroed Plant of the sizes that the counts C_… ask for, with these counts set."""
    head = np.zeros(layout.HEADER, dtype=np.int64)
    head[layout.C_VERSION] = layout.FORMAT_VERSION
    for which, count in counts.items():
        head[which] = count
    ints = np.zeros(total(layout.int_sections(head)), dtype=np.int64)
    ints[: layout.HEADER] = head
    return Plant(ints, aligned_zeros(total(layout.float_sections(head))))
