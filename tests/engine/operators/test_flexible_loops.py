"""Flexible bodies in embedded loops: the workbench's aggregated nodes and the engine's minimal equations agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.operators import DiagonalDynamics, LoopForces, Operators
from tests.engine.kernels.flexible.closed import PLACES, Closed, closed, onto, rows
from tests.engine.kernels.flexible.linkages import four_bar, two_arms
from tests.engine.operators.test_loops_kernels import compare_minimal

KINDS = ("weld", "point", "pin")


def moving(made: Closed) -> np.ndarray:
    """Velocities that keep the loops closed."""
    return onto(rows(made.system, lj.Dynamics(made.open), made.q), made.v)


@pytest.mark.parametrize("case", range(len(PLACES)))
def test_minimal_coordinates(case):
    made = closed(case, PLACES[case], KINDS[case % 3])
    system, v = made.by("embed"), moving(made)
    compare_minimal(system, made.q, v, made.rng.normal(size=system.nv))
    o = Operators(system, made.q, v)
    assert o.embeddings
    for node, bodies in zip(o.block_names, o.body_space.parts, strict=True):  # modes go with the nodes that they move
        for name in bodies:
            parent = next(body.hinge.parent for body in system.bodies if body.name == name)
            assert len(bodies) == 1 or not name.partition(".node")[2] or parent in bodies, node


def test_one_loop_embedded_and_one_by_force():
    made = closed(4, PLACES[4], "point")
    system, v, tau = made.by("embed", "force"), moving(made), made.rng.normal(size=made.system.nv)
    o = Operators(system, made.q, v)
    found = LoopForces(o).accelerations(o.X.T * tau - o.c)
    expected = lj.Dynamics(system).forward(made.q, v, tau)
    everything = o.X * found + o.X_dot * o.beta
    np.testing.assert_allclose(everything, expected, rtol=0, atol=1e-8 * np.abs(expected).max())
    H, phi, D, I = o.H, o.phi, o.D, o.I
    factor = I + H * phi * o.K
    assert (factor * D * factor.T).equals(H * phi * o.M * phi.T * H.T + o.J)


@pytest.mark.parametrize("model", [four_bar, two_arms], ids=["four-bar", "two arms"])
def test_mechanisms(model):
    system = model(method="embed")
    compare_minimal(system, system.q0, system.v0, np.linspace(-1.0, 2.0, system.nv))
    diagonal = DiagonalDynamics(Operators(system, system.q0, system.v0))
    nu = diagonal.diagonal_velocities(diagonal.ops.beta)
    assert 0.5 * nu.T * nu == pytest.approx(lj.Dynamics(system).energy(system.q0, system.v0)[0], rel=1e-10)
    C = diagonal.coriolis(nu)
    assert abs(nu.T * C) < 1e-8 * np.linalg.norm(nu) * np.linalg.norm(C) + 1e-12


@pytest.mark.parametrize("method", ["embed", "force"])
def test_poles_of_a_mechanism_at_rest(method):
    """Those of X* M X ξ̈ + X* K X ξ = 0: nothing moves and nothing is strained, so that rows of loops do not turn."""
    system = replace(four_bar(method=method), gravity=np.zeros(3))
    system = lj.assemble(system, v=np.zeros(system.nv))
    still = np.array([0.0 if ".modes." in name else x for name, x in zip(system.coordinate_names, system.q0)])
    model = lj.linearize(system, system.q0, np.zeros(system.nv))
    assert np.abs(still - system.q0).max() < 1e-9
    X, M = Operators(system, system.q0, embed=["pin"]).X.to_array(), lj.Dynamics(system).mass_matrix(system.q0)
    K = np.diag([dof.stiffness for body in system.bodies for dof in body.hinge.dofs])
    squares = np.linalg.eigvals(np.linalg.solve(X.T @ M @ X, X.T @ K @ X)).real
    expected = np.sqrt(np.sort(squares)[1:])  # the mechanism turns freely
    found = [mode.frequency for mode in model.modes() if not mode.rigid]
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    assert sum(mode.rigid for mode in model.modes()) >= 1
