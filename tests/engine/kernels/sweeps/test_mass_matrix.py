"""Mass matrices of every small size, whose rows are written in blocks of eight, and of large trees, whose bodies share
frames and whose lower triangle is written strip by strip."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import limberjack as lj
from limberjack.engine.algebra.lanes import load_lanes, split_lanes, store_lanes, transpose_lanes, with_lane
from limberjack.engine.compile.compiled import OPTIONS
from limberjack.engine.kernels.entry_points import entries
from limberjack.engine.kernels.nodes.shared_frames import LARGE
from limberjack.engine.model.build import build
from tests.engine.random_systems import random_state, random_system


def _columns(dynamics: lj.Dynamics, q: np.ndarray, nv: int) -> np.ndarray:
    """M column by column from inverse dynamics, which knows no composites: forces of unit accelerations at rest."""
    rest = np.zeros(nv)
    still = dynamics.inverse(q, rest, rest)
    return np.column_stack([dynamics.inverse(q, rest, unit) - still for unit in np.eye(nv)])


def _check(types: list[str], seed: int, parents: list[int | None] | None = None) -> int:
    rng = np.random.default_rng(seed)
    system = random_system(types, rng, parents=parents, merge=False)
    q, _ = random_state(system, rng)
    dynamics = lj.Dynamics(system)
    M = dynamics.mass_matrix(q)
    np.testing.assert_array_equal(M, M.T)
    wanted = _columns(dynamics, q, system.nv)
    np.testing.assert_allclose(M, wanted, rtol=0.0, atol=1e-12 * np.abs(wanted).max())
    # what shares a frame keeps the digits of small entries: the tip's own inertia beside that of the whole tree
    np.testing.assert_allclose(np.diag(M), np.diag(wanted), rtol=1e-9)
    return system.nv


#: numbers beside a matrix, that nothing may overwrite
_GUARD = np.arange(1.0, 33.0)


@pytest.mark.parametrize("types", [("revolute",), ("prismatic", "revolute"), ("revolute", "spherical", "free")])
@pytest.mark.parametrize("bodies", range(1, 18))
def test_nothing_is_written_beside_a_matrix_of_any_small_size(bodies: int, types: tuple[str, ...]):
    """A row's first block may begin in the rows before, but not before the matrix."""
    rng = np.random.default_rng(bodies)
    system = random_system([types[i % len(types)] for i in range(bodies)], rng, merge=False)
    q, _ = random_state(system, rng)
    nv, plant = system.nv, build(system)
    room = np.concatenate([_GUARD, np.full(nv * nv, np.nan), _GUARD])
    M = room[_GUARD.size : -_GUARD.size].reshape(nv, nv)
    entries().mass_matrix(plant.ints, plant.floats, plant.new_work(), q, M)
    np.testing.assert_array_equal(room[: _GUARD.size], _GUARD)
    np.testing.assert_array_equal(room[-_GUARD.size :], _GUARD)
    wanted = _columns(lj.Dynamics(system), q, nv)
    np.testing.assert_allclose(M, wanted, rtol=0.0, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("bodies", range(LARGE - 1, LARGE + 9))
def test_chains_of_every_length_modulo_a_strip(bodies: int):
    """The first strip has eight, seven, … rows; just below the limit nothing is shared."""
    assert _check(["revolute"] * bodies, bodies) == bodies


@pytest.mark.parametrize("seed", range(6))
def test_large_trees_of_mixed_hinges(seed: int):
    """Hinges that share no frame, branches, fixed bodies and free bases among those that do."""
    rng = np.random.default_rng(seed)
    others = ["prismatic", "universal", "spherical", "fixed", "cylindrical", "free", "planar"]
    types = [str(rng.choice(others)) if rng.random() < 0.2 else "revolute" for _ in range(80)]
    types[0] = ["free", "revolute", "fixed"][seed % 3]
    assert _check(types, seed) >= LARGE


def test_two_large_chains_on_one_stem_and_on_the_ground():
    """Rows of one chain are zero in the columns of the other."""
    parents: list[int | None] = [None, *range(29), 4, *range(30, 59), None, *range(60, 89)]
    assert _check(["revolute"] * 90, 1, parents) == 90


@numba.njit(**OPTIONS)
def _transposed(A, B):
    t = transpose_lanes(
        load_lanes(A[0], 0),
        load_lanes(A[1], 0),
        load_lanes(A[2], 0),
        load_lanes(A[3], 0),
        load_lanes(A[4], 0),
        load_lanes(A[5], 0),
        load_lanes(A[6], 0),
        load_lanes(A[7], 0),
    )
    for r in range(8):
        store_lanes(B[r], 0, t[r])


@numba.njit(**OPTIONS)
def _chosen(a, b, i, out):
    store_lanes(out[0], 0, split_lanes(load_lanes(a, 0), load_lanes(b, 0), i))
    store_lanes(out[1], 0, with_lane(load_lanes(a, 0), i, b[0]))


def test_lanes_change_places():
    """Transposed, split at a lane, one lane replaced; nothing of what is left out is added, not even NaN."""
    A, B = np.arange(64.0).reshape(8, 8), np.empty((8, 8))
    _transposed(A, B)
    np.testing.assert_array_equal(B, A.T)
    for i in range(8):
        out, b = np.empty((2, 8)), A[3].copy()
        b[:i], b[0] = np.nan, 7.5
        _chosen(A[2], b, i, out)
        np.testing.assert_array_equal(out[0], np.where(np.arange(8) < i, A[2], b))
        np.testing.assert_array_equal(out[1], np.where(np.arange(8) == i, 7.5, A[2]))
