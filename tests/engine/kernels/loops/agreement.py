"""Comparisons of the engine with the dense reference.

Tolerance: the contract is 1e-9 of the size of the accelerations, which is asked wherever the rows' condition number is
below 300 as in the random graphs. Forces are compared in units of the largest force that cancels in them.
"""

from __future__ import annotations

import numpy as np

import limberjack as lj
from tests.engine.kernels.loops.oracle import Oracle
from tests.engine.kernels.loops.random_graphs import Closed, random_closed
from tests.validation.figures import figure

TOLERANCE = 1e-9
METHODS = ("embed", "force", None)


def close(
    actual,
    expected,
    scale: float = 1.0,
    tolerance: float = TOLERANCE,
    name: str = "agreement",
    oracle: str = "dense reference",
) -> None:
    """Equal within the tolerance of the largest element, or of `scale` if that is larger."""
    size = max(scale, float(np.max(np.abs(expected), initial=0.0)))
    if np.size(expected):
        figure(name, actual, expected, oracle=oracle, atol=tolerance * size)


def check_forward(system: lj.System, oracle: Oracle, q, v, tau, external=None) -> np.ndarray:
    """Accelerations against the reference, constraints kept; returns the engine's."""
    expected = oracle.solve(q, v, tau, external).vdot
    vdot = lj.Dynamics(system).forward(q, v, tau, external)
    close(vdot, expected, name="accelerations")
    rows = oracle.rows(q, v)
    terms = np.abs(rows.C) @ np.abs(expected) + np.abs(rows.c)
    close(rows.C @ vdot, rows.c, scale=float(np.max(terms, initial=1.0)), name="accelerations along the rows")
    return vdot


def some_external(graph: Closed) -> dict[str, np.ndarray]:
    """Wrenches at a few nodes."""
    names = graph.system.node_names
    chosen = graph.rng.choice(len(names), size=min(3, len(names)), replace=False)
    return {names[i]: graph.rng.normal(size=6) for i in chosen}


def one_loop(kind: str, seed: int, **options) -> Closed:
    """Five bodies of many freedoms and one loop of this kind."""
    for attempt in range(20):
        graph = random_closed(np.random.default_rng([seed, attempt]), bodies=5, kinds=[kind], loops=1, **options)
        if graph.system.loops and graph.system.nv - graph.oracle.rank(graph.q) >= 1:
            return graph
    raise AssertionError(f"no graph with a loop of kind {kind}")
