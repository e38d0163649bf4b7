"""X and dX/dt of aggregated nodes (001 §8); which velocities are independent, at singular positions too."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.operators import Operators
from limberjack.engine.operators.embedding import eliminate, pivoted
from tests.engine.kernels.loops.mechanisms.bars import four_bar, parallelogram, rocker_angle
from tests.engine.kernels.loops.mechanisms.spatial import bennett, planetary
from tests.engine.motions import move
from tests.engine.operators.closed import COUNT, Drawn, embedded
from tests.engine.operators.parts import same


@pytest.fixture(params=range(COUNT))
def drawn(request: pytest.FixtureRequest) -> Drawn:
    return embedded(request.param)


def places(drawn: Drawn) -> tuple[list[int], list[int]]:
    """Independent and dependent velocities among those of the system."""
    names = list(drawn.ops.system.velocity_names)
    free = [names.index(name) for name in drawn.ops.velocity_names]
    return free, [j for j in range(len(names)) if j not in free]


def reference_X(drawn: Drawn, q: np.ndarray) -> np.ndarray:
    """X of the oracle's rows with the same independent velocities."""
    (free, rest), C = places(drawn), drawn.graph.oracle.rows(q, 0.0 * drawn.graph.v).C
    X = np.zeros((C.shape[1], len(free)))
    X[free] = np.eye(len(free))
    X[rest] = np.linalg.lstsq(C[:, rest], -C[:, free], rcond=None)[0]
    return X


def test_X_spans_the_motions_that_keep_the_loops_closed(drawn: Drawn):
    N = drawn.graph.oracle.null_space(drawn.graph.q)
    X = drawn.ops.X.to_array()
    assert X.shape == N.shape
    same(N @ (N.T @ X), X)
    same(X, reference_X(drawn, drawn.graph.q))


def test_velocities_come_back_from_the_independent_ones(drawn: Drawn):
    same((drawn.ops.X * drawn.ops.beta).to_array(), drawn.graph.v)


def test_rows_vanish_on_X_and_split_as_the_paper_has_them(drawn: Drawn):
    """(58), (59), (60)."""
    for node in drawn.ops.embeddings:
        X = np.zeros((node.Y.shape[1], len(node.independent)))
        X[node.chosen.independent] = np.eye(X.shape[1])
        X[node.chosen.dependent] = -np.linalg.inv(node.Y1) @ node.Y2
        same(node.X, X)
        size = np.max(np.abs(node.Y)) * np.max(np.abs(X), initial=1.0)
        assert np.max(np.abs(node.Y @ node.X), initial=0.0) <= 1e-10 * size


def test_rate_of_X(drawn: Drawn):
    """(61) against differences along the motion, of eighth order."""
    system, q, v = drawn.graph.system, drawn.graph.q, drawn.graph.v
    h, weights = 2e-3, {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    speed = max(1.0, float(np.abs(v).max()))

    def X_at(n: int) -> np.ndarray:
        return reference_X(drawn, move(system, q, n * h / speed * v))

    difference = sum(weight * (X_at(n) - X_at(-n)) for n, weight in weights.items()) * speed / h
    rate = drawn.ops.X_dot.to_array()
    np.testing.assert_allclose(rate, difference, rtol=0, atol=1e-7 * max(1.0, np.abs(rate).max()))


def test_rate_of_X_has_both_forms_of_the_paper(drawn: Drawn):
    """(61): -Y1⁻¹ dY/dt X, and Y1⁻¹ (dY1/dt Y1⁻¹ Y2 - dY2/dt)."""
    v = drawn.graph.v
    for node in drawn.ops.embeddings:
        chosen, Y_dot = node.chosen, node.closure.rate(v)
        Y1_dot = Y_dot[np.ix_(chosen.rows, chosen.dependent)]
        Y2_dot = Y_dot[np.ix_(chosen.rows, chosen.independent)]
        inverse = np.linalg.inv(node.Y1)
        expected = inverse @ (Y1_dot @ inverse @ node.Y2 - Y2_dot)
        size = max(1.0, np.max(np.abs(inverse @ Y_dot), initial=0.0))
        np.testing.assert_allclose(node.X_dot(v)[chosen.dependent], expected, rtol=0, atol=1e-10 * size)


def test_planar_rows_in_space_are_redundant():
    """Three of the pin's five rows say nothing; the rates of coupler and rocker are those of the closed form."""
    system = four_bar(theta=0.7, rate=2.0)
    o = Operators(system, system.q0, system.v0)
    (node,) = o.embeddings
    assert (node.Y.shape, node.Y1.shape, len(node.independent)) == ((5, 3), (2, 2), 1)
    coupler, rocker = (x.imag / 1e-30 for x in rocker_angle(0.7 + 1e-30j, (0.2, 0.5, 0.4, 0.45)))
    rates = (o.X * o.beta).to_array()
    np.testing.assert_allclose(rates, [2.0, 2.0 * (coupler - 1.0), 2.0 * rocker], rtol=1e-12)


def test_overconstrained_linkage():
    """Bennett's: four revolute hinges in space, five rows of rank three."""
    system = bennett("embed", rate=1.3)
    o = Operators(system, system.q0, system.v0)
    (node,) = o.embeddings
    assert node.Y.shape[1] - len(node.independent) == np.linalg.matrix_rank(node.Y, tol=1e-9) == node.Y1.shape[0]
    assert len(node.independent) == 1


def test_X_of_gears_is_constant():
    system = planetary("embed", rates=(3.0, -2.0))
    o = Operators(system, system.q0, system.v0)
    assert not o.X_dot.to_array().any()
    same(o.X * o.beta, system.v0)
    same(o.X, Operators(system, system.q0 + o.X.to_array() @ np.ones(len(o.velocity_names))).X)


@pytest.mark.parametrize("name", ["crank", "coupler", "rocker"])
def test_the_user_chooses_the_independent_velocity(name):
    system = four_bar(theta=0.7, rate=2.0)
    loop = dataclasses.replace(system.loops[0], independent=(name,), method="embed")
    chosen = dataclasses.replace(system, loops=(loop,))
    assert Operators(chosen, system.q0).velocity_names == (name,)


def dead_point(name: str) -> tuple[lj.System, np.ndarray]:
    """Crank and coupler in one line, where the rocker stands still: it cannot be the independent one."""
    a, b, c, g = 0.2, 0.5, 0.4, 0.45
    reach = a + b
    theta = float(np.arccos((g * g + reach * reach - c * c) / (2 * g * reach)))
    system = four_bar(theta=theta)
    loop = dataclasses.replace(system.loops[0], independent=(name,), method="embed")
    return dataclasses.replace(system, loops=(loop,)), lj.assemble(system, system.q0, hold=("crank",)).q0


def test_other_velocities_where_the_chosen_one_fails():
    system, q = dead_point("rocker")
    o = Operators(system, q)
    assert o.velocity_names != ("rocker",)
    assert abs(o.X["rocker", "crank+coupler+rocker"].item()) < 1e-6
    assert np.abs(o.X.to_array()).max() < 10.0


def test_a_singular_position_has_more_freedoms_not_fewer():
    """A parallelogram that lies flat: 001 §9 has the number of independent velocities fall there."""
    system = parallelogram("embed", theta=0.5 * np.pi)
    regular = Operators(system, system.q0)
    flat = Operators(system, np.array([0.0, 0.0, 0.0]))
    assert (len(regular.velocity_names), len(flat.velocity_names)) == (1, 2)
    for o in (regular, flat):
        assert np.linalg.matrix_rank(o.X.to_array()) == len(o.velocity_names)
        mass = o.H * o.phi * o.M * o.phi.T * o.H.T
        assert ((o.I + o.H * o.phi * o.K) * o.D * (o.I + o.H * o.phi * o.K).T).equals(mass)
    (node,) = flat.embeddings
    assert node.Y1.shape == (1, 1)
    assert np.abs(node.X).max() < 3.0


@pytest.mark.parametrize("angle", [1e-3, 1e-5, 1e-7])
def test_next_to_a_singular_position_the_numbers_stay_moderate(angle):
    """X of the parallelogram is exact however flat: both rockers turn together."""
    system = parallelogram("embed", theta=angle, rate=0.0)
    o = Operators(system, system.q0)
    X = o.X.to_array()[:, 0]
    np.testing.assert_allclose(X / X[0], [1.0, -1.0, 1.0], atol=1e-14 / angle)


def test_pivots_fall_and_rank_is_found():
    rng = np.random.default_rng(5)
    A = rng.normal(size=(5, 3)) @ rng.normal(size=(3, 7))
    rows, columns, pivots = pivoted(A, 5, [list(range(7))] * 5)
    assert len(rows) == len(columns) == 3
    assert len(set(rows)) == len(set(columns)) == 3
    assert np.linalg.matrix_rank(A[np.ix_(rows, columns)]) == 3
    assert pivots[0] == np.abs(A).max()


def test_preferred_columns_are_taken_unless_they_fail():
    Y = np.array([[1.0, 0.5, 2.0], [0.0, 1.0, 1.0]])
    assert sorted(eliminate(Y, 2, [0, 1]).dependent) == [0, 1]
    Y[:, 1] = 1e-4 * Y[:, 1] + Y[:, 0]
    assert sorted(eliminate(Y, 2, [0, 1]).dependent) != [0, 1]
    assert eliminate(np.zeros((2, 3)), 1, [0]).independent == [0, 1, 2]


def test_a_row_of_rounding_is_no_row():
    """It is not made large: the scale of rows comes from the mechanism, and the rows from the rank in general."""
    Y = np.array([[1.0, 0.5, 2.0], [1e-16, -3e-17, 2e-16]])
    assert eliminate(Y, 2, [2, 0]).independent == [0, 1]
