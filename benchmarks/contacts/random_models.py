"""Models of one body of random shape, size, mass and law above random ground, for `random_drops.py`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull

SHAPES = ("sphere", "capsule", "box", "cylinder", "cone", "mesh", "ring")
#: kinds of ground, and how often each comes: hills and funnels take ten times as long
GROUNDS = {"plane": 0.25, "slope": 0.25, "table": 0.2, "pillow": 0.2, "hills": 0.06, "funnel": 0.04}
#: what a ring cannot touch
_NO_RINGS = ("hills",)
#: half edge of the table and of the hills, m; radii and half length of the funnel, m, through which nothing falls
_WIDE, _FUNNEL = 3.0, (0.02, 2.0, 1.0)
_G = 9.80665
#: speed at which nearly rigid shapes are pushed apart, m/s (docs/how-to/contacts.md)
_PUSH = 0.1


@dataclass(frozen=True)
class RandomModel:
    """A model and what bounds its drops.

    text : its file;  shape, ground, law : what it has of each;  mass, kg;  size : radius of a sphere that holds the
    body, m;  above : a height from which it touches nothing yet, m;  beside : how far it may start from the middle, m
    lowest : the lowest height that its centre of mass can reach, m;  stiffness : 0 if nearly rigid;  dt, s
    lightest : 1 / the least effective mass of a point of the body, in any direction, 1/kg
    """

    number: int
    text: str
    shape: str
    ground: str
    law: str
    mass: float
    size: float
    above: float
    beside: float
    lowest: float
    stiffness: float
    exponent: float
    dt: float
    integrator: str
    lightest: float

    def allowed(self, energy: np.ndarray) -> np.ndarray:
        """The largest penetration for total energies at the start, J, in m.

        A spring k δ^p at one point takes up all energy at k δ^(p+1) / (p + 1); nearly rigid shapes penetrate no deeper
        than the way of their fastest point in a step: with a kinetic energy T none is faster than √(2 T × lightest).
        """
        free = energy - self.mass * _G * self.lowest
        way = np.sqrt(2.0 * free * self.lightest) * self.dt
        if self.stiffness == 0.0:
            return way
        power = self.exponent + 1.0
        return way + (power * free / self.stiffness) ** (1.0 / power)

    def gains(self, depth: np.ndarray) -> np.ndarray:
        """The largest gain of energy for a penetration, m, beyond rounding, J: a nearly rigid body is pushed out.

        Euler's methods change the energy of a body that spins freely.
        """
        if self.integrator != "rk4":
            return np.full_like(depth, np.inf)
        if self.stiffness > 0.0:
            return np.zeros_like(depth)
        return self.mass * (_G * depth + 0.5 * _PUSH**2)


def random_model(number: int) -> RandomModel:
    """The model of this number."""
    random = np.random.default_rng([number, 0])
    shape = str(random.choice(SHAPES))
    ground = str(random.choice(list(GROUNDS), p=list(GROUNDS.values())))
    if shape == "ring" and ground in _NO_RINGS:
        ground = "plane"
    sizes = np.exp(random.uniform(np.log(0.05), np.log(0.5), 3))
    line, half = _shape(shape, sizes, random)
    size = float(np.linalg.norm(half))
    mass = float(np.prod(2.0 * half) * np.exp(random.uniform(np.log(100.0), np.log(5000.0))))
    com = 0.3 * half * random.uniform(-1.0, 1.0, 3)
    x, y, z = mass / 3.0 * half**2 * random.uniform(0.5, 1.0)
    law, stiffness, exponent = _law(random, mass)
    law += _moments(np.random.default_rng([number, 2]), size)
    ground_line, above, beside, lowest = _ground(ground, size, random)
    text = f"""limberjack: 1
name: drop_{number}
bodies:
  - {{name: body, mass: {mass}, com: {com.tolist()}, inertia: {{xx: {y + z}, yy: {x + z}, zz: {x + y}}},
     hinge: {{name: free, type: free, parent: world}}}}
shapes:
  - {{name: ground, body: world, {ground_line}}}
  - {{name: shape, body: body, {line}}}
contacts:
  - {{name: contact, first: ground, second: shape, {law}}}
sensors:
  - {{name: gap, type: contact_gap, target: contact}}
"""
    dt, integrator = float(random.choice([1e-3, 5e-4])), str(random.choice(["rk4", "semi_implicit", "implicit"]))
    bounds = (mass, size, above, beside, lowest - size, stiffness, exponent, dt, integrator)
    lightest = _lightest(mass, np.array([y + z, x + z, x + y]), half, com)
    return RandomModel(number, text, shape, ground, law.split(":")[0], *bounds, lightest)


def _lightest(mass: float, moments: np.ndarray, half: np.ndarray, com: np.ndarray) -> float:
    """The largest eigenvalue of 1/m - [x] I⁻¹ [x] over the corners x of the box that holds a body, which bounds all."""
    found = 0.0
    for signs in np.ndindex(2, 2, 2):
        a, b, c = half * (2.0 * np.array(signs) - 1.0) - com
        cross = np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])
        found = max(found, np.linalg.eigvalsh(np.eye(3) / mass - cross @ np.diag(1.0 / moments) @ cross)[-1])
    return float(found)


def _shape(kind: str, sizes: np.ndarray, random: np.random.Generator) -> tuple[str, np.ndarray]:
    """The fields of a shape, and half the edges of a box about its origin that holds it."""
    a, b, c = (float(size) for size in sizes)
    if kind == "sphere":
        return f"type: sphere, radius: {a}", np.full(3, a)
    if kind == "capsule":
        return f"type: capsule, radius: {a}, length: {2.0 * b}", np.array([a, a, a + b])
    if kind == "box":
        return f"type: box, size: {(2.0 * sizes).tolist()}", sizes
    if kind == "cylinder":
        return f"type: cylinder, radius: {a}, length: {2.0 * b}", np.array([a, a, b])
    if kind == "cone":
        return f"type: cylinder, radius: [{a}, {c}], length: {2.0 * b}", np.array([max(a, c), max(a, c), b])
    if kind == "ring":
        tube = 0.1 * a + 0.4 * a * random.uniform()
        return f"type: ring, radius: {a}, tube: {tube}", np.array([a + tube, a + tube, tube])
    points = random.normal(size=(int(random.integers(5, 17)), 3))
    points *= sizes / np.linalg.norm(points, axis=1)[:, None]
    return f"type: mesh, {_hull(points)}", sizes


def _hull(points: np.ndarray) -> str:
    """`vertices` and `faces` of the convex hull of points, faces counter-clockwise from outside."""
    hull = ConvexHull(points)
    faces = []
    for face, normal in zip(hull.simplices, hull.equations[:, :3], strict=True):
        a, b, c = points[face]
        faces.append((face if np.cross(b - a, c - a) @ normal > 0.0 else face[::-1]).tolist())
    return f"vertices: {points.tolist()}, faces: {faces}"


def _law(random: np.random.Generator, mass: float) -> tuple[str, float, float]:
    """Fields of a law, its stiffness and exponent."""
    friction = f"friction: {float(random.choice([0.0, random.uniform(0.05, 1.2)]))}"
    if random.uniform() < 0.5:
        return f"restitution: {float(random.choice([0.0, random.uniform(0.0, 0.9)]))}, {friction}", 0.0, 1.0
    exponent = float(random.choice([1.0, 1.5]))
    stiffness = float(np.exp(random.uniform(np.log(1e4), np.log(1e7))) * max(1.0, mass / 10.0))
    fields = f"stiffness: {stiffness}, exponent: {exponent}, dissipation: {float(random.uniform(0.0, 1.0))}, {friction}"
    return fields, stiffness, exponent


def _moments(random: np.random.Generator, size: float) -> str:
    """Fields of torsional and rolling friction, which a quarter of the models has."""
    if random.uniform() > 0.25:
        return ""
    torsion, rolling = (float(arm) for arm in size * random.uniform(0.0, 0.05, 2))
    return f", torsional_friction: {torsion}, rolling_friction: {rolling}"


def _ground(kind: str, size: float, random: np.random.Generator) -> tuple[str, float, float, float]:
    """Fields of the ground; a height at which a body of this size is above it; how far from the middle it may start;
    the lowest height that its centre can reach in a second."""
    fallen = -0.5 * _G - 3.0
    if kind == "plane":
        return "type: plane", size, 1.0, -size
    if kind == "slope":
        tilt = float(random.uniform(0.05, 0.5))
        return f"type: plane, rpy: [{tilt}, 0, 0]", 1.2 * size + np.tan(tilt), 1.0, fallen
    if kind == "table":
        wide = 2.0 * _WIDE
        return f"type: box, size: [{wide}, {wide}, 0.4], position: [0, 0, -0.2]", size, 1.0, fallen
    if kind == "pillow":
        return "type: sphere, radius: 2.0, position: [0, 0, -2.0]", size, 0.5, fallen
    if kind == "funnel":
        low, high, half = _FUNNEL
        return f"type: funnel, radius: [{low}, {high}], length: {2.0 * half}", half + size, 0.3, fallen
    across = int(random.integers(5, 14))
    heights = np.round(random.uniform(0.0, 0.15, (across, across)), 4)
    return (
        f"type: height_field, size: [{2 * _WIDE}, {2 * _WIDE}], heights: {heights.tolist()}",
        0.15 + size,
        1.0,
        fallen,
    )
