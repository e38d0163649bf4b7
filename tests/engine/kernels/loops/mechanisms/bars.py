"""Bar linkages whose motion is known in closed form."""

from __future__ import annotations

import numpy as np

import limberjack as lj
from limberjack.engine.model.system import Hinge, Inertia, Loop
from tests.engine.kernels.loops.mechanisms.parts import OneFreedom, assembled, at, pin, rod, sliding, turning


def rocker_angle(theta: complex, links: tuple[float, float, float, float], branch: int = 1) -> tuple[complex, complex]:
    """Angles of coupler and rocker to the ground link (Freudenstein): crank a, coupler b, rocker c, ground g.

    K1 cos ψ - K2 cos θ + K3 = cos(θ - ψ) with K1 = g/a, K2 = g/c, K3 = (a² - b² + c² + g²) / (2 a c), solved for
    tan(ψ/2).
    """
    a, b, c, g = links
    K1, K2, K3 = g / a, g / c, (a * a - b * b + c * c + g * g) / (2 * a * c)
    A = np.cos(theta) - K1 - K2 * np.cos(theta) + K3
    B = -2.0 * np.sin(theta)
    C = K1 - (K2 + 1.0) * np.cos(theta) + K3
    psi = 2.0 * np.arctan((-B - branch * np.sqrt(B * B - 4 * A * C)) / (2 * A))
    dx, dy = g + c * np.cos(psi) - a * np.cos(theta), c * np.sin(psi) - a * np.sin(theta)
    return 2.0 * np.arctan(dy / (np.sqrt(dx * dx + dy * dy) + dx)), psi


def four_bar(
    method: str | None = None,
    theta: float = 1.0,
    rate: float = 0.0,
    links: tuple[float, float, float, float] = (0.2, 0.5, 0.4, 0.45),
    cut: str = "revolute",
    density: float = 2.0,
    **options,
) -> lj.System:
    """Crank, coupler and rocker, slender rods; the loop is cut between coupler and rocker."""
    a, b, c, g = links
    coupler, rocker = (x.real for x in rocker_angle(theta + 0j, links))
    rates = [x.imag / 1e-30 * rate for x in rocker_angle(theta + 1e-30j, links)]
    bodies = [
        turning("crank", None, (0, 0), rod(density * a, (a, 0)), theta, rate),
        turning("coupler", "crank", (a, 0), rod(density * b, (b, 0)), coupler - theta, rates[0] - rate),
        turning("rocker", None, (g, 0), rod(density * c, (c, 0)), rocker, rates[1]),
    ]
    return assembled("four-bar", bodies, [pin("pin", "coupler", (b, 0), "rocker", (c, 0), cut)], method, **options)


def four_bar_freedom(
    links: tuple[float, float, float, float] = (0.2, 0.5, 0.4, 0.45), density: float = 2.0
) -> OneFreedom:
    """The same mechanism in its crank angle."""
    a, b, c, _ = links
    masses = [density * x for x in (a, b, c)]

    def rates(theta):
        """dψ/dθ of coupler and rocker from the loop's velocities, for complex θ."""
        phi, psi = rocker_angle(theta, links)
        return a * np.sin(psi - theta) / (b * np.sin(phi - psi)), a * np.sin(phi - theta) / (c * np.sin(phi - psi))

    def A(theta):
        phi, _ = rocker_angle(theta, links)
        w_b, w_c = rates(theta)
        middle = a * a + 0.25 * b * b * w_b**2 + a * b * w_b * np.cos(phi - theta)
        return masses[0] * a * a / 3 + masses[1] * (middle + b * b * w_b**2 / 12) + masses[2] * c * c * w_c**2 / 3

    def V(theta):
        phi, psi = rocker_angle(theta, links)
        heights = (0.5 * a * np.sin(theta), a * np.sin(theta) + 0.5 * b * np.sin(phi), 0.5 * c * np.sin(psi))
        return 9.81 * sum(m * y for m, y in zip(masses, heights, strict=True))

    return OneFreedom(A, V)


def parallelogram(
    method: str | None = None,
    windows: int = 1,
    theta: float = 0.5 * np.pi,
    rate: float = -1.0,
    cut: str = "revolute",
    **options,
) -> lj.System:
    """Rockers and couplers of 1 m and 1 kg side by side. Two windows: the double four-bar of the IFToMM multibody
    benchmark library (A02, González, Dopico, Lugrís, Cuadrado 2006), which is singular wherever it lies flat."""
    bodies, loops = [], []
    bar = rod(1.0, (1, 0))
    for i in range(windows + 1):
        bodies.append(turning(f"rocker{i}", None, (i, 0), bar, theta, rate))
        if i < windows:
            bodies.append(turning(f"coupler{i}", f"rocker{i}", (1, 0), bar, -theta, -rate))
        if i:
            loops.append(pin(f"pin{i}", f"coupler{i - 1}", (1, 0), f"rocker{i}", (1, 0), cut))
    return assembled("parallelogram", bodies, loops, method, **options)


def rod_parallelogram(method: str | None = None, theta: float = 0.5 * np.pi, rate: float = -1.0) -> lj.System:
    """Two rockers of 1 m and 1 kg whose ends a rod without mass ("distance") keeps 1 m apart: flat, its only row
    vanishes."""
    rockers = [turning(f"rocker{i}", None, (i, 0), rod(1.0, (1, 0)), theta, rate) for i in range(2)]
    ends = Hinge("rod", "free", "rocker0", at((1, 0)), at((1, 0)))
    return assembled("rods", rockers, [Loop("rod", "distance", ends, "rocker1", length=1.0)], method)


def parallelogram_freedom(windows: int = 1) -> OneFreedom:
    """Rockers turn together and couplers only shift: A = (n + 1)/3 + n, V = g ((n + 1)/2 + n) sin θ."""
    turn, shift = (windows + 1) / 3 + windows, (windows + 1) / 2 + windows
    return OneFreedom(lambda _x: turn + 0j, lambda x: 9.81 * shift * np.sin(x))


def slider_crank(
    method: str | None = None,
    theta: float = 0.7,
    rate: float = 0.0,
    lengths: tuple[float, float] = (0.1, 0.3),
    cut="revolute",
    **options,
) -> lj.System:
    """Crank r, connecting rod l, a slider along x; cut at the gudgeon pin."""
    r, l = lengths
    phi, x = (y.real for y in _connecting_rod(theta + 0j, lengths))
    phi_rate, x_rate = (y.imag / 1e-30 * rate for y in _connecting_rod(theta + 1e-30j, lengths))
    block = Inertia(0.6, np.zeros(3), 1e-3 * np.eye(3))
    bodies = [
        turning("crank", None, (0, 0), rod(0.5, (r, 0)), theta, rate),
        turning("rod", "crank", (r, 0), rod(0.4, (l, 0)), phi - theta, phi_rate - rate),
        sliding("slider", None, (0, 0), (1, 0), block, x, x_rate),
    ]
    return assembled("slider-crank", bodies, [pin("gudgeon", "rod", (l, 0), "slider", (0, 0), cut)], method, **options)


def _connecting_rod(theta: complex, lengths: tuple[float, float]) -> tuple[complex, complex]:
    """Angle of the rod and place of the slider: sin φ = -(r/l) sin θ, x = r cos θ + l cos φ."""
    r, l = lengths
    phi = -np.arcsin(r / l * np.sin(theta))
    return phi, r * np.cos(theta) + l * np.cos(phi)


def slider_crank_freedom(lengths: tuple[float, float] = (0.1, 0.3)) -> OneFreedom:
    """The same in its crank angle."""
    r, l = lengths

    def rates(theta):
        phi, _ = _connecting_rod(theta, lengths)
        phi_rate = -r * np.cos(theta) / (l * np.cos(phi))
        return phi, phi_rate, -r * np.sin(theta) - l * np.sin(phi) * phi_rate

    def A(theta):
        phi, w, u = rates(theta)
        middle = r * r + 0.25 * l * l * w**2 + r * l * w * np.cos(phi - theta)
        return 0.5 * r * r / 3 + 0.4 * (middle + l * l * w**2 / 12) + 0.6 * u**2

    def V(theta):
        phi, _, _ = rates(theta)
        return 9.81 * (0.5 * 0.5 * r * np.sin(theta) + 0.4 * (r * np.sin(theta) + 0.5 * l * np.sin(phi)))

    return OneFreedom(A, V)
