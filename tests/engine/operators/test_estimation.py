"""The process of docs/explanation/estimation.md has the statistics that the document claims; its figure is drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from limberjack.engine.operators import Operators, StackedVector
from limberjack.examples import estimation_view as view
from tests.engine.random_systems import random_state, random_system

ROOT = Path(__file__).resolve().parents[3]
DRAWS = 4000


def covariance(samples: list[np.ndarray]) -> np.ndarray:
    array = np.array(samples)
    return array.T @ array / len(array)


def is_sample_of(empirical: np.ndarray, exact: np.ndarray, rounding: float = 0.0) -> None:
    """Every entry within six standard errors: var of s_ij is (σ_ii σ_jj + σ_ij²) / n."""
    d = np.abs(np.diag(exact))
    error = np.sqrt((np.outer(d, d) + exact**2) / DRAWS)
    assert np.all(np.abs(empirical - exact) <= 6.0 * error + rounding)


def test_the_statistics_of_the_process_are_the_inertias():
    """Measurements have the mass matrix as covariance, innovations D, errors P, P⁺ and P - P Υ P, α has Υ."""
    ops, rng = view.operators(), np.random.default_rng(12)
    samples: dict[str, list[np.ndarray]] = {name: [] for name in ("T", "eps", "z", "z_plus", "f", "alpha")}
    for _ in range(DRAWS):
        x, T = view.draw(ops, rng)
        found = view.estimate(ops, T)
        samples["T"].append(np.asarray(T))
        samples["eps"].append(np.asarray(found.eps))
        samples["alpha"].append(np.asarray(found.alpha))
        for name in ("z", "z_plus", "f"):
            samples[name].append(np.asarray(x - getattr(found, name)))
    mass_matrix = ops.H * ops.phi * ops.M * ops.phi.T * ops.H.T + ops.J
    is_sample_of(covariance(samples["T"]), mass_matrix.to_array())
    is_sample_of(covariance(samples["eps"]), ops.D.to_array())
    is_sample_of(covariance(samples["alpha"]), ops.Omega.to_array())
    errors = {"z": ops.P, "z_plus": view.filtered_covariance(ops), "f": view.smoothed_covariance(ops)}
    for name, exact in errors.items():
        empirical = covariance(samples[name])
        for body, own in zip(ops.body_names, ops.body_space.slices):
            is_sample_of(empirical[own, own], exact[body], rounding=1e-12 * np.max(ops.P[body]))


@pytest.mark.parametrize("armature", [False, True])
def test_the_smoothed_state_is_the_conditional_mean_on_any_tree(armature):
    """E[x | T] of the jointly normal x and T, from the dense covariances: branches, all hinge types."""
    rng = np.random.default_rng(21)
    types = ["free", "revolute", "gimbal", "prismatic", "custom", "fixed", "planar", "spherical"]
    system = random_system(types, rng, armature=armature)
    ops = Operators(system, random_state(system, rng)[0])
    T = StackedVector(ops.velocity_space, rng.normal(size=system.nv))
    states = (ops.phi * ops.M * ops.phi.T).to_array()
    H = ops.H.to_array()
    gain = states @ H.T @ np.linalg.inv(H @ states @ H.T + ops.J.to_array())
    f = np.asarray(view.estimate(ops, T).f)
    np.testing.assert_allclose(f, gain @ np.asarray(T), rtol=0, atol=1e-9 * np.max(np.abs(f)))
    left = states - gain @ H @ states
    smoothed = view.smoothed_covariance(ops)
    for body, own in zip(ops.body_names, ops.body_space.slices):
        np.testing.assert_allclose(smoothed[body], left[own, own], rtol=0, atol=1e-9 * np.max(np.abs(states)))


def test_the_figure_is_drawn(tmp_path):
    image = imread(view.plot(tmp_path / "new" / "estimation.png"))
    assert image.shape[0] > 800
    assert image[..., :3].std() > 0.05
    assert (ROOT / "docs" / "images" / "estimation.png").is_file()
