"""Minimal coordinates: X spans what can move, and every algorithm is the tree's seen through X."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import limberjack as lj
from tests.engine.kernels.loops.agreement import close, one_loop
from tests.engine.kernels.loops.mechanisms.bars import four_bar
from tests.engine.kernels.loops.random_graphs import EMBEDDABLE, Closed, graphs, random_closed
from tests.engine.motions import derivative


def check_minimal(graph: Closed) -> None:
    system, oracle, q, v, rng = graph.by("embed"), graph.oracle, graph.q, graph.v, graph.rng
    dynamics = lj.Dynamics(system)
    minimal, tree = dynamics.minimal, oracle.dynamics
    names, X = minimal.names(q), minimal.X(q)
    independent = [system.velocity_names.index(name) for name in names]
    assert X.shape == (system.nv, system.nv - oracle.rank(q))
    close(X[independent], np.eye(len(names)), name="X of the independent velocities")
    close(
        oracle.rows(q, v).C @ X,
        np.zeros((len(oracle.rows(q, v).C), len(names))),
        scale=float(np.abs(X).max(initial=1)),
        name="rows times X",
    )
    size = float(np.abs(X).max(initial=1.0)) ** 2
    M = tree.mass_matrix(q)
    close(minimal.mass_matrix(q), X.T @ M @ X, scale=float(np.abs(M).max()) * size, name="minimal mass matrix")
    rate, tau = v[independent], rng.normal(size=system.nv)
    close(X @ rate, v, scale=float(np.abs(X).max(initial=1.0)))
    expected = oracle.solve(q, v, tau).vdot
    drift = minimal.bias_rate(q, rate)
    close(X @ expected[independent] + drift, expected, scale=float(np.abs(expected).max()) * size, name="drift")
    force = X.T @ tau
    acceleration = minimal.forward(q, rate, force)
    close(acceleration, expected[independent], name="minimal accelerations")
    scale = float(np.abs(M @ expected).max() + np.abs(tree.bias(q, v)).max()) * size
    close(minimal.inverse(q, rate, acceleration), force, scale=scale, name="minimal inverse dynamics")
    close(minimal.bias(q, rate), X.T @ (M @ drift + tree.bias(q, v)), scale=scale)
    for node in system.node_names[:3]:
        close(minimal.jacobian(node, q), tree.jacobian(node, q) @ X, scale=float(np.abs(X).max(initial=1.0)))


@pytest.mark.parametrize("kind", EMBEDDABLE)
@pytest.mark.parametrize("seed", [0, 1])
def test_every_kind_of_loop(kind, seed):
    check_minimal(one_loop(kind, 80 + seed))


@pytest.mark.parametrize("seed", range(6))
def test_several_loops(seed):
    check_minimal(random_closed(np.random.default_rng(300 + seed), bodies=8, kinds=EMBEDDABLE, loops=3))


@settings(max_examples=25, deadline=None)
@given(graphs(kinds=EMBEDDABLE, twice=True))
def test_random_graphs(graph):
    check_minimal(graph)


@pytest.mark.parametrize("kind", ["point", "cut universal", "distance", "coupling", "cut custom"])
def test_the_drift_is_the_rate_of_X(kind):
    """Ẋ θ̇_R is the derivative of X θ̇_R along the motion with constant θ̇_R, by differences over that motion."""
    graph = one_loop(kind, 90)
    system, q = graph.by("embed"), graph.q
    minimal = lj.Dynamics(system).minimal
    X, names = minimal.X(q), minimal.names(q)
    rate = 0.2 * graph.rng.normal(size=len(names))
    drift = minimal.bias_rate(q, rate)

    def value(q, _v):
        q = graph.oracle.close(q)  # differs from q by the square of the step
        assert minimal.names(q) == names
        return minimal.X(q) @ rate

    found = derivative(graph.oracle.tree, q, X @ rate, drift, value)
    close(found, drift, scale=float(np.abs(X).max()) * 0.2)


def test_the_condition_reports_dead_points():
    """With one freedom too: the rocker of a crank-rocker has two dead points a turn, where the crank's rate is without
    bound beside the rocker's, until the engine takes another independent velocity."""
    system = four_bar("embed")
    system = replace(system, loops=tuple(replace(loop, independent=("rocker",)) for loop in system.loops))
    minimal, seen, ratio = lj.Dynamics(system).minimal, [], []
    for theta in np.linspace(0.1, 6.2, 60):
        q = lj.assemble(system, np.array([theta, *system.q0[1:]]), hold=["crank"]).q0
        if minimal.names(q) == ("rocker",):
            seen.append(minimal.condition(q))
            ratio.append(float(np.abs(minimal.X(q)).max()))
    assert min(seen) < 3.0 < 6.0 < max(seen)
    assert np.corrcoef(seen, ratio)[0, 1] > 0.99
