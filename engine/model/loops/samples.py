"""Consistent configurations of a mechanism: where rank and conditioning of its rows are judged."""

from __future__ import annotations

import numpy as np

from limberjack.engine.algebra.ranks import onto_null_space, rank
from limberjack.engine.model.loops.mechanism import Mechanism
from limberjack.engine.model.loops.newton import Sizes, close

#: walks from the initial configuration, more if it is singular; configurations on each, and attempts to reach them
WALKS, WALKS_OF_SINGULAR, WALK, TRIES = 2, 8, 3, 6
#: mechanisms of more velocities are not moved to look for singular positions, except for embedding
MOST_SAMPLED = 100
#: how far a random motion along the constraints goes, in units of `Sizes`
STRIDE = 0.7


def sampled_rows(mechanism: Mechanism, q: np.ndarray, size: Sizes, v: np.ndarray) -> list[np.ndarray]:
    """Scaled rows where the loops are closed: at q itself, and where random motions from there lead.

    The same for the same mechanism; fewer where it cannot move. Where q is singular several branches of motion may
    begin there, on which different numbers of rows are independent: then more walks look for them, and one goes along
    the velocities v (nv,) of the model.
    """
    random = np.random.default_rng(1)
    rows = [size.scaled(mechanism.evaluate(q)[1])]
    first = rank(rows[0])
    for walk in range(WALKS_OF_SINGULAR):
        if walk >= WALKS and all(rank(Y) == first for Y in rows):
            break
        rows += _walk(mechanism, q, size, random, rows[0])
    own = v[mechanism.dofs] / size.velocity
    if any(rank(Y) != first for Y in rows) and np.any(own):
        rows += _walk(mechanism, q, size, random, rows[0], own)
    return rows


def _walk(
    mechanism: Mechanism,
    q: np.ndarray,
    size: Sizes,
    random: np.random.Generator,
    Y: np.ndarray,
    along: np.ndarray | None = None,
) -> list[np.ndarray]:
    """Rows along a random walk on the constraints from q, where they are Y, or along a scaled velocity."""
    rows: list[np.ndarray] = []
    stride = STRIDE
    for _ in range(TRIES):
        if len(rows) == WALK or rank(Y) == Y.shape[1]:
            break
        wanted = np.asarray(random.standard_normal(Y.shape[1])) if along is None else along
        motion = onto_null_space(Y, wanted)
        motion *= stride / max(float(np.abs(motion).max()), 1e-12)
        there = close(mechanism, mechanism.moved(q, size.velocity * motion), size)
        if there.closed:
            q, Y, stride = there.q, there.rows, STRIDE
            rows.append(Y)
        else:
            stride *= 0.5
    return rows
