"""Forward dynamics of closed chains: embedding, constraint forces and the dense null space agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import limberjack as lj
from limberjack.engine.tables.plant import work_sections
from tests.cases import long_only
from tests.engine.kernels.loops.agreement import METHODS, check_forward, close, one_loop, some_external
from tests.engine.kernels.loops.random_graphs import EMBEDDABLE, KINDS, WHEELS, close_tree, graphs, random_closed
from tests.engine.motions import move
from tests.engine.random_systems import random_state, random_system

CASES = [
    (kind, method) for kind in (*KINDS, *WHEELS) for method in METHODS if not (kind == "lock" and method == "embed")
]


@pytest.mark.parametrize(("kind", "method"), CASES)
@pytest.mark.parametrize("seed", [0, *long_only((1, 2))])
def test_every_kind_of_loop_by_every_method(kind, method, seed):
    graph = one_loop(kind, seed)
    tau = graph.rng.normal(size=graph.system.nv)
    check_forward(graph.by(method), graph.oracle, graph.q, graph.v, tau)
    check_forward(graph.by(method), graph.oracle, graph.q, graph.v, tau, some_external(graph))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(6))
def test_several_loops_at_once(method, seed):
    """Nested, neighbouring and sharing bodies as it falls out, on a fixed or free base."""
    root = "free" if seed % 2 else None
    graph = random_closed(np.random.default_rng(seed), bodies=8, kinds=EMBEDDABLE, loops=4, root=root)
    tau = graph.rng.normal(size=graph.system.nv)
    check_forward(graph.by(method), graph.oracle, graph.q, graph.v, tau, some_external(graph))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_a_loop_written_twice(method, seed):
    graph = random_closed(np.random.default_rng(100 + seed), bodies=6, kinds=EMBEDDABLE, loops=2, twice=True)
    tau = graph.rng.normal(size=graph.system.nv)
    check_forward(graph.by(method), graph.oracle, graph.q, graph.v, tau)


@pytest.mark.parametrize("seed", range(6))
def test_methods_mixed_in_one_model(seed):
    """Every second loop by force, the others embedded."""
    graph = random_closed(np.random.default_rng(200 + seed), bodies=8, kinds=EMBEDDABLE, loops=4)
    loops = tuple(replace(k, method=("embed", "force")[(i + seed) % 2]) for i, k in enumerate(graph.system.loops))
    tau = graph.rng.normal(size=graph.system.nv)
    check_forward(replace(graph.system, loops=loops), graph.oracle, graph.q, graph.v, tau)


@pytest.mark.parametrize("method", ["embed", "force"])
def test_other_states_on_the_same_loops(method):
    """Far from the state at which the model was built."""
    graph = one_loop("cut universal", 3)
    dynamics, oracle, q = lj.Dynamics(graph.by(method)), graph.oracle, graph.q
    for _ in range(5):
        step = oracle.null_space(q) @ graph.rng.normal(size=graph.system.nv - oracle.rank(q))
        q = oracle.close(_moved(oracle, q, 0.25 * step / np.linalg.norm(step)))
        v = oracle.impulse(q, graph.rng.normal(size=graph.system.nv))[0]
        tau = graph.rng.normal(size=graph.system.nv)
        close(dynamics.forward(q, v, tau), oracle.solve(q, v, tau).vdot)


def _moved(oracle, q, step):
    return move(oracle.tree, q, step)


@pytest.mark.parametrize("method", ["embed", "force"])
def test_accelerations_are_affine_in_the_forces(method):
    """Nothing is left over from one call to the next: garbage in the scratch does not matter."""
    graph = random_closed(np.random.default_rng(7), bodies=7, kinds=EMBEDDABLE, loops=3)
    dynamics, q, v = lj.Dynamics(graph.by(method)), graph.q, graph.v
    tau = graph.rng.normal(size=graph.system.nv)
    first = dynamics.forward(q, v, tau)
    start = 0
    for name, rows, columns in work_sections(dynamics.plant.ints):
        dynamics._work[start : start + rows * columns] = 0.0 if name == "zeros" else np.nan
        start += rows * columns
    again = dynamics.forward(q, v, tau)
    assert np.array_equal(first, again)
    zero, double = dynamics.forward(q, v, 0 * tau), dynamics.forward(q, v, 2 * tau)
    close(double - first, first - zero, scale=float(np.abs(first).max()))


@pytest.mark.parametrize("method", ["embed", "force"])
def test_chains_of_loops_on_each_other(method):
    """Ladders: each loop shares bodies with the next, twelve bodies."""
    rng = np.random.default_rng(5)
    tree = random_system(["gimbal", "revolute"] * 6, rng)
    graph = close_tree(tree, random_state(tree, rng)[0], ["point", "distance", "coupling", "cut spherical"], rng)
    tau = rng.normal(size=graph.system.nv)
    check_forward(graph.by(method), graph.oracle, graph.q, graph.v, tau)


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_random_graphs(graph):
    tau = graph.rng.normal(size=graph.system.nv)
    for method in METHODS:
        check_forward(graph.by(method), graph.oracle, graph.q, graph.v, tau)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(graphs(most_bodies=10, most_loops=5))
def test_many_random_graphs(graph):
    tau, external = graph.rng.normal(size=graph.system.nv), some_external(graph)
    for method in METHODS:
        check_forward(graph.by(method), graph.oracle, graph.q, graph.v, tau, external)


@pytest.mark.long
@settings(max_examples=75, deadline=None)
@given(graphs(most_bodies=10, most_loops=4, kinds=EMBEDDABLE, twice=True))
def test_many_random_graphs_with_a_loop_twice(graph):
    tau = graph.rng.normal(size=graph.system.nv)
    for method in METHODS:
        check_forward(graph.by(method), graph.oracle, graph.q, graph.v, tau)
