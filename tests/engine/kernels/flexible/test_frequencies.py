"""Linear frequencies of beams on hubs, free and spinning, against solutions of the beam's own differential equation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq

from limberjack.engine.model.system import Hinge, System
from limberjack.engine.model.validate import validate
from tests.cases import long_only
from tests.engine.kernels.flexible.beams import Strip, frequencies, hung, on_a_hub, spinning
from tests.engine.modes.test_spinning_beam import FLAPPING
from tests.validation.figures import figure

STRIP = Strip()


def roots(function: Callable[[np.ndarray], np.ndarray], least: float, most: float, wanted: int) -> np.ndarray:
    """The lowest roots, by a scan and bisection; the function takes an array, element by element."""
    grid = np.linspace(least, most, 1500)
    values = function(grid)
    found = [
        brentq(lambda x: function(np.array([x]))[0], a, b, xtol=1e-13)
        for a, b, s, t in zip(grid, grid[1:], values, values[1:])
        if s * t < 0
    ]
    return np.array(found[:wanted])


def hub_and_beam(inertia: float, radius: float, mass: float | None) -> Callable[[np.ndarray], np.ndarray]:
    """The transcendental equation in λ = βL; inertia over ρA L³, radius over L, mass over ρA L (None: it is held).

    w = c·(cos, sin, cosh, sinh)(βx), displacement in the plane; w'' = w''' = 0 at the tip; at the hub
    w - r w' = u, the hub's own displacement, with m_h ü = -EI w''' (u = 0 if it is held) and
    J_h θ̈ = EI w'' - r EI w''', θ = w'. With ω² = EI β⁴ / ρA: β⁴ (m_h/ρA) u = w''' and β⁴ (J_h/ρA) w' = r w''' - w''.
    """

    def shape(x: float) -> np.ndarray:
        c, s, ch, sh = np.cos(x), np.sin(x), np.cosh(x), np.sinh(x)
        return np.array([[c, s, ch, sh], [-s, c, sh, ch], [-c, -s, ch, sh], [s, -c, sh, ch]])

    def determinant(b: float) -> float:
        (w, d, dd, ddd), tip = (b**i * row for i, row in enumerate(shape(0.0))), shape(b) / np.cosh(b)
        u = w - radius * d
        held = u if mass is None else b**4 * mass * u - ddd
        return float(np.linalg.det(np.array([held, b**4 * inertia * d - radius * ddd + dd, tip[2], tip[3]])))

    return np.vectorize(determinant)


@pytest.mark.parametrize("kind", ["cantilever", "craig-bampton"])
@pytest.mark.parametrize("radius", [0.0, 0.3])
@pytest.mark.parametrize("inertia", [0.01, *long_only((0.1, 1.0)), 30.0])
def test_a_pinned_hub_with_a_beam_has_the_frequencies_of_the_transcendental_equation(inertia, radius, kind):
    scale = STRIP.line_mass * STRIP.length**3
    system = on_a_hub(STRIP.data(kind, 14), inertia * scale, radius * STRIP.length)
    expected = roots(hub_and_beam(inertia, radius, None), 0.3, 13.0, 3)
    found = np.sqrt(frequencies(system)[1:4] / STRIP.rate)
    figure(
        "frequency numbers of a pinned hub with a beam", found, expected, oracle="transcendental equation", rtol=1e-4
    )  # what fourteen modes leave out


@pytest.mark.parametrize(("inertia", "mass"), [(0.05, 0.3), (1.0, 5.0)])
def test_a_free_hub_with_a_beam_has_them_too(inertia, mass):
    length, line = STRIP.length, STRIP.line_mass
    system = on_a_hub(
        STRIP.data("cantilever", 14), inertia * line * length**3, 0.1 * length, mass * line * length, "free"
    )
    expected = roots(hub_and_beam(inertia, 0.1, mass), 0.3, 13.0, 3)
    figure(
        "frequency numbers of a free hub with a beam",
        np.sqrt(frequencies(system)[6:9] / STRIP.rate),
        expected,
        oracle="transcendental equation",
        rtol=1e-4,
    )


@pytest.mark.parametrize(("kind", "accuracy"), [("free-free", 1e-5), ("cantilever", 2e-3), ("craig-bampton", 2e-3)])
def test_a_beam_that_floats_has_the_frequencies_of_a_free_beam(kind, accuracy):
    """βL = 4.7300, 7.8532, 10.9956, the roots of cos βL cosh βL = 1; free-free modes are referred to the root."""
    system = floating(kind)
    expected = roots(lambda b: np.cos(b) - 1.0 / np.cosh(b), 1.0, 12.0, 3)
    np.testing.assert_allclose(expected, [4.7300, 7.8532, 10.9956], atol=5e-5)
    figure(
        "βL of a floating beam",
        np.sqrt(frequencies(system)[6:9] / STRIP.rate),
        expected,
        oracle="cos βL cosh βL = 1",
        rtol=accuracy,
    )


def floating(kind: str) -> System:
    return validate(System("strip", tuple(hung(STRIP.data(kind, 14), Hinge("root", "free", None)))))


def spun(spin: float, radius: float, lag: bool) -> Callable[[np.ndarray], np.ndarray]:
    """The equation in μ = ω √(ρA L⁴/EI) of a beam clamped at a radius δ L that turns at the spin λ, likewise.

    w'''' - λ² [(δ (1 - x) + (1 - x²)/2) w']' = (μ² + λ² if in the plane of rotation) w,  w = w' = 0 at 0,
    w'' = w''' = 0 at 1 (Wright et al., Journal of Applied Mechanics 49, 1982), by Frobenius' power series: entire.
    """

    def series(mu: np.ndarray, start: int) -> tuple[np.ndarray, np.ndarray]:
        a, square = np.zeros((160, len(mu))), mu**2 + (spin**2 if lag else 0.0)
        a[start] = 1.0
        for n in range(len(a) - 4):
            tension = (radius + 0.5) * (n + 2) * a[n + 2] - radius * (n + 1) * a[n + 1] - 0.5 * n * a[n]
            a[n + 4] += (square * a[n] + spin**2 * (n + 1) * tension) / ((n + 4) * (n + 3) * (n + 2) * (n + 1))
        n = np.arange(len(a))
        return (n * (n - 1)) @ a, (n * (n - 1) * (n - 2)) @ a

    def determinant(mu: np.ndarray) -> np.ndarray:
        (a, b), (c, d) = series(mu, 2), series(mu, 3)
        return a * d - b * c

    return determinant


def test_the_power_series_gives_published_frequencies():
    """Hamza-Cherif and Houmat, 24th ICAS congress (2004), table 2, flapping without hub; those of the modes' tests."""
    published = {2: 4.1373, 4: 5.5850, 6: 7.3603, 8: 9.2568, 10: 11.2023}
    for spin, flap in [*published.items(), *FLAPPING.items()]:
        figure(
            "flapping frequency by the power series",
            roots(spun(spin, 0.0, False), 0.5, 20.0, 1)[0],
            flap,
            oracle="Hamza-Cherif and Houmat (2004); Wright et al. (1982)",
            atol=1e-4,
        )


@pytest.mark.parametrize("radius", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("spin", [0.0, *long_only((3.0, 8.0)), 12.0])
def test_a_spinning_beam_stiffens_as_the_differential_equation_says(spin, radius):
    """Three frequencies in the plane of rotation, at hub radii of 0, 0.5 and 2 lengths."""
    system = on_a_hub(STRIP.data("cantilever", 12), 1.0, radius * STRIP.length)
    found = np.sqrt(spinning(system, spin * STRIP.rate)[:3]) / STRIP.rate
    expected = roots(spun(spin, radius, True), 0.5, 130.0, 3)
    figure(
        "lagging frequencies of a spinning beam",
        found,
        expected,
        oracle="its differential equation, by Frobenius' series",
        rtol=1e-3,
    )
