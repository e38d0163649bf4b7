"""Constraint forces: they balance the equations of motion, have least norm, and do no work."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import limberjack as lj
from tests.engine.kernels.loops.agreement import METHODS, close, one_loop
from tests.engine.kernels.loops.oracle import Oracle
from tests.engine.kernels.loops.random_graphs import EMBEDDABLE, KINDS, WHEELS, graphs, random_closed
from tests.validation.figures import figure

CASES = [
    (kind, method) for kind in (*KINDS, *WHEELS) for method in METHODS if not (kind == "lock" and method == "embed")
]


def generalized(oracle: Oracle, q, v, forces) -> np.ndarray:
    """Σ J* W of wrenches on bodies b, and of scalar forces along their rows."""
    total = np.zeros(oracle.system.nv)
    for loop in oracle.loops:
        W = np.atleast_1d(forces[loop.name])
        if loop.joins:
            J = oracle._relative(loop, q, v)[2]
            if W.shape == (6,):
                total += J.T @ W
                continue
        part = oracle.rows(q, v)
        total += part.C[part.of[loop.name]].T @ W
    return total


def check_forces(system: lj.System, oracle: Oracle, q, v, tau) -> None:
    found = oracle.solve(q, v, tau)
    forces = lj.Dynamics(system).loop_forces(q, v, tau)
    assert set(forces) == {loop.name for loop in system.loops}
    bias = oracle.dynamics.bias(q, v)
    scale = max(float(np.abs(x).max()) for x in (found.force, tau, bias, oracle.dynamics.mass_matrix(q) @ found.vdot))
    applied = generalized(oracle, q, v, forces)
    close(applied, found.force, scale=scale, name="forces of loops")
    power = np.abs(applied) @ np.abs(v)
    figure(
        "power of the forces of loops",
        applied @ v,
        0.0,
        unit="W",
        oracle="they do no work",
        atol=1e-9 * max(1.0, power),
    )


@pytest.mark.parametrize(("kind", "method"), CASES)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_every_kind_of_loop(kind, method, seed):
    graph = one_loop(kind, 50 + seed)
    check_forces(graph.by(method), graph.oracle, graph.q, graph.v, graph.rng.normal(size=graph.system.nv))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [k for k in EMBEDDABLE if k not in ("coupling", "distance")])
def test_wrenches_of_a_single_loop_are_those_of_the_reference(kind, method):
    """Rows of one loop are independent here and its wrench unique: on body b, at its origin, axes of frame a."""
    graph = one_loop(kind, 60)
    tau = graph.rng.normal(size=graph.system.nv)
    found = graph.oracle.solve(graph.q, graph.v, tau)
    forces = lj.Dynamics(graph.by(method)).loop_forces(graph.q, graph.v, tau)
    for name, wrench in found.loop.items():
        close(forces[name], wrench, scale=float(np.abs(found.multipliers).max()), name="wrench of a loop")


def test_loops_written_twice_share_their_force():
    """Least norm: each of two equal loops by force carries half."""
    graph = random_closed(np.random.default_rng(3), bodies=6, kinds=["point"], loops=1, twice=True)
    assert graph.system.loop_names == ("loop0", "again")
    forces = lj.Dynamics(graph.by("force")).loop_forces(graph.q, graph.v, graph.rng.normal(size=graph.system.nv))
    close(forces["loop0"], forces["again"], scale=float(np.abs(forces["loop0"]).max()))


def test_a_coupling_whose_row_is_dropped_shows_a_number():
    graph = random_closed(np.random.default_rng(4), bodies=4, kinds=["coupling"], loops=1, twice=True)
    forces = lj.Dynamics(graph.by("embed")).loop_forces(graph.q, graph.v, graph.rng.normal(size=graph.system.nv))
    assert [np.shape(forces[name]) for name in ("loop0", "again")] == [(), ()]
    assert 0.0 in forces.values()


@settings(max_examples=25, deadline=None)
@given(graphs(twice=True))
def test_random_graphs(graph):
    tau = graph.rng.normal(size=graph.system.nv)
    for method in METHODS:
        check_forces(graph.by(method), graph.oracle, graph.q, graph.v, tau)
