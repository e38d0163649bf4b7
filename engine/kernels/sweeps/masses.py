"""Mass properties of the bodies from those of their parts, whose masses are tunable.

    [m, h, I](k) = Σ s [m, h, I](part),   s = mass now / mass as loaded

A part keeps its shape: its centre of mass stays and its rotational inertia grows with its mass.
"""

from __future__ import annotations

from limberjack.engine.compile.compiled import FLOATS, INTS
from limberjack.engine.compile.kernel import entry, kernel
from limberjack.engine.tables.plant import B_M, P_M, P_MASS, plant_view


@kernel
def refresh(plant):
    """Sum the parts into the bodies' rows; in a Plant as loaded, s is exactly 1."""
    for k in range(plant.body.shape[0]):
        for i in range(10):
            plant.body[k, B_M + i] = 0.0
    for p in range(plant.part.shape[0]):
        part, body = plant.part[p], plant.body[plant.part_body[p]]
        s = part[P_MASS] / part[P_M] if part[P_M] != 0.0 else 1.0
        for i in range(10):
            body[B_M + i] += s * part[P_M + i]


@entry(INTS, FLOATS)
def refresh_entry(ints, floats):
    """Recompute what depends on tunable parameters; call after one of them changed."""
    refresh(plant_view(ints, floats))
