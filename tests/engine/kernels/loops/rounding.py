"""Models whose numbers are moved by a few units in the last place, and what is decided about their loops."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

import limberjack as lj
from limberjack.engine.model.frames import assemble
from limberjack.engine.model.loops.plan import plan
from limberjack.engine.operators import Operators

#: units in the last place
ULPS = 4


def shaken(value: Any, rng: np.random.Generator) -> Any:
    """The same dataclass, tuple, array or number with every float moved; of an array zeros too, beside its largest."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
        finite = np.where(np.isfinite(value), value, 0.0)
        size = np.where(finite != 0.0, np.abs(finite), np.abs(finite).max())
        return value + rng.integers(-ULPS, ULPS + 1, value.shape) * np.spacing(size) * (size > 0.0)
    if isinstance(value, float) and np.isfinite(value) and value:
        return float(value + rng.integers(-ULPS, ULPS + 1) * np.spacing(abs(value)))
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(shaken(item, rng) for item in value)
    if is_dataclass(value):
        return replace(value, **{f.name: shaken(getattr(value, f.name), rng) for f in fields(value) if f.init})
    return value


def decisions(system: lj.System) -> dict[str, Any]:
    """What the build, the kernels and the workbench decide about a system's loops where it starts."""
    made = plan(system, assemble(system))
    found: dict[str, Any] = {
        "build": [(group.kept, group.dependent, group.independent, group.pairs) for group in made.groups],
        "force": [(loop.closure.loop.name, loop.kept, loop.rank) for loop in made.forced],
        "kernels": lj.Dynamics(system).minimal.names(system.q0),
    }
    for what, embed in (("workbench", None), ("all", [loop.name for loop in system.loops if loop.closed])):
        o = Operators(system, system.q0, embed=embed)
        chosen = [(e.chosen.rows, e.dependent, e.independent) for e in o.embeddings]
        found[what] = (o.velocity_names, o.X.to_array().shape, chosen)
    return found
