"""Connected parts of random trees, as names and as Systems of their own."""

from __future__ import annotations

import dataclasses

import numpy as np

from limberjack.engine.model.system import Body, System
from limberjack.engine.model.validate import validate
from limberjack.engine.operators import Operators


def random_part(system: System, rng: np.random.Generator) -> list[str]:
    """Names of a random connected part, shuffled."""
    parent = {body.name: body.hinge.parent for body in system.bodies}
    part = [str(rng.choice(system.body_names))]
    for name in system.body_names:
        if parent[name] in part and rng.random() < 0.7:
            part.append(name)
    return [str(name) for name in rng.permutation(part)]


def part_system(system: System, q: np.ndarray, part: list[str]) -> tuple[System, np.ndarray, np.ndarray]:
    """The part as a System that stands on the ground where its base is at q; indices of its q and v in the whole."""
    whole = Operators(system, q)
    bodies, iq, iv, at_q, at_v = [], 0, 0, [], []
    for body in system.bodies:
        hinge = body.hinge
        if body.name in part:
            if hinge.parent not in part and hinge.parent is not None:
                hinge = dataclasses.replace(hinge, parent=None, inboard=whole.pose(hinge.parent) @ hinge.inboard)
            bodies.append(Body(body.name, body.inertia, hinge))
            at_q += range(iq, iq + hinge.kind.nq)
            at_v += range(iv, iv + hinge.nv)
        iq, iv = iq + hinge.kind.nq, iv + hinge.nv
    nodes = tuple(node for node in system.nodes if node.body in part)
    made = System("part", tuple(bodies), nodes, gravity=system.gravity)
    return validate(made), np.array(at_q, dtype=int), np.array(at_v, dtype=int)


def same(a, b, tolerance: float = 1e-10) -> None:
    """Both arrays or operators agree, relative to the largest entry."""
    a, b = (np.asarray(x.to_array() if hasattr(x, "to_array") else x) for x in (a, b))
    assert a.shape == b.shape
    size = max(np.max(np.abs(a), initial=0.0), np.max(np.abs(b), initial=0.0))
    assert np.max(np.abs(a - b), initial=0.0) <= tolerance * size
