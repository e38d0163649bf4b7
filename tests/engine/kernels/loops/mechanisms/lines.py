"""Linkages that guide a point exactly along a line, and a scissor."""

from __future__ import annotations

import numpy as np

import limberjack as lj
from limberjack.engine.model.system import Body, Inertia, Loop, Node
from tests.engine.kernels.loops.mechanisms.parts import OneFreedom, assembled, at, pin, rod, sliding, turning


def scott_russell(method: str | None = None, theta: float = 0.6, rate: float = 0.8) -> lj.System:
    """A rod of 2 r, held at its middle by a crank of r and guided along x at one end: the other end ("pen") stays on
    the y axis, at 2 r sin θ."""
    r = 0.25
    x, x_rate = 2 * r * np.cos(theta), -2 * r * np.sin(theta) * rate
    block = Inertia(0.3, np.zeros(3), 1e-4 * np.eye(3))
    bodies = [
        turning("crank", None, (0, 0), rod(0.2, (r, 0)), theta, rate),
        sliding("slider", None, (0, 0), (1, 0), block, x, x_rate),
        turning("rod", "slider", (0, 0), rod(0.5, (2 * r, 0)), np.pi - theta, -rate),
    ]
    nodes = (Node("pen", "rod", at((2 * r, 0))),)
    return assembled("Scott-Russell", bodies, [pin("middle", "crank", (r, 0), "rod", (r, 0))], method, nodes=nodes)


def peaucellier(method: str | None = None, theta: float = 0.4, rate: float = 1.0) -> lj.System:
    """Peaucellier-Lipkin: arms L from O, a rhombus of sides s, and a crank c about a point c from O. "pen" keeps
    x = (L² - s²) / (2 c): it is the inversion of a circle through O.

    The crank's end P and O are `near` apart, the pen is at (L² - s²) / near on the same ray.
    """
    L, s, c = 0.5, 0.2, 0.22
    ends = np.array([_peaucellier_angles(theta + h, L, s, c) for h in (0.0, 1e-30j)])
    angle, slope = ends[0].real, ends[1].imag / 1e-30
    names = ("crank", "arm1", "arm2", "side1", "side2", "side3", "side4")
    q, v = (dict(zip(names, x, strict=True)) for x in (angle, slope * rate))

    def body(name: str, parent: str | None, point, length: float) -> Body:
        below, below_rate = (q[parent], v[parent]) if parent else (0.0, 0.0)
        return turning(name, parent, point, rod(0.3 * length, (length, 0)), q[name] - below, v[name] - below_rate)

    bodies = [body("crank", None, (c, 0), c)]
    bodies += [body(f"arm{i}", None, (0, 0), L) for i in (1, 2)]
    bodies += [body(f"side{i}", f"arm{i}", (L, 0), s) for i in (1, 2)]  # to the crank's end
    bodies += [body(f"side{i + 2}", f"arm{i}", (L, 0), s) for i in (1, 2)]  # to the pen
    loops = [pin(f"near{i}", "crank", (c, 0), f"side{i}", (s, 0)) for i in (1, 2)]
    loops.append(pin("far", "side3", (s, 0), "side4", (s, 0)))
    return assembled("Peaucellier", bodies, loops, method, nodes=(Node("pen", "side3", at((s, 0))),))


def _peaucellier_angles(theta: complex, L: float, s: float, c: float) -> list[complex]:
    """Angles to x of the crank, the arms and the sides, for the crank's angle θ about (c, 0); 2 c < √(L² - s²)."""
    ray, near = 0.5 * theta, 2 * c * np.cos(0.5 * theta)
    half = np.arccos((L * L + near**2 - s * s) / (2 * L * near))
    inner = np.arcsin(L * np.sin(half) / s)  # of the rhombus' sides to the ray
    return [
        theta,
        ray + half,
        ray - half,
        ray - np.pi + inner,
        ray + np.pi - inner,
        ray - inner,
        ray + inner,
    ]


def scissor(method: str | None = None, cells: int = 3, angle: float = 0.5, rate: float = 0.6) -> lj.System:
    """Crossed bars of length 1: the lowest left end turns on the ground, the lowest right end slides along x.

    With the bars at ±angle the upper ends are at heights cells · sin(angle), and the top is as wide as cos(angle).
    """
    bodies: list[Body] = []
    loops: list[Loop] = []
    bar, block = rod(0.4, (1, 0)), Inertia(0.1, np.zeros(3), 1e-4 * np.eye(3))
    c, s = np.cos(angle), np.sin(angle)
    bodies.append(turning("up0", None, (0, 0), bar, angle, rate))
    bodies.append(sliding("foot", None, (0, 0), (1, 0), block, c, -s * rate))
    bodies.append(turning("down0", "foot", (0, 0), bar, np.pi - angle, -rate))
    loops.append(pin("cross0", "up0", (0.5, 0), "down0", (0.5, 0)))
    for i in range(1, cells):
        left, right = f"down{i - 1}", f"up{i - 1}"  # what ends at the left and right of this cell's foot
        bodies.append(turning(f"up{i}", left, (1, 0), bar, 2 * angle - np.pi, 2 * rate))
        bodies.append(turning(f"down{i}", right, (1, 0), bar, np.pi - 2 * angle, -2 * rate))
        loops.append(pin(f"cross{i}", f"up{i}", (0.5, 0), f"down{i}", (0.5, 0)))
    nodes = (Node("top right", f"up{cells - 1}", at((1, 0))), Node("top left", f"down{cells - 1}", at((1, 0))))
    return assembled("scissor", bodies, loops, method, nodes=nodes)


def scissor_freedom(cells: int = 3) -> OneFreedom:
    """The same in the bars' angle: bars of cell i have their middle at (cos θ / 2, (i + 1/2) sin θ)."""
    heights = np.arange(cells) + 0.5

    def A(angle):
        bars = 0.25 * np.sin(angle) ** 2 + heights**2 * np.cos(angle) ** 2 + 1.0 / 12.0
        return 0.8 * np.sum(bars) + 0.1 * np.sin(angle) ** 2

    return OneFreedom(A, lambda angle: 9.81 * 0.8 * np.sum(heights) * np.sin(angle))
