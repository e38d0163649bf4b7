"""The reference itself: rows are the rates of the residuals, accelerations keep them, and forces do no work.

Tolerance: rates come from eighth-order differences of residuals over motions of a few rad/s, 1e-9 of their size; the
dense algebra leaves 1e-11 times the condition number of the mass matrix.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from tests.engine.dense import Dense
from tests.engine.kernels.loops.oracle import Oracle
from tests.engine.kernels.loops.random_graphs import KINDS, WHEELS, Closed, close_tree, graphs, joining_loop
from tests.engine.motions import derivative, unit_quaternions
from tests.engine.random_systems import random_state, random_system

RATES, ALGEBRA = 1e-9, 1e-11


def closed_graph(kind: str, seed: int) -> Closed:
    """Five bodies of many freedoms and one loop of this kind."""
    rng = np.random.default_rng(seed)
    types = ["free", "gimbal", "revolute", "cylindrical", "planar"]
    tree = random_system(types, rng, parents=[None, 0, 1, 0, 3])
    graph = close_tree(tree, random_state(tree, rng)[0], [kind], rng)
    assert len(graph.system.loops) == 1
    return graph


@pytest.mark.parametrize("kind", [*KINDS, *WHEELS])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rows_are_the_rates_of_residuals(kind, seed):
    graph = closed_graph(kind, seed)
    oracle, system, q, rng = graph.oracle, graph.system, graph.q, graph.rng
    np.testing.assert_allclose(oracle.gaps(q), 0.0, atol=1e-13)
    v, vdot = 0.2 * rng.normal(size=(2, system.nv))  # slow, for the sake of the differences
    rows = oracle.rows(q, v)
    if len(oracle.gaps(q)):
        rate = derivative(oracle.tree, q, v, vdot, lambda q, _v: oracle.gaps(q))
        np.testing.assert_allclose(rate, (rows.C @ v)[: len(rate)], rtol=0, atol=RATES * max(1.0, np.abs(rate).max()))
    second = derivative(oracle.tree, q, v, vdot, lambda q, v: oracle.rows(q, v).C @ v)
    expected = rows.C @ vdot - rows.c
    np.testing.assert_allclose(second, expected, rtol=0, atol=RATES * max(1.0, np.abs(expected).max()))


@settings(max_examples=15, deadline=None)
@given(graphs())
def test_accelerations_keep_the_rows_and_forces_do_no_work(graph):
    oracle, q, v, rng = graph.oracle, graph.q, graph.v, graph.rng
    tau = rng.normal(size=graph.system.nv)
    rows, found = oracle.rows(q, v), oracle.solve(q, v, tau)
    dense = Dense(oracle.tree, q, v)
    size = np.abs(tau).max() + np.abs(dense.bias()).max() + np.abs(found.force).max()
    np.testing.assert_allclose(
        dense.mass_matrix() @ found.vdot + dense.bias(), tau + found.force, rtol=0, atol=1e-9 * size
    )
    np.testing.assert_allclose(rows.C @ found.vdot, rows.c, rtol=0, atol=1e-9 * max(1.0, np.abs(found.vdot).max()))
    np.testing.assert_allclose(rows.C.T @ found.multipliers, found.force, rtol=0, atol=1e-9 * size)
    assert abs(found.force @ v) <= 1e-9 * size * max(1.0, np.abs(v).max())


def test_closing_again_from_nearby():
    graph = closed_graph("cut helical", 5)
    nearby = graph.q + 0.02 * graph.rng.normal(size=len(graph.q))
    q = graph.oracle.close(unit_quaternions(graph.oracle.tree, nearby))
    assert np.abs(graph.oracle.gaps(q)).max() < 1e-13
    assert 1e-4 < np.abs(q - graph.q).max() < 0.2


def test_an_impulse_is_the_shortest_way_to_the_constraints():
    """Twice the same impulse does nothing; momentum of free bodies welded together is kept."""
    rng = np.random.default_rng(9)
    tree = random_system(["free", "free"], rng, parents=[None, None], armature=False)
    q, _ = random_state(tree, rng)
    weld = joining_loop("weld", "weld", tree, q, ("b0", "b1"), rng)
    oracle = Oracle(replace(tree, loops=(weld,)))
    v = rng.normal(size=12)
    after, loss = oracle.impulse(q, v)
    again, no_loss = oracle.impulse(q, after)
    np.testing.assert_allclose(again, after, atol=1e-12)
    assert loss > 0.0
    assert abs(no_loss) < 1e-12
    dynamics = oracle.dynamics
    np.testing.assert_allclose(dynamics.momentum(q, after), dynamics.momentum(q, v), atol=1e-11)


def test_switched_off_loops_are_left_out():
    graph = closed_graph("point", 3)
    assert len(Oracle(graph.system, closed=()).rows(graph.q, graph.v).C) == 0
