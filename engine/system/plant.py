"""The Plant: a System as two flat vectors, the only model data that kernels, engine process and FMU read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from limberjack.engine import layout


def aligned_zeros(size: int) -> np.ndarray:
    """A zeroed float64 vector that starts on a cache line."""
    raw = np.zeros(size + 8)
    offset = (-raw.ctypes.data // 8) % 8
    return raw[offset : offset + size]


@dataclass(eq=False)
class Plant:
    """Constants of one model.

    ints : int64 vector, counts and topology; floats : float64 vector, everything with a unit. `layout.py`
    documents every field. parameters : name → index into floats of what may be tuned between steps.
    hinge_rows : hinge name → (body row, rotation R_CO from hinge axes to the engine's axes) for reactions.
    """

    ints: np.ndarray
    floats: np.ndarray
    parameters: dict[str, int] = field(default_factory=dict)
    hinge_rows: dict[str, tuple[int, np.ndarray]] = field(default_factory=dict)

    def count(self, which: int) -> int:
        """One of the counts C_… at the head of ints."""
        return int(self.ints[which])

    @cached_property
    def sections(self) -> dict[str, np.ndarray]:
        """Named views of every section, (rows, columns)."""
        counts = (layout.C_BODIES, layout.C_Q, layout.C_V, layout.C_NODES)
        n, nq, nv, nodes = (self.count(c) for c in counts)
        counts = (layout.C_ACTUATORS, layout.C_SENSORS, layout.C_MAPS, layout.C_PARTS)
        actuators, sensors, maps, parts = (self.count(c) for c in counts)
        views = _split(self.ints, layout.int_sections(n, nv, nodes, actuators, sensors, parts))
        return views | _split(self.floats, layout.float_sections(n, nq, nv, nodes, actuators, sensors, maps, parts))

    @property
    def work_size(self) -> int:
        """Length of the Work vector that kernels need for this model."""
        counts = (self.count(c) for c in (layout.C_BODIES, layout.C_Q, layout.C_V, layout.C_GENERAL))
        return layout.total(layout.work_sections(*counts))

    @property
    def state_size(self) -> int:
        """Length of the State vector."""
        counts = (self.count(c) for c in (layout.C_Q, layout.C_V, layout.C_COMMANDS))
        return layout.total(layout.state_sections(*counts))

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


def _split(vector: np.ndarray, sections: list[tuple[str, int, int]]) -> dict[str, np.ndarray]:
    views, start = {}, 0
    for name, rows, columns in sections:
        views[name] = vector[start : start + rows * columns].reshape(rows, columns)
        start += rows * columns
    return views


def empty_plant(n: int, nq: int, nv: int, nodes: int, actuators: int, sensors: int, maps: int, parts: int) -> Plant:
    """A zeroed Plant of the given sizes, with these counts set."""
    ints = np.zeros(layout.total(layout.int_sections(n, nv, nodes, actuators, sensors, parts)), dtype=np.int64)
    floats = aligned_zeros(layout.total(layout.float_sections(n, nq, nv, nodes, actuators, sensors, maps, parts)))
    ints[layout.C_VERSION] = layout.FORMAT_VERSION
    ints[layout.C_BODIES], ints[layout.C_Q], ints[layout.C_V], ints[layout.C_NODES] = n, nq, nv, nodes
    ints[layout.C_ACTUATORS], ints[layout.C_SENSORS], ints[layout.C_MAPS] = actuators, sensors, maps
    ints[layout.C_PARTS] = parts
    return Plant(ints, floats)
