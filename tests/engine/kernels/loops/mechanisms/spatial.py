"""Mechanisms in space: Bennett's and Bricard's linkages, a flyball governor, a planetary gear train."""

from __future__ import annotations

import numpy as np

import limberjack as lj
from limberjack.engine.model.system import Body, Dof, Hinge, Inertia, Loop, Node, Pose, Term
from tests.engine.dense import turn
from tests.engine.kernels.loops.mechanisms.parts import OneFreedom, Z, assembled, at

_X, _Y = np.eye(3)[:2]
#: lengths and twists of Bennett's linkage, sides equal in pairs: a / sin α = b / sin β
BENNETT = (0.6, 0.9, np.arcsin(0.6), np.arcsin(0.9))


def side(length: float, twist: float) -> Pose:
    """From one axis to the next: along the common normal x, then turned about it (Denavit and Hartenberg)."""
    return Pose(turn(_X, twist), np.array([length, 0.0, 0.0]))


def bar(mass: float, length: float, width: float = 0.04) -> Inertia:
    """Square bar along x from the origin."""
    long, wide = mass * (length**2 + width**2) / 12, mass * width**2 / 6
    return Inertia(mass, np.array([0.5 * length, 0.0, 0.0]), np.diag([wide, long, long]))


def bennett(method: str | None = None, theta: float = 1.1, rate: float = 0.0) -> lj.System:
    """Four revolute axes in space, the ground and three bars; three rows of the cut hinge are redundant.

    With side i turned by θ_i from side i - 1: θ1 + θ3 = 2π, θ2 + θ4 = 2π and
    tan(θ1/2) tan(θ2/2) = sin((β + α)/2) / sin((β - α)/2) (Bennett 1903; Hunt, Kinematic Geometry of Mechanisms).
    """
    a, b, alpha, beta = BENNETT
    ratio = np.sin(0.5 * (beta + alpha)) / np.sin(0.5 * (beta - alpha))
    second = 2.0 * np.arctan(ratio / np.tan(0.5 * theta))
    slope = -ratio / np.sin(0.5 * theta) ** 2 / (1.0 + (ratio / np.tan(0.5 * theta)) ** 2)
    angles, rates = (theta, second, -theta), (rate, slope * rate, -rate)
    sides = ((a, alpha), (b, beta), (a, alpha), (b, beta))
    bodies, parent, place = [], None, Pose()
    for i in range(3):
        hinge = _revolute(f"axis{i + 1}", parent, place, angles[i], rates[i])
        bodies.append(Body(f"bar{i + 1}", bar(1.5 * sides[i][0], sides[i][0]), hinge))
        parent, place = f"bar{i + 1}", side(*sides[i])
    # the ground is the fourth side: its end is axis 1
    cut = Hinge("axis4", "revolute", parent, place, side(*sides[3]).inverse(), Z)
    return assembled("Bennett", bodies, [Loop("axis4", "hinge", cut, None)], method)


def _revolute(name: str, parent: str | None, place: Pose, angle: float, rate: float) -> Hinge:
    return Hinge(name, "revolute", parent, place, axes=Z, q0=np.array([angle]), v0=np.array([rate]))


def bricard(method: str | None = None) -> lj.System:
    """Bricard's mechanism of the IFToMM multibody benchmark library (A04): five square rods of 1 m, 1 kg and 0.1 m
    width and six revolute hinges along the edges of a cube; gravity along -y, at rest.

    Places and axes after González et al. (2006), as the public models of other engines have them.
    """
    points = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float)
    axes = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]] * 2, dtype=float)
    bodies, parent, below = [], None, np.zeros(3)
    for i in range(5):
        # body frames are parallel to the inertial frame at the start
        hinge = Hinge(f"hinge{i + 1}", "revolute", parent, at(points[i] - below), axes=axes[i : i + 1])
        span = points[i + 1] - points[i]
        about_com = np.outer(span, span) * 0.01 / 6 + (np.eye(3) - np.outer(span, span)) * 1.01 / 12
        bodies.append(Body(f"rod{i + 1}", Inertia(1.0, 0.5 * span, about_com), hinge))
        parent, below = f"rod{i + 1}", points[i]
    cut = Hinge("hinge6", "revolute", parent, at(points[5] - points[4]), at(points[5]), axes[5:])
    nodes = (Node("P3", "rod3", at((0, 0, 0))),)
    return assembled("Bricard", bodies, [Loop("hinge6", "hinge", cut, None)], method, nodes=nodes)


#: governor: arms l, where the rods hold them a, rods b, half distance of the arms' hinges e; ball and sleeve masses, kg
GOVERNOR = (0.4, 0.25, 0.3, 0.05, 2.0, 1.5)
#: moment of inertia of shaft and sleeve about the vertical, kg·m²
_SPINNING = 0.02


def governor(method: str | None = None, alpha: float = 0.5, rate: float = 0.0, spin: float = 6.0) -> lj.System:
    """Flyball governor: two arms with balls on a spinning shaft, rigid rods ("distance") to a sleeve on the shaft.

    alpha is the arms' angle to the vertical; gravity along -z.
    """
    l, a, b, e, ball, sleeve = GOVERNOR
    height, slope = sleeve_height(alpha + 0j).real, sleeve_height(alpha + 1e-30j).imag / 1e-30
    point = Inertia(ball, np.array([0.0, 0.0, -l]))
    spinning = np.diag([0.01, 0.01, 0.5 * _SPINNING])
    q, v = np.array([0.0]), np.array([spin])
    shaft = Hinge("spin", "revolute", None, axes=Z, q0=q, v0=v)
    slide = Hinge("lift", "prismatic", "shaft", axes=Z, q0=np.array([height]), v0=np.array([slope * rate]))
    bodies = [Body("shaft", Inertia(1.0, np.zeros(3), spinning), shaft)]
    bodies.append(Body("sleeve", Inertia(sleeve, np.zeros(3), spinning), slide))
    loops = []
    for name, sign in (("left", -1.0), ("right", 1.0)):
        q, v = np.array([alpha]), np.array([rate])
        hinge = Hinge(name, "revolute", "shaft", at((sign * e, 0)), axes=np.array([[0.0, -sign, 0.0]]), q0=q, v0=v)
        bodies.append(Body(f"{name} arm", point, hinge))
        held = Pose(position=np.array([0.0, 0.0, -a]))
        joint = Hinge(f"{name} rod", "free", f"{name} arm", held, at((sign * e, 0)))
        loops.append(Loop(f"{name} rod", "distance", joint, "sleeve", length=b))
    return assembled("governor", bodies, loops, method, np.array([0.0, 0.0, -9.81]))


def sleeve_height(alpha: complex) -> complex:
    """Below the arms' hinges, as the rods have it: z = -a cos α - √(b² - a² sin² α)."""
    _, a, b, _, _, _ = GOVERNOR
    return -a * np.cos(alpha) - np.sqrt(b * b - (a * np.sin(alpha)) ** 2)


def governor_spin_inertia(alpha: complex) -> complex:
    """About the vertical: B(α) = J + 2 m (e + l sin α)²."""
    l, _, _, e, ball, _ = GOVERNOR
    return _SPINNING + 2 * ball * (e + l * np.sin(alpha)) ** 2


def governor_freedom(momentum: float) -> OneFreedom:
    """In α, the spin eliminated by its momentum p = B ψ': V = p²/(2 B) + weights (Routh)."""
    l, _, _, _, ball, sleeve = GOVERNOR

    def A(alpha):
        return 2 * ball * l * l + sleeve * _slope(alpha) ** 2

    def V(alpha):
        weights = 9.81 * (sleeve * sleeve_height(alpha) - 2 * ball * l * np.cos(alpha))
        return 0.5 * momentum**2 / governor_spin_inertia(alpha) + weights

    return OneFreedom(A, V)


def _slope(alpha: complex) -> complex:
    """dz/dα of the sleeve."""
    _, a, b, _, _, _ = GOVERNOR
    root = np.sqrt(b * b - (a * np.sin(alpha)) ** 2)
    return a * np.sin(alpha) + a * a * np.sin(alpha) * np.cos(alpha) / root


#: teeth of sun, planet, ring: ring = sun + 2 planet
TEETH = (20, 16, 52)
#: moments of inertia about their axes: sun, carrier, ring, planet; mass of a planet, its distance from the centre
TRAIN = (0.02, 0.05, 0.2, 0.004, 0.7, 0.09)


def planetary(method: str | None = None, damping: float = 0.0, rates: tuple[float, float] = (0.0, 0.0)) -> lj.System:
    """Sun, carrier and ring turn about z on the ground, one planet on the carrier; two couplings are the meshes.

    At the meshes: z_s (ω_s - ω_c) + z_p ω_p = 0 and z_r (ω_r - ω_c) - z_p ω_p = 0, ω_p relative to the carrier;
    `rates` are those of sun and carrier.
    """
    zs, zp, zr = TEETH
    sun, carrier = rates
    planet = -zs / zp * (sun - carrier)
    ring = carrier + zp / zr * planet
    about = dict(zip(("sun", "carrier", "ring"), TRAIN[:3], strict=True))
    speeds = {"sun": sun, "carrier": carrier, "ring": ring}
    bodies = []
    for name, inertia in about.items():
        hinge = Hinge(name, "revolute", None, axes=Z, dofs=(Dof(damping=damping),), v0=np.array([speeds[name]]))
        bodies.append(Body(name, Inertia(1.0, np.zeros(3), inertia * np.diag([0.5, 0.5, 1.0])), hinge))
    wheel = Inertia(TRAIN[4], np.zeros(3), TRAIN[3] * np.diag([0.5, 0.5, 1.0]))
    bodies.append(
        Body("planet", wheel, Hinge("planet", "revolute", "carrier", at((TRAIN[5], 0)), axes=Z, v0=np.array([planet])))
    )
    meshes = [
        Loop("inner", "coupling", terms=_terms(sun=zs, carrier=-zs, planet=zp)),
        Loop("outer", "coupling", terms=_terms(ring=zr, carrier=-zr, planet=-zp)),
    ]
    return assembled("planetary", bodies, meshes, method, np.zeros(3))


def _terms(**factors: float) -> tuple[Term, ...]:
    return tuple(Term(name, (float(x),)) for name, x in factors.items())


def planetary_accelerations(torques: dict[str, float]) -> dict[str, float]:
    """Of all wheels for torques on sun, carrier and ring: M = X* diag(I) X in ω_s, ω_c (Willis' equation in X)."""
    zs, zp, zr = TEETH
    i_sun, i_carrier, i_ring, i_planet, mass, radius = TRAIN
    # rows: sun, carrier, ring, planet relative to the carrier; absolute planet = carrier + relative
    X = np.array([[1, 0], [0, 1], [-zs / zr, 1 + zs / zr], [-zs / zp, zs / zp]])
    spin = X[3] + X[1]
    M = i_sun * np.outer(X[0], X[0]) + (i_carrier + mass * radius**2) * np.outer(X[1], X[1])
    M = M + i_ring * np.outer(X[2], X[2]) + i_planet * np.outer(spin, spin)
    force = sum(X[i] * torques.get(name, 0.0) for i, name in enumerate(("sun", "carrier", "ring")))
    return dict(zip(("sun", "carrier", "ring", "planet"), X @ np.linalg.solve(M, force), strict=True))
