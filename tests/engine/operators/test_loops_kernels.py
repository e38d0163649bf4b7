"""The compiled kernels and the workbench are two roads to the same numbers, with loops too."""

from __future__ import annotations

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.model.system import System
from limberjack.engine.operators import LoopForces, Operators
from tests.engine.kernels.loops.mechanisms.spatial import bennett, planetary
from tests.engine.kernels.loops.random_graphs import EMBEDDABLE, Closed, random_closed

SEEDS = range(12)


def graph_with(method: str, seed: int) -> Closed:
    """A random closed graph that the engine takes with all loops by this method."""
    for attempt in range(20):
        rng = np.random.default_rng([seed, attempt, 77])
        try:
            graph = random_closed(rng, bodies=6, loops=2, kinds=EMBEDDABLE)
            lj.Dynamics(graph.by(method))
        except lj.ModelError:  # a loop that forbids nothing or everything
            continue
        if graph.system.loops:
            return graph
    raise AssertionError(f"no graph with seed {seed}")


def close(actual, expected, size: float = 1.0) -> None:
    size = max(size, np.max(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=0, atol=1e-9 * size)


def compare_minimal(system: System, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
    o, minimal = Operators(system, q, v), lj.Dynamics(system).minimal
    names = minimal.names(q)
    at = [system.velocity_names.index(name) for name in names]
    change = o.X.to_array()[at]  # from the workbench's independent velocities to the engine's
    X = minimal.X(q)
    close(X @ change, o.X.to_array())
    H, phi, M = o.H, o.phi, o.M
    mass = (H * phi * M * phi.T * H.T + o.J).to_array()
    close(mass, change.T @ minimal.mass_matrix(q) @ change)
    node = system.node_names[-1]
    if next((n.body for n in system.nodes if n.name == node), node) is not None:
        close(o.B(node, axes="inertial").T * phi.T * H.T, minimal.jacobian(node, q) @ change)
    bias = (H * phi * (M * phi.T * (o.a + o.g) + o.b) + o.c).to_array()
    acceleration = o.X * np.linalg.solve(mass, (o.X.T * tau).to_array() - bias) + o.X_dot * o.beta
    close(acceleration, lj.Dynamics(system).forward(q, v, tau))
    rate = v[at]
    close(X @ minimal.forward(q, rate, X.T @ tau) + minimal.bias_rate(q, rate), acceleration)


@pytest.mark.parametrize("seed", SEEDS)
def test_minimal_coordinates(seed):
    graph = graph_with("embed", seed)
    compare_minimal(graph.by("embed"), graph.q, graph.v, graph.rng.normal(size=graph.system.nv))


@pytest.mark.parametrize("seed", SEEDS)
def test_constraint_forces(seed):
    graph = graph_with("force", seed)
    system, tau = graph.by("force"), graph.rng.normal(size=graph.system.nv)
    f, dynamics = LoopForces(Operators(system, graph.q, graph.v)), lj.Dynamics(system)
    size = float(np.abs(f.free_accelerations(tau)).max())
    close(f.accelerations(tau), dynamics.forward(graph.q, graph.v, tau), size)
    forces, of_engine = f.forces(tau), dynamics.loop_forces(graph.q, graph.v, tau)
    largest = max(1.0, float(np.abs(forces).max()))
    for loop in system.loops:
        if loop.joins and loop.type != "distance":
            close(f.wrench(loop.name, forces), of_engine[loop.name], largest)


@pytest.mark.parametrize(
    "system", [bennett("embed", rate=0.8), planetary("embed", rates=(2.0, -1.0))], ids=["bennett", "gears"]
)
def test_mechanisms(system):
    compare_minimal(system, system.q0, system.v0, np.linspace(-1.0, 2.0, system.nv))
