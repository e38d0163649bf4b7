"""How far the inertia of second order stays positive definite: against the whole mass matrix, and a dense search."""

from __future__ import annotations

import numpy as np
import pytest

from limberjack.engine.modes import Integrals, integrals
from limberjack.engine.modes.inertia_range import CARRIER, InertiaRange, ranges
from tests.engine.modes.nodal import random_data, tilde

SEEDS = range(6)


def least(made: Integrals, eta: np.ndarray, carrier: float = 0.0) -> float:
    """Smallest eigenvalue of M(η) for [ω, v, η̇], written out."""
    s = made.s0 + made.S1 @ eta + 0.5 * np.einsum("irs,r,s->i", made.S2, eta, eta)
    J = made.J0 + np.einsum("rij,r->ij", made.J1, eta) + 0.5 * np.einsum("rsij,r,s->ij", made.J2, eta, eta)
    N, S = made.N0 + made.N1 @ eta, made.S1 + made.S2 @ eta
    J, s, m = J + carrier * made.J0, s + carrier * made.s0, (1.0 + carrier) * made.m
    M = np.block([[J, tilde(s), N], [tilde(s).T, m * np.eye(3), S], [N.T, S.T, made.Mff]])
    return float(np.linalg.eigvalsh(M)[0])


@pytest.mark.parametrize("carrier", [0.0, 0.3])
@pytest.mark.parametrize("seed", SEEDS)
def test_reach_is_where_the_mass_matrix_becomes_singular(seed, carrier):
    made = integrals(random_data(seed, foreshortening=seed % 2 == 0), "n0")
    reach, rng = InertiaRange(made, carrier), np.random.default_rng(seed)
    for direction in [*np.eye(3), *rng.normal(size=(5, 3))]:
        t = reach.reach(direction)
        assert np.isfinite(t)
        assert least(made, 0.9999 * t * direction, carrier) > 0.0 > least(made, 1.0001 * t * direction, carrier)
        assert all(least(made, share * t * direction, carrier) > 0.0 for share in np.linspace(0.0, 0.999, 50))


@pytest.mark.parametrize("seed", SEEDS)
def test_together_is_the_least_of_all_directions(seed):
    made = integrals(random_data(seed, foreshortening=seed % 2 == 0), "n0")
    reach, rng = InertiaRange(made), np.random.default_rng(seed)
    alone = reach.modes()
    found = reach.together()
    sphere = rng.normal(size=(800, 3))
    dense = min(reach.reach(alone * u / np.linalg.norm(u)) for u in sphere)
    assert found <= 1.001 * min(dense, 1.0)  # the search ends where a step gains less
    assert found == pytest.approx(min(dense, 1.0), rel=0.03)


def test_a_constant_inertia_bears_any_deformation():
    made = integrals(random_data(1), "n0", variant="linearized")
    np.testing.assert_array_equal(InertiaRange(made).modes(), np.inf)
    assert InertiaRange(made).together() == 1.0


def test_ranges_are_displacements_of_the_eigenmodes():
    data = random_data(2)
    found = ranges(data)
    assert found.carried is not None
    assert np.all(found.carried > found.alone)
    squares, vectors = data.eigenmodes()
    made = integrals(data, "n0")
    for r in range(3):
        shape = np.linalg.norm(data.shapes[:, 3:] @ vectors[:, r], axis=1).max()
        for share, carrier, wanted in ((0.0, 0.0, found.alone), (CARRIER, CARRIER, found.carried)):
            t = min(InertiaRange(made, carrier).reach(sign * vectors[:, r]) for sign in (1.0, -1.0))
            assert wanted[r] == pytest.approx(t * shape, rel=1e-9), share
    assert np.all(squares > 0.0)
