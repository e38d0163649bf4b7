"""Rounding decides nothing: rows, ranks and independent velocities stay when every number of a model moves by ulps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.algebra.ranks import complement
from limberjack.engine.operators import LoopForces, Operators
from tests.cases import long_only
from tests.engine.kernels.flexible.linkages import four_bar as flexible_four_bar
from tests.engine.kernels.flexible.linkages import parallelogram as flexible_parallelogram
from tests.engine.kernels.flexible.linkages import two_arms
from tests.engine.kernels.loops.mechanisms.bars import four_bar, parallelogram, slider_crank
from tests.engine.kernels.loops.mechanisms.lines import peaucellier, scissor, scott_russell
from tests.engine.kernels.loops.mechanisms.spatial import bennett, bricard, governor, planetary
from tests.engine.kernels.loops.mechanisms.squeezer import squeezer
from tests.engine.kernels.loops.random_graphs import EMBEDDABLE, random_closed, set_state
from tests.engine.kernels.loops.rounding import decisions, shaken

EXAMPLES = Path(__file__).parents[4] / "examples"
SHIPPED = ("delta_robot", "four_bar", "four_bar_internal", "geared_arm", "satellite_grasp", "solar_array",
           "stewart_platform", "wishbone")  # fmt: skip
MADE = (four_bar, parallelogram, slider_crank, scott_russell, peaucellier, scissor, bennett, bricard, governor,
        planetary, squeezer, flexible_four_bar, flexible_parallelogram, two_arms)  # fmt: skip
TIMES = 3


def compare(system: lj.System, seed: int, times: int = TIMES) -> None:
    expected, rng = decisions(system), np.random.default_rng(seed)
    for _ in range(times):
        found = decisions(shaken(system, rng))
        for what, value in expected.items():
            assert found[what] == value, what


@pytest.mark.parametrize("make", MADE, ids=lambda make: f"{make.__module__.rpartition('.')[2]}.{make.__name__}")
def test_mechanisms(make):
    compare(make(method="embed"), 1)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_models(name):
    compare(lj.load(EXAMPLES / f"{name}.yaml"), 2, times=2)


@pytest.mark.parametrize("seed", [*range(4), *long_only(range(4, 12))])
def test_random_mechanisms(seed):
    for attempt in range(20):
        rng = np.random.default_rng([seed, attempt, 15])
        try:
            graph = random_closed(rng, bodies=6, loops=2, kinds=EMBEDDABLE)
            lj.Dynamics(graph.by("embed"))
        except lj.ModelError:  # a loop that forbids nothing or everything
            continue
        if graph.system.loops:
            break
    compare(set_state(graph.by("embed"), graph.q, graph.v), seed, times=2)


@pytest.mark.parametrize("modes", [2, 4, 8])
def test_workbench_and_kernels_leave_the_same_number_of_velocities(modes):
    """The coupler's modes bend in two planes and do not turn about x: that row of the pin is rounding."""
    system = flexible_four_bar(modes=modes, method="embed")
    for _ in range(8):
        moved = shaken(system, np.random.default_rng(modes))
        columns = Operators(moved, moved.q0).X.to_array().shape[1]
        assert columns == lj.Dynamics(moved).minimal.X(moved.q0).shape[1]


@pytest.mark.parametrize("make", [four_bar, peaucellier, flexible_four_bar], ids=["rigid", "eight bars", "flexible"])
def test_forces_where_rows_say_nothing(make):
    """Of least norm among all that do the same, by the workbench as by the kernels, whatever the last bit."""
    system, wrenches = make(method="force"), []
    tau = np.linspace(-1.0, 2.0, system.nv)
    for seed in range(4):
        moved = shaken(system, np.random.default_rng(seed)) if seed else system
        found = LoopForces(Operators(moved, moved.q0, moved.v0))
        f = found.forces(tau)
        wrenches.append(np.concatenate([found.wrench(name, f) for name in moved.loop_names]))
        kernels = lj.Dynamics(moved).loop_forces(moved.q0, moved.v0, tau)
        of_engine = np.concatenate([kernels[name] for name in moved.loop_names])
        np.testing.assert_allclose(wrenches[-1], of_engine, rtol=0, atol=1e-8 * np.abs(of_engine).max())
    np.testing.assert_allclose(wrenches[1:], wrenches[:1] * 3, rtol=0, atol=1e-9 * np.abs(wrenches[0]).max())


def test_what_a_map_of_ones_own_forbids_has_the_same_axes_everywhere():
    """The space across the map has no basis of its own; that of `complement` moves no more than the map does."""
    rng = np.random.default_rng(3)
    for columns in (1, 2, 3, 4, 5):
        for A in (rng.normal(size=(6, columns)), np.eye(6)[:, :columns]):
            basis = complement(A)
            np.testing.assert_allclose(basis.T @ basis, np.eye(6 - columns), atol=1e-14)
            np.testing.assert_allclose(basis.T @ A, 0.0, atol=1e-14)
            moved = complement(A + 1e-15 * rng.normal(size=A.shape))
            np.testing.assert_allclose(moved, basis, atol=1e-13)
