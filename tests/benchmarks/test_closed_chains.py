"""Closed chains of the benchmarks: their states, their reference and the peers against each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.closed_chains.models import MECHANISMS, bars, by_method, four_bars, mesh
from benchmarks.closed_chains.pinocchio_peer import LoopPinocchio, relative
from benchmarks.closed_chains.reference import Reference, moved, null_space
from benchmarks.mujoco_peer import MuJoCo
from benchmarks.states import COUNT
from benchmarks.trees import tree_of
from limberjack.engine.common.errors import ModelError

FREE = {
    "four-bar": 1,
    "four-bar, ground cut": 1,
    "10 four-bars": 10,
    "stewart": 6,
    "stewart free": 6,
    "grasp": 8,
}


def silent(_: str) -> None:
    return None


@pytest.fixture(scope="module", params=MECHANISMS)
def reference(request: pytest.FixtureRequest) -> Reference:
    return Reference(Reference(MECHANISMS[request.param]()).assembled())


def test_states_lie_on_the_loops(reference: Reference) -> None:
    states, first = reference.states(), reference.system.q0
    assert np.abs(reference.residual(first)).max() < 1e-12
    assert null_space(reference.jacobian(first)).shape[1] == FREE[reference.system.name]
    for q, v, vdot in zip(states.q, states.v, states.vdot, strict=True):
        assert np.abs(reference.residual(q)).max() < 1e-12
        assert np.abs(reference.jacobian(q) @ v).max() < 1e-12
        assert np.abs(reference.acceleration(q, v, vdot)).max() < 1e-10 * np.abs(vdot).max()


def test_rows_are_the_rates_of_what_they_constrain(reference: Reference) -> None:
    """Central differences of the residual along a closed motion's velocity and of J v along it."""
    states, system, h = reference.states(), reference.system, 1e-6
    q, v = states.q[0], states.v[0]
    w = np.random.default_rng(1).normal(size=system.nv)
    ahead, behind = moved(system, q, h * w), moved(system, q, -h * w)
    slope = (reference.residual(ahead) - reference.residual(behind)) / (2 * h)
    np.testing.assert_allclose(slope, reference.jacobian(q) @ w, atol=1e-7)
    ahead, behind = moved(system, q, h * v), moved(system, q, -h * v)
    rate = (reference.jacobian(ahead) @ v - reference.jacobian(behind) @ v) / (2 * h)
    np.testing.assert_allclose(rate, reference.rate(q, v), atol=1e-6)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_peers_give_the_accelerations_of_the_reference(reference: Reference) -> None:
    pytest.importorskip("ziglang")
    states, tree = reference.states(), tree_of(reference.system)
    for algorithm in ("lcaba", "constraintDynamics"):
        peer = LoopPinocchio(algorithm, tree, states, 1e-8, silent)
        assert max(relative(peer.result("forward", k), states.vdot[k]) for k in range(COUNT)) < 1e-8
        stepped = peer.result("step", 0)
        rates = (stepped[len(states.q[0]) :] - states.v[0]) / 1e-3
        np.testing.assert_allclose(rates, states.vdot[0], atol=1e-7 * np.abs(states.vdot[0]).max())
        assert peer.timers["forward"](2) > 0.0
    soft = MuJoCo(tree, states, silent)
    assert max(relative(soft.result("forward", k), states.vdot[k]) for k in range(COUNT)) < 0.05


def test_families_that_methods_are_compared_on_close() -> None:
    for system, free in ((bars(4), 1), (bars(9), 6), (mesh(1), 1), (mesh(4), 1)):
        reference = Reference(Reference(system).assembled())
        assert null_space(reference.jacobian(reference.system.q0)).shape[1] == free


def test_impossible_sizes_are_refused() -> None:
    for make, count, message in ((four_bars, 0, "0 four-bars"), (bars, 3, "loop of 3 bars"), (mesh, 0, "mesh of 0")):
        with pytest.raises(ModelError, match=message):
            make(count)


def test_method_is_that_of_all_loops() -> None:
    assert {loop.method for loop in by_method(four_bars(3), "force").loops} == {"force"}


def test_bodies_out_of_depth_first_order_are_refused() -> None:
    system = four_bars(2)
    crank, *rest, rocker = system.bodies
    with pytest.raises(ValueError, match="'coupler0' is not in depth-first order"):
        tree_of(replace(system, bodies=(crank, rocker, *rest)))


def test_loops_that_no_peer_has_are_refused() -> None:
    system = four_bars(1)
    with pytest.raises(ValueError, match="no loop of type distance"):
        tree_of(replace(system, loops=(replace(system.loops[0], type="distance"),)))
