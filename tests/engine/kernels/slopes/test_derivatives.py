"""Analytic derivatives of forward and inverse dynamics against high-order differences of our own dynamics on random
trees of every hinge type, and against what mechanics says they must be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

import limberjack as lj
from limberjack.engine.algebra.array_views import total
from limberjack.engine.common.errors import ArgumentError
from limberjack.engine.model.system import Body, Hinge, Inertia, System
from limberjack.engine.model.validate import validate
from limberjack.engine.tables import plant as layout
from limberjack.engine.tables.slopes import Slopes, slope_sections, slopes_view
from tests.engine.motions import move
from tests.engine.random_systems import ALL_TYPES, MOVING, random_state, random_system, trees
from tests.engine.tables.test_layout import corners
from tests.validation.figures import figure

#: eighth-order central difference: offset in steps → weight
WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
STEP = 1e-3
#: of the largest number; differences are good to about 1e-11, times the condition of M for accelerations
TOLERANCE = 1e-9


def differences(value: Callable[[np.ndarray], np.ndarray], size: int, step: float = STEP) -> np.ndarray:
    """∂ value / ∂δ at δ = 0, a column for each of `size` directions."""
    columns = []
    for direction in np.eye(size) * step:
        terms = (w / step * (value(i * direction) - value(-i * direction)) for i, w in WEIGHTS.items())
        columns.append(sum(terms, np.zeros(1)))
    return np.array(columns).T


def close(actual: np.ndarray, expected: np.ndarray, tolerance: float = TOLERANCE, scale: float = 0.0) -> None:
    """Equal to `tolerance` times the largest number expected, or `scale` if that is larger."""
    size = max(float(np.abs(expected).max(initial=0.0)), scale)
    oracle = "differences of the dynamics, and identities"
    figure("slopes of forces and accelerations", actual, expected, oracle=oracle, atol=tolerance * size)


def check_inverse(system: System, rng: np.random.Generator) -> None:
    dynamics, (q, v), vdot = lj.Dynamics(system), random_state(system, rng), rng.normal(size=system.nv)
    dq, dv = dynamics.inverse_derivatives(q, v, vdot)
    scale = float(np.abs(dynamics.inverse(q, v, vdot)).max())
    close(dq, differences(lambda d: dynamics.inverse(move(system, q, d), v, vdot), system.nv), scale=scale)
    close(dv, differences(lambda d: dynamics.inverse(q, v + d, vdot), system.nv), scale=scale)


def check_forward(system: System, rng: np.random.Generator) -> None:
    dynamics, (q, v), tau = lj.Dynamics(system), random_state(system, rng), rng.normal(size=system.nv)
    dq, dv, dtau = dynamics.forward_derivatives(q, v, tau)
    M = dynamics.mass_matrix(q)
    tolerance, scale = 1e-12 * np.linalg.cond(M) + TOLERANCE, float(np.abs(dynamics.forward(q, v, tau)).max())
    close(dq, differences(lambda d: dynamics.forward(move(system, q, d), v, tau), system.nv), tolerance, scale)
    close(dv, differences(lambda d: dynamics.forward(q, v + d, tau), system.nv), tolerance, scale)
    close(dtau, np.linalg.inv(M), tolerance)
    close(dtau, dtau.T, 1e-12)


@pytest.mark.parametrize("hinge", MOVING)
@pytest.mark.parametrize("armature", [False, True])
def test_every_hinge_as_root_inside_and_at_the_tip(hinge, armature):
    rng = np.random.default_rng(MOVING.index(hinge))
    for types, parents in (([hinge] * 3, [None, 0, 1]), ([hinge, "revolute", hinge, "free"], [None, 0, 0, None])):
        system = random_system(types, rng, parents=parents, armature=armature)
        check_inverse(system, rng)
        check_forward(system, rng)


@pytest.mark.parametrize("seed", range(6))
def test_trees_of_all_hinges(seed):
    rng = np.random.default_rng(seed)
    types = [*rng.permutation(ALL_TYPES), *rng.choice(ALL_TYPES, 4)]
    system = random_system(types, rng, merge=bool(seed % 2), armature=seed < 3)
    check_inverse(system, rng)
    check_forward(system, rng)


@settings(max_examples=25, deadline=None)
@given(trees(most_bodies=12))
def test_any_tree(drawn):
    system, rng = drawn
    check_inverse(system, rng)
    check_forward(system, rng)


@pytest.mark.parametrize("bodies", [1, 7, 8, 9, 15, 16, 17])
def test_columns_that_fill_whole_blocks_of_lanes_or_not(bodies):
    rng = np.random.default_rng(bodies)
    system = random_system(["revolute"] * bodies, rng)
    check_inverse(system, rng)
    check_forward(system, rng)


def test_forward_and_inverse_are_inverse_to_each_other():
    """T(q, v, a(q, v, τ)) = τ: ∂T/∂q + M ∂a/∂q = 0, and so on."""
    rng = np.random.default_rng(5)
    system = random_system(["free", *["revolute", "gimbal", "planar", "revolute", "prismatic"] * 3], rng)
    dynamics, (q, v), tau = lj.Dynamics(system), random_state(system, rng), rng.normal(size=system.nv)
    vdot, M = dynamics.forward(q, v, tau), dynamics.mass_matrix(q)
    forward, inverse = dynamics.forward_derivatives(q, v, tau), dynamics.inverse_derivatives(q, v, vdot)
    for a, T in zip(forward, (*inverse, -np.eye(system.nv))):
        figure("M ∂a and -∂T", M @ a, -T, oracle="identity", atol=1e-11 * max(np.abs(T).max(), np.abs(a).max()))


def test_without_gravity_nothing_depends_on_where_a_free_tree_is():
    """Homogeneity and isotropy: a displacement of the free base changes no force."""
    rng = np.random.default_rng(2)
    system = random_system(["free", "revolute", "universal", "spherical"], rng, gravity=np.zeros(3))
    dynamics, (q, v) = lj.Dynamics(system), random_state(system, rng)
    dq, _ = dynamics.inverse_derivatives(q, v, rng.normal(size=system.nv))
    figure(
        "slope by the place of a free base",
        np.abs(dq[:, :6]).max(),
        oracle="homogeneity and isotropy",
        below=1e-12 * np.abs(dq).max(),
    )


def test_gravity_stiffness_is_symmetric():
    """At rest ∂(gravity force)/∂q is the second derivative of the potential energy, where v is the rate of q."""
    rng = np.random.default_rng(3)
    system = random_system(["revolute", "prismatic", "gimbal", "planar", "universal", "rolling", "cylindrical"], rng)
    dynamics, (q, _) = lj.Dynamics(system), random_state(system, rng)
    dq, dv = dynamics.inverse_derivatives(q, np.zeros(system.nv), np.zeros(system.nv))
    close(dq, dq.T, 1e-12)
    assert np.abs(dv).max() < 1e-12 * np.abs(dq).max()
    energy = differences(lambda d: np.array([dynamics.energy(move(system, q, d), 0 * d)[1]]), system.nv)
    close(dynamics.bias(q, np.zeros(system.nv)), energy[0])


def test_far_from_the_inertial_origin_nothing_is_lost():
    """A spacecraft in orbit: levers are counted from its own base, not from the middle of the Earth."""
    rng = np.random.default_rng(4)
    system = random_system(["free", "revolute", "revolute", "spherical"], rng, gravity=np.zeros(3))
    dynamics, (q, v), tau = lj.Dynamics(system), random_state(system, rng), rng.normal(size=system.nv)
    near = dynamics.forward_derivatives(q, v, tau)
    q[4:7] += 7e6
    for a, b in zip(dynamics.forward_derivatives(q, v, tau), near):
        figure("slopes 7000 km from the origin", a, b, oracle="slopes at the origin", atol=1e-13 * np.abs(b).max())


def test_a_pendulum_by_hand():
    """m l² a = τ - m g l sin q about a horizontal axis, the rod massless."""
    mass, length, g, q = 2.0, 0.5, 9.8, 0.7
    hinge = Hinge("pivot", "revolute", None, axes=np.array([[0.0, 1.0, 0.0]]))
    bob = Body("bob", Inertia(mass, np.array([0.0, 0.0, -length])), hinge)
    system = validate(System("pendulum", (bob,), gravity=np.array([0.0, 0.0, -g])))
    dq, dv, dtau = lj.Dynamics(system).forward_derivatives([q], [1.3], [0.4])
    figure(
        "slope by angle of a pendulum", dq[0, 0], -g / length * np.cos(q), unit="1/s²", oracle="-g/l cos q", rtol=1e-14
    )
    figure(
        "slope by torque of a pendulum",
        dtau[0, 0],
        1.0 / (mass * length**2),
        unit="1/(kg·m²)",
        oracle="1/(m l²)",
        rtol=1e-14,
    )
    assert abs(dv[0, 0]) < 1e-14


def test_results_do_not_depend_on_earlier_calls():
    rng = np.random.default_rng(6)
    system = random_system(["free", "planar", "revolute", "custom", "revolute", "revolute"], rng)
    dynamics, states = lj.Dynamics(system), [random_state(system, rng) for _ in range(3)]
    tau = rng.normal(size=system.nv)
    fresh = [lj.Dynamics(system).forward_derivatives(q, v, tau) for q, v in states]
    for (q, v), expected in zip(states, fresh):
        dynamics.inverse_derivatives(q, v, tau)
        for a, b in zip(dynamics.forward_derivatives(q, v, tau), expected):
            assert np.array_equal(a, b)


def test_a_model_that_does_not_move_has_empty_derivatives():
    system = random_system(["fixed"], np.random.default_rng(0), merge=False)
    dynamics, nothing = lj.Dynamics(system), np.zeros(0)
    assert [a.shape for a in dynamics.forward_derivatives(nothing, nothing, nothing)] == [(0, 0)] * 3
    assert [a.shape for a in dynamics.inverse_derivatives(nothing, nothing, nothing)] == [(0, 0)] * 2


def test_misuse_is_reported():
    system = random_system(["revolute", "revolute"], np.random.default_rng(0))
    dynamics = lj.Dynamics(system)
    with pytest.raises(ArgumentError, match=r"tau has shape \(3,\)"):
        dynamics.forward_derivatives(system.q0, system.v0, np.zeros(3))
    with pytest.raises(ArgumentError, match="vdot"):
        dynamics.inverse_derivatives(system.q0, system.v0, [np.nan, 0.0])
    with pytest.raises(ArgumentError, match="range of float64"):
        dynamics.inverse_derivatives(system.q0, np.full(2, 1e200), np.zeros(2))


def test_scratch_sections_agree_with_the_compiled_view():
    rng = np.random.default_rng(0)
    plant = lj.Dynamics(random_system(["free", *["revolute"] * 5], rng)).plant
    n, nv = plant.count(layout.C_BODIES), plant.count(layout.C_V)
    sections, start = slope_sections(n, nv), 0
    slopes = np.arange(total(sections), dtype=float)
    out = corners(slopes_view, plant.ints, slopes, Slopes._fields)
    assert tuple(name for name, _, _ in sections) == Slopes._fields
    for i, (name, rows, columns) in enumerate(sections):
        assert tuple(out[i]) == (start, rows, columns), name
        start += rows * columns
